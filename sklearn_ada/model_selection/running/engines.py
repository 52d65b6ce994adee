"""What differs between kinds of searches: how they are told what to score, and how their table is read.

Kinds are known by their parameters, so no search library is imported. Any other search with ``scoring``,
``cv``, ``refit`` and ``cv_results_`` is taken for a plain one.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sklearn_ada._checks import bad_parameter
from sklearn_ada.model_selection.running.pairs import is_of_pairs
from sklearn_ada.model_selection.running.recording import RecordingScorer
from sklearn_ada.model_selection.scorers.splitter import ValidationSplit
from sklearn_ada.model_selection.wrapper import Wrapper

__all__ = ["candidates_of", "check_search", "keeps_model", "last_round", "told_to_ask", "told_to_forget"]

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
