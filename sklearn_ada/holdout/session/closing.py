"""Closing a round: its sealed answers get the intervals of the transcript theorem.

The theorem wants answers to be coded in an order that the rows do not decide, and workers record theirs as
they come: with 300 coins, recorded in the order of their scores, every conversation had a miss. So

- all answers of a round have one code and one urn, whose total is the same in whatever order they come
  (`sklearn_ada.holdout.questions.sealed_statistics`): a round is one answer of many symbols;
- no answer of it is certified by the transcript until it is closed, and then all are at the L of that moment,
  which is at least what each of them would have in any order.

Until then description length speaks alone, with the L from before the round and a G-th of its weight.
"""

from __future__ import annotations

from typing import Any

from sklearn_ada.guarantees.description_length.shares import intersection
from sklearn_ada.guarantees.universal_inference.theorem import THEOREM
from sklearn_ada.holdout.questions.sealed_statistics import statistic_from
from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.conversation import Conversation, read_record
from sklearn_ada.holdout.records.genesis import Genesis
from sklearn_ada.holdout.records.round_close import RoundCloseRecord
from sklearn_ada.holdout.records.sealed import SealedRecord
from sklearn_ada.holdout.terms.asker import Asker
from sklearn_ada.holdout.terms.outcome import Outcome
from sklearn_ada.ledger import Ledger, Record

__all__ = ["as_closed", "close_key", "close_round"]


def close_key(round_name: str) -> str:
    """Return the key of the record that closes a round."""
    return f"close round {round_name}"


def close_round(ledger: Ledger[Conversation], asker: Asker, round_name: str) -> None:
    """Close a round, once; nothing where answers are exact, or if there is none of several questions."""
    begun = ledger.find(f"round {round_name}")
    if begun is None or "purse" not in begun.body or begun.body["size"] == 1:
        return
    stamp = asker.stamp()

    def decide(state: Conversation) -> dict[str, Any]:
        return RoundCloseRecord.of(state, round_name, stamp).to_dict()

    ledger.charge(close_key(round_name), decide)


def as_closed(
    ledger: Ledger[Conversation], record: Record, closed: dict[str, float] | None = None
) -> AnswerRecord:
    """Return what a record answers, with the interval that it has once its round is closed.

    Parameters
    ----------
    ledger : Ledger
    record : Record
        Of an answer.
    closed : dict or None, default=None
        The nats at which each round was closed, where they are known; None looks for them.
    """
    read = read_record(record.body)
    assert isinstance(read, AnswerRecord)
    name = read.body.get("round")
    if name is None or not isinstance(read, SealedRecord) or read.body["sealed"] is None:
        return read
    if closed is None:
        found = ledger.find(close_key(name))
        nats = None if found is None else float(found.body["nats"])
    else:
        nats = closed.get(name)
    if nats is None:
        return read
    outcome = Outcome.from_dict(read.body["outcome"])
    statistic = statistic_from(read.body["mechanism"])
    ends = statistic.ends(read.event.symbols[0].value)  # type: ignore[attr-defined]
    told = statistic.transcript_interval(*ends, Genesis(ledger.genesis).policy.ln_transcript, nats)
    interval = intersection(outcome.interval, [told])
    changed = {
        "interval": list(interval),
        "theorem": f"{outcome.theorem}; {THEOREM}",
        "vacuous": interval[0] <= 0.0 and interval[1] >= 1.0,
    }
    return SealedRecord({**read.body, "outcome": {**read.body["outcome"], **changed}})
