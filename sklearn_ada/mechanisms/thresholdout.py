"""The sparse vector technique and Thresholdout: only what is above a threshold costs privacy.

The sparse vector says whether a number is above its threshold (Dwork and Roth 2014, section 3.6).
Thresholdout confirms a guess, or corrects it with a noisy value (Dwork et al. 2015).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from numpy.random import Generator

from sklearn_ada._validation import checked, checked_fields, generator, instance
from sklearn_ada.accounting import events
from sklearn_ada.accounting.events import Event, Release
from sklearn_ada.mechanisms.noise import StatefulMechanism, noise_scale, with_laplace, with_normal
from sklearn_ada.mechanisms.rounding import on_lattice

__all__ = [
    "SparseVector", "Thresholdout", "ThresholdoutAnswer", "above_threshold", "gaussian_thresholdout",
    "sparse_vector_error",
]  # fmt: skip


@dataclass
@checked_fields(
    epsilon="> 0",
    sensitivity="> 0",
    max_hits="count",
    redraw=instance(bool, "a bool"),
    threshold_noise="finite or None",
    hits="integer >= 0",
)
class SparseVector(StatefulMechanism, count="hits", limit="max_hits"):
    """Say of each number whether it is above its threshold, until ``max_hits`` were: epsilon-DP.

    Every "above" and "below" is right within `sparse_vector_error`, except with the probability stated
    there. "Below" costs nothing beyond the event of its run, and the event happens when the threshold's
    noise is drawn, at the run's first question: a run in which nothing was above is not free.

    Parameters
    ----------
    epsilon : float
        The privacy parameter, positive.
    sensitivity : float, default=1.0
        How much any one of the numbers can change when one row is replaced, positive.
    max_hits : int, default=1
        How many "above" there may be. 1 is AboveThreshold (Dwork and Roth 2014, Algorithm 1).
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
        noise_scale(self.sensitivity / self.epsilon, "SparseVector")
        super().__post_init__()

    @checked("SparseVector", value="finite", threshold="finite", rng=generator)
    def ask(self, value: float, threshold: float, rng: Generator) -> Release[Literal["above", "below"]]:
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
        self._refuse_if_exhausted()
        unit = self.sensitivity / self.epsilon
        event: Event | None = None
        if self.threshold_noise is None:
            self.threshold_noise = with_laplace(0.0, 2.0 * unit, rng)
            single_run = self.redraw or self.max_hits == 1
            event = (events.AboveThresholdEvent if single_run else events.PureDPEvent)(self.epsilon)
        hits_in_run = 1 if self.redraw else self.max_hits
        if with_laplace(value, 4.0 * hits_in_run * unit, rng) < threshold + self.threshold_noise:
            return Release("below", event)
        self.hits += 1
        if self.redraw:
            self.threshold_noise = None
        return Release("above", event)


def above_threshold(epsilon: float, sensitivity: float = 1.0) -> SparseVector:
    """Return AboveThreshold: a sparse vector that stops at its first "above".

    Source: Dwork and Roth 2014, Algorithm 1.

    Parameters
    ----------
    epsilon : float
        The privacy of the whole, positive.
    sensitivity : float, default=1.0
        How much a value can change when one row is replaced, positive.

    Examples
    --------
    >>> above_threshold(0.5)
    SparseVector(epsilon=0.5, sensitivity=1.0, max_hits=1, redraw=False, hits=0)
    """
    return SparseVector(epsilon, sensitivity)


