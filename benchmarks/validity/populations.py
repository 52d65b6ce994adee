"""Populations that can be enumerated, so that the true accuracy of any classifier is exact.

A record is an atom u with a label; ``joint[u, c]`` is its probability. A classifier says of each atom either
its likeliest label or the next one: a boolean per atom. With about as many atoms as records there is plenty
of chance to be exploited, and nothing to be learned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

__all__ = ["COINS", "HUNDRED_CLASSES", "POPULATIONS", "Classifier", "Population", "Sample", "Says"]

Says = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Sample:
    """Independent records of a population: their atoms and their labels."""

    atoms: NDArray[np.int64]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)


class Classifier:
    """A fitted model: looks the label of an atom up in a table, row by row."""

    def __init__(self, table: NDArray[np.int64]) -> None:
        self.table = table

    def predict(self, X: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the label said of each row's atom."""
        return self.table[X[:, 0]]

    def __deepcopy__(self, memo: object) -> Classifier:
        return self  # nothing changes when it predicts


@dataclass(frozen=True, eq=False)
class Population:
    """A joint law of atoms and labels, and how many records of it an analyst gets.

    Parameters
    ----------
    name : str
    joint : ndarray of shape (n_atoms, n_classes)
    n : int
        Records of the holdout, and of the training sample.
    """

    name: str
    joint: NDArray[np.float64]
    n: int

    def __post_init__(self) -> None:
        likeliest = self.joint.argmax(axis=1)
        following = (likeliest + 1) % self.joint.shape[1]
        object.__setattr__(self, "_labels", np.stack([following, likeliest]))

    @property
    def n_atoms(self) -> int:
        """How many different records there are."""
        return len(self.joint)

    def draw(self, rng: np.random.Generator) -> Sample:
        """Return n independent records."""
        cells = np.searchsorted(self.joint.ravel().cumsum(), rng.random(self.n), side="right")
        cells = np.minimum(cells, self.joint.size - 1)
        return Sample(*np.divmod(cells, self.joint.shape[1]))

    def table(self, says: Says) -> NDArray[np.int64]:
        """Return the label that a classifier gives each atom: its likeliest, or the next."""
        return self._labels[says.astype(np.int64), np.arange(self.n_atoms)]  # type: ignore[attr-defined]

    def accuracy(self, says: Says) -> float:
        """Return the exact accuracy in the population."""
        return float(self.joint[np.arange(self.n_atoms), self.table(says)].sum())

    def accuracy_at_mix(self, says: Says, counts: NDArray[np.int64]) -> float:
        """Return the exact accuracy where classes have the shares of a sample's class counts."""
        weights = counts / counts.sum() / np.maximum(self.joint.sum(axis=0), 1e-300)
        table = self.table(says)
        return float((self.joint[np.arange(self.n_atoms), table] * weights[table]).sum())

    def accuracy_law(self, says: Says, records: int) -> NDArray[np.float64]:
        """Return the probabilities that 0, 1, ... of so many records are said right."""
        law: NDArray[np.float64] = binom.pmf(np.arange(records + 1), records, min(self.accuracy(says), 1.0))
        return law

    def accuracy_law_at_mix(self, says: Says, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the same law for a sample with these class counts."""
        table = self.table(says)
        right = np.bincount(table, self.joint[np.arange(self.n_atoms), table], len(counts))
        shares = np.minimum(right / np.maximum(self.joint.sum(axis=0), 1e-300), 1.0)
        by_class = binom.pmf(np.arange(counts.max() + 1), counts[:, None], shares[:, None])
        law = np.ones(1)
        for count, each in zip(counts, by_class, strict=True):
            law = np.convolve(law, each[: count + 1])
        return law


def _hundred_classes() -> Population:
    joint = np.zeros((1200, 100))
    joint[np.arange(1200), np.arange(1200) % 100] = 1 / 1200
    return Population("100 classes", joint, 300)


def _near_zero_and_one() -> Population:
    likely = np.full(1200, 0.997)
    return Population("p near 0 and 1", np.stack([likely, 1.0 - likely], axis=1) / 1200, 300)


def _heavy_atoms() -> Population:
    mass = np.concatenate([[0.4, 0.2, 0.1], np.full(600, 0.3 / 600)])
    likely = np.concatenate([[1.0, 0.5, 0.9], np.full(600, 0.5)])
    return Population("heavy atoms", np.stack([likely, 1.0 - likely], axis=1) * mass[:, None], 300)


COINS = Population("coins", np.full((1200, 2), 1 / 2400), 300)
HUNDRED_CLASSES = _hundred_classes()
POPULATIONS = (
    COINS,
    HUNDRED_CLASSES,
    _near_zero_and_one(),
    _heavy_atoms(),
    Population("n = 50", np.full((200, 2), 1 / 400), 50),
)
"""Run r of a simulation takes population ``r % 5``."""
