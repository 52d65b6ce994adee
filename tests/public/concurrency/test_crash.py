"""Kill a search at any moment: the ledger opens, verifies and holds every answer that was delivered."""

import os
import random
import signal
import time

import joblib
import numpy as np
import pytest

from sklearn_ada import ThresholdoutScorer
from sklearn_ada.ledger import Connection
from tests.support.concurrency.searching import MANY_LEAVES, X, Y, holdout_at, search_with
from tests.support.processes import killed

pytestmark = pytest.mark.thorough


def killed_search(path, lines, delay=0.0):
    """Return what a search delivered, killed after so many lines and so many seconds more."""
    printed = killed(
        "-m tests.support.concurrency.searching", path, lines=lines, after=lambda: time.sleep(delay)
    )
    whole = [line.split() for line in printed if line.endswith("\n")]
    return {int(index): float(value) for index, value in whole}


def searched(holdout, leaves=MANY_LEAVES):
    return search_with(ThresholdoutScorer("accuracy", holdout), leaves).fit(X, Y)


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 33))]
)
def test_every_delivered_answer_is_in_the_ledger_after_a_kill(tmp_path, seed):
    chance = random.Random(seed)
    lines, delay = chance.randrange(1, len(MANY_LEAVES) - 20), chance.choice([0.0, chance.random() / 50])
    delivered = killed_search(tmp_path / "ledger.db", lines, delay)
    assert lines <= len(delivered)

    holdout = holdout_at(tmp_path / "ledger.db")
    before = holdout.report().answers
    assert delivered.items() <= {answer.index: answer.value for _, answer in before}.items()
    assert len(before) <= len(delivered) + 1  # at most one was charged and not yet delivered

    searched(holdout)
    after = holdout.report().answers
    assert after[: len(before)] == before
    assert len(after) == len(MANY_LEAVES)


def test_a_search_killed_again_and_again_ends_with_every_question_asked_once(tmp_path):
    path, delivered = tmp_path / "ledger.db", {}
    for lines in (5, 25):
        found = killed_search(path, lines)
        assert delivered.items() <= found.items()
        delivered.update(found)
    report, fresh = (
        searched(holdout_at(each)).scoring.holdout.report() for each in (path, tmp_path / "undisturbed.db")
    )
    assert [answer.value for _, answer in report.answers] == [answer.value for _, answer in fresh.answers]
    assert 0.0 < report.nats - fresh.nats < 0.05  # what was asked again is nearly free


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
    alone = searched(holdout_at(tmp_path / "alone.db"), leaves)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    assert 0.0 <= after.nats - alone.scoring.holdout.report().nats < 0.02  # asked again, nearly free
