"""Private multiplicative weights: very many means at once, if finitely many different rows can occur."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from sklearn_ada import _validation
from sklearn_ada._validation import bad_parameter, check_values, checked, checked_fields, describe, generator
from sklearn_ada.accounting.events import Event, LaplaceEvent, Release, composed
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.mechanisms.noise import StatefulMechanism, with_laplace
from sklearn_ada.mechanisms.quantiles import search_quantile
from sklearn_ada.mechanisms.rounding import Grid, on_lattice
from sklearn_ada.mechanisms.thresholdout import SparseVector

__all__ = [
    "PrivateMultiplicativeWeights", "multiplicative_weights_median", "multiplicative_weights_sample_size",
]  # fmt: skip


@dataclass(eq=False)
@checked_fields(
    universe_size="integer >= 2",
    n_records="count",
    alpha="(0, 1)",
    epsilon="> 0",
    threshold_noise="finite or None",
    updates="integer >= 0",
)
class PrivateMultiplicativeWeights(StatefulMechanism, count="updates", limit="max_updates"):
    """Answer mean questions from a public model of the data, corrected only where it errs.

    With at least `multiplicative_weights_sample_size` rows, and except with the probability beta
    given there, each of the k answers is within ``alpha`` of the mean over the rows and the budget
    of corrections is never used up; that size grows with ln k only.

    Parameters
    ----------
    universe_size : int
        N, how many different rows are possible, at least 2.
    n_records : int
        n, how many there are.
    alpha : float
        The accuracy, in (0, 1).
    epsilon : float
        The privacy parameter of each comparison run and of each corrected answer, positive.
    threshold_noise : float or None
        Memory: the noise of the open comparison run.
    updates : int
        Memory: how many corrections there have been.
    log_weights : array of float, shape (universe_size,), or None
        Memory: the model, as logarithms up to a constant; None for the uniform one.

    Notes
    -----
    AboveThreshold, redrawn after each hit, compares the model's error with ``3 alpha / 4``. At a hit the
    answer has Laplace noise, is moved to a lattice (`rounding.on_lattice`), and the model moves towards it
    with learning rate ``2 alpha``. Suppose the noise of a comparison is at most ``alpha / 4`` and of an
    answer less than ``alpha / 2``. Then unanswered errors are at most alpha, and a hit means an error g >=
    alpha/2 with the sign that the answer shows. By Hoeffding's lemma it lowers the relative entropy of the
    data to the model by at least ``2 alpha g - (2 alpha)^2 / 8 >= alpha^2 / 2``. It starts at ln N at most
    and stays nonnegative, so there are at most ``2 ln(N) / alpha^2`` hits.

    References
    ----------
    Hardt, Rothblum, "A multiplicative weights mechanism for privacy-preserving data analysis", FOCS
    2010. Feldman, Steinke 2017, Theorem 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> records = rng.integers(8, size=10_000)
    >>> weights = PrivateMultiplicativeWeights(universe_size=8, n_records=10_000, alpha=0.1, epsilon=0.5)
    >>> odd = np.arange(8) % 2
    >>> weights.ask(odd, float(odd[records].mean()), rng).answer
    0.5
    """

    universe_size: int
    n_records: int
    alpha: float
    epsilon: float
    threshold_noise: float | None = field(default=None, repr=False)
    updates: int = 0
    log_weights: NDArray[np.float64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        owner = "PrivateMultiplicativeWeights"
        super().__post_init__()
        self._comparison()
        self.log_weights = check_values(self._current(), "log_weights", owner)
        if self.log_weights.size != self.universe_size:
            expected = f"of length {self.universe_size}"
            raise bad_parameter("log_weights", owner, expected, describe(self.log_weights))

    @property
    def max_updates(self) -> int:
        """How many corrections there may be: one more than an accurate run can need."""
        return most_updates(self.universe_size, self.alpha) + 1

    @property
    def model(self) -> NDArray[np.float64]:
        """The model's probabilities; a function of the answers given, so as public as they are."""
        law: NDArray[np.float64] = softmax(self._current())
        return law

    @checked("PrivateMultiplicativeWeights", question=check_values, value="[0, 1]", rng=generator)
    def ask(self, question: ArrayLike, value: float, rng: np.random.Generator) -> Release[float]:
        """Return an approximate mean of a question.

        Parameters
        ----------
        question : array of float, shape (universe_size,)
            Its value, in [0, 1], for every possible row.
        value : float
            Its mean over the holdout's rows.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        Release
            The answer; an `AboveThresholdEvent` if a comparison run begins with it, a `LaplaceEvent` if
            it is a correction.

        Raises
        ------
        BudgetExhaustedError
            If all corrections are used.
        ValueError
            For a parameter outside its range. Either way nothing has been drawn.
        """
        array = np.asarray(question, dtype=np.float64)
        if array.size != self.universe_size or array.min() < 0.0 or array.max() > 1.0:
            expected = f"an array of {self.universe_size} numbers in [0, 1]"
            raise bad_parameter("question", "PrivateMultiplicativeWeights", expected, describe(array))
        self._refuse_if_exhausted()
        modelled = float(array @ self.model)
        comparison = self._comparison()
        compared = comparison.ask(abs(value - modelled), 0.75 * self.alpha, rng)
        self.threshold_noise, self.updates = comparison.threshold_noise, comparison.hits
        if compared.answer == "below":
            return Release(modelled, compared.event)
        scale = 1.0 / (self.n_records * self.epsilon)
        noisy = on_lattice(with_laplace(value, scale, rng), scale)
        self.log_weights = self._current() + math.copysign(2.0 * self.alpha, noisy - modelled) * array
        return Release(float(min(max(noisy, 0.0), 1.0)), composed(compared.event, LaplaceEvent(self.epsilon)))

    def _current(self) -> NDArray[np.float64]:
        return np.zeros(self.universe_size) if self.log_weights is None else self.log_weights

    def _comparison(self) -> SparseVector:
        unit, most = 1.0 / self.n_records, self.max_updates
        return SparseVector(self.epsilon, unit, most, True, self.threshold_noise, self.updates)


