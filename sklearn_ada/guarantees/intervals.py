r"""Confidence intervals for one question that was fixed in advance: what every certificate is made of.

Here are those for a mean or a share of the rows, mostly named after their theorems, and how wide they will
be, for plans. Those that are made for one metric, such as F-beta or R^2, are in
`sklearn_ada.guarantees.scores` and `sklearn_ada.guarantees.class_tables`, intervals by betting in
`sklearn_ada.guarantees.bets`.

Each function takes ``ln_delta``, the natural logarithm of the failure probability, so that a certificate can
be asked for delta = e^-2000. Each side of an interval gets ``delta / 2``. An answer of which only the cell
was released passes both ends of the cell; an exact answer passes the same value twice. Ends are rounded
outwards, so nothing returned is narrower than the truth. Beyond some 740 nats a binomial tail is smaller than
any float, so it is computed by its logarithm there.

A weighted mean, or a mean over classes, counts as some number of independent terms in Hoeffding's and
Chernoff's intervals: `class_mean_size`, `averaged_auc_size`, `kish_size` and `bounded_weight_size` say how
many.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, gammaln

from sklearn_ada._solving import enclosed_root, root
from sklearn_ada._validation import LN_2, OUTWARDS, bad_parameter, check_real, checked, plain, real

__all__ = [
    "bentkus", "bernoulli_kl", "binomial_tail_ends", "bounded_weight_size", "bounded_weights_kl",
    "chernoff_kl", "class_mean_size", "clopper_pearson", "difference_half_width", "empirical_bernstein",
    "expected_half_width", "fixed_shares_kl", "hoeffding", "hoeffding_half_width", "kish_size",
    "wilson_deviation",
]  # fmt: skip

Array = NDArray[np.float64]
Interval = tuple[float, float]

LN_MOST_SIDE = -2.0 * LN_2
"""A side gets at most 1/4: beyond, unequal rows may have heavier tails than equal ones."""

LN_TENTH = -math.log(10.0)
LN_NINE_TENTHS = math.log1p(-0.1)
"""Parts of a side's level, where the main test has nine tenths and another statement has the rest."""

LOG_TAIL_FROM = 300.0
"""Nats beyond which a tail that is an incomplete beta function is computed by its logarithm."""

_RTOL = 4.0 * math.ulp(1.0)  # the least that Brent's method takes
_STEPS = 60  # of Newton's method, which converges from above; a handful are needed
_DEVIATIONS = 60.0  # of a window of counts, in sqrt(n): no float holds the mass beyond it
_LARGEST_TERM = 60.0  # a term e^60 times that at the value decides the sign of any sum
_AS_GOOD_FROM = 700.0  # nats from which Chernoff's bound is as good


@checked(low_count="integer >= 0", high_count="integer >= 0", n="count", ln_delta="<= 0")
def clopper_pearson(low_count: int, high_count: int, n: int, ln_delta: float) -> Interval:
    """Return an interval for p that misses with probability at most delta.

    The count S of successes among n independent 0/1 losses lies in ``[low_count, high_count]``; p is the mean
    of the success probabilities, which need not be equal.

    Source: Clopper, Pearson (1934); for unequal probabilities Hoeffding (1956, Theorem 4), whose domination
    of the tail fails for a single success, where the union bound ``P[S >= 1] <= n p`` is used instead.

    Parameters
    ----------
    low_count, high_count : int
        ``0 <= low_count <= high_count <= n``.
    n : int
        Number of rows, at least 1.
    ln_delta : float
        Logarithm of the failure probability, at most 0. A delta above 1/2 is treated as 1/2.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = clopper_pearson(850, 850, 1000, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.8263, 0.8716)
    """
    check_order(low_count, high_count, n, "clopper_pearson")
    side = ln_side(ln_delta)
    return binomial_low(low_count, n, side), mirrored(binomial_low(n - high_count, n, side))


