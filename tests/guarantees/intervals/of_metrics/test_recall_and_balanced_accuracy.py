"""Recall and balanced accuracy: reference numbers, and where Hoeffding's interval stays."""

import math

import pytest

from sklearn_ada.guarantees import class_mean_interval, class_mean_size, hoeffding
from sklearn_ada.guarantees.class_tables import counts_are_narrower
from tests.support.rows import reference

CLASSES = reference("recall_balanced")


@pytest.mark.parametrize("row", CLASSES, ids=lambda r: f"{r['case']}-{r['delta']}")
def test_reference_numbers_of_classes_are_met(row):
    rows, hits = ([int(n) for n in row[f"{name}_per_class"].split()] for name in ("rows", "hits"))
    ln_delta = math.log(float(row["delta"]))
    first = class_mean_interval(hits[:1], rows[:1], ln_delta)
    assert first[0] == pytest.approx(float(row["recall_first_class_lower"]), abs=1e-9)
    assert first[1] == pytest.approx(float(row["recall_first_class_upper"]), abs=1e-9)
    low, high = class_mean_interval(hits, rows, ln_delta)
    assert low == pytest.approx(float(row["balanced_lower_cp"]), abs=1e-9)
    assert high == pytest.approx(float(row["balanced_upper_cp"]), abs=1e-9)
    value = float(row["balanced_accuracy"])
    low, high = hoeffding(value, value, class_mean_size(tuple(rows)), ln_delta)
    assert low == pytest.approx(float(row["balanced_lower_hoeffding"]), abs=1e-9)
    assert high == pytest.approx(float(row["balanced_upper_hoeffding"]), abs=1e-9)


def test_hoeffding_stays_where_classes_are_many_and_small():
    assert counts_are_narrower([0.9] * 3, [100, 200, 300], math.log(0.05))
    assert not counts_are_narrower([0.5] * 50, [20] * 50, math.log(0.05))
