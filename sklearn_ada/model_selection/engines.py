"""One search from its start to its table: engines, candidates, guesses, and the answers behind the scores.

Precomputed kernels and distances: of a matrix of pairs of rows, the columns are split with the rows.

A model fitted on some rows takes, for any row, its pairs with those rows. So the training part has neither
rows nor columns of the holdout, and the holdout is the pairs of its rows with the training rows.

What the rooms of model selection read of the `ReusableHoldoutCV` that is fitted.

What differs between kinds of searches: how they are told what to score, and how their table is read.

Kinds are known by their parameters, so no search library is imported. Any other search with ``scoring``,
``cv``, ``refit`` and ``cv_results_`` is taken for a plain one.

What can be read off a search before and after it runs.

A search's own splits, which are of the rows that ``fit`` is passed, as splits of the training rows.

Searches that reveal their winner only.

The search itself runs on validation scores, so no worker ever sees the holdout. In the end its candidates are
fitted on all rows but the holdout's, here compared on it under seal, and only the number of the best of N is
released: one of N symbols, ``ln N`` nats. Its certified score is one more question, whose interval allows for
the choice among N candidates that were all fixed before.

What ``fit`` is passed beside X and y: split along with the rows, and handed to whom it belongs.

Which of a search's own scores it goes by, and what that is a score of.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    ParameterSampler,
    PredefinedSplit,
    RandomizedSearchCV,
)
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed

from sklearn_ada._validation import bad_parameter
from sklearn_ada.answer import Answer
from sklearn_ada.data.labels import n_rows, own_copy, take_rows
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection.scorers import HoldoutScorer, RecordingScorer, ValidationSplit


def is_of_pairs(search: Any) -> bool:
    """Return whether a search's model takes a kernel or distance matrix as X."""
    return bool(get_tags(search.estimator).input_tags.pairwise)


def check_pairs(X: Any, n_columns: int | None) -> None:
    """Raise ValueError unless X is an array or a sparse matrix with as many columns as rows.

    A holdout that is given must have as many columns, ``n_columns``; None if none is given.
    """
    shape = getattr(X, "shape", None)
    if shape is None or hasattr(X, "iloc"):
        raise bad_parameter(
            "X", "ReusableHoldoutCV.fit", "an array or a sparse matrix where the model is of pairs of rows",
            type(X).__name__, "Its rows and its columns are split: pass np.asarray(X).",
        )  # fmt: skip
    if len(shape) != 2 or shape[0] != shape[1]:
        raise bad_parameter(
            "X", "ReusableHoldoutCV.fit", "a square matrix where the model is of pairs of rows",
            f"an array of shape {tuple(shape)}", "Pass the kernel or the distance of every row to every row.",
        )  # fmt: skip
    if n_columns is not None and shape[0] != n_columns:
        raise bad_parameter(
            "X", "ReusableHoldoutCV.fit", f"of {n_columns} columns, as its holdout is", f"{shape[0]} columns",
            "The holdout's are the pairs of its rows with the training rows.",
        )  # fmt: skip


def take_for(X: Any, rows: NDArray[Any], fitted_on: NDArray[Any], of_pairs: bool) -> Any:
    """Return some rows of X as a model takes them that was fitted on the rows ``fitted_on``.

    Examples
    --------
    >>> import numpy as np
    >>> take_for(np.arange(9).reshape(3, 3), [2], [0, 1], True)
    array([[6, 7]])
    """
    part = take_rows(X, rows)
    return part[:, fitted_on] if of_pairs else part


class Wrapper:
    """The parameters of a `ReusableHoldoutCV`, as its users set them; checked by `setting_up.parameters`."""

    search: Any
    scoring: Any
    holdout: Any
    ids: str | None
    mechanism: Any
    ask: str | int
    reveal: str
    validation: float
    one_standard_error: Any
    confidence_level: float
    tolerance: float | None
    expected_questions: int | None
    ledger: str | os.PathLike[str] | None
    missing: str
    answers: str
    seal_key: Any
    random_state: int | None
    who: str | None
    verbose: int
    holdout_: Any


_MARKS = {"halving": "aggressive_elimination", "optuna": "enable_pruning", "bayes": "optimizer_kwargs"}


