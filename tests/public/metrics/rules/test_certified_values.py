"""A certified value is scikit-learn's score on the holdout, and its interval contains it."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import get_scorer

from sklearn_ada import Holdout, Metric


def closeness(y, predictions):
    return 1.0 / (1.0 + np.abs(y - predictions))


def hit(y, predictions):
    return y == predictions


def chance(y, probabilities):
    return probabilities[np.arange(len(y)), y]


OF_TWO_CLASSES = [
    "accuracy", "balanced_accuracy", "recall", "recall_macro", "precision", "f1", "jaccard", "roc_auc",
    "neg_brier_score",
]  # fmt: skip
LOG_LOSS, ERROR = Metric("neg_log_loss", range=(-20, 0)), Metric("neg_mean_absolute_error", range=(-500, 0))
CASES = [
    *(("binary", each) for each in (*OF_TWO_CLASSES, LOG_LOSS)),
    *(("three", each) for each in ("accuracy", "balanced_accuracy", "recall_macro", LOG_LOSS)),
    *(("regression", each) for each in (ERROR, Metric("neg_mean_squared_error", range=(-100_000, 0)))),
]


def name_of(case):
    return case if isinstance(case, str) else case.name


@pytest.mark.parametrize("purpose", ["certify", "check"])
@pytest.mark.parametrize(("task", "scoring"), CASES, ids=name_of)
def test_a_value_is_scikit_learns_to_the_resolution_of_its_cell(task, scoring, purpose, data, asked):
    verdict, off = {"certify": ("exact", 0.9), "check": ("agrees", 0.99)}[purpose]
    plain = get_scorer(name_of(scoring))(*data[task])
    answer, body = asked(task, scoring, purpose, plain * off)
    assert abs(answer.value - plain) <= body["mechanism"]["half_cell"] * (1 + 1e-9)
    assert answer.interval[0] < plain < answer.interval[1]
    assert answer.verdict == verdict
    assert purpose == "certify" or answer.value == pytest.approx(plain * off)


@pytest.mark.parametrize("guess", [0.0, 0.123456, 0.5, 1.0, None])
def test_certified_accuracy_is_exact_whatever_the_guess(guess, data, asked):
    model, X, y = data["binary"]
    answer, _ = asked("binary", "accuracy", "certify", guess)
    assert answer.value == pytest.approx(model.score(X, y), abs=1e-12)


def test_a_wrong_guess_is_noticed(data, asked):
    model, X, y = data["binary"]
    answer, body = asked("binary", "accuracy", "check", 0.3)
    assert answer.verdict == "differs"
    assert abs(answer.value - model.score(X, y)) <= body["mechanism"]["half_cell"]


@pytest.mark.parametrize(
    ("task", "score", "method"),
    [("binary", hit, "predict"), ("regression", closeness, "predict"), ("binary", chance, "predict_proba")],
)
def test_a_users_score_per_record_is_certified_by_its_mean(task, score, method, data, asked):
    model, X, y = data[task]
    metric = Metric(score, kind="mean", range=(0, 1), response_method=method)
    answer, body = asked(task, metric, "certify", 0.5)
    expected = score(y, getattr(model, method)(X)).mean()
    assert abs(answer.value - expected) <= body["mechanism"]["half_cell"] * (1 + 1e-9)


def test_scores_outside_the_range_are_clipped_to_it(data, asked):
    model, X, y = data["regression"]
    errors = np.abs(y - model.predict(X))
    assert errors.max() > 10 > errors.min()
    answer, body = asked("regression", Metric("neg_mean_absolute_error", range=(-10, 0)), "certify", -5.0)
    assert abs(answer.value + np.minimum(errors, 10).mean()) <= body["mechanism"]["half_cell"]
    assert -10 <= answer.interval[0] < answer.interval[1] <= 0


@pytest.fixture
def opened(tmp_path):
    return lambda X, y: Holdout(X, y, ledger=tmp_path / "ledger.db")


ZEROS = DummyClassifier(strategy="constant", constant=0)


def test_a_probability_of_zero_is_clipped_and_no_failure(data, opened):
    _, X, y = data["binary"]
    answer = opened(X, y).certify(ZEROS.fit(X, y), scoring=Metric("neg_log_loss", range=(-4, 0)))
    assert answer.value == pytest.approx(-4 * np.mean(y == 1), abs=4 / len(y))


def test_a_denominator_of_zero_is_a_priced_failure(data, opened):
    _, X, y = data["binary"]
    answer = opened(X, y).certify(ZEROS.fit(X, y), scoring="precision")
    assert (answer.verdict, answer.reason) == ("failed", "metric is undefined")
    assert answer.cost.nats > 5


def test_a_class_that_is_predicted_and_has_no_rows_counts_as_scikit_learn_has_it(data, opened):
    model, X, y = data["three"]
    X, y = X[y != 2], y[y != 2]
    assert 2 in model.predict(X)
    holdout = opened(X, y)
    present = get_scorer("balanced_accuracy")(model, X, y)
    assert holdout.certify(model, scoring="balanced_accuracy").value == pytest.approx(present, abs=0.01)
    failed = holdout.certify(model, scoring="recall_macro")  # scikit-learn counts class 2 as one of three
    assert (failed.verdict, failed.reason) == ("failed", "metric is undefined")


@pytest.mark.parametrize(("task", "scoring"), [("binary", "accuracy"), ("regression", ERROR)])
def test_the_certificate_says_whether_the_class_mix_is_conditioned_on(task, scoring, asked):
    answer, _ = asked(task, scoring, "certify")
    population, _, _ = answer.certificate.target.partition(", rounded to steps of ")
    assert population.endswith("at the holdout's class mix") is (task == "binary")


@pytest.mark.parametrize("name", ["r2", "f1_macro", "average_precision", "neg_mean_absolute_error"])
def test_what_has_no_interval_says_that_the_stable_median_is_the_way_out(name):
    with pytest.raises(ValueError, match="use the stable median") as caught:
        _ = Metric(name).bounds
    assert "StableHoldoutScorer" in str(caught.value)


def test_a_range_makes_a_mean_certifiable():
    assert not Metric("neg_log_loss").has_interval
    assert Metric("neg_log_loss", range=(-5, 0)).has_interval


@pytest.mark.parametrize(
    ("task", "name"),
    [
        *(("binary", name) for name in ("accuracy", "roc_auc", "neg_log_loss", "f1")),
        *(("regression", name) for name in ("neg_mean_absolute_error", "r2")),
    ],
)
def test_the_plain_score_is_scikit_learns(task, name, data):
    assert Metric(name).score(*data[task]) == get_scorer(name)(*data[task])


def test_a_users_mean_without_a_range_can_be_scored_plainly(data):
    model, X, y = data["regression"]
    assert Metric(closeness, kind="mean").score(model, X, y) == closeness(y, model.predict(X)).mean()
