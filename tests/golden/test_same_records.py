"""Fixed sessions write the records that they wrote in the first release, byte for byte but for last digits.

If records were changed on purpose, ``python -m tests.golden.test_same_records`` writes them anew, and the
message of the commit says what changed.
"""

import lzma
import pathlib
import re
from itertools import zip_longest

import pytest
import sklearn

from tests.support.processes import interpreter

SCRIPT = pathlib.Path(__file__).with_name("same_records.py")
GOLDEN = SCRIPT.with_name("same_records.jsonl.xz")
QUICK = (
    "metrics_of_words", "answers_of_each_kind", "values_sealed_with_a_key", "rows_with_ids", "rows_added",
    "searches_of_one_holdout", "predictions", "ledgers",
)  # fmt: skip
MADE_WITH = "1.9"  # of scikit-learn, on which digests of models depend, and what is drawn by them
DIGESTS = re.compile(r'"(key|model|round|said|sealed|subject)": "[^"]*"|\b[0-9a-f]{6}\b')
SAME_VERSION = sklearn.__version__.startswith(f"{MADE_WITH}.")


def sessions_of(text):
    """Return the lines of each session by its name; for other versions, without digests of models."""
    text, found = text if SAME_VERSION else DIGESTS.sub("", text), {}
    for line in text.splitlines():
        if line.startswith('{"session": '):
            lines = found[line.split('"')[3]] = []
        else:
            lines.append(line)
    return found


def printed(*sessions):
    """Return what the script prints, in a process of its own: it replaces what is random for good."""
    return interpreter(SCRIPT, "--portable", *sessions, timeout=900).stdout


def recorded():
    return sessions_of(lzma.decompress(GOLDEN.read_bytes()).decode())


def first_difference(sessions):
    """Return the first pair of lines, as recorded and as written now, that differ."""
    then, now = recorded(), sessions_of(printed(*sessions))
    for name in sessions:
        for pair in zip_longest(then[name], now[name]):
            if pair[0] != pair[1]:
                return name, *pair
    return None


def test_quick_sessions_write_the_records_that_they_wrote():
    pytest.importorskip("cryptography")
    drawn = () if SAME_VERSION else ("rows_added",)  # there is noise in it
    assert first_difference([name for name in QUICK if name not in drawn]) is None


@pytest.mark.thorough
@pytest.mark.skipif(not SAME_VERSION, reason="what is drawn depends on digests of models")
def test_all_other_sessions_write_the_records_that_they_wrote():
    assert first_difference([name for name in recorded() if name not in QUICK]) is None


def main():
    """Write the records of the code as it is."""
    GOLDEN.write_bytes(lzma.compress(printed().encode(), preset=9))


if __name__ == "__main__":
    main()
