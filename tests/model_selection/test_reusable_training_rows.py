"""No row of the holdout is in any training set, shown by the rows that models were fitted on."""

import numpy as np
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    ShuffleSplit,
)

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV

DEPTHS = {"max_depth": [1, 2, 3]}
SEARCHES = {
    "grid": lambda model: GridSearchCV(model, DEPTHS),
    "random": lambda model: RandomizedSearchCV(model, DEPTHS, n_iter=3, random_state=0),
}
EVERYTHING = frozenset(np.arange(400.0))


@pytest.mark.parametrize("task", ["classifier", "regressor"])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("ask", ["candidates", "winner", 3])
def test_no_model_is_fitted_on_a_row_of_the_holdout(task, search, ask, recorder, numbered, tmp_path):
    model = recorder[task]()
    scoring = None if task == "classifier" else Metric("neg_mean_absolute_error", range=(-100, 0))
    wrapped = ReusableHoldoutCV(
        SEARCHES[search](model), scoring=scoring, ask=ask, ledger=tmp_path / "ledger.db"
    )
    wrapped.fit(numbered[0], numbered[1][task])
    asked = {rows for rows in model.predicted_on if len(rows) == 100}
    assert len(asked) == 1  # no other set of rows has the size of the holdout
    (holdout,) = asked
    assert len(model.fitted_on) >= 4
    assert not frozenset().union(*model.fitted_on) & holdout
    assert wrapped.best_estimator_.rows_ == EVERYTHING - holdout


def optuna(model):
    search = pytest.importorskip("optuna_integration").OptunaSearchCV
    law = pytest.importorskip("optuna").distributions.IntDistribution(1, 3)
    return search(model, {"max_depth": law}, n_trials=3, random_state=0)


def bayes(model):
    start = {"n_initial_points": 2}
    search = pytest.importorskip("skopt").BayesSearchCV
    return search(model, {"max_depth": (1, 3)}, n_iter=3, random_state=0, optimizer_kwargs=start)


ADAPTIVE = {
    "halving grid": lambda model: HalvingGridSearchCV(model, DEPTHS, min_resources=80),
    "halving random": lambda model: HalvingRandomSearchCV(model, DEPTHS, n_candidates=3, min_resources=80),
    "optuna": optuna,
    "bayes": bayes,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("search", ADAPTIVE)
@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_no_refit_of_an_adaptive_search_sees_the_holdout(search, ask, recorder, numbered, tmp_path):
    model, held = recorder["classifier"](), np.arange(400) % 4 == 1
    wrapped = ReusableHoldoutCV(ADAPTIVE[search](model), ask=ask, holdout=held, ledger=tmp_path / "ledger.db")
    wrapped.fit(numbered[0], numbered[1]["classifier"])
    holdout = frozenset(np.flatnonzero(held).astype(float))
    assert holdout in model.predicted_on
    assert not frozenset().union(*model.fitted_on) & holdout
    assert wrapped.best_estimator_.rows_ == EVERYTHING - holdout


@pytest.mark.parametrize("ask", ["candidates", "winner"])
@pytest.mark.parametrize("holdout", [np.arange(400) % 4 == 1, ShuffleSplit(1, test_size=100, random_state=3)])
def test_a_mask_or_a_splitter_names_the_rows_that_are_not_trained_on(
    ask, holdout, recorder, numbered, tmp_path
):
    model = recorder["classifier"]()
    wrapped = ReusableHoldoutCV(
        GridSearchCV(model, DEPTHS), ask=ask, holdout=holdout, ledger=tmp_path / "ledger.db"
    )
    wrapped.fit(numbered[0], numbered[1]["classifier"])
    if hasattr(holdout, "split"):
        ((_, rows),) = holdout.split(numbered[0])
    else:
        rows = np.flatnonzero(holdout)
    assert not frozenset().union(*model.fitted_on) & frozenset(rows.astype(float))


def test_candidates_are_fitted_on_one_part_and_guessed_on_the_rest(recorder, numbered, tmp_path):
    model = recorder["classifier"]()
    wrapped = ReusableHoldoutCV(
        GridSearchCV(model, DEPTHS), ask="candidates", validation=0.2, ledger=tmp_path / "ledger.db"
    )
    wrapped.fit(numbered[0], numbered[1]["classifier"])
    sizes = sorted({len(rows) for rows in model.fitted_on})
    assert sizes == [240, 300]
    (guess,) = {rows for rows in model.predicted_on if len(rows) == 60}
    (fitted,) = {rows for rows in model.fitted_on if len(rows) == 240}
    assert not guess & fitted


def test_with_a_given_holdout_all_of_x_is_for_training(recorder, numbered, tmp_path):
    X, y = numbered[0], numbered[1]["classifier"]
    holdout = Holdout(X[300:], y[300:], ledger=tmp_path / "ledger.db")
    wrapped = ReusableHoldoutCV(GridSearchCV(recorder["classifier"](), DEPTHS), holdout=holdout)
    wrapped.fit(X[:300], y[:300])
    assert wrapped.best_estimator_.rows_ == frozenset(X[:300, 0])


def test_the_second_search_trains_on_the_same_rows(recorder, numbered, tmp_path):
    trained = []
    for depth in (1, 2):
        search = GridSearchCV(recorder["classifier"](), {"max_depth": [depth]})
        wrapped = ReusableHoldoutCV(search, ask="winner", ledger=tmp_path / "ledger.db")
        trained.append(wrapped.fit(numbered[0], numbered[1]["classifier"]).best_estimator_.rows_)
    assert trained[0] == trained[1] != EVERYTHING
