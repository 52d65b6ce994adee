"""What a holdout certified, as one document to hand over: ready for JSON, made from the ledger alone.

It tells what was asked, answered and revealed, on which theorems and assumptions the intervals rest, and the
head of the ledger, which vouches for all of it: `ledger verify FILE --certificate` makes it again from the
records (`sklearn_ada.holdout.report.recomputing`). No rows, no secret, and nothing that is still sealed: it
is made from answers, which hold none of these.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.conversation import Conversation, read_record
from sklearn_ada.holdout.records.genesis import Genesis
from sklearn_ada.holdout.records.refusal import RefusalRecord
from sklearn_ada.holdout.report.entry import Entry
from sklearn_ada.holdout.session.closing import as_closed
from sklearn_ada.ledger import Head, Ledger, Record, parse_head
from sklearn_ada.results import Answer

__all__ = ["FORMAT", "Prefix", "certificate_of", "prefix_of"]

FORMAT = "sklearn_ada certificate 1"
"""What a certificate of this kind begins with. Meanings never change."""

_FIXED = (
    "fingerprint", "identity", "rows", "confidence_level", "tolerance", "route", "class_mix", "answers",
    "seeded",
)  # fmt: skip


@dataclass(frozen=True)
class Prefix:
    """The records of a ledger up to a head.

    Attributes
    ----------
    ledger : Ledger
    head : Head
    records : tuple of Record
    """

    ledger: Ledger[Conversation]
    head: Head
    records: tuple[Record, ...]

    @property
    def genesis(self) -> Genesis:
        """The first record."""
        return Genesis(self.ledger.genesis)

    @property
    def closed_rounds(self) -> dict[str, float]:
        """The nats at which each round was closed."""
        bodies = (record.body for record in self.records)
        return {body["round"]: float(body["nats"]) for body in bodies if body.get("kind") == "round_close"}

    def state(self) -> Conversation:
        """Return what the records add up to."""
        state = Conversation(self.ledger.genesis)
        for record in self.records:
            if record.seq:
                state.advance(record.body)
        return state


def prefix_of(ledger: Ledger[Conversation], head: str | None = None) -> Prefix:
    """Return the records of a ledger up to a head, or all that it has now."""
    reached = parse_head(ledger.head() if head is None else head)
    return Prefix(ledger, reached, tuple(itertools.islice(ledger.records(), reached.count)))


def certificate_of(prefix: Prefix) -> dict[str, Any]:
    """Return the certificate of these records, ready for JSON; NaN and infinite ends are None."""
    genesis, state = prefix.genesis, prefix.state()
    answers, assumptions = [], dict.fromkeys(genesis.assumptions)
    closed = prefix.closed_rounds
    for record in prefix.records:
        read = read_record(record.body)
        if not isinstance(read, AnswerRecord | RefusalRecord):
            continue
        if isinstance(read, AnswerRecord):
            read = as_closed(prefix.ledger, record, closed)
        answer = read.answer(record, genesis)
        assumptions |= dict.fromkeys(() if answer.certificate is None else answer.certificate.assumptions)
        answers.append(_told(answer, Entry.of(record)))
    told = [each for each in answers if each["value"] is not None]
    return {
        "format": FORMAT,
        "statement": (
            f"With probability at least {genesis.confidence_level:.12g} over the draws of the holdout and of "
            "the ledger's secret, all intervals below contain their targets at once, however the questions "
            "were chosen."
        ),
        "holdout": {name: genesis.body.get(name) for name in _FIXED} | {"rows_now": state.rows},
        "asked": {**state.asked, "refused": state.refused, "asked by": dict(state.askers)},
        "revealed": {"nats": state.account.nats, "published": state.finals, "closed": state.closed},
        "theorems": list(dict.fromkeys(each["theorem"] for each in told)),
        "assumptions": list(assumptions),
        "targets": list(dict.fromkeys(each["target"] for each in told)),
        "answers": answers,
        "head": str(prefix.head),
    }


def _told(answer: Answer, entry: Entry) -> dict[str, Any]:
    """Return what a certificate says of one answer."""
    certificate = answer.certificate
    return {
        "index": answer.index,
        "kind": entry.kind,
        "time": entry.time,
        "who": entry.who,
        "label": entry.label,
        "model": entry.model,
        "metric": entry.metric,
        "purpose": entry.purpose,
        "mechanism": entry.mechanism,
        "guess": entry.guess,
        "value": _finite(answer.value),
        "interval": [_finite(end) for end in answer.interval],
        "levels": None if answer.levels is None else list(answer.levels),
        "verdict": answer.verdict,
        "vacuous": certificate is not None and certificate.vacuous,
        "nats": answer.cost.nats,
        "epsilon": answer.cost.epsilon,
        "rho": answer.cost.rho,
        "published": answer.published,
        "target": answer.target,
        "theorem": None if certificate is None else certificate.theorem,
        "ln_delta": None if certificate is None else _finite(certificate.ln_delta),
        "reason": answer.reason,
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
