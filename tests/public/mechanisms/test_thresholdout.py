import numpy as np
import pytest
from scipy import stats

from sklearn_ada.accounting import GaussianEvent, SelfComposedEvent, ThresholdoutEvent
from sklearn_ada.mechanisms import Thresholdout, gaussian_thresholdout
from tests.support.laws import FALSE_ALARM, fits_only_as_it_is, laplace_sum_exceeds

N = 40_000


def outcomes(ask):
    """Return how many of many answers agree, and the corrected values."""
    answers = [ask() for _ in range(N)]
    corrections = [answer.value for answer in answers if answer.verdict == "differs"]
    return N - len(corrections), corrections


def test_laplace_agrees_with_its_law():
    rng, scale = np.random.default_rng(0), 0.02
    agreed, corrections = outcomes(lambda: Thresholdout(0.04, scale, 1, 1e-4).ask(0.9, 0.8, rng).answer)
    chances = [laplace_sum_exceeds(0.1 - 0.04, factor * scale) for factor in (1.0, 0.9, 1.1)]
    as_it_is, *wrong = (stats.binomtest(agreed, N, chance).pvalue for chance in chances)
    assert as_it_is > FALSE_ALARM
    assert max(wrong) < 1e-3
    assert fits_only_as_it_is(
        lambda factor: stats.kstest(corrections, stats.laplace(0.8, factor * scale).cdf).pvalue
    )


def test_gaussian_agrees_with_its_law():
    scale = 0.05
    settings = {"threshold": 0.04, "scale": scale, "sensitivity": 1e-4, "rng": np.random.default_rng(0)}
    agreed, corrections = outcomes(lambda: gaussian_thresholdout(0.9, 0.8, **settings).answer)
    for p_value in (
        lambda factor: stats.binomtest(agreed, N, stats.norm.sf(0.06, 0, factor * scale)).pvalue,
        lambda factor: stats.kstest(corrections, stats.norm(0.8, factor * scale).cdf).pvalue,
    ):
        assert fits_only_as_it_is(p_value)


def test_agreement_uses_no_hit_but_the_opening_is_an_event():
    rng, holdout = np.random.default_rng(0), Thresholdout(0.1, 0.001, max_hits=2, sensitivity=1e-4)
    releases = [holdout.ask(0.8, 0.8, rng) for _ in range(100_000)]
    assert {r.answer.verdict for r in releases} == {"agrees"}
    assert {r.answer.value for r in releases} == {0.8}
    assert holdout.hits == 0
    assert releases[0].event == ThresholdoutEvent(1e-4 / 0.001, 2)
    assert {r.event for r in releases[1:]} == {None}


def test_one_event_covers_all_hits():
    rng, holdout = np.random.default_rng(0), Thresholdout(0.1, 0.001, max_hits=3, sensitivity=1e-4)
    releases = [holdout.ask(0.99, 0.8, rng) for _ in range(3)]
    assert [r.event for r in releases] == [ThresholdoutEvent(1e-4 / 0.001, 3), None, None]
    assert [r.answer.verdict for r in releases] == ["differs"] * 3
    assert holdout.exhausted


@pytest.mark.parametrize("guess", [0.6, 0.99])
def test_a_guess_differs_if_it_is_too_low_or_too_high(guess):
    rng = np.random.default_rng(0)
    assert Thresholdout(0.1, 0.001, 1, 1e-4).ask(guess, 0.8, rng).answer.verdict == "differs"
    options = {"threshold": 0.1, "scale": 0.001, "sensitivity": 1e-4}
    assert gaussian_thresholdout(guess, 0.8, **options, rng=rng).answer.verdict == "differs"


def test_threshold_is_redrawn_after_a_hit():
    rng, noises = np.random.default_rng(0), []
    holdout = Thresholdout(0.1, 0.001, max_hits=2, sensitivity=1e-4)
    for guess in (0.8, 0.99, 0.8):
        holdout.ask(guess, 0.8, rng)
        noises.append(holdout.threshold_noise)
    assert noises[2] not in (None, noises[0])


def test_gaussian_charges_every_comparison():
    rng = np.random.default_rng(0)
    options = {"threshold": 0.04, "scale": 0.001, "sensitivity": 1e-4, "rng": rng}
    comparison = GaussianEvent(0.001 / 1e-4)
    assert gaussian_thresholdout(0.8, 0.8, **options).event == comparison
    assert gaussian_thresholdout(0.9, 0.8, **options).event == SelfComposedEvent(comparison, 2)
