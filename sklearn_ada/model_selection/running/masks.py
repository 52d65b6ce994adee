"""Searches that reveal their winner only.

The search itself runs on validation scores, so no worker ever sees the holdout. In the end its candidates are
fitted on all rows but the holdout's, here compared on it under seal, and only the number of the best of N is
released: one of N symbols, ``ln N`` nats. Its certified score is one more question, whose interval allows for
the choice among N candidates that were all fixed before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from sklearn_ada._checks import bad_parameter
from sklearn_ada.model_selection.running.candidates import n_candidates
from sklearn_ada.model_selection.scorers.base import HoldoutScorer
from sklearn_ada.model_selection.scorers.splitter import ValidationSplit
from sklearn_ada.model_selection.wrapper import Wrapper

__all__ = ["check_reveal", "masked", "told_to_validate"]


def check_reveal(wrapper: Wrapper) -> None:
    """Raise ValueError for ``reveal="winner"`` where it cannot be kept."""
    if wrapper.reveal != "winner":
        return
    owner = "ReusableHoldoutCV"
    name = type(wrapper.search).__name__
    if wrapper.ask == "candidates" and n_candidates(wrapper.search) is None:
        raise bad_parameter(
            "reveal", owner, f"'all' for {name} when ask='candidates'", wrapper.reveal,
            "Its next candidates would depend on the scores of the last. Use ask='winner' or an integer, or "
            "GridSearchCV or RandomizedSearchCV.",
        )  # fmt: skip
    if wrapper.mechanism == "ladder" or isinstance(wrapper.mechanism, HoldoutScorer):
        raise bad_parameter(
            "mechanism", owner, "'auto', 'thresholdout' or 'stable_median' when reveal='winner'",
            wrapper.mechanism, "It reveals more than the winner.",
        )  # fmt: skip
    if wrapper.one_standard_error is not False:
        raise bad_parameter(
            "one_standard_error", owner, "False when reveal='winner'", wrapper.one_standard_error,
            "It compares scores that are not revealed.",
        )  # fmt: skip


def told_to_validate(search: Any, scoring: Any, cv: ValidationSplit) -> Any:
    """Return a copy of the search that scores its candidates on validation rows."""
    return clone(search).set_params(scoring=scoring, cv=cv, refit=False)


def masked(results: dict[str, Any], winner: int, value: float) -> dict[str, Any]:
    """Return a search's table in which the winner has its certified score and no other has any.

    The validation scores, which are no secret, move to a column of their own.
    """
    table = {key: column for key, column in results.items() if "_test_" not in key}
    size = len(results["params"])
    scores = np.full(size, np.nan)
    scores[winner] = value
    table["validation_score"] = results["mean_test_score"]
    table["split0_test_score"] = table["mean_test_score"] = scores
    table["std_test_score"] = np.where(np.isnan(scores), np.nan, 0.0)
    table["rank_test_score"] = np.where(np.arange(size) == winner, 1, 2).astype(np.int32)
    return table
