"""Checks of arguments, with one form of error: what was expected, what came, how to mend it."""

import math
from collections.abc import Collection
from numbers import Integral, Real

__all__ = ["bad_parameter", "check_integer", "check_option", "check_real"]


def bad_parameter(name: str, owner: str, expected: str, got: object, fix: str = "") -> ValueError:
    """Return the error "The 'name' parameter of owner must be expected. Got got instead."."""
    message = f"The {name!r} parameter of {owner} must be {expected}. Got {got!r} instead."
    return ValueError(f"{message} {fix}".rstrip())


def check_real(
    value: object,
    name: str,
    owner: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    closed: str = "neither",
    fix: str = "",
) -> float:
    """Return ``value`` as a finite float between ``low`` and ``high``, or raise ValueError.

    ``closed`` says which ends of the range are allowed: "neither", "low", "high" or "both".
    NaN and infinities are always refused, and so are booleans.
    """
    if type(value) is float or (isinstance(value, Real) and not isinstance(value, bool)):
        try:
            number = float(value)
        except OverflowError:  # of an integer that is too large
            number = math.inf
        above = number >= low if closed in ("low", "both") else number > low
        below = number <= high if closed in ("high", "both") else number < high
        if math.isfinite(number) and above and below:
            return number
    left = "[" if closed in ("low", "both") else "("
    right = "]" if closed in ("high", "both") else ")"
    raise bad_parameter(name, owner, f"a finite number in {left}{low:g}, {high:g}{right}", value, fix)


def check_integer(
    value: object, name: str, owner: str, *, low: int = 1, high: int | None = None, fix: str = ""
) -> int:
    """Return ``value`` as an int of at least ``low`` and at most ``high``, or raise ValueError."""
    # An abstract class is slow to ask, and a sealed answer checks some hundred and fifty numbers.
    if type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool)):
        number = int(value)
        if number >= low and (high is None or number <= high):
            return number
    expected = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise bad_parameter(name, owner, f"an integer {expected}", value, fix)


def check_option(value: object, name: str, owner: str, options: Collection[str]) -> str:
    """Return ``value`` if it is one of ``options``, or raise ValueError."""
    if isinstance(value, str) and value in options:
        return value
    raise bad_parameter(name, owner, "one of " + ", ".join(repr(o) for o in sorted(options)), value)
