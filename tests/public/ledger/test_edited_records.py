"""Records, head or secret edited past the ledger: it answers nothing more (see `test_kinds_of_edits`).

Whoever has the ledger open sees it at the next charge: a write that added no record is looked into. Known
limit: bytes changed without SQLite, which counts no change then; they are seen when the ledger is opened.
"""

import contextlib
import sqlite3

import pytest

from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError, LedgerUnavailableError
from sklearn_ada.ledger import Connection
from tests.support.ledger.damages import FEW as SIZE
from tests.support.ledger.damages import chained, forget_connections, opened, read, rows_of, run
from tests.support.ledger.ledger_backends import backend_of, charge, fill, nothing, pickled
from tests.support.processes import interpreter

backend = pytest.fixture(params=["sqlite", "postgresql"])(backend_of)


def test_records_of_another_process_are_not_taken_for_edits(backend, monkeypatch):
    code = """
        import sys
        from tests.support.ledger import ledger_backends
        backend = getattr(ledger_backends, sys.argv[1])
        ledger = backend(None).open(sys.argv[2])
        for number in range(3): ledger.charge(f"other {number} {sys.argv[3]}", ledger_backends.nothing)
    """
    address = backend.address()
    ledger = fill(backend.open(address))
    monkeypatch.setattr(Connection, "verify_again", lambda self: pytest.fail("taken for an edit"))
    for number in range(2):
        interpreter(code, type(backend).__name__, address, number)
        ledger.charge(f"own {number}", nothing)


def test_a_write_ahead_log_of_another_program_is_refused_and_set_back(path, ledger):
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
        with pytest.raises(LedgerUnavailableError):
            charge(ledger)
    with contextlib.suppress(LedgerUnavailableError):
        charge(ledger)
    assert charge(ledger).seq == SIZE + 1
    assert read(path)[18:20] == b"\x01\x01"


@pytest.mark.parametrize(
    ("edit", "find"),
    [
        ("body = replace(body, ':2,', ':7,')", lambda ledger: ledger.find("k2")),
        ("body = replace(body, ':2,', ':7,')", lambda ledger: ledger.find_subject("s2")),
        ("body = '{}'", lambda ledger: ledger.record(2)),
        ("subject = 'other'", lambda ledger: ledger.find_subject("other")),
    ],
)
def test_an_edited_record_is_not_found(path, ledger, edit, find):
    run(path, f"UPDATE records SET {edit} WHERE seq = 2")
    with pytest.raises(LedgerDamagedError):
        find(ledger)


def test_two_records_under_one_key_are_refused(path, ledger):
    row = chained(SIZE + 1, "k2", None, {"number": 9}, rows_of(path)[-1])
    insert = ("INSERT INTO records VALUES (?, ?, ?, ?, ?)", row)
    with pytest.raises(sqlite3.IntegrityError):
        run(path, insert)
    run(
        path,
        "ALTER TABLE records RENAME TO old",
        "CREATE TABLE records (seq INTEGER PRIMARY KEY, key TEXT, subject TEXT, body TEXT, hash TEXT)",
        "INSERT INTO records SELECT * FROM old",
        "DROP TABLE old",
        insert,
        ("UPDATE head SET count = ?, hash = ?", (SIZE + 2, row[4])),
    )
    with pytest.raises(LedgerDamagedError):
        opened(path).find("k2")


def test_the_genesis_of_another_holdout_is_refused(path, ledger):
    run(path, "UPDATE records SET body = replace(body, 'ffff', 'eeee') WHERE seq = 0")
    forget_connections()
    for use in (lambda: opened(path), lambda: charge(pickled(ledger))):
        with pytest.raises(LedgerMismatchError):
            use()


def test_a_worker_does_not_take_an_altered_secret_for_the_ledgers(path, ledger):
    """It would draw other noise than the ledger's."""
    run(path, "UPDATE secret SET value = x'00'")
    forget_connections()
    with pytest.raises(LedgerDamagedError, match="secret"):
        pickled(ledger).secret()


INDEX_DAMAGES = {
    "empty": "DELETE FROM old",
    "another subject": "UPDATE old SET subject = 's9' WHERE seq = 2",
    "another record": "UPDATE old SET seq = 9 WHERE seq = 2",
}


@pytest.mark.parametrize("statement", INDEX_DAMAGES.values(), ids=INDEX_DAMAGES)
def test_an_index_that_does_not_lead_to_every_record_is_refused(path, ledger, statement):
    """The rows are whole, but a question that misses its record would be asked and charged again."""
    page = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
    with contextlib.closing(sqlite3.connect(path)) as db:
        kept = db.execute(page, ("by_subject",)).fetchone()[0]
        db.execute("CREATE TABLE old (seq INTEGER PRIMARY KEY, subject TEXT)")
        db.execute("INSERT INTO old SELECT seq, subject FROM records")
        db.execute(statement)
        db.execute("CREATE INDEX other ON old (subject) WHERE subject IS NOT NULL")
        # The index of the changed copy takes the place of the true one.
        other = db.execute(page, ("other",)).fetchone()[0]
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = 'by_subject'", (other,))
        db.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = 'other'", (kept,))
        db.commit()
    forget_connections()
    with pytest.raises(
        LedgerDamagedError, match=r"record [12] is not found by its key or its subject|added index"
    ):
        opened(path)
