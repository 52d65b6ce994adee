"""Random draws as a function of the ledger's secret and the question: asked again, the noise is the same."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Draw"]


@dataclass(frozen=True)
class Draw:
    """The random generators of one question, and what its mechanism remembers of earlier questions.

    Parameters
    ----------
    secret : bytes
        The ledger's.
    key : str
        Identity of the question.
    state : dict
        What the mechanism recorded last; empty at first, and for mechanisms that remember nothing.
    """

    secret: bytes = field(repr=False)
    key: str
    state: dict[str, Any] = field(default_factory=dict)

    def question(self) -> np.random.Generator:
        """Return a generator for this question alone."""
        return self._generator(f"question {self.key}")

    def run(self, name: str, number: int) -> np.random.Generator:
        """Return a generator for successive questions that have noise in common, as in Thresholdout."""
        return self._generator(f"run {name} {number}")

    def _generator(self, label: str) -> np.random.Generator:
        seed = hmac.new(self.secret, label.encode(), hashlib.sha256).digest()
        return np.random.default_rng(int.from_bytes(seed, "little"))
