"""A book in a PostgreSQL database: where it is, and a session of this process.

Charges of a book are serialised by the lock on its row in the table of books, held from BEGIN to COMMIT.
Transactions are written out, on a connection in autocommit mode, so that it is clear which statement an
error came from: one at COMMIT leaves open whether the record stands. A server that stops answering does not
hold an asker for ever.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from sklearn_ada._validation import bad_parameter
from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger.hash_chain import StoredRecord, damage, parse_json
from sklearn_ada.ledger.transactions import PAGE, ChainedLedger, CommitLostError, Connection

T = TypeVar("T")

PATIENCE = 90.0  # longer than the server itself waits for a lock
_LOOK = 0.5
_CONNECT_SECONDS = 10
_BOTH_CREATE = 0x5ADA0001  # advisory lock of those who make tables or books

_tables = sa.MetaData()
_books = sa.Table(
    "sklearn_ada_books",
    _tables,
    sa.Column("book", sa.Text, primary_key=True),
    sa.Column("secret", sa.LargeBinary, nullable=False),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)
_records = sa.Table(
    "sklearn_ada_records",
    _tables,
    sa.Column("book", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("key", sa.Text),
    sa.Column("subject", sa.Text),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.UniqueConstraint("book", "key"),
    sa.Index("sklearn_ada_by_subject", "book", "subject"),
)
# A server or database may have been set to be less patient or less durable than a ledger must be.
_SETTINGS = sa.text(
    "SELECT set_config('lock_timeout', '60s', false),"
    " set_config('idle_in_transaction_session_timeout', '60s', false),"
    " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
    " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)"
)
# A role's own limit would end the wait for the lock; the second one is newer than some servers.
_NO_LIMITS = sa.text(
    "SELECT set_config(name, '0', false) FROM pg_settings"
    " WHERE name IN ('statement_timeout', 'transaction_timeout')"
)
# How often rows of records were changed or deleted, which no ledger does. The server counts it about a second
# late; before version 15 it would take too long to ask for it.
_CHANGES: sa.ColumnClause[int] = sa.literal_column(
    "CASE WHEN current_setting('server_version_num')::int < 150000 THEN 0 ELSE"
    f" pg_stat_get_tuples_updated('{_records.name}'::regclass)"
    f" + pg_stat_get_tuples_deleted('{_records.name}'::regclass) END"
)


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
        self.book = str(query.pop("book", "default"))
        driver = parsed.drivername.partition("+")[2] or "psycopg"
        self._url = parsed.set(drivername=f"postgresql+{driver}", query=query)
        shown = parsed.set(drivername="postgresql", password=None, query={"book": self.book})
        self.name = shown.render_as_string()

    def connect(self) -> sa.Connection:
        """Return a new connection in autocommit mode, with a ledger's settings."""
        query = self._url.query
        patient = self._url.get_driver_name() in ("psycopg", "psycopg2") and "connect_timeout" not in query
        engine = sa.create_engine(
            self._url,
            poolclass=sa.NullPool,
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
            connect_args={"connect_timeout": _CONNECT_SECONDS} if patient else {},
        )
        db = engine.connect()
        db.execute(_SETTINGS)
        db.execute(_NO_LIMITS)
        return db

    def read_book(self) -> tuple[dict[str, Any], bytes]:
        """Return the genesis and the secret of the book, which must be there."""
        with self.connect() as db:
            found = self._first(db)
        if found is None:
            raise self.gone()
        return parse_json(found[0]), bytes(found[1])

    def create_book(self, first: Callable[[], StoredRecord], secret: bytes) -> None:
        """Begin the book unless it is there; of several who try at once, one does."""
        with self.connect() as db:
            if self._first(db) is not None:
                return
            stored = first()
            db.exec_driver_sql("BEGIN")
            db.execute(sa.select(sa.func.pg_advisory_xact_lock(_BOTH_CREATE)))
            _tables.create_all(db)
            if self._first(db) is None:
                db.execute(_books.insert().values(book=self.book, secret=secret, count=1, hash=stored.hash))
                db.execute(_records.insert().values((self.book, *stored)))
            db.exec_driver_sql("COMMIT")

    def _first(self, db: sa.Connection) -> Any:
        if not sa.inspect(db).has_table(_records.name):
            return None
        both = _books.join(_records, _books.c.book == _records.c.book)
        query = sa.select(_records.c.body, _books.c.secret).select_from(both)
        return db.execute(query.where(_books.c.book == self.book, _records.c.seq == 0)).first()

    def gone(self) -> LedgerUnavailableError:
        """Return the error for a book that is not there."""
        return LedgerUnavailableError(
            f"There is no ledger {self.name!r}: the database has no such book, or lost it. Nothing was "
            "charged or answered."
        )

    def explain(self, error: Exception) -> None:
        """Raise a ledger error that says what to do, if the database raised this error.

        The new error holds no password.
        """
        if isinstance(error, (DBAPIError, ImportError, OSError)):
            if isinstance(error, ImportError):
                cause, fix = str(error), 'pip install "sklearn-ada[sql]"'
            else:
                cause = str(getattr(error, "orig", error)).strip().partition("\n")[0]
                fix = "check that the server runs, can be reached and may be written to, then ask again"
            raise LedgerUnavailableError(
                f"The ledger {self.name!r} cannot be used: {cause}. Nothing was charged or answered; {fix}."
            ) from None
        if isinstance(error, SQLAlchemyError):
            raise LedgerUnavailableError(f"The ledger {self.name!r} cannot be used: {error}.") from None


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
        if self._read_head(lock=False) is None and self.stored(0) is None:
            raise place.gone()
        super().__init__(ledger)

    def _connect(self) -> None:
        self._db = self._place.connect()
        self._watch = Watch(_socket_of(self._db))

    def begin(self, write: bool) -> None:
        """Start a transaction; with ``write``, wait for the lock on the book."""
        self._once_more(lambda: self._begin(write))
        if self.head is None and self.stored(0) is None:
            self.forget()
            raise self._place.gone()

    def _begin(self, write: bool) -> None:
        self._added = None
        mode = "READ COMMITTED READ WRITE" if write else "REPEATABLE READ READ ONLY"
        with self._watch:
            self._db.exec_driver_sql(f"BEGIN ISOLATION LEVEL {mode}")
        self.head = self._read_head(lock=write)

    def commit(self) -> None:
        """Commit: the record is durable when this returns.

        Raises
        ------
        CommitLostError
            If a record was added and an error leaves open whether it stands.
        """
        try:
            with self._watch:
                self._db.exec_driver_sql("COMMIT")
        except DBAPIError as error:
            if self._added is None:
                raise
            raise CommitLostError(self._added) from error

    def roll_back(self) -> None:
        """Roll back, or let go of a connection on which that cannot be done: the server then does it."""
        try:
            with self._watch:
                self._db.exec_driver_sql("ROLLBACK")
        except SQLAlchemyError:
            self._watch.stop()
            self._db.invalidate()
            self.forget()

    def page(self, first: int, last: int) -> list[StoredRecord]:
        """Return records in order."""
        table = _records.c
        query = sa.select(table.seq, table.key, table.subject, table.body, table.hash)
        query = query.where(table.book == self._place.book, table.seq.between(first, last))
        return list(map(StoredRecord._make, self._all(query.order_by(table.seq).limit(PAGE))))

    def first_with(self, column: str, value: str) -> int | None:
        """Return the first record's number; both columns have an index."""
        same = (_records.c.book == self._place.book) & (_records.c[column] == value)
        found = self._all(sa.select(_records.c.seq).where(same).order_by(_records.c.seq).limit(1))
        return int(found[0][0]) if found else None

    def add(self, stored: StoredRecord) -> None:
        """Write the record and the head."""
        mine = _books.c.book == self._place.book
        head = _books.update().where(mine).values(count=stored.seq + 1, hash=stored.hash)
        added = self._all(_records.insert().values((self._place.book, *stored)).returning(_records.c.hash))
        moved = self._all(head.returning(_books.c.hash))
        if added != [(stored.hash,)] or moved != [(stored.hash,)]:  # a trigger may swallow or alter them
            raise damage(self.name, f"record {stored.seq} is not kept as it was written")
        self._added = stored

    def secret(self) -> bytes:
        """Return the ledger's secret, if the book is still there."""
        return self._once_more(self.read_secret)

    def read_secret(self) -> bytes:
        """Return the secret."""
        found = self._all(sa.select(_books.c.secret).where(_books.c.book == self._place.book))
        if not found:
            raise self._place.gone()
        return bytes(found[0][0])

    def forget(self) -> None:
        """Drop this session and close what can be closed of it."""
        super().forget()
        self._watch.stop()
        with contextlib.suppress(SQLAlchemyError):
            self._db.close()

    def abandon(self) -> None:
        """In a forked child: neither use nor close the parent's connection, not even by being deleted."""
        self._watch.deaden()

    def _once_more(self, first_statement: Callable[[], T]) -> T:
        """Try again on a new connection if the old one broke before the first statement."""
        try:
            return first_statement()
        except SQLAlchemyError:
            if not self._db.invalidated:
                raise
        try:
            self._watch.stop()
            self._connect()
            return first_statement()
        except BaseException:  # whoever comes next starts with a session of its own
            self.forget()
            raise

    def _read_head(self, *, lock: bool) -> tuple[int, str] | None:
        query = sa.select(_books.c.count, _books.c.hash, _CHANGES).where(_books.c.book == self._place.book)
        found = self._all(query.with_for_update() if lock else query)
        if not found:
            return None
        count, digest, self.changes = found[0]
        return count, digest

    def _all(self, query: sa.Executable) -> list[Any]:
        with self._watch:
            return list(self._db.execute(query))


