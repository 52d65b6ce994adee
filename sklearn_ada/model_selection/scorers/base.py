"""What all scorers share: which call is a question, and where a search may choose its best.

A scorer sees an estimator and some rows, nothing else. So each fitted model gets one question, at the first
call; the rows passed are where the guess comes from. Every other call (train scores, ``search.score`` on new
rows) returns the plain metric and costs nothing.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, NoReturn

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from sklearn_ada._checks import bad_parameter, check_option
from sklearn_ada._notices import warn_user
from sklearn_ada.exceptions import BudgetExhaustedError, HoldoutLeakError
from sklearn_ada.holdout import (
    Holdout,
    Scoring,
    Session,
    discarded_copy,
    model_digest,
    put_question,
    row_hashes,
    session_of,
    warn_if_vacuous,
)
from sklearn_ada.metrics import Metric, as_metric
from sklearn_ada.model_selection.scorers.callers import NotAScore, check_caller, misused, refusal_of_columns
from sklearn_ada.model_selection.scorers.splitter import ValidationSplit
from sklearn_ada.results import Answer

__all__ = ["HoldoutScorer", "SelectBest"]


class HoldoutScorer(ABC):
    """What all scorers share; use `ThresholdoutScorer` or `StableHoldoutScorer`.

    All state is in the holdout's ledger: copies, clones and pickles of a scorer charge the same one.

    Attributes
    ----------
    cv : ValidationSplit
        For ``cv=`` of a search: fits on one part of X and takes the guess from the rest. Once it has been
        used, only its validation rows are questions.
    select_best : SelectBest
        For ``refit=`` of a search: raises `BudgetExhaustedError` if any candidate has no score, where
        scikit-learn would silently pick the first.
    """

    def __init__(
        self, scoring: Scoring, holdout: Holdout, *, validation: float = 0.25, on_exhausted: str = "nan"
    ) -> None:
        owner = self.__class__.__name__
        if not isinstance(holdout, Holdout):
            kind = type(holdout).__name__  # its content may be the holdout's rows
            raise bad_parameter("holdout", owner, "a Holdout", kind, "Make one: Holdout(X_hold, y_hold).")
        self.metric: Metric = as_metric(scoring)
        self.holdout = holdout
        self.on_exhausted = check_option(on_exhausted, "on_exhausted", owner, ("nan", "raise"))
        self.cv = ValidationSplit(holdout, validation)
        self.round_name: str | None = None
        self.candidates: int | None = None  # of the search that asks
        self.__name__ = f"{owner}_{self.metric.name}"  # displays of learning curves read it
        self._warned = False
        self._sample_weight_request: bool | str | None = False
        self._first_rows = "", 0
        self._clean: set[int] = set()

    @property
    def session(self) -> Session:
        """Rows, policy and ledger of the holdout."""
        return session_of(self.holdout)

    @property
    def select_best(self) -> SelectBest:
        """A callable for ``refit=``: it chooses the best, or raises if a candidate has no score.

        With a function as its ``refit`` a search of scikit-learn has no ``best_score_``: read
        ``cv_results_["mean_test_score"][best_index_]``, and ask for its interval by `Holdout.certify`.
        """
        return SelectBest(holdout=self.holdout)

    def __call__(self, estimator: Any, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Return the holdout's answer about a fitted model, or the plain metric if this is no question.

        Parameters
        ----------
        estimator : fitted estimator
        X, y : array-like
            Rows from which the guess is taken.
        sample_weight : array-like or None
            Belongs to these rows, so it weighs the plain metric only.

        Returns
        -------
        float
            NaN if the holdout refused (or `BudgetExhaustedError`, if ``on_exhausted="raise"``) or failed.
            Where X repeats rows of the holdout, or has other columns, what raises the error once it is read
            as a number: an exception here would be a NaN in a search.
        """
        if y is None:
            raise bad_parameter("y", self.__name__, "the labels of X", None)
        refusal = refusal_of_columns(self, estimator, X)
        if refusal is not None:
            return refusal  # type: ignore[return-value] # an exception would become NaN
        try:
            answer = self.answer(estimator, X, y)
        except HoldoutLeakError as leak:  # charged, so a search must not go on to its next rows
            return NotAScore(leak)  # type: ignore[return-value]
        if answer is None:
            params = {} if sample_weight is None else {"sample_weight": sample_weight}
            return self.metric.score(estimator, X, y, **params)
        if answer.verdict == "refused" and self.on_exhausted == "raise":
            raise BudgetExhaustedError(f"The holdout refused: {answer.reason}.")
        if answer.verdict == "refused":
            warn_user(
                "The holdout refused a question, so this score is NaN, and so are those of later questions "
                f"that are as wide: {answer.reason}. The answers given before stand. on_exhausted='raise' "
                "stops the search instead; holdout.report() says what can still be asked.",
                once=("refused", session_of(self.holdout).fingerprint),
            )
        return answer.value

    def answer(self, estimator: Any, X: Any, y: Any, *, searching: bool = False) -> Answer | None:
        """Ask about a fitted model with a guess from X and y; None if this call is no question.

        Parameters
        ----------
        estimator : fitted estimator
        X, y : array-like
        searching : bool, default=False
            The call is from inside a search that uses `cv`, so rows that may be of either of its parts are
            a question if the model's first. Who runs the search warns of vacuous answers.

        Raises
        ------
        HoldoutLeakError
            If X repeats rows of the holdout, far more than chance allows: such a guess would be the answer.
        """
        check_caller(self, estimator, y)
        origin = self.cv.origin(X, y) if self.cv.registered else "first call"
        if origin == "fit":  # a train score is no surprise
            return None
        if origin == "elsewhere" or (origin == "both" and not searching):
            self._warn_once()
            return None
        model = model_digest(estimator)  # before it predicts anything
        question = self._plan(discarded_copy(estimator), X, y)
        entries = _sum_of_entries(X) if origin == "first call" else 0
        if origin == "first call" and entries not in self._clean:  # a splitter checks its rows itself
            self.holdout.check_overlap(X)
            self._clean.add(entries)
        answer = put_question(
            self.session, question, estimator, model=model, round_name=self.round_name,
            once=origin != "validation", candidates=self.candidates,
        )  # fmt: skip
        if answer is not None and not answer.repeated and not searching:
            warn_if_vacuous(self.session, answer, question)
        if origin == "first call":
            self._check_permuted(model, entries, asked=answer is not None)
        return answer

    def _check_permuted(self, model: str, entries: int, *, asked: bool) -> None:
        """Refuse copies of the first call's rows with a column permuted: their score is no holdout's.

        Subsamples of such copies (``max_samples`` below 1.0) are not recognised.
        """
        if asked:
            self._first_rows = model, entries
        elif self._first_rows == (model, entries):
            raise misused(
                type(self).__name__, "answers one question a model, and cannot score permuted copies of X"
            )

    @abstractmethod
    def _plan(self, estimator: Any, X: Any, y: Any) -> Any:
        """Return the question about this model, its guess taken from X and y."""

    def fresh(self, validation: float) -> HoldoutScorer:
        """Return a scorer with the same settings and a splitter of its own.

        Parameters
        ----------
        validation : float
            Part of the rows that guesses are taken from, in (0, 1).
        """
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.cv, other.round_name = ValidationSplit(self.holdout, validation), None
        other.candidates = None
        return other

    def _warn_once(self) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.__name__} was called with rows that its cv did not set aside for guesses; it returns "
                "the plain metric of those rows, which costs nothing and certifies nothing.",
                UserWarning,
                stacklevel=4,
            )

    @property
    def _score_func(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} answers questions about fitted models; it is no function of labels and "
            "predictions, to be computed at every decision threshold or penalty. Tune with a plain scorer "
            "and certify the tuned model: holdout.certify(...)."
        )

    def _accept_sample_weight(self) -> bool:
        return False

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata request; by default weights are declined, as other rows' say nothing here."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self._sample_weight_request)
        return request

    def set_score_request(self, *, sample_weight: bool | str | None = False) -> HoldoutScorer:
        """Say what metadata routing does with ``sample_weight``, the weights of the rows scored.

        They weigh the plain metric, where a call is no question; the holdout has weights of its own.

        Parameters
        ----------
        sample_weight : bool, str or None, default=False
            True: wanted. False: declined. None: passing it is an error. A string: wanted under that name.

        Returns
        -------
        self
        """
        MetadataRequest(owner=self).score.add_request(param="sample_weight", alias=sample_weight)  # checks it
        self._sample_weight_request = sample_weight
        return self

    def __copy__(self) -> HoldoutScorer:
        return self

    def __deepcopy__(self, memo: object) -> HoldoutScorer:
        return self

    def __sklearn_clone__(self) -> HoldoutScorer:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.metric.name!r}, {self.holdout!r})"


