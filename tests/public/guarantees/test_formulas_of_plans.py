"""Formulas that plans rest on, against brute force, hand computation and other functions."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_ada.accounting import Code
from sklearn_ada.guarantees import (
    bassily_2016,
    blum_hardt_2015,
    chernoff_kl,
    clopper_pearson,
    expected_half_width,
    gaussian_bassily,
    hoeffding_half_width,
    ladder_transcripts,
    laplace_bassily,
    laplace_plan,
    laplace_tail_mean,
    plan_certifies,
    plan_checks,
    quantile_interval,
    stable_median_level,
    thresholdout_direct,
    uniform_code_level,
    urn_nats,
    verdict_half_width,
    zcdp_gap,
)
from sklearn_ada.mechanisms import Ladder, Thresholdout

LN_BETA = math.log(0.05)


class TestExpectedHalfWidth:
    @pytest.mark.parametrize("n", [20, 1_000, 1_000_000])
    @pytest.mark.parametrize("ln_delta", [-0.1, -3.0, -40.0, -290.0])
    def test_clopper_pearson_at_whole_counts(self, n, ln_delta):
        for count in (n // 10, n // 2, n - n // 10):
            low, high = clopper_pearson(count, count, n, ln_delta)
            width = expected_half_width(n, ln_delta, count / n)
            assert width == pytest.approx((high - low) / 2, rel=1e-8, abs=1e-9)

    def test_the_far_tail_is_never_narrower_and_hardly_wider(self):
        low, high = clopper_pearson(8_500, 8_500, 10_000, -400.0)
        assert (high - low) / 2 <= expected_half_width(10_000, -400.0, 0.85) <= 1.01 * (high - low) / 2
        low, miss_low = (chernoff_kl(p, p, 10_000, -400.0)[0] for p in (0.85, 1 - 0.85))
        assert expected_half_width(10_000, -400.0, 0.85) == (1 - miss_low - low) / 2

    def test_worst_case_and_reach(self):
        assert expected_half_width(500, -5.0, reach=0.1) == hoeffding_half_width(500, -5.0) + 0.1
        low, high = clopper_pearson(700, 900, 1_000, -5.0)
        assert expected_half_width(1_000, -5.0, 0.8, reach=0.1) == pytest.approx((high - low) / 2)
        assert expected_half_width(1_000, -5.0, 0.8, reach=5.0) == 0.5


class TestLadder:
    @pytest.mark.parametrize(("k", "step"), [(1, 0.5), (3, 1.0), (4, 0.5), (5, 0.4)])
    def test_conversations_are_counted(self, k, step):
        """Every sequence that never rises, on one rung more than needed, before each question."""
        rungs = math.floor(1 / step) + 2
        count = sum(
            1
            for before in range(k)
            for answers in itertools.product(range(rungs), repeat=before)
            if all(later <= earlier for earlier, later in itertools.pairwise(answers))
        )
        assert math.exp(ladder_transcripts(k, step)) == pytest.approx(count)

    def test_the_best_step(self):
        best = blum_hardt_2015(10_000, 1_000, LN_BETA)
        widths = [
            blum_hardt_2015(10_000, 1_000, LN_BETA, step=step).half_width
            for step in np.geomspace(0.005, 0.5, 400)
        ]
        assert best.half_width <= min(widths)
        assert best.half_width == blum_hardt_2015(10_000, 1_000, LN_BETA, step=best.step).half_width
        nats = ladder_transcripts(1_000, best.step)
        assert best.half_width == pytest.approx(best.step + math.sqrt((math.log(40.0) + nats) / 20_000))

    def test_the_ladder_is_within_a_step_of_the_best_empirical_loss(self):
        rng = np.random.default_rng(0)
        for step in (0.3, 0.1, 0.037):
            for _ in range(200):
                ladder, best = Ladder(step), 1.0
                for loss in rng.random(20) ** rng.integers(1, 4):
                    best = min(best, loss)
                    assert abs(ladder.ask(float(loss)).answer - best) <= step * (1 + 1e-9)


def test_verdicts():
    assert verdict_half_width(1_000, 10, LN_BETA) == hoeffding_half_width(
        1_000, LN_BETA - math.log(2**10 - 1)
    )


class TestBassily:
    def test_gaussian_noise_meets_the_theorem(self):
        """The half-width found is one that the theorem gives, at some epsilon, for the noise found."""
        from sklearn_ada.accounting import gaussian_delta

        n, k = 1_000_000, 1_000
        bound = gaussian_bassily(n, k, LN_BETA)
        mu = math.sqrt(k) / (n * bound.noise_scale)
        failures = []
        for epsilon in np.linspace(0.0049, bound.half_width / 6, 4_000, endpoint=False):
            alpha = bound.half_width - 6 * epsilon
            per_question = 2 * norm.sf(alpha / bound.noise_scale)
            delta = gaussian_delta(mu, epsilon)
            if delta <= epsilon / 16:
                failures.append(bassily_2016(alpha, per_question, k, epsilon, delta, n).failure)
        assert min(failures) == pytest.approx(0.05, rel=0.01)

    def test_laplace_noise_is_what_the_plan_solves(self):
        plan = laplace_plan(10, alpha=0.1, beta=0.05)
        assert laplace_bassily(plan.n, 10, 0.05).half_width <= 0.1
        assert laplace_bassily(plan.n - 1, 10, 0.05).half_width > 0.1
        assert laplace_bassily(plan.n, 10, 0.05).epsilon == plan.epsilon

    def test_infinite_where_the_theorem_allows_no_epsilon(self):
        assert gaussian_bassily(1_000, 1, LN_BETA).half_width == math.inf
        assert laplace_bassily(1_000, 1, 0.05).half_width == math.inf


class TestThresholdout:
    def test_by_hand(self):
        n, k, hits, scale = 50_000, 200, 3, 0.002
        e = 1 / (scale * n)
        rho = hits * (e * math.tanh(e / 2) + e + math.exp(-e) - 1) + e * math.tanh(e / 2)
        noise = 2 * scale * (math.log(4 / 0.05) + 1) + 4 * scale * (math.log(200 / 0.05) + 1)
        bound = thresholdout_direct(n, k, hits, LN_BETA, threshold=0.01, noise_scale=scale)
        assert bound.half_width == pytest.approx(0.01 + noise + zcdp_gap(rho, LN_BETA))
        assert noise == pytest.approx(
            laplace_tail_mean(4, 2 * scale, LN_BETA) + laplace_tail_mean(k, 4 * scale, LN_BETA)
        )

    @pytest.mark.parametrize("n", [500, 100_000, 10**9])
    def test_the_best_noise(self, n):
        best = thresholdout_direct(n, 100, 5, LN_BETA, threshold=0.01)
        scales = best.noise_scale * np.geomspace(0.2, 5, 41)
        widths = [
            thresholdout_direct(n, 100, 5, LN_BETA, threshold=0.01, noise_scale=s).half_width for s in scales
        ]
        assert best.half_width <= min(widths) * (1 + 1e-3)

    @pytest.mark.parametrize("n", [20, 100, 300, 500, 550, 600, 1_000, 5_000])
    def test_no_noise_whatever_is_better(self, n):
        """On few records hardly any noise is the best, at the threshold and a gap that nothing bounds."""
        best = thresholdout_direct(n, 100, 5, LN_BETA, threshold=0.1)
        least = min(
            thresholdout_direct(n, 100, 5, LN_BETA, threshold=0.1, noise_scale=s).half_width
            for s in np.geomspace(1e-8, 10.0, 400)
        )
        assert best.half_width <= least * (1 + 1e-6) + 1e-6
        assert (best.half_width == pytest.approx(1.1)) == (n <= 500)

    def test_the_mean_of_the_worst_noise(self):
        """The worst error of a whole conversation, in its worst 5 %, is within the threshold and t."""
        rng, k, hits, s, threshold = np.random.default_rng(0), 30, 3, 0.01, 0.05
        errors = []
        for _ in range(4_000):
            mechanism = Thresholdout(threshold, s, hits, 1e-4)
            worst = 0.0
            for value in rng.normal(scale=0.5 * threshold, size=k):
                if mechanism.exhausted:
                    break
                worst = max(worst, abs(mechanism.ask(0.0, value, rng).answer.value - value))
            errors.append(worst)
        tail = np.mean(np.sort(errors)[-200:])
        t = laplace_tail_mean(hits + 1, 2 * s, LN_BETA) + laplace_tail_mean(k, 4 * s, LN_BETA)
        assert tail <= threshold + t


def test_a_uniform_code_is_its_own_union_bound():
    m, k, size = 400, 3, 11
    low, _ = quantile_interval(m, 0.0, LN_BETA - math.log(3 * 11**2))
    assert uniform_code_level(m, k, size, LN_BETA) == low
    assert uniform_code_level(m, 1, size, LN_BETA) == quantile_interval(m, 0.0, LN_BETA)[0]


def test_the_level_at_a_plan_is_the_plan_s():
    from sklearn_ada.guarantees import stable_median_plan

    for transfer in ("direct", "jung"):
        plan = stable_median_plan(20, 100, LN_BETA, level=0.3, transfer=transfer)
        level = stable_median_level(plan.n_subsamples, 20, 100, LN_BETA, transfer=transfer)
        assert level.level >= 0.3
        assert level.epsilon == plan.epsilon
        assert stable_median_level(plan.n_subsamples - 1, 20, 100, LN_BETA, transfer=transfer).level < 0.3


class TestPlannedChecks:
    def test_the_expected_price_against_simulated_urns(self):
        """The mean, over the number of surprises, of a half-width that is the price itself."""
        rng = np.random.default_rng(0)
        plan = plan_checks(200, 0.01, 0.4, 1_000, LN_BETA, surprise_rate=0.03)
        surprises = rng.binomial(199, plan.surprise, 4_000)
        price = urn_nats(199, surprises, Code()).mean()
        assert plan.check(lambda ln_delta: plan.ln_check - ln_delta) == pytest.approx(price, rel=0.03)

    def test_few_surprises_are_mixed_and_not_averaged(self):
        plan = plan_checks(100, 0.01, 0.4, 1_000, LN_BETA, surprise_rate=0.002)
        none, one = urn_nats(100, np.array([0, 1]), Code())
        share = 100 * plan.surprise
        assert 0.1 < share < 0.5
        expected = (1 - share) * math.sqrt(none) + share * math.sqrt(one)
        assert plan.certify(lambda ln_delta: math.sqrt(plan.ln_certify - ln_delta)) == pytest.approx(expected)

    def test_a_first_check_pays_for_nothing(self):
        plan = plan_checks(1, 0.01, 0.4, 1_000, LN_BETA, surprise_rate=1.0)
        assert (
            plan.check(lambda ln_delta: ln_delta)
            == plan.ln_check
            == pytest.approx(LN_BETA + math.log(0.1 * 0.8))
        )
        assert plan.surprise == 1.0

    def test_the_price_of_certifies_against_the_code(self):
        """The mean price of a Cauchy code at a normal offset of its own scale."""
        from sklearn_ada.accounting import Symbol

        rng, scale, code = np.random.default_rng(0), 50.0, Code()
        offsets = np.rint(rng.normal(scale=scale, size=4_000)).astype(int)
        price = -np.mean([code.ln_prior(Symbol("lattice", int(z), scale)) for z in offsets])
        first, second = (plan_certifies(k, scale, LN_BETA) for k in (1, 2))
        # Weights .8 and .1; only the first answer is paid for by the second.
        assert first - second == pytest.approx(price + math.log(8.0), abs=0.03)
