"""One row of a plan: for one method, whichever of rows, questions and width was left out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sklearn_ada.guarantees.transfer.bound import is_vacuous
from sklearn_ada.planning.methods import ONE, Method
from sklearn_ada.planning.solving import MOST_QUESTIONS, MOST_ROWS, fewest_rows, most_questions

__all__ = ["MethodPlan", "solve"]


@dataclass(frozen=True)
class MethodPlan:
    """What one method certifies.

    Attributes
    ----------
    method : str
        Its name.
    n : int or float
        Records of the holdout; infinite if no number of them is enough.
    n_questions : int
        Questions; 0 if it cannot answer even one, and 10^9 if at least so many.
    width : float
        Half-width reached with these records and questions; where there is none, the one asked for.
    unit : str
        What the half-width is measured in: "mean" (of losses in [0, 1]) or "quantile level" (.1: the answer
        is between the .4 and the .6 quantile of the metric over random subsamples).
    certifies : str
        What it is about: "every answer", "one answer", "the model kept", "the best so far", "pass or fail".
    adaptive : bool
        Whether questions may depend on earlier answers.
    vacuous : bool
        Whether the method says nothing here.
    note : str
        What to know before choosing it.
    """

    method: str
    n: float
    n_questions: int
    width: float
    unit: str
    certifies: str
    adaptive: bool
    vacuous: bool
    note: str


def solve(method: Method, n: int | None, n_questions: int | None, width: float | None) -> MethodPlan:
    """Return the row of a method, given two of the three: the third is solved for, rounded to be safe."""
    note, vacuous, rows = method.note, False, float("nan")
    questions = n_questions or 0
    if n is None:
        assert n_questions is not None
        assert width is not None
        block = method.block
        blocks = fewest_rows(lambda m: method.half_width(m * block, questions), width, MOST_ROWS // block)
        found = None if blocks is None else blocks * block
        rows, vacuous = (math.inf, True) if found is None else (found, False)
        reached = width if found is None else method.half_width(found, questions)
        note += f"; no number of records up to {MOST_ROWS:,} is enough" if vacuous else ""
    elif n_questions is None:
        assert width is not None
        if method.certifies == ONE:
            questions = int(method.half_width(n, 1) <= width)
        else:
            questions = most_questions(lambda k: method.half_width(n, k), width)
        rows, vacuous = n, questions == 0
        reached = width if vacuous else method.half_width(n, questions)
        note += f"; the search ends at {MOST_QUESTIONS:,}" if questions == MOST_QUESTIONS else ""
    else:
        rows, reached = n, method.half_width(n, questions)
        vacuous = is_vacuous(reached)
    return MethodPlan(
        method.name, rows, 1 if method.certifies == ONE and questions else questions, reached, method.unit,
        method.certifies, method.adaptive, vacuous, note,
    )  # fmt: skip
