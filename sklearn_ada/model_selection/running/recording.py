"""From a search's table of scores back to the answers behind them.

A search keeps numbers only, so inside `ReusableHoldoutCV` a scorer returns the score together with the number
of its record in the ledger.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from sklearn_ada.exceptions import BudgetExhaustedError, LedgerError, LedgerUnavailableError
from sklearn_ada.holdout import Holdout, session_of
from sklearn_ada.model_selection.scorers.base import HoldoutScorer
from sklearn_ada.results import Answer

__all__ = ["RecordingScorer", "certified_columns"]

_NO_RECORD = -1.0
_NO_LEDGER = -2.0


class RecordingScorer:
    """Score as another scorer does, and say under which number the answer is recorded.

    Attributes
    ----------
    raises : bool
        Whether a candidate without a score ends the search, with the error that says why.
    refused : bool
        Whether the holdout refused a question that was put in this process.
    """

    def __init__(self, scorer: HoldoutScorer) -> None:
        self.scorer = scorer
        self.__name__ = scorer.__name__
        self.raises = False
        self.refused = False

    def __call__(self, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None) -> dict[str, float]:
        """Return ``{"score": value, "record": number}``; what was no question has no number.

        Weights belong to X and y, and say nothing of the holdout.
        """
        try:
            answer = self.scorer.answer(estimator, X, y, searching=True)
        except Exception as error:  # raised here for some candidates, it would lose the whole search
            if self.raises:
                raise
            if isinstance(error, LedgerError):
                return {"score": math.nan, "record": _NO_LEDGER}
            what = f"{type(error).__name__}: {error}"
            what = f"No question was put about a candidate, and nothing is certified of it. {what}"
            warnings.warn(what, UserWarning, stacklevel=2)
            return {"score": math.nan, "record": _NO_RECORD}
        if answer is None:
            return {"score": self.scorer.metric.score(estimator, X, y), "record": _NO_RECORD}
        self.refused |= answer.verdict == "refused"
        if self.raises and math.isnan(answer.value):
            told = f"The search cannot go on without a score for every candidate: {answer.reason}."
            raise BudgetExhaustedError(told) if answer.verdict == "refused" else ValueError(told)
        return {"score": answer.value, "record": float(answer.index)}

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata request of the scorer within."""
        return self.scorer.get_metadata_routing()

    def __deepcopy__(self, memo: object) -> RecordingScorer:
        return self

    def __sklearn_clone__(self) -> RecordingScorer:
        return self


def certified_columns(
    results: dict[str, Any], holdout: Holdout
) -> tuple[dict[str, Any], list[Answer | None]]:
    """Return the search's results with interval columns, and the answer behind every candidate."""
    recorded = results.get("mean_test_record", np.full(len(results["params"]), math.nan))
    numbers = np.nan_to_num(np.asarray(recorded, dtype=float), nan=_NO_RECORD)
    if (numbers == _NO_LEDGER).any():
        raise LedgerUnavailableError(
            "The ledger could not be used for some candidates, so no winner is chosen. Make sure that every "
            "worker can reach the ledger (on several machines: ledger='postgresql://...', from "
            "sklearn-ada[sql]), and search again: answers that were recorded are nearly free."
        )
    results.setdefault("mean_test_score", np.full(len(numbers), math.nan))
    answers = [session_of(holdout).recorded_answer(int(number)) for number in numbers]
    table = {key: value for key, value in results.items() if not key.endswith("_record")}
    nowhere = (math.nan, math.nan)
    intervals = [nowhere if answer is None else answer.interval for answer in answers]
    table["certified_low"] = np.array([low for low, _ in intervals])
    table["certified_high"] = np.array([high for _, high in intervals])
    table["certified_target"] = np.array(["" if a is None else a.target or "" for a in answers], dtype=object)
    table["verdict"] = np.array(["" if a is None else a.verdict for a in answers], dtype=object)
    return table, answers
