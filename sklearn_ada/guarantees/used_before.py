"""What was chosen by looking at a holdout before its ledger was begun, in bits.

**Theorem.** Let whatever was chosen by looking at the rows be one of alternatives that do not derive from
them, and be named by a prefix-free code in at most b bits. If a ledger that is begun afterwards counts
``b ln 2`` nats from its first record on, all its intervals hold together with the probability that they claim
(Arora, Zhang 2021, of models; here of whole conversations).

**Proof.** For each alternative, the conversation that follows it is a tree whose nodes are fixed without the
rows, so its intervals at ``beta`` times ``2^-b`` fail with at most that probability, by description length
(`sklearn_ada.guarantees.description_length`) as by privacy (`sklearn_ada.guarantees.transfer`). By Kraft's
inequality there are at most ``2^b`` alternatives with words of at most b bits, so all together fail with at
most beta. In nats ``2^-b`` is ``e^-L`` with ``L = b ln 2``.

What is counted is what was *chosen*, and not what was looked at: whoever has read a thousand scores, kept one
of twenty models because of them, and goes on as if there had been no scores, has chosen one of twenty. But
whoever remembers a score has that too, and goes on differently because of it.
"""

from __future__ import annotations

import math

from sklearn_ada._validation import checked

__all__ = ["bits_of_choice"]


@checked(searches="count", candidates="count", n_values="count")
def bits_of_choice(searches: int = 1, candidates: int = 1, *, n_values: int = 1) -> float:
    """Count the bits of what was chosen by a holdout, for ``Holdout(used_before=)``.

    Of each search it is which of its candidates was the best and, if its score was seen, which of its values
    that had. What a later search tried may have depended on earlier ones. Round up where you do not know.

    Source: theorem of `sklearn_ada.guarantees.used_before`.

    Parameters
    ----------
    searches : int, default=1
        How many were run, or how many submissions were scored by a leaderboard.
    candidates : int, default=1
        Of each search. If all candidates of all searches were fixed before the first score was seen, and
        nothing but the best of them was kept: 1 search of so many.
    n_values : int, default=1
        How many values a score that was seen can have: an accuracy on n rows one of ``n + 1``, in whole
        percent one of 101. 1: none was seen, or none has changed anything but which candidate was kept.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a number is none of at least 1.

    Examples
    --------
    >>> round(bits_of_choice(20, 50), 1)  # twenty searches of fifty candidates, the best of each kept
    112.9
    >>> round(bits_of_choice(1, 20 * 50), 1)  # all of them fixed beforehand
    10.0
    >>> round(bits_of_choice(30, n_values=101), 1)  # thirty submissions, scored in whole percent
    199.7
    """
    return searches * (math.log2(candidates) + math.log2(n_values))
