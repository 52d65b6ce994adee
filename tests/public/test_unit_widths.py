"""The table of widths of areas, and of rows with weights or groups: every row is there, as was aimed at."""

import csv

import numpy as np
import pytest

from benchmarks.validity.unit_widths import COLUMNS, ROWS, TABLE, Numbers, Scores, measured

HEAD, *SHOWN = csv.reader(TABLE.open())


def test_the_table_has_every_row_and_says_what_was_met():
    assert HEAD == COLUMNS
    assert [name for name, *_ in SHOWN] == [row.name for row in ROWS]
    for row, (_, now, before) in zip(ROWS, SHOWN, strict=True):
        assert float(now) <= row.most
        assert not before or float(now) <= float(before)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_rows_move_a_metric_by_is_its_derivative(row):
    """By which the normal width is measured: of the metric's own function, in the weights of the rows."""
    rng = np.random.default_rng(0)
    (X, y), units = row.drawn(rng), row.units(rng)
    model = (Numbers() if len(row.counts) == 1 else Scores()).fit(X, y)
    weight, direction = units.get("sample_weight", np.ones(len(y))), rng.standard_normal(len(y))
    scores = [
        abs(row.metric.score(model, X, y, sample_weight=weight * (1.0 + step * direction)))
        for step in (-1e-5, 1e-5)
    ]
    assert (scores[1] - scores[0]) / 2e-5 == pytest.approx(row.away(X, y, weight) @ direction, rel=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_table_is_what_is_measured(row):
    shown = next(float(now) for name, now, _ in SHOWN if name == row.name)
    assert measured(row, samples=20, seed=1) == pytest.approx(shown, rel=0.15)
