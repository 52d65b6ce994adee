"""Models and losses that work in place change neither the holdout nor the training rows of others."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_ada import Holdout, MedianSettings, Metric, ReusableHoldoutCV, StableHoldoutScorer
from tests.support import holdouts


class Overwriting(ClassifierMixin, BaseEstimator):
    """A model that insists on writing into the rows it is shown."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        said = np.asarray(X)[:, 0] > 0
        X *= 0.0
        return said.astype(int)


def _scaled(copy):
    return make_pipeline(StandardScaler(copy=copy), LogisticRegression())


def _with_ratio(frame):
    frame["ratio"] = frame.a / frame.b
    return frame


@pytest.mark.parametrize(
    ("scoring", "settings"),
    [("accuracy", None), ("roc_auc", None), ("f1_macro", MedianSettings(method="exact"))],
)
def test_a_model_that_scales_in_place_is_asked_like_one_that_copies(scoring, settings, rows, tmp_path):
    X, y = (rows[2] * 100.0 + 50.0), rows[3]
    before = X.copy()
    answers = []
    for copy in (True, False):
        holdout = Holdout(X, y, ledger=tmp_path / f"{copy}.db", random_state=0)
        model = _scaled(copy).fit(rows[0] * 100.0 + 50.0, rows[1])
        asked = {"scoring": scoring, "purpose": "certify", "settings": settings}
        answers.append([holdouts.ask(holdout, model, guess=guess, **asked) for guess in (0.7, 0.8)])
    assert [(a.value, a.interval) for a in answers[0]] == [(a.value, a.interval) for a in answers[1]]
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_a_model_that_overwrites_its_rows_gets_a_copy(kind, rows):
    X = kind(rows[2].copy())
    holdout = Holdout(X, rows[3], ledger=":memory:")
    answers = [
        holdout.certify(Overwriting().fit(None, None), scoring="accuracy", guess=guess)
        for guess in (0.4, 0.5)
    ]
    expected = np.mean((rows[2][:, 0] > 0) == rows[3])
    assert [answer.value for answer in answers] == pytest.approx([expected, expected])
    np.testing.assert_array_equal(np.asarray(X), rows[2])


def test_rows_of_a_choice_and_of_a_guess_are_not_changed(rows):
    X, guess_rows = rows[2].copy(), rows[0][:100].copy()
    scaled = _scaled(copy=False).fit(rows[0].copy(), rows[1])
    holdout = Holdout(X, rows[3], ledger=":memory:")
    holdout.select([scaled, LogisticRegression().fit(rows[0], rows[1])], scoring="f1_macro", epsilon=None)
    StableHoldoutScorer("roc_auc", holdout)(scaled, guess_rows, rows[1][:100])
    np.testing.assert_array_equal(X, rows[2])
    np.testing.assert_array_equal(guess_rows, rows[0][:100])


def test_a_frame_keeps_its_columns(rows):
    train, X = (pd.DataFrame(part[:, :2], columns=["a", "b"]) for part in (rows[0], rows[2]))
    model = make_pipeline(FunctionTransformer(_with_ratio), StandardScaler(), LogisticRegression())
    model.fit(train.copy(), rows[1])
    holdout = Holdout(X, rows[3], ledger=":memory:")
    verdicts = {holdout.certify(model, scoring="accuracy", guess=guess).verdict for guess in (0.5, 0.6)}
    assert verdicts == {"exact"}
    assert list(X.columns) == ["a", "b"]


def test_labels_that_a_loss_or_their_owner_changes_are_not_the_holdouts(rows, model):
    def loss(y, outputs):
        y -= outputs
        return -np.abs(y)

    y = rows[3].copy()
    holdout = Holdout(rows[2], y, ledger=":memory:")
    before = holdout.certify(model, scoring="accuracy", guess=0.5)
    value = holdout.certify(model, scoring=Metric(loss, kind="mean", range=(-1, 0)), guess=-0.5).value
    assert value == pytest.approx(before.value - 1.0, abs=0.01)
    assert holdout.certify(model, scoring="accuracy", guess=0.6).value == before.value
    np.testing.assert_array_equal(y, rows[3])
    y[:] = 1 - y
    assert holdout.certify(model, scoring="accuracy", guess=0.7).value == before.value


@pytest.mark.parametrize("ask", ["winner", 2, "candidates"])
def test_a_search_over_models_that_work_in_place(ask, rows, tmp_path):
    X, y = np.concatenate([rows[0], rows[2]]) * 100.0 + 50.0, np.concatenate([rows[1], rows[3]])
    before, grid, found = X.copy(), {"logisticregression__C": [0.01, 1.0]}, []
    for copy in (True, False):
        search = ReusableHoldoutCV(GridSearchCV(_scaled(copy), grid), ask=ask, ledger=tmp_path / f"{copy}.db")
        found.append(search.fit(X, y))
        np.testing.assert_array_equal(X, before)
    assert found[0].best_score_interval_ == found[1].best_score_interval_
    np.testing.assert_array_equal(found[0].predict(X), found[1].predict(X.copy()))
