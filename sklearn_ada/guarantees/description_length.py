"""The theorem of description length: only what was released about a holdout can be exploited.

The *description length* of a conversation is the number of nats (``-ln`` of a probability) that a code, fixed
before each answer, needs for all that was revealed.

Theorem (description length; the prefix-code form of Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, NIPS
2015; Guess-and-Check of Rogers et al., AISTATS 2020, is the case of a two-part code). Let a code fix, before
each answer, a sub-probability p over everything that could be revealed, let L be the sum of ``-ln p`` over
all answers revealed so far, and give each question, when asked, a stake pi such that along every path the
stakes sum to at most 1. Then with probability at least ``1 - beta``, for all questions at once, the
fixed-question interval at ``delta = beta * pi * exp(-L)`` holds, with L as it was before the question's own
answer.

Proof. Fix all randomness other than the holdout. The conversation is a tree whose nodes are transcripts,
and each node fixes a question before the holdout is seen. Give node v the failure probability
``beta * pi(v) * prod p(answers on the path to v)``. As p is a sub-probability, the sum over all nodes is at
most beta. Union bound; the path that happened is among them.

Questions fixed together before any of their answers is seen (a round) share the L from before the round.
What was asked and is still sealed keeps the level of its asking (`question_interval`), and so do candidates
that are locked when their round opens (`locked_ln_delta`). Models that are declared before the first answer
have a failure probability whatever is revealed later (`ln_declared`).

*Two theorems about one conversation.* Description length (with sealed answers) has the part s1 of beta, the
transcript theorem of `sklearn_ada.guarantees.transcript` the part s2, fixed before the first answer,
``s1 + s2 <= 1``. By the union bound both hold with probability at least ``1 - beta``, so both intervals of a
question do, and their `intersection`. The same is true of several intervals by one theorem, such as that of
an asking and that of a later final: each has its own delta, which are never added.

*Stakes* divide one failure probability among the questions. They need only sum to at most 1 along every path,
and a stake may depend on all that was answered before. Public functions have it as the parameter ``weight``.

*One purse*, without a horizon (`Purse`). A purse begins with 1, and whatever is asked takes a fraction, fixed
before its answer, of what is left: then no order of questions, rounds and published values can take more than
1. A purse is never empty, but stakes become too small to be of use; at a stake of 0 an interval is the whole
range (`sklearn_ada.guarantees.question_interval`).

The default of questions and rounds is made for an unknown number of them. Let
``u_j = 1/ln(e + j - 1) - 1/ln(e + j)``, j = 1, 2, ...; the sum of the first m is ``1 - 1/ln(e + m)``,
telescoping, and it falls hardly faster than 1/j. The j-th that takes from the purse takes ``.3 u_j``, a round
of G questions as much as one question, while nothing else has been taken. Seven tenths so stay for a *final*,
the one exact answer that is published, however many questions came before. It takes .95 of what is left, and
later questions share the rest in the same proportions.

*Two purposes* (`round_weight`, `ln_share`). Where answers are exact, beta is divided between *checks* (coarse
and cheap) and *certifies* (fine). Within a purpose, question j gets a stake pi_j, and the stakes of all
questions that can ever be asked sum to at most 1. A *round* is a set of G questions fixed before any of their
answers is seen: each has a G-th of the stake of its round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from sklearn_ada._validation import bad_parameter, checked, checked_fields, option, plain
from sklearn_ada.guarantees.intervals import Interval, check_order, clopper_pearson

__all__ = [
    "Purse", "class_count_nats", "intersection", "ln_declared", "ln_delta", "ln_share", "locked_ln_delta",
    "log_weight", "planned_ln_deltas", "planned_questions", "question_interval", "rank_weight",
    "round_weight",
]  # fmt: skip

THEOREM = "description length, prefix code (Dwork et al., NIPS 2015)"

ROW_BY_ROW = "models predict row by row and do not adapt to the rows they predict"

ASSUMPTIONS = (
    "holdout records are independent draws, and independent of all training data",
    ROW_BY_ROW,
    "nobody looks at the holdout except through this one ledger, which is never forked or rolled back",
)

SEALED_PART = 0.8
"""s1, of what is certified or unsealed: description length."""

TRANSCRIPT_PART = 0.2
"""s2, of what is released meanwhile: the transcript as a test."""
EXPLORING = 0.3
"""Part of the purse that all questions and rounds share, however many there will be."""

FINAL = 0.95
"""Part of what is left that a published value takes: .05 nats less than all of it."""

AT_ONCE = 0.8
"""Part of the purse that a first exact answer at once takes: most searches end with one, and nothing else."""

PURPOSES = ("check", "certify")

CHECK_PART = 0.1
"""Part of the failure probability that belongs to checks, by default."""

FIRST_CERTIFY = 0.8
"""Stake of the first certify: most searches end with one."""

EXPECTED_CHECKS = 0.8
"""Stakes of all checks that were expected; the rest is for those beyond."""

_FIRST = 0.9  # part of its round's stake that rank 1 has


@checked(ln_beta="< 0", weight="(0, 1]", nats=">= 0")
def ln_delta(ln_beta: float, weight: float, nats: float) -> float:
    """Return ``ln(beta * pi * exp(-L))``, the logarithm of one question's failure probability.

    Parameters
    ----------
    ln_beta : float
        Logarithm of the failure probability of the whole conversation, or of its part for a purpose.
    weight : float
        The question's stake pi, in (0, 1].
    nats : float
        L, everything revealed before this question or its round.

    Examples
    --------
    >>> round(ln_delta(math.log(0.05), 0.5, 2.0), 4)
    -5.6889
    """
    return ln_beta + math.log(weight) - nats


@checked(low_count="integer >= 0", high_count="integer >= 0", n="count", weight="[0, 1]")
def question_interval(
    low_count: int, high_count: int, n: int, *, ln_beta: float, weight: float, nats: float
) -> Interval:
    """Return a question's interval at the level of its asking, by exact binomial tails.

    It is Clopper and Pearson's interval at ``delta = beta pi exp(-L)``, where pi is the question's stake and
    L is what had been released when it was asked. While the value is sealed, give the edges of the released
    cell; when it is unsealed, give the count twice.

    Theorem (sealed answers). Let question v be asked with ``delta_v = beta s1 pi_v exp(-L_v)``, with L_v
    everything revealed before its own answer. Outside one event of probability at most ``beta s1``, for every
    question asked, ``q_v(D)`` lies in the fixed-question interval around ``q_v(S)`` at delta_v, *whether and
    whenever* ``q_v(S)`` *is released, and however finely*: a cell of it now, all of it later, or never.

    Proof. Fix all randomness but the rows, so that transcripts form a tree; unsealing an earlier value is one
    of its answers, with its price. The node that asks v fixes the functional, the interval's procedure and
    delta_v, before any row is seen. Its bad event, that the interval around ``q_v(S)`` misses ``q_v(D)``, is
    about all rows and not about what is released at v, and it has probability at most delta_v. Summed over
    all nodes this is at most ``beta s1`` times the sum of ``pi(v) prod p(answers on the path to v)``. That
    sum is at most 1: by induction from the leaves, a node with ``w`` left in the purse has at most ``w``
    times its path's probability below it, as the code is a sub-probability and no path's stakes exceed what
    is left. Union bound; the questions that were asked are among the nodes.

    What must be fixed when a question is asked: the functional, the procedure of its interval with all its
    tuning (guess, exponent, grid, order of rows, lattice), n, and delta_v. Not even the question's own
    released cell may tune it: an analyst who gives all of delta_v to the side that the cell points to doubles
    the failure probability. What is released costs its price (`sklearn_ada.accounting.codes`), which later
    questions pay; one that is still sealed, or was asked before, does not.

    Parameters
    ----------
    low_count, high_count, n : int
        Ends of the cell in which the count lies (the count twice if it is unsealed), and the number of rows.
    ln_beta : float
        Logarithm of the part of the failure probability that belongs to this theorem, ``beta s1``.
    weight : float
        The question's stake pi, in [0, 1]; nothing is certified at 0, when the purse was exhausted.
    nats : float
        L before the question or its round, at least 0; later answers do not change it.

    Returns
    -------
    low, high : float
        The whole range (0, 1) at a stake of 0.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> asked = {"ln_beta": math.log(0.04), "weight": 0.0716, "nats": 0.0}
    >>> [round(end, 3) for end in question_interval(400, 446, 500, **asked)]
    [0.742, 0.929]
    >>> [round(end, 3) for end in question_interval(425, 425, 500, **asked)]
    [0.797, 0.894]
    """
    check_order(low_count, high_count, n, "question_interval")
    if weight == 0.0:
        return 0.0, 1.0
    return clopper_pearson(low_count, high_count, n, ln_delta(ln_beta, weight, nats))


def locked_ln_delta(ln_beta: float, weight: float, rank: int, nats: float) -> float:
    """Return the log failure probability of a locked candidate: ``ln(beta s1 pi w_rank exp(-L))``.

    A candidate is *locked* if everything about it was fixed when its round opened. So what other answers of
    the same round reveal does not widen its interval.

    Theorem. The candidates of a search, their recipes of refitting and the tuning of their tests are fixed
    when the round opens; each then has one model, a function of the training rows. Reserve the stake pi at
    that moment, and give the first refit of the candidate of rank i the failure probability
    ``delta_i = beta s1 pi w_i exp(-L)``, with the L *before* the round and parts w that sum to at most 1, by
    a ranking that is public (validation scores). Then the fixed-question interval of whichever is kept holds
    at its delta_i, by whatever rule it is selected.

    Proof. All refits are questions fixed at the node that opens the round, asked there with stakes that sum
    to at most pi: the theorem of `question_interval` for sealed answers, of which some are never computed.

    Covered: the first refit that is run for a candidate, whatever coins it throws, even if it fails. Not
    covered: a second refit (the better of two is a question chosen by its answer), recipes that depend on the
    round's answers, and candidates that are proposed adaptively.

    Parameters
    ----------
    ln_beta : float
        Logarithm of the part of the failure probability that belongs to description length, ``beta s1``.
    weight : float
        pi, what the round reserved when it opened, in (0, 1].
    rank : int
        The candidate's rank, from 1, by what was public before the round.
    nats : float
        L before the round.

    Examples
    --------
    >>> round(math.exp(locked_ln_delta(math.log(0.04), 0.09, 1, 0.0)), 6)
    0.00324
    """
    return ln_delta(ln_beta, weight * rank_weight(rank), nats)


@checked(ln_beta="<= 0", n_models="count")
def ln_declared(ln_beta: float, n_models: int) -> float:
    """Return ``ln(beta / (4 G))``, a declared model's failure probability, whatever is revealed.

    Half of beta is for the G models that were declared before the first answer, and each has two fixed
    questions (`sklearn_ada.holdout.rounds`).

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
    return ln_beta - math.log(4.0 * n_models)


