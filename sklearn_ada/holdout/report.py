"""What was asked of a holdout, what was answered, what is spent and what is left."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from sklearn_ada.holdout.conversation import Conversation
from sklearn_ada.holdout.outcome import answer_from_record
from sklearn_ada.ledger import Ledger
from sklearn_ada.results import Answer

__all__ = ["HoldoutReport", "report_of"]


@dataclass(frozen=True)
class HoldoutReport:
    """A plain summary of a ledger: no holdout rows, no secret, safe to pickle and to show.

    Attributes
    ----------
    fingerprint : str
        Keyed digest of the holdout's content.
    n_rows : int
    confidence_level : float
    nats : float
        Everything revealed so far.
    asked : dict
        Questions admitted, by purpose.
    refused : int
    answers : tuple of (metric name, Answer)
        In the order of the ledger.
    """

    fingerprint: str
    n_rows: int
    confidence_level: float
    nats: float
    asked: dict[str, int]
    refused: int
    answers: tuple[tuple[str, Answer], ...]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict per answer, ready for a data frame."""
        return [
            {
                "index": answer.index,
                "metric": metric,
                "value": answer.value,
                "low": answer.interval[0],
                "high": answer.interval[1],
                "verdict": answer.verdict,
                "nats": answer.cost.nats,
                "target": answer.certificate.target if answer.certificate else None,
            }
            for metric, answer in self.answers
        ]

    def __repr__(self) -> str:
        lines = [self._summary()]
        lines += [f"  {answer.index:>5}  {metric}: {answer}" for metric, answer in self.answers[-10:]]
        if len(self.answers) > 10:
            lines.insert(1, f"  ... {len(self.answers) - 10} earlier answers")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{a.index}</td><td>{html.escape(m)}</td><td>{html.escape(str(a))}</td></tr>"
            for m, a in self.answers
        )
        return (
            f"<p>{html.escape(self._summary())}</p><details><summary>{len(self.answers)} answers</summary>"
            f"<table><tr><th>#</th><th>metric</th><th>answer</th></tr>{rows}</table></details>"
        )

    def _summary(self) -> str:
        asked = ", ".join(f"{count} times {purpose}" for purpose, count in self.asked.items())
        return (
            f"Holdout {self.fingerprint[:12]} of {self.n_rows} rows: {asked}, {self.refused} refused, "
            f"{self.nats:.3g} nats revealed; all intervals hold together with {self.confidence_level:.0%}"
        )


def report_of(ledger: Ledger[Conversation]) -> HoldoutReport:
    """Return the report of a ledger, read back from its records."""
    nats, asked, refused = ledger.read(lambda state: (state.account.nats, dict(state.asked), state.refused))
    answers = tuple(
        (record.body["metric"]["name"], answer_from_record(record, ledger.genesis))
        for record in ledger.records()
        if record.body.get("kind") in ("answer", "refusal")
    )
    genesis = ledger.genesis
    return HoldoutReport(
        genesis["fingerprint"], genesis["rows"], genesis["confidence_level"], nats, asked, refused, answers
    )
