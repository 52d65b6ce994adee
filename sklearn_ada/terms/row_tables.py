"""Recognise a holdout's rows, and what changed in them, by keyed hashes.

A row has eight bytes for its id, and four for its id with its label. Two of a million rows have the same hash
of the id with a probability of 3e-8, and a changed label is missed with one of 2e-10. Only who has the
ledger's secret can test whether a hash is that of a given row.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._validation import counted
from sklearn_ada.accounting.events import CodedRelease, Symbol

Table = NDArray[np.void]
"""Sorted rows: a keyed hash of the id, and one of the id with its label."""

_ROW = np.dtype([("id", "<u8"), ("label", "<u4")])


def key_of_rows(secret: bytes, genesis: dict[str, Any]) -> bytes:
    """Return the key of what a ledger keeps of its rows.

    A secret that ``random_state`` has made is completed by bytes of the operating system, which stand in the
    genesis: whoever knows the number computes no fingerprint from labels that he guesses.
    """
    return secret + bytes.fromhex(genesis.get("salt", ""))


def keyed_ids(ids: NDArray[np.bytes_], secret: bytes) -> NDArray[np.uint64]:
    """Return the keyed hashes of hashed ids (`sklearn_ada.digest.rows.id_hashes`), in their order."""
    return np.frombuffer(b"".join(_keyed(ids.tolist(), secret, 8, b"ada id")), dtype="<u8")


def keyed_table(ids: NDArray[np.bytes_], y: NDArray[Any], secret: bytes) -> Table:
    """Return the table of rows with these hashed ids and labels.

    Examples
    --------
    >>> ids = np.array([b"a", b"b"])
    >>> one = keyed_table(ids, np.array([0, 1]), b"secret")
    >>> bool((one == keyed_table(ids[::-1], np.array([1.0, 0.0]), b"secret")).all())
    True
    """
    labelled = [one + text for one, text in zip(ids.tolist(), _texts(y), strict=True)]
    table = np.empty(len(ids), dtype=_ROW)
    table["id"] = keyed_ids(ids, secret)
    table["label"] = np.frombuffer(b"".join(_keyed(labelled, secret, 4, b"ada label")), dtype="<u4")
    return np.sort(table)


def fingerprint_of(table: Table, secret: bytes) -> str:
    """Return the keyed digest of the rows of a table."""
    return hmac.new(secret, b"ids" + table.tobytes(), hashlib.sha256).hexdigest()


def packed(table: Table) -> str:
    """Return a table as text, for JSON."""
    return base64.b64encode(table.tobytes()).decode()


def unpacked(text: str) -> Table:
    """Return the table that `packed` made a text of."""
    return np.frombuffer(base64.b64decode(text), dtype=_ROW)


class Changes(NamedTuple):
    """What became of the rows of a table.

    Attributes
    ----------
    missing : Table
        Rows that are there no longer.
    relabelled : Table
        Rows of ids that were there, with the labels that they have now.
    added : Table
        Rows of ids that were not there, or more of one that was.
    """

    missing: Table
    relabelled: Table
    added: Table

    @classmethod
    def between(cls, old: Table, new: Table) -> Changes:
        """Return what has to be done to one table to get another.

        Examples
        --------
        >>> old, new = (np.array(rows, dtype=_ROW) for rows in ([(1, 5), (2, 5)], [(2, 6), (3, 5)]))
        >>> [len(part) for part in Changes.between(old, new)]
        [1, 1, 1]
        """
        missing, added = _beyond(old, new), _beyond(new, old)
        before, now = old[np.isin(old["id"], new["id"])], new[np.isin(new["id"], old["id"])]
        if not np.array_equal(before["id"], now["id"]):  # an id occurs more or less often: these are refused
            return cls(missing, new[:0], added)
        changed = np.unique(now["id"][before != now])
        return cls(missing, now[np.isin(now["id"], changed)], added)

    def in_words(self, before: int) -> list[str]:
        """Return how many rows of ``before`` are missing, and how many are new, as far as there are any.

        Ids are public. How many labels differ is said nowhere.
        """
        lost, new = len(self.missing), len(self.added)
        gone = f"{lost:,} of the {before:,} rows {'is' if lost == 1 else 'are'} missing"
        come = f"{counted(new, 'row')} {'is' if new == 1 else 'are'} new"
        return [words for count, words in ((lost, gone), (new, come)) if count]

    def steps(self, old: Table, missing: str) -> list[tuple[Change, Table, Table]]:
        """Return the changes one by one: how rows change, the rows concerned, and all rows after it.

        ``missing`` says which change it is that rows are missing (`MISSING`). They may be missing whatever
        it says where the rows are those of an earlier edition.
        """
        changes = CHANGES | {"missing": MISSING[missing] or CHANGES["missing"]}
        done = []
        for name, rows in self._asdict().items():
            if len(rows):
                old = changes[name].after(rows, old)
                done.append((changes[name], rows, old))
        return done


@dataclass(frozen=True)
class Change:
    """A way in which the rows of a holdout may change.

    Attributes
    ----------
    name : str
        As records have it.
    keeps : {"all", "others", "none"}
        Which of the rows before it stay: all, those of other ids than the rows concerned, none.
    adds : bool, default=True
        Whether the rows concerned are there after it.
    labels_differ : bool, default=False
        Whether it reveals that labels are others than before. Then its record holds all rows after it, and
        how many it is about stands nowhere: that would reveal, for nothing, how often predictions err.
    is_free : bool, default=False
        Whether it reveals nothing of labels that was not paid for, as it leads back to rows that were there.
    assumption : str or None, default=None
        What every later certificate rests on.
    words : str, default="{count} rows {name}"
        What tables show of it.
    chosen_by : str or None, default=None
        The option of ``missing`` that stands for it, if it is about missing rows.
    """

    name: str
    keeps: Literal["all", "others", "none"]
    adds: bool = True
    labels_differ: bool = False
    is_free: bool = False
    assumption: str | None = None
    words: str = "{count} rows {name}"
    chosen_by: str | None = None

    def after(self, rows: Table, old: Table) -> Table:
        """Return all rows after it, which concerns ``rows``."""
        if self.keeps == "others":
            old = old[~np.isin(old["id"], rows["id"])]
        kept = old[:0] if self.keeps == "none" else old
        return np.sort(np.concatenate([kept, rows])) if self.adds else kept

    def event(self, *, are_others: bool, labellings: int, rows: int = 0) -> CodedRelease | None:
        """Return what is released of labels; None if nothing is.

        Parameters
        ----------
        are_others : bool
            Whether rows that are added have been there before, with other labels.
        labellings : int
            How many labels of rows with these ids are recorded then, these included: any of them may be the
            ones that somebody passes later.
        rows : int, default=0
            How many there are. Of more than ten it tells that few enough labels differ
            (`are_joined_otherwise`). 0 in older formats, where it did not.
        """
        if self.is_free:
            return None
        symbols = [LABELS_DIFFER] if are_others or self.labels_differ else []
        if self.labels_differ and rows > _FEW:
            symbols.append(Symbol("which", 0, 1.0 - _ANOTHER_JOIN))
        symbols.append(LABELS_HOLD)
        if labellings > 1:
            symbols.append(Symbol("which", 0, 1.0 / labellings))
        return CodedRelease(tuple(symbols))


LABELS_DIFFER = Symbol("relabelled", 1)
LABELS_HOLD = Symbol("relabelled", 0)
"""Paid in advance: that labels which are passed later are these."""

_ANOTHER_JOIN = 0.1
"""The share of labels that differ, as prices have it, that belong to other rows."""
ANOTHER_JOIN = CodedRelease((LABELS_DIFFER, Symbol("which", 0, _ANOTHER_JOIN)))
"""Labels differ, and so many that they are no corrections."""
_FEW = 10
"""So many labels may differ in any case."""

_CORRECTED = "labels were corrected without looking at predictions, at times that depend on no record"
_LEFT_OUT = (
    "rows that are missing were left out by a rule that did not look at their labels or at predictions"
)
_WAYS = (
    Change("begun", "none"),
    Change("added", "all"),
    Change("relabelled", "others", labels_differ=True, assumption=_CORRECTED, words="labels differ"),
    Change("missing", "others", adds=False, assumption=_LEFT_OUT, chosen_by="ignore"),
    Change("back", "none", is_free=True, words="as they were before"),
)
CHANGES = {each.name: each for each in _WAYS}
MISSING = {"raise": None} | {each.chosen_by: each for each in _WAYS if each.chosen_by is not None}
"""The options of ``missing``, each with the change that it stands for; with "raise" there is none."""


def are_joined_otherwise(relabelled: int, stayed: int, y: NDArray[Any]) -> bool:
    """Return whether more labels differ than corrections change: half as many as if all were put at random.

    So it is where ids are off by one, reversed or sorted by themselves, or where labels are another target.

    Parameters
    ----------
    relabelled, stayed : int
        How many labels differ, of the rows that were there before.
    y : ndarray
        All labels as they are now.

    Examples
    --------
    >>> y = np.arange(100) % 2
    >>> are_joined_otherwise(24, 100, y), are_joined_otherwise(26, 100, y)
    (False, True)
    """
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return relabelled > max(stayed * (1.0 - float(shares @ shares)) / 2.0, _FEW)


def _beyond(rows: Table, others: Table) -> Table:
    """Return the rows of each id beyond as many as ``others`` have of it."""
    ids, first, of_row = np.unique(rows["id"], return_index=True, return_inverse=True)
    there = np.sort(others["id"])
    counts = np.searchsorted(there, ids, side="right") - np.searchsorted(there, ids)
    return rows[np.arange(len(rows)) - first[of_row] >= counts[of_row]]


def _keyed(texts: list[bytes], secret: bytes, size: int, person: bytes) -> list[bytes]:
    start = hashlib.blake2b(key=secret[:64], digest_size=size, person=person)

    def one(text: bytes) -> bytes:
        whole = start.copy()
        whole.update(text)
        return whole.digest()

    return [one(text) for text in texts]


def _texts(y: NDArray[Any]) -> list[bytes]:
    """Return labels as bytes, numbers of equal values as the same ones."""
    if y.dtype.kind in "biuf":
        plain = np.ascontiguousarray(y.astype(np.float64) + 0.0)
        return [b"number" + value.tobytes() for value in plain]
    return [b"text" + str(value).encode("utf-8", "surrogatepass") for value in y.tolist()]
