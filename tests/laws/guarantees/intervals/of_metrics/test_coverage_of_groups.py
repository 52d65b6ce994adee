"""How often AUC, F1 and R^2 of groups are missed by bets; and what must miss."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_ada.guarantees import (
    AreaSpread,
    ExpectedLosses,
    auc_of_groups_interval,
    cross_groups,
    r_squared_interval,
    unit_mean_interval,
)
from sklearn_ada.guarantees.cross_groups import Bundles, CrossGroups
from tests.support.laws import is_too_often

LARGE = 40  # rows of each tenth group; others have two


def patients(n):
    """Return the group of every row, and whether that is a large one: each tenth is."""
    sizes = np.where(np.arange(n) % 10 == 0, LARGE, 2)
    return np.repeat(np.arange(n), sizes), np.repeat(sizes == LARGE, sizes)


def areas(n, *, tied, rare):
    """Return groups of which the large ones are ranked otherwise; the area, and what draws scores."""
    group, is_large = patients(n)
    place = np.arange(len(group)) - np.searchsorted(group, group)
    is_positive = (np.arange(len(group)) % 50 == 7) if rare else place < np.where(is_large, LARGE // 2, 1)
    if tied:  # all rows of one group have the score 0 or 1 alike, at chances of their own
        chance = np.where(is_positive, np.where(is_large, 0.4, 0.9), np.where(is_large, 0.7, 0.1))
        means = chance

        def draw(rng):
            return (rng.random(n)[group] < chance).astype(float)
    else:
        means = np.where(is_positive, np.where(is_large, 0.0, 2.0), np.where(is_large, 0.5, 0.0))

        def draw(rng):
            noise = np.where(is_positive, 1.0, -1.0) * rng.standard_normal(n)[group]
            return means + math.sqrt(0.8) * noise + math.sqrt(0.2) * rng.standard_normal(len(group))

    # Rows of one kind are alike: pairs of kinds are counted, but for those within a group.
    pairs, right = 0.0, 0.0
    kinds = [(is_positive & (is_large == large), ~is_positive & (is_large == large)) for large in (0, 1)]
    within = [float(np.bincount(group, up) @ np.bincount(group, down)) for up, down in kinds]
    for i, j in np.ndindex(2, 2):
        up, down = kinds[i][0], kinds[j][1]
        if not (up.any() and down.any()):
            continue
        count = float(up.sum()) * float(down.sum()) - within[i] * (i == j)
        higher = means[up][0] - means[down][0]
        pairs += count
        right += count * (0.5 * (1.0 + higher) if tied else norm.cdf(higher / math.sqrt(2.0)))
    return group, is_positive, float(right / pairs), draw


def auc_misses(n, delta, samples, *, tied=False, rare=False, wrong=None, off=None, seed=0):
    """Return how many samples are missed.

    ``off`` is by how many of its standard errors a guess is off that divides the level; None: none does.
    """
    rng = np.random.default_rng(seed)
    group, is_positive, area, draw = areas(n, tied=tied, rare=rare)
    units = np.arange(len(group)) if wrong == "rows are units" else group
    ends = once_planned(is_positive, units, area, AreaSpread((0.03, 0.03), 0.05), math.log(delta), off)
    found = [ends(draw(rng), rng.random()) for _ in range(samples)]
    return sum(not low <= area <= high for low, high in found)


def once_planned(is_positive, group, area, spread, ln_delta, off=None):
    """Return what gives the ends for scores: one plan serves all samples of these groups and labels.

    The first sample is put to the public function, too. ``off`` as of `auc_misses`.
    """
    rows = CrossGroups(is_positive, group, np.ones(len(group)))
    made, tilt, compared = Bundles.plan(rows, area, spread, ln_delta, drawn=True), None, off is not None
    if off is not None:
        error = math.sqrt(made.variance / made.terms)
        made = made._replace(area=min(max(area + off * error, 0.0), 1.0))
        tilt = made.tilted(3.0 * made.terms)

    def ends(scores, uniform):
        nonlocal compared
        found = made.ends(scores, ln_delta, uniform, tilt)
        if not compared:
            about = {"expected_area": area, "spread": spread, "uniform": uniform}
            assert found == auc_of_groups_interval(scores, is_positive, group, ln_delta, **about)
            compared = True
        return found

    return ends


def pair_misses(n, delta, samples, *, wrong=None, seed=0):
    """Return how many samples are missed of groups of a positive row that is certain, and one that is not.

    Then all rounds of a tournament see the same, and a mean over them is as uncertain as one of them.
    """
    rng, group = np.random.default_rng(seed), np.repeat(np.arange(n), 2)
    is_positive, area = np.arange(2 * n) % 2 == 0, 0.7
    ends = once_planned(is_positive, group, area, AreaSpread((0.21, 0.001), 0.001), math.log(delta))
    found = [ends(np.where(is_positive, 0.5, rng.random(2 * n) > area), rng.random()) for _ in range(samples)]
    return sum(not low <= area <= high for low, high in found)


def ratio_misses(n, delta, samples, *, wrong=None, seed=0):
    """Return how many samples of an F1 are missed: true positives of a group come together."""
    rng, count = np.random.default_rng(seed), 0
    group, is_large = patients(n)
    is_positive = np.arange(len(group)) % 2 == 0
    found, false = np.where(is_large, 0.3, 0.95), np.where(is_large, 0.5, 0.05)
    sizes = np.bincount(group)
    scale = np.ones(len(group)) if wrong == "means of whole groups" else sizes[group] / sizes.mean()
    scale = scale / sizes[group]
    truth = found[is_positive].sum() / (is_positive.sum() + false[~is_positive].sum())
    below = np.bincount(group, scale * np.where(is_positive, 1.0, false)).mean()
    for _ in range(samples):
        drawn = rng.random(n)[group]
        hits, errors = is_positive & (drawn < found), ~is_positive & (drawn < false)
        sums = [np.bincount(group, scale * each / below) for each in (hits, is_positive | errors)]
        most = 1.0 if wrong == "means of whole groups" else LARGE / sizes.mean()
        about = {"most": most / below * (1.0 + 1e-9), "expected_mean": truth, "expected_variance": 0.8}
        low, high = unit_mean_interval(*sums, math.log(delta), uniform=rng.random(), **about)
        count += not low <= truth <= high
    return count


def explained_misses(n, delta, samples, *, wrong=None, seed=0):
    """Return how many samples of R^2 are missed: the errors of large groups are large, and all alike."""
    rng, count = np.random.default_rng(seed), 0
    group, is_large = patients(n)
    mean, error = np.where(is_large, 1.0, -0.2), np.where(is_large, 1.2, 0.4)
    baseline = 1.0 + mean.var()
    clip = {"target_range": (-3.7, 3.7), "most_error": 2.0}
    expected = ExpectedLosses(float(mean.mean()), float((error**2).mean()), baseline, 0.4, 0.8, 0.1)
    truth = 1.0 - (error**2).mean() / baseline
    for _ in range(samples):
        y = mean + rng.choice((-1.0, 1.0), n)[group]
        sign = rng.choice((-1.0, 0.0, 0.0, 1.0), n)[group]
        predicted = y - math.sqrt(2.0) * error * sign
        units = None if wrong == "rows are units" else group
        low, high = r_squared_interval(y, predicted, math.log(delta), expected=expected, unit=units, **clip)
        count += not low <= truth <= high
    return count


LAWS = {
    "AUC": auc_misses,
    "AUC with ties": lambda *about, **how: auc_misses(*about, tied=True, **how),
    "AUC of equal groups": pair_misses,
    "AUC with few positives": lambda *about, **how: auc_misses(*about, rare=True, **how),
    "F1": ratio_misses,
    "R2": explained_misses,
}


@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("n", [50, 150])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("samples", [40, pytest.param(400, marks=pytest.mark.thorough)])
def test_no_more_samples_are_missed_than_delta_allows(law, n, delta, samples):
    assert not is_too_often(law(n, delta, samples), samples, delta)


@pytest.mark.parametrize("off", [-2.0, 0.0, 2.0])
@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("samples", [30, pytest.param(400, marks=pytest.mark.thorough)])
def test_a_guess_that_divides_the_level_may_be_wrong(tied, delta, off, samples):
    assert not is_too_often(auc_misses(100, delta, samples, tied=tied, off=off), samples, delta)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("n", [50, 300, 5000])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_no_more_of_many_samples_are_missed(law, n, delta):
    samples = 2000
    missed = law(n, delta, samples, seed=1)
    print(f"n={n}, delta={delta}: {missed} of {samples * delta:.0f} allowed")
    assert not is_too_often(missed, samples, delta)


MUTANTS = {
    "AUC": (auc_misses, "rows are units"),
    "F1": (ratio_misses, "means of whole groups"),
    "R2": (explained_misses, "rows are units"),
}


@pytest.mark.parametrize(("law", "wrong"), MUTANTS.values(), ids=MUTANTS)
def test_what_forgets_the_groups_is_noticed(law, wrong):
    assert is_too_often(law(100, 0.05, 30, wrong=wrong), 30, 0.05)


def test_blocks_that_are_taken_for_independent_are_noticed(monkeypatch):
    monkeypatch.setattr(cross_groups, "_rounds", lambda bundles: 1)
    assert is_too_often(pair_misses(50, 0.05, 30), 30, 0.05)
