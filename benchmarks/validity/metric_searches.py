"""Measure widths of searches in a row by every metric, over a single use of the same construction.

    python -m benchmarks.validity.metric_searches [--seeds 100] [--only AUC F1] [--others] [--rows 2000]

Twenty models of one population, each search's winner, are asked about on one holdout with the guess of three
times as many rows, through `Holdout`. The width is what is told *while searching*, or what is *published*
then; a single use is the interval of the same rows and the same construction at 95 %, neither tilted nor
rounded, an accuracy's that of Clopper and Pearson. The ledger is begun by the metric, with ``--others`` by an
accuracy.

A difference is that of the first model and another one. It is published as a model's value is, for which
`Holdout` has no method: what its users can do is to unseal it, at the level of its asking.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.searches import draw, published, single_use
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada.answer import Answer
from sklearn_ada.holdout.comparing import comparison
from sklearn_ada.holdout.framing import Ask, in_form, plan_question
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.metrics import Metric
from sklearn_ada.questions.question import Draw, Guess
from sklearn_ada.questions.windows import WindowQuestion
from sklearn_ada.terms.models import Subject

__all__ = ["AFTER", "KINDS", "MANY", "ROWS", "WHAT", "Kind", "many_asks", "of_runs", "summary", "widths"]

AFTER = (1, 9, 20)
MANY = (1, 9, 20, 100, 300)
WHAT = ("while searching", "published", "nats")
BETA = 0.05
ROWS, KNOWN = 2000, 3  # the guess has so many times the rows of the holdout
GROUP = 4  # rows
Numbers = NDArray[Any]


@dataclass(frozen=True)
class Kind:
    """What is asked of each model.

    Parameters
    ----------
    scoring : str
    numbers : bool
        Whether models predict numbers.
    compared : bool
        Whether each model is compared with the first.
    grouped : bool
        Whether rows come in groups that share a part of what is hard.
    """

    scoring: str
    numbers: bool = False
    compared: bool = False
    grouped: bool = False


KINDS = {
    "accuracy": Kind("accuracy"),
    "AUC": Kind("roc_auc"),
    "F1": Kind("f1"),
    "macro F1": Kind("f1_macro"),
    "log loss": Kind("neg_log_loss"),
    "Brier score": Kind("neg_brier_score"),
    "mean absolute error": Kind("neg_mean_absolute_error", numbers=True),
    "root mean squared error": Kind("neg_root_mean_squared_error", numbers=True),
    "R^2": Kind("r2", numbers=True),
    "accuracy, groups": Kind("accuracy", grouped=True),
    "difference of accuracies": Kind("accuracy", compared=True),
    "difference of absolute errors": Kind("neg_mean_absolute_error", numbers=True, compared=True),
}


class Listed:
    """A model that looks up what it says of a row by the row's number."""

    def __init__(self, said: Numbers, classes: Numbers | None = None) -> None:
        self.said_ = said
        if classes is not None:
            self.classes_ = classes

    def fit(self, X: Numbers, y: Any = None) -> Listed:
        """Return it as it is."""
        return self

    def predict(self, X: Numbers) -> Numbers:
        """Return numbers, or the likelier class."""
        said = self.said_[X[:, 0].astype(int)]
        return self.classes_[(said > 0.5).astype(int)] if hasattr(self, "classes_") else said

    def predict_proba(self, X: Numbers) -> Numbers:
        """Return the probability of each class."""
        said = self.said_[X[:, 0].astype(int)]
        return np.column_stack((1.0 - said, said))


