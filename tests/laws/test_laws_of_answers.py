"""Every drawn answer, as it comes out of a `Holdout`, has the law that its recorded event is priced for.

One question is put to many ledgers with different secrets. What they answer is compared with closed-form cell
probabilities, by exact binomial tests with a false alarm below 1e-6 for all of them together. Each test has a
power arm: with the noise of a kernel of `mechanisms` halved, or doubled, the same statistic must reject.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from benchmarks.validity.kernels import (
    laplace_times,
    normal_times,
    quantile_times,
    replaced,
    search_times,
    selection_times,
)
from sklearn_ada import Holdout, MedianSettings, NoiseSettings
from sklearn_ada.mechanisms import UniformGrid, exponential_quantile
from sklearn_ada.mechanisms.quantiles import noisy_search
from tests.support import holdouts
from tests.support.laws import FALSE_ALARM, laplace_sum_exceeds
from tests.support.ledgers import bodies, forget_ledgers_in_memory
from tests.support.models import RightBelow

ROWS = 200
FACTORS = (0.5, 2.0)
MORE = [pytest.param(1), pytest.param(10, marks=pytest.mark.slow)]


class Zero:
    """A fitted model whose error on a row is the row's own label."""

    def predict(self, X):
        return np.zeros(len(X))


def of_rows(seed, **settings):
    """A holdout on which `RightBelow(k)` has the accuracy k / ROWS; its last row has the label 0."""
    X, y = np.arange(ROWS)[:, None].astype(float), np.ones(ROWS, dtype=int)
    y[-1] = 0
    forget_ledgers_in_memory()  # each holdout is one of its own, with its own ledger
    return Holdout(X, y, random_state=seed, ledger=":memory:", **settings)


def right(share):
    """A model of this accuracy, which is a multiple of 1 / ROWS."""
    return RightBelow(round(share * ROWS) - 1)  # and right on the last row


def event_of(holdout):
    return bodies(holdout)[-1]["event"]


def surprise(outcomes, law):
    """The least p-value of outcomes, of the first together and of the likeliest together, times all."""
    law, counts = np.asarray(law), np.bincount(outcomes, minlength=len(law))
    assert law.sum() == pytest.approx(1.0, abs=1e-9)
    if counts.size > law.size or counts[law < 1e-12].any():
        return 0.0
    order = np.argsort(-law, kind="stable")
    sums = [(v, np.cumsum(v), np.cumsum(v[order])) for v in (counts, law)]
    pairs = [pair for both in zip(*sums, strict=True) for pair in zip(*both, strict=True)]
    tested = [(int(k), float(p)) for k, p in pairs if 1e-12 < p < 1.0 - 1e-9]
    return min(stats.binomtest(k, len(outcomes), p).pvalue for k, p in tested) * len(tested)


def accepts(outcomes, law):
    return surprise(outcomes, law) > FALSE_ALARM


# --- a value with normal noise, where privacy certifies -----------------------------------------------------


def gaussian_outcomes(route, purpose, value, runs):
    """Number the values of many ledgers by their distance from the truth; return numbers and law."""
    question, values = None, []
    for seed in range(runs):
        holdout = of_rows(seed, route=route, expected_questions=2)
        if question is None:
            question = holdouts.plan(holdout, right(value), scoring="accuracy", purpose=purpose, guess=0.5)
        values.append(holdouts.put(holdout, question, right(value), model="m").value)
    plan, deviation = question.describe(), event_of(holdout)["noise_multiplier"] / ROWS
    guess, half = plan["centre"], plan["half_cell"]
    edges = value + deviation * np.array([-1.5, -0.5, 0.5, 1.5])
    last_cells = np.floor((edges - guess) / (2.0 * half) + 1e-9)  # whose middle is not above the edge
    ends = stats.norm.cdf(guess + half * (2.0 * last_cells + 1.0), value, deviation)
    return np.searchsorted(edges, values), np.diff(ends, prepend=0.0, append=1.0)


# A check whose price in nats counts has wide cells: the value is 1.2 standard deviations from an end.
GAUSSIAN = [
    ("differential_privacy", "check", 0.5, 200),
    ("differential_privacy", "certify", 0.5, 200),
    ("both", "check", 0.615, 420),
    ("both", "certify", 0.5, 200),
]


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize(("route", "purpose", "value", "runs"), GAUSSIAN)
def test_values_with_normal_noise_follow_their_law_and_with_other_noise_do_not(
    route, purpose, value, runs, more
):
    assert accepts(*gaussian_outcomes(route, purpose, value, runs * more))
    for factor in FACTORS:
        with normal_times(factor):
            assert not accepts(*gaussian_outcomes(route, purpose, value, runs))


