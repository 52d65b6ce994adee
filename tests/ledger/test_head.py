"""A head that is kept proves later whether a ledger continues it; single records are found by number."""

import shutil

import pytest

from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError
from sklearn_ada.ledger import SQLiteLedger, open_existing_ledger, parse_head
from tests.ledger.damages import another_genesis, forget, forget_connections, opened, run
from tests.ledger.ledger_backends import Genesis, MemoryBackend, SQLiteBackend, Tally, fill

BACKENDS = {"sqlite": lambda folder: SQLiteBackend(str(folder)), "memory": lambda folder: MemoryBackend()}


@pytest.fixture(params=BACKENDS)
def filled(request, tmp_path):
    backend = BACKENDS[request.param](tmp_path)
    return fill(backend.open(backend.address()), 6)


def test_a_head_tells_how_many_records_there_are_and_the_hash_of_the_last(filled):
    head = parse_head(filled.head())
    assert (head.count, len(head.genesis), len(head.hash)) == (7, 8, 64)


def test_a_ledger_continues_every_head_that_it_had(filled):
    heads = [filled.head()]
    for number in range(3):
        filled.charge(f"more {number}", lambda state: {})
        heads.append(filled.head())
    assert len(set(heads)) == 4
    for head in heads:
        filled.check_head(head)


@pytest.mark.parametrize("bad", ["", "7", "7-abc", "0-" + 8 * "a" + "-" + 64 * "a", "x" * 70])
def test_what_is_no_head_is_a_value_error(filled, bad):
    with pytest.raises(ValueError, match="head"):
        filled.check_head(bad)


def test_an_older_copy_is_told(path, ledger, tmp_path):
    copy = shutil.copy(path, tmp_path / "copy.db")
    ledger.charge("more", lambda state: {})
    with pytest.raises(LedgerDamagedError, match="older copy"):
        open_existing_ledger(copy, Tally).check_head(ledger.head())


def test_another_ledger_is_told(ledger, tmp_path):
    other = fill(opened(str(tmp_path / "other.db"), another_genesis), 9)
    with pytest.raises(LedgerMismatchError, match="another ledger"):
        other.check_head(ledger.head())


def test_ledgers_that_parted_are_told(path, ledger, tmp_path):
    copy = str(shutil.copy(path, tmp_path / "copy.db"))
    ledger.charge("more", lambda state: {})
    forget_connections()
    parted = fill(opened(copy), 9)
    with pytest.raises(LedgerDamagedError, match="parted"):
        parted.check_head(ledger.head())


def test_a_record_is_found_by_its_number(filled):
    everything = list(filled.records())
    assert [filled.record(seq) for seq in range(7)] == everything
    assert filled.record(7) is None
    assert filled.record(-1) is None


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_the_tail_is_that_of_all_records(filled, size):
    assert filled.tail(size) == (parse_head(filled.head()), list(filled.records())[-size:])


def test_the_tail_and_a_record_are_found_without_reading_the_rest(path, ledger):
    forget()
    advanced = []

    class Counted(Tally):
        def advance(self, body):
            advanced.append(body)
            super().advance(body)

    found = SQLiteLedger.open_existing(path, Counted, replay=False)
    assert [record.seq for record in found.tail(2)[1]] == [4, 5]
    assert not advanced


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE records SET body = '{}' WHERE seq = 4",
        "UPDATE records SET key = 'other' WHERE seq = 4",
        "UPDATE records SET hash = 'abc' WHERE seq = 3",
        "DELETE FROM records WHERE seq = 5",
        "DELETE FROM records WHERE seq = 4",
        "UPDATE head SET count = 4",
        "UPDATE head SET count = 9",
        "UPDATE head SET hash = 'abc'",
        "DELETE FROM head",
    ],
)
def test_an_edited_tail_is_damage(path, ledger, edit):
    forget()
    run(path, edit)
    with pytest.raises(LedgerDamagedError):
        SQLiteLedger.open_existing(path, Tally, replay=False).tail(2)


def test_a_record_edited_under_an_open_ledger_is_not_returned(path, ledger):
    run(path, "UPDATE records SET body = '{}' WHERE seq = 3")
    with pytest.raises(LedgerDamagedError):
        ledger.record(3)


def test_a_head_of_another_kind_of_ledger_is_the_same_for_the_same_records(tmp_path):
    heads = set()
    for make in BACKENDS.values():
        backend = make(tmp_path)
        heads.add(fill(backend.open(backend.address(), Genesis("c" * 64)), 3).head())
    assert len(heads) == 1
