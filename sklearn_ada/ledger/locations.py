"""Where a ledger file may lie: on no network file system, or in the folder of a session's temporary ledgers.

On a network file system SQLite's locks cannot be relied upon. The lock and the journal beside a file belong
to its name: whoever comes by a second one sees neither.

A session is one interpreter and all processes that descend from it. It has one temporary ledger for the same
data, deleted by the interpreter that began it. Whatever its workers search, they pay from one budget.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sklearn_ada._notices import VARIABLE, began_here, has_ended, is_worker, session_folder
from sklearn_ada.exceptions import LedgerUnavailableError

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
_MOUNTS = "/proc/self/mounts"  # where there is no such file, nothing is refused
_MOMENT = 1.0  # seconds in which whoever begins a ledger takes away the name of its draft


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
            "ledger='postgresql://...' (pip install sqlalchemy \"psycopg[binary]\")."
        )


def check_no_mount(path: str) -> None:
    """Refuse a file that is mounted by itself, apart from its lock and its journal.

    Raises
    ------
    LedgerUnavailableError
        Saying what to mount instead.
    """
    place = os.path.realpath(path)
    if any(mount == place for _, mount, _ in _mounts()):
        raise LedgerUnavailableError(
            f"The ledger {os.path.basename(path)!r} is a file that is mounted by itself. Its lock and its "
            "journal belong to one name, and whoever comes by the other sees neither. Nothing was charged or "
            "answered; mount its folder instead."
        )


def check_one_name(path: str) -> None:
    """Refuse a file that has a second name, by a hard link.

    Raises
    ------
    LedgerUnavailableError
        Saying how to find the other name.
    """
    until = time.monotonic() + _MOMENT
    with contextlib.suppress(FileNotFoundError):
        while os.stat(path).st_nlink > 1:
            if time.monotonic() > until:
                raise LedgerUnavailableError(
                    f"The ledger {os.path.basename(path)!r} has a second name, a hard link. Its lock and its "
                    "journal belong to one name, and whoever comes by the other sees neither. Nothing was "
                    "charged or answered; remove the other name ('find / -xdev -samefile' shows it), or make "
                    "it a symbolic link, then ask again."
                )
            time.sleep(0.02)


def check_beside(path: str, *endings: str) -> None:
    """Refuse what others put where a ledger has its lock file or its journal.

    SQLite would wait at a pipe for ever, with the lock held, and nobody could interrupt it.

    Raises
    ------
    LedgerUnavailableError
        Naming what is in the way.
    """
    for ending in endings:
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(path + ending).st_mode):
                name = os.path.basename(path)
                raise LedgerUnavailableError(
                    f"The ledger {name!r} cannot be used: what is called {name + ending!r} beside it is no "
                    "file but a link, a folder, a pipe or the like. Nothing was charged or answered; remove "
                    "or rename it, then ask again."
                )


def _file_system(path: str) -> str | None:
    """Return the type of the network file system that a path is on, or None."""
    best, kind = "", None
    for source, mount, found in _mounts():
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):  # the innermost mount, the last of those on one place
            best, kind = mount, found if _is_network(source, found) else None
    return kind


def _mounts() -> list[tuple[str, str, str]]:
    """Return source, place and type of everything that is mounted, as far as the system shows it."""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            mounts = [line.split()[:3] for line in file]
    except OSError:
        return []
    return [
        (source, re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), escaped), kind)
        for source, escaped, kind in mounts
    ]


def _is_network(source: str, kind: str) -> bool:
    family, _, program = kind.partition(".")
    if family not in ("fuse", "fuseblk"):
        return kind in _NETWORK
    return program in _NETWORK_FUSE or _ELSEWHERE.match(source) is not None


_keys: dict[str, bytes] = {}  # of sessions, by their folders
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
        In a worker that has not inherited the session of the process that sent it its work; after the
        interpreter has ended that began the session; or if the folder cannot be used.

    Examples
    --------
    >>> temporary_ledger_path("some data") == temporary_ledger_path("some data")
    True
    """
    try:
        folder = session_folder()
    except ValueError as error:
        raise LedgerUnavailableError(str(error)) from None
    if folder is None or (began_here() and is_worker_of_a_cluster()):
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
    _check_folder(folder)
    # Keyed, as names of files are shown: nobody computes one from labels that he guesses.
    name = hmac.new(_session_key(folder), os.fsencode(fingerprint), hashlib.sha256).hexdigest()[:32]
    return os.path.join(folder, f"{kind}-{name}.db" if kind else f"{name}.db")


def temporary_ledgers(kind: str) -> list[str]:
    """Return the paths of this session's temporary ledgers of a kind."""
    folder = session_folder()
    return [] if folder is None else sorted(map(str, Path(folder).glob(f"{kind}-*.db")))


def is_temporary(path: str) -> bool:
    """Return whether a path is that of a temporary ledger of this session."""
    return os.path.dirname(path) == os.environ.get(VARIABLE)


def _session_key(folder: str) -> bytes:
    """Return the session's secret, which is made with its first ledger and lies beside them."""
    path = os.path.join(folder, "key")
    while folder not in _keys:
        found = None
        with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
            found = file.read()
        if found:
            _keys[folder] = found
            break
        if found is not None or any(name.endswith(".db") for name in os.listdir(folder)):
            raise LedgerUnavailableError(
                "The key of this session's temporary ledgers was removed: whatever was asked of these rows "
                f"would be forgotten. Start anew; or, for rows that nobody has asked about, {_WAY_OUT}."
            )
        handle, draft = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(24))
        try:
            with contextlib.suppress(FileExistsError):  # somebody else was first: theirs is the key
                os.link(draft, path)
        finally:
            os.unlink(draft)
    return _keys[folder]


def _check_folder(folder: str) -> None:
    """Raise LedgerUnavailableError unless the folder is there, for its owner alone.

    Whoever began the session has made it. To make it again would be a fresh budget.
    """
    try:
        found = os.lstat(folder)
    except OSError as error:
        raise LedgerUnavailableError(
            f"The folder of temporary ledgers is not there ({error.strerror}): it could not be made, was "
            "cleaned away, or is on another machine. Whatever was asked of these rows would be forgotten. "
            "Set TMPDIR to a folder that lasts and start anew; or, for rows that nobody has asked about, "
            f"{_WAY_OUT}."
        ) from None
    private = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
    if not (private and stat.S_ISDIR(found.st_mode)):
        raise LedgerUnavailableError(
            "The folder of temporary ledgers is not this user's alone. Unset SKLEARN_ADA_SESSION in the "
            f"environment and start anew, or {_WAY_OUT}."
        )


def works_for_another() -> bool:
    """Return whether this process works for another one, on this machine or in a cluster."""
    return is_worker() or is_worker_of_a_cluster()


def is_worker_of_a_cluster() -> bool:
    """Return whether dask or ray says that this process works for another one."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is not None:
        with contextlib.suppress(ValueError):
            distributed.get_worker()
            return True
    ray: Any = sys.modules.get("ray")
    return bool(ray is not None and ray.is_initialized() and ray.get_runtime_context().get_task_id())
