"""What `ReusableHoldoutCV` decides before anything is fitted: metric, mechanism, holdout.

From the parameters of a `ReusableHoldoutCV` to the metric, the mechanism and the scorer they name.

The ids of the rows that ``ReusableHoldoutCV.fit`` is passed, and the holdout that they choose.

Searches whose cross-validation is ordered in time: their holdout cannot be random rows.

Such a splitter says that models must not learn from rows after those they are judged by. A holdout of random
rows lies between the training rows in time, so it would be just that.

The parameters of `ReusableHoldoutCV`, checked before anything is fitted or charged.

The order in which training rows reach a search: random, and the same again for the same rows.

A holdout of random rows is guessed from folds. Folds that are blocks of rows in the order of the file speak
of other rows than the holdout where that order means something (sorted by label, by time, by place): on rows
that drift, guesses were off by four standard errors and more. No certificate is wrong then, but each such
answer is a surprise, which costs nats. So where the search's cv is a number, or a `KFold` or
`StratifiedKFold` without shuffling, the rows are shuffled before the search sees them. Other splitters may
mean their order; they get a warning if their folds are blocks.

Rows that were split by the caller, who passes a `Holdout`, stay in their order: it is random already where
they come from ``train_test_split``, and the search finds just what it finds by itself. There is a warning if
labels or features differ from fold to fold beyond chance.

Taking the holdout out of X, the same way every time for the same data.

What `ReusableHoldoutCV` warns of: once before it spends anything, and once when it is done.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kruskal
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.utils.multiclass import type_of_target

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter, check_integer, check_option, check_real
from sklearn_ada.answer import Answer
from sklearn_ada.data.labels import check_labels, n_rows, take_rows
from sklearn_ada.digest.rows import id_hashes, labels_digest, part_of_each
from sklearn_ada.holdout.changes import check_sides, check_unchanged, held_before, leave_other, place_of_rows
from sklearn_ada.holdout.framing import check_defined, why_no_interval
from sklearn_ada.holdout.holdout import Holdout, session_of
from sklearn_ada.holdout.report import certifies_nothing, is_chosen, median_notice, too_few_rows, why_vacuous
from sklearn_ada.holdout.rounds import is_told_in_cells, worst_question
from sklearn_ada.metrics.metric import Metric, as_metric
from sklearn_ada.model_selection.engines import (
    Wrapper,
    check_reveal,
    check_search,
    folds_of_training_rows,
    is_of_pairs,
    keeps_model,
    metric_of,
    own_scorings,
    take_for,
)
from sklearn_ada.model_selection.guesses import NO_PREDICT, check_rule
from sklearn_ada.model_selection.scorers import (
    HoldoutScorer,
    LadderScorer,
    StableHoldoutScorer,
    ThresholdoutScorer,
    ValidationSplit,
    is_share,
    split_rows,
)
from sklearn_ada.questions.stable_median import MedianSettings
from sklearn_ada.terms.policy import check_answers, check_name, check_promise

_OWNER = "ReusableHoldoutCV"


def chosen_metric(wrapper: Wrapper) -> Metric:
    """Return what is certified: ``scoring``, the scorer's metric, the search's own, or the usual one.

    Raises
    ------
    ValueError
        For several metrics, and for another than that of the scorer which is to ask about it.
    """
    of_scorer = wrapper.mechanism.metric if isinstance(wrapper.mechanism, HoldoutScorer) else None
    scoring = wrapper.scoring
    if scoring is None:
        scoring = metric_of(wrapper.search) if of_scorer is None else of_scorer
    if scoring is None:
        scoring = "accuracy" if is_classifier(wrapper.search.estimator) else "r2"
    if isinstance(scoring, (dict, list, tuple, set)):
        raise bad_parameter(
            "scoring", _OWNER, "one metric", scoring, "Name the one to certify: scoring='accuracy'."
        )
    metric = as_metric(scoring)
    if of_scorer is None:
        return metric
    if (metric.scoring, metric.describe()) != (of_scorer.scoring, of_scorer.describe()):
        raise bad_parameter(
            "scoring", _OWNER, f"None or {of_scorer.name}, the metric of the scorer that is its mechanism",
            scoring,
        )  # fmt: skip
    return of_scorer


def chosen_median(wrapper: Wrapper, metric: Metric, holdout: Holdout) -> MedianSettings | None:
    """Return the settings of the stable median, or None where the metric has an interval of its own.

    With ``mechanism="auto"`` a scorer of scikit-learn's is certified on its own value, or refused: a median
    answers where it was asked for, and for a function of which nothing is known but its values.
    What validation rows tune is for winners: candidates are checked, all of them in the same way.
    Exact, unless privacy alone certifies: by description length a draw's noise would only widen the interval.

    Raises
    ------
    ValueError
        If the metric has no interval on this holdout; it says why, and what to write.
    """
    if isinstance(wrapper.mechanism, StableHoldoutScorer):
        return wrapper.mechanism.median
    if wrapper.mechanism == "stable_median":
        return median_settings(metric, holdout)
    is_auto = wrapper.mechanism == "auto"
    winners = is_auto and (wrapper.ask != "candidates" or wrapper.reveal == "winner")
    session = session_of(holdout)
    why = why_no_interval(session, metric, "certify" if winners else "check")
    if not why:
        return None
    if is_auto and (metric.string is None or metric.chosen_general):
        return median_settings(metric, holdout)
    check_defined(session.data, metric)
    of_winner = "" if winners or not metric.is_tuned else " Its winner can be certified: ask='winner'."
    raise bad_parameter(
        "scoring", _OWNER, "a metric with an interval of its own", metric.name,
        f"It {why}.{of_winner} mechanism='stable_median' answers the median over subsamples instead, "
        "which is another quantity.",
    )  # fmt: skip


def median_settings(metric: Metric, holdout: Holdout) -> MedianSettings:
    """Return the usual settings; each subsample gets every class where the metric has no value otherwise."""
    method = "exponential" if holdout.route == "differential_privacy" else "exact"
    if metric.measure.needs_every_class:
        stratified = MedianSettings(method=method, stratify=True)
        with contextlib.suppress(ValueError):  # with groups it cannot be had
            stratified.subsample_size(session_of(holdout).data)
            return stratified
    return MedianSettings(method=method)


def chosen_scorer(
    wrapper: Wrapper, metric: Metric, holdout: Holdout, median: MedianSettings | None
) -> HoldoutScorer:
    """Return the scorer that asks about every candidate."""
    if isinstance(wrapper.mechanism, HoldoutScorer):
        return wrapper.mechanism.fresh(wrapper.validation)
    if wrapper.mechanism == "ladder":
        return LadderScorer(metric, holdout, validation=wrapper.validation)
    if median is not None:
        return StableHoldoutScorer(
            metric, holdout, method=median.method, stratify=median.stratify, validation=wrapper.validation
        )
    return ThresholdoutScorer(metric, holdout, validation=wrapper.validation)


_OWNER_2 = "ReusableHoldoutCV"


def ids_of_rows(named: Any, X: Any, given: Any) -> tuple[Any, Any, str | None]:
    """Return X without the ids, the ids, and the name of their column; None where there are none.

    Parameters
    ----------
    named : str or None
        The wrapper's ``ids``: the name of a column, "index", or None.
    X : array-like or frame
    given : array-like or None
        What `fit` was passed as ``ids``.

    Raises
    ------
    ValueError
        If they are named and given both, X has no such column, or they have no order of their own.
    """
    if named is None:
        return X, None if given is None else _values(given), None
    if given is not None:
        raise bad_parameter(
            "ids", f"{_OWNER_2}.fit", f"None where {_OWNER_2} has ids={named!r}", "ids", "Give one."
        )
    columns = list(getattr(X, "columns", ()))
    if named == "index":
        if not hasattr(X, "iloc"):
            raise bad_parameter(
                "ids", _OWNER_2, "None, or the name of a column, where X has no index", "index",
                "Pass them by themselves: fit(X, y, ids=...).",
            )  # fmt: skip
        if "index" in columns:
            raise bad_parameter(
                "ids", _OWNER_2, "one of the two where X has an index and a column 'index'", "index",
                "Rename the column.",
            )  # fmt: skip
        if _counts_positions(X.index):
            raise bad_parameter(
                "ids", _OWNER_2, "None or the name of a column, where X has an index that counts its rows",
                "index",
                "These are positions, not identities: rows in another order would have those of other rows. "
                "Take a column that says who the rows are, or make it the index, X.set_index(...).",
            )  # fmt: skip
        return X, _values(X.index), None
    if named not in columns:
        fix = "X has no column of this name: pass the ids by themselves, fit(X, y, ids=...)."
        if named in list(getattr(getattr(X, "index", None), "names", ())):
            fix = "It is the name of the index of X: use ids='index'."
        elif not columns:
            fix = "Arrays have no names: pass the ids by themselves, fit(X, y, ids=...)."
        raise bad_parameter("ids", _OWNER_2, "None, 'index' or the name of a column of X", named, fix)
    return without_column(X, named), _values(X[named]), named


def _values(given: Any) -> Any:
    """Return ids as a list or an array: as a list, NumPy's types would not be what they were."""
    if isinstance(given, (list, tuple)):
        return list(given)
    if not hasattr(given, "__array__"):
        raise bad_parameter(
            "ids", f"{_OWNER_2}.fit", "an array or a list, in the order of the rows", type(given).__name__
        )
    return np.asarray(given)


