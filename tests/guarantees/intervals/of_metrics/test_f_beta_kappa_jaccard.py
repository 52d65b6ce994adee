"""Kappa, F-beta, precision and Jaccard: scikit-learn's own values, exact misses, and bad parameters."""

import math

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import cohen_kappa_score, fbeta_score, jaccard_score, precision_score

from sklearn_ada.guarantees import confusion_ratio_interval
from sklearn_ada.guarantees.class_tables import RATIO_METRICS, confusion_terms


def rows_of(confusion):
    """Return classes and predictions with this confusion matrix."""
    table = np.asarray(confusion)
    pairs = np.repeat(np.argwhere(table >= 0), table.ravel(), axis=0)
    return pairs[:, 0], pairs[:, 1]


def value_of(metric, confusion, label=0, beta=1.0):
    """Return the ratio of the terms over a confusion matrix."""
    table = np.asarray(confusion, dtype=float)
    numerator, denominator = confusion_terms(metric, table.sum(axis=1) / table.sum(), label, beta=beta)
    return float((numerator * table).sum() / (denominator * table).sum())


SKLEARN = {
    "kappa": lambda y, p, label, beta: cohen_kappa_score(y, p),
    "f_beta": lambda y, p, label, beta: fbeta_score(y, p, beta=beta, labels=[label], average=None)[0],
    "precision": lambda y, p, label, beta: precision_score(y, p, labels=[label], average=None)[0],
    "jaccard": lambda y, p, label, beta: jaccard_score(y, p, labels=[label], average=None)[0],
}


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("label", [0, 2])
@pytest.mark.parametrize("metric", RATIO_METRICS)
def test_the_terms_are_scikit_learns_metric_and_the_interval_is_around_it(metric, label, beta):
    rng = np.random.default_rng(label)
    seen = rng.integers(1, 40, (3, 3)) + 60 * np.eye(3, dtype=int)
    expected = SKLEARN[metric](*rows_of(seen), label, beta)
    assert value_of(metric, seen, label, beta) == pytest.approx(expected, abs=1e-12)
    foreseen = rng.integers(1, 40, (3, 3)) + 60 * np.eye(3)
    low, high = confusion_ratio_interval(
        metric, seen, math.log(0.05), expected=foreseen, label=label, beta=beta
    )
    assert low < expected < high
    assert high - low < 0.4


def exact_misses(metric, sizes, rates, ln_delta, expected):
    """Return the exact chances that the interval is above and below the ratio of two classes.

    Each class is predicted as 0 at a rate of its own.
    """
    truth = np.array([[n * r, n * (1 - r)] for n, r in zip(sizes, rates, strict=True)])
    ratio = value_of(metric, truth)
    laws = [binom.pmf(np.arange(n + 1), n, r) for n, r in zip(sizes, rates, strict=True)]
    above = below = 0.0
    for a, b in np.ndindex(sizes[0] + 1, sizes[1] + 1):
        if laws[0][a] * laws[1][b] < 1e-9:
            continue
        seen = [[a, sizes[0] - a], [b, sizes[1] - b]]
        low, high = confusion_ratio_interval(metric, seen, ln_delta, expected=expected)
        above += laws[0][a] * laws[1][b] * (low > ratio + 1e-12)
        below += laws[0][a] * laws[1][b] * (high < ratio - 1e-12)
    return above, below


@pytest.mark.parametrize(
    ("sizes", "rates"), [((4, 8), (0.75, 0.1)), ((2, 10), (0.98, 0.02)), ((6, 6), (0.3, 0.4))], ids=str
)
@pytest.mark.parametrize("metric", RATIO_METRICS)
def test_no_side_misses_more_than_its_half_whatever_is_foreseen(metric, sizes, rates):
    for expected in ([[9, 1], [1, 9]], [[1, 0], [50, 0]]):
        assert max(exact_misses(metric, sizes, rates, math.log(0.36), expected)) <= 0.18


@pytest.mark.parametrize("metric", RATIO_METRICS)
def test_degenerate_matrices_give_intervals(metric):
    for seen in ([[5, 0], [0, 0]], [[0, 5], [0, 5]], [[5, 0], [5, 0]], [[0, 0], [0, 5]], [[1, 0], [0, 0]]):
        for expected in ([[1, 0], [0, 0]], [[0, 0], [0, 9]], seen):
            low, high = confusion_ratio_interval(metric, seen, -3.0, expected=expected)
            assert -1.0 <= low <= high <= 1.0
