"""One holdout, one ledger, one way to ask."""

from sklearn_ada.holdout.facade import Holdout
from sklearn_ada.holdout.guess import Guess, guess_from_rows, median_guess_from_rows
from sklearn_ada.holdout.identity import model_digest, subject_key
from sklearn_ada.holdout.ladder import LadderSettings
from sklearn_ada.holdout.median_settings import MedianSettings
from sklearn_ada.holdout.noisy import NoiseSettings
from sklearn_ada.holdout.report import HoldoutReport

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
