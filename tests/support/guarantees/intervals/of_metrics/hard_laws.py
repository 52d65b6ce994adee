"""Populations that are hard for an interval, samples of them, and how often an interval of them misses."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from sklearn_ada import guarantees

# Shares of the classes, and the law of the prediction in each of them.
CONFUSIONS = {
    "balanced": ((0.5, 0.5), ((0.9, 0.1), (0.1, 0.9))),
    "one percent": ((0.02, 0.98), ((0.8, 0.2), (0.01, 0.99))),
    "nearly perfect": ((0.3, 0.7), ((0.995, 0.005), (0.002, 0.998))),
    "five classes": ((0.5, 0.2, 0.1, 0.1, 0.1), np.full((5, 5), 0.075) + 0.625 * np.eye(5)),
    "unequal rows": ((0.5, 0.5), ((0.9, 0.1), (0.1, 0.9))),
    "guesses": ((0.4, 0.3, 0.3), ((0.4, 0.3, 0.3),) * 3),
}


@dataclass(frozen=True)
class Case:
    """An interval of one population: ``draw(rng, n)`` returns a sample, ``interval`` its two ends."""

    value: object
    draw: object
    interval: object

    def misses(self, n, delta, samples, seed):
        """Return how many of so many samples are missed by the interval at this delta."""
        rng = np.random.default_rng(seed)
        value, ln_delta, foreseen = self.value(n), math.log(delta), self.draw(rng, n)
        cached = cache(
            lambda key: self.interval(np.frombuffer(key).reshape(foreseen.shape), foreseen, ln_delta)
        )
        count = 0
        for _ in range(samples):
            seen = self.draw(rng, n)
            few = seen.size < 30
            low, high = (
                cached(np.asarray(seen, float).tobytes()) if few else self.interval(seen, foreseen, ln_delta)
            )
            count += not low - 1e-12 <= value <= high + 1e-12
        return count


def sizes_of(shares, n):
    """Return how many of n rows have each class."""
    sizes = np.floor(np.array(shares) * n).astype(int)
    sizes[-1] += n - sizes.sum()
    return sizes


def confusion_case(metric, name):
    """Return a metric of a confusion matrix at a fixed class mix.

    With unequal rows as many rows as the law says have each prediction in the first half of a class, whatever
    the sample, so that the rows of a class are of different laws.
    """
    shares, laws = CONFUSIONS[name]
    laws = np.array(laws)
    part = 0.5 if name == "unequal rows" else 0.0

    def fixed(n):
        return np.floor(part * sizes_of(shares, n)[:, None] * laws)

    def draw(rng, n):
        drawn = sizes_of(shares, n) - fixed(n).sum(axis=1).astype(int)
        random = [rng.multinomial(size, law) for size, law in zip(drawn, laws, strict=True)]
        return fixed(n) + np.array(random)

    def mean(n):
        drawn = sizes_of(shares, n) - fixed(n).sum(axis=1)
        return fixed(n) + drawn[:, None] * laws

    def value(n):
        table = mean(n)
        t, p = table.sum(axis=1) / n, table.sum(axis=0) / n
        if metric == "mcc":
            return float((np.trace(table) / n - t @ p) / math.sqrt((1 - t @ t) * (1 - p @ p)))
        hits, chance = np.diag(table) / n, t @ p
        if metric == "kappa":
            return float((hits.sum() - chance) / (1 - chance))
        if metric in ("linear", "quadratic"):
            places = np.arange(len(t))
            apart = abs(places[:, None] - places) ** (2 if metric == "quadratic" else 1)
            return float(1.0 - (apart * table).sum() / n / (t @ apart @ p))
        each = {"precision": hits / p, "jaccard": hits / (t + p - hits)}.get(metric, 2 * hits / (t + p))
        return float(each.mean() if metric == "macro" else each[0])

    def interval(seen, foreseen, ln_delta):
        if metric == "mcc":
            return guarantees.mcc_interval(seen, ln_delta, expected=foreseen)
        if metric == "macro":
            return guarantees.average_ratio_interval("f_beta", seen, ln_delta, expected=foreseen)
        about = {"weights": metric} if metric in ("linear", "quadratic") else {}
        name = "kappa" if about else metric
        return guarantees.confusion_ratio_interval(name, seen, ln_delta, expected=foreseen, **about)

    return Case(value, draw, interval)


REGRESSIONS = ("normal", "atoms", "rare")


def regression_case(metric, name):
    """Return R^2 or D^2 of the absolute error of a law of pairs with a known value."""
    # A finite law, so that its value is known: values of y, of the prediction, and their probabilities.
    if name == "normal":
        grid = np.linspace(-3, 3, 25)
        y, error = (x.ravel() for x in np.meshgrid(grid, grid))
        mass, p = norm.pdf(y) * norm.pdf(error), y + 0.7 * error
    elif name == "atoms":  # nearly all targets are the same
        y, p, mass = np.array([0.0, 1, 0, 1]), np.array([0.0, 1, 1, 0]), np.array([0.93, 0.04, 0.02, 0.01])
    else:  # a rare large error
        y, p = np.array([-1.0, 1, -1, 1]), np.array([-0.9, 0.9, 3, -3])
        mass = np.array([0.495, 0.495, 0.005, 0.005])
    mass = mass / mass.sum()
    clip = {"target_range": (-3.0, 3.0), "most_error": 3.0}
    y, p = np.clip(y, -3, 3), np.clip(p, -3, 3)
    error = np.clip(y - p, -3, 3)
    if metric == "r_squared":
        value = 1 - mass @ error**2 / (mass @ (y - mass @ y) ** 2)
    else:
        value = 1 - mass @ abs(error) / min(mass @ abs(y - m) for m in y)
    quantile = None if metric == "r_squared" else 0.5
    function = guarantees.r_squared_interval if metric == "r_squared" else guarantees.d2_pinball_interval

    def draw(rng, n):
        at = rng.choice(len(y), size=n, p=mass)
        return np.column_stack((y[at], p[at]))

    def interval(seen, foreseen, ln_delta):
        expected = guarantees.ExpectedLosses.of_rows(*foreseen.T, quantile=quantile, **clip)
        return function(*seen.T, ln_delta, expected=expected, **clip)

    return Case(lambda n: float(value), draw, interval)


RANKINGS = ("separated", "two percent", "ties")


def ranking_case(name):
    """Return average precision of normal scores, or of a score of four values, ties broken at random."""
    share, shift = {"separated": (0.5, 2.0), "two percent": (0.02, 1.5), "ties": (0.3, 0.0)}[name]
    laws = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]])  # of positives and negatives, lowest first

    def value(n):
        odds = (n - round(share * n)) / round(share * n)
        if name != "ties":
            return quad(lambda u: u / (u + odds * norm.sf(norm.isf(u) + shift)), 0, 1, limit=200)[0]
        high, false = np.cumsum(laws[:, ::-1], axis=1)

        def precision(u):
            return u / (u + odds * np.interp(u, np.r_[0.0, high], np.r_[0.0, false]))

        return quad(precision, 0, 1, points=high[:-1], limit=200)[0]

    def draw(rng, n):
        positive = np.arange(n) < round(share * n)
        if name == "ties":
            scores = np.where(positive, rng.choice(4, n, p=laws[0]), rng.choice(4, n, p=laws[1]))
        else:
            scores = rng.standard_normal(n) + shift * positive
        return np.column_stack((scores, positive))

    def interval(seen, foreseen, ln_delta):
        expected = {"expected_scores": foreseen[:, 0], "expected_positive": foreseen[:, 1]}
        return guarantees.average_precision_interval(*seen.T, ln_delta, **expected, seed=0)

    return Case(value, draw, interval)


PAIRS = {"close": (0.03, 0.03), "better": (0.1, 0.02), "rare": (0.004, 0.0), "opposed": (0.5, 0.5)}


def paired_case(form, name):
    """Return a difference of 0/1 losses, by disagreements, by bets on counts, or by bets on rows."""
    gain, loss = PAIRS[name]

    def draw(rng, n):
        if form != "rows":
            return rng.multinomial(n, [gain, loss, max(1 - gain - loss, 0.0)]).astype(float)
        kind = rng.choice(3, size=n, p=[gain, loss, max(1 - gain - loss, 0.0)])
        other = rng.random(n)  # losses that both models have
        size = rng.random(n)
        worse = other + (1 - other) * size
        return np.column_stack((np.where(kind == 0, worse, other), np.where(kind == 1, worse, other)))

    def value(n):
        return (gain - loss) * (0.25 if form == "rows" else 1.0)

    def interval(seen, foreseen, ln_delta):
        if form == "rows":
            mean, variance = (float(of(foreseen[:, 0] - foreseen[:, 1])) for of in (np.mean, np.var))
            expected = {"expected_difference": mean, "expected_variance": variance}
            return guarantees.paired_loss_interval(*seen.T, ln_delta, bounds=(0.0, 1.0), **expected)
        n = int(seen.sum())
        settings = (
            {"identical_rows": True} if form == "disagreements" else {"expected": tuple(foreseen[:2] / n)}
        )
        return guarantees.paired_zero_one_interval(int(seen[0]), int(seen[1]), n, ln_delta, **settings)

    return Case(value, draw, interval)


TABLES = ("kappa", "linear", "quadratic", "f_beta", "precision", "jaccard", "macro", "mcc")
CASES = {
    **{f"{metric}, {name}": (confusion_case, metric, name) for metric in TABLES for name in CONFUSIONS},
    **{f"{m}, {name}": (regression_case, m, name) for m in ("r_squared", "d2") for name in REGRESSIONS},
    **{f"average precision, {name}": (ranking_case, name) for name in RANKINGS},
    **{
        f"difference by {form}, {name}": (paired_case, form, name)
        for form in ("disagreements", "bets", "rows")
        for name in PAIRS
    },
}


def case_of(name):
    """Return the case of this name."""
    make, *arguments = CASES[name]
    return make(*arguments)
