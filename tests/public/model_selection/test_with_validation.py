"""Rows to stop early by are cut from the training part of each fold."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ada import ReusableHoldoutCV, WithValidation

N = 300
X = np.c_[np.arange(N * 1.0), np.random.default_rng(0).normal(size=(N, 2))]
Y = np.arange(N) % 3


class Stopped(ClassifierMixin, BaseEstimator):
    """A model that notes the row numbers that it is fitted on and stopped by."""

    seen: list = []  # noqa: RUF012 - one list for all clones

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y, sample_weight=None, **beside):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        self.beside_, self.weight_ = beside, sample_weight
        rows = beside["eval_set"][0][0] if "eval_set" in beside else next(iter(beside.values()))
        rows = rows[0] if isinstance(rows, tuple) else rows
        type(self).seen.append((set(np.asarray(X)[:, 0]), set(np.asarray(rows)[:, 0])))
        return self

    def predict(self, X):
        return np.resize(self.classes_, len(X))


@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_no_model_is_stopped_by_a_row_that_judges_it(ask, tmp_path):
    Stopped.seen.clear()
    grid = GridSearchCV(WithValidation(Stopped(), validation_fraction=0.2), {"estimator__depth": [1, 2]})
    search = ReusableHoldoutCV(grid, ask=ask, holdout=np.arange(N) >= 200, ledger=tmp_path / "a.db").fit(X, Y)
    assert search.best_answer_.answered
    assert len(Stopped.seen) >= 3
    for fitted, stopped in Stopped.seen:
        assert not fitted & stopped
        assert max(fitted | stopped) < 200.0
        assert len(stopped) == pytest.approx(0.2 * (len(fitted) + len(stopped)), abs=1)
    fold = set.union(*Stopped.seen[0])
    assert len(fold) < 200  # of a fold, its own training part


FORMS = {
    "eval_set": lambda X, y: {"eval_set": [(X, y)]},
    "validation_data": lambda X, y: {"validation_data": (X, y)},
    "X_val": lambda X, y: {"X_val": X, "y_val": y},
    "function": lambda X, y: {"watched": X, "labels": y},
}


@pytest.mark.parametrize("frame", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_rows_are_passed_as_the_model_takes_them(form, frame):
    rows = pd.DataFrame(X, columns=["a", "b", "c"]) if frame else X
    how = FORMS[form] if form == "function" else form
    model = WithValidation(Stopped(), passed_as=how).fit(rows, Y, np.arange(N) + 1.0)
    got = model.estimator_
    (fitted, stopped), found = Stopped.seen[-1], FORMS[form](None, None)
    assert set(got.beside_) == set(found)
    np.testing.assert_array_equal(got.weight_, np.array(sorted(fitted)) + 1.0)
    assert len(fitted) + len(stopped) == N
    labels = got.beside_.get("y_val", got.beside_.get("labels"))
    if labels is not None:  # the classes have the same shares on both sides
        assert np.bincount(labels).tolist() == [10, 10, 10]


@pytest.mark.parametrize("form", ["eval_set", "validation_data", "X_val"])
def test_rows_are_passed_by_the_name_that_fit_has(form):
    class Named(Stopped):
        fit = eval(  # the parameters of fit are what is tested
            f"lambda self, X, y, {form}=None, y_val=None: Stopped.fit(self, X, y, **{{{form!r}: {form}}})",
            {"Stopped": Stopped},
        )

    got = WithValidation(Named()).fit(X, Y).estimator_.beside_
    assert set(got) == {form}
    assert got[form] is not None


def test_a_model_that_takes_no_rows_is_refused_with_what_to_do(sentence):
    with pytest.raises(ValueError, match=sentence("passed_as", "WithValidation")) as refused:
        WithValidation(Ridge()).fit(X, Y)
    assert "Its fit takes none of eval_set, validation_data, X_val: give a function" in str(refused.value)


@pytest.mark.parametrize("model", [LogisticRegression(), Ridge(), Stopped()])
def test_it_is_what_the_model_is(model):
    made = WithValidation(model)
    assert (is_classifier(made), is_regressor(made)) == (is_classifier(model), is_regressor(model))
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        assert hasattr(made, name) == hasattr(model, name)
    assert repr(clone(made)) == repr(made)
    for call in (made.score, lambda X, y: made.predict(X)):
        with pytest.raises(NotFittedError):
            call(X, Y)
    assert not hasattr(made, "classes_")


def test_it_serves_models_of_scikit_learn_in_pipelines_too(tmp_path):
    pytest.importorskip("sklearn", minversion="1.7")
    y = (X[:, 1] > 0).astype(int)
    model = HistGradientBoostingClassifier(max_iter=5, early_stopping=True, random_state=0)
    pipe = make_pipeline(StandardScaler(), WithValidation(model))
    grid = GridSearchCV(pipe, {"withvalidation__estimator__max_leaf_nodes": [3, 5]}, cv=2, scoring="roc_auc")
    search = ReusableHoldoutCV(grid, ledger=tmp_path / "a.db").fit(X, y)
    assert search.best_score_interval_[0] > 0.6
    best = search.best_estimator_[-1]
    assert best.n_features_in_ == 3
    assert best.score(X, y) == best.estimator_.score(X, y)


@pytest.mark.parametrize(
    ("params", "name"),
    [({"passed_as": "eval"}, "passed_as"), ({"validation_fraction": 1.0}, "validation_fraction")],
)
def test_what_cannot_be_is_refused(params, name, sentence):
    with pytest.raises(ValueError, match=sentence(name, "WithValidation")):
        WithValidation(Stopped(), **params).fit(X, Y)


@pytest.mark.parametrize(
    ("library", "make"),
    [
        ("lightgbm", lambda of: of.LGBMClassifier(n_estimators=20, early_stopping_round=2, verbose=-1)),
        ("xgboost", lambda of: of.XGBClassifier(n_estimators=20, early_stopping_rounds=2)),
        (
            "catboost",
            lambda of: of.CatBoostClassifier(
                n_estimators=20, early_stopping_rounds=2, verbose=0, allow_writing_files=False
            ),
        ),
    ],
)
def test_it_serves_boosters(library, make, tmp_path):
    model = WithValidation(make(pytest.importorskip(library)))
    y = (X[:, 1] > 0).astype(int)
    search = ReusableHoldoutCV(GridSearchCV(model, {}, cv=2), ledger=tmp_path / "a.db").fit(X, y)
    assert search.best_score_interval_[0] > 0.6
