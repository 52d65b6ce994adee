"""Ctrl-C during a transaction waits until nothing is held and nothing is half done.

An interrupt between two steps of a charge could leave a lock with a traceback that a notebook keeps for
hours, or a state that is ahead of its records. The signal is remembered instead and delivered at the end of
the transaction. Where something long goes on, a wait for a lock or the replay of a long ledger, there
are points at which nothing is half done, and it is delivered there.
"""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any

__all__ = ["InterruptsHeld", "deliver_interrupt"]

_held: list[InterruptsHeld] = []  # of the main thread, the innermost last


class InterruptsHeld:
    """A block in which SIGINT is remembered, and after which it is delivered.

    Signals reach the main thread only; elsewhere there is nothing to hold. What was to become of the signal
    decides whoever set the handler that is found at the beginning of the block.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._signalled = False
        self._frame: FrameType | None = None

    def __enter__(self) -> None:
        before = _live(signal.getsignal(signal.SIGINT))
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and before is not None and before is not signal.SIG_IGN:
            self._before = before
            self._frame = sys._getframe(1)
            signal.signal(signal.SIGINT, self._remember)
            _held.append(self)

    def __exit__(self, *raised: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._frame = None
            _held.remove(self)
            self.deliver()

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._signalled = True

    def deliver(self) -> None:
        """Do what the signal was to do, if one has come."""
        if self._signalled:
            self._signalled = False
            if callable(self._before):
                self._before(signal.SIGINT, None)
            else:  # the system's own
                signal.signal(signal.SIGINT, self._before)
                signal.raise_signal(signal.SIGINT)


def _live(handler: Any) -> Any:
    """Return a handler, or the one before it if it belongs to a block that is over.

    What the handler of another signal raises may come just before a block puts things back.
    """
    while isinstance(owner := getattr(handler, "__self__", None), InterruptsHeld):
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame is not owner._frame:
            frame = frame.f_back
        if frame is not None:
            return handler
        if owner in _held:
            _held.remove(owner)
        handler = owner._before
    return handler


def deliver_interrupt() -> None:
    """Deliver an interrupt that is held: nothing is half done here."""
    if _held and threading.current_thread() is threading.main_thread():
        _held[-1].deliver()
