"""Publishing what a search keeps: the exact score of its best model, in the end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._checks import bad_parameter
from sklearn_ada.exceptions import BudgetExhaustedError, LedgerMismatchError
from sklearn_ada.holdout import Holdout, HoldoutReport, model_digest, plan_question, publish, session_of
from sklearn_ada.metrics import Metric
from sklearn_ada.model_selection.running.folds import own_folds
from sklearn_ada.model_selection.setting_up.chosen_mechanism import chosen_median, chosen_metric
from sklearn_ada.model_selection.setting_up.ids import ids_of_rows
from sklearn_ada.model_selection.setting_up.setting_aside import set_aside
from sklearn_ada.model_selection.wrapper import Wrapper
from sklearn_ada.results import Answer

__all__ = ["PublishesBest"]

_OWNER = "ReusableHoldoutCV.certify"


class PublishesBest(Wrapper):
    """`certify` and `compare`, for a search whose best model was asked about."""

    best_answer_: Answer
    answers_: list[Answer]
    _certified: Metric | None = None  # as validation rows have tuned it
    _unasked: str = ""  # why the holdout was not asked about the best model, if it was not
    _asked: tuple[str, int] | None = None  # digest of the best model, and the record in which it was asked

    def certify(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Answer:
        """Publish: ask for the exact score of ``best_estimator_``, with most of what is left of the weights.

        Updates ``best_score_``, ``best_score_interval_``, ``best_score_target_`` and ``best_answer_``. For
        the model that is kept, after the last search: see `Holdout.certify` with ``final=True``. Where
        answers are exact, the winner was certified when it was found, and nothing is asked.

        Where another model was published before, a warning says so before anything is charged, so
        ``warnings.simplefilter("error")`` stops it there.

        Parameters
        ----------
        X, y, ids, groups : array-like or None, default=None
            As they were passed to `fit`. Needed after unpickling, as pickles hold no rows of the holdout.

        Returns
        -------
        Answer

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If ``best_estimator_`` is not as it was when it was asked, if nothing was asked about it, or if
            there is none; if rows are needed. Nothing was charged.
        BudgetExhaustedError
            If nothing is left of the weights, or the holdout was closed.
        LedgerMismatchError
            If X and y are other rows.
        """
        check_is_fitted(self, "search_")
        if self._unasked:
            raise bad_parameter(
                "search", _OWNER, "one whose winner was asked about", "one about which nothing was asked",
                f"{self._unasked} Or ask about the model that was kept: search.holdout_.certify("
                "search.best_estimator_, scoring=..., final=True).",
            )  # fmt: skip
        if not hasattr(self, "best_estimator_") or self._asked is None:
            raise bad_parameter(
                "search", _OWNER, "one that keeps a model", "refit=False",
                "Fit one, and certify it: holdout.certify(model, final=True).",
            )  # fmt: skip
        digest, number = self._asked
        model = model_digest(self.best_estimator_)
        if model != digest and not digest.startswith("nonce"):
            raise bad_parameter(
                "best_estimator_", _OWNER, "as it was when it was asked", "a model that was changed since",
                "It is another model than the one that was found: holdout.certify(model, final=True).",
            )  # fmt: skip
        holdout = self._with_rows(X, y, ids, groups)
        session = session_of(holdout)
        if not session.policy.seals:
            return self.best_answer_
        asked = session.recorded_answer(number)
        if asked is None:
            raise LedgerMismatchError("The ledger has no record of this search: it is another one.")
        metric = self._certified or chosen_metric(self)
        median = chosen_median(self, metric, holdout)
        guess = session.guess_behind(asked)
        question = plan_question(session, self.best_estimator_, metric, "certify", guess, median, fitted=True)
        answer = publish(session, question, self.best_estimator_, model=model, number=number)
        if answer.verdict == "refused":
            raise BudgetExhaustedError(f"The winner could not be published: {answer.reason}.")
        if answer not in self.answers_:
            self.answers_.append(answer)
        self.holdout_, self.best_answer_ = holdout, answer
        self._show_best()
        return answer

    def compare(
        self,
        incumbent: Any,
        *,
        scoring: Any = None,
        guess_from: tuple[Any, ArrayLike] | None = None,
    ) -> Answer:
        """Ask how much better ``best_estimator_`` is than another model, such as the one in use.

        The interval of the difference holds together with all others of the ledger. It is told at once and
        paid for as one question: see `Holdout.compare`.

        Parameters
        ----------
        incumbent : fitted estimator
            It must not have been trained on rows of the holdout: the winner of an earlier search on this
            ledger was not.
        scoring : str, callable or Metric, default=None
            A mean of bounded scores; None is the metric of the search.
        guess_from : tuple (X, y) or None, default=None
            Rows that neither model was trained on, nor are the holdout's: they say how often the two differ.

        Returns
        -------
        Answer
            Its value is the score of ``best_estimator_`` minus that of the incumbent.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If there is no best model, or the search was pickled; and as for `Holdout.compare`.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.model_selection import GridSearchCV
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from sklearn_ada import ReusableHoldoutCV
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> grids = ({"max_depth": [1]}, {"max_depth": [2, 3]})
        >>> old, new = (
        ...     ReusableHoldoutCV(GridSearchCV(DecisionTreeClassifier(random_state=0), grid)).fit(X, y)
        ...     for grid in grids
        ... )
        >>> new.compare(old.best_estimator_).target
        "population accuracy of b minus a at the holdout's class mix"
        """
        check_is_fitted(self, "search_")
        owner = "ReusableHoldoutCV.compare"
        if not hasattr(self, "best_estimator_"):
            fix = "Fit one, and compare it: holdout.compare(incumbent, model, scoring=...)."
            raise bad_parameter("search", owner, "one that keeps a model", "refit=False", fix)
        if not isinstance(self.holdout_, Holdout):
            raise bad_parameter(
                "X", owner, "there", "a search that was pickled, which dropped the rows of the holdout",
                "Open the holdout on its ledger: Holdout(X, y, ledger=...).compare(incumbent, model, ...).",
            )  # fmt: skip
        metric = (self._certified or chosen_metric(self)) if scoring is None else scoring
        return self.holdout_.compare(incumbent, self.best_estimator_, scoring=metric, guess_from=guess_from)

    def _show_best(self) -> None:
        """Set the attributes that tell the score of the winner."""
        self.best_score_ = self.best_answer_.value
        self.best_score_interval_ = self.best_answer_.interval
        assert self.best_answer_.certificate is not None  # it was not refused
        self.best_score_target_ = self.best_answer_.certificate.target

    def _with_rows(self, X: Any, y: Any, ids: Any, groups: Any) -> Holdout:
        """Return the holdout with its rows: the one that was asked, or one of the rows that are passed."""
        if isinstance(self.holdout_, Holdout):
            return self.holdout_
        if isinstance(self.holdout, HoldoutReport):
            raise bad_parameter(
                "holdout", _OWNER, "there", "a search that was pickled, which dropped it",
                "Make it again, on its ledger, and use holdout.certify(model, final=True).",
            )  # fmt: skip
        if X is None or y is None:
            raise bad_parameter(
                "X", _OWNER, "what was passed to fit, and y as well", "None",
                "A pickled search holds no rows of the holdout: certify(X, y).",
            )  # fmt: skip
        X, ids, _ = ids_of_rows(self.ids, X, ids)
        X, y = indexable(X, y)
        search = self.search
        holdout, _, _ = set_aside(self, X, np.ravel(np.asarray(y)), groups, own_folds(search), ids)
        if holdout.fingerprint != self.holdout_.fingerprint:
            raise LedgerMismatchError(
                "These rows, or their ledger, are not those that the search was fitted with: pass the same "
                "X, y and ids, and keep the ledger (ledger=None ends with its session)."
            )
        return holdout
