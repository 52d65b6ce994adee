"""Widths of searches in a row, and of the candidates of one, that came out of a holdout, at a few seeds."""

import numpy as np
import pytest

from benchmarks.validity import candidates
from benchmarks.validity.searches import AFTER, draw, schemes


@pytest.mark.parametrize(
    ("n", "seeds"),
    [(500, 6), (2000, 4), *(pytest.param(n, 100, marks=pytest.mark.slow) for n in (500, 2000, 10_000))],
)
def test_twenty_searches_are_answered_at_the_width_of_the_first_and_one_is_published(n, seeds):
    runs = [schemes(*draw(n, seed), n) for seed in range(seeds)]

    def median(scheme, after):
        return float(np.median([run[scheme][after] for run in runs]))

    assert all(median("cells, told", after) <= 3.05 for after in AFTER)
    assert median("cells, published", 1) <= 1.0
    assert median("cells, published", 9) <= 1.08
    assert median("cells, published", 20) <= 1.2
    assert median("cells, unsealed", 20) <= 2.0
    assert median("first exact, told", 1) <= 1.12
    # What it is for: the first version, and splitting where the number of searches is known.
    for other in ("exact, told", "splitting, number known"):
        assert median("cells, told", 9) < 0.7 * median(other, 9)
        assert median("cells, published", 9) < 0.35 * median(other, 9)
    assert median("cells, told", 9) < median("Guess-and-Check in hindsight", 9)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("size", "searching", "closed"),
    [(100, 0.0265, 0.0155), pytest.param(1_000, 0.030, 0.0175, marks=pytest.mark.slow)],
)
def test_the_candidates_of_a_search_are_told_narrowly_and_narrower_when_it_is_closed(size, searching, closed):
    runs = [candidates.widths(10_000, size, seed, 0.02) for seed in range(10)]

    def median(name):
        return float(np.median([run[name] for run in runs]))

    assert median("searching") <= searching
    assert median("closed") <= closed
    assert median("kept") <= 1.15
    assert median("over Guess-and-Check") < 0.95  # by the widest answer that agrees
