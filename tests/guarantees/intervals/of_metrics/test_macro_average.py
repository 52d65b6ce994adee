"""Averages over classes: the decomposition, scikit-learn's values, what many classes cost, bad parameters."""

import math

import numpy as np
import pytest
from sklearn.metrics import f1_score, jaccard_score, precision_score

from sklearn_ada.guarantees import average_ratio_interval, class_tables, confusion_ratio_interval
from sklearn_ada.guarantees.class_tables import confusion_terms
from tests.guarantees.intervals.of_metrics.test_f_beta_kappa_jaccard import rows_of

SKLEARN = {"f_beta": f1_score, "jaccard": jaccard_score, "precision": precision_score}


def table(seed, classes, rows=100, right=0.85):
    """Return a confusion matrix of so many rows in each class."""
    rng = np.random.default_rng(seed)
    law = np.full((classes, classes), (1 - right) / (classes - 1))
    np.fill_diagonal(law, right)
    return np.array([rng.multinomial(rows, each) for each in law])


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize("metric", SKLEARN)
def test_the_interval_is_around_scikit_learns_value(metric, classes, average):
    seen, known = table(0, classes), table(1, classes)
    low, high = average_ratio_interval(metric, seen, math.log(0.05), expected=known, average=average)
    assert low < SKLEARN[metric](*rows_of(seen), average=average) < high
    assert high - low < 0.25


@pytest.mark.parametrize("metric", SKLEARN)
def test_with_points_for_means_the_decomposition_is_the_average(metric, monkeypatch):
    seen, known = table(0, 4).astype(float), table(1, 4, right=0.6).astype(float)
    monkeypatch.setattr(
        class_tables._Rows,
        "mean_ends",
        lambda rows, values, level: ((values * rows.counts).sum() / rows.counts.sum(),) * 2,
    )
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    terms = [confusion_terms(metric, np.full(4, 0.25), label) for label in range(4)]
    found = class_tables._linear(class_tables._Rows(seen, known), terms, weights, -3.0)
    each = SKLEARN[metric](*rows_of(seen.astype(int)), average=None)
    assert found == pytest.approx((weights @ each,) * 2)


def test_class_by_class_it_is_the_average_of_the_ends():
    seen = np.array([[50, 3, 2], [4, 30, 6], [0, 5, 100]])
    each = [
        confusion_ratio_interval("f_beta", seen, math.log(0.05 / 3), expected=seen, label=c) for c in range(3)
    ]
    terms = [confusion_terms("f_beta", seen.sum(axis=1) / seen.sum(), label) for label in range(3)]
    rows = class_tables._Rows(seen * 1.0, seen * 1.0)
    found = class_tables._by_class(rows, terms, np.full(3, 1 / 3), math.log(0.025))
    assert found == pytest.approx(tuple(np.mean(each, axis=0)))


def test_many_classes_cost_far_less_than_class_by_class():
    seen, known = table(0, 10).astype(float), table(1, 10).astype(float)
    terms = [confusion_terms("f_beta", np.full(10, 0.1), label) for label in range(10)]
    ends = class_tables._by_class(class_tables._Rows(seen, known), terms, np.full(10, 0.1), math.log(0.025))
    low, high = average_ratio_interval("f_beta", seen, math.log(0.05), expected=known)
    assert high - low < 0.7 * (ends[1] - ends[0])


def test_degenerate_matrices_give_intervals():
    for seen in (np.eye(3), np.eye(3)[:, [0, 0, 0]], np.diag([5, 0, 0])):
        for expected in (np.eye(3), np.ones((3, 3)), np.eye(3)[:, [0, 0, 0]]):
            low, high = average_ratio_interval("precision", seen, -3.0, expected=expected)
            assert 0.0 <= low <= high <= 1.0
