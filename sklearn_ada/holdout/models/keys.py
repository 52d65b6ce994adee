"""The identity of a question: what must agree for a recorded answer to be proposed again.

It is made without the holdout's rows: if it depended on them, whether there is a recorded answer would reveal
something about them. Two keys for one question only make it cost twice, so a model whose content cannot be
read gets a random key, a nonce. That two questions have one key cannot be excluded, as a model may depend on
what no digest sees: so a key only proposes, and what the model says on the holdout confirms it, at a price
(`asking.confirm`).
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Sequence
from typing import Any

import numpy
import scipy
import sklearn

from sklearn_ada.digest.canonical import Undigestible, canonical_digest
from sklearn_ada.metrics import Metric
from sklearn_ada.metrics.outputs.asking import Given

__all__ = [
    "member_key",
    "metric_identity",
    "model_digest",
    "question_key",
    "rounded",
    "selection_key",
    "subject_key",
    "version_key",
]

_FLOAT_IN_TEXT = re.compile(r"\d+\.\d+(e[+-]?\d+)?|\d+e[+-]?\d+")
_VERSIONS = {m.__name__: m.__version__ for m in (numpy, scipy, sklearn)}


def model_digest(estimator: Any) -> str:
    """Return a digest of a fitted model's state, or a nonce if it cannot be read.

    Take it before the model predicts anything: some models change when they do. Predictions that were given
    are their labels and nothing else, no code and no version of this package.
    """
    try:
        if isinstance(estimator, Given):
            return canonical_digest(("given", estimator.known_outputs))
        return canonical_digest(estimator)
    except Undigestible:
        return f"nonce {uuid.uuid4().hex}"


def subject_key(model: str, metric: Metric, mechanism: str, top_ups: int = 0) -> str:
    """Return a digest of what a question is about: model, metric, mechanism, but not the guess.

    ``top_ups`` counts how often rows were added to the holdout: afterwards the question is another one.
    """
    return _digest({"model": model, "top_ups": top_ups, "mechanism": mechanism, **metric_identity(metric)})


def metric_identity(metric: Metric) -> dict[str, Any]:
    """Return a metric's description with the digest of its function, ready for JSON.

    Two functions of the same name are two metrics.
    """
    try:
        scoring = metric.scoring if isinstance(metric.scoring, str) else canonical_digest(metric.scoring)
    except Undigestible:
        scoring = f"nonce {uuid.uuid4().hex}"
    return {"metric": metric.describe(), "scoring": scoring}


def member_key(model: str, metric: Metric) -> str:
    """Return the key of a declared model (`Holdout.declare`): a digest of its state and the metric."""
    return subject_key(model, metric, "declared", 0)


def question_key(
    subject: str, purpose: str, guess: dict[str, Any], outputs: str, plan: dict[str, Any]
) -> str:
    """Return the key of a question.

    It holds the subject, the purpose, the guess, the mechanism's plan and the versions of NumPy, SciPy and
    scikit-learn. ``outputs`` is a digest of the rows of the guess or, where only public rows can confirm that
    the model is the same, of the model's outputs on them.
    """
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


def rounded(part: Any, digits: int = 9) -> Any:
    """Return what is fixed of a question with all floats, also those in texts, to some digits.

    A guess is a mean of outputs, so its last bits differ from run to run if threads add in another order, and
    half of its digits do where a device computes in single precision.

    Examples
    --------
    >>> rounded({"centre": 0.1 + 0.2, "grid": "UniformGrid(0.30000000000000004, 1.0, 11)"})
    {'centre': 0.3, 'grid': 'UniformGrid(0.3, 1.0, 11)'}
    """
    if isinstance(part, dict):
        return {name: rounded(each, digits) for name, each in part.items()}
    if isinstance(part, str):
        return _FLOAT_IN_TEXT.sub(lambda found: repr(rounded(float(found.group()), digits)), part)
    return float(f"{part:.{digits}g}") if isinstance(part, float) else part


def selection_key(metric: Metric, models: Sequence[str], epsilon: float | str | None, top_ups: int) -> str:
    """Return the key of a choice among models: the models in their order, the metric and epsilon."""
    subject = subject_key(" ".join(models), metric, "selection", top_ups)
    return "selection " + _digest({"subject": subject, "epsilon": epsilon, "versions": _VERSIONS})


def version_key(key: str, number: int) -> str:
    """Return the key of the ``number``-th question, counted from 1, that has the same identity.

    Examples
    --------
    >>> version_key("a1", 1), version_key("a1", 2)
    ('a1', 'a1 version 2')
    """
    return key if number == 1 else f"{key} version {number}"


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
