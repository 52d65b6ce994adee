"""Numbers computed independently: every column of the reference tables."""

import math

import pytest

from sklearn_ada.guarantees import (
    feldman_steinke_2017_corollary_3_3,
    feldman_steinke_2017_theorem_3_1,
    feldman_steinke_2017_theorem_4_3,
    gaussian_direct,
    gaussian_jung,
    gaussian_rogers,
    nonadaptive_half_width,
    rounding_half_width,
    sample_splitting_half_width,
    stable_median_plan,
)
from tests.support.rows import reference

LN_BETA = math.log(0.05)


@pytest.mark.parametrize("row", reference("half_widths"), ids=lambda r: f"{r['n']}-{r['k']}")
class TestHalfWidths:
    def test_closed_forms(self, row):
        n, k = int(row["n"]), int(row["k"])
        assert nonadaptive_half_width(n, k, LN_BETA) == pytest.approx(float(row["nonadaptive"]), rel=3e-5)
        splitting = sample_splitting_half_width(n, k, LN_BETA)
        assert splitting == pytest.approx(float(row["sample_splitting"]), rel=3e-5)

    def test_rounding_is_never_wider_and_never_below_the_limit(self, row):
        n, k = int(row["n"]), int(row["k"])
        half_width = rounding_half_width(n, k, LN_BETA)
        assert nonadaptive_half_width(n, k, LN_BETA) <= half_width <= float(row["rounding"]) * (1 + 5e-5)
        if k >= 10 and (n, k) != (1_000_000, 10):  # the reference stops at 399 cells
            assert half_width == pytest.approx(float(row["rounding"]), rel=5e-5)

    def test_published_transfer_theorems(self, row):
        n, k = int(row["n"]), int(row["k"])
        assert gaussian_jung(n, k, LN_BETA).half_width == pytest.approx(float(row["gaussian_jung"]), rel=1e-4)
        assert gaussian_rogers(n, k, LN_BETA).half_width == pytest.approx(
            float(row["gaussian_rogers"]), rel=1e-4
        )

    def test_the_direct_bound_is_sharper_and_not_below_the_limit(self, row):
        n, k = int(row["n"]), int(row["k"])
        half_width = gaussian_direct(n, k, LN_BETA).half_width
        assert half_width < 0.47 * float(row["gaussian_jung"])
        assert half_width > float(row["nonadaptive"])


@pytest.mark.parametrize("row", reference("feldman_steinke"), ids=lambda r: "-".join(list(r.values())[:3]))
def test_feldman_steinke_sample_sizes(row):
    k, grid_size, beta = int(row["k"]), int(row["grid_size"]), float(row["beta"])
    for failure in ("beta", "2beta"):
        m = feldman_steinke_2017_theorem_4_3(k, grid_size, beta, failure=failure)
        assert m == int(row[f"m_theorem_4_3_failure_{failure}"])
    m = feldman_steinke_2017_theorem_3_1(grid_size, 0.1, 0.25, beta)
    assert m == int(row["m_theorem_3_1_eps0.1_alpha0.25"])
    m = feldman_steinke_2017_corollary_3_3(grid_size, 0.1, 1e-6, 0.25, beta)
    assert m == int(row["m_corollary_3_3_eps0.1_alpha0.25_delta1e-6"])


@pytest.mark.parametrize(
    ("k", "published", "direct"), [(10, 11_857, 1_712), (100, 42_345, 6_359), (1000, 147_717, 23_092)]
)
def test_subsamples_of_the_stable_median(k, published, direct):
    """Never more than the reference figure, and at most 1.5 % less (a joint instead of a nested search)."""
    m = stable_median_plan(k, 1000, LN_BETA, transfer="jung").n_subsamples
    assert 0.985 * published <= m <= published
    assert stable_median_plan(k, 1000, LN_BETA).n_subsamples == pytest.approx(direct, abs=2)


@pytest.mark.slow
def test_subsamples_of_the_stable_median_for_many_questions():
    assert 507_000 <= stable_median_plan(10_000, 1000, LN_BETA, transfer="jung").n_subsamples <= 515_278
    assert stable_median_plan(10_000, 1000, LN_BETA).n_subsamples == pytest.approx(82_463, abs=5)
