"""A model that answers with a column is measured as one that answers with a vector, and misses no oftener.

A population that can be enumerated: atom u has label 1 with a known probability, so that every metric of a
table of labels is exact. Each conversation guesses the value that its model has on rows of its own, which
goes through the same code: a measure that compares labels with a column would confirm it, and be wrong.
"""

import numpy as np
import pytest
from scipy.stats import binom

from sklearn_ada import Holdout, Metric
from sklearn_ada.questions.question import guess_from_rows
from tests.support.laws import is_missed

ATOMS, ROWS = 40, 400
CHANCE = np.random.default_rng(7).beta(0.4, 0.6, ATOMS)
LABELS = ("accuracy", "balanced_accuracy", "f1", "jaccard", "precision", "recall", "recall_macro")
MICRO = ("f1_micro", "precision_micro", "recall_micro", "recall_weighted")


class Column:
    """Says the label of an atom, or a number for it, as a column."""

    def __init__(self, table):
        self.table = table
        self.classes_ = np.array([0, 1])

    def predict(self, X):
        return self.table[X[:, 0]][:, None]

    def decision_function(self, X):
        return self.predict(X)


class Vector(Column):
    """Says the same as a vector."""

    def predict(self, X):
        return self.table[X[:, 0]]


def hits(y, outputs):
    return (y == outputs) * 1.0


METRICS = {
    **{name: Metric(name) for name in (*LABELS, *MICRO)},
    "roc_auc": Metric("roc_auc"),
    "neg_mean_absolute_error": Metric("neg_mean_absolute_error", range=(-1, 0)),
    "neg_mean_squared_error": Metric("neg_mean_squared_error", range=(-1, 0)),
    "a mean of one's own": Metric(hits, kind="mean", range=(0, 1)),
}


def truth(name, table, y):
    """Return the metric in the population whose classes are mixed as those of the holdout."""
    share = np.mean(y)
    positive = CHANCE / CHANCE.sum() * share  # joint probability of an atom and each class
    negative = (1 - CHANCE) / (1 - CHANCE).sum() * (1 - share)
    hit, alarm = positive[table == 1].sum(), negative[table == 1].sum()
    recall, other = hit / share, 1 - alarm / (1 - share)
    right = hit + other * (1 - share)
    return {
        "balanced_accuracy": (recall + other) / 2,
        "recall_macro": (recall + other) / 2,
        "roc_auc": (recall + other) / 2,  # of two scores
        "recall": recall,
        "precision": hit / (hit + alarm),
        "jaccard": hit / (share + alarm),
        "f1": 2 * hit / (share + hit + alarm),
        "neg_mean_absolute_error": right - 1,
        "neg_mean_squared_error": right - 1,
    }.get(name, right)


def drawn(rng, n):
    atoms = rng.integers(0, ATOMS, n)
    return atoms[:, None], (rng.random(n) < CHANCE[atoms]).astype(int)


def misses(seed, names, says=Column, confidence_level=0.95):
    """Return the metrics whose interval misses, in one conversation."""
    rng = np.random.default_rng(seed)
    X, y = drawn(rng, ROWS)
    rows = np.c_[X, np.full(ROWS, says is Column)]  # so that both have a ledger of their own
    holdout = Holdout(rows, y, ledger=":memory:", random_state=seed, confidence_level=confidence_level)
    table = (rng.random(ATOMS) < 0.1 + 0.8 * CHANCE).astype(int)
    missed = []
    for name in names:
        model, metric = says(table), METRICS[name]
        guess = guess_from_rows(metric, model, *drawn(np.random.default_rng(seed + 10**6), ROWS))
        answer = holdout.certify(model, scoring=metric, guess=guess)
        assert answer.verdict == "exact", (name, answer)
        if is_missed(answer.interval, truth(name, table, y)):
            missed.append(name)
    return missed


@pytest.mark.parametrize("runs", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_conversations_about_columns_miss_no_oftener_than_they_may_and_where_vectors_do(runs):
    """A conversation counts once, however many of its intervals miss; a twentieth of them may."""
    missed = [misses(seed, METRICS) for seed in range(runs)]
    assert sum(map(bool, missed)) <= binom.ppf(0.999, runs, 0.05)
    assert missed == [misses(seed, METRICS, Vector) for seed in range(runs)]


@pytest.mark.parametrize("runs", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_at_one_miss_in_a_million_no_metric_of_a_column_misses(runs):
    seeds = range(1000, 1000 + runs)
    assert [misses(seed, METRICS, confidence_level=1.0 - 1e-6) for seed in seeds] == [[]] * runs


@pytest.mark.parametrize("name", [name for name in METRICS if name != "recall"])
def test_a_measure_that_compares_labels_with_a_column_is_refused(name, monkeypatch):
    monkeypatch.setattr("sklearn_ada.metrics.metric.canonical", lambda outputs, *args, **kwargs: outputs)
    monkeypatch.setattr("sklearn_ada.metrics.classes.check_two_labels", lambda *args: None)
    with pytest.raises(ValueError, match="must be"):
        misses(0, [name])
