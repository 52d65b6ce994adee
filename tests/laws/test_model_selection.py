"""Checks against Guess-and-Check tuned in hindsight, and the certify after them against a single use."""

import math

import numpy as np
import pytest

from benchmarks.validity.guess_and_check import answers_all, smallest_tau
from benchmarks.validity.model_selection import CELLS, comparison, default_settings, draw
from sklearn_ada.guarantees import chernoff_kl

# tau of Guess-and-Check in this scenario, computed elsewhere (mean of 8 runs)
PUBLISHED = {(1_000, 100): 0.106, (10_000, 100): 0.032, (10_000, 1_000): 0.0396, (100_000, 100): 0.0099}


@pytest.mark.parametrize(("n", "k"), PUBLISHED)
def test_the_baseline_reaches_its_figures(n, k):
    taus = [smallest_tau(*(counts / n for counts in draw(n, k, seed)), n) for seed in range(8)]
    assert np.mean(taus) == pytest.approx(PUBLISHED[n, k], rel=0.02)


def slow_guess_and_check(guesses, values, n, tau, beta):
    """The formula read aloud, one question after the other."""
    c, failures, rounding = 6.0 / math.pi**2, 0, 1.0
    for i, (guess, value) in enumerate(zip(guesses, values, strict=True)):
        share = beta * c / (i + 1) ** 2 * c / (failures + 1) ** 2 / (math.comb(i, failures) * rounding)
        low, high = chernoff_kl(value, value, n, math.log(share))
        if guess - tau <= low and high <= guess + tau:
            continue
        gamma = tau - max(value - low, high - value)
        if gamma <= 0.0:
            return False
        failures, rounding = failures + 1, rounding * math.ceil(1.0 / gamma)
    return True


@pytest.mark.parametrize("seed", range(3))
def test_the_baseline_is_its_formula(seed):
    guesses, values = (counts / 500 for counts in draw(500, 60, seed))
    seen = set()
    for tau in np.linspace(0.05, 0.3, 26):
        expected = slow_guess_and_check(guesses, values, 500, tau, 0.05)
        assert answers_all(guesses, values, 500, tau) == expected
        seen.add(expected)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("n", "k"), [cell if cell[1] == 100 else pytest.param(*cell, marks=pytest.mark.slow) for cell in CELLS]
)
def test_checks_are_narrower_than_guess_and_check_in_hindsight_and_than_what_was_published(n, k):
    row = comparison(n, k)
    assert row["check"] <= row["guess and check"]
    if (n, k) == (10_000, 1_000):  # much narrower than without guesses
        assert 10.0 * row["check"] <= min(row["splitting"], row["rounding"], row["noise, published"])
        assert 5.0 * row["check"] <= row["noise, direct"]  # a theorem of this package


@pytest.mark.parametrize("expected", [None, 1_000])
@pytest.mark.thorough
@pytest.mark.parametrize("n", [1_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (10_000, 100_000))])
def test_a_certify_after_a_thousand_checks_is_nearly_as_narrow_as_a_single_use(n, expected):
    row = default_settings(n, expected, seeds=3 if n == 1_000 else 8)
    assert row["held"] <= 1.15
    assert row["median"] <= 1.35
