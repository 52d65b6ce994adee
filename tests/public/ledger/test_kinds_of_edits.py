"""What is noticed when, as the table of docs/ledger.rst says, for each kind of edit of a file.

An edit is looked for by four: who opens the ledger next, who has it open and charges, ``ledger verify``, and
who kept a head of it.
"""

import contextlib
import sqlite3
from functools import partial

import pytest

from sklearn_ada.exceptions import LedgerError
from sklearn_ada.ledger import canonical_json, open_existing_ledger
from tests.support.ledger.damages import FEW as SIZE
from tests.support.ledger.damages import (
    chained,
    exchanged,
    forget,
    forget_connections,
    opened,
    overwrite,
    read,
    rows_of,
    run,
    with_rows,
)
from tests.support.ledger.ledger_backends import Tally, charge, pickled

ALL = {"open", "charge", "verify", "head"}
WHO_KNEW_MORE = {"charge", "head"}
NOT_WHO_HAS_IT_OPEN = {"open", "verify", "head"}


def rewritten(change, *, head=True):
    """An edit by somebody who computes all hashes, and the head's, anew."""

    def edit(path):
        new = []
        for row in change(rows_of(path)):
            new.append(chained(len(new), *row[1:4], new[-1] if new else None))
        with_rows(path, new, head=head)

    return edit


def script(path, *, text):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(text)


def with_body(seq, body):
    """Rows in which one has another body."""
    return lambda rows: [(*row[:3], canonical_json(body), row[4]) if row[0] == seq else row for row in rows]


