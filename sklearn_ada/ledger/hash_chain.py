"""The records of a ledger, chained by hashes, and the promises of every ledger.

A record is written as canonical JSON, chained by SHA-256 from the genesis on. The head of a ledger is a line
of text, which a paper or a colleague can keep, as later ledgers continue it: ``COUNT-GENESIS-HASH`` is how
many records there are, the first eight digits of the hash of the first, and the hash of the last, which
vouches for all before it. Meanings never change.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from sklearn_ada._validation import bad_parameter
from sklearn_ada.accounting.events import FORMATS
from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError
from sklearn_ada.ledger.askers import Askers


class Foldable(Protocol):
    """A state that advances record by record."""

    def advance(self, body: dict[str, Any]) -> None:
        """Take one more record into account."""


UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What reading a record raises that lacks a part, or has another in its place."""
Body = dict[str, Any]
State = TypeVar("State", bound=Foldable)
Start = Callable[[Body], State]
"""Takes the genesis and returns the state before any record."""
Part = TypeVar("Part")


@dataclass(frozen=True)
class Record:
    """One record as it stands in the ledger.

    Attributes
    ----------
    seq : int
        Position; 0 is the genesis.
    key : str or None
        Identity of the question, unique in a ledger; None for records that can repeat.
    body : dict
        What happened.
    fresh : bool
        True if this call wrote it, False if it had been recorded before.
    """

    seq: int
    key: str | None
    body: dict[str, Any]
    fresh: bool = False


class Ledger(ABC, Generic[State]):
    """A durable, append-only, hash-chained log with one writer at a time.

    A backend must keep these promises; the conformance tests check each of them.

    1. `charge` serialises all askers, in all threads and processes: ``decide`` sees the state of every
       record before its own, and no other.
    2. The record is durable before `charge` returns. A crash may lose the answer, never the charge.
    3. One key has one record: charged again, it is returned as it was recorded and ``decide`` is not
       called.
    4. If anything goes wrong, a `LedgerError` is raised and nothing is charged. Where a connection broke
       during the commit and nobody can be asked, the error says so; charging the same key
       again then returns what was recorded.
    5. Every copy of a handle leads to the same ledger. It never creates one: only `create_or_open` does. A
       handle can be pickled, or refuses it because its ledger cannot leave the process.
    """

    genesis: dict[str, Any]

    @abstractmethod
    def charge(self, key: str | None, decide: Callable[[State], dict[str, Any]]) -> Record:
        """Record ``decide(state)`` under ``key``, or return what is recorded there.

        ``decide`` is a pure function of the state and of values fixed before; it runs inside the
        transaction. An exception that it raises leaves the ledger as it was.
        """

    def find(self, key: str, otherwise: Callable[[State], Any] | None = None) -> Record | None:
        """Return the record under ``key``; if there is none, call ``otherwise(state)`` and return None.

        The state is that of all records so far, as for `read`.
        """
        return next(iter(self.find_each([key], otherwise)), None)

    @property
    @abstractmethod
    def askers(self) -> Askers:
        """Who has a question pending on this ledger; to be used inside a charge, or inside ``begin``."""

    @abstractmethod
    def find_each(
        self,
        keys: Sequence[str],
        otherwise: Callable[[State], Any] | None = None,
        begin: Callable[[State, list[Record]], Body | None] | None = None,
    ) -> list[Record]:
        """Return the records under some keys at one moment, in the order of the keys.

        Keys without a record are left out. If there is none of them, call ``otherwise(state)``, as `find`
        does. With ``begin`` all of that happens in one transaction of the only writer, in which also what
        ``begin(state, records)`` returns is recorded, unless that is None.
        """

    @abstractmethod
    def find_subject(self, subject: str) -> Record | None:
        """Return the first record whose body has this ``"subject"``, if any."""

    @abstractmethod
    def read(self, of_state: Callable[[State], Part]) -> Part:
        """Return ``of_state(state)`` for the state of all records so far."""

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Return all records from the genesis on, verified."""

    def verify(self) -> int:
        """Read all records anew, verify them and fold them, and return how many there are."""
        return sum(1 for _ in self.records())

    def record(self, seq: int) -> Record | None:
        """Return the record of this number, if there is one; backends do not read the others for it."""
        return next((record for record in self.records() if record.seq == seq), None)

    def tail(self, size: int) -> tuple[Head, list[Record]]:
        """Return the head, and so many of the last records, verified against it.

        Backends do not read those before them, not even if this process reads the ledger for the first time.
        """
        records = list(self.records())
        return parse_head(self.head()), records[max(len(records) - size, 0) :]

    @abstractmethod
    def head(self) -> str:
        """Return how far the ledger goes, as a line of text to keep: see `check_head`."""

    @abstractmethod
    def check_head(self, head: str) -> None:
        """Raise unless the ledger continues one that had this head.

        Raises
        ------
        ValueError
            If it is not what `head` returns.
        LedgerMismatchError
            If it is the head of another ledger.
        LedgerDamagedError
            If this is an older copy, or if the two parted.
        """

    def copies(self) -> list[str]:
        """Return the names of what lies beside the ledger and began as it did, as far as can be seen."""
        return []

    @abstractmethod
    def secret(self) -> bytes:
        """Return the ledger's secret, from which noise and partitions are derived."""


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
        return cls(seq + 1, genesis_hash[:8], digest)

    def __str__(self) -> str:
        return f"{self.count}-{self.genesis}-{self.hash}"


