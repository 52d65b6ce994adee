"""The package's own `Holdout`, fast enough to be asked a million times: its ledger lives in memory.

Everything but durability is the real thing: identity, planning, admission, refusal, release, price, interval
and the fold of the log.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from sklearn_ada import Holdout
from sklearn_ada.answer import Answer
from sklearn_ada.holdout.asking import put_question, put_together
from sklearn_ada.holdout.framing import Ask, Settings, plan_question
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.holdout.publishing import publish
from sklearn_ada.holdout.rounds import open_round
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import Ledger, Record
from sklearn_ada.ledger.askers import Askers
from sklearn_ada.metrics import Metric
from sklearn_ada.questions.coded import CodedQuestion
from sklearn_ada.questions.noisy import GaussianQuestion
from sklearn_ada.questions.question import Guess, Question
from sklearn_ada.terms.models import Subject
from sklearn_ada.terms.policy import Policy

__all__ = ["ForgetfulLedger", "SimulatedHoldout"]

_ACCURACY = Metric("accuracy")


class ForgetfulLedger(Ledger[State]):
    """A log that is gone with the process and proves nothing: for simulations only."""

    def __init__(
        self, genesis: dict[str, Any], start: Callable[[dict[str, Any]], State], secret: bytes
    ) -> None:
        self.genesis = genesis
        self._secret = secret
        self._state = start(genesis)
        self._records = [Record(0, None, genesis)]
        self._found: dict[str, Record] = {}
        self._subjects: dict[str, Record] = {}
        self._askers = Askers()

    def copied(self) -> ForgetfulLedger:
        """Return a log that goes on by itself from here."""
        copied = copy(self)
        copied._state = deepcopy(self._state)
        copied._records, copied._askers = list(self._records), Askers()
        copied._found, copied._subjects = dict(self._found), dict(self._subjects)
        return copied

    @property
    def askers(self) -> Askers:
        """Who has a question pending: of one thread, one at a time."""
        return self._askers

    def charge(self, key: str | None, decide: Callable[[State], dict[str, Any]]) -> Record:
        """Record what ``decide`` says, once for each key."""
        if key is not None and key in self._found:
            return self._found[key]
        body = decide(self._state)
        self._state.advance(body)
        self._records.append(Record(len(self._records), key, body))
        if "subject" in body:
            self._subjects.setdefault(body["subject"], self._records[-1])
        if key is not None:
            self._found[key] = self._records[-1]
        return Record(self._records[-1].seq, key, body, fresh=True)

    def find_each(
        self,
        keys: Sequence[str],
        otherwise: Callable[[State], Any] | None = None,
        begin: Callable[[State, list[Record]], dict[str, Any] | None] | None = None,
    ) -> list[Record]:
        """Return the records under some keys; if there is none, call ``otherwise`` with the state."""
        found = [self._found[key] for key in keys if key in self._found]
        if not found and otherwise is not None:
            otherwise(self._state)
        body = None if begin is None else begin(self._state, found)
        if body is not None:
            self.charge(None, lambda state: body)
        return found

    def find_subject(self, subject: str) -> Record | None:
        """Return the first record with this subject, if any."""
        return self._subjects.get(subject)

    def record(self, seq: int) -> Record | None:
        """Return the record of this number, if there is one."""
        return self._records[seq] if seq < len(self._records) else None

    def read(self, look: Callable[[State], Any]) -> Any:
        """Return ``look`` of everything so far."""
        return look(self._state)

    def records(self) -> Iterator[Record]:
        """Return all records, unverified."""
        return iter(self._records)

    def head(self) -> str:
        """Return a head that proves nothing."""
        return f"{len(self._records)}-{8 * '0'}-{64 * '0'}"

    def check_head(self, head: str) -> None:
        """Raise: nothing can be proved."""
        raise NotImplementedError

    def secret(self) -> bytes:
        """Return the secret, which the simulation's seed fixed."""
        return self._secret


