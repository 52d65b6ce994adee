"""The table of widths in the documentation: every metric is in it, within what was aimed at."""

import csv

import pytest

from benchmarks.validity.metric_widths import COLUMNS, ROWS, TABLE, measured

SHOWN = list(csv.reader(TABLE.open()))


def test_the_table_has_every_row_and_says_what_was_met():
    head, *rows = SHOWN
    assert head == COLUMNS
    assert [name for name, *_ in rows] == [row.name for row in ROWS]
    for row, (_, normal, before) in zip(ROWS, rows, strict=True):
        assert float(normal) <= row.most
        assert float(before) <= row.most_before


@pytest.mark.thorough
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_table_is_what_is_measured(row):
    shown = next(numbers for name, *numbers in SHOWN if name == row.name)
    again = measured(row, 1000, samples=40, normal=1000, seed=1)
    assert again == pytest.approx([float(number) for number in shown], rel=0.25)
