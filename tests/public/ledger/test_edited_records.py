"""Records, head or secret edited past the ledger: it answers nothing more.

Whoever has the ledger open sees it at the next charge: a write that added no record is looked into. Known
limit: bytes changed without SQLite, which counts no change then; they are seen when the ledger is opened.
"""

import contextlib
import sqlite3
import subprocess
import sys

import pytest

from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError, LedgerUnavailableError
from sklearn_ada.ledger import Connection, SQLiteLedger, canonical_json, chain_hash, open_existing_ledger
from tests.support.ledger.damages import FEW as SIZE
from tests.support.ledger.damages import charge, forget_connections, opened, read, run
from tests.support.ledger.ledger_backends import Tally, pickled


def row(number, previous, key, body):
    """A row as the ledger would have written it."""
    text = canonical_json(body)
    digest = chain_hash(previous, number, key, text)
    return f"({number}, '{key}', {body.get('subject', 'NULL')}, '{text}', '{digest}')", digest


def hash_of(path, number):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT hash FROM records WHERE seq = ?", (number,)).fetchone()[0]


@pytest.mark.parametrize("statement", ["VACUUM", "ANALYZE", "UPDATE records SET key = key"])
def test_a_change_that_changes_nothing_does_no_harm(path, ledger, statement):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(statement)
    assert charge(ledger).seq == SIZE + 1


def test_records_of_another_process_are_not_taken_for_edits(path, ledger, monkeypatch):
    code = (
        "import sys; from tests.support.ledger.damages import opened; ledger = opened(sys.argv[1])\n"
        "for number in range(3): ledger.charge(f'other {number}', lambda state: {})"
    )
    monkeypatch.setattr(Connection, "verify_again", lambda self: pytest.fail("taken for an edit"))
    for _ in range(2):
        charge(ledger)
        subprocess.run([sys.executable, "-c", code, path], check=True)
    ledger.charge("last", lambda state: {})


def test_a_replaced_secret_does_not_pass(path, ledger):
    run(path, "UPDATE secret SET value = x'00'")
    with pytest.raises(LedgerDamagedError, match="secret"):
        open_existing_ledger(path, Tally).verify()


def test_a_write_ahead_log_of_another_program_is_refused_and_set_back(path, ledger):
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
        with pytest.raises(LedgerUnavailableError):
            charge(ledger)
    with contextlib.suppress(LedgerUnavailableError):
        charge(ledger)
    assert charge(ledger).seq == SIZE + 1
    assert read(path)[18:20] == b"\x01\x01"


@pytest.mark.parametrize("find", [lambda ledger: ledger.find("k2"), lambda ledger: ledger.find_subject("s2")])
def test_an_edited_record_is_not_found(path, ledger, find):
    run(path, "UPDATE records SET body = replace(body, ':2,', ':7,') WHERE seq = 2")
    with pytest.raises(LedgerDamagedError):
        find(ledger)


def test_an_edited_record_with_its_hash_made_good_is_not_found(path, ledger):
    body = {"number": 7, "subject": "s2"}
    text = canonical_json(body)
    digest = chain_hash(hash_of(path, 1), 2, "k2", text)
    run(path, f"UPDATE records SET body = '{text}', hash = '{digest}' WHERE seq = 2")
    forget_connections()
    with pytest.raises(LedgerDamagedError):
        pickled(ledger).find("k2")


def test_a_record_is_not_found_under_a_subject_that_is_not_its_own(path, ledger):
    run(path, "UPDATE records SET subject = 'other' WHERE seq = 2")
    with pytest.raises(LedgerDamagedError):
        ledger.find_subject("other")


def test_two_records_under_one_key_are_refused(path, ledger):
    text, digest = row(SIZE + 1, hash_of(path, SIZE), "k2", {"number": 9})
    with pytest.raises(sqlite3.IntegrityError):
        run(path, f"INSERT INTO records VALUES {text}")
    run(
        path,
        "ALTER TABLE records RENAME TO old",
        "CREATE TABLE records (seq INTEGER PRIMARY KEY, key TEXT, subject TEXT, body TEXT, hash TEXT)",
        "INSERT INTO records SELECT * FROM old",
        "DROP TABLE old",
        f"INSERT INTO records VALUES {text}",
        f"UPDATE head SET count = {SIZE + 2}, hash = '{digest}'",
    )
    with pytest.raises(LedgerDamagedError):
        opened(path).find("k2")


@pytest.mark.parametrize("use", [charge, lambda ledger: list(ledger.records())], ids=["charge", "records"])
def test_a_cut_tail_with_the_head_made_good_is_seen_by_who_knew_more(use, path, ledger):
    """Nobody else can tell: it is a consistent older ledger."""
    run(
        path,
        f"DELETE FROM records WHERE seq = {SIZE}",
        f"UPDATE head SET count = {SIZE}, hash = '{hash_of(path, SIZE - 1)}'",
    )
    with pytest.raises(LedgerDamagedError):
        use(ledger)


def test_the_genesis_of_another_holdout_is_refused(path, ledger):
    body = canonical_json({**ledger.genesis, "fingerprint": "e" * 64})
    run(path, f"UPDATE records SET body = '{body}' WHERE seq = 0")
    forget_connections()
    with pytest.raises(LedgerMismatchError):
        opened(path)
    with pytest.raises(LedgerMismatchError):
        charge(pickled(ledger))


def test_a_secret_that_is_not_the_ledgers_is_refused(path):
    def genesis(secret):
        return {"schema": 1, "fingerprint": secret.hex()}

    SQLiteLedger.create_or_open(path, genesis, Tally)
    run(path, "UPDATE secret SET value = x'00'")
    with pytest.raises(LedgerMismatchError):
        SQLiteLedger.create_or_open(path, genesis, Tally)


def test_damage_is_refused_every_time_and_nothing_is_charged(path, ledger):
    run(path, "UPDATE head SET hash = 'ff'")
    before = read(path)
    for _ in range(3):
        with pytest.raises(LedgerDamagedError):
            charge(ledger)
    assert read(path) == before


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
    with pytest.raises(LedgerDamagedError, match=r"record [12] is not found by its key or its subject"):
        opened(path)
