"""Areas under curves equal scikit-learn's scorers, ties and single classes included."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from sklearn_ada.metrics.blocks import block_scores

BINARY = np.array([0, 1])
LABELS = np.array(["bee", "fly", "moth", "wasp"])
OPTIONS = {
    "roc_auc_ovr": {"multi_class": "ovr"},
    "roc_auc_ovr_weighted": {"multi_class": "ovr", "average": "weighted"},
    "roc_auc_ovo": {"multi_class": "ovo"},
    "roc_auc_ovo_weighted": {"multi_class": "ovo", "average": "weighted"},
}

shapes = st.tuples(st.integers(1, 5), st.integers(1, 20))
seeds = st.integers(0, 2**32 - 1)
digits = st.sampled_from([0, 1, 2, 15])
weightings = st.sampled_from(["none", "floats", "zeros"])


def draw_weight(rng, n, weighting):
    if weighting == "none":
        return None
    weight = rng.exponential(size=n)
    return weight * (rng.random(n) < 0.6) if weighting == "zeros" else weight


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    shape=shapes,
    digits=digits,
    dtype=st.sampled_from(["float32", "float64"]),
    weighting=weightings,
    method=st.sampled_from(["decision_function", "predict_proba"]),
    seed=seeds,
)
def test_binary_equals_scorer(oracle, name, shape, digits, dtype, weighting, method, seed):
    rng = np.random.default_rng(seed)
    n = shape[0] * shape[1]
    y = (rng.random(n) < rng.choice([0.05, 0.5])).astype(int)
    score = rng.random(n).round(digits).astype(dtype)
    weight = draw_weight(rng, n, weighting)
    outputs = np.column_stack([1 - score, score]) if method == "predict_proba" else score
    expected = oracle(name, y, outputs, shape[0], labels=BINARY, sample_weight=weight, method=method)
    got = block_scores(name, y, score, shape[0], labels=BINARY, sample_weight=weight)
    assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_two_classes_by_matrix(oracle, name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    p = rng.dirichlet([1, 1], 60).round(1)
    weight = rng.exponential(size=60)
    expected = oracle(name, y, p, 6, labels=BINARY, sample_weight=weight, method="predict_proba")
    assert_allclose(block_scores(name, y, p, 6, labels=BINARY, sample_weight=weight), expected)


@pytest.mark.parametrize("name", sorted(OPTIONS))
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    shape=shapes,
    n_classes=st.integers(3, 4),
    digits=st.sampled_from([1, 15]),
    weighted=st.booleans(),
    seed=seeds,
)
def test_more_classes(oracle, name, shape, n_classes, digits, weighted, seed):
    rng = np.random.default_rng(seed)
    n = shape[0] * shape[1]
    labels = LABELS[:n_classes]
    y = rng.choice(labels, n)
    p = rng.dirichlet(np.ones(n_classes), n).round(digits)
    p[:, -1] = 1 - p[:, :-1].sum(axis=1)
    weight = rng.exponential(size=n) if weighted and "ovr" in name else None
    got = block_scores(name, y, p, shape[0], labels=labels, sample_weight=weight)

    expected = np.full(shape[0], np.nan)
    complete = np.zeros(shape[0], dtype=bool)
    for i, rows in enumerate(np.split(np.arange(n), shape[0])):
        complete[i] = len(np.unique(y[rows])) == n_classes
        weights = None if weight is None else weight[rows]
        if len(np.unique(y[rows])) > 1:  # of one class alone roc_auc_score has no value or an error
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected[i] = roc_auc_score(
                    y[rows], p[rows], labels=labels, sample_weight=weights, **OPTIONS[name]
                )
    assert_allclose(got, expected, rtol=1e-12, atol=1e-14)
    by_scorer = oracle(name, y, p, shape[0], labels=labels, sample_weight=weight, method="predict_proba")
    assert_allclose(got[complete], by_scorer[complete], rtol=1e-12, atol=1e-14)
    assert np.isfinite(got[complete]).all()


def test_constant_scores_rank_nothing():
    assert_allclose(block_scores("roc_auc", [0, 1, 1, 0], np.ones(4), 2), 0.5)
    assert_allclose(block_scores("average_precision", [0, 1, 1, 0], np.ones(4), 2), 0.5)


def test_positive_class():
    y = np.array(["no", "yes", "yes", "no"])
    score = np.array([0.1, 0.9, 0.2, 0.3])
    assert block_scores("roc_auc", y, score, 2).tolist() == [1.0, 0.0]
    assert block_scores("roc_auc", y, 1 - score, 2, pos_label="no").tolist() == [1.0, 0.0]
    assert block_scores("average_precision", y, score, 2, pos_label="yes").tolist() == [1.0, 0.5]
    with pytest.raises(ValueError, match="'pos_label' parameter of block_scores must be one of"):
        block_scores("average_precision", y, score, 2)


def test_unknown_class_is_undefined(oracle):
    y = np.array([0, 1, 2, 1, 0, 1])
    score = np.linspace(0, 1, 6)
    for name in ("roc_auc", "average_precision"):
        got = block_scores(name, y, score, 3, labels=BINARY)
        assert np.isnan(got).tolist() == [False, True, False]


def test_weights_have_no_one_vs_one_area():
    p = np.full((6, 3), 1 / 3)
    with pytest.raises(ValueError, match="'sample_weight' parameter of block_scores must be None"):
        block_scores("roc_auc_ovo", [0, 1, 2] * 2, p, 2, sample_weight=np.ones(6))
