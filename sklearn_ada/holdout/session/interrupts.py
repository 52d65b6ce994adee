"""Ctrl-C and other signals wait until what was seen of the holdout is recorded.

An interrupt between the look at the holdout and the commit would leave an answer that was computed and is
recorded nowhere; an alarm or a request to terminate would be recorded as a failure of the model. So such
signals are held back for that long and then delivered; they cost no nats. A ``KeyboardInterrupt`` that a
model or a metric raises itself may depend on the holdout's rows: it is recorded and paid for as a failure,
and then raised again without its message.

Not covered: a model that sends a signal to its own process, or ends it, can reveal something without paying,
as it can by the time that it takes. Its signal looks like the user's.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

__all__ = ["Interrupts", "held_interrupts"]

_NOT_HELD = {"SIGCHLD", "SIGCLD", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGPROF", "SIGPIPE"}
_HELD = tuple(number for number in signal.valid_signals() if getattr(number, "name", "") not in _NOT_HELD)
_ENOUGH = 3  # Ctrl-C so many times gives the model up
_TOLD = b"""
Interrupted: the answer under way is recorded first. Interrupt twice more to give the model up, which then
has failed on the holdout.
"""


class Interrupts:
    """The signals that came while they were held back.

    Attributes
    ----------
    raised : bool
        Whether the model or the metric raised a ``KeyboardInterrupt`` itself.
    looking : bool
        Whether a model is predicting, which may be given up.
    """

    def __init__(self) -> None:
        self.raised = self.looking = False
        self._signals: list[int] = []
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._times = 0  # that Ctrl-C was pressed
        self._process, self._is_over = os.getpid(), False

    def begin(self) -> None:
        """Hold back every signal that a Python function handles. Only the main thread gets signals."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _HELD:
            handler = signal.getsignal(number)
            if callable(handler):
                self._before[int(number)] = handler
                signal.signal(number, self._hold)

    def end(self) -> None:
        """Put all handlers back, then call those whose signal came, all of them even if one raises."""
        self._is_over = True
        self._each(list(self._before), lambda number: signal.signal(number, self._before[number]))
        self._each(self._signals, lambda number: self._before[number](number, inspect.currentframe()))

    def _each(self, numbers: list[int], do: Callable[[int], Any]) -> None:
        if numbers:
            try:
                do(numbers[0])
            finally:
                self._each(numbers[1:], do)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        """Remember a signal. If signals are no longer held back, or in a forked child, handle it at once."""
        if self._is_over or os.getpid() != self._process:
            self._before[number](number, frame)
            return
        if number not in self._signals:
            self._signals.append(number)
        if number == signal.SIGINT:
            self._times += 1
            if self._times == 1:
                with contextlib.suppress(OSError):
                    os.write(2, _TOLD)
            elif self._times >= _ENOUGH and self.looking:
                raise KeyboardInterrupt


@contextlib.contextmanager
def held_interrupts() -> Iterator[Interrupts]:
    """Hold signals back during the block, then deliver them.

    A signal that no Python function handles is not held back: it is ignored, or ends the process.
    """
    interrupts = Interrupts()
    try:
        interrupts.begin()
        yield interrupts
    finally:
        interrupts.end()
    if interrupts.raised:
        raise KeyboardInterrupt
