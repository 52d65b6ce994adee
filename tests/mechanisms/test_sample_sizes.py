import csv
from pathlib import Path

import pytest

from sklearn_ada.mechanisms import (
    adaptive_median_sample_size,
    binary_search_sample_size,
    median_sample_size,
)

with open(Path(__file__).parents[1] / "reference" / "feldman_steinke.csv") as file:
    ROWS = list(csv.DictReader(file))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['k']}-{row['grid_size']}-{row['beta']}")
def test_feldman_steinke_is_met(row):
    k, size, beta = int(row["k"]), int(row["grid_size"]), float(row["beta"])
    assert adaptive_median_sample_size(k, size, beta) == int(row["m_theorem_4_3_failure_beta"])
    assert adaptive_median_sample_size(k, size, 2 * beta) == int(row["m_theorem_4_3_failure_2beta"])
    exponential = median_sample_size(size, epsilon=0.1, alpha=0.25, beta=beta)
    assert exponential == int(row["m_theorem_3_1_eps0.1_alpha0.25"])
    search = binary_search_sample_size(size, epsilon=0.1, delta=1e-6, alpha=0.25, beta=beta)
    assert search == int(row["m_corollary_3_3_eps0.1_alpha0.25_delta1e-6"])
