"""Summarise what a model predicted on the holdout, to recognise the same predictions later.

A digest of a model cannot see everything that its predictions depend on (weights in a file, a patched
library), so the digest only proposes that a question was asked before. Whether it was, its predictions on the
holdout's rows decide: each answer's record keeps a summary of them.

Labels, and everything else that is no float, are kept as a keyed hash. Floats differ in their last bits
between two predictions of one model (threads add in another order), and a hash of rounded numbers would
differ, too, whenever one of many thousands lies at the edge between two rounded values. So there are 16 sums
of all floats, each with random signs. They are linear, and the root mean square of the 16 differences is
about the norm of all that differs. Two models for which it is at most 1e-6 have one answer:

- The metric's values v, of the holdout or of each of its subsamples, enter as ``arcsinh v``, so that what is
  recorded is the other model's value within 1e-6, or within a millionth of it where it is large. If the
  metric has a range narrower than 1, v is a part of that.
- Outputs x enter as ``x / |x|`` and ``ln |x|``, so a difference counts as a part of their norm. A tenth of
  that counts where they have single precision, whose last bits are larger. In ``|x|`` is 1e-10 for each
  number: where a sum cancels to nearly 0, all its digits are last bits.

More than that is taken for the same only if all 16 differences happen to cancel, with probability ``2^-16``
at worst (two numbers that differ by equal amounts, at the same value of the metric).

The signs and the key of the hash are made of the ledger's secret and the record's key, and what is kept is
XORed with a pad of the same origin, used once. So without the secret it is as good as random, has the same
length whatever was predicted, and two records of equal outputs look unrelated. With the secret the values can
be read, so where only the holder of a private key may read them (``seal_key=``), they are left out: what was
released, and the outputs, are all that is compared. Where there are no outputs the question is a new one each
time.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import math
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada.accounting.events import Symbol
from sklearn_ada.data.columns import Column
from sklearn_ada.data.labels import labels_by_value
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.metrics.outputs import StoredOutputs

_SUMS = 16
_CLOSE = 1e-6  # root mean square of the differences of the sums
_LAYOUT = struct.Struct(f"<32s{_SUMS}d")
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)  # of each octet
_LEAST = 1e-10  # of a number, in the norm of all
_SINGLE = 0.1  # what a difference in single precision counts
_REAL = (float, np.float64, np.float32, np.float16)


@dataclass(frozen=True)
class Observation:
    """What one look at the holdout gave; nobody is shown it.

    What is released of it is recorded first.

    Parameters
    ----------
    seen : object
        What the question's ``release`` takes: a value, symbols, grid indices.
    outputs : OutputSummary
        What the model predicted, for a later comparison.
    """

    seen: Any = field(repr=False)
    outputs: OutputSummary = field(repr=False)


def observed(metric: Metric, seen: Any, outputs: Any, values: Any, *, by_value: bool) -> Observation:
    """Return what was seen, with the summary of the model's outputs.

    Parameters
    ----------
    metric : Metric
    seen : object
    outputs : ndarray, Column, StoredOutputs or None
        What the metric has read of the model; None where it asked the model itself.
    values : float or ndarray
        Of the metric. They are compared as well, as they may depend on more than the outputs: a function of
        the user's may have changed without its digest, or ``classes_`` be read from a file.
    by_value : bool
        Whether labels are the same whatever type of array holds them: 1, 1.0 and True, or any text.
    """
    if by_value:
        outputs = _by_value(outputs, of_labels=metric.response.form == "labels")
    if isinstance(outputs, Column) and outputs.dtype.kind == "f":  # compared as floats of few rows are
        outputs = np.asarray(outputs)
    if isinstance(outputs, Column):
        return Observation(seen, OutputSummary.of_column(outputs, values, value_scale_of(metric)))
    named = {} if outputs is None else {"outputs": outputs}
    return Observation(seen, OutputSummary.of(named, values, value_scale_of(metric)))


def _by_value(outputs: Any, *, of_labels: bool) -> Any:
    """Return outputs whose labels have one type for one value; floats may be labels only ``of_labels``."""
    if isinstance(outputs, StoredOutputs):
        outputs = outputs.outputs
    if isinstance(outputs, Mapping):
        return {name: _by_value(each, of_labels=of_labels) for name, each in outputs.items()}
    if outputs is None or (outputs.dtype.kind == "f" and not of_labels):
        return outputs
    return outputs.with_labels_by_value() if isinstance(outputs, Column) else labels_by_value(outputs)


def value_scale_of(metric: Metric) -> float:
    """Return what a metric's values are divided by: the width of a range narrower than 1, else 1."""
    low, high = metric.range or (0.0, 1.0)
    return min(high - low, 1.0)


