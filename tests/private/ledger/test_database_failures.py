"""A database that cannot be used: refusal with the reason, nothing charged twice, the answer later."""

import contextlib
import uuid

import pytest

pytestmark = pytest.mark.thorough

sa = pytest.importorskip("sqlalchemy")

from sklearn_ada.exceptions import LedgerMismatchError, LedgerUnavailableError  # noqa: E402
from sklearn_ada.ledger import sql_session, transactions  # noqa: E402
from tests.support.ledger.broken_network import Network  # noqa: E402
from tests.support.ledger.ledger_backends import Genesis, PostgreSQLBackend, charge, count, counted, fill  # noqa: E402
from tests.support.ledger.postgresql_server import PASSWORD  # noqa: E402
from tests.support.processes import in_a_fork, interpreter  # noqa: E402


@pytest.fixture
def backend(postgresql):
    return PostgreSQLBackend(postgresql)


@pytest.fixture
def ledger(backend):
    return fill(backend.open(backend.address()), 2)


@pytest.fixture
def network(postgresql):
    network = Network(postgresql.port)
    yield network
    network.close()


@pytest.fixture
def far(network, postgresql, backend):
    """A ledger that is reached through the network."""
    return fill(backend.open(postgresql.url(f"{backend.prefix}far", port=network.port)), 2)


def never(state):
    raise AssertionError("decide was called")


@contextlib.contextmanager
def stopped(server):
    server.stop()
    try:
        yield
    finally:
        server.start()


def test_a_dead_server_is_refused_and_later_the_recorded_answer_returned(ledger, postgresql):
    with stopped(postgresql):
        for _ in range(2):
            for use in (ledger.secret, lambda: charge(ledger), lambda: ledger.find("k1")):
                with pytest.raises(LedgerUnavailableError, match="refused"):
                    use()
    assert len(ledger.secret()) == 32
    assert ledger.charge("k1", never).body["number"] == 1
    assert charge(ledger).body == {"before": 2}
    assert len(list(ledger.records())) == 4


def test_a_server_that_was_restarted_between_two_charges_is_not_noticed(ledger, postgresql):
    with stopped(postgresql):
        pass
    assert charge(ledger).body == {"before": 2}


@pytest.mark.parametrize("lost", ["the server hangs", "the network loses every packet"])
def test_who_does_not_answer_is_left_and_later_used_again(far, network, postgresql, monkeypatch, lost):
    hangs = lost == "the server hangs"
    with monkeypatch.context() as patience:
        patience.setattr(sql_session, "PATIENCE", 0.3)
        patience.setattr(sql_session, "_CONNECT_SECONDS", 2)
        postgresql.pause() if hangs else setattr(network, "silent", True)
        try:
            with pytest.raises(LedgerUnavailableError):
                charge(far)
        finally:
            postgresql.resume() if hangs else setattr(network, "silent", False)
    assert charge(far).body == {"before": 2}


def test_a_server_that_dies_while_a_question_is_decided_charges_nothing(ledger, postgresql):
    def decide(state):
        with stopped(postgresql):
            pass
        return {"number": 3}

    with pytest.raises(LedgerUnavailableError, match="Nothing was charged"):
        ledger.charge("new", decide)
    assert ledger.find("new") is None
    assert charge(ledger).body == {"before": 2}


COMMIT = b"COMMIT\x00"  # as it is sent; BEGIN says READ COMMITTED


class Once:
    """A hook that cuts the connection at the first message with these bytes."""

    def __init__(self, network, text, then=lambda: None):
        self.network, self.text, self.then, self.seen = network, text, then, False

    def __call__(self, data):
        if self.text in data and not self.seen:
            self.seen = True
            self.then()
            return True
        return False


def test_a_commit_that_did_not_arrive_is_not_charged(far, network):
    network.before_sending = Once(network, COMMIT)
    with pytest.raises(LedgerUnavailableError, match="before the record was committed"):
        charge(far)
    assert network.before_sending.seen
    assert far.find("new") is None
    assert charge(far).body == {"before": 2}


@pytest.mark.parametrize("key", ["new", None])
def test_a_commit_whose_answer_was_lost_is_looked_up(far, network, key):
    """The record stands, so it is returned as if nothing had happened, with a key and without."""
    network.before_answering = Once(network, b"COMMIT")
    record = far.charge(key, counted)
    assert network.before_answering.seen
    assert (record.seq, record.body, record.fresh) == (3, {"before": 2}, True)
    assert len(list(far.records())) == 4


def test_a_commit_that_nobody_can_look_up_is_not_called_charged_nor_free(far, network):
    network.before_answering = Once(network, b"COMMIT", then=lambda: setattr(network, "down", True))
    with pytest.raises(LedgerUnavailableError, match="not known whether it stands") as caught:
        charge(far)
    assert "Nothing was charged" not in str(caught.value)
    network.down = False
    assert far.charge("new", never).body == {"before": 2}
    assert len(list(far.records())) == 4


def test_a_lost_commit_is_not_taken_for_what_somebody_else_recorded_in_its_place(
    far, network, backend, monkeypatch
):
    connect = far._connect

    def late():
        other = backend.open(backend.server.url(f"{backend.prefix}far"))
        other.charge("of another", lambda state: {"mine": False})
        return connect()

    network.before_sending = Once(network, COMMIT, then=lambda: monkeypatch.setattr(far, "_connect", late))
    with pytest.raises(LedgerUnavailableError, match="before the record was committed"):
        charge(far)
    monkeypatch.undo()
    assert [record.key for record in far.records()] == [None, "k1", "k2", "of another"]


