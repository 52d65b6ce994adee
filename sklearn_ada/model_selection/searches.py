"""One search from its start to its table: how it scores, runs, reports and is read.

Kinds of searches are recognised by their parameters, so no search library is imported. Any other search with
``scoring``, ``cv``, ``refit`` and ``cv_results_`` is taken for a plain one.

**Precomputed kernels and distances.** Of a matrix of pairs of rows, the columns are split with the rows. A
model fitted on some rows takes, for any row, its pairs with those rows. So the training part has neither rows
nor columns of the holdout, and the holdout is the pairs of its rows with the training rows.

**Searches that reveal their winner only.** The search itself runs on validation scores, so no worker ever
sees the holdout. In the end its candidates are fitted on all rows but the holdout's, here compared on it
under seal, and only the number of the best of N is released: one of N symbols, ``ln N`` nats. Its certified
score is one more question, whose interval allows for the choice among N candidates that were all fixed
before.

**Callbacks** of scikit-learn 1.9 and later, such as its progress bar: those of the wrapper are its search's.
A search reports on itself and takes no notice of who runs it. So it gets the callbacks that were set around
it, and where the wrapper itself is fitted by a search that reports, it takes the wrapper's place there. What
callbacks see are training rows: the holdout is not passed to them.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    ParameterSampler,
    PredefinedSplit,
    RandomizedSearchCV,
)
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.parallel import Parallel, delayed

from sklearn_ada._validation import bad_parameter
from sklearn_ada.answer import Answer, population_of
from sklearn_ada.data.labels import own_copy, take_rows
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible
from sklearn_ada.exceptions import BudgetExhaustedError, LedgerError, LedgerUnavailableError
from sklearn_ada.holdout.holdout import Holdout, Uncopied, session_of
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.metrics.mixes import AtMix
from sklearn_ada.model_selection.scorers import HoldoutScorer
from sklearn_ada.model_selection.training_rows import ValidationSplit

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin  # for reusable
    from sklearn.callback import ProgressBar

    _ONLY_ONE = {ProgressBar}  # two of them in one search end in an error of scikit-learn's
except ImportError:  # before 1.9
    _ONLY_ONE = set()

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: there are no callbacks."""


# What scikit-learn sets on an estimator: the callbacks themselves, and the task that it is part of.
_CALLBACKS, _TASK = "_skl_callbacks", "_parent_callback_ctx"

_OF_SEARCH = (
    "max_resources_", "min_resources_", "multimetric_", "n_candidates_", "n_iterations_",
    "n_possible_iterations_", "n_remaining_candidates_", "n_required_iterations_", "n_resources_",
    "n_splits_", "refit_time_",
)  # fmt: skip
"""Fitted attributes of scikit-learn's searches that are the wrapper's too."""


def asking_search(search: Any, recording: RecordingScorer, cv: ValidationSplit) -> Any:
    """Return a copy of the search that asks the holdout about every candidate.

    It stops where no answer can come.
    """
    asking = clone(search).set_params(scoring=recording, cv=cv, refit=False)
    kind = kind_of(search)
    if kind == "optuna":  # whose trials run in threads of this process

        def stop_if_refused(study: Any, trial: Any) -> None:
            if recording.refused:
                study.stop()

        asking.set_params(callbacks=[*(search.callbacks or ()), stop_if_refused])
    elif kind == "halving":  # must choose, so it must refit
        asking.set_params(refit="score")
    elif kind == "bayes":  # must choose too, and its regression breaks down at the first NaN
        recording.raises = True
        asking.set_params(refit="score", error_score="raise")
    return asking


def forget_holdout(asked: Any, search: Any, scoring: Any) -> None:
    """Take out of a fitted search what was put in to ask: it leads to the holdout."""
    for name, value in list(vars(asked).items()):
        if isinstance(value, (RecordingScorer, ValidationSplit)):
            setattr(asked, name, None)
    asked.set_params(scoring=scoring, cv=search.get_params(deep=False)["cv"])
    if kind_of(search) == "optuna":
        asked.set_params(callbacks=search.callbacks)


