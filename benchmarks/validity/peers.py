"""Programs that do a part of the same job, each asked for accuracies on one holdout.

diffprivlib and OpenDP are the packages themselves, where they are installed (`NotInstalledError`). Of
Guess-and-Check, ThresholdoutAUC and ease.ml/ci no code is used: they are written down here, or in
`benchmarks.validity.guess_and_check`, from their articles.
"""

from __future__ import annotations

import importlib
import math
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from benchmarks.validity.guess_and_check import GuessAndCheck
from benchmarks.validity.search_conversations import Stored
from sklearn_ada import Guess, Holdout

__all__ = ["ASKERS", "KEEPERS", "WAYS", "NotInstalledError", "Told", "kept"]

BETA, EPSILON, TAU = 0.05, 2.0, 0.05
QUESTIONS = 3  # put in each way of sharing a budget
WAYS = ("directly", "clone", "pickle", "two workers")

Rows = NDArray[Any]
Ask = Callable[[Rows, float], "Told"]


class NotInstalledError(Exception):
    """A peer is not installed, or cannot be imported beside the other packages."""


class Told(NamedTuple):
    """An answer: a value or None, what it passes for (above one half), and its stated half-width or None."""

    value: float | None
    above: bool
    half_width: float | None


def imported(name: str) -> Any:
    """Return a peer's module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except Exception as error:  # diffprivlib raises what it likes where scikit-learn is too new
            raise NotInstalledError(f"{name}: {type(error).__name__}") from error


def plain(y: Rows, k: int, seed: int, folder: Path) -> Ask:
    """Ask the rows themselves."""

    def ask(said: Rows, guess: float) -> Told:
        value = float(np.mean(said == y))
        return Told(value, value > 0.5, None)

    return ask


def ours(y: Rows, k: int, seed: int, folder: Path) -> Ask:
    """Ask a `Holdout` whose ledger is a file, with guesses from three times as many rows."""
    holdout = Holdout(np.arange(len(y))[:, None], y, ledger=folder / f"{seed}.db", random_state=seed)

    def ask(said: Rows, guess: float) -> Told:
        model = Stored(said, np.arange(2))
        answer = holdout.check(model, scoring="accuracy", guess=Guess(guess, 3.0 * len(y)))
        return Told(answer.value, answer.value > 0.5, answer.half_width)

    return ask


def guess_and_check(y: Rows, k: int, seed: int, folder: Path) -> Ask:
    """Ask Guess-and-Check, its tau fixed."""
    mechanism = GuessAndCheck(len(y), TAU, BETA)

    def ask(said: Rows, guess: float) -> Told:
        value = mechanism.ask(guess, float(np.mean(said == y)))
        return Told(value, value is not None and value > 0.5, None if value is None else TAU)

    return ask


class CountedThresholdout:
    """ThresholdoutAUC's setting: a threshold of .02, normal noise of .03; hits are counted, not limited."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.hits = 0

    def ask(self, guess: float, value: float) -> float:
        """Return the guess, or the value with noise where they differ."""
        if abs(guess - value) <= 0.02 + self.rng.normal(0.0, 0.12):
            return guess
        self.hits += 1
        return float(value + self.rng.normal(0.0, 0.03))


def thresholdout(y: Rows, k: int, seed: int, folder: Path) -> Ask:
    """Ask Thresholdout in the setting of ThresholdoutAUC."""
    mechanism = CountedThresholdout(seed)

    def ask(said: Rows, guess: float) -> Told:
        value = mechanism.ask(guess, float(np.mean(said == y)))
        return Told(value, value > 0.5, None)

    return ask


def integration(y: Rows, k: int, seed: int, folder: Path) -> Ask:
    """Ask for verdicts as ease.ml/ci counts them: one bit each, ``2^k`` transcripts."""
    half_width = math.sqrt((k * math.log(2.0) - math.log(BETA / 2.0)) / (2.0 * len(y)))

    def ask(said: Rows, guess: float) -> Told:
        return Told(None, bool(np.mean(said == y) > 0.5), half_width)

    return ask


def diffprivlib(y: Rows, k: int, seed: int, folder: Path) -> Ask:
    """Ask for private means; the accountant has a budget of epsilon for all k."""
    package = imported("diffprivlib")
    accountant = package.BudgetAccountant(EPSILON * (1.0 + 1e-9))

    def ask(said: Rows, guess: float) -> Told:
        right = (said == y).astype(float)
        value = float(
            package.tools.mean(right, epsilon=EPSILON / k, bounds=(0.0, 1.0), accountant=accountant)
        )
        return Told(value, value > 0.5, None)

    return ask


