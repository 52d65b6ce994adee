"""What README shows, runs, and prints what README says."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

import sklearn_ada
from benchmarks.validity.figures.results import load
from benchmarks.validity.searches import draw, published, single_use
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import ReusableHoldoutCV, plan_holdout
from sklearn_ada.questions.question import Guess

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
    assert "docs/results/random_labels.svg" in README
    result = load("random_labels")["result"]
    runs, text = result["runs"], " ".join(README.split())
    assert f"best of {result['after'][-1]:,} was chosen" in text
    assert f"missed the truth in {result['plain']['missed'][-1]} of {runs} runs" in text
    assert f"missed it in {result['ours']['missed'][-1]} of {runs} runs" in text
    assert f"missed it in {result['once']['missed'][-1]}." in text


def test_how_much_wider_a_published_interval_is_after_twenty_searches_is_what_was_computed():
    """README says the median and nine runs of ten, which were measured; forecasts of means lie between."""
    with (STATIC / "widths.csv").open() as file:
        rows = {int(row["searches"]): row for row in csv.DictReader(file)}
    for line in ("sklearn_ada, while searching", "sklearn_ada, published"):
        assert 1.15 <= float(rows[20][line]) / float(rows[1][line]) <= 1.25
    for n, widths in load("search_sequences")["result"]["widths"].items():
        assert 0.9 <= widths["ours, published"][-1] <= 1.2, n
        first, last = widths["ours, while searching"][0], widths["ours, while searching"][-1]
        assert 1.1 <= last / first <= 1.25, n
    text, measured = " ".join(README.split()), load("metric_searches")["result"]
    many, after = measured["accuracy"], measured["many"].index(20)
    assert f"is {many['median'][after]:.2f} times as wide in the median" in text
    assert 1.8 < many["9 of 10"][after] < 2.2
    assert "in one run of ten twice" in text


@pytest.mark.parametrize(("n", "optimism", "times"), [(500, 0.02, 2), (2_000, 0.1, 6)])
def test_how_much_wider_it_is_where_cross_validation_is_too_good(n, optimism, times):
    assert "if CV is too good by .02 to .1 each time, as with leaks, two to six times" in " ".join(
        README.split()
    )
    ratios = []
    for seed in range(6):
        guesses, counts = draw(n, seed)
        holdout = SimulatedHoldout.of_counts(n, answers="coarse")
        for guess, count in zip(guesses, counts, strict=True):
            holdout.ask_count(int(count), "certify", Guess(min(guess + optimism, 0.999), 3.0 * n))
        last = int(counts[-1])
        ratios.append(published(holdout, last).half_width / single_use(last, n))
    assert times - 0.5 < np.median(ratios) < times + 0.5


@pytest.mark.filterwarnings("ignore:A score was published before")
@pytest.mark.parametrize("n", [500, 2_000])
def test_after_publishing_coarse_intervals_are_a_fifth_wider_and_a_second_published_one_twice_as_wide(n):
    coarse, second = np.array([widths_after_publishing(n, seed) for seed in range(8)]).T
    assert "once a score was published another fifth" in README
    assert 1.1 < np.median(coarse) < 1.3
    assert "a second one is twice as wide" in README
    assert 1.7 < np.median(second) < 2.3


@pytest.mark.parametrize(("rows", "least", "most"), [(400, 0.2, 1.0), (4_000, 0.0, 0.1)])
def test_r2_needs_a_thousand_held_out_rows(rows, least, most):
    assert "R2, a regression's default, needs 1,000." in README
    X, y = make_regression(rows, 8, noise=100.0, random_state=0)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]})
    found = ReusableHoldoutCV(search, ledger=":memory:").fit(X, y)
    assert least < found.publish().half_width < most


def widths_after_publishing(n, seed, searches=9):
    """Return a coarse width after publishing over that without, a second published one over the first."""
    guesses, counts = draw(n, seed, searches + 1)
    guesses = [Guess(guess, 3.0 * n) for guess in guesses]
    counts = [int(count) for count in counts]

    def asked():
        holdout = SimulatedHoldout.of_counts(n, answers="coarse")
        for guess, count in zip(guesses[:-1], counts[:-1], strict=True):
            holdout.ask_count(count, "certify", guess)
        return holdout

    before = asked().ask_count(counts[-1], "certify", guesses[-1])
    holdout = asked()
    first = published(holdout, counts[-2])
    after = holdout.ask_count(counts[-1], "certify", guesses[-1])
    second = published(holdout, counts[-1])
    return after.half_width / before.half_width, second.half_width / first.half_width
