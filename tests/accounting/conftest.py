import csv
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[1] / "reference"


@pytest.fixture
def reference():
    """Return the rows of a table of reference numbers, as dicts of floats."""

    def read(name):
        with open(REFERENCE / name, newline="") as lines:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]

    return read
