"""A fitted search shows and pickles no row of the holdout, and no secret."""

import copy
import pickle
import struct

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import RandomizedSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.holdout import HoldoutReport
from tests.support.searches import grid

MARKER = 987654.125
BYTES = struct.pack("<d", MARKER)
HOLDOUT = np.arange(400) % 4 == 1
DEPTHS = [1, 2, 3]


@pytest.fixture(scope="module")
def marked(numbered):
    """Rows of which those of the holdout, and only those, hold a marker."""
    X = numbered[0].copy()
    X[HOLDOUT, 0] = MARKER
    return X, numbered[1]


def fitted(marked, folder, ask="candidates", task="classifier", holdout=HOLDOUT):
    tree = (DecisionTreeClassifier if task == "classifier" else DecisionTreeRegressor)(random_state=0)
    inner = RandomizedSearchCV(tree, {"max_depth": DEPTHS}, n_iter=3) if ask == 3 else grid(tree, DEPTHS)
    metric = None if task == "classifier" else Metric("neg_mean_absolute_error", range=(-100, 0))
    search = ReusableHoldoutCV(inner, scoring=metric, ask=ask, holdout=holdout, ledger=folder / "ledger.db")
    return search.fit(marked[0], marked[1][task])


def beside(marked, folder):
    """Return a holdout of the marked rows, and X and y of the others."""
    X, y = marked[0], marked[1]["classifier"]
    return Holdout(X[HOLDOUT], y[HOLDOUT], ledger=folder / "ledger.db"), (X[~HOLDOUT], y[~HOLDOUT])


ASKS = ["candidates", "winner", 3]


@pytest.mark.parametrize("task", ["classifier", "regressor"])
@pytest.mark.parametrize("ask", ASKS)
def test_neither_the_pickle_nor_the_inner_search_holds_a_row_of_the_holdout_or_the_secret(
    task, ask, marked, tmp_path
):
    search = fitted(marked, tmp_path, ask, task)
    assert BYTES in pickle.dumps(search.holdout_)  # it would be found
    assert BYTES not in pickle.dumps(search)
    assert search.holdout_.ledger.secret() not in pickle.dumps(search)
    held = [name for name, value in vars(search.search_).items() if BYTES in pickle.dumps(value)]
    assert held == []


@pytest.mark.parametrize("ask", ASKS)
def test_the_pickle_of_a_search_with_a_given_holdout_holds_no_row_of_it(ask, marked, tmp_path):
    holdout, data = beside(marked, tmp_path)
    search = ReusableHoldoutCV(grid(values=DEPTHS), ask=ask, holdout=holdout).fit(*data)
    assert BYTES not in pickle.dumps(search)


def scored(marked, folder):
    """Return a search whose mechanism is a scorer with a holdout of marked rows, and its X and y."""
    holdout, data = beside(marked, folder)
    mechanism = ThresholdoutScorer("f1", holdout)
    return ReusableHoldoutCV(grid(values=DEPTHS), ask="candidates", mechanism=mechanism), data


ASKS = ["candidates", "winner", 3]


@pytest.mark.parametrize("ask", ASKS)
def test_the_pickle_of_a_search_whose_mechanism_is_a_scorer_holds_no_row_and_no_secret(ask, marked, tmp_path):
    search, data = scored(marked, tmp_path)
    pickled = pickle.dumps(search.set_params(ask=ask).fit(*data))
    assert BYTES not in pickled
    assert search.holdout_.ledger.secret() not in pickled
    again = pickle.loads(pickled)
    assert again.best_answer_ == search.best_answer_
    assert again.score(*data) == search.score(*data) == f1_score(data[1], search.predict(data[0]))


@pytest.mark.parametrize(
    "copied", [lambda search: pickle.loads(pickle.dumps(search)), clone, copy.deepcopy],
    ids=["pickle", "clone", "deepcopy"],
)  # fmt: skip
def test_an_unfitted_search_keeps_the_scorer_that_is_its_mechanism(copied, marked, tmp_path):
    search, data = scored(marked, tmp_path)
    copied(search).fit(*data)
    assert search.mechanism.holdout.report().asked == {"check": 3, "certify": 1}


def test_after_unpickling_the_results_and_the_report_are_there(marked, tmp_path):
    search = fitted(marked, tmp_path)
    again = pickle.loads(pickle.dumps(search))
    assert isinstance(again.holdout_, HoldoutReport)
    assert again.holdout_ == search.holdout_.report()
    assert again.best_answer_ == search.best_answer_
    assert (again.predict(marked[0]) == search.predict(marked[0])).all()
    assert again.score(marked[0], marked[1]["classifier"]) == search.score(marked[0], marked[1]["classifier"])


def test_an_unfitted_search_keeps_its_given_holdout_when_pickled_and_a_fitted_one_when_copied(
    marked, tmp_path
):
    holdout, data = beside(marked, tmp_path)
    search = ReusableHoldoutCV(grid(), holdout=holdout)
    pickle.loads(pickle.dumps(search)).fit(*data)
    assert holdout.report().asked["certify"] == 1
    copy.deepcopy(search.fit(*data)).fit(*data)


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_nothing_that_is_shown_or_stored_holds_a_value_of_the_holdout(ask, marked, tmp_path):
    search = fitted(marked, tmp_path, ask)
    shown = [search, search.search_, search.search_.scorer_, search.holdout_, search.holdout_.report()]
    shown += [search.answers_, search.best_answer_, search.cv_results_, search._repr_html_()]
    text = " ".join(f"{thing!r} {thing!s}" for thing in shown)
    assert "987654" not in text
    assert search.holdout_.ledger.secret().hex() not in text
    content = (tmp_path / "ledger.db").read_bytes()
    assert BYTES not in content
    assert b"987654" not in content