def parse_head(text: str) -> Head:
    """Read a ledger's head from its text, ``COUNT-GENESIS-HASH``.

    Raises
    ------
    ValueError
        If the text has another form.

    Examples
    --------
    >>> parse_head("7-" + 8 * "a" + "-" + 64 * "b").count
    7
    """
    found = re.fullmatch(r"([1-9]\d{0,17})-([0-9a-f]{8})-([0-9a-f]{64})", text.strip())
    if found is None:
        expected = "COUNT-GENESIS-HASH as 'ledger head' prints it"
        raise bad_parameter("head", "Ledger.check_head", expected, text)
    return Head(int(found[1]), found[2], found[3])


def check_continues(name: str, now: Head, kept: Head, digest: str | None) -> None:
    """Raise unless a ledger continues a kept head.

    Parameters
    ----------
    name : str
        Of the ledger.
    now, kept : Head
    digest : str or None
        The hash of the record that was the last when ``kept`` was.
    """
    if now.genesis != kept.genesis:
        raise LedgerMismatchError(
            f"The ledger {name!r} does not continue this head: it is another ledger, whose first record has "
            f"the hash {now.genesis}..., not {kept.genesis}.... Give the ledger that the head was taken from."
        )
    if now.count < kept.count:
        raise LedgerDamagedError(
            f"The ledger {name!r} does not continue this head: it is an older copy, with {now.count:,} of at "
            f"least {kept.count:,} records. Never ask through it; what it lacks was answered elsewhere."
        )
    if digest != kept.hash:
        raise LedgerDamagedError(
            f"The ledger {name!r} does not continue this head: they parted, as record {kept.count - 1} or "
            "one before it is another one. One holdout was asked through two ledgers, or records were "
            "rewritten; no answer since then, of either, is certified."
        )


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
        if end != len(text) or not isinstance(body, dict):
            raise ValueError(f"no object, or something follows at {end}")
    except UNREADABLE:  # whose error may quote the record
        raise LedgerDamagedError("A record of the ledger is no JSON object: the file was damaged.") from None
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


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
_parse = json.JSONDecoder().raw_decode  # does not look for spaces, which no record has at its ends


class StoredRecord(NamedTuple):
    """One record as it is stored: its body as text, and the hash that vouches for all so far."""

    seq: int
    key: str | None
    subject: str | None
    text: str
    hash: str


def stored_genesis(genesis: dict[str, Any]) -> StoredRecord:
    """Return the first record of a ledger, as it is stored."""
    text = canonical_json(genesis)
    return StoredRecord(0, None, None, text, chain_hash("", 0, None, text))


def next_stored(seq: int, digest: str, key: str | None, body: dict[str, Any]) -> StoredRecord:
    """Return the record that follows record ``seq``, whose hash is ``digest``.

    Raises
    ------
    TypeError, ValueError
        If the body cannot be written, or if its subject or the key is neither text nor None.
    """
    subject = body.get("subject")
    if not isinstance(key, (str, type(None))) or not isinstance(subject, (str, type(None))):
        raise TypeError("The key and the subject of a record must be text or None.")
    text = canonical_json(body)
    return StoredRecord(seq + 1, key, subject, text, chain_hash(digest, seq + 1, key, text))


def vouched(stored: StoredRecord, before: str) -> bool:
    """Return whether a record follows one of hash ``before``.

    A record whose parts are no text does not.
    """
    key = "" if stored.key is None else stored.key
    is_text = all(isinstance(each, str) for each in (before, stored.text, key))
    return is_text and chain_hash(before, stored.seq, stored.key, stored.text) == stored.hash


def damage(name: str, what: str) -> LedgerDamagedError:
    """Return the error for a ledger that was damaged or edited."""
    return LedgerDamagedError(
        f"The ledger {name!r} was damaged or edited: {what}. It answers no more questions; "
        "restore the ledger itself, not an older copy of it, or begin with rows that nobody has asked about."
    )


def check_format(genesis: dict[str, Any], name: str) -> None:
    """Raise unless this release reads records of the format that the genesis names."""
    number = genesis.get("schema")
    if type(number) is not int or number not in FORMATS:
        raise LedgerMismatchError(
            f"The ledger {name!r} has records of format {number!r}, and this release reads the formats "
            f"{' and '.join(map(str, FORMATS))}. Use the release of sklearn_ada that wrote it, or a newer "
            "one."
        )


