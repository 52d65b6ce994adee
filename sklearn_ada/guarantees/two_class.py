r"""Exact intervals for every metric of a two-class table: F-beta, precision, MCC, kappa, a declared share.

Setting. Rows are independent given their classes, and the numbers of both are given: of :math:`n_1` positive
rows TP are predicted positive, of :math:`n_0` negative ones FP. At one law a class these are independent,
``TP ~ Bin(n_1, a)`` and ``FP ~ Bin(n_0, b)``. A metric is a function m(a, b) that rises in a and falls in b:
F-beta, precision, Jaccard, kappa, Matthews' correlation, balanced accuracy, the geometric mean of the two
rates, accuracy, likelihood ratios, and the averages of F-beta, Jaccard or precision over both classes: those
of the other class, too, rise in a and fall in b. It may hold a share of positives, and this may be any: that
of the holdout, where the target is the population at its class mix, or another that is declared.

*One side is enough.* With the predictions exchanged, the rates are 1 - a and 1 - b, and -m rises in the first
and falls in the second. So an upper end of m is minus a lower end of -m, and what follows is about a lower
end at the level t: a number that is above the population value with probability at most t.

*Order.* Tables are ordered by about the limit that they would have, ``m~ - z s~`` with z the normal quantile
of 1 - t, m~ the metric at ``(TP + 1/2) / (n_1 + 1)`` and likewise of FP, s~ its standard error by the slopes
there. Let R hold the tables that are not below the observed one in this order, U any set that contains R. If
the population's rates are (a, b) then ``P(R) <= t'`` happens for the observed table with probability at most
t', as for any order that does not depend on (a, b); so ``P(U) <= t'`` does, too. Take for U the up-closure
of R: with a table every one with more true and fewer false positives. By coupling, P(U) rises in a and falls
in b. U does not depend on the value that is tested, so it is made once.

*Which tables R holds* is found without a look at all of them. At a limit l powers of two, the largest first,
are added to a number of FP, from 0 on, unless the table with as many less one has a limit below l: these
smallest FP are taken. They are all that have the limit l, if limits fall in FP. They need not: a smaller l
takes at least as many in any case, as where two such sums part, that of the smaller l is ahead. So tables are
ordered by the largest l at which they are taken; R are those that are taken at any l at which the observed
one is, and so it is at the least of the limits on its own way.

*Nuisance.* Let a box hold both rates but for a probability of ``gamma t``, with its four ends at
``gamma t / 4`` each, by Clopper and Pearson (Berger, Boos 1994). The value r is excluded if no rates in the
box with m(a, b) = r have ``P(U) > (1 - gamma) t``. So a true value r is excluded with probability at most t.
Along the curve m = r the rate b rises with a. Between two of its points, of rates ``a_1 <= a_2``, every point
has ``P(U)`` at most that of ``(a_2, b_1)``, b_1 not below the box. The curve is cut, cells are excluded by
these corners, and the others are halved; a value of which cells are left is not excluded. A cell belongs to
the box if any of its points does, not only one of its ends: with 8 positives and 10,000 negatives most of
the curve of balanced accuracy crosses the box between two points of any grid of a.

What is excluded is a half-line: from (a, b) in the box with m(a, b) = r a path to the corner of its best
rates stays in the box, meets any larger value that there is, and P(U) rises along it. So bisection finds the
end, between the value at the corner of the worst rates, below which the box excludes all, and the observed
one. Whatever was found to be excluded is.

*Windows of counts.* U is searched where counts are likely. Tables with fewer true positives, or more false
ones, than have probability ``t / 10^4`` at the ends of the box, are not examined, and their probability is
taken from the level. Tables with more true positives belong to U, all of them.

*Rows of several laws* (one class against the rest, of several classes at their mix). FP is a sum of
independent terms with different chances, whose mean is b. Given a, ``P(U) = E h(FP)``, where h(y) is the
probability of the TP with which y belongs to U: it falls in y. Let g be at least h, and fall by steps that
grow towards smaller counts: from the largest count on, each step is the larger one of h's and the step
before. It is convex, so ``E g(FP) <= E g(Bin(n_0, b))`` (Hoeffding 1956, Theorem 3), and that falls in b: so
the corners hold as before. A binomial end of a box with a count of 1 is replaced by the union bound
(`sklearn_ada.guarantees.binomial_tail_ends`). Below the window of counts g goes on as a line; as the ratios
of successive binomial probabilities fall, a geometric series bounds its part.

*Far out* no float holds a probability. There, and for the level alone to decide, both rates have half of t,
and the interval ends at the value of the corner.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, gammaln, ndtri_exp

from sklearn_ada._solving import largest_integer
from sklearn_ada._validation import LN_2, OUTWARDS, check_integer, check_option, checked, option, real
from sklearn_ada.guarantees.intervals import Array, Interval, binomial_tail_ends, clopper_pearson, ln_side

__all__ = ["two_class_interval"]

_GAMMA = 0.05  # of a side's level, for the box
_UNSEEN = 1e-4  # of a side's level, for each of the two tails that are not examined
_LN_LEAST = -250.0  # of levels, at which probabilities are computed
_ROUNDING = 1e-8  # of a level, for errors of sums of up to 1e5 probabilities
_CELLS, _ROUNDS, _MOST_CELLS = 32, 6, 96
_HALVINGS = 15


_UNIT, _CORRELATION = (0.0, 1.0), (-1.0, 1.0)
RANGES = {
    "accuracy": _UNIT, "balanced_accuracy": _UNIT, "f_beta": _UNIT, "geometric_mean": _UNIT,
    "informedness": _CORRELATION, "jaccard": _UNIT, "kappa": _CORRELATION, "matthews_corrcoef": _CORRELATION,
    "neg_negative_likelihood_ratio": (-math.inf, 0.0), "positive_likelihood_ratio": (0.0, math.inf),
    "precision": _UNIT, "recall": _UNIT,
}  # fmt: skip

WITHOUT_SHARE = {
    "balanced_accuracy", "geometric_mean", "informedness", "neg_negative_likelihood_ratio",
    "positive_likelihood_ratio", "recall",
}  # fmt: skip
"""The metrics that do not depend on the share of positives."""


@checked(
    metric=option(RANGES), positives="count", negatives="count",
    ln_delta="<= 0",
)  # fmt: skip
def two_class_interval(
    metric: str,
    true_positives: int,
    positives: int,
    false_positives: int,
    negatives: int,
    ln_delta: float,
    *,
    share: float | None = None,
    beta: float = 1.0,
    average: str | None = None,
    one_law: bool = True,
) -> Interval:
    """Return an interval for a metric of two classes that misses with probability at most delta.

    Each end misses with probability at most delta / 2. Theorem of `sklearn_ada.guarantees.two_class`.

    Parameters
    ----------
    metric : {"accuracy", "balanced_accuracy", "f_beta", "geometric_mean", "informedness", "jaccard", \
            "kappa", "matthews_corrcoef", "neg_negative_likelihood_ratio", "positive_likelihood_ratio", \
            "precision", "recall"}
        The geometric mean is that of sensitivity and specificity; informedness is their sum less 1, which
        is balanced accuracy adjusted for chance. The interval of the recall is Clopper and Pearson's.
    true_positives, positives : int
        Rows of the positive class that are predicted positive, and all of them, at least 1.
    false_positives, negatives : int
        The same of the other rows.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    share : float, optional
        Share of the positive class in the population that is meant, in (0, 1); by default that of the rows.
    beta : float, default=1.0
        Weight of the recall in F-beta, at least 0.
    average : {None, "macro", "weighted"}, default=None
        Whether the metric is F-beta, Jaccard or precision averaged over both classes: with equal weights, or
        with their shares. None is that of the positive class.
    one_law : bool, default=True
        Whether all negative rows have the same chance of being predicted positive, as rows of one class have;
        False for rows of several classes at their mix.

    Returns
    -------
    low, high : float
        The range of the metric where there is no value; infinite, if it is unbounded there.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = two_class_interval("f_beta", 80, 100, 10, 900, math.log(0.05))
    >>> round(low, 3), round(high, 3)  # F1 is .842
    (0.778, 0.892)
    """
    owner, sizes = "two_class_interval", (positives, negatives)
    counts = (
        check_integer(true_positives, "true_positives", owner, low=0, high=positives),
        check_integer(false_positives, "false_positives", owner, low=0, high=negatives),
    )
    if share is None:
        share = positives / (positives + negatives)
    share, beta = real(0.0, 1.0)(share, "share", owner), real(0.0, closed="low")(beta, "beta", owner)
    if average is not None:
        check_option(average, "average", owner, ("macro", "weighted"))
        check_option(metric, "metric", f"{owner} with an average", _OF_ONE)
    if metric == "recall":
        return clopper_pearson(counts[0], counts[0], positives, ln_delta)
    rates = rates_of(metric, share, beta, average)
    ln_level, missed = ln_side(ln_delta), (positives - true_positives, negatives - false_positives)
    low = _low_end(rates, counts, sizes, ln_level, one_law)
    high = -_low_end(Mirror(rates), missed, sizes, ln_level, one_law)
    bottom, top = RANGES[metric]
    return max(low - OUTWARDS * (1.0 + abs(low)), bottom), min(high + OUTWARDS * (1.0 + abs(high)), top)


def two_class_value(
    metric: str, recall: float, false_rate: float, share: float, beta: float = 1.0, average: str | None = None
) -> float:
    """Return a metric of two classes by its two rates; NaN where it has no value.

    Parameters
    ----------
    metric : str
        As for `two_class_interval`.
    recall, false_rate : float
        Which part of the positive and of the other rows is predicted positive, in [0, 1].
    share : float
        Share of the positive class, in (0, 1).
    beta : float, default=1.0
        Weight of the recall in F-beta.
    average : {None, "macro", "weighted"}, default=None
        As for `two_class_interval`.

    Examples
    --------
    >>> round(two_class_value("f_beta", 0.8, 10 / 900, 0.1), 4)
    0.8421
    """
    return _value(rates_of(metric, share, beta, average), recall, false_rate)


def _low_end(
    metric: Rates, counts: tuple[int, ...], sizes: tuple[int, ...], ln_level: float, one_law: bool
) -> float:
    """Return a number that is above the metric with probability at most ``e^ln_level``."""
    is_far = ln_level < _LN_LEAST
    ln_box = ln_level - LN_2 if is_far else ln_level + math.log(_GAMMA / 4.0)
    box = tuple(
        binomial_tail_ends(count, count, size, ln_box, identical_rows=identical)
        for count, size, identical in zip(counts, sizes, (True, one_law), strict=True)
    )
    low, high = _bracket(metric, counts, sizes, box)
    if is_far or not low < high:  # neither where the observed table has no value
        return low
    region = Region.of(metric, counts, sizes, box, ln_level, one_law)
    level = math.exp(ln_level) * (1.0 - _GAMMA - 2.0 * _UNSEEN - _ROUNDING)
    for _ in range(_HALVINGS):
        middle = low + 0.5 * (high - low) if math.isfinite(high) else 2.0 * low + 1.0
        if not low < middle < high:
            break
        low, high = (middle, high) if _is_excluded(metric, middle, box, region, level) else (low, middle)
    return low


def _bracket(
    metric: Rates, counts: tuple[int, ...], sizes: tuple[int, ...], box: tuple[Interval, ...]
) -> Interval:
    """Return the metric at the worst rates of the box, and as it is observed."""
    observed = (count / size for count, size in zip(counts, sizes, strict=True))
    return _value(metric, box[0][0], box[1][1]), _value(metric, *observed)


def _value(metric: Rates, a: float, b: float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(metric.value(np.array([a]), np.array([b]))[0])


def _is_excluded(
    metric: Rates, value: float, box: tuple[Interval, ...], region: Region, level: float
) -> bool:
    """Return whether U has at most the level's probability wherever the metric has a value in the box."""
    (low_a, high_a), (low_b, high_b) = box
    a = np.linspace(low_a, high_a, _CELLS + 1)
    for _ in range(4):  # towards the part of the curve whose other rate is in the box, too
        b = metric.false_rate(a, value)
        first = max(int(np.count_nonzero(b <= low_b)) - 1, 0)
        last = min(int(np.count_nonzero(b < high_b)), _CELLS)
        a = np.linspace(a[first], a[last], _CELLS + 1)
    low, high = a[:-1], a[1:]
    for _ in range(_ROUNDS):
        b, b_next = (np.maximum(metric.false_rate(end, value), low_b) for end in (low, high))
        crosses = (b <= high_b) & ((metric.false_rate(high, value) >= low_b) | (high == high_a))
        low, high, b, b_next = low[crosses], high[crosses], b[crosses], b_next[crosses]
        left = region.probability(high, b) > level
        low, high, b_next = low[left], high[left], b_next[left]
        if not left.any():
            return True
        inside = b_next <= high_b
        if len(low) > _MOST_CELLS or np.any(region.probability(high[inside], b_next[inside]) > level):
            return False
        middle = 0.5 * (low + high)
        low, high = np.concatenate((low, middle)), np.concatenate((middle, high))
    return False