def kind_of(search: Any) -> str:
    """Return "halving", "optuna", "bayes" or "plain"."""
    own = search.get_params(deep=False)
    return next((kind for kind, mark in _MARKS.items() if mark in own), "plain")


def has_own_cv(search: Any) -> bool:
    """Return whether the search was given another cv than its class has by itself."""
    given = search.get_params(deep=False).get("cv")
    by_itself = inspect.signature(type(search)).parameters.get("cv")
    return given is not None and (by_itself is None or given != by_itself.default)


def keeps_model(wrapper: Wrapper) -> bool:
    """Return whether there is a best model in the end: not for ``refit=False``, unless a metric is named."""
    return wrapper.scoring is not None or wrapper.search.get_params(deep=False).get("refit") is not False


def check_search(search: Any, ask: str | int) -> None:
    """Raise ValueError for a search whose candidates cannot be asked about."""
    own = search.get_params(deep=False)
    if ask == "candidates" and is_of_pairs(search):
        raise bad_parameter(
            "search", "ReusableHoldoutCV", "over a model of features when ask='candidates', not of a kernel "
            "or distance matrix", search.estimator,
            "Candidates are fitted on a part of the rows, and the holdout has its pairs with all of them. "
            "Use ask='winner'.",
        )  # fmt: skip
    if ask == "candidates" and has_own_cv(search):
        raise bad_parameter(
            "search", "ReusableHoldoutCV", "without a cv of its own when ask='candidates'",
            f"cv={own['cv']!r}",
            "Leave its cv out: one validation part of the training rows takes its place. Or use "
            "ask='winner', which keeps the search's cross-validation.",
        )  # fmt: skip
    if ask == "candidates" and callable(own.get("refit")):
        raise bad_parameter(
            "search", "ReusableHoldoutCV", "without a function as refit when ask='candidates'",
            f"refit={own['refit']!r}",
            "Certified scores choose the winner. Use one_standard_error=, or ask='winner', which certifies "
            "what the function chooses.",
        )  # fmt: skip
    if ask == "candidates" and own.get("enable_pruning"):
        raise bad_parameter(
            "search", "ReusableHoldoutCV", "without pruning when ask='candidates'", "enable_pruning=True",
            "Every step of every model would be a question. Use enable_pruning=False, or ask='winner', which "
            "prunes by the search's own cross-validation.",
        )  # fmt: skip
    if own.get("study") is not None and own["study"].trials:
        raise bad_parameter(
            "search", "ReusableHoldoutCV", "with a study that is new", f"{len(own['study'].trials)} trials",
            "Earlier trials may be of other rows, and were not asked about.",
        )  # fmt: skip


def told_to_ask(search: Any, recording: RecordingScorer, cv: ValidationSplit) -> Any:
    """Return a copy of the search that asks about every candidate, and stops where no answer can come."""
    asking = clone(search).set_params(scoring=recording, cv=cv, refit=False)
    kind = kind_of(search)
    if kind == "optuna":
        asking.set_params(callbacks=[*(search.callbacks or ()), _StopIfRefused(recording)])
    elif kind == "halving":  # must choose, so it must refit
        asking.set_params(refit="score")
    elif kind == "bayes":  # must choose too, and its regression breaks down at the first NaN
        recording.raises = True
        asking.set_params(refit="score", error_score="raise")
    return asking


def told_to_forget(asked: Any, search: Any, scoring: Any) -> None:
    """Take out of a fitted search what was put in to ask: it leads to the holdout."""
    for name, value in list(vars(asked).items()):
        if isinstance(value, (RecordingScorer, ValidationSplit)):
            setattr(asked, name, None)
    asked.set_params(scoring=scoring, cv=search.get_params(deep=False)["cv"])
    if kind_of(search) == "optuna":
        asked.set_params(callbacks=search.callbacks)


