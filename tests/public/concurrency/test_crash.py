"""Kill a search at any moment: the ledger opens, verifies and holds every answer that was delivered."""

import os
import random
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import pytest

from sklearn_ada import ThresholdoutScorer
from sklearn_ada.ledger import Connection
from tests.support.concurrency.searching import MANY_LEAVES, X, Y, holdout_at, search_with
from tests.support.processes import ROOT

pytestmark = pytest.mark.thorough


def killed_search(path, lines, delay):
    """Return what a search delivered, killed after so many lines and so many seconds more."""
    command = [sys.executable, "-m", "tests.support.concurrency.searching", str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        lines_read = [process.stdout.readline() for _ in range(lines)]
        time.sleep(delay)
        process.kill()
        lines_read += process.stdout.readlines()
    whole = [line.split() for line in lines_read if line.endswith("\n")]
    return {int(index): float(value) for index, value in whole}


def check_after_a_kill(path, seed):
    chance = random.Random(seed)
    lines, delay = chance.randrange(1, len(MANY_LEAVES) - 20), chance.choice([0.0, chance.random() / 50])
    delivered = killed_search(path, lines, delay)
    assert lines <= len(delivered)

    holdout = holdout_at(path)
    recorded = {answer.index: answer.value for _, answer in holdout.report().answers}
    assert delivered.items() <= recorded.items()

    before = holdout.report()
    search_with(ThresholdoutScorer("accuracy", holdout), MANY_LEAVES).fit(X, Y)
    after = holdout.report()
    assert after.answers[: len(before.answers)] == before.answers
    return len(delivered), len(before.answers), len(after.answers)


@pytest.mark.parametrize("seed", range(3))
def test_every_delivered_answer_is_in_the_ledger_after_a_kill(tmp_path, seed):
    delivered, recorded, in_all = check_after_a_kill(tmp_path / "ledger.db", seed)
    assert delivered <= recorded <= delivered + 1  # at most one was charged and not yet delivered
    assert in_all == len(MANY_LEAVES)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 33))
def test_every_delivered_answer_is_in_the_ledger_after_many_kills(tmp_path, seed):
    delivered, recorded, _ = check_after_a_kill(tmp_path / "ledger.db", seed)
    assert delivered <= recorded <= delivered + 1


def test_a_search_killed_again_and_again_ends_with_every_question_asked_once(tmp_path):
    path = tmp_path / "ledger.db"
    delivered = {}
    for lines in (5, 25):
        found = killed_search(path, lines, 0.0)
        assert all(found[index] == value for index, value in delivered.items())
        delivered.update(found)
    holdout = holdout_at(path)
    search_with(ThresholdoutScorer("accuracy", holdout), MANY_LEAVES).fit(X, Y)
    fresh = holdout_at(tmp_path / "undisturbed.db")
    search_with(ThresholdoutScorer("accuracy", fresh), MANY_LEAVES).fit(X, Y)
    assert [a.value for _, a in holdout.report().answers] == [a.value for _, a in fresh.report().answers]
    confirmed = holdout.report().nats - fresh.report().nats  # what was asked again is nearly free
    assert 0.0 < confirmed < 0.05


class KilledOnce:
    """A scorer whose process dies at one candidate, between writing its charge and committing it."""

    def __init__(self, scorer, leaves, mark):
        self.scorer, self.leaves, self.mark = scorer, leaves, mark

    def __call__(self, estimator, X, y):
        if estimator.max_leaf_nodes == self.leaves and not self.mark.exists():
            self.mark.touch()
            append = Connection.append

            def append_and_die(connection, key, body):
                append(connection, key, body)
                os.kill(os.getpid(), signal.SIGKILL)

            Connection.append = append_and_die
        return self.scorer(estimator, X, y)


def test_a_worker_killed_in_mid_charge_loses_nothing(tmp_path):
    holdout, leaves = holdout_at(tmp_path / "ledger.db"), range(2, 10)
    scorer = ThresholdoutScorer("accuracy", holdout)
    search = search_with(scorer, leaves).set_params(scoring=KilledOnce(scorer, 6, tmp_path / "died"))
    with joblib.parallel_config("loky", n_jobs=2), pytest.raises(Exception, match=r"(?i)terminated|killed"):
        search.fit(X, Y)
    before = holdout.report()  # it opens and verifies
    assert len(before.answers) < len(leaves)

    with joblib.parallel_config("loky", n_jobs=2):
        found = search.fit(X, Y)
    after = holdout.report()
    assert after.answers[: len(before.answers)] == before.answers
    assert after.asked["check"] == len(leaves)
    alone = search_with(ThresholdoutScorer("accuracy", holdout_at(tmp_path / "alone.db")), leaves).fit(X, Y)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    confirmed = after.nats - alone.scoring.holdout.report().nats  # what was asked again is nearly free
    assert 0.0 <= confirmed < 0.02
