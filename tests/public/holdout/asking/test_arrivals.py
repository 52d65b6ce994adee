"""Who comes next while questions are pending has a price; a lone asker pays none."""

import math
import os
import threading

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.accounting.arrivals import FIRST_MASS, Arrivals
from tests.support import holdouts
from tests.support.ledgers import bodies
from tests.support.models import Always
from tests.support.processes import in_a_fork, killed, together

ROWS, LABELS = np.arange(400.0).reshape(200, 2), np.arange(200) % 2


class Numbered(Always):
    """Says 0 but of the row of its number."""

    def predict(self, X):
        return (np.asarray(X)[:, 0] == 2 * self.label).astype(int)


class Meeting(Numbered):
    """Predicts once so many askers are looking."""

    gate = threading.Barrier(2)

    def predict(self, X):
        self.gate.wait(30)
        return super().predict(X)


def kinds(holdout):
    """Return the kinds of records, but for those of opening a ledger once more."""
    return [body.get("kind") for body in bodies(holdout) if body.get("kind") != "labels"]


def opened(path):
    return Holdout(ROWS, LABELS, ledger=path, answers="exact")


def ask(holdout, model, guess=0.5):
    return holdout.check(model, scoring="accuracy", guess=guess)


@pytest.mark.parametrize("path", ["ledger.db", ":memory:"])
def test_threads_that_look_at_once_pay_for_the_order_and_a_lone_one_does_not(path, tmp_path, monkeypatch):
    holdout = opened(tmp_path / path if path != ":memory:" else path)
    lone = ask(holdout, Numbered(100))
    assert (holdout.report().nats, kinds(holdout)[1:]) == (lone.cost.nats, ["answer"])
    monkeypatch.setattr(Meeting, "gate", threading.Barrier(3))
    together(*(lambda n=n: ask(holdout, Meeting(n), 0.5 + n / 100) for n in range(3)))
    paid = [body["arrival"][2] for body in bodies(holdout) if "arrival" in body]
    assert kinds(holdout)[2:] == ["begin", "begin", "answer", "answer", "answer"]
    assert paid[1:4] == pytest.approx([math.log(3), math.log(4), math.log(3)])
    assert paid[0] > -math.log(FIRST_MASS)
    assert 0.0 < paid[4] <= math.log(2)
    body = bodies(holdout)[-1]
    prices = [body.get("price", 0.0) for body in bodies(holdout)]
    assert holdout.report().nats == pytest.approx(sum(prices) + sum(paid))
    assert body["nats"] == pytest.approx(sum(prices[:-1]) + sum(paid))  # of its own arrival, too
    assert holdouts.state_after(bodies(holdout)).account.nats == holdout.report().nats


def test_those_who_look_for_milliseconds_wait_for_one_another(tmp_path):
    holdout = opened(tmp_path / "ledger.db")
    together(*(lambda n=n: ask(holdout, Numbered(n), 0.4 + n / 100) for n in range(6)))
    assert set(kinds(holdout)[1:]) == {"answer"}


LOOKS = """
    import sys, time
    from tests.public.holdout.asking.test_arrivals import Numbered, ask, opened
    class Slow(Numbered):
        def predict(self, X):
            print("looking", flush=True)
            time.sleep(30)
    ask(opened(sys.argv[1]), Slow(99), 0.3)
"""


def test_a_question_whose_process_was_killed_is_given_up(tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    holdout = opened(path)
    assert killed(LOOKS, path) == ["looking\n"]
    alone = ask(holdout, Numbered(100))
    assert kinds(holdout)[1:] == ["answer"]
    assert "arrival" not in bodies(holdout)[alone.index]

    def killed_meanwhile(self, X):
        killed(LOOKS, path)
        return Numbered.predict(self, X)

    monkeypatch.setattr(Meeting, "predict", killed_meanwhile)
    ask(holdout, Meeting(104), 0.4)  # the other one begins beside it, and is killed
    assert kinds(holdout)[2:] == ["begin", "answer"]
    ask(holdout, Numbered(102), 0.6)
    assert kinds(holdout)[4:] == ["given_up", "answer"]
    assert bodies(holdout)[-2]["names"] == ["1"]
    assert bodies(holdout)[-1]["arrival"][2] < math.log(2)


def test_an_interrupted_question_is_pending_no_more(tmp_path):
    class Uncopied(Numbered):
        def __deepcopy__(self, memo):
            raise KeyboardInterrupt

    holdout = opened(tmp_path / "ledger.db")
    with pytest.raises(KeyboardInterrupt):
        ask(holdout, Uncopied(0))
    ask(holdout, Numbered(101))
    together(lambda: ask(holdout, Numbered(103), 0.4))
    assert set(kinds(holdout)[1:]) == {"answer"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_forked_child_sees_its_parent_looking(tmp_path):
    holdout = opened(tmp_path / "ledger.db")

    class Forking(Numbered):
        def predict(self, X):
            in_a_fork(lambda: ask(holdout, Numbered(100), 0.4))
            return super().predict(X)

    ask(holdout, Forking(1))
    assert kinds(holdout)[1:] == ["begin", "answer", "answer"]


@pytest.mark.parametrize("u", [1, 2, 5, 40])
def test_the_masses_of_what_may_come_next_sum_to_one_and_not_so_without_the_one_that_begins(u):
    arrivals = Arrivals()
    arrivals.take(None)
    for number in range(u - 1):
        arrivals.begin(str(number))
    outcomes = [*arrivals.pending, None]
    masses = [math.exp(-arrivals.nats(own, True)) for own in outcomes]
    assert sum(masses) == pytest.approx(1.0)
    if u > 1:
        assert masses[0] + sum(math.exp(-math.log(u)) for _ in arrivals.pending) > 1.0  # ln u: too cheap


def test_what_pays_for_the_first_that_comes_in_between_sums_to_its_part():
    arrivals, total = Arrivals(), 0.0
    for _ in range(2000):
        total += math.exp(-arrivals.nats(None, True))
        arrivals.take("", ends=True)
    assert 0.8 * FIRST_MASS < total < FIRST_MASS
