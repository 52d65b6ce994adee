"""Where the guess of a search's winner comes from: its own folds, or rows set aside for it.

The one-standard-error rule: of the candidates that are as good as the best, the simplest.

A standard error is read off the certified interval: its half-width over the normal quantile of its failure
probability. So it is made of released answers only, and is never smaller than what they certify.

A search about whose winner there is no question to ask: why that is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._validation import LN_2, bad_parameter
from sklearn_ada.answer import Answer
from sklearn_ada.data.labels import n_rows, take_rows
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection.engines import take_for
from sklearn_ada.model_selection.scorers import split_rows
from sklearn_ada.questions.question import (
    Guess,
    guess_from_rows,
    median_guess_from_rows,
    tuned_metric,
)

_OWN_FOLDS = "the search's own folds"  # of the rows that the model was fitted on, so they need no digest


def guess_from_folds(
    over_folds: np.ndarray,
    scores: np.ndarray,
    index: int,
    n: int,
    folds: int,
    metric: Metric,
    subsample_size: int | None,
) -> Guess | None:
    """Return a candidate's out-of-fold score as a guess, or None if it has none.

    For a stable median of subsamples of ``subsample_size`` rows its deviation over the folds is scaled to
    them.
    """
    if not np.isfinite(scores[index]):
        return None
    value = float(scores[index])
    if subsample_size is None:
        low, high = metric.bounds  # one record's score is clipped, so the mean of others may be outside
        return Guess(min(max(value, low), high), size=float(n), rows=_OWN_FOLDS)
    spread = float(over_folds[index]) * (n / folds / subsample_size) ** 0.5 or abs(value) or 1.0
    return Guess(value, size=float(folds), deviation=spread, rows=_OWN_FOLDS)


def tuned_by_validation(
    fit: Callable[[NDArray[Any]], Any],
    X: Any,
    y: Any,
    validation: float,
    groups: Any,
    metric: Metric,
    of_pairs: bool = False,
) -> tuple[Metric, Guess | None]:
    """Return a metric tuned by a part of the rows, and a guess from it.

    Its range, if it lacks one, or what an interval of all rows needs. Where the rows are too few to leave
    some of them out, a model that knows nothing of X tunes it: that y has this scale.

    Raises
    ------
    ValueError
        If that cannot be either.
    """
    try:
        rows = _validated(fit, X, y, validation, groups, of_pairs)
        tuned = tuned_metric(metric, *rows)
        return tuned, guess_from_rows(tuned, *rows)
    except Exception:  # too few rows, a class is missing, ...
        if metric.has_interval_of_all_rows and not metric.measure.needs_rows:
            return metric.of_all_rows(), None
        rows = _knowing_nothing(metric, y)
        tuned = tuned_metric(metric, *rows)
        return tuned, guess_from_rows(tuned, *rows)


def guess_from_validation(
    fit: Callable[[NDArray[Any]], Any],
    X: Any,
    y: Any,
    validation: float,
    groups: Any,
    metric: Metric,
    subsample_size: int | None,
    of_pairs: bool = False,
) -> Guess | None:
    """Return a guess from a model that ``fit`` makes of one part of the rows, taken on the rest.

    It raises nothing: the search's choice may be paid for by now, and without a guess the answer is as good.
    """
    try:
        rows = _validated(fit, X, y, validation, groups, of_pairs)
        if subsample_size is None:
            return guess_from_rows(metric, *rows)
        return median_guess_from_rows(metric, *rows, subsample_size)
    except Exception:  # too few rows, a class is missing, ...: only the price suffers
        return None if subsample_size is None else Guess(0.0, deviation=1.0)


def _knowing_nothing(metric: Metric, y: Any) -> tuple[Any, Any, Any]:
    """Return a model that says the same of all rows, and rows with these labels."""
    of_numbers = metric.response.target == "numbers" or type_of_target(y).startswith("continuous")
    dummy = DummyRegressor() if of_numbers else DummyClassifier()
    nothing = np.zeros((len(y), 1))
    return dummy.fit(nothing, y), nothing, y


def _validated(
    fit: Callable[[NDArray[Any]], Any], X: Any, y: Any, validation: float, groups: Any, of_pairs: bool
) -> tuple[Any, Any, Any]:
    """Return a model of one part of the rows, and the rest with its labels."""
    first, rest = split_rows(n_rows(X), y, validation, 0, groups)
    return fit(first), take_for(X, rest, first, of_pairs), take_rows(y, rest)


def standard_error(answer: Answer) -> float:
    """Return the standard error behind a certified interval; infinite where that is unbounded.

    Examples
    --------
    >>> import math
    >>> from sklearn_ada import Answer, Certificate
    >>> from sklearn_ada.answer import Cost
    >>> certificate = Certificate("", 0.95, math.log(0.05), "", (), False)
    >>> answer = Answer(0.8, (0.8 - 0.0196, 0.8 + 0.0196), "exact", Cost(4.0), certificate, 1)
    >>> round(standard_error(answer), 5)
    0.01
    """
    assert answer.certificate is not None  # it has a value
    return answer.half_width / -float(ndtri_exp(answer.certificate.ln_delta - LN_2))


def best_of(
    answers: Mapping[int, Answer] | Sequence[Answer | None],
    may_win: Sequence[int],
    candidates: Sequence[dict[str, Any]],
    rule: Any,
) -> int:
    """Return the number of the candidate that wins; the first of those that may if none has a value.

    Parameters
    ----------
    answers : mapping or sequence
        The answer about each candidate, by its number.
    may_win : sequence of int
        Numbers of candidates; of equals the first is better.
    candidates : sequence of dict
        The parameters of all candidates of the search.
    rule : bool, str or callable
        ``one_standard_error`` of `ReusableHoldoutCV`.
    """
    known = {number: answers[number] for number in may_win}
    values = {n: answer.value for n, answer in known.items() if answer is not None and answer.answered}
    if not values:
        return may_win[0]
    best = max(values, key=lambda number: values[number])
    if rule is False:
        return best
    answer = known[best]
    assert answer is not None
    least = values[best] - standard_error(answer)
    measure = _complexity(rule)
    good = [number for number in values if values[number] >= least]
    return min(good, key=lambda number: (measure(number, candidates[number]), -values[number]))


def check_rule(rule: Any, search: Any) -> None:
    """Raise ValueError unless ``one_standard_error`` says what is simpler, for this search."""
    if isinstance(rule, bool):
        if rule and type(search) is not GridSearchCV:
            raise _bad(
                f"the name of a parameter or a function for {type(search).__name__}", rule,
                "Only a grid has an order; True takes the earlier of its candidates for the simpler.",
            )  # fmt: skip
    elif isinstance(rule, str):
        if rule not in search.estimator.get_params():
            raise _bad("the name of a parameter of the estimator", rule)
    elif not callable(rule):
        raise _bad("True, False, the name of a parameter or a function of the parameters", rule)


def _complexity(rule: Any) -> Callable[[int, dict[str, Any]], float]:
    if rule is True:
        return lambda number, params: number
    if isinstance(rule, str):
        return lambda number, params: _number(params[rule], rule)
    return lambda number, params: _number(rule(params), "its value")


def _number(value: Any, what: str) -> float:
    if not isinstance(value, Real) or value != value:
        raise _bad(f"such that {what} is a number", value)
    return float(value)


def _bad(expected: str, got: Any, fix: str = "") -> ValueError:
    return bad_parameter("one_standard_error", "ReusableHoldoutCV", expected, got, fix)


NOT_FINISHED = "The last call of fit did not end, so nothing is known to be asked about the best model."
NO_METRIC = (
    "A function chooses the winner by several scores, so nothing says which to certify. Name one: "
    "ReusableHoldoutCV(search, scoring='accuracy')."
)
NO_USUAL_METRIC = (
    "The model is neither a classifier nor a regressor, so nothing says which metric of its labels to "
    "certify. Name one: ReusableHoldoutCV(search, scoring='accuracy')."
)
NO_PREDICT = (
    "The best model has no predict, or whichever method the metric takes, and a question to the holdout is "
    "about what that says. Give it one to have it certified."
)
UNSCORED_CHOICE = (
    "The candidate that the search's refit function chose has no score of its own, which would be the guess. "
    "Mend its scores, or choose among those that have one."
)


def why_unscored(
    search: Any,
    name: str,
    metric: Metric,
    fit: Callable[[NDArray[Any]], Any],
    X: Any,
    y: Any,
    validation: float,
    groups: Any,
    of_pairs: bool = False,
) -> tuple[str, Exception | None]:
    """Return why a fitted search has only NaN or infinite scores of this name, and the error behind it.

    The cause is what its scorer says of a model that ``fit`` makes of one part of the rows, on the rest: the
    search itself has turned it into NaN.
    """
    scorers = getattr(search, "scorer_", None)
    scorer = scorers.get(name) if isinstance(scorers, dict) else scorers
    cause: Exception | None = None
    try:
        first, rest = split_rows(n_rows(X), y, validation, 0, groups)
        rows = take_for(X, rest, first, of_pairs), take_rows(y, rest)
        (scorer if callable(scorer) else metric.score)(fit(first), *rows)
    except Exception as raised:
        cause = raised
    if cause is None:
        told = "its scores are NaN or infinite. On folds of one row, or of one class, they may be undefined: "
        told += "pass more rows, or give it a cv with fewer folds. With error_score='raise' it tells what "
        told += "failed, if anything did"
    else:
        told = f"its scorer or model raises {type(cause).__name__}: {str(cause).rstrip('.')}. Mend its "
        told += "scoring or its model; with error_score='raise' it tells by itself"
    return f"No candidate got a score from the search itself, of those to be certified: {told}.", cause


def no_candidate_scored(why: str) -> ValueError:
    """Return the error for a search that cannot go on without a score."""
    return ValueError(f"{why} So nothing is certified, and the holdout was not asked.")
