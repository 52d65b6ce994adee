"""How often intervals of two-class tables miss, by exact enumeration, and mutants that miss more often."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from sklearn_ada.guarantees import two_class, two_class_interval
from tests.support.laws import is_too_often

RATES = (0.0, 1e-3, 0.02, 0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 0.92, 0.98, 0.999, 1.0)
DELTAS = (0.36, 0.05)
SHARES = {"accuracy": 0.03, "balanced_accuracy": None, "f_beta": None, "jaccard": 0.9, "kappa": None,
          "matthews_corrcoef": None, "precision": 0.001, "geometric_mean": None, "informedness": None,
          "positive_likelihood_ratio": None, "neg_negative_likelihood_ratio": None}  # fmt: skip


def value_of(metric, share, a, b, beta=1.0, average=None):
    """Return a metric by its rates, written out once more; NaN where it has no value."""
    if average is not None:
        parts = (value_of(metric, share, a, b, beta), value_of(metric, 1 - share, 1 - b, 1 - a, beta))
        weights = (0.5, 0.5) if average == "macro" else (share, 1 - share)
        return weights[0] * parts[0] + weights[1] * parts[1]
    with np.errstate(all="ignore"):
        true, false, missed, others = share * a, (1 - share) * b, share * (1 - a), (1 - share) * (1 - b)
        spread = np.sqrt((true + false) * (others + missed) * share * (1 - share))
        return {
            "accuracy": true + others,
            "balanced_accuracy": (a + 1 - b) / 2,
            "f_beta": (1 + beta**2) * true / ((1 + beta**2) * true + false + beta**2 * missed),
            "informedness": a - b,
            "jaccard": true / (share + false),
            "kappa": 2
            * (true * others - missed * false)
            / ((true + false) * (1 - share) + share * (others + missed)),
            "matthews_corrcoef": np.where(spread > 0, (true * others - false * missed) / spread, 0.0),
            "precision": true / (true + false),
            "positive_likelihood_ratio": a / b,
            "neg_negative_likelihood_ratio": -(1 - a) / (1 - b),
            "geometric_mean": np.sqrt(a * (1 - b)),
        }[metric]


def law_of_sum(sizes, rates):
    """Return the law of a sum of independent counts, by convolution."""
    law = np.ones(1)
    for size, rate in zip(sizes, rates, strict=True):
        law = np.convolve(law, binom.pmf(np.arange(size + 1), size, rate))
    return law


def worst_side(metric, sizes, delta, share=None, several=False, **options):
    """Return the largest probability that either end misses, over a grid of laws.

    With ``several`` the negative rows are of as many laws as there are rows. Options are those of the metric.
    """
    positives, negatives = sizes
    tables = list(itertools.product(range(positives + 1), range(negatives + 1)))
    ends = np.array([
        two_class_interval(
            metric, x, positives, y, negatives, math.log(delta), share=share, one_law=not several, **options
        )
        for x, y in tables
    ])  # fmt: skip
    share = positives / (positives + negatives) if share is None else share
    laws = [(binom.pmf(np.arange(negatives + 1), negatives, rate), rate) for rate in RATES]
    if several:  # rows that are certain, and others alike
        kinds = itertools.product(range(1, negatives), (0.0, 1.0), RATES[::2])
        for sure, at, rate in kinds:
            mean = (sure * at + (negatives - sure) * rate) / negatives
            laws.append((law_of_sum((sure, negatives - sure), (at, rate)), mean))
    worst = 0.0
    for a, (of_errors, b) in itertools.product(RATES, laws):
        truth = float(value_of(metric, share, np.float64(a), np.float64(b), **options))
        if math.isnan(truth):
            continue
        chance = np.outer(binom.pmf(np.arange(positives + 1), positives, a), of_errors).ravel()
        worst = max(worst, chance[ends[:, 0] > truth].sum(), chance[ends[:, 1] < truth].sum())
    return worst


FEW = [
    ("f_beta", (1, 1)), ("matthews_corrcoef", (2, 5)), ("precision", (5, 2)), ("kappa", (5, 4)),
    ("balanced_accuracy", (1, 9)), ("accuracy", (4, 3)), ("jaccard", (3, 4)), ("f_beta", (2, 8)),
    ("geometric_mean", (4, 5)), ("informedness", (3, 4)), ("positive_likelihood_ratio", (4, 3)),
    ("neg_negative_likelihood_ratio", (2, 5)),
]  # fmt: skip
MANY = [(name, sizes) for name in SHARES for sizes in ((1, 1), (1, 12), (2, 5), (12, 1), (4, 9), (12, 12))]
CASES = [*FEW, *(pytest.param(*each, marks=pytest.mark.slow) for each in MANY)]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize(("metric", "sizes"), CASES)
def test_no_law_is_missed_more_often_than_a_side_allows(metric, sizes, delta):
    assert worst_side(metric, sizes, delta, SHARES[metric]) <= delta / 2


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize(("metric", "sizes"), [
    ("f_beta", (2, 6)), ("jaccard", (2, 5)),
    pytest.param("f_beta", (1, 10), marks=pytest.mark.thorough),
    pytest.param("jaccard", (3, 10), marks=pytest.mark.thorough),
    pytest.param("matthews_corrcoef", (4, 8), marks=pytest.mark.thorough),
    pytest.param("precision", (8, 5), marks=pytest.mark.thorough),
    pytest.param("kappa", (3, 12), marks=pytest.mark.thorough),
])  # fmt: skip
def test_no_law_of_unequal_rows_is_missed_more_often(metric, sizes, delta):
    assert worst_side(metric, sizes, delta, several=True) <= delta / 2


WITH_OPTIONS = [
    ("f_beta", (3, 5), {"beta": 2.0}), ("f_beta", (5, 3), {"beta": 0.5}), ("f_beta", (4, 4), {"beta": 0.0}),
    ("f_beta", (2, 6), {"average": "macro"}), ("precision", (4, 4), {"average": "weighted"}),
    ("jaccard", (6, 2), {"average": "macro"}), ("f_beta", (3, 5), {"average": "weighted", "beta": 2.0}),
]  # fmt: skip


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize(("metric", "sizes", "options"), WITH_OPTIONS)
def test_other_betas_and_averages_over_both_classes_are_not_missed_more_often(metric, sizes, options, delta):
    assert worst_side(metric, sizes, delta, **options) <= delta / 2


def test_an_average_of_the_positive_class_alone_misses(monkeypatch):
    rates = two_class.rates_of
    monkeypatch.setattr(two_class, "rates_of", lambda name, share, beta, average: rates(name, share, beta))
    assert worst_side("f_beta", (2, 6), 0.05, average="macro") > 0.025


def test_the_binomial_law_of_unequal_rows_misses_more_often(monkeypatch):
    """The convex majorant is left out."""
    assert worst_side("precision", (2, 6), 0.36, several=True) <= 0.18
    bound = two_class.Region.probability
    monkeypatch.setattr(
        two_class.Region,
        "probability",
        lambda region, a, b: bound(dataclasses.replace(region, one_law=True), a, b),
    )
    assert worst_side("precision", (2, 6), 0.36, several=True) > 0.18


def test_what_is_allowed_is_nearly_used():
    assert worst_side("f_beta", (4, 4), 0.36) > 0.8 * 0.18


def with_the_bracket_of_six_errors(metric, counts, sizes, box):
    a, b = (np.array([(count + 0.5) / (size + 1)]) for count, size in zip(counts, sizes, strict=True))
    by_a, by_b = metric.slopes(a, b)
    error = np.sqrt(by_a**2 * a * (1 - a) / sizes[0] + by_b**2 * b * (1 - b) / sizes[1])
    return float((metric.value(a, b) - 6 * error)[0]), float(metric.value(a, b)[0])


def middle_only(metric, value, box, region, level):
    """Stand in for a search along the whole curve: the sup over what is unknown is left out."""
    a = np.linspace(*box[0], 242)
    b = metric.false_rate(a, value)
    inside = np.flatnonzero((b >= box[1][0]) & (b <= box[1][1]))
    middle = inside[len(inside) // 2 : len(inside) // 2 + 1]
    return not (region.probability(a[middle], b[middle]) > level).any()


def cells_with_an_end_in_the_box(metric, value, box, region, level):
    """Stand in for a search that keeps a cell only if one of its ends is in the box."""
    a, (low, high) = np.linspace(*box[0], 242), box[1]
    b = metric.false_rate(a, value)
    kept = ((b >= low) & (b <= high))[:-1] | ((b >= low) & (b <= high))[1:]
    return not (region.probability(a[1:][kept], np.maximum(b[:-1][kept], low)) > level).any()


class _WithoutClosure:
    """NumPy without running maxima, by which regions are closed upwards."""

    class Maximum:
        __call__ = staticmethod(np.maximum)
        accumulate = staticmethod(lambda reach: reach)

    maximum = Maximum()

    def __getattr__(self, name):
        return getattr(np, name)


@pytest.mark.parametrize(("part", "mutant", "metric", "sizes", "delta"), [
    ("_bracket", with_the_bracket_of_six_errors, "f_beta", (4, 8), 1e-10),
    ("_is_excluded", middle_only, "precision", (5, 2), 0.36),
    ("np", _WithoutClosure(), "precision", (12, 3), 1e-3),
])  # fmt: skip
def test_a_mutant_misses_more_often(part, mutant, metric, sizes, delta, monkeypatch):
    assert worst_side(metric, sizes, delta) <= delta / 2
    monkeypatch.setattr(f"sklearn_ada.guarantees.two_class.{part}", mutant)
    assert worst_side(metric, sizes, delta) > delta / 2


def misses_of_rare_errors(samples):
    """Return how often balanced accuracy is missed at .05: 8 positives, 10,000 others, few false ones."""
    rng = np.random.default_rng(0)
    tables = zip(
        rng.binomial(8, 0.7, samples).tolist(), rng.binomial(10_000, 4e-4, samples).tolist(), strict=True
    )
    ends = [two_class_interval("balanced_accuracy", x, 8, y, 10_000, math.log(0.05)) for x, y in tables]
    truth = (0.7 + 1 - 4e-4) / 2
    return sum(not low <= truth <= high for low, high in ends)


def test_a_curve_that_crosses_the_box_between_two_cuts_is_noticed(monkeypatch):
    assert not is_too_often(misses_of_rare_errors(60), 60, 0.05)
    monkeypatch.setattr("sklearn_ada.guarantees.two_class._is_excluded", cells_with_an_end_in_the_box)
    assert is_too_often(misses_of_rare_errors(60), 60, 0.05)