@dataclass(frozen=True)
class _Counts:
    """A window of binomial counts, with the logarithms of their binomial coefficients."""

    size: int
    least: int
    values: Array
    ln_coefficients: Array

    @classmethod
    def of(cls, size: int, box: Interval, tail: float) -> _Counts:
        """Return the counts beyond which there is no more than the tail, at either end of the box."""
        low, high = box
        least = largest_integer(lambda k: bool(bdtr(k - 1, size, low) <= tail), size)
        spare = largest_integer(lambda k: bool(bdtrc(size - k, size, high) <= tail), size - least)
        most = max(size - spare, min(math.ceil(size * high) + 1, size))
        values = np.arange(least, most + 1, dtype=np.float64)
        ln_coefficients = gammaln(size + 1.0) - gammaln(values + 1.0) - gammaln(size - values + 1.0)
        return cls(size, least, values, ln_coefficients)

    def probabilities(self, rate: Array) -> Array:
        """Return the probability of each count, for each rate: one a row."""
        inside = np.clip(rate, 1e-290, 1.0 - 2.0**-53)[:, None]
        ln_each = self.ln_coefficients + self.values * np.log(inside)
        return np.asarray(np.exp(ln_each + (self.size - self.values) * np.log1p(-inside)))

    def above(self, rate: Array) -> Array:
        """Return the probability of larger counts."""
        return np.asarray(bdtrc(self.values[-1], self.size, np.clip(rate, 0.0, 1.0)))

    def below(self, rate: Array) -> Array:
        """Return the probability of smaller counts."""
        if self.least == 0:
            return np.zeros_like(rate)
        return np.asarray(bdtr(self.least - 1.0, self.size, np.clip(rate, 0.0, 1.0)))


