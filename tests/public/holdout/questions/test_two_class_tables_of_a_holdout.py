"""Metrics of two classes, asked of a holdout: how wide they are, and what older records keep."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
)

from sklearn_ada import Holdout
from sklearn_ada.guarantees import two_class_interval

SCORES = {
    "f1": ("f_beta", f1_score),
    "precision": ("precision", precision_score),
    "jaccard": ("jaccard", jaccard_score),
    "matthews_corrcoef": ("matthews_corrcoef", matthews_corrcoef),
    "balanced_accuracy": ("balanced_accuracy", balanced_accuracy_score),
}
MIXES = (0.1, 0.5)


class ReadsAColumn(ClassifierMixin, BaseEstimator):
    """A model whose predictions stand in the first column."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


def drawn(rng, n, share):
    """Return rows at a fixed class mix, of which a model gets nine tenths right."""
    y = (np.arange(n) < share * n).astype(int)
    predicted = np.where(rng.random(n) < 0.9, y, 1 - y)
    return np.column_stack((predicted, rng.random(n))), y


def asked(path, metric, share=0.1, answers="exact", n=1000, seed=0, **options):
    """Return a holdout that was asked for a metric, and its answer, labels and predictions."""
    rng = np.random.default_rng(seed)
    X, y = drawn(rng, n, share)
    holdout = Holdout(X, y, ledger=path, answers=answers, random_state=0)
    model = ReadsAColumn().fit(X, y)
    answer = holdout.certify(model, scoring=metric, guess_from=drawn(rng, n, share), **options)
    return holdout, model, answer, (y, X[:, 0].astype(int))


@pytest.mark.parametrize("metric", SCORES)
@pytest.mark.parametrize("share", MIXES)
def test_an_interval_is_hardly_wider_than_a_normal_one(metric, share, tmp_path):
    score, rng = SCORES[metric][1], np.random.default_rng(0)
    deviation = np.std([score(y, X[:, 0]) for X, y in (drawn(rng, 1000, share) for _ in range(500))])
    widths = []
    for number in range(2):
        answer = asked(tmp_path / f"{number}.db", metric, share, seed=number)[2]
        delta = math.exp(answer.certificate.ln_delta)
        widths.append(np.diff(answer.interval).item() / (2 * deviation * norm.isf(delta / 2)))
    assert np.mean(widths) < 1.15  # 200 samples: at most 1.10 (`benchmarks.validity.metric_widths`)


@pytest.mark.parametrize("metric", SCORES)
def test_ends_are_those_of_the_table_rounded_outwards(metric, tmp_path):
    _, _, answer, (y, predicted) = asked(tmp_path / "a.db", metric)
    hits, positives = int((y & predicted).sum()), int(y.sum())
    table = (hits, positives, int(predicted.sum()) - hits, len(y) - positives)
    low, high = two_class_interval(SCORES[metric][0], *table, answer.certificate.ln_delta)
    step = (high - low) / 20
    assert low - step < answer.interval[0] <= low
    assert high <= answer.interval[1] < high + step
    assert "at the holdout's class mix" in answer.certificate.target
    assert "binomial laws of both classes" in answer.certificate.theorem


@pytest.mark.parametrize("metric", SCORES)
@pytest.mark.parametrize("answers", ["exact", "coarse"])
def test_an_answer_of_an_older_construction_is_not_paid_for_again(metric, answers, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(
            "sklearn_ada.metrics.two_class.TwoClasses.rows_interval", lambda self, measure, foreseen: None
        )
        holdout, model, before, _ = asked(tmp_path / "a.db", metric, answers=answers)
    spent = holdout.report().nats
    again = holdout.certify(model, scoring=metric, guess_from=drawn(np.random.default_rng(5), 500, 0.1))
    assert again.interval == before.interval
    assert holdout.report().nats - spent < 0.002  # it may have failed


@pytest.mark.parametrize("metric", ["f1", "matthews_corrcoef"])
def test_a_published_value_keeps_the_construction_of_its_window(metric, tmp_path, monkeypatch):
    older = "sklearn_ada.metrics.two_class.TwoClasses.rows_interval"
    with monkeypatch.context() as patch:
        patch.setattr(older, lambda self, measure, foreseen: None)
        asked(tmp_path / "a.db", metric, answers="coarse")
        holdout, model, _, _ = asked(tmp_path / "b.db", metric, answers="coarse")
        expected = holdout.publish(model, scoring=metric)
    rng = np.random.default_rng(0)
    X, y = drawn(rng, 1000, 0.1)
    found = Holdout(X, y, ledger=tmp_path / "a.db", random_state=0).publish(model, scoring=metric)
    assert found.interval == pytest.approx(expected.interval, abs=1e-9)
    newer = asked(tmp_path / "c.db", metric, answers="coarse")[0].publish(model, scoring=metric)
    assert np.diff(newer.interval) < 0.9 * np.diff(expected.interval)


def test_a_tolerance_keeps_the_interval_whose_width_is_bounded_beforehand(tmp_path):
    X, y = drawn(np.random.default_rng(0), 1000, 0.5)
    holdout = Holdout(X, y, ledger=tmp_path / "a.db", tolerance=0.3, answers="exact", random_state=0)
    answer = holdout.certify(ReadsAColumn().fit(X, y), scoring="f1", guess=0.9)
    assert "Chernoff" in answer.certificate.theorem


def test_a_number_as_guess_foresees_enough(tmp_path):
    X, y = drawn(np.random.default_rng(0), 1000, 0.1)
    holdout = Holdout(X, y, ledger=tmp_path / "a.db", answers="exact", random_state=0)
    answer = holdout.certify(ReadsAColumn().fit(X, y), scoring="f1", guess=0.6)
    assert answer.interval[0] < f1_score(y, X[:, 0]) < answer.interval[1]
    assert np.diff(answer.interval) < 0.25


def test_a_class_without_rows_has_no_interval(tmp_path):
    X, y = drawn(np.random.default_rng(0), 100, 1.0)
    holdout = Holdout(X, y, ledger=tmp_path / "a.db", answers="exact", random_state=0)
    answer = holdout.certify(ReadsAColumn().fit(X, y), scoring="f1", guess=0.9)
    assert "binomial laws" not in answer.certificate.theorem
