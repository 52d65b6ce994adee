"""Backends under the contract, and the simplest state to keep in them."""

import os
import pickle
import uuid

from sklearn_ada.ledger import MemoryLedger, SQLiteLedger, SQLLedger
from sklearn_ada.ledger import memory as _memory
from sklearn_ada.testing import Tally

__all__ = [
    *("FINGERPRINT", "Genesis", "MemoryBackend", "PostgreSQLBackend", "SQLiteBackend", "Tally"),
    *("backend_of", "charge", "count", "counted", "fill", "nothing", "pickled"),
]
FINGERPRINT = "0123456789abcdef" * 4


def count(state):
    return len(state.bodies)


def counted(state):
    """A body that says how many records there are."""
    return {"before": count(state)}


def nothing(state):
    """An empty body."""
    return {}


def charge(ledger):
    """Ask one question more."""
    return ledger.charge("new", counted)


class Genesis:
    """A genesis with a fingerprint and some policy, whatever the secret."""

    def __init__(self, fingerprint=FINGERPRINT, **policy):
        self.body = {"schema": 1, "fingerprint": fingerprint, **policy}

    def __call__(self, secret):
        return self.body


class SQLiteBackend:
    """One file per ledger; an address is a path."""

    def __init__(self, folder):
        self.folder = folder

    def address(self, name="ledger"):
        return os.path.join(self.folder, name + ".db")

    def open(self, address, genesis=None, secret=None):
        return SQLiteLedger.create_or_open(address, genesis or Genesis(), Tally, secret)

    def exists(self, address):
        return os.path.exists(address)

    def remove(self, address):
        os.remove(address)


class MemoryBackend:
    """Ledgers of this process; an address is a name."""

    def __init__(self):
        self.prefix = uuid.uuid4().hex

    def address(self, name="ledger"):
        return f":memory:{self.prefix} {name}"

    def open(self, address, genesis=None, secret=None):
        return MemoryLedger.create_or_open(address, genesis or Genesis(), Tally, secret)

    def exists(self, address):
        return address in _memory._books

    def remove(self, address):
        del _memory._books[address]


class PostgreSQLBackend:
    """Books in one database; an address is a URL."""

    def __init__(self, server):
        self.server = server
        self.prefix = uuid.uuid4().hex

    def address(self, name="ledger"):
        return self.server.url(self.prefix + name)

    def open(self, address, genesis=None, secret=None):
        return SQLLedger.create_or_open(address, genesis or Genesis(), Tally, secret)

    def exists(self, address):
        return bool(self.run("SELECT 1 FROM sklearn_ada_books WHERE book = :book", address).all())

    def remove(self, address):
        self.run("DELETE FROM sklearn_ada_records WHERE book = :book", address)
        self.run("DELETE FROM sklearn_ada_books WHERE book = :book", address)

    def engine(self):
        import sqlalchemy

        url = sqlalchemy.make_url(self.server.url()).set(drivername="postgresql+psycopg")
        return sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)

    def run(self, statement, address):
        """Run a statement on the database, past the ledger, for the book at an address."""
        import sqlalchemy

        with self.engine().begin() as db:
            found = db.execute(sqlalchemy.text(statement), {"book": address.partition("book=")[2]})
            return found.freeze()() if found.returns_rows else None


def pickled(obj):
    return pickle.loads(pickle.dumps(obj))


def fill(ledger, size=4):
    """Charge ``size`` numbered records under keys k1, k2, ... with subjects s1, s2, ..."""
    for number in range(1, size + 1):
        body = {"number": number, "subject": f"s{number}"}
        ledger.charge(f"k{number}", lambda state, body=body: body)
    return ledger


def backend_of(request):
    """Return the backend of a test by the name that is its fixture's parameter."""
    if request.param == "sqlite":
        return SQLiteBackend(str(request.getfixturevalue("tmp_path")))
    if request.param == "memory":
        return MemoryBackend()
    return PostgreSQLBackend(request.getfixturevalue("postgresql"))
