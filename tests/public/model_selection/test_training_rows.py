"""No row of the holdout is in any training set, whatever chose the holdout and splits the other rows."""

import numpy as np
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GroupKFold,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    PredefinedSplit,
    RandomizedSearchCV,
    ShuffleSplit,
    TimeSeriesSplit,
)

from sklearn_ada import Holdout, Metric
from tests.support.searches import bayes_search, grid, optuna_search

N = 400
EVERYTHING = frozenset(np.arange(float(N)))
DEPTHS = [1, 2, 3]
LAW, THREE = {"max_depth": DEPTHS}, {"n_iter": 3, "optimizer_kwargs": {"n_initial_points": 2}}
SEARCHES = {
    "grid": lambda model: grid(model, DEPTHS),
    "random": lambda model: RandomizedSearchCV(model, LAW, n_iter=3, random_state=0),
    "halving grid": lambda model: HalvingGridSearchCV(model, LAW, min_resources=80),
    "halving random": lambda model: HalvingRandomSearchCV(model, LAW, n_candidates=3, min_resources=80),
    "optuna": lambda model: optuna_search(model, bounds=(1, 3), n_trials=3),
    "bayes": lambda model: bayes_search(model, (1, 3), **THREE),
}
HELD, LAST = np.arange(N) % 4 == 1, np.arange(N) >= 300
SPLITTER = ShuffleSplit(1, test_size=100, random_state=3)
CASES = [
    *((search, 0.25, ask) for search in ("grid", "random") for ask in ("candidates", "winner", 3)),
    *((search, HELD, ask) for search in SEARCHES if search != "random" for ask in ("candidates", "winner")),
    *(("grid", SPLITTER, ask) for ask in ("candidates", "winner")),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("search", "holdout", "ask"), CASES)
def test_no_search_fits_a_model_on_a_row_of_the_holdout(search, holdout, ask, recorder, searched):
    model = recorder["classifier"]()
    wrapped = searched(SEARCHES[search](model), ask=ask, holdout=holdout)
    held = EVERYTHING - set(wrapped.train_indices_)
    assert len(held) == 100
    assert held in model.predicted_on
    assert len(model.fitted_on) >= 4
    assert not frozenset().union(*model.fitted_on) & held
    assert wrapped.best_estimator_.rows_ == EVERYTHING - held
    if holdout is HELD:
        assert held == set(np.flatnonzero(HELD))
    elif holdout is SPLITTER:
        assert held == set(next(SPLITTER.split(HELD))[1])


@pytest.mark.parametrize("ask", ["candidates", "winner", 3])
def test_no_regressor_is_fitted_on_a_row_of_the_holdout(ask, recorder, searched):
    model, scoring = recorder["regressor"](), Metric("neg_mean_absolute_error", range=(-100, 0))
    wrapped = searched(grid(model, DEPTHS), y="regressor", scoring=scoring, ask=ask)
    (held,) = {rows for rows in model.predicted_on if len(rows) == 100}
    assert not frozenset().union(*model.fitted_on) & held
    assert wrapped.best_estimator_.rows_ == EVERYTHING - held


def test_candidates_are_fitted_on_one_part_and_guessed_on_the_rest(recorder, searched):
    model = recorder["classifier"]()
    searched(grid(model, DEPTHS), ask="candidates", validation=0.2)
    assert sorted({len(rows) for rows in model.fitted_on}) == [240, 300]
    (guess,) = {rows for rows in model.predicted_on if len(rows) == 60}
    (fitted,) = {rows for rows in model.fitted_on if len(rows) == 240}
    assert not guess & fitted


def test_the_second_search_trains_on_the_same_rows(recorder, searched):
    first, second = (searched(grid(recorder["classifier"](), [depth])) for depth in (1, 2))
    assert first.best_estimator_.rows_ == second.best_estimator_.rows_ != EVERYTHING


