"""Whether a question is admitted: earlier records decide, never what the holdout would answer.

A refusal that depended on the answer would reveal something about it, for nothing. So a question is refused
if its interval could be wider than the tolerance, its mechanism or its holdout answers no more, or nothing is
left that could certify it.
"""

from __future__ import annotations

import math

from sklearn_ada.holdout.asking.sealing import foreseen_half_width, is_at_once
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.filled import FilledCheck
from sklearn_ada.holdout.questions.of_rows import RowsQuestion
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.questions.sealed import SealedQuestion
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.state import RefusedError
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.holdout.terms.failure_budget import FailureBudget

__all__ = ["admitted", "certified", "may_be_declared"]


def admitted(
    session: Session,
    question: Question,
    state: Conversation,
    round_name: str | None,
    member: str,
    *,
    final: bool,
) -> FailureBudget:
    """Return what a question may spend of the failure probability, after these records.

    Parameters
    ----------
    session : Session
    question : Question
    state : Conversation
    round_name : str or None
        The round that it belongs to.
    member : str
        Its key among declared models; empty if there is none.
    final : bool
        Whether it publishes: the tolerance does not refuse it.

    Raises
    ------
    RefusedError
        If it is not admitted.
    """
    mechanism_state = state.mechanism_states.get(question.state_name, {})
    exhausted = state.outgrown(session.fingerprint) or question.exhausted(mechanism_state)
    if exhausted is not None:
        raise RefusedError(exhausted)
    is_sealed = isinstance(question, SealedQuestion)
    share = state.share(
        question.purpose,
        round_name=state.open_round(round_name),
        at_once=is_at_once(question),
        final=final and not is_sealed,
    )
    if may_be_declared(question):
        share = state.declared(member, share)
    share = certified(state, question, share)
    admits_all = final or (is_sealed and state.policy.tolerance is None)  # then no interval need be found
    if not admits_all and not state.admits(*foreseen_half_width(state, question, share)):
        kept = "certify the model that is kept, " if question.purpose == "check" else ""
        raise RefusedError(
            f"the next {question.purpose} could be less precise than the tolerance of "
            f"{state.policy.tolerance:g}; {kept}add fresh rows (top_up; plan_holdout says how many), or "
            "take rows that nobody has asked about"
        )
    return share


def certified(state: Conversation, question: Question, share: FailureBudget, count: int = 1) -> FailureBudget:
    """Return the share with the routes (description length, privacy) that certify ``count`` such answers.

    Raises
    ------
    RefusedError
        If no route does, or nothing is left of the weights.
    """
    if share.ln_delta == -math.inf and not isinstance(question, SealedQuestion):
        raise RefusedError(
            "nothing is left of the weights of this holdout, which sum to 1, so an exact answer would "
            "certify nothing; cells of counts still certify, by what was said so far: certify without "
            "final=True"
        )
    mechanism_state = state.mechanism_states.get(question.state_name, {})
    return state.certified(question.private_release(mechanism_state), share, count)


def may_be_declared(question: Question) -> bool:
    """Return whether a question about a declared model gets the share of that."""
    return isinstance(question, CodedQuestion | FilledCheck | SealedQuestion | RowsQuestion)
