"""A book in a PostgreSQL database: where it is, and how this process has it open.

Charges of a book are serialised by the lock on its row in the table of books, held from BEGIN to COMMIT.
Transactions are written out, on a connection in autocommit mode, so that it is clear which statement an
error came from: one at COMMIT leaves open whether the record stands. A server that stops answering does not
hold an asker for ever.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from sklearn_ada._validation import bad_parameter
from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger.hash_chain import StoredRecord, damage, parse_json
from sklearn_ada.ledger.sql_session import DEFAULT_SCHEMA, UTF8, ServerSession, books, records
from sklearn_ada.ledger.transactions import PAGE, ChainedLedger, CommitLostError, Connection, Secret

T = TypeVar("T")

_BOTH_CREATE = 0x5ADA0001  # advisory lock of those who make tables or books
_WRITES, _READS = "READ COMMITTED READ WRITE", "REPEATABLE READ READ ONLY"


_MEANT = {
    "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER",
    "service": "PGSERVICE", "servicefile": "PGSERVICEFILE",
}  # fmt: skip
"""What says which database is meant, and the variable of libpq that says it where the URL does not."""


class DatabasePlace:
    """A database, and the book in it.

    Parameters
    ----------
    url : str
    """

    def __init__(self, url: str) -> None:
        try:
            parsed = sa.make_url(url)
        except (ArgumentError, ValueError):
            expected, got = "a URL like postgresql://user@host/database?book=name", "postgresql://..."
            raise bad_parameter("ledger", "Holdout", expected, got) from None  # it may hold a password
        query = dict(parsed.query)
        if not all(isinstance(query.get(name, ""), str) for name in ("book", "schema")):
            raise bad_parameter("ledger", "Holdout", "a URL with one book and one schema", "several of one")
        self.book = str(query.pop("book", "default"))
        schema = query.pop("schema", None)
        self._schema = None if schema is None else str(schema)
        driver = parsed.drivername.partition("+")[2] or "psycopg"
        self._url = parsed.set(drivername=f"postgresql+{driver}", query=query)
        shown = {"book": self.book, "schema": self._schema or DEFAULT_SCHEMA}
        self.name = parsed.set(drivername="postgresql", password=None, query=shown).render_as_string()

    @property
    def means(self) -> dict[str, str]:
        """What decides which book is meant: the URL, and where it is silent, the environment of libpq."""
        url = self._url
        given = {"host": url.host, "port": url.port, "dbname": url.database, "user": url.username}
        for name, value in url.query.items():
            given[name] = value if isinstance(value, str) else ",".join(value)
        found = {name: str(given.get(name) or os.environ.get(other, "")) for name, other in _MEANT.items()}
        user, found["port"] = found.pop("user"), found["port"] or "5432"
        found["dbname"] = found["dbname"] or user
        schema = self._schema or DEFAULT_SCHEMA
        return {name: value for name, value in found.items() if value} | {"schema": schema, "book": self.book}

    def connect(self) -> ServerSession:
        """Return a new session."""
        return ServerSession(self._url, self._schema)

    def read_book(self) -> tuple[dict[str, Any], Secret]:
        """Return the genesis and the secret of the book, which must be there."""
        with contextlib.closing(self.connect()) as session, _reading(session):
            found = self._first(session)
        if found is None:
            raise self.gone()
        return parse_json(found[0]), found[1]

    def copies(self, digest: str) -> list[str]:
        """Return the other books whose first record has this hash."""
        same = (records.c.seq == 0) & (records.c.hash == digest) & (records.c.book != self.book)
        with contextlib.closing(self.connect()) as session, _reading(session):
            return [book for (book,) in session.run(sa.select(records.c.book).where(same).order_by("book"))]

    def create_book(self, first: Callable[[], StoredRecord], secret: bytes) -> None:
        """Begin the book unless it is there; of several who try at once, one does.

        Where the connection is lost, a new one finds out what became of it.
        """
        try:
            self._create_book(first, secret)
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            self._create_book(first, secret)

    def _create_book(self, first: Callable[[], StoredRecord], secret: bytes) -> None:
        with contextlib.closing(self.connect()) as session:
            with _reading(session):
                found = self._first(session)
            if found is not None:
                return
            stored = first()
            session.begin(_WRITES)
            session.run(sa.select(sa.func.pg_advisory_xact_lock(_BOTH_CREATE)))
            session.make_tables()
            if self._first(session) is None:
                session.insert_book(self.book, secret, stored.hash)
                session.run(records.insert().values((self.book, *stored)))
            session.run("COMMIT")

    def _first(self, session: ServerSession) -> tuple[str, Secret] | None:
        if not session.has_tables():
            return None
        both = books.join(records, books.c.book == records.c.book)
        query = sa.select(records.c.body, books.c.secret).select_from(both)
        found = session.run(query.where(books.c.book == self.book, records.c.seq == 0))
        return next(((body, Secret(secret)) for body, secret in found), None)

    def gone(self) -> LedgerUnavailableError:
        """Return the error for a book that is not there."""
        return LedgerUnavailableError(
            f"There is no ledger {self.name!r}: the database has no such book, or lost it. Nothing was "
            "charged or answered."
        )

    def explain(self, error: Exception) -> None:
        """Raise a ledger error that says what to do, if the database raised this error.

        The new error holds no password, and nothing of a row.
        """
        if isinstance(error, ImportError):
            cause, fix = str(error), 'pip install sqlalchemy "psycopg[binary]"'
        elif isinstance(error, (DBAPIError, OSError)):
            origin = getattr(error, "orig", error)
            cause = str(origin).strip().partition("\n")[0]
            state = getattr(origin, "sqlstate", getattr(origin, "pgcode", None))
            fix = _NO_TRANSACTIONS if "statement pooling" in cause else _FIXES.get(state or "", _CHECK)
        elif isinstance(error, SQLAlchemyError):  # the connection was lost before
            cause, fix = "the connection to the database is closed", _CHECK
        else:
            return
        raise LedgerUnavailableError(
            f"The ledger {self.name!r} cannot be used: {cause}. Nothing was charged or answered; {fix}."
        ) from None


_CHECK = "check that the server runs and can be reached, then ask again"
_NO_TRANSACTIONS = (
    "set the pool_mode of the pooler to session or transaction, as a ledger needs transactions, or go past it"
)
_FIXES = {
    "0A000": "a replica cannot be written to: give the address of the server that it follows",
    "22021": UTF8,
    "22P05": UTF8,
    "23505": "somebody wrote there past the ledger: look with 'ledger verify', then ask again",
    "25006": "this is a replica, or may only be read: give the address of a server that may be written to",
    "26000": "a pooler of transactions keeps no prepared statements: use psycopg, which makes none here",
    "3D000": "make the database, or correct its name",
    "3F000": "make the schema (CREATE SCHEMA), or name another one (?schema=NAME)",
    "42501": "this role lacks a right, or row-level security hides rows from it: let the owner of the tables "
    "grant what 'Operations' in the documentation names, and exempt it from row-level security",
    "53100": "the disk of the server is full: make room, then ask again",
    "53300": "too many connections are open: close some, or put a pooler before the server, then ask again",
    "55P03": "another process has held the ledger for a minute: wait for it, then ask again",
}
"""What to do, by the SQLSTATE of an error."""


@contextlib.contextmanager
def _reading(session: ServerSession) -> Iterator[None]:
    """Read in a transaction, with a ledger's settings."""
    session.begin(_READS)
    try:
        yield
    except BaseException:
        with contextlib.suppress(SQLAlchemyError):  # where it was lost
            session.run("ROLLBACK")
        raise
    session.run("COMMIT")


