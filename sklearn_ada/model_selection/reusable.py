"""`ReusableHoldoutCV`: a search with a holdout set aside before it, and a certified score after it."""

from __future__ import annotations

import copy
import html
import math
import os
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import estimator_html_repr, get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._notices import tell, warn_user
from sklearn_ada._validation import bad_parameter
from sklearn_ada.answer import Answer
from sklearn_ada.data.labels import n_rows, own_copy, take_rows
from sklearn_ada.exceptions import BudgetExhaustedError, LedgerMismatchError
from sklearn_ada.holdout.framing import Ask, plan_question
from sklearn_ada.holdout.holdout import Holdout, Scoring, headline_of, session_of
from sklearn_ada.holdout.publishing import publish
from sklearn_ada.holdout.report import HoldoutReport
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection import engines
from sklearn_ada.model_selection.certifying import Run, Winner
from sklearn_ada.model_selection.delegating import Delegates, hand_on, remember_rows, reporting
from sklearn_ada.model_selection.parameters import NO_METRIC, OWNER, Parameters
from sklearn_ada.model_selection.scorers import HoldoutScorer
from sklearn_ada.model_selection.setting_aside import checked_rows, ids_of_rows, set_aside
from sklearn_ada.model_selection.training_rows import is_shuffled_for, warn_of_blocks
from sklearn_ada.terms.models import Subject, model_digest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

_BEST = (
    "best_answer_", "best_estimator_", "best_index_", "best_params_", "best_score_", "best_score_interval_",
    "best_score_target_",
)  # fmt: skip
"""Attributes of the best candidate."""
_NOT_FINISHED = "The last call of fit did not end, so nothing is known to be asked about the best model."
_PUBLISH = f"{OWNER}.publish"


