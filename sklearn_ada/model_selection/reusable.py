"""`ReusableHoldoutCV`: a search with a holdout set aside before it, and a certified score after it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import column_or_1d, indexable

from sklearn_ada._checks import bad_parameter
from sklearn_ada._notices import warn_user
from sklearn_ada._progress import tell
from sklearn_ada.holdout import Holdout, MedianSettings, Scoring, session_of
from sklearn_ada.metrics import Metric, check_labels, n_rows, take_rows
from sklearn_ada.metrics.data.rows import own_copy
from sklearn_ada.model_selection.asking.every_candidate import ask_about_candidates
from sklearn_ada.model_selection.asking.run import Run, Winner
from sklearn_ada.model_selection.asking.winners import ask_about_winners
from sklearn_ada.model_selection.estimator.callbacks import HandsOnCallbacks
from sklearn_ada.model_selection.estimator.delegation import OF_BEST, DelegatesToBest, hand_on
from sklearn_ada.model_selection.estimator.publishing import PublishesBest
from sklearn_ada.model_selection.estimator.rows_of_fit import remember_rows
from sklearn_ada.model_selection.estimator.wrapping import WrapsSearch
from sklearn_ada.model_selection.running.engines import (
    candidates_of,
    keeps_model,
    told_to_forget,
)
from sklearn_ada.model_selection.running.folds import own_folds, unfitted
from sklearn_ada.model_selection.running.metadata import FitParams
from sklearn_ada.model_selection.running.own_scores import chooses_by_several, has_usual_metric, plain_scoring
from sklearn_ada.model_selection.running.pairs import check_pairs, is_of_pairs, take_for
from sklearn_ada.model_selection.running.unscored import NO_METRIC, NO_USUAL_METRIC, NOT_FINISHED
from sklearn_ada.model_selection.scorers.base import HoldoutScorer
from sklearn_ada.model_selection.setting_up.chosen_mechanism import chosen_median, chosen_metric
from sklearn_ada.model_selection.setting_up.ids import ids_of_rows
from sklearn_ada.model_selection.setting_up.parameters import (
    DEFAULT_ANSWERS,
    check_one_output,
    check_parameters,
)
from sklearn_ada.model_selection.setting_up.row_order import is_shuffled_for, warn_of_blocks
from sklearn_ada.model_selection.setting_up.setting_aside import set_aside
from sklearn_ada.model_selection.setting_up.warnings import (
    warn_of_exact_value,
    warn_of_median,
    warn_of_outcome,
    warn_of_tolerance,
    warn_of_unasked,
)
from sklearn_ada.results import Answer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

__all__ = ["ReusableHoldoutCV"]


class ReusableHoldoutCV(HandsOnCallbacks, PublishesBest, DelegatesToBest, WrapsSearch):
    """Run a hyperparameter search whose scores stay valid, on a holdout that can be used again.

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
    mechanism : str or scorer, default="auto"
        How candidates are compared with the holdout, where they are (``ask="candidates"``); of a scorer the
        winner alone takes metric and holdout. "auto": "thresholdout" (`ThresholdoutScorer`) for candidates,
        and the metric's own interval for winners, as for R^2 and macro F1; a scorer of scikit-learn that has
        none here is refused, and of a function of yours the median answers, with a warning.
        "stable_median" (`StableHoldoutScorer`) for any metric. "ladder" (`LadderScorer`) reveals
        improvements only. "exponential_mechanism" (with an integer ``ask``) chooses among the search's best
        few, reveals the winner only and certifies it. A scorer: its metric, mechanism and holdout.
    ask : "winner", "candidates" or int, default="winner"
        "winner" keeps the search's own cross-validation and refit function, and asks about its winner only
        (an integer: about its best few): one question a search, and none about candidates that the search
        could not score. If it could score none, it ends with a warning, the first candidate (or that of its
        refit function) and a ``best_score_`` of NaN, and nothing is charged. "candidates" asks about every
        candidate, fitted on one part of the rows, with its score on the other part as the guess; it takes
        searches without a cv or a refit function of their own.
    reveal : {"all", "winner"}, default="all"
        "winner" reveals only which of the N candidates asked is the best on the holdout, for ``ln N`` nats,
        and its certified score; the scores of the others are not kept anywhere, in ``search_`` neither. With
        ``ask="candidates"``, for `GridSearchCV` and `RandomizedSearchCV`, it searches on validation scores
        and fits each candidate twice. With ``ask="winner"`` there is nothing else to reveal.
    validation : float, default=0.25
        For ``ask="candidates"``: the part of the rows on which candidates are not fitted but scored, for the
        guesses.
    one_standard_error : bool, str or callable, default=False
        Of the candidates whose certified score is within one standard error of the best, take the simplest.
        True: the earliest in the grid (write the simple values first). The name of a parameter: the one with
        its least value. A function of a candidate's parameters: the one with its least value. The standard
        error is computed from the best candidate's certified interval, as half-width over normal quantile, so
        nothing more is revealed.
    confidence_level : float, default=0.95
    tolerance : float or None, default=None
        Largest half-width of a certified interval that is accepted; see `Holdout`.
    expected_questions : int or None, default=None
        See `Holdout`.
    ledger : path-like, str or None, default=None
        Where questions are recorded: a file, ``"postgresql://..."`` or ``":memory:"``; see `Holdout`. None:
        one temporary ledger for these rows in this session, so that a second search on them continues the
        count. An outer fold is other rows, with a ledger that is certified for that fold alone.
    missing : {"raise", "ignore"}, default="raise"
        What to do if rows of the holdout, known by their ids, are not in X; see `Holdout`.
    answers : {"auto", "cells", "exact"}, default="auto"
        What the search tells of its winner's count of right rows; fixed when the ledger is begun. "cells":
        the cell in which it lies, with an interval that is coarse, and hardly wider at the twentieth search
        than at the first; the exact value of the model that is kept comes from `certify`. "exact": the
        value, at 4 to 5 nats a search, so that intervals widen from search to search. "auto": as the ledger
        was begun; a new one answers in cells if it has a path or a URL, else the first winner exactly, for
        whoever runs one search and nothing else, and later ones in cells. Of other metrics the value is
        told. A given Holdout's ledger decides. See `Holdout`.
    seal_key : str, path-like, bytes, X25519PublicKey or None, default=None
        The holder's public key, which cells are sealed with; see `Holdout`.
    random_state : int or None, default=None
        Seeds the split, together with ids, or labels and their order. Noise and subsamples do not depend on
        it.
    who : str or None, default=None
        Who asks: written into every record of the ledger, and no part of a question. See `Holdout`.
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
        the search could score no candidate. In cells it is the centre of the cell, until `certify`. Absent,
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

    def __init__(
        self,
        search: Any,
        *,
        scoring: Scoring | None = None,
        holdout: float | ArrayLike | BaseCrossValidator | Holdout = 0.25,
        ids: str | None = None,
        mechanism: str | HoldoutScorer = "auto",
        ask: str | int = "winner",
        reveal: str = "all",
        validation: float = 0.25,
        one_standard_error: bool | str | Callable[[dict[str, Any]], float] = False,
        confidence_level: float = 0.95,
        tolerance: float | None = None,
        expected_questions: int | None = None,
        ledger: str | os.PathLike[str] | None = None,
        missing: str = "raise",
        answers: str = DEFAULT_ANSWERS,
        seal_key: str | os.PathLike[str] | bytes | X25519PublicKey | None = None,
        random_state: int | None = None,
        who: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.search = search
        self.scoring = scoring
        self.holdout = holdout
        self.ids = ids
        self.mechanism = mechanism
        self.ask = ask
        self.reveal = reveal
        self.validation = validation
        self.one_standard_error = one_standard_error
        self.confidence_level = confidence_level
        self.tolerance = tolerance
        self.expected_questions = expected_questions
        self.ledger = ledger
        self.missing = missing
        self.answers = answers
        self.seal_key = seal_key
        self.random_state = random_state
        self.who = who
        self.verbose = verbose

    def fit(
        self, X: Any, y: ArrayLike | None = None, *, ids: ArrayLike | None = None, **fit_params: Any
    ) -> ReusableHoldoutCV:
        """Set the holdout aside, run the search on the rest, refit the best model and certify it.

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
        check_parameters(self)
        self._asked: tuple[str, int] | None = None
        self._certified: Metric | None = None  # the metric as validation rows have tuned it
        self._unasked = NOT_FINISHED  # why the holdout was not asked about the winner, if it was not
        X, y, ids = self._checked_rows(X, y, ids)
        without = self._why_no_metric() if self.ask == "winner" else ""
        certifies = self.ask != "winner" or (keeps_model(self) and not without)
        metric = chosen_metric(self) if certifies else None
        if metric is not None and self.mechanism in ("exponential_mechanism", "ladder", "thresholdout"):
            _ = metric.rule  # raises if only a stable median can certify the metric
        passed = FitParams(self, fit_params, n_rows(X))
        self.holdout_, train, cv = set_aside(self, X, y, passed.groups, own_folds(self.search), ids)
        of_pairs = is_of_pairs(self.search)
        X_train, y_train = take_for(X, train, train, of_pairs), take_rows(y, train)
        params = passed.take(train)
        tell(f"{self.holdout_.n_rows:,} rows are held out, {len(train):,} are for the search", self.verbose)
        median = None if metric is None else chosen_median(self, metric, self.holdout_)
        if metric is not None:
            self._warn_before_asking(metric, median)
        if metric is None or self.ask != "candidates":  # else its cv looks at the same rows
            self.holdout_.check_overlap(X_train)
            if metric is not None:
                self._warn_of_folds(cv, X_train, y_train, params.groups)
        self.train_indices_ = np.asarray(train)
        self._takes_pairs_with = (n_rows(X), train) if of_pairs else None
        if metric is None:
            if keeps_model(self):
                warn_user(f"{without} Without it the winner is kept, and the holdout is not asked about it.")
            self._search_only(X_train, y_train, params, cv, without)
            return self
        run = Run(self, X_train, y_train, params, metric, median, cv, self._reporting)
        of_all = self.ask == "candidates" and self.reveal == "all"
        winner = ask_about_candidates(run) if of_all else ask_about_winners(run)
        self._keep(winner, run.digests)
        self._finish(metric)
        if winner.answer is None:
            if winner.unasked != NO_METRIC:  # a search whose winner a function chose by several has no score
                self.best_score_, self.best_score_target_ = math.nan, ""
                self.best_score_interval_ = metric.range or (-math.inf, math.inf)
            warn_of_unasked(winner.unasked, self.search_, self.best_index_)
        else:
            warn_of_outcome(self.answers_, winner.answer, self.holdout_, median)
        if not isinstance(self.holdout, Holdout):  # else X has no row of it
            remember_rows(self, X, y)
        return self

    def _checked_rows(self, X: Any, y: Any, ids: Any) -> tuple[Any, Any, Any]:
        """Return X without its column of ids, y as a vector, and the ids; ValueError if they are unusable."""
        if y is None:
            fix = "It requires y to be passed, but the target y is None."
            raise bad_parameter("y", "ReusableHoldoutCV.fit", "the labels of X", None, fix)
        X, ids, self._id_column = ids_of_rows(self.ids, X, ids)
        X, y = indexable(X, y)
        if getattr(y, "ndim", 1) == 2 and np.shape(y)[1] == 1:
            y = column_or_1d(y, warn=True)
        check_one_output(y)
        check_labels(y)
        if is_of_pairs(self.search):
            is_given = isinstance(self.holdout, Holdout)
            check_pairs(X, session_of(self.holdout).data.n_columns if is_given else None)
        return X, y, ids

    def _warn_before_asking(self, metric: Metric, median: MedianSettings | None) -> None:
        """Warn of what the metric means for the answers, before anything is spent."""
        warn_of_median(self, metric, self.holdout_, median)
        if self.ask != "candidates" or self.reveal == "winner":
            warn_of_exact_value(metric, self.holdout_, median)
        warn_of_tolerance(self, metric, self.holdout_, median)

    def _why_no_metric(self) -> str:
        """Return why nothing says what to certify; empty if something does."""
        if self.scoring is not None or isinstance(self.mechanism, HoldoutScorer):
            return ""
        if chooses_by_several(self.search):
            return NO_METRIC
        return "" if has_usual_metric(self.search) else NO_USUAL_METRIC

    def _warn_of_folds(self, cv: Any, X: Any, y: Any, groups: Any) -> None:
        """Warn of folds that are blocks of rows; of those that are shuffled for, only where they were not."""
        if is_shuffled_for(cv):
            if not (isinstance(self.holdout, Holdout) or isinstance(self.mechanism, HoldoutScorer)):
                return
            cv = check_cv(cv, y, classifier=is_classifier(self.search.estimator))
        warn_of_blocks(cv, lambda: (X, y, groups))

    def _search_only(self, X: Any, y: Any, params: FitParams, cv: Any, without: str) -> None:
        """Run a search that keeps no model, or names no metric to certify one by (``without`` says why)."""
        search = unfitted(self.search, cv)
        with self._reporting(search):
            search.fit(own_copy(X), y, **params.of_search)
        for name in OF_BEST:  # of an earlier fit, which is certified no longer
            self.__dict__.pop(name, None)
        self.search_, self.cv_results_ = search, candidates_of(search)
        self.answers_: list[Answer] = []
        for name in ("best_index_", "best_params_", "best_estimator_", "scorer_"):
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        hand_on(search, self)
        self._unasked = without if keeps_model(self) else ""
        if self._unasked:
            return
        warn_user(
            "The search keeps no model (refit=False), so nothing was asked of the holdout and nothing is "
            "certified. Use refit=True or the name of a score, or ReusableHoldoutCV(scoring=...)."
        )

    def _keep(self, winner: Winner, digests: dict[int, str]) -> None:
        """Set the attributes of the search and its winner, of which nothing is known if nothing was asked."""
        for name in OF_BEST:  # of an earlier fit
            self.__dict__.pop(name, None)
        self.search_, self.cv_results_ = winner.search, winner.results
        self.answers_ = winner.answers
        self.best_index_, self.best_params_ = winner.index, winner.params
        if winner.model is not None:
            self.best_estimator_ = winner.model
        self._certified, self._unasked = winner.metric, winner.unasked
        if winner.answer is not None:
            self.best_answer_ = winner.answer
            self._show_best()
            if winner.answer.index in digests:
                self._asked = digests[winner.answer.index], winner.answer.index

    def _finish(self, metric: Metric) -> None:
        """Set the attributes of the winner, and remove the holdout's scorer from the inner search."""
        own = getattr(self.search_, "scorer_", None)  # as its search scores, so does this, if by one metric
        is_own = own is not None and self.scoring is None and not isinstance(self.mechanism, HoldoutScorer)
        self.scorer_: Any = own if self.ask != "candidates" and is_own else metric.score
        hand_on(self.search_, self)
        if self.ask == "candidates":
            self.multimetric_ = False
            told_to_forget(self.search_, self.search, plain_scoring(metric))
            self.search_.scorer_ = metric.score
            if not hasattr(type(self.search_), "cv_results_"):  # else derived from the same scores
                self.search_.cv_results_ = self.cv_results_
