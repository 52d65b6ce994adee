"""The noise that the privacy route allows for: what lies beyond its quantile is made up for by the gap."""

import math

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.dummy import DummyClassifier

from sklearn_ada import Holdout, MedianSettings, NoiseSettings
from sklearn_ada.guarantees import zcdp_gap
from sklearn_ada.terms.privacy_account import TransferAllowance
from tests.support import holdouts

LN_GAP, LN_NOISE = math.log(0.025), math.log(0.0025)


@pytest.fixture(scope="module")
def plan():
    X, y = np.zeros((20_000, 1)), np.arange(20_000) % 2
    holdout = Holdout(X, y, route="differential_privacy", ledger=":memory:", expected_questions=10)
    model = DummyClassifier().fit(X, y)

    def plan(settings, purpose="check"):
        asked = {"scoring": "accuracy", "purpose": purpose, "guess": 0.5, "settings": settings}
        return holdouts.plan(holdout, model, **asked)

    return plan


@pytest.mark.parametrize("rho", [1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0])
def test_the_gap_is_concave_in_the_logarithm_of_the_probability(rho):
    """The theorem of the privacy account rests on it."""
    steps = np.diff(np.array([zcdp_gap(rho, -x) for x in np.linspace(math.log(2.0), 80.0, 400)]))
    assert (steps >= 0.0).all()
    assert (np.diff(steps) <= 1e-13).all()


def of_a_normal(question):
    return lambda x: 2.0 * stats.norm.sf(x / question.deviation)


def of_a_thresholdout(question):
    """Either of two normals, on either side."""
    return lambda x: 4.0 * stats.norm.sf(x / question.scale_of_noise)


def of_a_laplace_thresholdout(question):
    """The largest noise of all runs and that of the answer: two exponentials after one another."""
    run, fresh = 2.0 * question.scale_of_noise, 4.0 * question.scale_of_noise
    start = run * math.log(question.settings.hits + 1.0)

    def tail(x):
        if x <= start:
            return 1.0
        later = (fresh * math.exp(-(x - start) / fresh) - run * math.exp(-(x - start) / run)) / (fresh - run)
        return min(later, 1.0)

    return tail


NOISE = {
    "private": (None, of_a_normal),
    "gaussian": (NoiseSettings("gaussian", scale=0.01), of_a_thresholdout),
    "laplace": (NoiseSettings("laplace", scale=0.002), of_a_laplace_thresholdout),
}


@pytest.mark.parametrize("rho", [1e-9, 1e-5, 1e-2, 0.5])
@pytest.mark.parametrize("noise", list(NOISE))
def test_noise_beyond_its_allowance_has_no_more_than_its_share(plan, noise, rho):
    settings, tail_of = NOISE[noise]
    question = plan(settings)
    tail = tail_of(question)
    transfer = TransferAllowance(rho, LN_GAP, LN_NOISE)
    steepness = zcdp_gap(rho, LN_GAP - 1.0) - zcdp_gap(rho, LN_GAP)
    share = math.exp(LN_NOISE) * steepness * question._unit_of_gap
    allowed, quantile = question.noise_bound(question._ln_tail(transfer)), question.noise_bound(LN_NOISE)

    def excess(end):
        return integrate.quad(tail, end, 60.0 * end, epsabs=0.0, epsrel=1e-6, limit=500)[0]

    assert excess(allowed) <= share
    if rho == 1e-9:  # noise that is large for so small a budget: its plain quantile would not do
        assert excess(quantile) > share
    if rho == 0.5:
        assert allowed == quantile


@pytest.mark.parametrize("mechanism", ["check", "certify"])
@pytest.mark.parametrize("epsilon", [0.05, 5.0])
def test_the_rank_error_beyond_its_allowance_has_no_more_than_its_share(plan, epsilon, mechanism):
    question = plan(MedianSettings(n_subsamples=1_000, epsilon=epsilon), mechanism)
    transfer = TransferAllowance(1e-3, LN_GAP, LN_NOISE)
    steepness = zcdp_gap(1e-3, LN_GAP - 1.0) - zcdp_gap(1e-3, LN_GAP)
    scale = 2.0 / (epsilon * 1_000)
    allowed, quantile = question._private_rank_error(transfer), question._rank_error(LN_NOISE)
    excess = scale * math.exp(LN_NOISE - (allowed - quantile) / scale)  # of an exponential tail
    assert excess <= math.exp(LN_NOISE) * steepness * (1.0 + 1e-6)
    assert (allowed > quantile) == (scale > steepness) == (epsilon == 0.05)


def test_a_gap_that_says_nothing_allows_for_nothing(plan):
    transfer = TransferAllowance(1e9, LN_GAP, LN_NOISE)
    assert plan(None).private_half_width(transfer) == 0.5
    assert plan(MedianSettings(n_subsamples=1_000, epsilon=0.5)).private_half_width(transfer) == 0.5


def test_privacy_promises_nothing_that_is_likelier_to_fail_than_not():
    X, y = np.zeros((100, 1)), np.arange(100) % 2
    with pytest.raises(ValueError, match=r"'confidence_level' .* must be at least 0\.5 where route="):
        Holdout(X, y, route="differential_privacy", confidence_level=0.4)
    Holdout(X, y, route="both", confidence_level=0.4, ledger=":memory:")
