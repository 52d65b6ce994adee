"""Errors raised after a look at the holdout carry no frame that holds what was seen.

A traceback keeps the local variables of all functions that an error came through. If the charge fails after
the look (the ledger is gone, the question is refused after all, Ctrl-C), they would hold values that nobody
has paid for, in reach of debuggers, of notebooks (``%debug``) and of tools that report errors with variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["with_bare_errors"]

Result = TypeVar("Result")


def with_bare_errors(look_and_charge: Callable[[], Result]) -> Result:
    """Return ``look_and_charge()``; what it raises is raised without its traceback, cause and context.

    What is seen of the holdout must be local to that function, not to one around it.
    """
    bare: BaseException
    try:
        return look_and_charge()
    except BaseException as error:
        bare = error.with_traceback(None)
        bare.__cause__ = bare.__context__ = None
    try:
        raise bare  # out of the handler, so that it gets no context
    finally:
        del bare  # or this frame and the error would refer to each other
