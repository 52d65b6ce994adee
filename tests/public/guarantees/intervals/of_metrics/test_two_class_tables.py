"""Intervals of two-class tables: reference numbers, other intervals that are exact, mirror images."""

import itertools
import math
import time

import numpy as np
import pytest

from sklearn_ada.guarantees import clopper_pearson, population_table_interval, two_class_interval
from sklearn_ada.guarantees.two_class import two_class_value
from tests.support.rows import reference

NAMES = {"f1": "f_beta", "mcc": "matthews_corrcoef", "balanced": "balanced_accuracy"}
ALL = (
    "accuracy", "balanced_accuracy", "f_beta", "geometric_mean", "jaccard", "kappa", "matthews_corrcoef",
    "neg_negative_likelihood_ratio", "positive_likelihood_ratio", "precision",
)  # fmt: skip
LEVEL = math.log(0.05)


def test_every_row_of_the_reference_is_met_to_two_hundredths_of_its_width():
    for row in reference("two_class"):
        name, ln_delta = NAMES.get(row["metric"], row["metric"]), math.log(float(row["delta"]))
        table = [int(row[key]) for key in ("true_positives", "positives", "false_positives", "negatives")]
        low, high = two_class_interval(name, *table, ln_delta)
        width = float(row["high"]) - float(row["low"])
        assert low == pytest.approx(float(row["low"]), abs=0.02 * width)
        assert high == pytest.approx(float(row["high"]), abs=0.02 * width)


@pytest.mark.parametrize("one_law", [True, False])
@pytest.mark.parametrize("name", ALL)
def test_a_value_is_in_its_interval_and_lower_levels_are_in_higher_ones(name, one_law):
    a, b, t = 40 / 50, 30 / 150, 0.25
    predicted = t * a + (1 - t) * b
    value = {
        "accuracy": t * a + (1 - t) * (1 - b), "balanced_accuracy": (a + 1 - b) / 2, "jaccard": 40 / 80,
        "f_beta": 80 / 120, "geometric_mean": math.sqrt(a * (1 - b)), "precision": 40 / 70,
        "kappa": 2 * t * (1 - t) * (a - b) / (t + predicted - 2 * t * predicted),
        "matthews_corrcoef": (a - b) * math.sqrt(t * (1 - t) / (predicted * (1 - predicted))),
        "neg_negative_likelihood_ratio": -(1 - a) / (1 - b), "positive_likelihood_ratio": a / b,
    }[name]  # fmt: skip
    before = (value, value)
    for ln_delta in (-0.1, LEVEL, -14.0, -28.0, -240.0, -260.0, -5000.0):
        low, high = two_class_interval(name, 40, 50, 30, 150, ln_delta, one_law=one_law)
        assert low <= before[0]
        assert high >= before[1]
        before = low, high


def test_the_classes_may_be_exchanged_in_a_symmetric_metric():
    """Of the other class the recall is the specificity, and the false ones are the misses."""
    for name in ("accuracy", "balanced_accuracy", "geometric_mean", "kappa", "matthews_corrcoef"):
        one = two_class_interval(name, 40, 50, 30, 150, LEVEL)
        other = two_class_interval(name, 120, 150, 10, 50, LEVEL)
        assert one == pytest.approx(other, abs=0.02 * (one[1] - one[0]))


def test_a_class_that_hardly_counts_leaves_the_interval_of_the_other():
    """Accuracy at a share of one in a million is the specificity."""
    low, high = two_class_interval("accuracy", 25, 50, 30, 150, LEVEL, share=1e-6)
    exact = clopper_pearson(120, 120, 150, LEVEL)
    width = exact[1] - exact[0]
    assert exact[0] - 0.06 * width < low < exact[0] + 1e-5
    assert exact[1] - 1e-5 < high < exact[1] + 0.06 * width


@pytest.mark.parametrize("table", [(40, 50, 3, 150), (10, 50, 147, 150), (40, 50, 30, 150)])
@pytest.mark.parametrize("share", [1e-13, 1e-15, 1e-17])
def test_tiny_shares_whose_rates_are_rounded_have_wider_intervals(table, share):
    """The correlation falls with the root of a small share, whatever the rates are."""
    usual, tiny = (
        np.array(two_class_interval("matthews_corrcoef", *table, LEVEL, share=each)) / math.sqrt(each)
        for each in (1e-6, share)
    )
    slack = 0.01 * (usual[1] - usual[0])
    assert tiny[0] <= usual[0] + slack
    assert tiny[1] >= usual[1] - slack


def test_the_recall_alone_is_an_f_beta_of_a_large_beta():
    low, high = two_class_interval("f_beta", 40, 50, 30, 150, LEVEL, beta=1e4)
    exact = clopper_pearson(40, 40, 50, LEVEL)
    width = exact[1] - exact[0]
    assert exact[0] - 0.06 * width < low < exact[0] + 1e-5
    assert exact[1] - 1e-5 < high < exact[1] + 0.06 * width


