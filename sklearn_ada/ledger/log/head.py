"""The head of a ledger as a line of text, which a paper or a colleague can keep: later ledgers continue it.

``COUNT-GENESIS-HASH``: how many records there are, the first eight digits of the hash of the first, and the
hash of the last, which vouches for all before it. Meanings never change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sklearn_ada._checks import bad_parameter
from sklearn_ada.exceptions import LedgerDamagedError, LedgerError, LedgerMismatchError

__all__ = ["Head", "head_contradiction", "parse_head"]

_PREFIX = 8


@dataclass(frozen=True)
class Head:
    """How far a ledger went.

    Attributes
    ----------
    count : int
        Number of records, the genesis among them.
    genesis : str
        The first digits of its hash.
    hash : str
        Of the last record.
    """

    count: int
    genesis: str
    hash: str

    @classmethod
    def of(cls, seq: int, digest: str, genesis_hash: str) -> Head:
        """Return the head of a ledger that ends with record ``seq``."""
        return cls(seq + 1, genesis_hash[:_PREFIX], digest)

    def __str__(self) -> str:
        return f"{self.count}-{self.genesis}-{self.hash}"


def parse_head(text: str) -> Head:
    """Return the head that a text tells.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> parse_head("7-" + 8 * "a" + "-" + 64 * "b").count
    7
    """
    found = re.fullmatch(r"([1-9]\d{0,17})-([0-9a-f]{8})-([0-9a-f]{64})", text.strip())
    if found is None:
        raise bad_parameter(
            "head", "Ledger.check_head", "COUNT-GENESIS-HASH as 'ledger head' prints it", text
        )
    return Head(int(found[1]), found[2], found[3])


def head_contradiction(name: str, now: Head, kept: Head, digest: str | None) -> LedgerError | None:
    """Return why a ledger does not continue a head that was kept, or None if it does.

    Parameters
    ----------
    name : str
        Of the ledger.
    now, kept : Head
    digest : str or None
        The hash of the record that was the last when ``kept`` was.
    """
    if now.genesis != kept.genesis:
        return LedgerMismatchError(
            f"The ledger {name!r} does not continue this head: it is another ledger, whose first record has "
            f"the hash {now.genesis}..., not {kept.genesis}.... Give the ledger that the head was taken from."
        )
    if now.count < kept.count:
        return LedgerDamagedError(
            f"The ledger {name!r} does not continue this head: it is an older copy, with {now.count:,} of at "
            f"least {kept.count:,} records. Never ask through it; what it lacks was answered elsewhere."
        )
    if digest != kept.hash:
        return LedgerDamagedError(
            f"The ledger {name!r} does not continue this head: they parted, as record {kept.count - 1} or "
            "one before it is another one. One holdout was asked through two ledgers, or records were "
            "rewritten; no answer since then, of either, is certified."
        )
    return None
