"""Codes: what an answer costs in nats, ``-ln`` of the probability that was fixed for it before it existed.

A *code* gives each outcome of a question a probability, at most 1 in sum; an outcome of probability p costs
``-ln p`` *nats*, the unit of information with natural logarithms. An outcome is a `Symbol`: mostly an
integer, the offset of the answer from the one that the guess predicts. Failures are outcomes too, so every
code keeps some probability for them. Functions whose name begins with ``ln`` return natural logarithms.

There is one code for each kind of answer, which `Symbol` calls its *stream*:

- "cells", the coarse answer of a check: geometric, with a Cauchy tail; a Polya urn then learns from the
  answers given.
- "lattice", the exact value of a certify, and "grid", a median on a grid: Cauchy around the guess, with the
  scale that the guess's precision suggests.
- "spread", "count": a distance between two quantiles, a coarse count; Cauchy as well.
- "index": one of N alternatives, all equally likely, so ``ln N`` nats.
- "overlap": whether training rows reappear in the holdout; "no" is nearly free.
- "confirmation": whether a model that was found by its digest predicts on the holdout what is recorded of it;
  0 is "the same", 1 "different". It has an urn of its own, whose weight and prior are the same for every
  ledger: they are no part of a policy.
- "version": the same where several answers are recorded under the digest, one of which it may be. It has
  another urn, so that a model which predicts at random, and is a new version each time, does not make "the
  same" dear for all others.
- "which": which of several recorded answers it is. Its ``scale`` is its probability, which follows from how
  often each of them was confirmed before.
- "relabelled": whether rows of recorded ids have labels that they never had before. "No" is paid for once,
  when the rows are recorded (`sklearn_ada.holdout.changes`).

*Counts around a guess* (`CountCode`). The holdout's count is expected at n times the guess, with the standard
error tau that sampling the holdout and the guess's own rows explains. Of the mass that failures leave, 99 %
lie as a Student law of 30 degrees of freedom, whose tails are those of a normal law but for models a little
worse than their guesses, and 1 % as a Cauchy law of three times the width, so that a guess that is far off
costs two nats for every factor e of distance. A cell has the mass between its borders, half a count outside
its first and its last count, so cells that do not overlap never have more than 1 in all, whatever their
widths.

*The Polya urn* (`PolyaUrn`). The number z of a cell has the probability ``p(z) = (count(z) + a * prior(z)) /
(N + a)`` after N answers, of which ``count(z)`` were z. So the cell in which guesses are confirmed becomes
cheap, and the total does not depend on the order of the answers. With N fixed the probabilities sum to ``(N +
a * sum of the prior) / (N + a)``, at most 1, whatever prior the next question has: it may be another one for
every question, as its precision differs. An urn learns how often guesses hold, so questions whose guesses are
of another kind (the winner of a search, all candidates of a search) have an urn of their own. The urn is that
of Blackwell and MacQueen (1973); coding with it, Krichevsky and Trofimov (1981).

*Unsealing*. A *sealed* value was computed when its question was asked, and only its cell was released. To
*unseal* it is to release one of the values of that cell (or that it cannot be recomputed): with the public
weights w of `CountCode`, value k has the probability ``(1 - e0) w(k) / sum of w over the cell``, so that the
cell and the value in it cost together what the value alone would have cost, but for what the urn has learnt
in between. What is released instead of a value may be the two ends of an interval that is any function of all
rows; they are two integers on a lattice. All prices are fixed by what is public; everything that is asked
later pays them. A question that is still sealed keeps the failure probability of its asking.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, stdtr

from sklearn_ada import _validation
from sklearn_ada._validation import LN_2, bad_parameter, checked, checked_fields, plain
from sklearn_ada.accounting import events
from sklearn_ada.accounting.events import FAILURES, MOST_OFFSET, CountSymbol, Event, Symbol
from sklearn_ada.exceptions import UnsupportedEventError

__all__ = [
    "Code", "CountCode", "DescriptionLength", "PolyaUrn", "failed_unsealing_nats", "largest_unsealing_nats",
    "released_ends_nats", "unsealing_nats",
]  # fmt: skip


CONFIRMATION_WEIGHT = 10.0
"""The prior of an urn of confirmations counts as so many earlier ones.

