"""Whatever texts a server, a database or an environment is set to, a ledger is kept there, or refused."""

import contextlib
import time
import uuid

import pytest

sa = pytest.importorskip("sqlalchemy")

from sklearn_ada.exceptions import LedgerUnavailableError  # noqa: E402
from sklearn_ada.ledger import sql_session  # noqa: E402
from tests.support.ledger.damages import forget_connections  # noqa: E402
from tests.support.ledger.ledger_backends import PostgreSQLBackend, charge, fill  # noqa: E402
from tests.support.ledger.postgresql_server import PASSWORD  # noqa: E402


@pytest.fixture
def backend(postgresql):
    return PostgreSQLBackend(postgresql)


def run_alone(backend, statement):
    """Run a statement that may not stand in a transaction."""
    with backend.engine().connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.exec_driver_sql(statement)


@contextlib.contextmanager
def database(backend, encoding):
    """The address of a book in a database of its own."""
    name = f"in_{uuid.uuid4().hex}"
    run_alone(backend, f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    try:
        yield backend.server.url("b%E2%82%AC").replace("/postgres?", f"/{name}?")
    finally:
        forget_connections()
        run_alone(backend, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1", "EUC_JP"])
def test_the_encoding_of_the_environment_does_not_matter(backend, monkeypatch, encoding):
    monkeypatch.setenv("PGCLIENTENCODING", encoding)
    ledger = fill(backend.open(backend.server.url(f"{uuid.uuid4().hex}%E2%82%AC")), 2)
    assert ledger.charge("€", lambda state: {"subject": "€"}).fresh
    assert ledger.find_subject("€").key == "€"
    assert ledger.verify() == 4


def test_a_database_without_an_encoding_keeps_a_ledger(backend):
    with database(backend, "SQL_ASCII") as address:
        ledger = fill(backend.open(address), 2)
        assert ledger.charge("€", lambda state: {"subject": "€"}).fresh
        assert ledger.find_subject("€").key == "€"
        assert ledger.verify() == 4


def test_a_text_that_is_not_utf8_is_an_error_of_ours(backend):
    with database(backend, "SQL_ASCII") as address:
        ledger = fill(backend.open(address), 2)
        url = sa.make_url(address.partition("?")[0]).set(drivername="postgresql+psycopg")
        how = {"connect_args": {"client_encoding": "utf8"}, "poolclass": sa.NullPool}
        with sa.create_engine(url, **how).begin() as db:
            db.exec_driver_sql("UPDATE sklearn_ada_records SET subject = E'\\xff' WHERE seq = 2")
        for use in (lambda: ledger.find_subject("s1"), ledger.verify, lambda: backend.open(address)):
            with pytest.raises(LedgerUnavailableError, match="encoding is UTF8"):
                use()


def test_an_opening_that_failed_leaves_no_session(backend, monkeypatch):
    name = uuid.uuid4().hex

    def fail(*given):
        raise TypeError("a string pattern")

    monkeypatch.setattr(sql_session.Watch, "over", fail)
    with pytest.raises(LedgerUnavailableError, match="encoding is UTF8") as caught:
        backend.open(backend.server.url(name, application_name=name))
    here = f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}'"
    until = time.monotonic() + 10
    while (left := backend.run(here, "").scalar()) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == 0, caught


def test_a_database_that_lacks_a_sign_of_the_book_is_an_error_of_ours(backend):
    with (
        database(backend, "LATIN1") as address,
        pytest.raises(LedgerUnavailableError, match=r"LATIN1.*encoding is UTF8"),
    ):
        backend.open(address)


def test_a_role_for_which_a_backslash_is_an_escape_keeps_a_ledger(backend):
    name = f"r{uuid.uuid4().hex}"
    run_alone(backend, f"CREATE ROLE {name} SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
    run_alone(backend, f"ALTER ROLE {name} SET standard_conforming_strings = off")
    try:
        address = backend.server.url(uuid.uuid4().hex, user=name)
        assert charge(backend.open(address, secret=bytes(range(32)))).seq == 1
        assert backend.open(address).secret() == bytes(range(32))
    finally:
        forget_connections()
        run_alone(backend, f"DROP OWNED BY {name} CASCADE; DROP ROLE {name}")
