"""Ledger files, for tests that damage or lock them."""

import pytest

from tests.support.ledger.damages import FEW, content, opened


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "ledger.db")


@pytest.fixture
def ledger(path):
    """A ledger with a few records, which another process charged: to charge them here takes far longer."""
    with open(path, "wb") as file:
        file.write(content(FEW))
    return opened(path)


@pytest.fixture
def empty(path):
    return opened(path)
