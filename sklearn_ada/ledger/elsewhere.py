"""Remember which rows this process asked about, and on which ledger: a second one is a second budget.

Two sets of rows are taken for one if their labels are the same in the same order, whatever the classes are
called, or if nearly all rows of the smaller one are in the larger one: shuffled rows, rows of which some were
dropped, and those that a top-up added. Rows are compared by keyed hashes of features with labels, or of ids
with labels; such as occur more than once prove nothing. The folds of an outer cross-validation share less,
and other targets of the same features are other rows. The memory is that of one process, and of those that
are forked from it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import counted
from sklearn_ada.ledger.hash_chain import Ledger
from sklearn_ada.ledger.transactions import ChainedLedger, lock, records_read

_KEY = os.urandom(32)
_SIZE = 512  # hashes that are kept of each set of rows, the smallest ones
_FEWEST = 8  # of which less than this prove nothing, unless they are all
_SHARED = 0.95
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_log = logging.getLogger("sklearn_ada")


class Sample(NamedTuple):
    """The smallest hashes of some rows, in order, and the largest one up to which there are no others."""

    hashes: bytes
    up_to: int

    @classmethod
    def of(cls, hashes: NDArray[np.uint64]) -> Sample:
        """Return the sample of rows with these hashes; an empty one if most occur more than once."""
        with np.errstate(over="ignore"):
            mixed = (hashes ^ np.frombuffer(_KEY, np.uint64)[0]) * (np.frombuffer(_KEY, np.uint64)[1] | 1)
            mixed = (mixed ^ (mixed >> np.uint64(32))) * _GOLDEN
        values, counts = np.unique(mixed ^ (mixed >> np.uint64(29)), return_counts=True)
        lone = values[counts == 1]
        if 2 * len(lone) < len(hashes):
            return cls(b"", 0)
        up_to = int(lone[_SIZE - 1]) if len(lone) > _SIZE else 2**64 - 1
        return cls(lone[:_SIZE].tobytes(), up_to)

    def is_of_same_rows(self, other: Sample) -> bool:
        """Return whether nearly all rows of the one are rows of the other."""
        up_to = np.uint64(min(self.up_to, other.up_to))
        kept = [np.frombuffer(sample.hashes, np.uint64) for sample in (self, other)]
        mine, theirs = (hashes[hashes <= up_to] for hashes in kept)
        shared, sizes = len(np.intersect1d(mine, theirs, assume_unique=True)), (len(mine), len(theirs))
        enough = shared >= _SHARED * min(sizes) and min(sizes) >= _FEWEST
        return shared > 0 and (enough or sizes == (shared, shared))


class Rows(NamedTuple):
    """What some rows are recognised by."""

    orders: frozenset[bytes]
    samples: tuple[Sample, ...]

    @classmethod
    def of(cls, orders: Iterable[str], *hashes: NDArray[np.uint64]) -> Rows:
        """Return what rows are recognised by: digests of labels in their order, and hashes of each row."""
        keyed = frozenset(hmac.digest(_KEY, order.encode(), hashlib.sha256) for order in orders)
        return cls(keyed, tuple(map(Sample.of, hashes)))

    def are(self, other: Rows) -> bool:
        """Return whether these are the same rows."""
        return not self.orders.isdisjoint(other.orders) or any(
            mine.is_of_same_rows(theirs) for mine in self.samples for theirs in other.samples
        )


@dataclass
class _Entry:
    """A ledger that was opened here, or is being opened."""

    where: str
    rows: list[Rows]
    ledger: ChainedLedger[Any] | None = None
    asked: Callable[[], int] = lambda: 0
    accepted: set[str] = field(default_factory=set)  # other ledgers of these rows that were warned of


_entries: dict[str, _Entry] = {}  # for as long as the process lives: one that is dropped is a second budget


class Opening:
    """A ledger that is being opened: see `watched`."""

    def __init__(self, rows: Rows | None, where: str) -> None:
        self._rows, self._where = rows, where
        self._key = f"opening {os.urandom(8).hex()}"
        self._begins = False

    def begin(self) -> None:
        """Warn if these rows were asked about elsewhere, before a ledger of them is begun."""
        self._begins = True
        if self._rows is not None:
            with lock:
                _warn(self._rows, self._where, "", begins=True)
                _entries[self._key] = _Entry(self._where, [self._rows])

    def succeed(self, ledger: Ledger[Any], asked: Callable[[], int]) -> None:
        """Remember the ledger that was opened; warn if it is none of those on which they were asked about.

        Parameters
        ----------
        ledger : Ledger
        asked : callable
            Returns how many questions were asked of it.
        """
        if self._rows is None or not isinstance(ledger, ChainedLedger):
            return
        with lock:
            self.give_up()
            _warn_of_copy(ledger)
            if not self._begins:
                _warn(self._rows, self._where, ledger.digest, begins=False)
            others = _others(self._rows, ledger.digest)
            remember(self._rows, ledger, asked)
            for key, entry in others:  # who was warned of the two need not be again
                entry.accepted.add(ledger.digest)
                _entries[ledger.digest].accepted.add(key)

    def give_up(self) -> None:
        """Forget that a ledger was to be begun."""
        _entries.pop(self._key, None)


@contextlib.contextmanager
def watched(rows: Rows | None, where: str) -> Iterator[Opening]:
    """Watch the opening of a ledger; one that fails leaves nothing behind, and uses no warning up.

    None stands for rows that are not to be compared with others.
    """
    opening = Opening(rows, where)
    try:
        yield opening
    finally:
        with lock:
            opening.give_up()


def remember(rows: Rows, ledger: Ledger[Any], asked: Callable[[], int]) -> None:
    """Remember that these rows are asked about on this ledger.

    Parameters
    ----------
    rows : Rows
    ledger : Ledger
    asked : callable
        Returns how many questions were asked of it.
    """
    if not isinstance(ledger, ChainedLedger):
        return
    with lock:
        entry = _entries.setdefault(ledger.digest, _Entry(ledger.where, []))
        entry.where, entry.ledger, entry.asked = ledger.where, ledger, asked
        if rows not in entry.rows:
            entry.rows.append(rows)


def announce(where: str, n_rows: int) -> str:
    """Log that a budget begins, and return the line that says so."""
    line = f"a new ledger begins at {where}, for {counted(n_rows, 'row')}"
    _log.info("%s", line)
    return line


def _others(rows: Rows, digest: str) -> list[tuple[str, _Entry]]:
    """Return the other ledgers on which these rows were asked about."""
    return [
        (key, entry)
        for key, entry in _entries.items()
        if key != digest and any(rows.are(each) for each in entry.rows)
    ]


def _warn(rows: Rows, where: str, digest: str, *, begins: bool) -> None:
    known = _entries[digest].accepted if digest in _entries else set()
    others = [(_count(entry), entry.where) for key, entry in _others(rows, digest) if key not in known]
    if not others:
        return
    asked, other = max(others, key=lambda each: 0.5 if each[0] is None else each[0])
    here = f"Here they {'begin a new ledger' if begins else 'have another one'}, {where}"
    if asked == 0:
        warn_user(
            f"These rows, or nearly all of them, have the ledger {other} in this session, which was asked "
            f"nothing yet. {here}: ask on one of them only, as two would be two budgets for one holdout."
        )
        return
    warn_user(
        f"These rows, or nearly all of them, were asked about in this session on the ledger {other}, where "
        f"{_standing(asked)}. {here}: a second budget for one holdout, and no interval of either ledger is "
        "guaranteed any more. Open them where they were asked about; or, if these are other rows, go on."
    )


def _count(entry: _Entry) -> int | None:
    """Return how many questions stand on a ledger, or None if it cannot be read now."""
    try:
        return entry.asked()
    except Exception:  # whatever a database raises: the warning matters more
        return None


def _standing(asked: int | None) -> str:
    if asked is None:
        return "it cannot be read now how many questions stand"
    return f"{counted(asked, 'question')} stand{'s' if asked == 1 else ''}"


def _warn_of_copy(ledger: ChainedLedger[Any]) -> None:
    """Warn if this process has used the same ledger at another place, of which this is a copy."""
    entry = _entries.get(ledger.digest)
    if entry is None or entry.ledger is None or entry.ledger.identity == ledger.identity:
        return
    lacking = records_read(ledger.digest) - records_read(ledger.digest, ledger)
    old, new = entry.ledger.identity, ledger.identity
    if lacking > 0 or (os.path.exists(old) and not os.path.samefile(old, new)):
        less = f", which lacks the last {counted(lacking, 'record')}" if lacking > 0 else ""
        warn_user(
            f"The ledger {ledger.where} is a copy of {entry.where}, which was used in this session{less}. "
            "What one copy answers the other forgets: two budgets for one holdout. Go on with one of them "
            "only, the one with more records."
        )
