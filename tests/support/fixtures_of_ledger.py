"""A ledger file with a few records, for tests that damage it."""

import pytest

from tests.support.ledger.damages import FEW, opened
from tests.support.ledger.ledger_backends import fill


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "ledger.db")


@pytest.fixture
def ledger(path):
    return fill(opened(path), FEW)