@checked(low_count="integer >= 0", high_count="integer >= 0", n="count", ln_side="<= 0")
def binomial_tail_ends(
    low_count: int, high_count: int, n: int, ln_side: float, *, identical_rows: bool = False
) -> Interval:
    """Return an interval for p whose two tails are at most ``e^ln_side`` likely.

    At every p below the lower end ``P[S >= low_count]`` is at most ``e^ln_side``, at every p above the upper
    end ``P[S <= high_count]`` is. Clopper and Pearson's interval with the level of one side given.

    Parameters
    ----------
    low_count, high_count, n : int
        As for `clopper_pearson`.
    ln_side : float
        Logarithm of the level of each side, at most 0. A level above 1/4 is treated as 1/4.
    identical_rows : bool, default=False
        Whether all rows have the same success probability, as independent draws of one population have and
        rows at a fixed class mix do not. A single success then has the binomial tail ``1 - (1 - p)^n``
        instead of its bound ``n p``; all else is the same.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = binomial_tail_ends(1, 5, 50, math.log(0.05), identical_rows=True)
    >>> round(low, 6), round(high, 4)  # for unequal rows the lower end is 0.001
    (0.001025, 0.1988)
    """
    check_order(low_count, high_count, n, "binomial_tail_ends")
    side = min(ln_side, LN_MOST_SIDE)
    low, miss = (binomial_low(count, n, side, identical_rows) for count in (low_count, n - high_count))
    return low, mirrored(miss)


@checked(size="> 0", ln_delta="<= 0")
def chernoff_kl(
    low_value: float, high_value: float, size: float, ln_delta: float, range: Interval = (0.0, 1.0)
) -> Interval:
    """Return Chernoff's interval for the mean of a bounded variable.

    It misses with probability at most delta. It contains all p with ``size * kl(p_hat, p) <= ln(2/delta)``
    after rescaling to [0, 1], for some p_hat in ``[low_value, high_value]``. Valid for any variable with
    values in ``range``; never wider than Hoeffding's interval. With ``size = min(n_pos, n_neg)`` it is valid
    for the ROC AUC, a two-sample U-statistic (Hoeffding 1963, section 5).

    Parameters
    ----------
    low_value, high_value : float
        The mean of the rows lies between them, inside ``range``.
    size : float
        Number of independent terms, positive.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of the variable.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = chernoff_kl(0.85, 0.85, 1000, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.8176, 0.8789)
    """
    bound = -ln_side(ln_delta) / size
    return _both_ends(low_value, high_value, range, "chernoff_kl", lambda p: _kl_low(p, bound))


@checked(size="count", ln_delta="<= 0")
def bentkus(
    low_value: float, high_value: float, size: int, ln_delta: float, range: Interval = (0.0, 1.0)
) -> Interval:
    """Return Bentkus's interval for the mean of a bounded variable.

    It misses with probability at most delta. All p are excluded for which
    ``inf_t E(Bin(n, p) - t)+ / (s - t)`` is at most delta/2, with s the observed sum, and mirrored. Valid for
    independent variables with values in ``range``, and with ``size = min(n_pos, n_neg)`` for the ROC AUC;
    never wider than Chernoff's interval, which bounds the same tail: that compares the sum with a binomial
    variable by exponentials, Bentkus by functions ``(x - t)+``, of which every exponential is a mixture. It
    is about the binomial tail itself, times e.

    Proof: ``(x - t)+ / (s - t)`` is at least ``1(x >= s)`` and convex. Of all independent sums in [0, n] with
    mean ``n p`` the binomial has the largest mean of a convex function (Hoeffding 1963, section 5, for equal
    means; Hoeffding 1956 for others). A two-sample U-statistic is an average of such sums, one for each
    matching of the smaller class, and the mean of a convex function of an average is at most the average of
    the means. The best t is an integer, since the numerator is linear in between.

    Source: Bentkus (2004), *On Hoeffding's inequalities*, Annals of Probability 32.

    Parameters
    ----------
    low_value, high_value : float
        The mean of the rows lies between them, inside ``range``.
    size : int
        Number n of independent terms.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of the variable.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = bentkus(0.9, 0.9, 100, math.log(0.05))
    >>> round(low, 4), round(high, 4)  # Chernoff: .7997 and .9621
    (0.8147, 0.9544)
    """
    side = ln_side(ln_delta)
    return _both_ends(low_value, high_value, range, "bentkus", lambda p: _bentkus_low(p, size, side))


