"""The server's log of statements, all parameters in it, and the logs and tracebacks of whoever asks."""

import contextlib
import hashlib
import hmac
import io
import logging
import re
import sqlite3
import traceback
import uuid

import psycopg
import pytest

from sklearn_ada.exceptions import LedgerError
from sklearn_ada.ledger import sql_session
from tests.support.holdout.asking.sealed.counts import ask, holdout_of
from tests.support.ledger.ledger_backends import PostgreSQLBackend

COUNTS = [425, 430, 417]
EVERYTHING = ["log_statement = 'all'", "log_min_duration_statement = 0", "log_parameter_max_length = -1"]


@pytest.fixture
def logged(postgresql):
    """Return a function that returns what the server has logged since the test began."""
    backend, log = PostgreSQLBackend(postgresql), postgresql.folder / "log"
    for setting in EVERYTHING:
        backend.run(f"ALTER DATABASE postgres SET {setting}", "")
    begin = log.stat().st_size

    def text():
        return log.read_bytes()[begin:].decode(errors="replace")

    yield text
    for setting in EVERYTHING:
        backend.run(f"ALTER DATABASE postgres RESET {setting.partition(' ')[0]}", "")


def conversation(address, **policy):
    """Ask, seal, ask again and refuse; return the holdout and the records that seal a count."""
    holdout = holdout_of(500, address, **policy)
    for count in COUNTS:
        ask(holdout, count, 0.8512, name=str(count))
    ask(holdout, COUNTS[0], 0.8512, name=str(COUNTS[0]))
    holdout.report()
    return holdout, [record for record in holdout.ledger.records() if "sealed" in record.body]


def counts_from(text, holdout, sealed):
    """Return what the counts would be under each 32 octets of a text, taken for the secret."""
    found, fingerprint = set(), holdout.ledger.genesis["fingerprint"]
    for octets in set(re.findall(r"[0-9a-f]{64}", text)):
        for record in sealed:
            context = f"sealed {fingerprint} {record.key}".encode()
            pad = hmac.new(bytes.fromhex(octets), context, hashlib.sha256).digest()
            count = bytes(a ^ b for a, b in zip(bytes.fromhex(record.body["sealed"]), pad, strict=False))
            found.add(int.from_bytes(count, "big", signed=True))
    return found


def insert_openly(self, book, secret, digest):
    self.run(sql_session.books.insert().values(book=book, secret=secret, count=1, hash=digest))


@pytest.mark.parametrize("openly", [False, True], ids=["hidden", "sent as it is"])
@pytest.mark.parametrize("policy", [{}, {"random_state": 7}], ids=["drawn", "given"])
def test_no_sealed_count_can_be_computed_from_a_log_of_all_statements(
    postgresql, logged, monkeypatch, openly, policy
):
    if openly:
        monkeypatch.setattr(sql_session.ServerSession, "insert_book", insert_openly)
    holdout, sealed = conversation(postgresql.url(uuid.uuid4().hex), **policy)
    text = logged()
    assert len(sealed) == len(COUNTS)
    assert all(record.body["sealed"] in text for record in sealed)  # it is a log of all
    assert (holdout.ledger.secret().hex() in text) == openly
    assert counts_from(text, holdout, sealed).issuperset(COUNTS) == openly
    assert openly or not counts_from(text, holdout, sealed) & set(COUNTS)


def texts_of(secret):
    return [secret.hex(), repr(bytes(secret)), repr(bytes(secret))[2:-1]]


def test_loggers_of_the_database_library_print_no_rows(postgresql, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(stream)])
    loggers = [logging.getLogger(), *map(logging.getLogger, list(logging.root.manager.loggerDict))]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    try:
        holdout, sealed = conversation(postgresql.url(uuid.uuid4().hex))
        secret = holdout.ledger.secret()
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
    text = stream.getvalue()
    assert not any(shown in text for shown in (*texts_of(secret), sealed[0].body["sealed"]))


@pytest.mark.parametrize("where", ["a file", "a database"])
def test_local_variables_of_a_traceback_show_no_secret(request, tmp_path, where):
    """As pytest and services that collect errors print them."""
    address = tmp_path / "ledger.db"
    if where == "a database":
        address = request.getfixturevalue("postgresql").url(uuid.uuid4().hex)
    secret = holdout_of(500, address).ledger.secret()
    errors = [
        lambda: holdout_of(500, address, tolerance=0.1),
        lambda: holdout_of(400, address),
        lambda: holdout_of(500, address).ledger.charge("k", lambda state: 1 / 0),
    ]
    for body in ("replace(body, '\"schema\":', '\"schema\":9')", "'[1]'"):  # of a later format, and no record
        errors.append(lambda body=body: (edit_genesis(address, body), holdout_of(500, address)))
    for task in errors:
        with pytest.raises((LedgerError, ZeroDivisionError)) as caught:
            task()
        text = "".join(map(safe_repr, locals_of(caught.value)))
        assert "Secret(...)" in text
        assert not any(each in text for each in texts_of(secret))


def edit_genesis(address, body):
    if isinstance(address, str):
        statement = f"UPDATE sklearn_ada_records SET body = {body} WHERE seq = 0 AND book = %s"
        with psycopg.connect(address.partition("?")[0], autocommit=True) as db:
            db.execute(statement, [address.partition("book=")[2]])
    else:
        with contextlib.closing(sqlite3.connect(address, isolation_level=None)) as db:
            db.execute(f"UPDATE records SET body = {body} WHERE seq = 0")


def locals_of(error):
    """Yield the local variables of all frames of an error's traceback, and of those before it."""
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            yield from frame.f_locals.values()
        error = error.__context__


def safe_repr(value):
    try:
        return repr(value)
    except Exception:  # of what is half made
        return ""
