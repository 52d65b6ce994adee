"""A record's text is one JSON object; single records are found by number; a head tells what it stands for."""

import json
import math

import pytest

from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.ledger import SQLiteLedger, canonical_json
from tests.support.ledger.damages import forget, run
from tests.support.ledger.ledger_backends import Genesis, MemoryBackend, SQLiteBackend, Tally, fill


def test_a_body_is_read_as_it_was_written(ledger):
    body = {"b": [1, 0.1, -1e-300, None, True], "a": {"ä": "\n"}}
    assert json.loads(canonical_json(body)) == ledger.charge("new", lambda state: body).body == body


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_not_written(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"a": number})


def test_the_tail_and_a_record_are_found_without_reading_the_rest(path, ledger):
    forget()
    advanced = []

    class Counted(Tally):
        def advance(self, body):
            advanced.append(body)
            super().advance(body)

    found = SQLiteLedger.open_existing(path, Counted, replay=False)
    assert [record.seq for record in found.tail(2)[1]] == [4, 5]
    assert not advanced


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE records SET body = '{}' WHERE seq = 4",
        "UPDATE records SET key = 'other' WHERE seq = 4",
        "UPDATE records SET hash = 'abc' WHERE seq = 3",
        "DELETE FROM records WHERE seq = 5",
        "DELETE FROM records WHERE seq = 4",
        "UPDATE head SET count = 4",
        "UPDATE head SET count = 9",
        "UPDATE head SET hash = 'abc'",
        "DELETE FROM head",
    ],
)
def test_an_edited_tail_is_damage(path, ledger, edit):
    forget()
    run(path, edit)
    with pytest.raises(LedgerDamagedError):
        SQLiteLedger.open_existing(path, Tally, replay=False).tail(2)


def test_equal_records_have_the_same_head_in_every_kind_of_ledger(tmp_path):
    backends = (SQLiteBackend(str(tmp_path)), MemoryBackend())
    heads = {fill(backend.open(backend.address(), Genesis("c" * 64)), 3).head() for backend in backends}
    assert len(heads) == 1
