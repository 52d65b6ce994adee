"""Which interpreter and its children share the temporary ledgers: a folder, named in the environment.

The name is set when the package is imported, before any worker is started, so that workers inherit it: a
search that they build themselves goes on paying from the same budget. A worker that was started before the
import cannot know the name, and passes on that there is none. Every import of the package runs this, so it
uses the standard library only, and little of it.
"""

from __future__ import annotations

import atexit
import os
import re
import secrets
import shutil
import sys
import tempfile

__all__ = ["VARIABLE", "began_here", "has_ended", "session_folder"]

VARIABLE = "SKLEARN_ADA_SESSION"
_UNKNOWN = "unknown"  # to a worker that was started before the import, and to its own children
_NAME = re.compile(r"sklearn_ada_(\d+)_[0-9a-f]{16}")


def _begin() -> str:
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        return _UNKNOWN
    try:
        place = tempfile.gettempdir()
    except OSError:  # there is none, which matters to who needs a temporary ledger
        place = os.path.abspath("no folder for temporary files")
    return os.path.join(place, f"sklearn_ada_{os.getpid()}_{secrets.token_hex(8)}")


def session_folder() -> str | None:
    """Return the folder of this session's temporary ledgers; whoever needs it makes it.

    None in a worker that does not know it. ValueError if the environment names none of this package's.
    """
    if _folder == _UNKNOWN:
        return None
    found = _NAME.fullmatch(os.path.basename(_folder))
    if found is None or not os.path.isabs(_folder) or os.path.normpath(_folder) != _folder:
        raise ValueError(
            f"The environment variable {VARIABLE} is not one that sklearn_ada has set: unset it."
        )
    return _folder


def began_here() -> bool:
    """Return whether the session began in this very process, which cleans up after it."""
    return _began == os.getpid()


def has_ended() -> bool:
    """Return whether the interpreter that began the session is known to have ended."""
    found = _NAME.fullmatch(os.path.basename(_folder))
    if found is None or os.name != "posix":
        return False
    try:
        os.kill(int(found[1]), 0)  # asks whether there is such a process
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


def _clean_up() -> None:
    if began_here():  # a forked child must not take the ledgers with it
        shutil.rmtree(_folder, ignore_errors=True)


_began = -1  # the process that began the session, if it was this one or one that this was forked from
if VARIABLE not in os.environ:
    os.environ[VARIABLE] = _begin()
    if os.environ[VARIABLE] != _UNKNOWN:
        _began = os.getpid()
        atexit.register(_clean_up)  # also where only children have made ledgers
_folder = os.environ[VARIABLE]
