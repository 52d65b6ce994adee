"""The share of one question: what it may spend of the failure probability of all intervals together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from sklearn_ada.guarantees.description_length.wealth import Purse
from sklearn_ada.holdout.terms.privacy import TransferShare

__all__ = ["FailureBudget", "finite", "level_of"]


def finite(ln_delta: float) -> float | None:
    """Return a level as records keep it: None where nothing was left of the weights, as -inf is no JSON."""
    return None if ln_delta == -math.inf else ln_delta


def level_of(kept: float | None) -> float:
    """Return the level that a record keeps."""
    return -math.inf if kept is None else kept


@dataclass(frozen=True)
class FailureBudget:
    """The part of the failure probability ``1 - confidence_level`` that one question may use, its share.

    By description length that is ``delta = beta * pi * exp(-L)``: beta is what all questions of its purpose
    have together, pi the question's weight, and L the nats that were revealed before
    (`sklearn_ada.guarantees.description_length.theorem`).

    Attributes
    ----------
    ln_delta : float
        Logarithm of delta: how likely the fixed-question interval may be to miss, over the draw of the rows.
    nats : float
        The L in delta.
    described : bool
        Whether description length certifies the answer.
    transfer : TransferShare or None
        What the answer may use of the privacy route; None if privacy does not certify it.
    weight : float or None
        pi, what the question (each, of a round) takes from the purse; None where there is none, and in a
        round, which took it when it was opened.
    purse : Purse or None
        What is left of the purse then.
    """

    ln_delta: float
    nats: float
    described: bool = True
    transfer: TransferShare | None = None
    weight: float | None = None
    purse: Purse | None = None

    @property
    def ln_noise(self) -> float:
        """Logarithm of the failure probability for the mechanism's noise: half of ``beta * pi``, without L.

        What was revealed about the rows says nothing about noise that is drawn afterwards.
        """
        return self.ln_delta + self.nats - math.log(2.0)

    @property
    def ln_certified(self) -> float:
        """Logarithm of the failure probability that the answer's certificate states.

        By privacy alone that is the one of the gap between holdout and population, which all answers of a
        family have in common (`sklearn_ada.guarantees.transfer.family_weights`).
        """
        return self.ln_delta if self.described or self.transfer is None else self.transfer.ln_gap

    def taken(self) -> dict[str, Any]:
        """Return what a record says of the purse; nothing where none is touched."""
        if self.purse is None:
            return {}
        return {"weight": self.weight, "purse": [self.purse.left, self.purse.taken]}

    def after(self, nats: float) -> FailureBudget:
        """Return the share as it is once so many more nats have been revealed."""
        return replace(self, ln_delta=self.ln_delta - nats, nats=self.nats + nats)

    def among(self, alternatives: int) -> FailureBudget:
        """Return the share where the holdout chooses which of N questions is asked, which takes ln N nats."""
        return self.after(math.log(alternatives))
