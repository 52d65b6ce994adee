"""A plan's recommendation in words: which method to use, and when a plain holdout is enough."""

from __future__ import annotations

from sklearn_ada.planning.method_plan import MethodPlan
from sklearn_ada.planning.plan_rows import PlanRows
from sklearn_ada.planning.searches import recommend_for_searches
from sklearn_ada.planning.solving import MOST_ROWS
from sklearn_ada.planning.verdicts import recommend_verdicts
from sklearn_ada.planning.words import guesses_hold, many

__all__ = ["recommend"]

_CHECKS, _SPLITTING = "coded checks", "sample splitting"


def recommend(plan: PlanRows) -> str:
    """Return a few sentences."""
    if plan.given.verdicts:
        return recommend_verdicts(plan)
    if plan.of_searches:
        means = recommend_for_searches(plan)
    else:
        means = {"n": _rows, "n_questions": _questions, "width": _widths}[plan.solved_for](plan)
    return f"{means} {_medians(plan)}"


def _widths(plan: PlanRows) -> str:
    one, fixed, best, kept = _compared(plan)
    records, questions = many(plan.n, "record"), many(plan.n_questions, "adaptive question")
    if one.vacuous:
        return f"With {records} not even a holdout used once certifies anything: hold out more."
    if plan.n_questions == 1:
        return f"For one question a plain holdout of {records} is enough: ±{one.width:.2g}."
    if best is None:
        return (
            f"No method certifies {questions} on {records}. Hold out more, or ask about the winner of a "
            f"finished search only: one question, which a plain holdout answers within ±{one.width:.2g}."
        )
    words = f"Use {best.method}: {questions} within ±{best.width:.2g} on {records}{_condition(plan)}."
    if kept.width < best.width and best.method == _CHECKS:
        words += f" Certify the model kept after such checks: ±{kept.width:.2g}, where a holdout used once"
        words += f" has ±{one.width:.2g}."
    elif kept.width < best.width:
        words += f" If it is the model kept in the end that counts, use {_CHECKS} instead"
        words += f" (±{plan[_CHECKS].width:.2g} each) and certify that one: ±{kept.width:.2g}, where a"
        words += f" holdout used once has ±{one.width:.2g}."
    return (
        f"{words} A plain holdout is enough only if all questions are fixed before the first answer: "
        f"±{fixed.width:.2g} (beside adaptive questions, by Holdout.declare: "
        f"±{plan['declared models'].width:.2g})."
    )


def _rows(plan: PlanRows) -> str:
    one, fixed, best, kept = _compared(plan)
    if best is None:
        few = f"No holdout of up to {MOST_ROWS:,} records, the most that is planned for, certifies"
        return f"{few} {many(plan.n_questions, 'question')} so closely."
    if plan.n_questions == 1:
        return f"For one question a plain holdout of {many(one.n, 'record')} is enough."
    words = f"Hold out {many(best.n, 'record')} and use {best.method}{_condition(plan)}."
    if kept.n < best.n and best.method == _CHECKS:
        words += f" If only the model kept after such checks is to be certified so closely, {kept.n:,} do."
    elif kept.n < best.n:
        words += f" If only the model kept in the end is to be certified so closely, {kept.n:,} do, with"
        words += f" {_CHECKS} instead and a certify after them."
    return (
        f"{words}{_tolerance(plan)} A plain holdout is enough for one question with {many(one.n, 'record')}, "
        f"and for all with {fixed.n:,} if they are fixed before the first answer."
    )


def _questions(plan: PlanRows) -> str:
    one, fixed, best, _ = _compared(plan)
    records = many(plan.n, "record")
    if one.vacuous:
        return f"With {records} not even a holdout used once reaches ±{plan.width:.2g}: hold out more."
    if best is None or best.n_questions == 1:
        return f"With {records} a plain holdout answers one question within ±{plan.width:.2g}, and no more."
    return (
        f"Use {best.method}: with {records} {many(best.n_questions, 'adaptive question')} within "
        f"±{plan.width:.2g}{_condition(plan)}.{_tolerance(plan)} A plain holdout is enough for "
        f"one question, or for {many(fixed.n_questions, 'question')} fixed before the first answer."
    )


def _compared(plan: PlanRows) -> tuple[MethodPlan, MethodPlan, MethodPlan | None, MethodPlan]:
    return plan["one use"], plan["fixed in advance"], plan.best, plan["certify after checks"]


def _medians(plan: PlanRows) -> str:
    best = plan.best_median
    if best is None:
        return "For metrics that are not means, stable medians certify nothing here."
    reached = {
        "n": many(best.n, "record"),
        "n_questions": many(best.n_questions, "question"),
        "width": f"half-width {best.width:.2g} in quantile levels",
    }[plan.solved_for]
    return f"For metrics that are not means: {best.method}, {reached}."


def _condition(plan: PlanRows) -> str:
    """Return what the method is planned on: guesses for coded checks, their number for splitting."""
    if plan.best is not None and plan.best.method == _SPLITTING:
        return ", if their number is known in advance"
    if plan.best is None or plan.best.method != _CHECKS:
        return ""
    return guesses_hold(plan)


def _tolerance(plan: PlanRows) -> str:
    """Return what a width that is planned at an expected value is not."""
    if plan.best is None or plan.best.method != _CHECKS or plan.given.expected_value is None:
        return ""
    value = f"{plan.given.expected_value:.2g}"
    return (
        f" That is the width of answers near {value}. As the tolerance of a Holdout, which refuses by the "
        "widest answer that there can be, it admits fewer: plan that with expected_value=None."
    )
