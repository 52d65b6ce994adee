"""Rows of a ledger: how each follows the one before, and what is said when one does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sklearn_ada.events import SCHEMA_VERSION
from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError
from sklearn_ada.ledger.log.writing import canonical_json, chain_hash, parse_json

__all__ = [
    "Row",
    "check_schema",
    "compare_genesis",
    "continued",
    "damage",
    "genesis_row",
    "next_row",
    "vouched",
]


_OWN = "This session's ledger for these data"
_OF_ITS_OWN = "For rows that nobody has asked about give a ledger of their own: ledger='holdout.db'."
_WOULD_VOID = (
    "If these are its rows, changed, open it with the rows as they were: a second ledger would be a second "
    "budget for one holdout, and no interval of either would hold any more."
)
_BY_LABELS = (
    "Without ids it knows its rows by their labels and their order: rows shuffled, dropped, appended, "
    "relabelled or split otherwise cannot be told from other data."
)
_ADDED_AGAIN = (
    "Rows that top_up added are added to those again, which is free. A holdout that is begun with ids= knows "
    "its rows whatever is done to them."
)
_FOLD = (
    "An outer fold of a cross-validation is other rows: ledger=None gives each fold a ledger that is "
    "certified for that fold alone."
)


class Row(NamedTuple):
    """One record as it is stored: its body as text, and the hash that vouches for all so far."""

    seq: int
    key: str | None
    subject: str | None
    text: str
    hash: str


def genesis_row(genesis: dict[str, Any]) -> Row:
    """Return the first row of a ledger."""
    text = canonical_json(genesis)
    return Row(0, None, None, text, chain_hash("", 0, None, text))


def next_row(seq: int, digest: str, key: str | None, body: dict[str, Any]) -> Row:
    """Return the row that follows row ``seq``, whose hash is ``digest``.

    Raises
    ------
    TypeError, ValueError
        If the body cannot be written, or if its subject or the key is neither text nor None.
    """
    subject = body.get("subject")
    if not isinstance(key, (str, type(None))) or not isinstance(subject, (str, type(None))):
        raise TypeError("The key and the subject of a record must be text or None.")
    text = canonical_json(body)
    return Row(seq + 1, key, subject, text, chain_hash(digest, seq + 1, key, text))


def vouched(row: Row, before: str) -> bool:
    """Return whether a row follows one of hash ``before``; what is not even text does not."""
    is_text = isinstance(before, str) and isinstance(row.text, str)
    is_text = is_text and (row.key is None or isinstance(row.key, str))
    return is_text and chain_hash(before, row.seq, row.key, row.text) == row.hash


def continued(rows: Iterable[Row], seq: int, digest: str, name: str) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Yield rows with their bodies, raising at the first that does not follow row ``seq`` of this hash."""
    for row in rows:
        body = parse_json(row.text)
        if row.seq != seq + 1 or not vouched(row, digest) or row.subject != body.get("subject"):
            raise damage(name, f"record {seq + 1} does not continue the chain")
        seq, digest = row.seq, row.hash
        yield row, body


def damage(name: str, what: str) -> LedgerDamagedError:
    """Return the error for a ledger that was damaged or edited."""
    return LedgerDamagedError(
        f"The ledger {name!r} was damaged or edited: {what}. It answers no more questions; "
        "restore the ledger itself, not an older copy of it, or begin with rows that nobody has asked about."
    )


def check_schema(genesis: dict[str, Any], name: str) -> None:
    """Raise unless this release can read records of the version that the genesis names."""
    version = genesis.get("schema")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise LedgerMismatchError(
            f"The ledger {name!r} has records of version {version!r}, and this release reads version "
            f"{SCHEMA_VERSION}. Use the release of sklearn_ada that wrote it, or a newer one."
        )


def compare_genesis(
    stored: dict[str, Any],
    expected: dict[str, Any],
    name: str,
    instead: str | None,
    *,
    untouched: bool = False,
) -> None:
    """Raise unless the ledger's genesis is the expected one, naming what differs.

    Parameters
    ----------
    instead : str or None
        Where another holdout could have a ledger of its own. None for a ledger that goes with the data, in
        this process: nobody gave it a name.
    untouched : bool, default=False
        Whether it is a file in which nothing is recorded but the genesis: then it may be begun anew.
    """
    check_schema(stored, name)
    if "ids" in (ways := [g.get("identity") for g in (stored, expected)]) and ways[0] != ways[1]:
        begun, opened = ("with", "without") if ways[0] == "ids" else ("without", "with")
        raise LedgerMismatchError(
            f"The ledger {name!r} was begun {begun} ids, and is opened {opened} them. Open it {begun} ids: a "
            "second ledger would be a second budget for one holdout, and no interval of either would hold "
            "any more."
        )
    if stored.get("fingerprint") != expected.get("fingerprint"):
        short = [str(g.get("fingerprint"))[:12] for g in (stored, expected)]
        other = f"belongs to another holdout (fingerprint {short[0]}, not {short[1]})"
        if instead is None:
            raise LedgerMismatchError(
                f"{_OWN} {other} and was begun by {_maker(stored)}, as a second holdout of them would be a "
                f"fresh budget. {_OF_ITS_OWN}"
            )
        known = (_BY_LABELS, _WOULD_VOID, _ADDED_AGAIN) if "identity" in stored else (_WOULD_VOID,)
        told = " ".join((*known, _FOLD))
        raise LedgerMismatchError(
            f"The ledger {name!r} {other}. {told} For rows that nobody has asked about, {instead} is right."
        )
    different = sorted(k for k in stored.keys() | expected.keys() if stored.get(k) != expected.get(k))
    if different:
        shown = [k for k in different if k not in ("secret_digest", "seeded", "shares")]
        was = ", ".join(f"{k}={stored.get(k)!r}" for k in shown) or "another random_state"
        end = ", or rows that nobody has asked about, with a ledger of their own."
        if untouched:
            end += " Or, as nothing was asked of this ledger yet, delete its file to begin it anew."
        whose = f"The ledger {name!r}"
        if instead is None:
            whose, end = _OWN, f". {_OF_ITS_OWN}"
        raise LedgerMismatchError(
            f"{whose} was opened for this holdout with another policy ({was}), and a policy is "
            f"fixed before the first question. Use the same parameters{end}"
        )


def _maker(genesis: dict[str, Any]) -> str:
    """Return what began a ledger that goes with the data, and how it is used again."""
    split = genesis.get("split")
    if not isinstance(split, dict) or "holdout" not in split:
        return "a Holdout of all of them. Ask that Holdout"
    how = f"holdout: {split['holdout']}, random_state={split.get('random_state')!r}"
    return (
        f"a ReusableHoldoutCV, which set a part of them aside ({how}). Ask its holdout_, or search with the "
        "same holdout and random_state"
    )
