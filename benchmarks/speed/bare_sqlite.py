"""The least that a durable record costs: one row, one head, one commit, and nothing computed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

__all__ = ["BareLog"]


class BareLog:
    """A SQLite file with the ledger's durability: a rollback journal, and synchronous = FULL.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, timeout=60.0)
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS records (seq INTEGER PRIMARY KEY, key TEXT UNIQUE, body TEXT)"
        )
        self._db.execute("CREATE TABLE IF NOT EXISTS head (id INTEGER PRIMARY KEY, count INTEGER)")
        self._db.execute("INSERT OR IGNORE INTO head VALUES (1, 0)")
        self._db.execute("PRAGMA journal_mode = PERSIST")
        self._db.execute("PRAGMA synchronous = FULL")

    def commit(self, key: str, body: str) -> None:
        """Write one record; it is durable when this returns."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("INSERT INTO records VALUES (NULL, ?, ?)", (key, body))
        self._db.execute("UPDATE head SET count = count + 1 WHERE id = 1")
        self._db.execute("COMMIT")
