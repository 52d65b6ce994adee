"""Write a file as a whole, and never over a ledger.

A ledger is recognised by its content, under any name, link or ending, and by its inode where this process has
used it; so are the lock file and the journal beside one. What is written has a name that nobody can foresee
until it is moved into place. So nobody finds half of it, threads do not meet, no link is followed, and the
file that is there stays as it is if anything fails.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO

from sklearn_ada._validation import bad_parameter
from sklearn_ada.ledger.transactions import lock, opened

_BESIDE = ("-lock", "-journal", "-wal", "-shm")
_BEGINS = (
    b"SQLite format 3\0",
    b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",
    b"\x37\x7f\x06\x82",
    b"\x37\x7f\x06\x83",
)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def written_file(path: str | os.PathLike[str], name: str, owner: str) -> Iterator[BinaryIO]:
    """Open a file to be written, which takes its place once the block has ended.

    Parameters
    ----------
    path : path-like or str
    name, owner : str
        Of the parameter, for error messages.

    Raises
    ------
    ValueError
        If a ledger is there, or what belongs to one, or anything but a file; if it cannot be seen what is
        there; or if the file cannot be written, as on a full disk.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "page.html")
    >>> with written_file(path, "path", "Holdout.export") as file:
    ...     _ = file.write(b"<p>")
    >>> path.read_text()
    '<p>'
    """
    target = os.fspath(path)
    check_written(target, name, owner)
    beside = os.path.join(os.path.dirname(target), f".sklearn_ada_{secrets.token_hex(8)}")
    try:
        with open(os.open(beside, _NEW, 0o666), "wb") as file:  # of what mode the umask leaves
            yield file
        check_written(target, name, owner)  # a ledger may have been begun there
        with contextlib.suppress(FileNotFoundError):
            before = os.lstat(target)
            if stat.S_ISREG(before.st_mode):
                os.chmod(beside, stat.S_IMODE(before.st_mode))
        os.replace(beside, target)
    except OSError as error:
        expected, cause = "the path of a file that can be written", error.strerror or str(error)
        fix = f"What was there is as it was ({cause}): make room, or give another folder."
        if not os.path.isdir(folder := os.path.dirname(os.path.abspath(target))):
            fix = f"There is no folder {folder!r}: make it, or give another."
        raise bad_parameter(name, owner, expected, os.path.basename(target), fix) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)


def check_written(path: str | os.PathLike[str], name: str, owner: str) -> None:
    """Raise ValueError if no file may be written at a path."""
    try:
        why = _why_not(os.path.abspath(path))
    except OSError as error:  # which may be a ledger of somebody else
        why = f"it cannot be seen what is there ({error.strerror or error})"
    if why is not None:
        expected = "the path of a new file, or of one that may be replaced"
        fix = f"Nothing was written, as {why}: give another name."
        raise bad_parameter(name, owner, expected, os.path.basename(path), fix)


def _why_not(path: str) -> str | None:
    """Return why no file may be written at a path, or None."""
    leads_to = os.path.realpath(path)
    for place in (path, leads_to):
        for ending in _BESIDE:
            if place.endswith(ending) and _is_database(place.removesuffix(ending)):
                return "this name belongs to a ledger beside it"
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return "what is there is no file"
    if _is_database(path):
        return "what is there is a ledger or another database"
    kept = [f"{ledger}{ending}" for ledger in list(opened) for ending in ("", *_BESIDE)]
    if found.st_nlink > 1:
        with os.scandir(os.path.dirname(leads_to)) as entries:
            kept += [each.path for each in entries if each.name.endswith(_BESIDE)]
    if any(_is_same(found, other) for other in kept):
        return "what is there belongs to a ledger"
    return None


def _is_database(path: str) -> bool:
    """Return whether a file is a SQLite database, or the journal of one."""
    try:
        # To close a file takes SQLite's locks on it away, so nobody in this process may hold any.
        with lock, open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            return file.read(16).startswith(_BEGINS)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False


def _is_same(found: os.stat_result, path: str) -> bool:
    try:
        return os.path.samestat(found, os.stat(path))
    except (OSError, ValueError):  # a ledger that is no file
        return False
