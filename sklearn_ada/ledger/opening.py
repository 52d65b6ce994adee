"""Lead from what the user gives as ``ledger`` to the backend that keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger import memory, postgresql, sqlite  # noqa: F401 - each registers its backend
from sklearn_ada.ledger.addresses import check_address, mistake_in
from sklearn_ada.ledger.hash_chain import Body, Ledger, Start, State
from sklearn_ada.ledger.transactions import BACKENDS, Address, ChainedLedger


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
    for backend in BACKENDS:
        if given is backend.shorthand or (isinstance(given, str) and given == backend.shorthand):
            return backend.address_for(content, kind)
    check_address(given)
    assert given is not None
    return given


def goes_with_data(given: Address | None) -> bool:
    """Return whether what a user gave as ``ledger`` leaves to the data which ledger of the session it is."""
    return any(given == backend.shorthand for backend in BACKENDS)


def ledgers_of_kind(given: Address | None, kind: str) -> list[str]:
    """Return the addresses of this session's ledgers (of this process's, in memory) of a kind."""
    of_shorthand = (backend for backend in BACKENDS if given == backend.shorthand)
    return [address for backend in of_shorthand for address in backend.addresses_of_kind(kind)]


def is_begun(address: Address) -> bool:
    """Return whether there is a ledger at an address of this session's or process's."""
    return _backend_of(address).is_begun(address)


def is_temporary(address: Address) -> bool:
    """Return whether a ledger is gone with this session, or with this process."""
    return _backend_of(address).is_temporary(address)


def where(address: Address) -> str:
    """Return an address in full, without a password."""
    backend = _backend_of(address)
    return backend._where(backend._place_of(address))


def note_ids(address: Address, ledger: Address) -> None:
    """Note another ledger, in which the rows of this address have ids."""
    _backend_of(address).note(address, ledger)


def noted_ledgers(address: Address) -> list[str]:
    """Return the addresses of the ledgers that `note_ids` noted for an address, begun or not."""
    return _backend_of(address).noted(address)


def open_ledger(
    address: Address,
    genesis_from_secret: Callable[[bytes], Body],
    start: Start[State],
    secret: bytes | None = None,
    of_found: Callable[[bytes, Body], Body] | None = None,
) -> Ledger[State]:
    """Open the ledger at an address that `ledger_address` returned, or create it.

    For the parameters, and what is raised, see `ChainedLedger.create_or_open`.
    """
    return _backend_of(address).create_or_open(address, genesis_from_secret, start, secret, of_found)


def open_existing_ledger(address: Address, start: Start[State], replay: bool = True) -> Ledger[State]:
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
    mistake = mistake_in(address)
    if mistake is not None:
        raise LedgerUnavailableError(f"There is no ledger at {mistake.got}. {mistake.fix}".rstrip())
    return _backend_of(address).open_existing(address, start, replay)


def open_ledger_to_write(address: Address, start: Start[State]) -> Ledger[State]:
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

    def is_gone(secret: bytes) -> Body:
        raise LedgerUnavailableError("The ledger was removed.")

    return open_ledger(address, is_gone, start, of_found=lambda secret, found: genesis)


def _backend_of(address: Address) -> type[ChainedLedger[Any]]:
    text = address if isinstance(address, str) else ""
    matching = [backend for backend in BACKENDS if re.match(backend.scheme, text)]
    return max(matching, key=lambda backend: len(backend.scheme))