# --- Thresholdout -------------------------------------------------------------------------------------------


def corrections(settings, value, runs):
    """Outcomes of one check of the guess 0.5: 0 if it agrees, else which cell the corrected value is in."""
    model, outcomes = right(value), []
    asked = {"scoring": "accuracy", "purpose": "check", "guess": 0.5, "settings": settings}
    question, edges = holdouts.plan(of_rows(0), model, **asked), cell_edges(settings, value)
    for seed in range(runs):
        holdout = of_rows(seed)
        answer = holdouts.put(holdout, question, model, model="m")
        outcomes.append(0 if answer.verdict == "agrees" else 1 + np.searchsorted(edges, answer.value))
    return outcomes, event_of(holdout)


def cell_edges(settings, value):
    """Ends of the cells of a corrected value within three scales of the truth."""
    ends = 0.5 + 2.0 * settings.threshold * np.arange(-50, 51)
    return ends[np.abs(ends - value) <= 3.0 * settings.scale]


def correction_law(settings, value, agrees, noise):
    ends = noise(value, settings.scale).cdf(cell_edges(settings, value))
    return [agrees, *((1.0 - agrees) * np.diff(ends, prepend=0.0, append=1.0))]


@pytest.mark.parametrize("more", MORE)
def test_corrections_of_gaussian_thresholdout_follow_their_law(more):
    settings, value = NoiseSettings("gaussian", 0.04, threshold=0.02), 0.57
    law = correction_law(settings, value, stats.norm.sf(0.05, 0.0, 0.04), stats.norm)
    outcomes, event = corrections(settings, value, 400 * more)
    hit = outcomes[-1] > 0  # a hit is priced as two releases
    assert event["noise_multiplier"] / ROWS == pytest.approx(0.04 / math.sqrt(1 + hit))
    assert accepts(outcomes, law)
    is_comparison = lambda number, deviation: number == settings.threshold  # noqa: E731
    is_value = lambda number, deviation: number != settings.threshold  # noqa: E731
    for factor, (only, runs) in itertools.product(FACTORS, ((is_comparison, 400), (is_value, 200))):
        with normal_times(factor, only):
            assert not accepts(corrections(settings, value, runs)[0], law)


@pytest.mark.parametrize("more", MORE)
def test_the_corrected_value_of_laplace_thresholdout(more):
    settings, value = NoiseSettings("laplace", 0.01, threshold=0.005), 0.8
    law = correction_law(settings, value, laplace_sum_exceeds(0.295, 0.01), stats.laplace)
    outcomes, event = corrections(settings, value, 300 * more)
    assert event["scaled_epsilon"] == pytest.approx(1.0 / (ROWS * 0.01))
    assert accepts(outcomes, law)
    for factor in FACTORS:
        with laplace_times(factor, lambda number, scale: scale == settings.scale):
            assert not accepts(corrections(settings, value, 300)[0], law)


LONGEST, SCALE = 8, 0.01


def run_lengths(off_by, runs):
    """How many questions agree before each hit; the questions of a run share the noise of their threshold."""
    settings, lengths = NoiseSettings("laplace", SCALE, max_hits=10**6, threshold=0.12), []
    # Wrong by as much as is wanted; a run that is long enough is ended by a guess that is far off.
    models = right(0.5 + settings.threshold + off_by * SCALE), right(0.99)
    question = holdouts.plan(
        of_rows(0), models[0], scoring="accuracy", purpose="check", guess=0.5, settings=settings
    )
    for seed in range(math.ceil(runs / 25)):
        holdout = of_rows(seed)
        for run in range(25):
            for asked in itertools.count():
                answer = holdouts.put(holdout, question, models[asked >= LONGEST], model=f"{run} {asked}")
                if answer.verdict == "differs":
                    break
            lengths.append(min(asked, LONGEST))
    return lengths


