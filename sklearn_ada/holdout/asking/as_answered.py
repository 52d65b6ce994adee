"""How a ledger answers a question, with a cell or at once, and under which keys it was recorded before."""

from __future__ import annotations

from sklearn_ada.holdout.asking.sealing import sealed_form
from sklearn_ada.holdout.models.keys import question_key, rounded, subject_key
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.of_rows import of_rows
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.session.session import Session

__all__ = ["FINAL", "answered_as", "keys_of", "told_as"]

FINAL = "final "
"""How the key begins of a question that was published when it was asked first."""


def keys_of(session: Session, question: Question, model: str) -> tuple[str, str]:
    """Return the keys of what a question is about, and of the question."""
    mechanism, known = question.describe(), question.guess
    guess = {} if known is None else known.describe()
    subject = subject_key(model, question.metric, mechanism["name"], session.data.first_like)
    # Nothing may count that differs in its last bits from run to run.
    if session.policy.is_private:
        named, digits = "" if known is None else known.outputs, 9
    else:  # the holdout confirms; of rows that are known, the guess is known but for noise
        named = "" if known is None else known.rows
        digits = 3 if named else 9
    key = question_key(subject, question.purpose, rounded(guess, digits), named, rounded(mechanism, digits))
    return subject, key


def told_as(key: str) -> list[str]:
    """Return the keys under which a question may have been told: its own, and that of a final answer."""
    return [key] if key.startswith(FINAL) else [key, f"{FINAL}{key}"]


def answered_as(
    session: Session,
    question: Question,
    model: str,
    candidates: int | None = None,
    round_name: str | None = None,
) -> Question:
    """Return the question as this ledger answers it: a certify with a cell, or at once.

    With ``answers="auto"`` the first certify of a ledger is answered at once, and so is the same again. What
    an older release has answered with the interval of its value alone is that question still.
    """
    sealed = sealed_form(question, session.data, session.policy, candidates)
    if sealed is None:
        coded = question if isinstance(question, CodedQuestion) else None
        rows = None if coded is None else of_rows(coded, session.data, session.policy)
        if rows is None or session.find(keys_of(session, question, model)[1]) is not None:
            return question
        return rows
    if session.policy.answers == "auto" and question.purpose == "certify":
        _, key = keys_of(session, question, model)
        if session.read(lambda state: state.is_first(round_name)) or session.find_each(told_as(key)):
            return question
    return sealed