@checked(grid=_validation.instance(Grid, "a Grid"), rng=generator)
def multiplicative_weights_median(
    mechanism: PrivateMultiplicativeWeights,
    estimator: ArrayLike,
    records: ArrayLike,
    grid: Grid,
    rng: np.random.Generator,
) -> Release[float | None]:
    """Answer one of many median questions by binary search on private multiplicative weights.

    While the mechanism is accurate, the answer is a ``4 alpha``-approximate median of the estimator on
    the rows: with ``alpha = 1/8`` it lies in their interquartile interval. The sample size is that of
    ``k * n_counting_questions(grid.size)`` mean questions for k medians.

    Parameters
    ----------
    mechanism : PrivateMultiplicativeWeights
        Over the universe of possible subsamples; ``alpha`` at most 1/4. It is asked, so it changes.
    estimator : array of float, shape (universe_size,)
        The estimator's value on every possible subsample.
    records : array of int, shape (n_records,)
        Which elements of the universe the subsamples are.
    grid : Grid
        The possible answers.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Release
        A grid point, or None if the corrections were used up during the search; the events of all its
        mean questions.

    Raises
    ------
    BudgetExhaustedError
        If the mechanism was exhausted before.
    ValueError
        For a parameter outside its range. Either way nothing has been drawn.

    References
    ----------
    Feldman, Steinke 2017, Theorem 5.4, by Lemma 3.2 and Theorem 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ada.mechanisms import UniformGrid
    >>> rng = np.random.default_rng(0)
    >>> records = rng.binomial(16, 0.5, size=10_000)
    >>> weights = PrivateMultiplicativeWeights(
    ...     universe_size=17, n_records=10_000, alpha=0.125, epsilon=0.5
    ... )
    >>> grid = UniformGrid(0.0, 1.0, 17)
    >>> multiplicative_weights_median(weights, np.arange(17) / 16, records, grid, rng).answer
    0.5
    """
    owner = "multiplicative_weights_median"
    if not isinstance(mechanism, PrivateMultiplicativeWeights) or mechanism.alpha > 0.25:
        expected = "a PrivateMultiplicativeWeights with alpha at most 0.25"
        raise bad_parameter("mechanism", owner, expected, mechanism)
    values = grid.index(estimator)
    if values.shape != (mechanism.universe_size,):
        expected = f"an array of {mechanism.universe_size} numbers"
        raise bad_parameter("estimator", owner, expected, describe(estimator))
    sample = values[_validation.check_indices(records, mechanism.universe_size, owner)]
    if sample.size != mechanism.n_records:
        raise bad_parameter("records", owner, f"of length {mechanism.n_records}", describe(sample))
    events: list[Event | None] = []

    def share(point: int, side: str) -> float:
        counts = np.less_equal if side == "at most" else np.less
        release = mechanism.ask(counts(values, point), float(counts(sample, point).mean()), rng)
        events.append(release.event)
        return release.answer

    try:
        index = search_quantile(share, grid.size, level=0.5, tolerance=mechanism.alpha)
    except BudgetExhaustedError:
        # Corrections made on the way have happened, and their events must not be lost.
        if not events:
            raise
        return Release(None, composed(*events))
    return Release(grid.value(index), composed(*events))


@checked(n_questions="count", universe_size="integer >= 2", alpha="(0, 1)", epsilon="> 0", beta="(0, 1)")
def multiplicative_weights_sample_size(
    n_questions: int, *, universe_size: int, alpha: float, epsilon: float, beta: float
) -> int:
    """Return how many rows make all answers of the mechanism accurate.

    With so many they are within alpha, except with probability beta.

    It is enough that::

        n >= 4 / (alpha epsilon) (2 ln(3 (L + 1) / beta) + 4 ln(3 k / beta)),  L = floor(2 ln(N) / alpha^2)

    By the union bound over the noise of L + 1 thresholds, k comparisons and L answers (whose share is
    smaller than that of the thresholds), the noise is as small as the class's Notes suppose.

    Parameters
    ----------
    n_questions : int
        k.
    universe_size, alpha, epsilon
        As in `PrivateMultiplicativeWeights`.
    beta : float
        The failure probability, in (0, 1).

    Examples
    --------
    >>> multiplicative_weights_sample_size(2000, universe_size=4096, alpha=0.1, epsilon=1.0, beta=0.05)
    2793
    """
    thresholds = most_updates(universe_size, alpha) + 1
    noise = 2.0 * math.log(3.0 * thresholds / beta) + 4.0 * math.log(3.0 * n_questions / beta)
    return math.ceil(4.0 * noise / (alpha * epsilon))


def most_updates(universe_size: int, alpha: float) -> int:
    """Return how many corrections an accurate run can need: ``2 ln(N)/alpha^2``."""
    return math.floor(2.0 * math.log(universe_size) / alpha**2)
