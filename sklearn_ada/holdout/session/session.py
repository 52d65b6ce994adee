"""The session of a holdout: the rows, the policy, the open ledger, and who asks."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, TypeVar

from sklearn_ada._checks import bad_parameter
from sklearn_ada.exceptions import BudgetExhaustedError, LedgerError, LedgerUnavailableError
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.checkpoint import EVERY, CheckpointRecord
from sklearn_ada.holdout.records.conversation import Conversation, read_record
from sklearn_ada.holdout.records.genesis import Genesis
from sklearn_ada.holdout.records.refusal import RefusalRecord
from sklearn_ada.holdout.records.sealed import SealedRecord, hidden, sealed_context
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.session.closing import as_closed
from sklearn_ada.holdout.terms.asker import Asker
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.holdout.terms.seal_key import check_library, sealed_for
from sklearn_ada.ledger import Ledger, Record, is_of_session, open_ledger
from sklearn_ada.metrics.data.rows import Subsamples
from sklearn_ada.results import Answer

__all__ = ["Session"]

Seen = TypeVar("Seen")


@dataclass(frozen=True)
class Session:
    """The rows of a holdout under a policy, on an open ledger.

    Parameters
    ----------
    data : HoldoutData
    policy : Policy
    ledger : Ledger
    asker : Asker
    fingerprint : str
        Digest of the rows, keyed with the ledger's secret: nobody else can test it for a row.
    """

    data: HoldoutData
    policy: Policy
    ledger: Ledger[Conversation]
    asker: Asker
    fingerprint: str

    @classmethod
    def open(
        cls,
        data: HoldoutData,
        policy: Policy,
        asker: Asker,
        *,
        address: str | os.PathLike[str],
        split: dict[str, Any] | None,
        random_state: int | None,
    ) -> Session:
        """Open or begin the ledger of some rows; see `Holdout` for the parameters.

        Rows with ids are compared with those of the ledger by `changed_rows.as_edition`, and a ledger
        without a path is found by `finding.place_of_rows`.

        Raises
        ------
        ValueError
            If the policy cannot be kept on these rows, or random_state is no integer.
        LedgerError
            If the ledger cannot be used, or belongs to other rows or another policy.
        ImportError
            If it seals with a key, and the library for that is missing.
        """
        data.check_policy(policy)
        seed = _seed(random_state)

        durable = not is_of_session(address)

        def genesis(secret: bytes, found: dict[str, Any] | None = None) -> dict[str, Any]:
            decided = policy.of_found(found, durable=durable)
            return Genesis.of(data, decided, split or {}, secret, seed, found).to_dict()

        opened = open_ledger(address, genesis, Conversation, secret=seed, of_found=genesis)
        begun = Genesis(opened.genesis)  # which was compared
        stored = begun.policy
        if stored.seal_key is not None:
            check_library()
        policy = replace(
            policy, answers=stored.answers, check_share=stored.check_share, seal_key=stored.seal_key
        )
        return cls(data, policy, opened, asker, begun.fingerprint)

    @property
    def genesis(self) -> Genesis:
        """What was fixed when the ledger was begun."""
        return Genesis(self.ledger.genesis)

    @property
    def secret(self) -> bytes:
        """The ledger's secret, from which noise and subsamples are drawn."""
        return self.ledger.secret()

    def sealing_key(self, key: str) -> bytes:
        """Return the key that hides what one record keeps of a model's outputs (`models.said`).

        It depends on the rows, as ledgers of other rows may have the same ``random_state``, and so the same
        secret.
        """
        label = f"said {self.genesis.fingerprint} {key}"
        return hmac.new(self.secret, label.encode(), hashlib.sha256).digest()

    def sealed(self, point: int, key: str, secret: bytes) -> str:
        """Return what the record of this key keeps of a point: hidden, or encrypted for the holder.

        ``secret`` is the ledger's, which cannot be read inside a charge.
        """
        fingerprint, public = self.genesis.fingerprint, self.policy.seal_key
        if public is not None:
            return sealed_for(public, point, sealed_context(fingerprint, key))
        return hidden(point, secret, fingerprint, key)

    def partition(self, n_subsamples: int, *, stratify: bool) -> Subsamples:
        """Return the rows of disjoint subsamples, drawn from the secret."""
        return self.data.partition(self.secret, n_subsamples, stratify=stratify)

    def charge(self, key: str | None, decide: Callable[[Conversation], LedgerRecord]) -> Record:
        """Return the record of this key; if there is none, record what ``decide`` returns for the state."""
        record = self.ledger.charge(key, lambda state: decide(state).to_dict())
        if record.fresh and record.seq % EVERY == 0:
            # The answer is recorded: where there is no room for a checkpoint, there is one less.
            with contextlib.suppress(LedgerUnavailableError):
                self._add_checkpoint(record.seq)
        return record

    def _add_checkpoint(self, seq: int) -> None:
        self.ledger.charge(f"checkpoint {seq}", lambda state: CheckpointRecord.of(state).to_dict())

    def find(self, key: str, otherwise: Callable[[Conversation], object] | None = None) -> Record | None:
        """Return the record of this key; if there is none, call ``otherwise`` with the state."""
        return self.ledger.find(key, otherwise=otherwise)

    def find_each(
        self, keys: Sequence[str], otherwise: Callable[[Conversation], object] | None = None
    ) -> list[Record]:
        """Return the records that there are under some keys; if there is none, call ``otherwise``."""
        return self.ledger.find_each(keys, otherwise=otherwise)

    def read(self, look: Callable[[Conversation], Seen]) -> Seen:
        """Return ``look(state)`` for the state of all records so far."""
        return self.ledger.read(look)

    def recorded_answer(self, number: int) -> Answer | None:
        """Return the answer or refusal that a record holds, or None if there is none of that number."""
        record = self.ledger.record(number)
        read = None if record is None else read_record(record.body)
        if record is None or not isinstance(read, AnswerRecord | RefusalRecord):
            return None
        if isinstance(read, SealedRecord):
            read = as_closed(self.ledger, record)
        return read.answer(record, self.genesis)

    def guess_behind(self, answer: Answer) -> Guess:
        """Return the guess that an answer of this holdout was asked with."""
        record = self.ledger.record(answer.index)
        if record is None:
            raise LedgerError(f"The ledger has no record {answer.index}; ask the holdout that answered.")
        return Guess(**AnswerRecord(record.body).guess)

    def check_not_outgrown(self, state: Conversation) -> None:
        """Raise BudgetExhaustedError if rows were added to the holdout since."""
        outgrown = state.outgrown(self.fingerprint)
        if outgrown is not None:
            raise BudgetExhaustedError(f"The holdout refused: {outgrown}.")

    def of_rows(self, data: HoldoutData) -> Session:
        """Return the session of other rows on the same ledger."""
        return replace(self, data=data, fingerprint=data.fingerprint(self.secret, self.genesis.identity))


def _seed(random_state: object) -> bytes | None:
    if random_state is None:
        return None
    if not isinstance(random_state, Integral) or isinstance(random_state, bool):
        raise bad_parameter("random_state", "Holdout", "an integer or None", random_state)
    return hashlib.sha256(f"sklearn_ada random_state {int(random_state)}".encode()).digest()
