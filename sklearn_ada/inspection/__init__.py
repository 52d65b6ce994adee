"""Pictures of a holdout: what it answered, and what it can still certify."""

from sklearn_ada.inspection.answers import AnswersDisplay
from sklearn_ada.inspection.budget import HoldoutBudgetDisplay

__all__ = ["AnswersDisplay", "HoldoutBudgetDisplay"]
