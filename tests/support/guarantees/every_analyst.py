"""All analysts of a small holdout, by dynamic programming over what shipped holdouts answer.

A row is one of a few values, of which each class has some; a law gives these their probabilities. An analyst
asks a few questions, each with one of some guesses, unseals and publishes; what he does next is any function
of what he was answered. He knows the law, so for each law the best analyst is taken. He succeeds if anything
that he was answered misses the truth.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.validity.simulated import SimulatedHoldout

__all__ = ["Question", "SmallHoldouts", "Table"]


class Table:
    """Says a number, or a label, for each value of the only feature.

    Parameters
    ----------
    says : sequence of float
    of_numbers : bool, default=False
    """

    def __init__(self, says, *, of_numbers=False):
        self.says_ = np.asarray(says, dtype=float)
        if not of_numbers:
            self.classes_ = np.array([0, 1])

    def fit(self, X, y=None):
        """Return it as it is."""
        return self

    def decision_function(self, X):
        """Return scores."""
        return self.says_[np.asarray(X)[:, 0].astype(int)]

    def predict_proba(self, X):
        """Return the scores as probabilities."""
        says = self.decision_function(X)
        return np.column_stack((1.0 - says, says))

    def predict(self, X):
        """Return labels, or numbers."""
        says = self.decision_function(X)
        return (says > 0.5).astype(int) if hasattr(self, "classes_") else says


@dataclass(frozen=True)
class Question:
    """A model, or two to compare, a metric, guesses, and the truth of each of some laws."""

    models: tuple[Table, ...]
    scoring: Any
    guesses: tuple[Any, ...]
    truth: Callable[[np.ndarray], np.ndarray]

    def ask(self, holdout, guess):
        """Return the answer to the question with this guess."""
        asked = holdout.certify if len(self.models) == 1 else holdout.compare
        return asked(*self.models, scoring=self.scoring, guess=self.guesses[guess])

    def publish(self, holdout, guess):
        """Return what is published of it."""
        return holdout.publish(self.models[0], scoring=self.scoring, guess=self.guesses[guess])


@dataclass(frozen=True)
class Asked:
    """What was asked and answered so far: the same for all data that were answered so."""

    questions: tuple[tuple[int, int], ...] = ()  # each with its guess
    last: Any = None  # answer that can be unsealed
    published: frozenset[int] = frozenset()
    missed: Any = False  # by law


@dataclass(frozen=True)
class SmallHoldouts:
    """All holdouts of some rows, and what may be asked of them.

    Parameters
    ----------
    y : tuple
        Labels of the rows, those of a class together.
    values : dict
        Which values rows with a label may have.
    questions : tuple of Question
    beta : float
    laws : ndarray of shape (n_laws, n_values)
        Probability of each value, given the label.
    wrong : callable
        From an interval and a value to the interval that is looked at, which a mutant would say.
    """

    y: tuple
    values: dict
    questions: tuple[Question, ...]
    beta: float
    laws: np.ndarray
    wrong: Callable[[tuple[float, float], float], tuple[float, float]] = lambda interval, value: interval

    @cached_property
    def data(self):
        """Rows of every holdout: of each class, how many have each value."""
        of_class = (
            itertools.combinations_with_replacement(values, self.y.count(label))
            for label, values in self.values.items()
        )
        return [sum(rows, ()) for rows in itertools.product(*of_class)]

    @cached_property
    def chances(self):
        """Probability of every holdout under every law."""
        found = np.ones((len(self.laws), len(self.data)))
        for number, rows in enumerate(self.data):
            found[:, number] = self.laws[:, rows].prod(axis=1)
            for label, values in self.values.items():
                counts = [rows.count(value) for value in values]
                ways = math.factorial(self.y.count(label)) // math.prod(map(math.factorial, counts))
                found[:, number] *= ways
        return found

    def begun(self, number):
        """Return one of the holdouts, before anything was asked."""
        rows, y = np.array(self.data[number], dtype=float)[:, None], np.array(self.y)
        return SimulatedHoldout(
            rows, y, answers="coarse", confidence_level=1.0 - self.beta, scoring=self.questions[0].scoring
        )

    def worst(self, steps):
        """Return how often the best analyst succeeds under each law, in at most so many steps."""
        with patch("sklearn_ada.terms.models.model_digest", _digest):  # that of code takes longest
            return self._worst(steps)

    def _worst(self, steps):
        truths = [question.truth(self.laws) for question in self.questions]
        holdouts = [self.begun(number) for number in range(len(self.data))]

        def best(group, asked, left):
            if left == 0:
                return self.chances[:, group].sum(axis=1) * asked.missed
            options = [self.chances[:, group].sum(axis=1) * asked.missed]
            before = [_kept(holdouts[number]) for number in group]
            for step in self._steps(asked):
                answers = {}
                for number in group:
                    answer = self._take(step, holdouts[number], asked)
                    seen = repr((answer.value, answer.interval, answer.verdict, answer.cost))
                    answers.setdefault(seen, []).append((number, answer))
                total = 0.0
                for some in answers.values():
                    total = total + best(
                        [number for number, _ in some], self._after(step, asked, some[0][1], truths), left - 1
                    )
                options.append(total)
                for number, kept in zip(group, before, strict=True):
                    _restore(holdouts[number], kept)
            return np.max(options, axis=0)

        return best(list(range(len(self.data))), Asked(), steps)

    def _steps(self, asked: Asked) -> Iterator[tuple[str, int, int]]:
        done = dict(asked.questions)
        for number, question in enumerate(self.questions):
            if number not in done:
                yield from (("ask", number, guess) for guess in range(len(question.guesses)))
            elif number not in asked.published and len(question.models) == 1:
                yield "publish", number, done[number]
        if asked.last is not None:
            yield "unseal", asked.questions[-1][0], 0

    def _take(self, step, holdout, asked):
        what, number, guess = step
        if what == "unseal":
            return holdout.unseal_quietly([asked.last])[0]
        question = self.questions[number]
        return (question.ask if what == "ask" else question.publish)(holdout, guess)

    def _after(self, step, asked, answer, truths):
        what, number, guess = step
        low, high = self.wrong(answer.interval, answer.value)
        truth = truths[number]
        missed = asked.missed | (truth < low - 1e-9) | (truth > high + 1e-9)
        if what == "ask":
            return Asked((*asked.questions, (number, guess)), answer, asked.published, missed)
        published = asked.published | ({number} if what == "publish" else set())
        return Asked(asked.questions, None, published, missed)


def _digest(model, data, policy):
    """Return a name of a model, or of two."""
    return repr(
        [each.says_.tolist() for each in ((model,) if isinstance(model, Table) else (model.a, model.b))]
    )


def _kept(holdout):
    """Return what is on a ledger."""
    ledger = holdout.ledger
    return [*ledger._records], {**ledger._found}, {**ledger._subjects}, copy.deepcopy(ledger._state)


def _restore(holdout, kept):
    """Put a ledger back to what it was."""
    ledger, (records, found, subjects, state) = holdout.ledger, kept
    ledger._records, ledger._found, ledger._subjects = [*records], {**found}, {**subjects}
    ledger._state = copy.deepcopy(state)
