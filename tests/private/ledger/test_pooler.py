"""A pooler gives each transaction another session of the server; a beginning is found again."""

import contextlib
import signal
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

sa = pytest.importorskip("sqlalchemy")

from sklearn_ada.exceptions import LedgerUnavailableError  # noqa: E402
from sklearn_ada.ledger import sql_session  # noqa: E402
from tests.support.ledger.broken_network import Network  # noqa: E402
from tests.support.ledger.damages import forget_connections  # noqa: E402
from tests.support.ledger.ledger_backends import PostgreSQLBackend, charge, count, counted, fill  # noqa: E402
from tests.support.ledger.pooler import Pooler  # noqa: E402
from tests.support.processes import in_a_fork  # noqa: E402


@pytest.fixture
def backend(postgresql):
    return PostgreSQLBackend(postgresql)


@pytest.fixture
def address(pooler):
    return pooler.url(uuid.uuid4().hex)


@pytest.fixture
def ledger(backend, address):
    return fill(backend.open(address), 2)


@contextlib.contextmanager
def setting(backend, value):
    """What the database says, for sessions that begin from now on."""
    backend.run(f"ALTER DATABASE postgres SET {value}", backend.address())
    try:
        yield
    finally:
        backend.run(f"ALTER DATABASE postgres RESET {value.partition(' ')[0]}", backend.address())


def test_more_workers_than_sessions_lose_and_double_nothing(backend, address):
    """Two hundred charges by eight processes: prepared statements would be missed by then."""
    backend.open(address)

    def ask(who):
        ledger = backend.open(address)
        return [ledger.charge(f"{who} {number}", counted).seq for number in range(25)]

    def child(who):
        forget_connections()
        return ask(who)

    with ThreadPoolExecutor(8) as pool:
        given = [eval(text) for text in pool.map(lambda who: in_a_fork(lambda: child(who)), range(8))]
    assert sorted(seq for seqs in given for seq in seqs) == list(range(1, 201))
    assert backend.open(address).verify() == 201


@pytest.mark.parametrize("mode", ["session", "statement"])
def test_another_mode_is_used_or_named(backend, postgresql, pooler, mode):
    other = Pooler(postgresql, mode=mode)
    try:
        if mode == "session":
            assert charge(backend.open(other.url(uuid.uuid4().hex))).seq == 1
        else:
            with pytest.raises(LedgerUnavailableError, match="pool_mode of the pooler to session or trans"):
                backend.open(other.url(uuid.uuid4().hex))
    finally:
        forget_connections()
        other.remove()


def test_each_transaction_has_its_settings_and_leaves_none_behind(backend, pooler, ledger):
    names = ("synchronous_commit", "lock_timeout", "statement_timeout", "row_security")
    shown = sa.text("SELECT " + ", ".join(f"current_setting('{name}')" for name in names))
    with setting(backend, "synchronous_commit = off"), setting(backend, "statement_timeout = 5000"):
        pooler.stop()
        pooler.start()
        for _ in range(4):
            assert ledger._transact(lambda c: c._session.run(shown)) == [("on", "1min", "0", "off")]
            outside = ledger._connection()._session.run(shown)
            assert outside == [("off", "0", "5s", "on")]
    pooler.stop()
    pooler.start()


def test_a_charge_answered_by_a_server_without_durable_commits_survives_its_crash(backend, pooler, address):
    def kept_of_thirty(address):
        """Charge thirty records, let the server crash at once, and return how many are there then."""
        pooler.stop()
        backend.server.stop(signal.SIGQUIT)
        backend.server.start()
        pooler.start()
        fill(backend.open(address), 30)
        backend.server.stop(signal.SIGQUIT)
        backend.server.start()
        forget_connections()
        rows = f"SELECT max(seq) FROM sklearn_ada_records WHERE book = '{address.partition('book=')[2]}'"
        return backend.run(rows, address).scalar()

    alter = "ALTER SYSTEM {} synchronous_commit{}; ALTER SYSTEM {} wal_writer_delay{}"
    for statement in alter.format("SET", " = off", "SET", " = '10s'").split(";"):
        run_alone(backend, statement)
    try:
        assert kept_of_thirty(address) == 30
        with pytest.MonkeyPatch.context() as mutant:
            mutant.setattr(sql_session, "_SETTINGS", sql_session._SETTINGS.replace("'on'", "'off'"))
            assert (kept_of_thirty(pooler.url(uuid.uuid4().hex)) or 0) < 30
    finally:
        for statement in alter.format("RESET", "", "RESET", "").split(";"):
            run_alone(backend, statement)
        backend.server.stop()
        backend.server.start()


def run_alone(backend, statement):
    """Run a statement that may not stand in a transaction."""
    with backend.engine().connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.exec_driver_sql(statement)


@pytest.mark.parametrize("use", ["charge", "open", "read"])
def test_a_paused_pooler_is_left_in_time(backend, pooler, address, ledger, monkeypatch, use):
    task = {"charge": lambda: charge(ledger), "read": lambda: ledger.read(count)}.get(use)
    if task is None:
        forget_connections()
        task = lambda: backend.open(address)  # noqa: E731
    monkeypatch.setattr(sql_session, "PATIENCE", 0.5)
    monkeypatch.setattr(sql_session, "_CONNECT_SECONDS", 2)
    pooler.pause()
    began = time.monotonic()
    try:
        with pytest.raises(LedgerUnavailableError, match="pooler"):
            task()
    finally:
        pooler.resume()
    assert time.monotonic() - began < 10.0
    monkeypatch.undo()
    assert charge(ledger).body == {"before": 2}


def test_a_pooler_that_was_begun_again_is_not_noticed(pooler, ledger):
    pooler.stop()
    with pytest.raises(LedgerUnavailableError, match="refused"):
        charge(ledger)
    pooler.start()
    assert charge(ledger).body == {"before": 2}


@pytest.mark.parametrize("lost", ["before_sending", "before_answering"])
def test_a_beginning_whose_commit_was_lost_is_found_again(backend, postgresql, lost):
    network, cut = Network(postgresql.port), []

    def cut_once(data):
        is_commit = b"COMMIT\x00" in data
        commits.append(is_commit)
        if sum(commits) == 2 and is_commit and not cut:  # the first one ends a look
            cut.append(data)
        return bool(cut) and data is cut[0]

    commits = []
    setattr(network, lost, cut_once)
    try:
        ledger = backend.open(postgresql.url(uuid.uuid4().hex, port=network.port))
        assert cut
        assert charge(ledger).seq == 1
        assert len(ledger.secret()) == 32
        assert ledger.verify() == 2
    finally:
        network.close()
