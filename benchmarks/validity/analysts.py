"""Analysts: from one who fixes everything in advance to those who attack the holdout.

Each takes an inquiry and a random generator, asks, and keeps one classifier in the end. None can learn
anything that generalises beyond its training sample; whatever more they find is noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.inquiries import Inquiry, NaiveInquiry
from benchmarks.validity.populations import Says

__all__ = ["ANALYSTS", "Analyst", "boosting", "class_counts", "vote"]

Any_ = Inquiry | NaiveInquiry
_FEATURES = 60
_BLOCKS = 40


@dataclass(frozen=True)
class Analyst:
    """How somebody asks.

    Parameters
    ----------
    converse : callable
        Takes an inquiry and a generator.
    adaptive : bool
        Whether the naive holdout must fail.
    tolerance : float or None
        Of the holdout that is asked.
    """

    converse: Callable[[Any_, np.random.Generator], None]
    adaptive: bool = True
    tolerance: float | None = None


def random_classifiers(inquiry: Any_, rng: np.random.Generator, count: int, share: float = 0.5) -> list[Says]:
    """Return classifiers that say the likeliest label of a random share of the atoms."""
    return list(rng.random((count, inquiry.population.n_atoms)) < share)


def vote(features: list[Says], weights: NDArray[np.float64]) -> Says:
    """Return the weighted majority vote."""
    signs = 2.0 * np.array(features) - 1.0
    return weights @ signs > 0.0


def signs_of(values: list[float]) -> NDArray[np.float64]:
    """Return on which side of one half each released value lies; nothing where nothing was released."""
    return np.sign(np.nan_to_num(np.array(values), nan=0.5) - 0.5)


def non_adaptive(inquiry: Any_, rng: np.random.Generator) -> None:
    """Fix everything in advance: a batch, then one by one, with true values all over [0, 1]."""
    shares = (0.0, 0.002, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 0.998, 1.0)
    each = [random_classifiers(inquiry, rng, 2, share) for share in shares]
    inquiry.ask_together([first for first, _ in each])
    for _, second in each:
        inquiry.ask(second)
    inquiry.keep(rng.random(inquiry.population.n_atoms) < 0.5)


def boosting(inquiry: Any_, rng: np.random.Generator) -> None:
    """Vote random classifiers by which side of chance they score on (Blum, Hardt 2015)."""
    features = random_classifiers(inquiry, rng, _FEATURES)
    inquiry.keep(vote(features, signs_of([inquiry.ask(says, 0.5) for says in features])))


def edges(inquiry: Any_, rng: np.random.Generator) -> None:
    """Guess such that a cell ends at one half: whether the guess holds tells the side of chance."""
    features = random_classifiers(inquiry, rng, _FEATURES)
    guess = inquiry.edge_guess()
    values = [inquiry.ask(says, guess) for says in features]
    inquiry.keep(vote(features, signs_of(values)))


def hill_climbing(inquiry: Any_, rng: np.random.Generator) -> None:
    """Flip one block of atoms after the other and keep what scores better."""
    blocks = rng.integers(0, _BLOCKS, inquiry.population.n_atoms)
    best = rng.random(inquiry.population.n_atoms) < 0.5
    score = inquiry.ask(best)
    for block in range(_BLOCKS):
        trial = best ^ (blocks == block)
        value = inquiry.ask(trial, score if score == score else None)
        if value > score:
            best, score = trial, value
    inquiry.keep(best)


def probing_refusals(inquiry: Any_, rng: np.random.Generator) -> None:
    """Ask with guesses at cell edges under a tolerance, and take a refusal for news."""
    features = random_classifiers(inquiry, rng, _FEATURES)
    guess = inquiry.edge_guess()
    values = [inquiry.ask(says, guess) for says in features]
    weights = np.array([-1.0 if value != value else math.copysign(1.0, value - 0.5) for value in values])
    inquiry.keep(vote(features, weights))


def class_counts(inquiry: Any_, rng: np.random.Generator) -> None:
    """Be right exactly on classes that are over-represented in the holdout, where their counts are known."""
    joint = inquiry.population.joint
    counts = inquiry.class_counts
    shares = joint.sum(axis=0)
    above = np.zeros(len(shares)) if counts is None else counts / counts.sum() - shares
    inquiry.keep(above[joint.argmax(axis=1)] > 0.0)


def correlation_then_combine(inquiry: Any_, rng: np.random.Generator) -> None:
    """Ask for every feature at once, then for their log-odds combination (Rogers et al. 2020)."""
    features = random_classifiers(inquiry, rng, _FEATURES)
    values = np.nan_to_num(inquiry.ask_together(features, [0.5] * _FEATURES), nan=0.5)
    correlation = np.clip(2.0 * values - 1.0, -0.99, 0.99)
    inquiry.keep(vote(features, np.log1p(correlation) - np.log1p(-correlation)))


def freedman(inquiry: Any_, rng: np.random.Generator) -> None:
    """Keep features that are as good on the holdout as in training, and add them up."""
    features = random_classifiers(inquiry, rng, 2 * _FEATURES)
    trained = [inquiry.guess(says) for says in features]
    held = signs_of([inquiry.ask(says, guess) for says, guess in zip(features, trained, strict=True)])
    agree = np.where(signs_of(trained) == held, held, 0.0)
    inquiry.keep(vote(features, agree))


def optimiser(inquiry: Any_, rng: np.random.Generator) -> None:
    """Fit a linear model of the score to designs of blocks, and ask what it likes best."""
    blocks = rng.integers(0, _BLOCKS, inquiry.population.n_atoms)
    designs, values = np.empty((0, _BLOCKS)), np.empty(0)
    slope = np.zeros(_BLOCKS)
    for step in range(_FEATURES):
        explore = step < _BLOCKS or step % 2 == 0
        design = np.sign(rng.normal(size=_BLOCKS) if explore else slope + 1e-3 * rng.normal(size=_BLOCKS))
        value = inquiry.ask(design[blocks] > 0.0, 0.5)
        designs, values = np.vstack([designs, design]), np.append(values, 0.5 if value != value else value)
        slope = np.linalg.solve(designs.T @ designs + np.eye(_BLOCKS), designs.T @ (values - 0.5))
    inquiry.keep(slope[blocks] > 0.0)


def unsealing(inquiry: Any_, rng: np.random.Generator) -> None:
    """Have every third exact value told at once, or that of a surprise, and vote with all that is known."""
    features = random_classifiers(inquiry, rng, _FEATURES)
    values = []
    for number, says in enumerate(features):
        value = inquiry.ask(says, 0.5)
        if number % 3 == 0 or value != 0.5:
            value = inquiry.unseal()
        values.append(value)
    inquiry.keep(vote(features, signs_of(values)))


def many_names(inquiry: Any_, rng: np.random.Generator) -> None:
    """Ask about each model under several names, with guesses that bisect where its score is."""
    features = random_classifiers(inquiry, rng, _FEATURES)
    scores = []
    for says in features:
        low, high = 0.4, 0.6
        for _ in range(2):
            middle = (low + high) / 2.0
            value = inquiry.ask(says, min(middle + 0.1, 1.0))
            low, high = (middle, high) if value > middle else (low, middle)
        scores.append((low + high) / 2.0)
    inquiry.keep(vote(features, signs_of(scores)))


def mixing(inquiry: Any_, rng: np.random.Generator) -> None:
    """Mix searches that ask about several candidates at once with single questions about votes on them."""
    features: list[Says] = []
    values: list[float] = []
    for _ in range(4):
        batch = random_classifiers(inquiry, rng, _FEATURES // 4)
        features += batch
        values += inquiry.ask_together(batch, [0.5] * len(batch))
        inquiry.ask(vote(features, signs_of(values)))
    inquiry.keep(vote(features, signs_of(values)))


ANALYSTS = {
    "non-adaptive": Analyst(non_adaptive, adaptive=False),
    "boosting": Analyst(boosting),
    "guesses on cell edges": Analyst(edges),
    "hill climbing": Analyst(hill_climbing),
    "probing refusals": Analyst(probing_refusals, tolerance=0.4),
    "class counts": Analyst(class_counts),
    "correlation, then combine": Analyst(correlation_then_combine),
    "selection on both samples": Analyst(freedman),
    "optimiser on noise": Analyst(optimiser),
    "unsealing as it goes": Analyst(unsealing),
    "one model, many names": Analyst(many_names),
    "searches and single questions": Analyst(mixing),
}
