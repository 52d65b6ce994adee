"""Rows that many tests need, and tables of reference numbers."""

import csv
from pathlib import Path

import numpy as np

__all__ = ["coin_flips", "reference"]

REFERENCE = Path(__file__).parents[1] / "reference"


def reference(name):
    """Return the rows of a table of reference numbers, as dicts of text."""
    with open(REFERENCE / f"{name}.csv", newline="") as lines:
        return list(csv.DictReader(lines))


def coin_flips(size=400):
    """Return rows whose labels are coin flips: questions differ, and scores are close to the worst guess."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(size, 4)), rng.integers(0, 2, size)
