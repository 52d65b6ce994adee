"""What `fit` is passed beside X: cut along with it, and searched for rows of the holdout.

Users hand rows to a model by many doors: ``eval_set=[(X_val, y_val)]``, ``validation_data=``, ``X_val=``,
data sets of boosters, parameters of the estimator. A row of the holdout that comes in by one of them is
trained on, or decides when training stops, and the score on the holdout is then no score on new rows. So all
of it is walked through before the first fit, and every table in it is compared with the holdout.

What has one entry for each row of X is cut along with X, so the search never sees those of the holdout.
Rows that are the training part's may come again. Of others it depends on whose the holdout is:

- One that was taken out of X here: whoever passes X has its rows, so nothing is revealed by saying which of
  them come again, and it costs nothing.
- One that was made before: whether it has these rows is information about it, and is recorded and paid for
  like that of X (`Holdout.check_overlap`).

A part of the search that is fitted already, and stays so in its clones, may have been fitted on all of X. Its
rows are in no table, so a warning says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._notices import warn_user
from sklearn_ada.data.labels import check_groups, n_rows, take_rows
from sklearn_ada.data.tables import GLOBALS, objects_in, tables_in
from sklearn_ada.digest.code import tables_read_by
from sklearn_ada.digest.overlap import has_rows_of, is_in_order_of, is_whole, width_of
from sklearn_ada.digest.rows import row_hashes
from sklearn_ada.exceptions import HoldoutLeakError
from sklearn_ada.holdout.changes import check_apart, check_memory
from sklearn_ada.holdout.holdout import Holdout, Uncopied, session_of
from sklearn_ada.model_selection.parameters import Parameters
from sklearn_ada.model_selection.searches import take_for
from sklearn_ada.model_selection.training_rows import is_shuffled_for

OWNER = "ReusableHoldoutCV.fit"
_OF_SEARCH = {"cv", "study"}  # which hold numbers of rows and scores
_LEAST = 35  # numbers that may be a column of X, or rows of it one after the other: fewer are found by none
_STARTS = re.compile(r"^\w+_init$|^[a-z]+_model$")  # names of what a fit goes on from
_ADVICE = (
    "Rows that a model is trained on, or stopped by, are not to judge it by. Cut those to stop it by from "
    "the training part of each fold, inside its fit: WithValidation(model) does, or early_stopping=True; or "
    "pass rows that are neither in X nor in the holdout."
)


def check_parameters(
    params: FitParams, given: Parameters, X: Any, y: Any, train: NDArray[np.int64], holdout: Holdout
) -> None:
    """Raise `HoldoutLeakError` if rows of the holdout reach a model otherwise than in X.

    Parameters
    ----------
    params : FitParams
        What goes to the search and to its models, cut to the training rows.
    given : Parameters
        Whose search may hold tables, too: in its estimator, and among its candidates.
    X, y : array-like
        All that ``fit`` was passed.
    train : ndarray of int
        Numbers of the training rows.
    holdout : Holdout

    Raises
    ------
    ValueError
        For a generator.
    """
    tables = [
        (place, table)
        for place, table in _tables_beside(params, given.search)
        if n_rows(table) and (GLOBALS not in place or _is_like(table, X))
    ]
    # That weights are no column of a given holdout would be recorded; of another it is free.
    readings = list(_readings(tables, X, None if given.given_holdout is None else len(train)))
    if given.given_holdout is None:
        warn_of_fitted_parts(params, given.search)
    else:
        check_memory(session_of(holdout), [X])  # before it is copied
    if not tables:
        return
    X_train = take_for(X, train, train, given.of_pairs)
    if given.given_holdout is not None:
        _check_with_given(readings, X_train, holdout)
        return
    held, labels = session_of(holdout).data.X, row_hashes(np.asarray(y))
    others = np.delete(labels, train)
    whole = {id(table) for _, table in tables}  # as they were passed
    for place, table in readings:
        # Of words, or of numbers, lists that have some of X's are common, and no rows of it.
        strict = width_of(X) > 1 and id(table) in whole
        is_scaled = is_in_order_of(table, X)
        if is_scaled or has_rows_of(table, held, X_train, strict=strict):
            if GLOBALS not in place or not (is_scaled or has_rows_of(table, X_train)):
                raise _refused(place)
            warn_user(
                f"A function of the search reads a table that has rows of the holdout: {place}. What it "
                "computes from these rows has seen the holdout: compute it in fit, from the X passed there. "
                "Names and sizes of columns may be read, as in X.columns and X.shape."
            )
    for place, table in tables:  # labels of rows that nobody recognises
        if _may_be_rows(table, X) or np.ndim(table) != 1:
            continue
        if _are_labels(table, labels, len(train) + 1) or _are_labels(table, others, len(others) * 0.9):
            raise _refused(place)


def _is_like(table: Any, X: Any) -> bool:
    """Return whether a table has as many columns as X, or all that X has by name."""
    names = list(getattr(X, "columns", ()))
    has_all = bool(names) and set(map(str, names)) <= set(map(str, getattr(table, "columns", ())))
    return width_of(X) > 1 and (has_all or width_of(table) == width_of(X))


def warn_of_fitted_parts(params: FitParams, search: Any) -> None:
    """Warn if a part of a search, or of what is passed beside X, was fitted before and is not fitted anew."""
    for name, value in _beside(params, search):
        if _STARTS.search(name) and value is not None and not _is_aligned(value, params.n):
            found = [(name, value)]
        else:
            fitted_with = _as_fitted_with(value) if name.startswith("search.") else value
            objects = objects_in(fitted_with, name, OWNER, (Uncopied,))
            found = [(place, each) for place, each, _ in objects if _has_learnt(each)]
        for place, each in found[:1]:
            warn_user(
                f"A part of the search was fitted before: {place}, a {type(each).__name__}. If that was "
                "on rows of X, it may have seen the holdout, and the certified score is that of a model "
                "which has. Fit it on X[search.train_indices_], or on rows that are not in X."
            )
            return


def _as_fitted_with(value: Any) -> Any:
    """Return what a search fits: clones of the estimators that it holds, and the rest as it is."""
    if isinstance(value, Mapping):
        return {key: _as_fitted_with(each) for key, each in value.items()}
    if type(value) in {list, tuple}:
        return [_as_fitted_with(each) for each in value]
    if isinstance(value, type) or not hasattr(value, "get_params"):
        return value
    try:
        return clone(value)
    except Exception:  # the search will tell
        return None


def _has_learnt(value: Any) -> bool:
    """Return whether a value is an estimator that is fitted, and whose clone is not."""
    if isinstance(value, type) or not (hasattr(value, "fit") and hasattr(value, "get_params")):
        return False
    try:
        check_is_fitted(value)
        unfitted = clone(value)
    except Exception:  # it is not, or whatever a class of somebody's own raises
        return False
    try:
        check_is_fitted(unfitted)
    except NotFittedError:
        return True
    return False


def _tables_beside(params: FitParams, search: Any) -> Iterator[tuple[str, Any]]:
    """Yield what holds rows beside X: in parameters of ``fit``, and of the search and its estimator."""
    for name, value in _beside(params, search):
        yield from tables_in(value, name, OWNER, (Uncopied,), tables_read_by)


def _beside(params: FitParams, search: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of ``fit``, but groups, and all that a search holds."""
    passed = {**params.of_model, **params.of_search}
    own = {name: value for name, value in getattr(search, "__dict__", {}).items() if name[-1:] != "_"}
    own |= search.get_params(deep=False)
    yield from ((name, value) for name, value in passed.items() if value is not params.groups)
    yield from ((f"search.{name}", value) for name, value in own.items() if name not in _OF_SEARCH)


