"""Time the intervals that are a function of all rows against one call of scikit-learn's metric.

What a Holdout's certify would compute from labels and outputs, out of its own question; peak memory is what
that takes above them.
"""

from __future__ import annotations

import itertools
import math
import time
import tracemalloc
import warnings
from functools import partial

import numpy as np
from sklearn import metrics
from sklearn.base import BaseEstimator

from benchmarks.speed.finding import Finding
from benchmarks.speed.timing import by_turns
from benchmarks.validity.comparisons import Column, disagreeing
from sklearn_ada import Holdout, Metric
from sklearn_ada.holdout.framing import Ask, plan_question
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.questions.all_rows import with_rows_interval
from sklearn_ada.terms.models import Subject

__all__ = ["measure", "measure_comparisons", "measure_populations"]

MOST_SECONDS = {"mean": 2.0, "bands": 1.0, "table": 1.0, "area": 5.0, "groups": 5.0}
MOST_MEGABYTES = {"mean": 64.0, "area": 500.0, "groups": 500.0}  # both at a million rows
MOST_ASKING = {10**4: 0.5, 10**5: 2.0}  # seconds of a whole question
MOST_MEGABYTES_ASKING = 200.0
OF_POPULATIONS = {
    "matthews_corrcoef": "matthews_corrcoef", "kappa": metrics.make_scorer(metrics.cohen_kappa_score),
    "f_beta": metrics.make_scorer(metrics.fbeta_score, beta=2),
}  # fmt: skip
LN_DELTA = math.log(1e-4)


class Says(BaseEstimator):
    """Says what stands in the first column: numbers, labels, scores, or the probability of class 1."""

    def __init__(self, kind):
        self.kind = kind

    def fit(self, X, y):
        self.n_features_in_, self.classes_ = 1, np.unique(y)
        if self.kind == "numbers":
            del self.classes_
        return self

    def predict(self, X):
        return X[:, 0] if self.kind == "numbers" else (X[:, 0] > 0.5).astype(int)

    def predict_proba(self, X):
        return np.column_stack((1.0 - X[:, 0], X[:, 0]))

    def decision_function(self, X):
        return X[:, 0]


def _classes(rng, n):
    probability = 1.0 / (1.0 + np.exp(-2.0 * rng.standard_normal(n)))
    return probability[:, None], (rng.random(n) < probability).astype(int)


def _numbers(rng, n):
    y = rng.standard_normal(n)
    return (y + 0.7 * rng.standard_normal(n))[:, None], y


CASES = {
    # The metric's name: what it reads, of which population, scikit-learn's function, and of which kind it is.
    "neg_brier_score": ("probabilities", _classes, metrics.brier_score_loss, "mean"),
    "neg_log_loss": ("probabilities", _classes, metrics.log_loss, "mean"),
    "neg_mean_absolute_error": ("numbers", _numbers, metrics.mean_absolute_error, "mean"),
    "neg_root_mean_squared_error": ("numbers", _numbers, metrics.root_mean_squared_error, "mean"),
    "r2": ("numbers", _numbers, metrics.r2_score, "mean"),
    "d2_absolute_error_score": ("numbers", _numbers, metrics.d2_absolute_error_score, "mean"),
    "neg_median_absolute_error": ("numbers", _numbers, metrics.median_absolute_error, None),
    "average_precision": ("probabilities", _classes, metrics.average_precision_score, "bands"),
    "roc_auc": ("probabilities", _classes, metrics.roc_auc_score, "area"),
    "f1_macro": ("labels", _classes, lambda y, p: metrics.f1_score(y, p, average="macro"), "table"),
    "matthews_corrcoef": ("labels", _classes, metrics.matthews_corrcoef, "table"),
    "balanced_accuracy": ("labels", _classes, metrics.balanced_accuracy_score, "table"),
}
OF_GROUPS = {
    "accuracy": ("labels", _classes, metrics.accuracy_score, "groups"),
    "f1": ("labels", _classes, metrics.f1_score, "groups"),
    **{name: (*CASES[name][:3], "groups") for name in ("neg_mean_absolute_error", "r2", "roc_auc")},
}
"""The same of rows that come in groups of four."""


