"""One look at the holdout: a model predicts its rows; whatever it raises there is an outcome with a price."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn_ada._muted import muted
from sklearn_ada.events import FAILURES, Symbol
from sklearn_ada.holdout.models.said import Observation, Said
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.questions.sealed import SealedQuestion
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.session.interrupts import Interrupts
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.metrics import UndefinedMetricError, UnusableOutputsError

__all__ = ["another_error", "comparable", "look"]

_FAILURE_OF = (
    (UnusableOutputsError, FAILURES[4]),  # it and the next are ValueErrors
    (UndefinedMetricError, FAILURES[5]),
    (ValueError, FAILURES[0]),
    (TypeError, FAILURES[1]),
    (MemoryError, FAILURES[2]),
)


def look(
    evaluate: Callable[[Any, HoldoutData], Observation],
    discarded: Any,
    data: HoldoutData,
    interrupts: Interrupts,
    *,
    stream: str,
    scale: float,
) -> Observation:
    """Return ``evaluate(discarded, data)`` or, if that raises, the symbols of the failure.

    A failure may depend on the holdout's rows, so it is recorded and paid for like any other outcome. So is a
    ``KeyboardInterrupt`` that the model raises itself, which `held_interrupts` raises again in the end.
    Warnings raised on the way may quote holdout values and are dropped; where a filter turns them into
    errors, the model has failed.
    """
    try:
        with muted():
            try:
                interrupts.looking = True
                return evaluate(discarded, data)
            finally:
                interrupts.looking = False
    except BaseException as error:  # whatever a model raises on the holdout has a price, SystemExit too
        interrupts.looking = False
        # type(error) and not isinstance: an error may have a ``__class__`` that raises another error.
        reason = next((text for kind, text in _FAILURE_OF if issubclass(type(error), kind)), None)
        if reason is not None:
            symbols: tuple[Symbol, ...] = (Symbol(stream, reason, scale),)
        else:
            is_interrupt = issubclass(type(error), KeyboardInterrupt)
            interrupts.raised |= is_interrupt
            symbols = another_error(stream, scale, is_interrupt=is_interrupt)
        return Observation(symbols, Said.of(symbols))


def comparable(session: Session, question: Question, observation: Observation) -> Said:
    """Return what a record keeps of what a model said, for comparisons.

    Values of the metric are among it, hidden by the ledger's secret. Where only the holder of a private key
    may read them, what was released stands in their place: 10,000 counts are searched in no time.
    """
    if session.policy.seal_key is None:
        return observation.said
    seen = observation.seen
    if isinstance(question, SealedQuestion) and isinstance(seen, int):
        return observation.said.without_values(question.statistic.cell_of(seen))
    symbols = seen if isinstance(seen, tuple) and all(isinstance(each, Symbol) for each in seen) else ()
    return observation.said.without_values([symbol.to_dict() for symbol in symbols])


def another_error(stream: str, scale: float, *, is_interrupt: bool) -> tuple[Symbol, ...]:
    """Return the symbols of an error of a type that has no symbol of its own.

    The asker can tell whether it was an interrupt, which is raised again. That is one of two outcomes, so a
    second symbol always follows the first, for ln 2 nats.
    """
    return (Symbol(stream, FAILURES[3], scale), Symbol("index", int(is_interrupt), 2.0))
