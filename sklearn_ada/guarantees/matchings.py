r"""Intervals for areas under the ROC curve, by bets on blocks of rows that are matched at random.

An area is the mean over pairs of a positive and a negative row of whether the positive one has the higher
score, ties counting one half; the areas of several classes are means of such areas at given weights. Pairs
that share a row are not independent. So the rows of every class are shuffled and dealt out to K blocks, as
evenly as may be, at least one of each class to a block: a matching. The value of a block is the area, or the
mean of areas, of its own rows alone.

Theorem. Let the rows of a class be independent and of one law, and the matchings be drawn without them.
Values h of the K blocks of one matching are then independent, in [0, 1], and each has the mean A, the area of
the population, however many rows a block has of each class. For bets l fixed beforehand and

.. math:: M(m) = \frac{1}{B} \sum_{b=1}^{B} \sum_j w_j \prod_{k=1}^{K} (1 + l_j (h_{bk} - m))

over B matchings, ``E M(m) <= 1`` for every m that is at least A and at which no factor can be negative. So
``M(m) >= 1/delta`` with probability at most delta, and ``M(m) >= U/delta`` as well, for a U that is drawn
uniformly from [0, 1] independently of the rows.

Proof. Every block has, of each two classes, the same chance of any pair of rows to be in it, and the share of
pairs that are ranked rightly has the mean of one pair; so has a mean of such shares at fixed weights. Blocks
have no row in common. By independence the expectation of a product is the product of ``1 + l (A - m)``, at
most 1, for each matching; and so for their mean, however they depend on each other. Then Markov's inequality,
or with U, ``P(M delta >= U) = E min(1, M delta)``.

M falls in m (a bet that could lose more than all has no wealth), so the lower end is the largest m that is
rejected; the upper end is that of the values ``1 - h``, with ``1 - U``.

Why many matchings: the value of one block varies more than it would if all pairs of its rows' classes were
looked at, which is lost width. The mean of the wealths grows as if most of that variance were not there.

How many blocks there are, and the bets, follow from how the area is foreseen to vary
(`AreaSpread`). With K blocks a mean of areas has the variance ``a + b K``, of which ``a`` is that of the area
of all pairs; few blocks vary less, but a bet that may lose no more than all cannot use that. Bets do not
adapt from block to block, so no order matters beyond the matching.

Source: bets as in Waudby-Smith, Ramdas (2024); a mean of such wealths over orders of the rows is again a
wealth (Vovk, Wang 2021, "E-values: calibration, combination and applications", Annals of Statistics 49).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from sklearn_ada._solving import enclosed_root
from sklearn_ada._validation import LN_2, bad_parameter, checked
from sklearn_ada.guarantees.bets import Bound, bounds_of
from sklearn_ada.guarantees.intervals import Array, Interval, ln_side, mirrored
from sklearn_ada.guarantees.tilted import LN_LIKELY_SIDE, TiltedMean

__all__ = ["AreaSpread", "auc_by_matchings"]

LEAST_BLOCKS = 8
"""With fewer blocks a bet that may lose no more than all proves next to nothing."""

_ROWS_TO_A_BLOCK = (1, 2, 3, 4, 6, 8, 12, 20, 40, 100, 300, 1000)  # of the smallest class, to be tried
_MOST_MATCHINGS, _LEAST_MATCHINGS = 128, 8
_MOST_DEALT = 2**20  # rows, in all matchings
_MOST_BLOCKS = 2**18  # in all matchings
_MULTIPLES = np.array((0.7, 1.0, 1.4))  # of the best size of a bet
_LN_PARTS = np.log((0.25, 0.5, 0.25))
_MOST_LOST = 0.95  # of the wealth, by one block at what is foreseen
_ALL = 1.0 - 1e-12  # a bet that can lose more has no wealth
_FACTORS = 16  # multiplied before a logarithm is taken
_MARGIN = 1e-9  # of logarithms, against rounding errors
_HALVINGS = 32
_LEAST_UNIFORM = 0.1
_POINTS = 256  # at which a foreseen law of block values is looked at
_LOST = 1.5  # times what of the variance between matchings is left, by trial


class AreaSpread(NamedTuple):
    """How an area under the ROC curve varies, as other rows foresee it.

    Parameters
    ----------
    rows : tuple of float
        For each class, the variance of the mean over the other classes' rows of what one row of it adds.
    pairs : float
        What is left of the variance of one pair.

    Examples
    --------
    >>> round(AreaSpread((0.02, 0.02), 0.05).variance([100, 100]), 6)
    0.000405
    """

    rows: tuple[float, ...]
    pairs: float

    @classmethod
    def of_rows(cls, scores: ArrayLike, is_positive: ArrayLike) -> AreaSpread:
        """Return the spread of the area of two classes that rows foresee, negatives first.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
            Larger for rows that are rather positive.
        is_positive : array-like of shape (n_rows,)
            Booleans, at least one of each.

        Returns
        -------
        AreaSpread

        Examples
        --------
        >>> scores = np.arange(8.0)
        >>> spread = AreaSpread.of_rows(scores, np.isin(scores, [2, 5, 6, 7]))
        >>> [round(each, 4) for each in (*spread.rows, spread.pairs)]
        [0.008, 0.0186, 0.1334]
        """
        positives, negatives = _two_classes(scores, is_positive, "AreaSpread.of_rows")
        found, above = _shares_below(positives, negatives), 1.0 - _shares_below(negatives, positives)
        area = float(found.mean())
        fewest = min(len(found), len(above))
        near = (area * fewest + 0.5) / (fewest + 1.0)  # so that no variance is foreseen as 0
        of_pair, least = near * (1.0 - near), 0.05 * near * (1.0 - near)
        # What is seen of a row's mean has the noise of the rows that it is compared with, too.
        of_rows = []
        for seen, others in ((above, len(found)), (found, len(above))):
            variance = float(seen.var())
            of_rows.append(max(variance - max(of_pair - variance, 0.0) / others, least))
        return cls(tuple(of_rows), max(of_pair - sum(of_rows), least))

    @classmethod
    def of_classes(
        cls, scores: ArrayLike, codes: ArrayLike, weights: dict[tuple[int, int], float]
    ) -> AreaSpread:
        """Return the spread of a mean of areas of several classes that rows foresee.

        Parameters
        ----------
        scores : array-like of shape (n_rows, n_classes)
        codes : array-like of shape (n_rows,)
            Position of the class of each row; every class has one.
        weights : dict
            Of the area of a class, compared with another, by their positions; they sum to 1.

        Returns
        -------
        AreaSpread

        Examples
        --------
        >>> scores = np.random.default_rng(0).random((60, 3))
        >>> codes = np.arange(60) % 3
        >>> of_pair = {(c, other): 1 / 6 for c in range(3) for other in range(3) if c != other}
        >>> len(AreaSpread.of_classes(scores, codes, of_pair).rows)
        3
        """
        values, codes = np.asarray(scores, dtype=np.float64), np.asarray(codes)
        classes = [np.flatnonzero(codes == c) for c in range(values.shape[1])]
        rows, left, between = [np.zeros(len(each)) for each in classes], 0.0, 0.0
        for (c, other), weight in weights.items():
            pair = AreaSpread.of_rows(
                np.concatenate([values[classes[other], c], values[classes[c], c]]),
                np.repeat([False, True], [len(classes[other]), len(classes[c])]),
            )
            rows[c] += weight * _shares_below(values[classes[c], c], values[classes[other], c])
            rows[other] -= weight * _shares_below(values[classes[other], c], values[classes[c], c])
            # The two areas of a pair of classes are taken to go together, which is the most there can be.
            left += weight * math.sqrt(pair.pairs)
            between += weight
        pairs = (left / between) ** 2 * 4.0 / len(classes) ** 2 / (len(classes) - 1.0) ** 2
        least = 0.01 * pairs
        return cls(tuple(max(float(each.var()), least) for each in rows), pairs)

    def describe(self) -> dict[str, Any]:
        """Return it to four digits, ready for JSON.

        Returns
        -------
        dict

        Examples
        --------
        >>> AreaSpread((0.02, 0.02), 0.05).describe()
        {'rows': [0.02, 0.02], 'pairs': 0.05}
        """
        digits = [float(f"{each:.4g}") for each in (*self.rows, self.pairs)]
        return {"rows": digits[:-1], "pairs": digits[-1]}

    def variance(self, sizes: Sequence[float]) -> float:
        """Return the variance of the area of so many rows of each class.

        Parameters
        ----------
        sizes : sequence of float
            Of all classes.

        Returns
        -------
        float

        Examples
        --------
        >>> round(AreaSpread((0.02, 0.02), 0.05).variance([10, 10]), 6)
        0.0045
        """
        inverse = [1.0 / size for size in sizes]
        total = sum(inverse)
        between = (total**2 - sum(each**2 for each in inverse)) / 2.0
        return math.fsum(a * b for a, b in zip(self.rows, inverse, strict=True)) + self.pairs * between


@checked(seed="integer >= 0", expected_area="[0, 1]", ln_delta="<= 0", uniform="[0, 1] or None")
def auc_by_matchings(
    scores: ArrayLike,
    is_positive: ArrayLike,
    ln_delta: float,
    *,
    expected_area: float,
    spread: AreaSpread,
    seed: int,
    uniform: float | None = None,
) -> Interval:
    """Return an interval for the AUC, by bets on blocks of matched rows.

    It misses with probability at most delta. Positives are independent and of one law, and so are negatives.
    Each side gets delta/2.

    Source: theorem of `sklearn_ada.guarantees.matchings`.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Larger for rows that are rather positive.
    is_positive : array-like of shape (n_rows,)
        Booleans, at least `LEAST_BLOCKS` of each.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected_area : float
        The area foreseen without these rows.
    spread : AreaSpread
        How it varies, foreseen without these rows.
    seed : int
        Of the matchings, at least 0; independent of the rows.
    uniform : float or None, default=None
        A number drawn uniformly from [0, 1], independently of the rows: the bound is drawn, which makes the
        interval a seventh narrower on average. None draws nothing beyond the matchings.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range, or a class has too few rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(2000) % 10 == 0
    >>> scores = rng.standard_normal(2000) + 1.8 * positive
    >>> spread = AreaSpread.of_rows(scores[1000:], positive[1000:])
    >>> seen, ln_delta = (scores[:1000], positive[:1000]), math.log(0.05)
    >>> low, high = auc_by_matchings(*seen, ln_delta, expected_area=0.9, spread=spread, seed=0)
    >>> round(low, 3), round(high, 3)  # by `bentkus`, .82 to .96
    (0.848, 0.936)
    """
    owner = "auc_by_matchings"
    positives, negatives = _two_classes(scores, is_positive, owner)
    sizes = len(negatives), len(positives)
    if min(sizes) < LEAST_BLOCKS:
        raise bad_parameter("is_positive", owner, f"at least {LEAST_BLOCKS} of each", f"{min(sizes)} of one")
    made = Matchings.plan(sizes, expected_area, spread, ln_delta, drawn=uniform is not None)
    values = made.deal([np.asarray(scores, dtype=np.float64)], [*map(np.flatnonzero, _sides(is_positive))],
                       {(1, 0): 1.0}, np.random.default_rng(seed))  # fmt: skip
    return made.ends(values, ln_delta, uniform)


class Matchings(NamedTuple):
    """How many blocks and matchings there are, and what tunes the bets: fixed without the rows.

    Attributes
    ----------
    blocks, matchings : int
    area, variance : float
        What is foreseen of the area, and of its variance as far as the mean wealth shows it.
    drawn : bool
        Whether the bound is drawn.
    """

    blocks: int
    matchings: int
    area: float
    variance: float
    drawn: bool

    @classmethod
    def plan(
        cls, sizes: Sequence[int], area: float, spread: AreaSpread, ln_delta: float, *, drawn: bool
    ) -> Matchings:
        """Return what is foreseen to be narrowest at a level, for so many rows of each class."""
        fewest, best, width = min(sizes), None, math.inf
        for rows in _ROWS_TO_A_BLOCK:
            blocks = fewest // rows
            if best is not None and blocks < LEAST_BLOCKS:
                break
            most = min(_MOST_DEALT // (sum(sizes) * (len(sizes) - 1)), _MOST_BLOCKS // blocks)
            count = min(max(most, _LEAST_MATCHINGS), _MOST_MATCHINGS)
            whole, dealt = spread.variance(sizes), spread.variance([size / blocks for size in sizes]) / blocks
            left = min(_LOST * (dealt / whole - 1.0) / math.sqrt(count), 1.0)
            made = cls(blocks, count, area, float(f"{whole + left * (dealt - whole):.4g}"), drawn)
            low, high = made.foreseen(area, ln_delta)
            if high - low < width:
                best, width = made, high - low
        assert best is not None
        return best

    def deal(
        self,
        scores: Sequence[Array],
        rows: Sequence[NDArray[np.integer]],
        weights: dict[tuple[int, int], float],
        rng: Generator,
    ) -> Array:
        """Return the values of all blocks, one matching in a row.

        Parameters
        ----------
        scores : sequence of ndarray
            For each class its scores of all rows, or one for all classes.
        rows : sequence of ndarray of int
            Numbers of the rows of each class.
        weights : dict
            Of the area of a class, compared with another, by their positions; they sum to 1.
        rng : Generator
            Independent of the rows.
        """
        ranks = [np.unique(each, return_inverse=True)[1].reshape(-1) for each in scores]
        dealt = [np.arange(len(each)) * self.blocks // len(each) for each in rows]
        counts = [np.bincount(each, minlength=self.blocks) for each in dealt]
        starts = [np.cumsum(each) - each for each in counts]
        values = np.zeros((self.matchings, self.blocks))
        for value in values:
            shuffled = [rng.permutation(each) for each in rows]
            for (c, other), weight in weights.items():
                rank = ranks[c if len(ranks) > 1 else 0]
                step = int(rank.max()) + 1
                above = dealt[c] * step + rank[shuffled[c]]
                below = np.sort(dealt[other] * step + rank[shuffled[other]])
                twice = np.searchsorted(below, above, "left") + np.searchsorted(below, above, "right")
                right = 0.5 * np.bincount(dealt[c], weights=twice, minlength=self.blocks)
                right -= counts[c] * starts[other]
                value += weight * right / (counts[c] * counts[other])
        return np.clip(values, 0.0, 1.0)

    def tilted(self, blocks: float) -> TiltedMean:
        """Return how the area that is foreseen divides a level, if so many blocks foresee it."""
        return TiltedMean(self.area, blocks, self.blocks, self.variance * self.blocks)

    def ends(
        self, values: Array, ln_delta: float, uniform: float | None, tilt: TiltedMean | None = None
    ) -> Interval:
        """Return the interval that the values of all blocks give at a level."""
        if ln_delta == -math.inf:
            return 0.0, 1.0
        low_uniform, high_uniform = (1.0, 1.0) if uniform is None else (uniform, 1.0 - uniform)
        likely = ln_side(ln_delta) if tilt is None else min(ln_delta, -LN_2) + LN_LIKELY_SIDE
        of_low, of_high = bounds_of(ln_delta, tilt)
        low = self._low(values, self.area, -likely, of_low, low_uniform)
        return low, mirrored(self._low(1.0 - values, 1.0 - self.area, -likely, of_high, high_uniform))

    def foreseen(self, area: float, ln_delta: float, tilt: TiltedMean | None = None) -> Interval:
        """Return about where the ends will be for an area; no guarantee rests on it."""
        low, high = self.ends(self._law(area), ln_delta, 0.5 if self.drawn else None, tilt)
        return min(low, area), max(high, area)

    def _law(self, area: float) -> Array:
        """Return values like those of the blocks of one matching, of a beta law."""
        mean = min(max(area, 1e-4), 1.0 - 1e-4)
        total = max(mean * (1.0 - mean) / (self.blocks * self.variance) - 1.0, 1e-2)
        at = (np.arange(_POINTS) + 0.5) / _POINTS
        values = betaincinv(mean * total, (1.0 - mean) * total, at)
        return np.asarray(np.clip(values + (mean - values.mean()), 0.0, 1.0)[None, :])

    def _low(self, values: Array, area: float, likely: float, bound: Bound, uniform: float) -> float:
        """Return the largest mean that is rejected as too low, rounded down; ``likely`` sizes the bets."""
        spared = math.log(max(uniform, _LEAST_UNIFORM)) + _MARGIN
        aimed = max(likely - LN_2 * self.drawn, 0.1)
        reach = math.sqrt(2.0 * aimed * self.variance) + 2.0 * aimed / self.blocks
        best = math.sqrt(2.0 * aimed / self.variance) / self.blocks
        sizes = np.minimum(_MULTIPLES * best, _MOST_LOST / max(area - 0.5 * reach, 0.5 * area, 1e-3))
        scale = self.blocks / values.shape[1]

        def exceeds(mean: float) -> float:
            usable = sizes[sizes * mean <= _ALL]
            if not len(usable):
                return -1e6
            logs = [_ln_products(values, size, mean) for size in usable]
            sums = scale * np.stack(logs) + _LN_PARTS[: len(usable), None] - math.log(len(values))
            top = float(sums.max())
            needed = float(bound(np.asarray(mean))) + spared
            return max(top + math.log(float(np.exp(sums - top).sum())) - needed, -1e6)

        low, _ = enclosed_root(exceeds, 0.0, 1.0, rising=False, halvings=_HALVINGS)
        return low


def _ln_products(values: Array, size: float, mean: float) -> Array:
    """Return the logarithm of the product of all factors in each row."""
    factors = 1.0 + size * (values - mean)
    whole = factors.shape[1] // _FACTORS * _FACTORS
    products = factors[:, :whole].reshape(len(factors), _FACTORS, -1).prod(axis=1)
    total = np.log(products).sum(axis=1) + np.log(factors[:, whole:]).sum(axis=1)
    return np.asarray(total)


def _two_classes(scores: ArrayLike, is_positive: ArrayLike, owner: str) -> tuple[Array, Array]:
    """Return the scores of positives and negatives."""
    values, positive = np.asarray(scores, dtype=np.float64), np.asarray(is_positive)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise bad_parameter("scores", owner, "a column of finite numbers", "others")
    if positive.shape != values.shape or not np.isin(positive, (0, 1)).all() or positive.all():
        raise bad_parameter("is_positive", owner, "booleans, as many as scores, some True", "others")
    if not positive.any():
        raise bad_parameter("is_positive", owner, "booleans, as many as scores, some True", "others")
    return values[positive == 1], values[positive == 0]


def _sides(is_positive: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    positive = np.asarray(is_positive) == 1
    return ~positive, positive


def _shares_below(scores: Array, others: Array) -> Array:
    """Return for each score which share of the others it is above, ties counting one half."""
    order = np.sort(others)
    twice = np.searchsorted(order, scores, "left") + np.searchsorted(order, scores, "right")
    return np.asarray(twice / (2.0 * len(order)))