@dataclass(frozen=True)
class Region:
    """The up-closure U, inside the windows of both counts.

    ``reach`` is for each number of true positives how many of the window's numbers of false ones belong to
    it: always the smallest ones.
    """

    hits: _Counts
    errors: _Counts
    reach: NDArray[np.intp]
    one_law: bool

    @classmethod
    def of(
        cls,
        metric: Rates,
        counts: tuple[int, ...],
        sizes: tuple[int, ...],
        box: tuple[Interval, ...],
        ln_level: float,
        one_law: bool,
        ln_rank: float | None = None,
    ) -> Region:
        """Return the tables that are not below the observed one, closed upwards.

        They are ranked by about the limit that they have at ``ln_rank``, by default the level.
        """
        tail, z = _UNSEEN * math.exp(ln_level), float(ndtri_exp(ln_level if ln_rank is None else ln_rank))
        hits, errors = (_Counts.of(size, ends, tail) for size, ends in zip(sizes, box, strict=True))

        def limits(x: Array, y: Array) -> Array:
            a, b = (x + 0.5) / (sizes[0] + 1.0), (y + 0.5) / (sizes[1] + 1.0)
            by_a, by_b = metric.slopes(a, b)
            variance = by_a**2 * (a * (1.0 - a) / sizes[0]) + by_b**2 * (b * (1.0 - b) / sizes[1])
            return np.asarray(metric.value(a, b) + z * np.sqrt(variance))

        reach = _taken(limits, counts, hits.values, sizes[1]) - errors.least
        reach = np.clip(reach, 0, len(errors.values))
        return cls(hits, errors, np.maximum.accumulate(reach), one_law)

    def probability(self, a: Array, b: Array) -> Array:
        """Return at most how likely U is at each pair of rates."""
        if not len(a):
            return a
        by_hits, above = self.hits.probabilities(a), self.hits.above(a)
        if self.one_law:
            return np.asarray(np.einsum("ij,ij->i", by_hits, self._reached(b)) + above)
        return self._of_several_laws(by_hits, above, b)

    def probabilities(self, a: Array, b: Array) -> Array:
        """Return how likely U is in rows of one law, for each a with each b."""
        return np.asarray(self.hits.probabilities(a) @ self._reached(b).T + self.hits.above(a)[:, None])

    def _reached(self, b: Array) -> Array:
        """Return how likely so few false positives are as U has with each number of true ones."""
        lower = np.column_stack((self.errors.below(b), self.errors.probabilities(b)))
        return np.asarray(np.cumsum(lower, axis=1)[:, self.reach])

    def _of_several_laws(self, by_hits: Array, above: Array, b: Array) -> Array:
        """Return the bound for false positives of unequal chances, by a convex majorant."""
        by_errors, below = self.errors.probabilities(b), self.errors.below(b)
        upper = np.cumsum(np.column_stack((above, by_hits[:, ::-1])), axis=1)[:, ::-1]
        # h at the largest count below the window, and at each one in it.
        enough = np.searchsorted(self.reach, np.arange(by_errors.shape[1] + 1))
        h = upper[:, enough]
        steps = np.column_stack((h[:, :-1] - h[:, 1:], h[:, -1] - above))
        steps = np.maximum.accumulate(steps[:, ::-1], axis=1)[:, ::-1]
        g = np.cumsum(steps[:, ::-1], axis=1)[:, ::-1]
        total = above + np.einsum("ij,ij->i", by_errors, g[:, 1:])
        least, n = self.errors.least, self.errors.size
        if least == 0:
            return np.asarray(total)
        ratio = least * (1.0 - b) / ((n - least + 1.0) * np.maximum(b, 1e-290))
        line = np.where(ratio < 1.0, by_errors[:, 0] * ratio / np.maximum(1.0 - ratio, 1e-9) ** 2, n * below)
        return np.asarray(total + below * g[:, 1] + steps[:, 0] * line)


