r"""Intervals for metrics of a confusion matrix: ratios of counts, F-beta, kappa, Jaccard, averages, MCC.

Rows are independent given their classes, and the target is the population at their class mix, with shares
:math:`t_c` of the classes. All rows with the same class and prediction are alike, so that n only matters as a
number of counts.

*Ratios* (`confusion_ratio_interval`). Kappa, F-beta, precision and Jaccard are ``sum E a_i / sum E b_i``, for
a row of class y that is predicted as p:

============ =============================== ==========================================
metric       a                               b
============ =============================== ==========================================
kappa        ``v_p - w_yp``                  ``v_p = sum_c t_c w_cp``
F-beta of c  ``(1 + beta^2) 1(y = p = c)``   ``beta^2 t_c + 1(p = c)``
precision    ``1(y = p = c)``                ``1(p = c)``
Jaccard      ``1(y = p = c)``                ``t_c + 1(p = c) - 1(y = p = c)``
============ =============================== ==========================================

where w is 0 for ``y = p`` and else 1 for kappa, or with weights how far apart the classes are, or its square.
(Then kappa is -1 at least, too: ``E |X - Y|`` is at most twice what it were for independent X and Y.) So an
interval is one of a test in one dimension, by the bets of `sklearn_ada.guarantees.bets` on ``z = a - r b``,
and no region of confusion matrices is needed.

Centring. What classes differ in is no noise, since their shares are given, but it would be paid for: the
inequality of the means loses it. So a constant :math:`g_y` is taken from the numerators of each class, with
``sum_c n_c g_c = 0``: the ratio is the same, and the bets are on what varies within the classes. It is the
mean of z within the class, at the ratio foreseen, as foreseen without these rows; if it is wrong, the
interval is wider, and still valid.

*Averages over the classes* (`average_ratio_interval`) of F-beta, precision and Jaccard. With these terms
class c has the ratio ``r_c = N_c / D_c`` of two means over rows, and the average is ``sum_c w_c r_c``. Its
interval is hardly wider than that of one ratio. Averaging the ends of C intervals at delta/C each is valid,
but far too wide for many classes, whose errors mostly cancel. For any constants :math:`q_c` and
:math:`d_c > 0`, with ``x_c = N_c - q_c D_c``,

.. math:: \sum_c w_c r_c = \sum_c w_c \Big(q_c + \frac{x_c}{d_c}\Big)
          + \sum_c w_c x_c \Big(\frac{1}{D_c} - \frac{1}{d_c}\Big).

The first sum is one mean over rows, of ``sum_c w_c (q_c + (a_i - q_c b_i) / d_c)``, which fixed bets bound
at nine tenths of each side's level. In the second both factors are small where q and d are ratio and
denominator foreseen. Bets at the level's last tenth, over the four ends of each class, bound :math:`x_c`
and :math:`D_c`; a term is linear in the one and monotone in the other, so its extremes are at their ends.
Whichever of the two is foreseen to be narrower is used, which is decided without these rows.

*By their rates* (``by_rates=True``) two other forms are narrower. A class c against the rest is a table of
two classes, by the recall a and the rate b of the rest that is taken for c, and a term of the second sum is
``(r_c - q_c)(d_c - D_c) / d_c`` at these rates. But for a tenth of the level, or three, all rates are in
intervals of Clopper and Pearson, that of b for unequal rows, with one part in 4C for each of their ends; so
the sum is at most that of the largest terms in these boxes. In a the term is concave, as ``N/D`` is and the
rest is linear, and in b convex: so it is largest at an end of b, at the root of its derivative by a, and
least at an end of a, at the root of the one by b. Both factors are errors of the same two rates, so that this
is several times less than the product of their bounds. Where a rare class has most of the variance, the
average of the exact ends of each class against the rest, at delta/C, is narrower
(`sklearn_ada.guarantees.two_class`). The guess decides which it is, by normal limits for the latter.

*Matthews' correlation of three classes or more* (`mcc_interval`), by a tangent. With shares t of the classes
and p of the predictions, ``MCC = E(1(y = p_i) - t_{p_i}) / (s_t s_p)``, where ``s_t^2 = 1 - |t|^2`` and
``s_p^2 = 1 - |p|^2``. The second factor is concave in p. So it is at most its tangent at any q, with
:math:`A = 1 - |q|^2`,

.. math:: s_p \le T(p) = (1 - q \cdot p) / \sqrt{A},

which is a mean over rows: for MCC <= r and r >= 0 the terms ``1(y = p_i) - t_{p_i} - r s_t (1 -
q_{p_i})/sqrt(A)`` have a mean of at most 0, and fixed bets reject r. Here q is what is foreseen of p. In the
other direction, if ``|p - q| <= rho`` then ``T^2 - s_p^2 = |p - q|^2 + (q.(p - q))^2 / A <= rho^2 / A`` and
``T >= T_0 = (A - |q| rho)/sqrt(A)``, so that

.. math:: s_p \ge T(p) - \eta, \qquad \eta = T_0 - \sqrt{T_0^2 - \rho^2 / A},

and for MCC >= r >= 0 the terms ``r s_t ((1 - q_{p_i})/sqrt(A) - eta) - 1(y = p_i) + t_{p_i}`` have a mean
of at most 0. Except with a probability d, ``rho = |p_hat - q| + 1/sqrt(n) + sqrt(ln(1/d)/n)`` will do: the
mean of ``|p_hat - p|`` is at most ``1/sqrt(n)``, and a row moves it by at most ``sqrt(2)/n`` (McDiarmid,
1989). The rho of the sample is then larger than the least that holds, and wealth falls in rho while the bets
are the same, so the test with it rejects only if a valid one does. The bets are sized and centred by a rho
that is foreseen.

An upper end is minus the lower end of -MCC, so what is left is which of the two tests a lower end comes
from. It is the first where the mean of ``1(y = p_i) - t_{p_i}`` is found to be positive at a tenth of the
side's level. If the coefficient is below 0, that happens falsely with a tenth of the level at most, d is
another tenth, and eight are for the second test; if it is not, only the first test can miss, which has the
whole level.

*Matthews' correlation of two classes*, by their two rates. With the shares t and 1 - t of the classes, the
recall x of the first and the rate y at which the other is taken for it, ``q = t x + (1 - t) y`` is the share
predicted, and

.. math:: \mathrm{MCC} = (x - y) \sqrt{t (1 - t) / (q (1 - q))}.

It rises in x: the sign of its derivative is that of ``2 q (1 - q) - t (x - y)(1 - 2 q)``. If ``x >= y`` and
``q <= 1/2`` then ``t (x - y) <= q``, so this is at least q; if ``x < y`` and ``q > 1/2`` then
``t (y - x) <= 1 - q``, so it is at least 1 - q; else both terms have one sign. By symmetry it falls in y.

Of m rows of the first class a are predicted as it, of m' of the other b are. For fixed positive l and l',

.. math:: W(x, y) = e^{l a - m \ln(1 - x + x e^l)} \, e^{-l' b - m' \ln(1 - y + y e^{-l'})}

has a mean of at most 1 for independent rows, within a class of one law or not (inequality of the means). So
but for .9 of the level delta a weighted mean of three of them, of sizes fixed without the rows, is below
1/(.9 delta) at the rates of the population. But for the last tenth these are in a box, of two intervals of
Clopper and Pearson. So r is rejected if the mean is not below at any pair of rates in the box with MCC <=
r. W falls in x and rises in y, so its least value is on the curve MCC = r, along which y rises with x;
between two points of the curve it is at least ``W(x_2, y_1)``, by which pieces of the curve are rejected,
the others being halved. In one dimension this is Chernoff's bound. Two intervals of Clopper and Pearson at
delta/2, whose opposite corners are an interval as well, are a tenth to a sixth wider.

*A ratio of two counts* (`ratio_interval`), such as precision, needs no more than these. Of n independent
rows H are hits and N >= H count in the denominator; ``r = E[H] / E[N]`` is the population value. *Given* N
the hits are binomial only if all rows follow one law, which they do not at a fixed class mix, so what is
used here does not condition on N.

Theorem. For independent rows, not necessarily of one law, and any fixed l, of either sign,

.. math:: E \exp(l H - N \ln(1 - r + r e^l)) \le 1.

Proof. Let row i be in the denominator with probability ``d_i`` and a hit with probability ``h_i``, and
``z = 1 - r + r e^l``. Its factor of the expectation is ``1 + h_i (e^l - 1)/z + d_i (1/z - 1)``. By the
inequality of the means the product is at most the n-th power of the mean factor, in which the sums
``r sum d_i`` and ``sum d_i`` stand for those of h_i and d_i: ``r (e^l - 1)/z + 1/z - 1 = 0``, so it is 1.

By Markov's inequality, except with probability delta/2 each, with s = H/N and ``x = ln(2/delta)``,

.. math:: r \ge \frac{e^{l s - x/N} - 1}{e^l - 1}, \qquad
          1 - r \ge \frac{e^{m (1 - s) - x/N} - 1}{e^m - 1}

for positive l and m fixed in advance. Nine tenths of delta are for the l and m at which the interval is
Chernoff's where size and share are as expected; where N is twice or half as large, it is some 6 % wider.
A tenth is for ``l = m = sqrt(8 x/N)``, at the N expected, so that a share that was not expected is not much
worse than Hoeffding's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri_exp

from sklearn_ada._solving import largest_integer
from sklearn_ada._validation import (
    LN_2,
    OUTWARDS,
    bad_parameter,
    check_integer,
    checked,
    option,
    or_none,
    real,
)
from sklearn_ada.guarantees import intervals
from sklearn_ada.guarantees.bets import bet_sizes, lowest_ratio
from sklearn_ada.guarantees.intervals import LN_NINE_TENTHS, LN_TENTH, Array, Interval, ln_side, mirrored
from sklearn_ada.guarantees.two_class import Fraction, two_class_interval

__all__ = [
    "average_ratio_interval", "class_mean_interval", "confusion_ratio_interval", "mcc_interval",
    "ratio_half_width", "ratio_interval",
]  # fmt: skip

Terms = tuple[Array, Array]
"""Numerator and denominator of a row, by its class (first axis) and its prediction (second)."""

RATIO_METRICS = ("f_beta", "jaccard", "kappa", "precision")
"""What `confusion_ratio_interval` is for."""

_AVERAGED = option([name for name in RATIO_METRICS if name != "kappa"])
_BOTTOM = {"kappa": -1.0}
_LN_EIGHT_TENTHS = math.log1p(-0.2)  # of a side's level: a sign and a distance have a tenth each

_MULTIPLES = np.array((0.6, 1.0, 1.6))  # of the best exponent of two classes
_PARTS = np.array((0.2, 0.6, 0.2))
_STEEPEST_RATE = 30.0  # any exponent is valid, and these can be computed
_STEEPEST_RATIO = 700.0
_LN_BOX = -math.log(20.0)  # share of the level for each of the two sides of the box
_MARGIN = 1e-9  # of logarithms, against rounding errors
_PIECES = 64
_ROUNDS = 12
_MOST_PIECES = 256
_STEP = 2.0**-19  # of the coefficients that are tried


@checked(low_share="[0, 1]", size="> 0", expected_share="[0, 1]", expected_size=">= 1", ln_delta="<= 0")
def ratio_interval(
    low_share: float,
    high_share: float,
    size: float,
    ln_delta: float,
    *,
    expected_share: float,
    expected_size: float,
) -> Interval:
    """Return an interval for ``E[H] / E[N]`` that misses with probability at most delta.

    Theorem of `sklearn_ada.guarantees.class_tables`.

    Parameters
    ----------
    low_share, high_share : float
        The share H / N lies in ``[low_share, high_share]``, within [0, 1].
    size : float
        A lower bound of the denominator N, positive.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected_share, expected_size : float
        What share, in [0, 1], and denominator, at least 1, are expected to be; fixed without the holdout.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> low, high = ratio_interval(0.85, 0.85, 1000, math.log(0.05), expected_share=0.85, expected_size=1000)
    >>> round(low, 4), round(high, 4)
    (0.8172, 0.8793)
    """
    high_share = real(low_share, 1.0, closed="both")(high_share, "high_share", "ratio_interval")
    nats = -ln_side(ln_delta)
    tuned, rest = nats - LN_NINE_TENTHS, nats - LN_TENTH
    below, above = _exponents_of_ratio(ln_delta, expected_share, expected_size)
    flat = _flat(rest, expected_size)

    def low_end(share: float, exponent: float) -> float:
        return max(_low_ratio(share, exponent, tuned / size), _low_ratio(share, flat, rest / size))

    return low_end(low_share, below), mirrored(low_end(1.0 - high_share, above))


@checked(size="> 0", expected_size=">= 1", ln_delta="<= 0")
def ratio_half_width(size: float, ln_delta: float, *, expected_size: float) -> float:
    """Return half the width of the widest interval at this denominator.

    The bound holds for every share and every guess of it.

    Parameters
    ----------
    size, ln_delta, expected_size : float
        As for `ratio_interval`.

    Returns
    -------
    float
        From 1/2 on it is vacuous.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(ratio_half_width(1000, math.log(0.05), expected_size=1000), 4)
    0.0547
    """
    nats = -ln_side(ln_delta) - LN_TENTH
    exponent, rate = _flat(nats, expected_size), nats / size
    # The end is convex in the share, or 0: this is where it is furthest from it.
    furthest = min((rate + math.log(math.expm1(exponent) / exponent)) / exponent, 1.0)
    return furthest - _low_ratio(furthest, exponent, rate)


@checked(ln_delta="<= 0")
def class_mean_interval(hits: Sequence[int], rows: Sequence[int], ln_delta: float) -> Interval:
    """Return an interval for the mean of the classes' recalls, from their counts.

    It misses with probability at most delta: Clopper and Pearson's interval of every class misses with
    probability at most ``delta / C``, and where none does, the mean of the recalls is between the means of
    the ends. Given the labels, the rows of a class are independent draws of one law, so this holds at the
    class counts of these rows. Of a single class it is the interval of its recall.

    Source: Clopper, Pearson (1934); Bonferroni.

    Parameters
    ----------
    hits : sequence of int
        Rows of each class that are predicted right.
    rows : sequence of int
        Rows of each class, at least 1.
    ln_delta : float
        Logarithm of the failure probability, at most 0.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If there are no classes, or a count is out of range.

    Examples
    --------
    >>> low, high = class_mean_interval([255], [300], math.log(0.05))
    >>> round(low, 4), round(high, 4)  # Hoeffding: .7716 and .9284
    (0.8045, 0.8884)
    """
    if not len(rows) or len(hits) != len(rows):
        raise bad_parameter("hits", "class_mean_interval", "one count for each class of rows", hits)
    side = ln_side(ln_delta) - math.log(len(rows))
    counts = zip(hits, rows, strict=True)
    ends = [intervals.binomial_tail_ends(hit, hit, n, side, identical_rows=True) for hit, n in counts]
    return math.fsum(low for low, _ in ends) / len(ends), math.fsum(high for _, high in ends) / len(ends)


def counts_are_narrower(recalls: Sequence[float], rows: Sequence[int], ln_delta: float) -> bool:
    """Return whether `class_mean_interval` is narrower than Hoeffding's if these are the recalls.

    For recalls that are guessed without the rows: which interval is used may not depend on them. With many
    small classes, each of which has a small part of delta, Hoeffding's is the narrower one.

    Examples
    --------
    >>> counts_are_narrower([0.9, 0.9], [300, 700], math.log(0.05))
    True
    >>> counts_are_narrower([0.7] * 100, [20] * 100, math.log(0.05))
    False
    """
    hits = [round(min(max(recall, 0.0), 1.0) * n) for recall, n in zip(recalls, rows, strict=True)]
    low, high = class_mean_interval(hits, rows, ln_delta)
    return high - low < 2.0 * intervals.hoeffding_half_width(intervals.class_mean_size(tuple(rows)), ln_delta)


@checked(
    metric=option(RATIO_METRICS), beta="> 0", ln_delta="<= 0",
    weights=or_none(option(("linear", "quadratic"))),
)  # fmt: skip
def confusion_ratio_interval(
    metric: str,
    confusion: ArrayLike,
    ln_delta: float,
    *,
    expected: ArrayLike,
    label: int = 0,
    beta: float = 1.0,
    weights: str | None = None,
) -> Interval:
    """Return an interval for kappa, or for a metric of one class.

    It misses with probability at most delta. The target is the metric of the population at the class mix of
    these rows, which are independent given their classes. The value of scikit-learn's metric is the one at
    which neither side would gain anything to first order. Each side gets delta/2.

    It needs all rows. F1, precision and the Jaccard index of one class are certified from two released counts
    instead, by `ratio_interval`.

    Source: theorem of `sklearn_ada.guarantees.bets`, terms of `sklearn_ada.guarantees.class_tables`.

    Parameters
    ----------
    metric : {"f_beta", "jaccard", "kappa", "precision"}
    confusion : array-like of shape (n_classes, n_classes)
        How many rows have each class (first axis) and prediction (second), as by scikit-learn.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected : array-like of shape (n_classes, n_classes)
        A confusion matrix of other rows, such as validation rows, by which centring and bets are chosen.
    label : int, default=0
        The class that the metric is about; not used by kappa.
    beta : float, default=1.0
        Weight of the recall in F-beta, positive.
    weights : {None, "linear", "quadratic"}, default=None
        How far apart classes are, for kappa: all alike, or as their positions are, or its square.

    Returns
    -------
    low, high : float
        Within [-1, 1] for kappa and [0, 1] for the others.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> seen, expected = [[80, 20], [10, 890]], [[160, 40], [30, 1770]]
    >>> low, high = confusion_ratio_interval("f_beta", seen, math.log(0.05), expected=expected)
    >>> round(low, 4), round(high, 4)  # F1 is .8421
    (0.7459, 0.9108)
    """
    owner = "confusion_ratio_interval"
    rows = _Rows.of(confusion, expected, owner)
    label = check_integer(label, "label", owner, low=0, high=len(rows.counts) - 1)
    terms = confusion_terms(metric, rows.shares, label, beta=beta, weights=weights)
    return rows.ends(terms, ln_side(ln_delta), (_BOTTOM.get(metric, 0.0), 1.0))


@checked(metric=_AVERAGED, average=option(("macro", "weighted")), beta="> 0", ln_delta="<= 0")
def average_ratio_interval(
    metric: str,
    confusion: ArrayLike,
    ln_delta: float,
    *,
    expected: ArrayLike,
    average: str = "macro",
    beta: float = 1.0,
    labels: Sequence[int] | None = None,
    by_rates: bool = False,
) -> Interval:
    """Return an interval for a metric's average over the classes.

    It misses with probability at most delta. The target is the average of the population's metric over the
    classes, at the class mix of these rows, which are independent given their classes. A class that the rows
    do not have counts, too, as scikit-learn's does for the ``labels`` that it is given. Each side gets
    delta/2.

    Source: theorem of `sklearn_ada.guarantees.class_tables`.

    Parameters
    ----------
    metric : {"f_beta", "jaccard", "precision"}
    confusion, ln_delta, expected, beta
        As for `confusion_ratio_interval`.
    average : {"macro", "weighted"}, default="macro"
        Whether classes have equal weights or their shares among these rows.
    labels : sequence of int, optional
        The positions of the classes that are averaged, each once; by default all.
    by_rates : bool, default=False
        Whether it is made of the rates of each class against the rest, which makes it narrower.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> seen, expected = [[80, 20], [10, 890]], [[160, 40], [30, 1770]]
    >>> low, high = average_ratio_interval("f_beta", seen, math.log(0.05), expected=expected)
    >>> round(low, 4), round(high, 4)  # F1-macro is .9128
    (0.8546, 0.9534)
    """
    rows = _Rows.of(confusion, expected, "average_ratio_interval")
    ln_level = ln_side(ln_delta)
    averaged = list(range(len(rows.counts)) if labels is None else labels)
    weights = rows.shares[averaged] if average == "weighted" else np.ones(len(averaged))
    weights = weights / weights.sum()
    likely = replace(rows, counts=rows.foreseen)
    if by_rates:
        each = _EachClass(metric, beta, averaged, weights)
        low, high = each.narrowest(likely, ln_level)(rows, ln_level)
    else:
        terms = [confusion_terms(metric, rows.shares, label, beta=beta) for label in averaged]
        widths = [high - low for low, high in (form(likely, terms, weights, ln_level) for form in _FORMS)]
        low, high = _FORMS[widths.index(min(widths))](rows, terms, weights, ln_level)
    return max(float(low), 0.0), min(float(high), 1.0)


@checked(ln_delta="<= 0")
def mcc_interval(confusion: ArrayLike, ln_delta: float, *, expected: ArrayLike) -> Interval:
    """Return an interval for Matthews' correlation that misses with probability at most delta.

    The target is the coefficient of the population at the class mix of these rows, which are independent
    given their classes; where it is not defined (only one class, or one prediction) it counts as 0, as in
    scikit-learn. Each side gets delta/2.

    Source: theorems of `sklearn_ada.guarantees.class_tables`.

    Parameters
    ----------
    confusion : array-like of shape (n_classes, n_classes)
        How many rows have each class (first axis) and prediction (second), as by scikit-learn.
    ln_delta : float
        Logarithm of the failure probability, at most 0; above 1/2 it is treated as 1/2.
    expected : array-like of shape (n_classes, n_classes)
        A confusion matrix of other rows, such as validation rows.

    Returns
    -------
    low, high : float
        Within [-1, 1]. For three classes or more the side further from 0 may be vacuous for few rows or one
        class that is predicted nearly always.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> seen, expected = [[80, 20], [10, 890]], [[160, 40], [30, 1770]]
    >>> low, high = mcc_interval(seen, math.log(0.05), expected=expected)
    >>> round(low, 4), round(high, 4)  # the coefficient is .8270
    (0.7274, 0.9042)
    """
    rows = _Rows.of(confusion, expected, "mcc_interval")
    if np.count_nonzero(rows.shares) < 2:
        return 0.0, 0.0  # whatever is predicted
    ln_level = ln_side(ln_delta)
    if len(rows.counts) == 2:  # with the predictions swapped the coefficient is minus itself
        swapped = _Rows(rows.counts[:, ::-1], rows.expected[:, ::-1])
        return _low_of_two_classes(rows, ln_level), -_low_of_two_classes(swapped, ln_level)
    return _low_of_several_classes(rows, ln_level), -_low_of_several_classes(rows, ln_level, sign=-1.0)


def confusion_terms(
    metric: str, shares: Array, label: int = 0, *, beta: float = 1.0, weights: str | None = None
) -> Terms:
    """Return numerator and denominator of a row, by its class and prediction.

    Both are matrices, with the class as first axis and the prediction as second.

    Parameters
    ----------
    metric : {"f_beta", "jaccard", "kappa", "precision"}
    shares : ndarray of shape (n_classes,)
        Shares of the classes.
    label : int, default=0
        The class that the metric is about; not used by kappa.
    beta : float, default=1.0
        Weight of the recall in F-beta.
    weights : {None, "linear", "quadratic"}, default=None
        Of kappa.

    Examples
    --------
    >>> numerator, denominator = confusion_terms("f_beta", np.array([0.25, 0.75]))
    >>> numerator.tolist(), denominator.tolist()
    ([[2.0, 0.0], [0.0, 0.0]], [[1.25, 0.25], [1.25, 0.25]])
    """
    classes = len(shares)
    hit = np.eye(classes)
    if metric == "kappa":
        if weights is None:
            return hit - shares, np.tile(1.0 - shares, (classes, 1))
        places = np.arange(classes, dtype=np.float64)
        apart = abs(places[:, None] - places) ** (1 if weights == "linear" else 2)
        by_chance = np.tile(shares @ apart, (classes, 1))
        return by_chance - apart, by_chance
    both = np.zeros((classes, classes))
    both[label, label] = 1.0
    predicted = np.zeros((classes, classes))
    predicted[:, label] = 1.0
    if metric == "precision":
        return both, predicted
    if metric == "jaccard":
        return both, shares[label] + predicted - both
    return (1.0 + beta**2) * both, beta**2 * shares[label] + predicted


def binary_mcc(share: float, recall: float, false_rate: float) -> float:
    """Return Matthews' correlation of two classes; 0 where it is not defined.

    Examples
    --------
    >>> round(binary_mcc(0.1, 0.8, 10 / 900), 4)
    0.827
    """
    predicted = share * recall + (1.0 - share) * false_rate
    if not 0.0 < predicted < 1.0:
        return 0.0
    return (recall - false_rate) * math.sqrt(share * (1.0 - share) / (predicted * (1.0 - predicted)))


@dataclass(frozen=True)
class _Rows:
    """The confusion matrix of the rows, and one of others that sizes the bets."""

    counts: Array
    expected: Array

    @classmethod
    def of(cls, confusion: ArrayLike, expected: ArrayLike, owner: str) -> _Rows:
        """Return the two matrices, or raise ValueError."""
        tables = []
        for name, given in (("confusion", confusion), ("expected", expected)):
            table = np.asarray(given, dtype=np.float64)
            if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
                raise bad_parameter(name, owner, "a square matrix of at least two classes", table.shape)
            if not (np.isfinite(table).all() and (table >= 0.0).all() and table.sum() >= 1.0):
                raise bad_parameter(name, owner, "a matrix of counts, of at least one row", "others")
            tables.append(table)
        if not np.array_equal(tables[0], np.round(tables[0])):
            raise bad_parameter("confusion", owner, "a matrix of whole counts", "others")
        if tables[0].shape != tables[1].shape:
            raise bad_parameter("expected", owner, f"of shape {tables[0].shape}", tables[1].shape)
        return cls(*tables)

    @property
    def shares(self) -> Array:
        """Shares of the classes."""
        return np.asarray(self.counts.sum(axis=1) / self.counts.sum())

    @property
    def laws(self) -> Array:
        """Shares of the predictions in each class, as foreseen; where nothing is foreseen, all alike."""
        sizes = self.expected.sum(axis=1, keepdims=True)
        shares = self.expected / np.where(sizes > 0.0, sizes, 1.0)
        return np.where(sizes > 0.0, shares, 1.0 / len(self.expected))

    @property
    def foreseen(self) -> Array:
        """The counts foreseen of so many rows of each class."""
        return np.asarray(self.laws * self.counts.sum(axis=1)[:, None])

    def mean_ends(self, values: Array, ln_level: float) -> Interval:
        """Return both ends of a mean of values of class and prediction."""
        bottom, top = float(values.min()), float(values.max())
        if bottom == top:
            return bottom, top
        return self.ends((values, np.ones_like(values)), ln_level, (bottom, top))

    def ends(self, terms: Terms, ln_level: float, bracket: Interval) -> Interval:
        """Return both ends of a ratio of means, each at the level given.

        No denominator is negative, and the ratio is in the bracket.
        """
        low = self.low_end(terms, ln_level, bracket)
        return low, -self.low_end((-terms[0], terms[1]), ln_level, (-bracket[1], -bracket[0]))

    def low_end(self, terms: Terms, ln_level: float, bracket: Interval, plan: Array | None = None) -> float:
        """Return the lower end alone.

        Where the denominator depends on the rows, ``plan`` is one that does not: by it the bets are sized
        and centred.
        """
        sizes = self.counts.sum(axis=1)
        occupied = sizes > 0  # a class without rows has no outcomes
        sizes, n = sizes[occupied], float(sizes.sum())
        numerator, true_denominator = terms[0][occupied], terms[1][occupied]
        denominator = true_denominator if plan is None else plan[occupied]
        laws = self.laws[occupied]
        top, bottom = (float(sizes @ (laws * side).sum(axis=1)) for side in (numerator, denominator))
        ratio = min(max(top / bottom, bracket[0]), bracket[1]) if bottom > 0.0 else bracket[0]
        gains = numerator - ratio * denominator
        means = (laws * gains).sum(axis=1)
        centred = numerator - (means - sizes @ means / n)[:, None]
        variance = float(sizes @ (laws * np.square(gains - means[:, None])).sum(axis=1)) / n
        # Ratios between which the test has to decide are about so far from the one foreseen.
        reach = math.sqrt(-2.0 * variance * ln_level / n) * n / bottom if bottom > 0.0 else 0.0
        most_lost = max(float(np.max(min(ratio + reach, bracket[1]) * denominator - centred)), 1e-9)
        size = float(self.expected.sum())
        variance = (size * variance + most_lost**2) / (size + 1.0)  # as if one more row were at its worst
        bets = bet_sizes(round(n), ln_level, variance, most_lost)
        flat, counts = (centred.ravel(), true_denominator.ravel()), self.counts[occupied].ravel()
        return lowest_ratio(*flat, ln_level, bets, corners=flat, bracket=bracket, counts=counts)


def _by_class(rows: _Rows, terms: list[Terms], weights: Array, ln_level: float) -> Interval:
    """Return the averages of the classes' ends, each at an equal part of the level."""
    each = ln_level - math.log(len(terms))
    low, high = weights @ np.array([rows.ends(each_class, each, (0.0, 1.0)) for each_class in terms])
    return float(low), float(high)


