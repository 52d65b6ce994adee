"""Which questions are answered in cells, and the record of such an answer.

Where the ledger says so (``answers="cells"``), a certify of a count of 0/1 losses tells its cell and seals
the count; with ``"auto"`` the first certify of a ledger is exact. Everything else is answered
as on any other ledger, and takes its weight from the same purse.

The interval that is told follows from two theorems, of which the transcript theorem needs an order of the
answers that the rows do not decide. A question on its own was fixed with what was known when it was begun; if
something else was recorded between that and its own record (by a thread, or by a colleague), who came first
may have been decided by the rows, so then description length speaks alone. In a round it does until that is
closed (`session.closing`).
"""

from __future__ import annotations

import math

from sklearn_ada.events import CountRelease, Event
from sklearn_ada.guarantees.description_length.theorem import ln_delta
from sklearn_ada.guarantees.description_length.wealth import Purse
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.questions.routes import worst_half_width
from sklearn_ada.holdout.questions.sealed import SealedQuestion, Told
from sklearn_ada.holdout.questions.sealed_statistics import SealedStatistic, statistic_of
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.mechanisms.rounding.count_cells import WINNER_WIDTH, candidate_width

__all__ = [
    "final_half_width",
    "foreseen_half_width",
    "is_at_once",
    "published_half_width",
    "sealed_form",
    "told_of",
]


def sealed_form(
    question: Question, data: HoldoutData, policy: Policy, candidates: int | None = None
) -> SealedQuestion | None:
    """Return the question as it is answered with a cell; None where it is answered as on any ledger.

    ``candidates`` is of how many candidates of one search it is a check, whose cells are the wider.
    """
    if not (policy.seals and isinstance(question, CodedQuestion)):
        return None
    is_check = question.purpose == "check"
    if is_check and (candidates is None or question.is_chosen):
        return None
    same_mix = policy.class_mix == "priced" or not data.is_classification
    identical = same_mix and not question.given_rows
    width = candidate_width(candidates) if is_check and candidates is not None else WINNER_WIDTH
    statistic = statistic_of(question, data, identical_rows=identical, width=width)
    urn = "candidate" if is_check else "winner"
    return None if statistic is None else SealedQuestion(question, statistic, urn)


def is_at_once(question: Question) -> bool:
    """Return whether a question tells an exact value when it is asked, which takes more of the purse."""
    return question.purpose == "certify" and not isinstance(question, SealedQuestion)


def told_of(state: ConversationState, question: SealedQuestion, event: Event) -> Told:
    """Return what the transcript theorem takes, if this is told now."""
    return Told(state.policy.ln_transcript, state.account.nats + state.account.price(event))


def foreseen_half_width(
    state: ConversationState, question: Question, share: FailureBudget
) -> tuple[float, float]:
    """Return the half-width that decides on admission, and the width of the metric's range.

    Of a sealed question that of the answer if its guess holds, as a surprise is wider and may not decide; of
    others the worst there can be.
    """
    if not isinstance(question, SealedQuestion):
        return worst_half_width(question, share)
    price = state.account.price(CountRelease(question.expected_symbols(share)))
    nats = max(share.nats, state.account.nats) + price
    return question.agreeing(share, Told(state.policy.ln_transcript, nats)), 1.0


def published_half_width(
    state: ConversationState, statistic: SealedStatistic, event: Event, share: FailureBudget
) -> float:
    """Return about the half-width of the exact value if it were published next, which takes nothing.

    At the value that the guess suggests, and with what is left of the purse after this question.
    """
    purse = state.purse if share.purse is None else share.purse
    return final_half_width(state, statistic, purse, state.account.nats + state.account.price(event))


def final_half_width(
    state: ConversationState,
    statistic: SealedStatistic,
    purse: Purse | None = None,
    nats: float | None = None,
) -> float:
    """Return about the half-width of a final, at the value that the guess suggests.

    ``purse`` and ``nats`` are what is left then and what was revealed; None: as they are now.
    """
    purse, nats = purse or state.purse, state.account.nats if nats is None else nats
    assert purse is not None
    weight, _ = purse.final()
    level = ln_delta(state.policy.ln_sealed, weight, nats) if weight > 0.0 else -math.inf
    low, high = statistic.fixed_interval(statistic.expected, statistic.expected, level)
    return (high - low) / 2.0
