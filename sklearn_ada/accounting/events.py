"""Events: frozen, self-validating, versioned records of what was released about the holdout.

A *mechanism* is a procedure that answers a question about the holdout; each answer comes with an *event*,
such as "Gaussian noise with this multiplier was added" or "this symbol of a code was released". An event
states only what happened, never what it costs: prices belong to ``sklearn_ada.accounting``, so an old ledger
can be read again under a better theorem. The meaning of an event type, and of each of its fields, never
changes; a new meaning is a new type.

Coded answers are *symbols*: outcomes whose probabilities are fixed before the answer exists. A symbol to
which the code gives the probability p costs ``-ln p`` *nats*, the unit of information with natural
logarithms. Cells and code of a count are fixed when the question is asked, and stand in the symbol: so its
price can be computed again (`sklearn_ada.accounting.codes`).

Answers with noise hide what any one row contributes. Two holdouts are *neighbours* if they differ in one
row (or one subsample) that was replaced. A mechanism is *differentially private* if the laws of its
answers on neighbours are close. An event whose output was also rounded to a grid carries the released
``symbols``, so that it has a price under description length too; ``symbols=None`` says that the output was
continuous.
"""

from __future__ import annotations

import marshal
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, TypeVar

from sklearn_ada._validation import checked_fields, instance, integer, option, or_none, tuple_of

__all__ = [
    "FAILURES", "AboveThresholdEvent", "ApproximateDPEvent", "CodedRelease", "ComposedEvent", "CountRelease",
    "CountSymbol", "CoveredRelease", "Event", "ExponentialMechanismEvent", "GaussianEvent", "LaplaceEvent",
    "LeakyRandomizedResponseEvent", "PermuteAndFlipEvent", "PureDPEvent", "RandomizedResponseEvent",
    "SelfComposedEvent", "Symbol", "ThresholdoutEvent", "event_from_dict",
]  # fmt: skip

FORMAT = 6
"""Of ledgers that are begun now: their first record names it as its "schema"."""
FORMATS = (1, 3, 4, 5, FORMAT)
"""All that are read. Packages of format 2 wrote what those of format 1 did, and named it 1."""
BLOCKS = 5
"""Since which format tables of two classes, blocks of rows and sums over a unit certify what they can."""
KEEPS = FORMAT
"""Since which format a ledger names the model that is kept, and what its rows chose before it was begun."""

T = TypeVar("T")

_TYPES: dict[str, type[Event]] = {}
_MOST_READ = 10_000
_read: dict[object, Event] = {}  # a long ledger repeats the same few events, which are frozen


