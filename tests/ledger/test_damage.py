"""Whatever happens to the file, a ledger that is not the one that was kept answers nothing.

Known limit: an older copy that is consistent in itself, put back when no process remembers more.
"""

import contextlib
import os
import shutil
import sqlite3

import pytest

from sklearn_ada.exceptions import (
    LedgerDamagedError,
    LedgerError,
    LedgerMismatchError,
    LedgerUnavailableError,
)
from sklearn_ada.ledger import SQLiteLedger, _connection, canonical_json, chain_hash
from tests.ledger.ledger_backends import Genesis, Tally, count, fill, pickled

SIZE = 5


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "ledger.db")


@pytest.fixture
def ledger(path):
    return fill(opened(path), SIZE)


def opened(path, fingerprint="f" * 64):
    return SQLiteLedger.create_or_open(path, Genesis(fingerprint), Tally, secret=b"fixed")


def edit(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def forget_connections():
    """Go on as a process would that has not used the ledger yet."""
    _connection._connections.clear()


def charge(ledger):
    return ledger.charge("new", lambda state: {"before": count(state)})


def row(number, previous, key, body):
    """A row as the ledger would have written it."""
    text = canonical_json(body)
    digest = chain_hash(previous, number, key, text)
    return f"({number}, '{key}', {body.get('subject', 'NULL')}, '{text}', '{digest}')", digest


def hash_of(path, number):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT hash FROM records WHERE seq = ?", (number,)).fetchone()[0]


SWAP = (
    "UPDATE records SET seq = seq + 100 WHERE seq IN (2, 3)",
    "UPDATE records SET seq = CASE seq WHEN 102 THEN 3 ELSE 2 END WHERE seq > 100",
)
EDITS = {
    "body": ["""UPDATE records SET body = replace(body, '"number":2', '"number":7') WHERE seq = 2"""],
    "last body": [f"""UPDATE records SET body = '{{"number":0}}' WHERE seq = {SIZE}"""],
    "body no JSON": ["UPDATE records SET body = '{' WHERE seq = 2"],
    "body no object": ["UPDATE records SET body = '[]' WHERE seq = 2"],
    "key": ["UPDATE records SET key = 'other' WHERE seq = 2"],
    "key removed": ["UPDATE records SET key = NULL WHERE seq = 2"],
    "subject": ["UPDATE records SET subject = 'other' WHERE seq = 2"],
    "hash": ["UPDATE records SET hash = 'ff' WHERE seq = 2"],
    "row deleted": ["DELETE FROM records WHERE seq = 2"],
    "last row deleted": [f"DELETE FROM records WHERE seq = {SIZE}"],
    "row deleted and numbers closed up": [
        "DELETE FROM records WHERE seq = 2",
        "UPDATE records SET seq = seq - 1 WHERE seq > 2",
        f"UPDATE head SET count = {SIZE}",
    ],
    "rows swapped": SWAP,
    "row added": [f"INSERT INTO records VALUES ({SIZE + 1}, 'k', NULL, '{{}}', 'ff')"],
    "head count": ["UPDATE head SET count = count - 1"],
    "head hash": ["UPDATE head SET hash = 'ff'"],
    "head row deleted": ["DELETE FROM head"],
    "secret row deleted": ["DELETE FROM secret"],
    "genesis deleted": ["DELETE FROM records WHERE seq = 0"],
    "application id": ["PRAGMA application_id = 1"],
}


@pytest.mark.parametrize("statements", EDITS.values(), ids=EDITS)
def test_an_edited_ledger_does_not_open(path, ledger, statements):
    edit(path, *statements)
    forget_connections()
    with pytest.raises(LedgerDamagedError):
        opened(path)


NOT_SEEN_BY_HANDLES = ("secret row deleted", "application id")


@pytest.mark.parametrize("name", [name for name in EDITS if name not in NOT_SEEN_BY_HANDLES])
def test_an_edited_ledger_is_refused_by_a_handle_in_another_process(path, ledger, name):
    edit(path, *EDITS[name])
    forget_connections()
    with pytest.raises((LedgerDamagedError, LedgerMismatchError)):
        charge(pickled(ledger))


@pytest.mark.parametrize("name", [name for name in EDITS if name not in NOT_SEEN_BY_HANDLES])
def test_an_edit_under_an_open_connection_is_seen_when_records_are_read(path, ledger, name):
    edit(path, *EDITS[name])
    with pytest.raises((LedgerDamagedError, LedgerMismatchError)):
        list(ledger.records())


@pytest.mark.parametrize(
    "name",
    [
        "row added",
        "head count",
        "head hash",
        "head row deleted",
        "last row deleted",
    ],
)
def test_an_edit_under_an_open_connection_refuses_the_next_charge(path, ledger, name):
    edit(path, *EDITS[name])
    with pytest.raises(LedgerDamagedError):
        charge(ledger)


@pytest.mark.parametrize("find", [lambda ledger: ledger.find("k2"), lambda ledger: ledger.find_subject("s2")])
def test_an_edited_record_is_not_found(path, ledger, find):
    edit(path, *EDITS["body"])
    with pytest.raises(LedgerDamagedError):
        find(ledger)


def test_an_edited_record_with_its_hash_made_good_is_not_found(path, ledger):
    body = {"number": 7, "subject": "s2"}
    text = canonical_json(body)
    digest = chain_hash(hash_of(path, 1), 2, "k2", text)
    edit(path, f"UPDATE records SET body = '{text}', hash = '{digest}' WHERE seq = 2")
    forget_connections()
    with pytest.raises(LedgerDamagedError):
        pickled(ledger).find("k2")


def test_a_record_is_not_found_under_a_subject_that_is_not_its_own(path, ledger):
    edit(path, *EDITS["subject"])
    with pytest.raises(LedgerDamagedError):
        ledger.find_subject("other")


def test_of_two_records_under_one_key_the_first_stands(path, ledger):
    text, digest = row(SIZE + 1, hash_of(path, SIZE), "k2", {"number": 9})
    with pytest.raises(sqlite3.IntegrityError):
        edit(path, f"INSERT INTO records VALUES {text}")
    edit(
        path,
        "ALTER TABLE records RENAME TO old",
        "CREATE TABLE records (seq INTEGER PRIMARY KEY, key TEXT, subject TEXT, body TEXT, hash TEXT)",
        "INSERT INTO records SELECT * FROM old",
        "DROP TABLE old",
        f"INSERT INTO records VALUES {text}",
        f"UPDATE head SET count = {SIZE + 2}, hash = '{digest}'",
    )
    assert opened(path).find("k2").body["number"] == 2


def test_a_cut_tail_with_the_head_made_good_is_seen_by_who_knew_more(path, ledger):
    """Nobody else can tell: it is a consistent older ledger."""
    edit(
        path,
        f"DELETE FROM records WHERE seq = {SIZE}",
        f"UPDATE head SET count = {SIZE}, hash = '{hash_of(path, SIZE - 1)}'",
    )
    with pytest.raises(LedgerDamagedError):
        charge(ledger)


def test_records_of_who_knew_more_notice_a_cut_tail(path, ledger):
    edit(
        path,
        f"DELETE FROM records WHERE seq = {SIZE}",
        f"UPDATE head SET count = {SIZE}, hash = '{hash_of(path, SIZE - 1)}'",
    )
    with pytest.raises(LedgerDamagedError):
        list(ledger.records())


@pytest.mark.parametrize("table", ["head", "records", "secret"])
def test_a_lost_table_is_refused(path, ledger, table):
    edit(path, f"DROP TABLE {table}")
    forget_connections()
    with pytest.raises(LedgerError):
        opened(path)


def test_a_lost_table_is_damage(path, ledger):
    edit(path, "DROP TABLE head")
    with pytest.raises(LedgerDamagedError):
        charge(ledger)


def test_the_genesis_of_another_holdout_is_refused(path, ledger):
    body = canonical_json({**ledger.genesis, "fingerprint": "e" * 64})
    edit(path, f"UPDATE records SET body = '{body}' WHERE seq = 0")
    forget_connections()
    with pytest.raises(LedgerMismatchError):
        opened(path)
    with pytest.raises(LedgerMismatchError):
        charge(pickled(ledger))


def test_a_secret_that_is_not_the_ledgers_is_refused(path):
    def genesis(secret):
        return {"fingerprint": secret.hex()}

    SQLiteLedger.create_or_open(path, genesis, Tally)
    edit(path, "UPDATE secret SET value = x'00'")
    with pytest.raises(LedgerMismatchError):
        SQLiteLedger.create_or_open(path, genesis, Tally)


@pytest.fixture
def foreign(tmp_path):
    """The file of another ledger, which is longer."""
    other = str(tmp_path / "foreign.db")
    fill(opened(other, "e" * 64), SIZE + 2)
    return other


def overwrite(path, content):
    """Write into the same inode, as ``cp`` does."""
    with open(path, "r+b") as file:
        file.write(content)
        file.truncate()


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


def test_a_foreign_ledger_copied_over_an_open_one_is_not_charged(path, ledger, foreign):
    overwrite(path, content_of(foreign))
    with pytest.raises(LedgerDamagedError):
        charge(ledger)
    with pytest.raises(LedgerDamagedError):
        ledger.read(count)


@pytest.mark.parametrize(
    "look", [lambda ledger: list(ledger.records()), lambda ledger: ledger.find("k2")], ids=["records", "find"]
)
def test_a_foreign_ledger_copied_over_an_open_one_is_not_read(path, ledger, foreign, look):
    overwrite(path, content_of(foreign))
    with pytest.raises((LedgerDamagedError, LedgerMismatchError)):
        look(ledger)


@pytest.mark.parametrize("keep", [100, 4096, 5000, -1])
def test_a_truncated_file_is_refused(path, ledger, keep):
    size = os.path.getsize(path)
    os.truncate(path, keep if keep > 0 else size - 4096)
    with pytest.raises(LedgerDamagedError):
        charge(ledger)
    forget_connections()
    with pytest.raises(LedgerDamagedError):
        opened(path)


def test_an_emptied_file_is_not_charged(path, ledger):
    os.truncate(path, 0)
    with pytest.raises(LedgerError):
        charge(ledger)
    forget_connections()
    with pytest.raises(LedgerError):
        charge(pickled(ledger))


def test_an_emptied_file_does_not_open(path, ledger):
    os.truncate(path, 0)
    forget_connections()
    with pytest.raises(LedgerDamagedError):
        opened(path)


def test_an_unlinked_file_is_refused_and_not_made_again(path, ledger):
    os.unlink(path)
    for use in (charge, lambda ledger: ledger.find("k1"), lambda ledger: ledger.read(count)):
        with pytest.raises(LedgerUnavailableError):
            use(ledger)
    assert not os.path.exists(path)


def test_a_file_that_goes_while_it_is_opened_is_not_made_again(path, ledger, monkeypatch):
    forget_connections()
    os.unlink(path)
    monkeypatch.setattr(_connection.os.path, "exists", lambda name: True)
    with pytest.raises(LedgerUnavailableError):
        charge(ledger)
    monkeypatch.undo()
    assert not os.path.exists(path)


def test_a_file_moved_away_and_back_is_used_again(path, ledger):
    os.rename(path, path + ".away")
    with pytest.raises(LedgerUnavailableError):
        charge(ledger)
    os.rename(path + ".away", path)
    assert charge(ledger).body == {"before": SIZE}


def test_a_file_that_goes_while_a_question_is_decided_keeps_the_answer_back(path, ledger):
    def decide(state):
        os.unlink(path)
        return {"number": 1}

    with pytest.raises(LedgerUnavailableError):
        ledger.charge("new", decide)
    assert not os.path.exists(path)


def test_a_file_replaced_while_a_question_is_decided_keeps_the_answer_back(path, ledger):
    shutil.copy(path, path + ".copy")

    def decide(state):
        os.replace(path + ".copy", path)
        return {"number": 1}

    with pytest.raises(LedgerUnavailableError):
        ledger.charge("new", decide)
    forget_connections()
    assert opened(path).find("new") is None


def test_a_replaced_file_is_refused(path, ledger):
    shutil.copy(path, path + ".copy")
    os.replace(path + ".copy", path)
    with pytest.raises(LedgerUnavailableError, match="replaced"):
        charge(ledger)


def test_a_file_replaced_by_a_foreign_ledger_stays_refused(path, ledger, foreign):
    os.replace(foreign, path)
    with pytest.raises(LedgerUnavailableError):
        charge(ledger)
    for _ in range(2):
        with pytest.raises(LedgerMismatchError):
            charge(ledger)


def put_back_an_older_copy(path, ledger):
    shutil.copy(path, path + ".older")
    ledger.charge("paid since", lambda state: {"number": 9})
    os.replace(path + ".older", path)


def test_an_older_copy_put_back_is_refused_at_first(path, ledger):
    put_back_an_older_copy(path, ledger)
    with pytest.raises(LedgerUnavailableError):
        charge(ledger)


def test_an_older_copy_put_back_stays_refused_by_a_process_that_knows_better(path, ledger):
    put_back_an_older_copy(path, ledger)
    for _ in range(2):
        with pytest.raises(LedgerError):
            charge(ledger)


def test_an_older_copy_does_not_open_in_a_process_that_knows_better(path, ledger):
    put_back_an_older_copy(path, ledger)
    with pytest.raises(LedgerError):
        ledger.read(count)
    with pytest.raises(LedgerError):
        opened(path)


def test_an_older_copy_written_into_the_same_file_is_refused(path, ledger):
    older = content_of(path)
    charge(ledger)
    overwrite(path, older)
    for _ in range(2):
        with pytest.raises(LedgerDamagedError):
            ledger.charge("another", lambda state: {})


def test_damage_is_refused_every_time_and_nothing_is_charged(path, ledger):
    edit(path, *EDITS["head hash"])
    before = content_of(path)
    for _ in range(3):
        with pytest.raises(LedgerDamagedError):
            charge(ledger)
    assert content_of(path) == before


def test_the_journal_of_a_dead_writer_is_rolled_back(path, ledger, tmp_path):
    """A hot journal, as a killed writer leaves it, is undone before anything is read."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE records SET body = zeroblob(100000) WHERE seq = 2")
        db.execute("UPDATE records SET body = zeroblob(100000) WHERE seq = 3")
        copies = str(tmp_path / "crashed.db")
        shutil.copy(path, copies)
        shutil.copy(path + "-journal", copies + "-journal")
        db.execute("ROLLBACK")
    assert [record.seq for record in opened(copies).records()] == list(range(SIZE + 1))
