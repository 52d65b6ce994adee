"""A ledger of format 1 as it was written once: it must be written and read the same for ever.

If a test fails because the format was changed on purpose, the format must change with it, and these
golden files stay, for old ledgers must still be read. `python -m tests.golden.records.make_golden` writes
new ones.
"""

import contextlib
import json
import pathlib
import re
import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sklearn_ada import Holdout
from sklearn_ada.accounting.events import FORMATS
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout.records import read_record
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import SQLiteLedger, canonical_json, chain_hash
from sklearn_ada.terms.policy import Genesis
from tests.golden.records.make_golden import dump
from tests.support.ledger.ledger_backends import Tally
from tests.support.ledgers import begun_as, bodies

FOLDER = pathlib.Path(__file__).parent
DUMP = (FOLDER / "golden_schema_1.sql").read_text()
GOLDEN = json.loads((FOLDER / "golden_schema_1.json").read_text())
GENESIS = GOLDEN["records"][0]["body"]


def opened(path, start=Tally):
    secret = bytes.fromhex(GOLDEN["secret"])
    return SQLiteLedger.create_or_open(path, lambda of_file: GENESIS, start, secret)


@pytest.fixture
def rewritten(tmp_path):
    ledger = opened(tmp_path / "rewritten.db")
    for record in GOLDEN["records"][1:]:
        ledger.charge(record["key"], lambda state, record=record: record["body"])
    return ledger


@pytest.fixture
def old_file(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "old.db")) as db:
        db.executescript(DUMP)
    return tmp_path / "old.db"


def test_the_golden_ledger_is_of_a_format_that_is_read():
    assert GENESIS["schema"] == FORMATS[0] == 1


def test_records_are_chained_by_the_same_hashes():
    digest = ""
    for seq, record in enumerate(GOLDEN["records"]):
        digest = chain_hash(digest, seq, record["key"], canonical_json(record["body"]))
        assert digest == record["hash"]


def test_a_ledger_is_written_as_it_was(rewritten):
    with contextlib.closing(sqlite3.connect(rewritten.path)) as db:
        assert dump(db) == DUMP


def test_an_old_file_is_read_as_it_was(old_file):
    ledger = opened(old_file)
    assert [(r.key, r.body) for r in ledger.records()] == [(r["key"], r["body"]) for r in GOLDEN["records"]]
    assert ledger.secret().hex() == GOLDEN["secret"]


def test_an_old_file_means_what_it_meant(old_file):
    state = opened(old_file, State).read(lambda current: current)
    assert state.account.nats == pytest.approx(GOLDEN["state"]["nats"], rel=1e-12)
    assert (state.asked, state.refused) == (GOLDEN["state"]["asked"], GOLDEN["state"]["refused"])


def test_every_kind_of_record_is_in_the_golden_ledger():
    bodies = [record["body"] for record in GOLDEN["records"][1:]]
    assert {body["kind"] for body in bodies} == {
        "answer", "overlap", "refusal", "round", "selection", "top_up",
    }  # fmt: skip
    verdicts = {body["outcome"]["verdict"] for body in bodies if body["kind"] == "answer"}
    assert verdicts == {"agrees", "differs", "failed", "exact"}


def test_the_answers_of_an_old_file_are_given_again(old_file):
    ledger = opened(old_file, State)
    for record in ledger.records():
        if record.body.get("kind") == "answer":
            answer = read_record(record.body).answer(record, Genesis(ledger.genesis))
            assert answer.verdict == record.body["outcome"]["verdict"]
            assert (answer.cost.nats, answer.repeated) == (record.body["price"], True)


TEXTS = st.text('{ "\\\n1', max_size=4)
RECORDS = st.tuples(st.integers(0, 99), st.none() | TEXTS, TEXTS)


@given(RECORDS, RECORDS)
@example((1, None, "{}"), (1, "", "{}"))
def test_records_that_differ_have_hashes_that_differ(one, other):
    assert (chain_hash("0" * 64, *one) == chain_hash("0" * 64, *other)) == (one == other)


@pytest.mark.parametrize("schema", [0, 2, 7, 99, "1", None, True])
def test_a_ledger_of_an_unknown_format_is_refused_by_its_holdout_and_the_command(old_file, schema):
    text = canonical_json({**GENESIS, "schema": schema})
    digest = chain_hash("", 0, None, text)
    with contextlib.closing(sqlite3.connect(old_file)) as db:
        db.execute("DELETE FROM records WHERE seq > 0")
        db.execute("UPDATE records SET body = ?, hash = ?", (text, digest))
        db.execute("UPDATE head SET count = 1, hash = ?", (digest,))
        db.commit()
    sentence = rf"format {re.escape(repr(schema))}.*formats 1 and 3 and 4 and 5 and 6"
    with pytest.raises(LedgerMismatchError, match=sentence):
        opened(old_file)
    with pytest.raises(LedgerMismatchError, match=sentence):
        SQLiteLedger.open_existing(old_file, State)


@pytest.mark.parametrize("terms", [{}, {"answers": "coarse"}, {"ids": range(40)}, {"class_mix": "priced"}])
@pytest.mark.parametrize("number", FORMATS)
def test_a_ledger_goes_on_in_the_format_in_which_it_was_begun(tmp_path, number, terms):
    X, y = [[float(row)] for row in range(40)], [0, 1] * 20
    with begun_as(number):
        begun = Holdout(X, y, ledger=tmp_path / "a.db", **terms)
    assert bodies(begun)[0]["schema"] == number
    again = Holdout(X, y, ledger=tmp_path / "a.db", **terms)
    assert bodies(again) == bodies(begun)
    assert again._session.policy.format == number
