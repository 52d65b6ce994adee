"""The table of widths of metrics of confusion matrices: every row is there, within what was aimed at."""

import csv

import numpy as np
import pytest

from benchmarks.validity.table_widths import COLUMNS, ROWS, TABLE, ReadsAColumn, measured
from sklearn_ada import Metric

HEAD, *SHOWN = csv.reader(TABLE.open())


def test_the_table_has_every_row_and_says_what_was_met():
    assert HEAD == COLUMNS
    assert [name for name, *_ in SHOWN] == [row.name for row in ROWS]
    for row, (_, now, before) in zip(ROWS, SHOWN, strict=True):
        assert float(now) <= row.most
        assert not before or float(now) <= float(before)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_stands_for_a_scorer_is_that_scorer(row):
    """Its value of a confusion matrix, by which the normal width is measured."""
    table, classes = row.tables(np.random.default_rng(0), 1000, 1), len(row.shares)
    y, predicted = np.divmod(np.repeat(np.arange(classes**2), table.astype(int).ravel()), classes)
    X = np.column_stack((predicted, predicted))
    assert row.score(table)[0] == pytest.approx(Metric(row.scoring).score(ReadsAColumn().fit(X, y), X, y))


@pytest.mark.thorough
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_table_is_what_is_measured(row):
    shown = next(float(now) for name, now, _ in SHOWN if name == row.name)
    assert measured(row, 1000, samples=8, seed=1) == pytest.approx(shown, rel=0.1)
