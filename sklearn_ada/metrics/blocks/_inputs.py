"""Checks of labels, outputs and weights. Messages name shapes and types, never values of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics.blocks._blocks import encode
from sklearn_ada.metrics.data.labels import all_finite, are_classes, family, of_one_type, pieces

__all__ = [
    "as_labels",
    "as_numbers",
    "as_real",
    "check_finite",
    "check_labels",
    "check_lengths",
    "check_same_kind",
    "check_weight",
    "one_column",
    "positive_class",
    "probabilities",
    "with_labels_of",
]

Array = NDArray[Any]

OWNER = "block_scores"


def check_lengths(
    y_true: Array,
    outputs: Array,
    weight: Array | None,
    n_blocks: int,
    owner: str,
    order: Array | None = None,
) -> int:
    """Return the number of rows in a block, or raise ValueError."""
    if y_true.ndim != 1 or len(y_true) == 0:
        raise bad_parameter("y_true", owner, "one value for each of at least one row", y_true.shape)
    n = len(y_true)
    if outputs.ndim == 0 or len(outputs) != n:
        raise bad_parameter("outputs", owner, f"as long as y_true ({n} rows)", outputs.shape)
    if weight is not None and weight.shape != (n,):
        raise bad_parameter("sample_weight", owner, f"one weight for each of {n} rows", weight.shape)
    if order is not None:
        is_row_number = order.dtype.kind in "iu" and order.size > 0 and order.min() >= 0 and order.max() < n
        if not is_row_number:
            raise bad_parameter("order", owner, f"numbers of the {n} rows", order.dtype)
        n = order.size
    if n % n_blocks:
        fix = f"Drop the last {n % n_blocks} rows."
        raise bad_parameter("n_blocks", owner, f"a divisor of the number of rows ({n})", n_blocks, fix)
    return n // n_blocks


def check_weight(weight: Array) -> None:
    """Raise ValueError unless the weights are finite and not negative."""
    if weight.dtype.kind not in "biuf" or not (weight.min() >= 0 and np.isfinite(weight.max())):
        raise bad_parameter("sample_weight", OWNER, "finite and not negative", "other values")


def as_numbers(values: Array, name: str) -> Array:
    """Return the values if they are finite real numbers, or raise ValueError."""
    values = as_real(values, name)
    check_finite(values, name)
    return values


def as_real(values: Array, name: str) -> Array:
    """Return the values if their type is that of real numbers, or raise ValueError."""
    values = of_one_type(values, name, OWNER)
    if values.dtype.kind not in "biuf":
        raise bad_parameter(name, OWNER, "real numbers", values.dtype)
    return values


def check_finite(values: Array, name: str) -> None:
    """Raise ValueError if there is NaN or infinity among real numbers."""
    if not all_finite(values):
        raise bad_parameter(name, OWNER, "finite", "NaN or infinity")


def as_labels(values: Array, name: str) -> Array:
    """Return one label for each row, as an array of numbers or of strings, or raise ValueError."""
    if values.ndim != 1:
        raise bad_parameter(name, OWNER, "one label for each row", values.shape)
    values = of_one_type(values, name, OWNER)
    if is_text(values):
        return values
    values = as_real(values, name)
    if not are_classes(values):
        check_finite(values, name)
        raise bad_parameter(name, OWNER, "labels, not numbers with a fraction", values.dtype)
    return values


def is_text(values: Array) -> bool:
    """Return whether the values are strings."""
    return family(values) == "text"


def check_same_kind(values: Array, name: str, labels: Array) -> None:
    """Raise ValueError if one array holds strings and the other numbers."""
    if is_text(values) != is_text(labels):
        raise bad_parameter(name, OWNER, f"labels like the others ({labels.dtype})", values.dtype)


def one_column(outputs: Array) -> Array:
    """Return one output for each row, or raise ValueError."""
    if outputs.ndim == 2 and outputs.shape[1] == 1:
        return outputs[:, 0]
    if outputs.ndim != 1:
        raise bad_parameter("outputs", OWNER, "one value for each row with this metric", outputs.shape)
    return outputs


def check_labels(labels: Any) -> Array:
    """Return the labels as an array if they are sorted and distinct, or raise ValueError."""
    labels = as_labels(np.asarray(labels), "labels")
    if len(labels) == 0 or not np.array_equal(np.unique(labels), labels):
        expected = "sorted and distinct (the estimator's classes_)"
        raise bad_parameter("labels", OWNER, expected, labels.tolist())
    return labels


def with_labels_of(values: Array, labels: Array | None, name: str) -> Array:
    """Return the sorted labels, joined by those of ``values`` that are not among them."""
    if labels is not None:
        check_same_kind(values, name, labels)
    for piece in pieces(values):
        if labels is None:
            labels = np.unique(piece)
        elif not encode(piece, labels)[1].all():
            labels = np.union1d(labels, piece)
    assert labels is not None  # there is at least one row
    return labels


def probabilities(outputs: Array, n_classes: int) -> Array:
    """Return the probabilities as floats: of the second class alone if there are two."""
    outputs = as_numbers(outputs, "outputs")
    n_columns = outputs.shape[1] if outputs.ndim == 2 else 1
    if outputs.ndim > 2 or n_classes < 2 or max(n_columns, 2) != n_classes:
        expected = f"one probability for each of {n_classes} classes (at least two)"
        raise bad_parameter("outputs", OWNER, expected, outputs.shape, "Pass labels=estimator.classes_.")
    if outputs.ndim == 2 and n_columns <= 2:
        outputs = outputs[:, -1]
    return outputs if outputs.dtype.kind == "f" else outputs.astype(np.float64)


def positive_class(pos_label: Any, labels: Array) -> tuple[Array, int]:
    """Return the two sorted labels and the position of the positive one, or raise ValueError.

    If the data show one label only, the positive class may be the other.
    """
    if len(labels) > 2:
        raise bad_parameter("labels", OWNER, "two classes for this metric", len(labels))
    positive = np.asarray([pos_label])
    if is_text(positive) != is_text(labels) or (len(labels) == 2 and pos_label not in labels):
        raise bad_parameter("pos_label", OWNER, f"one of the {len(labels)} labels", pos_label)
    labels = np.union1d(labels, positive)
    return labels, int(labels.searchsorted(positive[0]))
