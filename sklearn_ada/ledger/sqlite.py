"""Whether a file lies on a network file system, where SQLite's locks cannot be relied upon.

Temporary ledgers: one for the same data in a session, deleted by the interpreter that began it.

A session is one interpreter and all processes that descend from it. Whatever its workers search, they pay
from one budget.

A ledger in one SQLite file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sklearn_ada._notices import VARIABLE, began_here, has_ended, session_folder
from sklearn_ada.exceptions import LedgerDamagedError, LedgerUnavailableError
from sklearn_ada.ledger.hash_chain import Row, State, check_schema, compare_genesis, genesis_row, parse_json
from sklearn_ada.ledger.sqlite_file import (
    APPLICATION_ID,
    SQLiteFile,
    create_tables,
    locked_file,
    open_file,
    secret_in,
    translated,
)
from sklearn_ada.ledger.transactions import ChainedLedger, InterruptsHeld, lock

# Not 9p: sandboxes mount their own local root with it.
_NETWORK = {
    "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fakeowner", "gfs2", "glusterfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "prl_fs", "pvfs2", "smb3", "smbfs", "vboxsf",
    "virtiofs", "vmhgfs", "wekafs",
}  # fmt: skip
# Programs behind FUSE that lead to other machines, to a cloud or out of a virtual machine.
_NETWORK_FUSE = {
    "alluxio", "beegfs", "blobfuse", "blobfuse2", "ceph", "ceph-fuse", "curlftpfs", "davfs", "davfs2",
    "gcsfuse", "glusterfs", "goofys", "google-drive-ocamlfuse", "grpcfuse", "gvfsd-fuse", "juicefs",
    "mfs", "moosefs", "mount.davfs", "mountpoint-s3", "onedriver", "osxfs", "quobyte",
    "rclone", "s3fs", "s3ql", "seaweedfs", "smbnetfs", "sshfs", "vmhgfs-fuse",
}  # fmt: skip
# How FUSE mounts without a name of their own show that they lead to a machine: URL, host:path, //host/share.
_ELSEWHERE = re.compile(r"\w+://|[\w.@-]+:/|//")
_MOUNTS = "/proc/self/mounts"  # where there is none, nothing is known and nothing is refused


def check_local(path: str) -> None:
    """Refuse a path on a network file system: locks of two machines may not see each other there.

    Raises
    ------
    LedgerUnavailableError
        Naming the file system and the ledger that serves several machines.
    """
    kind = _file_system(os.path.realpath(path))
    if kind is not None:
        raise LedgerUnavailableError(
            f"The ledger {os.path.basename(path)!r} would lie on a network file system ({kind}), where two "
            "machines could charge it at once without seeing each other. Use a local path, or a database: "
            "ledger='postgresql://...' (pip install \"sklearn-ada[sql]\")."
        )


def _file_system(path: str) -> str | None:
    """Return the type of the network file system that ``path`` is or would be on, or None."""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            mounts = [line.split()[:3] for line in file]
    except OSError:
        return None
    best, kind = "", None
    for source, escaped, found in mounts:
        mount = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), escaped)
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):  # the innermost mount, the last of those on one place
            best, kind = mount, found if _is_network(source, found) else None
    return kind


def _is_network(source: str, kind: str) -> bool:
    family, _, program = kind.partition(".")
    if family not in ("fuse", "fuseblk"):
        return kind in _NETWORK
    return program in _NETWORK_FUSE or _ELSEWHERE.match(source) is not None


_WAY_OUT = "give the ledger a path, or (on several machines) a 'postgresql://...' URL"


def temporary_ledger_path(fingerprint: str, kind: str = "") -> str:
    """Return the path of this session's temporary ledger for some data.

    The same data always get the same ledger, in this interpreter and in all processes that descend from it,
    so that asking again in a second search, in a worker, or in a notebook cell that is run again, goes on
    paying instead of starting afresh. The ledgers are gone when the interpreter ends that began the session.

    Parameters
    ----------
    fingerprint : str
        Of the data.
    kind : str, default=""
        The names of ledgers of a kind begin with it: see `temporary_ledgers`.

    Raises
    ------
    LedgerUnavailableError
        In a worker that does not know the session of whoever sent it its work; after the interpreter has
        ended that began the session; or if the folder cannot be used.

    Examples
    --------
    >>> temporary_ledger_path("some data") == temporary_ledger_path("some data")
    True
    """
    try:
        folder = session_folder()
    except ValueError as error:
        raise LedgerUnavailableError(str(error)) from None
    if folder is None or (began_here() and _is_worker_of_a_cluster()):
        raise LedgerUnavailableError(
            "This worker was started before sklearn_ada was imported, or on another machine, so it cannot "
            "share the temporary ledger of the process that sent it this work: ledger=None would give it a "
            f"budget of its own. For all of them together {_WAY_OUT}; or import sklearn_ada before the "
            "workers are started."
        )
    if has_ended():
        raise LedgerUnavailableError(
            "The interpreter that began this session has ended, and its temporary ledgers with it: what it "
            "had asked of these rows is not known any more. For rows that nobody has asked about, "
            f"{_WAY_OUT}, which outlives an interpreter."
        )
    _make(folder)
    # Not the digest itself: names of files are no place to compare rows with.
    name = hashlib.sha256(os.fsencode(f"{folder} {fingerprint}")).hexdigest()[:32]
    return os.path.join(folder, f"{kind}-{name}.db" if kind else f"{name}.db")


def temporary_ledgers(kind: str) -> list[str]:
    """Return the paths of this session's temporary ledgers of a kind."""
    folder = session_folder()
    names = os.listdir(folder) if folder is not None and os.path.isdir(folder) else []
    return [
        os.path.join(str(folder), n) for n in sorted(names) if n.startswith(f"{kind}-") and n.endswith(".db")
    ]


