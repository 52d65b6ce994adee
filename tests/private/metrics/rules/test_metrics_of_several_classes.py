"""AUC over several classes, the Jaccard index of all labels, D2 of probabilities, the median absolute error.

Exact tails where all outcomes can be listed, and coverage out of Holdouts where they cannot.
"""

import itertools
import math
import zlib

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from sklearn_ada import Holdout
from sklearn_ada.guarantees.medians import median_ranks
from sklearn_ada.metrics.base import SCORERS
from tests.support.laws import is_too_often

OF_SHARES = [name for name in ("d2_brier_score", "d2_log_loss_score") if name in get_scorer_names()]
"""Newer than the oldest scikit-learn."""

AUCS = [f"roc_auc_{how}{end}" for how in ("ovo", "ovr") for end in ("", "_weighted")]
LAWS = {
    "good": np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]),
    "chance": np.full((3, 3), 1 / 3),
    "one class confused": np.array([[0.98, 0.01, 0.01], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]),
}
"""Which class is likeliest for a record of each class: the model says .7 for it, .15 for the others."""


class Leaning(ClassifierMixin, BaseEstimator):
    """Gives .7 to the class in the first column."""

    classes_ = np.arange(3)

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0].astype(int)

    def predict_proba(self, X):
        return np.where(X[:, :1] == np.arange(3), 0.7, 0.15)


class Nought(RegressorMixin, BaseEstimator):
    """Predicts 0, so that y is the error."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.thorough
@pytest.mark.parametrize("counts", [(2, 2, 2), (1, 2, 3), (1, 1, 4)])
@pytest.mark.parametrize("name", AUCS)
def test_no_tail_of_an_averaged_auc_is_heavier_than_its_size_says(name, counts):
    """All outcomes are listed: every tail is at most exp(-2 t^2 size), and some are near it."""
    y = np.repeat(np.arange(3), counts)
    rule = SCORERS[name]
    favoured = np.array(list(itertools.product(range(3), repeat=len(y))))
    outputs = Leaning().predict_proba(favoured.reshape(-1, 1)).reshape(*favoured.shape, 3)
    values = np.array([rule.value(y, each, np.arange(3)).value for each in outputs])
    size, closest = rule.size(y), 0.0
    for law in LAWS.values():
        mass = law[y[None, :], favoured].prod(axis=1)
        off = values - mass @ values
        for side in (off, -off):
            for t in np.unique(side[side > 1e-9]):
                bound = math.exp(-2 * t**2 * size)
                closest = max(closest, mass[side >= t - 1e-9].sum() / bound)
    assert 0.3 < closest <= 1.0  # not far below: a size three times as large would be seen


def test_the_ranks_that_enclose_a_median_are_those_of_the_binomial():
    for n, delta in itertools.product((1, 2, 7, 50, 1001), (0.4, 0.05, 1e-6)):
        low, high = median_ranks(n, math.log(delta))
        assert high == n + 1 - low
        assert binom.cdf(low - 1, n, 0.5) <= delta / 2
        assert low == n // 2 or binom.cdf(low, n, 0.5) > delta / 2


def test_the_ranks_at_levels_that_no_float_tells_are_on_the_safe_side():
    for n, ln_delta in itertools.product((1000, 5000), (-320.0, -600.0, -2000.0)):
        low, _ = median_ranks(n, ln_delta)
        tail = np.logaddexp.reduce(binom.logpmf(np.arange(low), n, 0.5)) if low else -math.inf
        assert tail <= ln_delta - math.log(2)
    assert median_ranks(5000, -320.0)[0] > 0


def drawn(law, counts, rng):
    y = rng.permutation(np.repeat(np.arange(3), counts))
    favoured = np.array([rng.choice(3, p=LAWS[law][label]) for label in y])
    return np.c_[favoured, rng.random(len(y))], y


def truth(name, law, counts):
    """Return a metric of the population at the class mix."""
    shares, joint = np.array(counts) / sum(counts), LAWS[law]
    likely = np.where(np.eye(3, dtype=bool), 0.7, 0.15)  # by what is favoured: the probability of each class
    if name == "jaccard_micro":
        right = shares @ np.diag(joint)
        return right / (2 - right)
    if name == "d2_log_loss_score":
        loss = -sum(shares[c] * joint[c] @ np.log(likely[:, c]) for c in range(3))
        return 1 - loss / -(shares @ np.log(shares))
    if name == "d2_brier_score":
        squares = [((likely - np.eye(3)[c]) ** 2).sum(axis=1) for c in range(3)]
        return 1 - sum(shares[c] * joint[c] @ squares[c] for c in range(3)) / (1 - shares @ shares)

    def auc(positive, negative, column):
        """Return P(score of a positive is larger) + half of a tie, from the laws of what is favoured."""
        score = likely[:, column]
        wins = (score[:, None] > score) + 0.5 * (score[:, None] == score)
        return positive @ wins @ negative

    if "ovo" in name:
        pairs = list(itertools.combinations(range(3), 2))
        each = [(auc(joint[a], joint[b], a) + auc(joint[b], joint[a], b)) / 2 for a, b in pairs]
        weights = [shares[a] + shares[b] for a, b in pairs]
    else:
        rest = [np.delete(shares, c) @ np.delete(joint, c, axis=0) / (1 - shares[c]) for c in range(3)]
        each, weights = [auc(joint[c], rest[c], c) for c in range(3)], shares
    return float(np.average(each, weights=weights if "weighted" in name else None))


def asked(name, law, counts, seed):
    """Return the first answer of a fresh holdout, of .36 failure probability; every other guess is wrong."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    X, y = drawn(law, counts, rng)
    holdout = Holdout(X, y, ledger=":memory:", confidence_level=0.5)
    guess = drawn("chance" if seed % 2 else law, counts, rng)
    return holdout.certify(Leaning().fit(X, y), scoring=name, guess_from=guess)


