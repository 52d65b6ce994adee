"""What a plan recommends, in words."""

from __future__ import annotations

from sklearn_ada._validation import in_full
from sklearn_ada.planning.laws import methods
from sklearn_ada.planning.methods import MOST_QUESTIONS, MOST_ROWS, MethodPlan, PlanRows

_CHECKS, _SPLITTING = "coded checks", "sample splitting"
_USE = "use ReusableHoldoutCV on a ledger file, as it comes"
_CROSSING = 100  # searches that are looked at for the point from which on splitting loses
_PLANNED = f"of up to {MOST_ROWS:,} rows, the most that is planned for,"


def recommendation(plan: PlanRows) -> str:
    """Return what to do."""
    if plan.given.verdicts:
        return _verdicts(plan)
    by_what = {"n": _rows, "n_questions": _questions, "width": _widths}
    if plan.of_searches:
        by_what = {"n": _rows_of_searches, "n_questions": _most_searches, "width": _widths_of_searches}
    return f"{by_what[plan.solved_for](plan)} {_medians(plan)}".rstrip()


def reason(plan: PlanRows) -> str:
    """Return in one line what the method is compared with; empty where there is nothing to choose."""
    best = plan["cells, published"] if plan.of_searches else plan.best
    if best is None or best.vacuous or plan.n_questions == 1:
        return ""
    noun = "search" if plan.of_searches else "verdict" if plan.given.verdicts else "question"
    what = "for the published model" if plan.of_searches else f"by {best.method}"
    rivals = {f"with new rows for each {noun}": plan[_SPLITTING], "on a holdout used once": plan["one use"]}
    others = [f"{_value(plan, row)} {how}" for how, row in rivals.items() if row is not best]
    return f"Why: {_value(plan, best)} {what}, against {' and '.join(others)}."


def _value(plan: PlanRows, row: MethodPlan) -> str:
    if row.vacuous:
        return "nothing"
    if plan.solved_for == "n":
        return many(row.n, "row")
    return f"±{in_full(row.width)}" if plan.solved_for == "width" else f"{row.n_questions:,}"


def _widths(plan: PlanRows) -> str:
    one, fixed, best, kept = _compared(plan)
    rows, questions = many(plan.n, "row"), many(plan.n_questions, "adaptive question")
    if one.vacuous:
        return f"With {rows} not even a holdout used once certifies anything: hold out more."
    if plan.n_questions == 1:
        return f"For one question a plain holdout of {rows} is enough: ±{in_full(one.width)}."
    if best is None:
        return (
            f"No method certifies {questions} on {rows}. Hold out more, or ask about the winner of a "
            f"finished search only: one question, which a plain holdout answers within ±{in_full(one.width)}."
        )
    words = f"Use {best.method}: {questions} within ±{in_full(best.width)} on {rows}{_condition(plan)}."
    if kept.width < best.width and best.method == _CHECKS:
        words += (
            f" Certify the model kept after such checks: ±{in_full(kept.width)}, where a holdout used once"
        )
        words += f" has ±{in_full(one.width)}."
    elif kept.width < best.width:
        words += f" If it is the model kept in the end that counts, use {_CHECKS} instead"
        words += (
            f" (±{in_full(plan[_CHECKS].width)} each) and certify that one: ±{in_full(kept.width)}, where a"
        )
        words += f" holdout used once has ±{in_full(one.width)}."
    return (
        f"{words} A plain holdout is enough only if all questions are fixed before the first answer: "
        f"±{in_full(fixed.width)} (beside adaptive questions, by Holdout.declare: "
        f"±{in_full(plan['declared models'].width)})."
    )


def _rows(plan: PlanRows) -> str:
    one, fixed, best, kept = _compared(plan)
    if best is None:
        return f"No holdout {_PLANNED} certifies {many(plan.n_questions, 'question')} so closely."
    if plan.n_questions == 1:
        return f"For one question a plain holdout of {many(one.n, 'row')} is enough."
    words = f"Hold out {many(best.n, 'row')} and use {best.method}{_condition(plan)}."
    if kept.n < best.n and best.method == _CHECKS:
        words += f" If only the model kept after such checks is to be certified so closely, {kept.n:,} do."
    elif kept.n < best.n:
        words += f" If only the model kept in the end is to be certified so closely, {kept.n:,} do, with"
        words += f" {_CHECKS} instead and a certify after them."
    return (
        f"{words}{_tolerance(plan)} A plain holdout is enough for one question with {many(one.n, 'row')}, "
        f"and for all with {fixed.n:,} if they are fixed before the first answer."
    )


