"""Matthews' correlation: the monotonicity and inequalities of the proofs, values, and exact misses."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.metrics import matthews_corrcoef

from sklearn_ada.guarantees import clopper_pearson, mcc_interval
from sklearn_ada.guarantees.class_tables import binary_mcc
from tests.guarantees.intervals.of_metrics.test_f_beta_kappa_jaccard import rows_of

INSIDE = st.floats(0.001, 0.999)


@given(INSIDE, INSIDE, INSIDE, INSIDE)
def test_it_rises_in_the_recall_and_falls_in_the_false_rate(share, x, more, y):
    low, high = sorted((x, more))
    assert binary_mcc(share, low, y) <= binary_mcc(share, high, y) + 1e-12
    assert binary_mcc(share, y, low) >= binary_mcc(share, y, high) - 1e-12


LAW = st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4).map(lambda x: np.array(x) / sum(x))


@given(LAW, LAW)
def test_the_tangent_and_its_slack_are_bounds_of_the_spread_of_predictions(p, q):
    rest, norm, distance = 1 - q @ q, math.sqrt(q @ q), float(np.linalg.norm(p - q))
    tangent, spread = (1 - q @ p) / math.sqrt(rest), math.sqrt(1 - p @ p)
    assert spread <= tangent + 1e-12
    least = (rest - norm * distance) / math.sqrt(rest)
    assume(least > 0 and least**2 > distance**2 / rest)
    assert spread >= tangent - (least - math.sqrt(least**2 - distance**2 / rest)) - 1e-12


def test_the_slack_is_needed():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    assert math.sqrt(1 - p @ p) < (1 - q @ p) / math.sqrt(1 - q @ q) - 0.01


TABLES = [
    [[80, 20], [10, 890]],
    [[3, 30], [25, 8]],
    [[50, 5, 5], [6, 40, 4], [3, 7, 60]],
    [[5, 50, 5], [6, 4, 40], [60, 7, 3]],
    [[30, 20, 22], [25, 21, 24], [18, 27, 25]],
]


@pytest.mark.parametrize("seen", TABLES, ids=str)
def test_the_interval_is_around_scikit_learns_value(seen):
    value = matthews_corrcoef(*rows_of(seen))
    low, high = mcc_interval(seen, math.log(0.05), expected=seen)
    assert -1.0 <= low < value < high <= 1.0
    assert high - low < 1.2
    mirrored = np.asarray(seen)[:, ::-1] if len(seen) == 2 else None
    if mirrored is not None:
        assert mcc_interval(mirrored, math.log(0.05), expected=mirrored) == pytest.approx(
            (-high, -low), abs=1e-5
        )


@pytest.mark.parametrize("seen", [[[450, 50], [50, 450]], [[85, 15], [135, 765]]], ids=str)
def test_it_is_narrower_than_the_corners_of_two_intervals(seen):
    ends = [clopper_pearson(row[0], row[0], sum(row), math.log(0.025)) for row in seen]
    share = sum(seen[0]) / np.sum(seen)
    corners = binary_mcc(share, ends[0][1], ends[1][0]) - binary_mcc(share, ends[0][0], ends[1][1])
    low, high = mcc_interval(seen, math.log(0.05), expected=seen)
    assert high - low < 0.99 * corners


def exact_misses(sizes, rates, ln_delta, expected):
    """Return the exact chances that the interval is above and below the coefficient of two classes."""
    value = binary_mcc(sizes[0] / sum(sizes), *rates)
    laws = [binom.pmf(np.arange(n + 1), n, r) for n, r in zip(sizes, rates, strict=True)]
    above = below = 0.0
    for a, b in np.ndindex(sizes[0] + 1, sizes[1] + 1):
        if laws[0][a] * laws[1][b] < 1e-6:
            continue
        low, high = mcc_interval([[a, sizes[0] - a], [b, sizes[1] - b]], ln_delta, expected=expected)
        above += laws[0][a] * laws[1][b] * (low > value)
        below += laws[0][a] * laws[1][b] * (high < value)
    return above, below


@pytest.mark.parametrize(
    ("sizes", "rates"),
    [
        pytest.param((4, 8), (0.75, 0.1), marks=pytest.mark.thorough),
        pytest.param((2, 10), (0.98, 0.02), marks=pytest.mark.thorough),
        pytest.param((6, 6), (0.3, 0.4), marks=pytest.mark.thorough),
    ],
    ids=str,
)
def test_no_side_misses_more_than_its_half_whatever_is_foreseen(sizes, rates):
    for expected in ([[9, 1], [1, 9]], [[1, 0], [50, 0]]):
        assert max(exact_misses(sizes, rates, math.log(0.36), expected)) <= 0.18 + 1e-5


def test_degenerate_matrices_give_intervals():
    for seen in ([[5, 0], [0, 0]], [[0, 5], [0, 5]], [[9, 0, 0], [9, 0, 0], [0, 0, 0]], 3 * np.eye(3)):
        for expected in (np.ones_like(seen), np.eye(len(seen)), np.eye(len(seen))[:, [0] * len(seen)]):
            low, high = mcc_interval(seen, -3.0, expected=expected)
            assert -1.0 <= low <= high <= 1.0
            assert low <= 0.0 or np.asarray(seen).trace() == 9.0
