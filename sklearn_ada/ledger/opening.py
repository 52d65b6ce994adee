"""From what the user gives as ``ledger`` to the backend that keeps it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from sklearn_ada._validation import bad_parameter
from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger.hash_chain import Ledger, State
from sklearn_ada.ledger.memory import MemoryLedger
from sklearn_ada.ledger.postgresql import SQLLedger, is_url
from sklearn_ada.ledger.sqlite import SQLiteLedger, is_temporary, temporary_ledger_path, temporary_ledgers

Address = str | os.PathLike[str]
_MEMORY = ":memory:"
_noted: set[tuple[int, Address, Address]] = set()  # addresses in the memory of a process


def ledger_address(given: Address | None, content: Callable[[], str], kind: str = "") -> Address:
    """Return where the ledger is for what a user gave as ``ledger``.

    Parameters
    ----------
    given : path-like, str or None
        A path: a SQLite file. ``"postgresql://..."``: a book in a database. ``":memory:"``: the memory of
        this process. None: a temporary file of this process.
    content : callable
        Returns a digest of the data. The same data have the same temporary ledger, or the same one in
        memory, so that asking again goes on paying.
    kind : str, default=""
        Names of such a ledger begin with it: see `ledgers_of_kind`.

    Raises
    ------
    ValueError
        If it is none of these.

    Examples
    --------
    >>> ledger_address(":memory:", lambda: "5ada")
    ':memory:5ada'
    """
    if given is None:
        return temporary_ledger_path(content(), kind)
    if given == _MEMORY:
        return f"{_MEMORY}{kind}-{content()}" if kind else _MEMORY + content()
    expected = "a path, ':memory:', a 'postgresql://...' URL or None"
    if not isinstance(given, (str, os.PathLike)):
        raise bad_parameter("ledger", "Holdout", expected, given)
    scheme = _mistaken_scheme(given)
    if scheme is not None:
        raise bad_parameter("ledger", "Holdout", expected, scheme)
    return given


def ledgers_of_kind(given: Address | None, kind: str) -> list[str]:
    """Return the addresses of this session's ledgers (of this process's, in memory) of a kind."""
    if given is None:
        return temporary_ledgers(kind)
    return MemoryLedger.names(f"{_MEMORY}{kind}-") if given == _MEMORY else []


def is_begun(address: Address) -> bool:
    """Return whether there is a ledger at an address of this session's, or of this process's memory."""
    if isinstance(address, str) and address.startswith(_MEMORY):
        return address in MemoryLedger.names(address)
    return os.path.exists(address)


def is_of_session(address: Address) -> bool:
    """Return whether a ledger is gone with this session, or with this process."""
    text = os.fspath(address)
    return text.startswith(_MEMORY) or (not is_url(text) and is_temporary(text))


def note_ids(address: Address, ledger: Address) -> None:
    """Note that the rows which would have their ledger at this address are known by ids in another one."""
    if isinstance(address, str) and address.startswith(_MEMORY):
        _noted.add((os.getpid(), address, ledger))
    elif os.fspath(ledger) not in noted_ledgers(address):
        with open(f"{os.fspath(address)}-ids", "ab", buffering=0) as file:
            file.write(os.fsencode(f"{os.path.basename(ledger)}\n"))


def noted_ledgers(address: Address) -> list[str]:
    """Return the addresses of the ledgers that `note_ids` noted for an address, begun or not."""
    if isinstance(address, str) and address.startswith(_MEMORY):
        return sorted(os.fspath(own) for pid, of, own in _noted if (pid, of) == (os.getpid(), address))
    try:
        with open(f"{os.fspath(address)}-ids", "rb") as file:
            names = os.fsdecode(file.read()).splitlines()
    except FileNotFoundError:
        return []
    folder = os.path.dirname(address)
    return sorted({os.path.join(folder, name) for name in names})


def open_ledger(
    address: Address,
    genesis_from_secret: Callable[[bytes], dict[str, Any]],
    start: Callable[[dict[str, Any]], State],
    secret: bytes | None = None,
    of_found: Callable[[bytes, dict[str, Any]], dict[str, Any]] | None = None,
) -> Ledger[State]:
    """Open the ledger at an address, or create it.

    Parameters
    ----------
    address : path-like or str
        What `ledger_address` returned.
    genesis_from_secret : callable
        Takes the ledger's secret and returns the genesis that the caller expects.
    start : callable
        Takes the genesis and returns the state before any record.
    secret : bytes or None
        The secret of a new ledger; by default 32 bytes from the operating system.
    of_found : callable or None
        Takes the secret and the genesis of a ledger that is there, and returns the genesis that the caller
        expects of such a one; by default what a new one would have.

    Raises
    ------
    LedgerMismatchError
        If the genesis differs: another holdout, another split, another policy.
    LedgerUnavailableError, LedgerDamagedError
        If the ledger cannot be used.
    """
    if isinstance(address, str) and address.startswith(_MEMORY):
        return MemoryLedger.create_or_open(address, genesis_from_secret, start, secret, of_found)
    if is_url(address):
        return SQLLedger.create_or_open(address, genesis_from_secret, start, secret, of_found)
    return SQLiteLedger.create_or_open(address, genesis_from_secret, start, secret, of_found)


def open_existing_ledger(
    address: str | os.PathLike[str], start: Callable[[dict[str, Any]], State], replay: bool = True
) -> Ledger[State]:
    """Open a ledger under whatever genesis it has, to look at it; it must exist.

    Parameters
    ----------
    address : path-like or str
        A path or a ``"postgresql://..."`` URL.
    start : callable
        Takes the genesis and returns the state before any record.
    replay : bool, default=True
        Whether to read and verify all records now; if not, that is done when they are needed.

    Raises
    ------
    LedgerUnavailableError, LedgerDamagedError
        If the ledger cannot be read.
    """
    scheme = _mistaken_scheme(address)
    if scheme is not None:
        raise LedgerUnavailableError(
            f"There is no ledger at {scheme}: give the path of a file, or a URL like "
            "postgresql://user@host/database?book=name."
        )
    if isinstance(address, str) and address.startswith(_MEMORY):
        return MemoryLedger.open_existing(address, start, replay)
    if is_url(address):
        return SQLLedger.open_existing(address, start, replay)
    return SQLiteLedger.open_existing(address, start, replay)


def open_ledger_to_write(
    address: str | os.PathLike[str], start: Callable[[dict[str, Any]], State]
) -> Ledger[State]:
    """Open a ledger under whatever genesis it has, to go on with it; it must exist.

    Parameters
    ----------
    address : path-like or str
        A path or a ``"postgresql://..."`` URL.
    start : callable
        Takes the genesis and returns the state before any record.

    Raises
    ------
    LedgerUnavailableError, LedgerDamagedError
        If the ledger cannot be read.
    """
    genesis = open_existing_ledger(address, start, replay=False).genesis

    def is_gone(secret: bytes) -> dict[str, Any]:
        raise LedgerUnavailableError("The ledger was removed.")

    return open_ledger(address, is_gone, start, of_found=lambda secret, found: genesis)


def _mistaken_scheme(address: Address) -> str | None:
    """Return how what is meant as a URL begins, and cannot be one; never the rest: it may hold a password."""
    if not isinstance(address, str) or is_url(address):
        return None
    found = re.match(r"\s*(\w[\w+.-]*://|postgres(?:ql)?(?:\+\w*)?\s*:)", address, re.IGNORECASE)
    return None if found is None else f"{found[1]}..."
