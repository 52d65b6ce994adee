"""What a search's winner is expected to score, and which candidate is the winner.

The guess comes from the search's own folds, or from rows set aside for it.

**The one-standard-error rule** takes, of the candidates that are as good as the best, the simplest. A
standard error is read off the certified interval: its half-width over the normal quantile of its failure
probability. So it is made of released answers only, and is never smaller than what they certify.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import ndtri_exp
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._validation import LN_2, bad_parameter
from sklearn_ada.answer import Answer
from sklearn_ada.metrics.metric import Metric
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
    validated: Callable[[], tuple[Any, Any, Any]], metric: Metric, y: Any
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
        rows = validated()
        tuned = tuned_metric(metric, *rows)
        return tuned, guess_from_rows(tuned, *rows)
    except Exception:  # too few rows, a class is missing, ...
        if metric.has_interval_of_all_rows and not metric.measure.needs_rows:
            return metric.of_all_rows(), None
        rows = _without_features(metric, y)
        tuned = tuned_metric(metric, *rows)
        return tuned, guess_from_rows(tuned, *rows)


def guess_from_validation(
    validated: Callable[[], tuple[Any, Any, Any]], metric: Metric, subsample_size: int | None
) -> Guess | None:
    """Return a guess from a model of one part of the rows, taken on the rest: what ``validated`` returns.

    It raises nothing: the search's choice may be paid for by now, and without a guess the answer is as good.
    """
    try:
        if subsample_size is None:
            return guess_from_rows(metric, *validated())
        return median_guess_from_rows(metric, *validated(), subsample_size)
    except Exception:  # too few rows, a class is missing, ...: only the price suffers
        return None if subsample_size is None else Guess(0.0, deviation=1.0)


def _without_features(metric: Metric, y: Any) -> tuple[Any, Any, Any]:
    """Return a model that says the same of all rows, and rows with these labels."""
    of_numbers = metric.response.target == "numbers" or type_of_target(y).startswith("continuous")
    dummy = DummyRegressor() if of_numbers else DummyClassifier()
    nothing = np.zeros((len(y), 1))
    return dummy.fit(nothing, y), nothing, y


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
    given = {number: answers[number] for number in may_win}
    answered = {n: answer for n, answer in given.items() if answer is not None and answer.answered}
    if not answered:
        return may_win[0]
    best = max(answered, key=lambda number: answered[number].value)
    if rule is False:
        return best
    least = answered[best].value - standard_error(answered[best])
    good = [number for number, answer in answered.items() if answer.value >= least]
    return min(good, key=lambda n: (_complexity(rule, n, candidates[n]), -answered[n].value))


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


def _complexity(rule: Any, number: int, params: dict[str, Any]) -> float:
    """Return how complex a candidate is: the least is the simplest."""
    if rule is True:
        return number
    value, what = (params[rule], rule) if isinstance(rule, str) else (rule(params), "its value")
    if not isinstance(value, Real) or value != value:
        raise _bad(f"such that {what} is a number", value)
    return float(value)


def _bad(expected: str, got: Any, fix: str = "") -> ValueError:
    return bad_parameter("one_standard_error", "ReusableHoldoutCV", expected, got, fix)
