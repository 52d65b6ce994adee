"""Chunks, memory, bad input, names and the loop."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, get_scorer, matthews_corrcoef, roc_auc_score

from sklearn_ada.metrics import Metric, blocks
from sklearn_ada.metrics.blocks import BLOCK_SCORERS, block_scores, loop_scores

N_BLOCKS, SIZE, CLASSES = 60, 40, np.arange(10)


def draw(name, rng, n, weighted=True):
    """Return (y_true, outputs, keywords) that suit a scorer."""
    weight = rng.exponential(size=n) if weighted and name != "neg_max_error" else None
    if Metric(name, kind="general").response.methods == ("predict_proba",):
        p = rng.dirichlet(np.ones(10), n)
        weight = None if "ovo" in name else weight
        return rng.integers(0, 10, n), p, {"labels": CLASSES, "sample_weight": weight}
    if name in ("roc_auc", "average_precision"):
        return rng.integers(0, 2, n), rng.random(n).round(2), {"labels": [0, 1], "sample_weight": weight}
    if name in ("precision", "recall", "f1", "jaccard"):
        return rng.integers(0, 2, n), rng.integers(0, 2, n), {"labels": [0, 1], "sample_weight": weight}
    if name in ("r2", "explained_variance") or name.startswith("neg_"):
        return rng.exponential(size=n), rng.exponential(size=n), {"sample_weight": weight}
    return rng.integers(0, 10, n), rng.integers(0, 10, n), {"labels": CLASSES, "sample_weight": weight}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sorted(BLOCK_SCORERS))
def test_result_is_independent_of_chunks(monkeypatch, name, weighted):
    y, outputs, keywords = draw(name, np.random.default_rng(1), N_BLOCKS * SIZE, weighted)
    results = []
    for chunk_bytes in (1, 2**17, 2**20, 2**40):
        monkeypatch.setattr(blocks, "CHUNK_BYTES", chunk_bytes)
        results.append(block_scores(name, y, outputs, N_BLOCKS, **keywords))
    for result in results[1:]:
        assert_array_equal(result, results[0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sorted(BLOCK_SCORERS))
def test_rows_in_a_given_order_are_those_rows(monkeypatch, name, weighted):
    rng = np.random.default_rng(5)
    n = N_BLOCKS * SIZE + 17
    y, outputs, keywords = draw(name, rng, n, weighted)
    order = rng.permutation(n)[: N_BLOCKS * SIZE]
    weight = keywords.pop("sample_weight")
    expected = block_scores(
        name, y[order], outputs[order], N_BLOCKS, **keywords,
        sample_weight=None if weight is None else weight[order],
    )  # fmt: skip
    for shape, dtype in (((-1,), np.int64), ((N_BLOCKS, SIZE), np.int32)):
        for chunk_bytes in (1, 2**17, 2**40):
            monkeypatch.setattr(blocks, "CHUNK_BYTES", chunk_bytes)
            taken = order.reshape(shape).astype(dtype)
            got = block_scores(name, y, outputs, N_BLOCKS, **keywords, sample_weight=weight, order=taken)
            assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["accuracy", "roc_auc"])
def test_memory_is_bounded(name):
    n = 10**6
    y, outputs, _ = draw(name, np.random.default_rng(2), n)
    tracemalloc.start()
    block_scores(name, y, outputs, 1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 6 * n


@pytest.mark.parametrize("name", sorted(BLOCK_SCORERS))
def test_response_methods_are_those_of_the_scorers(name):
    methods = Metric(name, kind="general").response.methods
    assert f"response_method={methods if len(methods) > 1 else methods[0]!r}" in repr(get_scorer(name))


def test_numbers_too_large_to_square_are_no_error():
    assert block_scores("neg_mean_squared_error", [0.0, 1.0], [1e200, 1.0], 2).tolist() == [-np.inf, 0.0]


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("f1", {"labels": [0, 1, 2]}, "'labels' parameter of block_scores must be two classes"),
        ("f1_macro", {"labels": ["a", "b"]}, "must be labels like the others"),
        ("roc_auc", {"labels": ["a", "b"]}, "must be labels like the others"),
        ("neg_log_loss", {"outputs": np.full((6, 3), 1 / 3)}, "one probability for each of 2 classes"),
        ("neg_log_loss", {"y_true": np.zeros(6), "outputs": np.full((6, 2), 0.5)}, "Pass labels=estimator"),
        (
            "roc_auc_ovr",
            {"outputs": np.full((6, 3), 0.5), "labels": [0, 1, 2]},
            "probabilities that sum to 1",
        ),
    ],
)
def test_bad_input(name, changes, message):
    arguments = {"y_true": [0, 1] * 3, "outputs": [0, 1] * 3, "n_blocks": 3, **changes}
    with pytest.raises(ValueError, match=message):
        block_scores(name, **arguments)


def test_loop_scores():
    rng = np.random.default_rng(4)
    y, outputs = rng.integers(0, 3, (2, 60))
    order = np.arange(60).reshape(6, 10)
    got = loop_scores(lambda rows: matthews_corrcoef(y[rows], outputs[rows]), order)
    expected = [
        matthews_corrcoef(a, b) for a, b in zip(y.reshape(6, 10), outputs.reshape(6, 10), strict=True)
    ]
    assert_allclose(got, expected)
    weight = rng.exponential(size=60)
    assert_allclose(
        loop_scores(lambda rows: accuracy_score(y[rows], outputs[rows], sample_weight=weight[rows]), order),
        block_scores("accuracy", y, outputs, 6, sample_weight=weight),
    )


def test_loop_is_undefined_where_the_metric_is():
    y, p = np.array([0, 1, 2, 0, 0, 1]), np.array([[0.2, 0.3, 0.5]] * 6)
    order = np.arange(6).reshape(2, 3)

    def area(rows):
        return roc_auc_score(y[rows], p[rows], multi_class="ovr")

    assert np.isnan(loop_scores(area, order)).tolist() == [False, True]

    def broken(rows):
        raise TypeError("a mistake, not an undefined value")

    with pytest.raises(TypeError, match="a mistake"):
        loop_scores(broken, order)
