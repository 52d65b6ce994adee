"""What models warn of on the holdout is kept quiet in every thread, and everything else is heard."""

import contextlib
import itertools
import logging
import math
import multiprocessing
import os
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.utils.parallel import Parallel, delayed

from sklearn_ada import Holdout, _notices
from sklearn_ada.accounting import FAILURES
from tests.support.processes import interpreter, together

MARKER = "987654"
N_ROWS = 60


def warn_of(row):
    warnings.warn(f"the row {row[0]} is strange", UserWarning, stacklevel=1)


class Warns:
    """A fitted model that warns of what it sees, quoting rows."""

    classes_ = np.array([0, 1])

    def __init__(self, how, tag=0):
        self.how, self.tag = how, tag

    def predict(self, X):
        self.how(X)
        return (np.arange(len(X)) + self.tag) % 2


def directly(X):
    for row in X[:5]:
        warn_of(row)
        time.sleep(1e-4)  # other threads go on meanwhile


def in_threads(X):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(warn_of, X[:5]))


def in_threads_of_joblib(X):
    joblib.Parallel(n_jobs=2, prefer="threads")(joblib.delayed(warn_of)(row) for row in X[:5])


def in_threads_of_scikit_learn(X):
    Parallel(n_jobs=2, prefer="threads")(delayed(warn_of)(row) for row in X[:5])


def in_a_thread_of_numpy_errors(X):
    warn_of(X[0])
    np.log(np.zeros(3) - 1.0)


WAYS = (directly, in_threads, in_threads_of_joblib, in_threads_of_scikit_learn, in_a_thread_of_numpy_errors)


NUMBERS = itertools.count()


def marked_holdout():
    """Return a holdout with a ledger of its own: in memory there is one for the same rows."""
    X = np.arange(3.0 * N_ROWS).reshape(N_ROWS, 3) + next(NUMBERS)
    X[:, 0] += int(MARKER) * 1e6
    return Holdout(X, np.arange(N_ROWS) % 2, ledger=":memory:", random_state=0)


@pytest.fixture
def holdout():
    return marked_holdout()


@pytest.fixture
def shown():
    """The texts of all warnings that are shown, but that answers certify nothing."""
    texts = []

    def show(message, *others):
        if not str(message).startswith("An answer of the holdout certifies nothing"):
            texts.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield texts


def ask_at_once(holdout, ways, n_threads, n_asks):
    """Ask about as many models from several threads."""

    def ask(who):
        for number in range(n_asks):
            way = ways[(who + number) % len(ways)]
            holdout.certify(Warns(way, who * n_asks + number), scoring="accuracy")

    together(*(lambda who=who: ask(who) for who in range(n_threads)))


@contextlib.contextmanager
def same_process_state():
    """Nothing that belongs to all threads is another one in the end."""

    def state():
        return warnings.filters, list(warnings.filters), warnings.showwarning, warnings._showwarnmsg

    before = state()
    yield
    after = state()
    assert after[0] is before[0]
    assert after[1:] == before[1:]


@pytest.mark.parametrize("way", [directly, in_threads, in_threads_of_joblib], ids=lambda way: way.__name__)
def test_threads_that_ask_at_once_show_no_row_and_leave_the_process_as_it_was(holdout, shown, way):
    with same_process_state():
        ask_at_once(holdout, [way], n_threads=4, n_asks=75)
    assert shown == []
    assert holdout.report().asked["certify"] == 300
    warnings.warn("heard", UserWarning, stacklevel=1)
    assert shown == ["heard"]


def test_models_that_use_scikit_learn_s_threads_show_no_row(holdout, shown):
    """Its workers set the filters of the process themselves: the list may be a copy, but an equal one."""
    before = list(warnings.filters)
    ask_at_once(holdout, WAYS, n_threads=4, n_asks=40)
    assert not [text for text in shown if MARKER in text]
    assert list(map(str, warnings.filters)) == list(map(str, before))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_one_look_shows_no_row_however_the_model_warns(holdout, shown, way):
    assert holdout.certify(Warns(way), scoring="accuracy").answered
    assert shown == []


