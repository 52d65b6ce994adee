"""What a search shows as its score: the guess, until the value is published; and how precise a guess is."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_ada import ReusableHoldoutCV
from tests.support.ledgers import begun_as, bodies
from tests.support.searches import warned

HELD, TRAINING = 100, 300
HOLDOUT = np.arange(HELD + TRAINING) < HELD
BLOCKS = np.arange(TRAINING) // 60


class Column(ClassifierMixin, BaseEstimator):
    """Say what stands in a column."""

    def __init__(self, column=1):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column].astype(int)


class Probable(Column):
    """Say it with a probability, too."""

    def predict_proba(self, X):
        return 0.1 + 0.8 * np.eye(2)[self.predict(X)]


def rows(*columns):
    """Return rows whose columns are right on so many rows of the holdout, and of each block of 60."""
    y = np.arange(HELD + TRAINING) % 2
    right = [
        [np.arange(HELD) < held, *(np.arange(60) < one for one in np.broadcast_to(blocks, 5))]
        for held, blocks in columns
    ]
    said = [np.where(np.concatenate(one), y, 1 - y) for one in right]
    return np.column_stack([np.arange(len(y)), *said]), y


def searched(ledger, X, y, column=1, cv=None, search=GridSearchCV, **how):
    splits = PredefinedSplit(np.r_[np.full(HELD, -1), BLOCKS]) if cv is None else cv
    inner = search(Probable(), {"column": np.atleast_1d(column).tolist()}, cv=splits, **how)
    return ReusableHoldoutCV(inner, ledger=ledger, holdout=HOLDOUT).fit(X, y)


def as_recorded(score):
    """Return a score with the digits that records have of it."""
    return float(f"{score:.12g}")


def last_guess(search):
    return [body for body in bodies(search.holdout_) if "guess" in body][-1]["guess"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def test_two_searches_in_one_cell_are_told_apart_by_their_own_scores(path):
    X, y = rows((80, 48), (80, [48, 48, 49, 48, 48]))
    worse, better = (searched(path, X, y, column) for column in (1, 2))
    for search, right in ((worse, 240), (better, 241)):
        assert search.best_answer_.verdict == "agrees"
        assert search.best_score_ == search.search_.best_score_ == pytest.approx(right / TRAINING)
        assert search.best_answer_.value == pytest.approx(0.8, abs=0.005)
        low, high = search.best_score_interval_
        assert low < search.best_score_ < high
        assert re.search(r"\nCV \.80\d?, not contradicted by the holdout: in \[\.\d+, \.\d+\]$", repr(search))
    assert last_guess(better)["value"] == as_recorded(better.best_score_)
    assert max((worse, better), key=lambda each: each.best_score_) is better


def test_a_score_that_the_holdout_differs_from_stays_until_the_value_is_published(path):
    X, y = rows((40, 48))
    about = "The holdout differs from the score that the search found without it, 0.8"
    search, (_,) = warned(about, searched, path, X, y)
    low, high = search.best_score_interval_
    assert search.best_score_ == search.search_.best_score_ == pytest.approx(0.8)
    assert low < 0.4 < high < 0.8
    line = repr(search).splitlines()[-1]
    assert re.fullmatch(
        r"CV \.80\d?, contradicted by the holdout: about \.[34]\d+ in \[\.\d+, \.[4-7]\d+\]", line
    )
    assert line in search._repr_html_()
    assert len(repr(search).splitlines()) > 3
    again, (_,) = warned(about, searched, path, X, y)
    assert (again.best_score_, again.best_answer_.repeated) == (search.best_score_, True)
    search.publish()
    rerun, texts = warned("differs", searched, path, X, y)
    assert not texts
    for each in (search, rerun):
        assert each.best_score_ == each.best_answer_.value == 0.4
        line = repr(each).splitlines()[-1]
        assert re.fullmatch(r"published: \.40 in \[\.\d+, \.\d+\] \(holdout of 100 rows, 1 search\)", line)


def test_a_search_that_asks_about_candidates_shows_the_winners_validation_score(path):
    X, y = rows((80, 48), (70, 42))
    inner = GridSearchCV(Probable(), {"column": [1, 2]})
    how = {"ask": "candidates", "holdout": HOLDOUT, "validation": 0.31}
    search = ReusableHoldoutCV(inner, ledger=path, **how).fit(X, y)
    guesses = [body["guess"]["value"] for body in bodies(search.holdout_) if "guess" in body]
    assert search.best_params_ == {"column": 1}
    assert search.best_score_ == guesses[0] == guesses[-1]
    assert search.best_score_ != search.best_answer_.value


def test_a_search_with_another_metric_shows_the_guess_of_the_certified_one(path):
    X, y = rows((80, 48))
    inner = GridSearchCV(Column(), {"column": [1]}, scoring="balanced_accuracy")
    search = ReusableHoldoutCV(inner, ledger=path, holdout=HOLDOUT, scoring="accuracy").fit(X, y)
    assert last_guess(search)["value"] == as_recorded(search.best_score_)
    assert search.best_score_ == pytest.approx(0.8, abs=0.1)


SPLITS = {
    "folds": (KFold(5, shuffle=True, random_state=0), TRAINING),
    "each row": (LeaveOneOut(), TRAINING),
    "folds again and again": (RepeatedKFold(n_splits=5, n_repeats=3, random_state=1), TRAINING),
    "one fold": (PredefinedSplit(np.r_[np.full(HELD + 240, -1), np.zeros(60, int)]), 60),
    "ten rows": (ShuffleSplit(1, test_size=10, random_state=0), 10),
    "two parts of ten rows that overlap by half": (
        [(np.arange(200, 400), np.arange(100, 110)), (np.arange(200, 400), np.arange(105, 115))],
        1 / (5 * 0.1**2 + 10 * 0.05**2),
    ),
    "folds of two sizes": (
        [(np.arange(200, 400), np.arange(100, 110)), (np.arange(200, 400), np.arange(110, 150))],
        1 / (10 * 0.05**2 + 40 * 0.0125**2),
    ),
}


@pytest.mark.parametrize("kind", SPLITS)
def test_a_guess_is_worth_the_rows_that_the_folds_have_tested(kind, path):
    cv, worth = SPLITS[kind]
    X, y = rows((80, 48))
    X, y = X[order := np.r_[:HELD, HELD + np.random.default_rng(0).permutation(TRAINING)]], y[order]
    search = searched(path, X, y, cv=cv)
    assert last_guess(search)["size"] == pytest.approx(worth, rel=1e-5)
    assert search.best_score_ == search.search_.best_score_
    assert not search.best_answer_.certificate.vacuous


def test_a_halving_search_has_scored_on_a_part_of_the_rows(path):
    X, y = rows((80, 48), (70, 42), (60, 36))
    how = {"search": HalvingGridSearchCV, "factor": 2, "min_resources": 100, "random_state": 0}
    search = searched(path, X, y, [1, 2, 3], cv=5, **how)
    assert search.search_.n_resources_[-1] == 200
    assert last_guess(search)["size"] == pytest.approx(200)


VARIED = {"a little": ([50, 46, 48, 47, 49], TRAINING), "much": ([60, 30, 60, 45, 45], 3.4)}


@pytest.mark.parametrize("kind", VARIED)
def test_folds_that_vary_beyond_sampling_make_a_guess_less_precise(kind, path):
    blocks, worth = VARIED[kind]
    X, y = rows((80, blocks))
    search = searched(path, X, y)
    assert last_guess(search)["size"] == pytest.approx(worth, rel=0.1)
    assert last_guess(search)["value"] == pytest.approx(0.8)
    nats = search.holdout_.report().nats
    assert last_guess(searched(path, X, y)) == last_guess(search)
    assert search.holdout_.report().nats < nats + 0.02


def test_the_cell_of_a_guess_that_varies_is_wider_and_an_older_ledger_keeps_its_own(tmp_path):
    widths = {}
    for kind, (blocks, _) in VARIED.items():
        for number in (1, 3):
            with begun_as(number):
                search = searched(tmp_path / f"{kind}{number}.db", *rows((80, blocks)))
            widths[kind, number] = search.best_answer_.half_width
    assert widths["much", 1] == widths["a little", 1]
    assert widths["much", 3] > 1.3 * widths["a little", 3]


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", "f1_macro", "matthews_corrcoef"])
def test_any_metric_takes_the_folds_for_its_guess(scoring, path):
    X, y = rows((80, 48))
    search = searched(path, X, y, scoring=scoring)
    assert last_guess(search)["value"] == as_recorded(search.search_.best_score_)
    assert 0.5 * TRAINING <= last_guess(search)["size"] <= TRAINING


WINDOWS = {
    "neg_brier_score": 1.35,
    "f1_macro": 2.0,
    "matthews_corrcoef": 2.0,
    "neg_root_mean_squared_error": 2.0,
}


@pytest.mark.parametrize("scoring", WINDOWS)
def test_a_window_is_announced_around_the_mean_of_the_folds(scoring, path):
    of_numbers = scoring == "neg_root_mean_squared_error"
    rng = np.random.default_rng(0)
    x = np.linspace(-2, 2, 600)
    y = x + rng.normal(size=600) * (rng.random(600) < 0.1 + 0.05 * x)
    labels = y if of_numbers else (y + rng.normal(size=600) > 0).astype(int)
    model, values = (Ridge(), {"alpha": [1.0]}) if of_numbers else (LogisticRegression(), {"C": [1.0]})
    inner = GridSearchCV(model, values, scoring=scoring, cv=KFold(5, shuffle=True, random_state=0))
    search = ReusableHoldoutCV(inner, ledger=path, random_state=0).fit(x[:, None], labels)
    guess = last_guess(search)["value"]
    assert search.best_score_ == search.search_.best_score_
    assert guess == as_recorded(search.best_score_)
    window = next(body for body in bodies(search.holdout_) if "guess" in body)["mechanism"]
    # The lower end is farther away, of rows like these; around another value of theirs it would be less so.
    assert 1.0 < (guess - window["low"]) / (window["high"] - guess) < WINDOWS[scoring]


AT_ONCE = {
    "roc_auc": load_breast_cancer, "neg_log_loss": load_breast_cancer, "f1": load_breast_cancer,
    "accuracy": load_breast_cancer, "neg_mean_absolute_error": load_diabetes, "r2": load_diabetes,
}  # fmt: skip


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_score_that_is_no_count_is_rounded_to_the_steps_that_its_target_names(name, tmp_path):
    X, y = AT_ONCE[name](return_X_y=True)
    model = (DecisionTreeClassifier if AT_ONCE[name] is load_breast_cancer else DecisionTreeRegressor)(
        random_state=0
    )
    grid = GridSearchCV(model, {"max_depth": [1, 3]}, scoring=name)
    search = ReusableHoldoutCV(grid, ledger=tmp_path / "ledger.db", answers="exact").fit(X, y)
    held = np.ones(len(y), bool)
    held[search.train_indices_] = False
    by_hand = get_scorer(name)(search.best_estimator_, X[held], y[held])
    steps = re.search(r", rounded to steps of (\S+)$", search.best_score_target_)
    assert (steps is None) == (name in ("accuracy", "f1"))
    assert abs(search.best_score_ - by_hand) <= (1e-9 if steps is None else 0.51 * float(steps[1]))
    assert str(search.best_answer_).endswith(f"target: {search.best_score_target_}")
    counted = search.holdout_.ledger.read(lambda state: [*state.targets])
    assert not any("rounded" in target for target in counted)  # or each value would be a kind of its own
