"""Reusable holdouts for scikit-learn.

Every score read off a holdout comes with an interval that stays valid however often, and however cleverly,
the holdout is asked; and the budget for asking cannot be lost, reset or refilled by accident.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from sklearn_ada import _notices  # names the session before any worker is started  # noqa: F401

if TYPE_CHECKING:  # under their own names, by which type checkers take them for public ones
    from sklearn_ada.answer import Answer as Answer
    from sklearn_ada.answer import Certificate as Certificate
    from sklearn_ada.answer import Cost as Cost
    from sklearn_ada.exceptions import BudgetExhaustedError as BudgetExhaustedError
    from sklearn_ada.exceptions import HoldoutLeakError as HoldoutLeakError
    from sklearn_ada.exceptions import LedgerDamagedError as LedgerDamagedError
    from sklearn_ada.exceptions import LedgerError as LedgerError
    from sklearn_ada.exceptions import LedgerMismatchError as LedgerMismatchError
    from sklearn_ada.exceptions import LedgerUnavailableError as LedgerUnavailableError
    from sklearn_ada.exceptions import UnsupportedEventError as UnsupportedEventError
    from sklearn_ada.holdout.holdout import Holdout as Holdout
    from sklearn_ada.holdout.report import HoldoutReport as HoldoutReport
    from sklearn_ada.inspection import AnswersDisplay as AnswersDisplay
    from sklearn_ada.inspection import CertifiedSearchDisplay as CertifiedSearchDisplay
    from sklearn_ada.inspection import HoldoutBudgetDisplay as HoldoutBudgetDisplay
    from sklearn_ada.mechanisms.effective_rounds import EffectiveRounds as EffectiveRounds
    from sklearn_ada.metrics.metric import Metric as Metric
    from sklearn_ada.model_selection.reusable import ReusableHoldoutCV as ReusableHoldoutCV
    from sklearn_ada.model_selection.scorers import LadderScorer as LadderScorer
    from sklearn_ada.model_selection.scorers import StableHoldoutScorer as StableHoldoutScorer
    from sklearn_ada.model_selection.scorers import ThresholdoutScorer as ThresholdoutScorer
    from sklearn_ada.planning.display import PlanDisplay as PlanDisplay
    from sklearn_ada.planning.plan import HoldoutPlan as HoldoutPlan
    from sklearn_ada.planning.plan import plan_holdout as plan_holdout
    from sklearn_ada.questions.ladder_check import LadderSettings as LadderSettings
    from sklearn_ada.questions.noisy import NoiseSettings as NoiseSettings
    from sklearn_ada.questions.question import Guess as Guess
    from sklearn_ada.questions.stable_median import MedianSettings as MedianSettings
    from sklearn_ada.terms.models import Predictions as Predictions

__version__ = "0.1.0"

_NAMES = {
    "answer": "Answer Certificate Cost",
    "exceptions": "BudgetExhaustedError HoldoutLeakError LedgerDamagedError "
    "LedgerError LedgerMismatchError LedgerUnavailableError UnsupportedEventError",
    "holdout.holdout": "Holdout",
    "holdout.report": "HoldoutReport",
    "inspection": "AnswersDisplay CertifiedSearchDisplay HoldoutBudgetDisplay",
    "mechanisms.effective_rounds": "EffectiveRounds",
    "metrics.metric": "Metric",
    "model_selection.reusable": "ReusableHoldoutCV",
    "model_selection.scorers": "LadderScorer StableHoldoutScorer ThresholdoutScorer",
    "planning.display": "PlanDisplay",
    "planning.plan": "HoldoutPlan plan_holdout",
    "questions.ladder_check": "LadderSettings",
    "questions.noisy": "NoiseSettings",
    "questions.question": "Guess",
    "questions.stable_median": "MedianSettings",
    "terms.models": "Predictions",
}
"""Public names by module, imported at the first use of one of them."""

__all__ = sorted(name for names in _NAMES.values() for name in names.split())


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names.split():
            globals()[name] = value = getattr(importlib.import_module(f"sklearn_ada.{module}"), name)
            return value
    if not name.startswith("_") and importlib.util.find_spec(f"sklearn_ada.{name}") is not None:
        return importlib.import_module(f"sklearn_ada.{name}")
    raise AttributeError(f"module 'sklearn_ada' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
