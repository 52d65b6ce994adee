"""`plan_holdout`: from two of records, questions and width to the third, for every method."""

from __future__ import annotations

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada.planning.assumptions import Assumptions
from sklearn_ada.planning.holdout_plan import HoldoutPlan
from sklearn_ada.planning.method_plan import solve
from sklearn_ada.planning.methods import methods
from sklearn_ada.planning.solving import MOST_QUESTIONS, MOST_ROWS

__all__ = ["plan_holdout"]


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
    """Say what a holdout can certify, by every method: given two of records, questions and width, the third.

    A plan, not a certificate: static methods are planned at what they guarantee; coded checks, certifies and
    guessed medians at what is expected if guesses hold as assumed. Numbers of records are rounded up and
    numbers of questions down.

    Parameters
    ----------
    n : int or None
        Records of the holdout, at most 10^12. Exactly one of ``n``, ``n_questions`` and ``width`` is left
        out.
    n_questions : int or None
        Adaptive questions, at most 10^9.
    searches : int or None, default=None
        In place of ``n_questions``: so many searches in a row, each of which asks about its winner
        (``ReusableHoldoutCV(ask="winner")``). The recommendation then compares what is said of winners while
        searching, what is published in the end, and splitting the holdout.
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
        Records in each subsample of a median. (`Holdout` takes at most 400 subsamples unless told otherwise.)
    grid_size : int, default=401
        Points of a median's grid.
    verdicts : bool, default=False
        Whether pass or fail is all that is wanted of each question, as in continuous integration. ``best`` is
        then the row of verdicts, and no methods with noise nor medians are planned.
    passes : int or None, default=None
        Of verdicts: the process stops after so many passes, which leaves fewer transcripts to allow for.
        None: it goes on whatever they are.
    disagreement : float or None, default=None
        Of verdicts: each is about how much better one model is than another, and the two say different things
        of at most this share of the records, in (0, 1], as rows without labels can tell. Only methods that
        are planned for such differences have a row then; ``expected_value`` counts for nothing. None: each is
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
    (0.038, 0.0081)
    >>> plan_holdout(n=10_000, width=0.1)["sample splitting"].n_questions
    66
    >>> plan_holdout(n_questions=1_000, width=0.05).best.method
    'coded checks'
    >>> plan = plan_holdout(n=10_000, searches=9)
    >>> round(plan["cells, while searching"].width, 3), round(plan["cells, published"].width, 4)
    (0.022, 0.0085)
    >>> plan_holdout(n_questions=32, width=0.1, verdicts=True, disagreement=0.1, passes=1).best.n
    186
    """
    given = Assumptions(
        confidence_level=confidence_level,
        expected_value=expected_value,
        guess_rows=guess_rows,
        surprise_rate=surprise_rate,
        subsample_size=subsample_size,
        grid_size=grid_size,
        verdicts=verdicts,
        passes=passes,
        disagreement=disagreement,
    )
    if verdicts and searches is not None:
        raise bad_parameter(
            "searches", "plan_holdout", "None where 'verdicts' is True", searches,
            "A search asks for the score of its winner.",
        )  # fmt: skip
    named = {"n": n, "n_questions": n_questions, "searches": searches, "width": width}
    if n_questions is not None and searches is not None:
        raise bad_parameter(
            "searches", "plan_holdout", "None where 'n_questions' is given", searches,
            "A search is one question, about its winner.",
        )  # fmt: skip
    of_searches = searches is not None
    if searches is not None:
        n_questions = _count(searches, "searches", MOST_QUESTIONS)
    if [n, n_questions, width].count(None) != 1:
        got = ", ".join(repr(name) for name, value in named.items() if value is not None) or "none of them"
        raise ValueError(
            "plan_holdout needs exactly two of 'n', 'n_questions' (or 'searches') and 'width', and solves "
            f"for the third. Got {got}."
        )
    if n is not None:
        n = _count(n, "n", MOST_ROWS)
    if n_questions is not None:
        n_questions = _count(n_questions, "n_questions", MOST_QUESTIONS)
    if width is not None:
        width = check_real(
            width, "width", "plan_holdout", low=0.0, high=0.5, fix="It is half of an interval's width."
        )
    rows = tuple(solve(method, n, n_questions, width) for method in methods(given))
    return HoldoutPlan(n, n_questions, width, given, rows, of_searches)


def _count(value: int, name: str, most: int) -> int:
    count = check_integer(value, name, "plan_holdout")
    if count > most:
        raise bad_parameter(name, "plan_holdout", f"at most {most:,}", value)
    return count
