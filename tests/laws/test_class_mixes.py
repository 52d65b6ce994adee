"""How often intervals miss the population's own accuracy, F1, precision and correlation, whatever the mix.

Most samples are put to the function of the interval, as a holdout would: some fifty to a holdout itself.
"""

import math
from functools import lru_cache

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_ada import Holdout
from sklearn_ada.guarantees import population_table_interval, two_class_interval
from tests.laws.guarantees.intervals.of_metrics.test_two_class_enumeration import value_of
from tests.support.laws import is_missed, is_too_often

LAWS = {  # recall, false positive rate, share of positives
    "usual": (0.8, 0.1, 0.3), "rare": (0.7, 0.02, 0.02), "all found": (0.99, 0.05, 0.05),
    "by chance": (0.55, 0.45, 0.2),
}  # fmt: skip
METRICS = {
    "accuracy": "accuracy", "f1": "f_beta", "precision": "precision",
    "matthews_corrcoef": "matthews_corrcoef",
}  # fmt: skip
POSITIVES, NEGATIVES, ROWS, DELTA = 30, 50, 150, 0.05
at_mix, of_population = (lru_cache(None)(each) for each in (two_class_interval, population_table_interval))


def truth_of(metric, law):
    a, b, share = LAWS[law]
    return float(value_of(METRICS[metric], share, np.float64(a), np.float64(b)))


def misses(metric, law, class_mix, samples, *, naive=False):
    """Return how often the interval of a table misses the metric of the population."""
    rng, (a, b, share) = np.random.default_rng(0), LAWS[law]
    missed, truth, name = 0, truth_of(metric, law), METRICS[metric]
    for _ in range(samples):
        positives = POSITIVES if class_mix == "declared" else int(rng.binomial(ROWS, share))
        negatives = (POSITIVES + NEGATIVES if class_mix == "declared" else ROWS) - positives
        hits, errors = int(rng.binomial(positives, a)), int(rng.binomial(negatives, b))
        table = hits, positives, errors, negatives
        if class_mix == "priced" and not naive:
            ends = of_population(name, *table, math.log(DELTA), expected=(0.75, 0.1, 0.25))
        elif min(positives, negatives) == 0:
            ends = -1.0, 1.0
        else:
            ends = at_mix(name, *table, math.log(DELTA), share=None if naive else share)
        missed += is_missed(ends, truth)
    return missed


QUICK = [("f1", "rare", "declared"), ("precision", "usual", "priced"), ("f1", "by chance", "priced")]
MANY = [(metric, law, mix) for metric in METRICS for law in LAWS for mix in ("declared", "priced")]


@pytest.mark.parametrize(("metric", "law", "class_mix"), [
    pytest.param(*each, marks=() if each in QUICK else pytest.mark.thorough) for each in MANY
])  # fmt: skip
def test_the_population_itself_is_missed_as_seldom_as_is_promised(metric, law, class_mix):
    assert not is_too_often(misses(metric, law, class_mix, 2000), 2000, DELTA)


@pytest.mark.parametrize("class_mix", ["declared", "priced"])
@pytest.mark.parametrize("metric", ["f1", "precision"])
def test_the_class_mix_of_the_holdout_is_another_target(metric, class_mix):
    law = "rare" if class_mix == "declared" else "all found"
    assert is_too_often(misses(metric, law, class_mix, 500, naive=True), 500, DELTA)


class ReadsAColumn(ClassifierMixin, BaseEstimator):
    """A model whose predictions stand in the first column."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


def drawn(rng, y, law):
    a, b, _ = LAWS[law]
    predicted = rng.random(len(y)) < np.where(y == 1, a, b)
    return np.column_stack((predicted, rng.random(len(y))))


@pytest.mark.thorough
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("class_mix", ["declared", "priced"])
def test_a_holdout_misses_the_population_as_seldom(metric, class_mix, tmp_path):
    rng, missed, (_, _, share) = np.random.default_rng(0), 0, LAWS["usual"]
    for number in range(50):
        y = np.repeat((0, 1), (NEGATIVES, POSITIVES))
        if class_mix == "priced":
            y = rng.binomial(1, share, ROWS)
        X, model = drawn(rng, y, "usual"), ReadsAColumn().fit(None, None)
        mix = {0: 1.0 - share, 1: share} if class_mix == "declared" else "priced"
        holdout = Holdout(X, y, class_mix=mix, ledger=tmp_path / f"{number}.db", confidence_level=0.7)
        guess = rng.binomial(1, 0.5, 100)
        answer = holdout.certify(model, scoring=metric, guess_from=(drawn(rng, guess, "usual"), guess))
        missed += is_missed(answer.interval, truth_of(metric, "usual"))
    assert not is_too_often(missed, 50, 0.3)


class ReadsOneOfMany(ReadsAColumn):
    """A model whose predictions stand in one of the columns."""

    def __init__(self, column=0):
        self.column = column

    def predict(self, X):
        return np.asarray(X)[:, self.column].astype(int)


@pytest.mark.thorough
def test_the_winner_of_many_checks_is_certified_at_the_declared_mix(tmp_path):
    """Of models that are all alike the best on the holdout is published: taken by itself, it is too good."""
    samples, models, mix = 40, 25, {0: 0.95, 1: 0.05}
    (recall, error), y = (0.6, 0.3), np.repeat((0, 1), 60)
    truth, missed, naive = 0.95 * (1.0 - error) + 0.05 * recall, 0, 0
    for number in range(samples):
        rng = np.random.default_rng(number)
        X = (rng.random((120, models)) < np.where(y, recall, error)[:, None]).astype(int)
        path = tmp_path / f"{number}.db"
        holdout = Holdout(X, y, class_mix=mix, ledger=path, answers="exact", random_state=number)
        asked = [ReadsOneOfMany(column).fit(None, None) for column in range(models)]
        answers = [holdout.check(model, scoring="accuracy", guess=truth) for model in asked]
        best = int(np.argmax([answer.value for answer in answers]))
        answers.append(holdout.publish(asked[best], scoring="accuracy", guess=truth))
        missed += any(is_missed(answer.interval, truth) for answer in answers)
        values = 0.95 * (1.0 - X[:60].mean(axis=0)) + 0.05 * X[60:].mean(axis=0)
        best = int(np.argmax(values))
        table = int(X[60:, best].sum()), 60, int(X[:60, best].sum()), 60
        naive += is_missed(at_mix("accuracy", *table, math.log(DELTA), share=0.05), truth)
    assert not is_too_often(missed, samples, DELTA)
    assert is_too_often(naive, samples, DELTA)
