"""A guess: an estimate of the metric from rows that are not the holdout's, and how precise it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter, check_real
from sklearn_ada.digest import canonical_digest, rows_digest
from sklearn_ada.metrics import (
    Metric,
    StoredOutputs,
    UndefinedMetricError,
    check_labels,
    n_rows,
    undefined_metric,
)

__all__ = [
    "Guess",
    "as_guess",
    "guess_from_rows",
    "median_guess_from_rows",
    "metric_of_all_rows",
    "metric_with_range",
]

_LEAST_SUBSAMPLES = 5
_PRECISION = {"size": (1e-15, 1e15), "deviation": (0.0, 1e100), "share": (0.0, 1e15)}  # so nothing overflows


@dataclass(frozen=True)
class Guess:
    """An estimate of a metric made without the holdout, with what is known of its precision.

    Attributes
    ----------
    value : float
    size : float or None
        Number of independent terms behind it, in [1e-15, 1e15] (for a mean, of rows); None where the guess
        is a bare number.
    deviation : float or None
        Standard deviation of one term, in [0, 1e100].
    share : float or None
        ``size`` divided by the number of rows. On the holdout, it suggests the denominator of a ratio such as
        F1.
    outputs : str
        Digest of the model's outputs on the rows that the guess is from; part of a question's identity where
        privacy certifies.
    rows : str
        Digest of these rows and their labels; part of a question's identity where description length does.
    details : object
        What these rows foresee beyond that, for an interval of all rows; in no record.
    """

    value: float
    size: float | None = None
    deviation: float | None = None
    share: float | None = None
    outputs: str = ""
    rows: str = ""
    details: Any = field(default=None, repr=False, compare=False)

    def describe(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {"value": self.value, "size": self.size, "deviation": self.deviation, "share": self.share}


def as_guess(guess: object, metric: Metric, owner: str) -> Guess | None:
    """Return a number or `Guess` as a `Guess`, checked against the metric's range."""
    if guess is None:
        return None
    value = guess.value if isinstance(guess, Guess) else guess
    low, high = metric.range or (-np.inf, np.inf)
    check_real(
        value, "guess", owner, low=low, high=high, closed="both",
        fix="A guess is an estimate of the metric from validation data.",
    )  # fmt: skip
    if not isinstance(guess, Guess):
        return Guess(float(value))  # type: ignore[arg-type] # just checked
    for name, (least, most) in _PRECISION.items():
        if getattr(guess, name) is not None:
            check_real(getattr(guess, name), name, "Guess", low=least, high=most, closed="both")
    return guess


def guess_from_rows(metric: Metric, estimator: Any, X: Any, y: Any) -> Guess:
    """Return the metric on validation rows as a guess.

    Raises
    ------
    ValueError
        If y is no column of labels, or the metric has no value there.
    """
    labels = _labels(metric, X, y)
    try:
        metric.check_target(labels)
        metric.rule.known_size(labels)  # says more of classes than outputs do
        outputs = metric.outputs(estimator, X, labels)
        measured = metric.measure(estimator, labels, outputs)
    except UndefinedMetricError as error:
        raise _undefined(metric, labels, error) from error
    value, share = _finite(measured.value, metric), measured.size / len(labels)
    guess = Guess(value, float(measured.size), measured.deviation, share, details=measured.details)
    return _identified(guess, X, labels, outputs)


def metric_with_range(metric: Metric, estimator: Any, X: Any, y: Any) -> Metric:
    """Return a metric without a range with the one that validation rows suggest.

    Raises
    ------
    ValueError
        If y is no column of labels, or the metric has no score for each of these rows.
    """
    labels = _labels(metric, X, y)
    try:
        metric.check_target(labels)
        return metric.with_range_of(estimator, X, labels)
    except UndefinedMetricError as error:
        raise _undefined(metric, labels, error) from error


