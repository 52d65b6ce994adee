"""The training rows: how they are split into rows to fit on and rows for guesses, and their order.

**Random.** A holdout of random rows is guessed from folds. Folds that are blocks of rows in the order of the
file speak of other rows than the holdout where that order means something (sorted by label, by time, by
place): on rows that drift, guesses were off by four standard errors and more. No certificate is wrong then,
but each such answer is a surprise, which costs nats. So where the search's cv is a number, or a `KFold` or
`StratifiedKFold` without shuffling, the rows are shuffled before the search sees them. Other splitters may
mean their order; they get a warning if their folds are blocks.

Rows that were split by the caller, who passes a `Holdout`, stay in their order: it is random already where
they come from ``train_test_split``, and the search finds just what it finds by itself. There is a warning if
labels or features differ from fold to fold beyond chance.

**Rows that are scored** may be those that were passed to fit, on most of which the model was trained. That is
seen by a digest of each fitted search, kept in this process only: in a pickle it would let anybody test a
guess of the labels.

**Time.** A splitter that is ordered in time says that models must not learn from rows after those they are
judged by. A holdout of random rows lies between the training rows in time, so it would be just that.
"""

from __future__ import annotations

import copy
import hashlib
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from numbers import Integral, Real
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kruskal
from sklearn.model_selection import (
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._notices import callers_of_class, warn_user
from sklearn_ada._validation import bad_parameter, check_real
from sklearn_ada.data.labels import n_rows, take_rows
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible
from sklearn_ada.digest.rows import (
    columns_of,
    copies_beyond_chance,
    id_hashes,
    part_of_each,
    readable,
    row_hashes,
    rows_digest,
)
from sklearn_ada.holdout.changes import check_groups_apart, check_not_held_out
from sklearn_ada.holdout.holdout import Holdout, Uncopied, session_of
from sklearn_ada.terms.recognised_rows import remember_beside

_of_fit: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_ROWS = 256  # of X, evenly spaced; of y all
# Whether rows are all among those that guesses come from, and all among those that models are fitted on.
_ORIGINS = {"validation": (True, False), "both": (True, True), "fit": (False, True)}

_CHANCE = 1e-6  # of a warning where folds are random
_SPLITS_LOOKED_AT = 50
_MOST_KINDS = 20  # of labels, each of which may have columns of its means
_LEAST_GROUPS = 10  # of rows that have a mean in common


class ValidationSplit(Uncopied):
    """A splitter with one split: rows to fit on, and rows for a guess.

    Parameters
    ----------
    holdout : Holdout
        The holdout, of which X may have no rows: `HoldoutLeakError` if it has many.
    validation : float, default=0.25
        Part of the rows that guesses come from.
    seed : int, default=0
        Seed of the split, which is always the same.

    Attributes
    ----------
    registered : set of str
        Digests of all validation parts so far. Only scores on these, or on rows of one of them, are
        questions to the holdout.
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
        check_groups_apart(session_of(self._holdout), groups)
        check_not_held_out(session_of(self._holdout), X)
        remember_beside(session_of(self._holdout).genesis.fingerprint, of_rows)
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

        Halving searches pass a few rows of a part, so a part is recognised by its rows too.
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
    """Return whether a part of the rows is a share, chosen at random."""
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
        if len(set(np.asarray(groups).tolist())) < 2:
            fix = "Whole groups are set aside, and others are for training: pass the group of each row."
            raise bad_parameter("groups", "ReusableHoldoutCV.fit", "of at least two kinds", "one group", fix)
        splitter = GroupShuffleSplit(1, test_size=share, random_state=seed)
    elif labels is not None and type_of_target(labels) in ("binary", "multiclass"):
        counts = np.unique(labels, return_counts=True)[1]
        room = min(round(n * share), n - round(n * share))
        if counts.min() >= 2 and len(counts) <= room and len(counts) < n / 2:
            splitter = StratifiedShuffleSplit(1, test_size=share, random_state=seed)
    first, second = next(splitter.split(np.zeros((n, 1)), labels, groups))
    return np.sort(first), np.sort(second)


def is_shuffled_for(cv: Any) -> bool:
    """Return whether a search with this cv is passed its rows in a random order.

    Examples
    --------
    >>> from sklearn.model_selection import GroupKFold
    >>> is_shuffled_for(5), is_shuffled_for(KFold(5)), is_shuffled_for(GroupKFold(5))
    (True, True, False)
    >>> is_shuffled_for(KFold(5, shuffle=True))
    False
    """
    return cv is None or isinstance(cv, Integral) or (type(cv) in (KFold, StratifiedKFold) and not cv.shuffle)


def shuffled(
    rows: NDArray[np.int64],
    digest: str,
    random_state: int | None,
    ids: NDArray[np.bytes_] | None,
    groups: Any,
) -> NDArray[np.int64]:
    """Return row numbers in a random order that keeps each group (or id) together.

    So unshuffled folds leave nearly all groups whole, as they do where a file has them together.

    Parameters
    ----------
    rows : ndarray of shape (m,)
    digest : str
        Of all labels in their order: without ids the order is a function of it, of ``random_state`` and m.
    random_state : int or None
    ids : ndarray of bytes of shape (n,) or None, default=None
        Hashed. With them, the order of the rows does not depend on that of the file.
    groups : array-like of shape (n,) or None, default=None

    Examples
    --------
    >>> ids = id_hashes(np.arange(6), "Holdout")
    >>> order = shuffled(np.arange(6), "", None, ids, None)
    >>> moved = shuffled(np.arange(6), "", None, ids[::-1], None)  # the same rows from the end of the file
    >>> sorted(order.tolist()), bool((5 - moved == order).all())
    ([0, 1, 2, 3, 4, 5], True)
    """
    of_group: list[Any] | None = None if groups is None else np.asarray(groups)[rows].tolist()
    if ids is not None:
        inner = part_of_each(ids[rows], random_state)
        outer = inner
        if of_group is not None:
            outer = part_of_each(id_hashes(of_group, "ReusableHoldoutCV", name="groups"), random_state)
        return rows[np.lexsort((inner, outer))]
    seed = hashlib.sha256(f"order of rows {digest} {random_state}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(seed[:8], "big"))
    if of_group is None:
        return rows[rng.permutation(len(rows))]
    numbers: dict[Any, int] = {}
    of_row = np.array([numbers.setdefault(group, len(numbers)) for group in of_group])
    return rows[np.lexsort((rng.permutation(len(rows)), rng.permutation(len(numbers))[of_row]))]


def warn_of_blocks(cv: Any, rows: Callable[[], Sequence[Any]]) -> None:
    """Warn if the folds of a cv are blocks of rows, not ordered in time.

    Parameters
    ----------
    cv : splitter or sequence of splits
        Of one that `is_shuffled_for`, where the rows were not shuffled after all, only if the rows of its
        folds are seen to differ.
    rows : callable
        Returns X, y and groups as the search will see them.
    """
    if not are_blocks(cv, rows) or is_ordered_in_time(cv, rows):
        return
    if is_shuffled_for(cv) and not _differ_over_folds(cv, rows):
        return
    name = "splits that are given row by row" if isinstance(cv, (Sequence, np.ndarray)) else type(cv).__name__
    fix = "put the rows in a random order, or use folds that are, cv=KFold(5, shuffle=True, random_state=0)"
    if getattr(cv, "shuffle", None) is False:
        fix = f"use {name}(..., shuffle=True, random_state=0)"
    warn_user(
        f"The search's cv ({name}) tests on rows that lie together in X. Where X is in an order that means "
        "something (sorted, by time, by place), its scores may be far from those on the holdout, whose rows "
        "are from everywhere. Certificates hold all the same, but their guesses are these scores: each that "
        f"is off costs more nats and makes later intervals wider. To mend it, {fix}."
    )


def are_blocks(cv: Any, rows: Callable[[], Sequence[Any]]) -> bool:
    """Return whether the test parts of several splits lie together in X, beyond chance.

    Either each is a run of neighbours, or their ranks differ by a Kruskal-Wallis test at 1e-6. With groups,
    neighbours are groups. The first 50 splits are looked at.

    Examples
    --------
    >>> are_blocks(KFold(3), lambda: [np.zeros((12, 1))])
    True
    >>> are_blocks(KFold(3, shuffle=True, random_state=0), lambda: [np.zeros((12, 1))])
    False
    """

    def look(splits: Iterable[Any]) -> bool:
        parts = [_positions(test) for _, test in islice(splits, _SPLITS_LOOKED_AT)]
        groups = rows()[2] if len(rows()) > 2 else None
        if groups is not None:
            _, first, of_row = np.unique(np.asarray(groups), return_index=True, return_inverse=True)
            rank = np.argsort(np.argsort(first))[of_row.reshape(-1)]
            whole = [np.unique(rank[part]) for part in parts]
            if sum(map(len, whole)) == len(np.unique(np.concatenate(whole))):  # else groups are torn
                parts = whole
        if len(parts) < 2 or not all(len(part) for part in parts) or max(map(len, parts)) < 2:
            return False
        if all(len(part) > 1 and np.ptp(part) == len(part) - 1 for part in parts):
            return True
        return bool(kruskal(*parts).pvalue < _CHANCE)

    return _looked_at(cv, rows, look)


def check_time_order(holdout: Any, cv: Any, rows: Callable[[], Sequence[Any]] = tuple) -> None:
    """Raise ValueError if the search's cv is ordered in time; for a holdout that is not the last rows.

    Parameters
    ----------
    holdout : float, array-like or splitter
        What chooses the holdout.
    cv : int, splitter, sequence of splits or None
        Of the search.
    rows : callable
        Returns X, y and groups for training, as the cv will see them. Without them a splitter is recognised
        by its class only.
    """
    if not is_ordered_in_time(cv, rows):
        return
    share = float(holdout) if is_share(holdout) else 0.25
    raise bad_parameter(
        "holdout", "ReusableHoldoutCV", "the last block of rows where the search's cv is ordered in time",
        holdout if is_share(holdout) else f"a {type(holdout).__name__} of rows that come before others",
        "A share is random rows: these, and others from before and after each other, would be interleaved "
        "with the training rows in time, so neither the guess nor the certificate would speak of the future. "
        f"Use a mask, holdout=np.arange(len(y)) >= {1 - share:g} * len(y), with ask='winner', which keeps "
        "the cv.",
    )  # fmt: skip


def is_ordered_in_time(cv: Any, rows: Callable[[], Sequence[Any]] = tuple) -> bool:
    """Return whether in each of several splits the training rows come first.

    Neither a one-shot iterator, which cannot be looked at without being used up, nor the random state of a
    splitter or of NumPy is touched.

    Parameters
    ----------
    cv : int, splitter, sequence of splits or None
        Whatever a search takes.
    rows : callable
        Returns X, y and groups; without them a splitter is recognised by its class only.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> is_ordered_in_time([([0, 1], [2]), ([0, 1, 2], [3])])
    True
    >>> is_ordered_in_time(KFold(2), lambda: [np.zeros((4, 1))])
    False
    """

    def look(splits: Iterable[Any]) -> bool:
        count = 0
        for train, test in splits:
            before, after = _positions(train), _positions(test)
            if not len(before) or not len(after) or before.max() >= after.min():
                return False
            count += 1
        return count >= 2

    return isinstance(cv, TimeSeriesSplit) or _looked_at(cv, rows, look)


def tested_rows(cv: Any, rows: Callable[[], Sequence[Any]]) -> list[NDArray[np.int64]]:
    """Return the numbers of the rows that each split tests; none where splits cannot be looked at.

    Parameters
    ----------
    cv : splitter or sequence of splits
    rows : callable
        Returns X, y and groups.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> tested_rows(KFold(2), lambda: [np.zeros((4, 1))])
    [array([0, 1]), array([2, 3])]
    """
    parts: list[NDArray[np.int64]] = []

    def look(splits: Iterable[Any]) -> bool:
        parts.extend(_positions(test) for _, test in splits)
        return True

    return parts if _looked_at(cv, rows, look) else []


def _labelled(hashes: NDArray[np.uint64], y: Any) -> NDArray[np.uint64]:
    """Return a hash of every row together with its label."""
    return hashes if y is None else hashes + np.uint64(3) * row_hashes(np.asarray(y))


def _has(part: NDArray[np.uint64], rows: NDArray[np.uint64]) -> bool:
    """Return whether the sorted part has all rows, each as often as passed."""
    values, counts = np.unique(rows, return_counts=True)
    there = np.searchsorted(part, values, "right") - np.searchsorted(part, values, "left")
    return len(rows) <= len(part) and bool((there >= counts).all())


def _differ_over_folds(cv: Any, rows: Callable[[], Sequence[Any]]) -> bool:
    """Return whether labels or numeric features of the test parts differ beyond chance.

    By Kruskal-Wallis tests at 1e-6.
    """
    X, y = rows()[:2]
    columns = []
    for each in (X, y):
        try:
            columns.append(np.asarray(each, dtype=float).reshape(len(y), -1))
        except (TypeError, ValueError):  # sparse, texts, dates
            columns.append(np.asarray(each).reshape(-1, 1) if each is y else np.empty((len(y), 0)))
    if columns[1].dtype.kind not in "fiu":
        columns[1] = np.unique(columns[1], return_inverse=True)[1].reshape(-1, 1)
    table = np.hstack(columns)
    table = table[:, (table != table[:1]).any(axis=0)]

    def look(splits: Iterable[Any]) -> bool:
        parts = [table[_positions(test)] for _, test in islice(splits, _SPLITS_LOOKED_AT)]
        return bool(np.nanmin(kruskal(*parts, axis=0, nan_policy="omit").pvalue) * table.shape[1] < _CHANCE)

    return table.shape[1] > 0 and _looked_at(cv, rows, look)


def _looked_at(cv: Any, rows: Callable[[], Sequence[Any]], look: Callable[[Iterable[Any]], bool]) -> bool:
    """Return ``look(splits)`` for the splits of a cv; False where they cannot be looked at."""
    is_list = isinstance(cv, (Sequence, np.ndarray)) and not isinstance(cv, str)
    if not is_list and not callable(getattr(cv, "split", None)):
        return False
    state = np.random.get_state()  # noqa: NPY002 - splitters without a seed draw from it
    try:
        given = rows()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return look(cv if is_list else copy.deepcopy(cv).split(*given) if given else ())
    except Exception:  # what cannot split these rows, or be copied: the search will tell
        return False
    finally:
        np.random.set_state(state)  # noqa: NPY002


def _positions(rows: Any) -> np.ndarray:
    """Return the row numbers of a part of a split, which may be a mask."""
    which = np.asarray(rows)
    return np.flatnonzero(which) if which.dtype == bool else which


def warn_of_steps_before() -> None:
    """Warn if a pipeline around the search has fitted a step on all rows, the holdout's among them."""
    for pipeline in callers_of_class("sklearn.pipeline", "Pipeline"):
        steps = [step for _, step in pipeline.steps[:-1] if hasattr(step, "fit")]
        names = sorted({type(step).__name__ for step in steps if get_tags(step).requires_fit})
        if names:
            warn_user(
                f"The pipeline around this search has fitted {' and '.join(names)} on all rows, also those "
                "that will be held out: the certified score may be too good. Put the step into the model "
                "that is searched: ReusableHoldoutCV(GridSearchCV(make_pipeline(step, model), ...))."
            )


def warn_of_copies(X: Any, groups: Any) -> None:
    """Warn if many rows of X occur more than once, so that copies may stand on both sides of the holdout."""
    copies = copies_beyond_chance(X, groups)
    if copies:
        warn_user(
            f"{copies:,} of {n_rows(X):,} rows of X occur more than once, as after oversampling or merging "
            "tables. Copies may be in the holdout and among the training rows, and then the certified score "
            "is that of rows which the model has seen. Oversample inside the model (a pipeline of "
            "imbalanced-learn), drop the copies, or keep them together: fit(X, y, groups=...), one group for "
            "a row and its copies."
        )


def warn_of_means_of_labels(X: Any, y: Any) -> None:
    """Warn if a column of X is the mean of y over all rows that have its value, as ``groupby`` gives it."""
    labels = np.asarray(y)
    kinds, codes = np.unique(labels, return_inverse=True)
    targets = [(codes.reshape(-1) == code).astype(float) for code in range(min(len(kinds), _MOST_KINDS))]
    targets += [labels.astype(float)] if labels.dtype.kind in "biuf" else []
    columns = enumerate([] if hasattr(X, "tocsr") else map(readable, columns_of(X)))
    for number, column in ((number, each) for number, each in columns if each.dtype.kind == "f"):
        if any(_is_mean_of(column, target) for target in targets):
            name = list(getattr(X, "columns", range(number + 1)))[number]
            warn_user(
                f"Column {name!r} of X is the mean of y over all rows that have its value, those of the "
                "holdout among them: its features tell its labels, and the certified score is too good. "
                "Compute it inside the model that is searched, from the rows that this is fitted on: "
                "make_pipeline(TargetEncoder(), model)."
            )
            return


def _is_mean_of(column: NDArray[np.float64], target: NDArray[np.float64]) -> bool:
    """Return whether each value of a column is the mean of a target over its rows, in many groups of rows."""
    for value in column[[0, len(column) // 2, -1]]:  # most columns need no more
        if not math.isclose(
            target[column == value].sum(), value * np.sum(column == value), rel_tol=1e-5, abs_tol=1e-6
        ):
            return False
    values, of_row, sizes = np.unique(column, return_inverse=True, return_counts=True)
    means = np.bincount(of_row.reshape(-1), target) / sizes
    return bool(np.count_nonzero(sizes > 1) >= _LEAST_GROUPS and np.allclose(values, means))


def remember_rows(search: Any, X: Any, y: Any) -> None:
    """Remember which rows a search is fitted on."""
    _of_fit.pop(search, None)
    if (digest := _digest_of_fit(X, y)) is not None:
        _of_fit[search] = digest


def warn_of_rows_of_fit(search: Any, X: Any, y: Any) -> None:
    """Warn, once, if these are the rows that a search was fitted on."""
    digest = _of_fit.get(search)
    if digest is None or y is None or _digest_of_fit(X, y) != digest:
        return
    warn_user(
        "These are the rows that were passed to fit, and the model was trained on most of them: this score "
        "is too good, and certifies nothing. The score to report is what publish() returns.",
        once=("rows of fit", digest),
    )


def _digest_of_fit(X: Any, y: Any) -> str | None:
    try:
        at = np.linspace(0, n_rows(X) - 1, min(n_rows(X), _ROWS)).astype(int)
        return canonical_digest((take_rows(X, at), np.asarray(y)))
    except (Undigestible, ValueError, TypeError, IndexError):  # such rows were not passed to fit
        return None
