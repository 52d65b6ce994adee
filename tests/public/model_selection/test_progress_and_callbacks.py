"""Callbacks and progress bars of scikit-learn 1.9, verbose= of every version, stages, and who asked."""

import pickle
import re
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from sklearn_ada import Holdout, ReusableHoldoutCV
from tests.support.ledgers import bodies
from tests.support.searches import TREE, grid

has_callbacks = pytest.mark.skipif(
    tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9),
    reason="scikit-learn has callbacks from 1.9 on",
)


class Watch:
    """A callback that remembers its calls, and the rows that it is shown."""

    def __init__(self):
        self.calls, self.rows, self.fitting = [], set(), 0

    def setup(self, estimator, context):
        self.fitting += 1
        self.calls.append("setup")

    def on_fit_task_begin(self, estimator, context, *, X, y):
        self.calls.append(f"begin {context.task_name}")
        if X is not None:
            self.rows |= set(np.asarray(X)[:, 0].astype(int))

    def on_fit_task_end(self, estimator, context, *, X, y):
        self.calls.append(f"end {context.task_name}")

    def teardown(self, estimator, context):
        self.fitting -= 1
        self.calls.append("teardown")


class Passed(Watch):
    """A callback that is passed on to what is inside, to any depth."""

    max_propagation_depth = None


def depths(ask="winner", **params):
    return grid(values=[1, 2, 3], cv=2 if ask == "winner" else None, **params)


@pytest.fixture
def data(numbered):
    return numbered[0], numbered[1]["classifier"]


# callbacks


