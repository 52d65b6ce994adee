"""The Polya urn: what an answer costs in nats, given the answers before it, and the sum of all prices.

The number z of a cell has the probability ``p(z) = (count(z) + a * prior(z)) / (N + a)`` after N answers, of
which ``count(z)`` were z. So the cell in which guesses are confirmed becomes cheap, and the total does not
depend on the order of the answers. Confirmations, whether a model that is found by its digest says on the
holdout what is recorded of it, have an urn of their own. Other kinds of answers have codes that stay as they
are.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sklearn_ada._checks import bad_parameter
from sklearn_ada.accounting.codes import CONFIRMATION_WEIGHT, Code
from sklearn_ada.events import ComposedEvent, Event, SelfComposedEvent, Symbol
from sklearn_ada.exceptions import UnsupportedEventError

__all__ = ["DescriptionLength", "symbols_of", "urn_nats"]

_URNS = ("cells", "confirmation")


def symbols_of(event: Event) -> tuple[Symbol, ...]:
    """Return everything an event revealed, in order; a continuous release has no finite price.

    Raises
    ------
    UnsupportedEventError
        If some output of the event was not a symbol of a countable code.
    ValueError
        If ``event`` is not an event.
    """
    if not isinstance(event, Event):
        raise bad_parameter("event", "DescriptionLength", "an event", event)
    if isinstance(event, ComposedEvent):
        return tuple(s for part in event.events for s in symbols_of(part))
    if isinstance(event, SelfComposedEvent):
        return symbols_of(event.event) * event.count
    symbols: tuple[Symbol, ...] | None = getattr(event, "symbols", None)
    if not symbols:
        raise UnsupportedEventError(
            f"{event.type_name} released something that is not a symbol of a code, so it has no price "
            "in nats. Round the answer to a grid."
        )
    return symbols


class DescriptionLength:
    """Running total L, in nats, of everything a ledger has revealed.

    Parameters
    ----------
    code : Code

    Attributes
    ----------
    nats : float
        The total so far.

    Examples
    --------
    >>> from sklearn_ada.events import CodedRelease
    >>> account = DescriptionLength(Code())
    >>> held = CodedRelease((Symbol("cells", 0),))
    >>> surprise = CodedRelease((Symbol("cells", 1),))
    >>> account.price(held) < 0.01 < 5.0 < account.price(surprise)
    True
    """

    def __init__(self, code: Code) -> None:
        if not isinstance(code, Code):
            raise bad_parameter("code", "DescriptionLength", "a Code", code)
        self.code = code
        self.nats = 0.0
        self._weights = {"cells": code.urn_weight, "confirmation": CONFIRMATION_WEIGHT}
        self._urns: dict[str, Counter[int | str]] = {stream: Counter() for stream in _URNS}
        self._sizes = dict.fromkeys(_URNS, 0)
        self._ln_priors: dict[Symbol, float] = {}  # of urns only, whose symbols come again and again

    def price(self, event: Event) -> float:
        """Return what the event would cost now, in nats; nothing is recorded."""
        return self._price(symbols_of(event))

    def price_of_repeats(self, symbol: Symbol, count: int) -> float:
        """Return what the same symbol ``count`` times in a row would cost now; nothing is recorded.

        The product of an urn's probabilities in closed form, so that a million is as quick as one.

        Examples
        --------
        >>> round(DescriptionLength(Code()).price_of_repeats(Symbol("cells", 0), 1000), 2)
        0.14
        """
        ln_prior = self.code.ln_prior(symbol)
        if symbol.stream not in self._urns:
            return -ln_prior * count
        weight = self._weights[symbol.stream]
        seen = self._urns[symbol.stream][symbol.value] + weight * math.exp(ln_prior)
        size = self._sizes[symbol.stream] + weight
        ln_ways = math.lgamma(size + count) - math.lgamma(size)
        return max(ln_ways - (math.lgamma(seen + count) - math.lgamma(seen)), 0.0)

    def record(self, event: Event) -> float:
        """Add the event to the total and let the urns learn from it; return its price."""
        symbols = symbols_of(event)
        price = self._price(symbols)
        for symbol in symbols:
            if symbol.stream in self._urns:
                self._urns[symbol.stream][symbol.value] += 1
                self._sizes[symbol.stream] += 1
        self.nats += price
        return price

    def held(self, stream: str) -> Counter[int | str]:
        """Return how often each symbol of an urn's stream was recorded.

        Examples
        --------
        >>> DescriptionLength(Code()).held("confirmation")
        Counter()
        """
        return self._urns[stream].copy()

    def to_dict(self) -> dict[str, Any]:
        """Return the total and what the urns hold, ready for JSON.

        The urn of confirmations is left out while it is empty, as states of older releases have none.
        """
        told = {name: urn for name, urn in self._urns.items() if urn or name == "cells"}
        return {"nats": self.nats, "urns": {name: [*map(list, urn.items())] for name, urn in told.items()}}

    def restore(self, told: dict[str, Any]) -> None:
        """Go on from what `to_dict` told."""
        self.nats = told["nats"]
        for name in _URNS:
            self._urns[name] = Counter(dict(told["urns"].get(name, ())))
            self._sizes[name] = self._urns[name].total()

    def _price(self, symbols: tuple[Symbol, ...]) -> float:
        if len(symbols) == 1:  # nearly always, and replay is quicker without the rest
            return -self._ln_probability(symbols[0], 0, 0)
        total, fresh = 0.0, Counter[object]()
        for symbol in symbols:
            name = symbol.stream, symbol.value
            total -= self._ln_probability(symbol, fresh[name], fresh[symbol.stream])
            fresh.update((name, symbol.stream))
        return total

    def _ln_probability(self, symbol: Symbol, more_seen: int, more: int) -> float:
        """Return a symbol's log mass after ``more`` symbols of its stream, ``more_seen`` of them the same."""
        if symbol.stream not in self._urns:
            return self.code.ln_prior(symbol)
        ln_prior = self._ln_priors.get(symbol)
        if ln_prior is None:
            ln_prior = self._ln_priors[symbol] = self.code.ln_prior(symbol)
        weight = self._weights[symbol.stream]
        seen = self._urns[symbol.stream][symbol.value] + more_seen
        size = self._sizes[symbol.stream] + more
        if seen:
            return math.log(seen + weight * math.exp(ln_prior)) - math.log(size + weight)
        return math.log(weight) + ln_prior - math.log(size + weight)


def urn_nats(n_questions: int, surprises: NDArray[np.int_], code: Code) -> NDArray[np.float64]:
    """Return the urn's price of ``n_questions`` answers of which some were off by one cell.

    The surprises are split evenly between the two neighbours. Closed form of the urn's product.

    Examples
    --------
    >>> np.round(urn_nats(100, np.array([0, 1]), Code()), 2)
    array([0.07, 9.37])
    """
    weight = code.urn_weight
    prior = [weight * math.exp(code.ln_prior(Symbol("cells", z))) for z in (0, 1, -1)]
    counts = [n_questions - surprises, surprises - surprises // 2, surprises // 2]
    total = np.full(surprises.shape, gammaln(weight + n_questions) - gammaln(weight))
    for alpha, count in zip(prior, counts, strict=True):
        total -= gammaln(alpha + count) - gammaln(alpha)
    return total