def run_law(off_by):
    """Integrate over the noise of the threshold, in units of the scale: the guess is off by it plus this."""

    def chance(agreed, ends):
        def density(r):
            agrees = stats.laplace.sf(off_by - r, 0.0, 4.0)
            return stats.laplace.pdf(r, 0.0, 2.0) * agrees**agreed * ((1.0 - agrees) if ends else 1.0)

        edges = sorted({-80.0, 0.0, off_by, 80.0})
        return sum(integrate.quad(density, a, b)[0] for a, b in itertools.pairwise(edges))

    return [*(chance(k, True) for k in range(LONGEST)), chance(LONGEST, False)]


# The noise of the threshold is drawn for a run, that of a comparison for each question. Which of the two is
# wrong shows best in runs of guesses that are about, or far less than, a threshold off.
NOISE_OF_A_RUN = {"threshold": (2.0 * SCALE, 2.0, 2400, 1000), "comparison": (4.0 * SCALE, -8.0, 200, 200)}


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("noise", [pytest.param("threshold", marks=pytest.mark.thorough), "comparison"])
def test_runs_of_laplace_thresholdout_follow_their_law(noise, more):
    _, off_by, runs, _ = NOISE_OF_A_RUN[noise]
    assert accepts(run_lengths(off_by, runs * more), run_law(off_by))


@pytest.mark.thorough
@pytest.mark.parametrize("noise", NOISE_OF_A_RUN)
def test_runs_of_laplace_thresholdout_with_other_noise_do_not_follow_the_law(noise):
    scale, off_by, *runs = NOISE_OF_A_RUN[noise]
    for factor, enough in zip(FACTORS, runs, strict=True):
        with laplace_times(factor, lambda number, drawn: math.isclose(drawn, scale)):
            assert not accepts(run_lengths(off_by, enough), run_law(off_by))


# --- stable medians -----------------------------------------------------------------------------------------


def median_answers(labels, purpose, settings, runs):
    """Median, lower and upper quantile (of a certify), as grid indices; subsamples have one record each.

    So the values of the subsamples are the labels, however the secret deals them out.
    """
    y, found = np.asarray(labels, dtype=float), []
    for seed in range(runs):
        X = np.zeros((len(y), 1))
        forget_ledgers_in_memory()
        holdout = Holdout(X, y, random_state=seed, ledger=":memory:")
        answer = holdouts.ask(holdout, Zero(), scoring=ERROR, purpose=purpose, settings=settings)
        if purpose == "check":
            found.append((answer.value,))
        else:  # an interval ends half a step outside, or nowhere
            found.append((answer.value, answer.interval[0] + 0.5, answer.interval[1] - 0.5))
    grid = settings.grid
    return [grid.index(column) for column in np.array(found).T], event_of(holdout)


ERROR = "neg_mean_absolute_error"  # of a record: minus its label


def grid_of(size):
    return UniformGrid(1.0 - size, 0.0, size)


def values_of(labels, size):
    return size - 1 - np.asarray(labels)


def exponential_law(labels, size, epsilon, level):
    """Enumerate the weights ``exp(-epsilon c(v) / 2)`` of Theorem 3.1."""
    values, m = values_of(labels, size), len(labels)
    cost = [max((values < v).sum() - level * m, (values > v).sum() - (1.0 - level) * m) for v in range(size)]
    weights = np.exp(-epsilon * (np.array(cost) - min(cost)) / 2.0)
    return weights / weights.sum()


def search_law(labels, size, deviation, level, tolerance=0.05):
    """Follow every path of the binary search (Lemma 3.2); counts have normal noise."""
    values, m, law = values_of(labels, size), len(labels), np.zeros(size)

    def follow(low, high, chance):
        if low == high:
            law[low] += chance
            return
        point = (low + high) // 2
        too_low = stats.norm.cdf((level - tolerance) * m, (values <= point).sum(), deviation)
        too_high = (1.0 - too_low) * stats.norm.sf((level + tolerance) * m, (values < point).sum(), deviation)
        law[point] += chance * (1.0 - too_low - too_high)
        follow(point + 1, high, chance * too_low)
        if low < point:
            follow(low, point - 1, chance * too_high)
        else:
            law[low] += chance * too_high

    follow(0, size - 1, 1.0)
    return law


def certified_laws(median, lower, upper):
    """The laws of median, lower and upper quantile as released: never on the wrong side of the median."""
    from_below = lambda law: np.cumsum(law[::-1])[::-1]  # noqa: E731
    low = from_below(lower) * from_below(median)
    high = np.cumsum(upper) * np.cumsum(median)
    return [median, low - np.append(low[1:], 0.0), np.diff(high, prepend=0.0)]


