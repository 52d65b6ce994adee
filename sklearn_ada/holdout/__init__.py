"""One holdout, one ledger, one way to ask."""

from sklearn_ada.holdout.holdout import Holdout, session_of
from sklearn_ada.holdout.questions.guess import Guess, guess_from_rows, median_guess_from_rows
from sklearn_ada.holdout.questions.keys import model_digest, subject_key
from sklearn_ada.holdout.questions.ladder import LadderSettings
from sklearn_ada.holdout.questions.median_settings import MedianSettings
from sklearn_ada.holdout.questions.models import discarded_copy
from sklearn_ada.holdout.questions.thresholdout import NoiseSettings
from sklearn_ada.holdout.report.notices import (
    certifies_nothing,
    is_chosen,
    median_notice,
    warn_if_vacuous,
    why_vacuous,
)
from sklearn_ada.holdout.report.report import HoldoutReport
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.rows.overlap import row_hashes
from sklearn_ada.holdout.session.ask import put_question
from sklearn_ada.holdout.session.plan import plan_question
from sklearn_ada.holdout.session.rounds import open_round
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.holdout.terms.policy import check_promise

__all__ = [
    "Guess",
    "Holdout",
    "HoldoutData",
    "HoldoutReport",
    "LadderSettings",
    "MedianSettings",
    "NoiseSettings",
    "Session",
    "certifies_nothing",
    "check_promise",
    "discarded_copy",
    "guess_from_rows",
    "is_chosen",
    "median_guess_from_rows",
    "median_notice",
    "model_digest",
    "open_round",
    "plan_question",
    "put_question",
    "row_hashes",
    "session_of",
    "subject_key",
    "warn_if_vacuous",
    "why_vacuous",
]
