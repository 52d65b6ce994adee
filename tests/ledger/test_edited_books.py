"""Rows of a book in PostgreSQL edited past the ledger: found as in a file."""

import pytest

from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError
from tests.ledger.damages import forget_connections
from tests.ledger.ledger_backends import PostgreSQLBackend, count, fill, pickled

SIZE = 5
WHERE = "WHERE book = :book AND seq ="
EDITS = {
    "body": [f"UPDATE sklearn_ada_records SET body = replace(body, '2', '7') {WHERE} 2"],
    "body no JSON": [f"UPDATE sklearn_ada_records SET body = '{{' {WHERE} 2"],
    "key": [f"UPDATE sklearn_ada_records SET key = 'other' {WHERE} 2"],
    "key removed": [f"UPDATE sklearn_ada_records SET key = NULL {WHERE} 2"],
    "subject": [f"UPDATE sklearn_ada_records SET subject = 'other' {WHERE} 2"],
    "hash": [f"UPDATE sklearn_ada_records SET hash = 'ff' {WHERE} 2"],
    "row deleted": [f"DELETE FROM sklearn_ada_records {WHERE} 2"],
    "last row deleted": [f"DELETE FROM sklearn_ada_records {WHERE} {SIZE}"],
    "row deleted and numbers closed up": [
        f"DELETE FROM sklearn_ada_records {WHERE} 2",
        *(f"UPDATE sklearn_ada_records SET seq = {n - 1} {WHERE} {n}" for n in range(3, SIZE + 1)),
        f"UPDATE sklearn_ada_books SET count = {SIZE} WHERE book = :book",
    ],
    "rows swapped": [
        f"UPDATE sklearn_ada_records SET seq = {new} {WHERE} {old}"
        for old, new in ((2, 99), (3, 2), (99, 3))
    ],
    "row duplicated": [
        f"INSERT INTO sklearn_ada_records SELECT book, {SIZE + 1}, NULL, subject, body, hash "
        f"FROM sklearn_ada_records {WHERE} 2"
    ],
    "row added": [f"INSERT INTO sklearn_ada_records VALUES (:book, {SIZE + 1}, 'k', NULL, '{{}}', 'ff')"],
    "head count": ["UPDATE sklearn_ada_books SET count = count - 1 WHERE book = :book"],
    "head hash": ["UPDATE sklearn_ada_books SET hash = 'ff' WHERE book = :book"],
    "genesis": [f"UPDATE sklearn_ada_records SET body = replace(body, 'a', 'b') {WHERE} 0"],
}  # fmt: skip


@pytest.fixture
def backend(postgresql):
    return PostgreSQLBackend(postgresql)


@pytest.mark.parametrize("statements", EDITS.values(), ids=EDITS)
def test_an_edited_book_is_refused_by_who_opens_and_by_who_reads_it(backend, statements):
    address = backend.address()
    ledger = fill(backend.open(address), SIZE)
    for statement in statements:
        backend.run(statement, address)
    refused = pytest.raises((LedgerDamagedError, LedgerMismatchError))
    with refused:
        list(ledger.records())
    forget_connections()
    with refused:
        backend.open(address)
    with refused:
        pickled(ledger).charge("new", lambda state: {"before": count(state)})


def test_a_cut_tail_with_the_head_made_good_is_seen_by_who_knew_more(backend):
    address = backend.address()
    ledger = fill(backend.open(address), SIZE)
    backend.run(f"DELETE FROM sklearn_ada_records {WHERE} {SIZE}", address)
    backend.run(
        f"UPDATE sklearn_ada_books SET count = {SIZE}, hash = (SELECT hash FROM sklearn_ada_records "
        f"{WHERE} {SIZE - 1}) WHERE book = :book",
        address,
    )
    for _ in range(2):
        with pytest.raises(LedgerDamagedError):
            ledger.charge("new", lambda state: {})
    with pytest.raises(LedgerDamagedError):
        list(ledger.records())
