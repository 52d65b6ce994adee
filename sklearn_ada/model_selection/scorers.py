"""Scorers for ``scoring=`` of a search, which return the answers of a holdout.

The metric on the X and y that the search passes is the *guess*; the holdout is asked whether it agrees. What
an answer reveals is charged to the holdout's ledger in *nats* (see `Holdout`).

A scorer sees an estimator and some rows, nothing else. So each fitted model gets one question, at the first
call; the rows passed are where the guess comes from. Every other call (train scores, ``search.score`` on new
rows) returns the plain metric and costs nothing. Some parts of scikit-learn hand a scorer what is not a model
of the holdout's rows: columns left out, labels coded anew, predictions in place of rows, a model that is
still being fitted. These are refused before anything is charged.

A mechanism needs no class of scorers: `SettingsScorer` asks as its settings say, and a line of `MECHANISMS`
is enough for a search to name it.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter, check_option, check_real
from sklearn_ada.answer import Answer
from sklearn_ada.digest.rows import row_hashes
from sklearn_ada.exceptions import BudgetExhaustedError, HoldoutLeakError
from sklearn_ada.holdout.advice import warn_if_vacuous, warn_of_units
from sklearn_ada.holdout.asking import put_once, put_question
from sklearn_ada.holdout.framing import Ask, Settings, check_median_may_be, plan_question
from sklearn_ada.holdout.holdout import Holdout, Scoring, Uncopied, session_of
from sklearn_ada.holdout.session import Session
from sklearn_ada.mechanisms.rounding import LEAST_CELL, Grid
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.model_selection.training_rows import ValidationSplit
from sklearn_ada.questions.coded import FILL, CodedQuestion
from sklearn_ada.questions.ladder_check import LadderQuestion, LadderSettings
from sklearn_ada.questions.noisy import NoiseSettings
from sklearn_ada.questions.question import QUESTIONS, Guess, Question, guess_from_rows, median_guess_from_rows
from sklearn_ada.questions.stable_median import MedianSettings, StableQuestion
from sklearn_ada.terms.models import Subject

_ELSEWHERE = (), -1  # the rows of a guess, of a scorer that came from another process


class HoldoutScorer(Uncopied, ABC):
    """What all scorers share; use `ThresholdoutScorer` or `StableHoldoutScorer`.

    All state is in the holdout's ledger: copies, clones and pickles of a scorer charge the same one.

    Attributes
    ----------
    cv : ValidationSplit
        Pass it as ``cv=`` of a search: models are fitted on one part of X, and guesses come from the rest.
        Once it has been used, only scores on its validation rows are questions to the holdout.
    select_best : SelectBest
        Pass it as ``refit=`` of a search: it raises `BudgetExhaustedError` if any candidate has no score.
        scikit-learn would silently pick the first.
    """

    question: ClassVar[type[Question]] = CodedQuestion
    settings: Settings = None

    @abstractmethod
    def __init__(
        self, scoring: Scoring, holdout: Holdout, *, validation: float = 0.25, on_exhausted: str = "nan"
    ) -> None:
        owner = self.__class__.__name__
        if not isinstance(holdout, Holdout):
            kind = type(holdout).__name__  # its content may be the holdout's rows
            raise bad_parameter("holdout", owner, "a Holdout", kind, "Make one: Holdout(X_hold, y_hold).")
        self.holdout = holdout
        self.metric: Metric = self.session.metric(scoring)
        self.on_exhausted = check_option(on_exhausted, "on_exhausted", owner, ("nan", "raise"))
        self.cv = ValidationSplit(holdout, validation)
        self.round_name: str | None = None
        self.candidates: int | None = None  # of the search that asks
        self.__name__ = f"{owner}_{self.metric.name}"  # displays of learning curves read it
        self._warned = False
        self._sample_weight_request: bool | str | None = False
        self._first_rows = "", 0
        self._clean: set[int] = set()
        self._last_part: tuple[tuple[int, ...], int] | None = None  # columns and entries of the last guess

    @property
    def session(self) -> Session:
        """Rows, policy and ledger of the holdout."""
        return session_of(self.holdout)

    @property
    def select_best(self) -> SelectBest:
        """A callable for ``refit=``: it chooses the best, or raises if a candidate has no score.

        A search of scikit-learn whose ``refit`` is a function has no ``best_score_``. Read
        ``cv_results_["mean_test_score"][best_index_]``, and get an interval by `Holdout.certify`.
        """
        return SelectBest(holdout=self.holdout)

    def __call__(self, estimator: Any, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Return the holdout's answer about a model, or the plain metric without a question.

        Parameters
        ----------
        estimator : fitted estimator
        X, y : array-like
            Rows from which the guess is taken.
        sample_weight : array-like or None
            Weights of these rows; they affect the plain metric only.

        Returns
        -------
        float
            NaN if the holdout refused or the model failed on it; `BudgetExhaustedError` if it refused and
            ``on_exhausted="raise"``. If X has rows of the holdout, or too few columns, an object that raises
            the error when it is read as a number: a search would turn an exception here into NaN.
        """
        if y is None:
            raise bad_parameter("y", self.__name__, "the labels of X", None)
        refusal = self._refusal_of_columns(estimator, X)
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
                f"The holdout refused a question, so this score is NaN: {answer.reason}. "
                "on_exhausted='raise' stops the search; holdout.report() says what can still be asked.",
                once=("refused", self.session.fingerprint),
            )
        return answer.value

    def answer(self, estimator: Any, X: Any, y: Any, *, searching: bool = False) -> Answer | None:
        """Ask about a fitted model with a guess from X and y; None if this call is no question.

        Parameters
        ----------
        estimator : fitted estimator
        X, y : array-like
        searching : bool, default=False
            Whether the call is from inside a search that uses `cv`. Rows that may be of either part are then
            a question, and vacuous answers give no warning here.

        Raises
        ------
        HoldoutLeakError
            If X repeats rows of the holdout, far more than chance allows: such a guess would be the answer.
        """
        self._check_caller(estimator, y)
        origin = self.cv.origin(X, y) if self.cv.registered else "first call"
        if origin == "fit":  # a train score is no surprise
            return None
        if origin == "elsewhere" or (origin == "both" and not searching):
            self._warn_once()
            return None
        session = self.session
        subject = Subject.of(estimator, session.data, session.policy, "Holdout.check")
        asked = Ask(
            subject, self.metric, "check", self._guess(subject.copy(), X, y), settings=self.settings,
            round_name=self.round_name, candidates=self.candidates,
        )  # fmt: skip
        question = plan_question(session, asked)
        entries = _sum_of_entries(X) if origin == "first call" else 0
        if origin == "first call" and entries not in self._clean:  # a splitter checks its rows itself
            self.holdout.check_overlap(X)
            self._clean.add(entries)
        if origin == "first call":
            self._warn_of_folds((getattr(X, "shape", None) or np.shape(X[:1]))[1:], entries)
        if not searching:
            warn_of_units(session, self.metric)
        put = put_question if origin == "validation" else put_once
        answer = put(session, asked, question)
        if answer is not None and not answer.repeated and not searching:
            warn_if_vacuous(session, answer, question)
        if origin == "first call":
            self._check_permuted(subject.digest, entries, asked=answer is not None)
        return answer

    def _check_permuted(self, model: str, entries: int, *, asked: bool) -> None:
        """Refuse copies of the first call's rows with a column permuted: their score is no holdout's.

        Subsamples of such copies (``max_samples`` below 1.0) are not recognised.
        """
        if asked:
            self._first_rows = model, entries
        elif self._first_rows == (model, entries):
            raise self._misused("answers one question a model, and cannot score permuted copies of X")

    def _warn_of_folds(self, columns: tuple[int, ...], entries: int) -> None:
        """Warn, before the second question, if it comes from other rows than the first.

        A scorer that was pickled without its cv being used is in a worker: its first question is any.
        """
        before = self._last_part
        self._last_part = columns, entries
        if before is not None and (before == _ELSEWHERE or (before[0] == columns and before[1] != entries)):
            warn_user(
                f"{self.__name__} asks the holdout about a model of each fold, as its cv is not in use: that "
                "is a question, and a price, for each. Pass cv=scorer.cv as well, to the search or to "
                "cross_val_score: then there is one question for each candidate.",
                once=("folds", self.session.fingerprint),
            )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out which rows came first: in a worker they are those of any fold."""
        return {**vars(self), "_last_part": _ELSEWHERE}

    def _guess(self, estimator: Any, X: Any, y: Any) -> Guess:
        return guess_from_rows(self.metric, estimator, X, y)

    def _check_caller(self, estimator: Any, y: Any) -> None:
        """Raise TypeError if this is no fitted model of rows and labels like the holdout's."""
        if not hasattr(estimator, "fit"):
            kind = type(estimator).__name__
            raise self._misused(f"was handed a {kind} and its predictions, not a fitted model and its rows")
        own = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
        if own.get("scoring") is self and "n_iter_no_change" in own:
            raise self._misused(f"cannot stop {type(estimator).__name__} early, from inside its fit")
        classes, of_model = self.session.data.classes, getattr(estimator, "classes_", None)
        if classes is None or of_model is None or np.array_equal(classes, of_model):
            return
        if np.setdiff1d(classes, of_model).size and np.setdiff1d(y, classes).size:
            raise self._misused("was handed labels coded anew, which are not the holdout's")

    def _refusal_of_columns(self, estimator: Any, X: Any) -> NotAScore | None:
        """Return a score that raises when read, if the columns are not the holdout's.

        None for a model of as many columns as the holdout has.
        """
        shape = getattr(X, "shape", None) or np.shape(X[:1])
        columns = shape[1] if len(shape) == 2 else None
        expected = self.session.data.n_columns
        fitted_on = getattr(estimator, "n_features_in_", None)
        if columns is None or expected is None or columns == expected or fitted_on != columns:
            return None
        what = f"was asked about a model of {columns} columns, and the holdout has {expected}"
        return NotAScore(self._misused(what))

    def _misused(self, what: str) -> TypeError:
        """Return the error of a scorer that was used where it cannot be."""
        return TypeError(
            f"{type(self).__name__} {what}. Put ReusableHoldoutCV around the whole search, or use a plain "
            "scorer here and ask about the fitted model: holdout.certify(model, scoring=...)."
        )

    def fresh(self, validation: float) -> HoldoutScorer:
        """Return a scorer with the same settings and a splitter of its own.

        Parameters
        ----------
        validation : float
            Part of the rows that guesses are taken from, in (0, 1).
        """
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.cv = ValidationSplit(self.holdout, validation)
        other.round_name = other.candidates = None
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
            "predictions. Tune with a plain scorer and certify the tuned model: holdout.certify(...)."
        )

    def _accept_sample_weight(self) -> bool:
        return False

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata request, which by default ignores weights."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self._sample_weight_request)
        return request

    def set_score_request(self, *, sample_weight: bool | str | None = False) -> HoldoutScorer:
        """Set what metadata routing does with ``sample_weight``, the weights of the rows scored.

        They affect the plain metric of a call that is no question. The holdout has weights of its own.

        Parameters
        ----------
        sample_weight : bool, str or None, default=False
            True: passed on. False: ignored. None: passing it is an error. A string: passed on by that name.

        Returns
        -------
        self
        """
        MetadataRequest(owner=self).score.add_request(param="sample_weight", alias=sample_weight)  # checks it
        self._sample_weight_request = sample_weight
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.metric.name!r}, {self.holdout!r})"


