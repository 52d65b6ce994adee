"""``plan`` prints what `plan_holdout` says, in three forms, and refuses bad arguments with status 2."""

import csv
import io
import json

import pytest

from sklearn_ada import plan_holdout
from sklearn_ada.cli import main

ARGUMENTS = ["plan", "--rows", "10000", "--questions", "1000"]


EVERY_FLAG = """plan --rows 5000 --width 0.1 --confidence-level 0.9 --expected-value 0.7 --guess-rows 2000
--surprise-rate 0.01 --subsample-size 50 --grid-size 101"""
OF_VERDICTS = "plan --rows 2000 --questions 32 --verdicts --passes 1 --disagreement 0.1"
PLANS = [
    (ARGUMENTS, {"n": 10_000, "n_questions": 1_000}),
    ([*ARGUMENTS, "--worst-case"], {"n": 10_000, "n_questions": 1_000, "expected_value": None}),
    (
        EVERY_FLAG.split(),
        {"n": 5_000, "width": 0.1, "confidence_level": 0.9, "expected_value": 0.7}
        | {"guess_rows": 2_000, "surprise_rate": 0.01, "subsample_size": 50, "grid_size": 101},
    ),
    (["plan", "--rows", "2000", "--searches", "9"], {"n": 2_000, "searches": 9}),
    (
        ["plan", "--rows", "500", "--searches", "3", "--scoring", "f1", "--positive-share", "0.3"],
        {"n": 500, "searches": 3, "scoring": "f1", "positive_share": 0.3},
    ),
    (
        ["plan", "--rows", "500", "--searches", "3", "--scoring", "r2", "--error-spread", "1"],
        {"n": 500, "searches": 3, "scoring": "r2", "error_spread": 1.0},
    ),
    (
        OF_VERDICTS.split(),
        {"n": 2_000, "n_questions": 32, "verdicts": True, "passes": 1, "disagreement": 0.1},
    ),
]


@pytest.mark.parametrize(
    ("arguments", "given"),
    PLANS,
    ids=["usual", "worst case", "every flag", "searches", "searches by F1", "by R2", "verdicts"],
)
def test_every_flag_reaches_the_plan_that_is_printed(arguments, given, capsys):
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{plan_holdout(**given)!r}\n"
    assert main([*arguments, "--all"]) == 0
    assert capsys.readouterr().out == f"{plan_holdout(**given).to_text(all_methods=True)}\n"


def test_json_has_no_infinities(capsys):
    assert main(["plan", "--rows", "200", "--questions", "1000", "--json"]) == 0
    plan = plan_holdout(n=200, n_questions=1_000)
    body = json.loads(capsys.readouterr().out)
    assert body["recommendation"] == plan.recommendation
    assert body["solved_for"] == "width"
    widths = {row["method"]: row["width"] for row in body["rows"]}
    assert widths["coded checks"] == plan["coded checks"].width
    assert widths["sample splitting"] is None


def test_plan_writes_csv_and_saves_a_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    assert main([*ARGUMENTS, "--csv", "--picture", str(tmp_path / "plan.png")]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    plan = plan_holdout(n=10_000, n_questions=1_000)
    assert [row["method"] for row in rows] == [row.method for row in plan.rows]
    assert [float(row["width"]) for row in rows] == [row.width for row in plan.rows]
    assert (tmp_path / "plan.png").stat().st_size > 10_000


@pytest.fixture
def refused(capsys):
    """A function that returns what is said of arguments that are refused before anything is computed."""

    def complaint(arguments):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
        out, err = capsys.readouterr()
        assert not out
        return " ".join(err.split())

    return complaint


TWO = "--rows 5 --questions 5"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "two of --rows, --questions (or --searches) and --width, and solves for the third. Got none of"),
        ("--rows 5", "Got --rows."),
        (f"{TWO} --width 0.1", "Got --rows, --questions, --width."),
        ("--rows 0 --questions 5", "The --rows parameter of plan_holdout must be"),
        ("--rows many --questions 5", "argument --rows: invalid int value: 'many'"),
        ("--rows 5 --width 0.7", "The --width parameter of plan_holdout must be"),
        (f"{TWO} --surprise-rate 2", "The --surprise-rate parameter"),
        ("--rows 5 --searches 0", "The --searches parameter of plan_holdout must be"),
        ("--searches 5", "Got --searches."),
        (
            "--rows 5 --searches 5 --scoring neg_mean_absolute_error",
            "The --expected-value parameter of plan_holdout must be below 0 where scoring=",
        ),
        ("--rows 5 --searches 5 --questions 5", "None where --questions is given"),
        ("--questions 32 --width 0.1 --passes 1", "must be left out without --verdicts"),
        (f"{TWO} --json --csv", "not allowed with"),
        (f"{TWO} --picture nodir/p.png", "make 'nodir' first"),
        (f"{TWO} --worst-case --expected-value 0.5", "not allowed with"),
    ],
)
def test_bad_arguments_are_refused_with_status_2(arguments, message, refused):
    assert message in refused(["plan", *arguments.split()])


@pytest.mark.parametrize("command", [ARGUMENTS, ["demo"]])
@pytest.mark.parametrize("name", ["plan.xyz", "plan", "png"])
def test_a_picture_of_no_known_kind_is_refused_before_anything_is_computed(command, name, refused):
    pytest.importorskip("matplotlib")
    text = refused([*command, "--picture", name])
    assert "argument --picture: must end in one of ." in text
    assert ", .png, .ps, " in text
    assert f"got {name!r}" in text


def test_a_picture_without_matplotlib_is_refused_before_anything_is_computed(hidden, refused):
    hidden("matplotlib")
    assert "pip install matplotlib" in refused([*ARGUMENTS, "--picture", "plan.png"])


def test_large_widths_are_plain_numbers(capsys):
    arguments = "plan --rows 1000 --searches 3 --scoring neg_mean_absolute_error --expected-value=-250000000"
    assert main(arguments.split()) == 0
    printed = capsys.readouterr().out
    assert "e+" not in printed.replace("about -2.5e+08", "")
    assert ",000,000" in printed
