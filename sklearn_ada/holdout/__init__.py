"""One holdout, one ledger, one way to ask."""

from sklearn_ada.holdout.holdout import Holdout
from sklearn_ada.holdout.questions.guess import Guess, guess_from_rows, median_guess_from_rows
from sklearn_ada.holdout.questions.keys import model_digest, subject_key
from sklearn_ada.holdout.questions.ladder import LadderSettings
from sklearn_ada.holdout.questions.median_settings import MedianSettings
from sklearn_ada.holdout.questions.thresholdout import NoiseSettings
from sklearn_ada.holdout.report.report import HoldoutReport

__all__ = [
    "Guess",
    "Holdout",
    "HoldoutReport",
    "LadderSettings",
    "MedianSettings",
    "NoiseSettings",
    "guess_from_rows",
    "median_guess_from_rows",
    "model_digest",
    "subject_key",
]
