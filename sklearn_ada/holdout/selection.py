"""Choosing among fitted models so that only the winner is revealed.

The exponential mechanism (McSherry, Talwar 2007; lecture 16, Algorithm 1) is epsilon-DP; the winner's value
is within ``(2 s / epsilon)(ln N + t)`` of the best of N, except with probability ``e^-t``, for values that
one record can move by s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada.accounting.pure_dp import pure_dp_cost
from sklearn_ada.accounting.zcdp import zcdp_cost
from sklearn_ada.events import ExponentialMechanismEvent, Symbol
from sklearn_ada.holdout.coded import CodedQuestion
from sklearn_ada.holdout.conversation import Conversation
from sklearn_ada.holdout.data import HoldoutData
from sklearn_ada.holdout.draw import Draw
from sklearn_ada.holdout.identity import selection_key
from sklearn_ada.holdout.inquiry import look
from sklearn_ada.ledger import Ledger
from sklearn_ada.mechanisms.selection import exponential_mechanism
from sklearn_ada.metrics import Measured

__all__ = ["select_model"]


def select_model(
    models: Sequence[Any],
    questions: Sequence[CodedQuestion],
    digests: Sequence[str],
    data: HoldoutData,
    ledger: Ledger[Conversation],
    epsilon: float | str,
) -> int:
    """Return the number of the model drawn; recorded, so that the same models give the same winner.

    A model that fails on the holdout counts as having the worst value of the metric's range.

    Raises
    ------
    ValueError
        If one record can move the metric without bound.
    """
    metric = questions[0].metric
    low, high = metric.bounds
    sensitivity = metric.rule.sensitivity(data.y, high - low)
    if sensitivity is None:
        raise bad_parameter(
            "scoring", "a selection", "a mean, an AUC or a per-class mean", metric.name,
            "One record can move a ratio too far.",
        )  # fmt: skip
    count = len(models)
    if isinstance(epsilon, str):  # an error of about half a standard error
        standard_error = 0.5 * (high - low) / math.sqrt(questions[0].size)
        epsilon = float(f"{4.0 * sensitivity * (math.log(count) + 3.0) / standard_error:.3g}")
    epsilon = check_real(epsilon, "epsilon", "a selection", low=0.0)
    key = selection_key(metric, digests, epsilon)
    found = ledger.find(key)
    if found is None:
        values = [_value(q, model, data, low) for q, model in zip(questions, models, strict=True)]
        draw = Draw(ledger.secret(), key)
        rng = draw.question()
        index = int(exponential_mechanism(values, sensitivity=sensitivity, epsilon=epsilon, rng=rng).answer)
        event = ExponentialMechanismEvent(epsilon, (Symbol("index", index, float(count)),))

        def decide(state: Conversation) -> dict[str, Any]:
            return {
                "kind": "selection",
                "metric": metric.describe(),
                "models": count,
                "event": event.to_dict(),
                "price": state.account.price(event),
                "epsilon": pure_dp_cost(event),
                "rho": zcdp_cost(event),
            }

        found = ledger.charge(key, decide)
    return int(found.body["event"]["symbols"][0]["value"])


def _value(question: CodedQuestion, model: Any, data: HoldoutData, worst: float) -> float:
    seen = look(question.measure, model, data, stream=question.stream, scale=question.scale)
    return float(seen.value) if isinstance(seen, Measured) else worst
