"""The Ladder: reveal a score only if it improves on the best so far by a step (Blum, Hardt 2015)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_ada._validation import bad_parameter, check_values, checked, checked_fields, describe
from sklearn_ada.accounting.events import CodedRelease, Release, Symbol
from sklearn_ada.mechanisms.noise import StatefulMechanism

__all__ = ["Ladder", "ParameterFreeLadder"]


@dataclass
@checked_fields(step="(0, 1]", best="integer >= 0 or None")
class Ladder(StatefulMechanism):
    """Answer the best loss so far, where a question improves it by ``step``.

    No noise and no differential privacy: the promise is that few conversations are possible. k answers
    are one of at most ``C(k + M, M)`` with ``M = floor(1/step) + 1``, whatever the questions, so it is never
    exhausted.

    Parameters
    ----------
    step : float
        eta, in (0, 1]: the least improvement that is revealed, and the lattice of the answers.
    best : int or None
        Memory: the last answer in steps; None before the first question.

    References
    ----------
    Blum, Hardt, "The Ladder: a reliable leaderboard for machine learning competitions", ICML 2015.

    Examples
    --------
    >>> ladder = Ladder(step=0.01)
    >>> [round(ladder.ask(loss).answer, 2) for loss in (0.30, 0.295, 0.27, 0.35)]
    [0.3, 0.3, 0.27, 0.27]
    """

    step: float
    best: int | None = None

    def __post_init__(self) -> None:
        if self.best is not None and self.best > self._top:
            raise bad_parameter("best", "Ladder", f"at most {self._top}", self.best)

    @property
    def _top(self) -> int:
        # The lattice point of the worst loss, 1.
        return _nearest(1.0 / self.step)

    @checked("Ladder", loss="[0, 1]")
    def ask(self, loss: float) -> Release[float]:
        """Return the best loss so far, on the lattice of ``step``.

        Parameters
        ----------
        loss : float
            The mean loss on the holdout, in [0, 1]; smaller is better.

        Returns
        -------
        Release
            The best loss; a `CodedRelease` of one "lattice" symbol, by how many steps it fell.
        """
        before = self._top if self.best is None else self.best
        improves = self.best is None or loss < (self.best - 1) * self.step
        self.best = min(before, _nearest(loss / self.step)) if improves else before
        answer = min(self.best * self.step, 1.0)
        return Release(answer, CodedRelease((Symbol("lattice", before - self.best),)))


@dataclass(eq=False)
@checked_fields(best="integer >= 0 or None")
class ParameterFreeLadder(StatefulMechanism):
    """The Ladder with its step taken from the data. **Without a theorem**: a heuristic of the paper.

    A question improves if its mean loss is lower than the last answer by more than the standard error
    of the difference to the best so far. The answer is rounded to 1/n.

    Parameters
    ----------
    best : int or None
        Memory: the last answer in units of 1/n.
    best_losses : array of float or None
        Memory: the losses of the best question on each row.

    References
    ----------
    Blum, Hardt, ICML 2015, the parameter-free Ladder.

    Examples
    --------
    >>> import numpy as np
    >>> ladder = ParameterFreeLadder()
    >>> worse, better = np.repeat([1.0, 0.0], [50, 50]), np.repeat([1.0, 0.0], [20, 80])
    >>> [ladder.ask(losses).answer for losses in (worse, better, worse)]
    [0.5, 0.2, 0.2]
    """

    best: int | None = None
    best_losses: NDArray[np.float64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if (self.best is None) != (self.best_losses is None):
            raise bad_parameter(
                "best", "ParameterFreeLadder", "given with best_losses or not at all", self.best
            )
        if self.best is not None:
            self.best_losses = _check_losses(self.best_losses, "best_losses")

    def ask(self, losses: ArrayLike) -> Release[float]:
        """Return the best mean loss so far, rounded to 1/n.

        Parameters
        ----------
        losses : array of float, shape (n,)
            The loss on each row of the holdout, in [0, 1]; n is at least 2 and always the same.

        Returns
        -------
        Release
            The best loss; a `CodedRelease` of one "lattice" symbol, by how many 1/n it fell.
        """
        array = _check_losses(losses, "losses")
        n = array.size
        before = n if self.best is None else self.best
        improves = True
        if self.best_losses is not None:
            if self.best_losses.size != n:
                raise bad_parameter("losses", "ParameterFreeLadder", f"of length {self.best_losses.size}", n)
            standard_error = float(np.std(array - self.best_losses, ddof=1)) / math.sqrt(n)
            improves = float(array.mean()) < before / n - standard_error
        if improves:
            self.best = min(before, _nearest(float(array.sum())))
            self.best_losses = array
        after = before if self.best is None else self.best
        return Release(after / n, CodedRelease((Symbol("lattice", before - after),)))


def _nearest(value: float) -> int:
    return math.floor(value + 0.5)


def _check_losses(losses: ArrayLike | None, name: str) -> NDArray[np.float64]:
    array = check_values([] if losses is None else losses, name, "ParameterFreeLadder")
    if array.size < 2 or array.min() < 0.0 or array.max() > 1.0:
        raise bad_parameter(name, "ParameterFreeLadder", "at least two numbers in [0, 1]", describe(array))
    return array
