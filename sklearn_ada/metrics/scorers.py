"""Find the name that scikit-learn has for a scorer, and whether it takes weights."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from functools import cache, partial
from numbers import Real
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    d2_absolute_error_score,
    d2_pinball_score,
    f1_score,
    fbeta_score,
    get_scorer,
    get_scorer_names,
    hamming_loss,
    mean_gamma_deviance,
    mean_poisson_deviance,
    mean_squared_error,
    mean_tweedie_deviance,
    precision_score,
    zero_one_loss,
)

from sklearn_ada._validation import bad_parameter
from sklearn_ada.accounting.events import BLOCKS, FORMAT
from sklearn_ada.metrics.base import SCORERS
from sklearn_ada.metrics.outputs import reads_outputs_only

_AVERAGES = ("", "macro", "micro", "weighted", "samples")
_WRITTEN: tuple[dict[str, Any], ...] = ({}, *({"zero_division": value} for value in (0, 0.0, "warn")))
_TIMES = 4  # rows of each class of a toy
_TWO = 2
_ONE_SCORE = {
    **dict.fromkeys(("f1_micro", "precision_micro", "recall_micro", "recall_weighted"), "accuracy"),
    "recall_macro": "balanced_accuracy", "max_error": "neg_max_error",
    "normalized_mutual_info_score": "v_measure_score",
}  # fmt: skip
ASKED = "a search, a Holdout or Metric"
"""Who is given a scorer, in errors."""
OF_EITHER = ("neg_brier_score",)
"""Scores that are the same whichever of two classes is the positive one."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def registered_name(scoring: Callable[..., Any], number: int = FORMAT) -> str | None:
    """Return the scorer string that stands for the same scorer, or None.

    The same is: the same function with the same options, and no request of metadata. Averages over classes
    need no ``pos_label=None``, as ``make_scorer(f1_score, average="macro")``, and a ``zero_division`` of 0
    changes nothing but a warning.

    Parameters
    ----------
    scoring : callable
    number : int
        The format of the ledger. Before format 3 scorers are compared by how they are written, and since by
        what `as_shortest` makes of them.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score, fbeta_score, make_scorer
    >>> registered_name(get_scorer("f1_macro")), registered_name(make_scorer(accuracy_score))
    ('f1_macro', 'accuracy')
    >>> registered_name(make_scorer(fbeta_score, beta=1)), registered_name(make_scorer(fbeta_score, beta=2))
    ('f1', None)
    """
    written = as_shortest(scoring, number) if number >= 3 else scoring
    if not (isinstance(written, tuple) or reads_outputs_only(written)):
        return None
    try:
        return _names(number).get(joblib.hash(written))
    except Exception:  # what cannot be pickled is a scorer of one's own
        return None


def name_of_class(scoring: Callable[..., Any]) -> tuple[str, Any] | None:
    """Return the scorer string and the class of what scores another class than 1; None for any other.

    Examples
    --------
    >>> from sklearn.metrics import f1_score, make_scorer
    >>> name_of_class(make_scorer(f1_score, pos_label="yes"))
    ('f1', 'yes')
    """
    written = as_shortest(scoring)
    if not isinstance(written, tuple) or "pos_label" not in written[1]:
        return None
    function, options, rest = written
    label = options.pop("pos_label")
    for name, measure in SCORERS.items():
        if measure.scorer_of is not None:
            known, fixed, like = as_shortest(measure.scorer_of())
            if (known, fixed, like) == (function, options, rest):
                return name, label
    return None


