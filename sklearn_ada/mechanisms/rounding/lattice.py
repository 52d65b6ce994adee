"""The lattice to which noisy answers are moved: multiples of a power of two, so that no last digit leaks.

Floating point numbers are no real numbers. Which doubles ``value + noise`` can be depends on the value, down
to the last bit: of the answers within 0.1 of 0 that Laplace noise of scale 1 gave to the value 0, only 5 %
were possible for a neighbour's value 1, so nearly all told which of the two it was, whatever epsilon says
(Mironov 2012). The multiples of one step are the same set for every value. To move an answer to the nearest
of them is post-processing, so no guarantee is lost, and a step of a thousandth of the noise costs nothing.

What this does not promise: the *probabilities* are still made of doubles, so a ratio of two of them may
exceed ``e^epsilon`` by rounding errors; far from the value (for Laplace noise 28 scales, probability 1e-12)
the sampler has gaps wider than a step; comparisons, and how long a draw takes, are as they were. Where that
matters, use a discrete mechanism on integers.
"""

from __future__ import annotations

import math

__all__ = ["lattice_step", "on_lattice"]

_STEPS_A_SCALE = 10  # binary digits: 1,024 steps or a little more
_LEAST_STEP = math.ulp(0.0)  # every double is a multiple of it


def lattice_step(scale: float) -> float:
    """Return the largest power of two that is at most ``scale / 1024``.

    Parameters
    ----------
    scale : float
        Of the noise, positive.

    Examples
    --------
    >>> lattice_step(1.0) == lattice_step(1.9) == 1 / 1024
    True
    """
    _, exponent = math.frexp(scale)  # the scale is at least 2^(exponent - 1)
    return max(math.ldexp(1.0, exponent - 1 - _STEPS_A_SCALE), _LEAST_STEP)


def on_lattice(number: float, scale: float) -> float:
    """Return the multiple of `lattice_step` nearest to a number that noise of this scale was added to.

    Parameters
    ----------
    number : float
        What would be released.
    scale : float
        Of its noise, positive.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.

    Examples
    --------
    >>> on_lattice(0.7391, scale=1.0) * 1024
    757.0
    """
    if math.isinf(number):  # noise beyond all doubles
        return number
    return number - math.remainder(number, lattice_step(scale))  # both exact