@checked(check_share="(0, 1)", expected_questions="count or None")
def planned_ln_deltas(
    ln_beta: float, check_share: float, expected_questions: int | None
) -> tuple[float, float]:
    """Return ``ln delta`` of the last check expected and of the first certify.

    Both are those of a ledger that has released nothing.

    Parameters
    ----------
    ln_beta : float
        Logarithm of beta.
    check_share : float
        Part of beta that belongs to checks, in (0, 1).
    expected_questions : int or None
        About how many are expected; None if that is open.

    Examples
    --------
    >>> check, certify = planned_ln_deltas(math.log(0.05), 0.1, 100)
    >>> round(math.exp(check), 9), round(math.exp(certify), 6)
    (4e-05, 0.036)
    """
    last = planned_questions(expected_questions) - 1
    ln_part, stake_of = plain(ln_share), plain(round_weight)
    check = ln_part("check", check_share) + math.log(stake_of("check", last, 1, expected_questions))
    certify = ln_part("certify", check_share) + math.log(stake_of("certify", 0, 1))
    return ln_beta + check, ln_beta + certify


def planned_questions(expected_questions: int | None) -> int:
    """Return how many checks to plan for: 300 where the user does not say.

    Parameters
    ----------
    expected_questions : int or None
        About how many are expected; None if that is open.

    Examples
    --------
    >>> planned_questions(None), planned_questions(20)
    (300, 20)
    """
    return 300 if expected_questions is None else expected_questions


