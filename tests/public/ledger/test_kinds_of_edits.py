"""What is noticed when, as the table of docs/ledger.rst says, for each kind of edit of a file.

An edit is looked for by four: who opens the ledger next, who has it open and charges, ``ledger verify``, and
who kept a head of it.
"""

import contextlib
import sqlite3

import pytest

from sklearn_ada.exceptions import LedgerError
from sklearn_ada.ledger import canonical_json, chain_hash, open_existing_ledger
from tests.support.ledger.damages import FEW as SIZE
from tests.support.ledger.damages import charge, forget, forget_connections, opened, overwrite, read, run
from tests.support.ledger.ledger_backends import Tally, pickled

ALL = {"open", "charge", "verify", "head"}
WHO_KNEW_MORE = {"charge", "head"}
NOT_WHO_HAS_IT_OPEN = {"open", "verify", "head"}


def rows_of(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT seq, key, subject, body, hash FROM records ORDER BY seq").fetchall()


def rewritten(change, *, head=True, first=0):
    """An edit by somebody who computes all hashes from record `first` on, and the head's, anew."""

    def edit(path):
        rows, before, new = rows_of(path), "", []
        for row in change(rows):
            key, subject, body = row[1:4]
            digest = chain_hash(before, len(new), key, body) if len(new) >= first else row[4]
            new.append((len(new), key, subject, body, digest))
            before = digest
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("DELETE FROM records")
            db.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?)", new)
            if head:
                db.execute("UPDATE head SET count = ?, hash = ?", (len(new), before))
            db.commit()

    return edit


def sql(*statements):
    return lambda path: run(path, *statements)


def script(text):
    def edit(path):
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.executescript(text)

    return edit


def with_body(seq, body):
    """Rows in which one has another body."""
    return lambda rows: [(*row[:3], canonical_json(body), row[4]) if row[0] == seq else row for row in rows]


def exchanged(columns):
    """Two records exchange some of what they hold."""

    def edit(path):
        rows = {row[0]: row for row in rows_of(path)}
        names = ("seq", "key", "subject", "body", "hash")
        run(path, "UPDATE records SET key = NULL WHERE seq IN (2, 3)" if "key" in columns else "SELECT 1")
        for mine, other in ((2, 3), (3, 2)):
            for column in columns:
                value = rows[other][names.index(column)]
                run(path, (f"UPDATE records SET {column} = ? WHERE seq = ?", (value, mine)))

    return edit


def bytes_replaced(old, new):
    """An edit past SQLite, which counts no change then."""

    def edit(path):
        data = read(path)
        assert data.count(old)
        overwrite(path, data.replace(old, new))

    return edit


def edited_and_counter_set_back(path):
    data = read(path)
    run(path, """UPDATE records SET body = replace(body, '"number":2', '"number":7') WHERE seq = 2""")
    later = bytearray(read(path))
    later[24:28], later[92:96] = data[24:28], data[92:96]  # as if SQLite had not been there
    overwrite(path, bytes(later))