def _linear(rows: _Rows, terms: list[Terms], weights: Array, ln_level: float) -> Interval:
    """Return the ends of the linear part, widened by the rest."""
    foreseen = rows.foreseen
    n = float(rows.counts.sum())
    each = ln_level + LN_TENTH - math.log(4.0 * len(terms))
    linear = np.zeros_like(rows.counts)
    rest_low = rest_high = 0.0
    for (a, b), weight in zip(terms, weights, strict=True):
        size = max(float((foreseen * b).sum()) / n, 1.0 / n)
        ratio = min(max(float((foreseen * a).sum()) / n / size, 0.0), 1.0)
        gain = a - ratio * b
        linear += weight * (ratio + gain / size)
        gains = rows.mean_ends(gain, each)
        least, most = rows.mean_ends(b, each)
        if least <= 0.0:
            return 0.0, 1.0
        moved = [x * (1.0 / end - 1.0 / size) for x in gains for end in (least, most)]
        rest_low, rest_high = rest_low + weight * min(moved), rest_high + weight * max(moved)
    low, high = rows.mean_ends(linear, ln_level + LN_NINE_TENTHS)
    return low + rest_low, high + rest_high


@dataclass(frozen=True)
class _EachClass:
    """An average over some classes, of which each is a table of two classes: it and the rest."""

    metric: str
    beta: float
    labels: list[int]
    weights: Array

    def narrowest(self, likely: _Rows, ln_level: float) -> Callable[[_Rows, float], Interval]:
        """Return the form that is narrowest for rows that are foreseen."""
        forms: list[tuple[float, Callable[[_Rows, float], Interval]]] = []
        for part in _RESTS:
            form = partial(self.linear, rest=part)
            low, high = form(likely, ln_level)
            forms.append((high - low, form))
        forms.append((self.normal_width(likely, ln_level), self.exact))
        return min(forms, key=lambda each: each[0])[1]

    def exact(self, rows: _Rows, ln_level: float) -> Interval:
        """Return the averages of the exact ends, each at an equal part of the level."""
        each, ends = ln_level + LN_2 - math.log(len(self.labels)), []
        for table in self._tables(rows.counts):
            hits, size, errors, others = map(round, table)
            ends.append(
                two_class_interval(
                    self.metric, hits, size, errors, others, each, beta=self.beta, one_law=False
                )
            )
        low, high = self.weights @ np.array(ends)
        return float(low), float(high)

    def normal_width(self, rows: _Rows, ln_level: float) -> float:
        """Return about how far apart these are."""
        spread = 0.0
        for (hits, size, errors, others), weight in zip(self._tables(rows.counts), self.weights, strict=True):
            if min(size, others) == 0:
                return math.inf
            x, y = np.array([(hits + 0.5) / (size + 1.0)]), np.array([(errors + 0.5) / (others + 1.0)])
            by_x, by_y = self._rates_at(size / (size + others)).slopes(x, y)
            variance = by_x**2 * x * (1.0 - x) / size + by_y**2 * y * (1.0 - y) / others
            spread += weight * math.sqrt(variance.item())
        return -2.0 * _UNEQUAL * spread * float(ndtri_exp(ln_level - math.log(len(self.labels))))

    def linear(self, rows: _Rows, ln_level: float, rest: float) -> Interval:
        """Return the ends of the linear part, widened by the rest as far as it goes in boxes of rates.

        ``rest`` is the part of the level that the boxes have.
        """
        ln_box = ln_level + math.log(rest / (4.0 * len(self.labels)))
        linear, beyond = np.zeros_like(rows.counts), np.zeros(2)
        tables = zip(self._tables(rows.counts), self._tables(rows.foreseen), strict=True)
        for label, weight, (seen, known) in zip(self.labels, self.weights, tables, strict=True):
            rates = self._rates_at(seen[1] / (seen[1] + seen[3]))
            box = [
                intervals.binomial_tail_ends(
                    math.floor(x), math.ceil(x), round(n), ln_box, identical_rows=one
                )
                if n
                else (0.0, 1.0)
                for x, n, one in zip(seen[::2], seen[1::2], (True, False), strict=True)
            ]
            a, b = (x / n if n else 0.5 for x, n in zip(known[::2], known[1::2], strict=True))
            over, size = rates.terms(a, b)
            size = max(size, 0.5 / float(rows.counts.sum()))
            beyond += weight * np.array(_rest_ends(rates, over / size, size, box))
            numerator, denominator = confusion_terms(self.metric, rows.shares, label, beta=self.beta)
            linear += weight * (over + numerator - over / size * denominator) / size
        if not np.isfinite(beyond).all():
            return 0.0, 1.0
        low, high = rows.mean_ends(linear, ln_level + math.log1p(-rest))
        return float(low + beyond[0] - OUTWARDS), float(high + beyond[1] + OUTWARDS)

    def _rates_at(self, share: float) -> Fraction:
        return Fraction.of(self.metric, share, self.beta)

    def _tables(self, counts: Array) -> list[tuple[float, float, float, float]]:
        """Return hits, rows, errors and other rows of each class."""
        every, found = float(counts.sum()), []
        for label in self.labels:
            hits, size = float(counts[label, label]), float(counts[label].sum())
            found.append((hits, size, float(counts[:, label].sum()) - hits, every - size))
        return found


