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
    """A fitted model that says what a function does of the numbers of rows."""

    def __init__(self, says, classes=(0, 1)):
        self.says = says
        self.classes = classes
        self.classes_ = None if classes is None else np.array(classes)

    def predict(self, X):
        return self.says(X[:, 0].astype(int))

    def predict_proba(self, X):  # not `predict` by another name: scikit-learn reads the name of a method
        return self.predict(X)


@pytest.fixture
def made(tmp_path):
    """Makes a holdout whose rows are numbered."""

    def make(y):
        X = np.arange(len(y), dtype=float)[:, None]
        return Holdout(X, np.asarray(y), ledger=tmp_path / "ledger.db"), X

    return make


def both_columns(dtype, then=np.float64):
    """Return confident probabilities, mostly right, whose columns are rounded apart."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    z = np.where(rng.random(N) < 0.9, 10, -10) * (2 * y - 1) + rng.normal(0, 1, N)
    p = 1 / (1 + np.exp(-z))
    return y, np.c_[1 - p, p].astype(dtype).astype(then)


RANGES = {"neg_log_loss": (-40, 0), "neg_brier_score": None}


@pytest.mark.parametrize("scoring", RANGES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("then", [np.float32, np.float64])
def test_two_columns_are_read_as_scikit_learn_reads_them(scoring, dtype, then, made):
    """One of them decides; in half precision the other is another model's log loss by a fifth."""
    y, table = both_columns(dtype, then)
    model = Says(lambda rows: table[rows])
    holdout, X = made(y)
    metric, general = (Metric(scoring, kind=kind, range=RANGES[scoring]) for kind in (None, "general"))
    plain = get_scorer(scoring)(model, X, y)
    answer = holdout.check(model, scoring=metric, guess=plain, settings=1e-9 * 40)
    assert answer.verdict == "agrees" or answer.value == pytest.approx(plain, rel=1e-4)
    median = MedianSettings(n_subsamples=4, method="exact")
    assert holdout.check(model, scoring=general, guess=-0.5, settings=median).answered


def test_the_first_class_may_be_the_positive_one_whatever_the_columns_add_up_to(made):
    y, table = both_columns(np.float16)
    model, metric = Says(lambda rows: table[rows]), Metric("neg_brier_score", pos_label=0)
    holdout, X = made(y)
    answer = holdout.check(model, scoring=metric, guess=metric.score(model, X, y), settings=1e-9)
    assert answer.verdict == "agrees"


LARGE = np.tile([2**53, 2**53 + 1], 50)
CLASSES = (2**53, 2**53 + 1)


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", Metric("f1", pos_label=2**53 + 1)])
def test_labels_that_floats_cannot_tell_apart_are_a_failure(scoring, made):
    holdout, _ = made(LARGE)
    rounded, honest = (
        Says(lambda rows, kind=kind: LARGE[rows].astype(kind), classes=CLASSES) for kind in (float, int)
    )
    assert holdout.certify(rounded, scoring=scoring, guess=0.9).verdict == "failed"
    assert holdout.certify(honest, scoring=scoring, guess=0.9).value == pytest.approx(1.0, abs=0.02)


def test_chunks_of_integers_that_no_type_holds_together_are_a_failure(made, monkeypatch):
    monkeypatch.setattr(outputs, "CHUNK_CELLS", 64)

    def wrong(rows):
        return LARGE[::-1][rows].astype(np.int64 if rows[0] == 0 else np.uint64)

    holdout, _ = made(LARGE)
    answer = holdout.certify(Says(wrong, classes=CLASSES), scoring="accuracy", guess=0.9)
    assert answer.verdict == "failed"


NO_NUMBERS = {
    "masked": lambda y, outputs: -np.ma.masked_greater(np.abs(y - outputs), 0.5),
    "complex": lambda y, outputs: (y - outputs) * 1j,
    "text": lambda y, outputs: np.array(["0.5"] * len(y)),
    "durations": lambda y, outputs: np.full(len(y), np.timedelta64(1, "s")),
}


@pytest.mark.parametrize("score", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_scores_of_ones_own_that_are_no_numbers_are_a_failure(score, made):
    holdout, _ = made(np.arange(60) % 2)
    metric = Metric(score, kind="mean", range=(-5.0, 0.0))
    assert holdout.certify(Says(np.zeros_like), scoring=metric, guess=-0.4).verdict == "failed"


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", Metric("neg_log_loss", range=(-9, 0))])
def test_a_model_without_classes_is_refused_before_it_is_charged(scoring, made):
    holdout, _ = made(np.arange(60) % 2)
    model = Says(lambda rows: np.full((len(rows), 2), 0.5), classes=None)
    with pytest.raises(ValueError, match="must be a fitted classifier, whose classes_"):
        holdout.certify(model, scoring=scoring, guess=-0.2 if scoring != "roc_auc" else 0.5)
    assert len(list(holdout.ledger.records())) == 1


@pytest.mark.parametrize("epsilon", [None, "auto"])
def test_if_every_model_fails_nobody_is_chosen(epsilon, made):
    holdout, _ = made(np.arange(60) % 2)
    models = [Says(lambda rows, k=k: np.full(len(rows), 0.5 + k / 10)) for k in range(3)]
    with pytest.raises(ValueError, match="could not choose among 3 models"):
        holdout.select(models, scoring="accuracy", epsilon=epsilon)
    assert holdout.report().nats > 5.0
    models.append(Says(np.zeros_like))
    assert holdout.select(models, scoring="accuracy", epsilon=None) == 3


def test_top_k_of_two_classes_takes_a_decision_function():
    X, y = np.random.default_rng(0).normal(size=(N, 2)), np.arange(N) % 2
    model, holdout = LogisticRegression().fit(X, y), Holdout(X, y, ledger=":memory:")
    how = MedianSettings(n_subsamples=10)
    assert holdout.check(model, scoring="top_k_accuracy", guess=1.0, settings=how).answered
