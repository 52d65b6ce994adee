"""Temporary ledgers: one per data fingerprint and process, deleted by the process that made them."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from multiprocessing.util import Finalize

__all__ = ["is_temporary", "temporary_ledger_path"]

_paths: dict[str, str] = {}
_lock = threading.Lock()


def temporary_ledger_path(fingerprint: str) -> str:
    """Return the path of this process's temporary ledger for some data.

    The same data always get the same ledger, so that asking again in a second search, or in a notebook
    cell that is run again, goes on paying instead of starting afresh. The ledger is gone when
    the process ends.

    Examples
    --------
    >>> temporary_ledger_path("some data") == temporary_ledger_path("some data")
    True
    """
    with _lock:
        if fingerprint not in _paths:
            folder = tempfile.mkdtemp(prefix="sklearn_ada_")
            atexit.register(_remove, folder, os.getpid())
            Finalize(None, _remove, (folder, os.getpid()), exitpriority=0)  # where atexit is not reached
            _paths[fingerprint] = os.path.join(folder, "ledger.db")
        return _paths[fingerprint]


def is_temporary(path: str) -> bool:
    """Return whether a path is that of a temporary ledger of this process."""
    with _lock:
        return path in _paths.values()


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not take the ledger with it
        shutil.rmtree(folder, ignore_errors=True)
