"""Reusable holdouts for scikit-learn.

Every score read off a holdout comes with an interval that stays valid however often, and however cleverly,
the holdout is asked; and the budget for asking cannot be lost, reset or refilled by accident.
"""

from sklearn_ada.exceptions import (
    BudgetExhaustedError,
    HoldoutLeakError,
    LedgerDamagedError,
    LedgerError,
    LedgerMismatchError,
    LedgerUnavailableError,
    UnsupportedEventError,
)
from sklearn_ada.guarantees.certificate import Certificate
from sklearn_ada.holdout import Holdout, HoldoutReport
from sklearn_ada.mechanisms import EffectiveRounds
from sklearn_ada.metrics import Metric
from sklearn_ada.model_selection import (
    LadderScorer,
    ReusableHoldoutCV,
    StableHoldoutScorer,
    ThresholdoutScorer,
)
from sklearn_ada.planning import HoldoutPlan, plan_holdout
from sklearn_ada.results import Answer, Cost

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "BudgetExhaustedError",
    "Certificate",
    "Cost",
    "EffectiveRounds",
    "Holdout",
    "HoldoutLeakError",
    "HoldoutPlan",
    "HoldoutReport",
    "LadderScorer",
    "LedgerDamagedError",
    "LedgerError",
    "LedgerMismatchError",
    "LedgerUnavailableError",
    "Metric",
    "ReusableHoldoutCV",
    "StableHoldoutScorer",
    "ThresholdoutScorer",
    "UnsupportedEventError",
    "__version__",
    "plan_holdout",
]
