import numpy as np
import pytest
from scipy import stats

from sklearn_ada.accounting import AboveThresholdEvent, CodedRelease, ComposedEvent, Symbol
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.mechanisms import EffectiveRounds, Rounding, UniformGrid
from tests.support.laws import fits_only_as_it_is, laplace_sum_exceeds

GRID = UniformGrid(0.0, 1.0, 1001)


@pytest.mark.thorough
def test_survives_an_analyst_who_defeats_one_slice_after_another():
    rng = np.random.default_rng(0)
    n_slices, slice_size, n_check, t, n_features = 3, 15, 600, 40, 300

    def subsamples(m):
        return rng.choice([-1, 1], size=(m * t, n_features)).astype(np.float32)

    # The label is independent of every feature, so each classifier's accuracy is 1/2.
    slices, check = [subsamples(slice_size) for _ in range(n_slices)], subsamples(n_check)

    def accuracy(rows, weights):
        return ((rows @ weights) > 0).reshape(-1, t).mean(axis=1)

    rounds = EffectiveRounds(n_slices, rho=0.15, alpha=0.1, epsilon=1.0)

    def ask(weights):
        return rounds.ask(
            lambda i: accuracy(slices[i], weights), accuracy(check, weights), Rounding(GRID, 0.5), rng
        ).answer

    verdicts = []
    while not rounds.exhausted:
        attacked = rounds.failures
        single = [ask(np.eye(n_features, dtype=np.float32)[j]) for j in range(n_features)]
        # Every feature's own accuracy is found plausible: a slice is worn out only by combining them.
        assert {a.verdict for a in single} == {"verified"}
        combined = np.sign([a.value - 0.5 for a in single]).astype(np.float32)
        assert np.median(accuracy(slices[attacked], combined)) > 0.6
        answer = ask(combined)
        verdicts.append(answer.verdict)
        # The attack's answer comes from a fresh slice, where it is worth nothing.
        assert answer.value is None or abs(answer.value - 0.5) < 0.1
    assert verdicts == ["renewed", "renewed", "exhausted"]
    for _ in range(3):
        with pytest.raises(BudgetExhaustedError, match="EffectiveRounds is exhausted"):
            ask(combined)


def test_slices_are_replaced_with_the_probability_of_the_law():
    # 4 of 20 subsamples are at most the answer, (.4 - .1) * 20 = 6 are wanted: 2 are lacking.
    rng, rounding, runs = np.random.default_rng(0), Rounding(UniformGrid(0.0, 20.0, 21)), 4000
    fresh = [EffectiveRounds(2, rho=0.4, alpha=0.2, epsilon=0.8) for _ in range(runs)]
    answers = [each.ask(lambda i: [3.0] * 3, np.arange(20.0), rounding, rng).answer for each in fresh]
    renewed = sum(answer.verdict == "renewed" for answer in answers)

    def p_value(factor):
        return stats.binomtest(renewed, runs, laplace_sum_exceeds(-2, 1 / (factor * 0.8))).pvalue

    assert fits_only_as_it_is(p_value, (0.5, 2.0))


def test_events_name_the_verification_and_the_slice():
    rng, rounding = np.random.default_rng(0), Rounding(GRID, 0.8)
    rounds = EffectiveRounds(2, rho=0.25, alpha=0.2, epsilon=1.0)
    check = rng.normal(0.8, 0.05, size=1000)
    slices = [[0.801] * 3, [0.99] * 3]
    releases = [rounds.ask(lambda i: slices[i], check, rounding, rng) for _ in range(2)]
    run, code = AboveThresholdEvent(1.0), CodedRelease((Symbol("grid", 1),))
    assert [r.event for r in releases] == [ComposedEvent((run, code)), code]
    assert [r.answer.slice_index for r in releases] == [0, 0]
    slices[0] = [0.2] * 3
    renewed = rounds.ask(lambda i: slices[i], check, rounding, rng)
    assert (renewed.answer.verdict, renewed.answer.value) == ("renewed", pytest.approx(0.99))
    assert renewed.event == CodedRelease((Symbol("grid", 190),))
    last = rounds.ask(lambda i: slices[i], check, rounding, rng)
    assert (last.answer.verdict, last.answer.value) == ("exhausted", None)
    assert last.event == run


def test_a_slice_that_fails_costs_nothing():
    rng, rounds = np.random.default_rng(0), EffectiveRounds(2, rho=0.25, alpha=0.2, epsilon=1.0)
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match="must be free of NaN"):
        rounds.ask(lambda i: [[0.5] * 3, [np.nan] * 3][i], [0.5] * 9, Rounding(GRID), rng)
    assert rng.bit_generator.state == before
    assert rounds == EffectiveRounds(2, rho=0.25, alpha=0.2, epsilon=1.0)
