"""Talk to a PostgreSQL server: a session in which nothing waits for ever, and the tables of one schema.

A pooler of transactions (PgBouncer) gives each transaction another session of the server. So nothing is left
to a session: settings are made in each transaction, tables are found in a schema that is named, and no
statement is prepared on the server.

What is sent stands in the server's log of statements where that is on, with its parameters; what is received
does not. So the secret of a ledger is only received: the server draws a mask, sends it, and is sent how the
secret differs from it.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from sklearn_ada.exceptions import LedgerUnavailableError

PATIENCE = 90.0  # longer than the server itself waits for a lock
_LOOK = 0.5
_CONNECT_SECONDS = 10
DEFAULT_SCHEMA = "public"
UTF8 = "keep ledgers in a database whose encoding is UTF8"

tables = sa.MetaData()
books = sa.Table(
    "sklearn_ada_books",
    tables,
    sa.Column("book", sa.Text, primary_key=True),
    sa.Column("secret", sa.LargeBinary, nullable=False),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)
records = sa.Table(
    "sklearn_ada_records",
    tables,
    sa.Column("book", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("key", sa.Text),
    sa.Column("subject", sa.Text),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.UniqueConstraint("book", "key"),
    sa.Index("sklearn_ada_by_subject", "book", "subject"),
)
# A server, database or role may have been set to be less patient or less durable than a ledger must be. Where
# row-level security would hide rows, the server says so rather than leave them out. One setting is newer than
# some servers. What a role's search path shows is noted, and then left: a function or operator that somebody
# else has put there would be used with this role's rights.
_SETTINGS = (
    "SELECT pg_catalog.set_config('lock_timeout', '60s', true),"
    " pg_catalog.set_config('idle_in_transaction_session_timeout', '60s', true),"
    " pg_catalog.set_config('statement_timeout', '0', true),"
    " CASE WHEN pg_catalog.current_setting('transaction_timeout', true) IS NOT NULL"
    " THEN pg_catalog.set_config('transaction_timeout', '0', true) END,"
    " pg_catalog.set_config('row_security', 'off', true),"
    " CASE WHEN pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'off'"
    " THEN pg_catalog.set_config('synchronous_commit', 'on', true) END,"
    " pg_catalog.set_config('sklearn_ada.path', pg_catalog.current_schemas(false)::pg_catalog.text, true),"
    " pg_catalog.set_config('search_path', '', true)"
)
# What others may have made of the tables: each could lose, alter or copy what is written there.
_CHANGED = sa.text("""
SELECT c.relname, CASE
    WHEN c.relkind <> 'r' THEN 'is no plain table'
    WHEN c.relpersistence <> 'p' THEN 'is unlogged: a crash of the server would empty it'
    WHEN EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
        THEN 'has a trigger'
    WHEN EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid) THEN 'has a rule'
    WHEN EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
        THEN 'inherits from another table, or another from it'
    WHEN EXISTS (SELECT FROM pg_catalog.pg_constraint k
        WHERE k.conrelid = c.oid AND k.contype NOT IN ('p', 'u', 'n')) THEN 'has a constraint of others'
    WHEN (SELECT count(*) FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped
        AND (a.attname IN ('book', 'key', 'subject', 'body', 'hash') AND a.atttypid = CAST('text' AS regtype)
        OR a.attname IN ('count', 'seq') AND a.atttypid = CAST('bigint' AS regtype)
        OR a.attname = 'secret' AND a.atttypid = CAST('bytea' AS regtype)))
        < CASE c.relname WHEN :books THEN 4 ELSE 6 END
        THEN 'has a column of another type than a ledger makes, or lacks one'
    END AS how
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = :schema AND c.relname IN (:books, :records)
ORDER BY 2 LIMIT 1
""")
_IN_OTHER_SCHEMAS = sa.text("""
SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = :books AND n.nspname <> :schema
    AND n.nspname = ANY (CAST(pg_catalog.current_setting('sklearn_ada.path') AS name[]))
