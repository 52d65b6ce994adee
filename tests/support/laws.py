"""Whether what was drawn has the law that it should have, with a false alarm below one in a million."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

__all__ = [
    *("FALSE_ALARM", "chi_square", "fits_only_as_it_is", "is_missed", "is_too_often"),
    *("laplace_sum_exceeds", "naive_interval"),
]

FALSE_ALARM = 1e-6


def is_too_often(misses, runs, level):
    """Return whether so many misses are hardly possible at this level."""
    return stats.binomtest(int(misses), runs, level, alternative="greater").pvalue < FALSE_ALARM


def is_missed(interval, truth):
    """Return whether the truth is not in an interval."""
    low, high = interval
    return not low <= truth <= high


def naive_interval(count, n, beta=0.05):
    """Return Clopper and Pearson's interval of a count, as if nothing else had been asked of the rows."""
    ends = stats.binomtest(int(count), n).proportion_ci(1.0 - beta, method="exact")
    return ends.low, ends.high


def chi_square(counts, law):
    """Return the p-value of counts under a law; cells that are too rare for the test are merged."""
    counts, law = np.asarray(counts, dtype=float), np.asarray(law, dtype=float)
    assert law.sum() == pytest.approx(1.0)
    expected = law * counts.sum()
    common = expected >= 10
    if not common.all():
        counts = np.append(counts[common], counts[~common].sum())
        expected = np.append(expected[common], expected[~common].sum())
    if expected[-1] < 1e-6:
        assert counts[-1] == 0
        counts, expected = counts[:-1], expected[:-1]
    return stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue


def fits_only_as_it_is(p_value, wrong=(0.9, 1.1)):
    """Return whether a law fits, and does not with its privacy or noise times a wrong factor."""
    return [bool(p_value(factor) > FALSE_ALARM) for factor in (1.0, *wrong)] == [True] + [False] * len(wrong)


def laplace_sum_exceeds(x, scale):
    """Return P[R + C >= x] for Laplace noise of a run, twice the scale, and a comparison, four times it."""
    run, comparison = stats.laplace(0.0, 2.0 * scale), stats.laplace(0.0, 4.0 * scale)
    edges = sorted({-80.0 * scale, min(0.0, x), max(0.0, x), 80.0 * scale})
    parts = [integrate.quad(lambda r: run.pdf(r) * comparison.sf(x - r), a, b)[0] for a, b in pairwise(edges)]
    return sum(parts)