@dataclass(frozen=True)
class Event:
    """Something that was released about the holdout.

    Subclasses are frozen dataclasses that check their own fields; the class name is the type's name in
    a ledger.

    Examples
    --------
    >>> from sklearn_ada.accounting import GaussianEvent, event_from_dict
    >>> event = GaussianEvent(8.0)
    >>> event.to_dict()
    {'type': 'GaussianEvent', 'noise_multiplier': 8.0, 'symbols': None}
    >>> event_from_dict(event.to_dict()) == event
    True
    """

    type_name: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.type_name = cls.__name__
        _TYPES[cls.type_name] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dict from which `event_from_dict` rebuilds the event."""
        return {"type": self.type_name} | {f.name: _plain(getattr(self, f.name)) for f in fields(self)}


@dataclass(frozen=True)
class Release(Generic[T]):
    """An answer and what happened when it was drawn.

    Parameters
    ----------
    answer : object
        What may be shown once the event has been recorded.
    event : Event or None
        What happened; None if an event of an earlier answer of the same mechanism covers this one too.
    """

    answer: T
    event: Event | None


FAILURES = (
    "prediction raised ValueError",
    "prediction raised TypeError",
    "prediction raised MemoryError",
    "prediction raised another error",
    "prediction is not finite or of the wrong shape",
    "metric is undefined",
    "answer has no symbol in its code",
)
"""Every way in which a question can fail on the holdout; each is a symbol with a price."""

MOST_OFFSET = 10**15
"""No symbol is further from what is expected: beyond, offsets and their prices lose digits."""

STREAMS = (
    *("cells", "lattice", "grid", "spread", "count", "index"),
    *("overlap", "confirmation", "version", "which", "relabelled"),
)

COUNT_STREAMS = ("winner", "candidate", "unsealed")

_offset = integer(-MOST_OFFSET, MOST_OFFSET)
_outcome = option(FAILURES, otherwise=_offset)


@dataclass(frozen=True)
@checked_fields(stream=option(STREAMS), value=_outcome, scale=">= 0")
class Symbol(Event):
    """One outcome of a code, as its offset from the outcome that is expected: 0 is what was expected.

    Parameters
    ----------
    stream : {"cells", "lattice", "grid", "spread", "count", "index", "overlap", "confirmation", \
            "version", "which", "relabelled"}
        Which code it belongs to. "cells": offset of a coarse cell from the guess. "lattice": offset of an
        exact value on a fine lattice. "grid": offset of a median on its grid. "spread": distance in grid
        points of an outer quantile from the median. "count": a coarse logarithmic count. "index": one of
        `scale` alternatives. "overlap": whether training rows reappear in the holdout. "confirmation":
        whether a model predicts on the holdout what is recorded (0) or something else (1); "version": the
        same where several recorded answers are compared at once; "which": which of these it is. "relabelled":
        whether rows of recorded ids have other labels than ever before.
    value : int or str
        The offset, or one of `FAILURES`.
    scale : float, default=0.0
        The expected size of the offset, fixed without the holdout (0 where the code has none); the
        probability of a "which".

    Examples
    --------
    >>> from sklearn_ada.accounting import Code, CodedRelease, DescriptionLength, Symbol
    >>> account = DescriptionLength(Code())
    >>> expected, surprise = (CodedRelease((Symbol("cells", value),)) for value in (0, 1))
    >>> account.price(expected) < 0.01 < 5.0 < account.price(surprise)
    True
    """

    stream: str
    value: int | str
    scale: float = 0.0


_symbols = tuple_of(Symbol, "a non-empty tuple of Symbol")
_symbols_or_none = or_none(_symbols)


@dataclass(frozen=True)
@checked_fields(symbols=_symbols)
class CodedRelease(Event):
    """Noiseless symbols of a code were released: no differential privacy whatever.

    Parameters
    ----------
    symbols : tuple of Symbol
        What was revealed, in order.

    Examples
    --------
    >>> from sklearn_ada.accounting import Code, CodedRelease, DescriptionLength, Symbol
    >>> round(DescriptionLength(Code()).price(CodedRelease((Symbol("cells", 0),))), 4)
    0.003
    """

    symbols: tuple[Symbol, ...]


@dataclass(frozen=True)
@checked_fields(symbols=_symbols)
class CoveredRelease(Event):
    """Symbols of a mechanism were released whose privacy event, recorded earlier, covers them.

    Parameters
    ----------
    symbols : tuple of Symbol
        What was revealed, in order.

    Examples
    --------
    >>> from sklearn_ada.accounting import CoveredRelease, Symbol, zcdp_cost
    >>> zcdp_cost(CoveredRelease((Symbol("cells", 0),)))
    0.0
    """

    symbols: tuple[Symbol, ...]


@dataclass(frozen=True)
@checked_fields(events=tuple_of(Event, "a tuple of events", empty=True))
class ComposedEvent(Event):
    """These events happened one after the other, each chosen with the earlier ones in view.

    Parameters
    ----------
    events : tuple of Event
        In their order.

    Examples
    --------
    >>> from sklearn_ada.accounting import ComposedEvent, GaussianEvent, PureDPEvent, zcdp_cost
    >>> round(zcdp_cost(ComposedEvent((GaussianEvent(10.0), PureDPEvent(0.1)))), 6)
    0.009996
    """

    events: tuple[Event, ...]


@dataclass(frozen=True)
@checked_fields(event=instance(Event, "an event"), count="count")
class SelfComposedEvent(Event):
    """The same event happened ``count`` times.

    Parameters
    ----------
    event : Event
        What happened.
    count : int
        How often, at least once.

    Examples
    --------
    >>> from sklearn_ada.accounting import GaussianEvent, SelfComposedEvent, zcdp_cost
    >>> zcdp_cost(SelfComposedEvent(GaussianEvent(10.0), count=4))
    0.02
    """

    event: Event
    count: int


@dataclass(frozen=True)
@checked_fields(
    stream=option(COUNT_STREAMS),
    value=_outcome,
    first=_offset,
    width=integer(high=MOST_OFFSET),
    centre="finite",
    tau="> 0",
)
class CountSymbol(Event):
    """One outcome about a count: the number of the cell that holds it, or the count itself.

    Parameters
    ----------
    stream : {"winner", "candidate", "unsealed"}
        "winner", "candidate": the number of a cell, of which each has an urn of its own: where every search
        asks about its winner, or about all its candidates. "unsealed": one count of a released cell.
    value : int or str
        Number of the cell, or the count; or one of `FAILURES`.
    first, width : int
        Cell z holds ``width`` integers from ``first + z * width`` on. Unsealed: how many counts there may be,
        and the first of them.
    centre, tau : float
        The count expected, and its standard error.

    Examples
    --------
    >>> from sklearn_ada.accounting import Code, CountRelease, CountSymbol, DescriptionLength
    >>> symbol = CountSymbol("unsealed", 87, first=80, width=10, centre=85.0, tau=3.0)
    >>> round(DescriptionLength(Code()).price(CountRelease((symbol,))), 4)
    2.1407
    """

    stream: str
    value: int | str
    first: int
    width: int
    centre: float
    tau: float


@dataclass(frozen=True)
@checked_fields(symbols=tuple_of((CountSymbol, Symbol), "a non-empty tuple of CountSymbol or Symbol"))
class CountRelease(Event):
    """Symbols about a count were released, without noise: no differential privacy whatever.

    Parameters
    ----------
    symbols : tuple of CountSymbol or Symbol
        What was revealed, in order; a failure may need more than one.

    Examples
    --------
    >>> from sklearn_ada.accounting import CountRelease, CountSymbol
    >>> symbol = CountSymbol("unsealed", 87, first=80, width=10, centre=85.0, tau=3.0)
    >>> CountRelease((symbol,)).to_dict()["symbols"][0]["value"]
    87
    """

    symbols: tuple[CountSymbol | Symbol, ...]


@dataclass(frozen=True)
@checked_fields(epsilon="> 0", symbols=_symbols_or_none)
class WithEpsilon(Event):
    """A release with one privacy parameter ``epsilon`` > 0."""

    epsilon: float
    symbols: tuple[Symbol, ...] | None = None


class PureDPEvent(WithEpsilon):
    """An epsilon-DP mechanism that has no event type of its own.

    Parameters
    ----------
    epsilon : float
        Its privacy parameter, positive.
    symbols : tuple of Symbol or None
        What was released, where the output was rounded to a grid.

    Examples
    --------
    >>> from sklearn_ada.accounting import PureDPEvent, zcdp_cost
    >>> round(zcdp_cost(PureDPEvent(0.1)), 6)
    0.004996
    """


class LaplaceEvent(WithEpsilon):
    """Laplace noise of scale ``sensitivity / epsilon`` was added to one number.

    Parameters
    ----------
    epsilon : float
        Sensitivity of the number by the scale of the noise, positive.
    symbols : tuple of Symbol or None
        What was released, where the output was rounded to a grid.

    Examples
    --------
    >>> from sklearn_ada.accounting import LaplaceEvent, zcdp_cost
    >>> round(zcdp_cost(LaplaceEvent(0.1)), 6)
    0.004837
    """


class RandomizedResponseEvent(WithEpsilon):
    """One bit was released truthfully with probability ``e^epsilon / (1 + e^epsilon)``.

    Parameters
    ----------
    epsilon : float
        Log odds of the truth, positive.
    symbols : tuple of Symbol or None
        What was released, where the output was rounded to a grid.

    Examples
    --------
    >>> from sklearn_ada.accounting import RandomizedResponseEvent, zcdp_cost
    >>> round(zcdp_cost(RandomizedResponseEvent(0.1)), 6)
    0.004996
    """


class ExponentialMechanismEvent(WithEpsilon):
    """One element was drawn with weight ``exp(epsilon * score / (2 * sensitivity))``.

    Report-noisy-max with Gumbel noise draws from the same law and emits this event too.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the draw, positive.
    symbols : tuple of Symbol or None
        What was released, where the output was rounded to a grid.

    Examples
    --------
    >>> from sklearn_ada.accounting import ExponentialMechanismEvent, zcdp_cost
    >>> round(zcdp_cost(ExponentialMechanismEvent(0.1)), 6)
    0.00125
    """


class PermuteAndFlipEvent(WithEpsilon):
    """One element was chosen by permute-and-flip at ``epsilon``.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the choice, positive.
    symbols : tuple of Symbol or None
        What was released, where the output was rounded to a grid.

    Examples
    --------
    >>> from sklearn_ada.accounting import PermuteAndFlipEvent, zcdp_cost
    >>> round(zcdp_cost(PermuteAndFlipEvent(0.1)), 6)
    0.004996
    """


class AboveThresholdEvent(WithEpsilon):
    """A threshold's noise was drawn, for a run that ends at its first "above".

    The event happens when the noise is drawn: a run in which nothing was above has happened too.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the run, positive.
    symbols : tuple of Symbol or None
        What was released, where the output was rounded to a grid.

    Examples
    --------
    >>> from sklearn_ada.accounting import AboveThresholdEvent, zcdp_cost
    >>> round(zcdp_cost(AboveThresholdEvent(0.1)), 6)
    0.004996
    """


@dataclass(frozen=True)
@checked_fields(scaled_epsilon="> 0", max_hits="count", symbols=_symbols_or_none)
class ThresholdoutEvent(Event):
    """A Thresholdout with Laplace noise was opened for at most ``max_hits`` hits.

    Parameters
    ----------
    scaled_epsilon : float
        ``sensitivity / s`` for noise of scale s in the released value, 2s in the threshold and 4s in the
        comparison (Dwork et al., Science 2015).
    max_hits : int
        How many hits are allowed in total; the last, open run is part of the event.
    symbols : tuple of Symbol or None
        The answer with which it was opened, where answers are rounded; later ones are `CoveredRelease`.

    Examples
    --------
    >>> from sklearn_ada.accounting import ThresholdoutEvent, zcdp_cost
    >>> round(zcdp_cost(ThresholdoutEvent(0.01, max_hits=5)), 6)
    0.000549
    """

    scaled_epsilon: float
    max_hits: int
    symbols: tuple[Symbol, ...] | None = None


@dataclass(frozen=True)
@checked_fields(noise_multiplier="> 0", symbols=_symbols_or_none)
class GaussianEvent(Event):
    """Gaussian noise of standard deviation ``noise_multiplier * sensitivity`` was added to one number.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise by the sensitivity of the number, positive.
    symbols : tuple of Symbol or None
        What was released, where the output was rounded to a grid.

    Examples
    --------
    >>> from sklearn_ada.accounting import GaussianEvent, zcdp_cost
    >>> zcdp_cost(GaussianEvent(10.0))
    0.005
    """

    noise_multiplier: float
    symbols: tuple[Symbol, ...] | None = None


@dataclass(frozen=True)
@checked_fields(epsilon=">= 0", delta="[0, 1)")
class ApproximateDPEvent(Event):
    """An (epsilon, delta)-DP mechanism that has no event type of its own.

    Parameters
    ----------
    epsilon : float
        At least 0.
    delta : float
        In [0, 1).

    Examples
    --------
    >>> from sklearn_ada.accounting import ApproximateDPEvent, approximate_dp_cost
    >>> approximate_dp_cost(ApproximateDPEvent(0.1, 1e-6))
    EpsilonDelta(epsilon=0.1, delta=1e-06)
    """

    epsilon: float
    delta: float


class LeakyRandomizedResponseEvent(ApproximateDPEvent):
    """Randomised response that with probability ``delta`` names its input (lecture 11).

    It dominates every (epsilon, delta)-DP mechanism, so exact small cases can be computed from it.

    Parameters
    ----------
    epsilon : float
        At least 0.
    delta : float
        In [0, 1).

    Examples
    --------
    >>> from sklearn_ada.accounting import LeakyRandomizedResponseEvent, approximate_dp_cost
    >>> approximate_dp_cost(LeakyRandomizedResponseEvent(0.1, 1e-6))
    EpsilonDelta(epsilon=0.1, delta=1e-06)
    """


def composed(*events: Event | None) -> Event | None:
    """Return the events that are not None as one, or None if there is none."""
    happened = tuple(event for event in events if event is not None)
    return ComposedEvent(happened) if len(happened) > 1 else next(iter(happened), None)


def event_from_dict(body: dict[str, Any]) -> Event:
    """Return the event written by `Event.to_dict`; an unknown type or field is an error.

    Parameters
    ----------
    body : dict
        As `Event.to_dict` returned it, or read from JSON.

    Returns
    -------
    Event
        Equal to the one that was written.

    Raises
    ------
    ValueError
        If a newer version wrote an event of this type.

    Examples
    --------
    >>> from sklearn_ada.accounting import event_from_dict
    >>> event_from_dict({"type": "GaussianEvent", "noise_multiplier": 8.0, "symbols": None})
    GaussianEvent(noise_multiplier=8.0, symbols=None)
    """
    written = _written(body)
    event = _read.get(written)
    if event is None:
        if len(_read) >= _MOST_READ:
            _read.clear()
        event = _read[written] = _built(body)
    return event


def _written(body: dict[str, Any]) -> object:
    """Return a key of the body in which True, 1 and 1.0 differ.

    A tuple of the values would not do.
    """
    try:
        return marshal.dumps(body, 2)  # without references, which depend on more than the content
    except ValueError:  # not made of JSON's types alone
        return repr(body)


def _built(body: dict[str, Any]) -> Event:
    values = dict(body)
    name = values.pop("type", None)
    if name not in _TYPES:
        raise ValueError(f"Unknown event type {name!r}: this ledger was written by a newer version.")
    return _TYPES[name](**{k: _rich(v) if isinstance(v, (dict, list)) else v for k, v in values.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, Event):
        return value.to_dict()
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def _rich(value: Any) -> Any:
    if isinstance(value, dict):
        return _built(value)
    return tuple(_rich(v) for v in value) if isinstance(value, list) else value
