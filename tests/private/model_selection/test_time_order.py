"""A search that is ordered in time gets no holdout of random rows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

from sklearn_ada import Holdout, Metric
from sklearn_ada.model_selection.training_rows import is_ordered_in_time
from tests.support.searches import grid

N = 400
LAST, GROUPS = np.arange(N) >= 300, np.arange(N) // 4
SCORE = Metric("neg_mean_absolute_error", range=(-10, 0))
ROWS = np.arange(N, dtype=float).reshape(-1, 1)


class Forward:
    """Walks forward by blocks, as splitters for time series do; of no class that scikit-learn knows."""

    def __init__(self, n_splits=3):
        self.n_splits = n_splits

    def __repr__(self):
        return f"{type(self).__name__}({self.n_splits})"

    def split(self, X, y=None, groups=None):
        block = len(X) // (self.n_splits + 1)
        for k in range(1, self.n_splits + 1):
            yield np.arange(k * block), np.arange(k * block, (k + 1) * block)

    def get_n_splits(self, X=None, y=None, groups=None):
        return self.n_splits


class OneWay(Forward):
    """Consumes what it yields: a second walk would find nothing."""

    def __init__(self, splits):
        self.splits = splits

    def split(self, X, y=None, groups=None):
        yield from self.splits


LISTED = [(np.arange(100), np.arange(100, 150)), (np.arange(150), np.arange(150, 200))]
MASKED = [(np.arange(300) < 100, np.arange(300) >= 100), (np.arange(300) < 200, np.arange(300) >= 200)]
ORDERED = {
    "TimeSeriesSplit": TimeSeriesSplit(3),
    "with a gap": TimeSeriesSplit(2, gap=5),
    "a class of one's own": Forward(),
    "a list": LISTED,
    "masks": MASKED,
}


RANDOM = RandomizedSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, n_iter=2, cv=Forward())


@pytest.fixture
def series():
    """Rows whose first column is their number, and numbers that grow with it."""
    rng = np.random.default_rng(0)
    return np.c_[np.arange(N), rng.normal(size=(N, 2))], np.arange(N) / N + 0.1 * rng.normal(size=N)


@pytest.fixture
def wrapped(wrap):
    def make(cv, model=None, **params):
        inner = grid(Ridge() if model is None else model, cv=cv)
        return wrap(inner, **{"scoring": SCORE, **params})

    return make


SHARES = [
    *((cv, params) for cv in ORDERED for params in ({}, {"ask": 2}, {"holdout": 0.4})),
    *(("TimeSeriesSplit", params) for params in ({"ask": "candidates"}, {"search": RANDOM})),
]


@pytest.mark.parametrize(("cv", "params"), SHARES, ids=str)
def test_a_share_is_refused_before_anything_is_opened(cv, params, series, wrapped, tmp_path, sentence):
    with pytest.raises(ValueError, match=sentence("holdout", "ReusableHoldoutCV")) as caught:
        wrapped(ORDERED[cv]).set_params(**params).fit(*series, groups=GROUPS if "search" in params else None)
    text = str(caught.value)
    assert "interleaved with the training rows in time" in text
    assert "neither the guess nor the certificate would speak of the future" in text
    assert f"holdout=np.arange(len(y)) >= {1 - params.get('holdout', 0.25):g} * len(y)" in text
    assert not list(tmp_path.iterdir())


NOT_LAST = {
    "random splitter": ShuffleSplit(1, random_state=0),
    "first block": np.arange(N) < N // 4,
    "random mask": np.random.default_rng(0).random(N) < 0.25,
}


@pytest.mark.parametrize("holdout", NOT_LAST.values(), ids=NOT_LAST)
def test_a_holdout_that_is_not_the_last_block_is_refused_however_it_is_given(
    holdout, series, wrapped, tmp_path
):
    with pytest.raises(ValueError, match="must be the last block of rows"):
        wrapped(TimeSeriesSplit(3), holdout=holdout).fit(*series)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("cv", ORDERED)
def test_a_mask_of_the_last_block_works_and_keeps_the_order(cv, series, wrapped):
    X, y = series
    seen = []

    class Recording(Ridge):
        def fit(self, X, y):
            seen.append(X[:, 0].astype(int))
            return super().fit(X, y)

    search = wrapped(ORDERED[cv], model=Recording(), holdout=LAST).fit(X, y)
    assert search.best_score_target_.startswith("population neg_mean_absolute_error")
    low, high = search.best_score_interval_
    assert low < -np.abs(search.best_estimator_.predict(X[LAST]) - y[LAST]).mean() < high
    assert all((np.diff(rows) > 0).all() for rows in seen)
    assert max(seen, key=len).tolist() == list(range(300))
    if cv == "TimeSeriesSplit":
        assert {tuple(rows) for rows in seen} >= {tuple(train) for train, _ in ORDERED[cv].split(X[~LAST])}


def test_a_splitter_and_a_holdout_are_the_users_choice(series, wrapped, tmp_path):
    X, y = series
    block = PredefinedSplit([-1] * 300 + [0] * 100)
    assert wrapped(TimeSeriesSplit(3), holdout=block).fit(X, y).best_answer_.answered
    holdout = Holdout(X[300:], y[300:], ledger=tmp_path / "own.db")
    wrapped(TimeSeriesSplit(3), holdout=holdout).fit(X[:300], y[:300])
    assert holdout.report().asked["certify"] == 1


def test_a_classifier_can_be_searched_over_time_ordered_folds(series, wrap):
    X, y = series
    search = wrap(grid(LogisticRegression(), cv=TimeSeriesSplit(3)), holdout=LAST)
    assert search.fit(X / N, np.sin(40 * y) > 0).holdout_.n_rows == 100


@pytest.mark.parametrize(
    "cv",
    [
        None, 5, KFold(3), ShuffleSplit(2), RepeatedKFold(n_splits=2, n_repeats=2), GroupKFold(2),
        PredefinedSplit([0, 1] * (N // 2)), PredefinedSplit([-1] * 300 + [0] * 100), LISTED[:1],
        [*LISTED, LISTED[0][::-1]], [], "word", Forward(1),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_not_ordered_or_has_one_split_is_none_of_it(cv):
    groups = np.arange(N) % 7
    assert not is_ordered_in_time(cv, lambda: (ROWS, np.zeros(N), groups))


def test_looking_at_the_order_in_time_uses_up_no_splits():
    iterator, generator = iter(LISTED), (split for split in LISTED)
    lone, uncopied = OneWay(iter(LISTED)), OneWay(split for split in LISTED)
    ordered = [is_ordered_in_time(cv, lambda: (ROWS,)) for cv in (iterator, generator, lone, uncopied)]
    assert ordered == [False, False, True, False]
    assert [len(list(each)) for each in (iterator, generator, lone.splits, uncopied.splits)] == [2] * 4


def test_no_random_state_is_moved_by_looking():
    own = np.random.RandomState(0)
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - what splitters without a seed draw from
    for cv in (ShuffleSplit(3, random_state=own), ShuffleSplit(3), KFold(3, shuffle=True)):
        is_ordered_in_time(cv, lambda: (ROWS,))
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    assert own.random() == np.random.RandomState(0).random()


def test_a_splitter_that_cannot_split_tells_by_itself(series, wrapped):
    class Broken(Forward):
        def split(self, X, y=None, groups=None):
            raise RuntimeError("no such column")

    assert not is_ordered_in_time(Broken(), lambda: (ROWS,))
    with pytest.raises(RuntimeError, match="no such column"):
        wrapped(Broken()).fit(*series)