def candidates_of(search: Any) -> dict[str, Any]:
    """Return the table of a fitted search, in the shape of ``cv_results_``."""
    if kind_of(search) != "optuna":
        return dict(search.cv_results_)
    trials = search.study_.trials
    told = [{} if trial.state.name == "PRUNED" else trial.user_attrs for trial in trials]
    names = sorted({name for attributes in told for name in attributes if name.startswith(("mean_", "std_"))})
    columns = {name: np.array([attributes.get(name, np.nan) for attributes in told]) for name in names}
    return {"params": [trial.params for trial in trials], **columns}


def last_round(results: dict[str, Any]) -> NDArray[np.bool_]:
    """Return which candidates may win: those of a halving search's last iteration, else all."""
    size = len(results["params"])
    rounds = np.asarray(results.get("iter", np.zeros(size)))
    last: NDArray[np.bool_] = rounds == rounds.max(initial=0)
    return last


class _StopIfRefused:
    """Ends a study at the first refusal; its trials run in threads of this process."""

    def __init__(self, recording: RecordingScorer) -> None:
        self.recording = recording

    def __call__(self, study: Any, trial: Any) -> None:
        if self.recording.refused:
            study.stop()


def n_candidates(search: Any) -> int | None:
    """Return how many candidates are fixed before the first is fitted, or None if that is not known."""
    if type(search) is GridSearchCV:
        return len(ParameterGrid(search.param_grid))
    if type(search) is RandomizedSearchCV:
        return len(ParameterSampler(search.param_distributions, search.n_iter))
    return None


def ranked(search: Any, name: str) -> tuple[dict[str, Any], NDArray[np.float64], list[int]]:
    """Return a fitted search's table, its mean scores of this name, and its candidates from the best down.

    Without such scores they are NaN. A search whose ``refit`` is a function has its best by that. Of
    candidates with equal parameters, such as those of several rounds, the first stands for all.
    """
    results = candidates_of(search)
    unknown = np.full(len(results["params"]), np.nan)
    scores = np.asarray(results.get(f"mean_test_{name}", unknown), dtype=float)
    order = np.lexsort((-np.nan_to_num(scores, nan=-np.inf), ~last_round(results))).tolist()
    if callable(search.get_params(deep=False).get("refit")):
        order.insert(0, int(search.best_index_))
    distinct: dict[Any, int] = {}
    for index in order:
        distinct.setdefault(_content(results["params"][index], index), index)
    return results, scores, list(distinct.values())


def _content(params: dict[str, Any], index: int) -> str | int:
    try:
        return canonical_digest(sorted(params.items()))  # by name: only the order inside a value counts
    except Undigestible:
        return index


def columns_of(answers: list[Answer], chosen: list[int], size: int) -> dict[str, np.ndarray]:
    """Return interval columns for a search's results, empty for candidates that were not asked about."""
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    target, verdict = np.full(size, "", dtype=object), np.full(size, "", dtype=object)
    for answer, index in zip(answers, chosen, strict=True):
        (low[index], high[index]), verdict[index] = answer.interval, answer.verdict
        target[index] = answer.target or ""
    return {
        "certified_low": low, "certified_high": high, "certified_target": target, "verdict": verdict
    }  # fmt: skip


def refitted(
    search: Any, candidates: list[dict[str, Any]], X: Any, y: Any, params: dict[str, Any]
) -> list[Any]:
    """Return the search's estimator fitted for each of some candidates, by as many jobs as the search has."""
    n_jobs = search.get_params(deep=False).get("n_jobs")
    fit = delayed(_fitted)
    return list(Parallel(n_jobs=n_jobs)(fit(search.estimator, c, X, y, params) for c in candidates))


def _fitted(estimator: Any, candidate: dict[str, Any], X: Any, y: Any, params: dict[str, Any]) -> Any:
    values = {key: clone(value, safe=False) for key, value in candidate.items()}
    model = clone(estimator).set_params(**values)
    model.fit(own_copy(X), y, **params)  # it may work in place, and others are fitted on these rows
    return model  # whatever its fit returns


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


