"""Searches whose cross-validation is ordered in time: their holdout cannot be random rows.

Such a splitter says that models must not learn from rows after those they are judged by. A holdout of random
rows lies between the training rows in time, so it would be just that.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from sklearn_ada._checks import bad_parameter
from sklearn_ada.model_selection.scorers.base import HoldoutScorer
from sklearn_ada.model_selection.scorers.splitter import is_share
from sklearn_ada.model_selection.wrapper import Wrapper

__all__ = ["check_time_order", "is_ordered_in_time", "looked_at", "positions"]


def check_time_order(
    wrapper: Wrapper, cv: Any, rows: Callable[[], Sequence[Any]] = tuple, *, is_last: bool = False
) -> None:
    """Raise ValueError if the search's cv is ordered in time and the holdout is not the last block of rows.

    Parameters
    ----------
    wrapper : ReusableHoldoutCV
    cv : int, splitter, sequence of splits or None
        Of its search.
    rows : callable
        Returns X, y and groups for training, as the cv will see them. Without them a splitter is known by its
        class only.
    is_last : bool
        Whether all rows of the holdout are known to come after those for training.
    """
    if is_last or isinstance(wrapper.mechanism, HoldoutScorer) or not is_ordered_in_time(cv, rows):
        return
    given = wrapper.holdout
    share = float(given) if is_share(given) else 0.25
    raise bad_parameter(
        "holdout", "ReusableHoldoutCV", "the last block of rows where the search's cv is ordered in time",
        given if is_share(given) else f"a {type(given).__name__} of rows that come before others",
        "A share is random rows: these, and others from before and after each other, would be interleaved "
        "with the training rows in time, so neither the guess nor the certificate would speak of the future. "
        f"Use a mask, holdout=np.arange(len(y)) >= {1 - share:g} * len(y), with ask='winner', which keeps "
        "the cv.",
    )  # fmt: skip


def is_ordered_in_time(cv: Any, rows: Callable[[], Sequence[Any]] = tuple) -> bool:
    """Return whether all training rows of every split, of which there are several, lie before its test rows.

    Neither a one-shot iterator, which cannot be looked at without being used up, nor the random state of a
    splitter or of NumPy is touched.

    Parameters
    ----------
    cv : int, splitter, sequence of splits or None
        Whatever a search takes.
    rows : callable
        Returns X, y and groups; without them a splitter is known by its class only.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> is_ordered_in_time([([0, 1], [2]), ([0, 1, 2], [3])])
    True
    >>> is_ordered_in_time(KFold(2), lambda: [np.zeros((4, 1))])
    False
    """
    if isinstance(cv, TimeSeriesSplit):
        return True
    return bool(looked_at(cv, rows, _all_ordered))


def looked_at(
    cv: Any, rows: Callable[[], Sequence[Any]], look: Callable[[Iterable[Any]], bool]
) -> bool | None:
    """Return ``look(splits)`` for the splits of a cv; None where they cannot be looked at.

    See `is_ordered_in_time`, which is one such look.
    """
    is_list = isinstance(cv, (Sequence, np.ndarray)) and not isinstance(cv, str)
    if not is_list and not callable(getattr(cv, "split", None)):
        return None
    state = np.random.get_state()  # noqa: NPY002 - splitters without a seed draw from it
    try:
        given = rows()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return look(cv if is_list else copy.deepcopy(cv).split(*given) if given else ())
    except Exception:  # what cannot split these rows, or be copied: the search will tell
        return None
    finally:
        np.random.set_state(state)  # noqa: NPY002


def _all_ordered(splits: Iterable[Any]) -> bool:
    count = 0
    for train, test in splits:
        before, after = positions(train), positions(test)
        if not len(before) or not len(after) or before.max() >= after.min():
            return False
        count += 1
    return count >= 2


def positions(rows: Any) -> np.ndarray:
    """Return the numbers of the rows of a part of a split, which may be a mask."""
    which = np.asarray(rows)
    return np.flatnonzero(which) if which.dtype == bool else which
