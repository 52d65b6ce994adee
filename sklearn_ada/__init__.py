"""Reusable holdouts for scikit-learn.

Every score read off a holdout comes with an interval that stays valid however often, and however cleverly,
the holdout is asked; and the budget for asking cannot be lost, reset or refilled by accident.
"""

import importlib
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

from sklearn_ada import _notices  # names the session before any worker is started  # noqa: F401

if TYPE_CHECKING:  # under their own names, by which type checkers take them for public ones
    from sklearn_ada.answer import Answer as Answer
    from sklearn_ada.answer import Certificate as Certificate
    from sklearn_ada.guarantees.used_before import bits_of_choice as bits_of_choice
    from sklearn_ada.holdout.holdout import Holdout as Holdout
    from sklearn_ada.inspection import AnswersDisplay as AnswersDisplay
    from sklearn_ada.inspection import CertifiedSearchDisplay as CertifiedSearchDisplay
    from sklearn_ada.inspection import HoldoutBudgetDisplay as HoldoutBudgetDisplay
    from sklearn_ada.metrics.metric import Metric as Metric
    from sklearn_ada.model_selection.reusable import ReusableHoldoutCV as ReusableHoldoutCV
    from sklearn_ada.model_selection.scorers import LadderScorer as LadderScorer
    from sklearn_ada.model_selection.scorers import StableHoldoutScorer as StableHoldoutScorer
    from sklearn_ada.model_selection.scorers import ThresholdoutScorer as ThresholdoutScorer
    from sklearn_ada.model_selection.with_validation import WithValidation as WithValidation
    from sklearn_ada.planning.display import PlanDisplay as PlanDisplay
    from sklearn_ada.planning.plan import plan_holdout as plan_holdout
    from sklearn_ada.questions.ladder_check import LadderSettings as LadderSettings
    from sklearn_ada.questions.noisy import NoiseSettings as NoiseSettings
    from sklearn_ada.questions.question import Guess as Guess
    from sklearn_ada.questions.stable_median import MedianSettings as MedianSettings
    from sklearn_ada.terms.predictions import Predictions as Predictions

__version__ = "0.1.0"

_NAMES = {
    "answer": "Answer Certificate",
    "guarantees.used_before": "bits_of_choice",
    "holdout.holdout": "Holdout",
    "inspection": "AnswersDisplay CertifiedSearchDisplay HoldoutBudgetDisplay",
    "metrics.metric": "Metric",
    "model_selection.reusable": "ReusableHoldoutCV",
    "model_selection.scorers": "LadderScorer StableHoldoutScorer ThresholdoutScorer",
    "model_selection.with_validation": "WithValidation",
    "planning.display": "PlanDisplay",
    "planning.plan": "plan_holdout",
    "questions.ladder_check": "LadderSettings",
    "questions.noisy": "NoiseSettings",
    "questions.question": "Guess",
    "questions.stable_median": "MedianSettings",
    "terms.predictions": "Predictions",
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


def _register_sizes(sizeof: Any) -> None:
    """Report the size of scorers to dask.

    So joblib's dask backend sends the holdout once. That backend scatters an argument that is large, and
    sends its key from then on; but dask takes an object of a class that it does not know for a few bytes,
    whatever it holds. scikit-learn sends a scorer as an argument, alone or with others, and from 1.9 on once
    more within the search that calls.

    Dask finds this by the entry point ``dask.sizeof``, here because it is loaded with dask wherever both are
    installed. Each size is registered once something of its package is measured, as imports take time.

    Parameters
    ----------
    sizeof : dask.utils.Dispatch
    """

    def with_content(thing: Any) -> int:  # one by one: of more than ten values dask takes a random sample
        return sys.getsizeof(thing) + sum(int(sizeof(value)) for value in vars(thing).values())

    def of_search(search: Any) -> int:  # with another scorer it is as small as it was
        return sys.getsizeof(search) + int(sizeof(getattr(search, "scoring", None)))

    def register_own() -> None:
        from sklearn_ada.holdout.holdout import Holdout
        from sklearn_ada.holdout.session import Session
        from sklearn_ada.model_selection.scorers import HoldoutScorer
        from sklearn_ada.model_selection.searches import RecordingScorer
        from sklearn_ada.terms.holdout_data import HoldoutData

        sizeof.register((Holdout, HoldoutData, HoldoutScorer, RecordingScorer, Session), with_content)

    def register_holders() -> None:
        from sklearn.base import MetaEstimatorMixin
        from sklearn.metrics import check_scoring

        sizeof.register(type(check_scoring(scoring=["accuracy"])), with_content)
        sizeof.register(MetaEstimatorMixin, of_search)

    sizeof.register_lazy("sklearn_ada", register_own)
    sizeof.register_lazy("sklearn", register_holders)