REBUILT = """
ALTER TABLE records RENAME TO old;
CREATE TABLE records (seq INTEGER PRIMARY KEY, key TEXT {unique}, subject TEXT, body TEXT {null}, hash TEXT);
INSERT INTO records SELECT * FROM old;
DROP TABLE old;
CREATE INDEX by_subject ON records (subject) WHERE subject IS NOT NULL;
"""
AN_OTHER = {"number": 7, "subject": "s2"}
SWAPPED = (
    "UPDATE records SET seq = seq + 100 WHERE seq IN (2, 3)",
    "UPDATE records SET seq = CASE seq WHEN 102 THEN 3 ELSE 2 END WHERE seq > 100",
)
CLOSED_UP = (
    "DELETE FROM records WHERE seq = 2",
    "UPDATE records SET seq = seq - 1 WHERE seq > 2",
    f"UPDATE head SET count = {SIZE}",
)
SWALLOWS = "CREATE TRIGGER t BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END"
FORGETS = "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records WHERE seq = 1; END"
OF_STATEMENTS = {
    "a body": ["UPDATE records SET body = replace(body, ':2,', ':7,') WHERE seq = 2"],
    "the last body": [f"""UPDATE records SET body = '{{"number":0}}' WHERE seq = {SIZE}"""],
    "a body that is no JSON": ["UPDATE records SET body = '{' WHERE seq = 2"],
    "a body that is no object": ["UPDATE records SET body = '[]' WHERE seq = 2"],
    "the body of the genesis": ["UPDATE records SET body = '{}' WHERE seq = 0"],
    "a key": ["UPDATE records SET key = 'other' WHERE seq = 2"],
    "a key removed": ["UPDATE records SET key = NULL WHERE seq = 2"],
    "a subject": ["UPDATE records SET subject = 'other' WHERE seq = 2"],
    "a subject removed": ["UPDATE records SET subject = NULL WHERE seq = 2"],
    "a hash": ["UPDATE records SET hash = 'ff' WHERE seq = 2"],
    "a record deleted": ["DELETE FROM records WHERE seq = 2"],
    "the first record deleted": ["DELETE FROM records WHERE seq = 1"],
    "the last record deleted": [f"DELETE FROM records WHERE seq = {SIZE}"],
    "the genesis deleted": ["DELETE FROM records WHERE seq = 0"],
    "a record deleted and numbers closed up": CLOSED_UP,
    "records swapped": SWAPPED,
    "records moved before the genesis": ["UPDATE records SET seq = -seq WHERE seq IN (2, 3)"],
    "a record added": [f"INSERT INTO records VALUES ({SIZE + 1}, 'k', NULL, '{{}}', 'ff')"],
    "the head's count": ["UPDATE head SET count = count - 1"],
    "the head's hash": ["UPDATE head SET hash = 'ff'"],
    "the head deleted": ["DELETE FROM head"],
    "the table of heads lost": ["DROP TABLE head"],
    "the table of records lost": ["DROP TABLE records"],
    "the index dropped": ["DROP INDEX by_subject"],
    "a table added": ["CREATE TABLE notes (x)"],
    "a view added": ["CREATE VIEW seen AS SELECT * FROM records"],
    "a trigger that swallows": [SWALLOWS],
    "a trigger that forgets": [FORGETS],
}
KINDS = {
    **{name: (sql(*statements), ALL) for name, statements in OF_STATEMENTS.items()},
    # of a record
    "spaces in a body": (sql("UPDATE records SET body = replace(body, ',', ', ') WHERE seq = 2"), ALL),
    "fields of a body in another order": (
        sql("""UPDATE records SET body = '{"subject":"s2","number":2}' WHERE seq = 2"""), ALL,
    ),
    "a field of a body twice": (
        sql("""UPDATE records SET body = '{"number":2,"number":2,"subject":"s2"}' WHERE seq = 2"""), ALL,
    ),
    "a whole number written as a fraction": (
        sql("""UPDATE records SET body = replace(body, ':2,', ':2.0,') WHERE seq = 2"""), ALL,
    ),
    "something after a body": (sql("UPDATE records SET body = body || ' ' WHERE seq = 2"), ALL),
    "an empty body": (sql("UPDATE records SET body = '' WHERE seq = 2"), ALL),
    "a body as bytes": (sql("UPDATE records SET body = CAST(body AS BLOB) WHERE seq = 2"), ALL),
    "a hash in capitals": (sql("UPDATE records SET hash = upper(hash) WHERE seq = 2"), ALL),
    "a hash as bytes": (sql("UPDATE records SET hash = CAST(hash AS BLOB) WHERE seq = 2"), ALL),
    "a key as bytes": (sql("UPDATE records SET key = CAST(key AS BLOB) WHERE seq = 2"), ALL),
    "a space after a key": (sql("UPDATE records SET key = key || ' ' WHERE seq = 2"), ALL),
    "a key given to the genesis": (sql("UPDATE records SET key = 'k' WHERE seq = 0"), ALL),
    "a subject given to the genesis": (sql("UPDATE records SET subject = 's' WHERE seq = 0"), ALL),
    "keys exchanged": (exchanged(["key"]), ALL),
    "subjects exchanged": (exchanged(["subject"]), ALL),
    "bodies exchanged": (exchanged(["body"]), ALL),
    "hashes exchanged": (exchanged(["hash"]), ALL),
    "all but the numbers exchanged": (exchanged(["key", "subject", "body", "hash"]), ALL),
    "a body and its own hash": (
        lambda path: run(
            path,
            ("UPDATE records SET body = ?, hash = ? WHERE seq = 2", (
                canonical_json(AN_OTHER), chain_hash(rows_of(path)[1][4], 2, "k2", canonical_json(AN_OTHER)),
            )),
        ), ALL,
    ),
    # of the log
    "a record before the genesis": (sql("INSERT INTO records VALUES (-1, 'k', NULL, '{}', 'ff')"), ALL),
    "the genesis moved": (sql("UPDATE records SET seq = -1 WHERE seq = 0"), ALL),
    "the last record moved on": (
        sql(f"UPDATE records SET seq = seq + 1 WHERE seq = {SIZE}", "UPDATE head SET count = count + 1"), ALL,
    ),
    "a record put in between": (
        sql(
            "UPDATE records SET seq = -seq WHERE seq > 2",
            "UPDATE records SET seq = 1 - seq WHERE seq < 0",
            "INSERT INTO records VALUES (3, 'new', NULL, '{}', 'ff')",
            "UPDATE head SET count = count + 1",
        ), ALL,
    ),
    "a record added at the end, chained, without the head": (
        rewritten(lambda rows: [*rows, (None, "new", None, "{}", "")], head=False), ALL,
    ),
    "all records deleted, the genesis too": (sql("DELETE FROM records"), ALL),
    "the last record rewritten, without the head": (
        rewritten(with_body(SIZE, {"number": 9}), head=False), ALL,
    ),
    "subjects taken out of all rows": (sql("UPDATE records SET subject = NULL"), ALL),
    # of the head and the secret
    "the head a record too far": (sql("UPDATE head SET count = count + 1"), ALL),
    "the head at the record before": (
        sql(f"UPDATE head SET count = {SIZE}, hash = (SELECT hash FROM records WHERE seq = {SIZE - 1})"), ALL,
    ),
    "the head without a hash": (sql("UPDATE head SET hash = ''"), ALL),
    "the head's count a fraction": (sql("UPDATE head SET count = 5.5"), ALL),
    "the secret as text": (sql("UPDATE secret SET value = CAST(value AS TEXT)"), {"open", "verify"}),
    "the secret emptied": (sql("UPDATE secret SET value = x''"), {"open", "verify"}),
    "the secret deleted": (sql("DELETE FROM secret"), {"open", "verify"}),
    "the table of the secret lost": (sql("DROP TABLE secret"), ALL),
    "the mark of a ledger": (sql("PRAGMA application_id = 1"), {"open", "verify", "head"}),
    # of the tables
    "a column added": (sql("ALTER TABLE records ADD COLUMN note TEXT"), ALL),
    "a column renamed": (sql("ALTER TABLE records RENAME COLUMN subject TO topic"), ALL),
    "a table renamed": (sql("ALTER TABLE records RENAME TO entries"), ALL),
    "keys that may repeat": (script(REBUILT.format(unique="", null="NOT NULL")), ALL),
    "bodies that may be missing": (script(REBUILT.format(unique="UNIQUE", null="")), ALL),
    "an index of some records only": (
        script("DROP INDEX by_subject; CREATE INDEX by_subject ON records (subject) WHERE seq > 3"), ALL,
    ),
    "an index of another column": (
        script("DROP INDEX by_subject; CREATE INDEX by_subject ON records (body) WHERE body != ''"), ALL,
    ),
    "one index more": (sql("CREATE INDEX by_hash ON records (hash)"), ALL),
    "a trigger on the head": (
        sql("CREATE TRIGGER t AFTER UPDATE ON head BEGIN UPDATE head SET count = old.count; END"), ALL,
    ),
    "a trigger on the secret": (
        sql("CREATE TRIGGER t AFTER UPDATE ON secret BEGIN DELETE FROM records; END"), ALL,
    ),
    "a view in the place of the records": (
        script("ALTER TABLE records RENAME TO r; CREATE VIEW records AS SELECT * FROM r WHERE seq < 3"), ALL,
    ),
    # with all hashes and the head made good: another consistent ledger
    "a tail cut off, all made good": (rewritten(lambda rows: rows[:-2]), WHO_KNEW_MORE),
    "a record rewritten, all made good": (rewritten(with_body(2, AN_OTHER)), WHO_KNEW_MORE),
    "a record taken out, all made good": (rewritten(lambda rows: rows[:2] + rows[3:]), WHO_KNEW_MORE),
    "another genesis, all made good": (
        rewritten(with_body(0, {"schema": 1, "fingerprint": "e" * 64})), {"open", "charge", "head"},
    ),
    # past SQLite
    "bytes of a body": (bytes_replaced(b'"number":2', b'"number":7'), NOT_WHO_HAS_IT_OPEN),
    "bytes of a key": (bytes_replaced(b'k2s2{"', b'k8s2{"'), NOT_WHO_HAS_IT_OPEN),
    "bytes of a subject": (bytes_replaced(b's2{"', b's8{"'), NOT_WHO_HAS_IT_OPEN),
    "an edit, and the counter of changes set back": (edited_and_counter_set_back, NOT_WHO_HAS_IT_OPEN),
}  # fmt: skip
HARMLESS = {
    "a version of the user's": sql("PRAGMA user_version = 7"),
    "bytes after the end": lambda path: overwrite(path, read(path) + b"more"),
}


