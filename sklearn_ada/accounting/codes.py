"""Codes: how likely each possible answer is taken to be, fixed before the answer exists.

A *code* gives each outcome of a question a probability, at most 1 in sum; an outcome of probability p costs
``-ln p`` *nats*, the unit of information with natural logarithms. An outcome is a `Symbol`: mostly an
integer, the offset of the answer from the one that the guess predicts. Failures are outcomes too, so every
code keeps some probability for them. All functions return natural logarithms.

There is one code for each kind of answer, which `Symbol` calls its *stream*:

- "cells", the coarse answer of a check: geometric, with a Cauchy tail; a Polya urn then learns from the
  answers given (`sklearn_ada.accounting.polya_urn`).
- "lattice", the exact value of a certify, and "grid", a median on a grid: Cauchy around the guess, with the
  scale that the guess's precision suggests.
- "spread", "count": a distance between two quantiles, a coarse count; Cauchy as well.
- "index": one of N alternatives, all equally likely, so ``ln N`` nats.
- "overlap": whether training rows reappear in the holdout; "no" is nearly free.
- "confirmation": whether a model that was found by its digest says on the holdout what is recorded of it;
  0 is "the same", 1 "different". It has an urn of its own, whose weight and prior are the same for every
  ledger: they are no part of a policy.
- "version": the same where several answers are recorded under the digest, one of which it may be. It has
  another urn, so that a model which predicts at random, and is a new version each time, does not make "the
  same" dear for all others.
- "which": which of several recorded answers it is. Its ``scale`` is its probability, which follows from how
  often each of them was confirmed before.
- "relabelled": whether rows of known ids have labels that they never had before. "No" is paid for once, when
  the rows are recorded (`sklearn_ada.holdout.changing_rows.top_up`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada._constants import LN_2
from sklearn_ada.events import FAILURES, MOST_OFFSET, Symbol
from sklearn_ada.exceptions import UnsupportedEventError

__all__ = [
    "CONFIRMATION_WEIGHT",
    "DIFFERENT_MASS",
    "FAILURE_MASS",
    "RELABELLED_MASS",
    "URN_WEIGHT",
    "Code",
    "arctan_difference",
    "ln_cauchy",
    "ln_geometric",
]

CONFIRMATION_WEIGHT = 10.0
"""The prior of an urn of confirmations counts as so many earlier ones.

