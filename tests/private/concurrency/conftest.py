"""A ledger file without records, for tests that lock or interrupt it."""

from tests.support.fixtures_of_ledger import empty, path

__all__ = ["empty", "path"]