LOOKS = {
    "open": lambda path, ledger, head: opened(path),
    "charge": lambda path, ledger, head: charge(ledger),
    "verify": lambda path, ledger, head: open_existing_ledger(path, Tally).verify(),
    "head": lambda path, ledger, head: open_existing_ledger(path, Tally, replay=False).check_head(head),
}
OTHER_LOOKS = {  # of what everybody notices
    "charge again": lambda path, ledger, head: ledger.charge("k2", dict),
    "records": lambda path, ledger, head: list(ledger.records()),
    "charge elsewhere": lambda path, ledger, head: (forget_connections(), charge(pickled(ledger))),
}


def is_noticed(by, path, ledger, head):
    if by in ("open", "verify", "head"):
        forget()
    try:
        {**LOOKS, **OTHER_LOOKS}[by](path, ledger, head)
    except LedgerError:
        return True
    return False


def test_there_are_as_many_kinds_as_were_asked_for():
    assert len(KINDS) >= 30


@pytest.mark.parametrize("by", sorted(ALL))
@pytest.mark.parametrize("kind", KINDS)
def test_an_edit_is_noticed_by_those_of_whom_the_page_says_so(path, ledger, kind, by):
    edit, noticed_by = KINDS[kind]
    head = ledger.head()
    edit(path)
    assert is_noticed(by, path, ledger, head) == (by in noticed_by)


@pytest.mark.parametrize("by", OTHER_LOOKS)
@pytest.mark.parametrize("kind", [kind for kind, (_, noticed_by) in KINDS.items() if noticed_by == ALL])
def test_what_everybody_notices_is_refused_however_often_it_is_asked(path, ledger, kind, by):
    KINDS[kind][0](path)
    assert [is_noticed(by, path, ledger, "") for _ in range(2)] == [True, True]


@pytest.mark.parametrize("by", sorted(ALL))
@pytest.mark.parametrize("kind", HARMLESS)
def test_what_changes_no_record_is_not_taken_for_an_edit(path, ledger, kind, by):
    head = ledger.head()
    HARMLESS[kind](path)
    assert not is_noticed(by, path, ledger, head)


def test_what_was_edited_past_sqlite_is_never_returned(path, ledger):
    """SQLite may still have the page as it was; who opens the ledger does not."""
    KINDS["bytes of a body"][0](path)
    with contextlib.suppress(LedgerError):
        assert ledger.find("k2").body["number"] == 2
    forget_connections()
    with pytest.raises(LedgerError):
        ledger.find("k2")
