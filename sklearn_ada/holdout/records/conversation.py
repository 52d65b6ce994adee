"""A conversation: the state of a holdout, computed from its ledger's records one after the other."""

from __future__ import annotations

from typing import Any

from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.checkpoint import EVERY, CheckpointRecord
from sklearn_ada.holdout.records.close import CloseRecord
from sklearn_ada.holdout.records.confirmation import ConfirmationRecord
from sklearn_ada.holdout.records.family import FamilyRecord
from sklearn_ada.holdout.records.genesis import Genesis
from sklearn_ada.holdout.records.labels import LabelsRecord
from sklearn_ada.holdout.records.mean_weight import MeanWeightRecord
from sklearn_ada.holdout.records.overlap import OverlapRecord
from sklearn_ada.holdout.records.refusal import RefusalRecord
from sklearn_ada.holdout.records.round import RoundRecord
from sklearn_ada.holdout.records.round_close import RoundCloseRecord
from sklearn_ada.holdout.records.rows import RowsRecord
from sklearn_ada.holdout.records.sealed import SealedRecord, UnsealedRecord
from sklearn_ada.holdout.records.selection import SelectionRecord
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.holdout.records.top_up import TopUpRecord
from sklearn_ada.ledger import Head, Ledger

__all__ = ["Conversation", "from_last_checkpoint", "read_record"]

_CLASSES: dict[str, type[LedgerRecord]] = {
    each.kind: each
    for each in (
        AnswerRecord, CheckpointRecord, CloseRecord, ConfirmationRecord, FamilyRecord, LabelsRecord,
        MeanWeightRecord, OverlapRecord, RefusalRecord, RoundCloseRecord, RoundRecord, RowsRecord,
        SealedRecord, SelectionRecord, TopUpRecord, UnsealedRecord,
    )
}  # fmt: skip


def read_record(body: dict[str, Any]) -> LedgerRecord | None:
    """Return an object of the class of a record's kind; None for the genesis, which has no kind."""
    return _CLASSES[body["kind"]](body) if "kind" in body else None


class Conversation(ConversationState):
    """The state after some records: a function of the ledger and of nothing else.

    Parameters
    ----------
    genesis : dict
        The ledger's genesis record.
    """

    def __init__(self, genesis: dict[str, Any]) -> None:
        begun = Genesis(genesis)
        super().__init__(begun.policy, begun.fingerprint, begun.rows, begun.n_units, begun.n_classes)

    def advance(self, body: dict[str, Any]) -> None:
        """Take one more record into account."""
        record = _CLASSES[body["kind"]](body)
        record.apply(self)
        told_nothing = isinstance(record, CloseRecord | MeanWeightRecord)
        told_nothing |= isinstance(record, RowsRecord) and not record.tells_of_labels
        told_nothing |= self.closed and isinstance(record, RefusalRecord)
        self.is_untouched = self.is_untouched and told_nothing


def from_last_checkpoint(ledger: Ledger[Conversation]) -> tuple[Conversation, Head] | None:
    """Return the state and the head of a ledger, read from its last checkpoint on; None if there is none.

    The records from there on are verified against the head, and those before them not at all.
    """
    if ledger.tail(1)[0].count <= EVERY:
        return None
    head, records = ledger.tail(EVERY + 1)
    for number in range(len(records) - 1, -1, -1):
        last = read_record(records[number].body)
        if isinstance(last, CheckpointRecord) and last.state is not None:
            state = Conversation(ledger.genesis)
            try:
                state.restore(last.state)
                for record in records[number + 1 :]:
                    state.advance(record.body)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise LedgerDamagedError(
                    "A checkpoint of the ledger, or a record after it, lacks a part: it was edited."
                ) from error
            return state, head
    return None
