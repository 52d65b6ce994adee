"""The durable record of a conversation with a holdout.

The ledger is independent of statistics. It keeps one genesis record (the whole policy), then records in the
order in which they were charged, each chained to the one before. What a record means is decided by whoever
folds them: the state of a conversation is a function of the log and nothing else.
"""

from sklearn_ada.ledger.hash_chain import (
    Head,
    Ledger,
    Record,
    canonical_json,
    chain_hash,
    parse_head,
    secret_digest,
)
from sklearn_ada.ledger.locations import temporary_ledger_path
from sklearn_ada.ledger.memory import MemoryLedger
from sklearn_ada.ledger.opening import (
    is_begun,
    is_temporary,
    ledger_address,
    ledgers_of_kind,
    note_ids,
    noted_ledgers,
    open_existing_ledger,
    open_ledger,
    open_ledger_to_write,
)
from sklearn_ada.ledger.postgresql import SQLLedger
from sklearn_ada.ledger.sqlite import SQLiteLedger
from sklearn_ada.ledger.transactions import BACKENDS, ChainedLedger, Connection

__all__ = [
    "BACKENDS", "ChainedLedger", "Connection", "Head", "Ledger", "MemoryLedger", "Record", "SQLLedger",
    "SQLiteLedger", "canonical_json", "chain_hash", "is_begun", "is_temporary", "ledger_address",
    "ledgers_of_kind", "note_ids", "noted_ledgers", "open_existing_ledger", "open_ledger",
    "open_ledger_to_write", "parse_head", "secret_digest", "temporary_ledger_path",
]  # fmt: skip
