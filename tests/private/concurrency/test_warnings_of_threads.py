"""What models warn of on the holdout is kept quiet in every thread, and everything else is heard."""

import contextlib
import itertools
import logging
import math
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
from tests.support.processes import in_a_fork, interpreter, together

MARKER = "987654"
N_ROWS = 60
NUMBERS = itertools.count()


def warn_of(row):
    warnings.warn(f"the row {row[0]} is strange", UserWarning, stacklevel=1)


def heard(text="heard"):
    warnings.warn(text, UserWarning, stacklevel=2)


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


def marked_holdout():
    """Return a holdout with a ledger of its own: in memory there is one for the same rows."""
    X = np.arange(3.0 * N_ROWS).reshape(N_ROWS, 3) + next(NUMBERS)
    X[:, 0] += int(MARKER) * 1e6
    return Holdout(X, np.arange(N_ROWS) % 2, ledger=":memory:", random_state=0)


def look(holdout, how, tag=0):
    """Ask about a model that does this with the rows."""
    return holdout.certify(Warns(how, tag), scoring="accuracy")


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


@contextlib.contextmanager
def filtered(action, record=False):
    with warnings.catch_warnings(record=record) as caught:
        warnings.simplefilter(action)
        yield caught


def texts_of(caught):
    return [str(each.message) for each in caught]


def ask_at_once(holdout, ways, n_threads, n_asks):
    """Ask about as many models from several threads."""

    def ask(who):
        for number in range(n_asks):
            look(holdout, ways[(who + number) % len(ways)], who * n_asks + number)

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


@contextlib.contextmanager
def a_long_look(holdout, how=len):
    """Another thread looks at the holdout, until the function that is yielded is called, or the end."""
    begun, over = threading.Event(), threading.Event()

    def look_long(X):
        begun.set()
        over.wait(30)
        how(X)

    def end():
        over.set()
        thread.join()

    thread = threading.Thread(target=look, args=(holdout, look_long))
    thread.start()
    assert begun.wait(30)
    try:
        yield end
    finally:
        end()


@pytest.mark.parametrize("way", [directly, in_threads, in_threads_of_joblib], ids=lambda way: way.__name__)
def test_threads_that_ask_at_once_show_no_row_and_leave_the_process_as_it_was(holdout, shown, way):
    with same_process_state():
        ask_at_once(holdout, [way], n_threads=4, n_asks=75)
    assert shown == []
    assert holdout.report().asked["certify"] == 300
    heard()
    assert shown == ["heard"]


def test_models_that_use_scikit_learn_s_threads_show_no_row(holdout, shown):
    """Its workers set the filters of the process themselves: to a copy, in which a text may be a pattern."""

    def written(filters):
        return [[str(getattr(part, "pattern", part)) for part in each] for each in filters]

    before = written(warnings.filters)
    ask_at_once(holdout, WAYS, n_threads=4, n_asks=40)
    assert not [text for text in shown if MARKER in text]
    assert written(warnings.filters) == before


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_one_look_shows_no_row_however_the_model_warns(holdout, shown, way):
    assert look(holdout, way).answered
    assert shown == []


def test_what_others_warn_of_meanwhile_is_heard(holdout, shown):
    """Of a thread that was there before, and of the one that asks, between its questions."""
    over, times = threading.Event(), []

    def go_on():
        while not over.is_set():
            heard("of the user's own")
            times.append(1)
            time.sleep(1e-4)

    thread = threading.Thread(target=go_on)
    thread.start()
    for number in range(50):
        look(holdout, directly, number)
        heard("between")
    over.set()
    thread.join()
    assert len(times) > 50
    assert [shown.count("of the user's own"), shown.count("between")] == [len(times), 50]
    assert not [text for text in shown if MARKER in text]


def test_threads_that_started_during_a_look_and_ask_themselves_are_heard(holdout, shown):
    with a_long_look(holdout):
        together(lambda: (look(marked_holdout(), directly), heard()))
    assert shown == ["heard"]


def test_a_pool_that_lives_on_is_quiet_in_later_looks_too(holdout, shown):
    with ThreadPoolExecutor(2) as pool:
        for number in range(20):
            look(holdout, lambda X: list(pool.map(warn_of, X[:5])), number)
    assert shown == []


