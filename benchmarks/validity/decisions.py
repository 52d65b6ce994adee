"""Decide again and again, which model to keep: loops of proposals on made data, searches on real sets.

*A loop*: an agent proposes changes of the model that is kept, one after the other: another family, other
columns, and half of the training rows, drawn anew. The *honest* one keeps what is better on validation rows,
three times as many as the holdout has; each proposal is asked about and compared with the kept one, both
coarsely, so a `Holdout` answers two questions for each; in the end the kept one is published. The *naive* one
keeps what is better on the holdout, and reports that score and that improvement. Truth is counted on 40,000
other rows, at the holdout's class mix.

*Searches*: twenty grids of nine families (`benchmarks.validity.families`) on a real set, one after the other
on one ledger; each winner is compared with the kept one. One arm keeps a winner that is better by
cross-validation, the other only if the whole interval of the difference is above 0. The second searches anew
what has won in the first alone, as its grids would end with the same winners.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from benchmarks.validity.families import TWENTY
from benchmarks.validity.real_sets import rows_of
from benchmarks.validity.searches import single_use
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import ReusableHoldoutCV
from sklearn_ada.answer import Answer

__all__ = ["ARMS", "KINDS", "KNOWN", "ROWS", "Loop", "searched"]

ROWS, KNOWN, TRAINED, TRUE = 2_000, 3, 2_000, 40_000
COLUMNS, TELLING = 40, 12
MOST = 2_400  # rows of a real set that are searched
ARMS = ("kept by validation", "kept by the gate")
KINDS = ("score", "difference")
_Z = 1.959964
_MODELS = (
    LogisticRegression(),
    LinearDiscriminantAnalysis(),
    GaussianNB(),
    DecisionTreeClassifier(max_depth=6, random_state=0),
)
Numbers = NDArray[Any]


@dataclass(frozen=True)
class Proposal:
    """What an agent proposes: a family, columns, and a seed that draws half of the training rows."""

    family: int
    columns: tuple[bool, ...]
    seed: int

    def changed(self, seed: int) -> Proposal:
        """Return a proposal like this one, with two columns more or fewer, and one time in four a family."""
        rng = np.random.default_rng([seed, 1])
        columns = np.array(self.columns)
        columns[rng.choice(COLUMNS, 2, replace=False)] ^= True
        family = int(rng.integers(len(_MODELS))) if rng.random() < 0.25 else self.family
        return Proposal(family, tuple(map(bool, columns)), seed) if columns.any() else self.changed(seed + 1)


class OnColumns(ClassifierMixin):
    """A model of some columns.

    Parameters
    ----------
    model : classifier
    columns : ndarray of bool
    """

    def __init__(self, model: Any, columns: Numbers) -> None:
        self.model, self.columns = model, columns

    def fit(self, X: Numbers, y: Numbers) -> OnColumns:
        """Fit a clone of the model on its columns."""
        self.model_ = clone(self.model).fit(X[:, self.columns], y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Numbers) -> Numbers:
        """Return the label of each row."""
        return self.model_.predict(X[:, self.columns])


class Seen(NamedTuple):
    """A model, the rows of the holdout on which it is right, and its true accuracy."""

    model: OnColumns
    right: Numbers
    truth: float


class Loop:
    """Proposals about made data, honestly and naively kept.

    Parameters
    ----------
    proposals : int
        How many are made.
    seed : int
    n : int, default=ROWS
        Rows of the holdout.
    true : int, default=TRUE
        Rows on which truth is counted.
    """

    def __init__(self, proposals: int, seed: int, n: int = ROWS, true: int = TRUE) -> None:
        self.proposals, self.seed, self.n = proposals, seed, n
        sizes = (TRAINED, n, KNOWN * n, true)
        X, y = make_classification(
            sum(sizes), COLUMNS, n_informative=2 * TELLING // 3, n_redundant=TELLING // 3,
            flip_y=0.1, class_sep=0.8, random_state=seed,
        )  # fmt: skip
        parts = zip(np.split(X, np.cumsum(sizes)[:-1]), np.split(y, np.cumsum(sizes)[:-1]), strict=True)
        self.trained, self.held, self.known, self.true = parts
        columns = np.random.default_rng([seed, 0]).random(COLUMNS) < 0.5
        self.first = Proposal(0, tuple(map(bool, columns)), self._number(0))

    def _number(self, turn: int) -> int:
        return 100_000 * self.seed + turn

    def fitted(self, proposal: Proposal) -> OnColumns:
        """Return the model of a proposal."""
        X, y = self.trained
        rows = np.random.default_rng(proposal.seed).choice(len(y), len(y) // 2, replace=False)
        model = OnColumns(_MODELS[proposal.family], np.array(proposal.columns))
        return model.fit(X[rows], y[rows])

    def right(self, model: OnColumns) -> Numbers:
        """Return on which rows of the holdout a model is right."""
        X, y = self.held
        return model.predict(X) == y

    def truth(self, model: OnColumns) -> float:
        """Return the accuracy of a model at the holdout's class mix."""
        X, y = self.true
        right, held = model.predict(X) == y, self.held[1]
        return float(sum(np.mean(held == label) * right[y == label].mean() for label in (0, 1)))

    def _seen(self, proposal: Proposal) -> Seen:
        model = self.fitted(proposal)
        return Seen(model, self.right(model), self.truth(model))

    def _kept(self, score: Any) -> list[tuple[Proposal, Proposal]]:
        """Return for each turn what was kept before it, and after it, by a score of models."""
        kept, best, turns = self.first, score(self.fitted(self.first)), []
        for turn in range(1, self.proposals + 1):
            new = kept.changed(self._number(turn))
            value = score(self.fitted(new))
            turns.append((kept, new))
            if value > best:
                kept, best = new, value
        return [*turns, (kept, kept)]

    @cached_property
    def _honest(self) -> list[tuple[Proposal, Proposal]]:
        X, y = self.known
        return self._kept(lambda model: np.mean(model.predict(X) == y))

    def naive(self, after: Sequence[int]) -> dict[str, Any]:
        """Return how much too good a score and an improvement are that are reported after so many turns.

        And which of their ordinary 95 % intervals miss, and the same of the steps in which a model was kept.
        """
        turns = self._kept(lambda model: float(np.mean(self.right(model))))
        kept = [before for before, _ in turns]
        seen = {each: self._seen(each) for each in dict.fromkeys(kept)}

        def improved(old: Proposal, new: Proposal) -> tuple[float, bool]:
            away = seen[new].right.astype(float) - seen[old].right
            off = float(away.mean()) - (seen[new].truth - seen[old].truth)
            return off, bool(abs(off) > _Z * away.std() / math.sqrt(self.n))

        def score(one: Proposal) -> tuple[float, bool]:
            off = float(seen[one].right.mean()) - seen[one].truth
            return off, bool(abs(off) > single_use(int(seen[one].right.sum()), self.n))

        ends = [kept[number] for number in after]
        steps = [improved(old, new) for old, new in pairwise(kept) if old != new]
        return {
            "score": [score(each) for each in ends],
            "improvement": [improved(self.first, each) for each in ends],
            "steps": steps,
            "truth": seen[kept[-1]].truth,
        }

    def ours(self, after: Sequence[int]) -> list[dict[str, Any]]:
        """Return costs, widths and misses after so many turns, and of what would be published then."""
        holdout = SimulatedHoldout(*self.held, seed=self.seed, answers="coarse", scoring="accuracy")
        how: dict[str, Any] = {"scoring": "accuracy", "guess_from": self.known}
        turns, kept, ends = Turns(), self.first, []
        old = new = self._seen(kept)
        for turn, (before, proposal) in enumerate(self._honest):
            if before != kept:
                kept, old = before, new
            if turn in after:
                nats, ending = holdout.report().nats, holdout.copied()
                final = ending.publish(old.model, **how)
                ends.append({
                    **turns.summary(),
                    "missed": turns.missed + _misses(final, old.truth),
                    "nats": nats,
                    "published": final.half_width / single_use(int(old.right.sum()), self.n),
                    "value": float(final.value),
                    "optimism": float(final.value) - old.truth,
                    "publishing": ending.report().nats - nats,
                    "truth": old.truth,
                })  # fmt: skip
            if turn == self.proposals:
                break
            new = self._seen(proposal)
            score = holdout.certify(new.model, **how)
            difference = holdout.compare(old.model, new.model, **how)
            turns.add(score, difference, new.right, old.right)
            turns.missed += _misses(score, new.truth) + _misses(difference, new.truth - old.truth)
        return ends


