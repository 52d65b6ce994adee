"""A recommendation for searches in a row: coarse answers (cells) from all rows, or new rows for each."""

from __future__ import annotations

from sklearn_ada.planning.method_plan import MethodPlan
from sklearn_ada.planning.methods import methods
from sklearn_ada.planning.plan_rows import PlanRows
from sklearn_ada.planning.solving import MOST_ROWS
from sklearn_ada.planning.words import guesses_hold, many

__all__ = ["recommend_for_searches", "splitting_wins"]

_CROSSING = 100  # searches that are looked at for the point from which on splitting loses


def recommend_for_searches(plan: PlanRows) -> str:
    """Return a few sentences about searches, each asked about its winner."""
    return _rows(plan) if plan.solved_for == "n" else _widths(plan)


def splitting_wins(plan: PlanRows, n: int, rival: str) -> int:
    """Return up to how many searches splitting n records is narrower than another method, at most 100."""
    by_name = {method.name: method.half_width for method in methods(plan.given)}
    split, other = by_name["sample splitting"], by_name[rival]
    return next((m - 1 for m in range(1, _CROSSING + 1) if split(n, m) >= other(n, m)), _CROSSING)


def _widths(plan: PlanRows) -> str:
    one, split, told, unsealed, kept = _compared(plan)
    assert plan.n is not None
    records, searches = many(plan.n, "record"), many(plan.n_questions, "", of_searches=True)
    if one.vacuous:
        return f"With {records} not even a holdout used once certifies anything: hold out more."
    if plan.n_questions == 1:
        return (
            f"For one search, and none after it, a plain holdout of {records} is enough: ±{one.width:.2g}. "
            f"If others may follow, answer in cells: its winner, published, then has ±{kept.width:.2g}"
            f"{guesses_hold(plan)}."
        )
    if kept.vacuous and split.vacuous:
        return f"No method certifies winners of {searches} on {records}: hold out more, or search less often."
    words = (
        f"For {searches} on {records} use answers='cells'{guesses_hold(plan)}: each winner "
        f"{_within(told)} while searching, the one that is published in the end {_within(kept)}, and the "
        f"others {_within(unsealed)} once the holdout is closed and they are unsealed; a holdout used once "
        f"has ±{one.width:.2g}."
    )
    while_searching = splitting_wins(plan, plan.n, told.method)
    published = splitting_wins(plan, plan.n, kept.method)
    if split.vacuous:
        return f"{words} Sample splitting certifies none of so many."
    words += (
        f" Sample splitting tells every winner at once, {_within(split)}, if the number of searches is known "
        f"in advance. While searching it is the narrower one {_up_to(while_searching)}; of the published "
        f"model {_up_to(published)}."
    )
    if while_searching >= (plan.n_questions or 0):
        words += (
            " So here split if every winner is to be told closely at once, and use cells if it is the "
            "published model that counts."
        )
    return words


def _rows(plan: PlanRows) -> str:
    one, split, told, unsealed, kept = _compared(plan)
    searches = many(plan.n_questions, "", of_searches=True)
    if plan.n_questions == 1 and not one.vacuous:
        return (
            f"For one search, and none after it, a plain holdout of {many(one.n, 'record')} is enough. If "
            f"others may follow, answer in cells: its winner can be published so closely {_with(kept)}"
            f"{guesses_hold(plan)}."
        )
    if all(row.vacuous for row in (split, told, unsealed, kept)):
        few = f"No holdout of up to {MOST_ROWS:,} records, the most that is planned for,"
        return f"{few} certifies winners of {searches} so closely."
    words = (
        f"For {searches} use answers='cells'{guesses_hold(plan)}. If it is the published model that must be "
        f"so close, that takes {_rows_of(kept)}; if all winners must, unsealed in the end, "
        f"{_rows_of(unsealed)}; if each must while searching, {_rows_of(told)}. Sample splitting tells every "
        f"winner at once so closely {_with(split)}, if the number of searches is known in advance"
    )
    better = not split.vacuous and split.n < told.n
    return words + (": fewer than cells need while searching." if better else ".")


def _compared(plan: PlanRows) -> tuple[MethodPlan, ...]:
    names = ("one use", "sample splitting", "cells, while searching", "cells, unsealed", "cells, published")
    return tuple(plan[name] for name in names)


def _within(row: MethodPlan) -> str:
    return "not certified" if row.vacuous else f"within ±{row.width:.2g}"


def _rows_of(row: MethodPlan) -> str:
    return "more than can be planned for" if row.vacuous else many(row.n, "record")


def _with(row: MethodPlan) -> str:
    return f"with {_rows_of(row)}"


def _up_to(searches: int) -> str:
    if searches == 0:
        return "never"
    if searches == 1:
        return "for a single search only"
    return f"for up to {searches}{' or more' if searches == _CROSSING else ''} searches"