def errors_of(law, n, rng):
    if law == "heavy":
        return rng.standard_cauchy(n) + 3e-9 * rng.random(n)
    return np.where(rng.random(n) < 0.45, 0.0, rng.random(n)) + 1e-9 * rng.random(n)  # nearly half are right


def of_errors(law, n, seed):
    rng = np.random.default_rng([seed, 5])
    y, guess = errors_of(law, n, rng), errors_of(law, n, rng)
    X = np.zeros((n, 2))
    holdout = Holdout(X, y, ledger=":memory:", confidence_level=0.5)
    return holdout.certify(Nought().fit(X, y), scoring="neg_median_absolute_error", guess_from=(X - 1, guess))


CASES = {
    f"{name}, {law}, {counts}": (
        lambda seed, a=(name, law, counts): asked(*a, seed),
        lambda a=(name, law, counts): truth(*a),
    )
    for name in (*AUCS, "jaccard_micro", *OF_SHARES)
    for law in LAWS
    for counts in ((100, 100, 100), (270, 27, 3))
} | {
    f"neg_median_absolute_error, {law}, {n}": (
        lambda seed, a=(law, n): of_errors(*a, seed),
        lambda law=law: {"heavy": -1.0, "half right": -(0.5 - 0.45) / 0.55}[law],
    )
    for law in ("heavy", "half right")
    for n in (50, 300)
}
FEW = [name for name in CASES if "one class confused, (270" in name or "heavy, 50" in name]


RUNS = [
    *((case, 4) for case in FEW),
    *(pytest.param(case, 40, marks=pytest.mark.thorough) for case in CASES),
    *(pytest.param(case, 2000, marks=pytest.mark.slow) for case in CASES),
]


