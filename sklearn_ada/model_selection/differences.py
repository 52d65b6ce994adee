"""How much better the winner of a search is than another model: the guess, and the line that says it.

The other model was refitted on all training rows, as the winner was, so no training row could show how they
compare. So both are fitted once more on one part of the rows, and compared on the rest. What cannot be fitted
so is compared as it is; if it was trained on these rows, it looks too good there: the guess is then off, and
costs more.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from sklearn_ada.answer import Answer, shown, shown_interval
from sklearn_ada.data.labels import take_rows
from sklearn_ada.metrics.metric import Difference
from sklearn_ada.model_selection import searches
from sklearn_ada.model_selection.certifying import Run, Winner
from sklearn_ada.questions.question import Guess, guess_from_rows
from sklearn_ada.terms.models import Pair, discarded_copy


def guess_of_difference(run: Run, winner: Winner, other: Any) -> Guess | None:
    """Return how much better the winner is than another model on validation rows, if they show it."""
    try:
        new, X, y = run.validated(winner.results["params"][winner.index])
        metric = Difference(winner.metric or run.metric)
        return guess_from_rows(metric, Pair(_fitted_on_part(run, other), new), X, y)
    except Exception:  # too few rows, a class is missing, ...: guesses on record, or none, must do
        return None


def _fitted_on_part(run: Run, model: Any) -> Any:
    """Return a model fitted on the rows that are not for validation; a copy as it is if it cannot be."""
    first, _ = run.parts
    part = searches.take_for(run.X, first, first, run.given.of_pairs), take_rows(run.y, first)
    try:
        return clone(model).fit(*part, **run.params.take(first).of_model)
    except Exception:  # whatever a model of somebody else raises
        return discarded_copy(model, "ReusableHoldoutCV")


def difference_line(answer: Answer, whom: str) -> str:
    """Return in one line how much better the winner is, and what the holdout says of that.

    Examples
    --------
    >>> from sklearn_ada.answer import Cost
    >>> answer = Answer(0.008, (-0.004, 0.021), "agrees", Cost(0.04), None, 7)
    >>> difference_line(answer, "the kept one")
    'better than the kept one by +.008, not contradicted: in [-.004, +.021]'
    >>> difference_line(answer.negated(), "the kept one")
    'worse than the kept one by .008, not contradicted: in [-.021, +.004]'
    """
    if not answer.answered:
        return f"not compared with {whom}: {answer.summary}"
    value, (low, high) = answer.value, answer.interval
    if low == high == 0.0:
        return f"as good as {whom}: {answer.reason}"
    word = "better than" if value > 0.0 else "worse than"
    how = {"agrees": "not contradicted", "differs": "moved by the holdout"}.get(answer.verdict, "measured")
    if low > 0.0 or high < 0.0:
        how = "certified"
    by, ends = shown(abs(value), answer.interval), shown_interval(answer.interval)[1:-1].split(", ")
    low_text, high_text = (end if end.startswith("-") else f"+{end}" for end in ends)
    return f"{word} {whom} by {'+' * (value > 0.0)}{by}, {how}: in [{low_text}, {high_text}]"