def hoeffding(
    low_value: float, high_value: float, size: float, ln_delta: float, range: Interval = (0.0, 1.0)
) -> Interval:
    """Return Hoeffding's interval for the mean of independent terms.

    It misses with probability at most delta. What ``size`` is for a mean that is not a plain mean over n
    rows (whose docstrings have the proofs):

    - balanced accuracy and macro recall: ``class_mean_size(counts)``, which is ``C^2 / sum_c (1/n_c)``;
    - a mean at fixed weights: ``kish_size(weights)``, which is ``W^2 / sum w^2``;
    - the population's weighted mean ``E[wX] / E[w]``: ``bounded_weight_size(n, mean_weight, b)``, which makes
      the half-width ``(b / mean_weight) sqrt(ln(2/delta) / (2n))``.

    Parameters
    ----------
    low_value, high_value : float
        The mean of the rows lies between them, inside ``range``.
    size : float
        Number of independent terms, positive.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of the variable.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = hoeffding(0.85, 0.85, 1000, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.8071, 0.8929)
    """
    bottom, top = check_range(range, "hoeffding")
    p_low, p_high = to_unit(low_value, high_value, bottom, top, "hoeffding")
    half = hoeffding_half_width(size, ln_delta) * (1.0 + OUTWARDS)
    low, high = max(p_low - half, 0.0), min(p_high + half, 1.0)
    return bottom + low * (top - bottom), bottom + high * (top - bottom)


@checked(size="> 0", width="> 0", ln_delta="<= 0")
def hoeffding_half_width(size: float, ln_delta: float, width: float = 1.0) -> float:
    """Return ``width * sqrt(ln(2/delta) / (2 size))``, which no Chernoff interval exceeds.

    Source: Hoeffding (1963), Theorem 2, for a mean of ``size`` independent terms of range ``width``.

    Parameters
    ----------
    size : float
        Number of independent terms.
    ln_delta : float
        Logarithm of delta, at most 0.
    width : float, default=1.0
        Of the range of one term.

    Examples
    --------
    >>> round(hoeffding_half_width(1000, math.log(0.05)), 5)
    0.04295
    """
    return width * math.sqrt(-ln_side(ln_delta) / (2.0 * size))


@checked(bounds="each finite", variance=">= 0", n="integer >= 2", ln_delta="<= 0")
def empirical_bernstein(
    low: float, high: float, variance: float, n: int, ln_delta: float, bounds: Interval = (0.0, 1.0)
) -> Interval:
    """Return an interval for a mean of bounded scores, by their sample variance.

    It misses with probability at most delta. For scores in [0, 1] each side reaches
    ``sqrt(2 V ln(4/delta)/n) + 7 ln(4/delta)/(3 (n - 1))``, with V the unbiased sample variance. Scores need
    not have the same law.

    Source: Maurer, Pontil, "Empirical Bernstein bounds and sample variance penalization", COLT 2009,
    Theorem 11.

    Parameters
    ----------
    low, high : float
        The mean of the scores lies in ``[low, high]``, within ``bounds``.
    variance : float
        Upper bound on their unbiased sample variance, in squared units of the scores, at least 0.
    n : int
        Number of scores, at least 2.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    bounds : tuple of float, default=(0, 1)
        Range of a score.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = empirical_bernstein(0.1, 0.1, 0.01, 10_000, math.log(0.05))
    >>> round(low, 4), round(high, 4)  # Chernoff's is 0.0920 to 0.1084
    (0.096, 0.104)
    """
    owner = "empirical_bernstein"
    bottom, top = bounds
    if not bottom < top:
        raise bad_parameter("bounds", owner, "a pair (low, high) with low < high", bounds)
    low = check_real(low, "low", owner, low=bottom, high=top, closed="both")
    high = check_real(high, "high", owner, low=low, high=top, closed="both")
    nats = 2.0 * LN_2 - ln_delta
    reach = math.sqrt(2.0 * variance * nats / n) + (top - bottom) * 7.0 * nats / (3.0 * (n - 1))
    reach *= 1.0 + OUTWARDS
    return max(low - reach, bottom), min(high + reach, top)


