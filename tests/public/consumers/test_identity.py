"""The table of what happens when something is done to the data is what happens."""

import pytest

from tests.support.consumers.identity import CHANGES, KINDS, PLACES, TABLE, WORDS, outcome
from tests.support.consumers.table import read


def committed():
    """Return the table of the documentation: the word by change and column."""
    return {(row[""], column): row[column] for row in read(TABLE) for column in row if column}


@pytest.mark.thorough
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", CHANGES)
def test_every_cell_of_the_documented_table_is_what_happens(change, kind, place, tmp_path):
    assert outcome(change, kind, place, str(tmp_path)) == committed()[change, f"{kind}, {place}"]


def test_the_table_has_all_cells_in_its_words_and_with_ids_none_is_a_silent_fresh_budget():
    table = committed()
    assert set(table) == {(c, f"{k}, {p}") for c in CHANGES for k in KINDS for p in PLACES}
    assert set(table.values()) <= WORDS
    with_ids = {(column, word) for (_, column), word in table.items() if column.startswith("with ids")}
    assert not [word for _, word in with_ids if word.startswith(("cannot", "a fresh"))]
    folds = {column for column, word in with_ids if word == "own ledger (fold)"}
    assert folds <= {"with ids, in cross_validate, None"}
