"""The transcript theorem: no answer is much less likely, under the truth, than its code took it to be.

Setting. Records are drawn from a law D. Before every answer a code fixes a sub-probability p over everything
that could be revealed next; question j (its functional, its cells, its code) is a function of the transcript
v_(j-1) of what was revealed before. ``L_j`` is the sum of ``-ln p`` over all that was revealed up to *and
including* answer j, with every symbol that its test uses (denominator, class counts if they are priced).

Theorem (universal inference; Wasserman, Ramdas, Balakrishnan, "Universal inference", PNAS 2020, with the
conversation as the statistic). Let b be in (0, 1). With probability at least ``1 - b``, for all j at once,

    P_D(the symbols released for question j) > b exp(-L_j),

where the left side is the probability, under the law D of the records, that the functional of question j,
taken as fixed in advance, leads to these symbols. So *every* upper bound of that probability as a function of
the parameter may be inverted at the level ``b exp(-L_j)``: the tail from the lower edge of the released cell
and that from its upper edge, *each* at this level, and the probability of the cell itself; all of them
together, as they follow from one event.

Proof. Fix all randomness but the records (the analyst's and the mechanism's), so that transcripts form a
tree. Let ``P(v)`` be the probability under D that the conversation begins with v, and ``p(v) = exp(-L)`` the
product of the code's probabilities along it. On the conversation, ``X_j = p(v_j) / P(v_j)`` is well defined
(what happened has positive probability) and ``X_0 = 1``. Given v_j, the next answer is a with probability
``P(v_j a) / P(v_j)``, so the mean of ``X_(j+1)`` is the sum of ``p(v_j a) / P(v_j)`` over the answers that
are possible under D, at most ``p(v_j) / P(v_j) = X_j``: a nonnegative supermartingale. By Ville's inequality
some ``X_j`` reaches 1/b with probability at most b; otherwise ``P(v_j) > b p(v_j)`` for all j. Last, the
conversation can only begin with v_j if the functional that v_(j-1) fixes for question j has, on the records,
a value that leads to the symbols released: ``P(v_j) <= P_D(these symbols)``. Averaging over the randomness
that was fixed keeps b.

No weight, no horizon, no size of a round and no ln 2 for two sides enter. Assumptions, beside those of
`sklearn_ada.guarantees.description_length.theorem`:

- Answers are coded in an order that does not depend on the records, never in that of their arrival if the
  records could decide it: in a round, in the order of the question's keys, priced when the round closes. All
  of a round may use the L at its close, which is at least each of its L_j.
- The test is a function of the released symbols and of what was public before. A test whose own level is
  fixed before its answer, such as the ends of a betting interval, is none.
- Rows at a fixed class mix are independent, but not of one law: tails of unequal rows are used there
  (`counts`), and what needs identical rows (the probability of a cell, `exact_count`) is not.
- Noise may be conditioned on like the analyst's coins only if the symbol then fixes a cell that surely
  contains the functional's value.

Both theorems hold for one conversation at shares s1 and s2 of the failure probability, ``s1 + s2 <= 1``, and
their intervals may then be intersected (`sklearn_ada.guarantees.description_length.shares`).
"""

from __future__ import annotations

from sklearn_ada._checks import check_real

__all__ = ["THEOREM", "transcript_ln_side"]

THEOREM = "universal inference on the transcript (Wasserman, Ramdas, Balakrishnan 2020)"


def transcript_ln_side(ln_beta: float, nats: float) -> float:
    """Return ``ln(b exp(-L_j))``, at which each side of a test of question j may be inverted.

    An interval of `sklearn_ada.guarantees.intervals` that is two tails from the edges of a cell holds at
    ``ln_delta = transcript_ln_side(...) + ln 2``, as it gives half of delta to each side.

    Parameters
    ----------
    ln_beta : float
        Logarithm of b, the share of the failure probability that belongs to this theorem, below 0.
    nats : float
        L_j, *including* the price of the question's own answer, at least 0.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import math
    >>> round(transcript_ln_side(math.log(0.01), 2.0), 4)
    -6.6052
    """
    owner = "transcript_ln_side"
    ln_beta = check_real(ln_beta, "ln_beta", owner, high=0.0)
    return ln_beta - check_real(nats, "nats", owner, low=0.0, closed="low")
