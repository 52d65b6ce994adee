"""Small adaptive conversations, enumerated: all data sets, all answers, all that is said about each.

A data set is what counts of: how many records of each stratum have each of d values (one stratum: independent
draws of one law; several: rows at a fixed class mix). An analyst is a random tree: what is asked next, about
which set of values, with which cells, code and weight, depends on all that was answered. Codes, urns and
purses are the package's own.
"""

import itertools
import math
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy.stats import multinomial

from sklearn_ada.accounting import CountCode, PolyaUrn, unsealing_nats
from sklearn_ada.guarantees import Purse
from sklearn_ada.mechanisms import CountCells

__all__ = ["Answered", "Asked", "SmallTree", "independent", "worst_failure", "worst_of_six_trees"]


@dataclass(frozen=True)
class Asked:
    """A question: the values whose records it counts, and the weight and L of its asking."""

    values: tuple[int, ...]
    weight: float
    before: float
    code: CountCode


@dataclass(frozen=True)
class Answered:
    """An answer about the question of this number: its cell, and L including its own price."""

    question: int
    low: int
    high: int
    price: float
    including: float


@dataclass(frozen=True)
class Path:
    """What was asked and said so far."""

    asked: tuple[Asked, ...] = ()
    answers: tuple[Answered, ...] = ()
    purse: Purse = field(default_factory=Purse)
    urn: tuple[int, ...] = ()
    nats: float = 0.0

    def cell(self, question):
        """Return what is known of a question's count by now."""
        last = [s for s in self.answers if s.question == question][-1]
        return last.low, last.high


