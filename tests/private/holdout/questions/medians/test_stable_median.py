"""Intervals of a stable median in units of the metric: whole cells of the grid, and never upside down."""

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier, DummyRegressor

from sklearn_ada import Guess, Holdout, MedianSettings, Metric
from sklearn_ada.guarantees import outer_levels, quantile_interval
from sklearn_ada.mechanisms import ExplicitGrid, LogGrid, UniformGrid
from sklearn_ada.terms.holdout_data import HoldoutData
from tests.support import holdouts
from tests.support.ledgers import bodies

GRIDS = [LogGrid(1e-3, 1e3, 7), UniformGrid(0.0, 30.0, 4), ExplicitGrid((0.0, 1.0, 8.0, 100.0))]
NOUGHT = DummyRegressor(strategy="constant", constant=0.0).fit([[0.0]], [0.0])
MEDIAN = "neg_median_absolute_error"


def holdout_of(y, seed=0):
    """Return a holdout of numbers, which are their rows, too; the seed decides the subsamples."""
    return Holdout(y[:, None], y, ledger=":memory:", random_state=seed)


@pytest.mark.parametrize("grid", GRIDS, ids=["log", "uniform", "explicit"])
@pytest.mark.parametrize("value", [0.5, 3.0, 3.3, 4.9, 5.1, 20.0])
def test_what_is_the_same_on_every_subsample_is_in_the_interval(grid, value):
    X = np.arange(20_000.0)[:, None]
    holdout, model = Holdout(X, X[:, 0] + 0.5, ledger=":memory:"), DummyRegressor().fit(X, X[:, 0])
    settings = MedianSettings(method="exact", grid=grid)
    answer = holdout.certify(model, scoring=lambda model, X, y: value, settings=settings)
    low, high = answer.interval
    assert low <= value <= high
    assert not answer.certificate.vacuous


def undefined_on(share):
    """Return the answer about a score that most subsamples, or few, do not have."""

    def score(model, X, y):
        return 0.7 if y.mean() > np.quantile(np.arange(1000.0), share) else np.nan

    y = np.arange(1000.0)
    metric = Metric(score, kind="general", range=(0.0, 1.0))
    settings = MedianSettings(50, UniformGrid(-1.0, 1.0, 2001), method="exact")
    holdout = Holdout(y[:, None], y + 0.5, ledger=":memory:", random_state=0)  # which decides the subsamples
    model = DummyRegressor().fit(y[:, None], y)
    return holdout.certify(model, scoring=metric, guess=0.7, settings=settings)


def test_undefined_on_most_subsamples_is_a_failure_with_a_price_and_on_few_it_counts_as_the_worst():
    failed = undefined_on(0.55)
    assert (failed.verdict, failed.reason, failed.interval) == ("failed", "metric is undefined", (0.0, 1.0))
    assert failed.cost.nats > 5
    answer = undefined_on(0.45)  # of the same holdout: what it revealed widens this interval
    assert (answer.value, answer.interval[0]) == (pytest.approx(0.7), 0.0)
    assert answer.interval[1] >= 0.7


def test_an_interval_is_within_the_range_even_where_the_grid_is_not():
    X, y = np.zeros((400, 1)), np.repeat([0, 1], 200)
    holdout = Holdout(X, y, ledger=":memory:")
    answer = holdout.certify(
        DummyClassifier().fit(X, y), scoring=Metric(lambda *_: 0.0, kind="general", range=(0.0, 1.0)),
        settings=MedianSettings(20, UniformGrid(-9.0, -2.0, 8), method="exact"),
    )  # fmt: skip
    low, high = answer.interval
    assert 0.0 <= low <= answer.value <= high <= 1.0


@pytest.mark.parametrize("n", [1, 19, 40, 59, 60, 79, 100, 8_000, 9_000])
def test_an_exact_median_takes_an_odd_number_of_subsamples_unless_told_otherwise(n):
    data = HoldoutData(np.zeros((n, 1)), np.linspace(0.0, 1.0, n) + 0.25)
    plain, exact = (MedianSettings(method=method).subsamples(data) for method in ("exponential", "exact"))
    assert exact % 2 == 1
    assert plain - exact == (plain % 2 == 0)
    assert MedianSettings(min(4, n), method="exact").subsamples(data) == min(4, n)


@pytest.mark.parametrize("method", ["exact", "exponential"])
def test_a_median_makes_one_claim_as_two_would_miss_more_often_than_either(method):
    """A check claims quantile levels of its value, a certify that the median is in its interval."""
    y = np.random.default_rng(0).normal(size=8_000)
    holdout, model = holdout_of(y), DummyRegressor().fit(y[:9, None], y[:9])
    settings = MedianSettings(grid=UniformGrid(-2.0, 0.0, 2001), method=method)
    for mechanism, guess in (("check", None), ("certify", -0.6)):
        how = {"purpose": mechanism, "guess": guess, "settings": settings}
        answer = holdouts.ask(holdout, model, scoring=MEDIAN, **how)
        assert not answer.certificate.vacuous
        assert (answer.levels is not None) == (mechanism == "check")
        assert np.isfinite(answer.interval).all() == (mechanism == "certify")


