"""A lock beside the ledger file, which nobody takes away by merely reading the ledger.

SQLite locks a file with POSIX record locks. These belong to the process, and all of them vanish when any of
its threads opens and closes the file: a backup, a checksum, an upload. The charge under way then goes on
without a lock. So every transaction holds ``flock`` on a file of its own as well: writers alone, readers
together, because a reader who finds the journal of a writer without a lock takes it for a dead one's and
undoes it. Such a lock belongs to one opened file; what others open and close leaves it alone.

Where there is no ``fcntl``, which is Windows, locks belong to handles: those of SQLite cannot be taken away
like this, and there is no second lock.
"""

from __future__ import annotations

import contextlib
import os
import random
import stat
import time
from collections.abc import Callable

from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger.log.interrupts import deliver_interrupt

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["LockFile", "NoLock"]

_ENDING = "-lock"
_chance = random.SystemRandom()  # keeps waiters out of step, and the random numbers of users untouched
_FIRST_PAUSE, _LONGEST_PAUSE = 2e-4, 1e-2
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class LockFile:
    """The lock file of a ledger file, as one connection holds it.

    Parameters
    ----------
    path : str
        Of the ledger. All symbolic links to one file share its lock; hard links do not.
    """

    _descriptor: int | None = None

    def __init__(self, path: str) -> None:
        self._ledger = os.path.realpath(path)
        self._path = self._ledger + _ENDING
        self._name = os.path.basename(path)

    def acquire(self, exclusive: bool, patience: float) -> None:
        """Wait for the lock, for so many seconds; the file is made if there is none.

        Raises
        ------
        LedgerUnavailableError
            If others hold it for longer.
        OSError
            If the file cannot be made or opened, or the file system knows no such locks.
        """
        if fcntl is None:
            return
        self.release()
        kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        until, pause = time.monotonic() + patience, _FIRST_PAUSE
        while True:
            if self._descriptor is None:
                self._descriptor = self._open()
            try:
                fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
                if self.holds():
                    return
                self.release()  # deleted or replaced since it was opened: others lock the new one
            except BlockingIOError:
                pass
            if time.monotonic() > until:
                self.release()
                raise LedgerUnavailableError(
                    f"The ledger {self._name!r} is locked: another process has been using it for "
                    f"{patience:.3g} seconds. Nothing was charged or answered; wait for it, then ask again."
                )
            deliver_interrupt()
            time.sleep(pause * _chance.uniform(0.5, 1.0))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def holds(self) -> bool:
        """Return whether the lock that is held is that of the file at this path."""
        if fcntl is None:
            return True
        if self._descriptor is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.lstat(self._path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let go, if it is held."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # a program that is just being started may have it too
            finally:
                os.close(descriptor)

    def abandon(self, close: Callable[[int], None] = os.close) -> None:
        """In a forked child: forget the lock, which is the parent's, without letting go of it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            close(descriptor)

    def _open(self) -> int:
        """Open the file, or make it, for everybody who may use the ledger."""
        while True:
            try:
                return os.open(self._path, _FLAGS)
            except FileNotFoundError:
                pass
            ledger = os.stat(self._ledger)
            mode = stat.S_IMODE(ledger.st_mode)
            try:
                descriptor = os.open(self._path, _FLAGS | os.O_CREAT | os.O_EXCL, mode)
            except FileExistsError:  # somebody else was first
                continue
            os.fchmod(descriptor, mode)  # whatever the umask
            owner = ledger.st_uid if os.geteuid() == 0 else -1  # only root gives files away
            with contextlib.suppress(PermissionError):  # of a group that this user is not in
                os.fchown(descriptor, owner, ledger.st_gid)
            return descriptor

    def __del__(self) -> None:
        self.abandon()


class NoLock(LockFile):
    """What a connection has in its place that only looks: it may not even be able to make a file."""

    def __init__(self) -> None:
        pass

    def acquire(self, exclusive: bool, patience: float) -> None:
        """Wait for nothing."""
