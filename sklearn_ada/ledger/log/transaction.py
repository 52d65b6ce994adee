"""Begin, do, commit; or roll back. The state in memory and the storage change together or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sklearn_ada.ledger.log.connection import Connection

__all__ = ["transact"]

T = TypeVar("T")


def transact(connection: Connection, write: bool, task: Callable[[Connection], T]) -> T:
    """Return ``task(connection)``, done in a transaction.

    Nothing is entered or left by a call, so that there is no moment at which an exception from outside, such
    as a signal's, finds a transaction that nobody ends. Should one come while another is dealt with,
    whoever uses the ledger next does the rest.

    Parameters
    ----------
    connection : Connection
    write : bool
        Whether to be the only writer.
    task : callable
    """
    connection.in_use = True
    try:
        connection.begin(write)
        result = task(connection)
        connection.commit()
        connection.committed()
        connection.in_use = False
        return result
    except BaseException:
        connection.is_left = True  # until all is cleared away
        connection.clear_up()
        raise
