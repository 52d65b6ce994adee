"""Typical rows: what a metric's own interval will be, before there is a holdout.

Only counts have intervals that follow from rows and level. Any other metric's interval is a function of all
rows, so rows are made that are as expected: two classes with normal scores and the probabilities that follow
from these, or numbers predicted with normal errors. One number, how far the classes or how large the errors
are, is found such that the metric has the value that is expected. On such rows the question is planned as a
`Holdout` plans it, with the same mechanism, tuning and code, and its interval is evaluated.

Beyond some thousand rows intervals are taken to narrow as the root of their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit, gammaincinv, logit, ndtri
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from sklearn_ada._solving import root
from sklearn_ada._validation import LN_2, bad_parameter
from sklearn_ada.accounting.codes import Code, DescriptionLength
from sklearn_ada.metrics.base import SCORERS, UndefinedMetricError
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.questions.all_rows import RowsQuestion, with_rows_interval
from sklearn_ada.questions.coded import CodedQuestion, Rows
from sklearn_ada.questions.question import Draw, guess_from_rows, tuned_metric
from sklearn_ada.questions.seals import Ends
from sklearn_ada.questions.windows import in_windows
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import Allowance, Policy

_MOST_ROWS, _MOST_GUESS_ROWS = 2000, 10_000  # that are made
_ORDERS = 2  # of the rows, where an interval is drawn
_LEAST_ROWS = 4
_APART = (1e-3, 20.0)  # between the classes, in standard deviations of a score
_ERRORS = (1e-6, 1e9)  # over the standard deviation of the predictions
_RELATIVE = ("log_error", "percentage", "deviance", "likelihood")  # in names of what has no typical scale
_DRAWS, _DRAWN_ROWS = 5, 1000  # for what an exact answer costs
_FAR = 1e6  # a limit that nobody needs to know
_SEED = 0

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TypicalRows:
    """Rows on which a metric has about the value that is expected of a model.

    Parameters
    ----------
    scoring : str
        Name of a scorer.
    expected_value : float
        Its value.
    positive_share : float
        Share of the rows in the positive class, of two.
    error_spread : float or None
        Standard deviation of the errors' sizes, over their mean; None is that of normal errors.
    confidence_level : float
    """

    scoring: str
    expected_value: float
    positive_share: float
    error_spread: float | None
    confidence_level: float

    @property
    def metric(self) -> Metric:
        """The metric, as long as no rows have tuned it."""
        return Metric(self.scoring)

    @property
    def of_numbers(self) -> bool:
        """Whether numbers are predicted."""
        return self.metric.response.target == "numbers"

    def rows(self, n: int, rng: Generator | None = None, scale: float | None = None) -> tuple[Any, Any]:
        """Return X and y of n rows: at even quantiles, or drawn.

        Parameters
        ----------
        n : int
        rng : Generator or None, default=None
            None makes the rows at even quantiles.
        scale : float or None, default=None
            How far the classes are apart, or how large the errors are; None fits the expected value.
        """
        scale = self.scale if scale is None else scale
        if self.of_numbers:
            first, second = (_levels(n, rng) for _ in range(2))
            second = np.random.default_rng(_SEED).permutation(second) if rng is None else second
            predicted = ndtri(first)
            return predicted[:, None], predicted + scale * self._errors(second)
        share = self.positive_share
        positives = min(max(round(share * n), 1), n - 1)
        y = np.arange(n) < positives
        normal = np.concatenate([ndtri(_levels(each, rng)) for each in (positives, n - positives)])
        score = scale * (normal + scale * (y - 0.5)) + logit(share)  # the log odds of such a score
        return expit(score)[:, None], y.astype(int)

    def _errors(self, levels: Floats) -> Floats:
        if self.error_spread is None:
            return np.asarray(ndtri(levels))
        shape = self.error_spread**-2
        return np.asarray(np.sign(levels - 0.5) * gammaincinv(shape, np.abs(2.0 * levels - 1.0)) / shape)

    @property
    def model(self) -> Any:
        """The model whose outputs these rows hold."""
        return _Numbers() if self.of_numbers else _Classes()

    @cached_property
    def scale(self) -> float:
        """How far the classes are apart, or how large the errors are, for the value expected."""
        low, high = (math.log(end) for end in self._scales)
        return math.exp(
            root(lambda ln_scale: self._off(math.exp(ln_scale)), low, high, xtol=1e-4, rtol=1e-12)
        )

    def check_value(self) -> None:
        """Raise ValueError if no typical rows have the value that is expected."""
        ends = sorted(self.expected_value + self._off(scale) for scale in self._scales)
        if not ends[0] < self.expected_value < ends[1]:
            low, high = (round(end, 3) + 0.0 for end in ends)
            between = f"below {high:g}" if low < -_FAR else f"between {low:g} and {high:g}"
            expected = f"{between} where scoring={self.scoring!r}"
            fix = "It is the score that you expect: of errors minus their size in units of y, as in -2.5."
            raise bad_parameter("expected_value", "plan_holdout", expected, self.expected_value, fix)

    @property
    def _scales(self) -> tuple[float, float]:
        return _ERRORS if self.of_numbers else _APART

    def _off(self, scale: float) -> float:
        X, y = self.rows(_MOST_ROWS, scale=scale)
        return float(self.metric(self.model, X, y)) - self.expected_value

    def half_width(self, n: int, guess_rows: int, ln_delta: float, *, tilted: bool) -> float:
        """Return the half-width of the interval at a level; infinite where that is the whole range.

        Parameters
        ----------
        n, guess_rows : int
            Of the holdout, and behind the guess.
        ln_delta : float
        tilted : bool
            Whether the guess may divide the level among the sides; else each has half.
        """
        return self._half_width(n, guess_rows, lambda asked: asked.interval(ln_delta, tilted=tilted))

    def announced(self, n: int, guess_rows: int, ln_delta: float, searches: int) -> float:
        """Return the half-width of the window that is announced of the winner of so many searches."""
        return self._half_width(n, guess_rows, lambda asked: asked.window(ln_delta, searches))

    def exact_nats(self, n: int, guess_rows: int, ln_delta: float, answers: int) -> float:
        """Return what so many exact answers in a row cost, the first with an interval at this level.

        The price is the mean of some draws, taken anew whenever the answers have doubled.
        """
        made, behind = _made(n, guess_rows, _DRAWN_ROWS)
        nats, paid = 0.0, 0
        while paid < answers:
            try:
                each = [_asked(self, made, behind, seed).nats(ln_delta - nats) for seed in range(_DRAWS)]
            except UndefinedMetricError:  # on so few rows
                return math.inf
            more = min(max(paid, 1), answers - paid)
            nats, paid = nats + more * float(np.mean(each)), paid + more
        return nats

    def _half_width(self, n: int, guess_rows: int, ends_of: Callable[[_Asked], Ends]) -> float:
        if n < _LEAST_ROWS:
            return math.inf
        made, behind = _made(n, guess_rows)
        try:
            asked = _asked(self, made, behind, None)
        except UndefinedMetricError:  # on so few rows
            return math.inf
        (low, high), (bottom, top) = ends_of(asked), asked.question.metric.bounds
        is_vacuous = low <= bottom and high >= top
        return math.inf if is_vacuous else (high - low) / 2.0 * math.sqrt(made / n)


def check_scoring(scoring: object) -> None:
    """Raise ValueError if searches by this metric cannot be planned.

    Parameters
    ----------
    scoring : object
        What the user gave.
    """
    measure = SCORERS.get(scoring) if isinstance(scoring, str) else None
    if measure is not None and measure.response.form != "class scores":
        has_interval = measure.value_is_enough or measure.of_all_rows
        if has_interval and not any(part in str(scoring) for part in _RELATIVE):
            return
    expected = "the name of a scorer that has an interval, of two classes or of errors that are not relative"
    fix = "Such as 'roc_auc', 'f1', 'neg_log_loss', 'neg_mean_absolute_error' or 'r2'."
    raise bad_parameter("scoring", "plan_holdout", expected, scoring, fix)


@dataclass(frozen=True)
class _Asked:
    """A certify of typical rows, as a `Holdout` of them plans it."""

    question: CodedQuestion | RowsQuestion
    seen: Rows
    data: HoldoutData
    sealing: Policy
    draw: Draw

    def interval(self, ln_delta: float, *, tilted: bool) -> Ends:
        """Return the ends at a level, the mean of some orders of the rows if that is drawn."""
        draws = [
            replace(self.draw, key=str(each)) for each in range(_ORDERS if self.question.is_drawn else 1)
        ]
        low, high = np.mean(
            [self.question.ends(self.seen, (ln_delta,), draw, 1 - tilted)[0] for draw in draws], axis=0
        )
        return float(low), float(high)

    def window(self, ln_delta: float, searches: int) -> Ends:
        """Return the window that is announced, for ends at a level."""
        ln_level = ln_delta - LN_2
        nats = self.sealing.ln_transcript - ln_level
        asked = in_windows(self.question, self.data, self.sealing, asks=searches - 1, nats=nats)
        assert asked is not None
        return asked.seal.windows.window(0, ln_level)

    def nats(self, ln_delta: float) -> float:
        """Return what the exact value costs, and with it the ends at a level where these are released."""
        seen, question, allowance = self.seen, self.question, Allowance(ln_delta, 0.0)
        if isinstance(question, CodedQuestion):
            measured = question.measure.value(seen.y, seen.outputs, seen.classes)
            event, _ = question.release(question.symbols_of(measured), allowance, self.draw)
        else:
            event, _ = question.release(seen, allowance, self.draw)
        return DescriptionLength(Code()).price(event)


@lru_cache(maxsize=64)
def _asked(typical: TypicalRows, n: int, guess_rows: int, seed: int | None) -> _Asked:
    """Return a certify of typical rows, or with a seed of drawn ones.

    `UndefinedMetricError` if they are too few.
    """
    rng = None if seed is None else np.random.default_rng(seed)
    metric, model = typical.metric, typical.model
    X, y = typical.rows(min(guess_rows, _MOST_GUESS_ROWS), rng)
    if metric.is_tuned:
        metric = tuned_metric(metric, model, X, y)
    guess = guess_from_rows(metric, model, X, y)
    assert guess.size is not None
    guess = replace(guess, size=guess.size * guess_rows / len(y))
    data = HoldoutData(*typical.rows(n, rng))
    policy = Policy(confidence_level=typical.confidence_level)
    sealing = replace(policy, answers="coarse").begun_for(typical.metric, data)
    coded = CodedQuestion.plan("certify", metric, guess, data, policy)
    question = with_rows_interval(coded, data, policy) or coded
    return _Asked(question, coded.rows_seen(model, data)[0], data, sealing, Draw(bytes(32), "plan"))


def _made(n: int, guess_rows: int, most: int = _MOST_ROWS) -> tuple[int, int]:
    """Return how many rows are made of so many, and of how many the guess is then."""
    made = min(n, most)
    return made, max(round(guess_rows * made / n), _LEAST_ROWS)


def _levels(n: int, rng: Generator | None) -> Floats:
    """Return n levels of quantiles: evenly spread, or drawn."""
    return (np.arange(n) + 0.5) / n if rng is None else rng.random(n)


class _Classes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Reads the probability of the second of two classes."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Floats) -> Floats:
        """Return the probabilities."""
        return np.column_stack([1.0 - X[:, 0], X[:, 0]])

    def predict(self, X: Floats) -> NDArray[np.int64]:
        """Return the likelier class."""
        return np.asarray(X[:, 0] > 0.5, dtype=np.int64)


class _Numbers(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Reads predictions."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Floats) -> Floats:
        """Return the predictions."""
        return X[:, 0]