def masked(results: dict[str, Any], winner: int, value: float) -> dict[str, Any]:
    """Return a search's table with the winner's certified score and no other.

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


_MOST_MODELS = 256

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


_NO_RECORD = -1.0
_NO_LEDGER = -2.0


class RecordingScorer(Uncopied):
    """Score as another scorer does, and say under which number the answer is recorded.

    Attributes
    ----------
    raises : bool
        Whether a candidate without a score ends the search, with the error that says why.
    refused : bool
        Whether the holdout refused a question that was put in this process.
    """

    def __init__(self, scorer: HoldoutScorer) -> None:
        self.scorer = scorer
        self.__name__ = scorer.__name__
        self.raises = False
        self.refused = False

    def __call__(self, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None) -> dict[str, float]:
        """Return ``{"score": value, "record": number}``; what was no question has no number.

        Weights belong to X and y, and say nothing of the holdout.
        """
        try:
            answer = self.scorer.answer(estimator, X, y, searching=True)
        except Exception as error:  # raised here for some candidates, it would lose the whole search
            if self.raises:
                raise
            if isinstance(error, LedgerError):
                return {"score": math.nan, "record": _NO_LEDGER}
            why = f"{type(error).__name__}: {error}"
            about = "No question was put about a candidate, and nothing is certified of it."
            warnings.warn(f"{about} {why}", UserWarning, stacklevel=2)
            return {"score": math.nan, "record": _NO_RECORD}
        if answer is None:
            return {"score": self.scorer.metric.score(estimator, X, y), "record": _NO_RECORD}
        self.refused |= answer.verdict == "refused"
        if self.raises and math.isnan(answer.value):
            reason = f"The search cannot go on without a score for every candidate: {answer.reason}."
            raise BudgetExhaustedError(reason) if answer.verdict == "refused" else ValueError(reason)
        return {"score": answer.value, "record": float(answer.index)}

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata request of the scorer within."""
        return self.scorer.get_metadata_routing()


def certified_columns(
    results: dict[str, Any], holdout: Holdout
) -> tuple[dict[str, Any], list[Answer | None]]:
    """Return the search's results with interval columns, and the answer behind every candidate."""
    recorded = results.get("mean_test_record", np.full(len(results["params"]), math.nan))
    numbers = np.nan_to_num(np.asarray(recorded, dtype=float), nan=_NO_RECORD)
    if (numbers == _NO_LEDGER).any():
        raise LedgerUnavailableError(
            "The ledger could not be used for some candidates, so no winner is chosen. Search again where "
            "every worker can reach it (several machines: ledger='postgresql://...')."
        )
    results.setdefault("mean_test_score", np.full(len(numbers), math.nan))
    answers = [session_of(holdout).recorded_answer(int(number)) for number in numbers]
    table = {key: value for key, value in results.items() if not key.endswith("_record")}
    return {**table, **columns_of(answers)}, answers


def columns_of(answers: Iterable[Answer | None]) -> dict[str, NDArray[Any]]:
    """Return interval columns for a search's results, empty for candidates that were not asked about."""
    cells = (None if a is None else (*a.interval, population_of(a.target or ""), a.verdict) for a in answers)
    rows = [each or (math.nan, math.nan, "", "") for each in cells]
    table = np.array(rows, dtype=object).reshape(-1, len(_COLUMNS))
    return {name: table[:, i].astype(kind) for i, (name, kind) in enumerate(_COLUMNS.items())}


_COLUMNS = {"certified_low": float, "certified_high": float, "certified_target": object, "verdict": object}


def candidates_of(search: Any) -> dict[str, Any]:
    """Return the table of a fitted search, in the shape of ``cv_results_``."""
    if kind_of(search) != "optuna":
        return dict(search.cv_results_)
    trials = search.study_.trials
    attributes = [{} if trial.state.name == "PRUNED" else trial.user_attrs for trial in trials]
    names = sorted({name for each in attributes for name in each if name.startswith(("mean_", "std_"))})
    columns = {name: np.array([each.get(name, np.nan) for each in attributes]) for name in names}
    return {"params": [trial.params for trial in trials], **columns}


def last_round(results: dict[str, Any]) -> NDArray[np.bool_]:
    """Return which candidates may win: those of a halving search's last iteration, else all."""
    rounds = np.asarray(results.get("iter", np.zeros(len(results["params"]))))
    last: NDArray[np.bool_] = rounds == rounds.max(initial=0)
    return last


def n_candidates(search: Any) -> int | None:
    """Return how many candidates are fixed before the first fit; None if unknown."""
    if type(search) is GridSearchCV:
        return len(ParameterGrid(search.param_grid))
    if type(search) is RandomizedSearchCV:
        return len(ParameterSampler(search.param_distributions, search.n_iter))
    return None


