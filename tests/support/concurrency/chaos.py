"""Eight processes on one ledger, killed and begun again while its server hangs and crashes; the audit."""

import os
import random
import signal
import time
import traceback

import numpy as np

from sklearn_ada import Holdout
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.holdout.state import State
from tests.support import holdouts
from tests.support.models import Always

WORKERS = 8
ROWS = np.arange(4000.0).reshape(2000, 2)
LABELS = np.arange(2000) % 2
ASKED = {"scoring": "accuracy", "purpose": "check"}


def holdout_at(address, tolerance):
    return Holdout(ROWS, LABELS, ledger=address, tolerance=tolerance, expected_questions=2000)


def different_guesses(size, seed):
    """Return guesses of which a few are surprises: these are what spends the budget."""
    rng = np.random.default_rng(seed)
    middles = np.where(rng.random(size) < 0.04, 0.75, 0.5)
    guesses = (middles + 0.02 * rng.normal(size=size)).tolist()
    assert len(set(guesses)) == size
    return guesses


def patiently(task):
    """Do it once more whenever the ledger cannot be used, as somebody would who means to get an answer."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return task()
        except LedgerUnavailableError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Numbered(Always):
    """Says 0 but of the row of its number."""

    def predict(self, X):
        return (np.asarray(X)[:, 0] == 2 * self.label).astype(int)


def ask_all(address, tolerance, guesses, delivered_to):
    """Ask one after the other; what was delivered is written down before the next question."""
    holdout = patiently(lambda: holdout_at(address, tolerance))
    for number, guess in guesses:
        model = Numbered(number)
        answer = patiently(lambda m=model, guess=guess: holdouts.ask(holdout, m, guess=guess, **ASKED))
        os.write(delivered_to, f"{guess!r} {answer.index} {answer.value!r} {answer.verdict}\n".encode())


def end(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


class Rampage:
    """What is done to the workers and to the server, if there is one, at moments drawn from a seed.

    Workers write what was delivered to them into a folder.
    """

    def __init__(self, address, tolerance, guesses, folder, server=None):
        self.address, self.tolerance, self.guesses = address, tolerance, guesses
        self.delivered_to, self.errors = folder / "delivered", folder / "errors"
        self.server, self.kills = server, 0

    def run(self, seed, events):
        """Start all workers, let so many events happen while they ask, and wait until all was asked."""
        chance = random.Random(seed)
        moments = sorted(chance.sample(range(1, len(self.guesses)), events))
        kinds = ["kill", "kill", "pause", "crash", "restart"] if self.server else ["kill"]
        happening = [chance.choice(kinds) for _ in moments[len(kinds) :]] + kinds
        chance.shuffle(happening)
        workers = {self._worker(who): who for who in range(WORKERS)}
        delivered, progress = 0, time.monotonic()
        try:
            while workers:
                if len(self.deliveries()) > delivered:
                    delivered, progress = len(self.deliveries()), time.monotonic()
                assert time.monotonic() < progress + 150, f"no answer since the {delivered}th"
                if moments and delivered >= moments[0]:
                    moments.pop(0)
                    getattr(self, happening.pop())(workers, chance)
                for pid in list(workers):
                    done, status = os.waitpid(pid, os.WNOHANG)
                    if done:
                        del workers[pid]
                        assert status == 0, self.errors.read_text()
                time.sleep(0.01)
        finally:
            for pid in workers:
                end(pid)

    def deliveries(self):
        """Return (guess, index, value, verdict) of every answer that a worker got."""
        if not self.delivered_to.exists():
            return []
        lines = self.delivered_to.read_text().splitlines(keepends=True)
        parts = [line.split() for line in lines if line.endswith("\n")]
        return [(float(guess), int(index), float(value), verdict) for guess, index, value, verdict in parts]

    def _worker(self, who):
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            delivered_to = os.open(self.delivered_to, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            numbered = list(enumerate(self.guesses))[who::WORKERS]
            ask_all(self.address, self.tolerance, numbered, delivered_to)
            code = 0
        except BaseException:
            self.errors.write_text(traceback.format_exc())
        finally:
            os._exit(code)

    def kill(self, workers, chance):
        if workers:
            pid = chance.choice(list(workers))
            who = workers.pop(pid)
            end(pid)
            self.kills += 1
            workers[self._worker(who)] = who

    def pause(self, workers, chance):
        self.server.pause()
        time.sleep(chance.uniform(0.05, 0.5))
        self.kill(workers, chance)
        self.server.resume()

    def crash(self, workers, chance):
        self.server.stop(signal.SIGQUIT)
        time.sleep(chance.uniform(0.0, 0.2))
        self.server.start()

    def restart(self, workers, chance):
        self.server.stop(signal.SIGINT)
        self.server.start()


def audit(rampage):
    """Decide every record again in its place, and compare what was delivered with what was recorded."""
    assert main(["ledger", "verify", str(rampage.address)]) == 0
    holdout = holdout_at(rampage.address, rampage.tolerance)
    records = list(holdout.ledger.records())

    deliveries = rampage.deliveries()
    assert {guess for guess, *_ in deliveries} == set(rampage.guesses)
    for guess, index, value, verdict in deliveries:
        body = records[index].body
        assert body["guess"]["value"] == guess
        if body["kind"] == "answer":
            assert (body["outcome"]["value"], body["outcome"]["verdict"]) == (value, verdict)
        else:
            assert (body["kind"], verdict) == ("refusal", "refused")

    state = State(records[0].body)
    answered = []
    for record in records[1:]:
        body = record.body
        if body["kind"] == "confirmation":  # whoever was killed asks again
            assert body["event"]["symbols"][0]["value"] == 0  # the same
            state.advance(body)
            continue
        if body["kind"] in ("begin", "given_up", "labels"):
            state.advance(body)
            continue
        question = holdouts.plan(holdout, Numbered(0), guess=body["guess"]["value"], **ASKED)
        share = state.allowance("check").after(body.get("arrival", [0, 0, 0.0])[2])
        assert state.is_tolerated(*question.half_width_bound(share)) == (body["kind"] == "answer")
        if body["kind"] == "answer":
            answered.append(body["guess"]["value"])
            assert (body["ln_delta"], body["nats"]) == (share.ln_delta, share.nats)
        state.advance(body)  # raises unless the recorded price is that of the counts before it
    assert len(set(answered)) == len(answered) == state.asked["check"]
    report = holdout.report()
    assert (report.asked, report.refused, report.nats) == (state.asked, state.refused, state.account.nats)
    return len(answered), state.refused
