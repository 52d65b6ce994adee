"""Warnings that point at the line of the user's code, and can be limited to one a process.

Python's own filter cannot keep a repeated warning quiet here: it forgets what it has shown whenever somebody
enters ``warnings.catch_warnings``, as every task of a search does.
"""

from __future__ import annotations

import inspect
import warnings

__all__ = ["warn_user"]

_said: set[tuple[str, ...]] = set()


def warn_user(text: str, *, once: tuple[str, ...] | None = None) -> None:
    """Warn of what a user can change.

    Parameters
    ----------
    text : str
    once : tuple of str or None, default=None
        What the warning is about: it is given once a process. None: it is given whenever this is called. A
        warning that a filter turns into an error is not counted as given.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     for _ in range(3):
    ...         warn_user("Too few rows.", once=("example",))
    >>> len(caught)
    1
    """
    if once in _said:
        return
    warnings.warn(text, UserWarning, stacklevel=_level_of_caller())
    if once is not None:
        _said.add(once)


def _level_of_caller() -> int:
    """Return the ``stacklevel``, for whoever calls this, of the first frame outside of the package."""
    package = __name__.partition(".")[0]
    level, frame = 0, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
