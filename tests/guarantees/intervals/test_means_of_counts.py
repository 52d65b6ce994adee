"""Recall, balanced accuracy, AUC and weighted means: reference numbers, and never wider than before."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sklearn_ada.guarantees.intervals.bentkus import bentkus
from sklearn_ada.guarantees.intervals.chernoff import chernoff_kl
from sklearn_ada.guarantees.intervals.class_means import class_mean_interval, counts_are_narrower
from sklearn_ada.guarantees.intervals.effective_size import bounded_weight_size, class_mean_size
from sklearn_ada.guarantees.intervals.hoeffding import hoeffding
from sklearn_ada.guarantees.intervals.weighted import bounded_weights_kl, fixed_shares_kl

REFERENCE = Path(__file__).parents[2] / "reference"
CLASSES = list(csv.DictReader((REFERENCE / "recall_balanced.csv").open()))
AUCS = list(csv.DictReader((REFERENCE / "auc_bentkus.csv").open()))
DELTAS = [0.5, 0.05, 1e-6, 1e-40]


@pytest.mark.parametrize("row", CLASSES, ids=lambda r: f"{r['case']}-{r['delta']}")
def test_reference_numbers_of_classes_are_met(row):
    rows, hits = ([int(n) for n in row[f"{name}_per_class"].split()] for name in ("rows", "hits"))
    ln_delta = math.log(float(row["delta"]))
    first = class_mean_interval(hits[:1], rows[:1], ln_delta)
    assert first[0] == pytest.approx(float(row["recall_first_class_lower"]), abs=1e-9)
    assert first[1] == pytest.approx(float(row["recall_first_class_upper"]), abs=1e-9)
    low, high = class_mean_interval(hits, rows, ln_delta)
    assert low == pytest.approx(float(row["balanced_lower_cp"]), abs=1e-9)
    assert high == pytest.approx(float(row["balanced_upper_cp"]), abs=1e-9)
    value = float(row["balanced_accuracy"])
    low, high = hoeffding(value, value, class_mean_size(tuple(rows)), ln_delta)
    assert low == pytest.approx(float(row["balanced_lower_hoeffding"]), abs=1e-9)
    assert high == pytest.approx(float(row["balanced_upper_hoeffding"]), abs=1e-9)


@pytest.mark.parametrize("row", AUCS, ids=lambda r: f"{r['n_pos']}-{r['auc_hat']}-{r['delta_two_sided']}")
def test_reference_numbers_of_the_auc_are_met(row):
    n, value = min(int(row["n_pos"]), int(row["n_neg"])), float(row["auc_hat"])
    low, high = bentkus(value, value, n, math.log(float(row["delta_two_sided"])))
    assert low == pytest.approx(float(row["min_lower"]), abs=1e-8)
    assert high == pytest.approx(float(row["min_upper"]), abs=1e-8)


def test_hoeffding_stays_where_classes_are_many_and_small():
    assert counts_are_narrower([0.9] * 3, [100, 200, 300], math.log(0.05))
    assert not counts_are_narrower([0.5] * 50, [20] * 50, math.log(0.05))


@pytest.mark.parametrize("hits", [[], [1, 2], [5]])
def test_bad_counts_are_named(hits):
    with pytest.raises(ValueError, match="must be"):
        class_mean_interval(hits, [4], math.log(0.05))


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("n", [1, 2, 20, 1000])
def test_bentkus_is_within_chernoff_and_holds_the_binomial_tail(n, delta):
    for value in np.unique(np.r_[0.0, 1.0, 0.5, 0.9, 0.97, round(0.7 * n) / n]):
        low, high = bentkus(value, value, n, math.log(delta))
        outer = chernoff_kl(value, value, n, math.log(delta))
        assert outer[0] - 1e-12 <= low <= value <= high <= outer[1] + 1e-12
        if low > 0.0:  # a binomial count is such a sum, so its tail at the end must be within
            tail = stats.binom.sf(math.ceil(value * n - 1e-9) - 1, n, low)
            assert tail <= delta / 2 * (1 + 1e-6)


def test_bentkus_by_brute_force():
    n, total, p = 40, 33.3, 0.7
    counts = np.arange(n + 1)
    masses = stats.binom.pmf(counts, n, p)
    least = min((masses * np.maximum(counts - t, 0)).sum() / (total - t) for t in np.linspace(0, 33.2, 4000))
    low, _ = bentkus(total / n, total / n, n, math.log(2 * least))
    assert low == pytest.approx(p, abs=2e-4)


def test_bentkus_of_a_million_rows_is_found():
    low, high = bentkus(0.9, 0.9, 1_000_000, math.log(0.05))
    assert 0.8992 < low < 0.9 < high < 0.9008


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("value", [0.0, 0.02, 0.5, 0.98, 1.0])
def test_weighted_means_are_within_hoeffding(value, delta):
    n, ln_delta = 500, math.log(delta)
    outer = hoeffding(value, value, bounded_weight_size(n, 0.3, 1.0), ln_delta)
    low, high = bounded_weights_kl(value, value, n, 0.3, 1.0, ln_delta)
    assert outer[0] - 1e-9 <= low <= value <= high <= outer[1] + 1e-9
    plain = chernoff_kl(value, value, n, ln_delta)
    assert bounded_weights_kl(value, value, n, 1.0, 1.0, ln_delta) == pytest.approx(plain, abs=1e-9)
    assert fixed_shares_kl(value, value, n, 1 / n, ln_delta) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("likely", [0.02, 0.5])
def test_weighted_means_cover_where_weights_go_with_the_scores(likely):
    """Rows that weigh 1 are scored 1 with probability ``likely``; half of them weigh .1 and are right."""
    rng, n, runs, delta = np.random.default_rng(3), 200, 2000, 0.36
    truth = (0.5 * likely + 0.05) / 0.55
    misses = wrong = 0
    for _ in range(runs):
        heavy = rng.random(n) < 0.5
        weight, x = np.where(heavy, 1.0, 0.1), np.where(heavy, rng.random(n) < likely, 1.0)
        value, mean = float(weight @ x / weight.sum()), float(weight.mean())
        low, high = bounded_weights_kl(value, value, n, mean, 1.0, math.log(delta))
        misses += not low <= truth <= high
        low, high = chernoff_kl(value, value, 20.0 * n, math.log(delta))
        wrong += not low <= truth <= high
    assert stats.binomtest(misses, runs, delta, alternative="greater").pvalue >= 1e-6
    assert stats.binomtest(wrong, runs, delta, alternative="greater").pvalue < 1e-6
