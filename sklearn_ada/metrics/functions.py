"""Find the measure of what ``make_scorer`` makes of a function of scikit-learn with options of its own.

What scikit-learn has a string for is found by `sklearn_ada.metrics.scorers`, and metrics of a confusion
matrix by `sklearn_ada.metrics.tables`. Here are means that have no string, such as the pinball loss, D2 of
it, and areas by one method of the model. A loss has a measure where ``greater_is_better=False`` turns its
sign, as in scikit-learn's own scorers; other signs, and options that are not listed, have the median only.
Options that scikit-learn refuses, and functions without one number, are refused by `check_function`.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn import metrics

from sklearn_ada._validation import bad_parameter
from sklearn_ada.accounting.events import BLOCKS
from sklearn_ada.metrics.base import SCORERS, Array, Measure, class_positions
from sklearn_ada.metrics.means import Mean, top_scored
from sklearn_ada.metrics.outputs import ALL_SCORES, LABELS, NUMBERS, SCORES, Response
from sklearn_ada.metrics.regression import Explained
from sklearn_ada.metrics.scorers import as_shortest, as_written, is_of_function
from sklearn_ada.metrics.tables import table_of_scorer

Options = dict[str, Any]
_METHODS = (("predict",), ("predict_proba",), ("decision_function",), SCORES.methods)


def measure_of_scorer(scoring: Any) -> Measure | None:
    """Return the measure of a scorer of ``make_scorer``; None for any other.

    Examples
    --------
    >>> from sklearn.metrics import make_scorer, mean_pinball_loss
    >>> loss = make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False)
    >>> measure_of_scorer(loss).kind
    'mean'
    """
    with contextlib.suppress(TypeError, ValueError):  # of options that scikit-learn refuses as well
        return table_of_scorer(scoring) or _measure_of_mean(as_shortest(scoring))
    return None


def check_function(scoring: Any) -> None:
    """Raise ValueError for a scorer of a function of scikit-learn that has no one number.

    That is so of options that the function does not have or refuses, and of functions of several numbers. It
    is called on a few public labels, as scikit-learn checks options before it looks at any.

    Examples
    --------
    >>> from sklearn.metrics import f1_score, make_scorer
    >>> check_function(make_scorer(f1_score, average=None))
    Traceback (most recent call last):
        ...
    ValueError: The 'average' parameter of make_scorer(f1_score) must be such that f1_score returns ...
    """
    written = as_written(scoring)
    if not is_of_function(written) or not written[0].__module__.startswith("sklearn.metrics"):
        return
    function, options, _ = written
    name, known = function.__name__, inspect.signature(function).parameters
    owner = f"make_scorer({name})"
    for option in options:
        if option not in known:
            fix = f"It has {', '.join(list(known)[2:])}."
            raise bad_parameter(option, owner, f"left out, as {name} has none", options[option], fix)
    if np.ndim(options.get("labels")) > 1:
        raise bad_parameter("labels", owner, "a list of labels", options["labels"], "Write labels=[...].")
    if _returns_a_number(function, options):
        return
    for option in options:
        others = {each: options[each] for each in options if each != option}
        if _returns_a_number(function, others):
            expected, fix = f"such that {name} returns one number", "Leave it out, or choose another."
            raise bad_parameter(option, owner, expected, options[option], fix)
    fix = f"Use {_INSTEAD.get(function, 'a scorer string')}, or a function of one's own that returns one."
    raise bad_parameter("scoring", "Metric", "a scorer that returns one number", owner, fix)


def _returns_a_number(function: Any, options: Options) -> bool:
    """Return whether it does on labels of two or three classes or on numbers, if it takes any of these."""
    has_value = False
    for y in ([0, 1, 0, 1], [0, 1, 2, 1], [0.5, 1.5, 2.5, 1.0]):
        refused = None
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                has_value, value = True, function(np.array(y), np.array(y), **options)
        except Exception as error:  # of labels that the function does not take, or of an option
            value, refused = None, _REFUSED.match(str(error))
        if refused is not None and refused[1] in options:
            owner = f"make_scorer({function.__name__})"
            raise bad_parameter(refused[1], owner, refused[2], options[refused[1]])
        if isinstance(value, Real):
            return True
    return not has_value


_REFUSED = re.compile(r"The '(\w+)' parameter of \w+ must be (.*)\. Got ", re.DOTALL)
_INSTEAD = {
    metrics.class_likelihood_ratios: "'positive_likelihood_ratio' or 'neg_negative_likelihood_ratio'",
    metrics.confusion_matrix: "'accuracy' or 'matthews_corrcoef'",
}
"""What to write for a function of several numbers."""


def _measure_of_mean(written: Any) -> Measure | None:
    """Return the measure of what `as_shortest` makes of a scorer, if the function is listed."""
    if not is_of_function(written):
        return None
    function, options, rest = written
    for methods in _METHODS:
        for is_loss in (False, True):
            of_method: dict[str, Any] = {"response_method": methods if len(methods) > 1 else methods[0]}
            like = metrics.make_scorer(metrics.accuracy_score, greater_is_better=not is_loss, **of_method)
            if as_shortest(like)[2] == rest and (function, is_loss) in _OF_FUNCTIONS:
                made = _OF_FUNCTIONS[function, is_loss](methods, dict(options))
                return None if made is None else replace(made, since=BLOCKS)
    return None


def _mean(scores: Callable[..., Array], response: Response, **more: Any) -> Measure:
    return Mean(scores, response=response, **more)


def _of_predictions(make: Callable[[Options], Measure | None], allowed: set[str]) -> Any:
    """Return what makes a measure of options of a function of predictions, if all are allowed."""

    def made(methods: tuple[str, ...], options: Options) -> Measure | None:
        return make(options) if methods == ("predict",) and options.keys() <= allowed else None

    return made


def _wrong(methods: tuple[str, ...], options: Options) -> Measure | None:
    """Return the share of wrong labels, negated; it counts rows with ``normalize=False``."""
    is_plain = methods == ("predict",) and not options
    return _mean(neg_wrong, LABELS, bounds=(-1.0, 0.0)) if is_plain else None


def neg_wrong(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return -1 where the predicted label is wrong."""
    return -np.asarray(outputs != y, dtype=np.float64)


