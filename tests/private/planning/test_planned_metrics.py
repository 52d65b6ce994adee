"""Plans of searches by any metric: against simulated Holdouts, whose rows are as the plan takes them."""

import functools
import math

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import plan_holdout

SEARCHING, PUBLISHED = "cells, while searching", "cells, published"
ROWS, SEARCHES, SEEDS = 1_000, 5, 8


class Column:
    """Reads its outputs from one column of X."""

    def __init__(self, at=0):
        self.at = at

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True


class Classes(Column, ClassifierMixin, BaseEstimator):
    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.column_stack([1.0 - X[:, self.at], X[:, self.at]])

    def predict(self, X):
        return (X[:, self.at] > 0.5).astype(int)


class Numbers(Column, RegressorMixin, BaseEstimator):
    def predict(self, X):
        return X[:, self.at]


def rows_of_classes(n, rng, apart):
    """Return rows whose scores are normal, ``apart`` standard deviations apart in two equal classes."""
    y = np.arange(n) % 2
    scores = rng.normal(size=(n, SEARCHES)) + apart * (y[:, None] - 0.5)
    return expit(apart * scores), y


def rows_of_numbers(n, rng, explained):
    """Return rows whose predictions explain this share of the variance of y."""
    y, noise = rng.normal(size=n), rng.normal(size=(n, SEARCHES))
    return explained * y[:, None] + math.sqrt(explained * (1.0 - explained)) * noise, y


def simulated(scoring, make, size):
    """Return median half-widths of the first and last winner: exact, while searching, and published."""
    model_of, found = Numbers if make is rows_of_numbers else Classes, {}
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, 41])
        for answers in ("coarse", "exact"):
            holdout = SimulatedHoldout(*make(ROWS, rng, size), seed=seed, answers=answers, scoring=scoring)
            asked = {"scoring": scoring, "guess_from": make(3 * ROWS, rng, size)}
            first, *_, last = (holdout.certify(model_of(each), **asked) for each in range(SEARCHES))
            if answers == "exact":
                found.setdefault(("certify each", 1), []).append(first.half_width)
                found.setdefault(("certify each", SEARCHES), []).append(last.half_width)
                continue
            if last.verdict == "agrees":
                found.setdefault((SEARCHING, SEARCHES), []).append(last.half_width)
            final = holdout.publish(model_of(SEARCHES - 1), **asked)
            found.setdefault((PUBLISHED, SEARCHES), []).append(final.half_width)
    return {name: np.median(widths) for name, widths in found.items()}


METRICS = {
    "roc_auc": (rows_of_classes, 1.5),
    "f1": (rows_of_classes, 1.7),
    "neg_mean_absolute_error": (rows_of_numbers, 0.7),
    "r2": (rows_of_numbers, 0.7),
    "neg_log_loss": (rows_of_classes, 1.8),
    "neg_root_mean_squared_error": (rows_of_numbers, 0.7),
    "f1_macro": (rows_of_classes, 1.7),
    "average_precision": (rows_of_classes, 1.7),
    "neg_median_absolute_error": (rows_of_numbers, 0.7),
}
QUICK = ("roc_auc", "f1", "neg_mean_absolute_error", "r2")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "scoring", [name if name in QUICK else pytest.param(name, marks=pytest.mark.thorough) for name in METRICS]
)
def test_widths_are_those_of_simulated_holdouts(scoring):
    """Medians of some Holdouts: the first and the last exact answer, the last while searching, published."""
    make, size = METRICS[scoring]
    model = (Numbers if make is rows_of_numbers else Classes)()
    value = float(get_scorer(scoring)(model, *make(20_000, np.random.default_rng(0), size)))
    plan = functools.cache(functools.partial(plan_holdout, n=ROWS, guess_rows=3 * ROWS, scoring=scoring))
    for (method, searches), width in simulated(scoring, make, size).items():
        row = plan(searches=searches, expected_value=value)[method]
        if row.vacuous:  # so many exact answers of R^2
            assert width == 1.0
        else:
            squares = scoring == "neg_root_mean_squared_error"  # whose few large errors decide on the ends
            assert row.width == pytest.approx(width, rel=0.2 if squares else 0.15), method


