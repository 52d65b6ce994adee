"""Print how often an analyst breaks windows who learns from them on which side of chance models are.

    python -m benchmarks.validity.window_conversations [--conversations 1000] [--only AUC]

No feature has anything to do with y. The analyst asks about one after the other, with a guess that is off by
as much as makes the announced window hold half of the time; and asks about their vote, to the side that each
was on, and publishes it; then everything is unsealed. With --unseals one value in four is unsealed at once.
So he goes on with the area under the curve, F1, the absolute error, R^2 and a difference of accuracies. A
conversation is missed if anything that was shown, unsealed or published does not contain the truth. The naive
analyst does the same with the values themselves, and has the bootstrap's interval.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess
from sklearn_ada.answer import Answer

__all__ = ["KINDS", "Kind", "conversation", "missed_by_naive"]

BETA = 0.36
ROWS, FEATURES = 150, 21
_KNOWN = 450  # rows that a guess is worth


class Vote:
    """Says 1, or half of 1, where most of some features do, each to its side."""

    def __init__(self, signs: NDArray[np.float64], scale: float = 0.0) -> None:
        self.signs_, self.scale_ = signs, scale
        if not scale:
            self.classes_ = np.array([0, 1])

    def fit(self, X: NDArray[Any], y: Any = None) -> Vote:
        """Return it as it is."""
        return self

    def decision_function(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return how many more features are for 1."""
        return X @ self.signs_

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return labels, or numbers."""
        is_for = X @ self.signs_ > 0.0
        return self.scale_ * (2.0 * is_for - 1.0) if self.scale_ else is_for.astype(int)


@dataclass(frozen=True)
class Kind:
    """What is asked.

    Parameters
    ----------
    scoring : str
    truth : callable
        From the labels of the holdout to the value of every model in the population.
    value : callable
        From labels and a model's outputs on the rows to the value.
    numbers : bool
        Whether y holds numbers.
    compared : bool
        Whether each model is compared with one that says the opposite of the first feature.
    """

    scoring: str
    truth: Callable[[NDArray[Any]], float]
    value: Callable[[NDArray[Any], NDArray[Any]], float]
    numbers: bool = False
    compared: bool = False

    def model(self, signs: NDArray[np.float64]) -> Vote:
        """Return the vote of some features."""
        return Vote(signs, 0.5 if self.numbers else 0.0)

    def ask(self, holdout: SimulatedHoldout, model: Vote, guess: float) -> Answer:
        """Return what is told of a model."""
        guessed = self.guessed(model, guess)
        if self.compared:
            return holdout.compare(_other(), model, scoring=self.scoring, **guessed)
        return holdout.certify(model, scoring=self.scoring, **guessed)

    def publish(self, holdout: SimulatedHoldout, model: Vote, guess: float) -> Answer:
        """Return what is published of a model; a difference is asked anew and not published."""
        if self.compared:
            return self.ask(holdout, model, guess)
        return holdout.publish(model, scoring=self.scoring, **self.guessed(model, guess))

    def guessed(self, model: Vote, guess: float) -> dict[str, Any]:
        """Return a guess; of numbers and of differences, rows on which the models have it."""
        if not self.numbers and not self.compared:
            share = 0.75 if self.scoring == "f1" else None
            return {"guess": Guess(guess, _KNOWN, share=share)}
        X = _features(_KNOWN, np.random.default_rng(1))
        said, other, y = model.predict(X), _other().predict(X), np.sign(model.predict(X))
        if self.numbers:
            y[: round(_KNOWN * _share_wrong(self.scoring, guess))] *= -1.0
            return {"guess_from": (X, y)}
        differ = np.flatnonzero(said != other)
        worse = round((len(differ) - guess * _KNOWN) / 2.0)
        y[differ[: min(max(worse, 0), len(differ))]] ^= 1
        return {"guess_from": (X, y)}


def _share_wrong(scoring: str, guess: float) -> float:
    error = (1.0 - guess - 0.25) / 2.0 if scoring == "r2" else -guess - 0.5
    return min(max(error, 0.05), 0.95)


def _other() -> Vote:
    return Vote(-np.eye(FEATURES)[0])


def _area(y: NDArray[Any], outputs: NDArray[Any]) -> float:
    ranks = stats.rankdata(outputs)
    n = int(y.sum())
    return float((ranks[y == 1].sum() - n * (n + 1) / 2) / (n * (len(y) - n)))


def _f1(y: NDArray[Any], said: NDArray[Any]) -> float:
    return float(2 * (y & said).sum() / (y.sum() + said.sum()))


KINDS = {
    "AUC": Kind("roc_auc", lambda y: 0.5, _area),
    "F1": Kind("f1", lambda y: y.mean() / (y.mean() + 0.5), _f1),
    "MAE": Kind(
        "neg_mean_absolute_error", lambda y: -1.0, lambda y, said: -float(abs(y - said).mean()), numbers=True
    ),
    "R2": Kind(
        "r2", lambda y: -0.25, lambda y, said: 1.0 - float(((y - said) ** 2).mean() / y.var()), numbers=True
    ),
    "difference": Kind("accuracy", lambda y: 0.0, lambda y, said: float((y == said).mean()), compared=True),
}


def _features(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return numbers near 1 and -1, all different, so that no rows are copies."""
    return np.sign(rng.normal(size=(n, FEATURES))) * rng.uniform(0.95, 1.05, (n, FEATURES))