def measure(seed, *, sizes=(10**3, 10**5, 10**6), rounds=3):
    """Return the seconds of each interval, and its memory at a million rows."""
    found, cases = [], [*CASES.items(), *OF_GROUPS.items()]
    for name, (kind, population, function, bounded) in cases:
        for n in sizes:
            units = {"groups": np.arange(n) // 4} if bounded == "groups" else {}
            timed = _interval(name, kind, population, function, seed, n, rounds, units)
            if timed is None:
                continue
            times, megabytes = timed
            case = f"{name} of groups of four rows" if units else name
            ratio = times["interval"] / times["metric"]
            most = MOST_SECONDS.get(bounded) if n == 10**6 else None
            found.append(
                Finding(
                    f"interval of all rows, {case}, {n:,} rows: seconds, and over scikit-learn's metric",
                    times["interval"],
                    f"{times['interval']:.4f} s ({ratio:.1f} times; {megabytes:.0f} MB)",
                    at_most=most,
                    detail={**times, "megabytes": megabytes},
                )
            )
            if n == 10**6 and bounded in MOST_MEGABYTES:
                most = MOST_MEGABYTES[bounded]
                found.append(Finding(f"its memory, {case}", megabytes, f"{megabytes:.0f} MB", at_most=most))
    return found


def measure_comparisons(seed, *, sizes=(10**4, 10**5)):
    """Return what `Holdout.compare` takes where models differ on a twentieth, and on half, of the rows."""
    found, rng = [], np.random.default_rng(seed)
    for class_mix, differ, n in itertools.product(("priced", "conditional"), (0.05, 0.5), sizes):
        case = f"{n:,} rows, {differ:.0%} differ, class_mix={class_mix!r}"
        found += _asked(f"comparison, {case}", n, partial(_compare, rng, class_mix, differ, n))
    return found


def measure_populations(seed, *, sizes=(10**4, 10**5)):
    """Return what `Holdout.certify` takes for metrics of the table of a population."""
    found, rng = [], np.random.default_rng([seed, 1])  # other rows than comparisons are asked of
    for (name, scoring), share, n in itertools.product(OF_POPULATIONS.items(), (0.5, 0.1, 0.01), sizes):
        case = f"{name} of a population, {n:,} rows, {share:.0%} positive"
        found += _asked(case, n, partial(_certify, rng, scoring, share, n))
    return found


def _asked(case, n, ask):
    """Return seconds and memory of a question, which is asked twice, of other rows."""
    begun = time.perf_counter()
    ask()
    seconds = time.perf_counter() - begun
    tracemalloc.start()
    ask()
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return [
        Finding(f"{case}: seconds", seconds, f"{seconds:.3f} s", at_most=MOST_ASKING.get(n)),
        Finding(f"its memory, {case}", megabytes, f"{megabytes:.0f} MB", at_most=MOST_MEGABYTES_ASKING),
    ]


def _compare(rng, class_mix, differ, n):
    (X, y), guess_from = disagreeing(rng, n, differ), disagreeing(rng, n, differ)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        holdout = Holdout(X, y, ledger=":memory:", class_mix=class_mix)
        holdout.compare(Column(0), Column(1), scoring="accuracy", guess_from=guess_from)


def _certify(rng, scoring, share, n):
    (X, y), guess_from = _labelled(rng, share, n), _labelled(rng, share, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        holdout = Holdout(X, y, ledger=":memory:", class_mix="priced")
        holdout.certify(Column(0), scoring=scoring, guess_from=guess_from)


def _labelled(rng, share, n):
    y = (rng.random(n) < share).astype(int)
    predicted = (rng.random(n) < np.where(y == 1, 0.7, 0.2 * share)).astype(int)
    return np.column_stack((predicted, rng.random(n))), y


def _interval(name, kind, population, function, seed, n, rounds, units):
    rng = np.random.default_rng([seed, len(units)])  # a ledger belongs to its rows
    (X, y), rows = population(rng, n), population(rng, 1000)
    model = Says("numbers" if kind == "numbers" else "classes").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = session_of(Holdout(X, y, ledger=":memory:", **units))
        subject = Subject.of(model, session.data, session.policy, "Holdout.certify")
        coded = plan_question(session, Ask(subject, Metric(name), "certify", guess_from=rows))
        question = with_rows_interval(coded, session.data, session.policy)
    if question is None:
        return None  # the interval that follows from the value is narrower
    outputs = question.metric.outputs(model, X, y)
    classes = getattr(model, "classes_", None)
    said = X[:, 0] if kind != "labels" else outputs

    def interval():
        return question.construction.ends(y, outputs, classes, LN_DELTA, np.random.default_rng(seed))

    seconds = by_turns({"interval": interval, "metric": lambda: function(y, said)}, rounds)
    tracemalloc.start()
    interval()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {each: min(times) for each, times in seconds.items()}, peak / 1e6