def population(kind: Kind, rows: int, models: int, rng: np.random.Generator) -> tuple[Numbers, list[Listed]]:
    """Return the labels of rows and models that are about equally good, none of which knows all."""
    if kind.numbers:
        known = rng.standard_normal(rows)
        y = known + 0.5 * rng.standard_normal(rows) * (1.0 + 0.3 * np.abs(rng.standard_normal(rows)))
        return y, [Listed(known + 0.1 * rng.standard_normal(rows)) for _ in range(models)]
    logit = 1.8 * rng.standard_normal(rows)
    shared = np.repeat(rng.standard_normal(rows // GROUP + 1), GROUP)[:rows] if kind.grouped else 0.0
    y = (rng.random(rows) < _share(logit + shared)).astype(int)
    said = (_share(logit + 0.3 * rng.standard_normal(rows)) for _ in range(models))
    return y, [Listed(each, np.array([0, 1])) for each in said]


def _share(logit: Numbers) -> Numbers:
    return 1.0 / (1.0 + np.exp(-logit))


class Searches:
    """The winners of searches of one population, to be asked about on new ledgers.

    Parameters
    ----------
    kind : Kind
    n, seed : int
    others : bool, default=False
        Whether a ledger is begun by an accuracy, whatever is asked.
    """

    def __init__(self, kind: Kind, n: int, seed: int, *, others: bool = False) -> None:
        rows = (1 + KNOWN) * n
        self.kind, self.n, self.seed = kind, n, seed
        self.y, models = population(kind, rows, max(AFTER) + 1, np.random.default_rng([seed, n]))
        self.first, *self.winners = models
        self.X = np.arange(float(rows))[:, None]
        self.known = self.X[n:], self.y[n:]
        self.settings: dict[str, Any] = {"scoring": "accuracy" if others else kind.scoring}
        if kind.grouped:
            self.settings["groups"] = np.arange(n) // GROUP

    def begin(self) -> SimulatedHoldout:
        """Return a holdout with a ledger of its own."""
        X, y = self.X[: self.n], self.y[: self.n]
        return SimulatedHoldout(X, y, seed=self.seed, answers="coarse", **self.settings)

    def asked(self, holdout: SimulatedHoldout, winner: Listed, *, publish: bool = False) -> Ask:
        """Return the question about a winner."""
        session, metric = session_of(holdout), Metric(self.kind.scoring)
        if self.kind.compared:
            pair = Subject.of_pair(self.first, winner, session.data, session.policy)
            found = comparison(session, pair, session.metric(metric), None, self.known, True)
            return replace(found, publish=publish)
        subject = Subject.of(winner, session.data, session.policy, "Holdout.certify")
        return Ask(subject, metric, "certify", None, self.known, publish=publish)

    def answer(self, holdout: SimulatedHoldout, winner: Listed, *, publish: bool = False) -> Answer:
        """Ask about a winner, or publish it."""
        return holdout._ask(self.asked(holdout, winner, publish=publish))

    def alone(self, winner: Listed) -> float:
        """Return the half-width of a holdout that is used once, for this winner."""
        if self.kind == KINDS["accuracy"]:
            return single_use(int(np.sum(winner.predict(self.X[: self.n]) == self.y[: self.n])), self.n, BETA)
        holdout = self.begin()
        session, asked = session_of(holdout), self.asked(holdout, winner)
        question = in_form(session, asked, plan_question(session, asked))
        assert isinstance(question, WindowQuestion)
        seen = question.evaluate(asked.subject.estimator, session.data).seen
        ((low, high),) = question.whole.ends(seen, [math.log(BETA)], Draw(session.secret, "alone"), 1)
        return (high - low) / 2.0


def widths(
    kind: Kind, n: int, seed: int, *, others: bool = False, after: Sequence[int] = AFTER
) -> dict[str, list[float]]:
    """Return the widths over a single use after so many searches, and the nats paid by then."""
    searches = Searches(kind, n, seed, others=others)
    found: dict[str, list[float]] = {what: [] for what in WHAT}
    for number in after:
        holdout = searches.begin()
        for winner in searches.winners[:number]:
            told = searches.answer(holdout, winner)
        alone = searches.alone(winner)
        found["while searching"].append(told.half_width / alone)
        found["nats"].append(holdout.report().nats)
        published = searches.answer(holdout, winner, publish=True)
        assert published.verdict == "exact"
        found["published"].append(published.half_width / alone)
    return found


def many_asks(n: int, seed: int) -> list[float]:
    """Return the width over a single use of what is published after so many asks about accuracies."""
    guesses, counts = draw(n, seed, max(MANY))
    found = []
    for number in MANY:
        holdout = SimulatedHoldout.of_counts(n, seed=seed, answers="coarse")
        for guess, count in zip(guesses[:number], counts[:number], strict=True):
            holdout.ask_count(int(count), "certify", Guess(guess, float(KNOWN * n)))
        final = published(holdout, int(count))
        found.append(final.half_width / single_use(int(count), n, BETA))
    return found


def summary(runs: Sequence[dict[str, list[float]]]) -> dict[str, Any]:
    """Return median, mean and 90 % quantile of each width over all runs."""
    return {"runs": len(runs), **{what: of_runs([run[what] for run in runs]) for what in WHAT}}


def of_runs(values: Sequence[Sequence[float]]) -> dict[str, Numbers]:
    """Return median, mean and 90 % quantile of columns."""
    return {
        "median": np.median(values, axis=0),
        "mean": np.mean(values, axis=0),
        "9 of 10": np.quantile(values, 0.9, axis=0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--only", nargs="+", choices=tuple(KINDS), default=tuple(KINDS), metavar="METRIC")
    parser.add_argument("--others", action="store_true", help="on ledgers that an accuracy has begun")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    for name in options.only:
        runs = [
            widths(KINDS[name], options.rows, seed, others=options.others) for seed in range(options.seeds)
        ]
        found = summary(runs)
        print(f"{name}, n = {options.rows:,}, {len(runs)} seeds, after {AFTER}")
        for what in WHAT:
            cells = (f"{key} {np.round(values, 2).tolist()}" for key, values in found[what].items())
            print(f"  {what:16}", ", ".join(cells), flush=True)


if __name__ == "__main__":
    main()
