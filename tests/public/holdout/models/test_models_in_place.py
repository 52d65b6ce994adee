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

    classes_ = np.array([0, 1])
    fitted_ = True

    def predict(self, X):
        labels = np.asarray(X)[:, 0] > 0
        X *= 0.0
        return labels.astype(int)


def scaled(copy):
    return make_pipeline(StandardScaler(copy=copy), LogisticRegression())


def with_ratio(frame):
    frame["ratio"] = frame.a / frame.b
    return frame


@pytest.fixture
def large(rows):
    """Training X and y, then holdout X and y, far from zero and of another scale."""
    return rows[0] * 100.0 + 50.0, rows[1], rows[2] * 100.0 + 50.0, rows[3]


@pytest.mark.parametrize(
    ("scoring", "settings"),
    [("accuracy", None), ("roc_auc", None), ("f1_macro", MedianSettings(method="exact"))],
)
def test_a_model_that_scales_in_place_is_asked_like_one_that_copies(scoring, settings, large, tmp_path):
    before, answers = large[2].copy(), []
    for copy in (True, False):
        holdout = Holdout(*large[2:], ledger=tmp_path / f"{copy}.db", random_state=0)
        asked = {"scoring": scoring, "purpose": "certify", "settings": settings}
        model = scaled(copy).fit(large[0].copy(), large[1])
        found = [holdouts.ask(holdout, model, guess=guess, **asked) for guess in (0.7, 0.8)]
        answers.append([(answer.value, answer.interval) for answer in found])
    assert answers[0] == answers[1]
    np.testing.assert_array_equal(large[2], before)


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_a_model_that_overwrites_its_rows_gets_a_copy(kind, rows):
    X = kind(rows[2].copy())
    holdout = Holdout(X, rows[3], ledger=":memory:")
    values = [holdout.certify(Overwriting(), scoring="accuracy", guess=guess).value for guess in (0.4, 0.5)]
    assert values == pytest.approx([np.mean((rows[2][:, 0] > 0) == rows[3])] * 2)
    np.testing.assert_array_equal(np.asarray(X), rows[2])


def test_rows_of_a_choice_and_of_a_guess_are_not_changed(rows, model):
    X, guess_rows, in_place = rows[2].copy(), rows[0][:100].copy(), scaled(copy=False)
    in_place.fit(rows[0].copy(), rows[1])
    holdout = Holdout(X, rows[3], ledger=":memory:")
    holdout.select([in_place, model], scoring="f1_macro", epsilon=None)
    StableHoldoutScorer("roc_auc", holdout)(in_place, guess_rows, rows[1][:100])
    np.testing.assert_array_equal(X, rows[2])
    np.testing.assert_array_equal(guess_rows, rows[0][:100])


def test_a_frame_keeps_its_columns(rows):
    train, X = (pd.DataFrame(part[:, :2], columns=["a", "b"]) for part in (rows[0], rows[2]))
    model = make_pipeline(FunctionTransformer(with_ratio), StandardScaler(), LogisticRegression())
    model.fit(train.copy(), rows[1])
    holdout = Holdout(X, rows[3], ledger=":memory:")
    assert {holdout.certify(model, scoring="accuracy", guess=g).verdict for g in (0.5, 0.6)} == {"exact"}
    assert list(X.columns) == ["a", "b"]


def test_labels_that_a_loss_or_their_owner_changes_are_not_the_holdouts(rows, model):
    def loss(y, outputs):
        y -= outputs
        return -np.abs(y)

    y = rows[3].copy()
    holdout = Holdout(rows[2], y, ledger=":memory:")
    before = holdout.certify(model, scoring="accuracy", guess=0.5).value
    value = holdout.certify(model, scoring=Metric(loss, kind="mean", range=(-1, 0)), guess=-0.5).value
    assert value == pytest.approx(before - 1.0, abs=0.01)
    assert holdout.certify(model, scoring="accuracy", guess=0.6).value == before
    np.testing.assert_array_equal(y, rows[3])
    y[:] = 1 - y
    assert holdout.certify(model, scoring="accuracy", guess=0.7).value == before


@pytest.mark.parametrize("ask", ["winner", 2, "candidates"])
def test_a_search_over_models_that_work_in_place_finds_what_copies_do(ask, large, tmp_path):
    X, y = np.concatenate([large[0], large[2]]), np.concatenate([large[1], large[3]])
    before, grid, found = X.copy(), {"logisticregression__C": [0.01, 1.0]}, []
    for copy in (True, False):
        search = ReusableHoldoutCV(GridSearchCV(scaled(copy), grid), ask=ask, ledger=tmp_path / f"{copy}.db")
        found.append(search.fit(X, y))
        np.testing.assert_array_equal(X, before)
    assert found[0].best_score_interval_ == found[1].best_score_interval_
    np.testing.assert_array_equal(found[0].predict(X), found[1].predict(X.copy()))