def models_before(search: Any) -> list[Any]:
    """Return the search's unfitted model, with what its candidates set that may change its methods.

    These are values other than numbers, in a grid all combinations of them, up to a few hundred.

    Raises
    ------
    ValueError
        As `set_params` does, for a parameter that the model lacks: else the search would come upon it when
        other candidates were fitted.
    """
    own = search.get_params(deep=False)
    name = next((each for each in ("param_grid", "param_distributions") if own.get(each)), None)
    given = own[name] if name else {}
    models = [clone(search.estimator)]
    for values in given if isinstance(given, (list, tuple)) else [given]:
        if not isinstance(values, Mapping):  # whatever it is, the search says so
            continue
        lacking = [key for key in values if key.partition("__")[0] not in models[0].get_params()]
        if lacking:
            clone(search.estimator).set_params(**dict.fromkeys(lacking))
        listed = {key: some for key, each in values.items() if (some := _of_other_kinds(each))}
        for candidate in islice(ParameterGrid(listed), _MOST_MODELS):
            # Of a random search such a combination may never be drawn.
            with contextlib.nullcontext() if name == "param_grid" else contextlib.suppress(ValueError):
                models.append(_set(search.estimator, candidate) if candidate else models[0])
    return models if len(models) == 1 else models[1:]


def _of_other_kinds(values: Any) -> list[Any]:
    """Return the values of a list that are no numbers, or the first; nothing for a distribution."""
    if not isinstance(values, (list, tuple)):
        return list(values[:1]) if isinstance(values, np.ndarray) and values.ndim == 1 else []
    others = [each for each in values if not isinstance(each, (Integral, Real, np.ndarray))]
    return others or list(values[:1])


def surely_lacks(model: Any, methods: tuple[str, ...]) -> bool:
    """Return whether an unfitted model has none of these methods, and will have none when it is fitted.

    Examples
    --------
    >>> from sklearn.ensemble import StackingClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.svm import LinearSVC
    >>> [surely_lacks(model, ("predict_proba",)) for model in (LinearSVC(), LogisticRegression())]
    [True, False]
    >>> surely_lacks(StackingClassifier([("a", LinearSVC())]), ("predict_proba",))  # it depends on its fit
    False
    """
    kind = type(model)
    if hasattr(kind, "__getattr__") or any(callable(getattr(model, name, None)) for name in methods):
        return False
    if not any(hasattr(kind, name) for name in methods):
        return True
    parts = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    steps = parts.get("steps")
    inner = steps[-1][1] if steps else parts.get("estimator")
    if hasattr(inner, "get_params"):
        return surely_lacks(inner, methods)
    return not any(isinstance(part, (list, tuple)) or hasattr(part, "get_params") for part in parts.values())


class Ranking(NamedTuple):
    """A fitted search's table, its scores, and its candidates from the best down.

    Without such scores they are NaN. A search whose ``refit`` is a function has its best by that. Of
    candidates with equal parameters, such as those of several rounds, the first stands for all.
    """

    search: Any
    name: str
    results: dict[str, Any]
    scores: NDArray[np.float64]
    order: list[int]


def ranked(search: Any, name: str) -> Ranking:
    """Return a fitted search's candidates as its mean scores of this name rank them."""
    results = candidates_of(search)
    unknown = np.full(len(results["params"]), np.nan)
    scores = np.asarray(results.get(f"mean_test_{name}", unknown), dtype=float)
    order = np.lexsort((-np.nan_to_num(scores, nan=-np.inf), ~last_round(results))).tolist()
    if callable(search.get_params(deep=False).get("refit")):
        order.insert(0, int(search.best_index_))
    distinct: dict[Any, int] = {}
    for index in order:
        distinct.setdefault(_content(results["params"][index], index), index)
    return Ranking(search, name, results, scores, list(distinct.values()))


def _content(params: dict[str, Any], index: int) -> str | int:
    try:
        return canonical_digest(sorted(params.items()))  # by name: only the order inside a value counts
    except Undigestible:
        return index


def refitted(
    search: Any, candidates: list[dict[str, Any]], X: Any, y: Any, params: dict[str, Any]
) -> list[Any]:
    """Return the search's estimator fitted for each candidate, with the search's ``n_jobs``."""
    n_jobs = search.get_params(deep=False).get("n_jobs")
    fit = delayed(_fitted)
    return list(Parallel(n_jobs=n_jobs)(fit(search.estimator, c, X, y, params) for c in candidates))