def has_values_of(one: Observation, other: Observation) -> bool:
    """Return whether two looks gave the same values of their metrics."""
    summaries = one.outputs, other.outputs
    mine, others = [each.numbers[len(each.numbers) - each.values :] for each in summaries]
    return len(mine) == len(others) and bool((np.abs(mine - others) <= _CLOSE).all())


@dataclass(frozen=True)
class OutputSummary:
    """A model's outputs for some rows, and the metric's values, to compare them later.

    Labels are kept as a hash, numbers as they are.

    Parameters
    ----------
    exact : bytes
        Hash of all that must be equal: labels, names and shapes, and where numbers are not finite.
    numbers : ndarray of float
        Finite numbers, which may differ in their last bits.
    outputs : bytes or None, default=None
        The hash without the metric's values; None where there are only values.
    values : int, default=0
        How many of the numbers, at their end, are values of the metric.
    """

    exact: bytes = field(repr=False)
    numbers: NDArray[np.float64] = field(repr=False)
    outputs: bytes | None = field(default=None, repr=False)
    values: int = field(default=0, repr=False)

    @classmethod
    def of(cls, outputs: Any, values: Any = (), unit: float = 1.0) -> OutputSummary:
        """Return the summary of outputs or of a failure, and of the metric's values.

        Parameters
        ----------
        outputs : array-like, StoredOutputs, tuple of Symbol, or mapping of str to these
            What cannot be read agrees with nothing, not even with itself.
        values : float or array-like, default=()
            Of the metric; NaN where there is none.
        unit : float, default=1.0
            What the values are divided by.
        """
        exact, numbers = hashlib.sha256(), [np.empty(0)]
        try:
            with np.errstate(all="ignore"):
                read = _read("", outputs)
                for text, floats in read:
                    exact.update(_with_length(text))
                    numbers.append(floats)
                alone = exact.digest() if read else None
                text, floats = _of_values(values, unit)
                exact.update(_with_length(text))
                return cls(exact.digest(), np.concatenate([*numbers, floats]), alone, len(floats))
        except Exception:  # whatever the parts of somebody's objects raise
            return cls.of_nothing()

    @classmethod
    def of_nothing(cls) -> OutputSummary:
        """Return a summary with which nothing agrees."""
        return cls(os.urandom(32), np.empty(0))

    @classmethod
    def of_column(cls, column: Column, values: Any, unit: float = 1.0) -> OutputSummary:
        """Return `of` for labels that are read block by block."""
        head = _head("/outputs", column.shape, column.dtype.kind) + column.dtype.str.encode()
        length = len(head) + len(column) * column.dtype.itemsize
        text, floats = _of_values(values, unit)
        alone, exact = column.sha256(length.to_bytes(8, "little") + head, (b"", _with_length(text)))
        return cls(exact, floats, alone, len(floats))

    @classmethod
    def joined(cls, several: Sequence[OutputSummary]) -> OutputSummary:
        """Return the summary of several models, without values of the metric.

        Where one of them has only values, nothing agrees with it.
        """
        parts = [each.without_values() for each in several]
        exact = hashlib.sha256(b"".join(part.exact for part in parts)).digest()
        return cls(exact, np.concatenate([np.empty(0), *(part.numbers for part in parts)]))

    def without_values(self, released: object = None) -> OutputSummary:
        """Return the summary with what was released (JSON) instead of the metric's values.

        Where there are only values, nothing agrees with it: the question is new each time.
        """
        if self.outputs is None:
            return self.of_nothing()
        text = json.dumps(released, sort_keys=True).encode()
        numbers = self.numbers[: len(self.numbers) - self.values]
        return type(self)(_derived(self.outputs, "released", text), numbers)

    def sealed(self, key: bytes) -> str:
        """Return the summary, hidden from whoever does not have the key of its record."""
        content = _LAYOUT.pack(self._hashed(key), *self._sums(key))
        return base64.b64encode(_padded(content, key)).decode()

    def agrees_with(self, sealed: str, key: bytes) -> bool:
        """Return whether a recorded summary is the same; ``key`` is that of its record.

        Raises
        ------
        LedgerDamagedError
            If it is no summary.
        """
        try:
            hashed, *sums = _LAYOUT.unpack(_padded(base64.b64decode(sealed, validate=True), key))
        except (binascii.Error, struct.error, TypeError, ValueError) as error:
            raise LedgerDamagedError(
                "What a record keeps of a model's outputs cannot be read: the ledger was edited."
            ) from error
        if not hmac.compare_digest(hashed, self._hashed(key)):
            return False
        return bool(np.sqrt(np.mean((self._sums(key) - np.array(sums)) ** 2)) <= _CLOSE)

    def _hashed(self, key: bytes) -> bytes:
        return _derived(key, "exact", self.exact)

    def _sums(self, key: bytes) -> NDArray[np.float64]:
        """Return the sums of the numbers with random signs."""
        count, size = len(self.numbers), _SUMS // 8
        # Bits of a hash are the same for ever and everywhere, unlike those of a random generator.
        drawn = hashlib.shake_256(_derived(key, "signs")).digest(size * count)
        octets = np.frombuffer(drawn, dtype=np.uint8).reshape(count, size)
        # Numbers with the same eight signs are added first, which is much quicker than a product.
        totals = [np.bincount(octets[:, j], weights=self.numbers, minlength=256) for j in range(size)]
        return np.concatenate([total @ _SIGNS for total in totals])