def _rest_ends(rates: Fraction, ratio: float, size: float, box: list[Interval]) -> Interval:
    """Return the ends of ``(N/D - q)(d - D)/d`` in a box of rates, q the ratio and d the size."""
    top, fixed, by_a, by_b = (float(each) for each in (rates.top[1], *rates.bottom))
    points = [(a, b) for a in box[0] for b in box[1]]
    if sum(rates.terms(box[0][0], box[1][0])) <= 0.0:
        return -math.inf, math.inf
    for b in box[1]:
        if by_a > 0.0 and top > ratio * by_a:
            at_zero = fixed + by_b * b
            root = (math.sqrt(top * at_zero * size / (top - ratio * by_a)) - at_zero) / by_a
            points.append((min(max(root, box[0][0]), box[0][1]), b))
    for a in box[0]:
        if ratio > 0.0:
            root = (math.sqrt(top * a * size / ratio) - fixed - by_a * a) / by_b
            points.append((a, min(max(root, box[1][0]), box[1][1])))
    rest = []
    for a, b in points:
        over, under = rates.terms(a, b)
        rest.append((over / under - ratio) * (size - under) / size)
    return min(rest), max(rest)


_RESTS = (0.1, 0.3)  # of the level, for the boxes
_UNEQUAL = 1.1  # of a normal width, about what rows of several laws cost
_FORMS = (_by_class, _linear)  # where both are as wide, the first