def is_temporary(path: str) -> bool:
    """Return whether a path is that of a temporary ledger of this session."""
    return os.path.dirname(path) == os.environ.get(VARIABLE)


def _make(folder: str) -> None:
    """Make the folder, for its owner alone; LedgerUnavailableError if it is not."""
    try:
        os.mkdir(folder, mode=0o700)
    except FileExistsError:
        found = os.lstat(folder)
        private = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
        if not (private and os.path.isdir(folder) and not os.path.islink(folder)):
            raise LedgerUnavailableError(
                "The folder of temporary ledgers is not this user's alone. Unset SKLEARN_ADA_SESSION in the "
                f"environment and start anew, or {_WAY_OUT}."
            ) from None
    except OSError as error:
        raise LedgerUnavailableError(
            f"The folder of temporary ledgers cannot be made ({error.strerror}). Set TMPDIR to a folder that "
            f"can be written to, or {_WAY_OUT}."
        ) from error


def _is_worker_of_a_cluster() -> bool:
    """Return whether dask or ray says that this process works for another one."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is not None:
        try:
            distributed.get_worker()
        except ValueError:
            pass
        else:
            return True
    ray: Any = sys.modules.get("ray")
    return bool(ray is not None and ray.is_initialized() and ray.get_runtime_context().get_task_id())


_opened: set[str] = set()  # files this process has used: one that vanishes is not made again
_READ_ONLY = "?mode=ro"


class SQLiteLedger(ChainedLedger[State]):
    """A ledger kept in a SQLite file (see `Ledger` for what is promised).

    Use `create_or_open`. The handle is a path, the genesis and a function that starts a state; it can
    be copied and pickled, and all copies lead to the same file.

    Parameters
    ----------
    path : str
    genesis : dict
        The genesis record that the file must have.
    start : callable
        Takes the genesis and returns the state before any record.
    """

    def __init__(self, path: str, genesis: dict[str, Any], start: Callable[[dict[str, Any]], State]) -> None:
        super().__init__(path, genesis, start)
        self.path = path

    @classmethod
    def create_or_open(
        cls,
        path: str | os.PathLike[str],
        genesis_from_secret: Callable[[bytes], dict[str, Any]],
        start: Callable[[dict[str, Any]], State],
        secret: bytes | None = None,
        of_found: Callable[[bytes, dict[str, Any]], dict[str, Any]] | None = None,
    ) -> SQLiteLedger[State]:
        """Open the ledger at ``path``, or create it if there is no file.

        Parameters
        ----------
        path : path-like
        genesis_from_secret : callable
            Takes the ledger's secret and returns the genesis that the caller expects.
        start : callable
            Takes the genesis and returns the state before any record.
        secret : bytes or None
            The secret of a new ledger; by default 32 bytes from the operating system.
        of_found : callable or None
            Takes the secret and the genesis of a ledger that is there, and returns the genesis that the
            caller expects of such a one; by default what a new one would have.

        Raises
        ------
        LedgerMismatchError
            If the file's genesis differs: another holdout, another split, another policy.
        LedgerUnavailableError
            If the file cannot be read or written, or lies on a network file system.
        LedgerDamagedError
            If it is not a ledger, or its records do not agree.
        """
        path = os.path.abspath(os.fspath(path))
        _check_place(path)
        check_local(path)
        with lock, InterruptsHeld(), translated(path):
            if not os.path.exists(path):
                _create(path, genesis_from_secret, os.urandom(32) if secret is None else secret)
            if not os.access(path, os.W_OK):
                raise LedgerUnavailableError(f"The ledger {os.path.basename(path)!r} cannot be written to.")
            with locked_file(path) as db:
                stored = _read_genesis(db, path)
                untouched = db.execute("SELECT 1 FROM records WHERE seq > 0").fetchone() is None
                kept = secret_in(db, os.path.basename(path))
        expected = genesis_from_secret(kept) if of_found is None else of_found(kept, stored)
        instead = None if is_temporary(path) else "another path"
        compare_genesis(stored, expected, os.path.basename(path), instead, untouched=untouched)
        ledger = cls(path, expected, start)
        ledger.read(lambda state: None)  # replay now: damage should not wait for the first question
        _opened.add(os.path.realpath(path))
        return ledger

    @classmethod
    def open_existing(
        cls, path: str | os.PathLike[str], start: Callable[[dict[str, Any]], State], replay: bool = True
    ) -> SQLiteLedger[State]:
        """Open a ledger under whatever genesis it has, to look at it; it must exist.

        Nothing is written, no lock file is made, and the file may be one that can only be read. Without
        ``replay``, records are read when they are asked for, and what is wrong is found then.
        """
        path = os.path.abspath(os.fspath(path))
        if not os.path.exists(path):
            raise LedgerUnavailableError(f"There is no ledger file {os.path.basename(path)!r}.")
        with lock, InterruptsHeld(), translated(path), contextlib.closing(open_file(path, "ro")) as db:
            genesis = _read_genesis(db, path)
        check_schema(genesis, os.path.basename(path))
        ledger = cls(path, genesis, start)
        ledger._mode = _READ_ONLY
        if replay:
            ledger.read(lambda state: None)
        return ledger

    @property
    def name(self) -> str:
        """The file's name; a path may tell more than a message should."""
        return os.path.basename(self.path)

    def _connect(self) -> SQLiteFile:
        return SQLiteFile(self.path, self._genesis_hash, self._start, "ro" if self._mode else "rw")

    def _translated(self) -> AbstractContextManager[object]:
        return translated(self.path)


