"""Warnings of one thread kept quiet, without the filters of the process.

``warnings.catch_warnings`` puts the filters of the whole process aside and puts them back later. Two threads
that do so by turns undo each other's work: what one meant to silence is shown, and afterwards nothing is
shown at all. A filter of one's own is no way out, as scikit-learn sends the list of filters to its workers.

All warnings of CPython, those of C code too, go to ``warnings._showwarnmsg`` once the filters have let them
through, and ``catch_warnings`` leaves that alone. While at least one block of :func:`muted` runs, a function
stands there that drops some and hands on the others. Dropped is what comes

- from a thread inside such a block,
- from a thread that did not exist when a block that still runs began, such as joblib's within a ``predict``;
  from the same thread later, too, as long as any block runs. A thread that enters a block itself is heard.

What a block records of its own warnings by ``catch_warnings(record=True)`` it gets: what it does may depend
on them. A thread that existed before is not known to work for a block: a pool of threads that a model set up
earlier is heard. A filter that turns warnings into errors still does so: the error is raised where the
warning was. Processes that a block starts by loky or spawn have filters of their own and write to standard
error.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

__all__ = ["muted"]

_PLACE = "_showwarnmsg"
_HAS_PLACE = hasattr(warnings, _PLACE)
# Since Python 3.14 filters may belong to a context instead of the process.
_FILTERS_OF_CONTEXT = bool(getattr(sys.flags, "context_aware_warnings", False))


class _Blocks:
    """The blocks that run now."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a handler of a signal may warn, too
        self._running: dict[object, tuple[threading.Thread, dict[int, threading.Thread]]] = {}
        self._places: dict[object, FrameType | None] = {}  # where the block stands
        self._heard: weakref.WeakSet[threading.Thread] = weakref.WeakSet()  # entered a block themselves
        self._hired: weakref.WeakSet[threading.Thread] = weakref.WeakSet()  # came up while a block ran
        self._hook: Callable[[Any], None] | None = None
        self._before: Callable[[Any], None] | None = None

    def begin(self, block: object, place: FrameType | None) -> None:
        thread = threading.current_thread()
        with self._lock:
            self._places[block] = place
            self._heard.add(thread)
            self._hired.discard(thread)
            # Threads themselves, not their numbers: those are given again.
            self._running[block] = thread, {id(each): each for each in threading.enumerate()}
            if self._hook is None:
                self._put_hook()

    def end(self, block: object) -> None:
        with self._lock:
            self._places.pop(block, None)
            _, there = self._running.pop(block, (None, None))
            if there is None:  # begun by another thread of a process that forked since
                return
            self._hired.update(
                each for each in threading.enumerate() if id(each) not in there and each not in self._heard
            )
            if not self._running:
                self._take_hook()

    def keep_of_this_thread(self) -> None:
        """In a forked child no other thread goes on."""
        self._lock = threading.RLock()
        thread = threading.current_thread()
        self._running = {block: run for block, run in self._running.items() if run[0] is thread}
        self._places = {block: self._places[block] for block in self._running}
        if not self._running:
            self._take_hook()

    def _put_hook(self) -> None:
        before = getattr(warnings, _PLACE)

        def hook(message: Any) -> None:
            if not self._is_muted():
                before(message)
                return
            _forget(message)
            log = getattr(getattr(warnings, "_showwarnmsg_impl", None), "__self__", None)
            if isinstance(log, list) and self._holds_inside(log):
                log.append(message)  # the block records its own

        self._hook, self._before = hook, before
        setattr(warnings, _PLACE, hook)

    def _take_hook(self) -> None:
        """Put back what was there, unless somebody has put something else there since."""
        if self._hook is not None and getattr(warnings, _PLACE) is self._hook:
            setattr(warnings, _PLACE, self._before)
        self._hook = self._before = None

    def _holds_inside(self, log: list[Any]) -> bool:
        """Return whether a function of this thread holds a list, from the one that warns out to the block."""
        with self._lock:
            ends = [place for place in self._places.values() if place is not None]
        for frame in _frames():
            if any(frame is end for end in ends):
                return False
            if any(value is log for value in frame.f_locals.values()):
                return True
        return False

    def _is_muted(self) -> bool:
        thread = threading.current_thread()
        with self._lock:
            if any(owner is thread for owner, _ in self._running.values()):
                return True
            if not self._running or thread in self._heard:
                return False
            return thread in self._hired or any(
                id(thread) not in there for owner, there in self._running.values() if owner.is_alive()
            )


def _forget(message: Any) -> None:
    """Take a dropped warning off the lists of those shown, which hold its text and would silence it later."""
    category = message.category
    registries = [
        place.get("__warningregistry__") for place in (vars(sys), *(f.f_globals for f in _frames()))
    ]
    for text in (str(message.message), *map(str, message.message.args)):  # a category may say it otherwise
        getattr(warnings, "onceregistry", {}).pop((text, category), None)
        for registry in registries:
            if isinstance(registry, dict):
                for key in ((text, category, message.lineno), (text, category, 0), (text, category)):
                    registry.pop(key, None)


def _frames() -> Iterator[FrameType]:
    """Yield the frames of this thread outside of this module, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals is not globals():
            yield frame
        frame = frame.f_back


_blocks = _Blocks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blocks.keep_of_this_thread)


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Drop what this thread warns of within the block, and what threads do that come up meanwhile.

    No filter is changed, and nothing of this stays when the last block has ended. A block may be entered
    within another one and in several threads at once.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     with muted():
    ...         warnings.warn("within")
    ...     warnings.warn("after")
    >>> [str(each.message) for each in caught]
    ['after']
    """
    with contextlib.ExitStack() as stack:
        if _FILTERS_OF_CONTEXT or not _HAS_PLACE:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
        if _HAS_PLACE:
            caller = sys._getframe(1).f_back  # of contextlib's own
            block = object()
            stack.callback(_blocks.end, block)  # first, as an error may come at any time
            _blocks.begin(block, caller)
            del caller
        yield
