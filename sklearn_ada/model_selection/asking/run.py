"""What one fit works with once its holdout is set aside, and what it finds."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.digest import Undigestible, canonical_digest
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.holdout import (
    Guess,
    MedianSettings,
    Session,
    model_digest,
    plan_question,
    put_question,
    session_of,
)
from sklearn_ada.metrics import Metric, take_rows
from sklearn_ada.model_selection.running.candidates import refitted
from sklearn_ada.model_selection.running.metadata import FitParams
from sklearn_ada.model_selection.running.pairs import is_of_pairs, take_for
from sklearn_ada.model_selection.wrapper import Wrapper
from sklearn_ada.results import Answer

__all__ = ["Run", "Winner"]


@dataclass
class Run:
    """One fit of a `ReusableHoldoutCV`, after its holdout was set aside.

    Parameters
    ----------
    wrapper : ReusableHoldoutCV
    X, y : array-like
        The training rows: all but the holdout's.
    params : FitParams
        What ``fit`` was passed beside them.
    metric : Metric
        What is certified.
    median : MedianSettings or None
        How, if by a stable median.
    cv : splitter or None
        Of the search, for the training rows.
    reporting : callable
        Takes a search and returns a context in which it reports to the callbacks set on the wrapper.
    """

    wrapper: Wrapper
    X: Any
    y: Any
    params: FitParams
    metric: Metric
    median: MedianSettings | None
    cv: Any
    reporting: Callable[[Any], AbstractContextManager[None]]
    digests: dict[int, str] = field(default_factory=dict)  # of the models asked about, by their records

    @property
    def session(self) -> Session:
        """The session of the holdout."""
        return session_of(self.wrapper.holdout_)

    @property
    def of_pairs(self) -> bool:
        """Whether X is a kernel or distance matrix."""
        return is_of_pairs(self.wrapper.search)

    @cached_property
    def key(self) -> str:
        """A digest of the search and the rows: run again, its questions are the same round."""
        wrapper = self.wrapper
        try:
            how = str(wrapper.mechanism)
            asked = (wrapper.ask, wrapper.reveal, wrapper.validation, how, self.metric.describe())
            return canonical_digest((wrapper.search, self.X, np.asarray(self.y), *asked))
        except Undigestible:
            return uuid.uuid4().hex

    def fit_of_rows(self, candidate: dict[str, Any]) -> Callable[[NDArray[Any]], Any]:
        """Return a function that fits a candidate on the rows of given numbers, with the fit parameters."""

        def fit(rows: NDArray[Any]) -> Any:
            part = take_for(self.X, rows, rows, self.of_pairs), take_rows(self.y, rows)
            return refitted(self.wrapper.search, [candidate], *part, self.params.take(rows).of_model)[0]

        return fit

    def refit(self, candidates: list[dict[str, Any]]) -> list[Any]:
        """Return the models of some candidates, fitted on all training rows."""
        return refitted(self.wrapper.search, candidates, self.X, self.y, self.params.of_model)

    def can_ask_about(self, model: Any) -> bool:
        """Return whether a model has one of the methods that the metric takes."""
        return any(callable(getattr(model, method, None)) for method in self.metric.methods or ("predict",))

    def certify(self, model: Any, guess: Guess | None, metric: Metric, round_name: str | None) -> Answer:
        """Ask for the metric of one refitted model.

        Raises
        ------
        BudgetExhaustedError
            If the holdout refuses.
        """
        digest = model_digest(model)
        question = plan_question(self.session, model, metric, "certify", guess, self.median, fitted=True)
        answer = put_question(self.session, question, model, model=digest, round_name=round_name)
        assert answer is not None  # None is for once=True only
        if answer.verdict == "refused":
            raise BudgetExhaustedError(f"The winner could not be certified: {answer.reason}.")
        self.digests[answer.index] = digest
        return answer


@dataclass
class Winner:
    """The winner of a search, and what the holdout said of it.

    Parameters
    ----------
    search : fitted search
    results : dict
        Its table, with the columns of certified intervals.
    index : int
        Number of the winner in it.
    model : fitted estimator or None
        Refitted on all training rows; None if no model is kept.
    answers : list of Answer
        All that were given, in the order in which they were asked for.
    answer : Answer or None
        The winner's; None if nothing was asked.
    metric : Metric or None
        What it is of, as validation rows have tuned it.
    unasked : str, default=""
        Why nothing was asked.
    """

    search: Any
    results: dict[str, Any]
    index: int
    model: Any
    answers: list[Answer]
    answer: Answer | None
    metric: Metric | None = None
    unasked: str = ""

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the winner."""
        params: dict[str, Any] = self.results["params"][self.index]
        return params
