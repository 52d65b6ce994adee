"""Scorers for ``scoring=`` of a search, which return the answers of a holdout.

The metric on the X and y that the search passes is the *guess*; the holdout is asked whether it agrees. What
an answer reveals is charged to the holdout's ledger in *nats* (see `Holdout`).
"""

from __future__ import annotations

from typing import Any

from sklearn_ada._checks import bad_parameter, check_option, check_real
from sklearn_ada.holdout import (
    FILL,
    Guess,
    Holdout,
    LadderSettings,
    MedianSettings,
    NoiseSettings,
    Scoring,
    guess_from_rows,
    median_guess_from_rows,
    plan_question,
    session_of,
)
from sklearn_ada.mechanisms import Grid
from sklearn_ada.mechanisms.rounding.cells import LEAST_CELL
from sklearn_ada.model_selection.scorers.base import HoldoutScorer

__all__ = ["LadderScorer", "StableHoldoutScorer", "ThresholdoutScorer"]


class ThresholdoutScorer(HoldoutScorer):
    """Score by validation rows, corrected by the holdout where the two differ.

    The metric on the X and y that the search passes is the guess. If the holdout's value is within the
    threshold of it, the guess itself is returned, which reveals next to nothing; if not, the holdout's value,
    rounded to the middle of a cell (an interval of twice the threshold). All intervals of the ledger hold
    together with the holdout's ``confidence_level`` (description length; Dwork et al., Science 2015 and NIPS
    2015; theorem in `sklearn_ada.guarantees.description_length`).

    Parameters
    ----------
    scoring : str, callable or Metric
        A mean of bounded scores, a ROC AUC, a per-class mean or a ratio.
    holdout : Holdout
    threshold : float, "auto" or "fill", default="auto"
        Half width of a cell, in units of the metric. "auto" chooses it from the sizes of guess and holdout
        and the number of questions expected. "fill", without noise: what the holdout's tolerance leaves by
        now, so that as many questions as possible are answered within it.
    noise : {"none", "laplace", "gaussian"}, default="none"
        "none": answers are only rounded; intervals are narrowest. "laplace": the algorithm of the article,
        differentially private for ``max_hits`` corrections. "gaussian": as in the experiment of its figure,
        with a fixed threshold; every question costs privacy, also one whose guess holds.
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
            if noise != "none" or session_of(holdout).policy.tolerance is None:
                expected = "a number or 'auto' with noise, or on a holdout without a tolerance"
                raise bad_parameter("threshold", owner, expected, threshold)
        elif threshold != "auto":
            least = LEAST_CELL * (high - low)
            half_cell = check_real(threshold, "threshold", owner, low=least, high=high - low, closed="low")
        self.settings: float | str | NoiseSettings | None = FILL if threshold == FILL else half_cell
        check_option(noise, "noise", owner, ("none", "laplace", "gaussian"))
        if noise != "none":
            self.settings = NoiseSettings(noise, noise_scale, max_hits, half_cell)
        elif max_hits is not None:
            raise bad_parameter("max_hits", owner, "None when noise='none'", max_hits)
        elif holdout.route == "differential_privacy":
            fix = "An answer without noise has no privacy; or open the holdout with route='both'."
            raise bad_parameter("noise", owner, "'laplace' or 'gaussian' on this holdout's route", noise, fix)

    def _plan(self, estimator: Any, X: Any, y: Any) -> Any:
        guess = guess_from_rows(self.metric, estimator, X, y)
        return plan_question(self.session, estimator, self.metric, "check", guess, self.settings)


class StableHoldoutScorer(HoldoutScorer):
    """Score by the median of a metric over disjoint subsamples of the holdout, for any metric whatever.

    Take the distribution of the metric on a random subsample, rounded as the answer's target says. With the
    holdout's ``confidence_level``, every answer of the ledger lies between two quantiles of it, whose levels
    are `Answer.levels`. A few hundred subsamples are too few for many answers that nobody could guess: then
    the certificate is vacuous, with levels 0 and 1.

    Source: Feldman, Steinke, "Generalization for Adaptively-chosen Estimators via Stable Median", COLT 2017,
    Theorem 3.1, for the median; its levels are by description length and a binomial tail.

    Parameters
    ----------
    scoring : str, callable or Metric
    holdout : Holdout
    n_subsamples : int or "auto", default="auto"
        "auto": one for every 20 records, at most 400 (an odd number for "exact").
    grid : Grid or "auto", default="auto"
        The finite set that values are rounded to. "auto": around the guess, in steps that suit its precision.
    epsilon : float or "auto", default="auto"
        Privacy parameter of one median: the smaller, the more noise. Not used by ``method="exact"``.
    method : {"exponential", "binary_search", "exact"}, default="exponential"
        Draw the median by the exponential mechanism or by noisy binary search, or take it exactly.
    stratify : bool, default=False
        Give all subsamples the same class counts, so that none lacks a rare class. Rows of a class that
        cannot be divided evenly are left out, and the target is the median over subsamples with these class
        counts.
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
        self.median = MedianSettings(n_subsamples, grid, epsilon, method, stratify)
        self.median.subsample_size(self.session.data)  # raises if there are more than records

    def _plan(self, estimator: Any, X: Any, y: Any) -> Any:
        size = self.median.subsample_size(self.session.data)
        guess: Guess = median_guess_from_rows(self.metric, estimator, X, y, size)
        return plan_question(self.session, estimator, self.metric, "check", guess, self.median)


class LadderScorer(HoldoutScorer):
    """Score by the best value so far on the holdout, so that only improvements are revealed.

    A model that beats the best so far by more than a step gets its own value, rounded to a step, and an
    interval. Any other gets the best so far as its score, and an upper bound only. Source: Blum, Hardt, "The
    Ladder", ICML 2015; certified by description length.

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

    def __init__(
        self,
        scoring: Scoring,
        holdout: Holdout,
        *,
        step: float | str = "auto",
        validation: float = 0.25,
        on_exhausted: str = "nan",
    ) -> None:
        super().__init__(scoring, holdout, validation=validation, on_exhausted=on_exhausted)
        self.settings = LadderSettings(step)
        _ = self.metric.rule  # raises if only a stable median can certify the metric

    def _plan(self, estimator: Any, X: Any, y: Any) -> Any:
        guess = guess_from_rows(self.metric, estimator, X, y)
        return plan_question(self.session, estimator, self.metric, "check", guess, self.settings)
