"""Kappa, F-beta, precision, Jaccard, their averages, Matthews' correlation: values, exact misses, widths."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.metrics import (
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
)

from sklearn_ada.guarantees import (
    average_ratio_interval,
    clopper_pearson,
    confusion_ratio_interval,
    mcc_interval,
)

LN_DELTA = math.log(0.05)
RATIOS = {
    "kappa": lambda y, p, label, beta: cohen_kappa_score(y, p),
    "f_beta": lambda y, p, label, beta: fbeta_score(y, p, beta=beta, labels=[label], average=None)[0],
    "precision": lambda y, p, label, beta: precision_score(y, p, labels=[label], average=None)[0],
    "jaccard": lambda y, p, label, beta: jaccard_score(y, p, labels=[label], average=None)[0],
}
AVERAGES = {"f_beta": f1_score, "jaccard": jaccard_score, "precision": precision_score}


def rows_of(confusion):
    """Return classes and predictions with this confusion matrix."""
    table = np.asarray(confusion)
    pairs = np.repeat(np.argwhere(table >= 0), table.ravel(), axis=0)
    return pairs[:, 0], pairs[:, 1]


def table(seed, classes, rows=100, right=0.85):
    """Return a confusion matrix of so many rows in each class."""
    rng = np.random.default_rng(seed)
    law = np.full((classes, classes), (1 - right) / (classes - 1))
    np.fill_diagonal(law, right)
    return np.array([rng.multinomial(rows, each) for each in law])


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("label", [0, 2])
@pytest.mark.parametrize("metric", RATIOS)
def test_the_interval_of_a_ratio_is_around_scikit_learns_value_and_closes_in_on_it(metric, label, beta):
    rng = np.random.default_rng(label)
    seen, foreseen = (rng.integers(1, 40, (3, 3)) + 60 * np.eye(3, dtype=int) for _ in range(2))
    value, settings = RATIOS[metric](*rows_of(seen), label, beta), {"label": label, "beta": beta}
    for times, most in ((1, 0.4), (10**8, 1e-4)):
        low, high = confusion_ratio_interval(metric, times * seen, LN_DELTA, expected=foreseen, **settings)
        assert low < value < high < low + most


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize("metric", AVERAGES)
def test_the_interval_of_an_average_is_around_scikit_learns_value(metric, classes, average):
    seen, foreseen = table(0, classes), table(1, classes)
    low, high = average_ratio_interval(metric, seen, LN_DELTA, expected=foreseen, average=average)
    assert low < AVERAGES[metric](*rows_of(seen), average=average) < high < low + 0.25


@pytest.mark.parametrize("metric", AVERAGES)
def test_the_interval_of_an_average_closes_in_on_it_where_the_table_was_foreseen_wrongly(metric):
    seen = table(0, 4) * np.array([[1], [2], [3], [4]])
    value = AVERAGES[metric](*rows_of(seen), average="macro")
    low, high = average_ratio_interval(metric, 10**8 * seen, -3.0, expected=table(1, 4, right=0.6))
    assert low < value < high < low + 1e-4


def each_class(metric, seen, foreseen):
    """Return the interval of each class at its share of the level."""
    ln_each = LN_DELTA - math.log(len(seen))
    return [
        confusion_ratio_interval(metric, seen, ln_each, expected=foreseen, label=c) for c in range(len(seen))
    ]


@pytest.mark.parametrize("metric", AVERAGES)
def test_where_classes_are_few_an_average_has_the_average_of_the_ends_of_each(metric):
    seen = np.array([[50, 3, 2], [4, 30, 6], [0, 5, 100]])
    expected = pytest.approx(tuple(np.mean(each_class(metric, seen, seen), axis=0)))
    assert average_ratio_interval(metric, seen, LN_DELTA, expected=seen) == expected


def test_many_classes_cost_far_less_than_class_by_class():
    seen, foreseen = table(0, 10), table(1, 10)
    low, high = average_ratio_interval("f_beta", seen, LN_DELTA, expected=foreseen)
    assert high - low < 0.7 * np.mean(np.diff(each_class("f_beta", seen, foreseen)))


def mcc(share, recall, false_rate):
    """Return the coefficient of two classes by the share of the first and how often each is taken for it."""
    q = share * recall + (1 - share) * false_rate
    return (recall - false_rate) * math.sqrt(share * (1 - share) / (q * (1 - q)))


INSIDE = st.floats(0.001, 0.999)


@given(INSIDE, INSIDE, INSIDE, INSIDE)
def test_the_coefficient_rises_in_the_recall_and_falls_in_the_false_rate(share, x, more, y):
    low, high = sorted((x, more))
    assert mcc(share, low, y) <= mcc(share, high, y) + 1e-12
    assert mcc(share, y, low) >= mcc(share, y, high) - 1e-12


LAW = st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4).map(lambda x: np.array(x) / sum(x))


@given(LAW, LAW)
def test_the_tangent_and_its_slack_are_bounds_of_the_spread_of_predictions(p, q):
    rest, norm, distance = 1 - q @ q, math.sqrt(q @ q), float(np.linalg.norm(p - q))
    tangent, spread = (1 - q @ p) / math.sqrt(rest), math.sqrt(1 - p @ p)
    assert spread <= tangent + 1e-12
    least = (rest - norm * distance) / math.sqrt(rest)
    assume(least > 0 and least**2 > distance**2 / rest)
    assert spread >= tangent - (least - math.sqrt(least**2 - distance**2 / rest)) - 1e-12


def test_the_slack_of_the_tangent_is_needed():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    assert math.sqrt(1 - p @ p) < (1 - q @ p) / math.sqrt(1 - q @ q) - 0.01


TABLES = [
    [[80, 20], [10, 890]],
    [[3, 30], [25, 8]],
    [[50, 5, 5], [6, 40, 4], [3, 7, 60]],
    [[5, 50, 5], [6, 4, 40], [60, 7, 3]],
    [[30, 20, 22], [25, 21, 24], [18, 27, 25]],
]


@pytest.mark.parametrize("seen", TABLES, ids=str)
def test_the_interval_of_matthews_correlation_is_around_scikit_learns_value(seen):
    low, high = mcc_interval(seen, LN_DELTA, expected=seen)
    assert -1.0 <= low < matthews_corrcoef(*rows_of(seen)) < high <= 1.0
    assert high - low < 1.2
    if len(seen) == 2:
        mirrored = np.asarray(seen)[:, ::-1]
        ends = mcc_interval(mirrored, LN_DELTA, expected=mirrored)
        assert ends == pytest.approx((-high, -low), abs=1e-5)


@pytest.mark.parametrize("seen", [[[450, 50], [50, 450]], [[85, 15], [135, 765]]], ids=str)
def test_matthews_correlation_is_narrower_than_the_corners_of_two_intervals(seen):
    first, second = (clopper_pearson(hits, hits, hits + rest, math.log(0.025)) for hits, rest in seen)
    share = sum(seen[0]) / np.sum(seen)
    corners = mcc(share, first[1], second[0]) - mcc(share, first[0], second[1])
    low, high = mcc_interval(seen, LN_DELTA, expected=seen)
    assert high - low < 0.99 * corners


def value_at(metric, sizes, rates):
    """Return a metric of two classes, each of which is predicted as 0 at a rate of its own."""
    (hits, alarms), size = np.multiply(sizes, rates), sum(sizes)
    if metric == "mcc":
        return mcc(sizes[0] / size, *rates)
    if metric == "kappa":
        right, predicted = (hits + sizes[1] - alarms) / size, (hits + alarms) / size
        chance = (sizes[0] * predicted + sizes[1] * (1 - predicted)) / size
        return (right - chance) / (1 - chance)
    denominators = {"f_beta": (sizes[0] + hits + alarms) / 2, "jaccard": sizes[0] + alarms}
    return hits / denominators.get(metric, hits + alarms)


def exact_misses(metric, sizes, rates, ln_delta, expected, rare):
    """Return the chances that the interval is above and below the value, but for tables rarer than this."""
    interval = mcc_interval if metric == "mcc" else partial(confusion_ratio_interval, metric)
    value, above, below = value_at(metric, sizes, rates), 0.0, 0.0
    chances = np.multiply.outer(
        *(binom.pmf(np.arange(n + 1), n, r) for n, r in zip(sizes, rates, strict=True))
    )
    for a, b in np.argwhere(chances >= rare):
        low, high = interval([[a, sizes[0] - a], [b, sizes[1] - b]], ln_delta, expected=expected)
        above += chances[a, b] * (low > value + 1e-12)
        below += chances[a, b] * (high < value - 1e-12)
    return above, below


@pytest.mark.parametrize(
    ("sizes", "rates"), [((4, 8), (0.75, 0.1)), ((2, 10), (0.98, 0.02)), ((6, 6), (0.3, 0.4))], ids=str
)
@pytest.mark.parametrize("metric", [*RATIOS, pytest.param("mcc", marks=pytest.mark.thorough)])
def test_no_side_of_a_tables_metric_misses_more_than_its_half_whatever_is_foreseen(metric, sizes, rates):
    rare, slack = (1e-6, 1e-5) if metric == "mcc" else (1e-9, 0.0)
    for expected in ([[9, 1], [1, 9]], [[1, 0], [50, 0]]):
        assert max(exact_misses(metric, sizes, rates, math.log(0.36), expected, rare)) <= 0.18 + slack


PAIRS = [[[5, 0], [0, 0]], [[0, 5], [0, 5]], [[5, 0], [5, 0]], [[0, 0], [0, 5]], [[1, 0], [0, 0]]]
ONES, EYE, LOST = np.ones((3, 3)), np.eye(3), np.eye(3)[:, [0, 0, 0]]
DEGENERATE = [  # interval, its least end, tables that are seen, and what is foreseen
    *((partial(confusion_ratio_interval, m), -1.0, PAIRS, [PAIRS[4], [[0, 0], [0, 9]]]) for m in RATIOS),
    (partial(average_ratio_interval, "precision"), 0.0, [EYE, LOST, np.diag([5, 0, 0])], [ONES, EYE, LOST]),
    (mcc_interval, -1.0, PAIRS[:2], [np.ones((2, 2)), np.eye(2), np.eye(2)[:, [0, 0]]]),
    (mcc_interval, -1.0, [[[9, 0, 0], [9, 0, 0], [0, 0, 0]], 3 * EYE], [ONES, EYE, LOST]),
]


@pytest.mark.parametrize(("interval", "least", "tables", "foreseen"), DEGENERATE)
def test_degenerate_tables_give_intervals(interval, least, tables, foreseen):
    for seen in tables:
        for expected in (*foreseen, seen):
            low, high = interval(seen, -3.0, expected=expected)
            assert least <= low <= high <= 1.0
            assert interval != mcc_interval or low <= 0.0 or np.asarray(seen).trace() == 9.0