@checked(n="count", weight_bound="> 0", ln_delta="<= 0")
def bounded_weights_kl(
    low_value: float,
    high_value: float,
    n: int,
    mean_weight: float,
    weight_bound: float,
    ln_delta: float,
    range: Interval = (0.0, 1.0),
) -> Interval:
    """Return an interval for ``E[wX] / E[w]`` that misses with probability at most delta.

    Excludes q if ``n kl(q + (mean_weight / b) (q_hat - q), q) >= ln(2 / delta)``, and mirrored. Never wider
    than Hoeffding's with `bounded_weight_size`, and of equal weights b it is `chernoff_kl`.

    Proof: at the true ratio q the independent variables ``q + w (X - q) / b`` are in [0, 1] and have mean q;
    their mean over the rows is the first argument. Chernoff's bound for it is smaller the smaller the mean
    weight is taken to be, so that a value rounded down will do.

    Source: Hoeffding (1963), Theorem 1.

    Parameters
    ----------
    low_value, high_value : float
        The weighted mean of the rows lies between them, inside ``range``.
    n : int
        Number of independent terms.
    mean_weight : float
        Their mean weight or less, in (0, weight_bound].
    weight_bound : float
        What no weight of the population exceeds, fixed without the sample.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of X.

    Examples
    --------
    >>> import math
    >>> low, high = bounded_weights_kl(0.95, 0.95, 1000, 0.5, 1.0, math.log(0.05))
    >>> round(low, 4), round(high, 4)  # Hoeffding: .8641 and 1
    (0.9007, 0.9776)
    """
    owner = "bounded_weights_kl"
    ratio = _ratio_to_bound(mean_weight, weight_bound, owner)
    bound = -ln_side(ln_delta) / n
    return _both_ends(low_value, high_value, range, owner, lambda p: _weighted_kl_low(p, ratio, bound))


@checked(n="count")
def fixed_shares_kl(
    low_value: float,
    high_value: float,
    n: int,
    largest_share: float,
    ln_delta: float,
    range: Interval = (0.0, 1.0),
) -> Interval:
    """Return an interval for ``sum a_i E[X_i]`` with fixed shares ``a_i``.

    It misses with probability at most delta: Chernoff's for ``q_hat / (n a_max)``, the mean of the
    independent variables ``a_i X_i / a_max`` in [0, 1]. The shares (positive, of sum 1) must be fixed, so the
    target is conditional on the weights.

    Source: Hoeffding (1963), Theorem 1.

    Parameters
    ----------
    low_value, high_value : float
        The mean of the rows at these shares lies between them, inside ``range``.
    n : int
        Number of independent terms.
    largest_share : float
        ``a_max``, in [1/n, 1].
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of X.

    Examples
    --------
    >>> import math
    >>> low, high = fixed_shares_kl(0.95, 0.95, 1000, 0.0015, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.887, 0.9698)
    """
    owner = "fixed_shares_kl"
    largest = real((1.0 - 1e-9) / n, 1.0, closed="both")(largest_share, "largest_share", owner)
    scale = max(n * largest, 1.0)

    def low_end(p: float) -> float:
        return min(scale * chernoff_kl(p / scale, p / scale, n, ln_delta)[0], 1.0)

    return _both_ends(low_value, high_value, range, owner, low_end)


@checked(class_counts="each count")
def class_mean_size(class_counts: tuple[int, ...]) -> float:
    """Return ``C^2 / sum_c (1/n_c)``: the size of a mean of C per-class means, for Hoeffding.

    Parameters
    ----------
    class_counts : tuple of int
        Records of each class.

    Examples
    --------
    >>> class_mean_size((50, 50))
    100.0
    """
    if not class_counts:
        raise bad_parameter("class_counts", "class_mean_size", "a non-empty tuple", class_counts)
    return len(class_counts) ** 2 / math.fsum(1.0 / count for count in class_counts)