def _taken(
    limits: Callable[[Array, Array], Array], counts: tuple[int, ...], hits: Array, most: int
) -> NDArray[np.intp]:
    """Return how many numbers of false positives R has, the smallest ones, with each one of hits."""
    number = counts[1] + 1
    way = [(number >> bit) << bit for bit in range(number.bit_length())]
    observed = np.min(limits(np.array([float(counts[0])]), np.array(way) - 1.0))
    least = observed - 1e-11 * (1.0 + abs(observed))
    taken = np.zeros(len(hits), dtype=np.intp)
    for bit in reversed(range((most + 1).bit_length())):
        more = taken + 2**bit
        is_less = limits(hits, np.minimum(more - 1.0, most)) < least
        taken = np.where((more > most + 1) | is_less, taken, more)
    return taken


Number = float | Array
_Linear = tuple[Number, Number, Number]


class Rates(ABC):
    """A metric of two classes by its two rates: it rises in the first and falls in the second."""

    @abstractmethod
    def value(self, a: Array, b: Array) -> Array:
        """Return the metric at two rates, inside the unit square."""

    @abstractmethod
    def slopes(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Return the derivatives by both rates."""

    @abstractmethod
    def false_rate(self, a: Array, value: Number, side: float = 1.0) -> Array:
        """Return b at which the metric has a value, or hardly less; hardly more on the side -1.

        It rises in a. Where there is none, it is negative or above 1.
        """


@dataclass(frozen=True)
class Fraction(Rates):
    """A ratio of two linear functions of the rates."""

    top: _Linear
    bottom: _Linear
    margin: Number

    @classmethod
    def of(cls, name: str, share: Number, beta: float = 1.0) -> Fraction:
        """Return a metric at a share of the positive class."""
        return cls(*_FRACTIONS[name](share, beta), 4e-15 / np.maximum(1.0 - share, 1e-15))

    def terms(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Return both functions at two rates."""
        over, under = (each[0] + each[1] * a + each[2] * b for each in (self.top, self.bottom))
        return over, under

    def value(self, a: Array, b: Array) -> Array:
        over, under = self.terms(a, b)
        with np.errstate(divide="ignore"):
            return np.asarray(np.divide(over, under))

    def slopes(self, a: Array, b: Array) -> tuple[Array, Array]:
        under = self.bottom[0] + self.bottom[1] * a + self.bottom[2] * b
        value = (self.top[0] + self.top[1] * a + self.top[2] * b) / under
        return (self.top[1] - value * self.bottom[1]) / under, (self.top[2] - value * self.bottom[2]) / under

    def false_rate(self, a: Array, value: Number, side: float = 1.0) -> Array:
        over = self.top[0] - value * self.bottom[0] + (self.top[1] - value * self.bottom[1]) * a
        under = np.asarray(value * self.bottom[2] - self.top[2])
        # Kappa has a limit as b grows. For less than that b would have to be above 1, not negative.
        is_met = under > 0.0
        return np.where(is_met, over / np.where(is_met, under, 1.0) - side * self.margin, 2.0)


@dataclass(frozen=True)
class _Average(Rates):
    """A weighted mean of two ratios of which each rises in the first rate and falls in the second."""

    parts: tuple[Fraction, Fraction]
    weights: tuple[Number, Number]

    def value(self, a: Array, b: Array) -> Array:
        # A class that is never predicted has no precision, and counts 0 as in scikit-learn.
        first, second = (
            w * np.nan_to_num(part.value(a, b)) for part, w in zip(self.parts, self.weights, strict=True)
        )
        return np.asarray(first + second)

    def slopes(self, a: Array, b: Array) -> tuple[Array, Array]:
        (a_1, b_1), (a_2, b_2) = (part.slopes(a, b) for part in self.parts)
        first, second = self.weights
        return first * a_1 + second * a_2, first * b_1 + second * b_2

    def false_rate(self, a: Array, value: Number, side: float = 1.0) -> Array:
        """Return the root of what is left of mean minus value, times both denominators."""
        one, other = self.parts
        (top, more), (under, steep) = ((x[0] + x[1] * a, x[2]) for x in (one.top, one.bottom))
        (top_2, more_2), (under_2, steep_2) = ((x[0] + x[1] * a, x[2]) for x in (other.top, other.bottom))
        first, second = self.weights
        top, more, top_2, more_2 = first * top, first * more, second * top_2, second * more_2
        at_zero = top * under_2 + top_2 * under - value * under * under_2
        slope = top * steep_2 + more * under_2 + top_2 * steep + more_2 * under
        slope = slope - value * (under * steep_2 + steep * under_2)
        bent = more * steep_2 + more_2 * steep - value * steep * steep_2
        root = np.sqrt(np.maximum(slope**2 - 4.0 * bent * at_zero, 1e-300))
        fraction = 2.0 * at_zero / np.maximum(root - slope, 1e-150)  # the same root, by what does not cancel
        b = np.where(slope > 0.0, (slope + root) / np.maximum(-2.0 * bent, 1e-300), fraction)
        size = np.abs(at_zero) + np.abs(slope) + np.abs(bent)
        b -= side * 1e-13 * (1.0 + size / root)
        is_above = at_zero + slope + bent >= side * 4e-15 * size
        return np.where(at_zero <= 0.0, -1.0, np.where(is_above, 2.0, b))


@dataclass(frozen=True)
class _Correlation(Rates):
    """Matthews' correlation: with ``q = t a + (1 - t) b``, ``(a - b) sqrt(t (1 - t) / (q (1 - q)))``.

    It rises in a: the sign of its derivative is that of ``2 q (1 - q) - t (a - b)(1 - 2 q)``. If ``a >= b``
    and ``q <= 1/2`` then ``t (a - b) <= q``, so this is at least q; if ``a < b`` and ``q > 1/2`` then
    ``t (b - a) <= 1 - q``, so it is at least 1 - q; else both terms have one sign. By symmetry it falls in b.
    """

    share: Number

    def value(self, a: Array, b: Array) -> Array:
        return np.nan_to_num((a - b) * self._scale(a, b)[0])  # where one class is predicted, the limit 0

    def slopes(self, a: Array, b: Array) -> tuple[Array, Array]:
        scale, bent = self._scale(a, b)
        rest = (a - b) * bent
        return scale * (1.0 - self.share * rest), scale * (-1.0 - (1.0 - self.share) * rest)

    def false_rate(self, a: Array, value: Number, side: float = 1.0) -> Array:
        rest, square = 1.0 - self.share, value * value
        both = self.share * rest
        second, first = both + square * rest**2, square * rest * (1.0 - 2.0 * a)
        inner = square * rest**2 * (1.0 - 2.0 * a) ** 2 + 4.0 * second * a * (1.0 - a)
        apart = (value * np.sqrt(np.maximum(inner, 0.0)) - first) / (2.0 * second)
        return np.asarray(a - apart - side * 4e-15 / both)

    def _scale(self, a: Array, b: Array) -> tuple[Array, Array]:
        predicted = self.share * a + (1.0 - self.share) * b
        square = predicted * (self.share * (1.0 - a) + (1.0 - self.share) * (1.0 - b))
        scale = np.sqrt(self.share * (1.0 - self.share) / square)
        return scale, (1.0 - 2.0 * predicted) / (2.0 * square)


class _GeometricMean(Rates):
    """The root of sensitivity times specificity."""

    def value(self, a: Array, b: Array) -> Array:
        return np.asarray(np.sqrt(a * (1.0 - b)))

    def slopes(self, a: Array, b: Array) -> tuple[Array, Array]:
        value = self.value(a, b)
        return value / (2.0 * a), -value / (2.0 * (1.0 - b))

    def false_rate(self, a: Array, value: Number, side: float = 1.0) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 - np.divide(value * value, a) - side * 4e-15)


