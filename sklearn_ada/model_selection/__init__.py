"""Drop-in scorers, their splitter, and the wrapper around any search."""

from sklearn_ada.model_selection.reusable import ReusableHoldoutCV
from sklearn_ada.model_selection.scorers import LadderScorer, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.model_selection.training_rows import ValidationSplit
from sklearn_ada.model_selection.with_validation import WithValidation

__all__ = [
    "LadderScorer", "ReusableHoldoutCV", "StableHoldoutScorer", "ThresholdoutScorer", "ValidationSplit",
    "WithValidation",
]  # fmt: skip
