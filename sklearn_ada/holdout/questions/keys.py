"""The identity of a question: what must agree for a recorded answer to be given again, free.

It never touches the holdout, or it would be an oracle of membership. A false match would lie, a missing one
only costs, so a model that cannot be read gets a nonce.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from typing import Any

import numpy
import scipy
import sklearn

from sklearn_ada.digest.canonical import Undigestible, canonical_digest
from sklearn_ada.metrics import Metric

__all__ = ["member_key", "metric_identity", "model_digest", "question_key", "selection_key", "subject_key"]

_VERSIONS = {m.__name__: m.__version__ for m in (numpy, scipy, sklearn)}


def model_digest(estimator: Any) -> str:
    """Return a digest of a fitted model's state, or a nonce if it cannot be read.

    Take it before the model predicts anything: some models change when they do.
    """
    try:
        return canonical_digest(estimator)
    except Undigestible:
        return f"nonce {uuid.uuid4().hex}"


def subject_key(model: str, metric: Metric, mechanism: str, top_ups: int = 0) -> str:
    """Return what one question is about: a model, a metric and a mechanism, whatever the guess.

    Once rows were added to the holdout, it is about other rows.
    """
    return _digest({"model": model, "top_ups": top_ups, "mechanism": mechanism, **metric_identity(metric)})


def metric_identity(metric: Metric) -> dict[str, Any]:
    """Return what tells one metric from another of its name, ready for JSON: its function's digest."""
    try:
        scoring = metric.scoring if isinstance(metric.scoring, str) else canonical_digest(metric.scoring)
    except Undigestible:
        scoring = f"nonce {uuid.uuid4().hex}"
    return {"metric": metric.describe(), "scoring": scoring}


def member_key(model: str, metric: Metric) -> str:
    """Return what a declared model is known by: its state and the metric."""
    return subject_key(model, metric, "declared", 0)


def question_key(
    subject: str, purpose: str, guess: dict[str, Any], outputs: str, plan: dict[str, Any]
) -> str:
    """Return the identity of a question: its subject, guess, outputs on the guess rows, and versions."""
    return _digest(
        {
            "subject": subject,
            "purpose": purpose,
            "guess": guess,
            "outputs": outputs,
            "plan": plan,
            "versions": _VERSIONS,
        }
    )


def selection_key(metric: Metric, models: Sequence[str], epsilon: float | str | None, top_ups: int) -> str:
    """Return the identity of a selection: the models in their order, the metric and epsilon."""
    subject = subject_key(" ".join(models), metric, "selection", top_ups)
    return "selection " + _digest({"subject": subject, "epsilon": epsilon, "versions": _VERSIONS})


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
