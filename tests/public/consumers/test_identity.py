"""The table of what happens when something is done to the data is what happens."""

import csv

import pytest

from tests.support.consumers.identity import CHANGES, KINDS, PLACES, TABLE, WORDS, outcome


def committed():
    """Return the table of the documentation: the word by change and column."""
    with TABLE.open() as file:
        return {
            (row[""], column): word for row in csv.DictReader(file) for column, word in row.items() if column
        }


@pytest.mark.thorough
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", CHANGES)
def test_the_table_of_the_documentation_is_what_happens(change, kind, place, tmp_path):
    assert outcome(change, kind, place, str(tmp_path)) == committed()[change, f"{kind}, {place}"]


def test_the_table_has_all_cells_in_the_words_that_it_explains():
    told = committed()
    assert set(told) == {(c, f"{k}, {p}") for c in CHANGES for k in KINDS for p in PLACES}
    assert set(told.values()) <= WORDS


def test_with_ids_no_cell_is_a_silent_fresh_budget():
    for (_, column), word in committed().items():
        if column.startswith("with ids"):
            assert not word.startswith(("cannot", "a fresh"))
            assert word != "own ledger (fold)" or column == "with ids, in cross_validate, None"