def _socket_of(db: sa.Connection) -> int:
    """Return the descriptor of a connection's socket."""
    driver: Any = db.connection.driver_connection
    if not hasattr(driver, "fileno"):
        raise LedgerUnavailableError(
            "This driver of PostgreSQL does not show its socket, so that a server that hangs could not be "
            "left. Use psycopg: ledger='postgresql+psycopg://...'."
        )
    return int(driver.fileno())


class Watch:
    """Cuts a connection if a statement is not answered in time; the driver then reports it as lost.

    Used as a context around each statement.

    Parameters
    ----------
    descriptor : int
        The socket of the connection.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._socket = socket.socket(fileno=os.dup(descriptor))
        self._until = math.inf
        self._over = threading.Event()
        threading.Thread(target=self._look, name="ledger watch", daemon=True).start()

    def __enter__(self) -> None:
        self._until = time.monotonic() + PATIENCE

    def __exit__(self, *raised: object) -> None:
        self._until = math.inf

    def _look(self) -> None:
        while not self._over.wait(_LOOK):
            if time.monotonic() > self._until:
                self._socket.shutdown(socket.SHUT_RDWR)
                break
        self._socket.close()

    def stop(self) -> None:
        """Watch no more."""
        self._over.set()

    def deaden(self) -> None:
        """Keep a forked child from writing to the parent's server, whatever it does."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, self._descriptor)
        os.close(nowhere)
        self._socket.close()
