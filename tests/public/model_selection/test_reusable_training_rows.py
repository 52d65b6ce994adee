"""No row of the holdout is in any training set, shown by the rows that models were fitted on."""

import numpy as np
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    ShuffleSplit,
)

from sklearn_ada import Holdout, Metric
from tests.support.searches import grid

DEPTHS = [1, 2, 3]
SEARCHES = {
    "grid": lambda model: grid(model, DEPTHS),
    "random": lambda model: RandomizedSearchCV(model, {"max_depth": DEPTHS}, n_iter=3, random_state=0),
}
EVERYTHING = frozenset(np.arange(400.0))


def optuna(model):
    search = pytest.importorskip("optuna_integration").OptunaSearchCV
    law = pytest.importorskip("optuna").distributions.IntDistribution(1, 3)
    return search(model, {"max_depth": law}, n_trials=3, random_state=0)


def bayes(model):
    start = {"n_initial_points": 2}
    search = pytest.importorskip("skopt").BayesSearchCV
    return search(model, {"max_depth": (1, 3)}, n_iter=3, random_state=0, optimizer_kwargs=start)


LAW = {"max_depth": DEPTHS}
ADAPTIVE = {
    "halving grid": lambda model: HalvingGridSearchCV(model, LAW, min_resources=80),
    "halving random": lambda model: HalvingRandomSearchCV(model, LAW, n_candidates=3, min_resources=80),
    "optuna": optuna,
    "bayes": bayes,
}


@pytest.mark.parametrize("task", ["classifier", "regressor"])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("ask", ["candidates", "winner", 3])
def test_no_model_is_fitted_on_a_row_of_the_holdout(task, search, ask, recorder, searched):
    model = recorder[task]()
    scoring = None if task == "classifier" else Metric("neg_mean_absolute_error", range=(-100, 0))
    wrapped = searched(SEARCHES[search](model), y=task, scoring=scoring, ask=ask)
    asked = {rows for rows in model.predicted_on if len(rows) == 100}
    assert len(asked) == 1  # no other set of rows has the size of the holdout
    (holdout,) = asked
    assert len(model.fitted_on) >= 4
    assert not frozenset().union(*model.fitted_on) & holdout
    assert wrapped.best_estimator_.rows_ == EVERYTHING - holdout


HELD = np.arange(400) % 4 == 1
SPLITTER = ShuffleSplit(1, test_size=100, random_state=3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("search", "holdout"), [*((search, HELD) for search in ADAPTIVE), ("grid", HELD), ("grid", SPLITTER)]
)
@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_no_search_sees_the_rows_that_a_mask_or_a_splitter_names(search, ask, holdout, recorder, searched):
    model = recorder["classifier"]()
    wrapped = searched({**SEARCHES, **ADAPTIVE}[search](model), ask=ask, holdout=holdout)
    rows = np.flatnonzero(HELD) if holdout is HELD else next(SPLITTER.split(HELD))[1]
    held = frozenset(rows.astype(float))
    assert held in model.predicted_on
    assert not frozenset().union(*model.fitted_on) & held
    assert wrapped.best_estimator_.rows_ == EVERYTHING - held


def test_candidates_are_fitted_on_one_part_and_guessed_on_the_rest(recorder, searched):
    model = recorder["classifier"]()
    searched(grid(model, DEPTHS), ask="candidates", validation=0.2)
    assert sorted({len(rows) for rows in model.fitted_on}) == [240, 300]
    (guess,) = {rows for rows in model.predicted_on if len(rows) == 60}
    (fitted,) = {rows for rows in model.fitted_on if len(rows) == 240}
    assert not guess & fitted


def test_with_a_given_holdout_all_of_x_is_for_training(recorder, numbered, wrap, tmp_path):
    X, y = numbered[0], numbered[1]["classifier"]
    holdout = Holdout(X[300:], y[300:], ledger=tmp_path / "ledger.db")
    wrapped = wrap(grid(recorder["classifier"]()), holdout=holdout).fit(X[:300], y[:300])
    assert wrapped.best_estimator_.rows_ == frozenset(X[:300, 0])


def test_the_second_search_trains_on_the_same_rows(recorder, searched):
    first, second = (searched(grid(recorder["classifier"](), [depth])) for depth in (1, 2))
    assert first.best_estimator_.rows_ == second.best_estimator_.rows_ != EVERYTHING