""")
# As long as the secret; of a UUID six bits are fixed, so that what is returned is a hash of three.
_mask = sa.func.substring(
    sa.literal_column(
        "(SELECT string_agg(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())"
        " || uuid_send(gen_random_uuid())), '') FROM generate_series(1, 32))"
    ),
    1,
    sa.bindparam("size"),
)
_difference = sa.bindparam("difference", type_=sa.LargeBinary)
_unmasked = (
    sa.select(
        sa.func.string_agg(
            sa.func.set_byte(
                sa.literal_column("decode('00', 'hex')"),
                0,
                sa.func.get_byte(books.c.secret, sa.column("i")).op("#")(
                    sa.func.get_byte(sa.cast(_difference, sa.LargeBinary), sa.column("i"))
                ),
            ),
            sa.literal_column("''::bytea ORDER BY i"),
        )
    )
    .select_from(sa.func.generate_series(0, sa.func.length(books.c.secret) - 1).alias("i"))
    .scalar_subquery()
)
_log = logging.getLogger("sqlalchemy.engine.Engine.sklearn_ada")
_log.addFilter(lambda entry: entry.levelno >= logging.WARNING)  # below, SQLAlchemy prints rows: the secret


class ServerSession:
    """A session on a server, whose every statement is answered in time or ends it.

    Parameters
    ----------
    url : sqlalchemy.URL
    schema : str or None
        In which the tables are, whatever the search path; None for the default.
    """

    def __init__(self, url: sa.URL, schema: str | None) -> None:
        self.schema = schema or DEFAULT_SCHEMA
        self._is_schema_named = schema is not None
        self._watch = Watch()
        self._driver_connection: Any = None
        driver = url.get_driver_name()
        how: dict[str, Any] = {"prepare_threshold": None} if driver == "psycopg" else {}
        options = (
            {"use_native_hstore": False} if driver in ("psycopg", "psycopg2") else {}
        )  # asks for no type
        if driver in ("psycopg", "psycopg2"):
            how["client_encoding"] = "utf8"  # whatever PGCLIENTENCODING or the database says
            if "connect_timeout" not in url.query:
                how["connect_timeout"] = _CONNECT_SECONDS
        engine = sa.create_engine(
            url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT", hide_parameters=True,
            logging_name="sklearn_ada", connect_args=how, **options,
        )  # fmt: skip
        # First, because SQLAlchemy asks the server things, too.
        sa.event.listen(engine, "connect", self._watch_over, insert=True)
        try:
            with self._answered():
                db = engine.connect()
        except BaseException:
            self._watch.stop()
            if self._driver_connection is not None:  # else it stays open as long as the error is kept
                self._driver_connection.close()
            raise
        self.db = db.execution_options(schema_translate_map={None: self.schema})

    def _watch_over(self, driver_connection: Any, _: object) -> None:
        self._driver_connection = driver_connection
        if not hasattr(driver_connection, "fileno"):
            raise LedgerUnavailableError(
                "This driver of PostgreSQL does not show its socket, so that a server that hangs could not "
                "be left. Use psycopg: ledger='postgresql+psycopg://...'."
            )
        self._watch.over(int(driver_connection.fileno()))

    @contextlib.contextmanager
    def _answered(self) -> Iterator[None]:
        """Watch over what is asked of the server, and say so where it did not answer in time."""
        try:
            with self._watch:
                yield
        except DBAPIError as error:
            if self._watch.has_cut:
                error.orig = TimeoutError(
                    f"neither the server nor a pooler before it has answered for {PATIENCE:g} seconds"
                )
            raise
        except (TypeError, UnicodeError):  # of the driver; it may quote a row
            raise LedgerUnavailableError(
                "The database has, or was sent, a text that cannot be read. Nothing was charged or answered; "
                f"{UTF8}."
            ) from None

    def run(self, statement: sa.Executable | str, **values: Any) -> list[Any]:
        """Return the rows of a statement; a text is sent as it is."""
        with self._answered():
            if isinstance(statement, str):
                self.db.exec_driver_sql(statement, execution_options={"no_parameters": True})
                return []
            found = self.db.execute(statement, values)
            return list(found) if found.returns_rows else []

    def begin(self, mode: str) -> None:
        """Start a transaction of this mode, with a ledger's settings."""
        self.run(f"BEGIN ISOLATION LEVEL {mode}; {_SETTINGS}")

    def make_tables(self) -> None:
        """Make the tables that are lacking."""
        with self._answered():
            tables.create_all(self.db)

    def has_tables(self) -> bool:
        """Return whether the tables are there, after having refused what would make them useless."""
        names = {"schema": self.schema, "books": books.name}
        if not self._is_schema_named:
            for (other,) in self.run(_IN_OTHER_SCHEMAS, **names):
                raise LedgerUnavailableError(
                    f"The database has tables of ledgers in the schema {other!r}, too, which this role's "
                    "search path shows: releases that named no schema may have begun a ledger there. Write "
                    f"?schema={other} or ?schema={self.schema} into the URL, the same for all who ask."
                )
        found = self.run(_CHANGED, **names, records=records.name)
        for table, how in found:
            if how is not None:
                raise LedgerUnavailableError(
                    f"The table {table!r} in the schema {self.schema!r} {how}. What a ledger writes must be "
                    "kept there as it is, and nowhere else: undo that, then ask again."
                )
        return bool(found)

    def changes(self) -> sa.ColumnElement[int]:
        """Return the number of times that records were changed or deleted, which no ledger does.

        The server counts it about a second late; before version 15 it would take too long to ask for it.
        """
        schema = self.schema.replace('"', '""')
        table = sa.func.to_regclass(f'"{schema}".{records.name}')
        counted = sa.func.pg_stat_get_tuples_updated(table) + sa.func.pg_stat_get_tuples_deleted(table)
        is_old = sa.cast(sa.func.current_setting("server_version_num"), sa.Integer) < 150_000
        return sa.case((is_old, 0), else_=counted)

    def insert_book(self, book: str, secret: bytes, digest: str) -> None:
        """Insert a book of one record, with a secret that no log of statements shows."""
        masked = books.insert().values(book=book, secret=_mask, count=1, hash=digest)
        ((mask,),) = self.run(masked.returning(books.c.secret), size=len(secret))
        difference = bytes(a ^ b for a, b in zip(mask, secret, strict=True))
        mine = books.update().where(books.c.book == book)
        self.run(mine.values(secret=_unmasked), difference=difference)

    @property
    def is_lost(self) -> bool:
        """Whether the connection broke, of itself."""
        return self.db.invalidated and not self._watch.has_cut

    def close(self) -> None:
        """Close what can be closed of it."""
        self._watch.stop()
        with contextlib.suppress(SQLAlchemyError):
            self.db.close()

    def let_go(self) -> None:
        """Leave to the server a transaction that cannot be rolled back."""
        with contextlib.suppress(SQLAlchemyError):
            self.db.invalidate()
        self.close()

    def abandon(self) -> None:
        """In a forked child: neither use nor close the parent's connection, not even by being deleted."""
        self._watch.deaden()


class Watch:
    """Cuts a connection if a statement is not answered in time; the driver then reports it as lost.

    Used as a context around each statement.
    """

    def __init__(self) -> None:
        self._until = math.inf
        self._over = threading.Event()
        self.has_cut = False

    def over(self, descriptor: int) -> None:
        """Begin to watch the connection with this socket."""
        self._descriptor = descriptor
        self._socket = socket.socket(fileno=os.dup(descriptor))
        threading.Thread(target=self._look, name="ledger watch", daemon=True).start()

    def __enter__(self) -> None:
        self._until = time.monotonic() + PATIENCE

    def __exit__(self, *raised: object) -> None:
        self._until = math.inf

    def _look(self) -> None:
        while not self._over.wait(_LOOK):
            if time.monotonic() > self._until:
                self.has_cut = True
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
