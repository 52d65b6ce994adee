"""Drop-in scorers: what a search reads of a model is an answer of the holdout.

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

from sklearn_ada._checks import bad_parameter, check_option, check_real
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.holdout import (
    Guess,
    Holdout,
    MedianSettings,
    guess_from_rows,
    median_guess_from_rows,
    model_digest,
)
from sklearn_ada.holdout.data import content_digest
from sklearn_ada.metrics import Metric, as_metric
from sklearn_ada.model_selection.splitter import ValidationSplit
from sklearn_ada.results import Answer

__all__ = ["HoldoutScorer", "SelectBest", "StableHoldoutScorer", "ThresholdoutScorer"]


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
        self, scoring: Any, holdout: Holdout, *, validation: float = 0.25, on_exhausted: str = "nan"
    ) -> None:
        owner = self.__class__.__name__
        if not isinstance(holdout, Holdout):
            raise bad_parameter("holdout", owner, "a Holdout", holdout, "Make one: Holdout(X_hold, y_hold).")
        self.metric: Metric = as_metric(scoring)
        self.holdout = holdout
        self.on_exhausted = check_option(on_exhausted, "on_exhausted", owner, ("nan", "raise"))
        self.cv = ValidationSplit(holdout, validation)
        self.round_name: str | None = None
        self.__name__ = f"{owner}_{self.metric.name}"  # displays of learning curves read it
        self._warned = False

    @property
    def select_best(self) -> SelectBest:
        """A callable for ``refit=``."""
        return SelectBest()

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
        """
        if y is None:
            raise bad_parameter("y", self.__name__, "the labels of X", None)
        answer = self.answer(estimator, X, y)
        if answer is None:
            params = {} if sample_weight is None else {"sample_weight": sample_weight}
            return self.metric.score(estimator, X, y, **params)
        if answer.verdict == "refused" and self.on_exhausted == "raise":
            raise BudgetExhaustedError(f"The holdout refused: {answer.reason}.")
        return answer.value

    def answer(self, estimator: Any, X: Any, y: Any) -> Answer | None:
        """Ask about a fitted model with a guess from X and y; None if this call is no question."""
        if self.cv.registered and content_digest(X, y) not in self.cv.registered:
            self._warn_once()
            return None
        model = model_digest(estimator)  # before it predicts anything
        question = self._plan(estimator, X, y)
        return self.holdout.put(
            question, estimator, model=model, round_name=self.round_name, once=not self.cv.registered
        )

    @abstractmethod
    def _plan(self, estimator: Any, X: Any, y: Any) -> Any:
        """Return the question about this model, its guess taken from X and y."""

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
            f"{type(self).__name__} answers questions about fitted models; it cannot be asked at every "
            "decision threshold. Tune the threshold with a plain scorer and certify the tuned model: "
            "holdout.certify(...)."
        )

    def _accept_sample_weight(self) -> bool:
        return False

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata request: none, as the weights of other rows say nothing of the holdout."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=False)
        return request

    def __copy__(self) -> HoldoutScorer:
        return self

    def __deepcopy__(self, memo: object) -> HoldoutScorer:
        return self

    def __sklearn_clone__(self) -> HoldoutScorer:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.metric.name!r}, {self.holdout!r})"


class ThresholdoutScorer(HoldoutScorer):
    """Guess, compare, correct: the holdout speaks up only where the guess is wrong.

    The metric on the X and y that the search passes is the guess. If the holdout's value is within the
    threshold of it, the guess itself is returned; if not, the middle of the cell in which the holdout's
    value lies. Each answer is certified by description length together with all others of its ledger
    (Dwork et al., Science 2015 and NIPS 2015; theorem in `sklearn_ada.guarantees.description_length`).

    Parameters
    ----------
    scoring : str, callable or Metric
        A mean of bounded scores, a ROC AUC, a per-class mean or a ratio.
    holdout : Holdout
    threshold : float or "auto", default="auto"
        Half width of a cell, in units of the metric. "auto" chooses it from the sizes of guess and holdout
        and the number of questions expected.
    noise : {"none"}, default="none"
        Answers are exact up to their cell.
    validation : float, default=0.25
        Part of X that `cv` takes guesses from.
    on_exhausted : {"nan", "raise"}, default="nan"
        What a refusal does inside a search.

    Raises
    ------
    ValueError
        If the metric has no interval of its own: use `StableHoldoutScorer`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_ada import Holdout
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> holdout = Holdout(X[300:], y[300:], random_state=1)
    >>> scorer = ThresholdoutScorer("accuracy", holdout)
    >>> grid = {"max_depth": [1, 3, 5]}
    >>> search = GridSearchCV(
    ...     DecisionTreeClassifier(random_state=0), grid, scoring=scorer, cv=scorer.cv,
    ...     refit=scorer.select_best,
    ... ).fit(X[:300], y[:300])
    >>> holdout.report().asked
    {'check': 3, 'certify': 0}
    """

    def __init__(
        self,
        scoring: Any,
        holdout: Holdout,
        *,
        threshold: float | str = "auto",
        noise: str = "none",
        validation: float = 0.25,
        on_exhausted: str = "nan",
    ) -> None:
        super().__init__(scoring, holdout, validation=validation, on_exhausted=on_exhausted)
        check_option(noise, "noise", "ThresholdoutScorer", ("none",))
        low, high = self.metric.bounds  # raises if only a stable median can certify the metric
        self.threshold: float | None = None
        if threshold != "auto":
            self.threshold = check_real(
                threshold, "threshold", "ThresholdoutScorer", low=0.0, high=high - low
            )

    def _plan(self, estimator: Any, X: Any, y: Any) -> Any:
        guess = guess_from_rows(self.metric, estimator, X, y)
        return self.holdout.plan(
            estimator, scoring=self.metric, mechanism="check", guess=guess, threshold=self.threshold
        )


