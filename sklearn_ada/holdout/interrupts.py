"""Ctrl-C waits until what was seen of the holdout is recorded.

Between the look and the commit an interrupt would leave an answer that was seen and is recorded nowhere; an
alarm or a request to end would make a failure of a model that has not failed. Such signals are held for
that long and then delivered: they cost the user nothing. A ``KeyboardInterrupt`` that a model or a metric
raises by itself may depend on the holdout's rows, so it is a failure with a price like any other, and is
raised again, bare, once it is recorded.

A model that sends its own process a signal, or ends it, tells something that is not priced, as it does by the
time that it takes. Nothing here can tell its signal from the user's.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

__all__ = ["Interrupts", "held_interrupts"]

_HELD = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGBREAK")  # not every system has all
    if hasattr(signal, name)
]
_TOLD = b"\nInterrupted: the answer under way is recorded first.\n"


class Interrupts:
    """What has asked for an interrupt while it was held.

    Attributes
    ----------
    signals : list of int
        Signals that arrived, each once.
    raised : bool
        What was asked raised a ``KeyboardInterrupt`` itself.
    """

    def __init__(self) -> None:
        self.signals: list[int] = []
        self.raised = False

    def hold(self, number: int, frame: FrameType | None) -> None:
        """Remember a signal; of Ctrl-C say so where there is a terminal."""
        if number not in self.signals:
            self.signals.append(number)
        if number == signal.SIGINT:
            with contextlib.suppress(OSError):
                os.write(2, _TOLD)


def _deliver(signals: list[int]) -> None:
    """Raise all signals, though handlers may raise errors."""
    if signals:
        try:
            signal.raise_signal(signals[0])
        finally:
            _deliver(signals[1:])


@contextlib.contextmanager
def held_interrupts() -> Iterator[Interrupts]:
    """Hold interrupts for the length of the block, then deliver them.

    Signals reach the main thread only; elsewhere there is nothing to hold. One that no Python function
    handles does what it does: it is ignored, or ends the process.
    """
    interrupts = Interrupts()
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in _HELD}
        before = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in before:
        signal.signal(number, interrupts.hold)
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _deliver(interrupts.signals)
    if interrupts.raised:
        raise KeyboardInterrupt