def compare_genesis(stored: Body, expected: Body, name: str, instead: str | None, is_untouched: bool) -> None:
    """Raise unless the ledger's genesis is the expected one, naming what differs.

    Parameters
    ----------
    instead : str or None
        Where another holdout could have a ledger of its own. None for a ledger that goes with the data, in
        this process: nobody gave it a name.
    is_untouched : bool
        Whether it is a file in which nothing is recorded but the genesis: then it may be begun anew.
    """
    for what, has in (("ids", _has_ids), ("groups", _has_groups), ("weights", _has_weights)):
        begun, opened = ("with" if has(genesis) else "without" for genesis in (stored, expected))
        if begun != opened:
            whose = _OWN if instead is None else f"The ledger {name!r}"
            raise LedgerMismatchError(
                f"{whose} was begun {begun} {what}, and is opened {opened} them. Open it {begun} {what}: a "
                "second ledger would be a second budget for one holdout, and no interval of either would "
                "be guaranteed any more."
            )
    if stored.get("fingerprint") != expected.get("fingerprint") or _was_split_otherwise(stored, expected):
        short = list(dict.fromkeys(str(g.get("fingerprint"))[:12] for g in (stored, expected)))
        other = "belongs to another holdout" + (f" (fingerprint {', not '.join(short)})" if short[1:] else "")
        if instead is None:
            raise LedgerMismatchError(
                f"{_OWN} {other} and was begun by {_maker(stored)}, as a second holdout of them would be a "
                f"fresh budget. {_OF_ITS_OWN}"
            )
        why = f": {_why_other_rows(stored, expected)}" if "identity" in stored else ""
        raise LedgerMismatchError(
            f"The ledger {name!r} {other}{why}. For rows that nobody has asked about, {instead} is right. "
            f"{WOULD_VOID}"
        )
    different = sorted(k for k in stored.keys() | expected.keys() if stored.get(k) != expected.get(k))
    if different:
        shown = [k for k in different if k not in ("secret_digest", "seeded", "shares")]
        was = ", ".join(f"{k}={stored.get(k)!r}" for k in shown) or "another random_state"
        end = ", or rows that nobody has asked about, with a ledger of their own."
        if is_untouched:
            end += " Or, as nothing was asked of this ledger yet, delete its file to begin it anew."
        whose = f"The ledger {name!r}"
        if instead is None:
            whose, end = _OWN, f". {_OF_ITS_OWN}"
        raise LedgerMismatchError(
            f"{whose} was opened for this holdout with another policy ({was}), and a policy is "
            f"fixed before the first question. Use the same parameters{end}"
        )


def _has_ids(genesis: Body) -> bool:
    return genesis.get("identity") == "ids"


def _has_groups(genesis: Body) -> bool:
    split = dict(genesis.get("split") or {}).get("holdout", "")
    if "by a hash of each " in split:  # rows with ids: units that are on record are compared with the rows
        return bool(split.endswith("group"))
    return bool((genesis.get("units") or {}).get("groups"))


def _has_weights(genesis: Body) -> bool:
    return bool((genesis.get("units") or {}).get("weights"))


def _was_split_otherwise(stored: Body, expected: Body) -> bool:
    return stored.get("identity") == "labels" and stored.get("split") != expected.get("split")


def _why_other_rows(stored: Body, expected: Body) -> str:
    """Say by what rows without ids differ, and what may have been done to them: the first of four causes."""
    splits = [dict(genesis.get("split") or {}) for genesis in (stored, expected)]
    in_all = [
        split.pop("rows_in_all", genesis["rows"])
        for split, genesis in zip(splits, (stored, expected), strict=True)
    ]
    if splits[0] != splits[1]:
        shown = (", ".join(f"{name}={value!r}" for name, value in split.items()) for split in splits)
        return _OTHER_SPLIT.format(*(each or "whoever made a Holdout of them" for each in shown))
    for numbers in (in_all, [genesis["rows"] for genesis in (stored, expected)]):
        if numbers[0] != numbers[1]:
            return _OTHER_NUMBER.format(*numbers)
    return _OTHER_COUNTS if stored.get("counts") != expected.get("counts") else OTHER_ORDER


def _maker(genesis: dict[str, Any]) -> str:
    """Say what began the temporary ledger of some data, and how to use it again."""
    split = genesis.get("split")
    if not isinstance(split, dict) or "holdout" not in split:
        return "a Holdout of all of them. Ask that Holdout"
    how = f"holdout: {split['holdout']}, random_state={split.get('random_state')!r}"
    return (
        f"a ReusableHoldoutCV, which set a part of them aside ({how}). Ask its holdout_, or search with the "
        "same holdout and random_state"
    )


_OWN = "This session's ledger for these data"
_OF_ITS_OWN = "For rows that nobody has asked about give a ledger of their own: ledger='holdout.db'."
WOULD_VOID = (
    "If these are its rows, changed, open it with the rows as they were: without ids= they cannot be told "
    "from other data, and a second ledger would be a second budget for one holdout."
)
FOLD_OF_ITS_OWN = (
    "An outer fold is other rows: ledger=None gives each fold a ledger that is certified for that fold alone."
)
OTHER_ORDER = "it has as many rows of each class, but other labels, or the same in another order"
_OTHER_COUNTS = "it has as many rows, but other classes, or other numbers of them (another target?)"
_OTHER_NUMBER = "it was begun with {:,} rows, and these are {:,} (add again what top_up added, which is free)"
_OTHER_SPLIT = "its rows were chosen by {}, and these by {}: use the same holdout and random_state"
