"""Outputs that look right: columns that do not add up, labels that floats cannot hold, scores with a mask."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer

from sklearn_ada import Holdout, MedianSettings, Metric
from sklearn_ada.metrics import outputs

N = 400


class Says(ClassifierMixin, BaseEstimator):
    """A fitted model that says what a function does."""

    def __init__(self, says, classes=(0, 1)):
        self.says = says
        self.classes = classes
        self.classes_ = None if classes is None else np.array(classes)

    def predict(self, X):
        return self.says(X)

    def predict_proba(self, X):
        return self.says(X)


@pytest.fixture
def made(tmp_path):
    """A holdout whose rows are numbered, with a ledger of its own."""

    def make(y, name="ledger", **params):
        X = np.arange(len(y), dtype=float)[:, None]
        return Holdout(X, np.asarray(y), ledger=tmp_path / f"{name}.db", **params), X

    return make


def both_columns(dtype, then=np.float64):
    """Return confident probabilities, mostly right, whose columns are rounded apart."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    z = np.where(rng.random(N) < 0.9, 10, -10) * (2 * y - 1) + rng.normal(0, 1, N)
    p = 1 / (1 + np.exp(-z))
    return y, np.c_[1 - p, p].astype(dtype).astype(then)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("then", [np.float32, np.float64])
def test_two_columns_are_read_as_scikit_learn_reads_them(scoring, dtype, then, made):
    """One of them decides; in half precision the other is another model's log loss by a fifth."""
    y, table = both_columns(dtype, then)
    model = Says(lambda X: table[X[:, 0].astype(int)])
    holdout, X = made(y)
    metric = Metric(scoring, range=(-40, 0)) if scoring == "neg_log_loss" else Metric(scoring)
    plain = get_scorer(scoring)(model, X, y)
    answer = holdout.check(model, scoring=metric, guess=plain, settings=1e-9 * 40)
    assert answer.verdict == "agrees" or answer.value == pytest.approx(plain, rel=1e-4)
    median = MedianSettings(n_subsamples=4, method="exact")
    general = Metric(scoring, kind="general", range=(-40, 0) if scoring == "neg_log_loss" else None)
    assert holdout.check(model, scoring=general, guess=-0.5, settings=median).answered


def test_the_first_class_may_be_the_positive_one_whatever_the_columns_add_up_to(made):
    y, table = both_columns(np.float16)
    model = Says(lambda X: table[X[:, 0].astype(int)])
    holdout, X = made(y)
    metric = Metric("neg_brier_score", pos_label=0)
    answer = holdout.check(model, scoring=metric, guess=metric.score(model, X, y), settings=1e-9)
    assert answer.verdict == "agrees"


LARGE = 2**53


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", Metric("f1", pos_label=LARGE + 1)])
def test_labels_that_floats_cannot_tell_apart_are_a_failure(scoring, made):
    y = np.tile([LARGE, LARGE + 1], 50)
    holdout, _ = made(y)
    model = Says(lambda X: y[X[:, 0].astype(int)].astype(float), classes=(LARGE, LARGE + 1))
    assert holdout.certify(model, scoring=scoring, guess=0.9).verdict == "failed"
    honest = Says(lambda X: y[X[:, 0].astype(int)], classes=(LARGE, LARGE + 1))
    assert holdout.certify(honest, scoring=scoring, guess=0.9).value == pytest.approx(1.0, abs=0.02)


def test_chunks_of_integers_that_no_type_holds_together_are_a_failure(made, monkeypatch):
    y = np.tile([LARGE, LARGE + 1], 50)
    monkeypatch.setattr(outputs, "CHUNK_CELLS", 64)

    def wrong(X):
        kind = np.int64 if X[0, 0] == 0 else np.uint64
        return y[::-1][X[:, 0].astype(int)].astype(kind)

    holdout, _ = made(y)
    model = Says(wrong, classes=(LARGE, LARGE + 1))
    assert holdout.certify(model, scoring="accuracy", guess=0.9).verdict == "failed"


@pytest.mark.parametrize(
    "score",
    [
        lambda y, said: -np.ma.masked_greater(np.abs(y - said), 0.5),
        lambda y, said: (y - said) * 1j,
        lambda y, said: np.array(["0.5"] * len(y)),
        lambda y, said: np.full(len(y), np.timedelta64(1, "s")),
    ],
    ids=["masked", "complex", "text", "durations"],
)
def test_scores_of_ones_own_that_are_no_numbers_are_a_failure(score, made):
    y = np.arange(60) % 2
    holdout, _ = made(y)
    metric = Metric(score, kind="mean", range=(-5.0, 0.0))
    answer = holdout.certify(Says(lambda X: np.zeros(len(X), dtype=int)), scoring=metric, guess=-0.4)
    assert answer.verdict == "failed"


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", Metric("neg_log_loss", range=(-9, 0))])
def test_a_model_without_classes_is_refused_before_it_is_charged(scoring, made):
    holdout, _ = made(np.arange(60) % 2)
    model = Says(lambda X: np.full((len(X), 2), 0.5), classes=None)
    with pytest.raises(ValueError, match="must be a fitted classifier, whose classes_"):
        holdout.certify(model, scoring=scoring, guess=-0.2 if scoring != "roc_auc" else 0.5)
    assert len(list(holdout.ledger.records())) == 1


@pytest.mark.parametrize("epsilon", [None, "auto"])
def test_if_every_model_fails_nobody_is_chosen(epsilon, made):
    holdout, _ = made(np.arange(60) % 2)
    models = [Says(lambda X, k=k: np.full(len(X), 0.5 + k / 10)) for k in range(3)]
    with pytest.raises(ValueError, match="could not choose among 3 models"):
        holdout.select(models, scoring="accuracy", epsilon=epsilon)
    assert holdout.report().nats > 5.0
    models.append(Says(lambda X: np.zeros(len(X), dtype=int)))
    assert holdout.select(models, scoring="accuracy", epsilon=None) == 3


def test_top_k_of_two_classes_takes_a_decision_function(made):
    X, y = np.random.default_rng(0).normal(size=(N, 2)), np.arange(N) % 2
    model = LogisticRegression().fit(X, y)
    holdout = Holdout(X, y, ledger=":memory:")
    how = MedianSettings(n_subsamples=10)
    assert holdout.check(model, scoring="top_k_accuracy", guess=1.0, settings=how).answered