The first "the same" then costs .001 nats and N of them about ``.01 ln(1 + N/10)``, as digests are hardly ever
wrong; a first "different" costs ``ln 1000`` (6.9) nats, and ``ln(1 + N/10)`` more after N that were the same.
After one "different" the next "the same" costs .1 nats.
"""
DIFFERENT_MASS = 1e-3
"""Prior probability that a model found by its digest says something else on the holdout."""

RELABELLED_MASS = 0.01
"""Prior probability that rows of known ids come with other labels."""

URN_WEIGHT = 10.0
"""The prior of a Polya urn counts as this many earlier answers."""

FAILURE_MASS = 0.001
"""Prior mass of all `sklearn_ada.events.FAILURES` together."""


def ln_geometric(value: int, decay: float) -> float:
    """Return ``ln[(1-t)/(1+t) * t^|z|]``, a law on the integers that expects 0.

    Examples
    --------
    >>> round(math.exp(ln_geometric(0, 0.5)), 6), round(math.exp(ln_geometric(-1, 0.5)), 6)
    (0.333333, 0.166667)
    """
    value = _integer(value, "ln_geometric")
    decay = check_real(decay, "decay", "ln_geometric", low=0.0, high=1.0)
    return math.log((1.0 - decay) / (1.0 + decay)) + abs(value) * math.log(decay)


def ln_cauchy(value: int, scale: float) -> float:
    """Return the log mass of z under a Cauchy law of this scale rounded to integers.

    Its tails forgive a bad guess: an offset of z costs about ``2 ln(z/scale)`` nats more than none.

    Examples
    --------
    >>> total = sum(math.exp(ln_cauchy(z, 3.0)) for z in range(-20000, 20001))
    >>> 0.9999 < total < 1.0
    True
    """
    value = _integer(value, "ln_cauchy")
    scale = check_real(scale, "scale", "ln_cauchy", low=0.0)
    upper, lower = (abs(value) + 0.5) / scale, (abs(value) - 0.5) / scale
    return math.log(arctan_difference(lower, upper, upper - lower) / math.pi)


def arctan_difference(lower: float, upper: float, width: float) -> float:
    """Return ``arctan(upper) - arctan(lower)`` without cancellation.

    ``width`` is ``upper - lower``, given apart because ends that are far out have lost its digits.

    Examples
    --------
    >>> round(arctan_difference(-1.0, 1.0, 2.0) / math.pi, 12), arctan_difference(1e10, 1e10, 1e-8) > 0.0
    (0.5, True)
    """
    return math.atan2(width, 1.0 + upper * lower)


def _integer(value: object, owner: str) -> int:
    return check_integer(value, "value", owner, low=-MOST_OFFSET, high=MOST_OFFSET)


@dataclass(frozen=True)
class Code:
    """The parameters of all codes of one ledger, fixed when it is created.

    Parameters
    ----------
    urn_weight : float, default=URN_WEIGHT
        The prior of the Polya urn counts as this many earlier answers.
    decay : float, default=0.001
        Prior chance, roughly, that a guess is off by one cell; a geometric law has most of the mass.
    tail_mass : float, default=1e-5
        Share of a Cauchy law in the prior of cells: a guess that is far off costs two nats for every factor e
        of cells, where the geometric law alone would ask seven for every cell.
    failure_mass : float, default=FAILURE_MASS
        Prior mass of all `FAILURES` together.
    leak_mass : float, default=1e-6
        Prior probability that training rows are found in the holdout.

    Examples
    --------
    >>> code = Code()
    >>> [round(-code.ln_prior(Symbol("cells", z)), 3) for z in (0, 1, 10, 1000)]
    [0.003, 6.909, 17.271, 26.474]
    """

    urn_weight: float = URN_WEIGHT
    decay: float = 0.001
    tail_mass: float = 1e-5
    failure_mass: float = FAILURE_MASS
    leak_mass: float = 1e-6

    def __post_init__(self) -> None:
        check_real(self.urn_weight, "urn_weight", "Code", low=0.0)
        for name in ("decay", "tail_mass", "failure_mass", "leak_mass"):
            check_real(getattr(self, name), name, "Code", low=0.0, high=1.0)

    def ln_prior(self, symbol: Symbol) -> float:
        """Return the log probability of a symbol in the code of its kind, before any answer was given.

        Parameters
        ----------
        symbol : Symbol
            What an answer said.
        """
        stream, value, scale = symbol.stream, symbol.value, symbol.scale
        if stream == "overlap":
            return _ln_of_two(symbol, self.leak_mass)
        if stream in ("confirmation", "version"):
            return _ln_of_two(symbol, DIFFERENT_MASS)
        if stream == "which":
            return math.log(
                check_real(scale, "scale", "Symbol of a version", low=0.0, high=1.0, closed="high")
            )
        if stream == "relabelled":
            return _ln_of_two(symbol, RELABELLED_MASS)
        if isinstance(value, str):
            return math.log(self.failure_mass / len(FAILURES))
        if stream in ("lattice", "grid", "spread", "count") and scale == 0.0:
            raise UnsupportedEventError(
                f"A symbol of the code {stream!r} has no price without a scale; give the expected size of "
                "the offset, fixed without the holdout."
            )
        ln_rest = math.log1p(-self.failure_mass)
        if stream == "cells":
            return ln_rest + self._ln_cells(value)
        if stream == "index":
            if not 0 <= value < scale:
                raise bad_parameter("value", "Symbol", f"an index in [0, {scale:g})", value)
            return ln_rest - math.log(scale)
        if stream == "spread":  # never negative, so twice the two-sided mass, once for 0
            return ln_rest + ln_cauchy(value, scale) + (LN_2 if value > 0 else 0.0)
        return ln_rest + ln_cauchy(value, scale)

    def _ln_cells(self, value: int) -> float:
        near = math.log1p(-self.tail_mass) + ln_geometric(value, self.decay)
        far = math.log(self.tail_mass) + ln_cauchy(value, 1.0)
        return max(near, far) + math.log1p(math.exp(-abs(near - far)))


def _ln_of_two(symbol: Symbol, mass: float) -> float:
    """Return the log probability of 0 or 1, of which 1 has this mass."""
    if symbol.value not in (0, 1):
        expected = {
            "overlap": "0 (clean) or 1 (leak)",
            "relabelled": "0 (labels as before) or 1 (others)",
        }.get(symbol.stream, "0 (the same) or 1 (different)")
        raise bad_parameter("value", "Symbol", expected, symbol.value)
    return math.log(mass) if symbol.value else math.log1p(-mass)
