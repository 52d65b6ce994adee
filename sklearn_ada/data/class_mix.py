"""Hold the shares of classes in the population that is meant, where these are declared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._validation import bad_parameter

_TOLERANCE = 1e-6  # of the sum of shares: those of 32 bits are rounded to 6e-8 each
_ROUNDED = 1e-9  # less is left as it is, so that a mix on record is read as it was written
_SHOWN = 10  # classes whose shares a target names
_FIX = "Give the share of every class in the population that is meant: class_mix={0: 0.999, 1: 0.001}."


@dataclass(frozen=True)
class ClassMix:
    """The shares of the classes in the population that is meant.

    Parameters
    ----------
    shares : tuple of (label, share)
        Sorted by label.
    """

    shares: tuple[tuple[Any, float], ...]

    @classmethod
    def of(cls, given: Mapping[Any, Any], name: str = "class_mix", owner: str = "Holdout") -> Self:
        """Return the mix that a user gives, or a record has; ValueError if these are no shares of classes.

        Examples
        --------
        >>> ClassMix.of({1: 0.25, 0: 0.75})
        {0: 0.75, 1: 0.25}
        """

        def wrong(expected: str, got: object) -> ValueError:
            return bad_parameter(name, owner, expected, got, _FIX)

        labels = [_label(label) for label in given]
        if None in labels or len({type(label) for label in labels}) > 1 or len(set(labels)) < len(labels):
            raise wrong("shares of class labels, all whole numbers or all texts", [*given])
        if len(labels) < 2:
            raise wrong("shares of two classes or more", dict(given))
        shares = [  # 1 - .9 is .1: one mix, however it was computed
            float(f"{float(s):.15g}") if isinstance(s, Real) and not isinstance(s, bool) else 0.0
            for s in given.values()
        ]
        if not all(0.0 < share < 1.0 for share in shares):
            raise wrong("shares between 0 and 1, both exclusive", dict(given))
        total = math.fsum(shares)
        if abs(total - 1.0) > _TOLERANCE:
            raise wrong("shares that sum to one", f"{dict(given)}, which sum to {total:.10g}")
        if abs(total - 1.0) > _ROUNDED:
            shares = [float(f"{share / total:.15g}") for share in shares]
        return cls(tuple(sorted(zip(labels, shares, strict=True))))

    def __repr__(self) -> str:
        return repr(dict(self.shares))

    def __str__(self) -> str:
        if len(self.shares) > _SHOWN:
            return f"of {len(self.shares)} classes"
        return "{" + ", ".join(f"{label!r}: {share:.9g}" for label, share in self.shares) + "}"

    def described(self) -> list[list[Any]]:
        """Return it as a genesis has it."""
        return [[*each] for each in self.shares]

    def check_classes(self, classes: NDArray[Any]) -> None:
        """Raise ValueError unless these classes of a holdout, sorted, are those of the mix."""
        held, named = ({_label(each) for each in some} for some in (classes.tolist(), dict(self.shares)))
        for some, others, where in (
            (named, held, "of classes that the holdout has rows of"),
            (held, named, "with every class of the holdout"),
        ):
            if missing := sorted(some - others, key=str):
                shown = f"{', '.join(map(repr, missing[:5]))}{', ...' if len(missing) > 5 else ''}"
                got = f"{'also' if some is named else 'none of'} {shown}"
                raise bad_parameter("class_mix", "Holdout", where, got, _FIX)

    def share_of(self, label: Any) -> float:
        """Return the share of one class; 0 for a label that has none."""
        return next((share for each, share in self.shares if each == label), 0.0)

    def rows(self, y: NDArray[Any]) -> list[NDArray[np.bool_]]:
        """Return which rows are of each class."""
        return [np.asarray(y == label) for label, _ in self.shares]


def _label(label: Any) -> Any:
    """Return a class label as JSON writes it; None for what is none."""
    if isinstance(label, str):
        return str(label)
    is_whole = isinstance(label, Integral | bool | np.bool_) or (
        isinstance(label, float) and label % 1.0 == 0.0
    )
    return int(label) if is_whole else None