@checked(n="count", n_classes="count")
def class_count_nats(n: int, n_classes: int) -> float:
    """Return the price of the class counts of n rows, in nats.

    It is ``ln C(n + C - 1, C - 1)``, as all counts are equally likely. Once it is in L, certificates speak of
    the population itself, not at the holdout's class mix.

    Parameters
    ----------
    n : int
        Number of rows.
    n_classes : int
        The C.

    Examples
    --------
    >>> round(class_count_nats(1000, 2), 4)  # ln 1001
    6.9088
    """
    return math.lgamma(n + n_classes) - math.lgamma(n + 1) - math.lgamma(n_classes)


def intersection(fixed: Interval, others: Iterable[Interval]) -> Interval:
    """Return what lies in all intervals; where that is nothing, the fixed one.

    Valid where all hold together: if they have no point in common, one of them has failed already, and what
    is returned then changes nothing about how often that happens. Which one it is must be fixed in advance.

    Parameters
    ----------
    fixed : tuple of float
        The interval to fall back to.
    others : iterable of tuple of float

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If an interval is not a pair low <= high.

    Examples
    --------
    >>> intersection((0.7, 0.9), [(0.75, 0.95)]), intersection((0.7, 0.8), [(0.85, 0.95)])
    ((0.75, 0.9), (0.7, 0.8))
    """
    intervals = [fixed, *others]
    for interval in intervals:
        if not (len(interval) == 2 and interval[0] <= interval[1]):
            raise bad_parameter("intervals", "intersection", "pairs of numbers low <= high", interval)
    low, high = max(low for low, _ in intervals), min(high for _, high in intervals)
    return (low, high) if low <= high else fixed