def _questions(plan: PlanRows) -> str:
    one, fixed, best, _ = _compared(plan)
    rows = many(plan.n, "row")
    if one.vacuous:
        return f"With {rows} not even a holdout used once reaches ±{in_full(plan.width)}: hold out more."
    if best is None or best.n_questions == 1:
        return f"With {rows} a plain holdout answers one question within ±{in_full(plan.width)}, and no more."
    return (
        f"Use {best.method}: with {rows} {many(best.n_questions, 'adaptive question')} within "
        f"±{in_full(plan.width)}{_condition(plan)}.{_tolerance(plan)} A plain holdout is enough for "
        f"one question, or for {many(fixed.n_questions, 'question')} fixed before the first answer."
    )


def _compared(plan: PlanRows) -> tuple[MethodPlan, MethodPlan, MethodPlan | None, MethodPlan]:
    return plan["one use"], plan["fixed in advance"], plan.best, plan["certify after checks"]


def _medians(plan: PlanRows) -> str:
    best = plan.best_median
    if plan.given.typical is not None:
        return ""
    if best is None:
        return "For metrics that are not means, stable medians certify nothing here."
    reached = {
        "n": many(best.n, "row"),
        "n_questions": many(best.n_questions, "question"),
        "width": f"half-width {in_full(best.width)} in quantile levels",
    }[plan.solved_for]
    return f"For metrics that are not means: {best.method}, {reached}."


def _condition(plan: PlanRows) -> str:
    """Return what the method is planned on: guesses for coded checks, their number for splitting."""
    if plan.best is not None and plan.best.method == _SPLITTING:
        return ", if their number is known in advance"
    return "" if plan.best is None or plan.best.method != _CHECKS else guesses_hold(plan)


def _tolerance(plan: PlanRows) -> str:
    """Return what a width that is planned at an expected value is not."""
    if plan.best is None or plan.best.method != _CHECKS or plan.given.expected_value is None:
        return ""
    value = f"{in_full(plan.given.expected_value)}"
    return (
        f" That is the width of answers near {value}. As the tolerance of a Holdout, which refuses by the "
        "widest answer that there can be, it admits fewer: plan that with expected_value=None."
    )


def splitting_wins(plan: PlanRows, n: int, rival: str) -> int:
    """Return up to how many searches splitting is narrower than another method.

    Both methods have n rows; 100 is the most that is tried.
    """
    by_name = {method.name: method.half_width for method in methods(plan.given)}
    split, other = by_name["sample splitting"], by_name[rival]
    return next((m - 1 for m in range(1, _CROSSING + 1) if split(n, m) >= other(n, m)), _CROSSING)


def _widths_of_searches(plan: PlanRows) -> str:
    one, split, early, unsealed, kept = _compared_for_searches(plan)
    assert plan.n is not None
    rows, searches = many(plan.n, "row"), many(plan.n_questions, "", of_searches=True)
    if one.vacuous:
        return f"With {rows} not even a holdout used once certifies anything: hold out more."
    if plan.n_questions == 1:
        return (
            f"For one search, and none after it, a plain holdout of {rows} is enough: ±{in_full(one.width)}. "
            f"If others may follow, answer in cells: its winner, published, then has ±{in_full(kept.width)}"
            f"{guesses_hold(plan)}."
        )
    if kept.vacuous and split.vacuous:
        return f"No method certifies winners of {searches} on {rows}: hold out more, or search less often."
    words = (
        f"For {searches} on {rows} {_USE}{guesses_hold(plan)}: the model that is published in the end "
        f"{_within(kept)}, and each winner {_within(early)} while searching. Winners that are unsealed once "
        f"the holdout is closed are {_within(unsealed)}; a holdout used once has ±{in_full(one.width)}."
    )
    while_searching = splitting_wins(plan, plan.n, early.method)
    published = splitting_wins(plan, plan.n, kept.method)
    if split.vacuous:
        return f"{words} Sample splitting certifies none of so many."
    words += (
        f" Sample splitting answers every winner at once, {_within(split)}, if the number of searches is "
        f"known in advance. While searching it is the narrower one {_up_to(while_searching)}; of the "
        f"published model {_up_to(published)}."
    )
    if while_searching >= (plan.n_questions or 0):
        words += (
            " So here split if every winner is to be answered closely at once, and use cells if it is the "
            "published model that counts."
        )
    return words


