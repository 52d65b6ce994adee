"""The noise that is shipped is made for what one record can really change, whatever the metric."""

import functools
import itertools
from unittest import mock

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, recall_score

from sklearn_ada import Holdout, Metric, NoiseSettings
from sklearn_ada.mechanisms import exponential_mechanism
from sklearn_ada.metrics import as_metric
from tests.support import holdouts

Y = np.array([0, 0, 0, 0, 0, 1, 1, 1])
WEIGHT = np.array([1.0, 1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 1.0])
GROUPS = np.array([0, 0, 1, 1, 1, 2, 2, 3])


class Says:
    """A fitted classifier whose label, number or score of each row is that of a table."""

    classes_ = np.array([0, 1])

    def __init__(self, outputs):
        self.outputs = outputs

    def predict(self, X):
        return np.asarray(self.outputs)

    decision_function = predict


def mean_hits(y, outputs, weight=None):
    return np.average(np.asarray(outputs) == y, weights=weight)


def weighted_hits(y, outputs):
    return mean_hits(y, outputs, WEIGHT)


def mean_error(y, outputs):
    return np.mean(-np.minimum(np.abs(y - np.asarray(outputs)), 10.0))


def pairs_in_order(y, outputs):
    """Return the share of pairs, one of each class, that are in order: the area under the ROC curve."""
    outputs = np.asarray(outputs)
    difference = outputs[y == 1][:, None] - outputs[y == 0]
    return np.mean(np.sign(difference) + 1.0) / 2.0


LABELS, SCORES, ERRORS = (0, 1), (0.0, 1.0, 2.0), (0.0, 20.0)
ABSOLUTE = Metric("neg_mean_absolute_error", range=(-10, 0))
# metric, its value by another library, what a record can be said to be, by which units, further parameters
CASES = {
    "accuracy": ("accuracy", mean_hits, LABELS, None, {}),
    "clipped error": (ABSOLUTE, mean_error, ERRORS, None, {}),
    "AUC": ("roc_auc", pairs_in_order, SCORES, None, {}),
    "balanced accuracy": ("balanced_accuracy", balanced_accuracy_score, LABELS, None, {}),
    "recall": ("recall", recall_score, LABELS, None, {}),
    "weighted": ("accuracy", weighted_hits, LABELS, None, {"sample_weight": WEIGHT}),
    "grouped": ("accuracy", mean_hits, LABELS, GROUPS, {"groups": GROUPS}),
}


@functools.cache
def largest_change(name):
    """Return how far one record (or group) can move a metric, over all that can be said of all records."""
    _, value, kinds, units, _ = CASES[name]
    units = np.arange(len(Y)) if units is None else units
    values = {outputs: value(Y, outputs) for outputs in itertools.product(kinds, repeat=len(Y))}
    largest = 0.0
    for unit in set(units.tolist()):
        rest = [row for row in range(len(Y)) if units[row] != unit]
        by_rest = {}
        for outputs, each in values.items():
            by_rest.setdefault(tuple(outputs[row] for row in rest), []).append(each)
        largest = max(largest, *(max(each) - min(each) for each in by_rest.values()))
    return largest


@pytest.fixture(params=CASES, scope="module")
def case(request, tmp_path_factory):
    metric, _, _, _, params = CASES[request.param]
    X = np.arange(len(Y), dtype=float)[:, None]

    def made(route="differential_privacy"):
        ledger = tmp_path_factory.mktemp("case") / f"{route}.db"
        return Holdout(X, Y, route=route, expected_questions=4, random_state=0, ledger=ledger, **params)

    return as_metric(metric), largest_change(request.param), made


@pytest.mark.parametrize("mechanism", ["check", "certify"])
def test_normal_noise_has_the_multiplier_that_is_booked_times_the_largest_change(case, mechanism):
    metric, change, made = case
    question = holdouts.plan(made(), Says(Y), scoring=metric, purpose=mechanism, guess=sum(metric.bounds) / 2)
    event = question.private_release({}).event
    assert question.deviation == pytest.approx(event.noise_multiplier * change, rel=1e-9)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_thresholdout_books_the_largest_change_over_its_scale(case, noise):
    metric, change, made = case
    low, high = metric.bounds
    settings = NoiseSettings(noise, 0.05 * (high - low), threshold=0.1 * (high - low))
    asked = {"scoring": metric, "purpose": "check", "guess": (low + high) / 2, "settings": settings}
    question = holdouts.plan(made("description_length"), Says(Y), **asked)
    event = question.private_release({}).event
    if noise == "laplace":
        assert event.scaled_epsilon == pytest.approx(change / settings.scale, rel=1e-9)
    else:  # a hit makes two releases
        assert event.noise_multiplier * np.sqrt(2.0) == pytest.approx(settings.scale / change, rel=1e-9)


def test_a_choice_is_drawn_with_the_largest_change(case):
    metric, change, made = case
    with mock.patch("sklearn_ada.holdout.choice.exponential_mechanism", wraps=exponential_mechanism) as drawn:
        made("description_length").select([Says(Y), Says(1 - Y)], scoring=metric, epsilon=0.5)
    used = drawn.call_args.kwargs
    assert (used["sensitivity"], used["epsilon"]) == (pytest.approx(change, rel=1e-9), 0.5)