The first "the same" then costs .001 nats and N of them about ``.01 ln(1 + N/10)``, as digests are hardly ever
wrong; a first "different" costs ``ln 1000`` (6.9) nats, and ``ln(1 + N/10)`` more after N that were the same.
After one "different" the next "the same" costs .1 nats.
"""

DIFFERENT_MASS = 1e-3
"""Prior probability that a model found by its digest predicts something else on the holdout."""

RELABELLED_MASS = 0.01
"""Prior probability that rows of recorded ids come with other labels."""

URN_WEIGHT = 10.0
"""The prior of a Polya urn counts as this many earlier answers."""

FAILURE_MASS = 0.001
"""Prior mass of all `sklearn_ada.accounting.events.FAILURES` together."""

_FREEDOM = 30.0  # of the Student law of counts
_CAUCHY_MASS = 0.01
_CAUCHY_SCALE = 3.0

_MASSES_OF_ONE = {"confirmation": DIFFERENT_MASS, "version": DIFFERENT_MASS, "relabelled": RELABELLED_MASS}
_URNS = ("cells", "winner", "candidate", "confirmation", "version")
_OF_CELLS = ("cells", "winner", "candidate")

_OFFSET = _validation.integer(-MOST_OFFSET, MOST_OFFSET)
_probability = _validation.real(0.0, 1.0, closed="high")


@dataclass(frozen=True)
@checked_fields(
    urn_weight="> 0", decay="(0, 1)", tail_mass="(0, 1)", failure_mass="(0, 1)", leak_mass="(0, 1)"
)
class Code:
    """The parameters of all codes of one ledger, fixed when it is created.

    Parameters
    ----------
    urn_weight : float, default=URN_WEIGHT
        The prior of the Polya urn counts as this many earlier answers.
    decay : float, default=0.001
        Prior chance, roughly, that a guess is off by one cell; a geometric law has most of the mass.
    tail_mass : float, default=1e-5
        Share of a Cauchy law in the prior of cells: a guess that is far off costs two nats for every factor e
        of cells, where the geometric law alone would ask seven for every cell.
    failure_mass : float, default=FAILURE_MASS
        Prior mass of all `FAILURES` together.
    leak_mass : float, default=1e-6
        Prior probability that training rows are found in the holdout.

    Examples
    --------
    >>> code = Code()
    >>> [round(-code.ln_prior(Symbol("cells", z)), 3) for z in (0, 1, 10, 1000)]
    [0.003, 6.909, 17.271, 26.474]
    """

    urn_weight: float = URN_WEIGHT
    decay: float = 0.001
    tail_mass: float = 1e-5
    failure_mass: float = FAILURE_MASS
    leak_mass: float = 1e-6

    def ln_prior(self, symbol: Symbol) -> float:
        """Return a symbol's log probability before any answer was given.

        Parameters
        ----------
        symbol : Symbol
            One outcome of a question.
        """
        stream, value, scale = symbol.stream, symbol.value, symbol.scale
        if stream == "overlap":
            return _ln_of_two(symbol, self.leak_mass)
        if stream in _MASSES_OF_ONE:
            return _ln_of_two(symbol, _MASSES_OF_ONE[stream])
        if stream == "which":
            return math.log(_probability(scale, "scale", "Symbol of a version"))
        if isinstance(value, str):
            return math.log(self.failure_mass / len(FAILURES))
        if stream in ("lattice", "grid", "spread", "count") and scale == 0.0:
            raise UnsupportedEventError(
                f"A symbol of the code {stream!r} has no price without a scale; give the expected size of "
                "the offset, fixed without the holdout."
            )
        ln_rest = math.log1p(-self.failure_mass)
        if stream == "cells":
            return ln_rest + self._ln_cells(value)
        if stream == "index":
            if not 0 <= value < scale:
                raise bad_parameter("value", "Symbol", f"an index in [0, {scale:g})", value)
            return ln_rest - math.log(scale)
        is_doubled = stream == "spread" and value > 0  # never negative: twice the two-sided mass, once for 0
        return ln_rest + _ln_cauchy(value, scale) + (LN_2 if is_doubled else 0.0)

    def _ln_cells(self, value: int) -> float:
        near = math.log1p(-self.tail_mass) + _ln_geometric(value, self.decay)
        far = math.log(self.tail_mass) + _ln_cauchy(value, 1.0)
        return max(near, far) + math.log1p(math.exp(-abs(near - far)))


@dataclass(frozen=True)
@checked_fields(centre=_validation.real(-MOST_OFFSET, MOST_OFFSET), tau="> 0", failure_mass="(0, 1)")
class CountCode:
    """A law on counts: a Student and a Cauchy law, and a little mass for failures.

    Parameters
    ----------
    centre : float
        The count expected, n times the guess; it need not be whole.
    tau : float
        The standard error of the count around it, positive.
    failure_mass : float, default=FAILURE_MASS
        Mass of all `sklearn_ada.accounting.events.FAILURES` together, in (0, 1).

    Examples
    --------
    >>> code = CountCode(centre=425.6, tau=9.2)
    >>> round(-code.ln_mass(403, 448), 4), round(-code.ln_mass(357, 402), 2)
    (0.0248, 4.58)
    """

    centre: float
    tau: float
    failure_mass: float = FAILURE_MASS

    @checked(low_count=_OFFSET)
    def ln_mass(self, low_count: int, high_count: int) -> float:
        """Return the logarithm of the mass of all integers from ``low_count`` to ``high_count``.

        Integers that no count can be (below 0, above n) have mass as well.

        Parameters
        ----------
        low_count, high_count : int
            Both ends belong to the range.
        """
        owner = "CountCode.ln_mass"
        high_count = _validation.check_integer(
            high_count, "high_count", owner, low=low_count, high=MOST_OFFSET
        )
        return math.log1p(-self.failure_mass) + self._ln_between(low_count, high_count)

    def ln_failure(self) -> float:
        """Return the logarithm of the mass of one way to fail.

        Examples
        --------
        >>> round(-CountCode(425.6, 9.2).ln_failure(), 2)
        8.85
        """
        return math.log(self.failure_mass / len(FAILURES))

    @checked(count=_validation.integer(-MOST_OFFSET), low_count=_OFFSET, high_count=_OFFSET)
    def ln_within(self, count: int, low_count: int, high_count: int) -> float:
        """Return a count's log mass, given that it lies in a range.

        ``ln[(1 - e0) w(count) / sum of w]``, w the mass of a single count and e0 that of failures: the masses
        of the counts of the range and of all failures sum to 1.

        Parameters
        ----------
        count : int
            In the range.
        low_count, high_count : int
            Both ends belong to the range.

        Examples
        --------
        >>> code = CountCode(centre=425.6, tau=9.2)
        >>> round(-code.ln_within(426, 403, 448), 2), code.ln_within(426, 426, 426) > -0.0011
        (3.13, True)
        """
        if not low_count <= count <= high_count:
            expected = f"an integer from {low_count} to {high_count}"
            raise bad_parameter("count", "CountCode.ln_within", expected, count)
        ln_part = self._ln_between(count, count) - self._ln_between(low_count, high_count)
        return math.log1p(-self.failure_mass) + min(ln_part, 0.0)

    def _ln_between(self, low_count: int, high_count: int) -> float:
        low, high = (low_count - 0.5 - self.centre) / self.tau, (high_count + 0.5 - self.centre) / self.tau
        student = float(stdtr(_FREEDOM, high) - stdtr(_FREEDOM, low))  # far out all mass is the other law's
        width = (high_count - low_count + 1) / (_CAUCHY_SCALE * self.tau)
        angle = arctan_difference(low / _CAUCHY_SCALE, high / _CAUCHY_SCALE, width)
        return math.log((1.0 - _CAUCHY_MASS) * max(student, 0.0) + _CAUCHY_MASS * angle / math.pi)


class PolyaUrn:
    """The values released so far, and what each possible next one would cost.

    Parameters
    ----------
    weight : float, default=URN_WEIGHT
        a, positive: the prior counts as this many values.

    Attributes
    ----------
    counts : Counter
        How often each value was released.
    size : int
        N, how many were released.

    Examples
    --------
    >>> urn = PolyaUrn()
    >>> first = urn.price(0, math.log(0.975))
    >>> urn.record(0)
    >>> round(first, 4), round(urn.price(0, math.log(0.97)), 4)
    (0.0253, 0.0277)
    """

    @checked(weight="> 0")
    def __init__(self, weight: float = URN_WEIGHT) -> None:
        self.weight = weight
        self.counts: Counter[int | str] = Counter()
        self.size = 0

    @checked(ln_prior="<= 0")
    def price(self, value: int | str, ln_prior: float) -> float:
        """Return what the value would cost now, in nats; nothing is recorded.

        Parameters
        ----------
        value : int or str
            The number of a cell, or the name of a failure.
        ln_prior : float
            Logarithm of its prior probability, at most 0, in the code of this question.
        """
        return max(-self.ln_probability(value, ln_prior), 0.0)

    def record(self, value: int | str) -> None:
        """Add a value that was released.

        Parameters
        ----------
        value : int or str
            The symbol's value.
        """
        self.counts[value] += 1
        self.size += 1

    def ln_probability(self, value: int | str, ln_prior: float, more_seen: int = 0, more: int = 0) -> float:
        """Return a value's log mass, given what was recorded and so many values after it.

        Parameters
        ----------
        value : int or str
        ln_prior : float
            Its log mass before anything was recorded.
        more_seen, more : int, default=0
            ``more`` values follow those that are recorded, and ``more_seen`` of them are this value.
        """
        seen, ln_all = self.counts[value] + more_seen, math.log(self.size + more + self.weight)
        if seen:
            return math.log(seen + self.weight * math.exp(ln_prior)) - ln_all
        return math.log(self.weight) + ln_prior - ln_all


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
    >>> from sklearn_ada.accounting.events import CodedRelease
    >>> account = DescriptionLength(Code())
    >>> held = CodedRelease((Symbol("cells", 0),))
    >>> surprise = CodedRelease((Symbol("cells", 1),))
    >>> account.price(held) < 0.01 < 5.0 < account.price(surprise)
    True
    """

    @checked(code=_validation.instance(Code, "a Code"))
    def __init__(self, code: Code) -> None:
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
            What would be released each time.
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
        kept = {name: urn.counts for name, urn in self._urns.items() if urn.counts or name == "cells"}
        return {"nats": self.nats, "urns": {name: [*map(list, seen.items())] for name, seen in kept.items()}}

    def restore(self, total: dict[str, Any]) -> None:
        """Go on from what `to_dict` returned.

        Parameters
        ----------
        total : dict
            Of a `DescriptionLength` with the same code.
        """
        self.nats = total["nats"]
        for name, urn in self._urns.items():
            urn.counts = Counter(dict(total["urns"].get(name, ())))
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
        """Return a symbol's log mass; for the numbers see `PolyaUrn.ln_probability`."""
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
    if isinstance(event, events.ComposedEvent):
        return tuple(s for part in event.events for s in symbols_of(part))
    if isinstance(event, events.SelfComposedEvent):
        return symbols_of(event.event) * event.count
    symbols: tuple[Any, ...] | None = getattr(event, "symbols", None)
    if not symbols:
        raise UnsupportedEventError(
            f"{event.type_name} released something that is not a symbol of a code, so it has no price "
            "in nats. Round the answer to a grid."
        )
    return symbols