def as_shortest(scoring: Callable[..., Any], number: int = FORMAT) -> Any:
    """Return what a scorer of ``make_scorer`` computes, in the shortest way to write it.

    That is its function, the options that are not the function's defaults, sorted, and the rest, as a tuple.
    A function that another one is with an option is this one. Whole numbers are integers, of which digests
    have all digits. Any other scorer is returned as it is.

    Parameters
    ----------
    scoring : callable
    number : int
        The format of the ledger: in older ones fewer functions are the same, and options are not sorted.

    Examples
    --------
    >>> from sklearn.metrics import f1_score, fbeta_score, make_scorer
    >>> of_f1 = as_shortest(make_scorer(f1_score, average="binary"))
    >>> of_f1 == as_shortest(make_scorer(partial(fbeta_score, beta=1.0), pos_label=1))
    True
    """
    written = as_written(scoring)
    if not isinstance(written, tuple):
        return written
    function, options, rest = written
    defaults, fixed = _defaults_of(function), dict[str, Any]()
    if inspect.isfunction(function):
        same, of_it, since = _OF_ANOTHER.get(function, (function, fixed, 1))
        function, fixed = (same, of_it) if number >= since else (function, fixed)
    defaults |= _defaults_of(function)
    kept = {
        name: _number(option) if isinstance(option, Real) else option
        for name, option in {**options, **fixed}.items()
        if name not in defaults or not _is_same(option, defaults[name])
    }
    return function, dict(sorted(kept.items())) if number >= BLOCKS else kept, rest


def as_written(scoring: Callable[..., Any]) -> Any:
    """Return the function of a scorer of ``make_scorer``, its options, and the rest, as a tuple.

    A partial function is the function with options. Any other scorer is returned as it is.

    Examples
    --------
    >>> from sklearn.metrics import fbeta_score, make_scorer
    >>> as_written(make_scorer(partial(fbeta_score, beta=2)))[:2] == (fbeta_score, {"beta": 2})
    True
    """
    while isinstance(scoring, partial) and not (scoring.args or scoring.keywords):
        scoring = scoring.func
    if not reads_outputs_only(scoring):
        return scoring
    parts = vars(scoring)
    functions, written = ([part for part in parts.values() if is_it(part)] for is_it in (callable, _is_dict))
    if (len(functions), len(written)) != (1, 1):
        return scoring
    function: Any = functions[0]
    options: dict[str, Any] = written[0]
    rest = [
        (name, [part] if isinstance(part, str) else list(part) if isinstance(part, tuple) else part)
        for name, part in sorted(parts.items())
        if part is not function and part is not options
    ]
    if isinstance(function, partial) and not function.args:
        function, options = function.func, {**function.keywords, **options}
    return function, options, rest


def is_of_function(written: Any) -> bool:
    """Return whether `as_shortest` found a plain function; other callables may have no hash.

    Examples
    --------
    >>> from sklearn.metrics import f1_score, make_scorer
    >>> is_of_function(as_shortest(make_scorer(f1_score))), is_of_function(f1_score)
    (True, False)
    """
    return isinstance(written, tuple) and inspect.isfunction(written[0])


def _number(option: Any) -> float:
    number = float(option)
    return int(option) if number.is_integer() else number


def _is_dict(part: Any) -> bool:
    return type(part) is dict


_OF_ANOTHER: dict[Any, tuple[Any, dict[str, Any], int]] = {
    f1_score: (fbeta_score, {"beta": 1}, 3),
    mean_poisson_deviance: (mean_tweedie_deviance, {"power": 1}, 3),
    mean_gamma_deviance: (mean_tweedie_deviance, {"power": 2}, 3),
    mean_squared_error: (mean_tweedie_deviance, {"power": 0}, BLOCKS),
    precision_score: (fbeta_score, {"beta": 0}, BLOCKS),
    d2_absolute_error_score: (d2_pinball_score, {"alpha": 0.5}, BLOCKS),
    hamming_loss: (zero_one_loss, {}, BLOCKS),
}
"""Functions that are another one with an option, of one label a row, and since which format they are it."""


def _defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of some callables written in C
        return {}
    return {name: parameter.default for name, parameter in parameters.items()}


def _is_same(option: Any, default: Any) -> bool:
    is_plain = isinstance(option, Real | str) and isinstance(default, Real | str)
    return option is default or (is_plain and option == default)


def score_of(name: str, n_classes: int) -> str:
    """Return the one name of a score that scikit-learn has under several.

    Each row has one label here; ``n_classes`` is how many classes there are, 0 where there are none.

    Examples
    --------
    >>> score_of("f1_micro", 3), score_of("recall_macro", 3), score_of("f1_macro", 3)
    ('accuracy', 'balanced_accuracy', 'f1_macro')
    >>> score_of("roc_auc_ovr", 2), score_of("roc_auc_ovr", 3)
    ('roc_auc', 'roc_auc_ovr')
    """
    if n_classes == _TWO and name.startswith("roc_auc_ov"):
        return "roc_auc"
    return _ONE_SCORE.get(name, name)


