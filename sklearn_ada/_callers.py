"""Who called: whether a function of another package is on the stack."""

from __future__ import annotations

import inspect

__all__ = ["is_called_by_function"]


def is_called_by_function(package: str, names: frozenset[str]) -> bool:
    """Return whether a function of one of these names, in a package or one in it, is among the callers.

    Examples
    --------
    >>> is_called_by_function("doctest", frozenset({"run"}))
    True
    >>> is_called_by_function("sklearn.model_selection", frozenset({"run"}))
    False
    """
    frame = inspect.currentframe()
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if frame.f_code.co_name in names and (module == package or module.startswith(package + ".")):
            return True
        frame = frame.f_back
    return False
