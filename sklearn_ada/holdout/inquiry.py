"""One question from asking to answer: admit, look, charge, then answer."""

from __future__ import annotations

import copy
import datetime
import hashlib
import hmac
import warnings
from typing import Any, Protocol

import numpy as np

from sklearn_ada.accounting.pure_dp import pure_dp_cost
from sklearn_ada.accounting.zcdp import zcdp_cost
from sklearn_ada.events import FAILURES, Event, Symbol
from sklearn_ada.exceptions import UnsupportedEventError
from sklearn_ada.holdout.conversation import Conversation
from sklearn_ada.holdout.data import HoldoutData
from sklearn_ada.holdout.guess import Guess
from sklearn_ada.holdout.identity import question_key, subject_key
from sklearn_ada.holdout.outcome import Outcome, Share, answer_from_record
from sklearn_ada.ledger import Ledger
from sklearn_ada.metrics import Metric
from sklearn_ada.results import Answer

__all__ = ["Question", "look", "put_question"]

_FAILURE_OF = ((ValueError, FAILURES[0]), (TypeError, FAILURES[1]), (MemoryError, FAILURES[2]))


class Question(Protocol):
    """A question fixed before the holdout is looked at."""

    @property
    def purpose(self) -> str:
        """Whose share of the failure probability it uses: "check" or "certify"."""

    @property
    def metric(self) -> Metric:
        """What is asked."""

    @property
    def guess(self) -> Guess | None:
        """What the answer is expected to be."""

    @property
    def stream(self) -> str:
        """The code of its first symbol."""

    @property
    def scale(self) -> float:
        """The expected size of that symbol."""

    def describe(self) -> dict[str, Any]:
        """Return everything that is fixed, ready for JSON."""

    def evaluate(self, estimator: Any, data: HoldoutData) -> Any:
        """Look at the holdout and return what was seen, sealed."""

    def release(self, sealed: Any, share: Share, rng: np.random.Generator) -> Event:
        """Return what leaves the holdout."""

    def half_width_bound(self, share: Share) -> tuple[float, float]:
        """Return the worst half-width of the answer and the width of the metric's range."""

    def read(self, event: Event, share: Share) -> Outcome:
        """Return what the release certifies."""


class _Refused(Exception):  # noqa: N818 - leaves a transaction, nothing more
    pass


def put_question(
    question: Question,
    estimator: Any,
    data: HoldoutData,
    ledger: Ledger[Conversation],
    *,
    model: str,
    round_name: str | None,
    once: bool,
) -> Answer | None:
    """Return the holdout's answer; charged and durable before it is returned.

    Parameters
    ----------
    model : str
        Digest of the fitted model, taken before it predicted anything.
    round_name : str or None
        The round that the question belongs to, if it was fixed together with others.
    once : bool
        Return None if the same model, metric and mechanism were asked before with another guess.
    """
    plan = question.describe()
    guess = {} if question.guess is None else question.guess.describe()
    outputs = "" if question.guess is None else question.guess.outputs
    subject = subject_key(model, question.metric, plan["name"])
    key = question_key(subject, question.purpose, guess, outputs, plan)
    found = ledger.find(key)
    if found is not None:
        return answer_from_record(found, ledger.genesis)
    if once and ledger.find_subject(subject) is not None:
        return None

    def admitted(state: Conversation) -> Share | None:
        """Decide from the log alone: nothing that the holdout said about this question is in it."""
        name = state.open_round(round_name)
        share = state.share(question.purpose, round_name=name)
        return share if state.admits(*question.half_width_bound(share)) else None

    if ledger.read(admitted) is None:
        return _refuse(question, plan, guess, ledger)
    sealed = look(question, estimator, data)
    seed = hmac.new(ledger.secret(), key.encode(), hashlib.sha256).digest()

    def decide(state: Conversation) -> dict[str, Any]:
        share = admitted(state)
        if share is None:
            raise _Refused
        event = question.release(sealed, share, np.random.default_rng(int.from_bytes(seed, "little")))
        epsilon, rho = _privacy(event)
        return {
            "kind": "answer",
            "subject": subject,
            "purpose": question.purpose,
            "round": state.open_round(round_name),
            **_circumstances(question, plan, guess),
            "event": event.to_dict(),
            "price": state.account.price(event),
            "epsilon": epsilon,
            "rho": rho,
            "ln_delta": share.ln_delta,
            "nats": share.nats,
            "outcome": question.read(event, share).describe(),
        }

    try:
        record = ledger.charge(key, decide)
    except _Refused:
        return _refuse(question, plan, guess, ledger)
    return answer_from_record(record, ledger.genesis)


def look(question: Question, estimator: Any, data: HoldoutData) -> Any:
    """Evaluate on a discarded copy of the model; a failure is a symbol like any other.

    Warnings raised on the way may quote holdout values, so they are dropped.
    """
    discarded = copy.deepcopy(estimator)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return question.evaluate(discarded, data)
    except Exception as error:  # whatever a model raises on the holdout has a price
        reason = next((text for kind, text in _FAILURE_OF if isinstance(error, kind)), FAILURES[3])
        return (Symbol(question.stream, reason, question.scale),)


def _refuse(
    question: Question,
    plan: dict[str, Any],
    guess: dict[str, Any],
    ledger: Ledger[Conversation],
) -> Answer:
    tolerance = ledger.genesis["tolerance"]
    reason = (
        f"the next {question.purpose} could be less precise than the tolerance of {tolerance:g}; use a "
        "larger tolerance with a new holdout, fewer questions, or more holdout rows"
    )

    def decide(state: Conversation) -> dict[str, Any]:
        circumstances = _circumstances(question, plan, guess)
        return {"kind": "refusal", "purpose": question.purpose, "reason": reason, **circumstances}

    return answer_from_record(ledger.charge(None, decide), ledger.genesis)


def _circumstances(question: Question, plan: dict[str, Any], guess: dict[str, Any]) -> dict[str, Any]:
    return {
        "metric": question.metric.describe(),
        "mechanism": plan,
        "guess": guess,
        "who": None,
        "label": None,
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _privacy(event: Event) -> tuple[float | None, float | None]:
    """Return the privacy loss of a release, or None where it has none to speak of."""
    try:
        return pure_dp_cost(event), zcdp_cost(event)
    except UnsupportedEventError:
        return None, None
