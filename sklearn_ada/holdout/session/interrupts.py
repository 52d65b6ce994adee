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
import inspect
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

__all__ = ["Interrupts", "held_interrupts"]

_NOT_HELD = {"SIGCHLD", "SIGCLD", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGPROF", "SIGPIPE"}
_ENOUGH = 3  # times that somebody interrupts who does not want to wait
_TOLD = b"""
Interrupted: the answer under way is recorded first. Interrupt twice more to give the model up, which then
has failed on the holdout.
"""


class Interrupts:
    """What has asked for an interrupt while it was held.

    Attributes
    ----------
    raised : bool
        What was asked raised a ``KeyboardInterrupt`` itself.
    looking : bool
        Whether a model is being asked, which may be given up.
    """

    def __init__(self) -> None:
        self.raised = self.looking = False
        self._signals: list[int] = []
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._times = 0  # that Ctrl-C was pressed
        self._process, self._is_over = os.getpid(), False

    def begin(self) -> None:
        """Hold every signal that a Python function handles; they reach the main thread only."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler) and getattr(number, "name", "") not in _NOT_HELD:
                self._before[int(number)] = handler
                signal.signal(number, self._hold)

    def end(self) -> None:
        """Put all handlers back, then call those whose signal came, though others may raise errors."""
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
        """Remember a signal. Where nothing is held any more, or in a forked child, handle it."""
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
    """Hold interrupts for the length of the block, then deliver them.

    A signal that no Python function handles does what it does: it is ignored, or ends the process.
    """
    interrupts = Interrupts()
    try:
        interrupts.begin()
        yield interrupts
    finally:
        interrupts.end()
    if interrupts.raised:
        raise KeyboardInterrupt
