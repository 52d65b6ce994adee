"""Who called: whether code of another package is on the stack."""

from __future__ import annotations

import inspect

__all__ = ["is_called_by", "is_called_by_function"]


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


def is_called_by_function(package: str, names: frozenset[str]) -> bool:
    """Return whether a function of one of these names, in a package or one in it, is among the callers.

    Examples
    --------
    >>> is_called_by_function("doctest", frozenset({"no such function"}))
    False
    """
    frame = inspect.currentframe()
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if frame.f_code.co_name in names and (module == package or module.startswith(package + ".")):
            return True
        frame = frame.f_back
    return False
