"""Answers that are symbols of a code: outcomes whose probabilities are fixed before the answer exists.

Saying a symbol to which the code gives the probability p costs ``-ln p`` *nats*, the unit of information with
natural logarithms; `sklearn_ada.accounting` computes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_ada._checks import bad_parameter, check_integer, check_option, check_real
from sklearn_ada.events._base import Event

__all__ = ["FAILURES", "MOST_OFFSET", "CodedRelease", "CoveredRelease", "Symbol"]

FAILURES = (
    "prediction raised ValueError",
    "prediction raised TypeError",
    "prediction raised MemoryError",
    "prediction raised another error",
    "prediction is not finite or of the wrong shape",
    "metric is undefined",
    "answer has no symbol in its code",
)
"""Every way in which a question can fail on the holdout; each is a symbol with a price."""

MOST_OFFSET = 10**15
"""No symbol is further from what is expected: beyond, offsets and their prices lose digits."""

STREAMS = (
    "cells",
    "lattice",
    "grid",
    "spread",
    "count",
    "index",
    "overlap",
    "confirmation",
    "version",
    "which",
    "relabelled",
)


@dataclass(frozen=True)
class Symbol(Event):
    """One outcome of a code, as its offset from the outcome that is expected: 0 is what was expected.

    Parameters
    ----------
    stream : {"cells", "lattice", "grid", "spread", "count", "index", "overlap", "confirmation", \
            "version", "which", "relabelled"}
        Which code it belongs to. "cells": offset of a coarse cell from the guess. "lattice": offset of
        an exact value on a fine lattice. "grid": offset of a median on its grid. "spread": distance in
        grid points of an outer quantile from the median. "count": a coarse logarithmic count.
        "index": one of `scale` alternatives. "overlap": whether training rows reappear in the holdout.
        "confirmation": whether a model says on the holdout what is recorded (0) or something else (1);
        "version": the same where several recorded answers are compared at once; "which": which of these it
        is. "relabelled": whether rows of known ids have other labels than ever before.
    value : int or str
        The offset, or one of `FAILURES`.
    scale : float, default=0.0
        The expected size of the offset, fixed without the holdout (0 where the code has none); the
        probability of a "which".
    """

    stream: str
    value: int | str
    scale: float = 0.0

    def __post_init__(self) -> None:
        check_option(self.stream, "stream", "Symbol", STREAMS)
        if isinstance(self.value, str):
            check_option(self.value, "value", "Symbol", FAILURES)
        else:
            value = check_integer(self.value, "value", "Symbol", low=-MOST_OFFSET, high=MOST_OFFSET)
            object.__setattr__(self, "value", value)
        object.__setattr__(self, "scale", check_real(self.scale, "scale", "Symbol", low=0.0, closed="low"))


@dataclass(frozen=True)
class CodedRelease(Event):
    """Noiseless symbols of a code were released: no differential privacy whatever.

    Parameters
    ----------
    symbols : tuple of Symbol
        What was revealed, in order.
    """

    symbols: tuple[Symbol, ...]

    def __post_init__(self) -> None:
        check_symbols(self.symbols, "CodedRelease", optional=False)


@dataclass(frozen=True)
class CoveredRelease(Event):
    """Symbols of a mechanism were released whose privacy event, recorded earlier, covers them.

    Parameters
    ----------
    symbols : tuple of Symbol
        What was revealed, in order.
    """

    symbols: tuple[Symbol, ...]

    def __post_init__(self) -> None:
        check_symbols(self.symbols, "CoveredRelease", optional=False)


def check_symbols(symbols: object, owner: str, *, optional: bool) -> None:
    """Raise unless ``symbols`` is a non-empty tuple of Symbol (or None where that is allowed)."""
    if optional and symbols is None:
        return
    if not (isinstance(symbols, tuple) and symbols and all(isinstance(s, Symbol) for s in symbols)):
        raise bad_parameter("symbols", owner, "a non-empty tuple of Symbol", symbols)
