"""A search's own splits, which are of the rows that ``fit`` is passed, as splits of the training rows."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit

from sklearn_ada._checks import bad_parameter

__all__ = ["folds_of_training_rows", "own_folds", "unfitted"]


def own_folds(search: Any) -> Any:
    """Return the cv of a search; splits that can be walked through once only, as a list."""
    cv = search.get_params(deep=False).get("cv")
    return list(cv) if isinstance(cv, Iterator) else cv


def folds_of_training_rows(cv: Any, train: NDArray[np.int64], n: int) -> Any:
    """Return a cv that was given for ``n`` rows, for those of them that are for training.

    Splits that are given row by row (a list of pairs, a `PredefinedSplit`) lose the holdout's rows; a split
    of which one part is lost with them is left out. Splitters that look at the rows they get stay as they
    are, and so do masks that have the training rows only.

    Raises
    ------
    ValueError
        If no split is left.

    Examples
    --------
    >>> folds_of_training_rows([([0, 1], [2, 3]), ([2, 3], [0, 1])], np.array([0, 2, 3]), 4)
    [(array([0]), array([1, 2])), (array([1, 2]), array([0]))]
    """
    if len(train) == n:
        return cv
    if isinstance(cv, PredefinedSplit) and len(cv.test_fold) == n:
        return PredefinedSplit(cv.test_fold[train])
    is_list = not isinstance(cv, (str, int, type(None))) and not hasattr(cv, "split") and np.iterable(cv)
    if not is_list:
        return cv
    given, every = list(cv), np.arange(n)
    place = np.full(n, -1)
    place[train] = np.arange(len(train))

    def of_training_rows(part: Any) -> NDArray[np.int64]:
        which = np.asarray(part)
        if which.dtype == bool and len(which) == len(train):
            return np.flatnonzero(which)
        places: NDArray[np.int64] = place[every[which]]
        return places[places >= 0]

    kept = [tuple(of_training_rows(part) for part in pair) for pair in given]
    left = [pair for pair in kept if all(len(part) for part in pair)]
    if given and not left:
        raise bad_parameter(
            "search", "ReusableHoldoutCV", "with splits in cv that keep training and test rows when the "
            "holdout is taken out", f"{len(given)} splits, none of which does",
            "Choose the holdout yourself: holdout=mask.",
        )  # fmt: skip
    return left


def unfitted(search: Any, cv: Any) -> Any:
    """Return a clone of a search with this cv, which is shared where it cannot be copied."""
    if "cv" not in search.get_params(deep=False):
        return clone(search)
    made = clone(copy.copy(search).set_params(cv=None))
    with contextlib.suppress(TypeError):  # a generator, say: a search by itself takes it as it is, too
        cv = clone(cv, safe=False)
    return made.set_params(cv=cv)
