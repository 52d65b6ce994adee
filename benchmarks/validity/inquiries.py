"""One conversation between an analyst and a mechanism, and whether any of its certificates was wrong.

An inquiry is all that an analyst sees: a training sample, answers, and (where the certificate conditions on
them) the holdout's class counts. The holdout itself stays inside. `NaiveInquiry` is the twin that every
attack must defeat: the same holdout, exact answers, and intervals that would be right if nobody adapted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.populations import Classifier, Population, Says
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada.answer import Answer
from sklearn_ada.guarantees.intervals import clopper_pearson
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.metrics import Metric
from sklearn_ada.questions.ladder_check import LadderSettings
from sklearn_ada.questions.noisy import NoiseSettings
from sklearn_ada.questions.question import Guess, Question
from sklearn_ada.questions.stable_median import MedianSettings, StableQuestion

__all__ = ["BETA", "MECHANISMS", "Inquiry", "Mechanism", "NaiveInquiry"]

BETA = 0.05
_ACCURACY = Metric("accuracy")
_AT_MIX = "at the holdout's class mix"


@dataclass(frozen=True)
class Mechanism:
    """How a holdout answers, in terms of the public API.

    Parameters
    ----------
    purpose : {"check", "certify"}
        Of every question.
    settings : object
        As `Holdout.check` takes them.
    certifies_last : bool
        Whether the model that the analyst keeps is certified too.
    selects : bool
        Whether a question only chooses between the model and the one chosen before.
    route, class_mix, answers : str
        Of the holdout; "auto" is that of a temporary ledger.
    unseals : bool
        Whether the holdout is closed in the end and everything unsealed.
    """

    purpose: str = "check"
    settings: NoiseSettings | MedianSettings | LadderSettings | None = None
    certifies_last: bool = True
    selects: bool = False
    route: str = "description_length"
    class_mix: str = "conditional"
    answers: str = "exact"
    unseals: bool = False


def _median(method: str) -> Mechanism:
    return Mechanism(settings=MedianSettings(n_subsamples=50, method=method))


_STRATIFIED = MedianSettings(method="exact", stratify=True)


MECHANISMS = {
    "check": Mechanism(certifies_last=False),
    "certify": Mechanism("certify", certifies_last=False),
    "check, then certify": Mechanism(),
    "Thresholdout, Laplace": Mechanism(settings=NoiseSettings("laplace")),
    "Thresholdout, Gaussian": Mechanism(settings=NoiseSettings("gaussian")),
    "median, exponential": _median("exponential"),
    "median, binary search": _median("binary_search"),
    "median, exact": _median("exact"),
    "median, stratified": Mechanism(settings=_STRATIFIED),
    "Ladder": Mechanism(settings=LadderSettings()),
    "selection, then certify": Mechanism(selects=True),
    "class counts paid for": Mechanism("certify", class_mix="priced", certifies_last=False),
    "noise, by privacy": Mechanism(route="differential_privacy"),
    "Laplace, by both routes": Mechanism(settings=NoiseSettings("laplace"), route="both"),
    "cells, then a final": Mechanism("certify", answers="coarse"),
    "cells, all unsealed": Mechanism("certify", certifies_last=False, answers="coarse", unseals=True),
    "cells, class counts paid": Mechanism("certify", answers="coarse", class_mix="priced", unseals=True),
    "first exact, then cells": Mechanism("certify", answers="auto", unseals=True),
    "checks from a purse": Mechanism(answers="coarse"),
}


class _Analysed:
    """What both kinds of inquiry show of the world, and the secret truth."""

    def __init__(self, population: Population, rng: np.random.Generator) -> None:
        self.population = population
        self._train, self._held = population.draw(rng), population.draw(rng)
        self.class_counts: NDArray[np.int64] | None = self.holdout_class_counts()

    def guess(self, says: Says) -> float:
        """Return the accuracy on the training sample."""
        return float(np.mean(self.population.table(says)[self._train.atoms] == self._train.labels))

    def holdout_class_counts(self) -> NDArray[np.int64]:
        """Return how many records of each class the holdout has."""
        return np.bincount(self._held.labels, minlength=self.population.joint.shape[1])


class Inquiry(_Analysed):
    """A conversation with a real `Holdout`.

    Parameters
    ----------
    mechanism : Mechanism
    population : Population
    rng : numpy.random.Generator
        Draws the two samples and the ledger's secret.
    tolerance : float or None
        As `Holdout` takes it.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        population: Population,
        rng: np.random.Generator,
        *,
        tolerance: float | None = None,
    ) -> None:
        super().__init__(population, rng)
        self._mechanism = mechanism
        self._tolerance = tolerance
        self._holdout = SimulatedHoldout(
            self._held.atoms[:, None],
            self._held.labels,
            seed=int(rng.integers(2**32)),
            confidence_level=1.0 - BETA,
            tolerance=tolerance,
            route=mechanism.route,
            class_mix=mechanism.class_mix,
            answers=mechanism.answers,
            temporary=mechanism.answers == "auto",
        )
        self._answers: list[tuple[Says, Question, Answer]] = []
        self._chosen: Says | None = None
        self._wins = math.nan
        if isinstance(mechanism.settings, MedianSettings) and not mechanism.settings.stratify:
            self.class_counts = None  # such a certificate assumes that nobody knows them

    def edge_guess(self) -> float:
        """Return a guess of one half's neighbourhood such that a cell ends at one half."""
        return min(0.5 + self._holdout.half_cell(0.5, float(self.population.n)), 1.0)

    def ask(self, says: Says, guess: float | None = None) -> float:
        """Return what is released about a classifier's accuracy, NaN if refused."""
        if self._mechanism.selects:
            return self._select(says)
        return self._put(says, self._mechanism.purpose, guess, None)

    def ask_together(self, batch: Sequence[Says], guesses: Sequence[float] | None = None) -> list[float]:
        """Ask about classifiers that are all fixed before any answer is seen."""
        if self._mechanism.selects or self._tolerance is not None:
            return [self.ask(says) for says in batch]
        purpose = self._mechanism.purpose
        name = self._holdout.open_round(len(batch), purpose, "batch")
        known = guesses or [None] * len(batch)
        return [self._put(says, purpose, guess, name) for says, guess in zip(batch, known, strict=True)]

    def keep(self, says: Says) -> None:
        """Ask about the classifier that the analyst ends with, and certify it if the mechanism does."""
        mechanism = self._mechanism
        if not mechanism.selects:
            self.ask(says)
        if mechanism.certifies_last and mechanism.answers == "exact":
            self._put(says, "certify", None, None)
        elif mechanism.certifies_last:
            model = Classifier(self.population.table(says))
            question = self._holdout.plan(model, "certify", Guess(self.guess(says), float(self.population.n)))
            self._answers.append((says, question, self._holdout.publish_last(question, model)))
        if mechanism.unseals:
            self._holdout.close()
            self._unseal(None)

    def unseal(self) -> float:
        """Return the exact value of the last question, or what was released of it if nothing is sealed."""
        if not self._answers:  # of a selection nothing can be unsealed
            return self._wins
        _, _, last = self._answers[-1]
        if last.published is None or not last.answered:
            return last.value
        return self._unseal([last])[0].value

    def _unseal(self, answers: list[Answer] | None) -> list[Answer]:
        asked = {self._sealed_in(answer): (says, question) for says, question, answer in self._answers}
        told = self._holdout.unseal_quietly(answers)
        self._answers += [(*asked[self._sealed_in(answer)], answer) for answer in told]
        return told

    def _sealed_in(self, answer: Answer) -> int:
        """Return the number of the record in which an answer was sealed, before it was told."""
        record = self._holdout.ledger.record(answer.index)
        assert record is not None
        return int(record.body.get("of", answer.index))

    def missed(self) -> bool:
        """Return whether any certificate was wrong about its own target."""
        return any(self._is_wrong(*asked) for asked in self._answers)

    def targets(self) -> list[str]:
        """Return what each certificate speaks of."""
        return [answer.certificate.target for _, _, answer in self._answers if answer.certificate is not None]

    def _put(self, says: Says, purpose: str, guess: float | None, round_name: str | None) -> float:
        value = self.guess(says) if guess is None else guess
        settings = self._mechanism.settings
        known = Guess(value, float(self.population.n))
        if isinstance(settings, MedianSettings):
            size = settings.subsample_size(session_of(self._holdout).data)
            spread = math.sqrt(max(value * (1.0 - value), 0.01) / size)
            known = Guess(value, self.population.n / size, spread)
        elif purpose == "certify":
            settings = None  # noise and ladder are for checks
        model = Classifier(self.population.table(says))
        question = self._holdout.plan(model, purpose, known, settings)
        answer = self._holdout.put_new(question, model, round_name=round_name)
        self._answers.append((says, question, answer))
        return answer.value

    def _select(self, says: Says) -> float:
        """Choose between a classifier and the last one chosen; only the winner is revealed."""
        if self._chosen is None:
            self._chosen = ~says
        pair = [self._chosen, says]
        models = [Classifier(self.population.table(each)) for each in pair]
        wins = self._holdout.select_new(models, epsilon=2.0)
        self._chosen = pair[wins]
        self._wins = 0.5 + 0.1 * (2 * wins - 1)
        return self._wins

    def _is_wrong(self, says: Says, question: Question, answer: Answer) -> bool:
        if answer.certificate is None:
            return False
        if isinstance(question, StableQuestion):
            return self._median_is_wrong(says, question, answer)
        if _AT_MIX in answer.certificate.target:
            true = self.population.accuracy_at_mix(says, self.holdout_class_counts())
        else:
            true = self.population.accuracy(says)
        low, high = answer.interval
        return not low - 1e-9 <= true <= high + 1e-9

    def _median_is_wrong(self, says: Says, question: StableQuestion, answer: Answer) -> bool:
        """Compare with the exact law of the accuracy on t records, as it is and rounded to the grid."""
        if answer.certificate is None or answer.certificate.vacuous:
            return False
        m, size = len(question.rows), question.units_each
        if question.stratified:
            law = self.population.accuracy_law_at_mix(says, self.holdout_class_counts() // m)
        else:
            law = self.population.accuracy_law(says, size)
        values = np.arange(size + 1) / size
        low, high = answer.interval
        if law[values <= high + 1e-9].sum() < 0.5 - 1e-9 or law[values >= low - 1e-9].sum() < 0.5 - 1e-9:
            return True
        places, released = question.grid.index(values), question.grid.index([answer.value])[0]
        level, up_to = answer.levels or (0.0, 1.0)
        below, above = law[places <= released].sum(), law[places >= released].sum()
        return bool(below < level - 1e-9 or above < 1.0 - up_to - 1e-9)


class NaiveInquiry(_Analysed):
    """The twin: exact answers, and Clopper-Pearson with a union bound over the questions asked.

    Valid for questions fixed in advance, so that every miss beyond beta is due to adaptivity.
    """

    def __init__(self, population: Population, rng: np.random.Generator) -> None:
        super().__init__(population, rng)
        self._counted: list[tuple[Says, int]] = []

    def edge_guess(self) -> float:
        """Return one half: guesses do not matter."""
        return 0.5

    def ask(self, says: Says, guess: float | None = None) -> float:
        """Return the exact accuracy."""
        right = int(np.count_nonzero(self.population.table(says)[self._held.atoms] == self._held.labels))
        self._counted.append((says, right))
        return right / self.population.n

    def ask_together(self, batch: Sequence[Says], guesses: Sequence[float] | None = None) -> list[float]:
        """Return the exact accuracies."""
        return [self.ask(says) for says in batch]

    def keep(self, says: Says) -> None:
        """Ask about the classifier that the analyst ends with."""
        self.ask(says)

    def unseal(self) -> float:
        """Return the last accuracy, which was exact."""
        return self._counted[-1][1] / self.population.n

    def missed(self) -> bool:
        """Return whether any interval was wrong about the population."""
        ln_delta = math.log(BETA / len(self._counted))
        for says, right in self._counted:
            low, high = clopper_pearson(right, right, self.population.n, ln_delta)
            if not low <= self.population.accuracy(says) <= high:
                return True
        return False
