"""The one-standard-error rule: of the candidates that are as good as the best, the simplest.

A standard error is read off the certified interval: its half-width over the normal quantile of its failure
probability. So it is made of released answers only, and is never smaller than what they certify.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

from scipy.special import ndtri_exp
from sklearn.model_selection import GridSearchCV

from sklearn_ada._checks import bad_parameter
from sklearn_ada._constants import LN_2
from sklearn_ada.results import Answer

__all__ = ["best_of", "check_rule", "standard_error"]


def standard_error(answer: Answer) -> float:
    """Return the standard error behind a certified interval; infinite where that is unbounded.

    Examples
    --------
    >>> import math
    >>> from sklearn_ada import Answer, Certificate
    >>> from sklearn_ada.results import Cost
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