class SQLConnection(Connection):
    """A book that is open in this process (see `Connection`).

    Parameters
    ----------
    ledger : SQLLedger
    place : DatabasePlace
    """

    def __init__(self, ledger: ChainedLedger[Any], place: DatabasePlace) -> None:
        self._place = place
        self._added: StoredRecord | None = None
        self._connect()
        with _reading(self._session):
            if self._read_head(lock=False) is None and self.stored(0) is None:
                raise place.gone()
            super().__init__(ledger)

    def _connect(self) -> None:
        self._session = self._place.connect()

    def check_whole(self) -> None:
        """Refuse also tables that somebody has changed."""
        if not self._session.has_tables():
            raise self._place.gone()
        super().check_whole()

    def begin(self, write: bool) -> None:
        """Start a transaction; with ``write``, wait for the lock on the book."""
        self._once_more(lambda: self._begin(write))
        if self.head is None and self.stored(0) is None:
            self.forget()
            raise self._place.gone()

    def _begin(self, write: bool) -> None:
        self._added = None
        self._session.begin(_WRITES if write else _READS)
        self.head = self._read_head(lock=write)

    def commit(self) -> None:
        """Commit: the record is durable when this returns.

        Raises
        ------
        CommitLostError
            If a record was added and an error leaves open whether it stands.
        """
        try:
            self._session.run("COMMIT")
        except DBAPIError as error:
            if self._added is None:
                raise
            raise CommitLostError(self._added) from error

    def roll_back(self) -> None:
        """Roll back, or let go of a connection on which that cannot be done: the server then does it."""
        try:
            self._session.run("ROLLBACK")
        except SQLAlchemyError:
            self._session.let_go()
            self.forget()

    def page(self, first: int, last: int) -> list[StoredRecord]:
        """Return records in order."""
        table = records.c
        query = sa.select(table.seq, table.key, table.subject, table.body, table.hash)
        query = query.where(table.book == self._place.book, table.seq.between(first, last))
        return list(map(StoredRecord._make, self._session.run(query.order_by(table.seq).limit(PAGE))))

    def first_with(self, column: str, value: str) -> int | None:
        """Return the first record's number; both columns have an index."""
        same = (records.c.book == self._place.book) & (records.c[column] == value)
        found = self._session.run(sa.select(records.c.seq).where(same).order_by(records.c.seq).limit(1))
        return int(found[0][0]) if found else None

    def add(self, stored: StoredRecord) -> None:
        """Write the record and the head."""
        mine = books.c.book == self._place.book
        head = books.update().where(mine).values(count=stored.seq + 1, hash=stored.hash)
        added = self._session.run(
            records.insert().values((self._place.book, *stored)).returning(records.c.hash)
        )
        moved = self._session.run(head.returning(books.c.hash))
        if added != [(stored.hash,)] or moved != [(stored.hash,)]:  # a trigger may swallow or alter them
            raise damage(self.name, f"record {stored.seq} is not kept as it was written")
        self._added = stored

    def secret(self) -> bytes:
        """Return the ledger's secret, if the book is still there."""
        return self._once_more(self.verified_secret)

    def read_secret(self) -> bytes:
        """Return the secret."""
        with _reading(self._session):
            found = self._session.run(sa.select(books.c.secret).where(books.c.book == self._place.book))
        if not found:
            raise self._place.gone()
        return bytes(found[0][0])

    def forget(self) -> None:
        """Drop this session and close what can be closed of it."""
        super().forget()
        self._session.close()

    def abandon(self) -> None:
        """In a forked child: leave the parent's connection alone."""
        self._session.abandon()

    def _once_more(self, first_statement: Callable[[], T]) -> T:
        """Try again on a new connection if the old one broke before the first statement."""
        try:
            return first_statement()
        except SQLAlchemyError:
            if not self._session.is_lost:
                raise
        try:
            self._session.close()
            self._connect()
            return first_statement()
        except BaseException:  # whoever comes next starts with a session of its own
            self.forget()
            raise

    def _read_head(self, *, lock: bool) -> tuple[int, str] | None:
        query = sa.select(books.c.count, books.c.hash, self._session.changes())
        query = query.where(books.c.book == self._place.book)
        found = self._session.run(query.with_for_update() if lock else query)
        if not found:
            return None
        count, digest, self.changes = found[0]
        return count, digest
