"""A recommendation where pass or fail is all that is wanted, as in continuous integration."""

from __future__ import annotations

from sklearn_ada.planning.method_plan import MethodPlan
from sklearn_ada.planning.plan_rows import PlanRows
from sklearn_ada.planning.solving import MOST_ROWS
from sklearn_ada.planning.words import guesses_hold, many

__all__ = ["recommend_verdicts"]

_CHECKS = "coded checks"


def recommend_verdicts(plan: PlanRows) -> str:
    """Return a few sentences about verdicts, and what numbers would take instead."""
    best, one = plan.best, plan["one use"]
    if best is None:
        return _none(plan)
    if plan.n_questions == 1:
        records, reached = many(one.n, "record"), f"±{one.width:.2g}"
        return f"For one verdict a plain holdout of {records} is enough: {reached}."
    if plan.solved_for == "n":
        said = f"Hold out {many(best.n, 'record')} and tell pass or fail only"
    else:
        said = (
            f"Tell pass or fail only: {many(best.n_questions, 'verdict')} within ±{best.width:.2g} on "
            f"{many(best.n, 'record')}"
        )
    fixed = _reached(plan, plan["fixed in advance"], "model")
    return (
        f"{said}{_conditions(plan)}. A plain holdout is enough {fixed} if all models are fixed in "
        f"advance.{_numbers(plan)}"
    )


def _none(plan: PlanRows) -> str:
    if plan.solved_for == "n":
        few = f"No holdout of up to {MOST_ROWS:,} records, the most that is planned for, tells"
        return f"{few} {many(plan.n_questions, 'verdict')} so closely."
    records = many(plan.n, "record")
    if plan.solved_for == "n_questions":
        return f"With {records} not even one verdict is within ±{plan.width:.2g}: hold out more."
    return f"With {records} no method tells {many(plan.n_questions, 'verdict')}: hold out more."


def _conditions(plan: PlanRows) -> str:
    passes, apart = plan.given.passes, plan.given.disagreement
    words = ""
    if passes is not None:
        words = f", and stop at the {'first pass' if passes == 1 else f'last of {passes:,} passes'}"
    if apart is not None:
        words += f", if the two models say different things of at most {apart:.3g} of the records"
    return words


def _numbers(plan: PlanRows) -> str:
    """Return what checks, which tell a number each, would do if guesses hold."""
    if plan.given.disagreement is not None or plan[_CHECKS].vacuous or plan[_CHECKS].n_questions == 1:
        return ""
    reached = _reached(plan, plan[_CHECKS], "question")
    return f" Where validation rows give a guess, {_CHECKS} tell numbers {reached}{guesses_hold(plan)}."


def _reached(plan: PlanRows, row: MethodPlan, noun: str) -> str:
    if plan.solved_for == "n":
        return f"with {many(row.n, 'record')}"
    is_count = plan.solved_for == "n_questions"
    return f"for {many(row.n_questions, noun)}" if is_count else f"within ±{row.width:.2g}"
