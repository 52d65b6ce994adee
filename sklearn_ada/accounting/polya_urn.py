"""The Polya urn: what an answer costs in nats, given the answers before it, and the sum of all prices.

The number z of a cell has the probability ``p(z) = (count(z) + a * prior(z)) / (N + a)`` after N answers, of
which ``count(z)`` were z. So the cell in which guesses are confirmed becomes cheap, and the total does not
depend on the order of the answers. Confirmations, whether a model that is found by its digest says on the
holdout what is recorded of it, have two urns of their own. Other kinds of answers have codes that stay as
they are.

With N fixed the probabilities sum to ``(N + a * sum of the prior) / (N + a)``, at most 1, whatever prior the
next question has: it may be another one for every question, as its precision differs. An urn learns how
often guesses hold, so questions whose guesses are of another kind (the winner of a search, all candidates of
a search) have an urn of their own.

Source: the urn is that of Blackwell and MacQueen (1973); coding with it, Krichevsky and Trofimov (1981).
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada.accounting.codes import CONFIRMATION_WEIGHT, URN_WEIGHT, Code
from sklearn_ada.accounting.count_code import ln_count_prior
from sklearn_ada.events import ComposedEvent, CountSymbol, Event, SelfComposedEvent, Symbol
from sklearn_ada.exceptions import UnsupportedEventError

__all__ = ["DescriptionLength", "PolyaUrn", "symbols_of", "urn_nats"]

_URNS = ("cells", "winner", "candidate", "confirmation", "version")
_OF_CELLS = ("cells", "winner", "candidate")


def symbols_of(event: Event) -> tuple[Any, ...]:
    """Return everything an event revealed, in order: a `Symbol` or a `CountSymbol` each.

    A continuous release has no finite price.

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
    symbols: tuple[Any, ...] | None = getattr(event, "symbols", None)
    if not symbols:
        raise UnsupportedEventError(
            f"{event.type_name} released something that is not a symbol of a code, so it has no price "
            "in nats. Round the answer to a grid."
        )
    return symbols