def test_what_others_warn_of_meanwhile_is_heard(holdout, shown):
    """Of a thread that was there before, and of the one that asks, between its questions."""
    over, heard = threading.Event(), []

    def go_on():
        while not over.is_set():
            warnings.warn("of the user's own", UserWarning, stacklevel=1)
            heard.append(1)
            time.sleep(1e-4)

    thread = threading.Thread(target=go_on)
    thread.start()
    for number in range(50):
        holdout.certify(Warns(directly, number), scoring="accuracy")
        warnings.warn("between", UserWarning, stacklevel=1)
    over.set()
    thread.join()
    assert len(heard) > 50
    assert [shown.count("of the user's own"), shown.count("between")] == [len(heard), 50]
    assert not [text for text in shown if MARKER in text]


def test_threads_that_started_during_a_look_and_ask_themselves_are_heard(holdout, shown):
    """A model that takes its time looks all the while."""
    over = threading.Event()
    slow = threading.Thread(
        target=lambda: holdout.certify(Warns(lambda X: over.wait(30)), scoring="accuracy")
    )
    slow.start()
    other = marked_holdout()

    def ask():
        other.certify(Warns(directly), scoring="accuracy")
        warnings.warn("heard", UserWarning, stacklevel=1)

    together(ask)
    over.set()
    slow.join()
    assert shown == ["heard"]


def test_a_pool_that_lives_on_is_quiet_in_later_looks_too(holdout, shown):
    with ThreadPoolExecutor(2) as pool:

        def in_a_pool(X):
            list(pool.map(warn_of, X[:5]))

        for number in range(20):
            holdout.certify(Warns(in_a_pool, number), scoring="accuracy")
    assert shown == []


@pytest.mark.parametrize("waiting", [False, True])
def test_recording_warnings_in_another_thread_goes_on_working(holdout, waiting):
    """As pytest does it, before or while a model looks."""
    begun, over = threading.Event(), threading.Event()

    def look_long(X):
        begun.set()
        over.wait(30)
        warn_of(X[0])

    thread = threading.Thread(target=lambda: holdout.certify(Warns(look_long), scoring="accuracy"))
    if waiting:
        thread.start()
        assert begun.wait(30)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not waiting:
            thread.start()
            assert begun.wait(30)
        warnings.warn("mine", UserWarning, stacklevel=1)
        over.set()
        thread.join()
        warnings.warn("mine too", UserWarning, stacklevel=1)
    assert [str(each.message) for each in caught] == ["mine", "mine too"]


def test_a_model_that_records_its_own_warnings_gets_them_and_nobody_else_does(holdout, shown):
    """It predicts by them, here as elsewhere."""
    seen = []

    def record(X):
        with warnings.catch_warnings(record=True) as mine:
            warnings.simplefilter("always")
            directly(X)
        seen.append(len(mine))
        directly(X)

    with warnings.catch_warnings(record=True) as outer:
        warnings.simplefilter("always")
        assert holdout.certify(Warns(record), scoring="accuracy").answered
    assert seen == [5]
    assert not [each for each in outer if MARKER in str(each.message)]
    assert shown == []


@pytest.mark.parametrize("level", [1, 8, 100])
@pytest.mark.parametrize("action", ["default", "module", "once", "always"])
def test_no_list_of_warnings_shown_keeps_the_text_of_a_dropped_one(holdout, action, level):
    def blaming_others(X):
        warnings.warn(f"the row {X[0, 0]} is strange", UserWarning, stacklevel=level)

    with warnings.catch_warnings():
        warnings.simplefilter(action)
        holdout.certify(Warns(blaming_others), scoring="accuracy")
        registries = [getattr(each, "__warningregistry__", {}) for each in list(sys.modules.values())]
    assert MARKER not in str([*registries, globals().get("__warningregistry__"), warnings.onceregistry])


