r"""Intervals for areas under the ROC curve of rows that come in groups, such as patients, or have weights.

The area is over pairs of a positive and a negative row of *different* groups: how many pairs are ranked
rightly, ties counting one half, over how many there are, each counted by the product of its rows' weights.
Groups are independent; their rows are not, and groups may be of different laws. Groups are put together to M
bundles, by their sizes and labels. Two bundles i and j make a block, whose right pairs :math:`a_{ij}` and
pairs :math:`b_{ij}` are those with a row in either, and the pairs of two groups of one bundle, counted
``1 / (M - 1)``, as a bundle is in so many blocks. So the sums over all blocks are those of all pairs.

Blocks that share a bundle are not independent. But the blocks of a round-robin tournament are disjoint in
each of its R rounds, where R is ``M - 1`` if M is even, else M.

Theorem. Given sizes, labels and weights, let A be ``sum E a / sum b``. For a bet l fixed beforehand and

.. math:: M(r) = \prod_{i<j} (1 + l (a_{ij} - r b_{ij}))^{1/R}

``E M(r) <= 1`` for every r that is at least A and at which no factor can be negative. So means over several
bets are at least ``1/delta`` with probability at most delta, or ``U/delta`` for a U that is drawn uniformly
from [0, 1], beside the rows.

Proof. M falls in r, so let r be A. M is the geometric mean over the rounds of the products :math:`W` over
the blocks of a round. By independence :math:`E W` is the product of ``1 + l m``, with m the mean of ``a - A
b``. The geometric mean of all ``W / E W`` is at most their arithmetic mean, whose expectation is 1; so ``E
M`` is at most the geometric mean of all ``E W``. That is at most 1, as the sum of ``ln(1 + l m)`` over all
blocks is at most l times the sum of m, which is 0 (Markov's inequality then, and Ramdas, Manole 2023).

The mean of the wealths themselves, as of blocks of rows (`sklearn_ada.guarantees.matchings`), is not valid:
in one round the means need not sum to 0, where groups of different sizes have different areas.

Without bets, Hoeffding's inequality for each round gives, by the same two steps, his interval for ``(sum
b)^2 / (R sum b^2)`` independent terms, each group being a bundle.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import squareform

from sklearn_ada._validation import bad_parameter, checked
from sklearn_ada.guarantees.intervals import Array, Interval
from sklearn_ada.guarantees.matchings import LEAST_BLOCKS, AreaSpread
from sklearn_ada.guarantees.tilted import TiltedMean
from sklearn_ada.guarantees.units import foreseen_squares, unit_mean_foreseen, unit_ratio_ends

__all__ = ["auc_of_groups_interval"]

_GROUPS_TO_A_BUNDLE = (1, 2, 3, 4, 6)  # to be tried, and these numbers of bundles:
_BUNDLES = (16, 32, 64, 100, 150, 250, 400, 700, 1000, 1500, 2000, 3000)
_MOST_BUNDLES = 3000
_MOST_COMPARED = 3 * 10**8  # rows, with all bundles


@checked(expected_area="[0, 1]", ln_delta="<= 0", uniform="[0, 1] or None")
def auc_of_groups_interval(
    scores: ArrayLike,
    is_positive: ArrayLike,
    group: ArrayLike,
    ln_delta: float,
    *,
    expected_area: float,
    spread: AreaSpread,
    row_weights: ArrayLike | None = None,
    uniform: float | None = None,
) -> Interval:
    """Return an interval for the AUC over pairs of rows of different groups.

    It misses with probability at most delta, at the given groups, labels and weights. Groups are independent.
    Each side gets delta/2.

    Source: theorem of `sklearn_ada.guarantees.cross_groups`.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Larger for rows that are rather positive.
    is_positive : array-like of shape (n_rows,)
        Booleans.
    group : array-like of shape (n_rows,)
        Numbers from 0 on, of at least 16 groups.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected_area : float
        The area foreseen without these rows.
    spread : AreaSpread
        How the area of independent rows varies, foreseen without these.
    row_weights : array-like of shape (n_rows,) or None, default=None
        Of the rows; None: all count alike.
    uniform : float or None, default=None
        A number drawn uniformly from [0, 1], independently of the rows: the bound is drawn.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range, or there are too few groups.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive, patient = np.arange(2000) % 2 == 0, np.arange(2000) // 4
    >>> scores = rng.standard_normal(2000) + rng.standard_normal(500)[patient] + 2.5 * positive
    >>> spread = AreaSpread.of_rows(scores[1000:], positive[1000:])
    >>> seen, ln_delta = (scores[:1000], positive[:1000], patient[:1000]), math.log(0.05)
    >>> low, high = auc_of_groups_interval(*seen, ln_delta, expected_area=0.9, spread=spread)
    >>> round(low, 2), round(high, 2)
    (0.85, 0.93)
    """
    owner = "auc_of_groups_interval"
    values, positive = np.asarray(scores, dtype=np.float64), np.asarray(is_positive)
    groups = np.asarray(group)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise bad_parameter("scores", owner, "a column of finite numbers", "others")
    if positive.shape != values.shape or not np.isin(positive, (0, 1)).all():
        raise bad_parameter("is_positive", owner, "booleans, as many as scores", "others")
    if groups.shape != values.shape or groups.dtype.kind not in "iu" or groups.min() < 0:
        raise bad_parameter("group", owner, "numbers from 0 on, as many as scores", "others")
    weights = np.ones(len(values)) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    if weights.shape != values.shape or not (np.isfinite(weights).all() and weights.min() >= 0.0):
        raise bad_parameter("row_weights", owner, "numbers of at least 0, as many as scores", "others")
    rows = CrossGroups(positive == 1, groups.astype(np.int64), weights)
    if not rows.total > 0.0:
        raise bad_parameter("is_positive", owner, "both kinds, in different groups", "others")
    made = Bundles.plan(rows, expected_area, spread, ln_delta, drawn=uniform is not None)
    if made is None:
        raise bad_parameter("group", owner, f"at least {2 * LEAST_BLOCKS} groups", "fewer")
    return made.ends(values, ln_delta, uniform)


class CrossGroups(NamedTuple):
    """Labels, groups and weights of rows: what is given of them.

    Attributes
    ----------
    is_positive : ndarray of bool
    group : ndarray of int
    weight : ndarray of float
    """

    is_positive: NDArray[np.bool_]
    group: NDArray[np.int64]
    weight: Array

    @property
    def sides(self) -> tuple[Array, Array]:
        """The weights of each group's positives, and of its negatives."""
        count = int(self.group.max()) + 1
        positives = _sums(self.group, self.weight * self.is_positive, count)
        return positives, _sums(self.group, self.weight * ~self.is_positive, count)

    @property
    def total(self) -> float:
        """The weight of all pairs of different groups."""
        positives, negatives = self.sides
        return float(positives.sum() * negatives.sum() - positives @ negatives)

    @property
    def size(self) -> float:
        """How many independent terms Hoeffding's interval has."""
        positives, negatives = self.sides
        both = positives * negatives
        squares = float((positives**2).sum() * (negatives**2).sum() - (both**2).sum())
        squares += float(both.sum() ** 2 - (both**2).sum())
        return self.total**2 / (_rounds(len(positives)) * squares) if squares > 0.0 else 0.0

    def area(self, scores: Array) -> float:
        """Return the area over all pairs of different groups."""
        everything = np.zeros(int(self.group.max()) + 1, dtype=np.int64)
        return float(self.right(scores, everything, 1).sum() - self.within_groups(scores).sum()) / self.total

    def right(self, scores: Array, bundle_of: NDArray[np.int64], count: int) -> Array:
        """Return the weight of right pairs, by the bundles of the positive and of the negative row."""
        bundle, order = bundle_of[self.group], np.argsort(scores, kind="stable")
        up = order[self.is_positive[order]]
        found = np.zeros((count, count))
        down = order[~self.is_positive[order]]
        for j, rows in enumerate(_of_each(bundle[down], down, count)):
            below = self._below(scores[up], scores[rows], self.weight[rows])
            found[:, j] = _sums(bundle[up], self.weight[up] * below, count)
        return found

    def within_groups(self, scores: Array) -> Array:
        """Return the weight of the right pairs of each group's own rows."""
        rank = np.unique(scores, return_inverse=True)[1].reshape(-1)
        place = self.group * (int(rank.max()) + 1) + rank
        order = np.argsort(place, kind="stable")
        up, down = order[self.is_positive[order]], order[~self.is_positive[order]]
        first = np.searchsorted(self.group[down], self.group[up])
        before = np.concatenate([[0.0], np.cumsum(self.weight[down])])[first]
        below = self._below(place[up], place[down], self.weight[down]) - before
        return _sums(self.group[up], self.weight[up] * below, int(self.group.max()) + 1)

    @staticmethod
    def _below(values: NDArray[Any], others: NDArray[Any], weight: Array) -> Array:
        """Return the weight of the sorted others that are below each value, ties counting one half."""
        sums = np.concatenate([[0.0], np.cumsum(weight)])
        first, last = (np.searchsorted(others, values, side) for side in ("left", "right"))
        return np.asarray(0.5 * (sums[first] + sums[last]))