@pytest.mark.parametrize(("case", "runs"), RUNS)
def test_intervals_of_metrics_of_several_classes_cover_the_truth(case, runs):
    ask, value = CASES[case][0], CASES[case][1]()
    answers = [ask(seed) for seed in range(runs)]
    certified = [a for a in answers if a.verdict != "failed"]  # a guess may clip too much
    misses = sum(not a.interval[0] - 1e-8 <= value <= a.interval[1] + 1e-8 for a in certified)
    delta = max(math.exp(a.certificate.ln_delta) for a in certified)
    assert len(certified) > 0.9 * runs
    assert delta > 0.3
    assert not is_too_often(misses, runs, delta)
    print(f"{case}: {misses} misses, half-width {np.mean([a.half_width for a in certified]):.3g}")


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("n", [50, 300, 5000])
@pytest.mark.parametrize(("law", "shares"), [("chance", (1, 1, 1)), ("one class confused", (90, 8, 2))])
@pytest.mark.parametrize("name", [*AUCS, "jaccard_micro"])
def test_no_more_samples_are_missed_than_delta_allows(name, law, shares, n, delta):
    """The rule alone, without a ledger: 2,000 samples of each size at each level."""
    rng, counts = np.random.default_rng(4), np.maximum(np.array(shares) * n // sum(shares), 1)
    y, rule = np.repeat(np.arange(3), counts), SCORERS[name]
    value, misses = truth(name, law, tuple(counts)), 0
    for _ in range(2000):
        favoured = np.concatenate([rng.choice(3, k, p=p) for k, p in zip(counts, LAWS[law], strict=True)])
        outputs = favoured if name == "jaccard_micro" else Leaning().predict_proba(favoured[:, None])
        seen = rule.value(y, outputs, np.arange(3))
        low, high = rule.interval((seen.value, seen.value), seen.size, math.log(delta))
        misses += not low <= value <= high
    assert not is_too_often(misses, 2000, delta)
    print(f"{name}, {law}, {tuple(counts.tolist())}, delta={delta}: {misses} of {delta * 2000:.0f} allowed")


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.36, 0.05])
@pytest.mark.parametrize("n", [50, 300, 5000])
@pytest.mark.parametrize("law", ["heavy", "half right"])
def test_no_more_medians_are_missed_than_delta_allows(law, n, delta):
    rng, misses = np.random.default_rng(6), 0
    value = {"heavy": 1.0, "half right": (0.5 - 0.45) / 0.55}[law]
    low, high = median_ranks(n, math.log(delta))
    for _ in range(2000):
        errors = np.r_[0.0, np.sort(abs(errors_of(law, n, rng))), np.inf]
        misses += not errors[low] - 1e-8 <= value <= errors[high] + 1e-8
    assert not is_too_often(misses, 2000, delta)
    print(f"median error, {law}, n={n}, delta={delta}: {misses} of {delta * 2000:.0f} allowed")


def test_a_truth_that_is_off_is_noticed():
    """The power of the tests above: a population half an interval away is missed too often."""
    ask, value = CASES["jaccard_micro, good, (100, 100, 100)"]
    answers = [ask(seed) for seed in range(0, 80, 2)]
    off = value() - 1.5 * np.mean([a.half_width for a in answers])
    misses = sum(not a.interval[0] <= off <= a.interval[1] for a in answers)
    delta = math.exp(answers[0].certificate.ln_delta)
    assert is_too_often(misses, len(answers), delta)


@pytest.mark.parametrize("name", [*AUCS, "jaccard_micro", *OF_SHARES])
def test_what_is_answered_is_scikit_learns(name, tmp_path):
    rng = np.random.default_rng(0)
    X, y = drawn("good", (60, 40, 20), rng)
    model, holdout = Leaning().fit(X, y), Holdout(X, y, ledger=tmp_path / "ledger.db")
    answer = holdout.certify(model, scoring=name, guess_from=drawn("good", (60, 40, 20), rng))
    assert answer.value == pytest.approx(get_scorer(name)(model, X, y), abs=0.1 * answer.half_width)
