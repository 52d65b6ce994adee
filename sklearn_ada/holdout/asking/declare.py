"""Models declared before the first question: what is revealed later cannot change which they are.

Theorem. Fix G models when L nats have been revealed about the holdout. With probability at least
``1 - beta_f`` the fixed-question interval at ``delta = e^-L beta_f / G`` holds for each of them, whatever is
revealed later and whenever it is asked for.

Proof. Union bound over the models and over everything that may have been revealed by then: ``e^-L``, the
probability that the code gives to it, sums to at most 1.

Before the first question L is 0, unless the class counts (``class_mix="priced"``) or the mean weight
(``weight_bound``) were paid for. Half of the failure probability beta goes to the declared models, the other
half to all other questions. A declared model may use the larger of the two delta that it has, as one of a
family and as a question like any other, because both halves have been set aside.

This is for checks and certifies without noise, about the rows as they were when the models were declared.
What it rests on: a declared model is found again by its digest alone, and a digest cannot see everything
that predictions depend on (weights in a file, say). Here the holdout cannot confirm it, as it does when a
question is asked again (`asking.confirm`): nothing was asked yet when the model was declared, so there is
nothing to compare with, and what a model says on the holdout may decide neither whether its question is
admitted nor how wide the interval is. So every answer with the share of a declared model names this
assumption in its certificate; and if one question under the digest turns out to be of two models, the second
has no such share. Refusing the share to models with code of the user's own would not make the assumption
needless, as code of a library can be patched, and would take the share from models that keep to it.

Each model has two fixed questions, which share its delta: the mean, and (where the variance is released too)
the mean given the variance. A ratio's interval also depends on its guess, which need not have been fixed by
then, so ratios cannot be declared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from sklearn_ada._checks import bad_parameter
from sklearn_ada.holdout.models.checks import check_model
from sklearn_ada.holdout.models.keys import member_key, model_digest
from sklearn_ada.holdout.models.predictions import as_asked
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.family import FamilyRecord
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.metrics import Metric

__all__ = ["declare_family"]

_OWNER = "Holdout.declare"


def declare_family(session: Session, models: Sequence[Any], metric: Metric) -> int:
    """Record that these models are declared, and return their number. See `Holdout.declare`."""
    data = session.data
    served = data.has_interval(metric)
    if not served or data.rule(metric).size_is_released:
        why = "A ratio's is tuned by its guess, which is not fixed" if served else "Others rest on a median"
        raise bad_parameter(
            "scoring", _OWNER, "a mean, an AUC or a per-class mean, which have one fixed interval",
            metric.name, f"{why}.",
        )  # fmt: skip
    members = []
    for model in (as_asked(each, data, session.policy, _OWNER) for each in models):
        check_model(model, data, _OWNER)
        metric.check_estimator(model)
        members.append(member_key(model_digest(model), metric))
    if not members:
        raise bad_parameter("models", _OWNER, "a non-empty sequence of fitted models", models)
    if len(set(members)) < len(members):
        raise bad_parameter("models", _OWNER, "all different", "two models with the same state")
    members.sort()
    made = FamilyRecord.of(members, session.asker.stamp())

    def decide(state: Conversation) -> FamilyRecord:
        session.check_not_outgrown(state)
        if not state.is_untouched:
            raise bad_parameter(
                "models", _OWNER, "declared before the first question", "a holdout that was asked",
                "Declare them first thing, on rows that nobody has asked about.",
            )  # fmt: skip
        return made

    key = "family " + hashlib.sha256(" ".join(members).encode()).hexdigest()
    return FamilyRecord(session.charge(key, decide).body).size
