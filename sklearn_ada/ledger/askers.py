"""Keep who has a question pending on a ledger: begun, and not yet recorded.

Nothing of this is in the records. A lone asker's question leaves no trace but its record; only who begins
while others are pending writes that down (`sklearn_ada.holdout.session.Asking`). What is here ends with the
process that it is about, however that ends.

All calls are made inside a transaction that writes, so nobody begins or ends between a look at the others and
what follows from it. A ledger in memory has one process. Of a database the processes do not see one another:
each prices the order of its own threads, and that of several processes is time, which is not priced.
"""

from __future__ import annotations

import errno
import os
import struct

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOCK = struct.Struct("@hhqqi4x")  # of the system's struct flock: type, whence, start, length, process
_NO_SUCH_LOCKS = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)  # of this system, or of the file system


class Askers:
    """The pending questions of this process on one ledger, and whether other processes have any.

    Attributes
    ----------
    count : int
        How many this process has.
    lives : int
        How often others may have been unable to see them, because a connection was lost.
    """

    def __init__(self) -> None:
        self.count = self.lives = 0

    def enter(self) -> None:
        """Add a question of this process, for all to see."""
        if not self.count:
            self._hold()
        self.count += 1

    def leave(self) -> None:
        """Take a question of this process away."""
        self.count -= 1
        if not self.count:
            self._let_go()

    def others(self, own: bool) -> bool:
        """Return whether any is pending; ``own`` says that one of this process is the caller's."""
        return self.count > own or self._are_elsewhere()

    def abandon(self) -> None:
        """In a forked child: leave what is the parent's alone."""

    def _hold(self) -> None:
        pass

    def _let_go(self) -> None:
        pass

    def _are_elsewhere(self) -> bool:
        return False


class FileAskers(Askers):
    """Those of a file: each process that has any shares a lock on the first byte of its lock file.

    The lock belongs to one opened file (``F_OFD_SETLK``) and is another one than that of transactions.
    Systems without such locks, which are all but Linux, show a process its own questions alone. Elsewhere it
    is an error if nobody can look: to see no other would leave an order unpriced.

    Parameters
    ----------
    path : str
        Of the lock file.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._held: int | None = None

    def abandon(self) -> None:
        """In a forked child: close the parent's file, which does not let go of it."""
        if self._held is not None:
            os.close(self._held)

    def _hold(self) -> None:
        descriptor = self._open()
        if descriptor is not None:
            try:
                self._call("F_OFD_SETLK", "F_RDLCK", descriptor)
            except OSError:
                os.close(descriptor)
                raise
        self._held = descriptor

    def _let_go(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            try:
                self._call("F_OFD_SETLK", "F_UNLCK", held)  # a program that is being started may have it too
            finally:
                os.close(held)

    def _are_elsewhere(self) -> bool:
        descriptor = self._open() if self._held is None else self._held
        if descriptor is None:
            return False
        try:
            return self._call("F_OFD_GETLK", "F_WRLCK", descriptor) != fcntl.F_UNLCK
        finally:
            if descriptor != self._held:
                os.close(descriptor)

    def _open(self) -> int | None:
        if not hasattr(fcntl, "F_OFD_SETLK"):
            return None
        # To read is enough for these locks, and all that who shares a ledger may be allowed to.
        return os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)

    def _call(self, command: str, kind: str, descriptor: int) -> int:
        """Return the type of lock that the system answers; that of none where it has no such locks."""
        asked = _LOCK.pack(getattr(fcntl, kind), os.SEEK_SET, 0, 1, 0)
        try:
            answer = fcntl.fcntl(descriptor, getattr(fcntl, command), asked)
        except OSError as error:
            if error.errno not in _NO_SUCH_LOCKS:  # else others would not be seen
                raise
            return int(fcntl.F_UNLCK)
        return int(_LOCK.unpack(answer)[0])