@checked(class_counts="each count")
def averaged_auc_size(class_counts: tuple[int, ...], *, pairs: bool, weighted: bool = False) -> float:
    """Return the size, for Hoeffding, of an AUC averaged over classes or pairs.

    The larger of two, given the labels. Another score of one row of class k moves the average by at most
    ``c_k``, so by McDiarmid's inequality it is off its expectation by t with probability at most
    ``exp(-2 t^2 / sum_k n_k c_k^2)`` on each side: the size is ``1 / sum_k n_k c_k^2``. (The AUC of k against
    the rest is moved by ``1 / n_k``, that of j against the rest by ``1 / (n - n_j)``, that of j and k by
    ``1 / n_k``.) And every AUC has, by Hoeffding, the size m of its smaller sample, and so is sub-Gaussian
    with ``1 / (4 m)``; deviations of an average with weights w add up to no more than ``sum w / (2 sqrt m)``,
    whatever the dependence: the size is ``1 / (sum w / sqrt m)^2``. Of two classes this is m.

    Source: McDiarmid (1989); Hoeffding (1963), section 5b.

    Parameters
    ----------
    class_counts : tuple of int
        Records of each class, two classes or more.
    pairs : bool
        Whether pairs of classes are averaged ("ovo"), not each class against the rest ("ovr").
    weighted : bool, default=False
        Whether by how many rows they have, as scikit-learn's "_weighted"; else they count alike.

    Raises
    ------
    ValueError
        If there are fewer than two classes, or one without rows.

    Examples
    --------
    >>> round(averaged_auc_size((50, 80), pairs=True), 6)
    50.0
    >>> round(averaged_auc_size((50,) * 10, pairs=False), 6)
    125.0
    """
    if len(class_counts) < 2:
        expected = "the sizes of two classes at least"
        raise bad_parameter("class_counts", "averaged_auc_size", expected, class_counts)
    n = np.array(class_counts, dtype=float)
    if pairs:
        weights = n[:, None] + n if weighted else np.ones((len(n), len(n)))
        np.fill_diagonal(weights, 0.0)
        weights /= weights.sum() / 2.0  # each pair is in it twice
        moved = weights.sum(axis=1) / n
        deviation = (weights / np.sqrt(np.minimum(n[:, None], n))).sum() / 2.0
    else:
        rest, weights = n.sum() - n, n / n.sum() if weighted else np.full(len(n), 1.0 / len(n))
        moved = weights / n + (weights / rest).sum() - weights / rest
        deviation = (weights / np.sqrt(np.minimum(n, rest))).sum()
    return float(max(1.0 / (n @ moved**2), 1.0 / deviation**2))


def kish_size(weights: ArrayLike) -> float:
    """Return ``W^2 / sum w^2``: the size, for Hoeffding, of a mean with fixed weights.

    For independent terms ``X_u`` of one range and *fixed* weights the interval holds for the mean of
    ``sum w_u X_u / W`` at these weights. It does not hold for the population's ``E[wX]/E[w]`` when the
    weights are random and go with the terms: use `bounded_weight_size` there.

    Source: Hoeffding (1963), Theorem 2, for terms of range ``w_u / W``; the size is Kish's (1965).

    Parameters
    ----------
    weights : array-like of shape (n,)
        At least 0, and not all 0.

    Examples
    --------
    >>> kish_size([1.0, 1.0, 1.0, 1.0]), kish_size([3.0, 1.0, 0.0])
    (4.0, 1.6)
    """
    array = np.asarray(weights, dtype=np.float64)
    if array.ndim != 1 or not (np.isfinite(array).all() and (array >= 0.0).all() and array.any()):
        raise bad_parameter("weights", "kish_size", "finite numbers of at least 0, not all 0", "others")
    return float(array.sum() ** 2 / np.square(array).sum())


@checked(n="count", weight_bound="> 0")
def bounded_weight_size(n: int, mean_weight: float, weight_bound: float) -> float:
    """Return ``n (mean_weight / weight_bound)^2``: the size, for Hoeffding, of ``E[wX]/E[w]``.

    At the true ratio r the n independent terms ``w (X - r)`` have mean 0 and a range of ``weight_bound``, and
    the ratio observed differs from r by their sum over ``n * mean_weight``. The half-width is so
    ``(b / mean_weight) sqrt(ln(2/delta) / (2n))``; for X in [0, 1], others rescaled.

    Source: Hoeffding (1963), Theorem 2.

    Parameters
    ----------
    n : int
        Number of independent terms.
    mean_weight : float
        Observed mean of their weights (or less), in (0, weight_bound].
    weight_bound : float
        What no weight of the population exceeds, fixed without the sample.

    Examples
    --------
    >>> bounded_weight_size(1000, 0.5, 1.0)
    250.0
    """
    return n * _ratio_to_bound(mean_weight, weight_bound, "bounded_weight_size") ** 2


@checked(value="[0, 1]", size="> 0")
def wilson_deviation(value: float, size: float) -> float:
    """Return a cautious standard deviation of one 0/1 value behind a share.

    A share near 0 or 1 may be so by luck, so the deviation is that at Wilson's centre, four standard errors
    towards 1/2; no variable in [0, 1] with such a mean has more.

    Parameters
    ----------
    value : float
        The share seen, in [0, 1].
    size : float
        How many rows it is the mean of, positive.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(wilson_deviation(0.85, 1000), 4), round(wilson_deviation(1.0, 1000), 4)
    (0.3624, 0.0884)
    """
    centre = (value * size + 8.0) / (size + 16.0)
    return math.sqrt(centre * (1.0 - centre))