def _refused(place: str) -> HoldoutLeakError:
    return HoldoutLeakError(f"{_found([place])} Nothing was charged: they are rows of X. {_ADVICE}")


def _are_labels(table: Any, own: NDArray[np.uint64], least: float) -> bool:
    """Return whether labels are those of some rows, of ``least`` of them if there are a few more or less."""
    if not min(least, len(own)) <= n_rows(table) <= 1.1 * len(own):
        return False
    hashes = row_hashes(table)
    if np.array_equal(hashes, own):
        return is_whole(own, own)
    short, long = sorted((hashes, own), key=len)
    is_varied = np.count_nonzero(short[1:] != short[:-1]) >= _LEAST  # sorted labels are alike by chance
    return bool(is_varied and is_whole(short, short) and short.tobytes() in long.tobytes())


def _readings(tables: list[tuple[str, Any]], X: Any, n_aligned: int | None) -> Iterator[tuple[str, Any]]:
    """Yield tables that may be rows, also read with rows and columns exchanged, or as rows laid out flat.

    Numbers by themselves may be a column of X, unless they are the labels or weights of rows: as many as
    ``n_aligned``, or as a table beside them has rows.
    """
    width = width_of(X)
    aligned = {n_aligned, *(n_rows(table) for _, table in tables if width_of(table) > 1)}
    for place, table in tables:
        shape: Any = getattr(table, "shape", ())
        if _may_be_rows(table, X):
            yield place, table
            if len(shape) == 2 and shape[0] == width != shape[1] and not hasattr(table, "tocsr"):
                yield place, np.asarray(table).T
        elif len(shape) in {1, 2} and shape[0] >= _LEAST and shape[0] not in aligned:
            numbers = np.asarray(table).ravel()
            if numbers.dtype.kind == "f" and np.isfinite(numbers).all() and (numbers % 1.0).any():
                yield place, numbers[:, None]
                if len(numbers) % width == 0:
                    yield place, numbers.reshape(-1, width)
                    yield place, numbers.reshape(width, -1).T


