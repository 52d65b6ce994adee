"""Coverage of intervals for bounded means, recalls and the AUC on hard laws; an understated delta is seen."""

import math
from dataclasses import replace
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest

from benchmarks.validity.metric_searches import Listed
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada.guarantees import bentkus, betting_fixed, betting_predictable, class_mean_interval
from sklearn_ada.metrics.base import Foreseen
from sklearn_ada.questions import all_rows
from sklearn_ada.questions.question import Draw
from tests.support.laws import is_missed, is_too_often

RUNS = 2000
SIZES = [pytest.param(n, RUNS, marks=pytest.mark.slow) for n in (50, 300, 5000)]


def near_zero(rng, n):
    return (rng.random(n) < 0.01).astype(float)


def sorted_classes(rng, n):
    """One row in ten of mean .9, the others of mean .05: sorted, as no order matters to fixed bets."""
    few = n // 10
    return np.r_[rng.random(few) < 0.9, rng.random(n - few) < 0.05].astype(float)


# Each law: a function of (rng, n) that draws rows, their mean, and a guess of the variance.
IDENTICAL = {
    "atoms": (lambda rng, n: rng.choice([0.0, 0.5, 1.0], n, p=[0.6, 0.3, 0.1]), 0.25, 0.11),
    "1 % ones": (near_zero, 0.01, 0.0099),
    "1 % zeros": (lambda rng, n: 1.0 - near_zero(rng, n), 0.99, 0.0099),
    "skewed": (lambda rng, n: rng.beta(0.3, 3.0, n), 0.3 / 3.3, 0.02),
    "skewed, variance understated": (lambda rng, n: rng.beta(0.3, 3.0, n), 0.3 / 3.3, 0.0005),
}


def misses_of(draw, truth, variance, n, delta, how, runs):
    rng, misses = np.random.default_rng(0), 0
    reach = 8 * math.sqrt(max(variance, 0.002)) / math.sqrt(n) + 8 / n
    grid = np.linspace(max(truth - reach, 1e-4), min(truth + reach, 1 - 1e-4), 120)
    for _ in range(runs):
        x = draw(rng, n)
        uniform = rng.random() if how == "drawn" else None
        if how == "fixed":
            misses += is_missed(betting_fixed(x, variance, math.log(delta)), truth)
        else:
            ends = betting_predictable(x, variance, math.log(delta), grid, uniform=uniform)
            misses += is_missed(ends, truth)
    return misses


@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize(("n", "runs"), [(50, 60), *SIZES])
@pytest.mark.parametrize("law", IDENTICAL)
@pytest.mark.parametrize("how", ["fixed", "predictable", "drawn"])
def test_intervals_by_bets_cover_the_mean(law, n, runs, delta, how):
    misses = misses_of(*IDENTICAL[law], n, delta, how, runs)
    print(f"{how} bets, {law}, n={n}, delta={delta}: {misses} of {delta * runs:.0f} allowed")
    assert not is_too_often(misses, runs, delta)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "understated"), [("predictable", 2.0), ("drawn", 2.0), ("fixed", 21.0)])
def test_power_bets_miss_more_often_than_an_understated_delta_allows(how, understated):
    """Intervals made for delta .36 and claimed for less.

    Predictable bets miss in .31 of the runs, nearly all that is allowed. Fixed bets miss in .043, an eighth
    of it: they pay for five stakes, and for rows of different laws. So for them 2.5 times that is seen.
    """
    misses = misses_of(*IDENTICAL["atoms"], 300, 0.36, how, RUNS)
    assert not is_too_often(misses, RUNS, 0.36)
    assert is_too_often(misses, RUNS, 0.36 / understated)


@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize(("n", "runs"), [(300, 40), *SIZES])
def test_fixed_bets_cover_sorted_classes(n, runs, delta):
    truth = (n // 10 * 0.9 + (n - n // 10) * 0.05) / n
    assert not is_too_often(misses_of(sorted_classes, truth, 0.117, n, delta, "fixed", runs), runs, delta)


def test_predictable_bets_do_not_cover_sorted_classes():
    """Why fixed bets stand at a class mix: rows in the file's order, sorted, are no draws of one law."""
    truth = 0.1 * 0.9 + 0.9 * 0.05
    assert is_too_often(misses_of(sorted_classes, truth, 0.117, 300, 0.05, "predictable", 40), 40, 0.05)


class InOrder(np.random.Generator):
    """Leaves rows in the order in which they come, which no secret has to change at a class mix."""

    def permutation(self, x):
        return np.arange(x)


def loss_of_sorted_classes_is_missed(seed, rows=200):
    """Return whether a holdout misses the mean loss of two classes that follow each other, one always wrong.

    Losses of one class are .73 in the mean, those of the other .0033.
    """
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], rows // 2)
    model = Listed(
        np.tile(np.where(y == 1, rng.uniform(0.9, 1.0, rows), rng.uniform(0.75, 0.95, rows)), 2), [0, 1]
    )
    holdout = SimulatedHoldout(np.arange(float(rows))[:, None], y, seed=seed, answers="exact")
    known = np.arange(float(rows), 2.0 * rows)[:, None], y
    answer = holdout.certify(model, scoring="neg_brier_score", guess_from=known)
    assert "bets" in answer.certificate.theorem
    return is_missed(answer.interval, -(0.85**2 + 0.2**2 / 12.0 + 0.1**2 / 3.0) / 2.0)


