"""A holdout without rows: the package's own certificates on values that a simulation supplies.

Everything but the ledger and the models is the real thing: planning, admission, release, price, interval and
the fold of the log. ``conversation`` can be a mutant, to show that a test would notice it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_ada.accounting.description_length import symbols_of
from sklearn_ada.events import Symbol
from sklearn_ada.holdout.coded import CodedQuestion
from sklearn_ada.holdout.conversation import Conversation
from sklearn_ada.holdout.data import HoldoutData
from sklearn_ada.holdout.draw import Draw
from sklearn_ada.holdout.guess import Guess
from sklearn_ada.holdout.outcome import Outcome
from sklearn_ada.holdout.policy import Policy
from sklearn_ada.metrics import Metric

__all__ = ["SimulatedHoldout"]


@dataclass
class SimulatedHoldout:
    """Answer questions about accuracies whose empirical values are given.

    Parameters
    ----------
    n : int
        Records of the holdout.
    policy : Policy
    conversation : callable
        Starts the state from a genesis; `Conversation` or a mutant of it.
    """

    n: int
    policy: Policy
    conversation: Callable[[dict[str, Any]], Conversation] = Conversation

    def __post_init__(self) -> None:
        genesis = self.policy.genesis("simulated", self.n, {}, b"", None)
        self.state = self.conversation(genesis)
        self.metric = Metric("accuracy")
        self._data = HoldoutData(np.zeros((self.n, 1)), np.zeros(self.n, dtype=int))

    def open_round(self, purpose: str, size: int) -> str:
        """Fix ``size`` questions together."""
        name = f"round {self.state.asked}"
        share = self.state.share(purpose, size)
        body = {"kind": "round", "round": name, "purpose": purpose, "size": size}
        self.state.advance({**body, "ln_delta": share.ln_delta, "nats": share.nats})
        return name

    def ask(
        self,
        purpose: str,
        value: float,
        guess: float,
        *,
        guess_size: float | None = None,
        half_cell: float | None = None,
        round_name: str | None = None,
    ) -> Outcome | None:
        """Return the outcome of one question whose empirical value is ``value``; None if refused."""
        question = CodedQuestion.plan(
            purpose, self.metric, Guess(guess, guess_size), self._data, self.policy,
            class_mix=False, half_cell=half_cell,
        )  # fmt: skip
        share = self.state.share(purpose, round_name=round_name)
        if not self.state.admits(*question.half_width_bound(share)):
            return None
        symbols = (Symbol(question.stream, question.cells.index(value), question.scale),)
        event, memory = question.release(symbols, share, Draw(b"", ""))
        price = self.state.account.price(event)
        if not self.admits_symbols(symbols_of(event), price):
            return None
        body = {"kind": "answer", "purpose": purpose, "round": round_name, "price": price, "memory_name": ""}
        self.state.advance({**body, "event": event.to_dict()})
        return question.read(event, share, memory)

    def admits_symbols(self, symbols: tuple[Symbol, ...], price: float) -> bool:
        """Return True: the real thing never looks at the answer to decide on admission."""
        return True