def test_the_two_claims_of_a_median_are_different_events():
    """Were both made with delta each, they would be wrong together more often: an exact trinomial sum."""
    m, delta = 401, 0.05
    level = quantile_interval(m, 0.0, np.log(delta))[0]
    outer = outer_levels(m, 0.0, np.log(delta))[0]
    below = np.arange(m + 1)  # subsamples up to the population median
    uncovered = below < np.ceil(outer * m - 1e-9)  # the lower end is above it
    inside = (0.5 - level) / 0.5  # of those above the median, up to the quantile 1 - level
    too_high = stats.binom.cdf((m - 1) // 2 - below, m - below, inside)  # the value is above that quantile
    either = 2.0 * stats.binom.pmf(below, m, 0.5) @ np.where(uncovered, 1.0, too_high)
    assert either > 1.2 * delta


def test_a_certified_median_is_as_fine_as_its_subsamples_allow():
    """A check's cells are coarse, so that guesses hold; the steps of a certify are a tenth of an error."""
    y = np.random.default_rng(0).normal(size=(2, 20_000))
    holdout, settings = holdout_of(y[0]), MedianSettings(method="exact")
    answer = holdout.certify(NOUGHT, scoring=MEDIAN, guess_from=(y[1, :, None], y[1]), settings=settings)
    low, high = answer.interval
    deviation = bodies(holdout)[-1]["guess"]["deviation"]
    assert high - low < 0.6 * deviation  # of 399 subsamples: ten standard errors of a median
    samples = np.random.default_rng(1).normal(size=(20_000, 20))
    assert low < -np.median(np.median(np.abs(samples), axis=1)) < high


@pytest.mark.parametrize("method", ["exact", "exponential"])
@pytest.mark.parametrize("off", [-10.0, 10.0])
def test_a_certified_median_is_itself_though_its_guess_is_far_off(off, method):
    """The grid reaches far: at its edge the value would be the edge, and an end of the interval infinite."""
    y = np.random.default_rng([int(off) + 10, len(method)]).normal(size=20_000)
    deviation = 0.15  # of the metric on twenty records
    guess = Guess(-0.66 + off * deviation, size=400.0, deviation=deviation)
    how = {"guess": guess, "settings": MedianSettings(method=method)}
    answer = holdout_of(y).certify(NOUGHT, scoring=MEDIAN, **how)
    assert answer.value == pytest.approx(-0.66, abs=0.5 * deviation)
    assert np.isfinite(answer.interval).all()
    assert answer.interval[0] < -0.66 < answer.interval[1]


@pytest.mark.parametrize("metric_range", [(0.0, 1.0), None])
@pytest.mark.parametrize("method", ["exact", "exponential"])
def test_a_guess_without_any_spread_does_not_hide_the_holdout(method, metric_range):
    """A model that remembers its validation rows is perfect on each of their subsamples."""
    X = np.arange(8_000.0)[:, None]
    right = np.random.default_rng(0).random(8_000) < 0.85
    metric = Metric(lambda model, X, y: float(np.mean(y)), kind="general", range=metric_range)
    holdout = Holdout(X, right.astype(float), ledger=":memory:", random_state=0)
    answer = holdout.check(
        DummyRegressor().fit(X, right), scoring=metric, guess=Guess(1.0, size=150.0, deviation=0.0),
        settings=MedianSettings(method=method),
    )  # fmt: skip
    assert (answer.verdict, answer.value) == ("differs", pytest.approx(0.85, abs=0.03))
    assert 0.0 < answer.levels[0] < 0.5 < answer.levels[1] < 1.0


@pytest.mark.parametrize(
    ("score", "levels"), [(0.5, "inside"), (-8.0, "below"), (3.0, "above"), (2.0, "above"), (1.9, "inside")]
)
@pytest.mark.parametrize("known", [None, (-1.0, 2.0)])
def test_a_median_beyond_its_grid_has_a_level_on_one_side_only(score, levels, known):
    """The end of the grid is all that is known of it, unless the metric ends there too."""
    if known is not None and not known[0] <= score <= known[1]:
        pytest.skip("no such score")
    X = np.arange(2_000.0)[:, None]
    metric = Metric(lambda model, X, y: score, kind="general", range=known)
    answer = holdouts.ask(Holdout(X, X[:, 0] + 0.5, ledger=":memory:"),
        DummyRegressor().fit(X, X[:, 0]), scoring=metric, purpose="check",
        settings=MedianSettings(grid=UniformGrid(-1.0, 2.0, 31), method="exact"),
    )  # fmt: skip
    low, high = answer.levels
    inside = levels == "inside" or known is not None
    assert (low > 0.0) == (inside or levels == "below")
    assert (high < 1.0) == (inside or levels == "above")
    assert not answer.certificate.vacuous


def test_the_levels_of_a_check_are_those_of_values_rounded_as_its_target_says():
    """A check's cells are coarse: between its levels is not the value itself but one in its cell."""
    rng = np.random.default_rng(0)
    truth = -np.median(np.abs(rng.normal(size=(20_000, 25))), axis=1)  # the law of the metric on a subsample
    settings, unrounded = MedianSettings(n_subsamples=399, method="exact"), 0
    for seed in range(30):
        y, more = rng.normal(size=10_000), rng.normal(size=1_000)
        rows = more[:, None], more
        answer = holdout_of(y, seed).check(NOUGHT, scoring=MEDIAN, guess_from=rows, settings=settings)
        step = float(answer.certificate.target.split("rounded to steps of ")[1])
        level = answer.levels[0] - 0.015  # the law is simulated
        assert np.mean(truth <= answer.value + 0.501 * step) >= level
        assert np.mean(truth >= answer.value - 0.501 * step) >= level
        unrounded += min(np.mean(truth <= answer.value), np.mean(truth >= answer.value)) < level
    assert unrounded > 0  # the rounding matters
