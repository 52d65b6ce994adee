"""Formulas that plans rest on, against brute force, hand computation and other functions."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_ada import guarantees
from sklearn_ada.accounting import Code, Symbol, gaussian_delta
from sklearn_ada.mechanisms import Thresholdout

LN_BETA = math.log(0.05)


@pytest.mark.parametrize("n", [20, 1_000, 1_000_000])
@pytest.mark.parametrize("ln_delta", [-0.1, -3.0, -40.0, -290.0])
def test_the_expected_half_width_is_clopper_pearsons_at_whole_counts(n, ln_delta):
    for count in (n // 10, n // 2, n - n // 10):
        low, high = guarantees.clopper_pearson(count, count, n, ln_delta)
        width = guarantees.expected_half_width(n, ln_delta, count / n)
        assert width == pytest.approx((high - low) / 2, rel=1e-8, abs=1e-9)


def test_the_expected_half_width_in_the_far_tail_is_never_narrower_and_hardly_wider():
    low, high = guarantees.clopper_pearson(8_500, 8_500, 10_000, -400.0)
    width = guarantees.expected_half_width(10_000, -400.0, 0.85)
    assert (high - low) / 2 <= width <= 1.01 * (high - low) / 2
    low, miss_low = (guarantees.chernoff_kl(p, p, 10_000, -400.0)[0] for p in (0.85, 1 - 0.85))
    assert width == (1 - miss_low - low) / 2


def test_the_expected_half_width_in_the_worst_case_and_with_a_reach():
    assert (
        guarantees.expected_half_width(500, -5.0, reach=0.1)
        == guarantees.hoeffding_half_width(500, -5.0) + 0.1
    )
    low, high = guarantees.clopper_pearson(700, 900, 1_000, -5.0)
    assert guarantees.expected_half_width(1_000, -5.0, 0.8, reach=0.1) == pytest.approx((high - low) / 2)
    assert guarantees.expected_half_width(1_000, -5.0, 0.8, reach=5.0) == 0.5


@pytest.mark.parametrize(("k", "step"), [(1, 0.5), (3, 1.0), (4, 0.5), (5, 0.4)])
def test_conversations_with_a_ladder_are_counted(k, step):
    """Every sequence that never rises, on one rung more than needed, before each question."""
    rungs = range(math.floor(1 / step) + 2)
    begun = (answers for before in range(k) for answers in itertools.product(rungs, repeat=before))
    count = sum(list(answers) == sorted(answers, reverse=True) for answers in begun)
    assert math.exp(guarantees.ladder_transcripts(k, step)) == pytest.approx(count)


def test_the_step_of_a_ladder_is_the_best():
    best = guarantees.blum_hardt_2015(10_000, 1_000, LN_BETA)
    widths = [
        guarantees.blum_hardt_2015(10_000, 1_000, LN_BETA, step=step).half_width
        for step in (best.step, *np.geomspace(0.005, 0.5, 400))
    ]
    assert best.half_width == min(widths) == widths[0]
    nats = guarantees.ladder_transcripts(1_000, best.step)
    assert best.half_width == pytest.approx(best.step + math.sqrt((math.log(40.0) + nats) / 20_000))


def test_the_half_width_of_verdicts_counts_their_conversations():
    ln_each = LN_BETA - math.log(2**10 - 1)
    assert guarantees.verdict_half_width(1_000, 10, LN_BETA) == guarantees.hoeffding_half_width(
        1_000, ln_each
    )


def test_gaussian_noise_meets_the_theorem_of_bassily():
    """The half-width found is one that the theorem gives, at some epsilon, for the noise found."""
    n, k = 1_000_000, 1_000
    bound = guarantees.gaussian_bassily(n, k, LN_BETA)
    mu, failures = math.sqrt(k) / (n * bound.noise_scale), []
    for epsilon in np.linspace(0.0049, bound.half_width / 6, 4_000, endpoint=False):
        alpha, delta = bound.half_width - 6 * epsilon, gaussian_delta(mu, epsilon)
        if delta <= epsilon / 16:
            per_question = 2 * norm.sf(alpha / bound.noise_scale)
            failures.append(guarantees.bassily_2016(alpha, per_question, k, epsilon, delta, n).failure)
    assert min(failures) == pytest.approx(0.05, rel=0.01)


def test_a_plan_of_laplace_noise_solves_the_bound():
    plan = guarantees.laplace_plan(10, alpha=0.1, beta=0.05)
    fewer, bound = (guarantees.laplace_bassily(n, 10, 0.05) for n in (plan.n - 1, plan.n))
    assert bound.half_width <= 0.1 < fewer.half_width
    assert bound.epsilon == plan.epsilon


def test_bassilys_bounds_are_infinite_where_the_theorem_allows_no_epsilon():
    assert guarantees.gaussian_bassily(1_000, 1, LN_BETA).half_width == math.inf
    assert guarantees.laplace_bassily(1_000, 1, 0.05).half_width == math.inf


def test_the_half_width_of_thresholdout_by_hand():
    n, k, hits, scale = 50_000, 200, 3, 0.002
    e = 1 / (scale * n)
    rho = hits * (e * math.tanh(e / 2) + e + math.exp(-e) - 1) + e * math.tanh(e / 2)
    noise = 2 * scale * (math.log(4 / 0.05) + 1) + 4 * scale * (math.log(200 / 0.05) + 1)
    bound = guarantees.thresholdout_direct(n, k, hits, LN_BETA, threshold=0.01, noise_scale=scale)
    assert bound.half_width == pytest.approx(0.01 + noise + guarantees.zcdp_gap(rho, LN_BETA))
    tails = (
        guarantees.laplace_tail_mean(4, 2 * scale, LN_BETA),
        guarantees.laplace_tail_mean(k, 4 * scale, LN_BETA),
    )
    assert noise == pytest.approx(sum(tails))


@pytest.mark.parametrize(
    ("n", "threshold"),
    [(n, 0.01) for n in (500, 100_000, 10**9)]
    + [(n, 0.1) for n in (20, 100, 300, 500, 550, 600, 1_000, 5_000)],
)
def test_no_noise_of_thresholdout_is_better(n, threshold):
    """On few records hardly any noise is the best, at the threshold and a gap that nothing bounds."""
    best = guarantees.thresholdout_direct(n, 100, 5, LN_BETA, threshold=threshold)
    scales, rel = np.geomspace(1e-8, 10.0, 400), 1e-6
    if threshold == 0.01:  # only around what is found
        scales, rel = best.noise_scale * np.geomspace(0.2, 5, 41), 1e-3
    bounds = [
        guarantees.thresholdout_direct(n, 100, 5, LN_BETA, threshold=threshold, noise_scale=s) for s in scales
    ]
    assert best.half_width <= min(bound.half_width for bound in bounds) * (1 + rel) + 1e-6
    if threshold == 0.1:
        assert (best.half_width == pytest.approx(1.1)) == (n <= 500)


def test_the_mean_of_the_worst_noise_of_thresholdout():
    """The worst error of a whole conversation, in its worst 5 %, is within the threshold and t."""
    rng, k, hits, s, threshold = np.random.default_rng(0), 30, 3, 0.01, 0.05
    errors = []
    for _ in range(4_000):
        mechanism, worst = Thresholdout(threshold, s, hits, 1e-4), 0.0
        for value in rng.normal(scale=0.5 * threshold, size=k):
            if not mechanism.exhausted:
                worst = max(worst, abs(mechanism.ask(0.0, value, rng).answer.value - value))
        errors.append(worst)
    t = guarantees.laplace_tail_mean(hits + 1, 2 * s, LN_BETA) + guarantees.laplace_tail_mean(
        k, 4 * s, LN_BETA
    )
    assert np.mean(np.sort(errors)[-200:]) <= threshold + t


def test_a_uniform_code_is_its_own_union_bound():
    m, k, size = 400, 3, 11
    low, _ = guarantees.quantile_interval(m, 0.0, LN_BETA - math.log(3 * 11**2))
    assert guarantees.uniform_code_level(m, k, size, LN_BETA) == low
    assert (
        guarantees.uniform_code_level(m, 1, size, LN_BETA) == guarantees.quantile_interval(m, 0.0, LN_BETA)[0]
    )


@pytest.mark.parametrize("transfer", ["direct", "jung"])
def test_the_level_at_a_plan_is_the_plans(transfer):
    plan = guarantees.stable_median_plan(20, 100, LN_BETA, level=0.3, transfer=transfer)
    fewer, level = (
        guarantees.stable_median_level(m, 20, 100, LN_BETA, transfer=transfer)
        for m in (plan.n_subsamples - 1, plan.n_subsamples)
    )
    assert fewer.level < 0.3 <= level.level
    assert level.epsilon == plan.epsilon


def test_the_expected_price_of_checks_against_simulated_urns():
    """The mean, over the number of surprises, of a half-width that is the price it"""
    rng = np.random.default_rng(0)
    plan = guarantees.plan_checks(200, 0.01, 0.4, 1_000, LN_BETA, surprise_rate=0.03)
    surprises = rng.binomial(199, plan.surprise, 4_000)
    price = guarantees.urn_nats(199, surprises, Code()).mean()
    assert plan.check(lambda ln_delta: plan.ln_check - ln_delta) == pytest.approx(price, rel=0.03)


def test_few_surprises_are_mixed_and_not_averaged():
    plan = guarantees.plan_checks(100, 0.01, 0.4, 1_000, LN_BETA, surprise_rate=0.002)
    none, one = guarantees.urn_nats(100, np.array([0, 1]), Code())
    share = 100 * plan.surprise
    assert 0.1 < share < 0.5
    expected = (1 - share) * math.sqrt(none) + share * math.sqrt(one)
    assert plan.certify(lambda ln_delta: math.sqrt(plan.ln_certify - ln_delta)) == pytest.approx(expected)


def test_a_first_check_pays_for_nothing():
    plan = guarantees.plan_checks(1, 0.01, 0.4, 1_000, LN_BETA, surprise_rate=1.0)
    first = plan.check(lambda ln_delta: ln_delta)
    assert first == plan.ln_check == pytest.approx(LN_BETA + math.log(0.1 * 0.8))
    assert plan.surprise == 1.0


def test_the_price_of_certifies_against_the_code():
    """The mean price of a Cauchy code at a normal offset of its own scale."""
    rng, scale, code = np.random.default_rng(0), 50.0, Code()
    offsets = np.rint(rng.normal(scale=scale, size=4_000)).astype(int)
    price = -np.mean([code.ln_prior(Symbol("lattice", int(z), scale)) for z in offsets])
    first, second = (guarantees.plan_certifies(k, scale, LN_BETA) for k in (1, 2))
    # Weights .8 and .1; only the first answer is paid for by the second.
    assert first - second == pytest.approx(price + math.log(8.0), abs=0.03)
