"""Check arguments, with one form of error: what was expected, what came, how to mend it.

A public function declares the checks of its arguments with `checked`, a dataclass those of its fields with
`checked_fields`. What depends on another argument is checked in the body, by `check_real` and its like.
Callers of the package that pass what is checked already, and pass it often, call the `plain` function.
Numbers and tables as text are here too, as the messages need them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
    """Return ``value`` as an int between ``low`` and ``high``, or raise ValueError."""
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


def check_flag(value: object, name: str, owner: str) -> bool:
    """Return ``value`` if it is True or False, or raise ValueError."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise bad_parameter(name, owner, "True or False", value)


Check = Callable[[Any, str, str], Any]
"""Takes a value, its parameter's name and whose it is; returns what is used for it, or raises ValueError."""

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def real(
    low: float = -math.inf, high: float = math.inf, *, closed: str = "neither", fix: str = ""
) -> Callable[[Any, str, str], float]:
    """Return the check that `check_real` makes with these ends."""
    least = low if closed in ("low", "both") else math.nextafter(low, math.inf)
    most = high if closed in ("high", "both") else math.nextafter(high, -math.inf)

    def check(value: Any, name: str, owner: str) -> float:
        if type(value) is float and least <= value <= most and value - value == 0.0:
            return value
        return check_real(value, name, owner, low=low, high=high, closed=closed, fix=fix)

    return check


def integer(low: int = 1, high: int | None = None, *, fix: str = "") -> Callable[[Any, str, str], int]:
    """Return the check that `check_integer` makes with these ends."""
    return lambda value, name, owner: check_integer(value, name, owner, low=low, high=high, fix=fix)


def option(options: Collection[str], otherwise: Check | None = None) -> Check:
    """Return the check that a value is one of these words.

    What is no word is left to the check ``otherwise``, if there is one.
    """

    def check(value: Any, name: str, owner: str) -> Any:
        if otherwise is not None and not isinstance(value, str):
            return otherwise(value, name, owner)
        return check_option(value, name, owner, options)

    return check


def instance(kind: type | tuple[type, ...], expected: str) -> Check:
    """Return the check that a value is of this class, which an error calls ``expected``."""

    def check(value: Any, name: str, owner: str) -> Any:
        if isinstance(value, kind):
            return value
        raise bad_parameter(name, owner, expected, value)

    return check


def or_none(check: Check) -> Check:
    """Return the check that lets None pass as well."""
    return lambda value, name, owner: None if value is None else check(value, name, owner)


def tuple_of(kind: type | tuple[type, ...], expected: str, *, empty: bool = False) -> Check:
    """Return the check that a value is a tuple of these, empty only if ``empty``."""

    def check(value: Any, name: str, owner: str) -> Any:
        if isinstance(value, tuple) and (empty or value) and all(isinstance(x, kind) for x in value):
            return value
        raise bad_parameter(name, owner, expected, value)

    return check


def as_check(check: Check | str) -> Check:
    """Return the function that checks a range, for the range as text.

    Reals: "> 0", ">= 0", "<= 0", "< 0", "(0, 1)", "[0, 1)" and so on, or "finite". Integers: "integer >= 0",
    and "count" for one of at least 1. "each > 0" checks every element and makes a tuple of them; "> 0 or
    None" lets None pass.

    Examples
    --------
    >>> as_check("(0, 1]")(1, "share", "here"), as_check("each integer >= 0")([0, 1], "counts", "here")
    (1.0, (0, 1))
    """
    if not isinstance(check, str):
        return check
    if check.startswith("each "):
        element = as_check(check.removeprefix("each "))
        return lambda values, name, owner: tuple([element(value, name, owner) for value in values])
    if check.endswith(" or None"):
        return or_none(as_check(check.removesuffix(" or None")))
    if check == "count":
        return integer()
    if check.startswith("integer >= "):
        return integer(int(check.removeprefix("integer >= ")))
    if check == "finite":
        return real()
    if check[0] in "<>":
        sign, end = check.split()
        if sign[0] == ">":
            return real(float(end), closed="low" if sign == ">=" else "neither")
        return real(high=float(end), closed="high" if sign == "<=" else "neither")
    low, high = map(float, check[1:-1].split(","))
    closed = {"()": "neither", "[)": "low", "(]": "high", "[]": "both"}[check[0] + check[-1]]
    return real(low, high, closed=closed)


def checked(owner: str = "", /, **checks: Check | str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the named arguments of each call, and pass on what the checks return.

    They are checked in the order given. A check is a function, or a range as a text (`as_check`). Errors name
    the function, or the class whose method it is, or ``owner``. Defaults are not checked.

    Examples
    --------
    >>> @checked(n="integer >= 1", share="[0, 1]")
    ... def part(n: int, share: float = 0.5) -> float:
    ...     return n * share
    >>> part(10, share=1)
    10.0
    >>> part(0)
    Traceback (most recent call last):
        ...
    ValueError: The 'n' parameter of part must be an integer of at least 1. Got 0 instead.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]  # without those that can only be given by name
        plan = [
            (names.index(name) if name in names else sys.maxsize, name, as_check(check))
            for name, check in checks.items()
        ]
        whose = owner or function.__qualname__.removesuffix(".__init__").rpartition("<locals>.")[2]

        @wraps(function)
        def shell(*args: P.args, **kwargs: P.kwargs) -> R:
            given: list[Any] = list(args)
            for place, name, check in plan:
                if place < len(given):
                    given[place] = check(given[place], name, whose)
                elif name in kwargs:
                    kwargs[name] = check(kwargs[name], name, whose)
            return function(*given, **kwargs)

        return shell

    return decorate


