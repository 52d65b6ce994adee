"""Thresholdout: confirm a guess, or correct it with a noisy value (Dwork et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada.events import GaussianEvent, SelfComposedEvent, ThresholdoutEvent
from sklearn_ada.mechanisms._inputs import check_generator
from sklearn_ada.mechanisms.noise import noise_scale, with_laplace, with_normal
from sklearn_ada.mechanisms.release import Release
from sklearn_ada.mechanisms.rounding.lattice import on_lattice
from sklearn_ada.mechanisms.state import StatefulMechanism

__all__ = [
    "Thresholdout",
    "ThresholdoutAnswer",
    "gaussian_correction",
    "gaussian_thresholdout",
    "laplace_correction",
    "laplace_threshold",
]


def laplace_threshold(threshold: float, scale: float, rng: np.random.Generator) -> float:
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
    guess: float, value: float, noisy_threshold: float, scale: float, rng: np.random.Generator
) -> float | None:
    """Return None if the guess agrees with the value, else the value with noise: one step of Thresholdout.

    The comparison has Laplace noise of four times the scale, a corrected value of the scale itself. A kernel:
    nothing is checked, rounded or recorded.

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
    guess: float, value: float, threshold: float, deviation: float, rng: np.random.Generator
) -> float | None:
    """Return None if the guess agrees with the value, else the value with noise, as in the published figure.

    Normal noise of one standard deviation in the comparison and in a corrected value, and a threshold without
    any. A kernel: nothing is checked, rounded or recorded.

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


@dataclass(frozen=True)
class ThresholdoutAnswer:
    """What Thresholdout says: the guess if it agrees with the holdout, else a noisy holdout value.

    A noisy value is moved to a lattice of a thousandth of its noise (`rounding.lattice`).

    Attributes
    ----------
    verdict : {"agrees", "differs"}
    value : float
    """

    verdict: Literal["agrees", "differs"]
    value: float


@dataclass
class Thresholdout(StatefulMechanism):
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
        How much a holdout value can change when one record is replaced: 1/n for the mean of n losses
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
        owner = "Thresholdout"
        self.threshold = check_real(self.threshold, "threshold", owner, low=0.0)
        self.scale = check_real(self.scale, "scale", owner, low=0.0)
        self.max_hits = check_integer(self.max_hits, "max_hits", owner)
        self.sensitivity = check_real(self.sensitivity, "sensitivity", owner, low=0.0)
        self._event()
        self._check_memory("hits", self.max_hits)

    @property
    def exhausted(self) -> bool:
        """Whether all hits are used."""
        return self.hits == self.max_hits

    def ask(self, guess: float, value: float, rng: np.random.Generator) -> Release[ThresholdoutAnswer]:
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
        guess = check_real(guess, "guess", "Thresholdout")
        value = check_real(value, "value", "Thresholdout")
        rng = check_generator(rng, "Thresholdout")
        self._refuse_if_exhausted()
        opening = self.hits == 0 and self.threshold_noise is None
        event = self._event() if opening else None
        if self.threshold_noise is None:
            self.threshold_noise = laplace_threshold(0.0, self.scale, rng)
        corrected = laplace_correction(guess, value, self.threshold + self.threshold_noise, self.scale, rng)
        if corrected is None:
            return Release(ThresholdoutAnswer("agrees", guess), event)
        self.hits += 1
        self.threshold_noise = None
        return Release(ThresholdoutAnswer("differs", on_lattice(corrected, self.scale)), event)

    def _event(self) -> ThresholdoutEvent:
        return ThresholdoutEvent(self.sensitivity / self.scale, self.max_hits)


def gaussian_thresholdout(
    guess: float,
    value: float,
    *,
    threshold: float,
    scale: float,
    sensitivity: float,
    rng: np.random.Generator,
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
        How much ``value`` can change when one record is replaced, positive.
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
    owner = "gaussian_thresholdout"
    guess = check_real(guess, "guess", owner)
    value = check_real(value, "value", owner)
    threshold = check_real(threshold, "threshold", owner, low=0.0)
    scale = noise_scale(check_real(scale, "scale", owner, low=0.0), owner)
    sensitivity = check_real(sensitivity, "sensitivity", owner, low=0.0)
    event = GaussianEvent(scale / sensitivity)
    corrected = gaussian_correction(guess, value, threshold, scale, check_generator(rng, owner))
    if corrected is None:
        return Release(ThresholdoutAnswer("agrees", guess), event)
    answer = ThresholdoutAnswer("differs", on_lattice(corrected, scale))
    return Release(answer, SelfComposedEvent(event, 2))