def _counts_positions(index: Any) -> bool:
    """Return whether an index of pandas is what a frame has if nobody said anything, stored or not."""
    is_range = all(hasattr(index, name) for name in ("start", "step", "stop"))
    return (is_range or index.name is None) and np.array_equal(index, np.arange(len(index)))


def without_column(X: Any, name: str | None) -> Any:
    """Return X without the column of ids, if it has it: no model ever sees that."""
    if name is None or name not in list(getattr(X, "columns", ())):
        return X
    return X.drop(columns=[name]) if hasattr(X, "iloc") else X.drop(name)


def split_by_ids(
    ids: NDArray[np.bytes_],
    groups: Any,
    share: float,
    random_state: int | None,
    known: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the rows for training and of those of the holdout, each row assigned by itself.

    A row is in the holdout if a hash of its id (of its group, if there are groups) and ``random_state`` is
    below the share. So rows may be put in any order and others may be added: each stays where it is. The
    share is met on average, and classes are not stratified.

    Parameters
    ----------
    ids : ndarray of bytes
        Hashed.
    groups : array-like or None
    share : float
    random_state : int or None
    known : ndarray of bool or None, default=None
        Rows that the ledger knows as its holdout's, such as those of a `Holdout.top_up`: they stay there.

    Examples
    --------
    >>> ids = id_hashes(np.arange(1000), "Holdout")
    >>> train, test = split_by_ids(ids, None, 0.25, None)
    >>> moved = split_by_ids(ids[::-1], None, 0.25, None)[1]
    >>> len(train) + len(test), bool((np.sort(999 - moved) == test).all())
    (1000, True)
    """
    which = ids if groups is None else id_hashes(groups, _OWNER_2, len(ids), "groups")
    values, of_row = np.unique(which, return_inverse=True)
    held = (part_of_each(values, random_state) < share)[of_row.reshape(-1)]
    if known is not None:
        held |= known
    if held.all() or not held.any():
        raise bad_parameter(
            "holdout", _OWNER_2, "a share that leaves rows on both sides", share,
            f"Ids choose it, and put {'all' if held.any() else 'none'} of the {len(values)} "
            f"{'rows' if groups is None else 'groups'} into it: bring more, or choose them yourself, "
            "holdout=mask.",
        )  # fmt: skip
    return np.flatnonzero(~held), np.flatnonzero(held)


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


DEFAULT_ANSWERS = "auto"
_MECHANISMS = ("auto", "exponential_mechanism", "ladder", "stable_median", "thresholdout")


def check_parameters(wrapper: Wrapper) -> None:
    """Raise ValueError for a parameter of a `ReusableHoldoutCV` that cannot be, before anything is fitted."""
    owner = "ReusableHoldoutCV"
    is_object = hasattr(wrapper.search, "get_params") and not isinstance(wrapper.search, type)
    own = wrapper.search.get_params(deep=False) if is_object else {}
    if wrapper.random_state is not None:
        check_integer(wrapper.random_state, "random_state", owner, low=-(2**63))
    if "estimator" not in own or not hasattr(wrapper.search, "fit"):
        raise bad_parameter("search", owner, "a search such as GridSearchCV(model, grid)", wrapper.search)
    if not isinstance(wrapper.mechanism, HoldoutScorer):
        check_option(wrapper.mechanism, "mechanism", owner, _MECHANISMS)
    if wrapper.mechanism == "exponential_mechanism" and wrapper.ask in ("candidates", "winner"):
        raise bad_parameter(
            "ask", owner, "an integer with mechanism='exponential_mechanism'", wrapper.ask,
            "It says among how many of the search's best to choose.",
        )  # fmt: skip
    check_real(wrapper.validation, "validation", owner, low=0.0, high=1.0)
    check_promise(wrapper.confidence_level, wrapper.tolerance, wrapper.expected_questions, owner)
    check_option(wrapper.missing, "missing", owner, ("raise", "ignore"))
    check_answers(wrapper.answers, owner)
    check_name(wrapper.who, "who", owner)
    if not isinstance(wrapper.verbose, bool):  # as scikit-learn has it
        check_integer(wrapper.verbose, "verbose", owner, low=0)
    if wrapper.ids is not None and not isinstance(wrapper.ids, str):
        raise bad_parameter(
            "ids", owner, "None, 'index' or the name of a column", type(wrapper.ids).__name__,
            "The ids themselves are passed along with X: fit(X, y, ids=...).",
        )  # fmt: skip
    if isinstance(wrapper.holdout, Holdout) or isinstance(wrapper.mechanism, HoldoutScorer):
        given = (wrapper.confidence_level, wrapper.tolerance, wrapper.expected_questions, wrapper.ledger)
        own_names = (wrapper.missing, wrapper.answers, wrapper.seal_key, wrapper.who)
        if (*given, *own_names) != (0.95, None, None, None, "raise", DEFAULT_ANSWERS, None, None):
            raise bad_parameter(
                "holdout", owner, "a share, a mask or a splitter when a policy or a ledger is given",
                "a Holdout", "It has a policy, a ledger and a name (who) of its own.",
            )  # fmt: skip
    if wrapper.ask not in ("candidates", "winner"):
        check_integer(wrapper.ask, "ask", owner, fix="Or 'candidates', or 'winner'.")
    _check_scorers(wrapper, own)
    check_time_order(
        wrapper, own.get("cv"), is_last=not is_share(wrapper.holdout)
    )  # of others the rows will tell
    check_search(wrapper.search, wrapper.ask)
    check_option(wrapper.reveal, "reveal", owner, ("all", "winner"))
    check_reveal(wrapper)
    if not keeps_model(wrapper) and (
        wrapper.reveal == "winner" or wrapper.ask not in ("candidates", "winner")
    ):
        raise bad_parameter(
            "search", owner, "with a model in the end when ask is an integer or reveal='winner'",
            "refit=False", "Models refitted on all training rows are compared: use refit=True.",
        )  # fmt: skip
    check_rule(wrapper.one_standard_error, wrapper.search)
    alone = wrapper.ask in ("winner", 1) or wrapper.mechanism in ("exponential_mechanism", "ladder")
    if alone and wrapper.one_standard_error is not False:
        raise bad_parameter(
            "one_standard_error", owner, "False where one candidate is certified, or improvements only",
            wrapper.one_standard_error, "Use ask=5, say, or ask='candidates'.",
        )  # fmt: skip


def check_one_output(y: Any) -> None:
    """Raise ValueError for a y of several outputs: a metric of one is certified."""
    shape = np.shape(y)
    if len(shape) > 1:
        raise bad_parameter(
            "y", "ReusableHoldoutCV.fit", "one-dimensional", f"an array of shape {shape}",
            "One output is certified at a time: put the search inside, as in "
            "MultiOutputClassifier(ReusableHoldoutCV(search)) or MultiOutputRegressor(...).",
        )  # fmt: skip


def _check_scorers(wrapper: Wrapper, own: dict[str, Any]) -> None:
    """Raise unless the one scorer that asks a holdout is the mechanism, and its holdout is the only one."""
    owner = "ReusableHoldoutCV"
    if isinstance(wrapper.scoring, HoldoutScorer):
        raise bad_parameter(
            "scoring", owner, "a metric", wrapper.scoring, "Pass the scorer as mechanism=; it has a metric."
        )
    of_holdout = [one for one in own_scorings(wrapper.search) if isinstance(one, HoldoutScorer)]
    if of_holdout or isinstance(own.get("cv"), ValidationSplit):
        raise bad_parameter(
            "search", owner, "with plain metrics as its scoring, and no cv of a scorer",
            of_holdout[0] if of_holdout else own["cv"],
            "Name the plain metric, scoring='accuracy', and pass mechanism=scorer to ReusableHoldoutCV.",
        )  # fmt: skip
    if isinstance(wrapper.mechanism, HoldoutScorer):
        is_default = isinstance(wrapper.holdout, float) and wrapper.holdout == 0.25
        if wrapper.holdout is not wrapper.mechanism.holdout and not is_default:
            raise bad_parameter(
                "holdout", owner, "left out, or that of the scorer that is its mechanism", wrapper.holdout
            )


_CHANCE = 1e-6  # of a warning where folds are random
_SPLITS_LOOKED_AT = 50


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
    ids: NDArray[np.bytes_] | None = None,
    groups: Any = None,
) -> NDArray[np.int64]:
    """Return numbers of rows in a random order, with the rows of one group, or of one id, next to each other.

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
    >>> order = shuffled(np.arange(6), "", None, ids)
    >>> moved = shuffled(np.arange(6), "", None, ids[::-1])  # the same rows from the end of the file
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
    """Warn if the folds of a cv, which is not ordered in time, are blocks of rows.

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
        parts = [positions(test) for _, test in islice(splits, _SPLITS_LOOKED_AT)]
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

    return bool(looked_at(cv, rows, look))


def _differ_over_folds(cv: Any, rows: Callable[[], Sequence[Any]]) -> bool:
    """Return whether labels or numeric features of the test parts differ, by Kruskal-Wallis tests at 1e-6."""
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
        parts = [table[positions(test)] for _, test in islice(splits, _SPLITS_LOOKED_AT)]
        return bool(np.nanmin(kruskal(*parts, axis=0, nan_policy="omit").pvalue) * table.shape[1] < _CHANCE)

    return table.shape[1] > 0 and bool(looked_at(cv, rows, look))


_POLICY = ("confidence_level", "tolerance", "expected_questions", "answers", "seal_key")


def set_aside(
    wrapper: Wrapper, X: Any, y: Any, groups: Any = None, cv: Any = None, ids: Any = None
) -> tuple[Holdout, NDArray[np.int64], Any]:
    """Return the holdout of a `ReusableHoldoutCV`, the numbers of the rows for training, and their cv.

    The split is a function of the labels, their order and ``random_state``, so a second search on the same
    rows uses the same holdout, whatever was done to columns. With ``ledger=None`` or ``":memory:"`` the
    ledger belongs to all rows, so another split of them does not get a fresh budget. Groups stay whole: they
    are the independent units. No class is in the holdout alone, for no classifier could know it. ``cv`` is
    that of the search, for all rows.

    With ``ids`` a share is chosen by them, each row by itself (`split_by_ids`).

    The rows for training are in a random order where the search's cv does not mind (`row_order`). With a
    given Holdout they stay in theirs: whoever split them has chosen it.
    """
    n = n_rows(X)
    y = check_labels(y)  # classes held as objects are split as classes
    is_scorer = isinstance(wrapper.mechanism, HoldoutScorer)
    holdout = wrapper.mechanism.holdout if is_scorer else wrapper.holdout
    of_classes = is_classifier(wrapper.search.estimator) and type_of_target(y) in ("binary", "multiclass")
    hashed = None if ids is None else id_hashes(ids, "ReusableHoldoutCV.fit", n)
    if isinstance(holdout, Holdout):
        _check_given(holdout, hashed)
        if of_classes and holdout.classes is not None:
            _check_classes(y, holdout.classes)
        return holdout, np.arange(n), cv
    ledger, random_state = wrapper.ledger, wrapper.random_state
    random_state = None if random_state is None else int(random_state)
    digest = "" if hashed is not None else labels_digest(y)
    place = place_of_rows(ledger, hashed, y, wrapper.missing)
    address = place.address
    if hashed is not None and is_share(holdout):
        share = check_real(holdout, "holdout", "ReusableHoldoutCV", low=0.0, high=1.0)
        known = held_before(address, hashed) if groups is None else None
        train, test = split_by_ids(hashed, groups, share, random_state, known)
        kind = f"share {share:g}, by a hash of each {'id' if groups is None else 'group'}"
    else:
        train, test, kind = _rows(X, y, holdout, n, digest, random_state, groups)
    folds = folds_of_training_rows(cv, train, n)
    check_time_order(
        wrapper,
        folds,
        lambda: [rows if rows is None else take_rows(rows, train) for rows in (X, y, groups)],
        is_last=len(train) > 0 and len(test) > 0 and int(np.max(train)) < int(np.min(test)),
    )
    if wrapper.ask != "candidates" and is_shuffled_for(folds):
        train = shuffled(train, digest, random_state, hashed, groups)
    policy = {name: getattr(wrapper, name) for name in (*_POLICY, "who")}
    if groups is not None:
        own, others = take_rows(np.asarray(groups), test), take_rows(np.asarray(groups), train)
        if set(own.tolist()) & set(others.tolist()):
            raise bad_parameter(
                "holdout", "ReusableHoldoutCV", "of whole groups when groups are passed", kind,
                "Use a share, or a splitter such as GroupShuffleSplit(1).",
            )  # fmt: skip
        policy["groups"] = own
    if of_classes:
        _check_classes(take_rows(y, train), take_rows(y, test))
    split = {"holdout": kind, "random_state": random_state}
    if ids is None or hashed is None:
        split["rows_in_all"] = n
    else:
        policy |= {"ids": [ids[row] for row in test], "missing": wrapper.missing}
        _check_whole(hashed, train, test)
        check_unchanged(
            address, hashed[train], hashed[test], take_rows(np.asarray(y), test),
            of_share=is_share(wrapper.holdout), is_path=ledger not in (None, ":memory:"),
        )  # fmt: skip
    rows = take_for(X, test, train, is_of_pairs(wrapper.search))
    made = Holdout(rows, take_rows(np.asarray(y), test), ledger=address, split=split, **policy)
    leave_other(place)
    if hashed is not None and not is_share(wrapper.holdout):
        check_sides(
            session_of(made), hashed[train]
        )  # a process with another mask may have begun it meanwhile
    return made, train, folds


def _rows(
    X: Any, y: Any, holdout: Any, n: int, digest: str, random_state: int | None, groups: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], str]:
    if is_share(holdout):
        share = check_real(holdout, "holdout", "ReusableHoldoutCV", low=0.0, high=1.0)
        seed = int(hashlib.sha256(f"{digest} {random_state}".encode()).hexdigest()[:8], 16)
        train, test = split_rows(n, y, share, seed, groups)
        return train, test, f"share {share:g}"
    if hasattr(holdout, "split") and not isinstance(holdout, str):
        splits = list(holdout.split(X, y, groups))
        if len(splits) != 1:
            raise _bad(f"a splitter with {len(splits)} splits")
        train, test = splits[0]
        if len(np.intersect1d(train, test)):
            raise _bad("a splitter whose two parts share rows")
        return np.asarray(train), np.asarray(test), "splitter"
    try:
        mask = np.asarray(holdout)
    except ValueError:  # rows and labels, say
        raise _bad(type(holdout).__name__, _OF_ROWS) from None
    if mask.dtype.kind not in "biu" and mask.ndim:
        raise _bad(f"{type(holdout).__name__} of {mask.dtype.name}", _OF_ROWS)
    if mask.dtype == bool and mask.shape == (n,) and (not mask.any() or mask.all()):
        raise _bad(
            f"a mask that is {bool(mask.all())} everywhere",
            "It needs both: True for the rows of the holdout, False for the others.",
        )
    if mask.dtype != bool or mask.shape != (n,):
        raise _bad(f"{type(holdout).__name__} of {mask.dtype.name}" if mask.ndim else holdout)
    return np.flatnonzero(~mask), np.flatnonzero(mask), "mask"


def _check_given(holdout: Holdout, ids: NDArray[np.bytes_] | None) -> None:
    """Raise if training rows are known to be rows of a holdout that was given."""
    session = session_of(holdout)
    if session.data.ids is not None and ids is None:
        warn_user(
            "The rows of the holdout are known by ids, and fit was passed none: so whether X repeats rows of "
            "the holdout is told by their features alone. Certificates assume that X has none of them. "
            "Use fit(X, y, ids=...).",
            once=("training rows without ids", session.fingerprint),
        )
    elif session.data.ids is None and ids is not None:
        raise bad_parameter(
            "ids", "ReusableHoldoutCV.fit", "None where the rows of the given holdout have no ids", "ids",
            "They could be compared with nothing: make the holdout with ids, Holdout(X_hold, y_hold, "
            "ids=...), or leave them out.",
        )  # fmt: skip
    elif ids is not None:
        check_sides(session, ids)


def _check_whole(ids: NDArray[np.bytes_], train: NDArray[np.int64], test: NDArray[np.int64]) -> None:
    """Raise ValueError if rows of one id are on both sides."""
    torn = len(np.intersect1d(ids[train], ids[test]))
    if torn:
        raise bad_parameter(
            "ids", "ReusableHoldoutCV.fit", "such that all rows of one id are on one side of the split",
            f"{torn} ids on both sides", "Rows of one id depend on each other: put them into one group.",
        )  # fmt: skip


def _check_classes(train: Any, test: Any) -> None:
    only = sorted(set(np.asarray(test).tolist()) - set(np.asarray(train).tolist()), key=str)
    if only:
        raise bad_parameter(
            "y", "ReusableHoldoutCV.fit", "such that each class of the holdout is among the training rows",
            f"no training row of {', '.join(map(repr, only[:5]))}",
            "Bring more rows of such a class, leave it out, or choose the holdout yourself: holdout=mask.",
        )  # fmt: skip


_OF_ROWS = "For rows that are set aside already: holdout=Holdout(X_hold, y_hold)."


def _bad(got: Any, fix: str | None = None) -> ValueError:
    return bad_parameter(
        "holdout",
        "ReusableHoldoutCV",
        "a share in (0, 1), a boolean mask of X's length, a splitter with one split, or a Holdout",
        got,
        fix
        or "Row numbers are no mask (inside an outer cross-validation they would be those of other rows): "
        "make a mask of them.",
    )


def warn_of_median(wrapper: Wrapper, metric: Metric, holdout: Holdout, median: MedianSettings | None) -> None:
    """Warn that a median will be certified, unless the user wrote so, and whether it could be."""
    if median is None or wrapper.mechanism != "auto" or is_chosen(metric):
        return
    session, purpose = session_of(holdout), "check" if wrapper.ask == "candidates" else "certify"
    told = median_notice(metric, median, session.data, regression=is_regressor(wrapper.search.estimator))
    too_few = too_few_rows(session, worst_question(session, metric, purpose, None))
    warn_user(f"{too_few}{told}; or accept the median: mechanism='stable_median'.")


def warn_of_exact_value(metric: Metric, holdout: Holdout, median: MedianSettings | None) -> None:
    """Warn, once a ledger and metric, that a ledger that answers in cells will tell this metric exactly."""
    session = session_of(holdout)
    if session.policy.answers != "cells" or median is not None or is_told_in_cells(session, metric):
        return
    written = repr(metric.name)
    if metric.string is not None and metric.string != metric.name:
        written = f"Metric({metric.string!r}, pos_label={metric.positive!r})"
    way_out = (
        "For many searches in a row, search by 'accuracy' or another mean of 0/1 scores, and certify "
        f"{metric.name} of the model that is kept: holdout.certify(model, scoring={written}, "
        "guess_from=(X_val, y_val))."
    )
    if metric.response.target == "numbers":
        way_out = (
            "No metric of numbers has cells: do with few searches, each over many candidates, or plan for "
            "more rows (plan_holdout)."
        )
    warn_user(
        f"{metric.name} has no cells, so the value of every winner is told exactly, at once. That reveals "
        f"more than a cell does, and makes all later intervals of this ledger wider. {way_out}",
        once=("exact", holdout.fingerprint, metric.name),
    )


def warn_of_tolerance(
    wrapper: Wrapper, metric: Metric, holdout: Holdout, median: MedianSettings | None
) -> None:
    """Warn, once a ledger and before anything is asked, that the tolerance admits fewer than expected."""
    expected, session = wrapper.expected_questions, session_of(holdout)
    if wrapper.tolerance is None or expected is None or median is not None or not metric.has_interval:
        return
    if not session.data.has_interval(metric):
        return
    purpose = "check" if wrapper.ask == "candidates" else "certify"
    left = holdout.remaining(metric, purpose=purpose)
    asked = session.ledger.read(lambda state: int(state.asked[purpose]))
    if left is None or left == 0 or asked + left >= expected:  # of 0 the refusal will tell
        return
    warn_user(
        f"{expected} questions are expected, and within the tolerance of {wrapper.tolerance:g} this holdout "
        f"answers about {asked + left} by {metric.name}, if guesses hold. Later ones will be refused. Before "
        "the first answer, a larger tolerance is free to choose; or plan for more rows (plan_holdout).",
        once=("tolerance", holdout.fingerprint, metric.name),
    )


def warn_of_outcome(
    answers: Sequence[Answer], best: Answer, holdout: Holdout, median: MedianSettings | None
) -> None:
    """Warn if the winner failed or its answer certifies nothing, or else if those of other candidates do."""
    if best.verdict == "failed":
        warn_user(
            f"The best model failed on the holdout ({best.reason}); its score is NaN, so nothing is "
            "certified of it. The failure was recorded and paid for. Mend the model and search again."
        )
        return
    vacuous = sum(map(certifies_nothing, answers))
    if not vacuous:
        return
    told = f"{vacuous} of the {len(answers)} answers of this search certify nothing."
    if certifies_nothing(best):
        told = "The interval of best_score_ certifies nothing."
    session = session_of(holdout)
    n_subsamples = None if median is None else median.subsamples(session.data)
    warn_user(f"{told} {why_vacuous(session, n_subsamples)}")


def warn_of_unasked(why: str, search: Any, winner: int) -> None:
    """Warn that a winner was kept about which the holdout was not asked, and whether it is arbitrary."""
    kept = f"candidate {winner}"
    if why != NO_PREDICT:
        chosen = callable(search.get_params(deep=False).get("refit"))
        kept += ", which its refit function chose," if chosen else ", an arbitrary one,"
    warn_user(
        f"{why} So {kept} is kept as the search keeps it: the holdout was not asked, nothing was charged, "
        "and best_score_ is NaN."
    )