def plain(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function below a `checked` decorator, for callers that have checked their arguments.

    Examples
    --------
    >>> @checked(share="[0, 1]")
    ... def rest(share: float) -> float:
    ...     return 1.0 - share
    >>> plain(rest)(0.25)
    0.75
    """
    unchecked: Callable[P, R] = getattr(function, "__wrapped__")  # noqa: B009 -- an attribute that the type lacks
    return unchecked


def checked_fields(owner: str = "", /, **checks: Check | str) -> Callable[[type[T]], type[T]]:
    """Check the named fields of a dataclass when it is made; stands below ``@dataclass``.

    Fields become what their checks return, before the class's own ``__post_init__``. Errors name ``owner``,
    or else the class of the object, which may be a subclass.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... @checked_fields(size="> 0")
    ... class Cell:
    ...     size: float
    >>> Cell(2)
    Cell(size=2.0)
    """

    def decorate(cls: type[T]) -> type[T]:
        plan = [(name, as_check(check)) for name, check in checks.items()]
        after: Callable[[T], None] | None = getattr(cls, "__post_init__", None)

        def check_all(self: T) -> None:
            for name, check in plan:
                given = getattr(self, name)
                value = check(given, name, owner or type(self).__name__)
                if value is not given:
                    object.__setattr__(self, name, value)
            if after is not None:
                after(self)

        setattr(cls, "__post_init__", check_all)  # noqa: B010 -- which mypy does not let a class have
        return cls

    return decorate


LN_2 = math.log(2.0)
"""Half a failure probability is this much less in logarithms."""

OUTWARDS = 1e-12
"""By how much, as a part, the ends of intervals are moved outwards against rounding errors."""


def number(value: float | None, missing: str = "") -> str:
    """Return a number with four digits, or ``missing`` for None."""
    return missing if value is None else f"{value:.4g}"


def in_full(value: Any, digits: int = 2) -> str:
    """Return a number with so many digits, and no exponent if it is large.

    Examples
    --------
    >>> in_full(0.01234), in_full(123.4), in_full(17_123_456.0, 3)
    ('0.012', '120', '17,100,000')
    """
    return f"{float(f'{value:.{digits}g}'):,.12g}"


def percent(part: float) -> str:
    """Return a number in percent, with all its digits.

    A confidence of 0.999999999 must not be shown as 100%.

    Examples
    --------
    >>> percent(0.95), percent(0.975), percent(0.999999999)
    ('95%', '97.5%', '99.9999999%')
    """
    return f"{100.0 * part:.12g}%"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "certify"), counted(2, "certify"), counted(5000, "check"), counted(3, "search")
    ('1 certify', '2 certifies', '5,000 checks', '3 searches')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}{'es' if noun.endswith('ch') else 's'}"
    return f"{count:,} {noun if count == 1 else plural}"


def printable(text: str) -> str:
    r"""Return a text whose control characters are written out: a name must not steer a terminal.

    Examples
    --------
    >>> print(printable("\x1b[2Jada"))
    \x1b[2Jada
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[str] = ()) -> str:
    """Return a table with a column as wide as its widest cell; ``right`` names those set to the right.

    Examples
    --------
    >>> print(aligned(["metric", "n"], [["auc", "10"], ["accuracy", "7"]], right=["n"]))
    metric     n
    auc       10
    accuracy   7
    """
    table = [head, *([printable(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(head, cells, widths, strict=True)
        ]
        return "  ".join(parts).rstrip()

    return "\n".join(map(line, table))


def describe(values: ArrayLike) -> str:
    """Return the form of an array for an error message: its contents may be the holdout's."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        return f"an array of shape {array.shape} and dtype {array.dtype}"
    bad = int(array.size - np.isfinite(array).sum())
    return f"an array of shape {array.shape} and dtype {array.dtype}, {bad} of it not finite"


generator = instance(np.random.Generator, "a numpy.random.Generator")


def as_floats(values: ArrayLike, name: str, owner: str) -> NDArray[np.float64]:
    """Return ``values`` as an array of floats, or raise ValueError if they are no numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad_parameter(name, owner, "an array of numbers", type(values).__name__) from None


def check_values(values: ArrayLike, name: str, owner: str) -> NDArray[np.float64]:
    """Return ``values`` as a non-empty one-dimensional array of finite floats, or raise ValueError."""
    expected = "a non-empty one-dimensional array of finite numbers"
    array = as_floats(values, name, owner)
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise bad_parameter(name, owner, expected, describe(array))
    return array


def check_indices(indices: ArrayLike, grid_size: int, owner: str) -> NDArray[np.int64]:
    """Return ``indices`` as a non-empty int64 array within ``0 .. grid_size - 1``, or raise ValueError."""
    array = np.asarray(indices)
    integral = array.ndim == 1 and array.size > 0 and array.dtype.kind in "iu"
    if not integral or array.min() < 0 or array.max() >= grid_size:
        expected = f"a non-empty one-dimensional array of integers in 0 .. {grid_size - 1}"
        raise bad_parameter("indices", owner, expected, describe(array))
    return array.astype(np.int64)


def check_state(state: object, keys: Collection[str], owner: str) -> dict[str, Any]:
    """Return ``state`` as a dict if it has exactly the given ``keys``, or raise ValueError."""
    if isinstance(state, dict) and set(state) == set(keys):
        return dict(state)
    got = sorted(state) if isinstance(state, dict) else type(state).__name__
    raise bad_parameter("state", owner, "what state() returned, with the keys " + ", ".join(keys), got)
