"""Plans of searches in a row: against answers of a Holdout, the reference sequence, and in words."""

import functools
import math

import numpy as np
import pytest

from benchmarks.validity.searches import single_use
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess, plan_holdout
from sklearn_ada.accounting import CountCode, PolyaUrn
from sklearn_ada.guarantees.cells import PlannedCells, _nats
from sklearn_ada.planning.laws import methods
from tests.support.holdout.asking.sealed.counts import ask, holdout_of
from tests.support.rows import reference

SEARCHING, PUBLISHED, UNSEALED = "cells, while searching", "cells, published", "cells, unsealed"
TWO_THOUSAND = {"n": 2_000, "guess_rows": 6_000}

plan_of = functools.cache(plan_holdout)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Leave out methods with noise and medians, which take long to solve and do not matter here."""

    def quick(given):
        return tuple(m for m in methods(given) if m.unit == "mean" and "noise" not in m.name)

    monkeypatch.setattr("sklearn_ada.planning.plan.methods", quick)


@pytest.mark.parametrize("searches", [1, 2, 5, 9])
def test_widths_out_of_a_holdout_whose_guesses_hold(searches, tmp_path):
    """The plan is a mean, in which some winners surprise and guesses are off: a little wider than without."""
    holdouts = [holdout_of(2_000, tmp_path / name) for name in ("published.db", "unsealed.db")]
    names = [str(each) for each in range(searches)]
    asked = [[ask(each, 1_700, 0.85, 6_000, name=name) for name in names] for each in holdouts]
    published = ask(holdouts[0], 1_700, 0.85, 6_000, name=names[-1], publish=True)
    holdouts[1].close()
    found = {SEARCHING: asked[0][-1], PUBLISHED: published, UNSEALED: holdouts[1].unseal()[-1]}
    for method, answer in found.items():
        width = plan_of(**TWO_THOUSAND, searches=searches)[method].width
        assert answer.half_width * 0.99 < width < answer.half_width * (1.02 + 0.012 * searches)


def test_the_mean_width_while_searching_and_published_over_runs_with_sampling():
    """Guesses and counts drawn: some winners surprise, the mean width is what was planned."""
    n, searches = 2_000, 9
    plan, searching, published = plan_of(**TWO_THOUSAND, searches=searches), [], []
    for seed in range(60):
        rng = np.random.default_rng([seed, 19])
        holdout = SimulatedHoldout.of_counts(n, answers="coarse")
        guesses, counts = rng.binomial(3 * n, 0.85, searches) / (3 * n), rng.binomial(n, 0.85, searches)
        for guess, count in zip(guesses, counts, strict=True):
            answer = holdout.ask_count(int(count), "certify", Guess(guess, 3 * n))
        if answer.verdict == "agrees":
            searching.append(answer.half_width)
        model = holdout.model_of_count(int(counts[-1]))
        final = holdout.publish_last(holdout.plan(model, "certify", Guess(0.5)), model)
        published.append(final.half_width / single_use(int(counts[-1]), n))
    assert np.mean(searching) == pytest.approx(plan[SEARCHING].width, rel=0.03)
    assert np.mean(published) == pytest.approx(plan[PUBLISHED].width / plan["one use"].width, rel=0.08)


def test_plans_of_searches_are_close_to_the_reference_sequence():
    """Nine winners of 500 rows whose guesses held, in cells of one width and not tilted.

    Its final takes all of the purse, ours .95 of it.
    """
    rows = [row for row in reference("sequence") if row["sequence"] == "held"]
    assert len(rows) == 9
    for row in rows:
        j, last = int(row["j"]), rows[int(row["kept_if_closed_now"]) - 1]
        for name, method, value, below in (
            ("interim", SEARCHING, float(row["guess"]), 1.06),
            ("final", PUBLISHED, int(last["count"]) / 500, 1.14),
            ("unsealed", UNSEALED, int(row["count"]) / 500, 1.14),
        ):
            plan = plan_holdout(n=500, searches=j, guess_rows=1500, expected_value=value)
            half_width = (float(row[f"{name}_upper"]) - float(row[f"{name}_lower"])) / 2
            above = 1.02 + 0.01 * j  # for surprises, which the plan expects now and then, and wider cells
            assert half_width / below < plan[method].width < half_width * above
        assert _nats(j, surprises=0, half_cell=2.5) == pytest.approx(float(row["L_including"]), rel=0.1)


def test_the_nats_are_those_of_an_urn():
    code, urn, paid = CountCode(-0.5, 10_000.0), PolyaUrn(), 0.0
    ends = {0: (-25_000, 24_999), 1: (25_000, 74_999), -1: (-75_000, -25_001)}
    for cell in (0, 1, 0, 0, -1, 0, 1, 0):
        paid += urn.price(cell, code.ln_mass(*ends[cell]))
        urn.record(cell)
    assert _nats(8, surprises=3, half_cell=2.5) == pytest.approx(paid)


def test_splitting_wins_up_to_four_searches_and_cells_win_later():
    """Splitting for a few searches while searching; of the model that is published, cells always."""
    for n in (500, 2_000, 100_000):
        plan = plan_of(n=n, searches=9, guess_rows=3 * n)
        for searches, winner in ((4, "sample splitting"), (5, SEARCHING)):
            assert plan_of(n=n, searches=searches, guess_rows=3 * n).best.method == winner
        assert "for up to 4 searches" in plan.recommendation
        assert "of the published model never" in plan.recommendation
    assert "So here split if" in plan_of(n=2_000, searches=3).recommendation
    assert "So here split if" not in plan_of(n=2_000, searches=9).recommendation


def test_the_words_hold_the_numbers_of_the_rows():
    plan = plan_of(n=2_000, searches=9)
    for name in (SEARCHING, PUBLISHED, UNSEALED, "one use", "sample splitting"):
        assert f"±{plan[name].width:.2g}" in plan.recommendation
    assert "9 searches in a row on 2,000 rows" in plan.recommendation
    plan = plan_of(searches=9, width=0.02)
    for name in (SEARCHING, PUBLISHED, UNSEALED, "sample splitting"):
        assert f"{plan[name].n:,} row" in plan.recommendation
    assert "fewer than cells need" not in plan.recommendation
    assert "fewer than cells need" in plan_of(searches=3, width=0.02).recommendation
    assert "known in advance" in plan.recommendation
    assert "9 searches in a row and half-width 0.02" in repr(plan)


def test_advice_rests_on_what_is_recommended():
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
    ({"n": 9, "searches": 10**7, "surprise_rate": 0.5}, "No method certifies winners"),
    ({"searches": 10**9, "width": 1e-6}, "No holdout of up to"),
    ({"n": 2_000, "searches": 9, "surprise_rate": 0.1}, "at most 0.1 of the guesses"),
]


@pytest.mark.parametrize(("asked", "sentence"), SENTENCES)
def test_the_recommendation_for_searches_says_what_is_possible(asked, sentence):
    assert sentence in plan_of(**asked).recommendation


@pytest.mark.parametrize(
    ("name", "bad"),
    [("n_searches", 0), ("ln_beta", 0.1), ("surprise_rate", 1.1), ("surprise_rate", math.nan)],
)
def test_planned_cells_take_no_bad_input(name, bad):
    with pytest.raises(ValueError, match=f"^The '{name}' parameter of PlannedCells must be"):
        PlannedCells(**{"n_searches": 1, "ln_beta": -3.0, name: bad})
