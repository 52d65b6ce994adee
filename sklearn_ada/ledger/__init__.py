"""The durable record of a conversation with a holdout.

The ledger knows nothing of statistics. It keeps one genesis record (the whole policy), then records in the
order in which they were charged, each chained to the one before. What a record means is decided by whoever
folds them: the state of a conversation is a function of the log and nothing else.
"""

from sklearn_ada.ledger.log.contract import Ledger, Record
from sklearn_ada.ledger.log.head import Head, parse_head
from sklearn_ada.ledger.log.writing import canonical_json, chain_hash, secret_digest
from sklearn_ada.ledger.memory import MemoryLedger
from sklearn_ada.ledger.opening import (
    is_begun,
    is_of_session,
    ledger_address,
    ledgers_of_kind,
    note_ids,
    noted_ledgers,
    open_existing_ledger,
    open_ledger,
    open_ledger_to_write,
)
from sklearn_ada.ledger.postgresql.ledger import SQLLedger
from sklearn_ada.ledger.sqlite.ledger import SQLiteLedger
from sklearn_ada.ledger.sqlite.temporary import temporary_ledger_path

__all__ = [
    "Head",
    "Ledger",
    "MemoryLedger",
    "Record",
    "SQLLedger",
    "SQLiteLedger",
    "canonical_json",
    "chain_hash",
    "is_begun",
    "is_of_session",
    "ledger_address",
    "ledgers_of_kind",
    "note_ids",
    "noted_ledgers",
    "open_existing_ledger",
    "open_ledger",
    "open_ledger_to_write",
    "parse_head",
    "secret_digest",
    "temporary_ledger_path",
]
