"""Rows of a book in PostgreSQL edited past the ledger: found as in a file."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError
from tests.support.ledger.damages import forget_connections
from tests.support.ledger.ledger_backends import PostgreSQLBackend, charge, fill, nothing, pickled

SIZE = 5
WHERE = "WHERE book = :book AND seq ="
OF_ONE_RECORD = {  # the second
    "body": "body = replace(body, '2', '7')",
    "body no JSON": "body = '{'",
    "key": "key = 'other'",
    "key removed": "key = NULL",
    "subject": "subject = 'other'",
    "hash": "hash = 'ff'",
}
EDITS = {
    **{name: [f"UPDATE sklearn_ada_records SET {edit} {WHERE} 2"] for name, edit in OF_ONE_RECORD.items()},
    "row deleted": [f"DELETE FROM sklearn_ada_records {WHERE} 2"],
    "last row deleted": [f"DELETE FROM sklearn_ada_records {WHERE} {SIZE}"],
    "row deleted and numbers closed up": [
        f"DELETE FROM sklearn_ada_records {WHERE} 2",
        *(f"UPDATE sklearn_ada_records SET seq = {n - 1} {WHERE} {n}" for n in range(3, SIZE + 1)),
        f"UPDATE sklearn_ada_books SET count = {SIZE} WHERE book = :book",
    ],
    "rows swapped": [
        f"UPDATE sklearn_ada_records SET seq = {new} {WHERE} {old}" for old, new in ((2, 99), (3, 2), (99, 3))
    ],
    "row duplicated": [
        f"INSERT INTO sklearn_ada_records SELECT book, {SIZE + 1}, NULL, subject, body, hash "
        f"FROM sklearn_ada_records {WHERE} 2"
    ],
    "row added": [f"INSERT INTO sklearn_ada_records VALUES (:book, {SIZE + 1}, 'k', NULL, '{{}}', 'ff')"],
    "head count": ["UPDATE sklearn_ada_books SET count = count - 1 WHERE book = :book"],
    "head hash": ["UPDATE sklearn_ada_books SET hash = 'ff' WHERE book = :book"],
    "genesis": [f"UPDATE sklearn_ada_records SET body = replace(body, 'a', 'b') {WHERE} 0"],
}
UNDER_AN_OPEN_BOOK = [*list(EDITS)[:7], "rows swapped"]
CLIENTS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"


@pytest.fixture
def backend(postgresql):
    return PostgreSQLBackend(postgresql)


@pytest.fixture
def address(backend):
    return backend.address()


@pytest.fixture
def ledger(backend, address):
    return fill(backend.open(address), SIZE)


@pytest.mark.parametrize("statements", EDITS.values(), ids=EDITS)
def test_an_edited_book_is_refused_by_who_opens_and_by_who_reads_it(backend, address, ledger, statements):
    for statement in statements:
        backend.run(statement, address)
    refused = pytest.raises((LedgerDamagedError, LedgerMismatchError))
    with refused:
        list(ledger.records())
    forget_connections()
    with refused:
        backend.open(address)
    with refused:
        charge(pickled(ledger))


def test_a_cut_tail_with_the_head_made_good_is_seen_by_who_knew_more(backend, address, ledger):
    backend.run(f"DELETE FROM sklearn_ada_records {WHERE} {SIZE}", address)
    backend.run(
        f"UPDATE sklearn_ada_books SET count = {SIZE}, hash = (SELECT hash FROM sklearn_ada_records "
        f"{WHERE} {SIZE - 1}) WHERE book = :book",
        address,
    )
    for use in (charge, charge, lambda ledger: list(ledger.records())):
        with pytest.raises(LedgerDamagedError):
            use(ledger)


def sessions(backend, address):
    """Return the numbers of the server's sessions but this one."""
    return set(backend.run(f"{CLIENTS} AND pid <> pg_backend_pid()", address).scalars())


@pytest.mark.parametrize("again", ["k2", "new"])
@pytest.mark.parametrize("name", UNDER_AN_OPEN_BOOK)
def test_what_is_edited_under_an_open_book_is_seen_once_the_server_has_counted_it(
    backend, address, ledger, name, again
):
    assert backend.run("SHOW server_version_num", address).scalar() >= "150000"
    before = sessions(backend, address)
    for statement in EDITS[name]:
        backend.run(statement, address)  # it counts what a session did when that ends,
    deadline = time.monotonic() + 60.0
    while sessions(backend, address) - before:  # which on a busy machine is a little later
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for _ in range(2):
        with pytest.raises((LedgerDamagedError, LedgerMismatchError)):
            ledger.charge(again, nothing)


def test_edits_of_another_book_and_changes_without_effect_do_no_harm(backend, address, ledger):
    other = backend.address("other")
    fill(backend.open(other), SIZE)
    backend.run("UPDATE sklearn_ada_records SET key = key WHERE book = :book", address)
    backend.remove(other)
    assert charge(ledger).body == {"before": SIZE}


@pytest.mark.parametrize("table", ["records", "books"])
def test_a_trigger_that_swallows_what_is_written_charges_nothing(backend, address, ledger, table):
    run = partial(backend.run, address=address)
    run("CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
    name = f"sklearn_ada_{table}"
    run(f"CREATE TRIGGER t BEFORE INSERT OR UPDATE ON {name} FOR EACH ROW EXECUTE FUNCTION swallow()")
    try:
        with pytest.raises(LedgerDamagedError):
            charge(ledger)
    finally:
        run(f"DROP TRIGGER t ON {name}")
        run("DROP FUNCTION swallow")
    assert charge(ledger).body == {"before": SIZE}


@pytest.mark.parametrize("setting", ["statement_timeout", "lock_timeout", "transaction_timeout"])
def test_a_role_without_patience_waits_for_the_lock_all_the_same(backend, setting):
    address = backend.address()
    fill(backend.open(address), 1)
    if not backend.run(f"SELECT 1 FROM pg_settings WHERE name = '{setting}'", address).all():
        pytest.skip("this server has no such setting")
    forget_connections()
    backend.run(f"ALTER ROLE asker SET {setting} = '200ms'", address)
    try:
        ledger = backend.open(address)
        with backend.engine().connect() as other, ThreadPoolExecutor(1) as pool:
            if setting != "lock_timeout":
                other.exec_driver_sql(f"SET {setting} = 0")
                other.commit()
            book = address.partition("book=")[2]
            other.exec_driver_sql(f"SELECT 1 FROM sklearn_ada_books WHERE book = '{book}' FOR UPDATE")
            charging = pool.submit(charge, ledger)
            time.sleep(1.0)
            assert not charging.done()
            other.rollback()
            assert charging.result().seq == 2
    finally:
        backend.run(f"ALTER ROLE asker RESET {setting}", address)
