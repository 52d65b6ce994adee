"""What tests of several folders share: one real PostgreSQL server per test process."""

import contextlib
import importlib.util
import os
import secrets
import sys
from collections import OrderedDict

import pytest

from sklearn_ada import _notices
from sklearn_ada.ledger import elsewhere, memory
from sklearn_ada.terms import recognised_rows
from tests.support.ledger.pooler import NoPoolerError, Pooler
from tests.support.ledger.postgresql_server import NoServerError, Server
from tests.support.ledgers import (
    bodies,
    forget_ledgers_in_memory,
    is_paid_in_advance,
    names_of_ledgers_in_memory,
)

REQUIRED = "SKLEARN_ADA_REQUIRE_POSTGRESQL"
POOLER_REQUIRED = "SKLEARN_ADA_REQUIRE_PGBOUNCER"
NETS = {"torch": "support/consumers/torch_net.py", "skorch": "support/consumers/skorch_net.py"}
collect_ignore = [path for name, path in NETS.items() if not importlib.util.find_spec(name)]  # for doctests


@pytest.fixture(scope="session")
def postgresql():
    """Return a running server; without one tests are skipped, or fail where a server is required."""
    with _required(REQUIRED, "LEDGERS IN POSTGRESQL ARE NOT TESTED", NoServerError):
        pytest.importorskip("sqlalchemy")
        server = Server()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def pooler(postgresql):
    """Return a pooler of transactions before the server; without one tests are skipped, or fail."""
    with _required(POOLER_REQUIRED, "A POOLER OF TRANSACTIONS IS NOT TESTED", NoPoolerError):
        pooler = Pooler(postgresql)
    yield pooler
    pooler.remove()


@contextlib.contextmanager
def _required(variable, without, kind):
    """Skip where a program is not here, or fail where the variable says that it must be."""
    try:
        yield
    except (kind, pytest.skip.Exception) as error:
        if os.environ.get(variable):
            pytest.fail(f"{variable} is set, and {error}")
        pytest.skip(f"{without}: {error}")


@pytest.fixture(autouse=True)
def _own_session(monkeypatch, tmp_path_factory):
    """Give each test a session of its own: holdouts of the same labels share a temporary ledger in one."""
    name = f"sklearn_ada_{os.getpid()}_{secrets.token_hex(8)}"
    folder = os.path.join(tmp_path_factory.getbasetemp(), name)
    os.mkdir(folder, mode=0o700)
    monkeypatch.setattr(_notices, "_folder", folder)
    monkeypatch.setenv(_notices.VARIABLE, folder)
    monkeypatch.setattr(memory, "_noted", set())
    monkeypatch.setattr(elsewhere, "_entries", OrderedDict())
    monkeypatch.setattr(recognised_rows, "_trained_on", {})
    before = names_of_ledgers_in_memory()
    yield
    forget_ledgers_in_memory(names_of_ledgers_in_memory() - before)


@pytest.fixture(scope="session")
def spent():
    """The number of records of a holdout's ledger and the nats of its account.

    What opening a ledger again without ids pays once, that labels are those of its rows, is left out.
    """

    def look(holdout):
        prices = [body["price"] for body in bodies(holdout) if is_paid_in_advance(body)]
        return len(bodies(holdout)) - len(prices), holdout.report().nats - sum(prices)

    return look


@pytest.fixture(scope="session")
def uncharged(spent):
    """A context in which a holdout must not be charged."""

    @contextlib.contextmanager
    def watch(holdout):
        before = spent(holdout)
        yield
        assert spent(holdout) == before

    return watch


@pytest.fixture(scope="session")
def sentence():
    """The pattern of the one error sentence about a parameter."""

    def pattern(name, owner=".+"):
        return rf"^The '{name}' parameter of {owner} must be .+\. Got .+ instead\."

    return pattern


@pytest.fixture
def hidden(monkeypatch):
    """A function that makes a package that is installed look as if it were not."""

    def hide(package):
        loaded = [name for name in sys.modules if name.startswith(f"{package}.")]
        for name in (package, *loaded):
            monkeypatch.setitem(sys.modules, name, None)

    return hide
