"""Log loss and Brier score equal scikit-learn's scorers, and its metrics where a class is missing."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import brier_score_loss, log_loss

from sklearn_ada.metrics.blocks import block_scores

BINARY = np.array([0, 1])
TEXT = np.array(["bee", "fly", "wasp"])
METRICS = {"neg_log_loss": log_loss, "neg_brier_score": brier_score_loss}
MULTICLASS = ["neg_log_loss"]
if "labels" in inspect.signature(brier_score_loss).parameters:  # scikit-learn >= 1.7
    MULTICLASS.append("neg_brier_score")

shapes = st.tuples(st.integers(1, 5), st.integers(1, 15))
seeds = st.integers(0, 2**32 - 1)


def draw_probabilities(rng, n, n_classes, dtype):
    """Draw rows of probabilities, some of them 0 and 1, some tied."""
    p = rng.dirichlet(np.full(n_classes, 0.3), n).round(rng.integers(1, 6))
    p[:, -1] = 1 - p[:, :-1].sum(axis=1)
    p = np.abs(p).astype(dtype)
    p[rng.random(n) < 0.1] = np.eye(n_classes)[0]
    return p


@pytest.mark.parametrize("name", sorted(METRICS))
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    shape=shapes,
    dtype=st.sampled_from(["float32", "float64"]),
    weighted=st.booleans(),
    order=st.booleans(),
    seed=seeds,
)
def test_two_classes(oracle, name, shape, dtype, weighted, order, seed):
    rng = np.random.default_rng(seed)
    n = shape[0] * shape[1]
    y = rng.integers(0, 2, n)
    p = np.asarray(draw_probabilities(rng, n, 2, dtype), order="F" if order else "C")
    weight = rng.exponential(size=n) if weighted else None
    got = block_scores(name, y, p, shape[0], labels=BINARY, sample_weight=weight)
    expected = oracle(name, y, p, shape[0], labels=BINARY, sample_weight=weight, method="predict_proba")
    tolerance = {"rtol": 1e-5 if dtype == "float32" else 1e-12, "atol": 1e-6 if dtype == "float32" else 1e-14}
    if name == "neg_log_loss":  # the scorer passes no labels, so that it needs both classes in the block
        both = np.ptp(y.reshape(shape), axis=1) > 0
        assert np.isnan(expected[~both]).all()
        assert_allclose(got[both], expected[both], **tolerance)
    else:
        assert_allclose(got, expected, **tolerance)
    assert_allclose(block_scores(name, y, p[:, 1], shape[0], labels=BINARY, sample_weight=weight), got)
    assert np.isfinite(got).all()


@pytest.mark.parametrize("name", MULTICLASS)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(shape=shapes, dtype=st.sampled_from(["float32", "float64"]), weighted=st.booleans(), seed=seeds)
def test_more_classes(oracle, name, shape, dtype, weighted, seed):
    rng = np.random.default_rng(seed)
    n = shape[0] * shape[1]
    y = rng.choice(TEXT, n, p=[0.1, 0.4, 0.5])
    p = draw_probabilities(rng, n, 3, dtype)
    weight = rng.exponential(size=n) if weighted else None
    got = block_scores(name, y, p, shape[0], labels=TEXT, sample_weight=weight)
    tolerance = {"rtol": 1e-5 if dtype == "float32" else 1e-12, "atol": 1e-6 if dtype == "float32" else 1e-14}
    for i, rows in enumerate(np.split(np.arange(n), shape[0])):
        weights = None if weight is None else weight[rows]
        expected = -METRICS[name](y[rows], p[rows], labels=TEXT, sample_weight=weights)
        assert_allclose(got[i], expected, **tolerance)
    by_scorer = oracle(name, y, p, shape[0], labels=TEXT, sample_weight=weight, method="predict_proba")
    complete = [len(np.unique(block)) == 3 for block in y.reshape(shape)]
    assert np.isfinite(by_scorer[complete]).all()
    assert_allclose(got[complete], by_scorer[complete], **tolerance)


@pytest.mark.parametrize("name", sorted(METRICS))
def test_undefined_blocks(name):
    y = np.array(["bee", "fly", "moth", "fly", "wasp", "bee"])
    p = np.full((6, 3), 1 / 3)
    got = block_scores(name, y, p, 3, labels=TEXT, sample_weight=[1, 1, 1, 1, 0, 0])
    assert np.isnan(got).tolist() == [False, True, True]
    got = block_scores(name, [0, 1, 2, 7, -1, 1], p, 3, labels=[0, 1, 2])
    assert np.isnan(got).tolist() == [False, True, True]


@pytest.mark.parametrize("name", sorted(METRICS))
def test_certain_errors_are_clipped(oracle, name):
    y = np.array([0, 1, 1, 0])
    for dtype in (np.float32, np.float64):
        p = np.eye(2, dtype=dtype)[1 - y]
        expected = oracle(name, y, p, 2, labels=BINARY, method="predict_proba")
        assert_allclose(block_scores(name, y, p, 2, labels=BINARY), expected, rtol=1e-6)
