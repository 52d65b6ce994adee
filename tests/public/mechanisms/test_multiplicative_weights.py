import math

import numpy as np
import pytest
from scipy import stats

from sklearn_ada.accounting import AboveThresholdEvent, ComposedEvent, LaplaceEvent
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.mechanisms import (
    PrivateMultiplicativeWeights,
    UniformGrid,
    multiplicative_weights_median,
    multiplicative_weights_sample_size,
    n_counting_questions,
)
from tests.support.laws import fits_only_as_it_is, laplace_sum_exceeds

BITS = 12
UNIVERSE = (np.arange(2**BITS)[:, None] >> np.arange(BITS)) & 1


def skewed_records(n, rng):
    """Chains of bits that mostly repeat the one before."""
    bits = np.empty((n, BITS), dtype=int)
    bits[:, 0] = rng.random(n) < 0.8
    for j in range(1, BITS):
        bits[:, j] = np.where(rng.random(n) < 0.85, bits[:, j - 1], rng.random(n) < 0.5)
    return bits @ (1 << np.arange(BITS))


def marginal(rng):
    columns = rng.choice(BITS, size=int(rng.integers(1, 4)), replace=False)
    return (UNIVERSE[:, columns] == rng.integers(2, size=columns.size)).all(axis=1)


def asked_once(n, epsilon, runs):
    """Answers to one question whose mean is .8, while the model says 1/2."""
    rng = np.random.default_rng(0)
    fresh = [PrivateMultiplicativeWeights(2, n, 0.3, epsilon) for _ in range(runs)]
    return np.array([mechanism.ask([0.0, 1.0], 0.8, rng).answer for mechanism in fresh])


def test_comparison_and_correction_agree_with_their_laws():
    n, epsilon, runs = 50, 1.0, 8000
    answers = asked_once(n, epsilon, runs)
    corrected = answers[answers != 0.5]
    far = int((abs(corrected - 0.8) > 1.5 / (n * epsilon)).sum())

    def of_comparisons(factor):  # the error is .3, the threshold .225, the noise that of AboveThreshold
        chance = 1.0 - laplace_sum_exceeds(0.3 - 0.225, factor / (n * epsilon))
        return stats.binomtest(corrected.size, runs, chance).pvalue

    def of_corrections(factor):
        return stats.binomtest(far, corrected.size, math.exp(-1.5 / factor)).pvalue

    for p_value in (of_comparisons, of_corrections):
        assert fits_only_as_it_is(p_value, (0.5, 2.0))


def test_answers_2000_marginals_within_the_stated_error():
    k, alpha, epsilon, rng = 2000, 0.1, 1.0, np.random.default_rng(0)
    n = multiplicative_weights_sample_size(k, universe_size=2**BITS, alpha=alpha, epsilon=epsilon, beta=0.05)
    records = skewed_records(n, rng)
    mechanism = PrivateMultiplicativeWeights(2**BITS, n, alpha, epsilon)
    data = np.bincount(records, minlength=2**BITS) / n
    present = data > 0
    uniform_error = worst = 0.0
    for _ in range(k):
        question = marginal(rng)
        value = float(question[records].mean())
        uniform_error = max(uniform_error, abs(question.mean() - value))
        before, updates = mechanism.model, mechanism.updates
        worst = max(worst, abs(mechanism.ask(question, value, rng).answer - value))
        if mechanism.updates > updates:
            gain = (data[present] * np.log(mechanism.model[present] / before[present])).sum()
            assert gain >= alpha**2 / 2
    assert worst <= alpha < uniform_error
    assert 0 < mechanism.updates <= 2 * math.log(2**BITS) / alpha**2


def test_sample_size_by_hand():
    # L = floor(2 ln 16 / .25) = 22; 4/(.5 * 2) (2 ln(3 * 23/.1) + 4 ln(3 * 10/.1))
    by_hand = math.ceil(4 * (2 * math.log(690) + 4 * math.log(300)))
    settings = {"universe_size": 16, "alpha": 0.5, "epsilon": 2.0, "beta": 0.1}
    assert multiplicative_weights_sample_size(10, **settings) == by_hand


def test_events_are_the_run_and_the_correction():
    rng, mechanism = np.random.default_rng(0), PrivateMultiplicativeWeights(2, 10_000, 0.2, 1.0)
    releases = [mechanism.ask([0.0, 1.0], value, rng) for value in (0.5, 1.0, 0.7)]
    run, correction = AboveThresholdEvent(1.0), LaplaceEvent(1.0)
    assert [r.event for r in releases] == [run, correction, run]
    assert releases[0].answer == 0.5
    assert releases[1].answer == pytest.approx(1.0, abs=0.001)
    # The model of the second element moved from 1/2 to e^.4/(1 + e^.4).
    assert releases[2].answer == pytest.approx(1 / (1 + math.exp(-0.4)))
    fresh = PrivateMultiplicativeWeights(2, 10_000, 0.2, 1.0)
    assert fresh.ask([0.0, 1.0], 1.0, rng).event == ComposedEvent((run, correction))


def test_exhausted_after_its_corrections():
    # One record: the noise alone uses up the corrections.
    rng, mechanism = np.random.default_rng(0), PrivateMultiplicativeWeights(2, 1, 0.9, 0.1)
    while not mechanism.exhausted:
        mechanism.ask([0.0, 1.0], 0.5, rng)
    assert mechanism.updates == mechanism.max_updates == 2
    state = rng.bit_generator.state
    for _ in range(3):
        with pytest.raises(BudgetExhaustedError):
            mechanism.ask([0.0, 1.0], 0.5, rng)
    assert rng.bit_generator.state == state


def test_many_medians_lie_in_the_interquartile_interval():
    k, rng, grid = 100, np.random.default_rng(0), UniformGrid(0.0, 1.0, 256)
    questions = k * n_counting_questions(grid.size)
    n = multiplicative_weights_sample_size(
        questions, universe_size=2**BITS, alpha=0.125, epsilon=1.0, beta=0.05
    )
    records = skewed_records(n, rng)
    mechanism = PrivateMultiplicativeWeights(2**BITS, n, 0.125, 1.0)
    for _ in range(k):
        weights = rng.normal(size=BITS)
        estimator = 1 / (1 + np.exp(-UNIVERSE @ weights))
        answer = multiplicative_weights_median(mechanism, estimator, records, grid, rng).answer
        sample, v = grid.index(estimator[records]), grid.index(answer)
        assert (sample <= v).mean() > 0.25
        assert (sample < v).mean() < 0.75
    assert mechanism.updates > 0


def test_a_search_cut_short_keeps_its_events():
    grid, records = UniformGrid(0.0, 1.0, 2**20), np.array([0])
    for seed in range(100):
        rng, mechanism = np.random.default_rng(seed), PrivateMultiplicativeWeights(2, 1, 0.25, 0.05)
        mechanism.updates = mechanism.max_updates - 1
        release = multiplicative_weights_median(mechanism, [0.2, 0.7], records, grid, rng)
        if release.answer is None:
            break
    assert release.answer is None
    assert LaplaceEvent(0.05) in release.event.events
    with pytest.raises(BudgetExhaustedError):
        multiplicative_weights_median(mechanism, [0.2, 0.7], records, grid, rng)