@cache
def _names(number: int) -> dict[str, str]:
    def digest(scorer: Callable[..., Any]) -> str:
        return str(joblib.hash(as_shortest(scorer, number) if number >= 3 else scorer))

    installed = get_scorer_names()
    names = {digest(get_scorer(name)): name for name in installed}
    for name, measure in SCORERS.items():
        if measure.scorer_of is None or f"{name}_macro" not in installed:
            continue
        for average in _AVERAGES:
            for options in _WRITTEN:
                made = measure.scorer_of(**({"average": average} if average else {}), **options)
                names[digest(made)] = f"{name}_{average}" if average else name
    return names


def takes_weights(scorer: Callable[..., Any], n_classes: int) -> bool:
    """Return whether a scorer takes ``sample_weight``.

    A function of one's own says so itself. One of ``make_scorer`` is tried on a few public rows: if it has a
    value there without weights and none with them, it does not. If it has none either way, it may.

    Parameters
    ----------
    scorer : callable
        Called as ``scorer(estimator, X, y)``.
    n_classes : int
        Number of classes of the rows; some metrics weigh two classes only.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> takes_weights(get_scorer("accuracy"), 2), takes_weights(get_scorer("neg_max_error"), 2)
    (True, False)
    """
    if not reads_outputs_only(scorer):
        return _binds(scorer, sample_weight=None)
    toys = [_Toy(np.arange(first, first + max(n_classes, 2))) for first in (0, 1)]
    return all(_has_value(scorer, toy, weighted=True) or not _has_value(scorer, toy) for toy in toys)


def name_of(scoring: Callable[..., Any]) -> str:
    """Return what a callable is called.

    If it has no name, its text without an address, which would be another one in each process.
    """
    name = getattr(scoring, "__name__", None)
    if name:
        return str(name)
    try:
        return _ADDRESS.sub("", repr(scoring))
    except Exception:  # scikit-learn 1.6 asks a partial for its name
        return type(scoring).__name__


def check_is_scorer(scoring: Callable[..., Any], name: str) -> None:
    """Raise ValueError for a function of labels and predictions, such as `accuracy_score`."""
    if not _binds(scoring):
        expected = "a scorer, to be called as scoring(estimator, X, y)"
        string = "use its scorer string, such as 'accuracy' for accuracy_score"
        fix = f"For a function of labels and predictions {string}, or sklearn.metrics.make_scorer(function)."
        raise bad_parameter("scoring", ASKED, expected, name, fix)


def _binds(scoring: Callable[..., Any], **params: Any) -> bool:
    """Return whether a callable takes an estimator, X and y, and these parameters."""
    try:
        signature = inspect.signature(scoring)
    except (TypeError, ValueError):  # of some callables written in C
        return True
    try:
        signature.bind(None, None, None, **params)
    except TypeError:
        return False
    return True


class _Toy(ClassifierMixin, BaseEstimator):
    """A model of these classes that is right on most rows.

    The numbers of a row are its true label.
    """

    def __init__(self, labels: NDArray[np.int64]) -> None:
        self.labels = labels
        self.classes_ = labels

    def predict(self, X: NDArray[np.int64]) -> NDArray[np.int64]:
        labels = X[:, 0].copy()
        labels[0] = self.classes_[1]
        return labels

    def predict_proba(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(self.predict(X)[:, None] == self.classes_, 0.8, 0.2 / (len(self.classes_) - 1))

    def predict_log_proba(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.log(self.predict_proba(X))

    def decision_function(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = self.predict_log_proba(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores


def _has_value(scorer: Callable[..., Any], toy: _Toy, *, weighted: bool = False) -> bool:
    y = np.tile(toy.classes_, _TIMES)
    weight = {"sample_weight": np.linspace(1.0, 2.0, len(y))} if weighted else {}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            float(scorer(toy, y[:, None], y, **weight))
    except Exception:  # of a function of anybody's
        return False
    return True
