"""Ledger files, for tests that damage or lock them."""

import pytest

from tests.support.ledger.damages import FEW, opened
from tests.support.ledger.ledger_backends import fill


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "ledger.db")


@pytest.fixture
def ledger(path):
    """A ledger with a few records."""
    return fill(opened(path), FEW)


@pytest.fixture
def empty(path):
    return opened(path)
