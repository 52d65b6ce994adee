"""The commands print what they promise and say so when they cannot."""

import re

import pytest

from sklearn_ada.cli import main
from sklearn_ada.cli.commands import _draw, contrasts


@pytest.mark.thorough
def test_demo_says_what_its_tables_show_and_which_number_to_report(tmp_path, capsys):
    assert main(["demo", "--candidates", "25", "--picture", str(tmp_path / "demo.png")]) == 0
    out, err = capsys.readouterr()
    assert "search 3 of 3" in err
    assert out.startswith("The demo takes one to three minutes")
    number = r"(\.\d+|1\.0+)"
    rows = re.findall(rf"\d  {number}\s+\[{number}, {number}\]\s+(\S+)$", out, flags=re.MULTILINE)
    assert len(rows) == 3
    for cv, low, high, nats in (map(float, row) for row in rows):
        assert low <= cv <= high
        assert nats < 0.1  # a coarse interval costs next to nothing
    assert "CV is the cross-validation score of each search" in out
    final = re.search(rf"published: {number} in \[{number}, {number}\], for (\S+) nats", out)
    value, low, high, nats = map(float, final.groups())
    assert low <= value <= high
    assert nats > 1.0
    assert high - low < min(float(high) - float(low) for _, low, high, _ in rows)
    assert "That is the number to report" in out
    misses = re.findall(r"^ +(\d+) +0\.\d{3} +(\d+) of 100 +(\d+) of 100$", out, flags=re.MULTILINE)
    assert [int(tried) for tried, *_ in misses] == [1, 10, 25]
    assert int(misses[-1][1]) >= 20
    assert all(int(ours) <= 5 for *_, ours in misses)
    assert (tmp_path / "demo.png").stat().st_size > 10_000


def test_the_contrast_is_one_choice_with_two_intervals():
    runs = list(contrasts(60, 4))
    assert all(run.certified_score == pytest.approx(run.naive_score) for run in runs)
    assert any(run.naive_misses for run in runs)
    for run in runs:
        assert run.certified_interval[0] <= 0.5 <= run.certified_interval[1]
        assert not run.certified_misses
        assert run.certified_interval[0] < run.naive_interval[0]  # it allows for the choice


def test_demo_says_how_to_get_a_picture_without_matplotlib(hidden, capsys):
    hidden("matplotlib")
    _draw({}, None, {}, "unused.png")
    assert "pip install matplotlib" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("--candidates", "0", "argument --candidates: must be at least 1, got 0"),
        ("--candidates", "-3", "argument --candidates: must be at least 1, got -3"),
        ("--candidates", "few", "argument --candidates: invalid count value: 'few'"),
        ("--picture", "nodir/demo.png", "argument --picture: must be in a folder that exists"),
    ],
)
def test_demo_refuses_bad_arguments_before_it_computes(flag, value, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["demo", flag, value])
    out, err = capsys.readouterr()
    assert not out
    assert message in " ".join(err.split())
