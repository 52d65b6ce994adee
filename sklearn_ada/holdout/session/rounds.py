"""Rounds: questions fixed before any of their answers is seen, admitted together or not at all."""

from __future__ import annotations

from typing import Any

from sklearn_ada._checks import check_integer
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.session.admission import Probe, admitted_at_once
from sklearn_ada.holdout.session.state import Conversation
from sklearn_ada.holdout.terms.asker import Asker
from sklearn_ada.ledger import Ledger

__all__ = ["open_round"]

_OWNER = "Holdout.open_round"


def open_round(
    size: int,
    probe: Probe,
    key: str,
    alternatives: int,
    data: HoldoutData,
    ledger: Ledger[Conversation],
    asker: Asker,
    *,
    record: bool,
) -> str | None:
    """Record a round of questions no worse than ``probe``; None if it was there. See `Holdout.open_round`."""
    size = check_integer(size, "size", _OWNER)
    alternatives = check_integer(alternatives, "alternatives", _OWNER)
    stamp, purpose = asker.stamp(), probe.purpose
    key = f"{key} {data.top_ups}" if data.top_ups else key

    def decide(state: Conversation) -> dict[str, Any]:
        outgrown = state.outgrown(data.top_ups)
        if outgrown is not None:
            raise BudgetExhaustedError(f"The holdout refused: {outgrown}.")
        most = admitted_at_once(state, probe, size, alternatives)
        if most < size:
            raise BudgetExhaustedError(
                f"{size} {purpose}s were planned, and within {state.policy.limits} the holdout can answer "
                f"{most} of them: {size - most} too many. Search fewer candidates, use ask='winner', or take "
                "a larger holdout or tolerance."
            )
        share = state.share(purpose, size).among(alternatives)
        body = {"kind": "round", "round": key, "purpose": purpose, "size": size, **stamp}
        return {**body, "ln_delta": share.ln_delta, "nats": share.nats}

    if not record:
        ledger.find(f"round {key}", otherwise=decide)
        return None
    return key if ledger.charge(f"round {key}", decide).fresh else None
