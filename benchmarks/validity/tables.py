"""Print how often exact intervals of two-class tables and of pairs miss, under laws that are hard for them.

``python -m benchmarks.validity.tables [--rows 50 300 5000] [--laws pairs]`` draws 2,000 seeded tables of each
law at delta .36 and .05. The last column is for intervals at three times the level, which must be noticed
where a law is tight: where less is missed than is allowed, slips would hide.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from benchmarks.validity.coverage import consistent
from sklearn_ada.guarantees import paired_mix_interval, paired_table_interval, two_class_interval
from sklearn_ada.guarantees.two_class import two_class_value

__all__ = ["LAWS", "Pairs", "Side", "TwoClass", "misses"]

DELTAS = (0.36, 0.05)

Kinds = tuple[tuple[float, float], ...]
Interval = tuple[float, float]
Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class TwoClass:
    """Tables of two classes of which a metric is certified.

    Parameters
    ----------
    metric : str
    positives : float
        Share of the rows.
    recall : float
    errors : tuple of tuple of float
        Kinds of the other rows: which share of them, and how often those are predicted positive.
    share : float, optional
        Share of positives in the population that is meant.
    """

    metric: str
    positives: float
    recall: float
    errors: Kinds
    share: float | None = None

    def at(self, n: int) -> tuple[float, Callable[[Generator], tuple[int, ...]], Callable[..., Interval]]:
        """Return the value that is meant, what draws a table of n rows, and its interval at a level."""
        positives = max(round(n * self.positives), 1)
        sizes = _parts(n - positives, [part for part, _ in self.errors])
        rates = [rate for _, rate in self.errors]
        mean = float(np.dot(sizes, rates) / sum(sizes))
        share = positives / n if self.share is None else self.share

        def drawn(rng: Generator) -> tuple[int, int]:
            return int(rng.binomial(positives, self.recall)), int(rng.binomial(sizes, rates).sum())

        def interval(true: int, false: int, ln_delta: float) -> Interval:
            return two_class_interval(
                self.metric, true, positives, false, n - positives, ln_delta, share=self.share,
                one_law=len(self.errors) == 1,
            )  # fmt: skip

        return two_class_value(self.metric, self.recall, mean, share), drawn, interval


@dataclass(frozen=True)
class Pairs:
    """Two models of which each alone is right on some rows.

    Parameters
    ----------
    classes : tuple of tuple of float
        Of each class: its share of the rows, and how often the second and the first model alone is right.
    one_law : bool
        Whether the classes of the rows are drawn, too.
    """

    classes: tuple[tuple[float, float, float], ...]
    one_law: bool = False

    def at(self, n: int) -> tuple[float, Callable[[Generator], tuple[int, ...]], Callable[..., Interval]]:
        """Return the difference, what draws a table of n rows, and its interval at a level."""
        rows = _parts(n, [part for part, _, _ in self.classes])
        gain, loss = (np.array([each[i] for each in self.classes]) for i in (1, 2))
        p, q = (float(rows @ each) / n for each in (gain, loss))
        if self.one_law:

            def drawn(rng: Generator) -> tuple[int, ...]:
                return tuple(rng.multinomial(n, [p, q, 1.0 - p - q])[:2].tolist())

            def interval(better: int, worse: int, ln_delta: float) -> Interval:
                return paired_table_interval(better, worse, n, ln_delta)

            return p - q, drawn, interval

        def drawn_of_classes(rng: Generator) -> tuple[int, ...]:
            both = rng.multinomial(rows, np.column_stack((gain, loss, 1.0 - gain - loss)))
            return (*both[:, :2].sum(axis=0).tolist(), *both[:, :2].sum(axis=1).tolist())

        def interval_of_classes(better: int, worse: int, *differ: int, ln_delta: float) -> Interval:
            expected = float(f"{p:.2g}"), float(f"{q:.2g}")
            return paired_mix_interval(better, worse, differ, rows.tolist(), ln_delta, expected=expected)

        return p - q, drawn_of_classes, interval_of_classes


_SEVERAL = ((0.5, 0.0), (0.3, 0.02), (0.15, 0.1), (0.05, 0.9))

LAWS: dict[str, TwoClass | Pairs] = {
    "F1, one positive in a hundred": TwoClass("f_beta", 0.01, 0.6, ((1.0, 0.01),)),
    "F1, rates near 0 and 1": TwoClass("f_beta", 0.5, 0.99, ((1.0, 0.01),)),
    "F1, rates in the middle": TwoClass("f_beta", 0.4, 0.6, ((1.0, 0.3),)),
    "MCC, one positive in a hundred": TwoClass("matthews_corrcoef", 0.01, 0.6, ((1.0, 0.01),)),
    "MCC, rates near 0 and 1": TwoClass("matthews_corrcoef", 0.3, 0.01, ((1.0, 0.002),)),
    "precision at one in a thousand": TwoClass("precision", 0.5, 0.8, ((1.0, 0.01),), 0.001),
    "accuracy at one in fifty": TwoClass("accuracy", 0.5, 0.6, ((1.0, 0.05),), 0.02),
    "kappa, rest of several laws": TwoClass("kappa", 0.1, 0.8, _SEVERAL),
    "F1, rest of several laws": TwoClass("f_beta", 0.1, 0.8, _SEVERAL),
    "precision, rest certain but for few": TwoClass("precision", 0.01, 0.9, ((0.97, 0.0), (0.03, 0.5))),
    "pairs, seldom": Pairs(((1.0, 0.01, 0.005),), one_law=True),
    "pairs, often": Pairs(((1.0, 0.3, 0.2),), one_law=True),
    "pairs, never worse": Pairs(((1.0, 0.05, 0.0),), one_law=True),
    "pairs, always": Pairs(((1.0, 0.6, 0.4),), one_law=True),
    "pairs at a mix of equal classes": Pairs(((0.5, 0.03, 0.02), (0.5, 0.03, 0.02))),
    "pairs at a mix, one row in a hundred": Pairs(((0.01, 0.3, 0.0), (0.99, 0.01, 0.02))),
    "pairs at a mix, a class for each": Pairs(((0.2, 0.2, 0.0), (0.2, 0.0, 0.2), (0.6, 0.0, 0.0))),
    "pairs at a mix, rows alike or never": Pairs(((0.2, 0.2, 0.2), (0.8, 0.0, 0.0))),
}


def _parts(n: int, parts: list[float]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return n rows divided by shares; every part but the last has a row at least."""
    first = [max(round(n * part), 1) for part in parts[:-1]]
    return np.array([*first, n - sum(first)])


