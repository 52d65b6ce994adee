"""What an interval is worth: the theorem behind it, what it speaks of, what it assumes."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_ada._table import percent

__all__ = ["Certificate"]


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
