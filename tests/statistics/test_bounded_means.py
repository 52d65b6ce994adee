"""Coverage of intervals for bounded means, recalls and the AUC on hard laws; an understated delta is seen."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from sklearn_ada.guarantees import bentkus, betting_fixed, betting_predictable, class_mean_interval

FALSE_ALARM = 1e-6
RUNS = 2000


def too_many(misses, runs, delta):
    return binomtest(misses, runs, delta, alternative="greater").pvalue < FALSE_ALARM


# Each law: a function of (rng, n) that draws rows, their mean, and a guess of the variance.
def atoms(rng, n):
    return rng.choice([0.0, 0.5, 1.0], n, p=[0.6, 0.3, 0.1])


def near_zero(rng, n):
    return (rng.random(n) < 0.01).astype(float)


def near_one(rng, n):
    return 1.0 - near_zero(rng, n)


def skewed(rng, n):
    return rng.beta(0.3, 3.0, n)


IDENTICAL = {
    "atoms": (atoms, 0.25, 0.11),
    "1 % ones": (near_zero, 0.01, 0.0099),
    "1 % zeros": (near_one, 0.99, 0.0099),
    "skewed": (skewed, 0.3 / 3.3, 0.02),
    "skewed, variance understated": (skewed, 0.3 / 3.3, 0.0005),
}


def sorted_classes(rng, n):
    """One row in ten of mean .9, the others of mean .05: sorted, as no order matters to fixed bets."""
    few = n // 10
    return np.r_[rng.random(few) < 0.9, rng.random(n - few) < 0.05].astype(float)


def misses_of(draw, truth, variance, n, delta, how, runs, seed=0):
    rng, misses = np.random.default_rng(seed), 0
    sd = math.sqrt(max(variance, 0.002))
    reach = 8 * sd / math.sqrt(n) + 8 / n
    grid = np.linspace(max(truth - reach, 1e-4), min(truth + reach, 1 - 1e-4), 120)
    for _ in range(runs):
        x = draw(rng, n)
        if how == "fixed":
            low, high = betting_fixed(x, variance, math.log(delta))
        else:
            uniform = rng.random() if how == "drawn" else None
            low, high = betting_predictable(x, variance, math.log(delta), grid, uniform=uniform)
        misses += not low <= truth <= high
    return misses


@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("law", IDENTICAL)
@pytest.mark.parametrize("how", ["fixed", "predictable", "drawn"])
def test_bets_cover_a_small_sample(law, delta, how):
    draw, truth, variance = IDENTICAL[law]
    runs = 60
    misses = misses_of(draw, truth, variance, 50, delta, how, runs)
    assert not too_many(misses, runs, delta)


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 300, 5000])
@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("law", IDENTICAL)
def test_fixed_bets_cover(law, delta, n):
    draw, truth, variance = IDENTICAL[law]
    assert not too_many(misses_of(draw, truth, variance, n, delta, "fixed", RUNS), RUNS, delta)


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 300, 5000])
@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("law", IDENTICAL)
@pytest.mark.parametrize("how", ["predictable", "drawn"])
def test_predictable_bets_cover(law, delta, n, how):
    draw, truth, variance = IDENTICAL[law]
    misses = misses_of(draw, truth, variance, n, delta, how, RUNS)
    print(f"{how} bets, {law}, n={n}, delta={delta}: {misses} of {delta * RUNS:.0f} allowed")
    assert not too_many(misses, RUNS, delta)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "understated"), [("predictable", 2.0), ("drawn", 2.0), ("fixed", 21.0)])
def test_power_an_understated_level_of_bets_is_seen(how, understated):
    """Intervals made for delta .36 and claimed for less.

    Predictable bets miss in .31 of the runs, nearly all that is allowed. Fixed bets miss in .043, an eighth
    of it: they pay for five stakes, and for rows of different laws. So for them 2.5 times that is seen.
    """
    draw, truth, variance = IDENTICAL["atoms"]
    misses = misses_of(draw, truth, variance, 300, 0.36, how, RUNS)
    assert not too_many(misses, RUNS, 0.36)
    assert too_many(misses, RUNS, 0.36 / understated)


def test_fixed_bets_cover_sorted_classes_and_predictable_ones_do_not():
    """Why fixed bets stand at a class mix: rows in the file's order, sorted, are no draws of one law."""
    runs, delta, truth = 40, 0.05, 0.1 * 0.9 + 0.9 * 0.05
    assert not too_many(misses_of(sorted_classes, truth, 0.117, 300, delta, "fixed", runs), runs, delta)
    assert too_many(misses_of(sorted_classes, truth, 0.117, 300, delta, "predictable", runs), runs, delta)


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 300, 5000])
@pytest.mark.parametrize("delta", [0.36, 0.05])
def test_fixed_bets_cover_unequal_rows(delta, n):
    truth = (n // 10 * 0.9 + (n - n // 10) * 0.05) / n
    assert not too_many(misses_of(sorted_classes, truth, 0.117, n, delta, "fixed", RUNS), RUNS, delta)


@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize(
    ("recalls", "rows"), [((0.9,), (300,)), ((0.99, 0.6), (20, 980)), ((0.5, 0.8, 1.0), (17, 17, 16))]
)
def test_recalls_and_their_means_cover(recalls, rows, delta):
    rng, misses, runs = np.random.default_rng(1), 0, 400
    for hits in rng.binomial(rows, recalls, (runs, len(rows))):
        low, high = class_mean_interval(hits.tolist(), rows, math.log(delta))
        misses += not low <= np.mean(recalls) <= high
    assert not too_many(misses, runs, delta)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("n", [50, 300, 5000])
@pytest.mark.parametrize(
    ("recalls", "shares"),
    [((0.9,), (1.0,)), ((0.995,), (1.0,)), ((0.99, 0.6), (0.02, 0.98)), ((0.0, 0.5, 1.0), (0.4, 0.3, 0.3))],
)
def test_recalls_and_their_means_cover_two_thousand_samples(recalls, shares, n, delta):
    rng, rows = np.random.default_rng(1), np.maximum(np.round(np.array(shares) * n), 1).astype(int)
    misses, cached = 0, {}
    for hits in map(tuple, rng.binomial(rows, recalls, (RUNS, len(rows))).tolist()):
        if hits not in cached:
            cached[hits] = class_mean_interval(hits, rows.tolist(), math.log(delta))
        low, high = cached[hits]
        misses += not low <= np.mean(recalls) <= high
    assert not too_many(misses, RUNS, delta)
    print(f"recalls {recalls}, n={n}, delta={delta}: {misses} of {delta * RUNS:.0f} allowed")


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("n", [50, 300, 5000])
@pytest.mark.parametrize(("share", "shift"), [(0.5, 0.5), (0.01, 2.0), (0.1, 0.0)])
def test_the_auc_covers_two_thousand_samples(share, shift, n, delta):
    rng, misses, levels = np.random.default_rng(3), 0, np.arange(6)
    pos, neg = np.exp(-0.3 * (levels - 2 - shift) ** 2), np.exp(-0.3 * (levels - 2) ** 2)
    pos, neg = pos / pos.sum(), neg / neg.sum()
    kernel = (levels[:, None] > levels) + 0.5 * (levels[:, None] == levels)
    truth, few = float(pos @ kernel @ neg), max(round(share * n), 1)
    for _ in range(RUNS):
        p, q = rng.multinomial(few, pos) / few, rng.multinomial(n - few, neg) / (n - few)
        value = float(p @ kernel @ q)
        low, high = bentkus(value, value, min(few, n - few), math.log(delta))
        misses += not low <= truth <= high
    assert not too_many(misses, RUNS, delta)
    print(f"AUC, {few} of {n}, shift {shift}, delta={delta}: {misses} of {delta * RUNS:.0f} allowed")


def test_power_an_understated_level_of_a_recall_is_seen():
    rng, misses = np.random.default_rng(2), 0
    for hits in rng.binomial(3000, 0.9, RUNS).tolist():
        low, high = class_mean_interval([hits], [3000], math.log(0.36))
        misses += not low <= 0.9 <= high
    assert misses > 0.9 * 0.36 * RUNS  # nearly all that is allowed
    assert not too_many(misses, RUNS, 0.36)
    assert too_many(misses, RUNS, 0.18)


@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("shift", [0.5, 2.0])
def test_the_auc_covers_with_ties(shift, delta):
    """Scores on six levels: the population AUC is exact, half of all ties counted."""
    rng, misses, runs = np.random.default_rng(3), 0, 300
    levels = np.arange(6)
    pos, neg = np.exp(-0.3 * (levels - 2 - shift) ** 2), np.exp(-0.3 * (levels - 2) ** 2)
    pos, neg = pos / pos.sum(), neg / neg.sum()
    kernel = (levels[:, None] > levels) + 0.5 * (levels[:, None] == levels)
    truth = float(pos @ kernel @ neg)
    for _ in range(runs):
        p, q = rng.multinomial(20, pos) / 20, rng.multinomial(480, neg) / 480
        value = float(p @ kernel @ q)
        low, high = bentkus(value, value, 20, math.log(delta))
        misses += not low <= truth <= high
    assert not too_many(misses, runs, delta)
