"""Look at the holdout, and show nothing of it before it is charged.

A model predicts the holdout's rows; whatever it raises there is an outcome with a price.

**Signals wait** until what was seen of the holdout is recorded. An interrupt between the look at the holdout
and the commit would leave an answer that was computed and is recorded nowhere; an alarm or a request to
terminate would be recorded as a failure of the model. So such signals are held back for that long and then
delivered; they cost no nats. A ``KeyboardInterrupt`` that a model or a metric raises itself may depend on the
holdout's rows: it is recorded and paid for as a failure, and then raised again without its message.

**A score keeps nothing.** A scorer or a metric of the user's may note down what it is called with, in an
attribute, a list that it closes over or a default. As a model does, it looks as a copy, which is discarded.

Not covered: a model that sends a signal to its own process, or ends it, can reveal something without paying,
as it can by the time that it takes. Its signal looks like the user's.

**Errors are bare**: those that are raised after a look carry no frame that holds what was seen. A traceback
keeps the local variables of all functions that an error came through. If the charge fails after the look (the
ledger is gone, the question is refused after all, Ctrl-C), they would hold values that nobody has paid for,
in reach of debuggers, of notebooks (``%debug``) and of tools that report errors with variables.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import inspect
import os
import pickle
import signal
import threading
import types
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from sklearn_ada._notices import muted
from sklearn_ada.accounting.events import FAILURES, Symbol
from sklearn_ada.data.tables import objects_in
from sklearn_ada.metrics.base import UndefinedMetricError
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.metrics.outputs import UnusableOutputsError
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.outputs import Observation, OutputSummary

Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])

_NOT_HELD = {"SIGCHLD", "SIGCLD", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGPROF", "SIGPIPE"}
_HELD = tuple(number for number in signal.valid_signals() if getattr(number, "name", "") not in _NOT_HELD)
_ENOUGH = 3  # Ctrl-C so many times gives the model up
_INTERRUPTED = b"""
Interrupted: the answer under way is recorded first. Interrupt twice more to give the model up, which then
has failed on the holdout.
"""
_FAILURE_OF = (
    (UnusableOutputsError, FAILURES[4]),  # it and the next are ValueErrors
    (UndefinedMetricError, FAILURES[5]),
    (ValueError, FAILURES[0]),
    (TypeError, FAILURES[1]),
    (MemoryError, FAILURES[2]),
)


Evaluate = Callable[[Any, HoldoutData], Observation]


def look(
    evaluate: Evaluate, discarded: Any, data: HoldoutData, interrupts: HeldSignals, stream: str, scale: float
) -> Observation:
    """Return ``evaluate(discarded, data)`` or, if that raises, the symbols of the failure.

    A failure may depend on the holdout's rows, so it is recorded and paid for like any other outcome. So is a
    ``KeyboardInterrupt`` that the model raises itself, which `held_signals` raises again in the end.
    Warnings raised on the way may quote holdout values and are dropped; where a filter turns them into
    errors, the model has failed.
    """
    try:
        with muted():
            try:
                interrupts.looking = True
                return evaluate(discarded, data)
            finally:
                interrupts.looking = False
    except BaseException as error:  # whatever a model raises on the holdout has a price, SystemExit too
        interrupts.looking = False
        # type(error) and not isinstance: an error may have a ``__class__`` that raises another error.
        reason = next((text for kind, text in _FAILURE_OF if issubclass(type(error), kind)), None)
        if reason is not None:
            symbols: tuple[Symbol, ...] = (Symbol(stream, reason, scale),)
        else:
            is_interrupt = issubclass(type(error), KeyboardInterrupt)
            interrupts.raised |= is_interrupt
            symbols = another_error(stream, scale, is_interrupt=is_interrupt)
        return Observation(symbols, OutputSummary.of(symbols))


def apart(evaluate: Function, metric: Metric) -> Function:
    """Return a copy of what evaluates by a metric, if that calls a function of the user's.

    The function has variables of its own then; what of them cannot be copied is shared.
    """
    if not callable(metric.scoring):
        return evaluate
    memo: dict[int, Any] = {}
    functions = []
    try:
        for _, each, _ in objects_in(evaluate, "scoring", "a question"):
            if inspect.isfunction(each) and (each.__closure__ or each.__defaults__ or each.__kwdefaults__):
                cells = tuple(types.CellType() for _ in each.__closure__ or ())
                made = types.FunctionType(each.__code__, each.__globals__, each.__name__, None, cells)
                memo[id(each)] = functools.update_wrapper(made, each)
                functions.append((each, made))
        for each, made in functions:
            made.__defaults__ = tuple(_copied(value, memo) for value in each.__defaults__ or ())
            made.__kwdefaults__ = {
                k: _copied(value, memo) for k, value in (each.__kwdefaults__ or {}).items()
            }
            for cell, own in zip(each.__closure__ or (), made.__closure__ or (), strict=True):
                with contextlib.suppress(ValueError):  # it has no content yet
                    own.cell_contents = _copied(cell.cell_contents, memo)
        copied = copy.deepcopy(evaluate, memo)
    except Exception:
        return evaluate
    return copied


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(value, memo)
    except Exception:  # a module, or whatever cannot be copied
        return value


def another_error(stream: str, scale: float, *, is_interrupt: bool) -> tuple[Symbol, ...]:
    """Return the symbols of an error whose type has no symbol.

    The asker can tell whether it was an interrupt, which is raised again. That is one of two outcomes, so a
    second symbol always follows the first, for ln 2 nats.
    """
    return (Symbol(stream, FAILURES[3], scale), Symbol("index", int(is_interrupt), 2.0))


class Hidden:
    """What a look gave, unreadable to the models that look after it.

    They run inside the calls that hold it, and so could find it there.

    Parameters
    ----------
    observation : list of Observation or None
    keeps : bool
        Whether no model looks after it, so that it may be kept as it is.
    """

    def __init__(self, observation: list[Observation] | None, *, keeps: bool) -> None:
        self._kept, self._key = (observation, b"") if keeps else (None, os.urandom(32))
        self._text = b"" if keeps else self._padded(pickle.dumps(observation))

    def shown(self) -> list[Observation] | None:
        """Return what it was."""
        shown: list[Observation] | None = pickle.loads(self._padded(self._text)) if self._key else self._kept
        return shown

    def _padded(self, text: bytes) -> bytes:
        pad = hashlib.shake_256(self._key).digest(len(text))
        return (np.frombuffer(text, np.uint8) ^ np.frombuffer(pad, np.uint8)).tobytes()


@contextlib.contextmanager
def held_signals() -> Iterator[HeldSignals]:
    """Hold signals back during the block, then deliver them.

    A signal that no Python function handles is not held back: it is ignored, or ends the process.
    """
    interrupts = HeldSignals()
    try:
        interrupts.begin()
        yield interrupts
    finally:
        interrupts.end()
    if interrupts.raised:
        raise KeyboardInterrupt


class HeldSignals:
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

    @property
    def came(self) -> bool:
        """Whether there is something to deliver or to raise once the block is over."""
        return self.raised or bool(self._signals)

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
        """Put all handlers back, then call each whose signal came, even if one raises."""
        self._is_over = True
        with contextlib.ExitStack() as last_first:
            for number in reversed(self._signals):
                last_first.callback(self._before[number], number, inspect.currentframe())
            for number, handler in self._before.items():
                last_first.callback(signal.signal, number, handler)

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
                    os.write(2, _INTERRUPTED)
            elif self._times >= _ENOUGH and self.looking:
                raise KeyboardInterrupt


def with_bare_errors(look_and_charge: Callable[[], Result]) -> Result:
    """Return ``look_and_charge()``; what it raises is raised without its traceback, cause and context.

    What is seen of the holdout must be local to that function, not to one around it.
    """
    bare: BaseException
    try:
        return look_and_charge()
    except BaseException as error:
        bare = error.with_traceback(None)
        bare.__cause__ = bare.__context__ = None
    try:
        raise bare  # out of the handler, so that it gets no context
    finally:
        del bare  # or this frame and the error would refer to each other