class Bundles(NamedTuple):
    """How groups are put together, and what tunes the bets: fixed without the scores.

    Attributes
    ----------
    rows : CrossGroups
    bundle_of : ndarray of int
        Of each group.
    pairs : ndarray
        Of each block, such that they are 1 on average.
    area, variance : float
        What is foreseen of the area, and of a block's right pairs less the area times its pairs.
    drawn : bool
        Whether the bound is drawn.
    """

    rows: CrossGroups
    bundle_of: NDArray[np.int64]
    pairs: Array
    area: float
    variance: float
    drawn: bool

    @classmethod
    def plan(
        cls, rows: CrossGroups, area: float, spread: AreaSpread, ln_delta: float, *, drawn: bool
    ) -> Bundles | None:
        """Return what is foreseen to be narrowest at a level; None with too few groups."""
        positives, negatives = rows.sides
        groups, best, width = len(positives), None, math.inf
        sizes = np.bincount(rows.group, minlength=groups).astype(np.float64)
        apart = foreseen_squares(np.ones(len(rows.group)), sizes) / len(rows.group)
        order = np.lexsort((negatives, positives))[::-1]
        most = min(groups, _MOST_BUNDLES, max(_MOST_COMPARED // len(rows.group), 2 * LEAST_BLOCKS))
        for count in sorted({*_BUNDLES, *(groups // number for number in _GROUPS_TO_A_BUNDLE)}):
            if not 2 * LEAST_BLOCKS <= count <= most:
                continue
            bundle_of = np.empty(groups, dtype=np.int64)
            there = np.arange(groups) % (2 * count)
            bundle_of[order] = np.minimum(there, 2 * count - 1 - there)  # there and back
            positive, negative = (_sums(bundle_of, side, count) for side in rows.sides)
            pairs = _blocks(np.outer(positive, negative), _sums(bundle_of, positives * negatives, count))
            pairs /= pairs.mean()
            of_block = [max(2.0 * np.count_nonzero(rows.is_positive == side) / count, 0.5) for side in (0, 1)]
            variance = float(f"{spread.variance(of_block) * apart:.4g}")
            made = cls(rows, bundle_of, pairs, area, variance, drawn)
            low, high = made.foreseen(area, ln_delta)
            if high - low < width:
                best, width = made, high - low
        return best

    @property
    def bundles(self) -> int:
        """How many there are."""
        return int(self.bundle_of.max()) + 1

    @property
    def _tuned(self) -> dict[str, Any]:
        most = float(self.pairs.max()) * (1.0 + 1e-9)
        return {"most": most, "expected_mean": self.area, "expected_variance": self.variance}

    @property
    def terms(self) -> float:
        """The number of blocks of a round."""
        return len(self.pairs) / _rounds(self.bundles)

    def tilted(self, rows: float) -> TiltedMean:
        """Return how the area that is foreseen divides a level, if so many blocks foresee it."""
        return TiltedMean(self.area, rows, max(round(self.terms), 1), self.variance)

    def foreseen(self, area: float, ln_delta: float, tilt: TiltedMean | None = None) -> Interval:
        """Return about where the ends will be for an area; no guarantee rests on it."""
        return unit_mean_foreseen(area, self.terms, ln_delta, **self._tuned, drawn=self.drawn, tilt=tilt)

    def ends(
        self, scores: Array, ln_delta: float, uniform: float | None, tilt: TiltedMean | None = None
    ) -> Interval:
        """Return the interval of these scores at a level."""
        bundle_of, count = self.bundle_of, self.bundles
        within = _sums(bundle_of, self.rows.within_groups(scores), count)
        right = _blocks(self.rows.right(scores, bundle_of, count), within)
        right *= len(right) / self.rows.total
        right = np.clip(right, 0.0, self.pairs)
        return unit_ratio_ends(
            right, self.pairs, ln_delta, **self._tuned, uniform=uniform, terms=self.terms, tilt=tilt
        )


def _rounds(bundles: int) -> int:
    """Return how many rounds a round-robin tournament has."""
    return bundles - 1 + bundles % 2


def _blocks(by_bundle: Array, of_one_group: Array) -> Array:
    """Return what each two bundles have in common, with a part of what the groups of either have."""
    count = len(by_bundle)
    within = (np.diag(by_bundle) - of_one_group) / (count - 1.0)
    both = by_bundle + by_bundle.T
    both += within[:, None]
    both += within  # in place, as there may be millions of blocks
    return np.asarray(squareform(both, checks=False))


def _sums(places: NDArray[np.int64], values: Array, count: int) -> Array:
    return np.bincount(places, values, minlength=count).astype(np.float64)


def _of_each(bundle: NDArray[np.int64], rows: NDArray[np.int64], count: int) -> list[NDArray[np.int64]]:
    """Return the rows of each bundle, in their order."""
    order = np.argsort(bundle, kind="stable")
    return np.split(rows[order], np.searchsorted(bundle[order], np.arange(1, count)))
