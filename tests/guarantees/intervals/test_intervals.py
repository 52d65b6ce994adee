"""The intervals of a share beside each other: reference numbers, which is inside which, bad levels."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada.guarantees import chernoff_kl, clopper_pearson, hoeffding, hoeffding_half_width
from tests.support.rows import reference

ROWS = reference("intervals")


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['n']}-{r['successes']}-{r['ln_one_over_delta']}")
def test_reference_numbers_are_met(row):
    n, count, ln_delta = int(row["n"]), int(row["successes"]), -float(row["ln_one_over_delta"])
    got = {
        "clopper_pearson": clopper_pearson(count, count, n, ln_delta),
        "kl": chernoff_kl(count / n, count / n, n, ln_delta),
        "hoeffding": hoeffding(count / n, count / n, n, ln_delta),
    }
    for name, (low, high) in got.items():
        assert low == pytest.approx(float(row[f"{name}_low"]), abs=2e-8)
        assert high == pytest.approx(float(row[f"{name}_high"]), abs=2e-8)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(0.1, 2000))
def test_exact_is_inside_chernoff_inside_hoeffding(n, share, nats):
    count = round(share * n)
    exact = clopper_pearson(count, count, n, -nats)
    chernoff = chernoff_kl(count / n, count / n, n, -nats)
    plain = hoeffding(count / n, count / n, n, -nats)
    assert plain[0] - 1e-11 <= chernoff[0] <= exact[0] + 1e-11
    assert exact[1] - 1e-11 <= chernoff[1] <= plain[1] + 1e-11
    assert exact[0] <= count / n <= exact[1]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 0.1, None, "x", True])
def test_a_bad_failure_probability_is_refused(bad):
    for call in (
        lambda: clopper_pearson(1, 1, 2, bad),
        lambda: chernoff_kl(0.5, 0.5, 2, bad),
        lambda: hoeffding(0.5, 0.5, 2, bad),
        lambda: hoeffding_half_width(2, bad),
    ):
        with pytest.raises(ValueError, match="must be a finite number"):
            call()
