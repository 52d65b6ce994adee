"""Questions to a holdout: one module for each mechanism that answers.

A module is imported here to register its settings (`sklearn_ada.questions.question.QUESTIONS`).
"""

import sklearn_ada.questions.coded
import sklearn_ada.questions.ladder_check
import sklearn_ada.questions.noisy
import sklearn_ada.questions.stable_median  # noqa: F401
