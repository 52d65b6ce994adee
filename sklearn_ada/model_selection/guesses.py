"""The guess of a search's winner, and how precise it is.

The guess is the mean of the winner's scores over the folds of its search, where these are of the metric that
is certified; else, and to tune a metric that rows must tune, a model of one part of the training rows is
scored on the other part.

**How many rows a mean of folds is worth.** Let fold k test n_k rows, and let row i count
``w_i = sum of 1 / (K n_k)`` over the folds that test it. If models were equally good, the mean would vary as
that of ``N = 1 / sum of w_i^2`` rows: of all rows in a cross-validation, however often that is repeated, and
of the tested rows only where there is a single split. A halving search has scored on a part of the rows.

**What folds vary beyond sampling.** The models of the folds are not equally good, and the refitted one is
another of their kind. If one row's score has variance v, the scores of the folds have by sampling alone the
expected sample variance ``E = K / (K - 1) v (mean of 1 / n_k - 1 / N)``. What their variance V has beyond
that is the variance of models. The refitted model and the mean of K others differ by ``1 + 1 / K`` times it,
which is added to ``v / N``: the guess is worth as many rows as have that variance.

**Few folds** show a variance badly: of equally good models V / E is a chi-square variable over its K - 1
degrees of freedom, above 1.94 with five folds in one search of ten. So only what exceeds this quantile q
counts: ``max(0, V - q E)``. Drawn from normal distributions, for five folds and three training rows to a row
of the holdout:

======================================  =======  =======  =======  =======  =======
variance of models, in parts of E       0        .3       .85      2        5
======================================  =======  =======  =======  =======  =======
guesses off by more than 2 of its tau   4.2 %    8.3 %    13.7 %   17.7 %   17.3 %
the same with N rows                    4.5 %    9.6 %    18.4 %   31.8 %   49.1 %
mean tau, over that with N rows         1.04     1.09     1.24     1.60     2.46
======================================  =======  =======  =======  =======  =======

With q = 1 every second guess of a stable model would lose precision. What Student's t adds to this would help
little where four degrees of freedom show no excess, and would widen cells of stable models where folds are
two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.stats import chi2
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._notices import warn_user
from sklearn_ada.data.labels import check_labels, n_rows
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection.searches import Ranking, kind_of
from sklearn_ada.model_selection.training_rows import tested_rows
from sklearn_ada.questions.question import (
    Guess,
    guess_from_rows,
    median_guess_from_rows,
    rounded,
    tuned_metric,
)

Validated = Callable[[], tuple[Any, Any, Any]]
"""Returns a model of one part of the rows, and the rest of them with its labels."""

_OWN_FOLDS = "the search's own folds"  # of the rows that the model was fitted on, so they need no digest
_MOST_SPLITS = 1_000  # that are looked at
_CHANCE = 0.1  # that folds of equally good models seem to vary beyond sampling


@dataclass(frozen=True)
class Folds:
    """The scores of one candidate over the folds of its search.

    Attributes
    ----------
    value : float
        Their mean.
    deviation : float
        Their standard deviation, with K as the divisor.
    number : int
        How many there are, K; 0 where the search does not say.
    rows : float
        How many rows their mean is worth, if models are equally good.
    of_a_fold : float
        How many rows a fold tests, in the harmonic mean.
    """

    value: float
    deviation: float
    number: int
    rows: float
    of_a_fold: float

    @classmethod
    def of(cls, ranking: Ranking, index: int, cv: Any, X: Any, y: Any, groups: Any) -> Self:
        """Return those of one candidate, of a search that was fitted on these rows.

        Splits that cannot be looked at are taken for those of a cross-validation.
        """
        search, table, n = ranking.search, ranking.results, n_rows(X)
        number, rows = int(getattr(search, "n_splits_", 0)), float(n)
        of_a_fold, parts = n / max(number, 1), []
        if 0 < number <= _MOST_SPLITS:
            splitter = check_cv(cv, y, classifier=is_classifier(search.estimator))
            parts = tested_rows(splitter, lambda: (X, y, groups))
        sizes = np.array([len(part) for part in parts], dtype=float)
        if len(sizes) == number > 0 and sizes.all():
            row, of_its_fold = np.concatenate(parts) % n, np.repeat(sizes, sizes.astype(int))
            weights = np.bincount(row, 1.0 / of_its_fold) / number
            rows, of_a_fold = rounded(1.0 / float(weights @ weights), 9), float(1.0 / np.mean(1.0 / sizes))
        halves = kind_of(search) == "halving" and search.resource == "n_samples"
        part = float(table["n_resources"][index]) / n if halves else 1.0
        over_folds = table.get(f"std_test_{ranking.name}", np.zeros(len(ranking.scores)))
        scores = float(ranking.scores[index]), float(over_folds[index])
        return cls(*scores, number, rows * part, of_a_fold * part)

    def uncounted(self, n: int) -> Self:
        """Return them as ledgers of older formats count them: n rows, whatever the folds are."""
        return replace(self, number=0, rows=float(n))

    def worth(self, variance: float, share: float = 1.0) -> float:
        """Return how many terms the mean is worth as a guess.

        Parameters
        ----------
        variance : float
            Of one term.
        share : float, default=1.0
            How many terms there are to a row.

        Examples
        --------
        >>> stable, varied = Folds(0.9, 0.02, 5, 900.0, 180.0), Folds(0.9, 0.06, 5, 900.0, 180.0)
        >>> stable.worth(0.09), round(varied.worth(0.09))
        (900.0, 21)
        """
        terms = self.rows * share
        if self.number < 2 or not variance > 0.0:
            return terms
        bessel = self.number / (self.number - 1)
        expected = bessel * variance * max(1.0 / (self.of_a_fold * share) - 1.0 / terms, 0.0)
        quantile = float(chi2.isf(_CHANCE, self.number - 1)) / (self.number - 1)
        beyond = bessel * self.deviation**2 - quantile * expected
        if not beyond > 0.0:
            return terms
        return max(rounded(1.0 / (1.0 / terms + (1.0 + 1.0 / self.number) * beyond / variance), 6), 1.0)


def guess_from_folds(
    folds: Folds, metric: Metric, validated: Validated, y: Any, subsample_size: int | None
) -> Guess | None:
    """Return the mean of a candidate's scores over folds as a guess, or None if it has none.

    For a stable median its deviation over the folds is scaled to the median's subsamples.
    """
    if not np.isfinite(folds.value):
        return None
    if subsample_size is None:
        guess = _with_terms(Guess(folds.value, rows=_OWN_FOLDS), folds, metric, validated, y)
        return _with_folds(guess, metric, folds)
    number = max(folds.number, 1)
    spread = folds.deviation * (n_rows(y) / number / subsample_size) ** 0.5 or abs(folds.value) or 1.0
    return Guess(folds.value, size=float(number), deviation=spread, rows=_OWN_FOLDS)


def _with_terms(guess: Guess, folds: Folds, metric: Metric, validated: Validated, y: Any) -> Guess:
    """Return a guess with what is expected of its terms: how many there are to a row, and how they vary.

    Where predictions decide that, a model of one part of the rows shows it on the other part.
    """
    measure = metric.certified_measure
    if not folds.number or measure.counts:
        return guess
    try:
        if measure.has_variance or measure.size_is_released:
            return guess_from_rows(metric, *validated())
        labels = check_labels(y, metric.name)
        return replace(guess, share=measure.size(labels) / len(labels))
    except Exception:  # too few rows, a class is missing, ...: the folds say enough
        return guess


def _with_folds(guess: Guess, metric: Metric, folds: Folds) -> Guess:
    """Return a guess with the value of the folds, and with what that is worth.

    Without a deviation of its own it has that of a 0/1 score, which no other in this range exceeds.
    """
    if not np.isfinite(folds.value):
        return guess
    (low, high), share = metric.bounds, guess.share or 1.0
    terms = folds.rows * share
    value = min(max(folds.value, low), high)  # a row's score is clipped, so the mean of others may be outside
    if guess.deviation:
        variance = guess.deviation**2
    else:
        at = ((value - low) / (high - low) * terms + 1.0) / (terms + 2.0)
        variance = (high - low) ** 2 * at * (1.0 - at)
    return replace(guess, value=value, size=folds.worth(variance, share))


def tuned_by_validation(
    validated: Validated, metric: Metric, y: Any, folds: Folds | None
) -> tuple[Metric, Guess | None]:
    """Return a metric tuned on validation rows, and a guess from the same rows.

    If there are folds, the guess is their mean, and validation rows say the variance of one term. Tuning
    gives the metric its range, if it lacks one, or the scale that an interval of all rows needs. If there are
    too few rows for validation, the scale is that of y for a dummy model, which ignores X.

    Raises
    ------
    ValueError
        If the dummy model cannot tune it either.
    """
    try:
        tuned, guess = _tuned_by(metric, *validated())
    except Exception as error:  # too few rows, a class is missing, ...
        _warn_of_no_guess(metric, error)
        if metric.has_interval_of_all_rows and not metric.measure.needs_rows:
            return metric.of_all_rows(), None
    else:
        return tuned, guess if folds is None else _with_folds(guess, tuned, folds)
    of_numbers = metric.response.target == "numbers" or type_of_target(y).startswith("continuous")
    dummy = DummyRegressor() if of_numbers else DummyClassifier()
    nothing = np.zeros((len(y), 1))
    return _tuned_by(metric, dummy.fit(nothing, y), nothing, y)


def _tuned_by(metric: Metric, model: Any, X: Any, y: Any) -> tuple[Metric, Guess]:
    tuned = tuned_metric(metric, model, X, y)
    return tuned, guess_from_rows(tuned, model, X, y)


def guess_from_validation(validated: Validated, metric: Metric, subsample_size: int | None) -> Guess | None:
    """Return a guess from a model of one part of the rows, on the rest; None, with a warning, if none can be.

    It raises nothing: the search's choice may be paid for by now, and without a guess the answer is as good.
    """
    try:
        if subsample_size is None:
            return guess_from_rows(metric, *validated())
        return median_guess_from_rows(metric, *validated(), subsample_size)
    except Exception as error:  # too few rows, a class is missing, ...: only the price suffers
        _warn_of_no_guess(metric, error)
        return None if subsample_size is None else Guess(0.0, deviation=1.0)


def _warn_of_no_guess(metric: Metric, error: Exception) -> None:
    warn_user(
        f"No guess of {metric.name} could be computed on validation rows ({type(error).__name__}), so the "
        "holdout's answer costs some nats more. More training rows would give one, or, where the search does "
        "not rank by the metric that is certified, scoring= of the search."
    )
