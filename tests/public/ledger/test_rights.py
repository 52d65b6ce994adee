"""Servers, roles and tables that are not what a ledger needs: an error that says what it is, nothing lost."""

import contextlib
import shutil
import uuid

import pytest

from sklearn_ada.exceptions import LedgerDamagedError, LedgerUnavailableError
from sklearn_ada.ledger.hash_chain import next_stored
from tests.support.ledger.damages import forget_connections
from tests.support.ledger.ledger_backends import PostgreSQLBackend, charge, count, counted, fill
from tests.support.ledger.postgresql_server import PASSWORD, Server

BOOKS, RECORDS = "sklearn_ada_books", "sklearn_ada_records"
NOTHING = "CREATE OR REPLACE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"


@pytest.fixture
def backend(postgresql):
    return PostgreSQLBackend(postgresql)


@pytest.fixture
def run(backend):
    return lambda statement: backend.run(statement, backend.address())


@pytest.fixture
def ledger(backend):
    return fill(backend.open(backend.address()), 2)


CHANGES = {
    "a trigger": (
        f"{NOTHING}; CREATE TRIGGER seen AFTER INSERT ON {RECORDS} FOR EACH ROW EXECUTE FUNCTION nothing()",
        f"DROP TRIGGER seen ON {RECORDS}",
        "has a trigger",
    ),
    "a trigger that sees secrets": (
        f"{NOTHING}; CREATE TRIGGER seen BEFORE UPDATE ON {BOOKS} FOR EACH ROW EXECUTE FUNCTION nothing()",
        f"DROP TRIGGER seen ON {BOOKS}",
        "has a trigger",
    ),
    "a rule": (
        f"CREATE RULE twice AS ON INSERT TO {RECORDS} DO ALSO NOTIFY somebody",
        f"DROP RULE twice ON {RECORDS}",
        "has a rule",
    ),
    "an heir": (f"CREATE TABLE heir () INHERITS ({RECORDS})", "DROP TABLE heir", "inherits"),
    "a check that would print the row": (
        f"ALTER TABLE {BOOKS} ADD CONSTRAINT short CHECK (count < 1000000)",
        f"ALTER TABLE {BOOKS} DROP CONSTRAINT short",
        "has a constraint",
    ),
    "a column of another type": (
        f"ALTER TABLE {RECORDS} ALTER seq TYPE numeric", f"ALTER TABLE {RECORDS} ALTER seq TYPE bigint",
        "has a column of another type",
    ),
    "secrets as text": (
        f"ALTER TABLE {BOOKS} ALTER secret TYPE text USING encode(secret, 'hex')",
        f"ALTER TABLE {BOOKS} ALTER secret TYPE bytea USING decode(secret, 'hex')",
        "has a column of another type",
    ),
    "an unlogged table": (
        f"ALTER TABLE {RECORDS} SET UNLOGGED", f"ALTER TABLE {RECORDS} SET LOGGED", "is unlogged",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "back", "message"), CHANGES.values(), ids=CHANGES)
def test_tables_that_somebody_changed_are_refused_by_who_opens_and_by_who_begins(
    backend, ledger, run, change, back, message
):
    run(change)
    try:
        forget_connections()
        for use in (lambda: charge(ledger), ledger.verify, lambda: backend.open(backend.address("new"))):
            with pytest.raises(LedgerUnavailableError, match=message):
                use()
    finally:
        run(back)
    assert not backend.exists(backend.address("new"))
    assert charge(ledger).body == {"before": 2}


