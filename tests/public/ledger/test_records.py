"""A record's text is one JSON object and nothing else."""

import json
import math

import pytest

from sklearn_ada.exceptions import LedgerError
from sklearn_ada.ledger import canonical_json
from tests.support.ledger.damages import forget, opened, run


def test_a_body_is_read_as_it_was_written(ledger):
    body = {"b": [1, 0.1, -1e-300, None, True], "a": {"ä": "\n"}}
    assert json.loads(canonical_json(body)) == ledger.charge("new", lambda state: body).body == body


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_not_written(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"a": number})


@pytest.mark.parametrize("text", ["", " ", '{"a":', '{"a":1}x', '{"a":1}{}', "[1]", "1", b"{}"])
def test_anything_else_is_damage(path, ledger, text):
    run(path, ("UPDATE records SET body = ? WHERE seq = 2", (text,)))
    with pytest.raises(LedgerError, match="the file was damaged"):
        list(ledger.records())
    forget()
    with pytest.raises(LedgerError, match="the file was damaged"):
        opened(path)
