"""What questions answered with noise have in common: their intervals, by description length and by privacy.

Both allow first for the noise, which gives where the holdout's value is, and then for the difference between
the holdout and the population: by the metric's own interval, or by the gap of the transfer theorem.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from sklearn_ada._checks import bad_parameter
from sklearn_ada._constants import LN_2
from sklearn_ada.accounting.polya_urn import symbols_of
from sklearn_ada.accounting.zcdp_filter import Unit
from sklearn_ada.events import Event
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.question import RefinedCheck
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.outcome import Outcome
from sklearn_ada.holdout.terms.privacy import TransferShare

__all__ = ["NoisyQuestion", "bounded_sensitivity"]


@dataclass(frozen=True)
class NoisyQuestion(RefinedCheck, ABC):
    """A question whose released cell holds the holdout's value plus noise.

    Parameters
    ----------
    coded : CodedQuestion
        The same question without noise: metric, guess, size, target.
    """

    coded: CodedQuestion

    @property
    def family(self) -> str:
        """Name of the questions that have their gap in common with this one."""
        return self.coded.rule.family

    @property
    def unit(self) -> Unit:
        """What is replaced between the neighbouring data sets for which the noise is made."""
        return self.coded.rule.unit

    @property
    @abstractmethod
    def half_cell(self) -> float:
        """Half the width of the cell that a symbol names."""

    @abstractmethod
    def known(self, symbol: int) -> tuple[float, float]:
        """Return the ends of the cell that a symbol names; the value plus noise is between them."""

    @abstractmethod
    def verdict(self, symbol: int) -> str:
        """Return the verdict of this symbol, one of `sklearn_ada.results.VERDICTS`."""

    @abstractmethod
    def allowance(self, ln_noise: float) -> float:
        """Return how far noise can have moved the answer, except with this probability (its logarithm)."""

    def half_width_bound(self, share: FailureBudget) -> tuple[float, float]:
        """Return the worst half-width of the answer and the width of the range."""
        low, high = self.metric.bounds
        reach, rule = self.half_cell + self.allowance(share.ln_noise), self.coded.rule
        return rule.half_width_bound(reach, self.coded.size, share.ln_delta - LN_2, high - low), high - low

    def read(self, event: Event, share: FailureBudget, state: dict[str, Any]) -> Outcome:
        """Return what description length certifies: half of delta is for sampling, half for noise."""
        known = self._widened(event, share.ln_noise)
        if isinstance(known, Outcome):
            return known
        rule, bounds = self.coded.rule, self.metric.bounds
        interval = rule.interval(known, self.coded.size, share.ln_delta - LN_2, bounds)
        return self._outcome(event, interval, f"{rule.theorem}; tail of the noise")

    def private_half_width(self, transfer: TransferShare) -> float:
        """Return the worst half-width by the privacy route."""
        low, high = self.metric.bounds
        reach = self.allowance(self._ln_tail(transfer))
        return min(self.half_cell + reach + self._gap(transfer), (high - low) / 2.0)

    def read_private(self, event: Event, share: FailureBudget) -> Outcome:
        """Return what the transfer theorem certifies: the noise and the gap, to both sides."""
        assert share.transfer is not None
        known = self._widened(event, self._ln_tail(share.transfer))
        if isinstance(known, Outcome):
            return known
        (low, high), gap = self.metric.bounds, self._gap(share.transfer)
        interval = (max(known[0] - gap, low), min(known[1] + gap, high))
        return self._outcome(event, interval, "tail of the noise")

    def _gap(self, transfer: TransferShare) -> float:
        return transfer.gap * self._unit_of_gap

    @property
    def _unit_of_gap(self) -> float:
        low, high = self.metric.bounds
        return self.coded.rule.influence * (high - low)

    def _ln_tail(self, transfer: TransferShare) -> float:
        """Return the logarithm of the probability at which noise is allowed for (`TransferShare.ln_tail`).

        On average, noise beyond its quantile exceeds it by at most the quantile's slope in ``ln(1/p)``, as
        the quantile is concave in it. The slope is taken at a larger p, where it is no smaller.
        """
        slope = (self.allowance(transfer.ln_noise) - self.allowance(transfer.ln_noise + 0.5)) / 0.5
        return transfer.ln_tail(slope / self._unit_of_gap)

    def _widened(self, event: Event, ln_noise: float) -> tuple[float, float] | Outcome:
        """Return an interval that contains the holdout's value, or the outcome of a question that failed."""
        symbol = symbols_of(event)[0].value
        if isinstance(symbol, str):
            return Outcome.failed(symbol, self.metric.bounds, self.coded.target)
        (low, high), reach = self.known(symbol), self.allowance(ln_noise)
        return low - reach, high + reach

    def _outcome(self, event: Event, interval: tuple[float, float], theorem: str) -> Outcome:
        (low, high), symbol = self.metric.bounds, symbols_of(event)[0].value
        assert isinstance(symbol, int)
        centre = sum(self.known(symbol)) / 2.0
        vacuous = interval[0] <= low and interval[1] >= high
        # Noise may leave the range; what is left of the interval is then one end of the range.
        ends = (min(max(interval[0], low), high), max(min(interval[1], high), low))
        value = min(max(centre, low), high)
        return Outcome(value, ends, self.verdict(symbol), theorem, self.coded.target, vacuous)


def bounded_sensitivity(coded: CodedQuestion, data: HoldoutData, owner: str, fix: str) -> float:
    """Return how far one record can move the value; raise for metrics of which nothing bounds that."""
    low, high = coded.metric.bounds
    labels = data.labels_for(coded.metric, coded.rule)
    sensitivity = coded.rule.sensitivity(labels, high - low)
    if sensitivity is None:
        raise bad_parameter(
            "scoring", owner, "a mean, an AUC or a per-class mean when noise is added", coded.metric.name,
            f"One record can move a ratio (or a mean with weight_bound) too far: {fix}",
        )  # fmt: skip
    return sensitivity