def test_what_is_rare_or_spread_needs_more_rows():
    """Widths grow with the imbalance of the classes, and with the spread of the errors."""
    asked = {"searches": 2, "n": 500}
    auc, error = {"scoring": "roc_auc"}, {"scoring": "neg_mean_absolute_error", "expected_value": -2.5}
    balanced, rare = (plan_holdout(**asked, **auc, positive_share=share) for share in (0.5, 0.1))
    normal, alike, heavy = (plan_holdout(**asked, **error, error_spread=each) for each in (None, 0.755, 1.5))
    for method in ("one use", "sample splitting", SEARCHING, PUBLISHED):
        assert 1.5 * balanced[method].width < rare[method].width
        assert alike[method].width == pytest.approx(normal[method].width, rel=0.1)
        assert 1.5 * normal[method].width < heavy[method].width


@pytest.mark.parametrize("scoring", ["roc_auc", "r2"])
def test_fewest_rows_and_most_searches_are_the_inverse_of_the_width(scoring):
    asked = {"scoring": scoring, "expected_value": -2.5 if scoring.startswith("neg") else 0.8}
    width = plan_holdout(n=3_000, searches=6, **asked)[PUBLISHED].width
    rows = plan_holdout(searches=6, width=1.001 * width, **asked)[PUBLISHED]
    assert rows.n == pytest.approx(3_000, rel=0.03)
    assert plan_holdout(n=3_000, width=1.001 * width, **asked)[PUBLISHED].n_questions == 6


BAD = [
    ({"scoring": "max_error"}, "scoring"),
    ({"scoring": "neg_mean_absolute_percentage_error"}, "scoring"),
    ({"scoring": "roc_auc_ovr"}, "scoring"),
    ({"scoring": 3}, "scoring"),
    ({"scoring": "f1", "searches": None, "n_questions": 9}, "scoring"),
    ({"scoring": "f1", "searches": None, "width": 0.1, "verdicts": True}, "scoring"),
    ({"scoring": "f1", "expected_value": None}, "expected_value"),
    ({"scoring": "f1", "expected_value": 1.5}, "expected_value"),
    ({"scoring": "neg_mean_absolute_error"}, "expected_value"),
    ({"scoring": "r2", "positive_share": 0.5}, "positive_share"),
    ({"scoring": "accuracy", "positive_share": 0.5}, "positive_share"),
    ({"scoring": "f1", "positive_share": 1.0}, "positive_share"),
    ({"scoring": "f1", "error_spread": 1.0}, "error_spread"),
    ({"error_spread": 1.0}, "error_spread"),
    ({"scoring": "r2", "error_spread": -1.0}, "error_spread"),
    ({"n": None, "width": 0.7}, "width"),
]


@pytest.mark.parametrize(("asked", "name"), BAD)
def test_what_cannot_be_planned_is_an_error(asked, name):
    with pytest.raises(ValueError, match=f"^The '{name}' parameter of plan_holdout must be .*Got"):
        plan_holdout(**{"n": 1_000, "searches": 5, **asked})


def test_a_plan_by_any_metric_in_words():
    plan = plan_holdout(n=1_000, searches=9, scoring="roc_auc")
    assert "9 searches in a row; roc_auc about 0.85" in repr(plan)
    assert f"within ±{plan[PUBLISHED].width:.2g}" in plan.recommendation
    assert "median" not in plan.recommendation
    assert {row.unit for row in plan.rows} == {"roc_auc"}
    assert plan.best.method == SEARCHING
    most = plan_holdout(n=1_000, width=0.05, scoring="roc_auc")
    assert f"after {most[PUBLISHED].n_questions} searches in a row" in most.recommendation
    asked = {"n": 1_000, "searches": 9}
    assert plan_holdout(**asked, scoring="accuracy").rows == plan_holdout(**asked).rows