class StableHoldoutScorer(HoldoutScorer):
    """The median of a metric over disjoint subsamples of the holdout, for any metric whatever.

    The answer lies between two quantiles of the metric's law on random subsamples (`Answer.levels`), for all
    answers of the ledger together. A few hundred subsamples never certify many unguessed questions: then the
    certificate says "vacuous".

    Source: Feldman, Steinke, "Generalization for Adaptively-chosen Estimators via Stable Median", COLT 2017,
    Theorem 3.1 (the draw); the certificate is by description length and a binomial tail.

    Parameters
    ----------
    scoring : str, callable or Metric
    holdout : Holdout
    n_subsamples : int or "auto", default="auto"
        "auto": one for every 20 records, at most 400.
    grid : Grid or "auto", default="auto"
        The finite set that answers come from.
    epsilon : float or "auto", default="auto"
        Privacy parameter of one draw.
    method : {"exponential", "exact"}, default="exponential"
        Draw the median by the exponential mechanism, or take it exactly.
    validation : float, default=0.25
        Part of X that `cv` takes guesses from.
    on_exhausted : {"nan", "raise"}, default="nan"
        What a refusal does inside a search.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_ada import Holdout
    >>> X, y = load_diabetes(return_X_y=True)
    >>> scorer = StableHoldoutScorer("neg_mean_absolute_error", Holdout(X[200:], y[200:], random_state=1))
    >>> score = scorer(Ridge().fit(X[:100], y[:100]), X[100:200], y[100:200])
    >>> -70 < score < -40
    True
    """

    def __init__(
        self,
        scoring: Any,
        holdout: Holdout,
        *,
        n_subsamples: int | str = "auto",
        grid: Any = "auto",
        epsilon: float | str = "auto",
        method: str = "exponential",
        validation: float = 0.25,
        on_exhausted: str = "nan",
    ) -> None:
        super().__init__(scoring, holdout, validation=validation, on_exhausted=on_exhausted)
        self.median = MedianSettings(n_subsamples, grid, epsilon, method)
        self.median.subsamples(holdout.n_rows)  # raises if there are more than records

    def _plan(self, estimator: Any, X: Any, y: Any) -> Any:
        size = self.holdout.subsample_size(self.median)
        guess: Guess = median_guess_from_rows(self.metric, estimator, X, y, size)
        return self.holdout.plan(
            estimator, scoring=self.metric, mechanism="check", guess=guess, median=self.median
        )


class SelectBest:
    """Choose the best candidate of a finished search, or raise: for ``refit=``.

    Parameters
    ----------
    name : str, default="score"
        Which score to go by; ``select_best.by("acc")`` where ``scoring`` is a dict.
    """

    def __init__(self, name: str = "score") -> None:
        self.name = name

    def by(self, name: str) -> SelectBest:
        """Return a selector that goes by another score of a dict."""
        return SelectBest(name)

    def __call__(self, cv_results: dict[str, Any]) -> int:
        """Return the index of the best candidate.

        Raises
        ------
        BudgetExhaustedError
            If any candidate has no score: refused by the holdout, or failed.
        """
        column = f"mean_test_{self.name}"
        if column not in cv_results:
            names = sorted(key[10:] for key in cv_results if key.startswith("mean_test_"))
            raise bad_parameter("name", "select_best.by", f"one of {names}", self.name)
        scores = np.asarray(cv_results[column], dtype=float)
        answered = int(np.isfinite(scores).sum())
        if answered < len(scores):
            raise BudgetExhaustedError(
                f"Only {answered} of {len(scores)} candidates were answered; the rest were refused by the "
                "holdout or failed. Look at holdout.report(); search fewer candidates, or take a larger "
                "holdout or tolerance."
            )
        return int(np.argmax(scores))
