"""Regression metrics equal scikit-learn's scorers on every block."""

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_ada.metrics.blocks import BLOCK_SCORERS, block_scores

NOT_REGRESSION = ("log_loss", "brier_score")
LOSSES = (name for name in BLOCK_SCORERS if name.startswith("neg_") and not name.endswith(NOT_REGRESSION))
REGRESSION = ["r2", "explained_variance", *sorted(LOSSES)]
# The weighted median of older versions is the lower one.
LOWER_MEDIAN = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 7)

shapes = st.tuples(st.integers(1, 5), st.integers(1, 15))
seeds = st.integers(0, 2**32 - 1)


def split_rows(shape):
    return np.arange(shape[0] * shape[1]).reshape(shape)


def varies_enough(y, predicted, weight):
    """Return whether no variance is 0 but for the rounding of the weighted mean."""
    y, error = y[weight > 0], (y - predicted)[weight > 0]
    return len(np.unique(y)) != 1 and (len(np.unique(error)) != 1 or not error.any())


def test_names():
    assert len(REGRESSION) == 10


@pytest.mark.parametrize("name", REGRESSION)
@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    shape=shapes,
    kind=st.sampled_from(["floats", "float32", "counts", "constant", "exact", "ties"]),
    weighting=st.sampled_from(["none", "floats", "zeros", "integers"]),
    seed=seeds,
)
def test_equals_scorer(oracle, name, shape, kind, weighting, seed):
    rng = np.random.default_rng(seed)
    n = shape[0] * shape[1]
    y = rng.exponential(size=n) - 0.5 * (rng.random() < 0.3) - 2.0 * (rng.random() < 0.1)
    predicted = y + 0.3 * rng.normal(size=n)
    if kind == "counts":
        y = rng.poisson(2, n)
    elif kind == "ties":
        y, predicted = y.round(), predicted.round()
    elif kind == "constant":
        y = np.repeat(rng.integers(0, 4, shape[0]) / 4, shape[1])
        predicted = np.full(n, 0.25)
    elif kind == "exact":
        predicted = y.copy()
    elif kind == "float32":
        y, predicted = y.astype(np.float32), predicted.astype(np.float32)
    weight = None if weighting == "none" else rng.exponential(size=n)
    if weighting == "zeros":
        weight = weight * (rng.random(n) < 0.7)
    elif weighting == "integers":  # halves of the total are hit exactly
        weight = rng.integers(0, 3, n)
    if name == "neg_max_error" or (name == "neg_median_absolute_error" and LOWER_MEDIAN):
        weight = None
    got = block_scores(name, y, predicted, shape[0], sample_weight=weight)
    expected = oracle(name, y, predicted, shape[0], sample_weight=weight)
    if name in ("r2", "explained_variance") and weight is not None:
        varies = [varies_enough(y[rows], predicted[rows], weight[rows]) for rows in split_rows(shape)]
        got, expected = got[varies], expected[varies]
    if kind == "float32":
        assert_allclose(got, expected, rtol=2e-5, atol=1e-6)
    else:
        assert_allclose(got, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", ["r2", "explained_variance"])
def test_constant_target(oracle, name):
    y = np.full(300, 0.1)  # its mean is not exact in floating point, but summed as scikit-learn does
    predicted = np.concatenate([y[:100], y[:100] + 1, y[:99], [0.2]])
    assert_allclose(block_scores(name, y, predicted, 3), oracle(name, y, predicted, 3))


def test_one_row_has_no_r2():
    assert np.isnan(block_scores("r2", [1.0, 2.0], [1.0, 2.0], 2)).all()


def test_maximum_has_no_weights():
    with pytest.raises(ValueError, match="must be None for 'neg_max_error'"):
        block_scores("neg_max_error", [1.0, 2.0], [1.0, 2.0], 2, sample_weight=[1.0, 1.0])
