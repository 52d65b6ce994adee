"""One split of the training rows: fit on one part, take the guess from the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._checks import check_real
from sklearn_ada.holdout import Holdout
from sklearn_ada.holdout.data import rows_digest
from sklearn_ada.metrics import n_rows, take_rows

__all__ = ["ValidationSplit", "split_rows"]


class ValidationSplit:
    """A splitter with one split, which tells its scorer what rows to take for a guess.

    Parameters
    ----------
    holdout : Holdout
        Training rows must not contain it: `HoldoutLeakError` if they do, far beyond chance.
    validation : float, default=0.25
        Part of the rows that guesses come from.
    seed : int, default=0
        Of the split, which repeats exactly.

    Attributes
    ----------
    registered : set of str
        Digests of all validation parts so far; only these are questions to the holdout.
    fitted_on : set of str
        Digests of the parts that models were fitted on.
    """

    def __init__(self, holdout: Holdout, validation: float = 0.25, seed: int = 0) -> None:
        self.validation = check_real(validation, "validation", "ValidationSplit", low=0.0, high=1.0)
        self.registered: set[str] = set()
        self.fitted_on: set[str] = set()
        self._holdout = holdout
        self._seed = seed

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the one pair (rows to fit on, rows to guess from)."""
        self._holdout.check_overlap(X)
        fit, guess = split_rows(n_rows(X), y, self.validation, self._seed)
        self.registered.add(rows_digest(take_rows(X, guess), take_rows(y, guess)))
        self.fitted_on.add(rows_digest(take_rows(X, fit), take_rows(y, fit)))
        yield fit, guess

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return 1."""
        return 1

    def __repr__(self) -> str:
        return f"ValidationSplit(validation={self.validation})"

    def __copy__(self) -> ValidationSplit:
        return self

    def __deepcopy__(self, memo: object) -> ValidationSplit:
        return self  # what it registers, its scorer must see

    def __sklearn_clone__(self) -> ValidationSplit:
        return self


def split_rows(n: int, y: Any, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return sorted row numbers of two parts, the second of about ``share * n`` rows.

    Stratified by class where each class has rows enough for it.
    """
    labels = None if y is None else np.asarray(y)
    splitter: Any = ShuffleSplit(1, test_size=share, random_state=seed)
    if labels is not None and type_of_target(labels) in ("binary", "multiclass"):
        counts = np.unique(labels, return_counts=True)[1]
        room = min(round(n * share), n - round(n * share))
        if counts.min() >= 2 and len(counts) <= room and len(counts) < n / 2:
            splitter = StratifiedShuffleSplit(1, test_size=share, random_state=seed)
    first, second = next(splitter.split(np.zeros((n, 1)), labels))
    return np.sort(first), np.sort(second)
