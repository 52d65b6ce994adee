"""Certify the difference of two models' 0/1 scores by the rows on which one of them alone is right.

It is by tables of pairs (`sklearn_ada.guarantees.paired_tables`), or by a sign test and bets. Which of them
is foreseen to be narrower is decided before the rows are seen, and recorded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator

from sklearn_ada.guarantees.intervals import chernoff_kl
from sklearn_ada.guarantees.paired_tables import largest_sigma, paired_mix_interval, paired_table_interval
from sklearn_ada.guarantees.scores import paired_given_interval, paired_zero_one_interval
from sklearn_ada.metrics.base import Array, Foreseen, Range
from sklearn_ada.metrics.counted import CountedTable, Counts, foreseen_count

CHOSEN, TABLES = "chosen", "tables of pairs"
USUAL_IN = 50.0
"""One part in so many of the level of a table goes to the interval of its value."""
_MOST_ROWS = 100_000  # of a table of rows of one law, which takes seconds then
_STEP = 0.5  # of a class's disagreements, in about standard errors
_LIKELY_STEPS, _STEPS_ERROR = 1.0, 1.5
_paired_table, _paired_mix = (
    lru_cache(maxsize=512)(each) for each in (paired_table_interval, paired_mix_interval)
)


@dataclass(frozen=True)
class PairTable(CountedTable):
    """On how many rows either model alone is right; at a class mix, how unequally classes share these.

    There the interval depends on how often the models may disagree in each class. It is released by how many
    steps no class is above its share of all disagreements; all classes are taken to be that far above.

    Parameters
    ----------
    rows : tuple of int
        Of each class.
    shares : tuple of float
        How often either model alone is foreseen to be right.
    identical_rows : bool
        Whether rows are of one law.
    """

    rows: tuple[int, ...]
    shares: Range
    identical_rows: bool
    kind = TABLES

    @classmethod
    def around(cls, expected: Range, foreseen: Foreseen) -> PairTable:
        """Return the table that a guess of both shares foresees."""
        rows, n = rows_by_class(foreseen.y), len(foreseen.y)
        behind = 1.0 / max(foreseen.error**2 - 1.0 / n, 1e-9)
        vaguely = foreseen.details is None
        codes = [foreseen_count(share, n, behind, vaguely=vaguely) for share in expected]
        if not foreseen.identical_rows:
            codes.append((_LIKELY_STEPS, _STEPS_ERROR))
        counts, errors = zip(*codes, strict=True)
        return cls(counts, errors, rows, expected, foreseen.identical_rows)

    @property
    def theorem(self) -> str:
        """Name of the bound."""
        if self.identical_rows:
            return "tables of pairs, by likelihood ratio (Berger, Boos 1994)"
        return "two binomials (Darroch 1964), and fixed bets on disagreements (Waudby-Smith, Ramdas 2024)"

    def count(self, y: Array, away: Array) -> Counts:
        """Return the counts of rows on which the scores differ by so much."""
        better, worse = int(np.count_nonzero(away > 0)), int(np.count_nonzero(away < 0))
        if self.identical_rows:
            return better, worse
        _, rows = np.unique(np.asarray(y), return_inverse=True)
        differ = np.bincount(rows, weights=away != 0.0, minlength=len(self.rows))
        steps = 0
        while np.any(differ > self._most(better + worse, steps)):
            steps += 1
        return better, worse, steps

    def most(self, before: Counts) -> int:
        """Return how many rows are left; as many steps are more than there can be."""
        n = sum(self.rows)
        return n - sum(before) if len(before) < 2 else 3 * n

    def value(self, counts: Counts) -> float:
        """Return the difference."""
        return (counts[0] - counts[1]) / sum(self.rows)

    def interval(self, counts: Counts, ln_delta: float) -> Range:
        """Return what is in the interval of the table and, at a part of the level, in that of the value."""
        value, n = self.value(counts), sum(self.rows)
        better, worse, *steps = counts
        ln_table = ln_delta + math.log1p(-1.0 / USUAL_IN)
        if self.identical_rows:
            low, high = _paired_table(better, worse, n, ln_table)
        else:
            differ = self._most(better + worse, *steps)
            low, high = _paired_mix(better, worse, differ, self.rows, ln_table, expected=self.shares)
        usual = chernoff_kl(value, value, n, ln_delta - math.log(USUAL_IN), (-1.0, 1.0))
        low, high = max(low, usual[0]), min(high, usual[1])
        return (low, high) if low <= high else usual  # one misses, which is the failure that was allowed for

    def at(self, value: float, ln_delta: float) -> Range:
        """Return the interval if the value is this and the models disagree as often as is foreseen."""
        better, worse = _foreseen(value, sum(self.rows), self.shares)
        return self.interval((better, worse, round(_LIKELY_STEPS))[: len(self.foreseen)], ln_delta)

    def _most(self, count: int, steps: int) -> tuple[int, ...]:
        """Return the most disagreements of each class if there are so many, and no class is further above."""
        shares = [count * size / sum(self.rows) for size in self.rows]
        ends = (math.ceil(share + _STEP * (steps + 1) * math.sqrt(share + 1.0)) for share in shares)
        return tuple(min(end, size) for end, size in zip(ends, self.rows, strict=True))


@dataclass(frozen=True)
class Disagreements:
    """The sign test, or fixed bets on the rows on which one model alone is right.

    Parameters
    ----------
    n : int
        Number of rows.
    identical_rows : bool
        Whether they are of one law.
    expected : tuple of float
        How often either model alone is foreseen to be right.
    are_given : bool, default=False
        Whether predictions are given, so that anybody knows on which rows they differ. A coin then decides
        for one of them where both are wrong, which of two labels is nowhere.
    """

    n: int
    identical_rows: bool
    expected: Range
    are_given: bool = False

    @property
    def theorem(self) -> str:
        """Name of the bound."""
        if self.are_given:
            return "disagreements of unequal rows (Hoeffding 1956)"
        return "disagreements (McNemar 1947), or fixed bets on them (Waudby-Smith, Ramdas 2024)"

    def interval(self, away: Array, outputs: Array, ln_delta: float, rng: Generator) -> Range:
        """Return the interval of rows on which scores differ by so much, and outputs are these."""
        better, worse = int(np.count_nonzero(away > 0)), int(np.count_nonzero(away < 0))
        if self.are_given:
            neither = int(np.count_nonzero(outputs[:, 0] != outputs[:, 1])) - better - worse
            heads = int(rng.binomial(neither, 0.5))
            better, worse = better + heads, worse + neither - heads
        return self._of_counts(better, worse, ln_delta)

    def at(self, value: float, ln_delta: float) -> Range:
        """Return the interval if the value is this and the models disagree as often as is foreseen."""
        return self._of_counts(*_foreseen(value, self.n, self.expected), ln_delta)

    def _of_counts(self, better: int, worse: int, ln_delta: float) -> Range:
        if self.are_given:
            return paired_given_interval(better, worse, self.n, ln_delta)
        return paired_zero_one_interval(
            better, worse, self.n, ln_delta, identical_rows=self.identical_rows, expected=self.expected
        )


def chosen(foreseen: Foreseen, expected: Range) -> str | None:
    """Return by what a difference is certified: what is foreseen to be narrower, before the rows are seen.

    At a class mix that takes a guess of how often the models disagree, in every class by far less than half.
    None is the sign test, or bets.
    """
    if foreseen.as_first_released or foreseen.given_rows:
        return None
    rows, share = rows_by_class(foreseen.y), sum(expected)
    if foreseen.identical_rows:
        return TABLES if sum(rows) <= _MOST_ROWS else None
    if foreseen.details is None:
        return None
    more = [min(math.ceil(share * size + 2.0 * math.sqrt(share * size) + 1.0), size) for size in rows]
    if math.isinf(largest_sigma(sum(more), more, rows, foreseen.ln_delta)):
        return None
    others, value = Disagreements(sum(rows), False, expected), expected[0] - expected[1]
    found = (each.at(value, foreseen.ln_delta) for each in (PairTable.around(expected, foreseen), others))
    by_table, by_others = (high - low for low, high in found)
    return TABLES if by_table < by_others else None


def rows_by_class(y: Array) -> tuple[int, ...]:
    """Return how many rows each class has."""
    return tuple(np.unique(np.asarray(y), return_counts=True)[1].tolist())


def _foreseen(value: float, n: int, expected: Sequence[float]) -> tuple[int, int]:
    """Return on how many rows either model alone is right, if the difference is this."""
    count = min(max(round(n * sum(expected)), math.ceil(abs(value) * n - 1e-6)), n)
    better = min(max(round((count + value * n) / 2.0), 0), count)
    return better, count - better
