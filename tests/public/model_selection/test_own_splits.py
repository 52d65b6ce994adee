"""A search's own splits, row by row: of the rows passed to fit, whatever the holdout takes of these."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, TimeSeriesSplit

from sklearn_ada import Holdout
from tests.support.searches import grid

N = 400
BLOCKS = np.arange(N) // 100
LAST = np.arange(N) >= 300


def pairs():
    return [(np.flatnonzero(block != BLOCKS), np.flatnonzero(block == BLOCKS)) for block in range(4)]


def masks():
    return [(block != BLOCKS, block == BLOCKS) for block in range(4)]


class OnceOnly:
    """A splitter that can be used once and not be copied, for the rows of X."""

    def __init__(self):
        self.splits = (number for number in [0])

    def split(self, X, y=None, groups=None):
        for _ in self.splits:
            yield from KFold(3).split(X)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3


GIVEN = {
    "list": pairs, "masks": masks, "generator": lambda: iter(pairs()),
    "predefined": lambda: PredefinedSplit(BLOCKS),
}  # fmt: skip


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize(
    "holdout",
    [
        pytest.param(0.25, id="share"),
        pytest.param(np.arange(N) % 4 == 1, id="mask", marks=pytest.mark.thorough),
    ],
)
def test_a_split_given_by_rows_is_of_these_rows_without_the_holdouts(given, holdout, searched, recorder):
    model = recorder["classifier"]
    search = searched(grid(model(), [2], cv=GIVEN[given]()), holdout=holdout)
    *folds, kept = [{int(row) for row in rows} for rows in model.fitted_on[:5]]
    assert len(kept) == 300  # the refit
    assert folds == [{row for row in kept if BLOCKS[row] != block} for block in range(4)]
    assert search.n_splits_ == 4


def test_a_generator_is_walked_through_once_and_not_before_the_parameters_are_checked(searched):
    splits = iter(pairs())
    with pytest.raises(ValueError, match="ask"):
        searched(grid(cv=splits), ask="loser")
    assert len(list(splits)) == 4


def test_with_a_given_holdout_all_splits_are_as_they_were(numbered, recorder, wrap, tmp_path):
    X, y = numbered[0], numbered[1]["classifier"]
    holdout = Holdout(X[LAST], y[LAST], ledger=tmp_path / "ledger.db")
    model = recorder["classifier"]
    splits = iter([(np.arange(200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))])
    wrap(grid(model(), [2], cv=splits), holdout=holdout).fit(X[~LAST], y[~LAST])
    assert [len(rows) for rows in model.fitted_on[:2]] == [200, 200]


SPLITTER = OnceOnly()  # that cannot be copied; the others look at their rows


@pytest.mark.parametrize("cv", [SPLITTER, None, 5, KFold(3), GroupKFold(3)])
def test_a_splitter_stays_as_it_is(cv, searched):
    search = searched(grid(cv=cv), passed={"groups": np.arange(N) // 4})
    assert search.search_.cv is cv if cv is SPLITTER else repr(search.search_.cv) == repr(cv)
    assert search.best_answer_.answered


def test_a_split_of_which_the_holdout_leaves_nothing_is_left_out_or_refused(searched, sentence):
    assert searched(grid(cv=pairs()), holdout=LAST).n_splits_ == 3  # the last block is the holdout
    with pytest.raises(ValueError, match=sentence("search") + ".*holdout=mask"):
        searched(grid(cv=pairs()[3:]), holdout=LAST)
    with pytest.raises(ValueError, match="No fits were performed") as caught:
        searched(grid(cv=[]), holdout=LAST)
    assert "parameter of" not in str(caught.value)  # the search says what is wrong with none


def test_masks_of_the_training_rows_alone_are_taken_as_such(searched, recorder):
    model = recorder["classifier"]
    within = [(np.arange(300) < 200, np.arange(300) >= 200)]
    searched(grid(model(), [2], cv=within), holdout=LAST)
    assert [sorted(rows) for rows in model.fitted_on[:2]] == [list(range(200)), list(range(300))]


def test_a_generator_of_splits_in_time_is_seen_as_such(numbered, refused):
    refused("holdout", "np.arange", search=grid(cv=TimeSeriesSplit(3).split(numbered[0])))
