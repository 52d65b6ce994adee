"""The outcome of a question: value, interval and verdict, the part of a record that becomes an `Answer`."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Self

from sklearn_ada._checks import check_option
from sklearn_ada.guarantees.description_length import theorem as description_length
from sklearn_ada.guarantees.transfer import direct as direct_transfer
from sklearn_ada.results import VERDICTS

__all__ = ["Outcome"]

_THEOREMS = {
    "description_length": description_length.THEOREM,
    "differential_privacy": direct_transfer.THEOREM,
    "both": f"{description_length.THEOREM} and {direct_transfer.THEOREM}, each with half of the failure "
    "probability",
}


@dataclass(frozen=True)
class Outcome:
    """A value and its interval, or the reason why there is none.

    The attributes are those of `sklearn_ada.results.Answer` and its certificate; ``verdict`` is one of
    `VERDICTS`, so that whatever shows answers knows all there can be. ``theorem`` is only the part of the
    metric and mechanism: `full_theorem` adds the one of the route. In JSON, NaN and infinity are None.
    """

    value: float
    interval: tuple[float, float]
    verdict: str
    theorem: str
    target: str
    vacuous: bool
    levels: tuple[float, float] | None = None
    reason: str | None = None
    route: str = "description_length"

    def __post_init__(self) -> None:
        check_option(self.verdict, "verdict", "Outcome", VERDICTS)

    @classmethod
    def failed(cls, reason: str, bounds: tuple[float, float], target: str) -> Outcome:
        """Return the outcome of a question that the holdout could not answer."""
        return cls(math.nan, bounds, "failed", "none: the question failed", target, True, reason=reason)

    @property
    def full_theorem(self) -> str:
        """The theorem of the route, which allows for adaptive questions, and the one of the metric."""
        return f"{_THEOREMS[self.route]}; {self.theorem}"

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        body = asdict(self)
        body["value"] = _finite(self.value)
        body["interval"] = [_finite(end) for end in self.interval]
        return body

    @classmethod
    def from_dict(cls, body: dict[str, Any]) -> Self:
        """Return the outcome that `to_dict` described."""
        low, high = body["interval"]
        return cls(
            **{
                **body,
                "value": math.nan if body["value"] is None else body["value"],
                "interval": (-math.inf if low is None else low, math.inf if high is None else high),
                "levels": None if body["levels"] is None else (body["levels"][0], body["levels"][1]),
            }
        )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
