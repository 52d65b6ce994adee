"""The tables of a ledger file, and nothing beside them: a trigger could swallow or change records."""

from __future__ import annotations

import contextlib
import sqlite3
from functools import cache

from sklearn_ada.ledger.log.chain import damage

__all__ = ["check_schema_objects", "create_tables"]

_SCHEMA = """
CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL, hash TEXT NOT NULL);
CREATE TABLE secret (id INTEGER PRIMARY KEY CHECK (id = 1), value BLOB NOT NULL);
CREATE TABLE records (
    seq INTEGER PRIMARY KEY, key TEXT UNIQUE, subject TEXT, body TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE INDEX by_subject ON records (subject) WHERE subject IS NOT NULL;
"""
_STATISTICS = "sqlite_stat"  # what another program's ANALYZE leaves changes no answer


def create_tables(db: sqlite3.Connection) -> None:
    """Make the tables of a ledger."""
    for statement in filter(str.strip, _SCHEMA.split(";")):
        db.execute(statement)


def check_schema_objects(db: sqlite3.Connection, name: str) -> None:
    """Refuse a file that lacks a table or an index of a ledger, or has a trigger or anything else beside."""
    found, expected = _objects(db), _expected()
    for kind, called, _ in sorted(found.symmetric_difference(expected)):
        what = "lacks the" if (kind, called) not in {each[:2] for each in found} else "has a changed or added"
        raise damage(name, f"it {what} {kind} {called!r}")


@cache
def _expected() -> frozenset[tuple[str, str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        create_tables(db)
        return _objects(db)


def _objects(db: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    """Return kind, name and definition of everything in a database, without its spaces."""
    rows = db.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    return frozenset(
        (kind, called, "".join((sql or "").split()).lower())
        for kind, called, sql in rows
        if not called.startswith(_STATISTICS)
    )