def _rows_of_searches(plan: PlanRows) -> str:
    one, split, early, unsealed, kept = _compared_for_searches(plan)
    searches = many(plan.n_questions, "", of_searches=True)
    if plan.n_questions == 1 and not one.vacuous:
        return (
            f"For one search, and none after it, a plain holdout of {many(one.n, 'row')} is enough. If "
            f"others may follow, answer in cells: its winner can be published so closely with "
            f"{_rows_of(kept)}{guesses_hold(plan)}."
        )
    if all(row.vacuous for row in (split, early, unsealed, kept)):
        return f"No holdout {_PLANNED} certifies winners of {searches} so closely."
    words = (
        f"For {searches} {_USE}{guesses_hold(plan)}: {_rows_of(kept)} if it is the published model that must "
        f"be so close. That takes {_rows_of(unsealed)} for all winners, unsealed in the end, and "
        f"{_rows_of(early)} for each while searching. Sample splitting tells every winner at once so closely "
        f"with {_rows_of(split)}, if the number of searches is known in "
        "advance"
    )
    better = not split.vacuous and split.n < early.n
    return words + (": fewer than cells need while searching." if better else ".")


def _most_searches(plan: PlanRows) -> str:
    _, split, early, unsealed, kept = _compared_for_searches(plan)
    of_split, at_once, in_the_end, published = (
        many(row.n_questions, "", of_searches=True) for row in (split, early, unsealed, kept)
    )
    return (
        f"On {many(plan.n, 'row')} {_USE}{guesses_hold(plan)}: the model that is published in "
        f"the end is within ±{in_full(plan.width)} after {published}, every winner, unsealed in the end, "
        f"after {in_the_end}, and each while searching for {at_once}. Sample splitting does for {of_split}, "
        "if their number is known in advance."
    )


def _compared_for_searches(plan: PlanRows) -> tuple[MethodPlan, ...]:
    names = ("one use", "sample splitting", "cells, while searching", "cells, unsealed", "cells, published")
    return tuple(plan[name] for name in names)


def _within(row: MethodPlan) -> str:
    return "not certified" if row.vacuous else f"within ±{in_full(row.width)}"


def _rows_of(row: MethodPlan) -> str:
    return "more than can be planned for" if row.vacuous else many(row.n, "row")


def _up_to(searches: int) -> str:
    if searches == 0:
        return "never"
    if searches == 1:
        return "for a single search only"
    return f"for up to {searches}{' or more' if searches == _CROSSING else ''} searches"


def _verdicts(plan: PlanRows) -> str:
    """Return what to do for verdicts, and what numbers would take instead."""
    best, one = plan.best, plan["one use"]
    if best is None:
        return _no_verdicts(plan)
    if plan.n_questions == 1:
        return f"For one verdict a plain holdout of {many(one.n, 'row')} is enough: ±{in_full(one.width)}."
    if plan.solved_for == "n":
        words = f"Hold out {many(best.n, 'row')} and tell pass or fail only"
    else:
        words = (
            f"Tell pass or fail only: {many(best.n_questions, 'verdict')} within ±{in_full(best.width)} on "
            f"{many(best.n, 'row')}"
        )
    fixed = _reached(plan, plan["fixed in advance"], "model")
    return (
        f"{words}{_conditions(plan)}. A plain holdout is enough {fixed} if all models are fixed in "
        f"advance.{_numbers(plan)}"
    )


def _no_verdicts(plan: PlanRows) -> str:
    if plan.solved_for == "n":
        return f"No holdout {_PLANNED} tells {many(plan.n_questions, 'verdict')} so closely."
    rows = many(plan.n, "row")
    if plan.solved_for == "n_questions":
        return f"With {rows} not even one verdict is within ±{in_full(plan.width)}: hold out more."
    return f"With {rows} no method tells {many(plan.n_questions, 'verdict')}: hold out more."


def _conditions(plan: PlanRows) -> str:
    passes, apart = plan.given.passes, plan.given.disagreement
    words = ""
    if passes is not None:
        words = f", and stop at the {'first pass' if passes == 1 else f'last of {passes:,} passes'}"
    if apart is not None:
        words += f", if the two models say different things of at most {apart:.3g} of the rows"
    return words


def _numbers(plan: PlanRows) -> str:
    """Return what checks, which answer with a number each, would do if guesses hold."""
    if plan.given.disagreement is not None or plan[_CHECKS].vacuous or plan[_CHECKS].n_questions == 1:
        return ""
    reached = _reached(plan, plan[_CHECKS], "question")
    return f" Where validation rows give a guess, {_CHECKS} tell numbers {reached}{guesses_hold(plan)}."


def _reached(plan: PlanRows, row: MethodPlan, noun: str) -> str:
    if plan.solved_for == "n":
        return f"with {many(row.n, 'row')}"
    is_count = plan.solved_for == "n_questions"
    return f"for {many(row.n_questions, noun)}" if is_count else f"within ±{in_full(row.width)}"


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