def neg_pinball(y: Array, outputs: Array, classes: Array | None, *, alpha: float) -> Array:
    """Return the negative pinball loss at a level."""
    away = np.asarray(y, dtype=np.float64) - np.asarray(outputs, dtype=np.float64)
    return -np.maximum(alpha * away, (alpha - 1.0) * away)


def neg_tweedie(y: Array, outputs: Array, classes: Array | None, *, power: float) -> Array:
    """Return the negative Tweedie deviance of a power; NaN where it has no value."""
    y, outputs = (np.asarray(each, dtype=np.float64) for each in (y, outputs))
    defined = (outputs > 0.0) & ((y > 0.0) if power >= 2.0 else (y >= 0.0) | (power < 0.0))
    with np.errstate(all="ignore"):
        own = np.maximum(y, 0.0) ** (2.0 - power) / ((1.0 - power) * (2.0 - power))
        mixed = y * outputs ** (1.0 - power) / (1.0 - power)
        return np.where(defined, -2.0 * (own - mixed + outputs ** (2.0 - power) / (2.0 - power)), np.nan)


def _pinball(options: Options) -> Measure | None:
    alpha = float(options.get("alpha", 0.5))
    return _mean(partial(neg_pinball, alpha=alpha), NUMBERS, bounds=None) if 0.0 <= alpha <= 1.0 else None


def _tweedie(options: Options) -> Measure | None:
    power = float(options.get("power", 0.0))
    if 0.0 <= power <= 1.0 or power == 2.0 or not np.isfinite(power):  # 0, 1 and 2 have strings
        return None
    return _mean(partial(neg_tweedie, power=power), NUMBERS, bounds=None)


def _explained(options: Options) -> Measure | None:
    alpha = float(options.get("alpha", 0.5))
    if not 0.0 < alpha < 1.0:
        return None
    return Explained(response=NUMBERS, bounds=None, at_class_mix=False, quantile=alpha)


def _top(methods: tuple[str, ...], options: Options) -> Measure | None:
    k = options.pop("k", 2)
    if options or not isinstance(k, int) or k < 2 or "predict" in methods:
        return None
    response = replace(ALL_SCORES, methods=methods)
    return _mean(partial(top_scored, k=k), response, counts=True, needs_every_class=True)


def _hinge(methods: tuple[str, ...], options: Options) -> Measure | None:
    if options or methods != ("decision_function",):
        return None
    return _mean(neg_hinge, replace(SCORES, methods=methods), bounds=None, two_classes=True)


def neg_hinge(y: Array, outputs: Array, classes: Array | None) -> Array:
    """Return the negative hinge loss of the decision function of two classes."""
    if classes is None or len(classes) != 2 or outputs.ndim != 1:
        return np.full(len(y), np.nan)
    class_positions(y, classes, "a label")
    margin = np.where(y == classes[1], 1.0, -1.0) * np.asarray(outputs, dtype=np.float64)
    return -np.maximum(1.0 - margin, 0.0)


def _area(methods: tuple[str, ...], options: Options) -> Measure | None:
    if options or "predict" in methods:
        return None
    return replace(SCORERS["roc_auc"], response=replace(SCORES, methods=methods))


def _precision(methods: tuple[str, ...], options: Options) -> Measure | None:
    label = options.pop("pos_label", 1)
    if options or "predict" in methods:
        return None
    response = replace(SCORES, methods=methods)
    return replace(SCORERS["average_precision"], response=response, positive=label, scorer_of=None)


_OF_FUNCTIONS: dict[tuple[Any, bool], Callable[[tuple[str, ...], Options], Measure | None]] = {
    (metrics.zero_one_loss, True): _wrong,
    (metrics.mean_pinball_loss, True): _of_predictions(_pinball, {"alpha"}),
    (metrics.mean_tweedie_deviance, True): _of_predictions(_tweedie, {"power"}),
    (metrics.d2_pinball_score, False): _of_predictions(_explained, {"alpha"}),
    (metrics.top_k_accuracy_score, False): _top, (metrics.hinge_loss, True): _hinge,
    (metrics.roc_auc_score, False): _area,
    (metrics.average_precision_score, False): _precision,
}  # fmt: skip
"""By the function, and whether its sign is turned: what makes its measure of methods and options."""
