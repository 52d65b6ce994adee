"""One process may use any number of ledgers: those not used for longest are closed, and never forgotten."""

import os
import shutil

import pytest

from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.ledger import transactions
from tests.support.ledger.ledger_backends import SQLiteBackend, backend_of, charge, count, fill, nothing
from tests.support.processes import together

pytestmark = pytest.mark.thorough

MOST, MANY = 3, 12
backend = pytest.fixture(params=["sqlite", "memory", "postgresql"])(backend_of)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Start without connections and allow few."""
    for connection in list(transactions._connections.values()):
        connection.forget()
    monkeypatch.setattr(transactions, "_MOST_IDLE", MOST)


def many(backend):
    return [fill(backend.open(backend.address(f"ledger {number}")), 2) for number in range(MANY)]


def open_files(folder):
    """Count the descriptors of this process that lead into a folder."""
    links = [os.path.join("/proc/self/fd", number) for number in os.listdir("/proc/self/fd")]
    return sum(os.path.realpath(link).startswith(os.path.realpath(folder)) for link in links)


def test_the_last_few_stay_open_and_all_go_on(backend):
    ledgers = many(backend)
    assert len(transactions._connections) == MOST
    for ledger in ledgers:
        assert charge(ledger).body == {"before": 2}
    assert [ledger.read(count) for ledger in ledgers] == [3] * MANY
    assert len(transactions._connections) == MOST


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts the descriptors under /proc")
def test_what_is_not_used_is_closed(tmp_path):
    ledgers = many(SQLiteBackend(str(tmp_path)))
    assert 1 <= open_files(tmp_path) <= 2 * MOST
    assert [ledger.read(count) for ledger in ledgers] == [2] * MANY
    assert open_files(tmp_path) <= 2 * MOST


def test_the_last_used_is_kept_and_not_the_last_opened(backend):
    oldest = many(backend)[-MOST]
    oldest.read(count)
    backend.open(backend.address("one more"))
    assert (oldest._address, oldest._genesis_hash) in transactions._connections


def test_one_that_is_being_charged_is_not_closed(backend):
    ledger, *others = many(backend)

    def decide(state):
        return {"before": count(state), "elsewhere": sum(other.read(count) for other in others)}

    assert ledger.charge("new", decide).body == {"before": 2, "elsewhere": 2 * len(others)}
    assert ledger.read(count) == 3


def test_threads_take_turns(backend):
    ledgers = many(backend)

    def work(who):
        for ledger in ledgers:
            ledger.charge(who, nothing)

    together(*(lambda who=who: work(who) for who in "abcd"))
    assert [ledger.read(count) for ledger in ledgers] == [6] * MANY


def test_an_older_copy_of_a_closed_ledger_is_still_noticed(tmp_path):
    backend = SQLiteBackend(str(tmp_path))
    path = backend.address("first")
    ledger = fill(backend.open(path), 2)
    shutil.copy(path, path + ".old")
    charge(ledger)
    many(backend)
    assert (path, ledger._genesis_hash) not in transactions._connections
    os.replace(path + ".old", path)
    with pytest.raises(LedgerDamagedError, match="read before"):
        charge(ledger)
