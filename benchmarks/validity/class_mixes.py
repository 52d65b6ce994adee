"""Print what each metric is certified for at each class mix, and how wide its intervals are there.

``python -m benchmarks.validity.class_mixes`` asks a holdout for every metric at its own class mix, at a
declared one and with the class counts paid for, and prints of what population the answer speaks, or why there
is none. ``python -m benchmarks.validity.class_mixes widths`` prints the mean width of 20 first answers on
1,000 rows, of which a model gets nine tenths right, and what they cost. ``--write`` writes the tables of the
documentation, ``docs/class_mixes.csv`` and ``docs/class_mix_widths.csv``.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    make_scorer,
    recall_score,
)

from benchmarks.validity.table_widths import ReadsAColumn
from sklearn_ada import Holdout, Metric

__all__ = [
    "METRICS", "MIXES", "REFUSED", "SHARES", "TARGETS", "TARGET_COLUMNS", "TARGET_TABLE", "WIDTHS",
    "WIDTH_COLUMNS", "WIDTH_TABLE", "answered", "asked", "width_row", "word_of",
]  # fmt: skip

_DOCS = Path(__file__).parents[2] / "docs"
TARGET_TABLE, WIDTH_TABLE = _DOCS / "class_mixes.csv", _DOCS / "class_mix_widths.csv"
DECLARED = {2: {0: 0.9, 1: 0.1}, 3: {0: 0.7, 1: 0.2, 2: 0.1}}


def geometric_mean_score(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the geometric mean of the recalls, as imbalanced-learn's function of this name."""
    recalls = recall_score(y, predicted, average=None)
    return float(np.prod(recalls) ** (1.0 / len(recalls)))


geometric_mean_score.__module__ = "imblearn.metrics"  # which need not be installed

METRICS: dict[str, Any] = {
    "accuracy": "accuracy",
    "recall": "recall",
    "recall, one class against the rest": make_scorer(recall_score, labels=[0], average="macro"),
    "balanced accuracy": "balanced_accuracy",
    "balanced accuracy, adjusted": make_scorer(balanced_accuracy_score, adjusted=True),
    "geometric mean of recalls": make_scorer(geometric_mean_score),
    "likelihood ratios": Metric("positive_likelihood_ratio", range=(0, 100)),
    "F1": "f1",
    "F2": make_scorer(fbeta_score, beta=2),
    "precision": "precision",
    "Jaccard": "jaccard",
    "kappa": make_scorer(cohen_kappa_score),
    "MCC": "matthews_corrcoef",
    "F1, one class against the rest": make_scorer(f1_score, labels=[0], average="macro"),
    "F1, macro": "f1_macro",
    "precision, weighted": "precision_weighted",
    "AUC": "roc_auc",
    "AUC, one class against one": "roc_auc_ovo",
    "AUC, one class against the rest": "roc_auc_ovr",
    "average precision": "average_precision",
    "log loss": Metric("neg_log_loss", range=(-5, 0)),
    "D2 of log loss": "d2_log_loss_score",
    "kappa with weights": make_scorer(cohen_kappa_score, weights="linear"),
    "accuracy, two models compared": "accuracy",
    "log loss, two models compared": Metric("neg_log_loss", range=(-5, 0)),
    "F1, two models compared": "f1",
}
MIXES = ("own class mix", "declared", "priced")
TARGETS = {
    "at the holdout's class mix": "own mix",
    "at the declared class mix": "declared mix",
    "at any class mix": "any mix",
    "median of": "median",
    "population": "population",
}
"""The words for what a target says, the first that is in it."""
REFUSED = {
    "a metric of two classes": "refused: two classes only",
    "the AUC needs two classes": "refused: two classes only",
    "For others use class_mix='conditional'": "refused: own mix only",
    "at known class counts": "refused: own mix, or a median",
    "ask about each model": "refused: ask about each model",
}
"""The words for why there is no answer, by what the error says."""

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]


class ReadsAnother(ReadsAColumn):
    """A model that is wrong where the second column is small."""

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the first column, or the first class."""
        return np.where(np.asarray(X)[:, 1] < 0.1, 0, super().predict(X))


class Certain(ReadsAColumn):
    """A model with probabilities."""

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return four fifths for what is predicted."""
        is_likely = self.predict(X)[:, None] == self.classes_
        return np.where(is_likely, 0.8, 0.2 / (len(self.classes_) - 1))


class CertainOfAnother(Certain, ReadsAnother):
    """Another model with probabilities."""


