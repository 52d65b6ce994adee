"""Who called: whether code of another package is on the stack."""

from __future__ import annotations

import inspect

__all__ = ["is_called_by"]


def is_called_by(package: str) -> bool:
    """Return whether a function of a package, or of one in it, is among the callers.

    Examples
    --------
    >>> is_called_by("doctest"), is_called_by("sklearn.model_selection")
    (True, False)
    """
    frame = inspect.currentframe()
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name == package or name.startswith(package + "."):
            return True
        frame = frame.f_back
    return False
