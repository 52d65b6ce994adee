"""`plan_holdout`: from two of rows, questions and width to the third, for every method.

A `HoldoutPlan` is a table, a picture and words. The words compare: coded checks with a plain holdout and with
sample splitting; for searches in a row coarse answers (cells) from all rows with new rows for each; and,
where pass or fail is all that is wanted, as in continuous integration, verdicts with numbers.
"""

from __future__ import annotations

import html
import math
import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sklearn_ada._validation import aligned, bad_parameter, checked, instance, integer, or_none, percent, real
from sklearn_ada.planning.display import PlanDisplay
from sklearn_ada.planning.methods import (
    MOST_QUESTIONS,
    MOST_ROWS,
    Assumptions,
    MethodPlan,
    PlanRows,
    methods,
    solve,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_HEAD = ("method", "rows", "questions", "half-width", "of", "certifies", "adaptive")
_NUMBERS = ("rows", "questions", "half-width")
_CHECKS, _SPLITTING = "coded checks", "sample splitting"
_QUESTIONS = or_none(integer(high=MOST_QUESTIONS))
_CROSSING = 100  # searches that are looked at for the point from which on splitting loses
_WORST = "It is a share such as an accuracy; None plans for the worst mean of values in [0, 1]."
_ONE_MODEL = "It is a share of rows; None plans for verdicts about one model."
_PLANNED = f"of up to {MOST_ROWS:,} rows, the most that is planned for,"


@checked(
    confidence_level="(0, 1)",
    expected_value=or_none(real(0.0, 1.0, fix=_WORST)),
    surprise_rate="[0, 1]",
    guess_rows=or_none(integer(fix="None plans for as many as the holdout has.")),
    subsample_size="count",
    grid_size="integer >= 2",
    verdicts=instance(bool, "True or False"),
    passes=or_none(integer(fix="None plans for a process that goes on whatever the verdicts.")),
    disagreement=or_none(real(0.0, 1.0, closed="high", fix=_ONE_MODEL)),
    searches=_QUESTIONS,
    n=or_none(integer(high=MOST_ROWS)),
    n_questions=_QUESTIONS,
    width=or_none(real(0.0, 0.5, fix="It is half of an interval's width.")),
)
def plan_holdout(
    n: int | None = None,
    n_questions: int | None = None,
    width: float | None = None,
    *,
    searches: int | None = None,
    confidence_level: float = Assumptions.confidence_level,
    expected_value: float | None = Assumptions.expected_value,
    guess_rows: int | None = Assumptions.guess_rows,
    surprise_rate: float = Assumptions.surprise_rate,
    subsample_size: int = Assumptions.subsample_size,
    grid_size: int = Assumptions.grid_size,
    verdicts: bool = Assumptions.verdicts,
    passes: int | None = Assumptions.passes,
    disagreement: float | None = Assumptions.disagreement,
) -> HoldoutPlan:
    """Plan a holdout: from two of rows, questions and width, find the third.

    There is one row for each method, with what it certifies. It is a plan, not a certificate: methods without
    a guess are planned at what they guarantee, and coded checks, certifies and guessed medians at what is
    expected if guesses hold as assumed. Numbers of rows are rounded up, and numbers of questions down.

    Parameters
    ----------
    n : int or None
        Records of the holdout, at most 10^12. Exactly one of ``n``, ``n_questions`` and ``width`` is left
        out.
    n_questions : int or None
        Adaptive questions, at most 10^9.
    searches : int or None, default=None
        In place of ``n_questions``: so many searches in a row, each of which asks about its winner
        (``ReusableHoldoutCV(ask="winner")``). The recommendation then compares coarse answers about winners,
        the exact value that is published in the end, and splitting the holdout.
    width : float or None
        Half-width, in (0, 1/2): half of the width of an interval, which holds for all answers at once. For
        means and AUCs in units of the metric's range; for medians in quantile levels. It is that of answers
        near ``expected_value``. A Holdout's ``tolerance`` goes by the widest answer that there can be, so for
        a width that will be a tolerance, plan with ``expected_value=None``.
    confidence_level : float, default=0.95
        That all intervals hold together, in (0, 1).
    expected_value : float or None, default=0.85
        About what the answers will be, for shares such as an accuracy, in (0, 1): exact binomial intervals
        narrow towards 0 and 1. None plans for the worst mean of values in [0, 1], by Hoeffding's inequality.
        Methods with noise do not depend on it.
    guess_rows : int or None, default=None
        Records behind each guess (validation or out-of-fold); None is as many as the holdout has.
    surprise_rate : float, default=0.0
        Share of the guesses that are off by more than sampling explains, in [0, 1]. Thresholdout's budget of
        hits is planned for it too.
    subsample_size : int, default=20
        Records in each subsample of a median. (`Holdout` takes at most 400 subsamples by default.)
    grid_size : int, default=401
        Points of a median's grid.
    verdicts : bool, default=False
        Whether pass or fail is all that is wanted of each question, as in continuous integration. ``best`` is
        then the row of verdicts, and no methods with noise nor medians are planned.
    passes : int or None, default=None
        Of verdicts: the process stops after so many passes, which leaves fewer transcripts to allow for.
        None: it goes on whatever they are.
    disagreement : float or None, default=None
        Of verdicts: each is about how much better one model is than another, and their predictions differ on
        at most this share of the rows, in (0, 1], which rows without labels can show. Only methods that are
        planned for such differences have a row then; ``expected_value`` counts for nothing. None: each is
        about one model.

    Returns
    -------
    HoldoutPlan
        One row for each method; ``best``, ``recommendation``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If a parameter is out of range, or not exactly two of the three are given.

    Examples
    --------
    >>> plan = plan_holdout(n=10_000, n_questions=1_000)
    >>> round(plan["coded checks"].width, 3), round(plan["certify after checks"].width, 4)
    (0.038, 0.0072)
    >>> plan_holdout(n=10_000, width=0.1)["sample splitting"].n_questions
    66
    >>> plan_holdout(n_questions=1_000, width=0.05).best.method
    'coded checks'
    >>> plan = plan_holdout(n=10_000, searches=9)
    >>> round(plan["cells, while searching"].width, 3), round(plan["cells, published"].width, 4)
    (0.022, 0.0078)
    >>> plan_holdout(n_questions=32, width=0.1, verdicts=True, disagreement=0.1, passes=1).best.n
    186
    """
    if (passes is not None or disagreement is not None) and not verdicts:
        name, value = ("passes", passes) if passes is not None else ("disagreement", disagreement)
        raise bad_parameter(
            name, "plan_holdout", "None where 'verdicts' is False", value,
            "It is planned for pass or fail only: set 'verdicts' to True.",
        )  # fmt: skip
    if searches is not None and (verdicts or n_questions is not None):
        expected, fix = "None where 'n_questions' is given", "A search is one question, about its winner."
        if verdicts:
            expected, fix = "None where 'verdicts' is True", "A search asks for the score of its winner."
        raise bad_parameter("searches", "plan_holdout", expected, searches, fix)
    named = {"n": n, "n_questions": n_questions, "searches": searches, "width": width}
    got = [repr(name) for name, value in named.items() if value is not None]
    if len(got) != 2:
        raise ValueError(
            "plan_holdout needs exactly two of 'n', 'n_questions' (or 'searches') and 'width', and solves "
            f"for the third. Got {', '.join(got) or 'none of them'}."
        )
    given = Assumptions(
        confidence_level, expected_value, guess_rows, surprise_rate, subsample_size, grid_size, verdicts,
        passes, disagreement,
    )  # fmt: skip
    questions = n_questions if searches is None else searches
    rows = tuple(solve(method, n, questions, width) for method in methods(given))
    return HoldoutPlan(n, questions, width, given, rows, searches is not None)


@dataclass(frozen=True, repr=False)
class HoldoutPlan(PlanRows):
    """What every method certifies; made by `plan_holdout`.

    Attributes
    ----------
    n : int or None
        Records of the holdout, as asked for; None if solved for.
    n_questions : int or None
        Adaptive questions, as asked for; None if solved for.
    width : float or None
        Half-width of every interval, as asked for; None if solved for.
    given : Assumptions
        Everything else that the plan rests on.
    rows : tuple of MethodPlan
        One for each method. ``plan["coded checks"]`` is the row of that name.
    of_searches : bool
        Whether the questions are winners of searches.
    """

    @property
    def recommendation(self) -> str:
        """What to do, in words."""
        if self.given.verdicts:
            return _verdicts(self)
        by_what = {"n": _rows, "n_questions": _questions, "width": _widths}
        if self.of_searches:
            by_what = {"n": _rows_of_searches, "width": _widths_of_searches}
        return f"{by_what[self.solved_for](self)} {_medians(self)}"

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each method.

        The columns are the attributes of `MethodPlan`.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError(
                "HoldoutPlan.to_frame needs pandas: pip install pandas. Plain rows are in `rows`."
            ) from error
        return DataFrame(self.to_dicts()).set_index("method")

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each method."""
        return [asdict(row) for row in self.rows]

    def plot(self, *, ax: Axes | None = None) -> PlanDisplay:
        """Draw what was solved for as bars, one for each method that says something.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        PlanDisplay
            With ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        return PlanDisplay.from_plan(self, ax=ax)

    def __repr__(self) -> str:
        table = aligned(_HEAD, [_cells(row) for row in self.rows], right=_NUMBERS)
        return f"{self._title()}\n\n{table}\n\n{textwrap.fill(self.recommendation, 100)}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in (*_HEAD, "note"))
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in (*_cells(row), row.note)) + "</tr>"
            for row in self.rows
        )
        return (
            f"<p>{html.escape(self._title())}</p><table><tr>{head}</tr>{body}</table>"
            f"<p>{html.escape(self.recommendation)}</p>"
        )

    def _title(self) -> str:
        noun = "adaptive verdict" if self.given.verdicts else "adaptive question"
        asked = [
            many(self.n, "row") if self.n else "",
            many(self.n_questions, noun, of_searches=self.of_searches) if self.n_questions else "",
            f"half-width {self.width:g}" if self.width else "",
        ]
        value = self.given.expected_value
        apart = self.given.disagreement
        kind = "any mean in [0, 1]" if value is None else f"shares about {value:g}"
        if apart is not None:
            kind = f"differences of two models that disagree on at most {apart:g} of the rows"
        return (
            f"Plan for {' and '.join(filter(None, asked))}; {kind}; all intervals hold together with "
            f"{percent(self.given.confidence_level)}"
        )