def test_a_book_that_somebody_holds_is_unavailable_and_nothing_is_charged(backend, postgresql, monkeypatch):
    monkeypatch.setattr(sql_session, "_SETTINGS", sql_session._SETTINGS.replace("60s", "100ms"))
    ledger = fill(backend.open(backend.address()), 2)
    with backend.engine().begin() as holder:
        holder.execute(sa.text("SELECT 1 FROM sklearn_ada_books FOR UPDATE"))
        with pytest.raises(LedgerUnavailableError, match="lock timeout"):
            charge(ledger)
        assert ledger.read(count) == 2
    assert charge(ledger).body == {"before": 2}


def with_rights(backend, *statements):
    """Return the address of the backend's book for a new user with these rights."""
    name = f"user{uuid.uuid4().hex[:8]}"
    for statement in (
        f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'",
        *(f"{s} TO {name}" for s in statements),
    ):
        backend.run(statement, backend.address())
    return backend.address().replace("//asker:", f"//{name}:")


READ = "GRANT SELECT ON sklearn_ada_books, sklearn_ada_records"


def test_who_may_only_read_is_refused_and_charges_nothing(backend, ledger):
    reader = backend.open(with_rights(backend, READ))
    assert reader.read(count) == 2
    with pytest.raises(LedgerUnavailableError, match="permission denied"):
        charge(reader)
    assert len(list(ledger.records())) == 3


def test_the_rights_to_read_insert_and_move_the_head_are_enough(backend, ledger):
    rights = [READ, "GRANT INSERT ON sklearn_ada_records", "GRANT UPDATE (count, hash) ON sklearn_ada_books"]
    asker = backend.open(with_rights(backend, *rights))
    assert charge(asker).body == {"before": 2}
    assert ledger.find("new").seq == 3


@pytest.mark.parametrize(("given", "used"), [("off", "on"), ("local", "local"), ("on", "on")])
def test_a_database_that_is_not_durable_is_made_so_for_each_transaction(backend, given, used):
    role = "ALTER ROLE asker {} synchronous_commit"
    backend.run(role.format("SET") + f" = {given}", backend.address())
    try:
        ledger = backend.open(backend.address())
        show = sa.text("SHOW synchronous_commit")
        assert ledger._transact(lambda connection: connection._session.run(show), write=True) == [(used,)]
        assert transactions._connections[ledger._address, ledger._genesis_hash]._session.run(show) == [
            (given,)
        ]
    finally:
        backend.run(role.format("RESET"), backend.address())


def test_books_of_one_database_do_not_mix(backend):
    first, second = (fill(backend.open(backend.address(name)), size) for name, size in (("a", 1), ("b", 3)))
    assert (first.read(count), second.read(count)) == (1, 3)
    assert first.find("k2") is None
    with pytest.raises(LedgerMismatchError, match=r"\?book=NAME"):
        backend.open(backend.address("a"), Genesis("e" * 64))


def test_a_book_that_vanished_is_not_begun_anew(backend, ledger):
    backend.remove(backend.address())
    with pytest.raises(LedgerUnavailableError, match="no such book"):
        backend.open(backend.address())
    assert not backend.exists(backend.address())


def test_a_fork_neither_uses_nor_closes_the_connection_of_its_parent(ledger):
    session = transactions._connections[ledger._address, ledger._genesis_hash]
    before = session._session.db.exec_driver_sql("SELECT pg_backend_pid()").scalar()

    def child():
        assert ledger.charge("child", counted).body == {"before": 2}
        with contextlib.suppress(Exception):
            session._session.db.close()  # as the end of an interpreter might: the server must not hear it

    assert in_a_fork(child) == "None"
    assert ledger.charge("parent", counted).body == {"before": 3}
    assert session._session.db.exec_driver_sql("SELECT pg_backend_pid()").scalar() == before


def messages_of(task):
    """Return everything that an error and its causes say."""
    with pytest.raises((LedgerUnavailableError, ValueError)) as caught:
        task()
    error, texts = caught.value, []
    while error is not None:
        texts += [str(error), repr(error)]
        error = error.__cause__
    return " ".join(texts)


@pytest.mark.parametrize(
    "change",
    [("@127.0.0.1:", "x@127.0.0.1:"), ("/postgres?", "/no_such_database?"), ("127.0.0.1:", "127.0.0.1:1")],
    ids=["wrong password", "wrong database", "wrong port"],
)
def test_no_message_shows_the_password(backend, change):
    text = messages_of(lambda: backend.open(backend.address().replace(*change)))
    assert "cannot be used" in text or "ledger" in text
    assert PASSWORD not in text


def test_a_representation_does_not_show_the_password(ledger):
    assert PASSWORD not in repr(ledger)
    assert "127.0.0.1" in repr(ledger)


EXTRA = 'pip install sqlalchemy "psycopg[binary]"'


def test_without_its_driver_the_extra_is_named(backend):
    address = backend.address().replace("postgresql:", "postgresql+pg8000:")
    assert EXTRA in messages_of(lambda: backend.open(address))


def test_without_sqlalchemy_the_extra_is_named():
    code = """
        import sys; sys.modules["sqlalchemy"] = None
        from sklearn_ada import Holdout
        Holdout([[0.0], [1.0]], [0, 1], ledger="postgresql://host/db")
    """
    error = interpreter(code, check=False).stderr
    assert "LedgerUnavailableError" in error
    assert EXTRA in error


def test_sqlalchemy_is_not_imported_for_a_file(tmp_path):
    code = """
        import sys, numpy as np
        from sklearn_ada import Holdout
        Holdout(np.zeros((9, 1)), np.arange(9) % 2, ledger=sys.argv[1]).report()
        print([name for name in sys.modules if name.startswith(("sqlalchemy", "psycopg"))])
    """
    assert interpreter(code, tmp_path / "ledger.db").stdout.strip() == "[]"
