"""The durable record of a conversation with a holdout.

The ledger knows nothing of statistics. It keeps one genesis record (the whole policy), then records in the
order in which they were charged, each chained to the one before. What a record means is decided by whoever
folds them: the state of a conversation is a function of the log and nothing else.
"""

from sklearn_ada.ledger._contract import Ledger, Record
from sklearn_ada.ledger._records import canonical_json, chain_hash
from sklearn_ada.ledger._sqlite import SQLiteLedger
from sklearn_ada.ledger._temporary import temporary_ledger_path

__all__ = [
    "Ledger",
    "Record",
    "SQLiteLedger",
    "canonical_json",
    "chain_hash",
    "temporary_ledger_path",
]