def test_with_a_given_holdout_all_of_x_is_for_training_and_splits_are_as_they_were(
    numbered, recorder, wrap, tmp_path
):
    X, y = numbered[0], numbered[1]["classifier"]
    holdout, model = Holdout(X[LAST], y[LAST], ledger=tmp_path / "ledger.db"), recorder["classifier"]()
    splits = iter([(np.arange(200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))])
    wrapped = wrap(grid(model, [2], cv=splits), holdout=holdout).fit(X[~LAST], y[~LAST])
    assert [len(rows) for rows in model.fitted_on[:2]] == [200, 200]
    assert wrapped.best_estimator_.rows_ == frozenset(X[:300, 0])


# A search's own splits: of the rows passed to fit, whatever the holdout takes of these.

BLOCKS = np.arange(N) // 100


def pairs():
    return [(np.flatnonzero(block != BLOCKS), np.flatnonzero(block == BLOCKS)) for block in range(4)]


GIVEN = {
    "list": pairs,
    "masks": lambda: [(block != BLOCKS, block == BLOCKS) for block in range(4)],
    "generator": lambda: iter(pairs()),
    "predefined": lambda: PredefinedSplit(BLOCKS),
}
HOLDOUTS = [pytest.param(0.25, id="share"), pytest.param(HELD, id="mask", marks=pytest.mark.thorough)]


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("holdout", HOLDOUTS)
def test_a_split_given_by_rows_is_of_these_rows_without_the_holdouts(given, holdout, searched, recorder):
    model = recorder["classifier"]
    search = searched(grid(model(), [2], cv=GIVEN[given]()), holdout=holdout)
    *folds, kept = [{int(row) for row in rows} for rows in model.fitted_on[:5]]
    assert len(kept) == 300  # the refit
    assert folds == [{row for row in kept if BLOCKS[row] != block} for block in range(4)]
    assert search.n_splits_ == 4


def test_masks_of_the_training_rows_alone_are_taken_as_such(searched, recorder):
    model = recorder["classifier"]
    within = [(np.arange(300) < 200, np.arange(300) >= 200)]
    searched(grid(model(), [2], cv=within), holdout=LAST)
    assert [sorted(rows) for rows in model.fitted_on[:2]] == [list(range(200)), list(range(300))]


def test_a_generator_is_walked_through_once_and_not_before_the_parameters_are_checked(searched):
    splits = iter(pairs())
    with pytest.raises(ValueError, match="ask"):
        searched(grid(cv=splits), ask="loser")
    assert len(list(splits)) == 4


def test_a_generator_of_splits_in_time_is_seen_as_such(numbered, refused):
    refused("holdout", "np.arange", search=grid(cv=TimeSeriesSplit(3).split(numbered[0])))


class OnceOnly:
    """A splitter that can be used once and not be copied."""

    def __init__(self):
        self.splits = (number for number in [0])

    def split(self, X, y=None, groups=None):
        for _ in self.splits:
            yield from KFold(3).split(X)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3


@pytest.mark.parametrize("cv", [OnceOnly(), None, 5, KFold(3), GroupKFold(3)])
def test_a_splitter_stays_as_it_is(cv, searched):
    search = searched(grid(cv=cv), passed={"groups": np.arange(N) // 4})
    assert search.search_.cv is cv if isinstance(cv, OnceOnly) else repr(search.search_.cv) == repr(cv)
    assert search.best_answer_.answered


def test_a_split_of_which_the_holdout_leaves_nothing_is_left_out_or_refused(searched, sentence):
    assert searched(grid(cv=pairs()), holdout=LAST).n_splits_ == 3  # the last block is the holdout
    with pytest.raises(ValueError, match=sentence("search") + ".*holdout=mask"):
        searched(grid(cv=pairs()[3:]), holdout=LAST)
    with pytest.raises(ValueError, match="No fits were performed") as caught:
        searched(grid(cv=[]), holdout=LAST)
    assert "parameter of" not in str(caught.value)  # the search says what is wrong with none
