"""Forgetting ledgers in memory: holdouts of the same labels share one, and tests want one for each."""

import contextlib
import json
from collections.abc import Collection, Iterator
from dataclasses import replace

from sklearn_ada.ledger import elsewhere, memory, transactions
from sklearn_ada.terms.policy import Policy
from tests.support.ledger.damages import chained, forget, rows_of, with_rows

__all__ = [
    "begun_as", "bodies", "changes_of", "forget_ledgers_in_memory", "is_paid_in_advance", "kinds",
    "kinds_asked", "names_of_ledgers_in_memory", "rewritten",
]  # fmt: skip


def names_of_ledgers_in_memory() -> set[str]:
    """Return the names of this process's ledgers in memory."""
    return set(memory._books)


def forget_ledgers_in_memory(names: Collection[str] | None = None) -> None:
    """Forget these ledgers, by default all; what they held is gone."""
    names = names_of_ledgers_in_memory() if names is None else names
    for name in names:
        del memory._books[name]
        elsewhere._entries.pop(transactions.opened.pop(name, ""), None)
    for slot in [slot for slot in transactions._connections if slot[0] in names]:
        transactions._connections[slot].forget()
    for slot in [slot for slot in transactions._seen if slot[0] in names]:
        del transactions._seen[slot]


@contextlib.contextmanager
def begun_as(number: int) -> Iterator[None]:
    """Let ledgers that are begun in this block be of an older format; they stay so when opened later."""
    of_found = Policy.of_found

    def older(policy, found, *, durable):
        return of_found(replace(policy, format=number) if found is None else policy, found, durable=durable)

    Policy.of_found = older
    try:
        yield
    finally:
        Policy.of_found = of_found


def bodies(holdout):
    """Return the bodies of the records of a holdout's ledger."""
    return [record.body for record in holdout.ledger.records()]


def kinds(holdout):
    """Return the kinds of the records of a holdout's ledger; the first, its genesis, has none."""
    return [body.get("kind") for body in bodies(holdout)]


def is_paid_in_advance(body):
    """Return whether a record pays once for labels that are those of the rows, before they are compared."""
    return body.get("kind") == "labels" and body["event"]["symbols"][0]["value"] == 0


def kinds_asked(holdout):
    """Return the kinds of the records of a ledger, but for what opening it again has paid in advance."""
    return [body.get("kind") for body in bodies(holdout) if not is_paid_in_advance(body)]


def changes_of(holdout):
    """Return the kinds of changes of a holdout's rows, with how many rows changed, and how many there are."""
    return [(b["change"], b.get("count"), b["rows"]) for b in bodies(holdout) if b.get("kind") == "rows"]


def rewritten(path, number, edit):
    """Edit the body of a record, and make chain and head anew, as whoever owns a file can."""
    forget()
    rows = []
    for seq, key, subject, text, _ in rows_of(path):
        body = json.loads(text)
        if seq == number:
            edit(body)
        rows.append(chained(seq, key, subject, body, rows[-1] if rows else None))
    with_rows(path, rows, head=True)