def test_a_dropped_warning_is_shown_the_next_time_elsewhere(holdout):
    row = np.array([1.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        holdout.certify(Warns(lambda X: warn_of(row)), scoring="accuracy")
        assert caught == []
        warn_of(row)
        warn_of(row)
    assert len(caught) == 1


def test_logging_of_warnings_gets_none_of_them(holdout, caplog):
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING, "py.warnings"):
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        try:
            holdout.certify(Warns(directly), scoring="accuracy")
            warnings.warn("heard", UserWarning, stacklevel=1)
        finally:
            logging.captureWarnings(False)
    assert MARKER not in caplog.text
    assert "heard" in caplog.text


def test_where_a_filter_makes_warnings_errors_a_model_that_warns_fails_at_a_price(holdout):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = holdout.certify(Warns(directly), scoring="accuracy")
        quiet = holdout.certify(Warns(len), scoring="accuracy")
    assert (answer.verdict, answer.reason) == ("failed", FAILURES[3])
    assert answer.cost.nats > math.log(2.0) - math.log(0.001 / len(FAILURES)) - 0.01
    assert quiet.answered
    assert MARKER not in f"{answer!r} {list(holdout.ledger.records())!r}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_child_that_was_forked_while_another_thread_looked_is_heard(holdout):
    begun, over = threading.Event(), threading.Event()

    def look_long(X):
        begun.set()
        over.wait(30)

    def child(connection):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.warn("heard", UserWarning, stacklevel=1)
            together(lambda: warnings.warn("of a thread", stacklevel=1))
        connection.send(([str(each.message) for each in caught], warnings._showwarnmsg.__name__))

    thread = threading.Thread(target=lambda: holdout.certify(Warns(look_long), scoring="accuracy"))
    thread.start()
    assert begun.wait(30)
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=(there,))
    process.start()
    heard, hook = here.recv()
    process.join()
    over.set()
    thread.join()
    assert heard == ["heard", "of a thread"]
    assert hook == "_showwarnmsg"


_PROGRAM = """
import sys, warnings
from tests.private.concurrency.test_warnings_of_threads import *
shown_first = warnings._showwarnmsg, warnings.showwarning, list(warnings.filters)
ask_at_once(marked_holdout(), [directly, in_threads], n_threads=4, n_asks=75)
assert shown_first == (warnings._showwarnmsg, warnings.showwarning, list(warnings.filters))
warnings.warn("afterwards")
"""


@pytest.mark.thorough
def test_a_program_s_standard_error_shows_no_row_and_afterwards_its_own_warnings():
    done = interpreter(_PROGRAM)
    assert MARKER not in done.stderr
    assert done.stderr.count("UserWarning") == 1
    assert "afterwards" in done.stderr


def mean_of(part):
    return float(part.mean())


class UsesWorkers:
    """A fitted model that uses worker processes, as scikit-learn's own do."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        means = Parallel(n_jobs=2)(delayed(mean_of)(part) for part in np.array_split(X, 4))
        return np.full(len(X), int(means[0] > 0))


def test_a_model_may_use_the_workers_of_scikit_learn(holdout):
    before = list(warnings.filters)
    answer = holdout.certify(UsesWorkers(), scoring="accuracy", guess=0.5)
    assert answer.answered
    assert answer.reason is None
    assert list(warnings.filters) == before


class Told(UserWarning):
    """A category that says its text in its own way."""

    def __str__(self):
        return f"told: {super().__str__()}"


def told_otherwise(X):
    warnings.warn(f"the row {X[0][0]}", Told, stacklevel=1)


@pytest.mark.parametrize("action", ["default", "module", "once"])
def test_a_category_with_words_of_its_own_leaves_no_text_behind(holdout, action):
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        holdout.certify(Warns(told_otherwise), scoring="accuracy", guess=0.5)
    lists = (globals().get("__warningregistry__", {}), getattr(warnings, "onceregistry", {}))
    assert not [key for each in lists for key in each if MARKER in str(key)]


def test_a_block_of_a_thread_that_is_gone_mutes_nobody(holdout, shown):
    """It can be left behind by an error that comes from outside at any time."""

    left = object()
    together(lambda: _notices._blocks.begin(left, None))
    try:
        together(lambda: warnings.warn("heard", UserWarning, stacklevel=1))
    finally:
        _notices._blocks.end(left)
    assert "heard" in str(shown)
