"""Rows that many tests need, and tables of reference numbers."""

import csv
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

__all__ = ["coin_flips", "each_row_of", "numbered", "numbers_of", "reference"]

REFERENCE = Path(__file__).parents[1] / "golden" / "reference"


def reference(name):
    """Return the rows of a table of reference numbers, as dicts of text."""
    with open(REFERENCE / f"{name}.csv", newline="") as lines:
        return list(csv.DictReader(lines))


def numbers_of(row):
    """Return a row of a table with numbers where its text is one."""
    found = dict(row)
    for name, text in row.items():
        for kind in (float, int):
            with suppress(ValueError):
                found[name] = kind(text)
    return found


def each_row_of(name, size):
    """Parametrise a test by the rows of a table of reference numbers, which has so many."""
    rows = [numbers_of(row) for row in reference(name)]
    assert len(rows) == size
    return pytest.mark.parametrize("row", rows, ids=lambda row: "-".join(map(str, row.values()))[:50])


def coin_flips(size=400):
    """Return rows whose labels are coin flips: questions differ, and scores are close to the worst guess."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(size, 4)), rng.integers(0, 2, size)


def numbered(y):
    """Return rows that hold their number and their label, and the labels."""
    return np.c_[np.arange(len(y)), y].astype(float), y
