"""Between the look and the commit nothing is lost: Ctrl-C waits, and what a model raises has a price."""

import contextlib
import copy
import math
import os
import signal
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sklearn_ada import Holdout, MedianSettings
from sklearn_ada.accounting import FAILURES
from sklearn_ada.holdout.looking import HeldSignals
from sklearn_ada.metrics import Metric
from tests.support.ledgers import bodies
from tests.support.processes import interpreter

PRICE = math.log(2.0) - math.log(0.001 / len(FAILURES))  # another error, and whether it is an interrupt


class Acting:
    """A fitted model that does something to the process when it sees the holdout."""

    classes_ = np.array([0, 1])

    def __init__(self, act=lambda X: None, tag=0):
        self.act, self.tag = act, tag

    def predict(self, X):
        self.act(X)
        return np.zeros(len(X), dtype=int)


def raises(error):
    """Return what a model does that raises an error with a row of the holdout in it."""

    def act(X):
        raise error(f"a row is {X[0]}")

    return act


def sends(*numbers):
    """Return what a model does that sends signals to its own process."""

    def act(X):
        for number in numbers:
            signal.raise_signal(number)

    return act


@contextlib.contextmanager
def handled(number, handler):
    """Let a handler handle a signal meanwhile."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def recorded(holdout):
    """Return the one answer of a report."""
    ((_, answer),) = holdout.report().answers
    return answer


@pytest.fixture(autouse=True)
def ctrl_c():
    """Let SIGINT interrupt, as it does at a terminal; what is started in the background ignores it."""
    with handled(signal.SIGINT, signal.default_int_handler):
        yield


def certify(holdout, model, scoring="accuracy"):
    return holdout.certify(model, scoring=scoring, guess=0.5)


def test_an_interrupt_that_a_model_raises_is_a_priced_failure_and_is_raised_again_bare(holdout):
    model = Acting(raises(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt) as caught:
        certify(holdout, model)
    assert (caught.value.args, caught.value.__context__, caught.value.__cause__) == ((), None, None)
    assert holdout.report().nats == pytest.approx(PRICE, abs=0.01)
    again = certify(holdout, model)  # what is recorded is an answer
    assert (again.verdict, again.reason, again.repeated) == ("failed", FAILURES[3], True)


def test_an_interrupt_that_a_metric_raises_is_a_priced_failure(holdout):
    def scorer(model, X, y):
        raise KeyboardInterrupt

    metric = Metric(scorer, range=(0.0, 1.0))
    with pytest.raises(KeyboardInterrupt):
        holdout.check(Acting(), scoring=metric, guess=0.5, settings=MedianSettings())
    assert recorded(holdout).verdict == "failed"
    assert holdout.report().nats == pytest.approx(PRICE, abs=0.01)


class LyingError(Exception):
    @property
    def __class__(self):
        raise KeyboardInterrupt("out of the look")


@pytest.mark.parametrize("error", [SystemExit, LyingError])
def test_a_model_that_raises_system_exit_or_a_lying_error_is_a_priced_failure(error, holdout):
    answer = certify(holdout, Acting(raises(error)))
    assert (answer.verdict, answer.reason) == ("failed", FAILURES[3])


def test_bits_that_are_shown_by_interrupts_are_paid_for(holdout, rows):
    """A model that is interrupted where a record has some property shows a bit of it."""
    interrupted = []
    for model in failing((KeyboardInterrupt,)):
        interrupted.append(True)
        with contextlib.suppress(KeyboardInterrupt):
            certify(holdout, model)
            interrupted[-1] = False
    assert interrupted == (np.asarray(rows[2])[:20, 0] > 0.0).tolist()
    assert sum(holdout.report().asked.values()) == 20
    assert holdout.report().nats > 20 * math.log(2.0)
    low, high = certify(holdout, Acting()).interval
    assert high - low > 0.2


class Fragile(Acting):
    """Cannot be copied a second time."""

    copies = 0

    def __deepcopy__(self, memo):
        self.copies += 1
        if self.copies > 1:
            raise KeyboardInterrupt
        return self


@pytest.mark.parametrize("epsilon", [None, "auto"])
@pytest.mark.parametrize(
    "interrupted", [Acting(raises(KeyboardInterrupt)), Fragile()], ids=["asked", "copied"]
)
def test_an_interrupt_within_a_selection_is_recorded_first(interrupted, epsilon, holdout):
    models = [Acting(), copy.copy(interrupted), Acting(tag=1)]
    with pytest.raises(KeyboardInterrupt):
        holdout.select(models, scoring="accuracy", epsilon=epsilon)
    assert bodies(holdout)[-1]["kind"] == "selection"
    if not isinstance(interrupted, Fragile):
        assert holdout.select(models, scoring="accuracy", epsilon=epsilon) in (0, 2)


def test_a_model_that_cannot_be_copied_is_refused_before_any_is_looked_at(holdout):
    looked, locked = [], Acting(tag=threading.Lock())
    with pytest.raises(TypeError, match="can be copied"):
        holdout.select([Acting(looked.append), locked], scoring="accuracy", epsilon=None)
    assert not looked
    assert len(bodies(holdout)) == 1


def failing(how):
    """Return models that fail where a record of the holdout has some property, or also where it has not."""

    def fails(row):
        def act(X):
            if X[row, 0] > 0.0:
                raise how[0]
            if len(how) > 1:
                raise how[1]

        return Acting(act, row)

    return [fails(row) for row in range(20)]


@pytest.mark.parametrize(
    "how",
    [(KeyboardInterrupt,), (KeyboardInterrupt, OSError), (RuntimeError,), (ValueError, KeyboardInterrupt)],
)
@pytest.mark.parametrize("epsilon", [None, "auto"])
def test_what_a_selection_tells_of_a_failure_is_paid_for(how, epsilon, holdout):
    """Whether the model of a choice failed, and how, is a bit: of one model it was free."""
    for model in failing(how):
        with contextlib.suppress(KeyboardInterrupt, ValueError):
            holdout.select([model], scoring="accuracy", epsilon=epsilon)
    assert holdout.report().nats > 20 * math.log(2.0)
    assert len(bodies(holdout)) == 21


@pytest.mark.parametrize("how", [(KeyboardInterrupt, OSError), (OSError, KeyboardInterrupt)])
def test_whether_an_error_is_an_interrupt_is_paid_for_each_time(how, holdout):
    """Both are one kind of failure, which grows cheap when it is frequent."""
    for model in failing(how):
        with contextlib.suppress(KeyboardInterrupt):
            holdout.check(model, scoring="accuracy", guess=0.5)
    assert all(answer.cost.nats > math.log(2.0) for _, answer in holdout.report().answers)


# --- signals -----------------------------------------------------------------------------------------------


def test_ctrl_c_is_held_until_the_answer_is_recorded(holdout, capfd):
    before, model = signal.getsignal(signal.SIGINT), Acting(sends(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        certify(holdout, model)
    assert signal.getsignal(signal.SIGINT) is before
    assert "recorded first" in capfd.readouterr().err
    assert recorded(holdout).verdict == "exact"
    with pytest.raises(KeyboardInterrupt):  # the model predicts once more, and is compared
        certify(holdout, model)
    assert bodies(holdout)[-1]["kind"] == "confirmation"


def test_ctrl_c_in_a_selection_costs_no_model(holdout):
    with pytest.raises(KeyboardInterrupt):
        holdout.select([Acting(), Acting(sends(signal.SIGINT))], scoring="accuracy", epsilon=None)
    assert bodies(holdout)[-1]["event"]["symbols"][0]["value"] == 0


def test_a_handler_of_ones_own_is_called_afterwards(holdout):
    called = []
    with handled(signal.SIGINT, lambda number, frame: called.append(holdout.report().nats)):
        assert certify(holdout, Acting(sends(signal.SIGINT))).answered
    assert called
    assert called[0] > 0.0  # it was recorded by then


@pytest.mark.parametrize("name", ["SIGTERM", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGXCPU"])
def test_a_request_to_end_makes_no_failure_of_a_model(name, holdout):
    number = getattr(signal, name)

    def end(*args):
        raise SystemExit(3)

    with handled(number, end):
        with pytest.raises(SystemExit):
            certify(holdout, Acting(sends(number)))
        assert signal.getsignal(number) is end
    assert recorded(holdout).verdict == "exact"


def test_all_signals_are_delivered_though_the_first_raises(holdout):
    called = []
    with handled(signal.SIGTERM, lambda *args: called.append(1)), pytest.raises(KeyboardInterrupt):
        certify(holdout, Acting(sends(signal.SIGINT, signal.SIGTERM)))
    assert called == [1]


def test_a_handler_that_raises_while_others_are_held_or_put_back_leaves_none_behind(holdout, monkeypatch):
    """An alarm may come between any two of them."""

    def alarm(*args):
        raise TimeoutError

    with handled(signal.SIGALRM, alarm):
        for moment in range(1, 12):
            calls = iter(range(1, 100))

            def interrupted(number, handler, calls=calls, moment=moment):
                done = signal.signal(number, handler)
                if next(calls) == moment:
                    signal.raise_signal(signal.SIGALRM)
                return done

            own = types.SimpleNamespace(**{**vars(signal), "signal": interrupted})
            with monkeypatch.context() as patch, contextlib.suppress(TimeoutError):
                patch.setattr("sklearn_ada.holdout.looking.signal", own)
                certify(holdout, Acting(tag=moment))
            assert signal.getsignal(signal.SIGALRM) is alarm
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_left_behind_all_the_same_does_what_was_there_before():
    interrupts = HeldSignals()
    interrupts.begin()
    held = signal.getsignal(signal.SIGINT)
    interrupts.end()
    signal.signal(signal.SIGINT, held)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_that_is_forked_meanwhile_ends_when_a_signal_asks_it_to(holdout):
    statuses = []

    def forks(X):
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writes, b".")
            time.sleep(30.0)
            os._exit(0)
        os.read(reads, 1)  # Python forgets signals that come before a child is ready
        os.kill(child, signal.SIGTERM)
        statuses.append(os.waitpid(child, 0)[1])

    with handled(signal.SIGTERM, lambda *args: os._exit(7)):
        certify(holdout, Acting(forks))
    assert [os.waitstatus_to_exitcode(status) for status in statuses] == [7]


def test_whoever_interrupts_three_times_gives_the_model_up(holdout):
    went_on = []

    def hangs(X):
        sends(signal.SIGINT, signal.SIGINT, signal.SIGINT)(X)
        went_on.append(X)

    with pytest.raises(KeyboardInterrupt):
        certify(holdout, Acting(hangs))
    assert not went_on
    assert recorded(holdout).reason == FAILURES[3]
    assert holdout.report().nats == pytest.approx(PRICE, abs=0.01)


def test_an_ignored_signal_is_ignored_and_in_a_thread_there_is_nothing_to_hold(holdout, capfd):
    with handled(signal.SIGINT, signal.SIG_IGN):
        assert certify(holdout, Acting(sends(signal.SIGINT))).answered
    assert capfd.readouterr().err == ""
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(certify, holdout, Acting()).result().answered


PROGRAM = """
    import os, signal, sys, threading
    import numpy as np
    from sklearn_ada import Holdout

    signal.signal(signal.SIGINT, signal.default_int_handler)

    class Model:
        classes_ = np.array([0, 1])
        def __init__(self, tag): self.tag = tag
        def predict(self, X):
            with open(sys.argv[2], "a") as seen:
                seen.write(f"{self.tag}\\n")
            return np.zeros(len(X), dtype=int)

    X, y = np.zeros((50, 1)), np.arange(50) % 2
    holdout = Holdout(X, y, ledger=sys.argv[1])
    stopping = threading.Event()
    def nag():
        while not stopping.wait(0.01):
            os.kill(os.getpid(), signal.SIGINT)
    nagging = threading.Thread(target=nag)
    interrupted = 0
    for tag in range(60):
        try:
            if tag == 0:
                nagging.start()
            holdout.check(Model(tag), scoring="accuracy", guess=0.5)
        except KeyboardInterrupt:
            interrupted += 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stopping.set()
    print(interrupted)
"""


def test_a_real_signal_from_outside_costs_no_answer(tmp_path):
    """Interrupted again and again at any moment, a process records every answer that it looked at."""
    ledger, seen = tmp_path / "ledger.db", tmp_path / "seen"
    assert int(interpreter(PROGRAM, ledger, seen).stdout) > 5
    holdout = Holdout(np.zeros((50, 1)), np.arange(50) % 2, ledger=ledger)
    answers = [answer for _, answer in holdout.report().answers]
    assert len(answers) == len(seen.read_text().split()) > 5
    assert all(answer.answered for answer in answers)
