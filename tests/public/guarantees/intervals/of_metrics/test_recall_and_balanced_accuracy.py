"""Recall and balanced accuracy: reference numbers, and where Hoeffding's interval stays."""

import math

import numpy as np
import pytest

from sklearn_ada.guarantees import class_mean_interval, class_mean_size, hoeffding
from sklearn_ada.metrics import Foreseen, Metric
from tests.support.rows import each_row_of


@each_row_of("recall_balanced", 30)
def test_reference_numbers_of_classes_are_met(row):
    rows, hits = ([int(n) for n in str(row[f"{name}_per_class"]).split()] for name in ("rows", "hits"))
    ln_delta, value = math.log(row["delta"]), row["balanced_accuracy"]
    found = {
        "recall_first_class_{}": class_mean_interval(hits[:1], rows[:1], ln_delta),
        "balanced_{}_cp": class_mean_interval(hits, rows, ln_delta),
        "balanced_{}_hoeffding": hoeffding(value, value, class_mean_size(tuple(rows)), ln_delta),
    }
    for name, ends in found.items():
        expected = row[name.format("lower")], row[name.format("upper")]
        assert ends == pytest.approx(expected, abs=1e-9)


def test_hoeffding_stays_where_classes_are_many_and_small():
    for recall, rows, has_counts in ((0.9, [100, 200, 300], True), (0.5, [20] * 50, False)):
        foreseen = Foreseen(
            recall, 0.3, 0.1, np.repeat(np.arange(len(rows)), rows), False, math.log(0.05), {}
        )
        assert (
            Metric("balanced_accuracy").certified_measure.rows_interval(foreseen) is not None
        ) == has_counts
