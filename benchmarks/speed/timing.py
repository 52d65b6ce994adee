"""Timing by turns, so that a load on the machine falls on all that is compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

__all__ = ["by_turns", "timed"]


def timed(function: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    """Return the seconds of one call and its result."""
    start = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - start, result


def by_turns(functions: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each function in each round; every second round goes backwards."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(rounds):
        for name in list(functions)[:: -1 if turn % 2 else 1]:
            seconds[name].append(timed(functions[name])[0])
    return seconds
