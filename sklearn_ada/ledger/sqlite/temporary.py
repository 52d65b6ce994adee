"""Temporary ledgers: one for the same data in a session, deleted by the interpreter that began it.

A session is one interpreter and all processes that descend from it. Whatever its workers search, they pay
from one budget.
"""

from __future__ import annotations

import atexit
import hashlib
import multiprocessing
import os
import shutil
import sys
import threading
from multiprocessing.util import Finalize
from typing import Any

from sklearn_ada._session_token import began_here, session_folder
from sklearn_ada.exceptions import LedgerUnavailableError

__all__ = ["is_temporary", "temporary_ledger_path"]

_lock = threading.Lock()
_cleaning: list[int] = []  # the process that has promised to clean up


def temporary_ledger_path(fingerprint: str) -> str:
    """Return the path of this session's temporary ledger for some data.

    The same data always get the same ledger, in this interpreter and in all processes that descend from it,
    so that asking again in a second search, in a worker, or in a notebook cell that is run again, goes on
    paying instead of starting afresh. The ledgers are gone when the interpreter ends that began the session.

    Raises
    ------
    LedgerUnavailableError
        In a worker that does not descend from whoever sent it its work, or if the folder is somebody else's.

    Examples
    --------
    >>> temporary_ledger_path("some data") == temporary_ledger_path("some data")
    True
    """
    if began_here() and _is_worker():
        raise LedgerUnavailableError(
            "This worker was started before sklearn_ada was imported, or on another machine, so it cannot "
            "share the temporary ledger of the process that sent it this work: ledger=None would give it a "
            "budget of its own. Give all of them one ledger, a path or (on several machines) a "
            "'postgresql://...' URL; or import sklearn_ada before the workers are started."
        )
    folder = session_folder()
    with _lock:
        _make(folder)
        if began_here() and not _cleaning:
            _cleaning.append(os.getpid())
            atexit.register(_remove, folder)
            Finalize(None, _remove, (folder,), exitpriority=0)  # where atexit is not reached
    # Not the digest itself: names of files are no place to compare rows with.
    name = hashlib.sha256(f"{folder} {fingerprint}".encode()).hexdigest()[:32]
    return os.path.join(folder, f"{name}.db")


def is_temporary(path: str) -> bool:
    """Return whether a path is that of a temporary ledger of this session."""
    return os.path.dirname(path) == session_folder()


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
                "environment and start anew, or give the ledger a path of its own."
            ) from None
    except OSError as error:
        raise LedgerUnavailableError(
            f"The folder of temporary ledgers cannot be made ({error.strerror}). Set TMPDIR to a folder that "
            "can be written to, or give the ledger a path of its own."
        ) from error


def _is_worker() -> bool:
    """Return whether this process works for another one."""
    if multiprocessing.current_process().name != "MainProcess":  # also of joblib's and dask's own processes
        return True
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


def _remove(folder: str) -> None:
    if began_here():  # a forked child must not take the ledgers with it
        shutil.rmtree(folder, ignore_errors=True)