def _opendp(n: int, epsilon: float) -> tuple[Any, Any, Any]:
    """Return OpenDP, its space of columns of n shares, and the measurement of a mean with Laplace noise."""
    dp = imported("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=n)
    space = domain, dp.symmetric_distance()
    return dp, space, space >> dp.t.then_mean() >> dp.m.then_laplace(scale=1.0 / (n * epsilon))


def opendp(y: Rows, k: int, seed: int, folder: Path) -> Ask:
    """Ask for private means, each with its part of epsilon.

    What is asked about differs from question to question, and a measurement composed by OpenDP takes all
    columns as one data set; so each answer is a release of its own, and the parts are added up here.
    """
    mean = _opendp(len(y), EPSILON / k)[2]

    def ask(said: Rows, guess: float) -> Told:
        value = float(mean((said == y).astype(float).tolist()))
        return Told(value, value > 0.5, None)

    return ask


ASKERS: dict[str, Callable[[Rows, int, int, Path], Ask]] = {
    "plain holdout": plain,
    "sklearn_ada, checks": ours,
    "Guess-and-Check": guess_and_check,
    "ThresholdoutAUC's setting": thresholdout,
    "ease.ml/ci's counting": integration,
    "diffprivlib": diffprivlib,
    "OpenDP": opendp,
}
"""How each is begun: of the labels, the number of questions, a seed and a folder."""


def kept(keeper: str, way: str, folder: Path) -> int | str:
    """Return how many of three questions the keeper of a budget knows of, or why they could not be put."""
    begin, put, count = KEEPERS[keeper]
    budget = begin(folder)
    try:
        if way == "two workers":
            Parallel(n_jobs=2)(delayed(_put)(keeper, budget, number) for number in range(QUESTIONS))
        else:
            for number in range(QUESTIONS):
                put(_copied(budget, way), number)
    except NotInstalledError:
        raise
    except Exception as error:
        return f"refused: {_innermost(error)}"
    return count(budget)


def _copied(budget: Any, way: str) -> Any:
    if way == "clone":
        return clone(budget, safe=False)  # as a search clones what it is given: a deep copy, unless told
    return pickle.loads(pickle.dumps(budget)) if way == "pickle" else budget


def _innermost(error: BaseException) -> str:
    while error.__cause__ is not None and str(error.__cause__).strip():
        error = error.__cause__
    lines = [line.strip("'\" ") for line in str(error).splitlines()]
    return next((line for line in reversed(lines) if line), type(error).__name__)[:70]


def _put(keeper: str, budget: Any, number: int) -> None:
    KEEPERS[keeper][1](budget, number)


def _begin_ours(folder: Path) -> Holdout:
    y = np.random.default_rng(0).integers(0, 2, 200)
    folder.mkdir(parents=True, exist_ok=True)
    return Holdout(np.arange(200)[:, None], y, ledger=folder / "kept.db", random_state=0)


def _put_ours(holdout: Holdout, number: int) -> None:
    said = np.random.default_rng(number + 1).integers(0, 2, 200)
    holdout.check(Stored(said, np.arange(2)), scoring="accuracy", guess=0.5)


def _begin_diffprivlib(folder: Path) -> Any:
    package, models = imported("diffprivlib"), imported("diffprivlib.models")
    return models.GaussianNB(epsilon=1.0, bounds=(0.0, 1.0), accountant=package.BudgetAccountant(10.0))


def _put_diffprivlib(model: Any, number: int) -> None:
    X = np.random.default_rng(number).random((300, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, (X[:, 0] > 0.5).astype(int))


class ComposedMeans:
    """OpenDP's adaptive composition of five means of one data set, with the measurement that it is asked."""

    def __init__(self) -> None:
        dp, space, self.mean = _opendp(200, 0.1)
        self.queryable = dp.c.make_adaptive_composition(
            input_domain=space[0], input_metric=space[1], output_measure=dp.max_divergence(), d_in=2,
            d_mids=[self.mean.map(2)] * 5,
        )([0.5] * 200)  # fmt: skip

    def left(self) -> int:
        """Return how many more it answers, by asking."""
        for number in range(6):
            try:
                self.queryable(self.mean)
            except Exception:
                return number
        raise AssertionError("it answers without end")


KEEPERS: dict[str, tuple[Callable[[Path], Any], Callable[[Any, int], Any], Callable[[Any], int]]] = {
    "sklearn_ada, the ledger": (
        _begin_ours, _put_ours, lambda holdout: sum(holdout.report().asked.values()),
    ),
    "Guess-and-Check": (
        lambda folder: GuessAndCheck(10_000, TAU), lambda budget, number: budget.ask(0.5, 0.5),
        lambda budget: budget.asked,
    ),
    "ThresholdoutAUC's setting": (
        lambda folder: CountedThresholdout(0), lambda budget, number: budget.ask(0.0, 1.0),
        lambda budget: budget.hits,
    ),
    "diffprivlib, BudgetAccountant": (
        _begin_diffprivlib, _put_diffprivlib, lambda model: len(model.accountant),
    ),
    "OpenDP, adaptive composition": (
        lambda folder: ComposedMeans(), lambda budget, number: budget.queryable(budget.mean),
        lambda budget: 5 - budget.left(),
    ),
}  # fmt: skip
"""How a budget is begun, how a question is put to it, and how many it has counted."""
