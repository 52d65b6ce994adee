"""Callbacks and progress bars of scikit-learn 1.9, and verbose= of every version, on a wrapped search."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import ReusableHoldoutCV
from tests.support.searches import grid

TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 3]}
has_callbacks = pytest.mark.skipif(
    tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9),
    reason="scikit-learn has callbacks from 1.9 on",
)


class Watch:
    """A callback that remembers what it is told, and the rows that it is shown."""

    def __init__(self):
        self.told, self.rows, self.fitting = [], set(), 0

    def setup(self, estimator, context):
        self.fitting += 1
        self.told.append("setup")

    def on_fit_task_begin(self, estimator, context, *, X, y):
        self.told.append(f"begin {context.task_name}")
        if X is not None:
            self.rows |= set(np.asarray(X)[:, 0].astype(int))

    def on_fit_task_end(self, estimator, context, *, X, y):
        self.told.append(f"end {context.task_name}")

    def teardown(self, estimator, context):
        self.fitting -= 1
        self.told.append("teardown")


class Passed(Watch):
    """A callback that is passed on to what is inside, to any depth."""

    max_propagation_depth = None


def wrap(tmp_path, ask="winner", search=None, **params):
    search = grid(values=[1, 2, 3], cv=2 if ask == "winner" else None) if search is None else search
    return ReusableHoldoutCV(search, ask=ask, ledger=tmp_path / "ledger.db", **params)


@has_callbacks
@pytest.mark.parametrize("kind", [Watch, Passed])
@pytest.mark.parametrize("where", ["around", pytest.param("within", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(("ask", "evaluations"), [("winner", 6), ("candidates", 3)])
def test_a_callback_is_told_what_the_search_does_and_shown_no_row_of_the_holdout(
    ask, evaluations, where, kind, numbered, tmp_path
):
    last = np.arange(400) >= 300
    watch = kind()
    search = wrap(tmp_path, ask, holdout=last)
    (search if where == "around" else search.search).set_callbacks(watch)
    search.fit(numbered[0], numbered[1]["classifier"])
    assert watch.told.count("setup") == watch.told.count("teardown") == 1
    assert watch.told.count("begin candidate-split-evaluation") == evaluations
    assert watch.told.count("end candidate-split-evaluation") == evaluations
    assert watch.rows == set(range(300))
    assert search.best_answer_.answered


@has_callbacks
def test_callbacks_go_with_clones_and_end_with_an_empty_call(numbered, tmp_path):
    watch = Watch()
    search = clone(wrap(tmp_path).set_callbacks(watch)).fit(numbered[0], numbered[1]["classifier"])
    assert watch.told
    told = list(watch.told)
    search.set_callbacks().fit(numbered[0], numbered[1]["classifier"])
    assert watch.told == told
    loaded = pickle.loads(pickle.dumps(search))
    assert loaded.best_score_ == search.best_score_


@has_callbacks
def test_no_callbacks_where_the_search_takes_none_and_only_such_as_scikit_learn_takes(tmp_path):
    class Foreign(GridSearchCV):
        @property
        def set_callbacks(self):
            raise AttributeError("no callbacks here")

    assert not hasattr(wrap(tmp_path, search=Foreign(TREE, GRID)), "set_callbacks")
    with pytest.raises(TypeError, match="FitCallback"):
        wrap(tmp_path).set_callbacks(print)


@has_callbacks
def test_the_search_that_is_kept_has_no_callbacks_of_the_wrapper_and_a_failed_fit_leaves_none(
    numbered, tmp_path
):
    watch = Watch()
    search = wrap(tmp_path, search=grid(values=[1, 2, 3], cv=1000)).set_callbacks(watch)
    with pytest.raises(ValueError, match="n_splits=1000"):
        search.fit(numbered[0], numbered[1]["classifier"])
    assert watch.fitting == 0
    search.set_params(search__cv=2).fit(numbered[0], numbered[1]["classifier"])
    told = list(watch.told)
    search.search_.fit(numbered[0], numbered[1]["classifier"])
    assert watch.told == told


@has_callbacks
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_a_search_around_the_wrapped_search_reports_both(n_jobs, numbered):
    watch = Passed()
    outer = GridSearchCV(
        ReusableHoldoutCV(grid(values=[1, 2, 3], cv=2), ask="winner"),
        {"search__cv": [2, 3]},
        cv=2,
        n_jobs=n_jobs,
        error_score="raise",
    ).set_callbacks(watch)
    outer.fit(numbered[0], numbered[1]["classifier"])
    assert watch.fitting == 0
    begun = [told for told in watch.told if told.startswith("begin")]
    ended = [told for told in watch.told if told.startswith("end")]
    assert len(begun) == len(ended)
    if n_jobs == 1:
        assert watch.told.count("setup") == 1
        # four fits of the wrapper and one refit, each with its own evaluations
        assert watch.told.count("begin candidate-split-evaluation") > 4 * 6
    assert not hasattr(outer.best_estimator_, "_parent_callback_ctx")


@has_callbacks
@pytest.mark.parametrize(
    "search", [GridSearchCV(TREE, GRID), RandomizedSearchCV(TREE, GRID, n_iter=2)], ids=repr
)
@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_the_progress_bar_of_scikit_learn_shows_the_search_to_its_end(
    ask, search, numbered, tmp_path, capsys
):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    wrap(tmp_path, ask, search=search).set_callbacks(ProgressBar()).fit(
        numbered[0], numbered[1]["classifier"]
    )
    shown = capsys.readouterr().out
    assert type(search).__name__ in shown
    assert "100%" in shown


@pytest.mark.parametrize(("ask", "folds"), [("winner", 2), ("candidates", 1)])
def test_verbose_of_the_search_prints_what_it_does(ask, folds, numbered, tmp_path, capsys):
    search = grid(values=[1, 2, 3], cv=2 if ask == "winner" else None, verbose=3)
    wrap(tmp_path, ask, search=search).fit(numbered[0], numbered[1]["classifier"])
    shown = capsys.readouterr().out
    assert f"Fitting {folds} folds for each of 3 candidates, totalling {3 * folds} fits" in shown
    assert shown.count("END") == 3 * folds


@pytest.mark.skipif(hasattr(GridSearchCV, "set_callbacks"), reason="scikit-learn has callbacks")
def test_before_1_9_there_are_no_callbacks(tmp_path):
    assert not hasattr(wrap(tmp_path), "set_callbacks")


@has_callbacks
def test_one_progress_bar_is_enough(tmp_path):
    from sklearn.callback import ProgressBar

    X, y = np.random.default_rng(0).normal(size=(120, 3)), np.arange(120) % 2
    inner = grid(values=[1, 2, 3], cv=2).set_callbacks(ProgressBar())
    search = wrap(tmp_path, search=inner).set_callbacks(ProgressBar())
    search.fit(X, y)  # two bars of one search raise a KeyError when it ends
    assert search.best_answer_.answered