@checked(n="count", ln_delta="<= 0", expected_value="(0, 1) or None", reach=">= 0")
def expected_half_width(
    n: int, ln_delta: float, expected_value: float | None = None, *, reach: float = 0.0
) -> float:
    """Return the half-width for one fixed question, at the answer expected.

    With an ``expected_value`` p the question is a share, a mean of 0/1 values: the interval is Clopper and
    Pearson's (1934) at the real-valued count ``n p``, from 300 nats on Chernoff-KL's, within [0, 1]. Without,
    it is a mean of any values in [0, 1] at its worst: Hoeffding's half-width, which is not cut at 0 and 1.

    Parameters
    ----------
    n : int
        Number of rows.
    ln_delta : float
        Logarithm of the question's failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected_value : float or None, default=None
        p, in (0, 1).
    reach : float, default=0.0
        How far the value may be from the answer (half a cell), at least 0.

    Returns
    -------
    float
        The half-width; from 1/2 on it is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> ln_delta = math.log(0.05)
    >>> round(expected_half_width(10_000, ln_delta, 0.85), 4), round(expected_half_width(10_000, ln_delta), 4)
    (0.007, 0.0136)
    """
    if expected_value is None:
        return reach + hoeffding_half_width(n, ln_delta)
    low = _low_of_share(max(expected_value - reach, 0.0), n, ln_delta)
    high = 1.0 - _low_of_share(max(1.0 - expected_value - reach, 0.0), n, ln_delta)
    return (high - low) / 2.0


@checked(n="count", disagreement="(0, 1]", ln_delta="<= 0")
def difference_half_width(n: int, ln_delta: float, disagreement: float) -> float:
    """Return the half-width of one question about two models' difference in score.

    Where both models say the same, the difference has no variance. The interval itself, from the rows, is in
    `sklearn_ada.guarantees.scores`.

    Theorem (Bennett, JASA 1962, with the second moment in place of the variance). Let D_1, ..., D_n be
    independent and at most 1, with mean mu and ``E D^2 <= d``. Then for ``t > 0``, with
    ``h(u) = (1 + u) ln(1 + u) - u``::

        P(mean D - mu >= t) <= exp(-n d h(t / d))

    Proof. ``(e^x - 1 - x)/x^2`` rises in x, so ``e^(s D) <= 1 + s D + D^2 (e^s - 1 - s)`` for ``s > 0`` and
    ``D <= 1``. Hence ``E e^(s (D - mu)) <= exp(-s mu) (1 + s mu + d (e^s - 1 - s)) <= exp(d (e^s - 1 - s))``.
    Markov's inequality at ``s = ln(1 + t/d)`` is the claim. QED

    The difference of two models' 0/1 scores of a row is -1, 0 or 1, and 0 wherever both say the same: its
    second moment is at most the share of rows of which they say different things.

    Parameters
    ----------
    n : int
        Number of rows.
    ln_delta : float
        Logarithm of the question's failure probability, at most 0; half of it is each side's.
    disagreement : float
        Largest share of the population of which the models say different things, in (0, 1]. It can be
        estimated from rows without labels.

    Returns
    -------
    float
        The half-width, at most 2, in units of the score.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(difference_half_width(10_000, math.log(0.05), 0.1), 4)
    0.0087
    """
    target = -ln_side(ln_delta) / (n * disagreement)
    u = math.sqrt(2.0 * target) + target / 3.0  # Bernstein's: h(u) is at least the target there
    for _ in range(_STEPS):  # h is convex, so that each step stays above the solution
        step = ((1.0 + u) * math.log1p(u) - u - target) / math.log1p(u)
        if not step > 1e-15 * u:
            break
        u -= step
    return min(disagreement * u, 2.0)