# Of each method: the kernel that draws, how its noise is multiplied, the field of its event, and its law.
METHODS = {
    "exponential": (exponential_quantile, quantile_times, "epsilon", exponential_law),
    "binary_search": (noisy_search, search_times, "noise_multiplier", search_law),
}
# Method, labels, number of grid points, epsilon, what the event has, what the law has for it. A search has
# four halvings of two counts each, then five, and meets counts that noise of its size can turn.
SEARCHED = np.repeat(np.arange(9), [8, 2, 3, 5, 7, 4, 2, 3, 6])
AT_MOST = [40, 80, 100, 119, 140, 150, 160, 170, 184, 205, 215, 230, 249, 270, 330, 360, 400]
TURNED = 16 - np.repeat(np.arange(17), np.diff(AT_MOST, prepend=0))
CHECKS = [
    ("exponential", [0, 1, 1, 2, 4, 5, 5, 5, 6, 8, 9, 9, 11, 12, 12], 14, 1.0, 1.0, 1.0),
    ("binary_search", SEARCHED, 9, 0.6, 1.0 / 0.6, math.sqrt(8.0) / 0.6),
]
CERTIFIES = [
    ("exponential", np.arange(60), 61, 2.0, 2.0, 2.0, (200, 350)),
    ("binary_search", TURNED, 17, 1.0, 1.0, math.sqrt(10.0), (400, 400)),
]


def settings_of(method, labels, size, epsilon):
    return MedianSettings(n_subsamples=len(labels), grid=grid_of(size), epsilon=epsilon, method=method)


@pytest.mark.thorough
@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize(("method", "labels", "size", "epsilon", "price", "spread"), CHECKS)
def test_a_check_of_a_median(method, labels, size, epsilon, price, spread, more):
    _, times, field, law_of = METHODS[method]
    settings, law = settings_of(method, labels, size, epsilon), law_of(labels, size, spread, 0.5)
    (found,), event = median_answers(labels, "check", settings, 400 * more)
    assert event[field] == pytest.approx(price)
    assert accepts(found, law)
    for factor in FACTORS:
        with times(factor):
            assert not accepts(median_answers(labels, "check", settings, 400)[0][0], law)


@pytest.mark.thorough
@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize(("method", "labels", "size", "epsilon", "price", "spread", "enough"), CERTIFIES)
def test_the_three_draws_of_a_certify_of_a_median(method, labels, size, epsilon, price, spread, enough, more):
    kernel, times, field, law_of = METHODS[method]
    settings, levels = settings_of(method, labels, size, epsilon), []

    def spy(*args, **options):
        levels.append(options["low"] if "low" in options else options["level"])
        return kernel(*args, **options)

    with replaced(kernel, spy):
        median_answers(labels, "certify", settings, 1)
    median, lower, upper = levels
    assert 0.0 < lower < median == 0.5
    assert lower == pytest.approx(1.0 - upper)
    laws = certified_laws(*(law_of(labels, size, spread, level) for level in levels))

    def accepted(found):
        return [accepts(*pair) for pair in zip(found, laws, strict=True)]

    found, event = median_answers(labels, "certify", settings, enough[1] * more)
    assert [each[field] for each in event["events"]] == [price] * 3
    assert accepted(found) == [True] * 3
    for factor, runs in zip(FACTORS, enough, strict=True):
        with times(factor):
            assert accepted(median_answers(labels, "certify", settings, runs)[0]) == [False] * 3


# --- selection ----------------------------------------------------------------------------------------------


def chosen(models, epsilon, runs):
    found = []
    for seed in range(runs):
        holdout = of_rows(seed)
        found.append(holdout.select(models, scoring="accuracy", epsilon=epsilon))
    return found, event_of(holdout)


@pytest.mark.thorough
@pytest.mark.parametrize("more", MORE)
def test_a_selection_by_the_exponential_mechanism(more):
    counts, epsilon = np.array([100, 100, 108, 100, 100, 100]), 0.5  # one record moves a count by one
    weights = np.exp(epsilon * (counts - 108) / 2.0)
    models = [right(count / ROWS) for count in counts]
    outcomes, event = chosen(models, epsilon, 260 * more)
    assert event["epsilon"] == epsilon
    assert accepts(outcomes, weights / weights.sum())
    for factor, runs in zip(FACTORS, (150, 260), strict=True):
        with selection_times(factor):
            assert not accepts(chosen(models, epsilon, runs)[0], weights / weights.sum())
