"""A search's own splits, row by row: of the rows passed to fit, whatever the holdout takes of these."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, PredefinedSplit, TimeSeriesSplit
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.model_selection.engines import folds_of_training_rows

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
def test_a_split_given_by_rows_is_of_these_rows_without_the_holdouts(
    given, holdout, numbered, recorder, tmp_path
):
    X, y = numbered
    model = recorder["classifier"]
    search = ReusableHoldoutCV(
        GridSearchCV(model(), {"max_depth": [2]}, cv=GIVEN[given]()), ask="winner", holdout=holdout,
        ledger=tmp_path / "ledger.db",
    ).fit(X, y["classifier"])  # fmt: skip
    *folds, kept = [{int(row) for row in rows} for rows in model.fitted_on[:5]]
    assert len(kept) == 300  # the refit
    assert folds == [{row for row in kept if BLOCKS[row] != block} for block in range(4)]
    assert search.n_splits_ == 4


def test_a_generator_is_walked_through_once_and_not_before_the_parameters_are_checked(numbered, tmp_path):
    splits = iter(pairs())
    search = ReusableHoldoutCV(
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=splits),
        ask="loser",
        ledger=tmp_path / "ledger.db",
    )
    with pytest.raises(ValueError, match="ask"):
        search.fit(numbered[0], numbered[1]["classifier"])
    assert len(list(splits)) == 4


def test_with_a_given_holdout_all_splits_are_as_they_were(numbered, recorder, tmp_path):
    X, y = numbered[0], numbered[1]["classifier"]
    holdout = Holdout(X[LAST], y[LAST], ledger=tmp_path / "ledger.db")
    model = recorder["classifier"]
    splits = iter([(np.arange(200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))])
    inner = GridSearchCV(model(), {"max_depth": [2]}, cv=splits)
    ReusableHoldoutCV(inner, ask="winner", holdout=holdout).fit(X[~LAST], y[~LAST])
    assert [len(rows) for rows in model.fitted_on[:2]] == [200, 200]


def test_a_splitter_that_cannot_be_copied_is_used_as_it_is(numbered, tmp_path):
    splitter = OnceOnly()
    inner = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=splitter)
    search = ReusableHoldoutCV(inner, ask="winner", ledger=tmp_path / "ledger.db")
    search.fit(numbered[0], numbered[1]["classifier"])
    assert search.search_.cv is splitter
    assert search.best_answer_.answered


def test_a_split_of_which_the_holdout_leaves_nothing_is_left_out_or_refused(sentence):
    train = np.arange(300)
    assert len(folds_of_training_rows(pairs(), train, N)) == 3  # the last block is the holdout
    with pytest.raises(ValueError, match=sentence("search") + ".*holdout=mask"):
        folds_of_training_rows(pairs()[3:], train, N)
    assert folds_of_training_rows([], train, N) == []  # the search says what is wrong with none


@pytest.mark.parametrize("cv", [None, 5, KFold(3), GroupKFold(3)], ids=repr)
def test_splitters_that_look_at_their_rows_stay_as_they_are(cv):
    assert folds_of_training_rows(cv, np.arange(300), N) is cv


def test_masks_of_the_training_rows_alone_are_taken_as_such():
    within = [(np.arange(300) < 200, np.arange(300) >= 200)]
    ((train, test),) = folds_of_training_rows(within, np.arange(100, 400), N)
    assert (train.tolist(), test.tolist()) == (list(range(200)), list(range(200, 300)))


def test_a_generator_of_splits_in_time_is_seen_as_such(numbered, tmp_path, sentence):
    splits = TimeSeriesSplit(3).split(numbered[0])
    inner = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=splits)
    search = ReusableHoldoutCV(inner, ask="winner", ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=sentence("holdout") + ".*np.arange"):
        search.fit(numbered[0], numbered[1]["classifier"])
    assert not list(tmp_path.iterdir())