def metric_of_all_rows(metric: Metric, estimator: Any, X: Any, y: Any) -> Metric:
    """Return a metric as an interval of all rows certifies it, tuned by validation rows.

    Raises
    ------
    ValueError
        If y is no column of labels, or the metric has no value for these rows.
    """
    labels = _labels(metric, X, y)
    try:
        metric.check_target(labels)
        return metric.of_all_rows((estimator, X, labels))
    except UndefinedMetricError as error:
        raise _undefined(metric, labels, error) from error


def _undefined(metric: Metric, labels: NDArray[Any], error: UndefinedMetricError) -> ValueError:
    fix = "Give validation rows of every class that the model knows."
    return undefined_metric(metric, labels, error, metric.name, fix)


def median_guess_from_rows(metric: Metric, estimator: Any, X: Any, y: Any, subsample_size: int) -> Guess:
    """Return the guess for a stable median: the median of the metric over subsamples of validation rows.

    With fewer than five subsamples of this size it is the metric on all rows, and the deviation is scaled
    from smaller subsamples.
    """
    labels = _labels(metric, X, y)
    try:
        metric.check_target(labels)
        metric.check_classes(labels)
    except UndefinedMetricError as error:
        raise _undefined(metric, labels, error) from error
    order = np.random.default_rng(0).permutation(len(labels))
    count = len(labels) // subsample_size
    enough = count >= _LEAST_SUBSAMPLES
    if not enough:
        count = _LEAST_SUBSAMPLES if len(labels) >= 2 * _LEAST_SUBSAMPLES else 1
    size = len(labels) // count
    outputs = metric.block_outputs(estimator, X, labels)
    rows = order[: count * size].reshape(count, size)
    values = metric.blocks_of(outputs, estimator, X, labels, rows)
    values = values[np.isfinite(values)]
    if not enough or not len(values):
        centre = _finite(metric.whole(estimator, X, labels, outputs), metric)
    else:
        centre = float(np.median(values))
    spread = float(np.std(values)) * math.sqrt(size / subsample_size) if len(values) > 1 else abs(centre)
    if isinstance(outputs, StoredOutputs):
        predicted: Any = outputs.outputs
    else:
        predicted = np.asarray(estimator.predict(X)) if outputs is None else outputs
    return _identified(Guess(centre, float(count), spread), X, labels, predicted)


def _identified(guess: Guess, X: Any, labels: NDArray[Any], outputs: Any) -> Guess:
    """Add the digests of outputs, to nine digits, and rows; the first one twice if rows cannot be read."""
    said = canonical_digest(_to_nine_digits(outputs))
    try:
        return replace(guess, outputs=said, rows=rows_digest(X, labels))
    except ValueError:
        return replace(guess, outputs=said, rows=said)


def _to_nine_digits(outputs: Any) -> Any:
    """Return floats to nine digits or so: last bits depend on the order in which threads add.

    Each by its own size, down to a billionth of the middle one, so that one that is huge hides no other. The
    step is no round number, as numbers such as 1/2 would then lie between two multiples.
    """
    if not isinstance(outputs, np.ndarray) or outputs.dtype.kind != "f":
        return outputs
    wide = outputs.astype(np.float64)
    sizes = np.abs(wide[np.isfinite(wide) & (wide != 0.0)])
    middle, step = (float(np.median(sizes)) if len(sizes) else 1.0), 1e-9 / math.pi
    with np.errstate(over="ignore"):
        return [np.round(np.arcsinh(wide / middle) / step) + 0.0, round(math.log(middle) / step)]


def _labels(metric: Metric, X: Any, y: Any) -> NDArray[Any]:
    """Return y of the rows that a guess is from, checked like the y of a holdout."""
    labels = check_labels(y, metric.name)
    if len(labels) != n_rows(X):
        expected = f"as long as X, which has {n_rows(X)} rows"
        raise bad_parameter("y", metric.name, expected, f"{len(labels)} values")
    return labels


def _finite(value: float, metric: Metric) -> float:
    return check_real(value, "guess", metric.name, fix="The metric is undefined on the validation rows.")
