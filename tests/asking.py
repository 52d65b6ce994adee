"""What scorers do with a holdout, for tests that need more than its users call."""

from sklearn_ada.holdout.asking import put_question
from sklearn_ada.holdout.framing import plan_question
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.holdout.rounds import open_round as open_round_of_session

__all__ = ["ask", "open_round", "plan", "put"]


def ask(holdout, estimator, *, scoring, purpose, guess=None, settings=None, round_name=None):
    """Return the answer to a question, which may belong to a round."""
    return holdout._ask(estimator, scoring, purpose, guess, settings, round_name)


def plan(holdout, estimator, *, scoring, purpose, guess=None, settings=None):
    """Return a question that is not put."""
    return plan_question(session_of(holdout), estimator, scoring, purpose, guess, settings)


def put(holdout, question, estimator, **how):
    """Put a question that was made by `plan`."""
    return put_question(session_of(holdout), question, estimator, **how)


def open_round(holdout, size, **what):
    """Open a round of questions."""
    return open_round_of_session(session_of(holdout), size, **what)
