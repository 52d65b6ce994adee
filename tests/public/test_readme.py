"""What README shows, runs, and prints what README says."""

import csv
import re
from pathlib import Path

import pytest

import sklearn_ada
from sklearn_ada import plan_holdout

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
STATIC = ROOT / "docs" / "_static"
NUMBER = re.compile(r"\d*\.\d+")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_ten_lines_print_what_readme_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,), (shown,) = blocks("python"), blocks("text")
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 10
    exec(code, {})
    out = capsys.readouterr().out
    assert NUMBER.sub("#", out) == NUMBER.sub("#", shown)
    numbers = ([float(each) for each in NUMBER.findall(text)] for text in (out, shown))
    # The ends of what is published are drawn from the ledger's secret.
    assert all(abs(now - then) <= (0.002 if then < 1.1 else 0.02) for now, then in zip(*numbers, strict=True))


def test_readme_is_short():
    assert len(README.splitlines()) <= 130


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!http)[^)]+)\)", README))
def test_what_readme_leads_to_is_there(target):
    assert (ROOT / target).exists()


def test_names_in_the_readme_exist():
    called = set(re.findall(r"\b([A-Z]\w+(?:CV|Scorer|Validation|Holdout))\(", README)) - {"GridSearchCV"}
    assert called
    assert called <= set(sklearn_ada.__all__)


def test_the_table_of_widths_is_what_the_planner_says():
    row = r"^\| (\w+ \w*)[ \w.]* \| ([\d,]+) \| (\d+) \|((?: ±[\d.]+ \|){5})$"
    rows = re.findall(row, README, flags=re.MULTILINE)
    assert len(rows) == 4
    methods = ("one use", "sample splitting", "certify each", "cells, while searching", "cells, published")
    errors = {"scoring": "neg_mean_absolute_error", "expected_value": -1.0}
    asked = {"accuracy of": {}, "AUC of": {"scoring": "roc_auc"}, "absolute error": errors}
    for metric, n, searches, cells in rows:
        plan = plan_holdout(n=int(n.replace(",", "")), searches=int(searches), **asked[metric])
        shown = [float(width) for width in re.findall(r"±([\d.]+)", cells)]
        assert shown == pytest.approx([plan[method].width for method in methods], rel=0.002, abs=5.1e-5)


def test_the_first_picture_is_what_the_planner_says():
    assert (STATIC / "widths.svg").exists()
    with (STATIC / "widths.csv").open() as file:
        (_, *names), *lines = csv.reader(file)
    assert names == ["new rows for each search", "sklearn_ada, while searching", "sklearn_ada, published"]
    for searches, *points in lines:
        plan = plan_holdout(n=2_000, searches=int(searches))
        methods = ("sample splitting", "cells, while searching", "cells, published")
        assert points == [f"{plan[method].width:.4f}" for method in methods]
    for name in (0, -1):  # as its description says
        assert all(f"{float(point):.2g}"[1:] in README for point in lines[name][1:])


def test_the_second_picture_is_there_and_its_counts_are_what_the_readme_claims():
    assert "docs/_static/contrast.svg" in README
    assert (STATIC / "contrast.svg").exists()
    header, *lines = (STATIC / "contrast.csv").read_text().splitlines()
    assert header == "candidates,repetitions,naive misses,certified misses,median score"
    cells = [[float(cell) for cell in line.split(",")] for line in lines]
    assert [row[0] for row in cells] == [1, 3, 10, 30, 100, 300, 1000]
    assert all(row[1] == 50 and row[3] <= 6 for row in cells)  # "50 times", "allows for it"
    assert cells[-1][2] > 40  # "takes no notice of the choice"
