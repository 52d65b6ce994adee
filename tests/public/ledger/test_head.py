"""A head that is kept proves later whether a ledger continues it; single records are found by number."""

import shutil

import pytest

from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.ledger import SQLiteLedger, open_existing_ledger
from tests.support.ledger.damages import forget, forget_connections, opened, run
from tests.support.ledger.ledger_backends import Genesis, MemoryBackend, SQLiteBackend, Tally, fill


def test_an_older_copy_is_told(path, ledger, tmp_path):
    copy = shutil.copy(path, tmp_path / "copy.db")
    ledger.charge("more", lambda state: {})
    with pytest.raises(LedgerDamagedError, match="older copy"):
        open_existing_ledger(copy, Tally).check_head(ledger.head())


def test_ledgers_that_parted_are_told(path, ledger, tmp_path):
    copy = str(shutil.copy(path, tmp_path / "copy.db"))
    ledger.charge("more", lambda state: {})
    forget_connections()
    parted = fill(opened(copy), 9)
    with pytest.raises(LedgerDamagedError, match="parted"):
        parted.check_head(ledger.head())


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
    for backend in (SQLiteBackend(str(tmp_path)), MemoryBackend()):
        heads.add(fill(backend.open(backend.address(), Genesis("c" * 64)), 3).head())
    assert len(heads) == 1
