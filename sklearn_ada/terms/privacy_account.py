"""The privacy route: what is spent of the privacy budget, and how intervals follow while it lasts.

All answers together (the *conversation*) are kept rho-zCDP, that is, zero-concentrated differentially private
with a budget rho that the policy fixes: see `sklearn_ada.accounting.filters`, also for the *unit*, what
is replaced between neighbouring data sets. So no question that the conversation comes up with can have a
value on the holdout that is far from its population value. How far is the *gap* g(p) of
`sklearn_ada.guarantees.transfer`; it may be exceeded with probability p. Half of the route's failure
probability beta <= 1/2 is for gaps, half for the noise of the answers.

One gap serves all questions that replacing a row moves in the same proportion (means; AUCs; recalls of one
class; medians over one partition). Each such *family* has its own part of the failure probability, fixed by
its name (`guarantees.transfer.family_level`). Parts in the order in which families are first asked would
not do: the conversation would choose it, and may have seen by then which family fails.

Theorem. Let a family have the part ``p0 = beta v/2`` of the gaps, v fixed in advance, and its answers the
parts ``beta w_j/2`` of the noise; W is the expected sum of these w (the conversation decides which answers
there are). Let g be the gap, ``D = g(p0/e) - g(p0)``, and let each interval allow for ``A_j + g(p0)`` with
``E[(N_j - A_j)^+] <= (beta w_j/2) D`` for the noise N_j of its answer, on either side. Then some interval of
the family misses with probability at most ``beta (v + W)/2``: any interval at all with at most beta, as all v
and all w sum to 1.
Proof. Misses are decided by the conversation. Were they more likely, let B be a miss, thinned by independent
coins to the probability ``p = beta (v + W)/2``, and q the first question missed, or its complement. In B
``q(S) - q(D) > A + g(p0) - N``, while its mean given B is at most g(p). So ``p (g(p0) - g(p))`` is below
``E[(N - A)^+ 1_B]``, at most ``beta W D/2``. But g is concave in ln(1/p), so ``g(p0) - g(p) >= D ln(p/p0)``,
at least ``D (1 - p0/p)``: the left side is ``D (p - p0) = beta W D/2`` or more.

For A_j the quantile with ``P[N_j > A_j] <= beta w_j/2`` is enough if noise that exceeds it does so by at most
D on average, which is about so where noise and gap are in balance. Else A_j is the quantile of a thinner tail
(`TransferAllowance.ln_tail`).

That a model failed on the holdout, or that training rows contain it (a leak), is answered without noise,
which is not private. Compare the conversation with another one in which a row on which a model fails gets the
worst score, and no leak is ever found: that one is private, and the two agree up to the first failure or
leak. So everything certified before it holds, and the route ends there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn_ada.accounting.differential_privacy import pure_dp_cost, zcdp_cost
from sklearn_ada.accounting.events import Event
from sklearn_ada.accounting.filters import RECORDS, Unit, UnitZCDPFilter
from sklearn_ada.exceptions import UnsupportedEventError
from sklearn_ada.guarantees.transfer import family_level, zcdp_gap

_UNMIXED = (
    "AUCs, class means and weighted means are private only against rows of the same class and weight, so "
    "they have no price for subsamples that differ in these: keep the two apart, or (without weights) use "
    "subsamples of the same class counts, stratify=True"
)


@dataclass(frozen=True)
class PrivateRelease:
    """The most that one question can cost of the privacy budget, whatever its answer.

    Parameters
    ----------
    event : Event
        Of all events that an answer to the question can release, the one with the largest privacy loss.
    unit : Unit
        What is replaced between neighbouring data sets.
    family : str
        Name of a family of questions. All of them share one failure probability for the gap between the
        holdout and the population (see `family_level`).
    """

    event: Event
    unit: Unit
    family: str


@dataclass(frozen=True)
class TransferAllowance:
    """What one answer may use of the privacy route.

    Attributes
    ----------
    rho : float
        The budget: all answers together stay rho-zCDP with respect to replacing one of the answer's units.
    ln_gap : float
        Logarithm of the failure probability of the gap, for all answers of the family together.
    ln_noise : float
        Logarithm of this answer's part of the failure probability for noise.
    """

    rho: float
    ln_gap: float
    ln_noise: float

    @property
    def gap(self) -> float:
        """How far a mean of scores in [0, 1] may be from the population's."""
        return zcdp_gap(self.rho, self.ln_gap)

    def ln_tail(self, excess: float) -> float:
        """Return the logarithm of the tail probability at which noise is allowed for.

        A_j in the theorem is the quantile at this probability.

        Parameters
        ----------
        excess : float
            By how much noise exceeds its quantile, on average, once it does; in the units of `gap`.
        """
        steepness = zcdp_gap(self.rho, self.ln_gap - 1.0) - self.gap - 1e-12  # D; g is computed to 1e-12
        if steepness <= 0.0:
            return -math.inf
        return self.ln_noise - max(math.log(max(excess, 1e-300) / steepness), 0.0)


