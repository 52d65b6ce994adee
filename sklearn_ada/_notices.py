"""What a user sees beside answers, and whose session this is.

Only a little of the standard library is imported.

*Warnings of one thread kept quiet* (`muted`), without the filters of the process. ``warnings.catch_warnings``
puts the filters of the whole process aside and puts them back later. Two threads that do so by turns undo
each other's work: what one meant to silence is shown, and afterwards nothing is shown at all. A filter of
one's own is no way out, as scikit-learn sends the list of filters to its workers.

All warnings of CPython, those of C code too, go to ``warnings._showwarnmsg`` once the filters have let them
through, and ``catch_warnings`` leaves that alone. While at least one block of `muted` runs, a function
stands there that drops some and hands on the others. Dropped is what comes

- from a thread inside such a block,
- from a thread that did not exist when a block that still runs began, such as joblib's within a ``predict``;
  from the same thread later, too, as long as any block runs. A thread that enters a block itself is heard.

What a block records of its own warnings by ``catch_warnings(record=True)`` it gets: what it does may depend
on them. Whether a thread that existed before works for a block, nothing shows: a pool of threads that a model
set up earlier is heard. A filter that turns warnings into errors still does so: the error is raised where the
warning was. Processes that a block starts by loky or spawn have filters of their own and write to standard
error.

*Warnings once* (`warn_user`) point at the line of the user's code, and can be limited to one a process.
Python's own filter cannot keep a repeated warning quiet here: it forgets what it has shown whenever somebody
enters ``warnings.catch_warnings``, as every task of a search does.

*Progress* (`tell`, `with_bar`) is a line a stage, and a bar where there are several things to do. Nothing is
shown unless it is asked for. The bar is tqdm's (``pip install tqdm``), in a terminal or a
notebook only: in a log it would be noise, so there, and without tqdm, lines are printed.

*The session* (`session_folder`) is an interpreter and its children, which share the temporary ledgers in a
folder, named in the environment. The name is set when the package is imported, before any worker is started,
so that workers inherit it: a search that they build themselves goes on paying from the same budget. The
folder itself is made then, too, and never again: where it is missing later, so are its ledgers. A worker that
was started before the import does not have the name, and passes on that there is none. Every import of the
package runs this.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import sys
import tempfile
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sized
from types import FrameType
from typing import Any, TypeVar

Item = TypeVar("Item")

VARIABLE = "SKLEARN_ADA_SESSION"
_UNKNOWN = "unknown"  # to a worker that was started before the import, and to its own children
_NAME = re.compile(r"sklearn_ada_(\d+)_[0-9a-f]{16}")
_PLACE = "_showwarnmsg"
_HAS_PLACE = hasattr(warnings, _PLACE)
# Since Python 3.14 filters may belong to a context instead of the process.
_FILTERS_OF_CONTEXT = bool(getattr(sys.flags, "context_aware_warnings", False))
_given: set[tuple[str, ...]] = set()  # what was warned of once


def is_called_by_function(package: str, names: frozenset[str]) -> bool:
    """Return whether a function of one of these names is among the callers.

    It belongs to a package, or to a package within it.

    Examples
    --------
    >>> is_called_by_function("doctest", frozenset({"run"}))
    True
    >>> is_called_by_function("sklearn.model_selection", frozenset({"run"}))
    False
    """
    for frame in _frames():
        module = f"{frame.f_globals.get('__name__')}."
        if frame.f_code.co_name in names and module.startswith(f"{package}."):
            return True
    return False


def callers_of_class(package: str, name: str) -> list[Any]:
    """Return the objects of a class of this name whose methods are among the callers.

    Examples
    --------
    >>> [type(runner).__name__ for runner in callers_of_class("doctest", "DocTestRunner")][:0]
    []
    """
    found = []
    for frame in _frames():
        caller = frame.f_locals.get("self") if "self" in frame.f_code.co_varnames[:1] else None
        kinds = type(caller).__mro__
        if any(kind.__name__ == name and f"{kind.__module__}.".startswith(f"{package}.") for kind in kinds):
            found.append(caller)
    return found


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Drop the warnings of this thread within the block, and of threads begun meanwhile.

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


def warn_user(text: str, *, once: tuple[str, ...] | None = None) -> None:
    """Warn of what a user can change.

    Parameters
    ----------
    text : str
    once : tuple of str or None, default=None
        What the warning is about: it is given once a process. None: it is given whenever this is called. A
        warning that a filter turns into an error is not counted as given.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     for _ in range(3):
    ...         warn_user("Too few rows.", once=("example",))
    >>> len(caught)
    1
    """
    if once in _given:
        return
    warnings.warn(text, UserWarning, stacklevel=_stacklevel())
    if once is not None:
        _given.add(once)


def _stacklevel() -> int:
    """Return the ``stacklevel``, for the caller, of the first frame outside of the package."""
    package = __name__.partition(".")[0]
    depth = 0
    frame: FrameType | None = sys._getframe()
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == package:
        depth, frame = depth + 1, frame.f_back
    return depth


_PATIENCE = 3.0  # seconds that somebody waits without a word


def tell(text: str, verbose: int) -> None:
    """Print a line about what is done now, if ``verbose`` is at least 1.

    Examples
    --------
    >>> tell("refitting the winner", 1)
    [sklearn_ada] refitting the winner
    >>> tell("refitting the winner", 0)
    """
    if verbose:
        print(f"[sklearn_ada] {text}", flush=True)


def with_bar(items: Iterable[Item], text: str, verbose: int) -> Iterator[Item]:
    """Yield the items and show progress.

    A terminal or a notebook shows a bar, any other output a line for each item.

    Parameters
    ----------
    items : iterable
    text : str
        What is done with each.
    verbose : int
        0 is silent, but for a bar where somebody has waited for three seconds.

    Examples
    --------
    >>> list(with_bar([3, 4], "certifying", 1))
    [sklearn_ada] certifying 1 of 2
    [sklearn_ada] certifying 2 of 2
    [3, 4]
    """
    kept = items if isinstance(items, Sized) else list(items)
    if "ipykernel" in sys.modules or sys.stderr.isatty():  # somebody is there to see a bar
        try:
            from tqdm.auto import tqdm
        except ImportError:
            pass
        else:
            yield from tqdm(kept, desc=f"[sklearn_ada] {text}", delay=0 if verbose else _PATIENCE)
            return
    for number, item in enumerate(kept, 1):
        tell(f"{text} {number} of {len(kept)}", verbose)
        yield item


def session_folder() -> str | None:
    """Return the folder of this session's temporary ledgers, which the process made that began it.

    None in a worker that has not inherited it. ValueError if the environment names none of this package's.
    """
    if _folder == _UNKNOWN:
        return None
    found = _NAME.fullmatch(os.path.basename(_folder))
    if found is None or not os.path.isabs(_folder) or os.path.normpath(_folder) != _folder:
        raise ValueError(f"The environment variable {VARIABLE} is none that sklearn_ada has set: unset it.")
    return _folder


def began_here() -> bool:
    """Return whether the session began in this very process, which cleans up after it."""
    return _began == os.getpid()


def is_worker() -> bool:
    """Return whether another process has started this one to work for it, or this one was forked."""
    multiprocessing = sys.modules.get("multiprocessing")
    of_pool = multiprocessing is not None and multiprocessing.parent_process() is not None
    return of_pool or os.getpid() != _imported_by


def has_ended() -> bool:
    """Return whether the interpreter that began the session has ended, for certain."""
    found = _NAME.fullmatch(os.path.basename(_folder))
    if found is None or os.name != "posix":
        return False
    try:
        os.kill(int(found[1]), 0)  # asks whether there is such a process
    except (ProcessLookupError, PermissionError, OverflowError) as error:
        return isinstance(error, ProcessLookupError)
    return False


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
            new = (each for each in threading.enumerate() if id(each) not in there)
            self._hired.update(each for each in new if each not in self._heard)
            if not self._running:
                self._take_hook()

    def keep_of_this_thread(self) -> None:
        """Drop the blocks of other threads, none of which goes on in a forked child."""
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
        """Put the former function for warnings back, unless somebody has replaced ours since."""
        if self._hook is not None and getattr(warnings, _PLACE) is self._hook:
            setattr(warnings, _PLACE, self._before)
        self._hook = self._before = None

    def _holds_inside(self, log: list[Any]) -> bool:
        """Return whether a function between the warning and the block holds this list."""
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
    """Remove a dropped warning from the registries of warnings that were shown.

    Else Python would not show the same warning later, outside of the block.
    """
    category = message.category
    places = vars(sys), *(frame.f_globals for frame in _frames())
    registries = [place.get("__warningregistry__") for place in places]
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


def _begin() -> str:
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        return _UNKNOWN
    try:
        place = tempfile.gettempdir()
    except OSError:  # there is none, which matters to who needs a temporary ledger
        place = os.path.abspath("no folder for temporary files")
    folder = os.path.join(place, f"sklearn_ada_{os.getpid()}_{os.urandom(8).hex()}")
    with contextlib.suppress(OSError):  # which matters to who needs a temporary ledger
        os.mkdir(folder, mode=0o700)
    return folder


def _clean_up() -> None:
    if began_here():  # a forked child must not take the ledgers with it
        shutil.rmtree(_folder, ignore_errors=True)


_imported_by = os.getpid()
_began = -1  # the process that began the session, if it was this one or one that this was forked from
if VARIABLE not in os.environ:
    os.environ[VARIABLE] = _begin()
    if os.environ[VARIABLE] != _UNKNOWN:
        _began = os.getpid()
        atexit.register(_clean_up)  # also where only children have made ledgers
_folder = os.environ[VARIABLE]
