"""Every consumer with every object works, refuses with the way that works, or is not applicable."""

import csv
import re

import pytest
import sklearn

from tests.support.consumers.consumers import CONSUMERS, OBJECTS, outcome
from tests.support.consumers.table import CELLS, REASONS, reasons

pytestmark = pytest.mark.thorough

WAYS = r"ReusableHoldoutCV around|certify the tuned model: holdout\.certify|ask='winner'"
NEWEST = (1, 9)


def committed():
    """Return the table of the documentation: cell by consumer and object."""
    with CELLS.open() as file:
        head, *rows = csv.reader(file)
    return {(row[0], kind): cell for row in rows for kind, cell in zip(head[1:], row[1:], strict=True)}


def reasons_told():
    """Return the reasons that the documentation shows, with their consumers."""
    with REASONS.open() as file:
        return {(row["consumer"], row["why"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("consumer", CONSUMERS)
def test_the_table_of_the_documentation_is_what_happens(consumer, kind, tmp_path):
    pytest.importorskip(CONSUMERS[consumer].needs)
    seen, told = outcome(consumer, kind, tmp_path), committed()[consumer, kind]
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    if version >= NEWEST:
        assert seen.cell == told
        assert all((consumer, message) in reasons_told() for message in reasons({kind: seen}))
    else:  # models, and so the number of different ones, vary with the version
        assert seen.kind == told.split(",")[0]
    if seen.kind == "refuses":
        assert re.search(WAYS, seen.message)


def test_the_table_has_a_row_for_every_consumer_and_no_other():
    assert list(committed()) == [(consumer, kind) for consumer in CONSUMERS for kind in OBJECTS]


def test_no_cell_but_the_three_outcomes():
    assert {cell.split(",")[0] for cell in committed().values()} == {"works", "refuses", "not applicable"}