def check_reveal(wrapper: Wrapper) -> None:
    """Raise ValueError for ``reveal="winner"`` where it cannot be kept."""
    if wrapper.reveal != "winner":
        return
    owner = "ReusableHoldoutCV"
    name = type(wrapper.search).__name__
    if wrapper.ask == "candidates" and n_candidates(wrapper.search) is None:
        raise bad_parameter(
            "reveal", owner, f"'all' for {name} when ask='candidates'", wrapper.reveal,
            "Its next candidates would depend on the scores of the last. Use ask='winner' or an integer, or "
            "GridSearchCV or RandomizedSearchCV.",
        )  # fmt: skip
    if wrapper.mechanism == "ladder" or isinstance(wrapper.mechanism, HoldoutScorer):
        raise bad_parameter(
            "mechanism", owner, "'auto', 'thresholdout' or 'stable_median' when reveal='winner'",
            wrapper.mechanism, "It reveals more than the winner.",
        )  # fmt: skip
    if wrapper.one_standard_error is not False:
        raise bad_parameter(
            "one_standard_error", owner, "False when reveal='winner'", wrapper.one_standard_error,
            "It compares scores that are not revealed.",
        )  # fmt: skip


def told_to_validate(search: Any, scoring: Any, cv: ValidationSplit) -> Any:
    """Return a copy of the search that scores its candidates on validation rows."""
    return clone(search).set_params(scoring=scoring, cv=cv, refit=False)


def masked(results: dict[str, Any], winner: int, value: float) -> dict[str, Any]:
    """Return a search's table in which the winner has its certified score and no other has any.

    The validation scores, which are no secret, move to a column of their own.
    """
    table = {key: column for key, column in results.items() if "_test_" not in key}
    size = len(results["params"])
    scores = np.full(size, np.nan)
    scores[winner] = value
    table["validation_score"] = results["mean_test_score"]
    table["split0_test_score"] = table["mean_test_score"] = scores
    table["std_test_score"] = np.where(np.isnan(scores), np.nan, 0.0)
    table["rank_test_score"] = np.where(np.arange(size) == winner, 1, 2).astype(np.int32)
    return table


def router_of(wrapper: Wrapper) -> MetadataRouter:
    """Return how a `ReusableHoldoutCV` routes: it reads ``groups`` and ``ids``, the rest is its search's."""
    own = MetadataRequest(owner=wrapper)
    own.fit.add_request(param="groups", alias=True)
    own.fit.add_request(param="ids", alias=True)
    mapping = MethodMapping().add(caller="fit", callee="fit")
    return (
        MetadataRouter(owner=wrapper).add_self_request(own).add(search=wrapper.search, method_mapping=mapping)
    )


class FitParams:
    """Parameters of one call of ``fit``.

    Without metadata routing all of them go to the search, and all but ``groups`` to the final refit. With it,
    each goes where it was requested.

    Parameters
    ----------
    wrapper : ReusableHoldoutCV
    params : dict
    n : int
        Number of rows; parameters of this length are split along with them.

    Raises
    ------
    UnsetMetadataPassedError
        With routing, for what is passed but neither requested nor declined.
    TypeError
        With routing, for what nobody asked for.
    """

    def __init__(self, wrapper: Wrapper, params: dict[str, Any], n: int) -> None:
        self.groups = params.get("groups")
        self.of_search, self.of_model = dict(params), dict(params)
        self.of_model.pop("groups", None)
        if get_config()["enable_metadata_routing"] and params:
            self.of_search = dict(process_routing(wrapper, "fit", **params).search.fit)
            self.of_model = {}
            if self.of_search and hasattr(wrapper.search, "get_metadata_routing"):
                self.of_model = dict(process_routing(wrapper.search, "fit", **self.of_search).estimator.fit)
        self._n = n

    def take(self, rows: NDArray[Any]) -> FitParams:
        """Return the parameters of some of the rows."""
        part = object.__new__(FitParams)
        part.groups = None if self.groups is None else take_rows(self.groups, rows)
        part.of_search = self._taken(self.of_search, rows)
        part.of_model = self._taken(self.of_model, rows)
        part._n = len(rows)
        return part

    def of_asking(self) -> dict[str, Any]:
        """Return what goes to a search whose cv takes guesses from whole groups."""
        return self.of_search if self.groups is None else {**self.of_search, "groups": self.groups}

    def _taken(self, params: dict[str, Any], rows: NDArray[Any]) -> dict[str, Any]:
        return {name: take_rows(v, rows) if _is_aligned(v, self._n) else v for name, v in params.items()}


