"""Bentkus's interval: reference numbers of the AUC, brute force, and never wider than Chernoff's."""

import math

import numpy as np
import pytest
from scipy import stats

from sklearn_ada.guarantees import bentkus, chernoff_kl
from tests.support.rows import reference

AUCS = reference("auc_bentkus")
DELTAS = [0.5, 0.05, 1e-6, 1e-40]


@pytest.mark.parametrize("row", AUCS, ids=lambda r: f"{r['n_pos']}-{r['auc_hat']}-{r['delta_two_sided']}")
def test_reference_numbers_of_the_auc_are_met(row):
    n, value = min(int(row["n_pos"]), int(row["n_neg"])), float(row["auc_hat"])
    low, high = bentkus(value, value, n, math.log(float(row["delta_two_sided"])))
    assert low == pytest.approx(float(row["min_lower"]), abs=1e-8)
    assert high == pytest.approx(float(row["min_upper"]), abs=1e-8)


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
