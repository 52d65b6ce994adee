"""What tests of several folders share: one real PostgreSQL server per test process."""

import os

import pytest

from tests.ledger.postgresql_server import NoServerError, Server

REQUIRED = "SKLEARN_ADA_REQUIRE_POSTGRESQL"


@pytest.fixture(scope="session")
def postgresql():
    """Return a running server; without one tests are skipped, or fail where a server is required."""
    try:
        pytest.importorskip("sqlalchemy")
        server = Server()
    except (NoServerError, pytest.skip.Exception) as error:
        if os.environ.get(REQUIRED):
            pytest.fail(f"{REQUIRED} is set, and {error}")
        pytest.skip(f"LEDGERS IN POSTGRESQL ARE NOT TESTED: {error}")
    yield server
    server.remove()
