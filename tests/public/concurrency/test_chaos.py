"""Whatever is killed, paused or restarted: nothing delivered is lost, nothing charged twice or too much.

The default rounds ask fewer questions than the slow ones, which ask 2,000.
"""

import uuid

import pytest

from benchmarks.validity.chaos import chaos, with_pooler
from tests.support.concurrency.chaos import Rampage, audit, different_guesses

pytestmark = pytest.mark.thorough


MUCH = pytest.mark.slow
OF_FILES = [(0, 300, 0.19, 12), *(pytest.param(seed, 2000, 0.3, 40, marks=MUCH) for seed in range(2, 12))]
OF_BOOKS = [(1, 200, 0.18, 8), *(pytest.param(seed, 2000, 0.3, 40, marks=MUCH) for seed in range(12, 22))]
SIZES = ("seed", "questions", "tolerance", "events")


def survive(address, folder, seed, questions, tolerance, events, server=None):
    rampage = Rampage(address, tolerance, different_guesses(questions, seed), folder, server)
    rampage.run(seed, events)
    answered, refused = audit(rampage)
    assert rampage.kills > 0
    assert 0 < answered < questions  # so that the budget was met on the way
    assert refused >= questions - answered


@pytest.mark.parametrize(SIZES, OF_FILES)
def test_a_file_survives_chaos(tmp_path, seed, questions, tolerance, events):
    survive(tmp_path / "ledger.db", tmp_path, seed, questions, tolerance, events)


@pytest.mark.parametrize(SIZES, OF_BOOKS)
def test_a_database_survives_chaos(tmp_path, postgresql, seed, questions, tolerance, events):
    address = postgresql.url(uuid.uuid4().hex)
    survive(address, tmp_path, seed, questions, tolerance, events, postgresql)


@pytest.mark.parametrize("size", [2000, pytest.param(10_000, marks=MUCH)])
def test_charges_of_a_file_that_is_read_and_of_killed_processes_are_all_there_once(tmp_path, size):
    found = chaos(str(tmp_path / "ledger.db"), tmp_path, size, **({"pause": 0.1} if size == 2000 else {}))
    assert found.is_clean, found
    assert found.delivered >= size
    assert found.kills > (5 if size == 10_000 else 0)


@MUCH
def test_charges_of_broken_sessions_and_of_killed_processes_are_all_there_once(tmp_path, postgresql):
    found = chaos(postgresql.url(uuid.uuid4().hex), tmp_path, 10_000)
    assert found.is_clean, found
    assert min(found.kills, found.terminated) > 5


@pytest.mark.parametrize(("size", "pause"), [(600, 0.3), pytest.param(5000, 1.0, marks=MUCH)])
def test_charges_through_a_pooler_are_all_there_once_whatever_crashes_behind_it(
    pooler, tmp_path, size, pause
):
    with with_pooler() as how:
        found = chaos(**how, folder=tmp_path, n_charges=size, pause=pause, seed=3)
    assert found.is_clean, found
    assert found.delivered >= size
    assert min(found.kills, found.terminated, found.restarts) > 0