@dataclass(eq=False, repr=False)
class ReusableHoldoutCV(Delegates, MetaEstimatorMixin, BaseEstimator):
    """Run a search whose score stays valid, on a holdout that is used again.

    The holdout is taken out of X before the search sees it, and no model is fitted on it. In the end
    ``best_estimator_`` is refitted on everything else, and the holdout is asked for its score: with
    probability at least ``confidence_level``, ``best_score_interval_`` and all other intervals of the same
    ledger contain the population values they are for, however many searches were run, each in view of the
    last (description length; Dwork et al., NIPS 2015).

    Words used below: a *guess* is a candidate's score on rows that are not the holdout's; the holdout is
    *asked* whether it agrees. The *ledger* is a durable log of all questions. What an answer reveals is
    charged there in *nats* (see `Holdout`), and later intervals get wider with their sum.

    Parameters
    ----------
    search : estimator
        An unfitted search, such as ``GridSearchCV(model, grid)``. Where its cv is None, a number, or a
        `KFold` or `StratifiedKFold` without shuffling, it gets its rows in a random order, which is the same
        for the same rows, because folds of ordered rows would be far from the holdout; rows of one group (or
        id) stay next to each other. With a given `Holdout` they stay as they are passed. Splits that its cv
        gives row by row (pairs of row numbers or masks, a generator of them, a `PredefinedSplit`) are of the
        rows passed to `fit`, less those of the holdout. With ``refit=False`` there is no model in the end:
        with ``ask="winner"`` nothing is then asked nor certified, with ``"candidates"`` they are certified as
        they were fitted. Nor is anything asked about a winner that a function chose by several scores, unless
        ``scoring`` names one.
    ledger : path-like, str or None, default=None
        Where questions are recorded: a file, ``"postgresql://..."`` or ``":memory:"``; see `Holdout`. None:
        one temporary ledger for these rows in this session, so that a second search on them continues the
        count. An outer fold is other rows, with a ledger that is certified for that fold alone.
    scoring : str, callable, Metric or None, default=None
        What is certified; by default the search's own scoring (of several, that which its ``refit`` names),
        else accuracy or R^2. Given, the winner is refitted and certified by it with ``refit=False`` too.
    holdout : float, bool array, splitter or Holdout, default=0.25
        A share of the rows, at random; a mask of X's length; a splitter with one split, whose test part is
        the holdout; or a `Holdout`, and then all of X is for training. Integer indices are refused, and so is
        a share where the search's cv is ordered in time (`TimeSeriesSplit`): give a mask of the last block.
    ids : str or None, default=None
        Who the rows are: the name of a column of X, which is taken out before any model sees X, here and in
        `predict`; or "index". None: known by what `fit` is passed as ``ids``, if anything. With ids, each row
        is put on its side of the share by a hash of its own id (of its group, if there are groups), without
        stratification. So rows may come in any order, columns may change, no row of the holdout ever
        becomes one for training, and rows with new ids join either side. Without ids the holdout is
        a function of the labels and their order: columns may change, rows may not. See `Holdout`.
    answers : {"auto", "coarse", "exact"}, default="auto"
        What the search tells of its winner's count of right rows; fixed when the ledger is begun. "coarse":
        the cell in which it lies, with an interval that is coarse, and hardly wider at the twentieth search
        than at the first; the exact value of the model that is kept comes from `publish`. "exact": the
        value, at 4 to 5 nats a search, so that intervals widen from search to search. "auto": as the ledger
        was begun; a new one answers in cells if it has a path or a URL, else the first winner exactly, for
        whoever runs one search and nothing else, and later ones in cells. Of other metrics the value is
        told. A given Holdout's ledger decides. See `Holdout`.
    ask : "winner", "candidates" or int, default="winner"
        "winner" keeps the search's own cross-validation and refit function, and asks about its winner only
        (an integer: about its best few): one question a search, and none about candidates that the search
        could not score. If it could score none, it ends with a warning, the first candidate (or that of its
        refit function) and a ``best_score_`` of NaN, and nothing is charged. "candidates" asks about every
        candidate, fitted on one part of the rows, with its score on the other part as the guess; it takes
        searches without a cv or a refit function of their own.
    mechanism : str or scorer, default="auto"
        How candidates are compared with the holdout, where they are (``ask="candidates"``); of a scorer the
        winner alone takes metric and holdout. "auto": "thresholdout" (`ThresholdoutScorer`) for candidates,
        and the metric's own interval for winners, as for R^2 and macro F1; a scorer of scikit-learn that has
        none here is refused, and of a function of yours the median answers, with a warning.
        "stable_median" (`StableHoldoutScorer`) for any metric. "ladder" (`LadderScorer`) reveals
        improvements only. "exponential_mechanism" (with an integer ``ask``) chooses among the search's best
        few, reveals the winner only and certifies it. A scorer: its metric, mechanism and holdout.
    confidence_level : float, default=0.95
    tolerance : float or None, default=None
        Largest half-width of a certified interval that is accepted; see `Holdout`.
    reveal : {"all", "winner"}, default="all"
        "winner" reveals only which of the N candidates asked is the best on the holdout, for ``ln N`` nats,
        and its certified score; the scores of the others are not kept anywhere, in ``search_`` neither. With
        ``ask="candidates"``, for `GridSearchCV` and `RandomizedSearchCV`, it searches on validation scores
        and fits each candidate twice. With ``ask="winner"`` there is nothing else to reveal.
    one_standard_error : bool, str or callable, default=False
        Of the candidates whose certified score is within one standard error of the best, take the simplest.
        True: the earliest in the grid (write the simple values first). The name of a parameter: the one with
        its least value. A function of a candidate's parameters: the one with its least value. The standard
        error is computed from the best candidate's certified interval, as half-width over normal quantile, so
        nothing more is revealed.
    validation : float, default=0.25
        For ``ask="candidates"``: the part of the rows on which candidates are not fitted but scored, for the
        guesses.
    missing : {"raise", "ignore"}, default="raise"
        What to do if rows of the holdout, known by their ids, are not in X; see `Holdout`.
    expected_questions : int or None, default=None
        See `Holdout`.
    seal_key : str, path-like, bytes, X25519PublicKey or None, default=None
        The holder's public key, which cells are sealed with; see `Holdout`.
    who : str or None, default=None
        Who asks: written into every record of the ledger, and no part of a question. See `Holdout`.
    random_state : int or None, default=None
        Seeds the split, together with ids, or labels and their order. Noise and subsamples do not depend on
        it.
    verbose : int, default=0
        1 tells what is done, a line a stage, with a bar for several models where somebody can see it (tqdm:
        ``pip install 'sklearn-ada[progress]'``). The search has a ``verbose`` of its own.

    Attributes
    ----------
    best_estimator_ : estimator
        Refitted on all rows but the holdout's; none with ``refit=False``.
    best_params_ : dict
    best_index_ : int
    best_score_ : float
        The certified score of ``best_estimator_``; NaN if it fails on the holdout, or if nothing was asked as
        the search could score no candidate. In cells it is the centre of the cell, until `publish`. Absent,
        with its interval and target, if nothing says what it is a score of, as of a search of scikit-learn.
    best_score_interval_ : tuple of float
        Everything that the metric can be, if nothing was asked.
    best_score_target_ : str
        The population quantity that ``best_score_`` estimates and the interval contains, with the range that
        errors are clipped to; of a metric without an interval of its own, its median over random
        subsamples. Empty if nothing was asked.
    best_answer_ : Answer
        The answer behind ``best_score_``, with its certificate; none if nothing was asked.
    cv_results_ : dict
        As the search's, with ``certified_low``, ``certified_high``, ``certified_target`` and ``verdict`` (see
        `Answer`) for every candidate asked.
    answers_ : list of Answer
        In the order of the candidates asked, then the certified winner.
    search_ : estimator
        The fitted inner search.
    train_indices_ : ndarray of int
        Numbers of the rows of X that are not the holdout's: models are trained on these.
    holdout_ : Holdout
        A `HoldoutReport` after unpickling: rows and secret are not pickled.

    Raises
    ------
    BudgetExhaustedError
        If the tolerance does not admit all questions of the search. Checked before the first fit where the
        number of candidates is known, and again when they are asked, as others may have asked meanwhile.
    HoldoutLeakError
        If X contains a given holdout.
    ValueError
        With ``ask="candidates"``, if none of them got a score. If the search's cv is ordered in time and the
        holdout would be random rows; no ledger was opened.
    LedgerMismatchError
        If the ledger belongs to other data, another split or another policy.

    Warns
    -----
    UserWarning
        With ``mechanism="auto"``, before anything is charged, if only a stable median can certify the metric.
        Before the search, if it will choose its winner by several scores of which none is named. In the end,
        if the winner failed on the holdout, or if the interval of an answer is vacuous, as wide as the
        metric's range; or if nothing was asked, as no candidate has a score, or the winner no ``predict``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})
    >>> search = ReusableHoldoutCV(inner, ask="winner").fit(X, y)
    >>> low, high = search.best_score_interval_
    >>> 0.8 < low < search.best_score_ < high < 1.0
    True

    Rows with ids may come in any order, with other columns: the holdout stays, and its ledger goes on.

    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> patients = np.arange(len(y)) + 100_000
    >>> first = ReusableHoldoutCV(inner, ask="winner").fit(X, y, ids=patients)
    >>> order = np.random.default_rng(0).permutation(len(y))
    >>> again = ReusableHoldoutCV(inner, ask="winner").fit(X[order, :10], y[order], ids=patients[order])
    >>> again.holdout_.fingerprint == first.holdout_.fingerprint, again.holdout_.report().asked["certify"]
    (True, 2)
    """

    search: Any
    _: KW_ONLY
    ledger: str | os.PathLike[str] | None = None
    scoring: Scoring | None = None
    holdout: float | ArrayLike | BaseCrossValidator | Holdout = 0.25
    ids: str | None = None
    answers: str = "auto"
    ask: str | int = "winner"
    mechanism: str | HoldoutScorer = "auto"
    confidence_level: float = 0.95
    tolerance: float | None = None
    reveal: str = "all"
    one_standard_error: bool | str | Callable[[dict[str, Any]], float] = False
    validation: float = 0.25
    missing: str = "raise"
    expected_questions: int | None = None
    seal_key: str | os.PathLike[str] | bytes | X25519PublicKey | None = None
    who: str | None = None
    random_state: int | None = None
    verbose: int = 0

    def fit(
        self, X: Any, y: ArrayLike | None = None, *, ids: ArrayLike | None = None, **fit_params: Any
    ) -> ReusableHoldoutCV:
        """Set the holdout aside, run the search, refit the best model and certify it.

        Parameters
        ----------
        X : array-like of shape (n, ...)
            A kernel or distance matrix, where the model takes one, is split by rows and columns; `predict`
            takes its pairs with all n rows. With ``ask="winner"`` or an integer only.
        y : array-like of shape (n,)
            One output; `MultiOutputClassifier` takes a wrapped search for each of several.
        ids : array-like of shape (n,) or None, default=None
            Who the rows are, where ``ids`` names neither a column nor the index. An outer cross-validation
            slices them along with X.
        **fit_params : dict
            Passed to the search and the refit; parameters of X's length are split along with it. With
            ``groups`` the holdout and the validation part are of whole groups, and groups are the independent
            units of the certificate. With metadata routing enabled, each goes where it was requested.

        Returns
        -------
        self
        """
        given = Parameters.of(self)
        given.check()
        self._asked = self._certified = None
        self._unasked = _NOT_FINISHED
        X, y, ids, self._id_column = checked_rows(given, X, y, ids)
        without = given.why_no_metric()
        metric = None if without or (self.ask == "winner" and not given.keeps_model) else given.metric()

        passed = engines.FitParams.of(self, fit_params, n_rows(X))
        self.holdout_, train, cv = set_aside(given, X, y, passed.groups, engines.own_folds(self.search), ids)
        self.train_indices_ = np.asarray(train)
        self._takes_pairs_with = (n_rows(X), train) if given.of_pairs else None
        X_train, y_train = engines.take_for(X, train, train, given.of_pairs), take_rows(y, train)
        params = passed.take(train)
        tell(f"{self.holdout_.n_rows:,} rows are held out, {len(train):,} are for the search", self.verbose)

        if metric is None:
            self.holdout_.check_overlap(X_train)
            self._search_only(X_train, y_train, params, cv, without)
            return self
        median = given.median(metric, self.holdout_)
        given.warn_before_asking(metric, self.holdout_, median)
        if not given.asks_candidates:  # else its cv looks at the same rows
            self.holdout_.check_overlap(X_train)
            self._warn_of_folds(given, cv, X_train, y_train, params.groups)

        reports = partial(reporting, self)
        run = Run(given, self.holdout_, X_train, y_train, params, metric, median, cv, reports)
        winner = run.winner()
        self._keep(winner, given, metric, run.digests)
        winner.warn(self.holdout_, median)
        if not isinstance(self.holdout, Holdout):  # else X has no row of it
            remember_rows(self, X, y)
        return self

    def _warn_of_folds(self, given: Parameters, cv: Any, X: Any, y: Any, groups: Any) -> None:
        """Warn of folds that are blocks of rows; of those that are shuffled for, only where they were not."""
        if is_shuffled_for(cv):
            if given.given_holdout is None:
                return
            cv = check_cv(cv, y, classifier=is_classifier(self.search.estimator))
        warn_of_blocks(cv, lambda: (X, y, groups))

    def _search_only(self, X: Any, y: Any, params: engines.FitParams, cv: Any, without: str) -> None:
        """Run a search without a model or metric to certify (``without`` says why)."""
        keeps_model = Parameters.of(self).keeps_model
        if keeps_model:
            warn_user(f"{without} Without it the winner is kept, and the holdout is not asked about it.")
        search = engines.unfitted(self.search, cv)
        with reporting(self, search):
            search.fit(own_copy(X), y, **params.of_search)
        self._forget()
        self.search_, self.cv_results_, self.answers_ = search, engines.candidates_of(search), []
        for name in ("best_index_", "best_params_", "best_estimator_", "scorer_"):
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        hand_on(search, self)
        self._unasked = without if keeps_model else ""
        if not self._unasked:
            warn_user(
                "The search keeps no model (refit=False), so nothing was asked of the holdout and nothing is "
                "certified. Use refit=True or the name of a score, or ReusableHoldoutCV(scoring=...)."
            )

    def _keep(self, winner: Winner, given: Parameters, metric: Metric, digests: dict[int, str]) -> None:
        """Set the fitted attributes, and take the holdout's scorer out of the search."""
        self._forget()
        search = self.search_ = winner.search
        self.cv_results_, self.answers_ = winner.results, winner.answers
        self.best_index_, self.best_params_ = winner.index, winner.results["params"][winner.index]
        if winner.model is not None:
            self.best_estimator_ = winner.model
        self._certified, self._unasked = winner.metric, winner.unasked
        if winner.answer is not None:
            number = winner.answer.index
            self._asked = (digests[number], number) if number in digests else None
            self._show_best(winner.answer)
        elif winner.unasked != NO_METRIC:  # a search whose winner a function chose by several has no score
            self.best_score_, self.best_score_target_ = math.nan, ""
            self.best_score_interval_ = metric.range or (-math.inf, math.inf)
        own = getattr(search, "scorer_", None)  # as its search scores, so does this, if by one metric
        is_own = own is not None and self.scoring is None and given.scorer is None
        self.scorer_ = own if is_own and not given.asks_candidates else metric.score
        hand_on(search, self)
        if given.asks_candidates:
            self.multimetric_ = False
            engines.forget_holdout(search, self.search, engines.plain_scoring(metric))
            search.scorer_ = metric.score
            if not hasattr(type(search), "cv_results_"):  # else derived from the same scores
                search.cv_results_ = self.cv_results_

    def _show_best(self, answer: Answer) -> None:
        """Set the attributes that tell the score of the winner."""
        self.best_answer_, self.best_score_, self.best_score_interval_ = answer, answer.value, answer.interval
        assert answer.certificate is not None  # it was not refused
        self.best_score_target_ = answer.certificate.target

    def _forget(self) -> None:
        """Forget the winner of an earlier fit, which is certified no longer."""
        for name in _BEST:
            self.__dict__.pop(name, None)

    # What is asked of the winner afterwards.

    def publish(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Answer:
        """Release the exact score of ``best_estimator_``, about as narrowly as a holdout used once.

        Updates ``best_score_``, ``best_score_interval_``, ``best_score_target_`` and ``best_answer_``. For
        the model that is kept, after the last search: see `Holdout.publish`. Where
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
            call = "search.holdout_.publish(search.best_estimator_, scoring=...)"
            fix = f"{self._unasked} Or ask about the model that was kept: {call}."
            got = "one about which nothing was asked"
            raise bad_parameter("search", _PUBLISH, "one whose winner was asked about", got, fix)
        if not hasattr(self, "best_estimator_") or self._asked is None:
            fix = "Fit one, and publish it: holdout.publish(model)."
            raise bad_parameter("search", _PUBLISH, "one that keeps a model", "refit=False", fix)
        digest, number = self._asked
        if model_digest(self.best_estimator_) != digest and not digest.startswith("nonce"):
            got = "a model that was changed since"
            fix = "It is another model than the one that was found: holdout.publish(model)."
            raise bad_parameter("best_estimator_", _PUBLISH, "as it was when it was asked", got, fix)
        holdout = self._with_rows(X, y, ids, groups)
        session = session_of(holdout)
        if not session.policy.seals:
            return self.best_answer_
        asked = session.recorded_answer(number)
        if asked is None:
            raise LedgerMismatchError("The ledger has no record of this search: it is another one.")
        given = Parameters.of(self)
        metric = self._certified or given.metric()
        median = given.median(metric, holdout)
        guess = session.guess_behind(asked)
        model, data, policy = self.best_estimator_, session.data, session.policy
        subject = Subject.of(model, data, policy, "Holdout.publish", fitted=True)
        asked_for = Ask(subject, metric, "certify", guess, settings=median, publish=True)
        answer = publish(session, asked_for, plan_question(session, asked_for), number)
        if answer.verdict == "refused":
            raise BudgetExhaustedError(f"The winner could not be published: {answer.reason}.")
        if answer not in self.answers_:
            self.answers_.append(answer)
        self.holdout_ = holdout
        self._show_best(answer)
        return answer

    def compare(
        self, incumbent: Any, *, scoring: Any = None, guess_from: tuple[Any, ArrayLike] | None = None
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
            got = "a search that was pickled, which dropped the rows of the holdout"
            fix = "Open the holdout on its ledger: Holdout(X, y, ledger=...).compare(incumbent, model, ...)."
            raise bad_parameter("X", owner, "there", got, fix)
        metric = (self._certified or Parameters.of(self).metric()) if scoring is None else scoring
        return self.holdout_.compare(incumbent, self.best_estimator_, scoring=metric, guess_from=guess_from)

    def _with_rows(self, X: Any, y: Any, ids: Any, groups: Any) -> Holdout:
        """Return the holdout with its rows: the one that was asked, or one of the rows that are passed."""
        if isinstance(self.holdout_, Holdout):
            return self.holdout_
        if isinstance(self.holdout, HoldoutReport):
            got = "a search that was pickled, which dropped it"
            fix = "Make it again, on its ledger, and use holdout.publish(model)."
            raise bad_parameter("holdout", _PUBLISH, "there", got, fix)
        if X is None or y is None:
            fix = "A pickled search holds no rows of the holdout: publish(X, y)."
            raise bad_parameter("X", _PUBLISH, "what was passed to fit, and y as well", "None", fix)
        X, ids, _ = ids_of_rows(self.ids, X, ids)
        X, y = indexable(X, y)
        y, cv = np.ravel(np.asarray(y)), engines.own_folds(self.search)
        holdout, _, _ = set_aside(Parameters.of(self), X, y, groups, cv, ids)
        if holdout.fingerprint != self.holdout_.fingerprint:
            raise LedgerMismatchError(
                "These rows, or their ledger, are not those that the search was fitted with: pass the same "
                "X, y and ids, and keep the ledger (ledger=None ends with its session)."
            )
        return holdout

    # How it is shown in a notebook: with its certified score, and what is left of its holdout.

    @property
    def _repr_html_(self) -> Callable[[], str]:
        if get_config()["display"] != "diagram":
            raise AttributeError(
                "Only where the 'display' of sklearn.set_config is 'diagram' is there a page."
            )
        return self._as_page

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        return shown | ({"text/html": self._as_page()} if get_config()["display"] == "diagram" else {})

    def _as_page(self) -> str:
        page: str = estimator_html_repr(self._with_fitted())
        return page + self._score_as_html()

    def _with_fitted(self) -> ReusableHoldoutCV:
        """Return this estimator with its best model or fitted search in place of the search."""
        if not hasattr(self, "search_"):
            return self
        other = object.__new__(type(self))
        other.__dict__.update(vars(self), search=copy.copy(self.search_))
        if hasattr(self, "best_estimator_"):
            other.search.best_estimator_ = self.best_estimator_
        return other

    def _score_as_html(self) -> str:
        if not hasattr(self, "best_answer_"):
            why = html.escape(getattr(self, "_unasked", ""))
            return f"<p><b>Nothing is certified of best_estimator_</b></p><p>{why}</p>" if why else ""
        left = html.escape(headline_of(self.holdout_))
        answer = self.best_answer_._repr_html_()
        return f"<p><b>Certified score of best_estimator_</b></p>{answer}<p>{left}</p>"

    # What scikit-learn asks of an estimator that wraps a search: routing, tags, copies, pickles.

    def get_metadata_routing(self) -> Any:
        """Return the routing: ``groups`` are read here too, everything else is the search's."""
        return engines.router_of(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.search)
        model = inner if inner.estimator_type else get_tags(self.search.estimator)  # not all searches say
        tags.estimator_type = model.estimator_type
        tags.classifier_tags, tags.regressor_tags = model.classifier_tags, model.regressor_tags
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = engines.is_of_pairs(self.search)
        tags.target_tags.required = True
        return tags

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy everything but the holdout, of which there is only one."""
        other = object.__new__(type(self))
        memo[id(self)] = other
        for name, value in vars(self).items():
            setattr(other, name, copy.deepcopy(value, memo))
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Drop holdout rows and secret: a pickled fitted search keeps plain results and the report."""
        state = dict(super().__getstate__())
        if "holdout_" not in state:
            return state
        for name in ("holdout_", "holdout"):
            if isinstance(state[name], Holdout):
                state[name] = state[name].report()
        if isinstance(state["mechanism"], HoldoutScorer):  # its holdout is that of the search
            state["mechanism"] = repr(state["mechanism"])
        return state
