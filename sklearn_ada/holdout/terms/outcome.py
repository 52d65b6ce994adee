"""What a question came to: the part of a record from which an `Answer` is read."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from sklearn_ada._checks import check_option
from sklearn_ada.guarantees.certificate import Certificate
from sklearn_ada.guarantees.description_length import theorem as description_length
from sklearn_ada.guarantees.description_length.theorem import ASSUMPTIONS
from sklearn_ada.guarantees.transfer import direct as direct_transfer
from sklearn_ada.holdout.terms.privacy import TransferShare
from sklearn_ada.ledger import Record
from sklearn_ada.results import VERDICTS, Answer, Cost

__all__ = ["Outcome", "Share", "answer_from_record"]

_SEEDED = "nobody who asks knows the random_state of the holdout"
_THEOREMS = {
    "description_length": description_length.THEOREM,
    "differential_privacy": direct_transfer.THEOREM,
    "both": f"{description_length.THEOREM} and {direct_transfer.THEOREM}, each with half of the failure "
    "probability",
}

_BOUNDED = (
    "no unit of the population weighs more than weight_bound, and of the holdout's weights only their mean "
    "is known to anybody"
)

_SEEN = "the population has no class of which the holdout has no record"  # which classes it has is not priced


@dataclass(frozen=True)
class Share:
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

    def after(self, nats: float) -> Share:
        """Return the same share once so much more has been revealed."""
        return Share(self.ln_delta - nats, self.nats + nats)

    def among(self, alternatives: int) -> Share:
        """Return the share of each of several questions of which the holdout will choose one to be asked."""
        return self.after(math.log(alternatives))


@dataclass(frozen=True)
class Outcome:
    """A value and its interval, or the reason why there is none. NaN and infinity are None in JSON.

    The verdict is one of `VERDICTS`: whoever shows answers must know them all.
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

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready dict."""
        body = asdict(self)
        body["value"] = _finite(self.value)
        body["interval"] = [_finite(end) for end in self.interval]
        return body


def answer_from_record(record: Record, genesis: dict[str, Any]) -> Answer:
    """Return the answer that a record holds; the same record always gives the same answer."""
    body = record.body
    if body["kind"] == "refusal":
        return Answer(
            math.nan, (-math.inf, math.inf), "refused", Cost(0.0), None, record.seq, reason=body["reason"]
        )
    outcome = body["outcome"]
    low, high = outcome["interval"]
    certificate = Certificate(
        theorem=f"{_THEOREMS[outcome['route']]}; {outcome['theorem']}",
        confidence_level=genesis["confidence_level"],
        ln_delta=body["ln_delta"],
        route=outcome["route"],
        target=outcome["target"],
        assumptions=_assumptions(genesis),
        vacuous=outcome["vacuous"],
    )
    levels = outcome["levels"]
    return Answer(
        value=math.nan if outcome["value"] is None else outcome["value"],
        interval=(-math.inf if low is None else low, math.inf if high is None else high),
        verdict=outcome["verdict"],
        cost=Cost(body["price"], epsilon=body["epsilon"], rho=body["rho"]),
        certificate=certificate,
        index=record.seq,
        levels=None if levels is None else (levels[0], levels[1]),
        reason=outcome["reason"],
        repeated=not record.fresh,
    )


def _assumptions(genesis: dict[str, Any]) -> tuple[str, ...]:
    independent, *others = ASSUMPTIONS
    units = genesis.get("units", {})
    if units.get("groups"):
        independent = independent.replace("records", "groups", 1)
    if units.get("weight_bound") is not None:
        others.append(_BOUNDED)
    if "class_counts" in genesis:
        others.append(_SEEN)
    return (independent, *others, _SEEDED) if genesis["seeded"] else (independent, *others)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
