r"""Exact intervals for metrics of two classes in a population whose share of positives is unknown.

Setting. n rows are independent draws of one law: a row is positive with probability s, and is then predicted
positive with probability a, else with probability b. The target m(a, b, s) is the metric of the population
itself, not at the class mix of these rows. One side is enough, as in `sklearn_ada.guarantees.two_class`: a
lower end that misses with probability at most t.

*Counts.* Precision is the share of true positives among the rows that are predicted positive, the Jaccard
index among those that are positive or predicted so, accuracy that of right rows among all. Given how many
these are, rows of one law are such with the same probability each, independently: the metric itself. So
Clopper and Pearson's interval is exact, and ``F1 = 2J/(1 + J)`` rises in the Jaccard index J. For all others:

*Two looks.* The number N of positive rows is binomial with s. Given N, the rows of both classes are those of
two_class, whatever s is. Let ``U = P_s(number of positives >= N)`` if the metric is expected to rise in s,
and ``P_s(number <= N)`` if it is expected to fall; U is small where the share is likely to be larger than s
(or less). Let c be a function that does not rise, with an integral over [0, 1] of at most t. A true value r
at the true s is to be excluded with a probability of at most c(U) given N. Then it is excluded with a
probability of at most ``E c(U) <= t``, as U is stochastically at least uniform. That holds for every such
c that is fixed before the rows are seen, whatever the metric does. The one that is used is

    ``c(u) = Phi(-(z - w Phi^-1(1 - u)) / sqrt(1 - w^2))``:

a normal deviate of N, with the weight w, and one of the tables given N, with the rest, reach z together. For
uniform u it has the integral ``Phi(-z)``. With w the part of the share in the standard error of the metric,
as a guess foresees it, the end is about that of a normal interval at every s: what a larger s adds to the
metric, it takes from the level. Another w makes the interval wider and no less valid.

*Nuisance.* All three of a, b and s need only be in boxes that leave them out with a part of t each, s by
Clopper and Pearson from N, a and b likewise given N (Berger, Boos 1994); so c is needed inside only. Given N
tables are ordered by about the limit that they would have at the observed share: U, the up-closure of the
tables that rank not below the observed one, depends on N and the table alone. The value r is excluded if for
all rates in the box with ``m(a, b, s) <= r`` the probability of the up-closure is at most c(U(s)). What is
excluded is a half-line, as with r the set of these rates grows.

*Cells.* That supremum is certified by cells of a and s. Over a cell [s_1, s_2] the level c(U(s)) is least at
one end, and the metric at least ``m' = min(m(a, b, s_1), m(a, b, s_2))``, or ``k m'`` if m' is negative:

- accuracy is linear in s, F-beta, precision and Jaccard rise in it: k = 1 (and so it is with minus them);
- with odds ``x = s/(1-s)``, kappa is ``2 (a - b)/((1 - a) x + b/x + 1 - b + a)``, and Matthews' correlation
  is ``(a - b)/sqrt(a (1 - a) x + b (1 - b)/x + a (1 - b) + b (1 - a))``. What is divided by is
  ``f = A cosh(ln x - l) + C`` with C not negative. Where a >= b it is largest at an end of the cell. Else it
  is to be bounded from below. Its least value in a cell of width h in ln x is that of an end, or the one at
  l, and then an end is within h/2 of it: ``f(l) >= f(end)/cosh(h/2)``. So k is cosh(h/2) for kappa, and its
  root for the correlation.

Both m' and ``k m'`` rise in a and fall in b, since m does at each s. For rates between a_1 and a_2 on the
curve where this minorant is r the up-closure has at most the probability at ``(a_2, b_1)``, b_1 the one that
belongs to a_1 at the minorant, not below the box. Where even the best rates of the box are below r, they are
the corner. Cells that are not excluded are halved, in a and s; a value of which any are left is not excluded.

*Interpolation.* The probability of the up-closure over the likelihood of the observed counts is a sum of
exponential functions that are linear in the logits of a and b, one for each of its tables. The logarithm of
such a sum is convex (a log-sum-exp). So it is computed once, for all pairs of some points of both rates;
inside a triangle of these it is at most what is interpolated linearly, and values and cells may be as many as
is useful. The end is first sought at points of the curve; a little below, cells prove it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, log_ndtr, logit, ndtri, ndtri_exp, xlog1py, xlogy

from sklearn_ada._validation import OUTWARDS, check_integer, checked, option, real
from sklearn_ada.guarantees.intervals import Array, Interval, binomial_tail_ends, ln_side
from sklearn_ada.guarantees.two_class import (
    RANGES,
    WITHOUT_SHARE,
    Mirror,
    Number,
    Rates,
    Region,
    rates_of,
    two_class_interval,
)

__all__ = ["population_table_interval"]

_OF_SHARE, _OF_RATES = 0.02, 0.04  # of a side's level, for the boxes: two ends, and four
_REST = 1.0 - _OF_SHARE - _OF_RATES - 2e-4 - 1e-8  # less tails that are not examined, and rounding
_LN_LEAST = -250.0  # of levels, at which probabilities are computed
_MOST_WEIGHT = 0.98
_SLICES = 8  # of the shares, each with an order of its own
_POINTS = 49  # of either rate, between which probabilities are interpolated
_TRIED, _ZOOMS, _HALVINGS = 5, 3, 10  # shares of a slice at which the end is sought, and how closely
_MARGIN = 0.002  # part of the interval by which what is proved is below it
_SHARES, _RATES, _ROUNDS, _MOST_CELLS = 4, 32, 6, 40_000
_BENT = {"kappa": 1.0, "matthews_corrcoef": 0.5}  # the power of cosh(h/2)


@checked(metric=option(RANGES), positives="integer >= 0", negatives="integer >= 0", ln_delta="<= 0")
def population_table_interval(
    metric: str,
    true_positives: int,
    positives: int,
    false_positives: int,
    negatives: int,
    ln_delta: float,
    *,
    expected: tuple[float, float, float] | None = None,
    beta: float = 1.0,
) -> Interval:
    """Return an interval for a metric of two classes in the population that the rows are drawn from.

    It misses with probability at most delta, each end with at most delta / 2, for rows that are independent
    draws of one law; not at a given class mix, for which there is `two_class_interval`. Theorem of
    `sklearn_ada.guarantees.unknown_share`.

    Parameters
    ----------
    metric : str
        As for `two_class_interval`.
    true_positives, positives, false_positives, negatives : int
        As there, but either class may have no rows.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected : tuple of float, optional
        Recall, false positive rate and share of positives that are foreseen, in (0, 1), without looking at
        these rows. The nearer they are, the narrower is the interval.
    beta : float, default=1.0
        Weight of the recall in F-beta, at least 0.

    Returns
    -------
    low, high : float
        The range of the metric if a class has no rows.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> metric, expected = "matthews_corrcoef", (0.8, 0.01, 0.1)
    >>> low, high = population_table_interval(metric, 80, 100, 10, 900, math.log(0.05), expected=expected)
    >>> round(low, 3), round(high, 3)  # at the class mix of the rows .759 and .881
    (0.748, 0.884)
    """
    owner, sizes = "population_table_interval", (positives, negatives)
    counts = (
        check_integer(true_positives, "true_positives", owner, low=0, high=positives),
        check_integer(false_positives, "false_positives", owner, low=0, high=negatives),
    )
    beta, ln_level = real(0.0, closed="low")(beta, "beta", owner), ln_side(ln_delta)
    foreseen = [real(0.0, 1.0)(each, "expected", owner) for each in (() if expected is None else expected)]
    if metric in _COUNTED and (metric != "f_beta" or beta == 1.0):
        return _counted(metric, counts, sizes, ln_level)
    if min(sizes) == 0:
        return RANGES[metric]
    if metric in WITHOUT_SHARE:  # given the class counts, whatever they are
        return two_class_interval(metric, counts[0], positives, counts[1], negatives, ln_delta)

    def at(share: Number) -> Rates:
        return rates_of(metric, share, beta)

    weight = _weight(at, *foreseen) if foreseen else 0.0
    missed = positives - true_positives, negatives - false_positives
    bent = _BENT.get(metric, 0.0)
    low = _low_end(at, counts, sizes, ln_level, weight, bent)
    high = -_low_end(lambda share: Mirror(at(share)), missed, sizes, ln_level, -weight, bent)
    bottom, top = RANGES[metric]
    return max(low - OUTWARDS * (1.0 + abs(low)), bottom), min(high + OUTWARDS * (1.0 + abs(high)), top)


_COUNTED = {"accuracy", "f_beta", "jaccard", "precision"}


def _counted(metric: str, counts: tuple[int, ...], sizes: tuple[int, ...], ln_level: float) -> Interval:
    """Return the interval of a share of the rows that count for a metric."""
    hits, of = counts[0], {"precision": sum(counts)}.get(metric, sizes[0] + counts[1])
    if metric == "accuracy":
        hits, of = hits + sizes[1] - counts[1], sum(sizes)
    if of == 0:
        return RANGES[metric]
    low, high = binomial_tail_ends(hits, hits, of, ln_level, identical_rows=True)
    return (2.0 * low / (1.0 + low), 2.0 * high / (1.0 + high)) if metric == "f_beta" else (low, high)


def _weight(at: Callable[[Number], Rates], a: float, b: float, share: float) -> float:
    """Return the part of the share in the standard error of the metric, negative if this falls in it."""
    rates, step = (np.array([a]), np.array([b])), 1e-3 * share * (1.0 - share)
    above, below = (float(at(np.array([share + by])).value(*rates)[0]) for by in (step, -step))
    by_a, by_b = (float(each[0]) for each in at(np.array([share])).slopes(*rates))
    by_share = (above - below) / (2.0 * step) * math.sqrt(share * (1.0 - share))
    given = by_a**2 * a * (1.0 - a) / share + by_b**2 * b * (1.0 - b) / (1.0 - share)
    part = by_share / math.sqrt(by_share**2 + given) if by_share else 0.0
    return float(f"{min(max(part, -_MOST_WEIGHT), _MOST_WEIGHT):.2f}")


def _low_end(
    at: Callable[[Number], Rates],
    counts: tuple[int, ...],
    sizes: tuple[int, ...],
    ln_level: float,
    weight: float,
    bent: float,
) -> float:
    """Return a number that is above the metric with probability at most ``e^ln_level``."""
    n, is_far = sum(sizes), ln_level < _LN_LEAST
    ln_share, ln_rates = (
        ln_level + (-math.log(6.0) if is_far else math.log(part / ends))
        for part, ends in ((_OF_SHARE, 2.0), (_OF_RATES, 4.0))
    )
    shares = _share_ends(sizes[0], n, ln_share)
    if not 0.0 < shares[0] < shares[1] < 1.0:  # as floats, at tiny levels: cells need their odds
        return -math.inf
    box = tuple(
        binomial_tail_ends(count, count, size, ln_rates, identical_rows=True)
        for count, size in zip(counts, sizes, strict=True)
    )
    observed = tuple(count / size for count, size in zip(counts, sizes, strict=True))
    low = _value(_Least.of(at, np.array([shares[0]]), np.array([shares[1]]), bent), box[0][0], box[1][1])
    low = max(low, -1.0)  # no metric is less, nor minus one
    high = _value(at(sizes[0] / n), *observed)
    high -= 1e-9 * (1.0 + abs(high))  # where no rates are 0 or 1
    levels = _Levels(sizes[0], n, ln_level + math.log(_REST), weight)
    if is_far or not low < high:
        return low
    slices, regions = np.linspace(*shares, _SLICES + 1), []
    for middle in 0.5 * (slices[:-1] + slices[1:]):
        ln_rank = max(math.log(max(float(levels.at(np.array([middle]))[0]), 1e-300)), ln_level - 50.0)
        regions.append(Region.of(at(float(middle)), counts, sizes, box, ln_level, True, ln_rank))
    test = _Test(at, slices, box, _Surface.of(regions, counts, box), levels, bent)
    end = _largest(test.seems_excluded, low, high)
    step = _MARGIN * max(high - end, 0.1 * (high - low))
    while end > low:
        end -= step
        if test.is_excluded(end):
            break
        step *= 2.0
    return max(end, low)


def _share_ends(positives: int, n: int, ln_level: float) -> Interval:
    """Return between what the share of positives need only be, but for twice the level."""
    return binomial_tail_ends(positives, positives, n, ln_level, identical_rows=True)


def _value(metric: Rates, a: float, b: float) -> float:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return float(metric.value(np.array([a]), np.array([b]))[0])


def _largest(is_excluded: Callable[[float], bool], low: float, high: float) -> float:
    """Return about the largest value that is excluded, at most the higher one; the lower one surely is."""
    least, step = (high - low) * 2.0**-_HALVINGS, (high - low) * 2.0**-5
    middle = high
    while high - low > least:
        if is_excluded(middle):
            if middle == high:
                return high
            low = middle
            middle = 0.5 * (low + high)
        else:
            high = middle
            middle, step = max(high - step, 0.5 * (low + high)), 2.0 * step
    return low


@dataclass(frozen=True)
class _Levels:
    """The level c(U) that is left for the table, at each share."""

    positives: int
    n: int
    ln_level: float
    weight: float

    def at(self, share: Array) -> Array:
        """Return the level, which is monotone in the share."""
        k, n, rises = self.positives, self.n, self.weight >= 0.0
        if rises:
            tail, rest = bdtrc(k - 1.0, n, share), bdtr(k - 1.0, n, share)
        else:
            tail, rest = bdtr(float(k), n, share), bdtrc(float(k), n, share)
        deviate = np.where(tail < 0.5, -ndtri(tail), ndtri(rest))
        z, w = -float(ndtri_exp(self.ln_level)), abs(self.weight)
        return np.asarray(np.exp(log_ndtr((w * deviate - z) / math.sqrt(1.0 - w * w))) * (1.0 - 1e-9))


@dataclass(frozen=True)
class _Axis:
    """Points of a rate, and the likelihood of what was counted."""

    count: int
    size: int
    points: Array
    logits: Array

    @classmethod
    def of(cls, count: int, size: int, box: Interval) -> _Axis:
        """Return it with points in a box, whose distances are about as large as their standard errors."""
        low, high = (math.asin(math.sqrt(end)) for end in box)
        points = np.sin(np.linspace(low, high, _POINTS)) ** 2
        points[0], points[-1] = max(box[0], 1e-290), min(box[1], 1.0 - 2.0**-53)  # logits are finite
        return cls(count, size, points, logit(points))

    def ln_likelihood(self, rate: Array) -> Array:
        """Return its logarithm at each rate."""
        return np.asarray(xlogy(self.count, rate) + xlog1py(self.size - self.count, -rate))

    def place(self, rate: Array) -> tuple[NDArray[np.intp], Array]:
        """Return after which point each rate is, and the part of the way to the next one, in logits."""
        after = np.clip(np.searchsorted(self.points, rate, side="right") - 1, 0, _POINTS - 2)
        step = self.logits[after + 1] - self.logits[after]
        return after, np.clip((logit(rate) - self.logits[after]) / step, 0.0, 1.0)


@dataclass(frozen=True)
class _Surface:
    """What the probabilities of regions are at most, interpolated between points of both rates."""

    axes: tuple[_Axis, _Axis]
    ln_ratios: Array

    @classmethod
    def of(cls, regions: list[Region], counts: tuple[int, ...], box: tuple[Interval, ...]) -> _Surface:
        """Return it for the rates in a box, around these counts."""
        sizes = regions[0].hits.size, regions[0].errors.size
        a, b = (_Axis.of(*each) for each in zip(counts, sizes, box, strict=True))
        exact = np.maximum([region.probabilities(a.points, b.points) for region in regions], 1e-300)
        ln_likelihoods = a.ln_likelihood(a.points)[:, None] + b.ln_likelihood(b.points)
        return cls((a, b), np.log(exact) - ln_likelihoods)

    def at(self, which: NDArray[np.intp], a: Array, b: Array) -> Array:
        """Return the bound of one of the regions at each pair of rates."""
        first, second = self.axes
        a, b = (np.clip(rate, x.points[0], x.points[-1]) for x, rate in zip(self.axes, (a, b), strict=True))
        (i, u), (j, v), f = first.place(a), second.place(b), self.ln_ratios
        is_lower = u + v <= 1.0
        by_a, by_b = np.where(is_lower, u, 1.0 - v), np.where(is_lower, v, 1.0 - u)
        ln_ratio = np.abs(1.0 - u - v) * np.where(is_lower, f[which, i, j], f[which, i + 1, j + 1])
        ln_ratio += by_a * f[which, i + 1, j] + by_b * f[which, i, j + 1]
        return np.asarray(np.exp(ln_ratio + first.ln_likelihood(a) + second.ln_likelihood(b)))


@dataclass(frozen=True)
class _Least(Rates):
    """What a metric is at least, for shares in cells."""

    ends: tuple[Rates, Rates]
    factor: Array

    @classmethod
    def of(cls, at: Callable[[Number], Rates], low: Array, high: Array, bent: float) -> _Least:
        """Return it for shares between these."""
        with np.errstate(divide="ignore"):
            width = np.log(high / low) + np.log1p(-low) - np.log1p(-high)
        return cls((at(low), at(high)), np.cosh(width / 2.0) ** bent)

    def value(self, a: Array, b: Array) -> Array:
        least = np.minimum(*(each.value(a, b) for each in self.ends))
        return np.asarray(np.where(least < 0.0, self.factor * least, least))

    def slopes(self, a: Array, b: Array) -> tuple[Array, Array]:
        return self.ends[0].slopes(a, b)

    def false_rate(self, a: Array, value: Number, side: float = 1.0) -> Array:
        scaled = np.where(np.less(value, 0.0), value / self.factor, value)
        return np.minimum(*(each.false_rate(a, scaled, side) for each in self.ends))


@dataclass(frozen=True)
class _Test:
    """Which values are excluded: slices of the shares, each with the region of an order that suits it."""

    at: Callable[[Number], Rates]
    slices: Array
    box: tuple[Interval, ...]
    surface: _Surface
    levels: _Levels
    bent: float

    def seems_excluded(self, value: float) -> bool:
        """Return whether U has at most its level at some points where the metric is this."""
        (share, level), ((low_a, high_a), (low_b, high_b)) = self._tried, self.box
        metric, (low, high) = self.at(share), (np.full_like(share, end) for end in (low_a, high_a))
        for _ in range(_ZOOMS):  # towards the part of the curve whose other rate is in the box, too
            a = low + (high - low) * np.linspace(0.0, 1.0, _POINTS)
            b = metric.false_rate(a, value)
            first = np.count_nonzero(b <= low_b, axis=-1, keepdims=True) - 1
            last = np.count_nonzero(b < high_b, axis=-1, keepdims=True)
            low, high = (np.take_along_axis(a, np.clip(i, 0, _POINTS - 1), axis=-1) for i in (first, last))
        which, a, b, level = np.broadcast_arrays(
            np.arange(_SLICES)[:, None, None], a, np.maximum(b, low_b), level
        )
        inside = b <= high_b
        return not np.any(self.surface.at(which[inside], a[inside], b[inside]) > level[inside])

    @cached_property
    def _tried(self) -> tuple[Array, Array]:
        share = self._shares(_TRIED)[:, :, None]
        return share, self.levels.at(share)

    def _shares(self, number: int) -> Array:
        """Return so many shares of each slice, both ends among them."""
        return np.linspace(self.slices[:-1], self.slices[1:], number, axis=1)

    def is_excluded(self, value: float) -> bool:
        """Return whether U has at most its level wherever the metric is at most this, in the boxes."""
        (low_a, high_a), (low_b, high_b) = self.box
        s, a = self._shares(_SHARES + 1), np.linspace(low_a, high_a, _RATES + 1)
        which = np.repeat(np.arange(_SLICES), _SHARES * _RATES)
        first, last = (np.repeat(each, _RATES) for each in (s[:, :-1], s[:, 1:]))
        low, high = (np.tile(each, _SLICES * _SHARES) for each in (a[:-1], a[1:]))
        for _ in range(_ROUNDS):
            least = _Least.of(self.at, first, last, self.bent)
            b = least.false_rate(low, value)
            kept = ~(b > high_b)
            which = which[kept]
            low, high, first, last, b = (x[kept] for x in (low, high, first, last, b))
            ends, of = np.unique(np.stack((first, last)), return_inverse=True)  # few: tails take their time
            level = self.levels.at(ends)[of].reshape(2, -1).min(axis=0)
            left = ~(self.surface.at(which, high, np.maximum(b, low_b)) <= level)
            if not left.any():
                return True
            which, low, high, first, last = (x[left] for x in (which, low, high, first, last))
            if 4 * len(low) > _MOST_CELLS:
                return False
            middle, half = 0.5 * (low + high), 0.5 * (first + last)
            low, high = np.r_[low, middle, low, middle], np.r_[middle, high, middle, high]
            first, last = np.r_[first, first, half, half], np.r_[half, half, last, last]
            which = np.tile(which, 4)
        return False
