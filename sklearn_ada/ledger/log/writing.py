"""How a record is written: canonical JSON, chained by SHA-256 from the genesis on."""

from __future__ import annotations

import hashlib
import json
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from sklearn_ada.exceptions import LedgerDamagedError

__all__ = ["canonical_json", "chain_hash", "parse_json", "secret_digest"]


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
_parse = json.JSONDecoder().raw_decode  # does not look for spaces, which no record has at its ends


def canonical_json(body: dict[str, Any]) -> str:
    """Return the one text of a JSON object: sorted keys, no spaces, ASCII, finite numbers only.

    Raises
    ------
    ValueError
        If a number is NaN or infinite; `parse_json` could not give it back everywhere.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": [0.5, None]})
    '{"a":[0.5,null],"b":1}'
    """
    return _canonical.encode(body)


def parse_json(text: str) -> dict[str, Any]:
    """Return the object written by `canonical_json`, or raise `LedgerDamagedError`."""
    try:
        body, end = _parse(text)
        if end != len(text):
            raise ValueError(f"something follows at {end}")
    except (TypeError, ValueError) as error:
        raise LedgerDamagedError("A record of the ledger is not JSON: the file was damaged.") from error
    if not isinstance(body, dict):
        raise LedgerDamagedError("A record of the ledger is not a JSON object: the file was damaged.")
    return body


def chain_hash(previous: str, seq: int, key: str | None, text: str) -> str:
    """Return the hash of a record, which vouches for all records before it.

    Examples
    --------
    >>> chain_hash("", 0, None, "{}")[:8] != chain_hash("", 1, None, "{}")[:8]
    True
    """
    # A hash and a number have no line breaks, a quoted key neither: no two records are written alike.
    name = "null" if key is None else quoted(key)
    digest = hashlib.sha256(f"{previous}\n{seq}\n{name}\n".encode())
    digest.update(text.encode())
    return digest.hexdigest()


def secret_digest(secret: bytes) -> str:
    """Return what a genesis record says of the ledger's secret."""
    return hashlib.sha256(b"sklearn_ada ledger secret" + secret).hexdigest()
