"""Columns of the model and of the holdout are compared by their names, before anything is paid."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ThresholdoutScorer

NAMES = ["age", "dose", "site"]
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 3))
Y = (ROWS[:, 0] > 0).astype(int)


def frame(names=NAMES, rows=ROWS):
    return pd.DataFrame(rows, columns=list(NAMES))[list(names)]


def polars_frame():
    return pytest.importorskip("polars").DataFrame(dict(zip(NAMES, ROWS.T, strict=True)))


class Careless(ClassifierMixin, BaseEstimator):
    """Keeps no names of columns."""

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), np.shape(X)[1]
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(float) > 0


class AsArray(TransformerMixin, BaseEstimator):
    """Makes an array of a table, and keeps nothing of it."""

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.asarray(X)


class LikeLightGBM(Careless):
    """Names the columns of an array itself, and writes a space as "_"."""

    def fit(self, X, y):
        names = getattr(X, "columns", [f"Column_{number}" for number in range(np.shape(X)[1])])
        self.feature_names_in_ = np.array([name.replace(" ", "_") for name in names])
        return super().fit(X, y)


MODELS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=2, random_state=0),
    "forest": lambda: RandomForestClassifier(3, random_state=0),
    "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "pipeline, own model": lambda: make_pipeline("passthrough", StandardScaler(), Careless()),
    "search": lambda: GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=2),
    "vote": lambda: VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier())]),
}
TABLES = {
    "other order": (frame, lambda: frame(NAMES[::-1]), "'age' as column 0.*'site'.*model's order"),
    "other names": (
        frame,
        lambda: frame().rename(columns={"dose": "dosage"}),
        "'dose' as column 1.*'dosage'.*was fitted on",
    ),
    "model of a frame, array": (frame, lambda: ROWS, "model of 'age', .*no names.*a frame of the columns"),
    "model of a frame, numbered frame": (frame, lambda: pd.DataFrame(ROWS), "no names"),
    "model of an array, frame": (lambda: ROWS, frame, r"without names, .*'age'.*X.to_numpy\(\)"),
    "model of a numbered frame, frame": (lambda: pd.DataFrame(ROWS), frame, "without names"),
    "polars, other order": (polars_frame, lambda: polars_frame()[NAMES[::-1]], "'age' as column 0"),
    "polars, array": (polars_frame, lambda: ROWS, "no names"),
}


def ask_each(holdout, model):
    """Put one question of each kind; return the errors."""
    asks = [
        lambda: holdout.certify(model, scoring="accuracy", guess=0.9),
        lambda: holdout.check(model, scoring="accuracy", guess=0.9),
        lambda: holdout.publish(model, scoring="accuracy", guess=0.9),
        lambda: holdout.check_many([model], scoring="accuracy", guesses=[0.9]),
        lambda: holdout.compare(Careless().fit(ROWS, Y), model, scoring="accuracy"),
        lambda: holdout.select([model], scoring="accuracy"),
        lambda: holdout.declare([model], scoring="accuracy"),
    ]
    for ask in asks:
        with pytest.raises(ValueError) as raised:  # noqa: PT011 its text is compared
            ask()
        yield str(raised.value)


@pytest.mark.parametrize(("fitted_on", "held", "expected"), TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_other_columns_are_refused_for_nothing_with_the_first_that_differ(make, fitted_on, held, expected):
    holdout, model = Holdout(held(), Y, ledger=":memory:"), make().fit(fitted_on(), Y)
    for text in ask_each(holdout, model):
        assert "fitted on the holdout's columns, in their order. Got" in text
        assert re.search(expected, text)
    assert holdout.ledger.read(lambda state: state.is_untouched)


SAME = {
    "frames": (frame, frame),
    "arrays": (lambda: ROWS, lambda: ROWS),
    "numbered frames": (lambda: pd.DataFrame(ROWS), lambda: pd.DataFrame(ROWS)),
    "a numbered frame and an array": (lambda: pd.DataFrame(ROWS), lambda: ROWS),
    "polars": (polars_frame, polars_frame),
    "pandas and polars": (frame, polars_frame),
}


@pytest.mark.parametrize(("fitted_on", "held"), SAME.values(), ids=SAME)
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_the_same_columns_are_answered_without_a_warning(make, fitted_on, held):
    model = make().fit(fitted_on(), Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = Holdout(held(), Y, ledger=":memory:").certify(model, scoring="accuracy", guess=0.9)
    assert answer.answered


UNNAMED = {
    "of no class of scikit-learn": Careless(),
    "behind a step that keeps no names": make_pipeline(AsArray(), LogisticRegression()),
    "with names of its own for arrays": LikeLightGBM(),
}


@pytest.mark.parametrize("model", UNNAMED.values(), ids=UNNAMED)
def test_models_that_keep_no_names_are_answered(model):
    fitted, holdout = model.fit(ROWS, Y), Holdout(ROWS, Y, ledger=":memory:")
    assert holdout.certify(fitted, scoring="accuracy", guess=0.9).answered
    if not isinstance(model, LikeLightGBM):
        of_frame = Holdout(frame(), 1 - Y, ledger=":memory:")
        assert of_frame.certify(fitted, scoring="accuracy", guess=0.1).answered


def test_names_that_a_library_has_rewritten_are_the_same():
    spaced = frame().rename(columns={"dose": "dose in mg"})
    model = LikeLightGBM().fit(spaced, Y)
    assert Holdout(spaced, Y, ledger=":memory:").certify(model, scoring="accuracy", guess=0.9).answered


def test_the_mend_goes_on_with_the_same_ledger(tmp_path):
    model = LogisticRegression().fit(frame(), Y)
    wrong = Holdout(frame(NAMES[::-1]), Y, ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=r"X\[list\(model.feature_names_in_\)\]"):
        wrong.certify(model, scoring="accuracy", guess=0.9)
    mended = Holdout(frame(NAMES[::-1])[list(model.feature_names_in_)], Y, ledger=tmp_path / "ledger.db")
    assert mended.certify(model, scoring="accuracy", guess=0.9).value > 0.9


def test_a_scorer_refuses_other_columns_for_nothing():
    holdout = Holdout(ROWS, Y, ledger=":memory:")
    scorer = ThresholdoutScorer("accuracy", holdout)
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1]}, scoring=scorer, cv=scorer.cv,
        refit=scorer.select_best, error_score="raise",
    )  # fmt: skip
    rows = pd.DataFrame(RNG.normal(size=(200, 3)), columns=NAMES)
    with pytest.raises(ValueError, match="where the holdout has no names"):
        search.fit(rows, (rows["age"] > 0).astype(int))
    assert holdout.report().asked == {"check": 0, "certify": 0}
