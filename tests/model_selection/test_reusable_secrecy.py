"""A fitted search shows and pickles no row of the holdout, and no secret."""

import copy
import pickle
import struct

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.holdout import HoldoutReport

MARKER = 987654.125
BYTES = struct.pack("<d", MARKER)
HOLDOUT = np.arange(400) % 4 == 1


@pytest.fixture(scope="module")
def marked(numbered):
    """Rows of which those of the holdout, and only those, hold a marker."""
    X = numbered[0].copy()
    X[HOLDOUT, 0] = MARKER
    return X, numbered[1]


def fitted(marked, folder, ask="candidates", task="classifier", holdout=HOLDOUT):
    tree = DecisionTreeClassifier if task == "classifier" else DecisionTreeRegressor
    kind = GridSearchCV if ask != 3 else RandomizedSearchCV
    search = ReusableHoldoutCV(
        kind(tree(random_state=0), {"max_depth": [1, 2, 3]}, **({"n_iter": 3} if ask == 3 else {})),
        scoring=None if task == "classifier" else Metric("neg_mean_absolute_error", range=(-100, 0)),
        ask=ask, holdout=holdout, ledger=folder / "ledger.db",
    )  # fmt: skip
    return search.fit(marked[0], marked[1][task])


ASKS = ["candidates", "winner", 3]


@pytest.mark.parametrize("task", ["classifier", "regressor"])
@pytest.mark.parametrize("ask", ASKS)
def test_the_pickle_holds_no_row_of_the_holdout(task, ask, marked, tmp_path):
    search = fitted(marked, tmp_path, ask, task)
    assert BYTES in pickle.dumps(search.holdout_)  # it would be found
    assert BYTES not in pickle.dumps(search)


@pytest.mark.parametrize("ask", ["candidates", "winner", 3])
def test_the_pickle_holds_no_secret(ask, marked, tmp_path):
    search = fitted(marked, tmp_path, ask)
    assert search.holdout_.ledger.secret() not in pickle.dumps(search)


@pytest.mark.parametrize("ask", ASKS)
def test_the_pickle_of_a_search_with_a_given_holdout_holds_no_row_of_it(ask, marked, tmp_path):
    X, y = marked[0], marked[1]["classifier"]
    holdout = Holdout(X[HOLDOUT], y[HOLDOUT], ledger=tmp_path / "ledger.db")
    inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})
    search = ReusableHoldoutCV(inner, ask=ask, holdout=holdout).fit(X[~HOLDOUT], y[~HOLDOUT])
    assert BYTES not in pickle.dumps(search)


def scored(marked, folder):
    """Return a search whose mechanism is a scorer with a holdout of marked rows, and its X and y."""
    X, y = marked[0], marked[1]["classifier"]
    scorer = ThresholdoutScorer("f1", Holdout(X[HOLDOUT], y[HOLDOUT], ledger=folder / "ledger.db"))
    inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})
    return ReusableHoldoutCV(inner, ask="candidates", mechanism=scorer), (X[~HOLDOUT], y[~HOLDOUT])


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


@pytest.mark.parametrize("ask", ASKS)
def test_the_inner_search_holds_no_row_of_the_holdout(ask, marked, tmp_path):
    inner = fitted(marked, tmp_path, ask).search_
    held = [name for name, value in vars(inner).items() if BYTES in pickle.dumps(value)]
    assert held == []


def test_after_unpickling_the_results_and_the_report_are_there(marked, tmp_path):
    search = fitted(marked, tmp_path)
    again = pickle.loads(pickle.dumps(search))
    assert isinstance(again.holdout_, HoldoutReport)
    assert again.holdout_ == search.holdout_.report()
    assert again.best_answer_ == search.best_answer_
    assert (again.predict(marked[0]) == search.predict(marked[0])).all()
    assert again.score(marked[0], marked[1]["classifier"]) == search.score(marked[0], marked[1]["classifier"])


def test_an_unfitted_search_keeps_its_given_holdout_when_pickled(marked, tmp_path):
    X, y = marked[0], marked[1]["classifier"]
    holdout = Holdout(X[HOLDOUT], y[HOLDOUT], ledger=tmp_path / "ledger.db")
    search = ReusableHoldoutCV(
        GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1]}), holdout=holdout
    )
    pickle.loads(pickle.dumps(search)).fit(X[~HOLDOUT], y[~HOLDOUT])
    assert holdout.report().asked["certify"] == 1


def test_a_deep_copy_of_a_fitted_search_can_be_fitted_again(marked, tmp_path):
    X, y = marked[0], marked[1]["classifier"]
    holdout = Holdout(X[HOLDOUT], y[HOLDOUT], ledger=tmp_path / "ledger.db")
    search = ReusableHoldoutCV(
        GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1]}), holdout=holdout
    ).fit(X[~HOLDOUT], y[~HOLDOUT])
    copy.deepcopy(search).fit(X[~HOLDOUT], y[~HOLDOUT])


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_nothing_that_is_shown_holds_a_value_of_the_holdout(ask, marked, tmp_path):
    search = fitted(marked, tmp_path, ask)
    shown = [search, search.search_, search.search_.scorer_, search.holdout_, search.holdout_.report()]
    shown += [search.answers_, search.best_answer_, search.cv_results_, search._repr_html_()]
    text = " ".join(f"{thing!r} {thing!s}" for thing in shown)
    assert "987654" not in text
    assert search.holdout_.ledger.secret().hex() not in text


def test_the_ledger_file_holds_no_row_of_the_holdout(marked, tmp_path):
    fitted(marked, tmp_path)
    content = (tmp_path / "ledger.db").read_bytes()
    assert BYTES not in content
    assert b"987654" not in content
