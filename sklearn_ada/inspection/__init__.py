"""Pictures of a holdout: what it answered, what it can still certify, and what it says of a search."""

from sklearn_ada.inspection.answers import AnswersDisplay
from sklearn_ada.inspection.budget import HoldoutBudgetDisplay
from sklearn_ada.inspection.search import CertifiedSearchDisplay

__all__ = ["AnswersDisplay", "CertifiedSearchDisplay", "HoldoutBudgetDisplay"]
