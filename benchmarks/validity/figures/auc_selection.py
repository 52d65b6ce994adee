"""Feature selection on a small holdout by its AUC (Gossmann, Pezeshk, Wang, Sahiner, SIMODS 2021).

p = 300 normal features, of which ten matter, by linear, square, exponential and interaction terms with
coefficients of +-.5. 100 training rows, ten more in each of 30 rounds, 100 holdout rows. In each round the
features of which a one-sided t-test on the training rows is significant at .01 are candidates (the two most
significant, if there are fewer than two), every subset of the new ones joins those that were kept before,
and the model that scores best is kept. The true AUC of a model is that on 5,000 more rows. The classifier
is logistic regression.

- *naive*: the holdout's AUC chooses, and is reported.
- *Thresholdout*: the authors' setting. T = .02, normal noise of .03 in a corrected value and of .12 in the
  comparison, no noise in the threshold; the guess is the AUC of five-fold cross-validation, ten times; the
  winner is asked again, and that is reported.
- *ours*: `Holdout.check_many` with the same guess chooses; then the model that is kept is certified. What
  can be reported as an estimate: the value of its check, the exact value, or a blend ``w * exact + (1 - w)
  * guess``.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import rankdata
from scipy.stats import t as student

from benchmarks.validity.coverage import consistent
from benchmarks.validity.figures.results import Claim, Shown, Table
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess
from sklearn_ada.planning import display

TITLE = "Selection by AUC on 100 rows (Gossmann et al., 2021)"
SEED = 2021
P, RELEVANT, FIRST, MORE, ROUNDS, N, TEST = 300, 10, 100, 10, 30, 100, 5000
LEVEL, THRESHOLD, SIGMA = 0.01, 0.02, 0.03
MOST_NEW = 10  # of more candidates the most significant are taken: 1,024 models a round
FOLDS, REPEATS = 5, 10
WEIGHTS = tuple(np.round(np.arange(0.0, 1.01, 0.1), 1).tolist())
PUBLISHED = {"naive": (0.074, 0.075, 0.046), "Thresholdout": (0.032, 0.062, 0.070)}
_RIDGE = 1e-4

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]


def draw_rows(rng: np.random.Generator) -> tuple[Rows, Rows, Rows]:
    """Return all training rows, holdout and test rows; drawn again while a class has fewer than a fifth."""
    sizes = (FIRST + MORE * ROUNDS, N, TEST)
    while True:
        X = rng.standard_normal((sum(sizes), P))
        S = X[:, rng.choice(P, RELEVANT, replace=False)]
        pairs = list(itertools.combinations(range(RELEVANT), 2))
        chosen = rng.choice(len(pairs), RELEVANT, replace=False)
        products = np.column_stack([S[:, pairs[i][0]] * S[:, pairs[i][1]] for i in chosen])
        terms = np.hstack([S, S**2, np.exp(S), products])
        y = (rng.random(len(X)) < expit(terms @ (0.5 * np.tile([1.0, -1.0], 2 * RELEVANT)))).astype(np.int64)
        parts = np.split(np.arange(len(X)), np.cumsum(sizes)[:-1])
        if all(0.2 <= y[rows].mean() <= 0.8 for rows in (*parts, parts[0][:FIRST])):
            train, held, test = ((X[rows], y[rows]) for rows in parts)
            return train, held, test


def auc(scores: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Return the area under the ROC curve, ties counted half."""
    positives = int(y.sum())
    ranks = rankdata(scores)[y == 1].sum()
    return float((ranks - positives * (positives + 1) / 2.0) / (positives * (len(y) - positives)))


