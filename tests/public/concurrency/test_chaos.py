"""Whatever is killed, paused or restarted: nothing delivered is lost, nothing charged twice or too much.

The default rounds ask fewer questions than the slow ones, which ask 2,000.
"""

import uuid

import pytest

from benchmarks.validity.chaos import chaos
from tests.support.concurrency.chaos import Rampage, audit, different_guesses

pytestmark = pytest.mark.thorough


def survive(address, folder, seed, questions, tolerance, events, server=None):
    rampage = Rampage(address, tolerance, different_guesses(questions, seed), folder, server)
    rampage.run(seed, events)
    answered, refused = audit(rampage)
    assert rampage.kills > 0
    assert 0 < answered < questions  # so that the budget was met on the way
    assert refused >= questions - answered


def test_a_file_survives_chaos(tmp_path):
    survive(tmp_path / "ledger.db", tmp_path, 0, questions=300, tolerance=0.19, events=12)


def test_a_database_survives_chaos(tmp_path, postgresql):
    survive(postgresql.url(uuid.uuid4().hex), tmp_path, 1, 200, 0.18, 8, postgresql)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_a_file_survives_much_chaos(tmp_path, seed):
    survive(tmp_path / "ledger.db", tmp_path, seed, questions=2000, tolerance=0.3, events=40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 22))
def test_a_database_survives_much_chaos(tmp_path, seed, postgresql):
    survive(postgresql.url(uuid.uuid4().hex), tmp_path, seed, 2000, 0.3, 40, postgresql)


@pytest.mark.slow
def test_charges_of_a_file_that_is_read_and_of_killed_processes_are_all_there_once(tmp_path):
    found = chaos(str(tmp_path / "ledger.db"), tmp_path, 10_000)
    assert found.is_clean, found
    assert found.delivered >= 10_000
    assert found.kills > 5


@pytest.mark.slow
def test_charges_of_broken_sessions_and_of_killed_processes_are_all_there_once(tmp_path, postgresql):
    found = chaos(postgresql.url(uuid.uuid4().hex), tmp_path, 10_000)
    assert found.is_clean, found
    assert min(found.kills, found.terminated) > 5


def test_a_little_chaos_with_readers_and_kills(tmp_path):
    found = chaos(str(tmp_path / "ledger.db"), tmp_path, 2000, pause=0.1)
    assert found.is_clean, found
    assert found.kills > 0