class PrivacyAccount:
    """The privacy that a ledger has spent, as the zCDP parameter rho.

    Parameters
    ----------
    n : int
        Number of rows (of groups, if there are any).
    budget : callable
        Takes a unit and returns the rho that the policy allows for it.
    ln_gap : float
        Logarithm of the failure probability of all gaps together.

    Attributes
    ----------
    ended : str or None
        Why nothing more is certified by this route, or None.
    """

    def __init__(self, n: int, budget: Callable[[Unit], float], ln_gap: float) -> None:
        self._filter = UnitZCDPFilter(n, budget)
        self._budget = budget
        self._ln_gap = ln_gap
        self.ended: str | None = None

    def spent(self, unit: Unit = RECORDS) -> float:
        """Return the rho spent with respect to replacing one unit."""
        return self._filter.spent(unit)

    def left(self, unit: Unit) -> float:
        """Return the rho that is left for one more release at this unit; 0 once the route has ended."""
        return 0.0 if self.ended is not None else self._filter.left(unit)

    def refusal(self, release: PrivateRelease | None, count: int = 1) -> str | None:
        """Return why ``count`` such answers cannot be certified by privacy, or None if they can."""
        if self.ended is not None:
            return self.ended
        if release is None:
            return "an answer without noise has no privacy"
        rho = rho_or_none(release.event)
        if rho is None:
            return "no theorem bounds the privacy loss of this mechanism over many questions"
        exceeded = self._filter.exceeded(release.unit, rho, count)
        if exceeded is not None:
            unit, total = exceeded
            spent = self.spent(unit)
            if total == math.inf:
                return _UNMIXED
            return (
                f"the privacy budget for replacing one of the {unit.name} would be exceeded (rho "
                f"{self._budget(unit):.3g}, of which {spent:.3g} is spent and this may cost "
                f"{total - spent:.3g})"
            )
        return None

    def allowance(self, release: PrivateRelease, ln_noise: float) -> TransferAllowance:
        """Return what an answer may use that `refusal` has no objection to."""
        ln_gap = self._ln_gap + math.log(family_level(release.family))
        return TransferAllowance(self._budget(release.unit), ln_gap, ln_noise)

    def record(self, event: Event, unit: Unit) -> None:
        """Charge what was released; without a privacy cost, or beyond the budget, it ends the route."""
        if self.ended is not None:
            return
        rho = rho_or_none(event)
        if rho is None:
            self.ended = "an answer without privacy ended the privacy route of this ledger"
        elif not self._filter.admits(unit, rho):
            self.ended = "an answer beyond the privacy budget ended the privacy route of this ledger"
        else:
            self._filter.record(unit, rho)

    def to_dict(self) -> dict[str, Any]:
        """Return what is spent, ready for JSON."""
        return {"spent": self._filter.to_list(), "ended": self.ended}

    def restore(self, body: dict[str, Any]) -> None:
        """Go on from what `to_dict` described."""
        self._filter.restore(body["spent"])
        self.ended = body["ended"]

    def end(self, reason: str) -> None:
        """End the route."""
        self.ended = self.ended or reason


def rho_or_none(event: Event) -> float | None:
    """Return the zCDP cost of a release, or None where no theorem gives one."""
    try:
        return zcdp_cost(event)
    except UnsupportedEventError:
        return None


def epsilon_or_none(event: Event) -> float | None:
    """Return the epsilon of a release, or None where no theorem gives one."""
    try:
        return pure_dp_cost(event)
    except UnsupportedEventError:
        return None
