"""What the README shows, runs."""

import re
from pathlib import Path

import pytest

import sklearn_ada
from sklearn_ada import plan_holdout

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_ten_lines_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 10
    exec(code, {})
    out = capsys.readouterr().out
    assert "all intervals hold together with 95%" in out
    assert (tmp_path / "digits.db").exists()


def test_names_in_the_readme_exist():
    called = set(re.findall(r"\b([A-Z]\w+(?:CV|Scorer))\(", README)) - {"GridSearchCV"}
    assert called
    assert called <= set(sklearn_ada.__all__)


def test_the_table_of_widths_is_what_the_planner_says():
    row = r"^\| (\w+ \w*)[ \w.]* \| ([\d,]+) \| (\d+) \|((?: ±[\d.]+ \|){5})$"
    rows = re.findall(row, README, flags=re.MULTILINE)
    assert len(rows) == 8
    methods = ("one use", "sample splitting", "certify each", "cells, while searching", "cells, published")
    errors = {"scoring": "neg_mean_absolute_error", "expected_value": -1.0}
    asked = {"accuracy of": {}, "AUC of": {"scoring": "roc_auc"}, "absolute error": errors}
    for metric, n, searches, cells in rows:
        plan = plan_holdout(n=int(n.replace(",", "")), searches=int(searches), **asked[metric])
        shown = [float(width) for width in re.findall(r"±([\d.]+)", cells)]
        assert shown == pytest.approx([plan[method].width for method in methods], rel=0.002, abs=5.1e-5)


def test_the_picture_is_there_and_its_counts_are_what_the_readme_claims():
    folder = Path(__file__).parents[2] / "docs" / "_static"
    assert "docs/_static/contrast.svg" in README
    assert (folder / "contrast.svg").exists()
    header, *lines = (folder / "contrast.csv").read_text().splitlines()
    assert header == "candidates,repetitions,naive misses,certified misses,median score"
    cells = [[float(cell) for cell in line.split(",")] for line in lines]
    assert [row[0] for row in cells] == [1, 3, 10, 30, 100, 300, 1000]
    assert all(row[1] == 50 and row[3] <= 6 for row in cells)  # "50 seeds", "and holds"
    assert cells[-1][2] > 40  # "takes no notice of the choice"