def test_predictable_bets_instead_of_fixed_ones_are_noticed_at_a_class_mix():
    """An answer holds its own value, so those are missed whose value is on the other side of the truth."""

    def as_of_one_law(*known, **more):
        return replace(Foreseen(*known, **more), identical_rows=True)

    with patch.object(Draw, "own_generator", lambda self: InOrder(np.random.PCG64(0))):
        assert not any(map(loss_of_sorted_classes_is_missed, range(5)))
        with patch.object(all_rows, "Foreseen", as_of_one_law):
            assert is_too_often(sum(map(loss_of_sorted_classes_is_missed, range(30))), 30, 0.05)


RECALLS = [((0.9,), (300,)), ((0.99, 0.6), (20, 980)), ((0.5, 0.8, 1.0), (17, 17, 16))]
MANY_RECALLS = [
    pytest.param(recalls, [max(round(share * n), 1) for share in shares], RUNS, marks=pytest.mark.slow)
    for recalls, shares in [
        ((0.9,), (1.0,)), ((0.995,), (1.0,)), ((0.99, 0.6), (0.02, 0.98)), ((0.0, 0.5, 1.0), (0.4, 0.3, 0.3))
    ]
    for n in (50, 300, 5000)
]  # fmt: skip


@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize(("recalls", "rows", "runs"), [*((*each, 400) for each in RECALLS), *MANY_RECALLS])
def test_recalls_and_their_means_cover(recalls, rows, runs, delta):
    interval = cache(lambda hits: class_mean_interval(hits, rows, math.log(delta)))
    drawn = np.random.default_rng(1).binomial(rows, recalls, (runs, len(rows))).tolist()
    misses = sum(is_missed(interval(tuple(hits)), np.mean(recalls)) for hits in drawn)
    assert not is_too_often(misses, runs, delta)
    print(f"recalls {recalls} of {rows}, delta={delta}: {misses} of {delta * runs:.0f} allowed")


def test_power_recalls_miss_more_often_than_an_understated_delta_allows():
    drawn = np.random.default_rng(2).binomial(3000, 0.9, RUNS).tolist()
    misses = sum(is_missed(class_mean_interval([hits], [3000], math.log(0.36)), 0.9) for hits in drawn)
    assert misses > 0.9 * 0.36 * RUNS  # nearly all that is allowed
    assert not is_too_often(misses, RUNS, 0.36)
    assert is_too_often(misses, RUNS, 0.18)


AUCS = [(20, 480, 0.5, 300), (20, 480, 2.0, 300)]
MANY_AUCS = [
    pytest.param(max(round(share * n), 1), n - max(round(share * n), 1), shift, RUNS, marks=pytest.mark.slow)
    for share, shift in [(0.5, 0.5), (0.01, 2.0), (0.1, 0.0)]
    for n in (50, 300, 5000)
]


@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize(("few", "others", "shift", "runs"), [*AUCS, *MANY_AUCS])
def test_the_auc_covers_with_ties(few, others, shift, runs, delta):
    """Scores on six levels: the population AUC is exact, half of all ties counted."""
    rng, misses, levels = np.random.default_rng(3), 0, np.arange(6)
    pos, neg = np.exp(-0.3 * (levels - 2 - shift) ** 2), np.exp(-0.3 * (levels - 2) ** 2)
    pos, neg = pos / pos.sum(), neg / neg.sum()
    kernel = (levels[:, None] > levels) + 0.5 * (levels[:, None] == levels)
    truth = float(pos @ kernel @ neg)
    for _ in range(runs):
        p, q = rng.multinomial(few, pos) / few, rng.multinomial(others, neg) / others
        value = float(p @ kernel @ q)
        misses += is_missed(bentkus(value, value, min(few, others), math.log(delta)), truth)
    assert not is_too_often(misses, runs, delta)
    print(f"AUC, {few} and {others}, shift {shift}, delta={delta}: {misses} of {delta * runs:.0f} allowed")
