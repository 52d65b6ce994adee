"""One split of the training rows: fit on one part, take the guess from the rest."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._validation import check_real
from sklearn_ada.data.labels import n_rows, take_rows
from sklearn_ada.digest.rows import rows_digest
from sklearn_ada.holdout.changes import check_not_held_out
from sklearn_ada.holdout.holdout import Holdout, session_of
from sklearn_ada.terms.overlap import row_hashes

# Whether rows are all among those that guesses come from, and all among those that models are fitted on.
_ORIGINS = {"validation": (True, False), "both": (True, True), "fit": (False, True)}


class Uncopied:
    """Is its own copy and clone, as what one of them notes all must see."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __sklearn_clone__(self) -> Self:
        return self


class ValidationSplit(Uncopied):
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
        Digests of all validation parts so far; only these, and rows taken from one of them, are questions to
        the holdout.
    fitted_on : set of str
        Digests of the parts that models were fitted on.
    """

    def __init__(self, holdout: Holdout, validation: float = 0.25, seed: int = 0) -> None:
        self.validation = check_real(validation, "validation", "ValidationSplit", low=0.0, high=1.0)
        self.registered: set[str] = set()
        self.fitted_on: set[str] = set()
        self._parts: dict[str, tuple[NDArray[np.uint64], NDArray[np.uint64]]] = {}
        self._holdout = holdout
        self._seed = seed

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the one pair (rows to fit on, rows to guess from); no group is in both."""
        of_rows = row_hashes(X)
        check_not_held_out(session_of(self._holdout), of_rows)
        fit, guess = split_rows(n_rows(X), y, self.validation, self._seed, groups)
        digest = rows_digest(take_rows(X, guess), take_rows(y, guess))
        if digest not in self._parts:
            hashes = _labelled(of_rows, y)
            self._parts[digest] = np.sort(hashes[guess]), np.sort(hashes[fit])
        self.registered.add(digest)
        self.fitted_on.add(rows_digest(take_rows(X, fit), take_rows(y, fit)))
        yield fit, guess

    def origin(self, X: Any, y: Any) -> str:
        """Return what rows these are: "validation", "fit", "both" if they may be either, or "elsewhere".

        Halving searches pass a few rows of a part, so a part is known by its rows too.
        """
        digest = rows_digest(X, y)
        if digest in self.registered:
            return "validation"
        if digest in self.fitted_on:
            return "fit"
        hashes = _labelled(row_hashes(X), y)
        found = {(_has(guess, hashes), _has(fit, hashes)) for guess, fit in self._parts.values()}
        return next((name for name, membership in _ORIGINS.items() if membership in found), "elsewhere")

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return 1."""
        return 1

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata request: ``groups``, where they are passed."""
        request = MetadataRequest(owner=self)
        request.split.add_request(param="groups", alias=True)
        return request

    def __repr__(self) -> str:
        return f"ValidationSplit(validation={self.validation})"


def is_share(part: Any) -> bool:
    """Return whether a part of the rows is given as a share, to be chosen at random."""
    return isinstance(part, Real) and not isinstance(part, (bool, int))


def split_rows(
    n: int, y: Any, share: float, seed: int, groups: Any = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return sorted row numbers of two parts, the second of about ``share * n`` rows.

    With groups it has that share of the groups, and no group is in both parts. Without them it is stratified
    by class where each class has rows enough for it.
    """
    labels = None if y is None else np.asarray(y)
    splitter: Any = ShuffleSplit(1, test_size=share, random_state=seed)
    if groups is not None:
        splitter = GroupShuffleSplit(1, test_size=share, random_state=seed)
    elif labels is not None and type_of_target(labels) in ("binary", "multiclass"):
        counts = np.unique(labels, return_counts=True)[1]
        room = min(round(n * share), n - round(n * share))
        if counts.min() >= 2 and len(counts) <= room and len(counts) < n / 2:
            splitter = StratifiedShuffleSplit(1, test_size=share, random_state=seed)
    first, second = next(splitter.split(np.zeros((n, 1)), labels, groups))
    return np.sort(first), np.sort(second)


def _labelled(hashes: NDArray[np.uint64], y: Any) -> NDArray[np.uint64]:
    """Return a hash of every row together with its label."""
    return hashes if y is None else hashes + np.uint64(3) * row_hashes(np.asarray(y))


def _has(part: NDArray[np.uint64], rows: NDArray[np.uint64]) -> bool:
    """Return whether all rows are in the sorted part, each as often as it is passed."""
    values, counts = np.unique(rows, return_counts=True)
    there = np.searchsorted(part, values, "right") - np.searchsorted(part, values, "left")
    return len(rows) <= len(part) and bool((there >= counts).all())
