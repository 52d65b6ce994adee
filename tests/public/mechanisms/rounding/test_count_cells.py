"""Cells of counts: reference numbers, and that every count is in exactly one cell."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from sklearn_ada.mechanisms import CountCells, candidate_width, guess_error
from tests.support.rows import each_row_of


@each_row_of("cells", 30)
def test_reference_cells_of_counts_are_met(row):
    n, guess, rows = row["n"], row["guess"], row["guess_rows"]
    cells = CountCells.around(n, guess=guess, guess_rows=rows, width=row["c"])
    assert guess_error(n, guess, rows) == pytest.approx(row["tau_counts"], rel=1e-11)
    assert (cells.width, cells.base) == (row["width_counts"], row["base"])
    assert cells.index(row["count"]) == row["z"]
    assert cells.counts(row["z"]) == (row["cell_low"], row["cell_high"])


def test_one_search_in_fifteen_has_a_candidate_outside_of_its_cell():
    for size in (10, 100, 1000, 10_000):
        assert 2.0 * size * norm.sf(candidate_width(size)) == pytest.approx(1.0 / 15.0)
    widths = [candidate_width(g) for g in range(1, 300)]
    assert widths == sorted(widths)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.data(), st.integers(1, 5000), st.floats(0, 1), st.integers(1, 10**6), st.floats(0.01, 50))
def test_every_count_is_in_one_cell(data, n, guess, rows, width):
    cells = CountCells.around(n, guess=guess, guess_rows=rows, width=width)
    count = data.draw(st.integers(0, n))
    z = cells.index(count)
    first, last = cells.ends(z)
    assert first <= count <= last == first + cells.width - 1
    low, high = cells.counts(z)
    assert max(first, 0) == low <= count <= high == min(last, n)
    assert cells.ends(z + 1)[0] == last + 1
    assert 0.0 <= cells.centre(z) <= 1.0
    assert cells.index(round(n * guess)) in (-1, 0, 1)


def test_the_released_value_of_an_agreeing_answer_is_near_the_guess():
    assert CountCells.around(500, guess=0.8512, guess_rows=1500).centre(0) == pytest.approx(0.8512, abs=1e-3)
    assert CountCells.around(450, guess=1.0, guess_rows=1347).centre(0) == 1.0
