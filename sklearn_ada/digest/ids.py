"""Hashes of the ids by which rows are known: the same for the same ids, whatever holds them.

An id is a whole number, a text, bytes or a date, and an id of one of these kinds is none of another: 1 is not
"1". They are public: whoever knows an id knows its hash. What a ledger keeps of them is keyed with its
secret.
"""

from __future__ import annotations

import datetime
import hashlib
import uuid
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.metrics.data.labels import is_missing

__all__ = ["id_hashes", "part_of_each"]

_KINDS = "whole numbers, texts, bytes or dates, known for every row"
_LARGE = "floats so large that they stand for several whole numbers"
_PARTS = "floats that are no whole numbers"
_FAR = "dates that NumPy does not hold exactly in nanoseconds"
_FIX = {
    _LARGE: "From 2**53 on (2**24 in 32 bits) two ids may be one float: read them as integers or texts.",
    _FAR: "Those of the years 1678 to 2261 it does, to the nanosecond: turn others into texts.",
}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


def id_hashes(ids: Any, owner: str, n: int | None = None, name: str = "ids") -> NDArray[np.bytes_]:
    """Return a hash of 32 hexadecimal digits for each id.

    Whole numbers are the same as int, as NumPy's integers and as floats, which a column with gaps has become.
    Floats are refused where they stand for several whole numbers, and dates where NumPy's would be others.

    Parameters
    ----------
    ids : array-like of shape (n,)
    owner : str
        Whose parameter they are.
    n : int or None, default=None
        Number of rows, if it is known yet.
    name : str, default="ids"
        Of the parameter.

    Raises
    ------
    ValueError
        If there are not n of them, or if some are missing or of another kind.

    Examples
    --------
    >>> one, same, text = id_hashes([1, np.float64(1.0), "1"], "Holdout")
    >>> bool(one == same), bool(one == text)
    (True, False)
    """
    if isinstance(ids, np.ma.MaskedArray):
        ids = np.ma.filled(ids.astype(object), None)
    # NumPy turns the numbers of a mixed list into text: read them as objects.
    values = np.asarray(ids, dtype=object) if isinstance(ids, (list, tuple)) else np.asarray(ids)
    if values.ndim != 1 or n not in (None, len(values)):
        raise bad_parameter(name, owner, "one id for each row", f"an array of shape {values.shape}")
    # As a list, dates and floats of NumPy would be Python's, and no longer tell how exact they are.
    plain = list(values) if values.dtype.kind in "Mf" else values.tolist()
    texts = [_text(value) for value in plain]
    missing = sum(text is None for text in texts)
    if missing:
        fix = "Leave these rows out, or number them."
        raise bad_parameter(name, owner, _KINDS, f"{missing} missing ids", fix)
    others = sorted({type(v).__name__ for v, t in zip(plain, texts, strict=True) if t == b""})
    refused = {text for text in texts if isinstance(text, str)} or set(others)
    if refused:
        got = min(refused) if not others else f"values of type {', '.join(others)}"
        is_joined = bool(others) and {"tuple", "list", "ndarray"}.issuperset(others)
        fix = "Join several columns into one text." if is_joined else _FIX.get(got, "Turn them into texts.")
        raise bad_parameter(name, owner, _KINDS, got, fix)
    hashed = [
        hashlib.blake2b(text, digest_size=16, person=b"ada id").hexdigest()
        for text in texts
        if isinstance(text, bytes)
    ]
    return np.array(hashed, dtype="S32")


def part_of_each(hashes: NDArray[np.bytes_], seed: int | None) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each hashed id, which depends on it and on the seed alone.

    Rows of which it is below a share are that share of the rows, at random. Whatever other rows there are,
    each stays where it is.
    """
    start = hashlib.blake2b(f"{seed}".encode(), digest_size=8, person=b"ada split")

    def part(one: bytes) -> int:
        whole = start.copy()
        whole.update(one)
        return int.from_bytes(whole.digest(), "big")

    return np.array([part(one) for one in hashes.tolist()], dtype=np.uint64) / 2.0**64


def _text(value: Any) -> bytes | str | None:
    """Return what is hashed of an id.

    None if it is missing, nothing if it is of no kind of ids, and what is wrong, as str, if it is inexact.
    """
    if isinstance(value, (str, bytes)) and not value.strip():
        return None
    if isinstance(value, (str, uuid.UUID)):
        return b"text" + str(value).encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"bytes" + value
    if is_missing(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return b""
    if isinstance(value, (int, np.integer)):
        return b"int%d" % int(value)
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value) or value != np.floor(value):
            return _PARTS
        exact = np.finfo(type(value)).nmant + 1  # bits
        return b"int%d" % int(value) if abs(int(value)) < 2**exact else _LARGE
    if isinstance(value, np.datetime64):
        try:
            same = value.astype("datetime64[ns]")
        except OverflowError:
            return _FAR
        return b"date%d" % same.astype(np.int64) if same.astype(value.dtype) == value else _FAR
    if isinstance(value, datetime.date):
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime.combine(value, datetime.time())
        known = value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)
        rest = getattr(value, "nanosecond", 0)
        since = ((known - _EPOCH) // _MICROSECOND) * 1000 + rest
        return b"date%d" % since if abs(since) < 2**63 else _FAR
    return b""
