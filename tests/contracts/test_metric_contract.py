"""What every measure promises, whichever scorer it is of: one suite over all that are registered."""

import json
import math
import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV
from sklearn_ada.metrics import Foreseen, Measure
from sklearn_ada.metrics.base import SCORERS, register
from sklearn_ada.metrics.means import Mean

LN_DELTAS = (math.log(0.3), math.log(0.05), -30.0)
BESIDES = ["neg_log_loss", "neg_root_mean_squared_error"]  # have an interval of all rows beside another


def collected(which=lambda measure: True):
    """Return the names of the installed scorers that are registered, of some measures."""
    names = [name for name in get_scorer_names() if not SCORERS[name].is_refused]
    return [name for name in names if which(SCORERS[name])]


def of_values():
    """Return those whose value is enough, but for the one that takes a parameter for two classes."""
    return [name for name in collected(lambda each: each.value_is_enough) if name != "top_k_accuracy"]


@pytest.fixture(scope="module")
def rows():
    """Per target: a fitted model, and rows of a guess and of a holdout."""
    made = {"classes": (*make_classification(600, 5, flip_y=0.2, random_state=0), LogisticRegression())}
    X, y = make_regression(600, 5, noise=20.0, random_state=0)
    made["numbers"] = (X, np.exp(y / 200), PoissonRegressor())
    return {
        target: (model.fit(X[:200], y[:200]), (X[200:400], y[200:400]), (X[400:], y[400:]))
        for target, (X, y, model) in made.items()
    }


def asked_of(name, rows):
    """Return the metric as it is certified, and what is measured of the guess's rows and of the holdout's."""
    model, guess, holdout = rows[SCORERS[name].response.target]
    is_without_range = name in ("positive_likelihood_ratio", "neg_negative_likelihood_ratio")
    metric = Metric(name, range=SCORERS[name].example_range if is_without_range else None)
    metric = metric.tuned(model, *guess) if metric.is_tuned else metric
    each = [metric.measured(model, y, metric.outputs(model, X, y)) for X, y in (guess, holdout)]
    return metric, model, holdout, *each


def test_all_that_is_known_of_a_scorer_can_be_pickled():
    for name, measure in SCORERS.items():
        assert repr(pickle.loads(pickle.dumps(measure))) == repr(measure), name


@pytest.mark.parametrize("name", of_values())
def test_an_interval_holds_the_value_grows_with_the_level_and_is_no_wider_than_was_bounded(name, rows):
    metric, _, (_, y), guess, seen = asked_of(name, rows)
    measure = metric.certified_measure.foreseeing(guess.value, guess.size / 200, y)
    low, high = measure.limits
    last = measure.interval((seen.value, seen.value), seen.size, math.log(0.9))
    for ln_delta in LN_DELTAS:
        interval = measure.interval((seen.value, seen.value), seen.size, ln_delta)
        slack = 1e-9 * (high - low)
        assert low - slack <= interval[0] <= last[0] + slack <= seen.value + 2 * slack
        assert seen.value - 2 * slack <= last[1] - slack <= interval[1] <= high + slack
        half = (interval[1] - interval[0]) / 2
        assert half <= measure.half_width_bound(0.0, seen.size, ln_delta) + slack
        last = interval


@pytest.mark.parametrize("name", [*collected(lambda each: each.of_all_rows), *BESIDES])
def test_ends_of_all_rows_hold_the_value_and_repeat_themselves(name, rows):
    metric, model, (X, y), guess, seen = asked_of(name, rows)
    foreseen = Foreseen(guess.value, guess.deviation, 0.1, y, False, LN_DELTAS[1], guess.details)
    found = metric.certified_measure.rows_interval(foreseen)
    json.dumps(found.describe())
    outputs, classes = metric.outputs(model, X, y), getattr(model, "classes_", None)
    ends = [found.ends(y, outputs, classes, LN_DELTAS[1], np.random.default_rng(3)) for _ in range(2)]
    low, high = metric.certified_measure.limits
    assert ends[0] == ends[1]
    assert low <= ends[0][0] <= seen.value <= ends[0][1] <= high
    expected = found.foreseen(guess.value, LN_DELTAS[1])
    assert low <= expected[0] <= guess.value <= expected[1] <= high


@pytest.mark.parametrize("name", collected())
def test_what_has_no_interval_says_why(name):
    measure = SCORERS[name]
    metric = Metric(name)
    assert metric.is_scorer_with_interval is measure.value_is_enough
    assert metric.has_interval_of_all_rows is measure.of_all_rows
    if not (measure.value_is_enough or measure.of_all_rows):
        assert measure.reason != Measure.reason
        assert measure.reason in measure.listed


def twice(y, outputs, classes=None):
    return 2.0 * (outputs == y)


def test_a_metric_joins_by_being_registered(rows, monkeypatch):
    monkeypatch.setitem(SCORERS, "toy", None)  # so that it is gone afterwards
    register("toy", of=Mean, bounds=(0.0, 2.0))(twice)
    assert "toy" not in get_scorer_names()
    test_an_interval_holds_the_value_grows_with_the_level_and_is_no_wider_than_was_bounded("toy", rows)
    test_what_has_no_interval_says_why("toy")
    test_all_that_is_known_of_a_scorer_can_be_pickled()
    model, guess, (X, y) = rows["classes"]
    answer = Holdout(X, y, ledger=":memory:").certify(model, scoring="toy", guess_from=guess)
    assert answer.value == pytest.approx(2.0 * model.score(X, y), abs=0.05)
    assert SCORERS["toy"].listed == "betting with guess_from=, else Chernoff-KL (Hoeffding 1963)"


def test_a_mean_by_a_name_of_its_own_is_scored_asked_about_and_searched_by(rows, monkeypatch):
    monkeypatch.setitem(SCORERS, "toy", None)  # so that it is gone afterwards
    response = SCORERS["neg_log_loss"].response  # takes the model's classes
    register("toy", of=Mean, response=response, bounds=(0.0, 1.0))(of_truth)
    model, guess, (X, y) = rows["classes"]
    expected = np.mean(model.predict_proba(X)[np.arange(len(y)), y])
    metric, holdout = Metric("toy"), Holdout(X, y, ledger=":memory:")
    assert metric.score(model, X, y) == pytest.approx(expected)
    assert metric.score(model, X, y, sample_weight=np.arange(len(y)) < 1) == pytest.approx(
        model.predict_proba(X[:1])[0, y[0]]
    )
    for ask in (holdout.certify, holdout.check):
        answer = ask(model, scoring="toy", guess_from=guess)
        assert answer.interval[0] <= expected <= answer.interval[1]
    for asked in ("candidates", "winner"):
        search = ReusableHoldoutCV(GridSearchCV(model, {"C": [0.1, 1.0]}), scoring="toy", ask=asked)
        search.fit(np.vstack([X, guess[0]]), np.append(y, guess[1]))
        assert 0.0 < search.best_score_ < 1.0
    with pytest.raises(ValueError, match="a scikit-learn scorer string"):
        Metric("toys")


def of_truth(y, outputs, classes):
    return outputs[np.arange(len(y)), np.searchsorted(classes, y)]
