"""What whoever asks a holdout gets: an answer, what it cost, and what its interval is worth."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field

from sklearn_ada._table import percent

__all__ = ["VERDICTS", "Answer", "Certificate", "Cost"]

VERDICTS = ("agrees", "differs", "exact", "drawn", "improves", "no improvement", "failed", "refused")
"""What an answer can say of its question; only the last two come without a value."""


@dataclass(frozen=True)
class Cost:
    """What one answer cost.

    Attributes
    ----------
    nats : float
        Description length of what it revealed; widens later intervals.
    epsilon, rho : float or None
        Privacy loss, where the answer came from a differentially private mechanism.
    """

    nats: float
    epsilon: float | None = None
    rho: float | None = None


@dataclass(frozen=True)
class Certificate:
    """The promise that comes with an answer.

    With probability at least ``confidence_level`` over the draw of the holdout, all intervals given out
    by one ledger contain their ``target`` at once, however adaptively the questions were chosen.

    Attributes
    ----------
    theorem : str
        The theorem that makes the promise.
    confidence_level : float
        Probability that all intervals of the ledger hold together.
    ln_delta : float
        Logarithm of the share of the failure probability that this one interval used (by privacy: that all
        intervals of its kind used together).
    target : str
        The population quantity that the interval contains.
    assumptions : tuple of str
        What must be true; none can be checked from the holdout alone.
    vacuous : bool
        True where nothing is certified that was not known before looking.
    route : {"description_length", "differential_privacy", "both"}
        Which theory certifies this answer.
    """

    theorem: str
    confidence_level: float
    ln_delta: float
    target: str
    assumptions: tuple[str, ...]
    vacuous: bool
    route: str = "description_length"

    def __str__(self) -> str:
        worth = "VACUOUS: it says nothing" if self.vacuous else "valid for all answers together"
        return f"{percent(self.confidence_level)} {worth}; target: {self.target}; by {self.theorem}"


@dataclass(frozen=True)
class Answer:
    """An answer of the holdout with the interval that it certifies.

    Attributes
    ----------
    value : float
        The released value; NaN if the question was refused or failed.
    interval : tuple of float
        The certified interval ``(low, high)`` in units of the metric. An end may be infinite.
    verdict : {"agrees", "differs", "exact", "drawn", "improves", "no improvement", "failed", "refused"}
        Of a check, whether the holdout agreed with the guess, or, of a Ladder, whether the model improves on
        the best so far. Of a certified value, whether it is exact or drawn with noise. Otherwise why there is
        no value.
    cost : Cost
    certificate : Certificate or None
        The theorem, the confidence level, the target and the assumptions of the interval; its
        ``vacuous`` says that nothing is certified. None for a refusal.
    index : int
        Position in the ledger.
    levels : tuple of float or None
        For a check by the stable median: the value is between these quantiles of the values that the target
        names, rounded as it says. A level of 0 or 1 says nothing on that side: the median was beyond the
        reach of its grid.
    reason : str or None
        Why the question failed or was refused.
    repeated : bool
        True if the identical question had been answered before; it cost nothing this time.
    """

    value: float
    interval: tuple[float, float]
    verdict: str
    cost: Cost
    certificate: Certificate | None
    index: int
    levels: tuple[float, float] | None = None
    reason: str | None = None
    repeated: bool = field(default=False, compare=False)

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        low, high = self.interval
        return (high - low) / 2.0

    @property
    def answered(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def target(self) -> str | None:
        """What the value is a score of: the certificate's target; None for a refusal."""
        return None if self.certificate is None else self.certificate.target

    def __str__(self) -> str:
        return "; ".join(self._told)

    def _repr_html_(self) -> str:
        return f"<p>{'<br>'.join(map(html.escape, self._told))}</p>"

    @property
    def _told(self) -> list[str]:
        with_target = self.answered and self.target is not None
        return [self.summary, f"target: {self.target}"] if with_target else [self.summary]

    @property
    def summary(self) -> str:
        """Value, interval, verdict and cost in one line, for tables that name the target elsewhere."""
        if not self.answered:
            return f"{self.verdict}: {self.reason}"
        low, high = self.interval
        text = f"{self.value:.4g} in [{low:.4g}, {high:.4g}] ({self.verdict}, {self.cost.nats:.3g} nats)"
        if self.levels is not None:
            # Levels are rounded outwards.
            below, above = math.floor(1000.0 * self.levels[0]), math.ceil(1000.0 * self.levels[1])
            text += f", between the {below / 10:g}% and {above / 10:g}% quantiles of rounded values"
        return text + (", VACUOUS" if self.certificate is not None and self.certificate.vacuous else "")