def _may_be_rows(table: Any, X: Any) -> bool:
    """Return whether a table has more than one column, or as few as X."""
    return width_of(table) > 1 or width_of(X) == 1


def _check_with_given(tables: list[tuple[str, Any]], X_train: Any, holdout: Holdout) -> None:
    """Compare tables with a holdout that was made before: one symbol for all of them."""
    training = row_hashes(X_train)
    others = [
        (place, table)
        for place, table in tables
        if width_of(table) != width_of(X_train) or not np.isin(row_hashes(table), training).all()
    ]
    if others:
        places, rows = zip(*others, strict=True)
        check_apart(session_of(holdout), rows, f"{_found(places)} {_ADVICE}", X_train)


def _found(places: Sequence[str]) -> str:
    name = re.split(r"[.\[]", places[0].removeprefix("search."))[0]
    where = ", ".join(places[:5])
    return (
        f"The {name!r} parameter of {OWNER} must be without rows of the holdout. Got some in {where} instead."
    )


def router_of(wrapper: Any) -> MetadataRouter:
    """Return how a `ReusableHoldoutCV` routes: it reads ``groups`` and ``ids``, the rest is its search's."""
    own = MetadataRequest(owner=wrapper)
    for name in ("groups", "ids"):
        own.fit.add_request(param=name, alias=True)
    mapping = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner=wrapper).add_self_request(own)
    return router.add(search=wrapper.search, method_mapping=mapping)


@dataclass(frozen=True)
class FitParams:
    """Parameters of one call of ``fit``.

    Without metadata routing all of them go to the search, and all but ``groups`` to the final refit. With it,
    each goes where it was requested.

    Parameters
    ----------
    groups : array-like or None
    of_search, of_model : dict
        What goes to the search, and to the final refit.
    n : int
        Number of rows; parameters of this length are split along with them.
    weighs_scores : bool, default=False
        Whether any of them, such as weights, goes to the search's scorer.
    """

    groups: Any
    of_search: dict[str, Any]
    of_model: dict[str, Any]
    n: int
    weighs_scores: bool = False

    @classmethod
    def of(cls, wrapper: Any, params: dict[str, Any], n: int) -> FitParams:
        """Return what the ``fit`` of a `ReusableHoldoutCV` was passed for ``n`` rows.

        Raises
        ------
        UnsetMetadataPassedError
            With routing, for what is passed but neither requested nor declined.
        TypeError
            With routing, for what nobody asked for.
        """
        of_model = {name: value for name, value in params.items() if name != "groups"}
        if params.get("groups") is not None:
            check_groups(params["groups"], n, OWNER)
        # Folds that take no groups get rows of one group together: passed groups, they would warn of them.
        cv = wrapper.search.get_params(deep=False).get("cv")
        is_ordered = is_shuffled_for(cv) and not isinstance(wrapper.holdout, Holdout)
        of_search = dict(of_model if is_ordered else params)
        weighs_scores = False
        if get_config()["enable_metadata_routing"] and params:
            of_search, of_model = dict(process_routing(wrapper, "fit", **params).search.fit), {}
            if of_search and hasattr(wrapper.search, "get_metadata_routing"):
                routed = process_routing(wrapper.search, "fit", **of_search)
                of_model = dict(routed.estimator.fit)
                weighs_scores = bool(getattr(routed.get("scorer"), "score", None))
        return cls(params.get("groups"), of_search, of_model, n, weighs_scores)

    def take(self, rows: NDArray[Any]) -> FitParams:
        """Return the parameters of some of the rows."""

        def part(params: dict[str, Any]) -> dict[str, Any]:
            return {name: take_rows(v, rows) if _is_aligned(v, self.n) else v for name, v in params.items()}

        groups = None if self.groups is None else take_rows(self.groups, rows)
        return replace(
            self, groups=groups, of_search=part(self.of_search), of_model=part(self.of_model), n=len(rows)
        )

    def of_asking(self) -> dict[str, Any]:
        """Return what goes to a search whose cv takes guesses from whole groups."""
        return self.of_search if self.groups is None else {**self.of_search, "groups": self.groups}


def _is_aligned(value: Any, n: int) -> bool:
    """Return whether a fit parameter has one entry per row, in their order."""
    is_ordered = hasattr(value, "__len__") and not isinstance(value, (str, Mapping, Set, memoryview))
    return is_ordered and n_rows(value) == n