class SimulatedHoldout(Holdout):
    """A `Holdout` of simulated rows whose ledger lives in memory and whose secret is a seed.

    Parameters
    ----------
    X, y : ndarray of shape (n, d) and (n,)
    seed : int
    temporary : bool, default=False
        Whether the ledger counts as one that is gone with its session.
    check_share : float or None, default=None
        The part of the failure probability that its genesis gives to checks; None for that of a new ledger.
    **settings
        As `Holdout` takes them.
    """

    def __init__(
        self,
        X: NDArray[Any],
        y: NDArray[Any],
        *,
        seed: int = 0,
        temporary: bool = False,
        check_share: float | None = None,
        **settings: Any,
    ) -> None:
        policy = Policy if check_share is None else partial(Policy, check_share=check_share)
        with (
            patch("sklearn_ada.holdout.session.open_ledger", _forgetful),
            patch("sklearn_ada.holdout.holdout.Policy", policy),
        ):
            ledger = ":memory:" if temporary else "nowhere"
            super().__init__(X, y, ledger=ledger, random_state=seed, **settings)
        self._models = 0

    @classmethod
    def of_counts(cls, n: int, **settings: Any) -> SimulatedHoldout:
        """Return a holdout for models that say no more than how many rows they get right."""
        return cls(np.arange(n)[:, None], np.zeros(n, dtype=np.int8), **settings)

    def copied(self) -> SimulatedHoldout:
        """Return a holdout of the same rows that goes on by itself, with a ledger of its own, from here."""
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        session = session_of(self)
        assert isinstance(session.ledger, ForgetfulLedger)
        copied._session = replace(session, ledger=session.ledger.copied())
        return copied

    def _next_name(self) -> str:
        self._models += 1
        return f"model {self._models}"

    def half_cell(self, guess: float, guess_size: float) -> float:
        """Return half the width of a check's cells, which no secret is needed to know."""
        model = _RightOnFirst(0)
        question = self.plan(model, "check", Guess(guess, guess_size))
        assert isinstance(question, CodedQuestion | GaussianQuestion)
        return question.cells.half_cell

    def plan(self, model: Any, purpose: str, guess: Guess | None, settings: Settings = None) -> Question:
        """Return a question about an accuracy that is not put yet."""
        asked = Ask(Subject(model, "any", "any", "simulated"), _ACCURACY, purpose, guess, settings=settings)
        return plan_question(session_of(self), asked)

    def open_round(self, size: int, purpose: str, name: str) -> str | None:
        """Declare questions about accuracies that are fixed together."""
        return open_round(session_of(self), size, purpose=purpose, scoring=_ACCURACY, name=name)

    def put_new(self, question: Question, estimator: Any, *, round_name: str | None = None) -> Answer:
        """Put a question about a model that is taken to be new, so that its state need not be read."""
        subject = Subject(estimator, self._next_name(), "any", "simulated")
        asked = Ask(subject, question.metric, question.purpose, round_name=round_name)
        return put_question(session_of(self), asked, question)

    def publish_last(self, question: Question, estimator: Any) -> Answer:
        """Publish the model that was asked last, by this question."""
        subject = Subject(estimator, f"model {self._models}", "any", "simulated")
        asked = Ask(subject, question.metric, question.purpose, publish=True)
        return publish(session_of(self), asked, question)

    def unseal_quietly(self, answers: Sequence[Answer] | None = None) -> list[Answer]:
        """Tell what is sealed, without a word of what it costs."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return self.unseal(answers)

    def select_new(self, models: Sequence[Any], epsilon: float) -> int:
        """Select among models that are taken to be new."""
        with patch("sklearn_ada.terms.models.model_digest", lambda *model: self._next_name()):
            return self.select(models, scoring=_ACCURACY, epsilon=epsilon)

    def ask_count(
        self,
        right: int,
        purpose: str,
        guess: Guess | None,
        *,
        settings: Settings = None,
        round_name: str | None = None,
    ) -> Answer:
        """Ask for the accuracy of a model that is right on so many rows of a holdout made by `of_counts`."""
        model = _RightOnFirst(right)
        question = self.plan(model, purpose, guess, settings)
        return self.put_new(question, model, round_name=round_name)

    def ask_counts_together(self, asked: Sequence[tuple[int, str, Guess | None, Settings]]) -> list[Answer]:
        """Ask for several accuracies, none of which is recorded before all models have looked.

        Each is a count, a purpose, which is the name of its round as well, a guess and settings.
        """
        together = []
        for right, purpose, guess, settings in asked:
            model = _RightOnFirst(right)
            question = self.plan(model, purpose, guess, settings)
            subject = Subject(model, self._next_name(), "any", "simulated")
            together.append((Ask(subject, _ACCURACY, purpose, round_name=purpose), question))
        return put_together(session_of(self), together)

    def model_of_count(self, right: int) -> Any:
        """Return a model that is right on so many rows of a holdout made by `of_counts`."""
        return _RightOnFirst(right)

    def select_counts(self, rights: Sequence[int], epsilon: float) -> int:
        """Select among models that are right on so many rows of a holdout made by `of_counts`."""
        return self.select_new([_RightOnFirst(right) for right in rights], epsilon)

    @property
    def nats(self) -> float:
        """Everything revealed so far."""
        return float(self.ledger.read(lambda state: state.account.nats))


def _forgetful(
    address: str,
    genesis: Callable[[bytes], dict[str, Any]],
    start: Callable[[dict[str, Any]], State],
    secret: bytes,
    of_found: object = None,
) -> ForgetfulLedger:
    return ForgetfulLedger(genesis(secret), start, secret)


class _RightOnFirst:
    """Is right on the first rows and wrong on the rest, where every label is 0."""

    def __init__(self, right: int) -> None:
        self.right = right

    def predict(self, X: NDArray[Any]) -> NDArray[np.int8]:
        return (X[:, 0] >= self.right).astype(np.int8)
