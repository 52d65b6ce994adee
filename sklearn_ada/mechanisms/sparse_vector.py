"""The sparse vector technique: is a number above a threshold? Only the answers "above" cost privacy.

Source: Dwork and Roth (2014), section 3.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada.events import AboveThresholdEvent, Event, PureDPEvent
from sklearn_ada.mechanisms._inputs import check_generator
from sklearn_ada.mechanisms.noise import noise_scale, with_laplace
from sklearn_ada.mechanisms.release import Release
from sklearn_ada.mechanisms.state import StatefulMechanism

__all__ = ["SparseVector", "above_threshold", "sparse_vector_error"]


@dataclass
class SparseVector(StatefulMechanism):
    """Say of each number whether it is above its threshold, until ``max_hits`` were: epsilon-DP.

    Every "above" and "below" is right within `sparse_vector_error`, except with the probability stated
    there. "Below" costs nothing beyond the event of its run, and the event happens when the threshold's
    noise is drawn, at the run's first question: a run in which nothing was above is not free.

    Parameters
    ----------
    epsilon : float
        The privacy parameter, positive.
    sensitivity : float, default=1.0
        How much any one of the numbers can change when one record is replaced, positive.
    max_hits : int, default=1
        How many "above" there may be. 1 is AboveThreshold (lecture 23, Algorithm 2).
    redraw : bool, default=False
        False: one threshold noise for all hits, the noise of the questions scaled by ``max_hits``; all
        of it together is epsilon-DP (Lyu, Su, Li 2017, Algorithm 1). True: AboveThreshold again after
        each hit, with a new threshold noise; each run is epsilon-DP and an event of its own.
    threshold_noise : float or None
        Memory: the noise of the open run.
    hits : int
        Memory: how many "above" there have been.

    References
    ----------
    Lyu, Su, Li, "Understanding the sparse vector technique for differential privacy", VLDB 2017.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> vector = SparseVector(epsilon=1.0, sensitivity=0.001, max_hits=1)
    >>> vector.ask(0.1, 0.5, rng)
    Release(answer='below', event=AboveThresholdEvent(epsilon=1.0, symbols=None))
    >>> vector.ask(0.2, 0.5, rng)
    Release(answer='below', event=None)
    >>> vector.ask(0.9, 0.5, rng).answer, vector.exhausted
    ('above', True)
    """

    epsilon: float
    sensitivity: float = 1.0
    max_hits: int = 1
    redraw: bool = False
    threshold_noise: float | None = field(default=None, repr=False)
    hits: int = 0

    def __post_init__(self) -> None:
        owner = type(self).__name__
        self.epsilon = check_real(self.epsilon, "epsilon", owner, low=0.0)
        self.sensitivity = check_real(self.sensitivity, "sensitivity", owner, low=0.0)
        self.max_hits = check_integer(self.max_hits, "max_hits", owner)
        if not isinstance(self.redraw, bool):
            raise bad_parameter("redraw", owner, "a bool", self.redraw)
        noise_scale(self.sensitivity / self.epsilon, owner)
        self._check_memory("hits", self.max_hits)

    @property
    def exhausted(self) -> bool:
        """Whether all hits are used."""
        return self.hits == self.max_hits

    def ask(
        self, value: float, threshold: float, rng: np.random.Generator
    ) -> Release[Literal["above", "below"]]:
        """Return whether ``value`` is above ``threshold``.

        Parameters
        ----------
        value, threshold : float
        rng : Generator
            From which noise is drawn; its seed is as secret as the holdout.

        Raises
        ------
        BudgetExhaustedError
            If all hits are used.
        ValueError
            If ``value`` or ``threshold`` is not finite. Either way nothing has been drawn.
        """
        owner = type(self).__name__
        value = check_real(value, "value", owner)
        threshold = check_real(threshold, "threshold", owner)
        rng = check_generator(rng, owner)
        self._refuse_if_exhausted()
        unit = self.sensitivity / self.epsilon
        event: Event | None = None
        if self.threshold_noise is None:
            self.threshold_noise = with_laplace(0.0, 2.0 * unit, rng)
            single_run = self.redraw or self.max_hits == 1
            event = AboveThresholdEvent(self.epsilon) if single_run else PureDPEvent(self.epsilon)
        hits_in_run = 1 if self.redraw else self.max_hits
        if with_laplace(value, 4.0 * hits_in_run * unit, rng) < threshold + self.threshold_noise:
            return Release("below", event)
        self.hits += 1
        if self.redraw:
            self.threshold_noise = None
        return Release("above", event)


def above_threshold(epsilon: float, sensitivity: float = 1.0) -> SparseVector:
    """Return AboveThreshold: a sparse vector that stops at its first "above" (lecture 23, Algorithm 2).

    Parameters
    ----------
    epsilon : float
        The privacy of the whole, positive.
    sensitivity : float, default=1.0
        How much a value can change when one record is replaced, positive.

    Examples
    --------
    >>> above_threshold(0.5)
    SparseVector(epsilon=0.5, sensitivity=1.0, max_hits=1, redraw=False, hits=0)
    """
    return SparseVector(epsilon, sensitivity)


def sparse_vector_error(
    epsilon: float,
    *,
    n_questions: int,
    beta: float,
    sensitivity: float = 1.0,
    max_hits: int = 1,
    redraw: bool = False,
) -> float:
    """Return a such that, except with probability beta, no answer of the sparse vector is off by a.

    Every "above" was larger than its threshold minus a and every "below" less than it plus a::

        a = sensitivity / epsilon * (2 ln(2 r / beta) + 4 s ln(2 k / beta))

    with k questions, and r = 1, s = max_hits for one threshold noise, r = max_hits, s = 1 for
    ``redraw=True``. (The union bound over all the noise, beta/2 for the thresholds and the questions.)

    Parameters
    ----------
    epsilon, sensitivity, max_hits, redraw
        As in `SparseVector`.
    n_questions : int
        k.
    beta : float
        The failure probability, in (0, 1).

    Examples
    --------
    >>> round(sparse_vector_error(0.1, n_questions=1000, beta=0.05, sensitivity=1e-4), 4)
    0.0498
    """
    owner = "sparse_vector_error"
    epsilon = check_real(epsilon, "epsilon", owner, low=0.0)
    k = check_integer(n_questions, "n_questions", owner)
    beta = check_real(beta, "beta", owner, low=0.0, high=1.0)
    sensitivity = check_real(sensitivity, "sensitivity", owner, low=0.0)
    hits = check_integer(max_hits, "max_hits", owner)
    runs, scale = (hits, 1) if redraw else (1, hits)
    error = 2.0 * math.log(2.0 * runs / beta) + 4.0 * scale * math.log(2.0 * k / beta)
    return sensitivity / epsilon * error
