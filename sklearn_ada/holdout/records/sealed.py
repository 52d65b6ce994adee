"""The records of sealed answers: the cell that was told when a question was asked, and what was unsealed.

What is sealed is kept with its record, under a pad that is a function of the ledger's secret and of the
record's key: the same length whatever the value is, and as good as random without the secret. That is
*hidden, not protected*: whoever opens the ledger on purpose, to decrypt it, can. Where the ledger was begun
with the holder's public key (``seal_key=``), the value is encrypted for that instead
(`sklearn_ada.holdout.terms.seal_key`), and the ledger's secret does not help. Nothing else of it stands
anywhere.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from sklearn_ada.events import Event
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.base import release_body
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.outcome import Outcome

__all__ = ["SealedRecord", "UnsealedRecord", "hidden", "sealed_context", "shown"]

_LENGTH = 8


class SealedRecord(AnswerRecord):
    """What was asked, in which cell the answer lies, and the answer itself, sealed."""

    kind = "sealed"

    def sealing(self, sealed: str | None, population: str, published: float) -> SealedRecord:
        """Return the record with what it seals.

        Parameters
        ----------
        sealed : str or None
            None where it failed.
        population : str
            What the exact value is the score of.
        published : float
            About the half-width that it would have if it were published now.
        """
        return type(self)({**self.body, "sealed": sealed, "population": population, "published": published})


class UnsealedRecord(AnswerRecord):
    """An exact value that was sealed and is told: at the level of its asking, or published as a final."""

    kind = "unsealed"

    @classmethod
    def of_sealed(
        cls,
        state: ConversationState,
        sealed: AnswerRecord,
        number: int,
        event: Event,
        outcome: Outcome,
        stamp: dict[str, Any],
        share: FailureBudget | None,
    ) -> UnsealedRecord:
        """Return the record of telling it now.

        Parameters
        ----------
        state : ConversationState
        sealed : AnswerRecord
            The record that holds it, and its ``number`` in the ledger.
        event, outcome : Event, Outcome
        stamp : dict
            Who asks for it.
        share : FailureBudget or None
            Of a final; None: at the level of the asking.
        """
        said = sealed.body
        kept = {name: said[name] for name in ("metric", "mechanism", "guess", "purpose")}
        level = {"ln_delta": said["ln_delta"], "nats": said["nats"]}
        if share is not None:
            level = {"ln_delta": share.ln_delta, "nats": share.nats, **share.taken()}
        again = ("declared", "given_rows", "assumed", "model")
        also: dict[str, Any] = {name: said[name] for name in again if name in said}
        return cls(
            {
                "kind": cls.kind,
                "of": number,
                "final": share is not None,
                **kept,
                **stamp,
                **release_body(state, event, None),
                **level,
                "outcome": outcome.to_dict(),
                **also,
            }
        )

    def apply(self, state: ConversationState) -> None:
        """Charge it, and take its weight if it is a final. It is no new question."""
        state.charge(self.event, self.price)
        outcome = self.body["outcome"]
        state.keep_value(outcome["value"], outcome["target"], self.body["metric"]["range"])
        if self.body["final"]:
            state.take(self.body)
            state.finals += 1


def sealed_context(fingerprint: str, key: str) -> str:
    """Return what a value is sealed for: the record of this key, of a ledger with this genesis."""
    return f"sealed {fingerprint} {key}"


def _pad(secret: bytes, fingerprint: str, key: str) -> bytes:
    return hmac.new(secret, sealed_context(fingerprint, key).encode(), hashlib.sha256).digest()[:_LENGTH]


def hidden(point: int, secret: bytes, fingerprint: str, key: str) -> str:
    """Return a point as its record keeps it; ``fingerprint`` is that of the genesis, ``key`` the record's."""
    pad = _pad(secret, fingerprint, key)
    return bytes(a ^ b for a, b in zip(point.to_bytes(_LENGTH, "big", signed=True), pad, strict=True)).hex()


def shown(text: str, secret: bytes, fingerprint: str, key: str) -> int:
    """Return the point that `hidden` hid."""
    try:
        content = bytes.fromhex(text)
        pad = _pad(secret, fingerprint, key)
        return int.from_bytes(bytes(a ^ b for a, b in zip(content, pad, strict=True)), "big", signed=True)
    except (TypeError, ValueError) as error:
        raise LedgerDamagedError(
            "What a record keeps sealed cannot be read: the ledger was edited."
        ) from error
