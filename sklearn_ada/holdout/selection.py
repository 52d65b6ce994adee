"""Choosing among fitted models so that only the winner is revealed.

Which of N models is best on the holdout is one of N symbols: it costs ``ln N`` nats, however the choice is
made, and the values compared never leave. Drawn by the exponential mechanism (McSherry, Talwar 2007; lecture
16, Algorithm 1) it is epsilon-DP as well; the winner's value is then within ``(2 s / epsilon)(ln N + t)`` of
the best of N, except with probability ``e^-t``, for values that one record can move by s.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada.accounting.unit_filter import RECORDS
from sklearn_ada.events import FAILURES, CodedRelease, Event, ExponentialMechanismEvent, Symbol
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.holdout.askable import check_model
from sklearn_ada.holdout.asker import Asker
from sklearn_ada.holdout.conversation import Conversation
from sklearn_ada.holdout.data import HoldoutData
from sklearn_ada.holdout.draw import Draw
from sklearn_ada.holdout.identity import model_digest, selection_key
from sklearn_ada.holdout.inquiry import look
from sklearn_ada.holdout.privacy import PrivateRelease, epsilon_or_none, rho_or_none
from sklearn_ada.ledger import Ledger
from sklearn_ada.mechanisms.selection import exponential_mechanism
from sklearn_ada.metrics import Metric, UndefinedMetricError, undefined_metric
from sklearn_ada.metrics.kinds import Kind
from sklearn_ada.metrics.rows import guarded

__all__ = ["select_model"]


def select_model(
    models: Sequence[Any],
    metric: Metric,
    data: HoldoutData,
    ledger: Ledger[Conversation],
    epsilon: float | str | None,
    asker: Asker,
) -> int:
    """Return the number of the winner; recorded, so that the same models give the same winner.

    A model that fails on the holdout counts as the worst. See `Holdout.select`.

    Raises
    ------
    BudgetExhaustedError
        If rows were added to the holdout since.
    ValueError
        If a model cannot be asked, or (with an epsilon) one record can move the metric without bound.
    """
    if not len(models):
        raise bad_parameter("models", "Holdout.select", "a non-empty sequence of fitted models", models)
    for model in models:
        check_model(model, data)
        metric.check_estimator(model)
    try:
        metric.check_target(data.y)
        if data.has_interval(metric):
            data.rule(metric).known_size(data.y)
        else:
            metric.check_classes(data.y)
    except UndefinedMetricError as error:
        raise undefined_metric(metric, data.y, error) from error
    if not data.has_interval(metric):
        data.check_weights(metric)
    sensitivity = 0.0
    if epsilon is not None:
        sensitivity, epsilon = _private(metric, data, len(models), epsilon)
    key = selection_key(metric, [model_digest(model) for model in models], epsilon, data.top_ups)
    found = ledger.find(key)
    if found is None:
        rng = Draw(ledger.secret(), key).question()
        index, failed = _chosen(models, metric, data, sensitivity, epsilon, rng)
        symbols = (Symbol("index", index, float(len(models))),)
        event: Event = CodedRelease(symbols)
        release = None
        if epsilon is not None:
            drawn_event = ExponentialMechanismEvent(epsilon, symbols)
            release = PrivateRelease(drawn_event, RECORDS, data.rule(metric).family)
            event = event if failed else drawn_event  # one record can move a failure by the whole range
        stamp = asker.stamp()

        def decide(state: Conversation) -> dict[str, Any]:
            outgrown = state.outgrown(data.top_ups)
            if outgrown is not None:
                raise BudgetExhaustedError(f"The holdout refused: {outgrown}.")
            described = state.policy.is_described
            refusal = None if described or state.privacy is None else state.privacy.refusal(release)
            if refusal is not None:
                raise BudgetExhaustedError(
                    f"The holdout cannot choose among {len(models)} models: {refusal}."
                )
            return {
                "kind": "selection",
                "metric": metric.describe(),
                "models": len(models),
                **stamp,
                "event": event.to_dict(),
                "price": state.account.price(event),
                "epsilon": epsilon_or_none(event),
                "rho": rho_or_none(event),
                "unit": RECORDS,
                "family": None,
            }

        found = ledger.charge(key, decide)
    chosen = found.body["event"]["symbols"][0]["value"]
    if isinstance(chosen, str):
        raise ValueError(
            f"The holdout could not choose among {len(models)} models: {chosen}. It was charged."
        )
    return int(chosen)


def _chosen(
    models: Sequence[Any],
    metric: Metric,
    data: HoldoutData,
    sensitivity: float,
    epsilon: float | None,
    rng: np.random.Generator,
) -> tuple[int | str, bool]:
    """Return who is chosen and whether a model failed; if nobody can be, a failure, which has a price too."""
    values, failed = _values(models, metric, data)
    try:
        if epsilon is None:
            return int(np.argmax(values)), failed
        drawn = exponential_mechanism(values, sensitivity=sensitivity, epsilon=epsilon, rng=rng)
        return min(int(drawn.answer), len(models) - 1), failed
    except Exception:  # whether it is raised may depend on the holdout
        return FAILURES[6], True


def _private(metric: Metric, data: HoldoutData, count: int, epsilon: float | str) -> tuple[float, float]:
    """Return how far one record can move the metric, and epsilon."""
    (low, high), rule = metric.bounds, data.rule(metric)
    try:
        size = rule.known_size(data.y)
    except UndefinedMetricError as error:
        raise undefined_metric(metric, data.y, error) from error
    sensitivity = rule.sensitivity(data.y, high - low)
    if sensitivity is None or size is None:
        raise bad_parameter(
            "scoring", "a selection", "a mean, an AUC or a per-class mean", metric.name,
            "One record can move a ratio (or a mean with weight_bound) too far: use epsilon=None.",
        )  # fmt: skip
    if isinstance(epsilon, str):  # an error of about half a standard error
        standard_error = 0.5 * (high - low) / math.sqrt(size)
        epsilon = float(f"{4.0 * sensitivity * (math.log(count) + 3.0) / standard_error:.3g}")
    return sensitivity, check_real(epsilon, "epsilon", "a selection", low=0.0)


def _values(models: Sequence[Any], metric: Metric, data: HoldoutData) -> tuple[NDArray[np.float64], bool]:
    """Return the value of each model, and whether one of them failed, which counts as the worst."""
    rule = data.rule(metric) if data.has_interval(metric) else None
    worst = -math.inf if rule is None else metric.bounds[0]
    evaluate = functools.partial(_value, metric, rule)
    seen = [look(evaluate, model, data, stream="index", scale=1.0) for model in models]
    values = np.array([value if isinstance(value, float) else worst for value in seen])
    failed = bool(np.isnan(values).any()) or not all(isinstance(value, float) for value in seen)
    return np.where(np.isnan(values), worst, values), failed


def _value(metric: Metric, rule: Kind | None, estimator: Any, data: HoldoutData) -> float:
    if rule is None:
        return metric.whole(estimator, guarded(data.X), data.y, sample_weight=data.weight)
    outputs = metric.outputs(estimator, data.X, data.y)
    return metric.measure(estimator, data.y, outputs, rule).value
