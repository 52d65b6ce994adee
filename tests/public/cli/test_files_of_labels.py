"""``ask`` reads files as people write them: without a line of names, or with numbers written otherwise."""

import functools
import json
import re

import numpy as np
import pytest

from sklearn_ada.cli import main
from sklearn_ada.terms.policy import Policy

N = 60
RIGHT = 54


@pytest.fixture
def asked(tmp_path, monkeypatch, capsys):
    """A function that asks about two files, by their lines, and returns what is printed and the status."""
    monkeypatch.chdir(tmp_path)

    def ask(labels, predicted, *flags):
        for name, lines in (("y.csv", labels), ("p.csv", predicted)):
            (tmp_path / name).write_text("\n".join(lines) + "\n")
        files = ["--predictions", "p.csv", "--data", "y.csv", "--ledger", "a.db"]
        try:
            status = main(["ask", *files, "--guess", ".9", "--certify", *flags])
        except SystemExit as ended:
            status = ended.code
        out, err = capsys.readouterr()
        assert (status == 2) == ("error" in err)
        return out + err

    return ask


def column(*words, name=None, wrong=0):
    """Return the lines of a column of a few words, in turn; the first rows may be wrong."""
    cells = [words[(row + (row < wrong)) % len(words)] for row in range(N)]
    return cells if name is None else [name, *cells]


def two(first, second, name="y", wrong=0):
    return column(first, second, name=name, wrong=wrong)


@pytest.mark.parametrize(
    ("labels", "predicted", "message"),
    [
        (
            two("cat", "dog", None),
            two("cat", "dog", "p"),
            "'y.csv' lacks a line of names: its first line is 'cat'",
        ),
        (
            two("cat", "dog"),
            two("cat", "dog", None),
            "'p.csv' lacks a line of names: its first line is 'cat'",
        ),
        (two("0", "1", None), two("0", "1", "p"), "'y.csv' .* '0', which is a label"),
        (["7", *two("0", "1", None)], two("0", "1", "p"), "'7', which is a value"),
        (["-1.5e+00", *two("0", "1", None)], two("0", "1", "p"), "'-1.5e[+]00', which is a value"),
        (["2024-01-31T00:00:00Z", *two("a", "b", None)], two("a", "b", "p"), "'2024-01-31T00:00:00Z'"),
        (["31.12.2024", *two("a", "b", None)], two("a", "b", "p"), "'31.12.2024', which is a value"),
        (["nan", *two("a", "b", None)], two("a", "b", "p"), "'nan', which is a value"),
        (["rare", *two("a", "b", None)], ["p", "rare", *two("a", "b", None)[1:]], "'y.csv' .* 'rare'"),
        (["y", "rare", *two("a", "b", None)[1:]], ["rare", *two("a", "b", None)], "'p.csv' .* 'rare'"),
        (["", *two("a", "b", None)], two("a", "b", "p"), "'y.csv'"),
    ],
)
def test_a_file_without_a_line_of_names_is_refused(asked, labels, predicted, message):
    text = asked(labels, predicted)
    assert re.search(message, text), text
    assert "--label-column" in text or "--prediction-column" in text or "first line" in text


def test_a_class_that_nobody_has_is_no_name_of_a_column(asked):
    text = asked(["rare", *two("a", "b", None)], two("a", "b", "p"), "--class", "rare")
    assert "'rare', which is a label" in text


@pytest.mark.parametrize("name", ["cat", "1", "2024-01-31", "nan"])
def test_a_name_that_looks_like_a_value_can_be_given(asked, name):
    lines = two("cat", "dog", name)
    assert asked(lines, lines, "--label-column", name, "--prediction-column", name).startswith(
        "holdout: 1.000 in ["
    )


@pytest.mark.parametrize("name", ["y", "Cat", "y2", "T1", "class 1", "e", "Größe"])
def test_names_are_no_values(asked, name):
    assert asked(two("cat", "dog", name), two("cat", "dog", "p")).startswith("holdout: 1.000 in [")


@pytest.mark.parametrize(
    ("labels", "predicted"),
    [
        (("0", "1"), ("0.0", "1.0")),
        (("0", "1"), ("0.000000000000000000e+00", "1.000000000000000000e+00")),
        (("0", "1"), ("0.", " 1")),
        (("0", "1"), ("-0.0", "+1")),
        (("-1", "100"), ("-1.00", "1e2")),
        (("0.0", "1.0"), ("0", "1")),
        (("0.0", "1.0"), ("0.00", "1.00")),
        (("0", "other"), ("0.0", "other")),
    ],
)
def test_a_prediction_is_a_label_if_both_are_one_number(asked, labels, predicted):
    text = asked(two(*labels), two(*predicted, wrong=N - RIGHT))
    assert text.startswith("holdout: .90 in [")


@pytest.mark.parametrize(
    ("labels", "predicted", "message"),
    [
        (
            ("0", "1"),
            ("0", "0.5"),
            "'p.csv' holds '0.5' as the prediction of row 2, .* of 'y.csv' are whole numbers",
        ),
        (("0", "1"), ("no", "1"), "'p.csv' holds 'no' as the prediction of row 1"),
        (("0", "1"), ("False", "True"), "'p.csv' holds 'False' as the prediction of row 1"),
        (("7", "8"), ("007", "8"), "'p.csv' holds '007' as the prediction of row 1"),
        (
            ("cat", "dog"),
            ("0", "1"),
            "'p.csv' holds 0 as the prediction of row 1, .* are texts, such as 'cat'",
        ),
        (("0", "1"), ("0.0", "2.0"), "1 other label: 2"),
        (("0.0", "1.0"), ("0", "2"), "1 other label: 2"),
    ],
)
def test_other_predictions_are_refused_by_file_row_and_value(asked, labels, predicted, message):
    text = asked(two(*labels), two(*predicted))
    assert re.search(message, text), text
    assert "<U" not in text


def test_predictions_of_arrays_are_labels_likewise(asked, tmp_path):
    np.save(tmp_path / "p.npy", np.arange(N) % 2 * 1.0)
    assert asked(two("0.0", "1.0"), [], "--predictions", "p.npy").startswith("holdout: 1.000 in [")


@pytest.mark.parametrize("again", [("0.0", "1.0"), ("0.", "1e0"), ("+0", " 1")])
def test_labels_that_are_the_same_numbers_are_the_same_holdout(asked, again):
    predicted = two("0", "1", wrong=N - RIGHT)
    first = asked(two("0", "1"), predicted, "--json", "--class", "2")
    texts = [first, asked(two(*again), predicted, "--json", "--class", "2.0")]
    answers = [json.JSONDecoder().raw_decode(text[text.index("{") :])[0] for text in texts]
    assert [answer["repeated"] for answer in answers] == [False, True]
    assert answers[0]["index"] == answers[1]["index"]


def test_a_ledger_of_an_older_format_knows_labels_as_they_are_written(asked, monkeypatch):
    lines = two("0.0", "1.0")
    with monkeypatch.context() as patched:
        patched.setattr("sklearn_ada.holdout.holdout.Policy", functools.partial(Policy, format=1))
        patched.setattr("sklearn_ada.cli.predicted.whole_labels", np.array)  # as it was
        assert asked(lines, lines).startswith("holdout: 1.000 in [")
    assert asked(lines, lines).startswith("holdout: 1.000 in [")
