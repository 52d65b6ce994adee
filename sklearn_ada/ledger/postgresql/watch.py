"""A server that stops answering must not hold an asker for ever."""

from __future__ import annotations

import math
import os
import socket
import threading
import time

__all__ = ["Watch"]

PATIENCE = 90.0  # longer than the server itself waits for a lock
_LOOK = 0.5


class Watch:
    """Cuts a connection if a statement is not answered in time; the driver then reports it as lost.

    Used as a context around each statement.

    Parameters
    ----------
    descriptor : int
        The socket of the connection.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._socket = socket.socket(fileno=os.dup(descriptor))
        self._until = math.inf
        self._over = threading.Event()
        threading.Thread(target=self._look, name="ledger watch", daemon=True).start()

    def __enter__(self) -> None:
        self._until = time.monotonic() + PATIENCE

    def __exit__(self, *raised: object) -> None:
        self._until = math.inf

    def _look(self) -> None:
        while not self._over.wait(_LOOK):
            if time.monotonic() > self._until:
                self._socket.shutdown(socket.SHUT_RDWR)
                break
        self._socket.close()

    def stop(self) -> None:
        """Watch no more."""
        self._over.set()

    def deaden(self) -> None:
        """In a forked child: let nothing that is ever written there reach the parent's server."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, self._descriptor)
        os.close(nowhere)
        self._socket.close()
