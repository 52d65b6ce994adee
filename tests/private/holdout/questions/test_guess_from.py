"""A guess that the holdout computes itself, from validation rows that are handed to it."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer

from sklearn_ada import Holdout, MedianSettings, Metric
from sklearn_ada.exceptions import HoldoutLeakError
from sklearn_ada.questions.question import guess_from_rows
from tests.support.ledgers import kinds

TASKS = {
    "classifier": (load_breast_cancer, LogisticRegression(C=0.01, max_iter=5000)),
    "regressor": (load_diabetes, Ridge()),
}
SCORINGS = {
    "classifier": [
        *("accuracy", "f1", "roc_auc", "balanced_accuracy"),
        Metric("neg_log_loss", range=(-5, 0)),
        Metric("matthews_corrcoef", kind="general"),
    ],
    "regressor": [
        Metric("r2", kind="general"),
        "neg_root_mean_squared_error",
        Metric("neg_mean_absolute_error", range=(-300, 0)),
        Metric("neg_median_absolute_error", kind="general"),
    ],
}


@pytest.fixture(params=TASKS)
def task(request, tmp_path):
    """A holdout, a fitted model, validation rows, rows of the holdout, and the name of the task."""
    load, model = TASKS[request.param]
    X, y = load(return_X_y=True)
    held = X[300:], y[300:]
    holdout = Holdout(*held, ledger=tmp_path / "ledger.db", random_state=0)
    return holdout, model.fit(X[:200], y[:200]), (X[200:300], y[200:300]), held, request.param


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_metric_is_certified_with_a_guess_from_rows(task):
    holdout, model, rows, _, name = task
    for scoring in SCORINGS[name]:
        answer = holdout.certify(model, scoring=scoring, guess_from=rows)
        assert answer.answered
        assert answer.interval[0] <= answer.value <= answer.interval[1]
        again = holdout.certify(model, scoring=scoring, guess_from=rows)
        assert (again.repeated, again.value) == (True, answer.value)


@pytest.mark.parametrize("task", ["classifier"], indirect=True)
def test_the_guess_is_that_of_the_rows_and_says_how_precise_it_is(task):
    holdout, model, rows, *_ = task
    one = holdout.check(model, scoring="accuracy", guess_from=rows)
    other = holdout.check(model, scoring="accuracy", guess=guess_from_rows(Metric("accuracy"), model, *rows))
    assert (other.repeated, other.index) == (True, one.index)
    (entry,) = holdout.report().entries
    assert entry.guess == get_scorer("accuracy")(model, *rows)


def test_rows_of_the_holdout_are_no_guess_and_that_is_recorded(task):
    holdout, model, _, held, name = task
    with pytest.raises(HoldoutLeakError):
        holdout.certify(model, scoring=SCORINGS[name][0], guess_from=(held[0].copy(), held[1]))
    assert kinds(holdout) == [None, "overlap"]


REFUSED = [
    *((lambda rows, bad=bad: {"guess_from": bad}, "a pair") for bad in (3, "X", (1, 2, 3), ())),
    (lambda rows: {"guess": 0.5, "guess_from": rows}, "None where"),
]


@pytest.mark.parametrize("purpose", ["check", "certify"])
@pytest.mark.parametrize(("how", "expected"), REFUSED)
def test_what_is_no_pair_of_rows_or_one_guess_too_many_is_refused_and_free(
    task, how, expected, purpose, uncharged
):
    holdout, model, rows, _, name = task
    message = rf"'guess_from' parameter of Holdout\.{purpose} must be {expected}"
    with uncharged(holdout), pytest.raises(ValueError, match=message):
        getattr(holdout, purpose)(model, scoring=SCORINGS[name][0], **how(rows))
    assert len(kinds(holdout)) == 1


def test_rows_with_too_few_or_undefined_labels_are_refused(task):
    """No question is charged: the record is of the comparison with the holdout, which any rows need."""
    holdout, model, (X, y), _, name = task
    for labels in (y[:-1], np.full(len(X), np.nan)):
        with pytest.raises(ValueError, match="'y' parameter"):
            holdout.check(model, scoring=SCORINGS[name][0], guess_from=(X, labels))
    assert set(kinds(holdout)) == {None, "overlap"}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_median_takes_its_guess_over_subsamples_of_the_size_it_will_have(task):
    holdout, model, rows, _, name = task
    scoring = "matthews_corrcoef" if name == "classifier" else "r2"
    settings = MedianSettings(n_subsamples=11, method="exact")
    assert holdout.check(model, scoring=scoring, guess_from=rows, settings=settings).answered
    assert holdout.report().entries[-1].guess == pytest.approx(get_scorer(scoring)(model, *rows), abs=0.35)


@pytest.mark.parametrize("scoring", ["f1_macro", "matthews_corrcoef", "roc_auc_ovr", "recall_macro"])
def test_validation_rows_without_a_class_say_so_before_anything_is_charged(scoring):
    X, y = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
    holdout = Holdout(X[200:], y[200:], ledger=":memory:")
    two = np.flatnonzero(y[:200] < 2)
    with pytest.raises(ValueError, match="Give validation rows of every class that the"):
        holdout.certify(LogisticRegression().fit(X, y), scoring=scoring, guess_from=(X[two], y[two]))
    assert holdout.report().asked["certify"] == 0
