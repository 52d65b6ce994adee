"""The page of the published theorems names functions and tests that there are, and forgets no theorem."""

import csv
import re
from pathlib import Path

import pytest

import sklearn_ada
from sklearn_ada import accounting, guarantees, mechanisms

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "theory" / "sources.csv"
FLOORS = [accounting, guarantees, mechanisms]
NUMBERED = {
    "Feldman, Steinke 2017": {
        *("1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.2", "3.3"),
        *("4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "5.1", "5.2", "5.3", "5.4", "A.1", "A.2", "A.3"),
    },
    "Lecture 16": {"0.1", "0.2", "0.3"},
    "Lecture 19": {"1.1", "1.2", "1.3"},
}


def rows():
    with TABLE.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['source']}, {row['theorem']}")
def test_each_theorem_has_functions_a_test_and_a_way_or_a_reason(row):
    for name in row["computed by"].split():
        assert any(name in floor.__all__ for floor in FLOORS), name
    assert row["tested by"]
    for where in row["tested by"].split():
        path, _, test = where.partition("::")
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")
    for name in re.findall(r"`(\w+)", row["through a Holdout"]):
        assert name in sklearn_ada.__all__ or any(name in floor.__all__ for floor in FLOORS), name
    assert row["through a Holdout"]


def test_no_numbered_theorem_is_forgotten():
    for source, numbers in NUMBERED.items():
        named = " ".join(row["theorem"] for row in rows() if row["source"] == source)
        assert numbers <= set(re.findall(r"[\dA]\.\d", named))
