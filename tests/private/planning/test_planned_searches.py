"""Plans of searches in a row: against answers of a Holdout, the reference sequence, and in words."""

import functools
import json
import math

import numpy as np
import pytest

from benchmarks.validity.searches import single_use
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess, plan_holdout
from sklearn_ada.cli import main
from sklearn_ada.guarantees.cells import PlannedCells, _nats
from sklearn_ada.planning.methods import methods
from tests.support.holdout.asking.sealed.counts import ask, holdout_of
from tests.support.rows import reference

TOLD, KEPT, ALL = "cells, while searching", "cells, published", "cells, unsealed"


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Leave out methods with noise and medians, which take long to solve and do not matter here."""

    def quick(given):
        return tuple(m for m in methods(given) if m.unit == "mean" and "noise" not in m.name)

    monkeypatch.setattr("sklearn_ada.planning.plan.methods", quick)


@functools.cache
def plan_of(**asked):
    return plan_holdout(**asked)


def half_of(row, name):
    return (float(row[f"{name}_upper"]) - float(row[f"{name}_lower"])) / 2


@pytest.mark.parametrize("searches", [1, 2, 5, 9])
def test_widths_out_of_a_holdout_whose_guesses_hold(searches, tmp_path):
    """The plan is a mean, in which one winner in eighty surprises: a little wider than without any."""
    n, count = 2_000, 1_700
    plan = plan_of(n=n, searches=searches, guess_rows=3 * n)
    told = []
    for end in ("published", "unsealed"):
        holdout = holdout_of(n, tmp_path / f"{end}.db")
        asked = [ask(holdout, count, 0.85, 3 * n, name=str(each)) for each in range(searches)]
        if end == "published":
            told += [asked[-1], ask(holdout, count, 0.85, 3 * n, name=str(searches - 1), publish=True)]
        else:
            holdout.close()
            told.append(holdout.unseal()[-1])
    spread = 1.0 + 0.012 * searches
    for answer, method in zip(told, (TOLD, KEPT, ALL), strict=True):
        assert answer.half_width * 0.99 < plan[method].width < answer.half_width * spread


def test_the_mean_width_while_searching_and_published_over_runs_with_sampling():
    """Guesses and counts drawn: some winners surprise, the mean width is what was planned."""
    n, searches = 2_000, 9
    plan, told, kept = plan_of(n=n, searches=searches, guess_rows=3 * n), [], []
    for seed in range(60):
        rng = np.random.default_rng([seed, 19])
        holdout = SimulatedHoldout.of_counts(n, answers="coarse")
        guesses, counts = rng.binomial(3 * n, 0.85, searches) / (3 * n), rng.binomial(n, 0.85, searches)
        answers = [
            holdout.ask_count(int(count), "certify", Guess(guess, 3 * n))
            for guess, count in zip(guesses, counts, strict=True)
        ]
        if answers[-1].verdict == "agrees":
            told.append(answers[-1].half_width)
        model = holdout.model_of_count(int(counts[-1]))
        final = holdout.publish_last(holdout.plan(model, "certify", Guess(0.5)), model)
        kept.append(final.half_width / single_use(int(counts[-1]), n))
    assert np.mean(told) == pytest.approx(plan[TOLD].width, rel=0.03)
    assert np.mean(kept) == pytest.approx(plan[KEPT].width / plan["one use"].width, rel=0.06)


def test_the_reference_sequence():
    """Nine winners of 500 rows whose guesses held; its final takes all of the purse, ours .95 of it."""
    rows = [row for row in reference("sequence") if row["sequence"] == "held"]
    assert len(rows) == 9
    for row in rows:
        asked = {"n": 500, "searches": int(row["j"]), "guess_rows": 1500}
        plan = plan_holdout(**asked, expected_value=float(row["guess"]))
        kept = rows[int(row["kept_if_closed_now"]) - 1]
        last = plan_holdout(**asked, expected_value=int(kept["count"]) / 500)
        exact = plan_holdout(**asked, expected_value=int(row["count"]) / 500)
        slack = 1.02 + 0.01 * int(row["j"])  # of surprises, which the plan expects now and then
        assert half_of(row, "interim") / 1.02 < plan[TOLD].width < half_of(row, "interim") * slack
        assert half_of(row, "final") / 1.01 < last[KEPT].width < half_of(row, "final") * slack
        assert half_of(row, "unsealed") / 1.01 < exact[ALL].width < half_of(row, "unsealed") * slack
        nats = _nats(int(row["j"]), 0)
        assert nats == pytest.approx(float(row["L_including"]), rel=0.1)


def test_the_nats_are_those_of_an_urn():
    from sklearn_ada.accounting import CountCode, PolyaUrn

    code, urn, paid = CountCode(-0.5, 10_000.0), PolyaUrn(), 0.0
    ends = {0: (-25_000, 24_999), 1: (25_000, 74_999), -1: (-75_000, -25_001)}
    for cell in (0, 1, 0, 0, -1, 0, 1, 0):
        paid += urn.price(cell, code.ln_mass(*ends[cell]))
        urn.record(cell)
    assert _nats(8, 3) == pytest.approx(paid)


def test_which_wins_when():
    """Splitting for a few searches while searching; of the model that is published, cells from the second."""
    for n in (500, 2_000, 100_000):
        plan = plan_of(n=n, searches=9, guess_rows=3 * n)
        for searches, winner in ((4, "sample splitting"), (5, TOLD)):
            assert plan_of(n=n, searches=searches, guess_rows=3 * n).best.method == winner
        assert "for up to 4 searches" in plan.recommendation
        assert "of the published model for a single search only" in plan.recommendation
    assert "So here split if" in plan_of(n=2_000, searches=3).recommendation
    assert "So here split if" not in plan_of(n=2_000, searches=9).recommendation


def test_the_words_hold_the_numbers_of_the_rows():
    plan = plan_of(n=2_000, searches=9)
    for name in (TOLD, KEPT, ALL, "one use", "sample splitting"):
        assert f"±{plan[name].width:.2g}" in plan.recommendation
    assert "9 searches in a row on 2,000 records" in plan.recommendation
    plan = plan_of(searches=9, width=0.02)
    for name in (TOLD, KEPT, ALL, "sample splitting"):
        assert f"{plan[name].n:,} record" in plan.recommendation
    assert "fewer than cells need" not in plan.recommendation
    assert "fewer than cells need" in plan_of(searches=3, width=0.02).recommendation
    assert "known in advance" in plan.recommendation
    assert "9 searches in a row and half-width 0.02" in repr(plan)


def test_sentences_follow_from_each_other():
    """No advice to certify after checks where checks are not what is used; a split needs the number."""
    for asked in ({"n": 1_000, "n_questions": 5}, {"n_questions": 3, "width": 0.05}):
        plan = plan_of(**asked)
        assert plan.best.method == "sample splitting"
        assert "such checks" not in plan.recommendation
        assert "if their number is known in advance" in plan.recommendation
        assert "coded checks instead" in plan.recommendation  # which says first that they are something else
    assert "after such checks" in plan_of(n=10_000, n_questions=100).recommendation


SENTENCES = [
    ({"n": 300, "searches": 1}, "For one search, and none after it, a plain"),
    ({"searches": 1, "width": 0.05}, "For one search, and none after it,"),
    ({"n": 1, "searches": 3, "expected_value": None}, "not even a holdout used once"),
    ({"n": 60, "searches": 500}, "certifies none of so many"),
    ({"n": 9, "searches": 10**7}, "No method certifies winners"),
    ({"searches": 10**9, "width": 1e-6}, "No holdout of up to"),
    ({"n": 2_000, "searches": 9, "surprise_rate": 0.1}, "at most 0.1 of the guesses"),
]


@pytest.mark.parametrize(("asked", "sentence"), SENTENCES)
def test_one_search_and_none_that_can_be_certified(asked, sentence):
    assert sentence in plan_of(**asked).recommendation


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        *(
            (
                {"n": 100, "searches": wrong},
                r"^The 'searches' parameter of plan_holdout must be .+ Got .+ instead",
            )
            for wrong in (0, -1, 1.5, True, "9", 10**10)
        ),
        (
            {"n": 100, "n_questions": 5, "searches": 5},
            "'searches' parameter of plan_holdout must be None where",
        ),
        ({"searches": 5}, "Got 'searches'"),
        ({"n": 100, "searches": 5, "width": 0.1}, "Got 'n', 'searches', 'width'"),
        (
            {"n": 100, "searches": 4, "verdicts": True},
            r"'searches' parameter .* None where 'verdicts' is True",
        ),
    ],
)
def test_bad_searches_are_named(asked, message):
    with pytest.raises(ValueError, match=message):
        plan_holdout(**asked)


def test_from_the_command_line(capsys):
    assert main(["plan", "--rows", "2000", "--searches", "9"]) == 0
    assert capsys.readouterr().out == f"{plan_of(n=2_000, searches=9)!r}\n"
    assert main(["plan", "--searches", "9", "--width", "0.02", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["recommendation"] == plan_of(searches=9, width=0.02).recommendation
    for flags, message in (
        ("--rows 5 --searches 0", "The --searches parameter of plan_holdout must be"),
        ("--searches 5", "Got --searches."),
        ("--rows 5 --searches 5 --questions 5", "None where --questions is given"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(["plan", *flags.split()])
        assert message in " ".join(capsys.readouterr().err.split())


BAD = [("n_searches", 0), ("ln_beta", 0.1), ("surprise_rate", 1.1), ("surprise_rate", math.nan)]


@pytest.mark.parametrize(("name", "bad"), BAD)
def test_planned_cells_take_no_bad_input(name, bad):
    with pytest.raises(ValueError, match=f"^The '{name}' parameter of PlannedCells must be"):
        PlannedCells(**{"n_searches": 1, "ln_beta": -3.0, name: bad})
