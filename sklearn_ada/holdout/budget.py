"""How many more questions the tolerance admits."""

from __future__ import annotations

from collections.abc import Callable

from sklearn_ada.holdout.conversation import Conversation
from sklearn_ada.holdout.question import Question

__all__ = ["admitted_at_once", "admitted_one_by_one"]

_MANY = 10**9


def admitted_at_once(state: Conversation, probe: Question, most: int, alternatives: int = 1) -> int:
    """Return how many questions like ``probe``, up to ``most``, are admitted as one round."""

    def admits(size: int) -> bool:
        share = state.share(probe.purpose, size).among(alternatives)
        return state.admits(*probe.half_width_bound(share))

    return _largest(admits, most)


def admitted_one_by_one(state: Conversation, probe: Question) -> int:
    """Return how many questions like ``probe`` are admitted one after the other if all guesses hold."""

    def admits(count: int) -> bool:
        return state.admits(*probe.half_width_bound(state.share(probe.purpose, ahead=count - 1)))

    return _largest(admits, _MANY)


def _largest(admits: Callable[[int], bool], most: int) -> int:
    """Return the largest count up to ``most`` that is admitted; admission is monotone."""
    low, high = 0, 1
    while high <= most and admits(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if admits(middle) else (low, middle)
    return low
