"""Every consumer with every object works, refuses with the way that works, or is not applicable."""

import re

import pytest
import sklearn

from tests.support.consumers.consumers import CONSUMERS, OBJECTS, outcome
from tests.support.consumers.table import CELLS, REASONS, read, reasons

WAYS = r"ReusableHoldoutCV around|certify the tuned model: holdout\.certify|ask='winner'"
IS_NEWEST = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 9)


def committed():
    """Return the table of the documentation: cell by consumer and object."""
    return {(row[""], kind): row[kind] for row in read(CELLS) for kind in row if kind}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("consumer", CONSUMERS)
def test_every_cell_of_the_documented_table_is_what_happens(consumer, kind, tmp_path):
    pytest.importorskip(CONSUMERS[consumer].needs)
    seen, cell = outcome(consumer, kind, tmp_path), committed()[consumer, kind]
    if IS_NEWEST:
        assert seen.cell == cell
        shown = {(row["consumer"], row["why"]) for row in read(REASONS)}
        assert shown >= {(consumer, why) for why in reasons({kind: seen})}
    else:  # models, and so the number of different ones, vary with the version
        assert seen.kind == cell.split(",")[0]
    if seen.kind == "refuses":
        assert re.search(WAYS, seen.message)


@pytest.mark.thorough
def test_the_table_has_a_row_for_every_consumer_in_the_three_outcomes():
    assert list(committed()) == [(consumer, kind) for consumer in CONSUMERS for kind in OBJECTS]
    assert {cell.split(",")[0] for cell in committed().values()} == {"works", "refuses", "not applicable"}
