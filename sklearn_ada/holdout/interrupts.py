"""Ctrl-C waits until what was seen of the holdout is recorded.

Between the look and the commit an interrupt would leave an answer that was seen and is recorded nowhere. A
signal is held for that long and then delivered: it costs the user nothing. A ``KeyboardInterrupt`` that a
model or a metric raises by itself may depend on the holdout's rows, so it is a failure with a price like any
other, and is raised again, bare, once it is recorded.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["Interrupts", "held_interrupts"]

_TOLD = b"\nInterrupted: the answer under way is recorded first.\n"


class Interrupts:
    """What has asked for an interrupt while it was held.

    Attributes
    ----------
    signalled : bool
        A signal arrived: Ctrl-C.
    raised : bool
        What was asked raised a ``KeyboardInterrupt`` itself.
    """

    def __init__(self) -> None:
        self.signalled = self.raised = False

    def hold(self, number: int, frame: FrameType | None) -> None:
        """Remember the signal, and say so where there is a terminal."""
        self.signalled = True
        with contextlib.suppress(OSError):
            os.write(2, _TOLD)


@contextlib.contextmanager
def held_interrupts() -> Iterator[Interrupts]:
    """Hold interrupts for the length of the block, then deliver them.

    Signals reach the main thread only; elsewhere there is nothing to hold.
    """
    interrupts = Interrupts()
    before = signal.getsignal(signal.SIGINT)
    # A handler that was not set from Python cannot be put back, so it stays.
    holds = threading.current_thread() is threading.main_thread() and before is not None
    if holds:
        signal.signal(signal.SIGINT, interrupts.hold)
    try:
        yield interrupts
    finally:
        if holds:
            signal.signal(signal.SIGINT, before)
        if interrupts.signalled:
            signal.raise_signal(signal.SIGINT)
    if interrupts.raised:
        raise KeyboardInterrupt