class ThresholdoutScorer(HoldoutScorer):
    """Score a model by validation rows, corrected by the holdout where the two differ.

    The guess is the metric on the X and y that the search passes. If the holdout's value is within the
    threshold of the guess, the score is the guess itself, which reveals almost nothing. Else the score is the
    holdout's value, rounded to the middle of a cell (an interval of twice the threshold). By default it has
    no noise, which the article's Thresholdout has: see ``noise``. All intervals of the ledger hold together
    with the holdout's ``confidence_level`` (Dwork et al., Science 2015 and NIPS 2015; theorem in
    `sklearn_ada.guarantees.description_length`).

    Parameters
    ----------
    scoring : str, callable or Metric
        A mean of bounded scores, a ROC AUC, a per-class mean or a ratio.
    holdout : Holdout
    threshold : float, "auto" or "fill", default="auto"
        Half width of a cell, in units of the metric. "auto" chooses it from the sizes of guess and holdout
        and the number of questions expected. "fill" makes cells as wide as the holdout's tolerance still
        allows, so that most questions are answered within it; only without noise.
    noise : {"none", "laplace", "gaussian"}, default="none"
        "none": answers are only rounded, and intervals are narrowest. "laplace": the algorithm of the Science
        article, differentially private for ``max_hits`` corrections. "gaussian": as in the article's
        experiment, with a fixed threshold; every question costs privacy, even if its guess holds.
    noise_scale : float or "auto", default="auto"
        Scale of the noise of a corrected value, in units of the metric; "auto" is 2 % of the threshold.
    max_hits : int or None, default=None
        How often the holdout may correct a guess; afterwards every question is refused. None: 20 for
        "laplace", no limit for "gaussian".
    validation : float, default=0.25
        Part of X that `cv` takes guesses from.
    on_exhausted : {"nan", "raise"}, default="nan"
        What the search gets where the holdout refuses to answer: NaN as the score, or a
        `BudgetExhaustedError`.

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
    >>> holdout = Holdout(X[310:], y[310:])
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
        scoring: Scoring,
        holdout: Holdout,
        *,
        threshold: float | str = "auto",
        noise: str = "none",
        noise_scale: float | str = "auto",
        max_hits: int | None = None,
        validation: float = 0.25,
        on_exhausted: str = "nan",
    ) -> None:
        super().__init__(scoring, holdout, validation=validation, on_exhausted=on_exhausted)
        owner = "ThresholdoutScorer"
        low, high = self.metric.bounds  # raises if only a stable median can certify the metric
        half_cell: float | None = None
        if threshold == FILL:
            if noise != "none" or self.session.policy.tolerance is None:
                expected = "a number or 'auto' with noise, or on a holdout without a tolerance"
                raise bad_parameter("threshold", owner, expected, threshold)
        elif threshold != "auto":
            least = LEAST_CELL * (high - low)
            half_cell = check_real(threshold, "threshold", owner, low=least, high=high - low, closed="low")
        self.settings = FILL if threshold == FILL else half_cell
        check_option(noise, "noise", owner, ("none", "laplace", "gaussian"))
        if noise != "none":
            self.settings = NoiseSettings(noise, noise_scale, max_hits, half_cell)
        elif max_hits is not None:
            raise bad_parameter("max_hits", owner, "None when noise='none'", max_hits)
        elif holdout.route == "differential_privacy":
            fix = "An answer without noise has no privacy; or open the holdout with route='both'."
            raise bad_parameter("noise", owner, "'laplace' or 'gaussian' on this holdout's route", noise, fix)


class StableHoldoutScorer(HoldoutScorer):
    """Score a model by the median of any metric on small samples of the holdout.

    What is certified is a quantile: with the holdout's ``confidence_level``, every median that it answers
    with lies between two quantiles of the metric on a random subsample, rounded as the answer's target says.
    Their levels are `Answer.levels`: .4 and .6 mean near the median. After many answers that nobody could
    guess, the levels are 0 and 1, and the certificate is vacuous.

    Source: Feldman, Steinke, "Generalization for Adaptively-chosen Estimators via Stable Median", COLT 2017,
    Theorem 3.1, for the median; its levels are by description length and a binomial tail.

    Parameters
    ----------
    scoring : str, callable or Metric
    holdout : Holdout
    n_subsamples : int or "auto", default="auto"
        "auto": one for every 20 rows, at most 400 (an odd number for "exact").
    grid : Grid or "auto", default="auto"
        The finite set that values are rounded to. "auto": around the guess, in steps that suit its precision.
    epsilon : float or "auto", default="auto"
        Privacy parameter of one median: the smaller, the more noise. Not used by ``method="exact"``.
    method : {"exponential", "binary_search", "exact"}, default="exponential"
        Draw the median by the exponential mechanism or by noisy binary search, or take it exactly.
    stratify : bool, default=False
        Whether all subsamples get the same class counts, so that none lacks a rare class. Rows of a class
        that cannot be divided evenly are left out. The target is then the median over such subsamples.
    validation : float, default=0.25
        Part of X that `cv` takes guesses from.
    on_exhausted : {"nan", "raise"}, default="nan"
        What the search gets where the holdout refuses to answer: NaN as the score, or a
        `BudgetExhaustedError`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_ada import Holdout
    >>> X, y = load_diabetes(return_X_y=True)
    >>> scorer = StableHoldoutScorer("neg_mean_absolute_error", Holdout(X[200:], y[200:]))
    >>> score = scorer(Ridge().fit(X[:100], y[:100]), X[100:200], y[100:200])
    >>> -70 < score < -40
    True
    """

    question = StableQuestion

    def __init__(
        self,
        scoring: Scoring,
        holdout: Holdout,
        *,
        n_subsamples: int | str = "auto",
        grid: Grid | str = "auto",
        epsilon: float | str = "auto",
        method: str = "exponential",
        stratify: bool = False,
        validation: float = 0.25,
        on_exhausted: str = "nan",
    ) -> None:
        super().__init__(scoring, holdout, validation=validation, on_exhausted=on_exhausted)
        check_median_may_be(self.session.policy)
        self.settings: MedianSettings = MedianSettings(n_subsamples, grid, epsilon, method, stratify)
        self.settings.subsample_size(self.session.data)  # raises if there are more subsamples than rows

    def _guess(self, estimator: Any, X: Any, y: Any) -> Guess:
        size = self.settings.subsample_size(self.session.data)
        return median_guess_from_rows(self.metric, estimator, X, y, size)


class SettingsScorer(HoldoutScorer):
    """Score by the mechanism that settings ask for.

    Parameters
    ----------
    scoring : str, callable or Metric
        A metric with an interval of its own.
    holdout : Holdout
    settings : object
        Of a class that a class of questions has as its ``settings_type``.
    **options : dict
        ``validation`` and ``on_exhausted``, as of `ThresholdoutScorer`.
    """

    def __init__(self, scoring: Scoring, holdout: Holdout, *, settings: Any, **options: Any) -> None:
        super().__init__(scoring, holdout, **options)
        if type(settings) not in QUESTIONS:
            raise bad_parameter("settings", "SettingsScorer", "settings of a mechanism", settings)
        self.settings = settings
        _ = self.metric.certified_measure  # raises if only a stable median can certify the metric


class LadderScorer(SettingsScorer):
    """Reveal a model's score on the holdout only if it beats the best so far.

    A model that beats the best so far by more than a step gets its own value, rounded to a step, with an
    interval. Any other model gets the best value so far as its score, and an upper bound. Source: Blum,
    Hardt, "The Ladder", ICML 2015; certified by description length.

    Parameters
    ----------
    scoring : str, callable or Metric
        A mean of bounded scores, a ROC AUC or a per-class mean.
    holdout : Holdout
    step : float or "auto", default="auto"
        Least improvement that is revealed, in units of the metric. "auto" is two standard errors of an
        accuracy of one half: for a mean, the metric's range over the root of the number of rows.
    validation : float, default=0.25
        Part of X that `cv` takes guesses from.
    on_exhausted : {"nan", "raise"}, default="nan"
        What the search gets where the holdout refuses to answer: NaN as the score, or a
        `BudgetExhaustedError`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_ada import Holdout
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = LadderScorer("accuracy", Holdout(X[320:], y[320:]))
    >>> stumps = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X[:200], y[:200]) for d in (3, 1)]
    >>> first, second = (scorer(stump, X[200:300], y[200:300]) for stump in stumps)
    >>> first == second
    True
    """

    question = LadderQuestion

    def __init__(
        self,
        scoring: Scoring,
        holdout: Holdout,
        *,
        step: float | str = "auto",
        validation: float = 0.25,
        on_exhausted: str = "nan",
    ) -> None:
        options: dict[str, Any] = {"validation": validation, "on_exhausted": on_exhausted}
        super().__init__(scoring, holdout, settings=LadderSettings(step), **options)


@dataclass(frozen=True)
class Mechanism:
    """A mechanism that `ReusableHoldoutCV` can ask by.

    Parameters
    ----------
    scorer : type
        Of the scorer that asks about candidates.
    settings : object or None, default=None
        What a `SettingsScorer` asks by.
    is_chosen : bool, default=True
        Whether it answers only where it was asked for: not where the metric decides.
    draws_winner : bool, default=False
        Whether the winner is drawn among the search's best few, by the exponential mechanism.
    """

    scorer: type[HoldoutScorer]
    settings: Any = None
    is_chosen: bool = True
    draws_winner: bool = False


MECHANISMS = {
    "auto": Mechanism(ThresholdoutScorer, is_chosen=False),
    "exponential_mechanism": Mechanism(ThresholdoutScorer, draws_winner=True),
    "ladder": Mechanism(LadderScorer),
    "stable_median": Mechanism(StableHoldoutScorer),
    "thresholdout": Mechanism(ThresholdoutScorer),
}
"""The mechanisms of a search by name."""


class SelectBest:
    """Choose the best candidate of a finished search, or raise: for ``refit=``.

    Parameters
    ----------
    name : str, default="score"
        Which score to go by. If ``scoring`` is a dict, use ``select_best.by("acc")``.
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
        only = f"Only {answered} of {size} candidates were answered"
        if refused or self.holdout is None:
            reason = f" ({refused[0].reason})" if refused else ", or their models failed"
            return BudgetExhaustedError(
                f"{only}; the rest were refused by the holdout{reason}. No winner is chosen, and what was "
                "answered stays certified. Look at holdout.report(); search fewer candidates, add fresh rows "
                "(holdout.top_up), or take rows that nobody has asked about."
            )
        reason = f" ({without[0].reason})" if without else " before the holdout was asked"
        return ValueError(
            f"{only}; the models of the rest failed{reason}. Nothing is exhausted: holdout.remaining() says "
            "what is left. Mend the model, or leave these candidates out: some models fail on rows with NaN."
        )

    def __repr__(self) -> str:
        return "select_best" if self.name == "score" else f"select_best.by({self.name!r})"


class NotAScore:
    """The place of a score that cannot be: read as a number, it raises.

    An exception inside a scorer becomes a NaN in searches, which then choose at random.
    """

    def __init__(self, error: Exception) -> None:
        self.error = error

    def item(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise; scikit-learn reads a score so."""
        raise self.error

    __float__ = __array__ = item

    def __repr__(self) -> str:
        return f"<no score: {self.error}>"


def _sum_of_entries(X: Any) -> int:
    """Return a number that does not depend on the order within each column."""
    if isinstance(X, np.ndarray) and X.dtype == np.float64:  # every model of a search pays for this
        return int(np.sum(np.ascontiguousarray(X).view(np.uint64), dtype=np.uint64))
    return int(np.sum(row_hashes(X), dtype=np.uint64))