def _misses(answer: Answer, truth: float) -> bool:
    low, high = answer.interval
    return not low <= truth <= high


class Turns:
    """Costs and widths of scores and differences, turn by turn, over normal intervals that are used once."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {kind: [] for kind in KINDS}
        self.over: dict[str, list[float]] = {kind: [] for kind in KINDS}
        self.missed = 0

    def add(self, score: Answer, difference: Answer | None, right: Numbers, before: Numbers) -> None:
        """Note what was answered of a model that is right on these rows, and of the one before it."""
        asked = [("score", score, right), ("difference", difference, right.astype(float) - before)]
        for kind, answer, values in asked:
            if answer is not None:
                single = _Z * float(np.std(values)) / math.sqrt(len(values))
                self.answers[kind].append(answer)
                self.over[kind].append(answer.half_width / single if single else math.nan)

    def summary(self) -> dict[str, Any]:
        """Return what was paid, and how wide the answers were."""
        found: dict[str, Any] = {
            "nats of foreseen": [
                each.cost.nats for each in self.answers["difference"] if each.verdict == "agrees"
            ]
        }
        for kind, answers in self.answers.items():
            found[f"nats of {kind}s"] = [each.cost.nats for each in answers]
            found[f"half-width of {kind}"] = float(np.median([each.half_width for each in answers]))
            found[f"last {kind}"], found[kind] = self.over[kind][-1], float(np.nanmedian(self.over[kind]))
        return found


def searched(name: str, seed: int, families: Sequence[Any] = TWENTY) -> dict[str, dict[str, Any]]:
    """Return for either arm what twenty searches of a real set cost, and how wide their answers were."""
    X, y, _ = rows_of(name)
    order = np.random.default_rng(seed).permutation(len(y))[:MOST]
    X, y = X[order], y[order]
    found, grids = {}, list(families)
    for arm in ARMS:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the rows are asked about on two ledgers, on purpose
            found[arm], grids = _arm(arm == ARMS[1], grids, X, y, f"{folder}/ledger.db", seed)
    return found


def _arm(
    by_gate: bool, grids: Sequence[Any], X: Numbers, y: Numbers, ledger: str, seed: int
) -> tuple[dict[str, Any], list[Any]]:
    """Return what came of one arm, and grids of the winners alone."""
    found, winners, kept, kept_count = Turns(), [], None, 0
    for grid in grids:
        search = ReusableHoldoutCV(
            clone(grid), scoring="accuracy", ledger=ledger, compare_with="kept", random_state=seed
        ).fit(X, y)
        held = np.delete(np.arange(len(y)), search.train_indices_)
        right = search.best_estimator_.predict(X[held]) == y[held]
        winners.append(_alone(grid, search.search_.best_params_))
        if kept is None:
            found.add(search.best_answer_, None, right, right)
            better = True
        else:
            before = kept.best_estimator_.predict(X[held]) == y[held]
            found.add(search.best_answer_, search.comparison_, right, before)
            better = search.best_score_ > kept.best_score_
            if by_gate:
                better = search.comparison_.is_above(0.0)
        if better:
            kept, kept_count = search, kept_count + 1
            search.keep()
    assert kept is not None
    nats = kept.holdout_.report().nats
    cross_validated, final = float(kept.best_score_), kept.publish()
    count = int(np.sum(kept.best_estimator_.predict(X[held]) == y[held]))
    summary = {
        **found.summary(),
        "rows": len(held),
        "kept": kept_count,
        "better": sum(each.is_above(0.0) for each in found.answers["difference"]),
        "nats": nats,
        "cross-validated": cross_validated,
        "published": final.half_width / single_use(count, len(held)),
        "value": float(final.value),
    }
    return summary, winners


def _alone(grid: GridSearchCV, params: dict[str, Any]) -> GridSearchCV:
    """Return the grid of one setting."""
    return clone(grid).set_params(param_grid={name: [value] for name, value in params.items()})
