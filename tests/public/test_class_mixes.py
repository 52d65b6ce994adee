"""The tables of the documentation about class mixes are what happens."""

import csv

import pytest

from benchmarks.validity import class_mixes
from benchmarks.validity.class_mixes import METRICS, MIXES, SHARES, WIDTHS, asked, word_of

HEAD, *SHOWN = csv.reader(class_mixes.TARGET_TABLE.open())
WIDTH_HEAD, *WIDTHS_SHOWN = csv.reader(class_mixes.WIDTH_TABLE.open())
SAYS = {"any": (2, 3), "two": (2,), "more": (3,)}


@pytest.mark.parametrize("row", SHOWN, ids=lambda row: f"{row[0]}, {row[1]}")
def test_every_cell_is_what_an_answer_speaks_of_or_why_there_is_none(row, tmp_path):
    name, says, *words = row
    for classes in SAYS[says]:
        for mix, word in zip(MIXES, words, strict=True):
            target, error, nats = asked(name, classes, mix, tmp_path)
            assert word_of(target, error) == word
            if error:
                assert nats < 1e-5  # of a look whether the rows of the guess are the holdout's
                assert error.endswith(".")
                assert "must be" in error
            else:
                assert nats > 0.1


def test_the_table_of_targets_has_every_metric():
    assert HEAD == class_mixes.TARGET_COLUMNS
    assert list(dict.fromkeys(name for name, *_ in SHOWN)) == list(METRICS)
    assert all({"any"} == said or {"two", "more"} == said for said in map(_said_of, METRICS))


def _said_of(name):
    return {row[1] for row in SHOWN if row[0] == name}


def test_the_table_of_widths_has_every_row_and_what_is_paid_for_is_wider():
    assert WIDTH_HEAD == class_mixes.WIDTH_COLUMNS
    assert [name for name, *_ in WIDTHS_SHOWN] == [f"{name}, {share}" for name in WIDTHS for share in SHARES]
    for name, own, same, _, priced, *nats in WIDTHS_SHOWN:
        is_of_two_counts = not name.startswith("accuracy")
        assert (own == same) == is_of_two_counts
        assert 2.0 < float(priced) / float(own) < 3.0
        assert all(7.0 < float(each) < 8.5 for each in (nats if is_of_two_counts else nats[1:2]))


@pytest.mark.thorough
@pytest.mark.parametrize("row", WIDTHS_SHOWN, ids=lambda row: row[0])
def test_the_widths_are_what_is_measured(row):
    metric, _, positives = row[0].partition(", ")
    measured = class_mixes.width_row(metric, positives, samples=3)
    for shown, now in zip(row[1:], measured[1:], strict=True):
        assert float(now) == pytest.approx(float(shown), rel=0.2)
