"""Checks of many models as one round: models and guesses are fixed before any of the answers is seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn_ada._checks import bad_parameter
from sklearn_ada.digest import canonical_digest
from sklearn_ada.holdout.asking.as_answered import keys_of
from sklearn_ada.holdout.asking.ask import put_question
from sklearn_ada.holdout.asking.plan import Settings, plan_question
from sklearn_ada.holdout.asking.rounds import open_round
from sklearn_ada.holdout.models.keys import model_digest
from sklearn_ada.holdout.models.predictions import as_asked
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.filled import FilledCheck
from sklearn_ada.holdout.questions.gaussian import GaussianQuestion
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.session.closing import close_round
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.metrics import as_metric
from sklearn_ada.results import Answer

__all__ = ["check_together"]

_OWNER = "Holdout.check_many"


def check_together(
    session: Session,
    estimators: Sequence[Any],
    scoring: Any,
    guesses: Sequence[float | Guess] | None,
    guess_from: tuple[Any, Any] | None,
    settings: Settings,
) -> list[tuple[Answer, Question]]:
    """Return answers and questions of all models, in their order; see `Holdout.check_many`."""
    models = [as_asked(each, session.data, session.policy, _OWNER) for each in estimators]
    if not models:
        raise bad_parameter("estimators", _OWNER, "fitted models, at least one", "none")
    if guesses is not None and len(guesses) != len(models):
        raise bad_parameter("guesses", _OWNER, f"one for each of {len(models)} models", len(guesses))
    if not (settings is None or isinstance(settings, int | float | str)):
        expected = "None, a number or 'fill'"
        raise bad_parameter("settings", _OWNER, expected, settings, "Ask with these settings by check.")
    metric = as_metric(scoring)
    digests = [model_digest(model) for model in models]  # before any of them predicts anything
    questions = [
        plan_question(
            session,
            model,
            metric,
            "check",
            None if guesses is None else guesses[number],
            settings,
            guess_from,
        )
        for number, model in enumerate(models)
    ]
    if not isinstance(questions[0], CodedQuestion | FilledCheck | GaussianQuestion):
        raise bad_parameter("scoring", _OWNER, "a metric with an interval of its own", metric.name)
    keys = [
        keys_of(session, question, digest)[1] for question, digest in zip(questions, digests, strict=True)
    ]
    sizes = [question.guess.size for question in questions if question.guess is not None]
    known = [size for size in sizes if size is not None]
    key = f"many {canonical_digest(keys)}"
    round_name = open_round(
        session, len(models), purpose="check", scoring=metric, key=key, settings=settings,
        guess_rows=None if not known else max(round(min(known)), 1),
    )  # fmt: skip
    answers = []
    for model, question, digest in zip(models, questions, digests, strict=True):
        answer = put_question(
            session, question, model, model=digest, round_name=round_name, candidates=len(models)
        )
        assert answer is not None  # None is for once=True only
        answers.append(answer)
    close_round(session.ledger, session.asker, key)
    if session.policy.seals:  # once the round is closed its intervals are narrower
        closed = (session.recorded_answer(answer.index) for answer in answers)
        answers = [new or old for new, old in zip(closed, answers, strict=True)]
    return list(zip(answers, questions, strict=True))