def _check_place(path: str) -> None:
    """Raise unless there can be a file at a path."""
    folder, name = os.path.split(path)
    if os.path.isdir(path):
        raise LedgerUnavailableError(f"The ledger {name!r} is a folder. Give the path of a file in it.")
    if not os.path.isdir(folder):
        raise LedgerUnavailableError(
            f"The ledger {name!r} cannot be made: its folder {os.path.basename(folder)!r} does not exist. "
            "Make the folder, or give another path."
        )


def _create(path: str, genesis_from_secret: Callable[[bytes], dict[str, Any]], secret: bytes) -> None:
    """Write a new ledger under another name and link it into place, so that nobody sees half of one."""
    if os.path.realpath(path) in _opened:
        raise LedgerUnavailableError(
            f"The ledger file {os.path.basename(path)!r} was used by this process and is gone; a new one "
            "would be a fresh budget. Put the file back."
        )
    first = genesis_row(genesis_from_secret(secret))
    with contextlib.suppress(FileExistsError):  # somebody else was first: theirs is the ledger
        if not _link_nameless(path, first, secret):
            _link_draft(path, first, secret)


def _link_nameless(path: str, first: Row, secret: bytes) -> bool:
    """Write a new ledger to a file without a name, of which a kill leaves nothing, and give it one.

    Returns False where there are no such files.
    """
    kind = getattr(os, "O_TMPFILE", None)
    if kind is None or not hasattr(sqlite3.Connection, "serialize"):
        return False
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        _write_first(db, first, secret)
        content = db.serialize()
    try:
        handle = os.open(os.path.dirname(path), kind | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
            return False
        raise
    try:
        with open(handle, "wb", closefd=False) as file:
            file.write(content)
        os.fsync(handle)
        # With a descriptor, which the absolute path ignores, Python asks the system to follow the link.
        os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=handle, follow_symlinks=True)
    except FileNotFoundError:  # no /proc
        return False
    finally:
        os.close(handle)
    return True


def _link_draft(path: str, first: Row, secret: bytes) -> None:
    handle, draft = tempfile.mkstemp(prefix=".ledger", dir=os.path.dirname(path))
    os.close(handle)
    try:
        with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as db:
            _write_first(db, first, secret)
        os.link(draft, path)
    finally:
        os.unlink(draft)


def _write_first(db: sqlite3.Connection, first: Row, secret: bytes) -> None:
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("BEGIN IMMEDIATE")
    create_tables(db)
    db.execute("INSERT INTO secret VALUES (1, ?)", (secret,))
    db.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?)", first)
    db.execute("INSERT INTO head VALUES (1, 1, ?)", (first.hash,))
    db.execute("COMMIT")


def _read_genesis(db: sqlite3.Connection, path: str) -> dict[str, Any]:
    row = db.execute("SELECT body FROM records WHERE seq = 0").fetchone()
    if row is None:
        raise LedgerDamagedError(f"The ledger {os.path.basename(path)!r} has lost its genesis record.")
    return parse_json(row[0])
