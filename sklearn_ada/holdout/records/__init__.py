"""The records of a ledger, one class for each kind, and the state of a conversation that they amount to."""

from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.conversation import Conversation, read_record
from sklearn_ada.holdout.records.genesis import Genesis
from sklearn_ada.holdout.records.refusal import RefusalRecord

__all__ = ["AnswerRecord", "Conversation", "Genesis", "RefusalRecord", "read_record"]