def misses(name: str, n: int, delta: float, samples: int, *, seed: int = 0) -> int:
    """Return in how many samples of n rows the interval misses what is meant.

    The interval is computed of those tables alone that others, above or below them, do not decide.
    """
    truth, drawn, interval = LAWS[name].at(n)
    rng = np.random.default_rng([seed, n])
    below, above = Side(1, -1), Side(-1, 1)
    missed = 0
    for _ in range(samples):
        table = drawn(rng)
        if below.misses(table) is None or above.misses(table) is None:
            low, high = interval(*table, ln_delta=math.log(delta))
            below.learn(table, low > truth + 1e-12)
            above.learn(table, high < truth - 1e-12)
        missed += bool(below.misses(table) or above.misses(table))
    return missed


class Side:
    """Remember of which tables one end misses, and of which others that follows.

    The more rows the first count has and the less the second, the higher are both ends; the more
    disagreements classes have, which are the counts after those, the wider is the interval.

    Parameters
    ----------
    first, second : int
        By which sign of the first two counts the end is nearer to a miss.
    """

    def __init__(self, first: int, second: int) -> None:
        self.signs = (first, second)
        self.missed: dict[bool, list[Array]] = {True: [], False: []}

    def learn(self, table: tuple[int, ...], is_missed: bool) -> None:
        """Remember whether this end of the table's interval misses."""
        self.missed[is_missed].append(self._placed(table))

    def misses(self, table: tuple[int, ...]) -> bool | None:
        """Return whether this end of the table's interval misses; None if no other table decides it."""
        at = self._placed(table)
        if any((at <= other).all() for other in self.missed[False]):
            return False
        return True if any((at >= other).all() for other in self.missed[True]) else None

    def _placed(self, table: tuple[int, ...]) -> Array:
        return np.array(table) * (*self.signs, *(-1,) * (len(table) - 2))


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 300, 5000])
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--laws", default="", help="part of the names of those that are wanted")
    options = parser.parse_args()
    print(f"{'law':40}{'rows':>6}{'delta':>7}{'allowed':>9}{'missed':>8}{'three times the level':>24}")
    for n in options.rows:
        for name in (each for each in LAWS if options.laws in each):
            for delta in DELTAS:
                counted = partial(misses, name, n, samples=options.samples)
                missed, thrice = counted(delta), counted(min(3.0 * delta, 1.0))
                held = "" if consistent(missed, options.samples, delta) else "  MISSED TOO OFTEN"
                noticed = "" if consistent(thrice, options.samples, delta) else ", noticed"
                counts = f"{options.samples * delta:9.0f}{missed:8}{thrice:16}{noticed}{held}"
                print(f"{name:40}{n:6}{delta:7.2f}{counts}", flush=True)


if __name__ == "__main__":
    main()
