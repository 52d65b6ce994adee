"""A search about whose winner there is no question to ask: why that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from sklearn_ada.metrics import Metric, n_rows, take_rows
from sklearn_ada.model_selection.running.pairs import take_for
from sklearn_ada.model_selection.scorers.splitter import split_rows

__all__ = [
    "NOT_FINISHED", "NO_METRIC", "NO_PREDICT", "NO_USUAL_METRIC", "UNSCORED_CHOICE", "no_candidate_scored",
    "why_unscored",
]  # fmt: skip

NOT_FINISHED = "The last call of fit did not end, so nothing is known to be asked about the best model."
NO_METRIC = (
    "A function chooses the winner by several scores, so nothing says which to certify. Name one: "
    "ReusableHoldoutCV(search, scoring='accuracy')."
)
NO_USUAL_METRIC = (
    "The model is neither a classifier nor a regressor, so nothing says which metric of its labels to "
    "certify. Name one: ReusableHoldoutCV(search, scoring='accuracy')."
)
NO_PREDICT = (
    "The best model has no predict, or whichever method the metric takes, and a question to the holdout is "
    "about what that says. Give it one to have it certified."
)
UNSCORED_CHOICE = (
    "The candidate that the search's refit function chose has no score of its own, which would be the guess. "
    "Mend its scores, or choose among those that have one."
)


def why_unscored(
    search: Any,
    name: str,
    metric: Metric,
    fit: Callable[[NDArray[Any]], Any],
    X: Any,
    y: Any,
    validation: float,
    groups: Any,
    of_pairs: bool = False,
) -> tuple[str, Exception | None]:
    """Return why a fitted search has only NaN or infinite scores of this name, and the error behind it.

    The cause is what its scorer says of a model that ``fit`` makes of one part of the rows, on the rest: the
    search itself has turned it into NaN.
    """
    scorers = getattr(search, "scorer_", None)
    scorer = scorers.get(name) if isinstance(scorers, dict) else scorers
    cause: Exception | None = None
    try:
        first, rest = split_rows(n_rows(X), y, validation, 0, groups)
        rows = take_for(X, rest, first, of_pairs), take_rows(y, rest)
        (scorer if callable(scorer) else metric.score)(fit(first), *rows)
    except Exception as raised:
        cause = raised
    if cause is None:
        told = "its scores are NaN or infinite. On folds of one row, or of one class, they may be undefined: "
        told += "pass more rows, or give it a cv with fewer folds. With error_score='raise' it tells what "
        told += "failed, if anything did"
    else:
        told = f"its scorer or model raises {type(cause).__name__}: {str(cause).rstrip('.')}. Mend its "
        told += "scoring or its model; with error_score='raise' it tells by itself"
    return f"No candidate got a score from the search itself, of those to be certified: {told}.", cause


def no_candidate_scored(why: str) -> ValueError:
    """Return the error for a search that cannot go on without a score."""
    return ValueError(f"{why} So nothing is certified, and the holdout was not asked.")