class PolyaUrn:
    """The values said so far, and what each possible next one would cost.

    Parameters
    ----------
    weight : float, default=URN_WEIGHT
        a, positive: the prior counts as this many values.

    Attributes
    ----------
    counts : Counter
        How often each value was said.
    size : int
        N, how many were said.

    Examples
    --------
    >>> urn = PolyaUrn()
    >>> first = urn.price(0, math.log(0.975))
    >>> urn.record(0)
    >>> round(first, 4), round(urn.price(0, math.log(0.97)), 4)
    (0.0253, 0.0277)
    """

    def __init__(self, weight: float = URN_WEIGHT) -> None:
        self.weight = check_real(weight, "weight", "PolyaUrn", low=0.0)
        self.counts: Counter[int | str] = Counter()
        self.size = 0

    def price(self, value: int | str, ln_prior: float) -> float:
        """Return what the value would cost now, in nats; nothing is recorded.

        Parameters
        ----------
        value : int or str
            The number of a cell, or the name of a failure.
        ln_prior : float
            Logarithm of its prior probability, at most 0, in the code of this question.
        """
        ln_prior = check_real(ln_prior, "ln_prior", "PolyaUrn.price", high=0.0, closed="high")
        return max(-self.ln_probability(value, ln_prior), 0.0)

    def record(self, value: int | str) -> None:
        """Add a value that was said.

        Parameters
        ----------
        value : int or str
            The symbol's value.
        """
        self.counts[value] += 1
        self.size += 1

    def ln_probability(self, value: int | str, ln_prior: float, more_seen: int = 0, more: int = 0) -> float:
        """Return a value's log mass after ``more`` values beyond those recorded, ``more_seen`` the same.

        Parameters
        ----------
        value : int or str
        ln_prior : float
            Its log mass before anything was recorded.
        more_seen, more : int, default=0
        """
        seen = self.counts[value] + more_seen
        if seen:
            return math.log(seen + self.weight * math.exp(ln_prior)) - math.log(
                self.size + more + self.weight
            )
        return math.log(self.weight) + ln_prior - math.log(self.size + more + self.weight)


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
        weights = dict.fromkeys(_OF_CELLS, code.urn_weight)
        self._urns = {stream: PolyaUrn(weights.get(stream, CONFIRMATION_WEIGHT)) for stream in _URNS}
        self._ln_priors: dict[Symbol, float] = {}  # of urns only, whose symbols come again and again

    def price(self, event: Event) -> float:
        """Return what the event would cost now, in nats; nothing is recorded.

        Parameters
        ----------
        event : Event
            What would be released.
        """
        return self._price(symbols_of(event))

    def price_of_repeats(self, symbol: Symbol | CountSymbol, count: int) -> float:
        """Return what the same symbol ``count`` times in a row would cost now; nothing is recorded.

        The product of an urn's probabilities in closed form, so that a million is as quick as one.

        Parameters
        ----------
        symbol : Symbol or CountSymbol
            What would be said each time.
        count : int
            How often, at least 0.

        Examples
        --------
        >>> round(DescriptionLength(Code()).price_of_repeats(Symbol("cells", 0), 1000), 2)
        0.14
        """
        ln_prior = ln_count_prior(symbol) if isinstance(symbol, CountSymbol) else self.code.ln_prior(symbol)
        if symbol.stream not in self._urns:
            return -ln_prior * count
        urn = self._urns[symbol.stream]
        seen = urn.counts[symbol.value] + urn.weight * math.exp(ln_prior)
        size = urn.size + urn.weight
        ln_ways = math.lgamma(size + count) - math.lgamma(size)
        return max(ln_ways - (math.lgamma(seen + count) - math.lgamma(seen)), 0.0)

    def record(self, event: Event) -> float:
        """Add the event to the total and let the urns learn from it; return its price.

        Parameters
        ----------
        event : Event
            What was released.
        """
        symbols = symbols_of(event)
        price = self._price(symbols)
        for symbol in symbols:
            if symbol.stream in self._urns:
                self._urns[symbol.stream].record(symbol.value)
        self.nats += price
        return price

    def held(self, stream: str) -> Counter[int | str]:
        """Return how often each symbol of an urn's stream was recorded.

        Parameters
        ----------
        stream : str
            The name of the stream that the symbols belong to.

        Examples
        --------
        >>> DescriptionLength(Code()).held("confirmation")
        Counter()
        """
        return self._urns[stream].counts.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return the total and what the urns hold, ready for JSON.

        Other urns than that of checks are left out while they are empty: states of older releases have none.
        """
        told = {name: urn for name, urn in self._urns.items() if urn.counts or name == "cells"}
        return {
            "nats": self.nats,
            "urns": {name: [*map(list, urn.counts.items())] for name, urn in told.items()},
        }

    def restore(self, told: dict[str, Any]) -> None:
        """Go on from what `to_dict` told.

        Parameters
        ----------
        told : dict
            Of a `DescriptionLength` with the same code.
        """
        self.nats = told["nats"]
        for name, urn in self._urns.items():
            urn.counts = Counter(dict(told["urns"].get(name, ())))
            urn.size = urn.counts.total()

    def _price(self, symbols: tuple[Any, ...]) -> float:
        if len(symbols) == 1:  # nearly always, and replay is quicker without the rest
            return -self._ln_probability(symbols[0], 0, 0)
        total, fresh = 0.0, Counter[object]()
        for symbol in symbols:
            name = symbol.stream, symbol.value
            total -= self._ln_probability(symbol, fresh[name], fresh[symbol.stream])
            fresh.update((name, symbol.stream))
        return total

    def _ln_probability(self, symbol: Symbol | CountSymbol, more_seen: int, more: int) -> float:
        """Return a symbol's log mass after ``more`` symbols of its stream, ``more_seen`` of them the same."""
        urn = self._urns.get(symbol.stream)
        if isinstance(symbol, CountSymbol):  # its prior is its own, and hardly ever comes again
            ln_own = ln_count_prior(symbol)
            return ln_own if urn is None else urn.ln_probability(symbol.value, ln_own, more_seen, more)
        if urn is None:
            return self.code.ln_prior(symbol)
        ln_prior = self._ln_priors.get(symbol)
        if ln_prior is None:
            ln_prior = self._ln_priors[symbol] = self.code.ln_prior(symbol)
        return urn.ln_probability(symbol.value, ln_prior, more_seen, more)


def urn_nats(n_questions: int, surprises: NDArray[np.int_], code: Code) -> NDArray[np.float64]:
    """Return the urn's price of ``n_questions`` answers of which some were off by one cell.

    The surprises are split evenly between the two neighbours. Closed form of the urn's product.

    Parameters
    ----------
    n_questions : int
    surprises : ndarray of int
        How many were off, each in [0, n_questions].
    code : Code
        The prior masses of cells.

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
