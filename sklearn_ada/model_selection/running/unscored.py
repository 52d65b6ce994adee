"""A search none of whose candidates has a score of its own: why that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from sklearn_ada.metrics import Metric, n_rows, take_rows
from sklearn_ada.model_selection.running.pairs import take_for
from sklearn_ada.model_selection.scorers.splitter import split_rows

__all__ = ["no_candidate_scored"]


def no_candidate_scored(
    search: Any,
    name: str,
    metric: Metric,
    fit: Callable[[NDArray[Any]], Any],
    X: Any,
    y: Any,
    validation: float,
    groups: Any,
    of_pairs: bool = False,
) -> ValueError:
    """Return the error for a fitted search whose scores of this name are all NaN or infinite.

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
        told += "give it a cv with fewer folds"
    else:
        told = f"its scorer or model raises {type(cause).__name__}: {str(cause).rstrip('.')}. Mend its "
        told += "scoring or its model; with error_score='raise' it tells by itself"
    error = ValueError(
        f"No candidate got a score from the search itself, of those to be certified, so none is: {told}."
    )
    error.__cause__ = cause
    return error