class SmallTree:
    """A random analyst of all data sets of these sizes; `leaves` pairs paths with the data that take them."""

    def __init__(self, rng, strata=(6,), n_values=3, depth=4, *, unseals=True):
        self.rng, self.strata, self.n, self.n_values = rng, strata, sum(strata), n_values
        self.unseals = unseals
        one = [[h for h in itertools.product(range(s + 1), repeat=n_values) if sum(h) == s] for s in strata]
        self.data = np.array(list(itertools.product(*one)))  # data sets x strata x values
        self.totals = self.data.sum(axis=1)
        self.leaves = list(self._grow(Path(), np.arange(len(self.data)), depth))

    def _grow(self, path, rows, depth):
        if depth == 0:
            yield path, rows
            return
        sealed = [q for q in range(len(path.asked)) if len(set(path.cell(q))) == 2]
        if self.unseals and sealed and self.rng.random() < 0.35:
            grown = self._unseal(path, rows, int(self.rng.choice(sealed)))
        else:
            grown = self._ask(path, rows)
        for longer, fewer in grown:
            yield from self._grow(longer, fewer, depth - 1)

    def _ask(self, path, rows):
        size = int(self.rng.integers(1, self.n_values))
        values = tuple(int(v) for v in sorted(self.rng.choice(self.n_values, size, replace=False)))
        width = int(self.rng.choice([1, 2, 3, max(1, self.n // 2), self.n]))
        cells = CountCells(self.n, base=int(self.rng.integers(-width // 2, self.n + 1)), width=width)
        code = CountCode(float(self.rng.uniform(0, self.n)), float(self.rng.uniform(0.5, self.n / 2)))
        urn = PolyaUrn()
        for z in path.urn:
            urn.record(z)
        share = self.rng.choice([0.1, 0.5, 0.95])
        weight, purse = path.purse.take(share) if self.rng.random() < 0.5 else path.purse.question()
        asked = (*path.asked, Asked(values, weight, path.nats, code))
        counts = self.counts(values)[rows]
        numbers = np.array([cells.index(int(c)) for c in counts])
        for z in np.unique(numbers):
            price = urn.price(int(z), code.ln_mass(*cells.ends(int(z))))
            answer = Answered(len(path.asked), *cells.counts(int(z)), price, path.nats + price)
            grown = Path(asked, (*path.answers, answer), purse, (*path.urn, int(z)), path.nats + price)
            yield grown, rows[numbers == z]

    def _unseal(self, path, rows, question):
        asked = path.asked[question]
        low, high = path.cell(question)
        counts = self.counts(asked.values)[rows]
        for count in np.unique(counts):
            price = unsealing_nats(int(count), low, high, asked.code)
            answer = Answered(question, int(count), int(count), price, path.nats + price)
            longer = replace(path, answers=(*path.answers, answer), nats=path.nats + price)
            yield longer, rows[counts == count]

    def counts(self, values):
        """Return how many records of every data set have one of these values."""
        return self.totals[:, list(values)].sum(axis=1)

    def means(self, laws, values):
        """Return the population's mean of a question under each law, at the sizes of the strata."""
        inside = laws[:, :, list(values)].sum(axis=2)
        return inside @ np.array(self.strata) / self.n

    def probabilities(self, laws):
        """Return the probability of every data set under every law."""
        chances = np.ones((len(laws), len(self.data)))
        for s, size in enumerate(self.strata):
            for k, law in enumerate(laws):
                chances[k] *= multinomial.pmf(self.data[:, s], size, law[s])
        return chances

    def hard_laws(self, ends, count=300):
        """Return random laws, and laws that put the mean of a question just outside an end of an interval."""
        shape = (count, len(self.strata))
        laws = self.rng.dirichlet(np.full(self.n_values, 0.7), size=shape)
        chosen = self.rng.permutation(len(ends))[: count - 100]
        for k, index in enumerate(chosen):
            values, end, side = ends[index]
            end = min(max(end * (1.0 - side * 1e-9), 0.0), 1.0)
            inside = list(values)
            outside = [v for v in range(self.n_values) if v not in values]
            left = end * self.n  # expected inside; every second law has them in as few strata as can be
            for s, size in enumerate(self.strata):
                share = min(left / size, 1.0) if k % 2 else end
                left = max(left - size * share, 0.0)
                for part, mass in ((inside, share), (outside, 1.0 - share)):
                    total = laws[k, s, part].sum()
                    laws[k, s, part] = mass * laws[k, s, part] / total if total > 0 else mass / len(part)
        return laws / laws.sum(axis=2, keepdims=True)


def worst_failure(tree, statements):
    """Return the largest probability, over many laws, that some statement of the conversation is wrong.

    ``statements(path, counts)`` gives triples (values, low, high) of what is said at the end of a path, where
    ``counts`` are the exact counts of its questions; it is called once for every distinct such counts.
    """
    groups, ends = [], []
    for path, rows in tree.leaves:
        exact = np.array([tree.counts(a.values)[rows] for a in path.asked]).T
        distinct, of = np.unique(exact, axis=0, return_inverse=True)
        for index, counts in enumerate(distinct):
            groups.append((rows[of.reshape(-1) == index], list(statements(path, [int(c) for c in counts]))))
            ends += [
                (v, e, side) for v, *both in groups[-1][1] for e, side in zip(both, (1, -1), strict=True)
            ]
    laws = tree.hard_laws([each for each in ends if 0.0 < each[1] < 1.0])
    chances, failure = tree.probabilities(laws), np.zeros(len(laws))
    for rows, found in groups:
        missed = np.zeros(len(laws), dtype=bool)
        for values, low, high in found:
            mean = tree.means(laws, values)
            missed |= (mean < low - 1e-15) | (mean > high + 1e-15)
        failure += chances[:, rows].sum(axis=1) * missed
    return float(failure.max())


def worst_of_six_trees(statements, strata, n_values, depth):
    """Return the worst failure of six random trees; ``statements`` takes a tree, too."""
    worst = 0.0
    for seed in range(6):
        tree = SmallTree(np.random.default_rng([seed, depth, n_values, *strata]), strata, n_values, depth)
        worst = max(worst, worst_failure(tree, partial(statements, tree)))
    return worst


def independent(*marginals):
    """Yield all joint outcomes of independent variables, given by their probabilities, and their chances."""
    for outcome in itertools.product(*(range(len(m)) for m in marginals)):
        yield outcome, math.prod(m[o] for m, o in zip(marginals, outcome, strict=True))
