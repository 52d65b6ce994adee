"""Mechanisms that keep something, and the simplest ones: noise, a bit, a slice for each question.

All Laplace and normal noise of the package is drawn here, by `with_laplace` and `with_normal`. A question of
declared sensitivity s is any number that changes by at most s when one row is replaced (a mean of [0, 1]
losses over n rows has s = 1/n). Nothing checks the declaration.

A `StatefulMechanism` has a state, such as a count of corrections, that can be written to JSON and restored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from sklearn_ada import _validation
from sklearn_ada._validation import bad_parameter, check_real, checked, checked_fields, generator, instance
from sklearn_ada.accounting import events
from sklearn_ada.accounting.events import Release, Symbol
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.mechanisms.rounding import Rounding, is_rounding, on_lattice, rounded

__all__ = [
    "SampleSplitting", "StatefulMechanism", "gaussian_mechanism", "laplace_mechanism", "randomized_response",
]  # fmt: skip


def is_callable(value: Any, name: str, owner: str) -> Any:
    """Return what can be called, or raise ValueError."""
    if callable(value):
        return value
    raise bad_parameter(name, owner, "a callable", value)


@checked(value="finite", sensitivity="> 0", epsilon="> 0", rng=generator)
def laplace_mechanism(
    value: float,
    *,
    sensitivity: float,
    epsilon: float,
    rng: np.random.Generator,
    clip: tuple[float, float] | None = None,
    rounding: Rounding | None = None,
) -> Release[float]:
    """Release a low-sensitivity number with Laplace noise: epsilon-differentially private.

    The noise has scale ``sensitivity / epsilon``. The sum is moved to a lattice of a thousandth of that
    (`rounding.on_lattice` has the reason), then clipped and rounded. All this comes after the
    noise, so it costs nothing; a rounded answer is a symbol as well, with a price under description length.

    Parameters
    ----------
    value : float
        The number on the holdout.
    sensitivity : float
        How much it can change when one row is replaced, positive.
    epsilon : float
        The privacy parameter, positive.
    rng : numpy.random.Generator
        The source of randomness.
    clip : (low, high) or None, default=None
        The range of a possible answer.
    rounding : Rounding or None, default=None
        The grid that the answer is rounded to.

    Returns
    -------
    Release
        The noisy number; a `LaplaceEvent`.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    References
    ----------
    Dwork, McSherry, Nissim, Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006.

    Examples
    --------
    >>> import numpy as np
    >>> release = laplace_mechanism(
    ...     0.85, sensitivity=1e-4, epsilon=0.1, rng=np.random.default_rng(0), clip=(0.0, 1.0)
    ... )
    >>> round(release.answer, 4), release.event
    (0.8503, LaplaceEvent(epsilon=0.1, symbols=None))
    """
    scale = noise_scale(sensitivity / epsilon, "laplace_mechanism")
    answer, symbols = _noisy(with_laplace, value, scale, rng, clip, rounding, "laplace_mechanism")
    return Release(answer, events.LaplaceEvent(epsilon, symbols))


@checked(value="finite", sensitivity="> 0", noise_multiplier="> 0", rng=generator)
def gaussian_mechanism(
    value: float,
    *,
    sensitivity: float,
    noise_multiplier: float,
    rng: np.random.Generator,
    clip: tuple[float, float] | None = None,
    rounding: Rounding | None = None,
) -> Release[float]:
    """Release a low-sensitivity number with Gaussian noise: ``1/(2 noise_multiplier^2)``-zCDP.

    The noise has standard deviation ``noise_multiplier * sensitivity``. What follows it is as in
    `laplace_mechanism`.

    Parameters
    ----------
    value, sensitivity, rng, clip, rounding
        As in `laplace_mechanism`.
    noise_multiplier : float
        Standard deviation of the noise over the sensitivity, positive.

    Returns
    -------
    Release
        The noisy number; a `GaussianEvent`.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    References
    ----------
    Bun, Steinke, "Concentrated differential privacy", TCC 2016, Proposition 1.6.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> release = gaussian_mechanism(
    ...     0.85, sensitivity=1e-4, noise_multiplier=10.0, rng=np.random.default_rng(0),
    ...     rounding=Rounding(UniformGrid(0.0, 1.0, 1001), guess=0.84),
    ... )
    >>> release.answer, release.event.symbols[0].value
    (0.85, 10)
    """
    scale = noise_scale(sensitivity * noise_multiplier, "gaussian_mechanism")
    answer, symbols = _noisy(with_normal, value, scale, rng, clip, rounding, "gaussian_mechanism")
    return Release(answer, events.GaussianEvent(noise_multiplier, symbols))


@checked(bit=instance((bool, np.bool_), "a bool"), epsilon="> 0", rng=generator)
def randomized_response(bit: bool, epsilon: float, rng: np.random.Generator) -> Release[bool]:
    """Release one bit, truthful with probability ``e^epsilon / (1 + e^epsilon)``: epsilon-DP.

    Parameters
    ----------
    bit : bool
        The truth.
    epsilon : float
        The privacy parameter, positive.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Release
        The bit or its opposite; a `RandomizedResponseEvent`.

    Raises
    ------
    ValueError
        For a parameter outside its range; nothing has been drawn then.

    References
    ----------
    Warner, "Randomized response", JASA 1965.

    Examples
    --------
    >>> import numpy as np
    >>> randomized_response(True, 2.0, np.random.default_rng(0)).answer
    True
    """
    lies = rng.random() < 1.0 / (1.0 + math.exp(min(epsilon, 700.0)))
    return Release(bool(bit) != lies, events.RandomizedResponseEvent(epsilon))


class StatefulMechanism:
    """A dataclass whose fields, parameters and what it keeps between answers, are its whole state.

    The state is as secret as the holdout: it holds the noise that protects it. What is used up is one of the
    fields, a count; another one, or a property, is its limit. A mechanism without a count is never exhausted.

    Examples
    --------
    >>> from sklearn_ada.mechanisms import SparseVector
    >>> issubclass(SparseVector, StatefulMechanism)
    True
    """

    _count: ClassVar[str] = ""
    _limit: ClassVar[str] = ""

    def __init_subclass__(cls, *, count: str = "", limit: str = "") -> None:
        if count:
            cls._count, cls._limit = count, limit

    def __post_init__(self) -> None:
        """Refuse a count beyond its limit."""
        if self._count and getattr(self, self._count) > getattr(self, self._limit):
            expected = f"at most {getattr(self, self._limit)}"
            raise bad_parameter(self._count, type(self).__name__, expected, getattr(self, self._count))

    @property
    def exhausted(self) -> bool:
        """Whether every further question is refused with `BudgetExhaustedError`."""
        return bool(self._count) and getattr(self, self._count) == getattr(self, self._limit)

    def state(self) -> dict[str, Any]:
        """Return everything the mechanism knows, ready for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {key: v.tolist() if isinstance(v, np.ndarray) else v for key, v in values.items()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the mechanism that `state` described; ValueError if the state is not one of its own.

        Parameters
        ----------
        state : dict
            What `state` returned, also after a round trip through JSON.
        """
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        return cls(**_validation.check_state(state, names, cls.__name__))

    def _refuse_if_exhausted(self) -> None:
        if self.exhausted:
            raise BudgetExhaustedError(f"{type(self).__name__} is exhausted: it answers no further question.")


@dataclass
@checked_fields(n_slices="count", used="integer >= 0")
class SampleSplitting(StatefulMechanism, count="used", limit="n_slices"):
    """Answer each question on a slice of its own; exhausted after the last.

    An answer is as good as on a holdout of one slice's size that was never used before.

    Parameters
    ----------
    n_slices : int
        How many disjoint slices there are: how many questions can be asked.
    used : int
        Memory: how many slices have answered.

    Examples
    --------
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> splitting = SampleSplitting(n_slices=2)
    >>> rounding = Rounding(UniformGrid(0.0, 1.0, 1001), guess=0.8)
    >>> [splitting.ask([0.81, 0.79].__getitem__, rounding).answer for _ in range(2)]
    [0.81, 0.79]
    >>> splitting.exhausted
    True
    """

    n_slices: int
    used: int = 0

    @checked("SampleSplitting", slice_value=is_callable)
    def ask(self, slice_value: Callable[[int], float], rounding: Rounding) -> Release[float]:
        """Answer with ``slice_value(i)`` of the next slice i, rounded to a grid.

        Parameters
        ----------
        slice_value : callable
            Takes the number of a slice and returns the value on it.
        rounding : Rounding
            The grid to which it is rounded.

        Returns
        -------
        Release
            The rounded value; a `CodedRelease` of one "lattice" symbol.

        Raises
        ------
        BudgetExhaustedError
            If every slice has answered.
        """
        self._refuse_if_exhausted()
        release = rounded(slice_value(self.used), rounding)
        self.used += 1
        return release


def with_laplace(value: float, scale: float, rng: np.random.Generator) -> float:
    """Return a number plus one draw of Laplace noise: a kernel, so nothing is checked, rounded or recorded.

    Parameters
    ----------
    value, scale : float
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> round(with_laplace(0.85, 0.001, np.random.default_rng(0)), 4)
    0.8503
    """
    return float(value + rng.laplace(scale=scale))


def with_normal(value: float, deviation: float, rng: np.random.Generator) -> float:
    """Return a number plus one draw of normal noise: a kernel, so nothing is checked, rounded or recorded.

    Parameters
    ----------
    value, deviation : float
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> round(with_normal(0.85, 0.001, np.random.default_rng(0)), 4)
    0.8501
    """
    return float(value + rng.normal(scale=deviation))


def noise_scale(scale: float, owner: str) -> float:
    """Return ``scale`` if it is positive and finite: an underflow to 0 would be an answer without noise."""
    return check_real(scale, "scale of the noise", owner, low=0.0)


def _noisy(
    draw: Callable[[float, float, np.random.Generator], float],
    value: float,
    scale: float,
    rng: np.random.Generator,
    clip: tuple[float, float] | None,
    rounding: Rounding | None,
    owner: str,
) -> tuple[float, tuple[Symbol, ...] | None]:
    """Draw a number with noise, and move it to where it may be.

    What the user gave is checked before anything is drawn.
    """
    low, high = -math.inf, math.inf
    if clip is not None:
        if not (isinstance(clip, tuple) and len(clip) == 2):
            raise bad_parameter("clip", owner, "a pair (low, high) or None", clip)
        low = check_real(clip[0], "clip", owner)
        high = check_real(clip[1], "clip", owner, low=low)
    if rounding is not None:
        is_rounding(rounding, "rounding", owner)
    answer = min(max(on_lattice(draw(value, scale, rng), scale), low), high)
    if rounding is None:
        return answer, None
    index = int(rounding.grid.index(answer))
    return rounding.grid.value(index), (rounding.symbol(index, "lattice"),)
