"""Chernoff's interval for a weighted mean, which is narrower than Hoeffding's near 0 and 1."""

from __future__ import annotations

import numpy as np

from sklearn_ada._checks import check_integer, check_real
from sklearn_ada._constants import OUTWARDS
from sklearn_ada._solving import enclosed_root
from sklearn_ada.guarantees.intervals._sides import check_range, ln_side, mirrored, to_unit
from sklearn_ada.guarantees.intervals.chernoff import bernoulli_kl, chernoff_kl

__all__ = ["bounded_weights_kl", "fixed_shares_kl"]


def bounded_weights_kl(
    low_value: float,
    high_value: float,
    n: int,
    mean_weight: float,
    weight_bound: float,
    ln_delta: float,
    range: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Return an interval for ``E[wX] / E[w]`` that misses with probability at most delta.

    Excludes q if ``n kl(q + (mean_weight / b) (q_hat - q), q) >= ln(2 / delta)``, and mirrored. Never wider
    than Hoeffding's with `bounded_weight_size`, and of equal weights b it is `chernoff_kl`.

    Proof: at the true ratio q the independent variables ``q + w (X - q) / b`` are in [0, 1] and have mean q;
    their mean over the rows is the first argument. Chernoff's bound for it is smaller the smaller the mean
    weight is taken to be, so that a value rounded down will do.

    Source: Hoeffding (1963), Theorem 1.

    Parameters
    ----------
    low_value, high_value : float
        Ends of what is known of the weighted mean, inside ``range``.
    n : int
        Number of independent terms.
    mean_weight : float
        Their mean weight or less, in (0, weight_bound].
    weight_bound : float
        What no weight of the population exceeds, known without the sample.
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of X.

    Examples
    --------
    >>> import math
    >>> low, high = bounded_weights_kl(0.95, 0.95, 1000, 0.5, 1.0, math.log(0.05))
    >>> round(low, 4), round(high, 4)  # Hoeffding: .8641 and 1
    (0.9007, 0.9776)
    """
    owner = "bounded_weights_kl"
    n = check_integer(n, "n", owner)
    bound = check_real(weight_bound, "weight_bound", owner, low=0.0)
    part = check_real(mean_weight, "mean_weight", owner, low=0.0, high=bound, closed="high") / bound
    bottom, top = check_range(range, owner)
    p_low, p_high = to_unit(low_value, high_value, bottom, top, owner)
    limit = -ln_side(ln_delta, owner) / n
    low, high = _low(p_low, part, limit), mirrored(_low(1.0 - p_high, part, limit))
    return bottom + low * (top - bottom), bottom + high * (top - bottom)


def fixed_shares_kl(
    low_value: float,
    high_value: float,
    n: int,
    largest_share: float,
    ln_delta: float,
    range: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Return an interval for ``sum a_i E[X_i]`` with known shares ``a_i``, missing with probability delta.

    Chernoff's for ``q_hat / (n a_max)``, the mean of the independent variables ``a_i X_i / a_max`` in [0, 1].
    The shares (positive, of sum 1) must be fixed, so the target is conditional on the weights.

    Source: Hoeffding (1963), Theorem 1.

    Parameters
    ----------
    low_value, high_value : float
        Ends of what is known of the mean at these shares, inside ``range``.
    n : int
        Number of independent terms.
    largest_share : float
        ``a_max``, in [1/n, 1].
    ln_delta : float
        Logarithm of the failure probability, at most 0.
    range : tuple of float, default=(0, 1)
        Finite bounds of X.

    Examples
    --------
    >>> import math
    >>> low, high = fixed_shares_kl(0.95, 0.95, 1000, 0.0015, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.887, 0.9698)
    """
    owner = "fixed_shares_kl"
    n = check_integer(n, "n", owner)
    least = (1.0 - 1e-9) / n
    scale = n * check_real(largest_share, "largest_share", owner, low=least, high=1.0, closed="both")
    scale = max(scale, 1.0)
    bottom, top = check_range(range, owner)
    p_low, p_high = to_unit(low_value, high_value, bottom, top, owner)
    low = scale * chernoff_kl(p_low / scale, p_low / scale, n, ln_delta)[0]
    miss = scale * chernoff_kl((1.0 - p_high) / scale, (1.0 - p_high) / scale, n, ln_delta)[0]
    low, high = min(low, 1.0), mirrored(min(miss, 1.0))
    return bottom + low * (top - bottom), bottom + high * (top - bottom)


def _low(value: float, part: float, limit: float) -> float:
    """Largest q that is surely excluded as too low, or 0."""
    if value <= 0.0 or not np.isfinite(limit):
        return 0.0

    def kept(q: float) -> float:
        return limit - bernoulli_kl(min(q + part * (value - q), 1.0), q)

    least = 1e-300
    if kept(least) > 0.0:
        return 0.0
    low, _ = enclosed_root(kept, least, value)
    return low * (1.0 - OUTWARDS)