@contextlib.contextmanager
def role(run, *rights):
    """A role with these rights; yields its name."""
    name = f"role{uuid.uuid4().hex[:8]}"
    run(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
    for right in rights:
        run(f"GRANT {right} TO {name}")
    yield name
    run(f"DROP OWNED BY {name} CASCADE; DROP ROLE {name}")


ALL = [f"SELECT, INSERT, UPDATE ON {table}" for table in (BOOKS, RECORDS)]


@pytest.mark.parametrize("table", [BOOKS, RECORDS])
def test_where_rows_are_hidden_the_message_speaks_of_row_level_security(backend, ledger, run, table):
    with role(run, *ALL) as name:
        address = backend.address().replace("//asker:", f"//{name}:")
        run(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        try:
            forget_connections()
            with pytest.raises(LedgerUnavailableError, match="row-level security") as caught:
                backend.open(address)
            assert "damaged" not in str(caught.value)
            assert charge(ledger).body == {"before": 2}  # of the owner, to whom it does not apply
        finally:
            run(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
        assert charge(backend.open(address)).seq == 3


WRITES = {
    "only reads": ([f"SELECT ON {BOOKS}, {RECORDS}"], "", "permission denied.*lacks a right"),
    "is set to read only": (ALL, "default_transaction_read_only = on", None),
}


@pytest.mark.parametrize(("rights", "setting", "message"), WRITES.values(), ids=WRITES)
def test_a_role_that_reads_only(backend, ledger, run, rights, setting, message):
    with role(run, *rights) as name:
        if setting:
            run(f"ALTER ROLE {name} SET {setting}")
        theirs = backend.open(backend.address().replace("//asker:", f"//{name}:"))
        assert theirs.read(count) == 2
        if message is None:  # a setting is no lack of a right
            assert charge(theirs).body == {"before": 2}
        else:
            with pytest.raises(LedgerUnavailableError, match=message):
                charge(theirs)
    assert ledger.verify() == 3 + (message is None)


@pytest.mark.thorough
def test_a_replica_is_named_and_may_be_looked_at():
    server = Server()
    try:
        address = PostgreSQLBackend(server).address()
        fill(PostgreSQLBackend(server).open(address), 2)
        forget_connections()
        server.stop()
        signal = server.folder / "data" / "standby.signal"
        signal.touch()
        shutil.chown(signal, signal.parent.stat().st_uid)
        server.start()
        ledger = PostgreSQLBackend(server).open(address)
        assert ledger.read(count) == 2
        with pytest.raises(LedgerUnavailableError, match="replica"):
            charge(ledger)
    finally:
        server.remove()


def test_a_question_that_an_index_missed_is_not_recorded_twice(backend, run):
    schema = f"own_{uuid.uuid4().hex}"
    run(f"CREATE SCHEMA {schema}")
    address = backend.server.url("b", schema=schema)
    table = f"{schema}.{RECORDS}"
    try:
        ledger = fill(backend.open(address), 2)
        last = run(f"SELECT hash FROM {table} WHERE seq = 2").scalar()
        twice = next_stored(2, last, "k1", {"number": 1, "subject": "s1"})
        run(
            f"ALTER TABLE {table} DROP CONSTRAINT {RECORDS}_book_key_key"
        )  # so that the second can be written
        body = twice.text.replace(":", "\\:")
        run(f"INSERT INTO {table} VALUES ('b', 3, 'k1', 's1', '{body}', '{twice.hash}')")
        run(f"UPDATE {schema}.{BOOKS} SET count = 4, hash = '{twice.hash}'")
        for use in (lambda: charge(ledger), ledger.verify, lambda: backend.open(address)):
            with pytest.raises(LedgerDamagedError, match="record 3 has the key of an earlier one"):
                use()
    finally:
        forget_connections()
        run(f"DROP SCHEMA {schema} CASCADE")


def test_a_question_that_an_index_misses_is_not_charged_again(backend, ledger, run, monkeypatch):
    from sklearn_ada.ledger.sql_connection import SQLConnection

    monkeypatch.setattr(SQLConnection, "first_with", lambda connection, column, value: None)
    with pytest.raises(LedgerDamagedError, match="missed by an index"):
        ledger.charge("k1", counted)
    monkeypatch.undo()
    assert ledger.charge("k1", counted).seq == 1
    assert ledger.verify() == 3


def test_a_record_that_somebody_wrote_past_the_lock_is_an_error_of_ours(backend, ledger, run):
    book = backend.address().partition("book=")[2]

    def decide(state):
        run(f"INSERT INTO {RECORDS} VALUES ('{book}', 3, 'theirs', NULL, '{{}}', 'ff')")
        return {}

    with pytest.raises(LedgerUnavailableError, match="past the ledger"):
        ledger.charge("mine", decide)
    with pytest.raises(LedgerDamagedError):
        charge(ledger)