def _is_aligned(value: Any, n: int) -> bool:
    """Return whether a fit parameter has one entry per row."""
    return hasattr(value, "__len__") and not isinstance(value, (str, dict)) and n_rows(value) == n


_OWNER = "ReusableHoldoutCV"


def plain_scoring(metric: Metric) -> Any:
    """Return the plain metric as a search's scoring; with metadata routing one that requests nothing."""
    is_routing = get_config()["enable_metadata_routing"]
    return metric.scoring if isinstance(metric.scoring, str) and not is_routing else metric.score


def scores_otherwise(search: Any, scoring: Any) -> bool:
    """Return whether a search without scoring would not rank its candidates by this one."""
    own = search.get_params(deep=False).get("scoring")
    return own is None and (scoring is not None or not hasattr(search.estimator, "score"))


def own_scorings(search: Any) -> list[Any]:
    """Return every scoring that a search computes."""
    scoring = search.get_params(deep=False).get("scoring")
    named = _named(scoring)
    return [scoring] if named is None else list(named.values())


def chooses_by_several(search: Any) -> bool:
    """Return whether a search's winner is chosen by a function of several scores, of which it names none."""
    own = search.get_params(deep=False)
    return _named(own.get("scoring")) is not None and callable(own.get("refit"))


def has_usual_metric(search: Any) -> bool:
    """Return whether a search names its metric, or its model has one by itself.

    Of what is neither a classifier nor a regressor, such as a clustering, the score is none of labels.
    """
    named = search.get_params(deep=False).get("scoring") is not None
    return named or get_tags(search.estimator).estimator_type in ("classifier", "regressor", None)


def metric_of(search: Any) -> Any:
    """Return the scoring of a search; of one with several scores that which it refits by.

    Raises
    ------
    ValueError
        If it has several and names none.
    """
    own = search.get_params(deep=False)
    scoring, refit = own.get("scoring"), own.get("refit")
    named = _named(scoring)
    if callable(scoring) and isinstance(refit, str):
        return OneOfSeveral(scoring, refit)
    if named is None:
        return scoring
    if isinstance(refit, str) and refit in named:
        return named[refit]
    raise bad_parameter(
        "scoring", _OWNER, "one metric", scoring,
        "For multi-metric scoring, the parameter refit must be set to a scorer key; or name the metric to "
        "certify: scoring='accuracy'.",
    )  # fmt: skip


def score_name(search: Any, metric: Metric) -> tuple[str, Any]:
    """Return the name of the score that a search's candidates are ranked by, and its scoring.

    Raises
    ------
    ValueError
        If the search has several scores, none of which is that of ``refit`` or of the metric.
    """
    own = search.get_params(deep=False)
    scoring, refit = own.get("scoring"), own.get("refit")
    named = _named(scoring)
    if named is None:
        is_named = isinstance(refit, str) and callable(scoring)  # a callable that returns several
        return (refit, None) if is_named else ("score", scoring)
    if isinstance(refit, str) and refit in named:
        return refit, named[refit]
    for name, one in named.items():
        if one == metric or one == metric.scoring:
            return name, one
    raise bad_parameter(
        "search", _OWNER, "with refit= naming the score that ranks its candidates", f"refit={refit!r}",
    )  # fmt: skip


class OneOfSeveral:
    """The score of this name, of a function that returns a dict of several.

    Examples
    --------
    >>> OneOfSeveral(lambda estimator, X, y: {"a": 0.5, "b": 0.7}, "b")(None, None, None)
    0.7
    """

    def __init__(self, scoring: Any, name: str) -> None:
        self.scoring = scoring
        self.name = name
        self.__name__ = f"{getattr(scoring, '__name__', type(scoring).__name__)}[{name!r}]"

    def __call__(self, estimator: Any, X: Any, y: Any, **params: Any) -> Any:
        """Return this one of the scores."""
        return self.scoring(estimator, X, y, **params)[self.name]


def _named(scoring: Any) -> dict[str, Any] | None:
    if isinstance(scoring, dict):
        return scoring
    return {name: name for name in scoring} if isinstance(scoring, (list, tuple, set)) else None