def test_a_rarer_class_in_the_population_has_less_precision_and_the_same_recall():
    ends = [two_class_interval("precision", 400, 500, 50, 500, LEVEL, share=share) for share in (0.5, 0.001)]
    at_half, rare = (share * 0.8 / (share * 0.8 + (1 - share) * 0.1) for share in (0.5, 0.001))
    assert ends[0][0] < at_half < ends[0][1] < 0.95
    assert 0.005 < ends[1][0] < rare < ends[1][1] < 0.012


@pytest.mark.parametrize(("name", "ends"), [
    ("precision", (0.0, 1.0)), ("f_beta", (0.0, 0.9)), ("positive_likelihood_ratio", (0.0, math.inf)),
    ("matthews_corrcoef", (-1.0, 1.0)),
])  # fmt: skip
def test_tables_without_predicted_positives_have_an_interval(name, ends):
    low, high = two_class_interval(name, 0, 10, 0, 20, LEVEL)
    assert ends[0] <= low < high <= ends[1]


@pytest.mark.parametrize(("changed", "message"), [
    ({"metric": "auc"}, "metric"), ({"true_positives": 11}, "true_positives"),
    ({"negatives": 0}, "negatives"),
    ({"false_positives": -1}, "false_positives"), ({"share": 1.0}, "share"), ({"share": 0.0}, "share"),
    ({"beta": -1.0}, "beta"), ({"ln_delta": 0.5}, "ln_delta"), ({"positives": 0}, "positives"),
])  # fmt: skip
def test_what_is_no_table_is_refused(changed, message):
    table = {"true_positives": 8, "positives": 10, "false_positives": 2, "negatives": 10}
    given = {"metric": "f_beta", **table, "ln_delta": LEVEL, **changed}
    with pytest.raises(ValueError, match=f"'{message}' parameter of two_class_interval"):
        two_class_interval(**given)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("metric", ["f_beta", "kappa", "matthews_corrcoef"])
@pytest.mark.parametrize(
    "table", [(0, 1, 1, 1), (8, 8, 0, 1), (4, 8, 1, 1), (90, 100, 0, 2), (1, 5, 3, 5), (0, 2, 40, 40)]
)
def test_at_tiny_levels_an_unknown_share_may_be_as_near_to_one_as_floats_go(metric, table):
    ends = [
        population_table_interval(metric, *table, -nats, beta=2.0) for nats in (20, 45, 110, 248, 300, 900)
    ]
    recall, error, share = table[0] / table[1], table[2] / table[3], table[1] / (table[1] + table[3])
    value = two_class_value(metric, recall, error, share, 2.0)
    assert all(low - 1e-9 <= value <= high + 1e-9 for low, high in ends)
    widths = [high - low for low, high in ends]
    assert all(later >= 0.98 * first for first, later in itertools.pairwise(widths))


EXPECTED = (0.8, 0.2, 0.5)


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "seconds"), [(10_000, 0.5), (100_000, 2.0)])
@pytest.mark.parametrize(("interval_of", "metric", "options"), [
    (two_class_interval, "matthews_corrcoef", {}), (two_class_interval, "f_beta", {"average": "macro"}),
    (two_class_interval, "kappa", {"one_law": False}),
    (population_table_interval, "matthews_corrcoef", {"expected": EXPECTED}),
    (population_table_interval, "kappa", {"expected": EXPECTED}),
    (population_table_interval, "f_beta", {"expected": EXPECTED, "beta": 2.0}),
])  # fmt: skip
def test_large_tables_are_quick(interval_of, metric, options, n, seconds):
    """The best of three runs: what else the machine does is no part of it."""
    for ln_delta in (LEVEL, math.log(1e-12)):
        best = math.inf
        for _ in range(3):
            start = time.process_time()
            interval_of(metric, int(0.4 * n), n // 2, int(0.1 * n), n // 2, ln_delta, **options)
            best = min(best, time.process_time() - start)
        assert best < seconds


def test_a_convex_majorant_costs_little_where_errors_are_many():
    exact, unequal = (
        np.diff(two_class_interval("f_beta", 80, 100, 90, 900, LEVEL, one_law=one)).item()
        for one in (True, False)
    )
    assert exact <= unequal < 1.2 * exact


@pytest.mark.parametrize(("beta", "table"), [(1e3, (150, 300, 300, 3000)), (1e-3, (240, 300, 20, 3000))])
def test_of_an_unknown_share_f_beta_is_nearly_the_recall_or_the_precision(beta, table):
    """Values are met in a narrow part of the box of rates, which is to be searched closely."""
    hits, positives, errors, _ = table
    of = positives if beta > 1.0 else hits + errors
    low, high = population_table_interval("f_beta", *table, LEVEL, beta=beta, expected=(0.8, 0.01, 0.1))
    exact = clopper_pearson(hits, hits, of, LEVEL)
    assert exact[1] - exact[0] < high - low < 1.15 * (exact[1] - exact[0])
