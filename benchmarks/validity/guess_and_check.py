"""Guess-and-Check (Rogers, Roth, Smith, Srebro, Thakkar, Woodworth, AISTATS 2020), the baseline to beat.

A guess passes if the guess plus or minus tau surely holds the population value; the answer is then the guess.
Otherwise the holdout's value is released, rounded so that plus or minus tau is still right. tau is the same
for all questions and must be fixed in advance. Question i (from 0) with f failures behind it works with::

    beta_i = beta * c/(i+1)^2 * c/(f+1)^2 / (C(i, f) * prod_j ceil(1/gamma_j)),    c = 6/pi^2

and the Chernoff interval at ``beta_i``, half of it on each side. ``gamma_j`` is what tau leaves for rounding
at failure j. Once nothing is left the conversation ends.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, rel_entr

from sklearn_ada.guarantees.intervals import chernoff_kl

__all__ = ["GuessAndCheck", "answers_all", "smallest_tau"]

_LN_C = math.log(6.0 / math.pi**2)


def answers_all(
    guesses: NDArray[np.float64], values: NDArray[np.float64], n: int, tau: float, beta: float = 0.05
) -> bool:
    """Return whether Guess-and-Check answers all questions within tau.

    Parameters
    ----------
    guesses, values : ndarray of shape (k,)
        Of each question in turn: the guess, and the value on the holdout.
    n : int
        Records of the holdout.
    tau : float
    beta : float
    """
    order = np.arange(len(guesses))
    room = np.minimum(_divergence(values, guesses - tau), _divergence(values, guesses + tau)) * n
    inside = np.abs(guesses - values) < tau
    start, failures, ln_rounding = 0, 0, 0.0
    while True:
        ln_choose = gammaln(order + 1) - gammaln(failures + 1) - gammaln(np.maximum(order - failures, 0) + 1)
        ln_beta = math.log(beta) + 2.0 * _LN_C - 2.0 * np.log(order + 1.0) - 2.0 * math.log(failures + 1.0)
        ln_beta -= ln_choose + ln_rounding
        passes = inside & (room >= math.log(2.0) - ln_beta)
        failed = np.flatnonzero(~passes[start:])
        if not failed.size:
            return True
        at = start + int(failed[0])
        low, high = chernoff_kl(values[at], values[at], n, float(ln_beta[at]))
        gamma = tau - max(values[at] - low, high - values[at])
        if gamma <= 0.0:
            return False
        start, failures, ln_rounding = at + 1, failures + 1, ln_rounding + math.log(math.ceil(1.0 / gamma))


def smallest_tau(
    guesses: NDArray[np.float64], values: NDArray[np.float64], n: int, beta: float = 0.05
) -> float:
    """Return, in hindsight, the smallest tau at which all questions are answered."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (low, middle) if answers_all(guesses, values, n, middle, beta) else (middle, high)
    return high


def _divergence(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """kl(p, q); infinite where q is no probability, which needs no bound."""
    inside = (q > 0.0) & (q < 1.0)
    q = np.where(inside, q, 0.5)
    divergence: NDArray[np.float64] = np.where(inside, rel_entr(p, q) + rel_entr(1.0 - p, 1.0 - q), np.inf)
    return divergence


class GuessAndCheck:
    """The mechanism, asked one question at a time: returns None once tau can be held no longer.

    Parameters
    ----------
    n : int
        Records of the holdout.
    tau : float
    beta : float, default=0.05

    Examples
    --------
    >>> mechanism = GuessAndCheck(10_000, 0.1)
    >>> mechanism.ask(0.5, 0.51), mechanism.failures
    (0.5, 0)
    >>> abs(mechanism.ask(0.8, 0.51) - 0.51) < 0.1, mechanism.failures
    (True, 1)
    """

    def __init__(self, n: int, tau: float, beta: float = 0.05) -> None:
        self.n, self.tau, self.ln_beta = n, tau, math.log(beta)
        self.asked = self.failures = 0
        self._ln_rounding = 0.0

    def ask(self, guess: float, value: float) -> float | None:
        """Return the guess if it surely holds within tau, else the holdout's value, rounded."""
        i, f = self.asked, self.failures
        ln_choose = math.lgamma(i + 1) - math.lgamma(f + 1) - math.lgamma(i - f + 1)
        ln_beta = self.ln_beta + 2.0 * _LN_C - 2.0 * math.log(i + 1) - 2.0 * math.log(f + 1)
        ln_beta -= ln_choose + self._ln_rounding
        low, high = chernoff_kl(value, value, self.n, ln_beta)
        if guess - self.tau <= low and high <= guess + self.tau:
            self.asked += 1
            return guess
        gamma = self.tau - max(value - low, high - value)
        if gamma <= 0.0:
            return None
        self.asked, self.failures = i + 1, f + 1
        self._ln_rounding += math.log(math.ceil(1.0 / gamma))
        cells = math.ceil(1.0 / gamma)
        return (min(math.floor(value * cells), cells - 1) + 0.5) / cells
