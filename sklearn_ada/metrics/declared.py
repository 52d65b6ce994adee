"""What a user declares a metric by, such as a scorer string, and what scorer, range and rule that means."""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    get_scorer,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)

from sklearn_ada._checks import bad_parameter, check_option
from sklearn_ada.metrics.outputs.forms import Response
from sklearn_ada.metrics.registry import KNOWN_RANGES, POSITIVE, REFUSED, RESPONSES, WITH_INTERVAL
from sklearn_ada.metrics.rules.constructions import Range
from sklearn_ada.metrics.rules.mean import Mean
from sklearn_ada.metrics.rules.rule import IntervalRule
from sklearn_ada.metrics.rules.scores import UserScores
from sklearn_ada.metrics.scorer_names import registered_name
from sklearn_ada.metrics.scoring import Scoring

__all__ = ["Declared", "declared"]

_OF_ONE_CLASS: dict[str, Callable[..., Any]] = {
    "average_precision": partial(
        make_scorer, average_precision_score, response_method=("decision_function", "predict_proba")
    ),
    "f1": partial(make_scorer, f1_score),
    "jaccard": partial(make_scorer, jaccard_score),
    "neg_brier_score": partial(
        make_scorer, brier_score_loss, greater_is_better=False, response_method="predict_proba"
    ),
    "precision": partial(make_scorer, precision_score),
    "recall": partial(make_scorer, recall_score),
}
"""Scorers for another positive class than scikit-learn's strings have."""


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Declared:
    """What the parameters of `Metric` mean.

    Attributes
    ----------
    name : str
        What the metric is called.
    string : str or None
        The scorer string, if it is one.
    scoring : str or callable
        The scorer string or the callable; the scorer, if it is one of another class than the string's.
    scorer : callable or None
        The scorer; None for a user's function of labels and outputs.
    positive : label or None
        The positive class of a metric of one class.
    response : Response
    methods : tuple of str
        Of the estimator, which give the outputs for an interval.
    rule : IntervalRule or None
        How the value becomes an interval; None where it does not.
    range : tuple of float or None
    has_own_range : bool
        Whether scikit-learn's definition gives the range.
    """

    name: str
    string: str | None
    scoring: str | Callable[..., Any]
    scorer: Callable[..., Any] | None
    positive: Any
    response: Response
    methods: tuple[str, ...]
    rule: IntervalRule | None
    range: Range | None
    has_own_range: bool


def declared(
    scoring: str | Callable[..., Any],
    kind: str | None,
    range: tuple[float, float] | None,
    response_method: str,
    pos_label: Any,
) -> Declared:
    """Return what the parameters of `Metric` mean, or raise ValueError.

    Examples
    --------
    >>> declared("recall", None, None, "predict", "yes").name
    "recall of 'yes'"
    """
    bounds = _check_range(range)
    if isinstance(scoring, Scoring):
        raise bad_parameter("scoring", "Metric", "a scorer string or a scorer", scoring)
    if callable(scoring) and kind != "mean":
        scoring = registered_name(scoring) or scoring
    if isinstance(scoring, str):
        meant = _of_string(scoring, kind, range, bounds, response_method)
        return meant if pos_label is None else _of_class(meant, scoring, pos_label)
    if callable(scoring):
        return _of_function(scoring, kind, bounds, response_method, pos_label)
    raise bad_parameter("scoring", "Metric", "a scorer string, a scorer or a Metric", scoring)


def _of_string(
    scoring: str, kind: str | None, given: Any, bounds: Range | None, response_method: str
) -> Declared:
    """Return what a scorer string means; ``given`` is the range as it was written."""
    if scoring not in get_scorer_names():
        near = difflib.get_close_matches(scoring, get_scorer_names(), 3, 0.4)
        fix = f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
        expected = "a scikit-learn scorer string, a scorer or a Metric"
        raise bad_parameter("scoring", "Metric", expected, scoring, fix)
    if scoring in REFUSED:
        fix = f"It {REFUSED[scoring]}."
        raise bad_parameter("scoring", "Metric", "a metric of one label a record", scoring, fix)
    if kind is not None:
        check_option(kind, "kind", "Metric", ("general",))
    known = WITH_INTERVAL.get(scoring)
    natural = KNOWN_RANGES.get(scoring) if known is None else known.range
    if natural is not None and bounds is not None and bounds != natural:
        raise bad_parameter("range", "Metric", f"left out, as {scoring} has {natural}", given)
    response = RESPONSES.get(scoring, Response("any", (), target=None))
    rule = None if known is None or kind is not None else known.rule
    return Declared(
        name=scoring,
        string=scoring,
        scoring=scoring,
        scorer=get_scorer(scoring),
        positive=POSITIVE.get(scoring),
        response=response,
        methods=(response_method,) if rule is None else response.methods,
        rule=rule,
        range=natural if bounds is None else bounds,
        has_own_range=natural is not None,
    )


def _of_class(meant: Declared, string: str, pos_label: Any) -> Declared:
    """Return what a scorer string means for another class than 1."""
    if string not in POSITIVE:
        fix = f"Leave it out; it is for {', '.join(POSITIVE)}."
        raise bad_parameter("pos_label", "Metric", f"None for {string}", pos_label, fix)
    scorer = _OF_ONE_CLASS[string](pos_label=pos_label)
    rule = None if meant.rule is None else replace(meant.rule, positive=pos_label)  # type: ignore[type-var]
    return replace(
        meant, name=f"{string} of {pos_label!r}", scoring=scorer, scorer=scorer, positive=pos_label, rule=rule
    )


def _of_function(
    scoring: Callable[..., Any],
    kind: str | None,
    bounds: Range | None,
    response_method: str,
    pos_label: Any,
) -> Declared:
    """Return what a scorer, or a function of labels and outputs, means."""
    if pos_label is not None:
        fix = "Give it to the scorer: make_scorer(function, pos_label=...)."
        raise bad_parameter("pos_label", "Metric", "None for a function", pos_label, fix)
    check_option(kind or "general", "kind", "Metric", ("mean", "general"))
    name = getattr(scoring, "__name__", None) or _described(scoring)
    if kind != "mean":
        _check_is_scorer(scoring, name)
    return Declared(
        name,
        string=None,
        scoring=scoring,
        scorer=None if kind == "mean" else scoring,
        positive=None,
        response=Response("any", (response_method,), target=None),
        methods=(response_method,),
        rule=Mean(UserScores(scoring)) if kind == "mean" else None,
        range=bounds,
        has_own_range=False,
    )


def _described(scoring: Callable[..., Any]) -> str:
    """Return the text of a callable without its address, which would be another one in each process."""
    try:
        return _ADDRESS.sub("", repr(scoring))
    except Exception:  # scikit-learn 1.6 asks a partial for its name
        return type(scoring).__name__


def _check_is_scorer(scoring: Callable[..., Any], name: str) -> None:
    """Raise ValueError for a function of labels and predictions, such as `accuracy_score`."""
    try:
        signature = inspect.signature(scoring)
    except (TypeError, ValueError):  # of some callables written in C
        return
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise bad_parameter(
            "scoring", "Metric", "a scorer, to be called as scoring(estimator, X, y)", name,
            "For a function of labels and predictions use its scorer string, such as 'accuracy' for "
            "accuracy_score, or sklearn.metrics.make_scorer(function).",
        ) from None  # fmt: skip


def _check_range(bounds: tuple[float, float] | None) -> Range | None:
    """Return the bounds as floats, None if there are none; ValueError unless they are finite."""
    if bounds is None:
        return None
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise bad_parameter("range", "Metric", "a pair of finite numbers low < high", bounds)
    return low, high
