"""Phrases that several recommendations share, such as a number with its noun."""

from __future__ import annotations

from sklearn_ada.planning.plan_rows import PlanRows
from sklearn_ada.planning.solving import MOST_QUESTIONS

__all__ = ["guesses_hold", "many"]


def guesses_hold(plan: PlanRows) -> str:
    """Return what methods with a guess are planned on."""
    rate = plan.given.surprise_rate
    if rate == 0.0:
        return ", if guesses are off by no more than sampling explains"
    return f", if at most {rate:.3g} of the guesses are off by more than sampling explains"


def many(count: float | None, noun: str, *, of_searches: bool = False) -> str:
    """Return a number with its noun, in words for people; searches are counted as such."""
    if of_searches:
        return f"{count:,} search" + ("" if count == 1 else "es in a row")
    text = f"{count:,} {noun}" + ("" if count == 1 else "s")
    return f"at least {text}" if count == MOST_QUESTIONS and noun.endswith("question") else text