def body_and_its_own_hash(path):
    rows = rows_of(path)
    rows[2] = chained(2, "k2", "s2", AN_OTHER, rows[1])
    with_rows(path, rows)


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
OF_ONE_RECORD = {  # the second
    "a body": "body = replace(body, ':2,', ':7,')",
    "a body that is no JSON": "body = '{'",
    "a body that is no object": "body = '[]'",
    "a key": "key = 'other'",
    "a key removed": "key = NULL",
    "a subject": "subject = 'other'",
    "a subject removed": "subject = NULL",
    "a hash": "hash = 'ff'",
    "spaces in a body": "body = replace(body, ',', ', ')",
    "fields of a body in another order": """body = '{"subject":"s2","number":2}'""",
    "a field of a body twice": """body = '{"number":2,"number":2,"subject":"s2"}'""",
    "a whole number written as a fraction": "body = replace(body, ':2,', ':2.0,')",
    "something after a body": "body = body || ' '",
    "an empty body": "body = ''",
    "a body as bytes": "body = CAST(body AS BLOB)",
    "a hash in capitals": "hash = upper(hash)",
    "a hash as bytes": "hash = CAST(hash AS BLOB)",
    "a key as bytes": "key = CAST(key AS BLOB)",
    "a space after a key": "key = key || ' '",
}
OF_STATEMENTS = {
    **{name: [f"UPDATE records SET {change} WHERE seq = 2"] for name, change in OF_ONE_RECORD.items()},
    # of the log
    "the last body": [f"""UPDATE records SET body = '{{"number":0}}' WHERE seq = {SIZE}"""],
    "the body of the genesis": ["UPDATE records SET body = '{}' WHERE seq = 0"],
    "a key given to the genesis": ["UPDATE records SET key = 'k' WHERE seq = 0"],
    "a subject given to the genesis": ["UPDATE records SET subject = 's' WHERE seq = 0"],
    "a record deleted": ["DELETE FROM records WHERE seq = 2"],
    "the first record deleted": ["DELETE FROM records WHERE seq = 1"],
    "the last record deleted": [f"DELETE FROM records WHERE seq = {SIZE}"],
    "the genesis deleted": ["DELETE FROM records WHERE seq = 0"],
    "all records deleted, the genesis too": ["DELETE FROM records"],
    "a record deleted and numbers closed up": [
        "DELETE FROM records WHERE seq = 2",
        "UPDATE records SET seq = seq - 1 WHERE seq > 2",
        f"UPDATE head SET count = {SIZE}",
    ],
    "records swapped": [
        "UPDATE records SET seq = seq + 100 WHERE seq IN (2, 3)",
        "UPDATE records SET seq = CASE seq WHEN 102 THEN 3 ELSE 2 END WHERE seq > 100",
    ],
    "records moved before the genesis": ["UPDATE records SET seq = -seq WHERE seq IN (2, 3)"],
    "a record added": [f"INSERT INTO records VALUES ({SIZE + 1}, 'k', NULL, '{{}}', 'ff')"],
    "a record before the genesis": ["INSERT INTO records VALUES (-1, 'k', NULL, '{}', 'ff')"],
    "the genesis moved": ["UPDATE records SET seq = -1 WHERE seq = 0"],
    "the last record moved on": [
        f"UPDATE records SET seq = seq + 1 WHERE seq = {SIZE}", "UPDATE head SET count = count + 1"
    ],
    "a record put in between": [
        "UPDATE records SET seq = -seq WHERE seq > 2",
        "UPDATE records SET seq = 1 - seq WHERE seq < 0",
        "INSERT INTO records VALUES (3, 'new', NULL, '{}', 'ff')",
        "UPDATE head SET count = count + 1",
    ],
    "subjects taken out of all rows": ["UPDATE records SET subject = NULL"],
    # of the head
    "the head's count": ["UPDATE head SET count = count - 1"],
    "the head's count a fraction": ["UPDATE head SET count = 5.5"],
    "the head's hash": ["UPDATE head SET hash = 'ff'"],
    "the head without a hash": ["UPDATE head SET hash = ''"],
    "the head a record too far": ["UPDATE head SET count = count + 1"],
    "the head at the record before": [
        f"UPDATE head SET count = {SIZE}, hash = (SELECT hash FROM records WHERE seq = {SIZE - 1})"
    ],
    "the head deleted": ["DELETE FROM head"],
    # of the tables
    "the table of heads lost": ["DROP TABLE head"],
    "the table of records lost": ["DROP TABLE records"],
    "the table of the secret lost": ["DROP TABLE secret"],
    "a table added": ["CREATE TABLE notes (x)"],
    "a table renamed": ["ALTER TABLE records RENAME TO entries"],
    "a view added": ["CREATE VIEW seen AS SELECT * FROM records"],
    "a view in the place of the records": [
        "ALTER TABLE records RENAME TO r", "CREATE VIEW records AS SELECT * FROM r WHERE seq < 3"
    ],
    "a column added": ["ALTER TABLE records ADD COLUMN note TEXT"],
    "a column renamed": ["ALTER TABLE records RENAME COLUMN subject TO topic"],
    "the index dropped": ["DROP INDEX by_subject"],
    "an index of some records only": [
        "DROP INDEX by_subject", "CREATE INDEX by_subject ON records (subject) WHERE seq > 3"
    ],
    "an index of another column": [
        "DROP INDEX by_subject", "CREATE INDEX by_subject ON records (body) WHERE body != ''"
    ],
    "one index more": ["CREATE INDEX by_hash ON records (hash)"],
    "a trigger that swallows": [
        "CREATE TRIGGER t BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END"
    ],
    "a trigger that forgets": [
        "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records WHERE seq = 1; END"
    ],
    "a trigger on the head": [
        "CREATE TRIGGER t AFTER UPDATE ON head BEGIN UPDATE head SET count = old.count; END"
    ],
    "a trigger on the secret": ["CREATE TRIGGER t AFTER UPDATE ON secret BEGIN DELETE FROM records; END"],
}  # fmt: skip
OF_THE_SECRET = {
    "the secret replaced": "UPDATE secret SET value = x'00'",
    "the secret as text": "UPDATE secret SET value = CAST(value AS TEXT)",
    "the secret emptied": "UPDATE secret SET value = x''",
    "the secret deleted": "DELETE FROM secret",
}
EXCHANGED = {
    "keys exchanged": ["key"],
    "subjects exchanged": ["subject"],
    "bodies exchanged": ["body"],
    "hashes exchanged": ["hash"],
    "all but the numbers exchanged": ["key", "subject", "body", "hash"],
}
WHOLLY_NOTICED = {
    **{name: lambda path, names=names: exchanged(path, 2, 3, names) for name, names in EXCHANGED.items()},
    "a body and its own hash": body_and_its_own_hash,
    "a record added at the end, chained, without the head": rewritten(
        lambda rows: [*rows, (None, "new", None, "{}", "")], head=False
    ),
    "the last record rewritten, without the head": rewritten(with_body(SIZE, {"number": 9}), head=False),
    "keys that may repeat": partial(script, text=REBUILT.format(unique="", null="NOT NULL")),
    "bodies that may be missing": partial(script, text=REBUILT.format(unique="UNIQUE", null="")),
}
CONSISTENT = {  # all hashes and the head are made good
    "a tail cut off, all made good": lambda rows: rows[:-2],
    "a record rewritten, all made good": with_body(2, AN_OTHER),
    "a record taken out, all made good": lambda rows: rows[:2] + rows[3:],
}
PAST_SQLITE = {
    "bytes of a body": bytes_replaced(b'"number":2', b'"number":7'),
    "bytes of a key": bytes_replaced(b'k2s2{"', b'k8s2{"'),
    "bytes of a subject": bytes_replaced(b's2{"', b's8{"'),
    "an edit, and the counter of changes set back": edited_and_counter_set_back,
}
KINDS = {
    **{name: (lambda path, each=each: run(path, *each), ALL) for name, each in OF_STATEMENTS.items()},
    **{name: (edit, ALL) for name, edit in WHOLLY_NOTICED.items()},
    **{name: (partial(script, text=text), {"open", "verify"}) for name, text in OF_THE_SECRET.items()},
    "the mark of a ledger": (partial(script, text="PRAGMA application_id = 1"), {"open", "verify", "head"}),
    **{name: (rewritten(change), WHO_KNEW_MORE) for name, change in CONSISTENT.items()},
    "another genesis, all made good": (
        rewritten(with_body(0, {"schema": 1, "fingerprint": "e" * 64})),
        {"open", "charge", "head"},
    ),
    **{name: (edit, NOT_WHO_HAS_IT_OPEN) for name, edit in PAST_SQLITE.items()},
}
LOOKS = {
    "open": lambda path, ledger, head: opened(path),
    "charge": lambda path, ledger, head: charge(ledger),
    "verify": lambda path, ledger, head: open_existing_ledger(path, Tally).verify(),
    "head": lambda path, ledger, head: open_existing_ledger(path, Tally, replay=False).check_head(head),
}
OTHER_LOOKS = {  # of who has read it
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


@pytest.mark.parametrize("by", sorted(ALL))
@pytest.mark.parametrize("kind", KINDS)
def test_an_edit_is_noticed_by_those_of_whom_the_page_says_so(path, ledger, kind, by):
    edit, noticed_by = KINDS[kind]
    head = ledger.head()
    edit(path)
    assert is_noticed(by, path, ledger, head) == (by in noticed_by)


@pytest.mark.parametrize("by", OTHER_LOOKS)
@pytest.mark.parametrize("kind", [kind for kind, (_, noticed_by) in KINDS.items() if "charge" in noticed_by])
def test_what_a_charge_notices_is_refused_however_often_it_is_asked_and_left_as_it_is(path, ledger, kind, by):
    KINDS[kind][0](path)
    before = read(path)
    assert [is_noticed(by, path, ledger, "") for _ in range(2)] == [True, True]
    assert read(path) == before


@pytest.mark.parametrize("by", sorted(ALL))
@pytest.mark.parametrize(
    "edit",
    [
        *("PRAGMA user_version = 7", "VACUUM", "ANALYZE", "UPDATE records SET key = key"),
        lambda path: overwrite(path, read(path) + b"bytes after the end"),
    ],
)
def test_what_changes_no_record_is_not_taken_for_an_edit(path, ledger, edit, by):
    head = ledger.head()
    edit(path) if callable(edit) else script(path, text=edit)
    assert not is_noticed(by, path, ledger, head)


def test_what_was_edited_past_sqlite_is_never_returned(path, ledger):
    """SQLite may still have the page as it was; who opens the ledger does not."""
    PAST_SQLITE["bytes of a body"](path)
    with contextlib.suppress(LedgerError):
        assert ledger.find("k2").body["number"] == 2
    forget_connections()
    with pytest.raises(LedgerError):
        ledger.find("k2")