def _set(estimator: Any, candidate: dict[str, Any]) -> Any:
    return clone(estimator).set_params(**{key: clone(value, safe=False) for key, value in candidate.items()})


def _fitted(estimator: Any, candidate: dict[str, Any], X: Any, y: Any, params: dict[str, Any]) -> Any:
    model = _set(estimator, candidate)
    model.fit(own_copy(X), y, **params)  # it may work in place, and others are fitted on these rows
    return model  # whatever its fit returns


def own_folds(search: Any) -> Any:
    """Return the cv of a search; splits that can be walked through once only, as a list."""
    cv = search.get_params(deep=False).get("cv")
    return list(cv) if isinstance(cv, Iterator) else cv


def folds_of_training_rows(cv: Any, train: NDArray[np.int64], n: int) -> Any:
    """Return a cv of ``n`` rows for those of them that are for training.

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
        expected = "with splits in cv that keep training and test rows when the holdout is taken out"
        got, fix = f"{len(given)} splits, none of which does", "Choose the holdout yourself: holdout=mask."
        raise bad_parameter("search", "ReusableHoldoutCV", expected, got, fix)
    return left


def unfitted(search: Any, cv: Any) -> Any:
    """Return a clone of a search with this cv, shared if it cannot be copied."""
    if "cv" not in search.get_params(deep=False):
        return clone(search)
    made = clone(copy.copy(search).set_params(cv=None))
    with contextlib.suppress(TypeError):  # a generator, say: a search by itself takes it as it is, too
        cv = clone(cv, safe=False)
    return made.set_params(cv=cv)


def is_of_pairs(search: Any) -> bool:
    """Return whether a search's model takes a kernel or distance matrix as X."""
    return bool(get_tags(search.estimator).input_tags.pairwise)


def take_for(X: Any, rows: NDArray[Any], fitted_on: NDArray[Any], of_pairs: bool) -> Any:
    """Return rows of X as a model takes them that was fitted on ``fitted_on``.

    Examples
    --------
    >>> import numpy as np
    >>> take_for(np.arange(9).reshape(3, 3), [2], [0, 1], True)
    array([[6, 7]])
    """
    part = take_rows(X, rows)
    return part[:, fitted_on] if of_pairs else part


def plain_scoring(metric: Metric) -> Any:
    """Return the plain metric as a search's scoring; with metadata routing one that requests nothing."""
    is_named = metric.scoring in get_scorer_names() if isinstance(metric.scoring, str) else False
    is_named = is_named and not isinstance(metric.measure, AtMix)  # of which scikit-learn has no scorer
    return metric.scoring if is_named and not get_config()["enable_metadata_routing"] else metric.score


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
    """Return whether a function of several scores chooses a search's winner."""
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
    fix = (
        "For multi-metric scoring, the parameter refit must be set to a scorer key; or name the metric to "
        "certify: scoring='accuracy'."
    )
    raise bad_parameter("scoring", "ReusableHoldoutCV", "one metric", scoring, fix)


def score_name(search: Any, metric: Metric) -> tuple[str, Any]:
    """Return the name of the score that ranks a search's candidates, and its scoring.

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
    expected = "with refit= naming the score that ranks its candidates"
    raise bad_parameter("search", "ReusableHoldoutCV", expected, f"refit={refit!r}")


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


@contextlib.contextmanager
def reporting(wrapper: Any, search: Any) -> Iterator[None]:
    """Let a search report to the wrapper's callbacks while it is fitted."""
    before, own = vars(search).get(_CALLBACKS, []), vars(wrapper).get(_CALLBACKS, [])
    kinds = {type(one) for one in before} & _ONLY_ONE
    if own:
        more = (one for one in own if one not in before and type(one) not in kinds)
        search.set_callbacks(*before, *more)
    if _TASK in vars(wrapper):
        setattr(search, _TASK, getattr(wrapper, _TASK))
    try:
        yield
    finally:
        search.__dict__.pop(_TASK, None)
        if own:
            search.set_callbacks(*before)


def hand_on(search: Any, wrapper: Any) -> None:
    """Copy the fitted attributes of a search to the wrapper, and drop earlier ones."""
    for name in _OF_SEARCH:
        wrapper.__dict__.pop(name, None)
        if hasattr(search, name):
            setattr(wrapper, name, getattr(search, name))
