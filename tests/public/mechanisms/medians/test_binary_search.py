import math

import numpy as np
import pytest
from scipy import stats

from sklearn_ada import mechanisms
from sklearn_ada.accounting import GaussianEvent, Symbol
from sklearn_ada.guarantees import feldman_steinke_2017_corollary_3_3
from tests.support.laws import chi_square, fits_only_as_it_is, is_too_often


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 33])
@pytest.mark.parametrize("level", [0.5, 0.8])
def test_search_survives_any_error_within_its_tolerance(size, level):
    rng, tolerance, beyond_one = np.random.default_rng(size), 0.06, 0
    for _ in range(300):
        data = rng.integers(size, size=int(rng.integers(1, 30)))
        asked = []

        def share(v, side, data=data, asked=asked):
            asked.append(v)
            truth = (data <= v).mean() if side == "at most" else (data < v).mean()
            return truth + tolerance * rng.choice([-0.999, 0.999])

        v = mechanisms.search_quantile(share, size, level=level, tolerance=tolerance)
        assert (data <= v).mean() > level - 2 * tolerance
        assert (data < v).mean() < level + 2 * tolerance
        beyond_one += (data <= v).mean() <= level - tolerance or (data < v).mean() >= level + tolerance
        assert len(asked) <= mechanisms.n_counting_questions(size)
    assert beyond_one or size < 3  # twice the tolerance is needed


@pytest.mark.parametrize(("size", "questions"), [(1, 0), (2, 2), (3, 4), (4, 4), (5, 6), (10**12, 80)])
def test_number_of_questions_by_hand(size, questions):
    assert mechanisms.n_counting_questions(size) == questions


def three_point_law(at_most, below, m, sigma, alpha):
    """The law on a grid of three points: only the middle one is tested."""
    too_low = stats.norm.cdf((0.5 - alpha / 4) * m, at_most, sigma)
    too_high = (1 - too_low) * stats.norm.sf((0.5 + alpha / 4) * m, below, sigma)
    return np.array([too_high, 1 - too_low - too_high, too_low])


def searched(values, size, rng, **settings):
    """Return what a search finds on a uniform grid of [0, 1]."""
    return mechanisms.binary_search_quantile(
        values, mechanisms.Rounding(mechanisms.UniformGrid(0.0, 1.0, size)), rng=rng, **settings
    ).answer


def test_search_agrees_with_its_law():
    rng, values = np.random.default_rng(0), np.repeat([0.0, 0.5, 1.0], [40, 20, 40])
    drawn = [searched(values, 3, rng, noise_multiplier=20.0, alpha=0.3) for _ in range(30_000)]
    counts = np.bincount(np.multiply(drawn, 2).astype(int), minlength=3)
    assert fits_only_as_it_is(lambda f: chi_square(counts, three_point_law(60, 40, 100, f * 20.0, 0.3)))


def test_the_event_counts_every_question_and_names_the_answer():
    rounding = mechanisms.Rounding(mechanisms.UniformGrid(0.0, 1.0, 1025), guess=0.75)
    release = mechanisms.binary_search_quantile(
        [0.75] * 100, rounding, noise_multiplier=1.0, alpha=0.5, rng=np.random.default_rng(0)
    )
    # 11 halvings, 2 questions each.
    offset = round((release.answer - 0.75) * 1024)
    assert release.event == GaussianEvent(1.0 / math.sqrt(22), (Symbol("grid", offset),))


def test_error_holds_with_its_probability():
    size, m, sigma, beta, runs = 10**6, 500, 12.0, 0.2, 2000
    rng, grid, off = np.random.default_rng(0), mechanisms.UniformGrid(0.0, 1.0, size), []
    alpha = mechanisms.binary_search_error(sigma, m, size, beta)
    for _ in range(runs):
        values = rng.beta(5, 2, size=m)
        indices = grid.index(values)
        v = grid.index(searched(values, size, rng, noise_multiplier=sigma, alpha=alpha))
        off.append(max(0.5 - (indices <= v).mean(), (indices < v).mean() - 0.5))
    assert not is_too_often(np.greater_equal(off, alpha / 2).sum(), runs, beta)
    assert is_too_often(np.greater_equal(off, alpha / 8).sum(), runs, beta)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_quantiles_other_than_the_median_are_found(level):
    values, rng = np.random.default_rng(0).normal(0.6, 0.1, size=2001), np.random.default_rng(1)
    answer = searched(values, 1025, rng, noise_multiplier=1.0, alpha=0.04, level=level)
    low, high = np.quantile(values, [level - 0.02, level + 0.02])
    assert low <= answer <= high


def test_binary_search_error_is_as_computed_by_hand():
    # 10 halvings, 20 counts; each exceeds t standard deviations with probability at most e^(-t^2/2).
    t = math.sqrt(2 * math.log(20 / 0.05))
    assert mechanisms.binary_search_error(7.0, 500, 1000, 0.05) / 4 * 500 == pytest.approx(7.0 * t)
    assert 20 * 2 * stats.norm.sf(t) <= 0.05


@pytest.mark.parametrize("size", [2, 1000, 10**12])
def test_corollary_3_3_follows_from_the_error(size):
    epsilon, delta, alpha, beta = 0.3, 1e-6, 0.2, 0.05
    m = feldman_steinke_2017_corollary_3_3(size, epsilon=epsilon, delta=delta, alpha=alpha, beta=beta)
    steps = math.ceil(math.log2(size))
    sigma = 3 * math.sqrt(steps * math.log(1 / delta)) / epsilon
    assert mechanisms.binary_search_error(sigma, m, size, beta) <= alpha
    # 2 steps Gaussian answers, as zCDP, converted (Bun, Steinke 2016, Proposition 1.3).
    rho = 2 * steps / (2 * sigma**2)
    assert rho + 2 * math.sqrt(rho * math.log(1 / delta)) <= epsilon