@pytest.mark.parametrize("waiting", [False, True])
def test_recording_warnings_in_another_thread_goes_on_working(holdout, waiting):
    """As pytest does it, before or while a model looks."""
    with contextlib.ExitStack() as stack:
        looking = a_long_look(holdout, lambda X: warn_of(X[0]))
        end = stack.enter_context(looking) if waiting else None
        with filtered("always", record=True) as caught:
            end = end or stack.enter_context(looking)
            heard("mine")
            end()
            heard("mine too")
    assert texts_of(caught) == ["mine", "mine too"]


def test_a_model_that_records_its_own_warnings_gets_them_and_nobody_else_does(holdout, shown):
    """It predicts by them, here as elsewhere."""
    seen = []

    def record(X):
        with filtered("always", record=True) as mine:
            directly(X)
        seen.append(len(mine))
        directly(X)

    with filtered("always", record=True) as outer:
        assert look(holdout, record).answered
    assert seen == [5]
    assert MARKER not in str(texts_of(outer))
    assert shown == []


class OwnText(UserWarning):
    """A category that says its text in its own way."""

    def __str__(self):
        return f"in short: {super().__str__()}"


@pytest.mark.parametrize("level", [1, 8, 100])
@pytest.mark.parametrize("action", ["default", "module", "once", "always"])
@pytest.mark.parametrize("category", [UserWarning, OwnText])
def test_no_list_of_warnings_shown_keeps_the_text_of_a_dropped_one(holdout, category, action, level):
    with filtered(action):
        look(holdout, lambda X: warnings.warn(f"the row {X[0, 0]}", category, stacklevel=level))
        registries = [getattr(each, "__warningregistry__", {}) for each in list(sys.modules.values())]
    assert MARKER not in str([*registries, globals().get("__warningregistry__"), warnings.onceregistry])


def test_a_dropped_warning_is_shown_the_next_time_elsewhere(holdout):
    row = np.array([1.0])
    with filtered("default", record=True) as caught:
        look(holdout, lambda X: warn_of(row))
        assert caught == []
        warn_of(row)
        warn_of(row)
    assert len(caught) == 1


def test_logging_of_warnings_gets_none_of_them(holdout, caplog):
    with filtered("always"), caplog.at_level(logging.WARNING, "py.warnings"):
        logging.captureWarnings(True)
        try:
            look(holdout, directly)
            heard()
        finally:
            logging.captureWarnings(False)
    assert MARKER not in caplog.text
    assert "heard" in caplog.text


def test_where_a_filter_makes_warnings_errors_a_model_that_warns_fails_at_a_price(holdout):
    with filtered("error"):
        answer, quiet = look(holdout, directly), look(holdout, len)
    assert (answer.verdict, answer.reason) == ("failed", FAILURES[3])
    assert answer.cost.nats > math.log(2.0) - math.log(0.001 / len(FAILURES)) - 0.01
    assert quiet.answered
    assert MARKER not in f"{answer!r} {list(holdout.ledger.records())!r}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_child_that_was_forked_while_another_thread_looked_is_heard(holdout):
    def child():
        with filtered("always", record=True) as caught:
            heard()
            together(lambda: heard("of a thread"))
        return [*texts_of(caught), warnings._showwarnmsg.__name__]

    with a_long_look(holdout):
        assert in_a_fork(child) == str(["heard", "of a thread", "_showwarnmsg"])


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


def in_workers_of_scikit_learn(X):
    means = Parallel(n_jobs=2)(delayed(mean_of)(part) for part in np.array_split(X, 4))
    assert means[0] > 0


def test_a_model_may_use_the_workers_of_scikit_learn(holdout):
    before = list(warnings.filters)
    answer = look(holdout, in_workers_of_scikit_learn)
    assert answer.answered
    assert answer.reason is None
    assert list(warnings.filters) == before


def test_a_block_of_a_thread_that_is_gone_mutes_nobody(shown):
    """It can be left behind by an error that comes from outside at any time."""
    left = object()
    together(lambda: _notices._blocks.begin(left, None))
    try:
        together(heard)
    finally:
        _notices._blocks.end(left)
    assert "heard" in str(shown)
