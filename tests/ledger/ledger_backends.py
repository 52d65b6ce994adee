"""Backends under the contract, and the simplest state to keep in them."""

import os
import pickle

from sklearn_ada.ledger import SQLiteLedger

FINGERPRINT = "0123456789abcdef" * 4


class Tally:
    """A state that keeps every body it was given."""

    def __init__(self, genesis):
        self.genesis = genesis
        self.bodies = []

    def advance(self, body):
        if body.get("unreadable"):
            raise KeyError("a record that this state does not know")
        self.bodies.append(body)


def count(state):
    return len(state.bodies)


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


def pickled(obj):
    return pickle.loads(pickle.dumps(obj))


def fill(ledger, size=4):
    """Charge ``size`` numbered records under keys k1, k2, ... with subjects s1, s2, ..."""
    for number in range(1, size + 1):
        body = {"number": number, "subject": f"s{number}"}
        ledger.charge(f"k{number}", lambda state, body=body: body)
    return ledger
