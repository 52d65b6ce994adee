"""The interval of an answer by description length, by privacy, or by both.

With both routes each has half of the failure probability, so the intersection of their intervals holds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from sklearn_ada.events import Event
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.outcome import Outcome

__all__ = ["read_outcome", "worst_half_width"]


def worst_half_width(question: Question, share: FailureBudget) -> tuple[float, float]:
    """Return the worst half-width of the answer by its better route, and the width of the metric's range."""
    half, width = question.half_width_bound(share)
    bounds = [half] if share.described else []
    if share.transfer is not None:
        bounds.append(question.private_half_width(share.transfer))
    return min(bounds, default=math.inf), width


def read_outcome(question: Question, event: Event, share: FailureBudget, state: dict[str, Any]) -> Outcome:
    """Return value and interval of what was released, by every route that certifies it."""
    described = question.read(event, share, state) if share.described else None
    if share.transfer is None:
        assert described is not None  # a question without any route was refused
        return described
    private = replace(question.read_private(event, share), route="differential_privacy")
    if described is None or described.verdict == "failed":
        return private
    return _both(described, private)


def _both(first: Outcome, second: Outcome) -> Outcome:
    low, high = max(first.interval[0], second.interval[0]), min(first.interval[1], second.interval[1])
    if low > high:  # one of them misses, which is the failure that was allowed for
        low, high = first.interval
    levels = first.levels
    if first.levels is not None and second.levels is not None:
        levels = (max(first.levels[0], second.levels[0]), min(first.levels[1], second.levels[1]))
    return replace(
        first,
        interval=(low, high),
        levels=levels,
        theorem=f"{first.theorem}; {second.theorem}",
        vacuous=first.vacuous and second.vacuous,
        route="both",
    )