def p_values(X: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the one-sided p-value of the t-test between the classes, for each feature."""
    ones, zeros = X[y == 1], X[y == 0]
    n = len(y)
    pooled = (np.sum((ones - ones.mean(0)) ** 2, 0) + np.sum((zeros - zeros.mean(0)) ** 2, 0)) / (n - 2)
    difference = np.abs(ones.mean(0) - zeros.mean(0))
    statistic = difference / np.sqrt(pooled * (1.0 / len(ones) + 1.0 / len(zeros)))
    return np.asarray(student.sf(statistic, n - 2))


def logistic(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    weights: NDArray[np.float64],
    start: NDArray[np.float64],
    steps: int,
) -> NDArray[np.float64]:
    """Return coefficients, the constant last, of a logistic regression for each weighting of the rows.

    Newton's method from ``start``; a tiny ridge keeps separable classes finite.
    """
    A = np.hstack([X, np.ones((len(X), 1))])
    beta = np.broadcast_to(start, (len(weights), A.shape[1])).copy()
    ridge = _RIDGE * np.eye(A.shape[1])
    for _ in range(steps):
        mean = expit(np.clip(beta @ A.T, -30.0, 30.0))
        slope = (weights * (y - mean)) @ A - _RIDGE * beta
        curvature = np.matmul((A.T * (weights * mean * (1.0 - mean) + 1e-9)[:, None, :]), A) + ridge
        step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        beta += step / np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True) / 5.0)
        if np.abs(step).max() < 1e-6:
            break
    return beta


def fitted(X: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the coefficients of a logistic regression on all rows."""
    return logistic(X, y, np.ones((1, len(y))), np.zeros(X.shape[1] + 1), 25)[0]


def folds(y: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the number of each row's fold in every repetition, stratified by class."""
    numbers = np.empty((REPEATS, len(y)), dtype=np.intp)
    for row in numbers:
        for label in (0, 1):
            where = rng.permutation(np.flatnonzero(y == label))
            row[where] = np.arange(len(where)) % FOLDS
    return numbers


def cross_validated(
    X: NDArray[np.float64], y: NDArray[np.int64], whole: NDArray[np.float64], numbers: NDArray[np.intp]
) -> float:
    """Return the mean AUC over the folds of all repetitions."""
    train = np.concatenate([numbers != fold for fold in range(FOLDS)]).astype(np.float64)
    beta = logistic(X, y, train, whole, 3)
    scores = beta[:, :-1] @ X.T
    # The rank of each positive among the negatives of its own fold, ties left out: scores are continuous.
    tested = train == 0.0
    positives, negatives = tested & (y == 1), tested & (y == 0)
    order = np.argsort(np.where(tested, scores, np.inf), axis=1)
    by_rank = np.take_along_axis(negatives, order, axis=1).cumsum(axis=1)
    below = np.sum(by_rank * np.take_along_axis(positives, order, axis=1), axis=1)
    return float(np.mean(below / (positives.sum(axis=1) * negatives.sum(axis=1))))


def subsets(p: NDArray[np.float64], kept: list[int]) -> list[list[int]]:
    """Return the feature sets of a round."""
    significant = np.flatnonzero(p <= LEVEL)
    if len(significant) < 2:
        significant = np.argsort(p)[:2]
    new = [int(j) for j in significant[np.argsort(p[significant])] if j not in kept][:MOST_NEW]
    sizes = range(len(new) + 1)
    return [[*kept, *more] for size in sizes for more in itertools.combinations(new, size)]


class Linear:
    """A fitted logistic regression on some of the features."""

    classes_ = np.array([0, 1])

    def __init__(self, features: list[int], coef: NDArray[np.float64]) -> None:
        self.features, self.coef_ = features, coef

    def decision_function(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-odds of each row."""
        return X[:, self.features] @ self.coef_[:-1] + self.coef_[-1]

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the likelier class of each row."""
        return (self.decision_function(X) > 0.0).astype(np.int64)


class Naive:
    """The holdout's AUC chooses, and is reported."""

    needs_guess = False

    def __init__(self, held: Rows, rng: np.random.Generator) -> None:
        self.held = held

    def choose(
        self, models: list[Linear], guesses: list[float], y: NDArray[Any]
    ) -> tuple[int, dict[str, Any]]:
        """Return which model is kept, and what is reported of it."""
        values = [auc(model.decision_function(self.held[0]), self.held[1]) for model in models]
        best = int(np.argmax(values))
        return best, {"naive": values[best]}


class Thresholdout(Naive):
    """The authors' Thresholdout."""

    needs_guess = True

    def __init__(self, held: Rows, rng: np.random.Generator) -> None:
        super().__init__(held, rng)
        self.rng = rng

    def ask(self, guess: float, value: float) -> float:
        """Return the guess, or the value with noise where they differ."""
        if abs(guess - value) > THRESHOLD + self.rng.normal(0.0, 4.0 * SIGMA):
            return value + self.rng.normal(0.0, SIGMA)
        return guess

    def choose(
        self, models: list[Linear], guesses: list[float], y: NDArray[Any]
    ) -> tuple[int, dict[str, Any]]:
        """Return which model is kept, and what is reported of it."""
        values = [auc(model.decision_function(self.held[0]), self.held[1]) for model in models]
        told = [self.ask(guess, value) for guess, value in zip(guesses, values, strict=True)]
        best = int(np.argmax(told))
        return best, {"Thresholdout": self.ask(guesses[best], values[best])}


class Ours(Naive):
    """Checks of one round choose, and the model that is kept is certified."""

    needs_guess = True

    def __init__(self, held: Rows, rng: np.random.Generator) -> None:
        super().__init__(held, rng)
        self.holdout = SimulatedHoldout(*held, seed=int(rng.integers(2**31)))

    def choose(
        self, models: list[Linear], guesses: list[float], y: NDArray[Any]
    ) -> tuple[int, dict[str, Any]]:
        """Return which model is kept, and what is reported of it."""
        size = float(min(y.sum(), len(y) - y.sum()))
        known = [Guess(guess, size) for guess in guesses]
        with warnings.catch_warnings():  # that intervals become vacuous is in the figure
            warnings.simplefilter("ignore", UserWarning)
            told = self.holdout.check_many(models, scoring="roc_auc", guesses=known)
            best = max(range(len(told)), key=lambda i: (told[i].value, guesses[i]))
            exact = self.holdout.certify(models[best], scoring="roc_auc", guess=known[best])
        return best, {
            "check": told[best].value,
            "exact": exact.value,
            "guess": guesses[best],
            "check interval": list(told[best].interval),
            "exact interval": list(exact.interval),
        }


STRATEGIES: dict[str, type[Naive]] = {"naive": Naive, "Thresholdout": Thresholdout, "ours": Ours}


def trajectory(train: Rows, held: Rows, test: Rows, strategy: str, seed: int) -> list[dict[str, Any]]:
    """Return, for each round, what is reported of the kept model and its true AUC."""
    rng = np.random.default_rng([SEED, seed, 1])
    rule = STRATEGIES[strategy](held, rng)
    X, y = train[0][:FIRST], train[1][:FIRST]
    kept = [int(j) for j in np.argsort(p_values(X, y))[:2]]
    told = []
    for number in range(1, ROUNDS + 1):
        X, y = train[0][: FIRST + MORE * number], train[1][: FIRST + MORE * number]
        sets = subsets(p_values(X, y), kept)
        models = [Linear(features, fitted(X[:, features], y)) for features in sets]
        guesses = []
        if rule.needs_guess:
            numbers = folds(y, rng)
            guesses = [cross_validated(X[:, m.features], y, m.coef_, numbers) for m in models]
        best, reported = rule.choose(models, guesses, y)
        kept = models[best].features
        told.append(
            {**reported, "true": auc(models[best].decision_function(test[0]), test[1]), "models": len(sets)}
        )
    return told


def run(full: bool, seeds: dict[str, int] | None = None) -> dict[str, Any]:
    """Return what each strategy reports and what is true, by seed and round."""
    counts = seeds or (
        {"naive": 400, "Thresholdout": 400, "ours": 400} if full else dict.fromkeys(STRATEGIES, 2)
    )
    runs: dict[str, Any] = {name: [] for name in STRATEGIES}
    for seed in range(max(counts.values())):
        train, held, test = draw_rows(np.random.default_rng([SEED, seed]))
        for name, count in counts.items():
            if seed < count:
                runs[name].append(trajectory(train, held, test, name, seed))
    return {"seeds": counts, "rounds": ROUNDS, **summary(runs), "chance": chance(max(counts.values()))}


def chance(seeds: int) -> dict[str, float]:
    """Return how far the AUC of models that nobody selected on the holdout is off, which is chance alone.

    Three models a seed, of the ten most significant features of the first 100, 200 and all training rows; the
    mean over seeds with its standard error. All that is reported on the same holdouts shares it.
    """
    off = np.empty((seeds, 3))
    for seed in range(seeds):
        train, held, test = draw_rows(np.random.default_rng([SEED, seed]))
        for column, rows in enumerate((FIRST, 2 * FIRST, FIRST + MORE * ROUNDS)):
            X, y = train[0][:rows], train[1][:rows]
            features = [int(j) for j in np.argsort(p_values(X, y))[:RELEVANT]]
            model = Linear(features, fitted(X[:, features], y))
            told, true = (auc(model.decision_function(part[0]), part[1]) for part in (held, test))
            off[seed, column] = told - true
    each = off.mean(axis=1)
    return {"mean": float(each.mean()), "standard error": float(each.std() / np.sqrt(seeds))}


def errors(values: NDArray[np.float64], true: NDArray[np.float64]) -> dict[str, float]:
    """Return bias, mean absolute error, root mean square error and spread of what was reported."""
    off = values - true
    return {
        "bias": float(off.mean()),
        "abs": float(np.abs(off).mean()),
        "rmse": float(np.sqrt(np.mean(off**2))),
        "sd": float(off.std()),
        "true": float(true.mean()),
    }


def summary(runs: dict[str, Any]) -> dict[str, Any]:
    """Return errors of all estimates; the blend has its weight from even seeds, its errors from odd ones."""

    def of(name: str, key: str) -> NDArray[np.float64]:
        return np.array([[each[key] for each in seed] for seed in runs[name]])

    table = {name: errors(of(name, name), of(name, "true")) for name in ("naive", "Thresholdout")}
    true = of("ours", "true")
    for key in ("check", "exact", "guess"):
        table[key] = errors(of("ours", key), true)
    exact, guess = of("ours", "exact"), of("ours", "guess")
    spread = float(np.std((of("naive", "naive") - of("naive", "true"))[::2]))
    blends = {w: errors((w * exact + (1 - w) * guess)[::2], true[::2]) for w in WEIGHTS}
    allowed = [w for w in WEIGHTS if blends[w]["sd"] <= spread]
    best = min(allowed or WEIGHTS, key=lambda w: blends[w]["rmse"])
    halves = {
        "weight": best,
        "chosen on": blends[best],
        "blend": errors((best * exact + (1 - best) * guess)[1::2], true[1::2]),
        "naive": errors(of("naive", "naive")[1::2], of("naive", "true")[1::2]),
    }
    intervals = {}
    for key in ("check", "exact"):
        ends = np.array([[each[f"{key} interval"] for each in seed] for seed in runs["ours"]])
        inside = (ends[:, :, 0] <= true) & (true <= ends[:, :, 1])
        intervals[key] = {
            "answers": inside.size,
            "hold": int(inside.sum()),
            "half-width": (ends[:, :, 1] - ends[:, :, 0]).mean(axis=0) / 2.0,
        }
        intervals[f"{key} runs"] = int(inside.all(axis=1).sum())
    by_round = {
        name: np.mean(of(where, key) - of(where, "true"), axis=0)
        for name, where, key in (
            ("naive", "naive", "naive"),
            ("Thresholdout", "Thresholdout", "Thresholdout"),
            ("check", "ours", "check"),
            ("exact", "ours", "exact"),
        )
    }
    models = {
        name: float(np.mean([sum(each["models"] for each in seed) for seed in runs[name]])) for name in runs
    }
    return {"errors": table, "halves": halves, "intervals": intervals, "by_round": by_round, "models": models}


def shown(result: dict[str, Any]) -> Shown:
    """Return what the page says."""
    table, halves, seeds = result["errors"], result["halves"], result["seeds"]
    luck = result["chance"]
    naive, exact, noisy, blend = table["naive"], table["exact"], table["Thresholdout"], halves["blend"]
    sentence = (
        f"Chosen by AUC on 100 holdout rows, the kept model is reported {naive['bias']:.3f} too good by the "
        f"naive holdout and {noisy['bias']:.3f} by Thresholdout, which is no nearer on average "
        f"({noisy['abs']:.3f} off, naive {naive['abs']:.3f}); the value that we release "
        f"of the last round's model is too good by {exact['bias']:+.3f}, and "
        f"{exact['abs']:.3f} off, but on so few rows its interval, "
        f"±{result['intervals']['exact']['half-width'][-1]:.2f}, says nothing. Naive selection gains "
        f"{naive['true'] - exact['true']:+.3f} of true AUC for it. What a check says while searching "
        "is further off than "
        f"all of these, {table['check']['abs']:.3f}: its interval, not its value, is what holds."
    )
    names = {
        "naive": "naive",
        "Thresholdout": "Thresholdout",
        "check": "ours: the check's value",
        "exact": "ours: the exact value",
        "guess": "ours: the guess itself",
    }
    rows = []
    for key, name in names.items():
        each, published = table[key], PUBLISHED.get(key)
        said = "" if published is None else " / ".join(f"{value:.3f}" for value in published)
        rows.append(
            [
                name,
                str(seeds.get(key, seeds["ours"])),
                *(f"{each[what]:.3f}" for what in ("bias", "abs", "rmse", "sd", "true")),
                said,
            ]
        )
    main = Table(
        "Reported minus true AUC over all rounds",
        (
            "reported",
            "seeds",
            "bias",
            "mean absolute",
            "RMSE",
            "SD",
            "true AUC of what is kept",
            "in the literature: bias / abs / SD",
        ),
        rows,
    )
    half = Table(
        f"The blend of {halves['weight']:.1f} exact value and {1 - halves['weight']:.1f} guess: its weight "
        "was chosen on even seeds",
        ("reported", "seeds", "bias", "mean absolute", "RMSE", "SD"),
        [
            [name, part, *(f"{each[what]:.3f}" for what in ("bias", "abs", "rmse", "sd"))]
            for name, part, each in (
                ("blend", "even", halves["chosen on"]),
                ("blend", "odd", blend),
                ("naive", "odd", halves["naive"]),
            )
        ],
    )
    intervals, runs = result["intervals"], seeds["ours"]
    rounds = (0, 4, 14, 29)
    certificates = Table(
        "Certificates: intervals that hold the true AUC, and mean half-widths in rounds 1, 5, 15 and 30",
        ("answer", "intervals that hold", "runs in which all hold", *(f"round {r + 1}" for r in rounds)),
        [
            [
                key,
                f"{intervals[key]['hold']} of {intervals[key]['answers']}",
                f"{intervals[f'{key} runs']} of {runs}",
                *(f"{intervals[key]['half-width'][r]:.2f}" for r in rounds),
            ]
            for key in ("check", "exact")
        ],
    )
    claims = [
        Claim("naive bias: .074 +- .01", f"{naive['bias']:.3f}", abs(naive["bias"] - 0.074) <= 0.01),
        Claim("Thresholdout bias: .032 +- .01", f"{noisy['bias']:.3f}", abs(noisy["bias"] - 0.032) <= 0.01),
        Claim(
            "exact value: at most half of naive's bias",
            f"{exact['bias']:.3f}",
            abs(exact["bias"]) <= naive["bias"] / 2.0,
        ),
        Claim(
            "exact value: lower absolute error than naive",
            f"{exact['abs']:.3f} < {naive['abs']:.3f}",
            exact["abs"] < naive["abs"],
        ),
        Claim(
            "exact value: lower RMSE than naive",
            f"{exact['rmse']:.3f} < {naive['rmse']:.3f}",
            exact["rmse"] < naive["rmse"],
        ),
        Claim(
            "blend, on the other half: spread not above naive's",
            f"{blend['sd']:.4f}, naive {halves['naive']['sd']:.4f}",
            blend["sd"] <= halves["naive"]["sd"],
        ),
        Claim(
            "blend, on the other half: at most half of naive's bias",
            f"{blend['bias']:.3f}",
            abs(blend["bias"]) <= halves["naive"]["bias"] / 2.0,
        ),
    ]
    for key in ("check", "exact"):
        held = intervals[f"{key} runs"]
        claims.append(
            Claim(
                f"{key}: all intervals of a run hold, but for beta",
                f"{held} of {runs}",
                consistent(runs - held, runs),
            )
        )
    remarks = [
        "What is certified is the interval; at n = 100 it soon says nothing. The exact value and the blend "
        "are estimates: they are good because the checks, not the exact values, choose. The value of a "
        "check is worse, because cells are so wide at n = 100 that optimistic guesses pass.",
        "The seeds matter: models that nobody selected on the holdout are "
        f"{luck['mean']:+.4f} off on these holdouts (standard error {luck['standard error']:.4f}), where "
        "nothing but chance can be. Every row of the first table shares that. Without it the bias is "
        f"{naive['bias'] - luck['mean']:.3f} for naive, {noisy['bias'] - luck['mean']:.3f} for Thresholdout "
        f"and {exact['bias'] - luck['mean']:+.3f} for the exact value.",
    ]
    if abs(noisy["bias"] - 0.032) > 0.01:
        remarks.append(
            "Thresholdout's bias is further from that of the literature than was to be shown. "
            "Threshold, noise, "
            "order of the answers and guess are the authors' as far as they are known; nothing was tuned."
        )
    models = result["models"]
    settings = (
        f"{result['rounds']} rounds; {models['naive']:,.0f} models in a naive run on average, "
        f"{models['ours']:,.0f} in one of ours. At most {MOST_NEW} new candidates a round (the most "
        "significant). In the literature: logistic regression, 100 seeds."
    )
    return Shown(sentence, settings, (main, half, certificates), claims, remarks)


NAMES = {"check": "ours, while searching", "exact": "ours, published"}
BESIDE: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
COLOURS = {
    "naive": display.NAIVE,
    "Thresholdout": "tab:gray",
    "check": display.SEARCHING,
    "exact": display.PUBLISHED,
}


def draw(result: dict[str, Any], figure: Any) -> None:
    """Draw the bias by round, and how far all values are off."""
    left, right = figure.subplots(1, 2)
    for name, values in result["by_round"].items():
        label = NAMES.get(name, name)
        left.plot(np.arange(1, len(values) + 1), values, color=COLOURS[name], label=label)
    left.axhline(0.0, color="0.7", linewidth=0.5)
    left.set(xlabel="round", ylabel="reported minus true AUC")
    left.legend(frameon=False)
    for place, (name, colour) in enumerate(COLOURS.items()):
        bias, off = (result["errors"][name][what] for what in ("bias", "abs"))
        right.barh(place - 0.2, bias, 0.38, color=colour)
        right.barh(place + 0.2, off, 0.38, color=colour, alpha=0.4)
        right.annotate("too good", (max(bias, 0.0), place - 0.2), (4, 0), **BESIDE)
        right.annotate("off, either way", (off, place + 0.2), (4, 0), **BESIDE)
    right.set(yticks=range(len(COLOURS)), xlabel="AUC, mean over all rounds")
    right.set_yticklabels([NAMES.get(name, name).replace("ours, ", "ours,\n") for name in COLOURS])
    right.invert_yaxis()
    right.margins(x=0.4)
