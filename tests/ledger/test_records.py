"""A record's text is one JSON object and nothing else."""

import math

import pytest

from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.ledger import canonical_json
from sklearn_ada.ledger.hash_chain import parse_json


def test_a_body_is_read_as_it_was_written():
    body = {"b": [1, 0.1, -1e-300, None, True], "a": {"ä": "\n"}}
    assert parse_json(canonical_json(body)) == body


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_not_written(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"a": number})


@pytest.mark.parametrize("text", ["", " ", '{"a":', '{"a":1}x', '{"a":1}{}', "[1]", "1", None, b"{}"])
def test_anything_else_is_damage(text):
    with pytest.raises(LedgerDamagedError, match="the file was damaged"):
        parse_json(text)