def _low_of_several_classes(rows: _Rows, ln_level: float, *, sign: float = 1.0) -> float:
    """Return the lower end for ``sign`` times Matthews' correlation."""
    n, shares = float(rows.counts.sum()), rows.shares
    numerator = sign * (np.eye(len(shares)) - shares)
    spread = math.sqrt(1.0 - float(shares @ shares))
    q = shares @ rows.laws  # foreseen of the shares of the predictions
    if q.max() >= 0.999:  # were only one class foreseen, the tangent would be vertical
        q = 0.99 * q + 0.01 * shares
    rest, norm = 1.0 - float(q @ q), float(np.sqrt(q @ q))
    tangent = spread * np.tile((1.0 - q) / math.sqrt(rest), (len(shares), 1))
    if rows.low_end((numerator, np.ones_like(tangent)), ln_level + LN_TENTH, (-1.0, 1.0)) > 0.0:
        return max(rows.low_end((numerator, tangent), ln_level, (0.0, 1.0)), 0.0)
    off = (1.0 + math.sqrt(-ln_level - LN_TENTH)) / math.sqrt(n)
    seen = float(np.linalg.norm(rows.counts.sum(axis=0) / n - q)) + off

    def slacked(distance: float) -> Array | None:
        """Return the tangent less eta; None where it is too far off for the wealth to fall in the ratio."""
        least = (rest - norm * distance) / math.sqrt(rest)
        if least <= 0.0 or least**2 <= distance**2 / rest:
            return None
        less: Array = tangent - spread * (least - math.sqrt(least**2 - distance**2 / rest))
        return less if less.min() >= 0.0 else None

    # These rows decide how far off the shares are, so they may not decide the bets, too.
    below, planned = slacked(seen), slacked(1.0 / math.sqrt(n) + off)
    if below is None or planned is None:
        return -1.0
    return rows.low_end((numerator, below), ln_level + _LN_EIGHT_TENTHS, (-1.0, 0.0), planned)


