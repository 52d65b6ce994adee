"""Forgetting ledgers in memory: holdouts of the same labels share one, and tests want one for each."""

from collections.abc import Collection

from sklearn_ada.ledger import memory, transactions

__all__ = ["bodies", "forget_ledgers_in_memory", "names_of_ledgers_in_memory"]


def names_of_ledgers_in_memory() -> set[str]:
    """Return the names of this process's ledgers in memory."""
    return set(memory._books)


def forget_ledgers_in_memory(names: Collection[str] | None = None) -> None:
    """Forget these ledgers, by default all; what they held is gone."""
    names = names_of_ledgers_in_memory() if names is None else names
    for name in names:
        del memory._books[name]
    for slot in [slot for slot in transactions._connections if slot[0] in names]:
        transactions._connections[slot].forget()
    for slot in [slot for slot in transactions._seen if slot[0] in names]:
        del transactions._seen[slot]


def bodies(holdout):
    """Return the bodies of the records of a holdout's ledger."""
    return [record.body for record in holdout.ledger.records()]