def _sum_of_entries(X: Any) -> int:
    """Return a number that is the same whatever the order within each column, and hardly else."""
    if isinstance(X, np.ndarray) and X.dtype == np.float64:  # every model of a search pays for this
        return int(np.sum(np.ascontiguousarray(X).view(np.uint64), dtype=np.uint64))
    return int(np.sum(row_hashes(X), dtype=np.uint64))


class SelectBest:
    """Choose the best candidate of a finished search, or raise: for ``refit=``.

    Parameters
    ----------
    name : str, default="score"
        Which score to go by; ``select_best.by("acc")`` where ``scoring`` is a dict.
    holdout : Holdout or None, default=None
        Whose ledger says why a candidate has no score.
    """

    def __init__(self, name: str = "score", holdout: Holdout | None = None) -> None:
        self.name = name
        self.holdout = holdout

    def by(self, name: str) -> SelectBest:
        """Return a selector that goes by another score of a dict."""
        return SelectBest(name, self.holdout)

    def __call__(self, cv_results: dict[str, Any]) -> int:
        """Return the index of the best candidate.

        Raises
        ------
        BudgetExhaustedError
            If a candidate has no score because the holdout refused it.
        ValueError
            If a candidate has none because its model or the metric failed; nothing is exhausted then.
        """
        column = f"mean_test_{self.name}"
        if column not in cv_results:
            names = sorted(key[10:] for key in cv_results if key.startswith("mean_test_"))
            raise bad_parameter("name", "select_best.by", f"one of {names}", self.name)
        scores = np.asarray(cv_results[column], dtype=float)
        answered = int(np.isfinite(scores).sum())
        if answered < len(scores):
            raise self._without_score(answered, len(scores))
        return int(np.argmax(scores))

    def _without_score(self, answered: int, size: int) -> Exception:
        """Return the error for candidates without a score, as the ledger's last records tell why."""
        answers = () if self.holdout is None else self.holdout.report().answers[-size:]
        without = [answer for _, answer in answers if not answer.answered]
        refused = [answer for answer in without if answer.verdict == "refused"]
        told = f"Only {answered} of {size} candidates were answered"
        if refused or self.holdout is None:
            reason = f" ({refused[0].reason})" if refused else ", or their models failed"
            return BudgetExhaustedError(
                f"{told}; the rest were refused by the holdout{reason}. No winner is chosen, and what was "
                "answered stays certified. Look at holdout.report(); search fewer candidates, add fresh rows "
                "(holdout.top_up), or take rows that nobody has asked about."
            )
        reason = f" ({without[0].reason})" if without else " before the holdout was asked"
        return ValueError(
            f"{told}; the models of the rest failed{reason}. Nothing is exhausted: holdout.remaining() says "
            "what is left. Mend the model, or leave these candidates out: some models fail on rows with NaN."
        )

    def __repr__(self) -> str:
        return "select_best" if self.name == "score" else f"select_best.by({self.name!r})"
