"""The difference of two models in a mean of scores, from their scores on the same rows.

Two models that agree on most rows have small differences, however much their scores vary, so the interval of
the difference is much narrower than the difference of two intervals
(`sklearn_ada.guarantees.intervals.of_metrics.paired_difference`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.guarantees.intervals.of_metrics.paired_difference import paired_zero_one_interval
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.metrics.rules.constructions import BettingEnds, Construction, Foreseen, Range
from sklearn_ada.metrics.rules.mean import Mean
from sklearn_ada.metrics.rules.rule import Measured

__all__ = ["DIFFERENCE", "OF_TWO", "Difference"]

DIFFERENCE = "difference"
"""The kind of these metrics."""

OF_TWO = " of b minus a"
"""How their names end."""

Array = NDArray[Any]


class Difference(Metric):
    """A metric of one model minus that of another, asked of both as of one (`holdout.models.pair`).

    Parameters
    ----------
    base : Metric
        A mean of bounded scores.
    range_of_both : bool, default=True
        Whether a range that rows have suggested was suggested for both models. Else it is that of b, and a
        may be so bad that its errors are clipped, which makes b look less good.

    Raises
    ------
    ValueError
        If it is another metric, or has no range.
    """

    def __init__(self, base: Metric, range_of_both: bool = True) -> None:
        rule = base.rule if base.has_interval else None
        if not isinstance(rule, Mean):
            fix = "It has no interval for a difference: ask about each model, and compare the intervals."
            if base.lacks_range and base.kind == "mean":
                fix = (
                    f"It needs a range: Metric({base.name!r}, range=(low, 0)), or validation rows that "
                    "suggest one, guess_from=(X_val, y_val)."
                )
            raise bad_parameter(
                "scoring", "Holdout.compare", "a mean of bounded scores, such as 'accuracy'", base.name, fix
            )
        low, high = base.bounds
        self.base, self.range_of_both = base, range_of_both
        self.string = self._scorer = None
        self.name = f"{base.name}{OF_TWO}"
        self.kind, self.range, self.clips = DIFFERENCE, (low - high, high - low), base.clips
        self.positive, self.scoring, self.methods, self.response = (
            None,
            base.scoring,
            base.methods,
            base.response,
        )
        self.chosen_general, self.most_beyond = False, base.most_beyond
        self._rule = PairedMean(
            rule.scores, two_classes=rule.two_classes, positive=rule.positive, at_class_mix=rule.at_class_mix,
            base=rule, base_bounds=(low, high),
        )  # fmt: skip

    @property
    def clipped(self) -> str:
        """What a certificate says of a declared range."""
        return self.base.clipped

    def check_estimator(self, estimator: Any) -> None:
        """Raise unless both models can be scored."""
        for each in (estimator.a, estimator.b):
            self.base.check_estimator(each)

    def check_classes(self, y: Array) -> None:
        """Raise if the metric has no meaning for these labels."""
        self.base.check_classes(y)

    def takes_weights(self, n_classes: int = 2) -> bool:
        """Return whether records may have weights."""
        return True

    def outputs(self, estimator: Any, X: Any, y: Array) -> Array:
        """Return the outputs of both models, side by side."""
        return np.stack([self.base.outputs(each, X, y) for each in (estimator.a, estimator.b)], axis=1)

    def measure(self, estimator: Any, y: Array, outputs: Array, rule: Any = None) -> Measured:
        """Return the mean difference on some rows."""
        self.base.check_within(y, outputs[:, 1], self.base._classes(estimator.b))
        if self.range_of_both:
            self.base.check_within(y, outputs[:, 0], self.base._classes(estimator.a))
        return (rule or self.rule).measure(y, outputs, self._classes(estimator.a), self.bounds)

    def score(self, estimator: Any, X: Any, y: Any, **params: Any) -> float:
        """Return the difference of the scores on any rows. The holdout is not asked."""
        return self.base.score(estimator.b, X, y, **params) - self.base.score(estimator.a, X, y, **params)

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {**super().describe(), "base": self.base.describe()}


@dataclass(frozen=True)
class PairedMean(Mean):
    """The mean of the differences of two models' scores, the second's minus the first's."""

    base: Mean = None  # type: ignore[assignment] # always given; fields before it have defaults
    base_bounds: Range = (0.0, 1.0)
    family = DIFFERENCE
    has_noise = False  # no family of private releases
    zero_one = False

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """Name of the fixed-question bound."""
        return "Chernoff-KL (Hoeffding 1963) for differences"

    def sensitivity(self, y: Array, width: float) -> None:
        """Return None: differences are told without noise."""

    def terms(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> NDArray[np.float64]:
        """Return the difference on every record."""
        first, second = (self.base.terms(y, outputs[:, i], classes, self.base_bounds) for i in (0, 1))
        return second - first

    def measure(self, y: Array, outputs: Array, classes: Array | None, bounds: Range) -> Measured:
        """Return the mean difference; of 0/1 scores, how often either model alone is right, too."""
        away = self.terms(y, outputs, classes, bounds)
        shares = float((away > 0).mean()), float((away < 0).mean())
        details = shares if self.base.zero_one else None
        if self.base.zero_one:
            value = (int(np.count_nonzero(away > 0)) - int(np.count_nonzero(away < 0))) / len(y)
            return Measured(value, len(y), float(away.std()), details)
        return Measured(float(away.mean()), len(y), float(away.std()))

    def construction(self, known: Foreseen) -> Construction | None:
        """Return the disagreements, of 0/1 scores; bets, if the guess knows the deviation of a difference."""
        if not self.base.zero_one:
            if known.deviation is None:
                return None
            return BettingEnds.of(
                self.terms, known, bounds=known.bounds, mean=known.value, deviation=known.deviation
            )
        if known.details is not None:
            gain, loss = known.details
        else:  # a bare number: as if the models disagreed on a tenth of the rows more
            gain = min(0.05 + max(known.value, 0.0), 0.5)
            loss = min(0.05 + max(-known.value, 0.0), 0.5)
        least = 1.0 / len(known.y)
        gain, loss = (float(f"{min(max(each, least), 0.5):.3g}") for each in (gain, loss))
        return DisagreementEnds(self, gain, loss, len(known.y), known.identical_rows, known.bounds)


@dataclass(frozen=True)
class DisagreementEnds(Construction):
    """The difference of two accuracies by the rows on which one model alone is right."""

    rule: PairedMean
    gain: float
    loss: float
    n: int
    identical_rows: bool
    bounds: Range
    name = "disagreements"
    theorem = "disagreements (McNemar 1947), or fixed bets on them (Waudby-Smith, Ramdas 2024)"

    def describe(self) -> dict[str, Any]:
        """Return all that tunes it, ready for JSON."""
        return {"construction": self.name, "gain": self.gain, "loss": self.loss}

    def foreseen(self, value: float, ln_delta: float) -> Range:
        """Return the ends if so many rows differ as the guess foresees, at this value."""
        differ = max(round(self.n * (self.gain + self.loss)), math.ceil(abs(value) * self.n - 1e-6))
        better = min(max(round((differ + value * self.n) / 2.0), 0), differ)
        return self._ends(better, differ - better, ln_delta)

    def ends(
        self, y: Array, outputs: Array, classes: Array | None, ln_delta: float, rng: np.random.Generator
    ) -> Range:
        """Return the ends, from how often either model alone is right."""
        away = self.rule.terms(y, outputs, classes, self.bounds)
        return self._ends(int(np.count_nonzero(away > 0)), int(np.count_nonzero(away < 0)), ln_delta)

    def _ends(self, better: int, worse: int, ln_delta: float) -> Range:
        return paired_zero_one_interval(
            better, min(worse, self.n - better), self.n, ln_delta,
            identical_rows=self.identical_rows, expected=(self.gain, self.loss),
        )  # fmt: skip
