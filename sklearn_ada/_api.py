"""The names of `sklearn_ada`, and where they come from."""

from sklearn_ada.exceptions import (
    BudgetExhaustedError,
    HoldoutLeakError,
    LedgerDamagedError,
    LedgerError,
    LedgerMismatchError,
    LedgerUnavailableError,
    UnsupportedEventError,
)
from sklearn_ada.holdout import (
    Guess,
    Holdout,
    HoldoutReport,
    LadderSettings,
    MedianSettings,
    NoiseSettings,
    Predictions,
)
from sklearn_ada.inspection import AnswersDisplay, CertifiedSearchDisplay, HoldoutBudgetDisplay
from sklearn_ada.mechanisms.effective_rounds import EffectiveRounds
from sklearn_ada.metrics import Metric
from sklearn_ada.model_selection import (
    LadderScorer,
    ReusableHoldoutCV,
    StableHoldoutScorer,
    ThresholdoutScorer,
)
from sklearn_ada.planning import HoldoutPlan, PlanDisplay, plan_holdout
from sklearn_ada.results import Answer, Certificate, Cost

__all__ = [
    "Answer",
    "AnswersDisplay",
    "BudgetExhaustedError",
    "Certificate",
    "CertifiedSearchDisplay",
    "Cost",
    "EffectiveRounds",
    "Guess",
    "Holdout",
    "HoldoutBudgetDisplay",
    "HoldoutLeakError",
    "HoldoutPlan",
    "HoldoutReport",
    "LadderScorer",
    "LadderSettings",
    "LedgerDamagedError",
    "LedgerError",
    "LedgerMismatchError",
    "LedgerUnavailableError",
    "MedianSettings",
    "Metric",
    "NoiseSettings",
    "PlanDisplay",
    "Predictions",
    "ReusableHoldoutCV",
    "StableHoldoutScorer",
    "ThresholdoutScorer",
    "UnsupportedEventError",
    "plan_holdout",
]