@dataclass(frozen=True)
class Mirror(Rates):
    """Minus a metric, with the predictions exchanged."""

    metric: Rates

    def value(self, a: Array, b: Array) -> Array:
        return -self.metric.value(1.0 - a, 1.0 - b)

    def slopes(self, a: Array, b: Array) -> tuple[Array, Array]:
        return self.metric.slopes(1.0 - a, 1.0 - b)

    def false_rate(self, a: Array, value: Number, side: float = 1.0) -> Array:
        return np.asarray(1.0 - self.metric.false_rate(1.0 - a, -value, -side) - side * 1e-12)


_FRACTIONS: dict[str, Callable[[Number, float], tuple[_Linear, _Linear]]] = {
    "accuracy": lambda t, beta: ((1.0 - t, t, t - 1.0), (1.0, 0.0, 0.0)),
    "balanced_accuracy": lambda t, beta: ((0.5, 0.5, -0.5), (1.0, 0.0, 0.0)),
    "f_beta": lambda t, beta: ((0.0, (1.0 + beta**2) * t, 0.0), (beta**2 * t, t, 1.0 - t)),
    "informedness": lambda t, beta: ((0.0, 1.0, -1.0), (1.0, 0.0, 0.0)),
    "jaccard": lambda t, beta: ((0.0, t, 0.0), (t, 0.0, 1.0 - t)),
    "kappa": lambda t, beta: (
        (0.0, 2.0 * t * (1.0 - t), -2.0 * t * (1.0 - t)),
        (t, t * (1.0 - 2.0 * t), (1.0 - t) * (1.0 - 2.0 * t)),
    ),
    "neg_negative_likelihood_ratio": lambda t, beta: ((-1.0, 1.0, 0.0), (1.0, 0.0, -1.0)),
    "positive_likelihood_ratio": lambda t, beta: ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "precision": lambda t, beta: ((0.0, t, 0.0), (0.0, t, 1.0 - t)),
    "recall": lambda t, beta: ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)),
}
"""Numerator and denominator: a constant, and the factors of both rates."""


_OF_ONE = ("f_beta", "jaccard", "precision")
"""What is of one class, and may be averaged over both."""


def rates_of(name: str, share: Number, beta: float, average: str | None = None) -> Rates:
    """Return a metric as a function of the two rates, at a share of the positive class."""
    if name == "geometric_mean":
        return _GeometricMean()
    if name == "matthews_corrcoef":
        return _Correlation(share)
    one = Fraction.of(name, share, beta)
    if average is None:
        return one
    # Of the other class the recall is 1 - b, and the rate of false ones 1 - a.
    other, weights = Fraction.of(name, 1.0 - share, beta), (share, 1.0 - share)
    top, bottom = ((c + by_a + by_b, -by_b, -by_a) for c, by_a, by_b in (other.top, other.bottom))
    return _Average((one, Fraction(top, bottom, other.margin)), (0.5, 0.5) if average == "macro" else weights)