def drawn(seed: int, positives: float | None, classes: int = 2, n: int = 1000) -> Rows:
    """Return rows of which a model gets nine tenths right; as many of each class, if no share is given."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes if positives is None else (np.arange(n) < positives * n).astype(int)
    other = (y + rng.integers(1, classes, n)) % classes
    return np.column_stack((np.where(rng.random(n) < 0.9, y, other), rng.random(n))), y


def asked(name: str, classes: int, mix: str, folder: Path) -> tuple[str, str, float]:
    """Return the target of an answer, or the error that there is instead, and the nats that it cost."""
    X, y = drawn(0, None, classes, n=150)
    class_mix: Any = {"own class mix": "conditional", "declared": DECLARED[classes]}.get(mix, mix)
    path = folder / f"{name} {classes} {mix}.db"
    models: list[Any] = [each().fit(X, y) for each in (CertainOfAnother, Certain)]
    target = error = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of holdouts with the same rows, and of medians
        holdout = Holdout(X, y, class_mix=class_mix, ledger=path, answers="exact", random_state=0)
        spent, ask = holdout.report().nats, holdout.compare
        if not name.endswith("compared"):
            models, ask = models[1:], holdout.certify
        try:
            answer = ask(*models, scoring=METRICS[name], guess_from=drawn(1, None, classes, n=150))
            assert answer.certificate is not None
            target = answer.certificate.target
        except ValueError as refusal:
            error = str(refusal)
    return target, error, holdout.report().nats - spent


def word_of(target: str, error: str) -> str:
    """Return the word for a target or an error."""
    words, text = (TARGETS, target) if target else (REFUSED, error)
    found = [word for part, word in words.items() if part in text]
    if not found:
        raise ValueError(f"There is no word for {text!r}.")
    return found[0]


def target_rows(folder: Path) -> Iterator[list[str]]:
    """Yield the rows of the table of targets; one for both numbers of classes where they are alike."""
    for name in METRICS:
        two, three = (
            [word_of(*asked(name, classes, mix, folder)[:2]) for mix in MIXES] for classes in (2, 3)
        )
        if two == three:
            yield [name, "any", *two]
        else:
            yield from ([name, "two", *two], [name, "more", *three])


WIDTHS = {"accuracy": "accuracy", "precision": "precision", "F1": "f1", "MCC": "matthews_corrcoef"}
"""The metrics of which widths are shown."""
SHARES = {"half": 0.5, "a tenth": 0.1}


def answered(scoring: str, share: float, class_mix: Any, samples: int) -> tuple[float, float]:
    """Return the mean width of a first answer, and the mean nats that it costs."""
    widths, nats = [], []
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # of holdouts with the same rows
        for number in range(samples):
            (X, y), guess_from = drawn(number, share), drawn(samples + number, share)
            model = ReadsAColumn().fit(X, y)
            path = Path(folder) / f"{number}.db"
            holdout = Holdout(X, y, class_mix=class_mix, ledger=path, answers="exact", random_state=number)
            before = holdout.report().nats
            answer = holdout.certify(model, scoring=scoring, guess_from=guess_from)
            widths.append(answer.interval[1] - answer.interval[0])
            nats.append(holdout.report().nats - before)
    return float(np.mean(widths)), float(np.mean(nats))


def width_row(metric: str, positives: str, samples: int = 20) -> list[str]:
    """Return a row of the table of widths."""
    share = SHARES[positives]
    mixes = "conditional", {0: 1.0 - share, 1: share}, {0: 0.99, 1: 0.01}, "priced"
    found = [answered(WIDTHS[metric], share, mix, samples) for mix in mixes]
    nats = [f"{found[0][1]:.1f}", f"{found[1][1]:.1f}", f"{found[3][1]:.1f}"]
    return [f"{metric}, {positives}", *(f"{width:.3f}" for width, _ in found), *nats]


TARGET_COLUMNS = ["metric", "classes", "own mix, the default", "declared", "priced"]
WIDTH_COLUMNS = [
    "metric, positives", "own mix", "the same, declared", "one in 100, declared", "priced",
    "nats: own mix", "declared", "priced",
]  # fmt: skip


def main() -> None:
    """Print a table, and write it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("table", nargs="?", default="targets", choices=("targets", "widths"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.table == "targets":
        path, table = TARGET_TABLE, [TARGET_COLUMNS]
        with tempfile.TemporaryDirectory() as folder:
            table.extend(target_rows(Path(folder)))
    else:
        path, table = WIDTH_TABLE, [WIDTH_COLUMNS]
        table.extend(width_row(metric, positives) for metric in WIDTHS for positives in SHARES)
    for row in table:
        print("".join(f"{cell:32}" for cell in row))
    if options.write:
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