@checked(epsilon="> 0", n_questions="count", beta="(0, 1)", sensitivity="> 0", max_hits="count")
def sparse_vector_error(
    epsilon: float,
    *,
    n_questions: int,
    beta: float,
    sensitivity: float = 1.0,
    max_hits: int = 1,
    redraw: bool = False,
) -> float:
    """Return how far off an answer of the sparse vector can be.

    Except with probability beta, no answer is off by more than this a.

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
    runs, scale = (max_hits, 1) if redraw else (1, max_hits)
    error = 2.0 * math.log(2.0 * runs / beta) + 4.0 * scale * math.log(2.0 * n_questions / beta)
    return sensitivity / epsilon * error


@dataclass(frozen=True)
class ThresholdoutAnswer:
    """What Thresholdout says: the guess if it agrees with the holdout, else a noisy holdout value.

    A noisy value is moved to a lattice of a thousandth of its noise (`rounding.on_lattice`).

    Attributes
    ----------
    verdict : {"agrees", "differs"}
    value : float
    """

    verdict: Literal["agrees", "differs"]
    value: float


@dataclass
@checked_fields(
    threshold="> 0",
    scale="> 0",
    max_hits="count",
    sensitivity="> 0",
    threshold_noise="finite or None",
    hits="integer >= 0",
)
class Thresholdout(StatefulMechanism, count="hits", limit="max_hits"):
    """Thresholdout with Laplace noise: differentially private for at most ``max_hits`` corrections.

    Answers the guess unless it differs from the holdout by more than a noisy threshold; then the
    holdout's value with noise, and one hit is used. Guesses that agree use none. One `ThresholdoutEvent`
    covers all hits and the last, open run; it happens at the first question.

    Parameters
    ----------
    threshold : float
        The difference that is tolerated, positive.
    scale : float
        s > 0: Laplace noise of scale s in a corrected value, 2 s in the threshold, 4 s in a comparison.
    max_hits : int
        B, how many corrections there may be.
    sensitivity : float
        How much a holdout value can change when one row is replaced: 1/n for the mean of n losses
        in [0, 1].
    threshold_noise : float or None
        Memory: the noise of the open threshold.
    hits : int
        Memory: how many corrections there have been.

    References
    ----------
    Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, "The reusable holdout: preserving validity in
    adaptive data analysis", Science 2015.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> holdout = Thresholdout(threshold=0.04, scale=0.001, max_hits=1, sensitivity=1e-4)
    >>> holdout.ask(0.86, 0.85, rng).answer
    ThresholdoutAnswer(verdict='agrees', value=0.86)
    >>> holdout.ask(0.97, 0.85, rng).answer.verdict, holdout.exhausted
    ('differs', True)
    """

    threshold: float
    scale: float
    max_hits: int
    sensitivity: float
    threshold_noise: float | None = field(default=None, repr=False)
    hits: int = 0

    def __post_init__(self) -> None:
        self._event()
        super().__post_init__()

    @checked("Thresholdout", guess="finite", value="finite", rng=generator)
    def ask(self, guess: float, value: float, rng: Generator) -> Release[ThresholdoutAnswer]:
        """Compare the guess with the value on the holdout.

        Parameters
        ----------
        guess, value : float
            The metric on validation rows, and on the holdout.
        rng : Generator
            From which noise is drawn; its seed is as secret as the holdout.

        Raises
        ------
        BudgetExhaustedError
            If all hits are used.
        ValueError
            If ``guess`` or ``value`` is not finite. Either way nothing has been drawn.
        """
        self._refuse_if_exhausted()
        event = self._event() if self.hits == 0 and self.threshold_noise is None else None
        if self.threshold_noise is None:
            self.threshold_noise = laplace_threshold(0.0, self.scale, rng)
        corrected = laplace_correction(guess, value, self.threshold + self.threshold_noise, self.scale, rng)
        if corrected is None:
            return Release(ThresholdoutAnswer("agrees", guess), event)
        self.hits += 1
        self.threshold_noise = None
        return Release(ThresholdoutAnswer("differs", on_lattice(corrected, self.scale)), event)

    def _event(self) -> events.ThresholdoutEvent:
        return events.ThresholdoutEvent(self.sensitivity / self.scale, self.max_hits)


@checked(guess="finite", value="finite", threshold="> 0", scale="> 0", sensitivity="> 0", rng=generator)
def gaussian_thresholdout(
    guess: float, value: float, *, threshold: float, scale: float, sensitivity: float, rng: Generator
) -> Release[ThresholdoutAnswer]:
    """Compare a guess with the holdout as the published figure did: Gaussian noise, fixed threshold.

    **Without the theorem of the algorithm**: there is no budget of hits, and every comparison, also one
    that agrees, is a Gaussian release of its own. Use `Thresholdout` for a guarantee.

    Parameters
    ----------
    guess : float
        The value claimed.
    value : float
        The value on the holdout.
    threshold : float
        The difference that is tolerated, positive.
    scale : float
        Standard deviation of the noise in the comparison and in a corrected value, positive.
    sensitivity : float
        How much ``value`` can change when one row is replaced, positive.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Release
        A `ThresholdoutAnswer`; one `GaussianEvent` for the comparison, two if it was corrected.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    References
    ----------
    The simulation behind Figures 1 and 2 of Dwork et al., Science 2015.

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_thresholdout(
    ...     0.86, 0.85, threshold=0.04, scale=0.01, sensitivity=1e-4, rng=np.random.default_rng(0)
    ... ).answer
    ThresholdoutAnswer(verdict='agrees', value=0.86)
    """
    event = events.GaussianEvent(scale / sensitivity)
    corrected = gaussian_correction(guess, value, threshold, scale, rng)
    if corrected is None:
        return Release(ThresholdoutAnswer("agrees", guess), event)
    answer = ThresholdoutAnswer("differs", on_lattice(corrected, scale))
    return Release(answer, events.SelfComposedEvent(event, 2))


def laplace_threshold(threshold: float, scale: float, rng: Generator) -> float:
    """Return the noisy threshold of one run of Thresholdout: Laplace noise of twice the scale.

    Parameters
    ----------
    threshold, scale : float
    rng : numpy.random.Generator
        Of the run: questions up to the next hit are all compared with this one threshold.

    Examples
    --------
    >>> import numpy as np
    >>> round(laplace_threshold(0.04, 0.001, np.random.default_rng(0)), 4)
    0.0406
    """
    return with_laplace(threshold, 2.0 * scale, rng)


def laplace_correction(
    guess: float, value: float, noisy_threshold: float, scale: float, rng: Generator
) -> float | None:
    """Return None if the guess agrees with the value, else a noisy value.

    It is one step of Thresholdout. The comparison has Laplace noise of four times the scale, a corrected
    value of the scale itself. A kernel: nothing is checked, rounded or recorded.

    Parameters
    ----------
    guess, value, noisy_threshold, scale : float
    rng : numpy.random.Generator
        Of the question.

    Examples
    --------
    >>> import numpy as np
    >>> laplace_correction(0.86, 0.85, 0.04, 0.001, np.random.default_rng(0)) is None
    True
    """
    if abs(guess - value) > with_laplace(noisy_threshold, 4.0 * scale, rng):
        return with_laplace(value, scale, rng)
    return None


def gaussian_correction(
    guess: float, value: float, threshold: float, deviation: float, rng: Generator
) -> float | None:
    """Return None if the guess agrees with the value, else a noisy value.

    Normal noise of this deviation is added in the comparison and to a corrected value, as in the simulation
    behind Figures 1 and 2 of Dwork et al., Science 2015. The threshold has no noise of its own. The arguments
    are not checked, and the answer is not rounded.

    Parameters
    ----------
    guess, value, threshold, deviation : float
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_correction(0.86, 0.85, 0.04, 0.001, np.random.default_rng(0)) is None
    True
    """
    if abs(guess - value) > with_normal(threshold, deviation, rng):
        return with_normal(value, deviation, rng)
    return None