def _read(name: str, part: Any) -> list[tuple[bytes, NDArray[np.float64]]]:
    """Return the exact text and the numbers of all parts."""
    if isinstance(part, StoredOutputs):
        part = part.outputs
    if isinstance(part, Mapping):
        return [each for inner in sorted(part) for each in _read(f"{name}/{inner}", part[inner])]
    if isinstance(part, tuple) and all(isinstance(each, Symbol) for each in part):
        return [(json.dumps([name, [symbol.to_dict() for symbol in part]]).encode(), np.empty(0))]
    array = np.asarray(part)
    if array.dtype.kind == "O" and all(type(each) in _REAL for each in array.ravel().tolist()):
        array = array.astype(np.float64)
    head = _head(name, array.shape, array.dtype.kind)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag])
    if array.dtype.kind == "f":
        factor = 1.0 if array.dtype.itemsize >= 8 else _SINGLE
        where, floats = _finite(array.astype(np.float64).ravel())
        return [(head + where, factor * _with_norm(floats))]
    return [(head + _of_others(array), np.empty(0))]


def _head(name: str, shape: tuple[int, ...], kind: str) -> bytes:
    return json.dumps([name, shape, kind]).encode()


def _with_length(text: bytes) -> bytes:
    return len(text).to_bytes(8, "little") + text


def _of_values(values: Any, unit: float) -> tuple[bytes, NDArray[np.float64]]:
    """Return the exact text and the numbers of a metric's values."""
    where, numbers = _finite(np.asarray(values, dtype=np.float64).ravel())
    return json.dumps(["value", len(numbers)]).encode() + where, np.arcsinh(numbers / unit)


def _finite(values: NDArray[np.float64]) -> tuple[bytes, NDArray[np.float64]]:
    """Return where numbers are not finite, and the numbers with zeros in these places."""
    finite = np.isfinite(values)
    if finite.all():
        return b"", values
    where = np.where(finite, 0.0, np.nan_to_num(values, nan=2.0, posinf=1.0, neginf=-1.0))
    return where.tobytes(), np.where(finite, values, 0.0)


def _with_norm(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the direction of some numbers followed by the logarithm of their norm."""
    if not len(values):
        return values
    largest = max(float(np.abs(values).max()), _LEAST)
    scaled = values / largest  # so that no square overflows
    norm = math.hypot(float(np.linalg.norm(scaled)), _LEAST / largest * math.sqrt(len(values)))
    return np.append(scaled / norm, math.log(largest) + math.log(norm))


def _of_others(array: NDArray[Any]) -> bytes:
    if array.dtype.kind not in "OTV":
        return array.dtype.str.encode() + np.ascontiguousarray(array).tobytes()
    listed = array.ravel().tolist()
    if all(type(each) is str for each in listed):  # much quicker than a digest
        return json.dumps(listed).encode()
    return canonical_digest(listed).encode()


def _derived(key: bytes, purpose: str, content: bytes = b"") -> bytes:
    return hmac.new(key, purpose.encode() + b"\0" + content, hashlib.sha256).digest()


def _padded(content: bytes, key: bytes) -> bytes:
    pad = hashlib.shake_256(_derived(key, "pad")).digest(len(content))
    return bytes(one ^ other for one, other in zip(content, pad, strict=True))
