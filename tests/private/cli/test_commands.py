"""The commands print what they promise and say so when they cannot."""

import re

import pytest

from sklearn_ada.cli import main
from sklearn_ada.cli.commands import _draw, contrasts


@pytest.mark.thorough
def test_demo_prints_both_tables_and_says_whether_chance_is_covered(tmp_path, capsys):
    assert main(["demo", "--candidates", "25", "--picture", str(tmp_path / "demo.png")]) == 0
    out, err = capsys.readouterr()
    rows = [line for line in out.splitlines() if re.search(r"\[\d\.\d{3}, \d\.\d{3}\]\s+\d+(\.\d+)?$", line)]
    assert len(rows) == 4
    assert out.count("interval: of the population accuracy at the holdout's class mix\n") == 2  # one a table
    assert "contains 0.500" in out or "MISSES 0.500" in out
    assert "best score on a plain holdout after so many candidates" in out
    assert "That is the number to report" in out
    assert "search 3 of 3" in err
    misses = dict(re.findall(r"^(plain holdout|sklearn_ada)\s+(\d+) of 100", out, flags=re.MULTILINE))
    assert int(misses["plain holdout"]) >= 20
    assert int(misses["sklearn_ada"]) <= 5
    assert (
        max(float(row.split()[-1]) for row in rows[:3]) < 0.1
    )  # a search as it comes gets a cell, which costs next to nothing
    published = re.search(r"is published: .*: (\S+) in \[(\S+), (\S+)\], for (\S+) nats", out)
    value, low, high, nats = map(float, published.groups())
    assert low <= value <= high
    assert nats > 1.0
    cells = re.findall(r"\[(0\.\d+), (\d\.\d+)\]", "\n".join(rows[:3]))
    assert high - low < min(float(high) - float(low) for low, high in cells)  # narrower than any cell


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
    _draw([], [], "unused.png")
    assert "sklearn-ada[plot]" in capsys.readouterr().out


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
