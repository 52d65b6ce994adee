"""How many more questions a holdout admits: those whose answers cannot be wider than the tolerance.

That is computed from the ledger's records and from a *probe*, a question that stands for those to come, and
never from what the holdout would answer.
"""

from __future__ import annotations

from sklearn_ada._solving import largest_integer
from sklearn_ada.holdout.asking.admission import certified
from sklearn_ada.holdout.asking.sealing import foreseen_half_width, is_at_once
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.filled import FilledCheck
from sklearn_ada.holdout.questions.gaussian import GaussianQuestion
from sklearn_ada.holdout.questions.medians.stable_median import StableQuestion
from sklearn_ada.holdout.questions.sealed import SealedQuestion
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.state import RefusedError
from sklearn_ada.holdout.terms.failure_budget import FailureBudget

__all__ = ["MANY", "Probe", "admitted_at_once", "admitted_one_by_one", "share_ahead"]

Probe = CodedQuestion | FilledCheck | GaussianQuestion | SealedQuestion | StableQuestion

MANY = 10**9
"""Questions are counted no further."""


def admitted_at_once(state: Conversation, probe: Probe, most: int, alternatives: int = 1) -> int:
    """Return how many questions like ``probe``, up to ``most``, are admitted as one round.

    ``alternatives`` is among how many questions the holdout chooses before each of them is asked.
    """

    def admits(size: int) -> bool:
        share = state.share(probe.purpose, size, at_once=is_at_once(probe)).among(alternatives)
        return _admits(state, probe, share, size)

    return largest_integer(admits, most)


def admitted_one_by_one(state: Conversation, probe: Probe) -> int:
    """Return how many questions like ``probe`` are admitted one after the other if all guesses hold."""

    def admits(count: int) -> bool:
        return _admits(state, probe, share_ahead(state, probe, count - 1), count)

    # Weights fall within the expected questions and again beyond them, and rise in between.
    expected = (state.policy.expected_questions or 0) if probe.purpose == "check" else 0
    within = max(expected - state.asked[probe.purpose], 0)
    count = largest_integer(admits, within)
    return count if count < within else largest_integer(admits, MANY)


def share_ahead(state: Conversation, probe: Probe, count: int, purpose: str | None = None) -> FailureBudget:
    """Return the share of the question that comes after ``count`` more like ``probe``, if their guesses hold.

    A guess that holds is cheap, not free, so the share includes the nats of these questions. ``purpose`` is
    that of the question, by default the probe's; a question of the other purpose does not lose weight to
    them.
    """
    own = purpose in (None, probe.purpose)
    at_once = own and is_at_once(probe)
    share = state.share(
        purpose or probe.purpose, ahead=count if own or state.purse is not None else 0, at_once=at_once
    )
    return share.after(
        sum(state.account.price_of_repeats(symbol, count) for symbol in probe.expected_symbols(share))
    )


def _admits(state: Conversation, probe: Probe, share: FailureBudget, count: int) -> bool:
    try:
        return state.admits(*foreseen_half_width(state, probe, certified(state, probe, share, count)))
    except RefusedError:
        return False
