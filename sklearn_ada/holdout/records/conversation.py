"""A conversation: the state of a holdout, computed from its ledger's records one after the other."""

from __future__ import annotations

from typing import Any

from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.family import FamilyRecord
from sklearn_ada.holdout.records.genesis import Genesis
from sklearn_ada.holdout.records.mean_weight import MeanWeightRecord
from sklearn_ada.holdout.records.overlap import OverlapRecord
from sklearn_ada.holdout.records.refusal import RefusalRecord
from sklearn_ada.holdout.records.round import RoundRecord
from sklearn_ada.holdout.records.selection import SelectionRecord
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.holdout.records.top_up import TopUpRecord

__all__ = ["Conversation", "read_record"]

_CLASSES: dict[str, type[LedgerRecord]] = {
    each.kind: each
    for each in (
        AnswerRecord, FamilyRecord, MeanWeightRecord, OverlapRecord, RefusalRecord, RoundRecord,
        SelectionRecord, TopUpRecord,
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
        self.is_untouched = self.is_untouched and isinstance(record, MeanWeightRecord)
