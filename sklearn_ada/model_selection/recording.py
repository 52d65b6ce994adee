"""From a search's table of scores back to the answers behind them.

A search keeps numbers only, so inside `ReusableHoldoutCV` a scorer returns the score together with the number
of its record in the ledger.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sklearn_ada.holdout import Holdout
from sklearn_ada.model_selection.holdout_scorer import HoldoutScorer
from sklearn_ada.results import Answer

__all__ = ["RecordingScorer", "certified_columns"]

_NO_RECORD = -1.0


class RecordingScorer:
    """Score as another scorer does, and say under which number the answer is recorded."""

    def __init__(self, scorer: HoldoutScorer) -> None:
        self.scorer = scorer
        self.__name__ = scorer.__name__

    def __call__(self, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None) -> dict[str, float]:
        """Return ``{"score": value, "record": number}``; what was no question has no number.

        Weights belong to X and y, and say nothing of the holdout.
        """
        answer = self.scorer.answer(estimator, X, y)
        if answer is None:
            return {"score": self.scorer.metric.score(estimator, X, y), "record": _NO_RECORD}
        return {"score": answer.value, "record": float(answer.index)}

    def __deepcopy__(self, memo: object) -> RecordingScorer:
        return self

    def __sklearn_clone__(self) -> RecordingScorer:
        return self


def certified_columns(
    results: dict[str, Any], holdout: Holdout
) -> tuple[dict[str, Any], list[Answer | None]]:
    """Return the search's results with interval columns, and the answer behind every candidate."""
    numbers = np.nan_to_num(np.asarray(results["mean_test_record"], dtype=float), nan=_NO_RECORD)
    by_number = {answer.index: answer for _, answer in holdout.report().answers}
    answers = [by_number.get(int(number)) for number in numbers]
    table = {key: value for key, value in results.items() if not key.endswith("_record")}
    nowhere = (math.nan, math.nan)
    intervals = [nowhere if answer is None else answer.interval for answer in answers]
    table["certified_low"] = np.array([low for low, _ in intervals])
    table["certified_high"] = np.array([high for _, high in intervals])
    table["verdict"] = np.array(["" if a is None else a.verdict for a in answers], dtype=object)
    return table, answers
