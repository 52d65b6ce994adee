"""Price who comes next while questions are pending: begun, and not yet recorded.

How long a model predicts may depend on the holdout's rows, and so may who is recorded first. Of 40 threads
that ask about coins, each of which sleeps the longer the worse its coin is, the best is first each time: an
order that was chosen by the rows is an answer that nobody has paid for. So it has a price.

**The code.** While u questions are pending the next event is the record of one of them, or something else: a
question that is begun, or whatever else somebody records. Those are ``u + 1`` outcomes, for which kind of
something else it is depends on the log and on whoever comes, and not on the rows.

- u = 0: nothing that waits for the rows is under way. Free.
- u >= 2: each outcome has the probability ``1 / (u + 1)``: ``ln(u + 1)`` nats. (``ln u``, which forgets that
  somebody may begin, sums to more than 1: misses in .0975 of conversations for .05.)
- u = 1: the pending question is recorded with the probability ``(r + 1) / (r + o + 2)``, after r events at
  which it was, or at which nobody was pending, and o at which something else came first (the rule of
  succession of Laplace); something else has the rest. Those who overlap half of the time pay ``ln 2`` each,
  those who hardly ever do, hundredths.
- u = 1, and nothing has ever come between the beginning of a question and its record: the record is free.
  Something else has the probability ``FIRST_MASS (1/ln(e + r) - 1/ln(e + r + 1))``, 23 to 30 nats, once.

*Proof.* Condition on everything but the rows: on askers, their clocks and coins. At every node of the tree of
transcripts the outcomes that can occur then have at most the mass 1 in all, with one exception: at lone nodes
of the last kind it is 1 and the mass of something else. There is one such node for each r, and the sum over
all r telescopes to `FIRST_MASS`. So the masses of all transcripts sum to at most ``1 + FIRST_MASS``, and the
failure probability of a ledger is made smaller by that factor (`sklearn_ada.terms.policy.Policy.ln_beta`). A
lone asker thus pays nothing for what no row decides, and what is certified beside others is true.

A lone asker's beginning is not in the log, which is why "nobody was pending" and "one was" may be one node.
Which of the two it is follows from the log and from what was conditioned on, so in either case the masses of
what can occur there are as above.

**The own price counts.** A record is one of u that might have been next, each with a stake. So the L of a
question's own interval has the price of its own arrival in it: the u stakes of one node have then together
``u / (u + 1)`` of one.

**Assumption.** What is done when nothing is pending, and whether somebody begins, depends on the log and not
on a clock that shows how long a model took, nor on looking again and again whether something was recorded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

__all__ = ["FIRST_MASS", "Arrivals"]

FIRST_MASS = 2.0**-31
"""Part of the failure probability that pays for the first time that something comes in between."""

UNRECORDED = ""
"""Stands for the question that was begun while nobody was pending: no record names it."""


@dataclass
class Arrivals:
    """Who is pending, as far as records say, and how often something came in between.

    Parameters
    ----------
    pending : list of str
        Names of pending questions. One that was begun while nobody was pending is named once something else
        has come before its record.
    alone : int, default=0
        How many records there are before which nothing else came, or nobody was pending.
    others : int, default=0
        How often something else came first while one was pending.
    begun : int, default=0
        How many questions were begun while others were pending.

    Examples
    --------
    >>> from sklearn_ada.accounting.arrivals import Arrivals
    >>> arrivals = Arrivals()
    >>> arrivals.nats("", False)
    0.0
    >>> round(arrivals.nats(None, True), 2)
    22.92
    >>> arrivals.take(None)
    >>> arrivals.begin("1")
    >>> round(arrivals.nats("", True), 2), round(arrivals.nats("1", True), 2)
    (1.1, 1.1)
    """

    pending: list[str] = field(default_factory=list)
    alone: int = 0
    others: int = 0
    begun: int = 0

    def nats(self, own: str | None, beside_others: bool) -> float:
        """Return the price of the next event.

        Parameters
        ----------
        own : str or None
            Name of the pending question that is recorded; None for something else.
        beside_others : bool
            Whether others are pending.
        """
        if own is None and not beside_others:
            return 0.0
        if len(self.pending) > 1:
            return math.log(len(self.pending) + 1.0)
        if self.others:
            count = self.others if own is None else self.alone
            return -math.log((count + 1.0) / (self.alone + self.others + 2.0))
        if own is not None:
            return 0.0
        first, second = (math.log(math.e + self.alone + more) for more in (0.0, 1.0))
        return -math.log(FIRST_MASS * (second - first) / (first * second))

    def nats_anew(self) -> float:
        """Return the price of a question that is begun and recorded at once, while others are pending."""
        return self.nats(None, True) + math.log(max(len(self.pending), 1) + 2.0)

    def take(self, own: str | None, *, ends: bool = False) -> None:
        """Take an event into account at which somebody was pending.

        ``ends`` says that the question is pending no more.
        """
        if len(self.pending) < 2:
            self.alone += own is not None
            self.others += own is None
        if own is None and not self.pending:
            self.pending.append(UNRECORDED)
        if ends and own in self.pending:
            self.pending.remove(own)

    def begin(self, name: str) -> None:
        """Add a question to those that are pending."""
        self.begun += 1
        self.pending.append(name)

    def to_list(self) -> list[object]:
        """Return all of it, ready for JSON."""
        return [list(self.pending), self.alone, self.others, self.begun]
