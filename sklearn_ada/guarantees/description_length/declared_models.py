"""Models that are declared before the first answer: their failure probability, whatever is revealed later."""

from __future__ import annotations

import math

from sklearn_ada._checks import check_integer, check_real

__all__ = ["ln_declared"]


def ln_declared(ln_beta: float, n_models: int) -> float:
    """Return ``ln(beta / (4 G))``, a declared model's failure probability, whatever is revealed.

    Half of beta is for the G models that were declared before the first answer, and each has two fixed
    questions (`sklearn_ada.holdout.asking.declare`).

    Parameters
    ----------
    ln_beta : float
        Logarithm of beta.
    n_models : int
        The G.

    Examples
    --------
    >>> round(math.exp(ln_declared(math.log(0.05), 10)), 6)
    0.00125
    """
    ln_beta = check_real(ln_beta, "ln_beta", "ln_declared", high=0.0, closed="high")
    return ln_beta - math.log(4.0 * check_integer(n_models, "n_models", "ln_declared"))
