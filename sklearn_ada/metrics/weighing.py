"""Whether a scorer can weigh records, found out on rows that everybody knows."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_ada.metrics.outputs.stored import reads_outputs_only

__all__ = ["takes_weights"]

_TIMES = 4  # rows of each class


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
        try:
            inspect.signature(scorer).bind(None, None, None, sample_weight=None)
        except ValueError:  # of some callables written in C
            return True
        except TypeError:
            return False
        return True
    toys = [_Toy(np.arange(first, first + max(n_classes, 2))) for first in (0, 1)]
    return all(_has_value(scorer, toy, weighted=True) or not _has_value(scorer, toy) for toy in toys)


class _Toy(ClassifierMixin, BaseEstimator):
    """A model of these classes that is right on most rows, whose numbers are its true labels."""

    def __init__(self, labels: NDArray[np.int64]) -> None:
        self.labels = labels
        self.classes_ = labels

    def predict(self, X: NDArray[np.int64]) -> NDArray[np.int64]:
        said = X[:, 0].copy()
        said[0] = self.classes_[1]
        return said

    def predict_proba(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        likely = self.predict(X)[:, None] == self.classes_
        return np.where(likely, 0.8, 0.2 / (len(self.classes_) - 1))

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
