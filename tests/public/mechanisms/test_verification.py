import numpy as np
import pytest
from scipy import stats

from sklearn_ada.accounting import AboveThresholdEvent
from sklearn_ada.mechanisms import Verification, verification_sample_size
from tests.support.laws import fits_only_as_it_is, is_too_often, laplace_sum_exceeds


@pytest.mark.parametrize("guess", [16.0, 3.0])
def test_verifications_agree_with_their_law_at_both_ends(guess):
    rng, values, n = np.random.default_rng(0), np.arange(20.0), 40_000
    # Values at most 3: 4 of 20; the threshold is (.4 - .1) * 20 = 6, so 2 are missing.
    yes = sum(Verification(0.4, 0.2, 1.0, 1).ask(values, guess, rng).answer == "Y" for _ in range(n))
    assert fits_only_as_it_is(lambda f: stats.binomtest(yes, n, laplace_sum_exceeds(2, 1 / f)).pvalue)


def test_the_minimum_of_both_counts_moves_by_at_most_one():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        data = rng.integers(6, size=7)
        other = data.copy()
        other[rng.integers(7)] = rng.integers(6)
        v = rng.integers(6)
        plausible = [min((d <= v).sum(), (d >= v).sum()) for d in (data, other)]
        assert abs(plausible[0] - plausible[1]) <= 1


def test_answers_are_right_at_the_sample_size():
    k, rho, alpha, epsilon, failures, beta, runs = 40, 0.3, 0.15, 0.5, 3, 0.2, 300
    m = verification_sample_size(k, alpha=alpha, epsilon=epsilon, max_failures=failures, beta=beta)
    values, rng, missed = np.arange(m) / m, np.random.default_rng(0), 0
    good, bad = rho - alpha / 3 + 2 / m, rho - 2 * alpha / 3 - 2 / m
    for _ in range(runs):
        verification = Verification(rho, alpha, epsilon, failures)
        for guess, right in [(good, "Y"), (bad, "N"), (1 - good, "Y"), (1 - bad, "N")] * (k // 4):
            if verification.exhausted:
                break
            if verification.ask(values, guess, rng).answer != right:
                missed += 1
                break
    assert not is_too_often(missed, runs, beta)


def test_each_run_is_an_event_and_then_it_is_exhausted():
    rng, values = np.random.default_rng(0), np.arange(1000.0)
    verification = Verification(0.25, 0.1, 1.0, max_failures=2)
    releases = [verification.ask(values, guess, rng) for guess in (500.0, -5.0, 500.0, 400.0, 2000.0)]
    assert [r.answer for r in releases] == ["Y", "N", "Y", "Y", "N"]
    run = AboveThresholdEvent(1.0)
    assert [r.event for r in releases] == [run, None, run, None, None]
    assert verification.exhausted
