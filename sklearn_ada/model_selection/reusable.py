"""`ReusableHoldoutCV`: a search with a holdout set aside before it, and a certified score after it."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import estimator_html_repr, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_ada._html import folded, framed, paragraph
from sklearn_ada._notices import tell, warn_user
from sklearn_ada._validation import bad_parameter, counted
from sklearn_ada.answer import Answer, population_of
from sklearn_ada.data.labels import n_rows, own_copy, take_rows
from sklearn_ada.digest.overlap import has_rows_of
from sklearn_ada.exceptions import BudgetExhaustedError, HoldoutLeakError, LedgerMismatchError
from sklearn_ada.holdout.comparing import is_kept, keep_model
from sklearn_ada.holdout.framing import Ask, is_pair, plan_question
from sklearn_ada.holdout.holdout import Holdout, Scoring, headline_of, session_of
from sklearn_ada.holdout.publishing import needs_secret, publish
from sklearn_ada.holdout.report import HoldoutReport
from sklearn_ada.ledger.addresses import hidden
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection import searches
from sklearn_ada.model_selection.certifying import Asked, Run, Winner
from sklearn_ada.model_selection.differences import difference_line, guess_of_difference
from sklearn_ada.model_selection.fit_parameters import FitParams, check_parameters, router_of
from sklearn_ada.model_selection.parameters import NO_METRIC, OWNER, Parameters
from sklearn_ada.model_selection.scorers import HoldoutScorer
from sklearn_ada.model_selection.searches import CallbackSupportMixin
from sklearn_ada.model_selection.setting_aside import checked_rows, ids_of_rows, set_aside, without_column
from sklearn_ada.model_selection.training_rows import (
    is_shuffled_for,
    remember_rows,
    warn_of_blocks,
    warn_of_copies,
    warn_of_means_of_labels,
    warn_of_rows_of_fit,
    warn_of_steps_before,
)
from sklearn_ada.terms.models import Subject, model_digest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

_BEST = (
    "best_answer_", "best_estimator_", "best_index_", "best_params_", "best_score_", "best_score_interval_",
    "best_score_target_", "comparison_",
)  # fmt: skip
"""Attributes of the best candidate."""
_NOT_FINISHED = "The last call of fit did not end, so nobody can say what was asked about the best model."
_PUBLISH = f"{OWNER}.publish"


# What the class is made of comes before it: methods that are those of its best estimator.


def _to_best(method: str, summary: str, *, has_ids: bool = True) -> Any:
    """Return a method that is that of ``best_estimator_``, and exists where the estimator has it."""

    def has(self: Any) -> bool:
        if hasattr(self, "best_estimator_"):
            getattr(self.best_estimator_, method)
        elif self.search.get_params(deep=False).get("refit") is False and self.scoring is None:
            raise AttributeError(
                f"This {type(self).__name__} has a search with `refit=False`. {method} is available only "
                "after refitting on the best parameters. Use refit=True, or fit a model with best_params_."
            )
        else:
            getattr(self.search.estimator, method)
        return True

    def call(self: Any, X: Any) -> Any:
        return getattr(self._fitted(), method)(self._columns(X) if has_ids else X)

    call.__name__, call.__qualname__, call.__doc__ = method, f"Delegates.{method}", summary
    return available_if(has)(call)


def _of_best(attribute: str, summary: str) -> property:
    """Return a property that reads this attribute of ``best_estimator_``."""
    return property(lambda self: getattr(_best_of(self, attribute), attribute), doc=summary)


def _best_of(wrapper: Any, attribute: str) -> Any:
    if not hasattr(wrapper, "best_estimator_"):
        raise AttributeError(f"{type(wrapper).__name__} is not fitted, so it has no {attribute!r}.")
    return wrapper.best_estimator_


class Delegates(CallbackSupportMixin):
    """Methods and attributes of ``best_estimator_``; the methods exist where the estimator has them."""

    search: Any
    scoring: Any
    scorer_: Any
    best_estimator_: Any
    best_answer_: Answer
    answers_: list[Answer]
    cv_results_: dict[str, Any]
    _certified_metric: Metric | None = None  # as validation rows have tuned it
    _asked_of: str = ""  # how many rows the holdout had, and how often it had been asked
    _unasked: str = ""  # why the holdout was not asked about the best model, if it was not
    _compared_with: str = ""  # with what, for people
    _asked_as: tuple[str, int] | None = None  # digest of the best model, and the record in which it was asked
    _id_column: str | None = None  # which no model sees
    _takes_pairs_with: tuple[int, NDArray[Any]] | None = None  # of how many rows, which are for training

    predict = _to_best("predict", "Predict with ``best_estimator_``.")
    predict_proba = _to_best("predict_proba", "Predict probabilities with ``best_estimator_``.")
    predict_log_proba = _to_best("predict_log_proba", "Predict log-probabilities with ``best_estimator_``.")
    decision_function = _to_best("decision_function", "Return the decision function of ``best_estimator_``.")
    score_samples = _to_best("score_samples", "Return the score of every row by ``best_estimator_``.")
    transform = _to_best("transform", "Transform with ``best_estimator_``.")
    inverse_transform = _to_best("inverse_transform", "Transform back by ``best_estimator_``.", has_ids=False)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the plain metric on the X given; asks the holdout nothing.

        A warning tells if these are the rows of `fit`, on most of which the model was trained.

        Parameters
        ----------
        X : array-like of shape (n, ...)
        y : array-like of shape (n,) or None, default=None
        **params : dict
            ``sample_weight``; with metadata routing whatever the scorer requests.
        """
        model, scorer = self._fitted(), self.scorer_
        if params.keys() - {"sample_weight"} and not get_config()["enable_metadata_routing"]:
            owner, fix = "ReusableHoldoutCV.score", "Set it: sklearn.set_config(...)."
            at_most = "sample_weight at most: metadata is only supported if enable_metadata_routing=True"
            raise bad_parameter("**params", owner, at_most, sorted(params), fix)
        if self._takes_pairs_with is None:
            warn_of_rows_of_fit(self, without_column(X, self._id_column), y)
        refit = self.search.get_params(deep=False).get("refit")
        if isinstance(scorer, dict):
            return float(scorer[refit](model, self._columns(X), y, **params))
        score = scorer(model, self._columns(X), y, **params)
        return float(score[refit] if isinstance(score, dict) else score)

    def _fitted(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def _columns(self, X: Any) -> Any:
        """Return X without ids; of pairs with all rows that were passed, those with the rows fitted on."""
        X = without_column(X, self._id_column)
        return X if self._takes_pairs_with is None else X[:, self._takes_pairs_with[1]]

    classes_ = _of_best("classes_", "Class labels of ``best_estimator_``.")
    feature_names_in_ = _of_best("feature_names_in_", "Feature names of ``best_estimator_``, if any.")

    @property
    def n_features_in_(self) -> int:
        """Number of columns that `predict` takes; AttributeError before fit."""
        best = _best_of(self, "n_features_in_")
        return int(best.n_features_in_) if self._takes_pairs_with is None else self._takes_pairs_with[0]

    @available_if(lambda self: hasattr(self.search, "set_callbacks"))
    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set callbacks for the search (scikit-learn 1.9 or later), such as ``ProgressBar()``.

        They see what the search does, on training rows, and nothing of the certificate.

        Parameters
        ----------
        *callbacks : callback instances

        Returns
        -------
        self
        """
        return super().set_callbacks(*callbacks)


@dataclass(eq=False, repr=False)
class ReusableHoldoutCV(Delegates, MetaEstimatorMixin, BaseEstimator):
    """Run a search and give a confidence interval for its winner's score on new data.

    `fit` takes a holdout out of X, runs the search on the other rows and refits ``best_estimator_`` on all of
    them. No model is fitted on the holdout. ``search`` is all that is needed. Often given are ``ledger``,
    ``scoring``, ``holdout``, ``ids``, ``class_mix`` and ``who``; for most searches the others stay as they
    are.

    Then the holdout is asked for the score of ``best_estimator_``. With probability at least
    ``confidence_level``, ``best_score_interval_`` and all other intervals of the same ledger contain their
    population values, at the holdout's class mix unless ``class_mix=`` names another, however many searches
    were run and however each depended on the ones before (description length; Dwork et al., NIPS 2015).

    A question to the holdout has a *guess*: a candidate's score on rows that are not the holdout's. The
    *ledger* is a durable log of all questions. What an answer reveals is charged there in *nats* (see
    `Holdout`). The more nats were spent, the wider are later intervals.

    Parameters
    ----------
    search : estimator
        An unfitted search, such as ``GridSearchCV(model, grid)``. If its cv is None, a number, or a `KFold`
        or `StratifiedKFold` without shuffling, it gets its rows in a random order, so that its folds are like
        the holdout. The order is the same for the same rows, and rows of one group (or id) stay together. Any
        other cv, and any search on the rows beside a given `Holdout`, gets them in the order of X. Splits
        that a cv lists row by row (pairs of row numbers or masks, a `PredefinedSplit`) are of all rows passed
        to `fit`; the holdout's rows are taken out of them. With ``refit=False`` no model is kept: with
        ``ask="winner"`` nothing is then asked or certified, with ``"candidates"`` they are certified as they
        were fitted. If a function chooses the winner by several scores, nothing is asked about it unless
        ``scoring`` names one.
    ledger : path-like, str or None, default=None
        Where questions are recorded: a file, ``"postgresql://..."`` or ``":memory:"``; see `Holdout`. None: a
        temporary ledger for these rows in this session, which a second search on them continues. An outer
        fold is a data set of its own: its ledger is certified for that fold alone.
    create : bool, default=True
        Whether to begin a ledger where there is none; see `Holdout`.
    scoring : str, callable, Metric or None, default=None
        The metric that is certified. None: the search's own scoring (if it has several, the one that its
        ``refit`` names), else accuracy or R^2. If given, a winner is refitted and certified by it even with
        ``refit=False``.
    holdout : float, bool array, splitter or Holdout, default=0.25
        Which rows are held out: a share of the rows, at random; a mask of X's length; a splitter with one
        split, whose test part is the holdout; or a `Holdout` made before, and then all of X is for training.
        Row numbers are refused. So is a share if the search's cv is ordered in time (`TimeSeriesSplit`): give
        a mask of the last block.
    ids : str or None, default=None
        What identifies each row: the name of a column of X, or "index". The column is taken out before any
        model sees X, here and in `predict`. None: the ids are passed to `fit`, or there are none. With ids,
        rows may come in any order, columns may change, and rows with new ids may be added. Each row is put on
        its side of a share by a hash of its own id (of its group, if there are groups), without
        stratification, so no row of the holdout is ever trained on. Without ids the holdout depends on the
        labels and their order: columns may change, rows may not. See `Holdout`.
    answers : {"auto", "coarse", "exact"}, default="auto"
        How a search is answered about its winner. Fixed when the ledger is begun.

        - "coarse": with a coarse interval, which is a fifth wider at the twentieth search than at the first.
          `publish` then releases the holdout's score of the one model that is kept.
        - "exact": with that score, for 4 to 5 nats a search, so intervals widen from search to search.
        - "auto": as the ledger was begun. A new ledger with a path or a URL is "coarse". Any other releases
          the score of the first winner, for people who run one search only, and answers later ones coarsely.

        Stable medians are released at once. The ledger of a given Holdout decides. See `Holdout`.
    ask : "winner", "candidates" or int, default="winner"
        What the holdout is asked about.

        - "winner": about the winner, one question for each search. The search keeps its own cv and refit
          function. If no candidate has a finite score, ``best_score_`` is NaN, a warning says so, and nothing
          is charged.
        - An integer: about so many of the search's best candidates.
        - "candidates": about every candidate. Each is fitted on one part of the rows, and its score on the
          other part is the guess. The search may have no cv or refit function of its own.
    mechanism : str or scorer, default="auto"
        How the holdout answers.

        - "auto": "thresholdout" for candidates, and the metric's own interval for winners. A metric of
          scikit-learn without an interval is refused. For a function of your own, the stable median answers,
          with a warning.
        - "thresholdout", "ladder", "stable_median": as `ThresholdoutScorer`; `LadderScorer`, which reveals
          improvements only; or `StableHoldoutScorer`, for any metric.
        - "exponential_mechanism": with an integer ``ask``, chooses among the search's best few, reveals only
          the winner and certifies it.
        - A scorer: its metric, mechanism and holdout. For winners, its metric and holdout only.
    confidence_level : float, default=0.95
        The probability that all intervals of the ledger hold together.
    tolerance : float or None, default=None
        Largest half-width of a certified interval that is accepted; see `Holdout`.
    reveal : {"all", "winner"}, default="all"
        "winner" reveals only which of the N candidates asked about is the best on the holdout, for ``ln N``
        nats, and its certified score. The holdout's scores of the others are kept nowhere. With
        ``ask="candidates"`` that is for `GridSearchCV` and `RandomizedSearchCV`, and fits each candidate
        twice.
    one_standard_error : bool, str or callable, default=False
        Take the simplest of the candidates whose certified score is within one standard error of the best.
        True: the earliest in the grid (write the simple values first). The name of a parameter: the candidate
        with its least value. A function of a candidate's parameters: the candidate with its least value. The
        standard error is computed from the best candidate's certified interval, so it reveals nothing more.
    compare_with : "kept", fitted estimator or None, default=None
        With what the winner is compared once it is certified: "kept" with the model that `keep` has recorded
        last, if there is one; a fitted estimator with that one, such as the model in use. `print` then says
        how much better the winner is. The guess is the difference of both on validation rows, where the other
        model is fitted once more without them if it can be. Each comparison is a question of its own: nearly
        free where validation rows foresaw it, and as dear as any where answers are exact; see
        `Holdout.compare`. A process that did not keep the model must pass the model itself. A copy by
        ``clone`` has no fitted one, unless it is wrapped in `sklearn.frozen.FrozenEstimator`.
    validation : float, default=0.25
        For ``ask="candidates"``: the share of the training rows that gives the guesses, on which candidates
        are not fitted.
    class_mix : {"conditional", "priced"} or dict of label to share, default="conditional"
        At which class mix intervals hold. "conditional": the holdout's own mix. "priced": that of the
        population, paid for in nats. A dict: these shares. Without ``scoring`` a search ranks by its own
        scores, which are of the rows' class mix; with ``scoring`` and no scoring of its own it ranks by
        scores at the declared shares. See `Holdout`.
    missing : {"raise", "ignore"}, default="raise"
        What to do if rows of the holdout, by their ids, are not in X; see `Holdout`.
    expected_questions : int or None, default=None
        See `Holdout`.
    used_before : float or None, default=None
        Bits that were chosen by looking at the holdout's rows before the ledger is begun; see `Holdout`.
    seal_key : str, path-like, bytes, X25519PublicKey or None, default=None
        Public key of the person who holds the rows, with which values are sealed; see `Holdout`.
    who : str or None, default=None
        Who asks: written into every record of the ledger. See `Holdout`.
    random_state : int or None, default=None
        Seeds the split, together with ids, or labels and their order. It seeds neither noise nor subsamples.
    verbose : int, default=0
        1 prints a line for each stage, with a bar for several models in a terminal or notebook (tqdm:
        ``pip install tqdm``). 0 shows only that bar, and only after three seconds. The search has a
        ``verbose`` of its own.

    Attributes
    ----------
    best_estimator_ : estimator
        The winner, refitted on all rows but the holdout's. Absent with ``refit=False``.
    best_params_ : dict
        Parameters of the winner.
    best_index_ : int
        Its place in ``cv_results_``.
    best_score_ : float
        Before `publish`: the search's own cross-validation score, found without the holdout. After it: the
        published score. If the search ranks by another metric, the score of a model on validation rows takes
        the place of the first. Where the holdout releases its score at once (see ``answers``), it is that
        score. Before `publish` it stays where the holdout differs from it, and a warning says so. NaN if the
        model failed on the holdout, or if no candidate had a finite score. Absent, like its interval and
        target, if a function chose the winner by several scores.
    best_score_interval_ : tuple of float
        The certified interval of the score of ``best_estimator_``, by the holdout, which may differ
        from ``best_score_``. The metric's whole range if nothing was asked. Where it is printed, its ends are
        rounded outwards, while ``f"{low:.3f}"`` would round them to the nearest number, which may be inside.
    best_score_target_ : str
        The population quantity that ``best_score_`` estimates, such as "population accuracy". It names the
        range to which errors are clipped. Empty if nothing was asked.
    best_answer_ : Answer
        The holdout's answer, with its certificate. The value of a coarse one is the centre of a cell. Absent
        if nothing was asked.
    cv_results_ : dict
        That of the search, with ``certified_low``, ``certified_high``, ``certified_target`` and ``verdict``
        (see `Answer`) for every candidate that was asked about.
    answers_ : list of Answer
        In the order of the candidates asked, then the certified winner.
    comparison_ : Answer
        How much better the winner is than the model of ``compare_with``. Absent if nothing was compared.
    search_ : estimator
        The fitted search.
    train_indices_ : ndarray of int
        Numbers of the rows of X on which models were trained: all but the holdout's.
    holdout_ : Holdout
        The holdout. After unpickling a `HoldoutReport`, as rows and secret are not pickled.

    Raises
    ------
    BudgetExhaustedError
        If the tolerance does not admit all questions of the search. That is checked before the first fit, if
        the number of candidates is fixed by then, and again when they are asked about.
    HoldoutLeakError
        If X contains rows of a given holdout, or if what reaches the models otherwise, such as ``eval_set``,
        contains rows of the holdout. That is looked for before the first fit.
    ValueError
        For bad parameters. With ``ask="candidates"``, if no candidate got a score. If the search's cv is
        ordered in time and the holdout would be random rows.
    LedgerMismatchError
        If the ledger belongs to other data, another split or another policy.

    Warns
    -----
    UserWarning
        Before the search, if only a stable median can certify the metric, or if a function will choose the
        winner by several scores. In the end, if the winner failed on the holdout, if an interval is vacuous
        (as wide as the metric's range), or if nothing was asked because no candidate has a finite score or
        the winner has no ``predict``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})
    >>> ledger = pathlib.Path(tempfile.mkdtemp(), "cancer.db")  # keep yours beside the project
    >>> search = ReusableHoldoutCV(inner, ledger=ledger).fit(X, y)
    >>> print(search.best_answer_.in_words(name="CV"))
    CV .92, not contradicted by the holdout: in [.77, 1.00]
    >>> print(search.publish().in_words())
    published: .895 in [.836, .938]

    Rows with ids may come in any order, with other columns: the holdout stays, and its ledger goes on.

    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})
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
    create: bool = True
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
    compare_with: Any = None
    validation: float = 0.25
    class_mix: str | Mapping[Any, float] = "conditional"
    missing: str = "raise"
    expected_questions: int | None = None
    used_before: float | None = None
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
            All rows. If the model takes a kernel or distance matrix, that is split by rows and columns, and
            `predict` takes the pairs with all n rows; not for ``ask="candidates"``.
        y : array-like of shape (n,)
            One output. For several, put a wrapped search into `MultiOutputClassifier`.
        ids : array-like of shape (n,) or None, default=None
            What identifies each row, if the parameter ``ids`` is None. An outer cross-validation slices them
            along with X.
        **fit_params : dict
            Passed to the search and the refit. Parameters of X's length are split along with it. No table in
            the others may have rows of the holdout; see `WithValidation` for early stopping. With
            ``groups`` the holdout and the validation part have whole groups, and intervals count groups. With
            metadata routing enabled, each goes where it was requested.

        Returns
        -------
        self
        """
        given = Parameters.of(self)
        given.check()
        self._asked_as = self._certified_metric = None
        self._unasked = _NOT_FINISHED
        X, y, ids, self._id_column = checked_rows(given, X, y, ids)
        why_no_metric = given.why_no_metric()
        metric = None if why_no_metric or (self.ask == "winner" and not given.keeps_model) else given.metric()

        if metric is not None:
            given.check_models(metric, y)
            given.check_interval(metric)
        passed = FitParams.of(self, fit_params, n_rows(X))
        if given.given_holdout is None:  # else its rows are not among these
            warn_of_copies(X, passed.groups)
            warn_of_means_of_labels(X, y)
            warn_of_steps_before()
        folds = searches.own_folds(self.search)
        self.holdout_, train, cv = set_aside(given, X, y, passed.groups, folds, ids, metric)
        self.train_indices_ = np.asarray(train)
        self._takes_pairs_with = (n_rows(X), train) if given.of_pairs else None
        X_train, y_train = searches.take_for(X, train, train, given.of_pairs), take_rows(y, train)
        params = passed.take(train)
        if given.given_holdout is None and session_of(self.holdout_).notice:
            tell(session_of(self.holdout_).notice, self.verbose)
        tell(f"{self.holdout_.n_rows:,} rows are held out, {len(train):,} are for the search", self.verbose)

        check_parameters(params, given, X, y, self.train_indices_, self.holdout_)
        if metric is None:
            self.holdout_.check_overlap(X_train)
            self._search_only(X_train, y_train, params, cv, why_no_metric)
            return self
        metric = session_of(self.holdout_).metric(metric)
        other = given.other_model(metric, self.holdout_)
        median = given.median(metric, self.holdout_)
        given.warn_before_asking(metric, self.holdout_, median)
        if not given.asks_candidates:  # else its cv looks at the same rows
            self.holdout_.check_overlap(X_train)
            self._warn_of_folds(given, cv, X_train, y_train, params.groups)

        run = Run(
            given, self.holdout_, X_train, y_train,
            params=params, metric=metric, median=median, cv=cv, reporting=partial(searches.reporting, self),
        )  # fmt: skip
        winner = run.search_and_certify()
        self._keep(winner, given, metric)
        if other is not None and winner.answer is not None:
            guess = guess_of_difference(run, winner, other)
            self.comparison_ = self._compared(other, winner.metric or metric, guess=guess)
            self._compared_with = "the kept one" if is_kept(run.session, other) else "the model given"
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

    def _search_only(self, X: Any, y: Any, params: FitParams, cv: Any, why_no_metric: str) -> None:
        """Run a search without a model or a metric to certify."""
        keeps_model = Parameters.of(self).keeps_model
        if keeps_model:
            warn_user(
                f"{why_no_metric} Without it the winner is kept, and the holdout is not asked about it."
            )
        search = searches.unfitted(self.search, cv)
        with searches.reporting(self, search):
            search.fit(own_copy(X), y, **params.of_search)
        self._forget()
        self.search_, self.cv_results_, self.answers_ = search, searches.candidates_of(search), []
        for name in ("best_index_", "best_params_", "best_estimator_", "scorer_"):
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        searches.hand_on(search, self)
        self._unasked = why_no_metric if keeps_model else ""
        if not self._unasked:
            warn_user(
                "The search keeps no model (refit=False), so nothing was asked of the holdout and nothing is "
                "certified. Use refit=True or the name of a score, or ReusableHoldoutCV(scoring=...)."
            )

    def _keep(self, winner: Winner, given: Parameters, metric: Metric) -> None:
        """Set the fitted attributes, and take the holdout's scorer out of the search."""
        self._forget()
        search = self.search_ = winner.search
        self.cv_results_, self.answers_ = winner.results, winner.answers
        self.best_index_, self.best_params_ = winner.index, winner.results["params"][winner.index]
        if winner.model is not None:
            self.best_estimator_ = winner.model
        self._certified_metric, self._unasked = winner.metric, winner.unasked
        if winner.answer is not None:
            asked, number = winner.asked, winner.answer.index
            self._asked_as = None if asked is None else (asked.digest, number)
            self._show_best(winner.answer, asked)
        elif winner.unasked != NO_METRIC:  # a search whose winner a function chose by several has no score
            self.best_score_, self.best_score_target_ = math.nan, ""
            self.best_score_interval_ = metric.range or (-math.inf, math.inf)
        own = getattr(search, "scorer_", None)  # as its search scores, so does this, if by one metric
        is_own = own is not None and self.scoring is None and given.scorer is None
        self.scorer_ = own if is_own and not given.asks_candidates else metric.score
        searches.hand_on(search, self)
        if given.asks_candidates:
            self.multimetric_ = False
            searches.forget_holdout(search, self.search, searches.plain_scoring(metric))
            search.scorer_ = metric.score
            if not hasattr(type(search), "cv_results_"):  # else derived from the same scores
                search.cv_results_ = self.cv_results_

    def _show_best(self, answer: Answer, asked: Asked | None = None) -> None:
        """Set the attributes that say the score of the winner."""
        shown = (answer.value, str(answer.target)) if asked is None else asked.shown(answer)
        self.best_score_, self.best_score_target_ = shown
        self.best_answer_, self.best_score_interval_ = answer, answer.interval
        times = session_of(self.holdout_).ledger.read(lambda state: sum(state.asked.values()))
        asked_of = counted(times, "search" if self.ask == "winner" else "question")
        self._asked_of = f"holdout of {self.holdout_.n_rows:,} rows, {asked_of}"
        tell(self._score_line, self.verbose)

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
        drawn: bool = True,
    ) -> Answer:
        """Release the holdout's score of ``best_estimator_``, about as narrowly as if it were new.

        Call it for the model that is kept, after the last search: see `Holdout.publish`. The more guesses
        failed before, the wider is the interval. From now on ``best_score_`` is the published score. It
        updates ``best_score_``, ``best_score_interval_``, ``best_score_target_`` and ``best_answer_``. Unless
        it is a count of rows, the score is rounded, to the steps that its target names. On a ledger with
        exact answers it asks nothing, as the score was released already.

        If another model was published before, a warning comes before the charge, so
        ``warnings.simplefilter("error")`` stops it there.

        Parameters
        ----------
        X, y, ids, groups : array-like or None, default=None
            As they were passed to `fit`. Needed only after unpickling, as pickles hold no rows.
        drawn : bool, default=True
            False: certify it with ends that need no secret, as `Holdout.certify` does. Where those on record
            were drawn, that is asked and paid for as another question.

        Returns
        -------
        Answer

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If there is no ``best_estimator_``, if it was changed, or if nothing was asked about it. If rows
            are needed. Nothing was charged.
        BudgetExhaustedError
            If nothing is left of the failure probability, or the holdout was closed.
        LedgerMismatchError
            If X and y are other rows.
        """
        check_is_fitted(self, "search_")
        if self._unasked:
            call = "search.holdout_.publish(search.best_estimator_, scoring=...)"
            fix = f"{self._unasked} Or ask about the model that was kept: {call}."
            got = "one about which nothing was asked"
            raise bad_parameter("search", _PUBLISH, "one whose winner was asked about", got, fix)
        if not hasattr(self, "best_estimator_") or self._asked_as is None:
            fix = "Fit one, and publish it: holdout.publish(model)."
            raise bad_parameter("search", _PUBLISH, "one that keeps a model", "refit=False", fix)
        digest, number = self._asked_as
        holdout = self._with_rows(X, y, ids, groups)
        session = session_of(holdout)
        now = model_digest(self.best_estimator_, session.data, session.policy)
        if now != digest and not digest.startswith("nonce"):
            got = "a model that was changed since"
            fix = "It is another model than the one that was found: holdout.publish(model)."
            raise bad_parameter("best_estimator_", _PUBLISH, "as it was when it was asked", got, fix)
        record, recorded = session.ledger.record(number), session.recorded_answer(number)
        if record is None or recorded is None:
            raise LedgerMismatchError("The ledger has no record of this search: it is another one.")
        if not session.policy.seals and (drawn or not needs_secret(session, record)):
            return self.best_answer_
        given = Parameters.of(self)
        metric = self._certified_metric or given.metric()
        median = given.median(metric, holdout)
        guess = session.guess_behind(recorded)
        model, data, policy = self.best_estimator_, session.data, session.policy
        subject = Subject.of(model, data, policy, "Holdout.publish", fitted=True)
        asked = Ask(subject, metric, "certify", guess, settings=median, publish=True, drawn=drawn)
        answer = publish(session, asked, plan_question(session, asked), number)
        if answer.verdict == "refused":
            raise BudgetExhaustedError(f"The winner could not be published: {answer.reason}.")
        if answer not in self.answers_:
            self.answers_.append(answer)
        self.holdout_ = holdout
        self._show_best(answer)
        return answer

    def keep(self) -> None:
        """Record that ``best_estimator_`` is the model to keep, which later winners have to beat.

        It costs nothing; see `Holdout.keep`. ``ReusableHoldoutCV(..., compare_with="kept")`` compares the
        winners of later searches on this ledger with it.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If there is no best model, or the search was pickled. Nothing was recorded.
        """
        fix = "Fit one, and keep it: holdout.keep(model)."
        session = session_of(self._open_holdout(f"{OWNER}.keep", fix))
        digest, number = self._asked_as or (None, None)
        now = model_digest(self.best_estimator_, session.data, session.policy)
        keep_model(session, self.best_estimator_, now, number if now == digest else None)

    def compare(
        self,
        incumbent: Any,
        *,
        scoring: Any = None,
        guess_from: tuple[Any, ArrayLike] | None = None,
        drawn: bool = True,
    ) -> Answer:
        """Ask how much better ``best_estimator_`` is than another model, such as the one in use.

        The interval of the difference holds together with all others of the ledger. On a ledger that answers
        coarsely it is a coarse interval for some hundredths of a nat where ``guess_from=`` foresaw it, or the
        guesses of both models, if the other was a winner on this ledger, too. Else the answer is exact, for
        ten nats or more, which widen all later intervals: see `Holdout.compare`.

        Parameters
        ----------
        incumbent : fitted estimator
            It must not have been trained on rows of the holdout. Winners of earlier searches on this ledger
            were not.
        scoring : str, callable or Metric, default=None
            A mean of bounded scores. None: the metric of the search.
        guess_from : tuple (X, y) or None, default=None
            Validation rows that were never in X of `fit`, and that neither model was trained on. They show
            how often the two differ. Rows of the holdout are refused, at no cost.
        drawn : bool, default=True
            As for `Holdout.certify`.

        Returns
        -------
        Answer
            Its value is the score of ``best_estimator_`` minus that of the incumbent.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If there is no best model, or the search was pickled; else as for `Holdout.compare`.
        HoldoutLeakError
            If rows of ``guess_from`` are the holdout's. If fit took that out of X, nothing is charged.

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
        >>> new.compare(old.best_estimator_).target[:32]
        'population accuracy of b minus a'
        """
        fix = "Fit one, and compare it: holdout.compare(incumbent, model, scoring=...)."
        holdout = self._open_holdout(f"{OWNER}.compare", fix)
        if guess_from is not None and is_pair(guess_from) and Parameters.of(self).given_holdout is None:
            _check_not_of_x(guess_from[0], session_of(holdout).data.X)
        metric = (self._certified_metric or Parameters.of(self).metric()) if scoring is None else scoring
        return self._compared(incumbent, metric, guess_from=guess_from, drawn=drawn)

    def _compared(self, other: Any, metric: Scoring, **how: Any) -> Answer:
        return self.holdout_.compare(other, self.best_estimator_, scoring=metric, **how)

    def _open_holdout(self, owner: str, fix: str) -> Holdout:
        """Return the holdout, of which a best model is to be asked; ``fix`` is for a search without one."""
        check_is_fitted(self, "search_")
        if not hasattr(self, "best_estimator_"):
            raise bad_parameter("search", owner, "one that keeps a model", "refit=False", fix)
        if not isinstance(self.holdout_, Holdout):
            got = "a search that was pickled, which dropped the rows of the holdout"
            fix = "Open the holdout on its ledger, Holdout(X, y, ledger=...), and give it the model."
            raise bad_parameter("X", owner, "there", got, fix)
        return self.holdout_

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
        y, cv = np.ravel(np.asarray(y)), searches.own_folds(self.search)
        given = Parameters.of(self)
        given.create = False  # it was there
        holdout, _, _ = set_aside(given, X, y, groups, cv, ids)
        if holdout.fingerprint != self.holdout_.fingerprint:
            raise LedgerMismatchError(
                "These rows, or their ledger, are not those that the search was fitted with: pass the same "
                "X, y and ids, and keep the ledger (ledger=None ends with its session)."
            )
        return holdout

    # How it is shown in a notebook: with its certified score, and what is left of its holdout.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; of a URL no representation shows the password.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add those of the search.

        Returns
        -------
        dict
        """
        params: dict[str, Any] = super().get_params(deep)
        return params | {"ledger": hidden(params["ledger"])}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the parameters and, of a fitted search, its score and what the holdout says of that."""
        plain = object.__new__(_Plain)
        plain.__dict__.update(vars(self))
        text: str = BaseEstimator.__repr__(plain, N_CHAR_MAX=N_CHAR_MAX)
        return "\n".join([text, *self._score_lines])

    @property
    def _score_lines(self) -> list[str]:
        """The score, what the holdout says of it, and the comparison, as far as there are any."""
        lines = [self._score_line] if hasattr(self, "best_answer_") else []
        compared = getattr(self, "comparison_", None)
        return lines if compared is None else [*lines, difference_line(compared, self._compared_with)]

    @property
    def _score_line(self) -> str:
        answer, score = self.best_answer_, self.best_score_
        assert answer.certificate is not None  # it was not refused
        is_own = score == getattr(self.search_, "best_score_", None)
        found = answer.guess if score == answer.value else score  # of a check that differs it is the value
        text = answer.in_words(found, "CV" if is_own else "validation score")
        if not text.startswith(("CV", "validation")):
            text += f" ({self._asked_of})"
        return text + (", VACUOUS: it says nothing" if answer.certificate.vacuous else "")

    @property
    def _repr_html_(self) -> Callable[[], str]:
        if get_config()["display"] != "diagram":
            raise AttributeError("There is a page only where sklearn.set_config has display='diagram'.")
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
            why = getattr(self, "_unasked", "")
            return framed(paragraph("Nothing is certified of best_estimator_", why, strong=1)) if why else ""
        answer = self.best_answer_
        assert answer.certificate is not None
        assert answer.target is not None
        lines = [*self._score_lines, f"target: {population_of(answer.target)}"]
        if answer.published is not None:
            lines.append("Not published yet.")
        certificate = folded("certificate", answer.certificate._repr_html_())
        return framed(paragraph(*lines, strong=1), certificate, paragraph(headline_of(self.holdout_)))

    # What scikit-learn asks of an estimator that wraps a search: routing, tags, copies, pickles.

    def get_metadata_routing(self) -> Any:
        """Return the routing: ``groups`` are read here too, everything else is the search's."""
        return router_of(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.search)
        model = inner if inner.estimator_type else get_tags(self.search.estimator)  # not all searches say
        tags.estimator_type = model.estimator_type
        tags.classifier_tags, tags.regressor_tags = model.classifier_tags, model.regressor_tags
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = searches.is_of_pairs(self.search)
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


class _Plain(ReusableHoldoutCV):
    """A search as scikit-learn shows it, which breaks lines of its own ``__repr__`` only."""

    __repr__ = BaseEstimator.__repr__


_Plain.__name__ = OWNER


def _check_not_of_x(rows: Any, held: Any) -> None:
    """Raise `HoldoutLeakError` if rows of a guess are of a holdout that fit took out of X.

    Whoever passed X has its rows, so this reveals nothing and is free.
    """
    if has_rows_of(rows, held):
        raise HoldoutLeakError(
            f"The 'guess_from' parameter of {OWNER}.compare must be rows that neither model was trained on, "
            "and none of the holdout. Got rows of the holdout, which was taken out of X, instead. Set rows "
            "aside before fit: X, X_val, y, y_val = train_test_split(X, y). Nothing was charged."
        )