def ln_count_prior(symbol: CountSymbol) -> float:
    """Return a count symbol's log probability before an urn has learnt from others.

    Examples
    --------
    >>> round(-ln_count_prior(CountSymbol("winner", 0, 403, 46, 425.6, 9.2)), 4)
    0.0248
    >>> round(-ln_count_prior(CountSymbol("unsealed", 426, 403, 46, 425.6, 9.2)), 3)
    3.133
    """
    code = CountCode(symbol.centre, symbol.tau)
    if isinstance(symbol.value, str):
        return code.ln_failure()
    last = symbol.first + symbol.width - 1
    if symbol.stream == "unsealed":
        return code.ln_within(symbol.value, symbol.first, last)
    shift = symbol.value * symbol.width
    return code.ln_mass(symbol.first + shift, last + shift)


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


def unsealing_nats(count: int, low_count: int, high_count: int, code: CountCode) -> float:
    """Return the price of one value of a released cell.

    It is ``-ln[(1 - e0) w(count) / sum of w over the cell]``.

    Parameters
    ----------
    count : int
        The value.
    low_count, high_count : int
        First and last value of its cell, which was released before, clipped to the values that there can be.
    code : CountCode
        The weights w and the mass e0 of failures, fixed when the question was asked.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the value is not one of the cell's.

    Examples
    --------
    >>> round(unsealing_nats(426, 403, 448, CountCode(425.6, 9.2)), 3)
    3.133
    """
    return -code.ln_within(count, low_count, high_count)


