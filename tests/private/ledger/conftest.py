"""A ledger file with a few records, for tests that damage it."""

from tests.support.fixtures_of_ledger import ledger, path

__all__ = ["ledger", "path"]
