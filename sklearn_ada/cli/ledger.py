"""``ledger show`` and ``ledger verify``: read a ledger file without the holdout that it belongs to."""

from __future__ import annotations

from typing import Any

from sklearn_ada.holdout.conversation import Conversation
from sklearn_ada.ledger import Record, open_existing_ledger

__all__ = ["show_ledger", "verify_ledger"]


def show_ledger(path: str) -> None:
    """Print one line per record of the ledger."""
    ledger = open_existing_ledger(path, Conversation)
    for record in ledger.records():
        print(_line(record))
    state = ledger.read(lambda current: current)
    print(f"revealed {state.account.nats:.4g} nats in all; asked {state.asked}, refused {state.refused}")


def verify_ledger(path: str) -> None:
    """Check every record against the hash chain and its price against the code; raise if one is off."""
    ledger = open_existing_ledger(path, Conversation)
    count = sum(1 for _ in ledger.records())
    print(f"{count} records agree with the hash chain and the head of the ledger")


def _line(record: Record) -> str:
    body: dict[str, Any] = record.body
    kind = body.get("kind", "genesis")
    if kind == "genesis":
        return f"{record.seq:>6}  genesis  holdout {body['fingerprint'][:12]}, {body['rows']} rows"
    if kind == "round":
        return f"{record.seq:>6}  round    {body['size']} x {body['purpose']} fixed together"
    if kind == "overlap":
        return f"{record.seq:>6}  overlap  {body['price']:.3g} nats"
    metric = body["metric"]["name"]
    if kind == "refusal":
        return f"{record.seq:>6}  refusal  {body['time']}  {metric} {body['purpose']}"
    outcome = body["outcome"]
    return (
        f"{record.seq:>6}  {body['purpose']:<7}  {body['time']}  {metric} {outcome['value']} in "
        f"{outcome['interval']} ({outcome['verdict']}, {body['price']:.3g} nats)"
    )
