"""Tilted tails against reference numbers, and what they promise by enumeration."""

import math
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import binom

from sklearn_ada.guarantees import Tilt, clopper_pearson
from sklearn_ada.guarantees.intervals import binomial_low
from tests.support.rows import reference

ROWS = reference("tilted")
LEVELS = (0.5, 0.36, 0.05, 1e-4)


def test_every_row_of_the_reference_is_met():
    for row in ROWS:
        n, count, ln_delta = int(row["n"]), int(row["count"]), math.log(float(row["delta"]))
        tilt = Tilt(float(row["guess"]), int(row["N"]), n, identical_rows=True)
        low, high = tilt.interval(count, count, ln_delta)
        width = float(row["high"]) - float(row["low"])
        assert low == pytest.approx(float(row["low"]), abs=1e-7 * width)
        assert high == pytest.approx(float(row["high"]), abs=1e-7 * width)
        assert tilt.part_below(tilt.guess, ln_delta) == pytest.approx(float(row["w_at_guess"]), abs=1e-8)


@pytest.mark.parametrize("guess", [0.0, 0.03, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("delta", LEVELS)
def test_the_part_below_falls_and_leaves_something_to_both_sides(guess, delta):
    for rows in (1, 30, 10_000):
        tilt = Tilt(guess, rows, 200, identical_rows=True)
        parts = [tilt.part_below(theta, math.log(delta)) for theta in np.linspace(0, 1, 301)]
        assert max(np.diff(parts)) <= 1e-12
        assert 0.03 <= parts[-1] <= parts[0] <= 0.97


def of_count(tilt):
    return lambda count, ln_delta: tilt.interval(count, count, ln_delta)


def largest_miss(n, interval, delta):
    """Return by how much the probability of a miss exceeds delta, at the worst share; exact."""
    ends = [interval(count, math.log(delta)) for count in range(n + 1)]
    edges = np.array([end for pair in ends for end in pair])
    shares = np.concatenate([np.linspace(0.0, 1.0, 400), np.nextafter(edges, 0), np.nextafter(edges, 1)])
    shares = np.clip(shares, 0.0, 1.0)
    low, high = np.array(ends).T
    missed = (shares[:, None] < low) | (shares[:, None] > high)
    chance = (binom.pmf(np.arange(n + 1), n, shares[:, None]) * missed).sum(axis=1)
    return float(chance.max()) - delta


@pytest.mark.parametrize("n", [1, 2, 5, 12, 20])
@pytest.mark.parametrize("guess", [0.0, 0.3, 0.5, 0.97])
def test_no_share_is_missed_too_often(n, guess):
    for rows in (1, n, 100 * n):
        interval = of_count(Tilt(guess, rows, n, identical_rows=True))
        for delta in LEVELS:
            assert largest_miss(n, interval, delta) <= 1e-9


def unequal_miss(shares, ends):
    """Return the probability that the mean of unequal shares is missed; exact."""
    law = np.ones(1)
    for share in shares:
        law = np.convolve(law, [1 - share, share])
    mean = float(np.mean(shares))
    return sum(p for p, (low, high) in zip(law, ends, strict=True) if not low <= mean <= high)


def worst_unequal(n, interval, delta):
    """Return the largest excess over rows that are sure, impossible or of one share."""
    ends = [interval(count, math.log(delta)) for count in range(n + 1)]
    return max(
        unequal_miss([0.0] * none + [1.0] * sure + [share] * (n - none - sure), ends) - delta
        for none in range(n)
        for sure in range(n - none)
        for share in np.linspace(0.01, 0.99, 99)
    )


@pytest.mark.parametrize("guess", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("delta", [0.5, 0.36, 0.05])
def test_rows_of_different_laws_are_not_missed_too_often(guess, delta):
    for n in (2, 4, 7):
        assert worst_unequal(n, of_count(Tilt(guess, 3 * n, n, identical_rows=False)), delta) <= 1e-9


def without_rule(count, n, ln_side, identical_rows):
    """A mutant: the binomial tail of a single one, which rows of any law may exceed."""
    return binomial_low(count, n, ln_side, True)


@pytest.mark.parametrize(
    ("patched", "delta", "short"),
    [
        ({"binomial_low": without_rule}, 0.25, 0.02),
        ({"LN_MOST_SIDE": 0.0}, 0.5, 0.1),
        ({"binomial_low": without_rule, "LN_MOST_SIDE": 0.0}, 0.36, 0.05),
    ],
)
def test_a_missing_rule_of_a_single_one_and_a_missing_cap_are_noticed(patched, delta, short):
    interval = of_count(Tilt(0.2, 24, 8, identical_rows=False))
    assert worst_unequal(8, interval, delta) <= 1e-9
    with patch.multiple("sklearn_ada.guarantees.tilted", **patched):
        assert worst_unequal(8, interval, delta) > short


class OwnCell(Tilt):
    """A mutant: the answer itself tilts its interval."""

    def interval(self, low_count, high_count, ln_delta):
        return Tilt(low_count / self.n, self.guess_rows, self.n, True).interval(
            low_count, high_count, ln_delta
        )


class BothSides(Tilt):
    """A mutant: each side has the larger part."""

    def part_below(self, theta, ln_delta):
        return max(super().part_below(theta, ln_delta), 0.5)


@pytest.mark.parametrize("mutant", [OwnCell, BothSides])
def test_a_mutant_is_noticed(mutant):
    tilt = mutant(0.5, 60, 20, identical_rows=True)
    low_of_mirror = mutant(0.5, 60, 20, identical_rows=True)

    def interval(count, ln_delta):
        if mutant is OwnCell:
            return tilt.interval(count, count, ln_delta)
        return tilt._low_end(count, ln_delta), 1 - low_of_mirror._low_end(20 - count, ln_delta)

    assert largest_miss(20, interval, 0.05) > 0.01


class FromZero(Tilt):
    """A mutant: w is its own least value so far, from 0 on, where it is a half if it is not clipped."""

    def part_below(self, theta, ln_delta):
        return min(super().part_below(theta, ln_delta), 0.5)

    @property
    def mirror(self):
        return OfZeros(1.0 - self.guess, self.guess_rows, self.n, self.identical_rows)


class OfZeros(Tilt):
    """The same for the count of zeros."""

    def part_below(self, theta, ln_delta):
        return max(super().part_below(theta, ln_delta), 0.5)


def worth(kind, off):
    """Return the mean width over Clopper and Pearson's, for a guess that is so many standard errors off."""
    n, rows = 2000, 6000
    counts = binom.ppf(np.linspace(0.01, 0.99, 25), n, 0.85).astype(int).tolist()
    usual = [clopper_pearson(count, count, n, math.log(0.05)) for count in counts]
    error = math.sqrt(0.85 * 0.15 * (1 / n + 1 / rows))
    tilt = kind(0.85 + off * error, rows, n, identical_rows=True)
    ends = [tilt.interval(count, count, math.log(0.05)) for count in counts]
    return float(np.mean(np.diff(ends) / np.diff(usual)))


def test_a_good_guess_narrows_and_a_bad_one_widens_as_the_module_says():
    found = [worth(Tilt, off) for off in range(4)]
    assert found == pytest.approx([0.86, 0.89, 0.99, 1.11], abs=0.008)


def test_a_running_minimum_from_zero_loses_what_is_gained_below():
    assert worth(FromZero, 0) > 0.92


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="'guess' parameter of Tilt must be"):
        Tilt(1.5, 10, 10, identical_rows=True)
    with pytest.raises(ValueError, match="'guess_rows' parameter of Tilt must be"):
        Tilt(0.5, 0, 10, identical_rows=True)
    with pytest.raises(ValueError, match=r"'high_count' parameter of Tilt\.interval must be"):
        Tilt(0.5, 10, 10, identical_rows=True).interval(5, 4, -3.0)
