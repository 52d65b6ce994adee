"""What one question may spend of the failure probability of all intervals together."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sklearn_ada.holdout.terms.privacy import TransferShare

__all__ = ["FailureBudget"]


@dataclass(frozen=True)
class FailureBudget:
    """What one question may spend of the failure probability.

    Attributes
    ----------
    ln_delta : float
        Logarithm of its failure probability for the sampling of the holdout.
    nats : float
        The L that is in it.
    described : bool
        Whether description length certifies the answer.
    transfer : TransferShare or None
        What the answer may use of the privacy route; None if that certifies nothing.
    """

    ln_delta: float
    nats: float
    described: bool = True
    transfer: TransferShare | None = None

    @property
    def ln_noise(self) -> float:
        """Logarithm of the failure probability of the mechanism's own noise: half of the share, without L."""
        return self.ln_delta + self.nats - math.log(2.0)

    @property
    def ln_certified(self) -> float:
        """Logarithm of the failure probability that the answer's certificate uses.

        By privacy alone that is the gap's, which all answers of a family share.
        """
        return self.ln_delta if self.described or self.transfer is None else self.transfer.ln_gap

    def after(self, nats: float) -> FailureBudget:
        """Return the same share once so much more has been revealed."""
        return FailureBudget(self.ln_delta - nats, self.nats + nats)

    def among(self, alternatives: int) -> FailureBudget:
        """Return the share of each of several questions of which the holdout will choose one to be asked."""
        return self.after(math.log(alternatives))