def _cells(row: MethodPlan) -> list[str]:
    return [
        row.method, f"{row.n:,}" if math.isfinite(row.n) else "none",
        f"{row.n_questions:,}" + ("+" if row.n_questions == MOST_QUESTIONS else ""),
        "none" if row.vacuous else f"{row.width:.3g}",
        row.unit, row.certifies, "yes" if row.adaptive else "no",
    ]  # fmt: skip


def _widths(plan: PlanRows) -> str:
    one, fixed, best, kept = _compared(plan)
    rows, questions = many(plan.n, "row"), many(plan.n_questions, "adaptive question")
    if one.vacuous:
        return f"With {rows} not even a holdout used once certifies anything: hold out more."
    if plan.n_questions == 1:
        return f"For one question a plain holdout of {rows} is enough: ±{one.width:.2g}."
    if best is None:
        return (
            f"No method certifies {questions} on {rows}. Hold out more, or ask about the winner of a "
            f"finished search only: one question, which a plain holdout answers within ±{one.width:.2g}."
        )
    words = f"Use {best.method}: {questions} within ±{best.width:.2g} on {rows}{_condition(plan)}."
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
        return f"With {rows} not even a holdout used once reaches ±{plan.width:.2g}: hold out more."
    if best is None or best.n_questions == 1:
        return f"With {rows} a plain holdout answers one question within ±{plan.width:.2g}, and no more."
    return (
        f"Use {best.method}: with {rows} {many(best.n_questions, 'adaptive question')} within "
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
        "n": many(best.n, "row"),
        "n_questions": many(best.n_questions, "question"),
        "width": f"half-width {best.width:.2g} in quantile levels",
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
    value = f"{plan.given.expected_value:.2g}"
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
            f"For one search, and none after it, a plain holdout of {rows} is enough: ±{one.width:.2g}. "
            f"If others may follow, answer in cells: its winner, published, then has ±{kept.width:.2g}"
            f"{guesses_hold(plan)}."
        )
    if kept.vacuous and split.vacuous:
        return f"No method certifies winners of {searches} on {rows}: hold out more, or search less often."
    words = (
        f"For {searches} on {rows} use answers='coarse'{guesses_hold(plan)}: each winner "
        f"{_within(early)} while searching, the one that is published in the end {_within(kept)}, and the "
        f"others {_within(unsealed)} once the holdout is closed and they are unsealed; a holdout used once "
        f"has ±{one.width:.2g}."
    )
    while_searching = splitting_wins(plan, plan.n, early.method)
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
        f"For {searches} use answers='coarse'{guesses_hold(plan)}. If it is the published model that must be "
        f"so close, that takes {_rows_of(kept)}; if all winners must, unsealed in the end, "
        f"{_rows_of(unsealed)}; if each must while searching, {_rows_of(early)}. Sample splitting tells "
        f"every winner at once so closely with {_rows_of(split)}, if the number of searches is known in "
        "advance"
    )
    better = not split.vacuous and split.n < early.n
    return words + (": fewer than cells need while searching." if better else ".")


def _compared_for_searches(plan: PlanRows) -> tuple[MethodPlan, ...]:
    names = ("one use", "sample splitting", "cells, while searching", "cells, unsealed", "cells, published")
    return tuple(plan[name] for name in names)


def _within(row: MethodPlan) -> str:
    return "not certified" if row.vacuous else f"within ±{row.width:.2g}"


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
        return f"For one verdict a plain holdout of {many(one.n, 'row')} is enough: ±{one.width:.2g}."
    if plan.solved_for == "n":
        words = f"Hold out {many(best.n, 'row')} and tell pass or fail only"
    else:
        words = (
            f"Tell pass or fail only: {many(best.n_questions, 'verdict')} within ±{best.width:.2g} on "
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
        return f"With {rows} not even one verdict is within ±{plan.width:.2g}: hold out more."
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
    return f"for {many(row.n_questions, noun)}" if is_count else f"within ±{row.width:.2g}"


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