@has_callbacks
@pytest.mark.parametrize("kind", [Watch, Passed])
@pytest.mark.parametrize("where", ["around", pytest.param("within", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(("ask", "evaluations"), [("winner", 6), ("candidates", 3)])
def test_a_callback_is_called_for_all_that_the_search_does_and_shown_no_row_of_the_holdout(
    ask, evaluations, where, kind, data, wrap
):
    watch = kind()
    search = wrap(depths(ask), ask=ask, holdout=np.arange(400) >= 300)
    (search if where == "around" else search.search).set_callbacks(watch)
    search.fit(*data)
    assert watch.calls.count("setup") == watch.calls.count("teardown") == 1
    assert watch.calls.count("begin candidate-split-evaluation") == evaluations
    assert watch.calls.count("end candidate-split-evaluation") == evaluations
    assert watch.rows == set(range(300))
    assert search.best_answer_.answered


@has_callbacks
def test_callbacks_go_with_clones_and_end_with_an_empty_call(data, wrap):
    watch = Watch()
    search = clone(wrap(depths()).set_callbacks(watch)).fit(*data)
    assert watch.calls
    calls = list(watch.calls)
    search.set_callbacks().fit(*data)
    assert watch.calls == calls
    assert pickle.loads(pickle.dumps(search)).best_score_ == search.best_score_


@has_callbacks
def test_no_callbacks_where_the_search_takes_none_and_only_such_as_scikit_learn_takes(wrap):
    class Foreign(GridSearchCV):
        @property
        def set_callbacks(self):
            raise AttributeError("no callbacks here")

    assert not hasattr(wrap(Foreign(TREE, {"max_depth": [1]})), "set_callbacks")
    with pytest.raises(TypeError, match="FitCallback"):
        wrap().set_callbacks(print)


@has_callbacks
def test_the_search_that_is_kept_has_no_callbacks_of_the_wrapper_and_a_failed_fit_leaves_none(data, wrap):
    watch = Watch()
    search = wrap(grid(cv=1000)).set_callbacks(watch)
    with pytest.raises(ValueError, match="n_splits=1000"):
        search.fit(*data)
    assert watch.fitting == 0
    search.set_params(search__cv=2).fit(*data)
    calls = list(watch.calls)
    search.search_.fit(*data)
    assert watch.calls == calls


@has_callbacks
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_a_search_around_the_wrapped_search_reports_both(n_jobs, data):
    watch, how = Passed(), {"cv": 2, "n_jobs": n_jobs, "error_score": "raise"}
    outer = GridSearchCV(ReusableHoldoutCV(depths()), {"search__cv": [2, 3]}, **how).set_callbacks(watch)
    outer.fit(*data)
    assert watch.fitting == 0
    begun, ended = ([call for call in watch.calls if call.startswith(word)] for word in ("begin", "end"))
    assert len(begun) == len(ended)
    if n_jobs == 1:
        assert watch.calls.count("setup") == 1
        # four fits of the wrapper and one refit, each with its own evaluations
        assert watch.calls.count("begin candidate-split-evaluation") > 4 * 6
    assert not hasattr(outer.best_estimator_, "_parent_callback_ctx")


SEARCHES = [depths(), RandomizedSearchCV(TREE, {"max_depth": [1, 2, 3]}, n_iter=2)]


@has_callbacks
@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_the_progress_bar_of_scikit_learn_shows_the_search_to_its_end(ask, search, data, wrap, capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    wrap(clone(search).set_params(cv=None), ask=ask).set_callbacks(ProgressBar()).fit(*data)
    shown = capsys.readouterr().out
    assert type(search).__name__ in shown
    assert "100%" in shown


@has_callbacks
def test_one_progress_bar_is_enough(data, wrap):
    from sklearn.callback import ProgressBar

    search = wrap(depths().set_callbacks(ProgressBar())).set_callbacks(ProgressBar())
    search.fit(*data)  # two bars of one search raise a KeyError when it ends
    assert search.best_answer_.answered


@pytest.mark.parametrize(("ask", "folds"), [("winner", 2), ("candidates", 1)])
def test_verbose_of_the_search_prints_what_it_does(ask, folds, searched, capsys):
    searched(depths(ask, verbose=3), ask=ask)
    shown = capsys.readouterr().out
    assert f"Fitting {folds} folds for each of 3 candidates, totalling {3 * folds} fits" in shown
    assert shown.count("END") == 3 * folds


@pytest.mark.skipif(hasattr(GridSearchCV, "set_callbacks"), reason="scikit-learn has callbacks")
def test_before_1_9_there_are_no_callbacks(wrap):
    assert not hasattr(wrap(), "set_callbacks")


# stages of a wrapped search


def look_like_a_terminal(monkeypatch):
    """Call it within a test: `capsys` puts another stream in place after the fixtures are made."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)


def test_a_bar_is_shown_where_somebody_sees_it(searched, monkeypatch, capsys):
    pytest.importorskip("tqdm")
    look_like_a_terminal(monkeypatch)
    searched(ask=2, verbose=1)
    out, err = capsys.readouterr()
    assert "asking the holdout" not in out
    assert "[sklearn_ada] asking the holdout: 100%" in err
    assert "2/2" in err


@pytest.mark.parametrize(("verbose", "delay"), [(0, 3), (1, 0)])
def test_somebody_who_waits_for_three_seconds_sees_a_bar_without_asking(
    verbose, delay, searched, monkeypatch, capsys
):
    pytest.importorskip("tqdm")
    look_like_a_terminal(monkeypatch)
    bars = []
    monkeypatch.setattr("tqdm.auto.tqdm", lambda items, **how: bars.append(how) or items)
    searched(ask=2, verbose=verbose)
    assert [bar["delay"] for bar in bars] == [delay]


def test_without_tqdm_there_are_lines(searched, hidden, monkeypatch, capsys):
    look_like_a_terminal(monkeypatch)
    hidden("tqdm")
    searched(ask=2, verbose=1)
    assert capsys.readouterr().out.count("asking the holdout") == 2


def test_a_search_prints_nothing_unless_verbose(searched, capfd):
    searched(ask=2)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("ask", "last"), [(2, "asking the holdout 2 of 2"), ("candidates", "and asking about it")]
)
def test_each_stage_of_a_verbose_search_prints_a_line(ask, last, searched, capsys):
    searched(ask=ask, verbose=1)
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("[sklearn_ada] a new ledger begins at /")
    assert lines[1] == "[sklearn_ada] 100 rows are held out, 300 are for the search"
    assert lines[-2].endswith(last)
    assert re.match(r"\[sklearn_ada\] (CV|validation score|holdout:) \.\d+.* in \[\.\d+, ", lines[-1])
    assert err == ""


# who asked


@pytest.mark.parametrize("ask", ["winner", "candidates", 2])
def test_every_record_of_a_search_is_signed_and_another_name_shares_its_answers(ask, searched):
    search = searched(ask=ask, who="ada")
    assert search.get_params()["who"] == "ada"
    assert {body["who"] for body in bodies(search.holdout_) if "who" in body} == {"ada"}
    assert {entry.who for entry in search.holdout_.report().entries} == {"ada"}
    assert set(search.holdout_.report().asked_by) == {"ada"}
    second = searched(ask=ask, who="bob")
    assert second.best_answer_.repeated
    assert second.best_score_interval_ == search.best_score_interval_


def test_a_given_holdout_has_a_name_of_its_own(rows, tmp_path, wrap):
    given = Holdout(rows[2], rows[3], ledger=tmp_path / "given.db", who="ada")
    with pytest.raises(ValueError, match=r"a name \(who\) of its own"):
        wrap(holdout=given, who="bob").fit(rows[0], rows[1])