@checked(p="[0, 1]", q="[0, 1]")
def bernoulli_kl(p: float, q: float) -> float:
    """Return the divergence kl(p, q) of two Bernoulli laws, in nats.

    Where q excludes p, it is infinite.

    Parameters
    ----------
    p, q : float
        Probabilities, in [0, 1].

    Examples
    --------
    >>> round(bernoulli_kl(0.5, 0.25), 6)
    0.143841
    """
    if p == q:
        return 0.0
    if (q == 0.0 and p > 0.0) or (q == 1.0 and p < 1.0):
        return math.inf
    first = p * math.log(p / q) if p > 0.0 else 0.0
    second = (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return max(first + second, 0.0)


_kl = plain(bernoulli_kl)


def ln_side(ln_delta: float) -> float:
    """Return the logarithm of the failure probability of one side; a delta above 1/2 is treated as 1/2."""
    return min(ln_delta, -LN_2) - LN_2


def mirrored(low: float) -> float:
    """Return ``1 - low``, rounded up.

    It makes the upper end of a share of the lower end of what is missing to 1.
    """
    return 1.0 if low == 0.0 else min(math.nextafter(1.0 - low, 2.0), 1.0)


def check_range(bounds: Interval, owner: str) -> Interval:
    """Return the bounds of a variable as floats, or raise ValueError."""
    low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise bad_parameter("range", owner, "a pair of finite numbers low < high", bounds)
    return float(low), float(high)


def to_unit(low: float, high: float, bottom: float, top: float, owner: str) -> Interval:
    """Return both ends of a value, rescaled from ``[bottom, top]`` to [0, 1]."""
    low = check_real(low, "low_value", owner, low=bottom, high=top, closed="both")
    high = check_real(high, "high_value", owner, low=low, high=top, closed="both")
    width = top - bottom
    return min(max((low - bottom) / width, 0.0), 1.0), min(max((high - bottom) / width, 0.0), 1.0)


def check_order(low_count: int, high_count: int, n: int, owner: str) -> None:
    """Raise ValueError unless ``low_count <= high_count <= n``.

    Examples
    --------
    >>> check_order(3, 5, 10, "here")
    """
    if not low_count <= high_count <= n:
        raise bad_parameter("high_count", owner, f"between low_count and n = {n}", high_count)


def _both_ends(
    low_value: float, high_value: float, bounds: Interval, owner: str, low_end: Callable[[float], float]
) -> Interval:
    """Return a mean's interval from its lower end as a function on [0, 1]."""
    bottom, top = check_range(bounds, owner)
    p_low, p_high = to_unit(low_value, high_value, bottom, top, owner)
    low, high = low_end(p_low), mirrored(low_end(1.0 - p_high))
    return bottom + low * (top - bottom), bottom + high * (top - bottom)


def binomial_low(count: int, n: int, ln_side: float, identical_rows: bool = False) -> float:
    """Return the largest p that is surely below the truth: P[Bin(n, p) >= count] = e^ln_side."""
    if count == 0:
        return 0.0
    if count == 1 and identical_rows:
        return -math.expm1(math.log1p(-math.exp(ln_side)) / n) * (1.0 - OUTWARDS)
    if count == 1:
        return math.exp(ln_side) / n * (1.0 - OUTWARDS)
    if count == n:
        return math.exp(ln_side / n) * (1.0 - OUTWARDS)
    p = math.nan
    if -ln_side < LOG_TAIL_FROM:
        p = float(betaincinv(count, n - count + 1, math.exp(ln_side)))
    if not 0.0 < p < 1.0:  # betaincinv gives NaN in the far tail of small samples
        p = _log_tail_root(count, n, ln_side)
    return p * (1.0 - OUTWARDS)


def _log_tail_root(count: int, n: int, ln_side: float) -> float:
    def gap(log_p: float) -> float:
        return _log_tail_bound(count, n, log_p) - ln_side

    bottom = 2.0 * ln_side  # p^count <= tail, so ln p cannot be as low as this
    return math.exp(root(gap, bottom, math.log(count / n), xtol=1e-13, rtol=_RTOL) - 1e-12)


def _log_tail_bound(count: int, n: int, log_p: float) -> float:
    """Return an upper bound of ``ln P[Bin(n, p) >= count]``.

    It is tight when p is well below count/n.
    """
    p = math.exp(log_p)
    log_choose = math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)
    log_mass = log_choose + count * log_p + (n - count) * math.log1p(-p)
    odds = p / (1.0 - p)
    total = term = 1.0
    for j in range(1, n - count + 1):
        ratio = (n - count - j + 1) / (count + j) * odds
        term *= ratio
        total += term
        if term < 1e-17 * total:
            break
        if j >= 10_000:  # the rest is below a geometric series, whose ratio only falls
            return log_mass + math.log(total + term * ratio / (1.0 - ratio)) if ratio < 1.0 else 0.0
    return log_mass + math.log(total)


