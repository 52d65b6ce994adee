"""Certified intervals against an independent computation at the recorded failure probability."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logit
from scipy.stats import binom, binomtest
from sklearn.metrics import confusion_matrix, get_scorer

from sklearn_ada import Holdout, Metric
from sklearn_ada.accounting import CountCode, unsealing_nats
from tests.support import holdouts

PURPOSES = ["check", "certify"]


def cell_of(value, plan):
    """Return the ends of the cell that holds a value."""
    width = 2 * plan["half_cell"]
    number = math.floor((value - plan["centre"]) / width + 0.5)
    centre = plan["centre"] + width * number
    return centre - plan["half_cell"], centre + plan["half_cell"]


def clopper_pearson(low_count, high_count, n, delta):
    low = binomtest(low_count, n).proportion_ci(1 - delta, "exact").low
    return low, binomtest(high_count, n).proportion_ci(1 - delta, "exact").high


@pytest.mark.parametrize("task", ["binary", "three"])
@pytest.mark.parametrize("confidence_level", [0.5, 0.95, 0.999])
def test_exact_accuracy_has_the_clopper_pearson_interval(task, confidence_level, data, asked):
    model, X, y = data[task]
    answer, body = asked(task, "accuracy", "certify", confidence_level=confidence_level)
    hits = int(np.sum(model.predict(X) == y))
    assert body["ln_delta"] == pytest.approx(math.log((1 - confidence_level) * 0.9 * 0.8))
    expected = clopper_pearson(hits, hits, len(y), math.exp(body["ln_delta"]))
    assert answer.interval == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("guess", [0.85, 0.99, 0.5, 0.01])
def test_checked_accuracy_has_the_clopper_pearson_interval_of_the_cells_end_counts(guess, data, asked):
    model, X, y = data["binary"]
    answer, body = asked("binary", "accuracy", "check", guess)
    plan, n = body["mechanism"], len(y)
    low, high = cell_of(model.score(X, y), plan)
    counts = [count for count in range(n + 1) if low - 1e-9 <= count / n < high + 1e-9]
    expected = clopper_pearson(counts[0], counts[-1], n, math.exp(body["ln_delta"]))
    assert answer.interval == pytest.approx(expected, abs=1e-9)


MEANS = [
    ("binary", "neg_brier_score", (-1, 0)),
    ("binary", "neg_log_loss", (-20, 0)),
    ("regression", "neg_mean_absolute_error", (-500, 0)),
    ("regression", "neg_mean_squared_error", (-100_000, 0)),
]


@pytest.mark.parametrize("mechanism", PURPOSES)
@pytest.mark.parametrize(("task", "name", "bounds"), MEANS)
def test_bounded_means_have_the_chernoff_interval(task, name, bounds, mechanism, data, asked, chernoff):
    plain = get_scorer(name)(*data[task])
    metric = Metric(name, range=None if name == "neg_brier_score" else bounds)
    answer, body = asked(task, metric, mechanism, plain * 0.8)
    bottom, width = bounds[0], bounds[1] - bounds[0]
    ends = [(end - bottom) / width for end in cell_of(plain, body["mechanism"])]
    unit = chernoff(*ends, len(data[task][2]), body["ln_delta"])
    assert answer.interval == pytest.approx([bottom + width * end for end in unit], abs=1e-7 * width)


@pytest.mark.parametrize("mechanism", PURPOSES)
def test_the_auc_is_within_chernoff_at_the_size_of_the_smaller_class(mechanism, data, asked, chernoff):
    plain = get_scorer("roc_auc")(*data["binary"])
    answer, body = asked("binary", "roc_auc", mechanism, plain - 0.01)
    size, cell = min(np.bincount(data["binary"][2])), cell_of(plain, body["mechanism"])
    low, high = chernoff(*cell, size, body["ln_delta"])
    assert low < answer.interval[0] < plain < answer.interval[1] <= high
    edge = cell[0]  # how far below the lowest value of the cell, as both upper ends may be 1
    assert 0.7 * (edge - low) < edge - answer.interval[0] < 0.95 * (edge - low)
    assert high == 1.0 or answer.interval[1] - answer.interval[0] < 0.95 * (high - low)
    # The lower end by the definition of Bentkus's bound.
    counts, levels, total = np.arange(size + 1), np.arange(math.ceil(edge * size)), edge * size
    masses = binom.pmf(counts, size, answer.interval[0])
    least = min((masses @ np.maximum(counts - t, 0)) / (total - t) for t in levels)
    assert least == pytest.approx(math.exp(body["ln_delta"]) / 2, rel=1e-5)


@pytest.mark.parametrize("mechanism", PURPOSES)
def test_the_recall_of_a_class_has_clopper_and_pearsons_interval_of_its_rows(mechanism, data, asked):
    _, _, y = data["binary"]
    plain, n = get_scorer("recall")(*data["binary"]), int(np.sum(y == 1))
    answer, body = asked("binary", "recall", mechanism, plain - 0.01)
    low, high = (end * n for end in cell_of(plain, body["mechanism"]))
    expected = clopper_pearson(math.ceil(low), math.floor(high), n, math.exp(body["ln_delta"]))
    assert answer.interval == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("task", "name", "mechanism"),
    [("binary", "balanced_accuracy", "check"), *(("three", "recall_macro", how) for how in PURPOSES)],
)
def test_class_means_have_hoeffdings_interval(task, name, mechanism, data, asked):
    plain = get_scorer(name)(*data[task])
    answer, body = asked(task, name, mechanism, plain - 0.01)
    counts = np.bincount(data[task][2])
    size = len(counts) ** 2 / np.sum(1 / counts)
    half = math.sqrt((math.log(2) - body["ln_delta"]) / (2 * size))
    low, high = cell_of(plain, body["mechanism"])
    assert answer.interval == pytest.approx((max(low - half, 0), min(high + half, 1)), abs=1e-9)


@pytest.mark.parametrize("name", ["precision", "jaccard", "f1"])
def test_ratios_have_the_interval_whose_exponent_the_guess_fixes(name, data, asked, chernoff):
    """In a check; a certify has that of the table (`test_two_class_tables_of_a_holdout`)."""
    model, X, y = data["binary"]
    plain = get_scorer(name)(model, X, y)
    answer, body = asked("binary", name, "check", plain - 0.01)
    (_, false_alarms), (misses, hits) = confusion_matrix(y, model.predict(X))
    denominator = hits + false_alarms + (0 if name == "precision" else misses)
    growth = 1.1
    size = math.floor(growth ** math.floor(math.log(denominator, growth)))
    assert denominator / (growth + 0.01) <= size <= denominator
    low, high = cell_of(plain, body["mechanism"])
    if name == "f1":
        low, high = low / (2 - low), high / (2 - high)
    guess = plain - 0.01 if name != "f1" else (plain - 0.01) / (2 - (plain - 0.01))
    positives, ln_delta = misses + hits, body["ln_delta"]  # the guess is a number, so they are foreseen
    tuned, flat = ln_delta + math.log(0.9), ln_delta + math.log(0.1)
    as_foreseen = chernoff(guess, guess, positives, tuned)
    steepness = math.sqrt(8 * (math.log(2) - flat) / positives)
    exponents = {tuned: [logit(guess) - logit(p) for p in as_foreseen], flat: [steepness, -steepness]}

    def end(share, exponent, part, outermost):
        def gap(r):
            return exponent * share - math.log1p(r * math.expm1(exponent)) - (math.log(2) - part) / size

        return brentq(gap, share, outermost) if gap(outermost) > 0 else outermost

    expected = [
        max(end(low, exponents[part][0], part, 0.0) for part in (tuned, flat)),
        min(end(high, exponents[part][1], part, 1.0) for part in (tuned, flat)),
    ]
    sharpest = chernoff(low, high, size, body["ln_delta"])
    if name == "f1":
        expected, sharpest = ([2 * share / (1 + share) for share in ends] for ends in (expected, sharpest))
    assert answer.interval == pytest.approx(expected, abs=1e-7)
    assert 1 < (expected[1] - expected[0]) / (sharpest[1] - sharpest[0]) < 1.03


@pytest.mark.parametrize("name", ["precision", "f1"])
def test_counts_that_certify_a_value_are_priced(name, data, asked):
    _, body = asked("binary", name, "certify", 0.8)
    symbols = body["event"]["symbols"]
    assert [symbol["stream"] for symbol in symbols] == ["unsealed", "unsealed"]
    prices = []
    for each in symbols:
        most, code = each["first"] + each["width"] - 1, CountCode(each["centre"], each["tau"])
        prices.append(unsealing_nats(each["value"], each["first"], most, code))
    assert body["price"] == pytest.approx(sum(prices))


@pytest.mark.parametrize("name", ["f1_macro", "matthews_corrcoef"])
def test_a_value_and_the_ends_beside_it_are_priced(name, data, asked):
    _, body = asked("three", name, "certify", 0.8)
    symbols = body["event"]["symbols"]
    assert [symbol["stream"] for symbol in symbols] == ["lattice", "count", "count"]
    prices = []
    for symbol in symbols:
        upper, lower = (math.atan((symbol["value"] + end) / symbol["scale"]) for end in (0.5, -0.5))
        prices.append(-math.log(0.999 * (upper - lower) / math.pi))
    assert body["price"] == pytest.approx(sum(prices))


@pytest.mark.parametrize(
    ("name", "mechanism"),
    [
        *itertools.product(["accuracy", "balanced_accuracy", "roc_auc", "neg_brier_score"], PURPOSES),
        *(("f1", "certify"), ("jaccard", "certify")),
    ],
)
def test_no_interval_is_wider_than_what_was_admitted(name, mechanism, data, tmp_path):
    """The bound on the half-width is what the tolerance is compared with, before the answer exists.

    Of a ratio the denominator that is foreseen, the count of the class, is the least that there can be.
    """
    model, X, y = data["binary"]
    plain, widths = get_scorer(name)(model, X, y), {}
    for tolerance, share in itertools.product((0.01, 0.1, 0.2, 0.3, 0.4, 0.49), (1.0, 0.7, 0.4)):
        holdout = Holdout(X, y, ledger=tmp_path / f"{tolerance} {share}.db", tolerance=tolerance)
        answer = getattr(holdout, mechanism)(model, scoring=name, guess=plain * share)
        if answer.answered:
            widths[tolerance] = answer.half_width
            assert answer.half_width <= tolerance
    assert 0 < len(widths) < 6


@pytest.mark.parametrize("name", ["precision", "jaccard", "f1"])
@pytest.mark.parametrize("guess", [0.001, 0.5, 0.98, 0.999])
def test_a_round_that_was_opened_for_a_ratio_answers_whatever_the_guess(name, guess, data, tmp_path):
    model, X, y = data["binary"]
    for tolerance in (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45):
        holdout = Holdout(X, y, ledger=tmp_path / f"{tolerance}.db", tolerance=tolerance)
        if not holdout.remaining(name, purpose="certify"):
            continue
        opened = holdouts.open_round(holdout, 1, purpose="certify", scoring=name, name="the only one")
        answer = holdouts.ask(holdout, model, scoring=name, purpose="certify", guess=guess, round_name=opened)
        assert answer.answered
        break
    else:
        raise AssertionError("no tolerance admits any")
