"""Rounds: questions fixed before any of their answers is seen, admitted together or not at all."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sklearn_ada._checks import check_integer, check_option
from sklearn_ada._table import counted
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.guarantees.description_length.weights import PURPOSES
from sklearn_ada.holdout.asking.admission import certified
from sklearn_ada.holdout.asking.plan import Settings
from sklearn_ada.holdout.asking.questions_left import Probe, admitted_at_once
from sklearn_ada.holdout.asking.sealing import foreseen_half_width, is_at_once, sealed_form
from sklearn_ada.holdout.asking.worst_question import worst_question
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.round import RoundRecord
from sklearn_ada.holdout.records.state import RefusedError
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.metrics import Metric, as_metric

__all__ = ["open_round"]

_OWNER = "Holdout.open_round"

_FRESH = (
    "add fresh rows (Holdout.top_up; plan_holdout says how many), or take rows that nobody has asked about, "
    "for which the tolerance may be larger."
)
_MENDS = {
    True: f"To go on, {_FRESH}",
    False: f"Search fewer candidates, use ask='winner', which asks one question a search, or {_FRESH}",
}
"""How to get an answer all the same, by whether one question was too many."""


def open_round(
    session: Session,
    size: int,
    *,
    purpose: str,
    scoring: str | Callable[..., Any] | Metric,
    key: str,
    guess_rows: int | None = None,
    alternatives: int = 1,
    settings: Settings = None,
    record: bool = True,
) -> str | None:
    """Declare that ``size`` questions, guesses included, are fixed before any of their answers is seen.

    Each has the same part of the round's failure probability, and what the others reveal does not widen its
    interval. All are admitted here or none.

    Parameters
    ----------
    session : Session
    size : int
    purpose : {"check", "certify"}
    scoring : str, callable or Metric
    key : str
        Identity of the round. If it was declared before, None is returned: questions already answered are
        nearly free, and new ones are on their own, as if there were no round.
    guess_rows : int or None, default=None
        How many rows the guesses come from; None takes as many as the holdout has.
    alternatives : int, default=1
        Among how many models, fixed now as well, the holdout chooses before each question is asked.
    settings : float, "fill" or None, default=None
        The cells of checks, as for `Holdout.check`.
    record : bool, default=True
        False: only raise if they would not be admitted now.

    Raises
    ------
    BudgetExhaustedError
        If the tolerance does not admit them all; the message says how many it admits. If no theory certifies
        them, as where nothing is left of the weights; the message says what is left.
    """
    check_option(purpose, "purpose", _OWNER, PURPOSES)
    size = check_integer(size, "size", _OWNER)
    alternatives = check_integer(alternatives, "alternatives", _OWNER)
    exact = worst_question(session, as_metric(scoring), purpose, guess_rows, settings)
    sealed = sealed_form(exact, session.data, session.policy, size if alternatives == 1 else None)
    stamp, changed = session.asker.stamp(), session.data.first_like
    key = f"{key} {changed}" if changed else key

    def decide(state: Conversation) -> RoundRecord:
        session.check_not_outgrown(state)
        at_once = sealed is None or (
            session.policy.answers == "auto"
            and purpose == "certify"
            and size == 1
            and not state.has_certified
        )
        probe: Probe = exact if sealed is None or at_once else sealed
        share = state.share(purpose, size, at_once=is_at_once(probe)).among(alternatives)
        if share.ln_delta == -math.inf:  # no tolerance is to blame
            try:
                certified(state, probe, share)
            except RefusedError as refused:
                raise BudgetExhaustedError(f"{counted(size, purpose)} planned, but {refused}.") from None
        most = admitted_at_once(state, probe, size, alternatives)
        if most < size:
            raise BudgetExhaustedError(
                f"{counted(size, purpose)} planned, and within {state.policy.limits} the holdout can answer "
                f"{most} of them: {size - most} too many. Nothing was asked. "
                f"{_how_wide(state, probe, share, size)}{_MENDS[size == 1]}{_begun_for_nothing(state)}"
            )
        return RoundRecord.of(key, purpose, size, share, stamp, at_once=at_once)

    if not record:
        session.find(f"round {key}", otherwise=decide)
        return None
    return key if session.charge(f"round {key}", decide).fresh else None


def _how_wide(state: Conversation, probe: Probe, share: FailureBudget, size: int) -> str:
    """Say how wide an answer could be: the tolerance that would admit it."""
    try:
        width, _ = foreseen_half_width(state, probe, certified(state, probe, share, size))
    except RefusedError:
        return ""
    return f"An answer could be as wide as +-{width:.3g}. " if math.isfinite(width) else ""


def _begun_for_nothing(state: Conversation) -> str:
    """Say that a ledger that has answered nothing may be begun again, with another policy."""
    told = any(state.asked.values()) or state.account.nats > 0.1  # a choice, or labels that differ
    if told or state.policy.tolerance is None:
        return ""
    exact = ", or with answers='exact', which is narrower while few were asked," if state.purse else ""
    return (
        " This ledger has answered nothing yet: another one, at another path and with a larger "
        f"tolerance{exact or ','} voids nothing."
    )