def _kl_low(p: float, bound: float) -> float:
    """Return the smallest q <= p with kl(p, q) <= bound, rounded down."""
    if p <= 0.0:
        return 0.0
    if p >= 1.0:
        return math.exp(-bound) * (1.0 - OUTWARDS)
    # kl(p, q) >= p ln(p/q) - ln 2, so the root cannot be below this.
    bottom = math.log(p) - (bound + LN_2) / p
    if bottom < -700.0:
        bottom = -700.0
        if _kl(p, math.exp(bottom)) <= bound:
            return 0.0

    def gap(log_q: float) -> float:
        return _kl(p, math.exp(log_q)) - bound

    top = math.log(p)
    if gap(top) >= 0.0:  # the bound is below rounding error
        return p
    return max(math.exp(root(gap, bottom, top, xtol=1e-14, rtol=1e-14)) - OUTWARDS, 0.0)


def _weighted_kl_low(value: float, ratio: float, bound: float) -> float:
    """Return the largest q that is surely excluded as too low, or 0."""
    if value <= 0.0 or not np.isfinite(bound):
        return 0.0

    def kept(q: float) -> float:
        return bound - _kl(min(q + ratio * (value - q), 1.0), q)

    least = 1e-300
    if kept(least) > 0.0:
        return 0.0
    low, _ = enclosed_root(kept, least, value)
    return low * (1.0 - OUTWARDS)


def _ratio_to_bound(mean_weight: float, bound: float, owner: str) -> float:
    return check_real(mean_weight, "mean_weight", owner, low=0.0, high=bound, closed="high") / bound


def _low_of_share(value: float, n: int, ln_delta: float) -> float:
    """Return the lower end around a share, which need not be a whole count."""
    side = ln_side(ln_delta)
    if value == 0.0:
        return 0.0
    low = math.nan
    if -side < LOG_TAIL_FROM:  # beyond, both intervals differ by less than one percent
        low = float(betaincinv(value * n, n - value * n + 1.0, math.exp(side)))
    return low if 0.0 <= low <= value else chernoff_kl(value, value, n, ln_delta)[0]


def _bentkus_low(value: float, n: int, side: float) -> float:
    """Return the largest p that is surely excluded, as too low for this mean; 0 if none is."""
    chernoff = chernoff_kl(value, value, n, side + LN_2)[0]
    total = value * n
    if value <= 0.0 or -side > _AS_GOOD_FROM:
        return chernoff
    if value >= 1.0:
        return math.exp(side / n) * (1.0 - OUTWARDS)  # the tail is p^n, and t may be as near n as one likes
    if chernoff >= value * (1.0 - 1e-9):
        return chernoff
    ln_bound = _bentkus_tail(n, total)
    low, _ = enclosed_root(lambda p: ln_bound(p) - side, max(chernoff, 1e-300), value)
    return max(low * (1.0 - OUTWARDS), chernoff)


def _bentkus_tail(n: int, total: float) -> Callable[[float], float]:
    """Return the logarithm of Bentkus's bound of ``P[sum >= total]``, as a function of p."""
    reach = math.ceil(_DEVIATIONS * math.sqrt(n)) + 100
    first, last = max(0, math.floor(total) - reach), min(n, math.ceil(total) + reach)
    counts: Array = np.arange(first, last + 1, dtype=np.float64)
    above, middle = counts - total, math.ceil(total) - first
    at = counts[middle]  # the count that the others are compared with
    choose = -gammaln(counts + 1.0) - gammaln(n - counts + 1.0)
    choose, ln_choose_at = choose - choose[middle], float(gammaln(n + 1.0) + choose[middle])

    def ln_bound(p: float) -> float:
        """Return the least of ``ln E(Bin - t)+ / (total - t)`` over integers t."""
        logit = math.log(p) - math.log1p(-p)
        masses = np.exp(np.minimum(choose + (counts - at) * logit, _LARGEST_TERM))
        # E[(Bin - total) 1(Bin > t)] rises in t; the bound is least at the first t where it is not negative.
        tails = np.cumsum((masses * above)[::-1])[::-1]
        k = int(np.argmax(tails >= 0.0))  # the first count that belongs to the sum: t = that count - 1
        t = max(counts[k] - 1.0, 0.0)
        if t >= total:
            t = counts[k] - 2.0  # total is a whole number and no count below it belongs
        where = slice(max(int(t - counts[0]), 0), None)
        numerator = float(((counts[where] - t) * masses[where]).sum())
        ln_at = ln_choose_at + at * math.log(p) + (n - at) * math.log1p(-p)
        return float(min(ln_at + math.log(numerator) - math.log(total - t), 0.0))

    return ln_bound