def largest_unsealing_nats(low_count: int, high_count: int, code: CountCode) -> float:
    """Return the price of the dearest value of a released cell.

    Whether a value may be unsealed is decided by this price, which does not depend on the value. The masses
    fall to both sides of their centre, so the dearest value is at an end of the cell. A failure may cost
    more.

    Parameters
    ----------
    low_count, high_count, code
        As for `unsealing_nats`.

    Examples
    --------
    >>> round(largest_unsealing_nats(403, 448, CountCode(425.6, 9.2)), 2)
    5.95
    """
    return max(unsealing_nats(end, low_count, high_count, code) for end in (low_count, high_count))


def failed_unsealing_nats(code: CountCode) -> float:
    """Return the price of a sealed value that cannot be had.

    The release names one of the ways to fail.

    Parameters
    ----------
    code : CountCode
        The code that was fixed when the question was asked.

    Examples
    --------
    >>> round(failed_unsealing_nats(CountCode(425.6, 9.2)), 2)
    8.85
    """
    return -code.ln_failure()


@checked(size="count")
def released_ends_nats(low: int, high: int, size: int, low_code: CountCode, high_code: CountCode) -> float:
    """Return the price of an interval's two ends, as points of a lattice.

    The lattice has ``size + 1`` points. The lower end is coded among all of them, the upper end among those
    from the lower end on. Both ends are one release, which fails as a whole, so only the code of the lower
    end reserves probability for a failure.

    Parameters
    ----------
    low, high : int
        The ends, ``0 <= low <= high <= size``; they were rounded outwards to the lattice.
    size : int
        Number of the last lattice point.
    low_code, high_code : CountCode
        Their centres are the ends that are expected before the holdout is looked at.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the ends are not in order on the lattice.

    Examples
    --------
    >>> foreseen = CountCode(800.0, 10.0), CountCode(880.0, 10.0)
    >>> round(released_ends_nats(795, 884, 1000, *foreseen), 2)
    6.68
    """
    owner = "released_ends_nats"
    low = _validation.check_integer(low, "low", owner, low=0, high=size)
    high = _validation.check_integer(high, "high", owner, low=low, high=size)
    ln_no_failure = math.log1p(-high_code.failure_mass)
    return -low_code.ln_within(low, 0, size) - high_code.ln_within(high, low, size) + ln_no_failure