def _low_of_two_classes(rows: _Rows, ln_level: float) -> float:
    """Return the lower end for Matthews' correlation, to 2e-6.

    Both classes have rows.
    """
    counts, sizes = rows.counts, rows.counts.sum(axis=1)
    share = float(sizes[0] / sizes.sum())
    rising, falling = _exponents_of_rates(sizes, share, rows.expected, ln_level)
    spent = rising * counts[0, 0] - falling * counts[1, 0]

    def ln_wealth(x: Array, y: Array) -> Array:
        up = np.log1p(np.multiply.outer(x, np.expm1(rising)))
        down = np.log1p(np.multiply.outer(y, np.expm1(-falling)))
        each = spent - sizes[0] * up - sizes[1] * down
        top = each.max(axis=-1)
        return np.asarray(top + np.log(np.exp(each - top[..., None]) @ _PARTS))

    hits = [(int(hit), int(size)) for hit, size in zip(counts[:, 0], sizes, strict=True)]
    box = tuple(intervals.clopper_pearson(hit, hit, size, ln_level + _LN_BOX) for hit, size in hits)

    least = _MARGIN - ln_level - LN_NINE_TENTHS

    def rejects(steps: int) -> bool:
        return _is_rejected(steps * _STEP - 1.0, share, box, lambda x, y: ln_wealth(x, y) < least)

    most = round(2.0 / _STEP) - 1
    return largest_integer(rejects, most, start=(most + 1) // 2) * _STEP - 1.0


def _is_rejected(
    ratio: float, share: float, box: tuple[Interval, ...], stands: Callable[[Array, Array], NDArray[np.bool_]]
) -> bool:
    """Return whether wealth is enough wherever the coefficient is at most ``ratio``.

    Only the rates in the box count.
    """
    x = np.linspace(*box[0], _PIECES + 1)
    low, high = x[:-1], x[1:]
    for _ in range(_ROUNDS):
        y, y_high = (np.maximum(_false_rates(ratio, share, ends), box[1][0]) for ends in (low, high))
        # From the first x on at which it is not, the coefficient is larger in the box.
        possible = y <= box[1][1]
        low, high, y, y_high = low[possible], high[possible], y[possible], y_high[possible]
        reached = y_high <= box[1][1]
        if np.any(stands(high[reached], y_high[reached])):
            return False
        left = stands(high, y)
        if not left.any():
            return True
        low, high = low[left], high[left]
        middle = 0.5 * (low + high)
        low, high = np.concatenate((low, middle)), np.concatenate((middle, high))
        if len(low) > _MOST_PIECES:
            break
    return False


def _false_rates(ratio: float, share: float, x: Array) -> Array:
    """Return the y at which the coefficient is ``ratio``.

    Where there is none, it is negative or above 1.
    """
    rest, square = 1.0 - share, ratio * ratio
    both = share * rest
    second = both + square * rest * rest
    first = -2.0 * both * x - square * rest * (1.0 - 2.0 * share * x)
    last = both * x * x - square * share * x * (1.0 - share * x)
    root = np.sqrt(np.maximum(first * first - 4.0 * second * last, 0.0))
    y = (-first - math.copysign(1.0, ratio) * root) / (2.0 * second)
    return np.asarray(y - 1e-14)


def _exponents_of_rates(sizes: Array, share: float, expected: Array, ln_level: float) -> tuple[Array, Array]:
    """Return exponents that weigh both rates as the coefficient foreseen does."""
    x, y = (expected[:, 0] + 0.5) / (expected.sum(axis=1) + 1.0)
    step = 1e-6
    slopes = (
        (binary_mcc(share, x + step, y) - binary_mcc(share, x - step, y)) / (2.0 * step),
        (binary_mcc(share, x, y - step) - binary_mcc(share, x, y + step)) / (2.0 * step),
    )
    ratios = tuple(zip(slopes, (x, y), sizes, strict=True))
    variance = sum(slope**2 * rate * (1.0 - rate) / size for slope, rate, size in ratios)
    best = math.sqrt(-2.0 * ln_level / variance)
    rising, falling = (
        np.minimum(best * slope / size * _MULTIPLES, _STEEPEST_RATE) for slope, _, size in ratios
    )
    return rising, falling


def _exponents_of_ratio(ln_delta: float, share: float, size: float) -> Interval:
    """Return l and m, at which both ends are Chernoff's if all is as expected."""
    inside = min(max(share, 1.0 / (size + 2.0)), 1.0 - 1.0 / (size + 2.0))
    low, high = intervals.chernoff_kl(inside, inside, size, ln_delta + LN_NINE_TENTHS)
    return _log_odds_between(low, inside), _log_odds_between(1.0 - high, 1.0 - inside)


def _log_odds_between(low: float, share: float) -> float:
    if low <= 0.0:
        return _STEEPEST_RATIO
    difference = math.log(share) - math.log(low) + math.log1p(-low) - math.log1p(-share)
    return min(max(difference, OUTWARDS), _STEEPEST_RATIO)


def _low_ratio(share: float, exponent: float, rate: float) -> float:
    power = exponent * share - rate
    return 0.0 if power <= 0.0 else math.expm1(power) / math.expm1(exponent) * (1.0 - OUTWARDS)


def _flat(nats: float, expected_size: float) -> float:
    """Return the exponent that is best for the largest variance there can be."""
    return min(math.sqrt(8.0 * nats / expected_size), _STEEPEST_RATIO)
