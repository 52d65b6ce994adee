"""A conversation of twenty searches in a row on one holdout of a set, by the naive analyst and by ours.

See `benchmarks.validity.figures.real_searches` for what they do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.real_sets import FAMILIES, PREPARATIONS, SETTINGS, WORST_ERROR, Candidates
from benchmarks.validity.searches import AFTER
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess, Metric
from sklearn_ada.answer import Answer
from sklearn_ada.guarantees import chernoff_kl, clopper_pearson

__all__ = ["BETA", "KINDS", "SCHEMES", "SEARCHES", "SEED", "TRIALS", "Conversation", "optuna_version"]

SEED = 22
SEARCHES, TRIALS, BETA = 20, 5, 0.05
METHODS = ("grid", "random", "Optuna")
KINDS = ("searching", "at the end", "unsealed")
SCHEMES = ("told", "published", "unsealed", "splitting")


class Stored:
    """A model of which all predictions are known; a row is its number in the population."""

    def __init__(self, said: NDArray[Any], classes: NDArray[Any]) -> None:
        self.said = said
        self.classes_ = classes

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return what it says of these rows."""
        return self.said[X[:, 0]]

    def decision_function(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the same as scores."""
        return self.said[X[:, 0]]


def optuna_version() -> str | None:
    """Return the version of Optuna, or None where it is not installed."""
    try:
        import optuna
    except ImportError:
        return None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return str(optuna.__version__)


def best_of(method: str, scores: NDArray[np.float64], seed: int) -> int:
    """Return the number of the best setting that a search by this method looks at."""
    if method == "grid":
        return int(scores.argmax())
    if method == "random" or optuna_version() is None:
        seen = np.random.default_rng(seed).choice(SETTINGS, TRIALS, replace=False)
        return int(seen[scores[seen].argmax()])
    import optuna

    def objective(trial: Any) -> float:
        return float(scores[2 * trial.suggest_int("parameter", 0, 3) + trial.suggest_int("share", 0, 1)])

    sampler = optuna.samplers.TPESampler(n_startup_trials=2, seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(objective, TRIALS)
    return 2 * study.best_params["parameter"] + study.best_params["share"]


Scoring = Callable[[list[int]], NDArray[np.float64]]


def search_all(score: Scoring, ask: Callable[[int, float], float], seed: int) -> None:
    """Search 20 times; ``ask(candidate, its score)`` returns what is said of a winner, by which we go on."""
    order, said = list(range(FAMILIES)), np.full(FAMILIES, -np.inf)
    for number in range(SEARCHES):
        preparation, place = divmod(number, FAMILIES)
        if place == 0:
            order = np.argsort(-said, kind="stable").tolist()
        first = SETTINGS * (PREPARATIONS * order[place] + preparation)
        scores = score(list(range(first, first + SETTINGS)))
        best = best_of(METHODS[number % len(METHODS)], scores, 100 * seed + number)
        said[order[place]] = max(said[order[place]], ask(first + best, float(scores[best])))


def interval(metric: str, value: float, size: float, ln_beta: float) -> tuple[float, float]:
    """Return the interval of a holdout that is used once."""
    if metric == "accuracy":
        count = round(value * size)
        return clopper_pearson(count, count, int(size), ln_beta)
    bounds = (0.0, 1.0) if metric == "roc_auc" else (-WORST_ERROR, 0.0)
    return chernoff_kl(value, value, size, ln_beta, bounds)


def half_width(metric: str, value: float, size: float, beta: float = BETA) -> float:
    """Return its half-width, or where there are no rows half of the range."""
    if size < 1:
        return 0.5 * (WORST_ERROR if metric == "neg_mean_absolute_error" else 1.0)
    low, high = interval(metric, value, size, math.log(beta))
    return (high - low) / 2.0


class Conversation:
    """One holdout of a set, with the naive analyst and ours."""

    def __init__(self, candidates: Candidates, n: int, y: NDArray[Any], seed: int) -> None:
        self.candidates, self.metric, self.y = candidates, candidates.metric, y
        self.classes = np.unique(y)
        rng = np.random.default_rng([SEED, seed])
        self.held, self.known = rng.integers(0, len(y), n), rng.integers(0, len(y), 3 * n)
        self.seed = seed
        self.size = n if self.metric != "roc_auc" else int(min(np.bincount(y[self.held])))

    def on(self, rows: NDArray[Any]) -> Scoring:
        """Return how candidates are scored on some rows."""
        return lambda which: self.candidates.scores(which, rows, self.y[rows])

    def truth(self, candidate: int) -> float:
        """Return a candidate's score in the population."""
        return float(self.candidates.scores([candidate], None, self.y)[0])

    def target(self, candidate: int) -> float:
        """Return what intervals speak of: an accuracy at the holdout's class mix, else the truth."""
        if self.metric == "accuracy":
            return self.candidates.at_class_mix(candidate, self.y, self.y[self.held])
        return self.truth(candidate)

    def begin(self) -> SimulatedHoldout:
        """Return a holdout that nobody has asked yet."""
        y = self.y[self.held]
        return SimulatedHoldout(
            self.held[:, None], y, seed=self.seed, answers="coarse", confidence_level=1.0 - BETA
        )

    def model(self, candidate: int) -> Stored:
        """Return a candidate as it is asked."""
        return Stored(self.candidates.said[candidate], self.classes)

    def ask(self, holdout: SimulatedHoldout, candidate: int, guess: float) -> Answer:
        """Ask about the winner of a search."""
        question = holdout.certify if self.metric == "accuracy" else holdout.check
        return question(
            self.model(candidate), scoring=_metric(self.metric), guess=Guess(guess, float(len(self.known)))
        )

    def end(
        self, holdout: SimulatedHoldout, winners: list[tuple[int, float]], told: list[Answer]
    ) -> tuple[int, Answer, list[Answer]]:
        """Publish the winner of the best answer, close, and unseal: which one, its value, all values."""
        best = max(range(len(winners)), key=lambda i: (told[i].value, winners[i][1]))
        candidate, guess = winners[best]
        final = holdout.publish(
            self.model(candidate), scoring=_metric(self.metric),
            guess=Guess(guess, float(len(self.known))),
        )  # fmt: skip
        holdout.close()
        return candidate, final, holdout.unseal_quietly() if self.metric == "accuracy" else []

    def naive(self) -> dict[str, Any]:
        """Return how optimistic the naive best is after so many searches, and the error of a fresh score."""
        best, found = (-1, -np.inf), []

        def ask(candidate: int, value: float) -> float:
            nonlocal best
            best = max(best, (candidate, value), key=lambda pair: pair[1])
            found.append(best)
            return value

        search_all(self.on(self.held), ask, self.seed)
        kept = best[0]
        fresh = np.random.default_rng([SEED, 2, self.seed]).integers(0, len(self.y), len(self.held))
        return {
            "naive": [found[after - 1][1] - self.truth(found[after - 1][0]) for after in AFTER],
            "naive true": self.truth(kept),
            "fresh": float(self.on(fresh)([kept])[0]) - self.truth(kept),
        }

    def ours(self) -> dict[str, Any]:
        """Return which intervals held, and their widths over a single use."""
        holdout, winners, told = self.begin(), [], []

        def ask(candidate: int, guess: float) -> float:
            winners.append((candidate, guess))
            told.append(self.ask(holdout, candidate, guess))
            return told[-1].value

        search_all(self.on(self.known), ask, self.seed)
        targets = [self.target(candidate) for candidate, _ in winners]
        kept, final, exact = self.end(holdout, winners, told)
        held = {
            "searching": _all_hold(told, targets),
            "at the end": _all_hold([final], [self.target(kept)]),
            "unsealed": not exact or _all_hold(exact, [targets[i] for i in _new(told)]),
        }
        return {
            **held,
            "all": all(held.values()),
            "ours": final.value - self.truth(kept),
            "ours true": self.truth(kept),
            "surprises": sum(answer.verdict != "agrees" for answer in told),
            "widths": [self.widths(winners[:after]) for after in AFTER],
        }

    def widths(self, winners: list[tuple[int, float]]) -> list[float]:
        """Return the half-widths over a single use of all schemes, had the searches ended here."""
        holdout = self.begin()
        told = [self.ask(holdout, candidate, guess) for candidate, guess in winners]
        values = self.on(self.held)([candidate for candidate, _ in winners])
        alone = [half_width(self.metric, value, self.size) for value in values]
        _, final, exact = self.end(holdout, winners, told)
        sealed = _new(told) if exact else []
        unsealed = [answer.half_width / alone[i] for answer, i in zip(exact, sealed, strict=True)]
        after = len(winners)
        part = half_width(self.metric, values[-1], self.size // after, BETA / after)
        published = final.half_width / half_width(self.metric, final.value, self.size)
        return [
            told[-1].half_width / alone[-1],
            published,
            float(np.median(unsealed)) if unsealed else math.nan,
            part / alone[-1],
        ]


def _metric(name: str) -> Metric:
    return Metric(name, range=(-WORST_ERROR, 0.0)) if name == "neg_mean_absolute_error" else Metric(name)


def _new(told: list[Answer]) -> list[int]:
    """Return which answers are no repetition: two candidates may say the same of every row."""
    return [number for number, answer in enumerate(told) if not answer.repeated]


def _all_hold(answers: list[Answer], targets: list[float]) -> bool:
    slack = 1e-9  # of rounding, in the truth
    return all(
        a.interval[0] - slack <= q <= a.interval[1] + slack for a, q in zip(answers, targets, strict=True)
    )
