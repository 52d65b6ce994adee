"""Metrics of predicted labels equal scikit-learn's scorers on every block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_ada.metrics.blocks import BLOCK_SCORERS, block_scores

RATIOS = ("precision", "recall", "f1", "jaccard")
BINARY = sorted(RATIOS)
ALL_CLASSES = sorted(name for name in BLOCK_SCORERS if name.startswith(RATIOS))
ALL_CLASSES = ["accuracy", "balanced_accuracy", *(name for name in ALL_CLASSES if name not in BINARY)]

LABEL_SETS = {
    "01": np.array([0, 1]),
    "pm": np.array([-1, 1]),
    "bool": np.array([False, True]),
    "gaps": np.array([2, 5, 11]),
    "many": np.arange(12),
    "text": np.array(["bee", "fly", "wasp"]),
    "object": np.array(["bee", "fly", "wasp"], dtype=object),
    "floats": np.array([0.0, 1.0, 2.0]),
}

shapes = st.tuples(st.integers(1, 5), st.integers(1, 12))
seeds = st.integers(0, 2**32 - 1)
weightings = st.sampled_from(["none", "floats", "float32", "integers with zeros"])


def draw_weight(rng, n, weighting):
    if weighting == "none":
        return None
    if weighting == "integers with zeros":
        return rng.integers(0, 3, n)
    return rng.exponential(size=n).astype("float32" if weighting == "float32" else "float64")


def draw_labels(rng, labels, n):
    """Draw labels with one rare class and a chance that predictions are constant."""
    shares = np.ones(len(labels))
    shares[0] = 0.05
    y = rng.choice(labels, n, p=shares / shares.sum())
    predicted = np.where(rng.random(n) < 0.6, y, rng.choice(labels, n))
    if rng.random() < 0.2:
        predicted[:] = rng.choice(labels)
    return y, predicted


@pytest.mark.parametrize("name", ALL_CLASSES)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(shape=shapes, kind=st.sampled_from(sorted(LABEL_SETS)), weighting=weightings, seed=seeds)
def test_averages_equal_scorer(oracle, name, shape, kind, weighting, seed):
    rng = np.random.default_rng(seed)
    n_blocks, size = shape
    labels = LABEL_SETS[kind]
    y, predicted = draw_labels(rng, labels, n_blocks * size)
    weight = draw_weight(rng, len(y), weighting)
    expected = oracle(name, y, predicted, n_blocks, labels=labels, sample_weight=weight)
    for known in (labels, None, labels[1:]):
        got = block_scores(name, y, predicted, n_blocks, labels=known, sample_weight=weight)
        assert_allclose(got, expected, rtol=1e-6 if weighting == "float32" else 1e-12, atol=1e-14)


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    shape=shapes,
    kind=st.sampled_from(["01", "pm", "bool"]),
    weighting=weightings,
    given=st.booleans(),
    seed=seeds,
)
def test_binary_equals_scorer(oracle, name, shape, kind, weighting, given, seed):
    rng = np.random.default_rng(seed)
    n_blocks, size = shape
    labels = LABEL_SETS[kind]
    y, predicted = draw_labels(rng, labels, n_blocks * size)
    weight = draw_weight(rng, len(y), weighting)
    expected = oracle(name, y, predicted, n_blocks, labels=labels, sample_weight=weight)
    got = block_scores(name, y, predicted, n_blocks, labels=labels if given else None, sample_weight=weight)
    assert_allclose(got, expected, rtol=1e-6 if weighting == "float32" else 1e-12, atol=1e-14)


@pytest.mark.parametrize("name", BINARY)
def test_positive_class_may_be_any_label(oracle, name):
    rng = np.random.default_rng(3)
    y, predicted = draw_labels(rng, np.array([0, 1]), 60)
    expected = oracle(name, 1 - y, 1 - predicted, 6, labels=np.array([0, 1]))
    text = np.array(["no", "yes"])
    assert_allclose(block_scores(name, y, predicted, 6, pos_label=0), expected)
    assert_allclose(block_scores(name, text[y], text[predicted], 6, pos_label="no"), expected)
    with pytest.raises(ValueError, match=r"'pos_label' parameter .* must be one of .* Got 1 instead"):
        block_scores(name, text[y], text[predicted], 6)


@pytest.mark.parametrize("name", BINARY)
def test_unknown_class_leaves_binary_metric_undefined(oracle, name):
    y = np.array([0, 1, 1, 2, 0, 1])
    predicted = np.array([0, 1, 0, 1, 0, 1])
    got = block_scores(name, y, predicted, 3, labels=[0, 1])
    assert_allclose(got, oracle(name, y, predicted, 3, labels=np.array([0, 1])))
    assert np.isnan(got).tolist() == [False, True, False]


@pytest.mark.parametrize("name", sorted({*ALL_CLASSES, *BINARY}))
def test_block_without_weight_is_undefined(name):
    got = block_scores(name, [0, 1, 0, 1], [0, 1, 1, 1], 2, sample_weight=[0.0, 0.0, 1.0, 2.0])
    assert np.isnan(got).tolist() == [True, False]
