"""Frames, sparse matrices and words; classes and numbers; probabilities and decision functions.

Each goes through a holdout of its own, a scorer in a search, and a wrapped search.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import fbeta_score, get_scorer, get_scorer_names, make_scorer
from sklearn.svm import LinearSVC

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.metrics.base import SCORERS
from tests.support.searches import grid

pytestmark = pytest.mark.thorough


def polars_frame(X):
    return pytest.importorskip("polars").DataFrame(X, schema=[f"x{i}" for i in range(X.shape[1])])


def polars_series(y):
    return pytest.importorskip("polars").Series(y.tolist())


def pandas_frame(X):
    return pd.DataFrame(X).add_prefix("x")


CONTAINERS = {
    "array": (np.asarray, np.asarray),
    "list": (np.ndarray.tolist, np.ndarray.tolist),
    "csr matrix": (sparse.csr_matrix, np.asarray),
    "csr array": (sparse.csr_array, np.asarray),
    "pandas": (pandas_frame, pd.Series),
    "pandas categories": (pandas_frame, lambda y: pd.Series(y, dtype="category")),
    "polars": (polars_frame, polars_series),
}


def error(y, predictions):
    return -np.abs(y - predictions)


CASES = {
    "accuracy of words": ("two", LogisticRegression(), "accuracy"),
    "probabilities": ("two", LogisticRegression(), Metric("neg_log_loss", range=(-7, 0))),
    "auc of probabilities": ("two", RandomForestClassifier(5, max_depth=4, random_state=0), "roc_auc"),
    "auc of a decision function": ("two", LinearSVC(), "roc_auc"),
    "f1 of a word": ("two", LogisticRegression(), Metric("f1", pos_label="yes")),
    "three classes": ("three", LogisticRegression(), "balanced_accuracy"),
    "one against the rest": ("three", LogisticRegression(), "roc_auc_ovr"),
    "f1 of three": ("three", LogisticRegression(), "f1_macro"),
    "made scorer": ("two", LogisticRegression(), make_scorer(fbeta_score, beta=2, pos_label="yes")),
    "mean absolute error": ("number", Ridge(), Metric("neg_mean_absolute_error", range=(-9, 0))),
    "root mean squared error": ("number", Ridge(), "neg_root_mean_squared_error"),
    "r2": ("number", Ridge(), "r2"),
    "an error of one's own": ("number", Ridge(), Metric(error, kind="mean", range=(-9, 0))),
}


@pytest.fixture(scope="module")
def tasks():
    X, y = make_classification(900, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
    X3, y3 = make_classification(900, 4, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    number = X @ [1.0, -1.0, 0.5, 0.0] + np.random.default_rng(0).normal(size=900)
    return {
        "two": (X, np.array(["no", "yes"])[y]),
        "three": (X3, np.array(["red", "green", "blue"])[y3]),
        "number": (X, number),
    }


PAIRS = {
    *((case, container) for case in CASES for container in ("array", "pandas")),
    *(("accuracy of words", container) for container in CONTAINERS),
    *(("r2", container) for container in CONTAINERS if container != "pandas categories"),
}


@pytest.mark.parametrize(("case", "container"), sorted(PAIRS))
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_holdout_a_scorer_and_a_wrapped_search_take_it(case, container, tasks, tmp_path):
    task, model, scoring = CASES[case]
    wrap_x, wrap_y = CONTAINERS[container]
    X, y = tasks[task]
    train, rest = (wrap_x(X[:400]), wrap_y(y[:400])), (wrap_x(X[400:]), wrap_y(y[400:]))
    metric = scoring if isinstance(scoring, Metric) else Metric(scoring)

    holdout = Holdout(*rest, ledger=tmp_path / "holdout.db")
    kind = ThresholdoutScorer if metric.has_interval else StableHoldoutScorer
    scorer = kind(metric, holdout)
    search = grid(model, scoring=scorer, cv=scorer.cv, refit=scorer.select_best).fit(*train)
    assert holdout.report().asked["check"] == 2
    plain = metric.score(search.best_estimator_, *rest)
    assert search.cv_results_["mean_test_score"].max() == pytest.approx(plain, abs=0.25 * max(abs(plain), 1))

    if metric.has_interval:
        answer = holdout.certify(search.best_estimator_, scoring=metric)
        assert answer.interval[0] <= plain <= answer.interval[1]
        assert answer.value == pytest.approx(plain, abs=0.05 * (metric.range[1] - metric.range[0]))

    wrapped = ReusableHoldoutCV(grid(model, cv=3), scoring=scoring, ledger=tmp_path / "wrapped.db")
    wrapped.fit(wrap_x(X), wrap_y(y))
    assert np.isfinite(wrapped.best_score_)
    assert wrapped.predict(wrap_x(X)).shape == (900,)


def test_values_do_not_depend_on_the_container(tasks, tmp_path):
    X, y = tasks["two"]
    model = LogisticRegression().fit(X[:400], y[:400])
    expected = get_scorer("accuracy")(model, X[400:], y[400:])
    for name in ("array", "list", "csr matrix", "csr array"):
        wrap_x, wrap_y = CONTAINERS[name]
        holdout = Holdout(wrap_x(X[400:]), wrap_y(y[400:]), ledger=tmp_path / f"{name}.db")
        assert holdout.certify(model, scoring="accuracy").value == pytest.approx(expected)


STABLE = {"mechanism": "stable_median"}
NEED_EVERY_CLASS = [name for name in sorted(get_scorer_names()) if SCORERS[name].needs_every_class]


@pytest.mark.parametrize("scoring", NEED_EVERY_CLASS)
@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_metrics_that_need_every_class_get_subsamples_with_every_class(scoring, ask, wrap):
    X, y = load_digits(return_X_y=True)
    y = (y < 3).astype(int) if scoring == "average_precision" else y
    wrapped = wrap(grid(LogisticRegression(), scoring=scoring), ask=ask, **STABLE).fit(X / 16, y)
    assert wrapped.best_score_ > 0.7
    assert wrapped.best_answer_.certificate.target.startswith(f"median of {scoring}")
    assert "at the holdout's class mix" in wrapped.best_answer_.certificate.target


def test_few_positives_are_in_every_subsample(wrap):
    """Most subsamples as they come would have none, and score 0 whatever the model."""
    X, y = make_classification(3000, 10, n_informative=6, weights=[0.97], class_sep=2.0, random_state=0)
    wrapped = wrap(grid(LogisticRegression(), [1.0], scoring="average_precision"), **STABLE).fit(X, y)
    assert wrapped.best_score_ > 0.5
    assert wrapped.best_score_ == pytest.approx(wrapped.cv_results_["mean_test_score"][0], abs=0.25)


def test_with_groups_they_are_asked_as_they_come(wrap):
    X, y = load_digits(return_X_y=True)
    wrapped = wrap(grid(values=[4], scoring="roc_auc_ovr"), **STABLE).fit(
        X, y, groups=np.arange(len(y)) // 200
    )
    assert "groups" in wrapped.best_answer_.certificate.target