@checked(purpose=option(PURPOSES), first="integer >= 0", size="count", expected_questions="count or None")
def round_weight(purpose: str, first: int, size: int, expected_questions: int | None = None) -> float:
    """Return the stake of each question of a round.

    A round is ``size`` questions that are asked together, after ``first`` others of their purpose. Summed
    over any sequence of rounds, ``size * pi`` is at most 1. Checks without a horizon have the cumulative
    stake ``1 - 1/(j+1)``; with ``expected_questions = K`` the first K share 0.8 of it evenly, at ln 1.25 nats
    more than if K were sure. The first certify has a stake of 0.8.

    Parameters
    ----------
    purpose : {"check", "certify"}
    first : int
        How many questions of this purpose came before, at least 0.
    size : int
        How many questions are fixed together, at least 1.
    expected_questions : int or None

    Examples
    --------
    >>> round_weight("check", 0, 1), round_weight("check", 1, 1)
    (0.5, 0.16666666666666666)
    >>> round_weight("certify", 0, 1)
    0.8
    """
    if purpose == "certify":
        head = FIRST_CERTIFY if first == 0 else 0.0
        later = _telescoped(max(first - 1, 0), size if first else size - 1)
        return (head + (1.0 - FIRST_CERTIFY) * later) / size
    if expected_questions is None:
        return _telescoped(first, size) / size
    early = max(min(first + size, expected_questions) - first, 0)
    late = _telescoped(max(first - expected_questions, 0), size - early)
    return (EXPECTED_CHECKS * early / expected_questions + (1.0 - EXPECTED_CHECKS) * late) / size


@checked(purpose=option(PURPOSES), check_share="(0, 1)")
def ln_share(purpose: str, check_share: float) -> float:
    """Return the logarithm of the part of beta that belongs to ``purpose``.

    Parameters
    ----------
    purpose : {"check", "certify"}
    check_share : float
        Part of beta that belongs to checks, in (0, 1).

    Examples
    --------
    >>> round(math.exp(ln_share("certify", 0.1)), 6)
    0.9
    """
    return math.log(check_share if purpose == "check" else 1.0 - check_share)


@checked(rank="count")
def rank_weight(rank: int) -> float:
    """Return a locked candidate's part of its round's stake, by its public rank.

    It is .9 for rank 1 and ``.1/(r (r - 1))`` for rank r.

    Parameters
    ----------
    rank : int
        From 1.

    Examples
    --------
    >>> rank_weight(1), round(rank_weight(2), 3), round(rank_weight(3), 4)
    (0.9, 0.05, 0.0167)
    """
    return _FIRST if rank == 1 else (1.0 - _FIRST) / (rank * (rank - 1))