@checked(value=_OFFSET, decay="(0, 1)")
def ln_geometric(value: int, decay: float) -> float:
    """Return the log mass of z under the two-sided geometric law: ``ln[(1-t)/(1+t) * t^|z|]``.

    z is ``value``, t is ``decay``, and the mean of the law is 0.

    Examples
    --------
    >>> round(math.exp(ln_geometric(0, 0.5)), 6), round(math.exp(ln_geometric(-1, 0.5)), 6)
    (0.333333, 0.166667)
    """
    return math.log((1.0 - decay) / (1.0 + decay)) + abs(value) * math.log(decay)


@checked(value=_OFFSET, scale="> 0")
def ln_cauchy(value: int, scale: float) -> float:
    """Return the log mass of z under a Cauchy law, rounded to integers.

    Its tails forgive a bad guess: an offset of z costs about ``2 ln(z/scale)`` nats more than none.

    Examples
    --------
    >>> total = sum(math.exp(ln_cauchy(z, 3.0)) for z in range(-20000, 20001))
    >>> 0.9999 < total < 1.0
    True
    """
    upper, lower = (abs(value) + 0.5) / scale, (abs(value) - 0.5) / scale
    return math.log(arctan_difference(lower, upper, upper - lower) / math.pi)


_ln_geometric, _ln_cauchy = plain(ln_geometric), plain(ln_cauchy)


def arctan_difference(lower: float, upper: float, width: float) -> float:
    """Return ``arctan(upper) - arctan(lower)`` without cancellation.

    ``width`` is ``upper - lower``, given apart because ends that are far out have lost its digits.

    Examples
    --------
    >>> round(arctan_difference(-1.0, 1.0, 2.0) / math.pi, 12), arctan_difference(1e10, 1e10, 1e-8) > 0.0
    (0.5, True)
    """
    return math.atan2(width, 1.0 + upper * lower)


def _ln_of_two(symbol: Symbol, mass: float) -> float:
    """Return the log probability of 0 or 1, of which 1 has this mass."""
    if symbol.value not in (0, 1):
        words = {"overlap": ("clean", "leak"), "relabelled": ("labels as before", "others")}
        zero, one = words.get(symbol.stream, ("the same", "different"))
        raise bad_parameter("value", "Symbol", f"0 ({zero}) or 1 ({one})", symbol.value)
    return math.log(mass) if symbol.value else math.log1p(-mass)
