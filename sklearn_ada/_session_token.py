"""Which interpreter and its children share the temporary ledgers: a folder, named in the environment.

The name is set when the package is imported, before any worker is started, so that workers inherit it: a
search that they build themselves goes on paying from the same budget. Standard library only, as every import
of the package runs this.
"""

from __future__ import annotations

import os
import secrets
import tempfile

__all__ = ["VARIABLE", "began_here", "session_folder"]

VARIABLE = "SKLEARN_ADA_SESSION"

if VARIABLE not in os.environ:
    os.environ[VARIABLE] = os.path.join(tempfile.gettempdir(), f"sklearn_ada_{secrets.token_hex(8)}")
    _began = os.getpid()
else:
    _began = -1  # in the interpreter that this one descends from
_folder = os.environ[VARIABLE]


def session_folder() -> str:
    """Return the folder of this session's temporary ledgers; whoever needs it makes it."""
    return _folder


def began_here() -> bool:
    """Return whether the session began in this very process, which cleans up after it."""
    return _began == os.getpid()
