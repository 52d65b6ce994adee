"""A question that is asked again, beside one prediction of the holdout and one durable insert.

The model predicts once more, is compared with what is recorded, and the outcome is recorded: so a prediction
and an insert are the least that it can cost. What comes on top is the digest of the model, a copy of it, and
the summary of its outputs; each is reported apart.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from benchmarks.speed.bare_sqlite import BareLog
from benchmarks.speed.finding import Finding
from benchmarks.speed.timing import by_turns
from sklearn_ada import Holdout
from sklearn_ada.ledger import canonical_json
from sklearn_ada.terms.models import model_digest
from sklearn_ada.terms.outputs import OutputSummary

__all__ = ["measure"]

METHODS = {"accuracy": "predict", "neg_brier_score": "predict_proba"}
CASES = (
    ("logistic regression", 1_000, "accuracy", None),
    ("logistic regression", 100_000, "accuracy", None),
    ("logistic regression", 100_000, "neg_brier_score", None),
    ("a forest of 100 trees", 100_000, "accuracy", 1.1),
    ("a forest of 100 trees", 100_000, "neg_brier_score", 1.1),
)


def measure(folder: Path, seed: int, *, rounds: int, largest: int = 100_000) -> list[Finding]:
    """Return how much longer a repeat takes than its two necessary parts, for several models and sizes."""
    return [_measured(folder, seed, *case, rounds) for case in CASES if case[1] <= largest]


def _measured(
    folder: Path, seed: int, name: str, n_rows: int, scoring: str, at_most: float | None, rounds: int
) -> Finding:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows + 2_000, 20))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    kind = LogisticRegression() if name.startswith("logistic") else RandomForestClassifier(random_state=seed)
    model, rows = kind.fit(X[n_rows:], y[n_rows:]), X[:n_rows]
    place = f"repeats {name} {n_rows} {scoring}"
    holdout = Holdout(rows, y[:n_rows], ledger=folder / f"{place}.db", random_state=seed)
    guess = {"accuracy": 0.7, "neg_brier_score": -0.2}[scoring]

    def ask() -> Any:
        return holdout.certify(model, scoring=scoring, guess=guess)

    ask(), ask()
    *_, confirmation = holdout.ledger.records()
    log, text, numbers = (
        BareLog(folder / f"{place} bare.db"),
        canonical_json(confirmation.body),
        itertools.count(),
    )
    predict: Callable[[Any], Any] = getattr(model, METHODS[scoring])
    outputs = predict(rows)[..., -1] if scoring != "accuracy" else predict(rows)
    seconds = by_turns(
        {
            "repeat": ask,
            "prediction": lambda: predict(rows),
            "insert": lambda: log.commit(f"{next(numbers):064d}", text),
            "digest": lambda: model_digest(model),
            "copy": lambda: copy.deepcopy(model),
            "summary": lambda: OutputSummary.of(outputs).sealed(bytes(32)),
        },
        rounds,
    )
    each = {part: float(np.median(taken)) for part, taken in seconds.items()}
    pairs = zip(seconds["repeat"], seconds["prediction"], seconds["insert"], strict=True)
    ratio = float(np.median([whole / (one + other) for whole, one, other in pairs]))
    apart = ", ".join(f"{part} {1e3 * taken:.2f}" for part, taken in each.items())
    return Finding(
        f"a question asked again, {name}, {n_rows:,} rows, {scoring}: time over a prediction and an insert",
        ratio,
        f"{ratio:.2f} (milliseconds: {apart})",
        at_most=at_most,
        detail=each,
    )
