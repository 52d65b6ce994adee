"""A guess that the holdout computes itself, from validation rows that are handed to it."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer

from sklearn_ada import Holdout, MedianSettings, Metric
from sklearn_ada.exceptions import HoldoutLeakError
from sklearn_ada.questions.question import guess_from_rows

GENERAL = Metric("matthews_corrcoef", kind="general")
SCORINGS = {
    "classifier": ["accuracy", "f1", "roc_auc", "balanced_accuracy", "neg_log_loss", GENERAL],
    "regressor": [
        Metric("r2", kind="general"),
        "neg_root_mean_squared_error",
        "neg_mean_absolute_error",
        Metric("neg_median_absolute_error", kind="general"),
    ],
}


@pytest.fixture(params=SCORINGS)
def asked(request, tmp_path):
    X, y = (load_breast_cancer if request.param == "classifier" else load_diabetes)(return_X_y=True)
    if request.param == "classifier":
        model = LogisticRegression(C=0.01, max_iter=5000).fit(X[:200], y[:200])
    else:
        model = Ridge().fit(X[:200], y[:200])
    holdout = Holdout(X[300:], y[300:], ledger=tmp_path / "ledger.db", random_state=0)
    return holdout, model, (X[200:300], y[200:300]), SCORINGS[request.param]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_metric_is_certified_with_a_guess_from_rows(asked):
    holdout, model, rows, scorings = asked
    for scoring in scorings:
        metric = scoring
        if scoring == "neg_mean_absolute_error":
            metric = Metric(scoring, range=(-300, 0))
        if scoring == "neg_log_loss":
            metric = Metric(scoring, range=(-5, 0))
        answer = holdout.certify(model, scoring=metric, guess_from=rows)
        assert answer.answered
        assert answer.interval[0] <= answer.value <= answer.interval[1]
        again = holdout.certify(model, scoring=metric, guess_from=rows)
        assert (again.repeated, again.value) == (True, answer.value)


def test_the_guess_is_that_of_the_rows_and_says_how_precise_it_is(asked):
    holdout, model, rows, scorings = asked
    if "accuracy" not in scorings:
        return
    one = holdout.check(model, scoring="accuracy", guess_from=rows)
    other = holdout.check(model, scoring="accuracy", guess=guess_from_rows(Metric("accuracy"), model, *rows))
    assert (other.repeated, other.index) == (True, one.index)
    (entry,) = holdout.report().entries
    assert entry.guess == get_scorer("accuracy")(model, *rows)


def test_rows_of_the_holdout_are_no_guess_and_that_is_recorded(asked):
    holdout, model, _, scorings = asked
    X, y = (load_breast_cancer if "accuracy" in scorings else load_diabetes)(return_X_y=True)
    with pytest.raises(HoldoutLeakError):
        holdout.certify(model, scoring=scorings[0], guess_from=(X[300:], y[300:]))
    assert [record.body.get("kind") for record in holdout.ledger.records()] == [None, "overlap"]


@pytest.mark.parametrize("rows", [3, "X", (1, 2, 3), ()])
def test_what_is_no_pair_of_rows_is_refused_before_anything_is_charged(asked, rows):
    holdout, model, _, scorings = asked
    with pytest.raises(ValueError, match=r"'guess_from' parameter of Holdout\.check must be a pair"):
        holdout.check(model, scoring=scorings[0], guess_from=rows)
    assert len(list(holdout.ledger.records())) == 1


def test_a_guess_and_rows_for_it_are_one_too_many(asked):
    holdout, model, rows, scorings = asked
    with pytest.raises(ValueError, match=r"'guess_from' parameter of Holdout\.certify must be None where"):
        holdout.certify(model, scoring=scorings[0], guess=0.5, guess_from=rows)
    assert len(list(holdout.ledger.records())) == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_median_takes_its_guess_over_subsamples_of_the_size_it_will_have(asked):
    holdout, model, rows, scorings = asked
    name = "matthews_corrcoef" if "accuracy" in scorings else "r2"
    settings = MedianSettings(n_subsamples=11, method="exact")
    assert holdout.check(model, scoring=name, guess_from=rows, settings=settings).answered
    assert holdout.report().entries[-1].guess == pytest.approx(get_scorer(name)(model, *rows), abs=0.35)


def test_rows_of_several_lengths_are_refused(asked):
    holdout, model, (X, y), scorings = asked
    with pytest.raises(ValueError, match="'y' parameter"):
        holdout.check(model, scoring=scorings[0], guess_from=(X, y[:-1]))
    with pytest.raises(ValueError, match="'y' parameter"):
        holdout.check(model, scoring=scorings[0], guess_from=(X, np.full(len(X), np.nan)))


@pytest.mark.parametrize("scoring", ["f1_macro", "matthews_corrcoef", "roc_auc_ovr", "recall_macro"])
def test_validation_rows_without_a_class_say_so_before_anything_is_charged(scoring):
    X, y = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
    holdout = Holdout(X[200:], y[200:], ledger=":memory:")
    two = np.flatnonzero(y[:200] < 2)
    with pytest.raises(ValueError, match="Give validation rows of every class that the"):
        holdout.certify(LogisticRegression().fit(X, y), scoring=scoring, guess_from=(X[two], y[two]))
    assert holdout.report().asked["certify"] == 0