def _draw(kind: Kind, seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return rows; the classes are half of each, the mix of which certificates speak."""
    rng = np.random.default_rng([41, seed])
    X = _features(ROWS, rng)
    return X, rng.choice([-1.0, 1.0], ROWS) if kind.numbers else rng.permutation(np.arange(ROWS) % 2)


def conversation(kind: Kind, seed: int, *, unseals: bool = False) -> dict[str, bool]:
    """Return which of what was told, published and unsealed missed the truth, and whether any did.

    Parameters
    ----------
    kind : Kind
    seed : int
    unseals : bool, default=False
        Whether every fourth value is unsealed at once, and tells on which side it is.
    """
    X, y = _draw(kind, seed)
    settings = {"answers": "coarse", "confidence_level": 1.0 - BETA, "scoring": kind.scoring}
    holdout = SimulatedHoldout(X, y, seed=seed, **settings)
    truth, signs, off = kind.truth(y), np.zeros(FEATURES), 0.0
    told: list[Answer] = []
    unsealed: list[Answer] = []
    for number in range(FEATURES):
        told.append(kind.ask(holdout, kind.model(np.eye(FEATURES)[number]), truth + off))
        agrees = told[-1].verdict == "agrees"
        signs[number] = 1.0 if agrees else -1.0
        record = holdout.ledger.record(told[-1].index)
        assert record is not None
        fixed = record.body["mechanism"]
        # So that it is at an edge, and one answer is as likely as the other.
        off = fixed["tau"] * (off / fixed["tau"] + 0.5 * signs[number] if off else fixed["half"])
        if unseals and number % 4 == 0:
            unsealed += holdout.unseal_quietly(told[-1:])
            signs[number] = np.sign(unsealed[-1].value - truth) or 1.0
    vote = kind.model(signs)
    told += [kind.ask(holdout, vote, guess) for guess in (truth + off, truth)]
    published = [kind.publish(holdout, vote, truth)]
    holdout.close()
    unsealed += holdout.unseal_quietly(told[:-1])
    found = {"told": told, "unsealed": unsealed, "published": published}
    missed = {name: any(_misses(answer.interval, truth) for answer in each) for name, each in found.items()}
    return missed | {"any": any(missed.values())}


def _misses(interval: tuple[float, float], truth: float) -> bool:
    low, high = interval
    return not low - 1e-9 <= truth <= high + 1e-9


def missed_by_naive(kind: Kind, seed: int) -> bool:
    """Return whether the bootstrap's interval of the vote misses, by the values themselves."""
    X, y = _draw(kind, seed)
    other = _other().predict(X)

    def value(signs: NDArray[np.float64], rows: NDArray[Any] | slice = slice(None)) -> float:
        model = kind.model(signs)
        outputs = model.decision_function(X) if kind.scoring == "roc_auc" else model.predict(X)
        return kind.value(y[rows], outputs[rows]) - (kind.value(y[rows], other[rows]) * kind.compared)

    truth = kind.truth(y)
    signs = np.sign([value(one) - truth for one in np.eye(FEATURES)])
    signs[signs == 0.0] = 1.0
    rng = np.random.default_rng([42, seed])
    deviation = float(np.std([value(signs, rng.integers(0, ROWS, ROWS)) for _ in range(40)]))
    reach = float(stats.norm.isf(BETA / 2.0)) * deviation
    return _misses((value(signs) - reach, value(signs) + reach), truth)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--unseals", action="store_true")
    parser.add_argument("--only", choices=KINDS, action="append")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"misses of {given.conversations} conversations of {FEATURES} features, {ROWS} rows, beta {BETA}")
    print(f"{'':12}{'told':>8}{'unsealed':>10}{'published':>11}{'any':>6}{'naive':>7}{'p':>9}{'seconds':>9}")
    for name in given.only or KINDS:
        begun, seeds = time.perf_counter(), range(given.conversations)
        found = [conversation(KINDS[name], seed, unseals=given.unseals) for seed in seeds]
        counts = {key: sum(each[key] for each in found) for key in found[0]}
        naive = sum(missed_by_naive(KINDS[name], seed) for seed in seeds)
        p = stats.binomtest(counts["any"], len(found), BETA, alternative="greater").pvalue
        seconds = time.perf_counter() - begun
        print(
            f"{name:12}{counts['told']:8}{counts['unsealed']:10}{counts['published']:11}{counts['any']:6}"
            f"{naive:7}{p:9.2g}{seconds:9.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
