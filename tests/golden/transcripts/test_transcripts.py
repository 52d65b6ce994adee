"""What two hundred questions to each mechanism are answered, priced and recorded stays as it was.

A record is kept as a hash of its text with all floats cut to eight digits, so that another processor's last
digits do not matter. If a test fails because answers were changed on purpose, ``python -m
tests.golden.transcripts.test_transcripts`` writes the hashes anew, and the message of the commit says what
changed.
"""

import hashlib
import json
import pathlib

import pytest

from tests.golden.transcripts.conversations import CONVERSATIONS, plain_identities, records_of

GOLDEN = pathlib.Path(__file__).with_name("transcripts.json")
QUICK = ("accuracy", "bounded_means", "medians", "privacy", "choices")


def cut(value):
    """Return content for JSON with its floats cut to eight digits."""
    if isinstance(value, float):
        return f"{value:.8g}"
    if isinstance(value, dict):
        return {name: cut(one) for name, one in value.items()}
    return [cut(one) for one in value] if isinstance(value, (list, tuple)) else value


def hashes_of(records):
    """Return a short hash of each record."""
    texts = (json.dumps(cut(record), sort_keys=True) for record in records)
    return [hashlib.sha256(text.encode()).hexdigest()[:8] for text in texts]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.thorough) for name in CONVERSATIONS],
)
def test_a_conversation_goes_as_it_was_recorded(name):
    recorded = json.loads(GOLDEN.read_text())[name].split()
    with plain_identities():
        records = records_of(name)
    for record, then, now in zip(records, recorded, hashes_of(records), strict=False):
        assert now == then, record
    assert len(records) == len(recorded)


def test_every_conversation_is_recorded_and_no_other():
    assert sorted(json.loads(GOLDEN.read_text())) == sorted(CONVERSATIONS)


def test_a_changed_digit_is_seen():
    one = {"nats": 1.2345678, "outcome": {"interval": [0.1, None]}}
    assert hashes_of([one]) == hashes_of([{**one, "nats": 1.23456780001}])
    assert hashes_of([one]) != hashes_of([{**one, "nats": 1.2345679}])
    assert hashes_of([one]) != hashes_of([{**one, "outcome": {"interval": [0.1, 1.0]}}])


def main():
    """Write the hashes of the code as it is."""
    with plain_identities():
        recorded = {name: " ".join(hashes_of(records_of(name))) for name in CONVERSATIONS}
    GOLDEN.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
