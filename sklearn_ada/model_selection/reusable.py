"""`ReusableHoldoutCV`: a search with a holdout set aside before it, and a certified score after it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import column_or_1d, indexable

from sklearn_ada._checks import bad_parameter
from sklearn_ada._notices import warn_user
from sklearn_ada._progress import tell, with_bar
from sklearn_ada._table import counted
from sklearn_ada.digest import Undigestible, canonical_digest
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.holdout import (
    FILL,
    Guess,
    Holdout,
    MedianSettings,
    Scoring,
    close_round,
    model_digest,
    open_round,
    plan_question,
    put_question,
    session_of,
)
from sklearn_ada.metrics import Metric, check_labels, n_rows, take_rows
from sklearn_ada.metrics.data.rows import own_copy
from sklearn_ada.model_selection.estimator.callbacks import HandsOnCallbacks
from sklearn_ada.model_selection.estimator.delegation import OF_BEST, DelegatesToBest, hand_on
from sklearn_ada.model_selection.estimator.publishing import PublishesBest
from sklearn_ada.model_selection.estimator.rows_of_fit import remember_rows
from sklearn_ada.model_selection.estimator.wrapping import WrapsSearch
from sklearn_ada.model_selection.running.candidates import columns_of, n_candidates, ranked, refitted
from sklearn_ada.model_selection.running.engines import (
    candidates_of,
    keeps_model,
    last_round,
    told_to_ask,
    told_to_forget,
)
from sklearn_ada.model_selection.running.folds import own_folds, unfitted
from sklearn_ada.model_selection.running.guesses import (
    guess_from_folds,
    guess_from_validation,
    tuned_by_validation,
)
from sklearn_ada.model_selection.running.masks import masked, told_to_validate
from sklearn_ada.model_selection.running.metadata import FitParams
from sklearn_ada.model_selection.running.own_scores import plain_scoring, score_name, scores_otherwise
from sklearn_ada.model_selection.running.pairs import check_pairs, is_of_pairs, take_for
from sklearn_ada.model_selection.running.recording import RecordingScorer, certified_columns
from sklearn_ada.model_selection.running.simplest import best_of
from sklearn_ada.model_selection.running.unscored import no_candidate_scored
from sklearn_ada.model_selection.scorers.base import HoldoutScorer
from sklearn_ada.model_selection.scorers.splitter import ValidationSplit
from sklearn_ada.model_selection.setting_up.chosen_mechanism import (
    chosen_median,
    chosen_metric,
    chosen_scorer,
    is_tuned,
)
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
        they were fitted.
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
        could not score. "candidates" asks about every candidate, fitted on one part of the rows, with its
        score on the other part as the guess; it takes searches without a cv or a refit function of their own.
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
        The certified score of ``best_estimator_``; NaN if it fails on the holdout. In cells it is the centre
        of the cell, until `certify`.
    best_score_interval_ : tuple of float
    best_score_target_ : str
        The population quantity that ``best_score_`` estimates and the interval contains, with the range that
        errors are clipped to; of a metric without an interval of its own, its median over random
        subsamples.
    best_answer_ : Answer
        The answer behind ``best_score_``, with its certificate.
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
        If the search could score none of the candidates to be certified; the holdout was not asked. If its cv
        is ordered in time and the holdout would be random rows; no ledger was opened.
    LedgerMismatchError
        If the ledger belongs to other data, another split or another policy.

    Warns
    -----
    UserWarning
        With ``mechanism="auto"``, before anything is charged, if only a stable median can certify the metric.
        In the end, if the winner failed on the holdout, or if the interval of an answer is vacuous, as wide
        as the metric's range.

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
        self._digests: dict[int, str] = {}  # of the models that were asked, by their records
        if y is None:
            fix = "It requires y to be passed, but the target y is None."
            raise bad_parameter("y", "ReusableHoldoutCV.fit", "the labels of X", None, fix)
        X, ids, self._id_column = ids_of_rows(self.ids, X, ids)
        X, y = indexable(X, y)
        if getattr(y, "ndim", 1) == 2 and np.shape(y)[1] == 1:
            y = column_or_1d(y, warn=True)
        check_one_output(y)
        check_labels(y)
        of_pairs = is_of_pairs(self.search)
        if of_pairs:
            is_given = isinstance(self.holdout, Holdout)
            check_pairs(X, session_of(self.holdout).data.n_columns if is_given else None)
        certifies = self.ask != "winner" or keeps_model(self)
        metric = chosen_metric(self) if certifies else None
        if metric is not None and self.mechanism in ("exponential_mechanism", "ladder", "thresholdout"):
            _ = metric.rule  # raises if only a stable median can certify the metric
        passed = FitParams(self, fit_params, n_rows(X))
        self.holdout_, train, cv = set_aside(self, X, y, passed.groups, own_folds(self.search), ids)
        X_train, y_train, params = (
            take_for(X, train, train, of_pairs),
            take_rows(y, train),
            passed.take(train),
        )
        tell(f"{self.holdout_.n_rows:,} rows are held out, {len(train):,} are for the search", self.verbose)
        median = None if metric is None else chosen_median(self, metric, self.holdout_)
        if metric is not None:
            warn_of_median(self, metric, self.holdout_, median)  # before anything is spent
            if self.ask != "candidates" or self.reveal == "winner":
                warn_of_exact_value(metric, self.holdout_, median)
            warn_of_tolerance(self, metric, self.holdout_, median)
        if metric is None or self.ask != "candidates":  # else its cv looks at the same rows
            self.holdout_.check_overlap(X_train)
        if metric is not None and self.ask != "candidates":
            self._warn_of_folds(cv, X_train, y_train, params.groups)
        self.train_indices_ = np.asarray(train)
        self._takes_pairs_with = (n_rows(X), train) if of_pairs else None
        if metric is None:
            self._search_only(X_train, y_train, params, cv)
            return self
        if self.ask == "candidates" and self.reveal == "all":
            self._ask_candidates(X_train, y_train, params, metric, median)
        else:
            self._ask_winners(X_train, y_train, params, metric, median, cv)
        self._finish(metric)
        if self.best_answer_.index in self._digests:
            self._asked = self._digests[self.best_answer_.index], self.best_answer_.index
        warn_of_outcome(self.answers_, self.best_answer_, self.holdout_, median)
        if not isinstance(self.holdout, Holdout):  # else X has no row of it
            remember_rows(self, X, y)
        return self

    def _warn_of_folds(self, cv: Any, X: Any, y: Any, groups: Any) -> None:
        """Warn of folds that are blocks of rows; of those that are shuffled for, only where they were not."""
        if is_shuffled_for(cv):
            if not (isinstance(self.holdout, Holdout) or isinstance(self.mechanism, HoldoutScorer)):
                return
            cv = check_cv(cv, y, classifier=is_classifier(self.search.estimator))
        warn_of_blocks(cv, lambda: (X, y, groups))

    def _search_only(self, X: Any, y: Any, params: FitParams, cv: Any) -> None:
        """Run a search that keeps no model: there is nothing to certify, so nothing is asked."""
        search = unfitted(self.search, cv)
        with self._reporting(search):
            search.fit(own_copy(X), y, **params.of_search)
        for name in OF_BEST:  # of an earlier fit, which is certified no longer
            self.__dict__.pop(name, None)
        self.search_, self.cv_results_ = search, candidates_of(search)
        self.answers_: list[Answer] = []
        for name in ("best_index_", "best_params_", "scorer_"):
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        hand_on(search, self)
        warn_user(
            "The search keeps no model (refit=False), so nothing was asked of the holdout and nothing is "
            "certified. Use refit=True or the name of a score, or ReusableHoldoutCV(scoring=...)."
        )

    def _ask_candidates(
        self, X: Any, y: Any, params: FitParams, metric: Metric, median: MedianSettings | None
    ) -> None:
        """Check every candidate, then refit the best on all rows and certify it."""
        scorer = chosen_scorer(self, metric, self.holdout_, median)
        candidates = n_candidates(self.search)
        key = self._round_key(X, y, metric)
        if candidates is not None:
            scorer.candidates = candidates
            scorer.round_name = open_round(
                session_of(self.holdout_),
                candidates,
                purpose="check",
                scoring=metric,
                key=key,
                guess_rows=max(round(n_rows(X) * self.validation), 1),
                settings=FILL if getattr(scorer, "settings", None) == FILL else None,
            )
        recording = RecordingScorer(scorer)
        search = told_to_ask(self.search, recording, scorer.cv)
        tell("searching; the holdout is asked about every candidate", self.verbose)
        try:
            with self._reporting(search):
                search.fit(own_copy(X), y, **params.of_asking())
        except ValueError:  # bad rows make all fits of the one split fail: raise the model's own error
            fit, _ = next(scorer.cv.split(X, y, params.groups))
            self._fit_of_rows({}, X, y, params)(fit)
            raise
        session = session_of(self.holdout_)
        close_round(session.ledger, session.asker, key)  # from here on its intervals are narrower
        results, answers = certified_columns(candidates_of(search), self.holdout_)
        refused = [answer for answer in answers if answer is not None and answer.verdict == "refused"]
        if refused:
            raise BudgetExhaustedError(
                f"{len(refused)} of {len(answers)} candidates were refused: {refused[0].reason}. The search "
                "is not finished, so no winner is chosen."
            )
        scores = np.where(last_round(results), results["mean_test_score"], np.nan).astype(float)
        if np.isnan(scores).all():
            reasons = {str(answer.reason) for answer in answers if answer is not None}
            if not reasons:  # no question was even put: let the first candidate raise its error here
                fit, rest = next(scorer.cv.split(X, y, params.groups))
                model = self._fit_of_rows(results["params"][0], X, y, params)(fit)
                scorer.answer(model, take_rows(X, rest), take_rows(y, rest))
            raise ValueError(
                f"No candidate got a score from the holdout: {'; '.join(sorted(reasons))}. Models may do so "
                "where the holdout rows have NaN or infinite values."
            )
        self.search_, self.cv_results_ = search, results
        may_win = np.flatnonzero(np.isfinite(scores)).tolist()
        self.best_index_ = best_of(answers, may_win, results["params"], self.one_standard_error)
        best = answers[self.best_index_]
        if best is None:
            raise TypeError(
                "The search scored its best candidate on rows that are not from the cv it was given, so "
                "nothing was asked about it. Use ask='winner'."
            )
        self.best_params_ = results["params"][self.best_index_]
        self.answers_ = [answer for answer in answers if answer is not None]
        if not keeps_model(
            self
        ):  # its score is that of the candidate's model, fitted on one part of the rows
            self.best_answer_ = best
            self.__dict__.pop("best_estimator_", None)
            return
        tell("refitting the winner on all rows but the holdout's, and certifying it", self.verbose)
        (self.best_estimator_,) = refitted(self.search, [self.best_params_], X, y, params.of_model)
        behind = session_of(self.holdout_).guess_behind(best)
        guess = Guess(best.value, behind.size, behind.deviation, behind.share)
        self.best_answer_ = self._certify(self.best_estimator_, guess, metric, median, None)
        self.answers_.append(self.best_answer_)

    def _ask_winners(
        self, X: Any, y: Any, params: FitParams, metric: Metric, median: MedianSettings | None, cv: Any
    ) -> None:
        """Run the search as it is, or on validation rows, then certify its best few, or the best of them."""
        hidden = self.ask == "candidates"
        count = n_candidates(self.search) if hidden else 1 if self.ask == "winner" else int(self.ask)
        assert count is not None  # `check_reveal` has refused other searches
        drawing = self.mechanism == "exponential_mechanism"
        selecting = drawing or (self.reveal == "winner" and count > 1)
        plain = plain_scoring(metric)
        search = unfitted(self.search, cv)
        of_pairs = is_of_pairs(self.search)
        if hidden:
            search = told_to_validate(search, plain, ValidationSplit(self.holdout_, self.validation))
        elif scores_otherwise(search, self.scoring):
            search.set_params(scoring=plain)
        name, own_scoring = score_name(search, metric)
        key = self._round_key(X, y, metric)
        session = session_of(self.holdout_)
        about: dict[str, Any] = {"purpose": "certify", "scoring": metric, "key": key}
        size, among = (1, count) if selecting else (count, 1)
        open_round(session, size, alternatives=among, record=False, **about)  # raises before the long search
        tell("searching; the holdout is asked when the search is done", self.verbose)
        with self._reporting(search):
            search.fit(own_copy(X), y, **(params.of_asking() if hidden else params.of_search))
        results, scores, order = ranked(search, name)
        chosen = [index for index in order[:count] if np.isfinite(scores[index])]
        if not chosen:
            first = results["params"][order[0]] if order else {}
            fit = self._fit_of_rows(first, X, y, params)
            raise no_candidate_scored(
                search, name, metric, fit, X, y, self.validation, params.groups, of_pairs
            )
        tell(f"refitting {counted(len(chosen), 'model')} on all rows but the holdout's", self.verbose)
        models = refitted(self.search, [results["params"][i] for i in chosen], X, y, params.of_model)
        size, among = (1, len(chosen)) if selecting else (len(chosen), 1)
        round_name = open_round(session, size, alternatives=among, **about)
        if selecting:
            winner = self.holdout_.select(models, scoring=metric, epsilon="auto" if drawing else None)
            chosen, models = [chosen[winner]], [models[winner]]
        t = None if median is None else median.subsample_size(session.data)
        same_metric = not hidden and own_scoring in (self.scoring, metric, metric.scoring, plain)
        self.answers_, tuned = [], {}
        pairs = list(zip(chosen, models, strict=True))
        for index, model in with_bar(pairs, "certifying", self.verbose):
            guess, asked = None, metric
            if median is None and is_tuned(metric):
                fit = self._fit_of_rows(results["params"][index], X, y, params)
                asked, guess = tuned_by_validation(
                    fit, X, y, self.validation, params.groups, metric, of_pairs
                )
            elif same_metric:
                folds = max(int(getattr(search, "n_splits_", 1)), 1)
                over_folds = results.get(f"std_test_{name}", np.zeros(len(scores)))
                guess = guess_from_folds(over_folds, scores, index, n_rows(X), folds, metric, t)
            if guess is None and asked is metric:
                fit = self._fit_of_rows(results["params"][index], X, y, params)
                guess = guess_from_validation(fit, X, y, self.validation, params.groups, metric, t, of_pairs)
            tuned[index] = asked
            self.answers_.append(self._certify(model, guess, asked, median, round_name))
        if session.policy.seals:
            close_round(session.ledger, session.asker, key)
            told = ((session.recorded_answer(answer.index), answer.repeated) for answer in self.answers_)
            self.answers_ = [replace(answer, repeated=again) for answer, again in told if answer is not None]
        answers = dict(zip(chosen, self.answers_, strict=True))
        self.best_index_ = best_of(answers, chosen, results["params"], self.one_standard_error)
        self.best_answer_, self._certified = answers[self.best_index_], tuned[self.best_index_]
        self.best_estimator_ = models[chosen.index(self.best_index_)]
        if hidden:
            results = masked(results, self.best_index_, self.best_answer_.value)
        self.search_, self.cv_results_ = search, results
        self.cv_results_.update(columns_of(self.answers_, chosen, len(scores)))
        self.best_params_ = results["params"][self.best_index_]

    def _fit_of_rows(
        self, candidate: dict[str, Any], X: Any, y: Any, params: FitParams
    ) -> Callable[[NDArray[Any]], Any]:
        """Return a function that fits a candidate on the rows of given numbers, with the fit parameters."""
        of_pairs = is_of_pairs(self.search)

        def fit(rows: NDArray[Any]) -> Any:
            part = take_for(X, rows, rows, of_pairs), take_rows(y, rows)
            return refitted(self.search, [candidate], *part, params.take(rows).of_model)[0]

        return fit

    def _finish(self, metric: Metric) -> None:
        """Set the attributes of the winner, and remove the holdout's scorer from the inner search."""
        self._show_best()
        own = getattr(
            self.search_, "scorer_", None
        )  # as its search scores, so does this, where it is one metric
        is_own = own is not None and self.scoring is None and not isinstance(self.mechanism, HoldoutScorer)
        self.scorer_: Any = own if self.ask != "candidates" and is_own else metric.score
        hand_on(self.search_, self)
        if self.ask == "candidates":
            self.multimetric_ = False
            told_to_forget(self.search_, self.search, plain_scoring(metric))
            self.search_.scorer_ = metric.score
            if not hasattr(type(self.search_), "cv_results_"):  # else derived from the same scores
                self.search_.cv_results_ = self.cv_results_

    def _certify(
        self, model: Any, guess: Guess | None, metric: Metric, median: Any, round_name: str | None
    ) -> Answer:
        digest = model_digest(model)
        session = session_of(self.holdout_)
        question = plan_question(session, model, metric, "certify", guess, median, fitted=True)
        answer = put_question(session, question, model, model=digest, round_name=round_name)
        assert answer is not None
        if answer.verdict == "refused":
            raise BudgetExhaustedError(f"The winner could not be certified: {answer.reason}.")
        self._digests[answer.index] = digest
        return answer

    def _round_key(self, X: Any, y: Any, metric: Metric) -> str:
        """Return a digest of this search and these rows: run again, its questions are the same round."""
        try:
            how = str(self.mechanism)
            asked = (self.ask, self.reveal, self.validation, how, metric.describe())
            return canonical_digest((self.search, X, np.asarray(y), *asked))
        except Undigestible:
            return uuid.uuid4().hex