@checked(j="count")
def log_weight(j: int) -> float:
    """Return ``u_j = 1/ln(e + j - 1) - 1/ln(e + j)``: stakes that sum to 1 and need no horizon.

    More than ``1/(j (j + 1))`` from j = 5 on.

    Parameters
    ----------
    j : int
        From 1 on.

    Examples
    --------
    >>> round(log_weight(1), 6), round(log_weight(1000) * 1e5, 4)
    (0.238537, 2.0897)
    """
    before = math.e + (j - 1)
    return math.log1p(1.0 / before) / (math.log(before) * math.log(before + 1.0))


@dataclass(frozen=True)
@checked_fields(left="[0, 1]", taken="integer >= 0")
class Purse:
    """What is left for a conversation's stakes; methods return a stake and the purse after it.

    Parameters
    ----------
    left : float, default=1.0
        The part that nobody has taken, in [0, 1].
    taken : int, default=0
        How many questions, rounds and published values have taken from it.

    Examples
    --------
    >>> first, purse = Purse().question()
    >>> each, purse = purse.round(100)
    >>> final, purse = purse.final()
    >>> round(first, 4), round(each, 6), round(final, 4), round(purse.left, 4)
    (0.0716, 0.000351, 0.8487, 0.0447)
    """

    left: float = 1.0
    taken: int = 0

    def question(self) -> tuple[float, Self]:
        """Take what one question gets by default: ``.3 u_j`` if nothing was published before."""
        j = self.taken + 1
        return self.take(EXPLORING * plain(log_weight)(j) / _unspent(j))

    @checked(size="count")
    def round(self, size: int) -> tuple[float, Self]:
        """Take what one question would, for ``size`` questions that are asked together.

        The stake returned is that of each question.

        Parameters
        ----------
        size : int
            At least 1.
        """
        whole, purse = self.question()
        return (whole if size == 1 else _below(whole / size)), purse

    def at_once(self) -> tuple[float, Self]:
        """Take what the first exact answer gets that is given at once: most of what is left.

        Examples
        --------
        >>> first, purse = Purse().at_once()
        >>> second, purse = purse.question()
        >>> round(first, 4), round(second, 4)
        (0.8, 0.0076)
        """
        return self.take(AT_ONCE)

    @checked(count="integer >= 0")
    def after(self, count: int) -> Self:
        """Return the purse as it will be after so many more questions, in closed form.

        Parameters
        ----------
        count : int
            How many more questions.

        Examples
        --------
        >>> round(Purse().after(2).left, 12) == round(Purse().question()[1].question()[1].left, 12)
        True
        """
        part = _unspent(self.taken + 1 + count) / _unspent(self.taken + 1)
        return type(self)(min(self.left * part, self.left), self.taken + count)

    def final(self, share: float = FINAL) -> tuple[float, Self]:
        """Take most of what is left, for an exact answer that is to be published.

        Parameters
        ----------
        share : float, default=.95
            Of what is left, in [0, 1].
        """
        return self.take(share)

    @checked(share="[0, 1]")
    def take(self, share: float) -> tuple[float, Self]:
        """Take a fraction of what is left in the purse.

        The fraction may depend on anything but the answer that it is for. Rounding errors are left out of the
        purse: stakes taken and what is left sum to at most 1 exactly.

        Parameters
        ----------
        share : float
        """
        stake = min(self.left * share, self.left)
        left = 0.0 if stake == self.left else max(_below(self.left - stake), 0.0)
        return stake, type(self)(left, self.taken + 1)


def _unspent(j: int) -> float:
    """Return what the questions before number j have left, if nothing else was taken."""
    return 1.0 - EXPLORING + EXPLORING / math.log(math.e + (j - 1))


def _below(number: float) -> float:
    return math.nextafter(number, -math.inf) if number > 0.0 else 0.0


def _telescoped(first: int, size: int) -> float:
    """Return the sum of 1/(j(j+1)) over j = first + 1, ..., first + size."""
    return size / ((first + 1) * (first + size + 1))
