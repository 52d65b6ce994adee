"""A metric of many blocks at once has scikit-learn's value on every block."""

import inspect
import tracemalloc
import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import brier_score_loss, get_scorer, log_loss, roc_auc_score

from sklearn_ada.metrics import Metric, blocks
from sklearn_ada.metrics.blocks import BLOCK_SCORERS, block_scores
from tests.support.models import stored

TWO, TEXT = np.array([0, 1]), np.array(["bee", "fly", "moth", "wasp"])
OF_ONE_CLASS = ["f1", "jaccard", "precision", "recall"]
AVERAGED = [name for name in BLOCK_SCORERS if name.startswith(tuple(OF_ONE_CLASS)) and "_" in name]
OF_LABELS = ["accuracy", "balanced_accuracy", *sorted(AVERAGED)]
PROBABILISTIC = {"neg_log_loss": log_loss, "neg_brier_score": brier_score_loss}
OF_SEVERAL = ["neg_log_loss"]  # classes; the Brier score from scikit-learn 1.7 on
OF_SEVERAL += ["neg_brier_score"] * ("labels" in inspect.signature(brier_score_loss).parameters)
AREAS = {
    "roc_auc_ovr": {"multi_class": "ovr"},
    "roc_auc_ovr_weighted": {"multi_class": "ovr", "average": "weighted"},
    "roc_auc_ovo": {"multi_class": "ovo"},
    "roc_auc_ovo_weighted": {"multi_class": "ovo", "average": "weighted"},
}
LOSSES = [name for name in BLOCK_SCORERS if name.startswith("neg_") and name not in PROBABILISTIC]
REGRESSION = ["r2", "explained_variance", *sorted(LOSSES)]
# The weighted median of older versions is the lower one.
LOWER_MEDIAN = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 7)
LABEL_SETS = {
    "01": TWO,
    "pm": np.array([-1, 1]),
    "bool": np.array([False, True]),
    "gaps": np.array([2, 5, 11]),
    "many": np.arange(12),
    "text": TEXT[:3],
    "object": TEXT[:3].astype(object),
    "floats": np.array([0.0, 1.0, 2.0]),
}
EXACTLY, SINGLE = {"rtol": 1e-12, "atol": 1e-14}, {"rtol": 1e-5, "atol": 1e-6}
FLOATS = st.sampled_from(["float32", "float64"])


def scorer_scores(name, y, outputs, n_blocks, *, labels=None, sample_weight=None, method="predict"):
    """Return the scorer's value on each block, NaN where it raises ValueError or its value is NaN.

    A block without weight is NaN, too: newer versions raise, older ones give 0 for some metrics.
    """
    model, scorer, scores = stored(outputs, labels, method), get_scorer(name), np.full(n_blocks, np.nan)
    for i, rows in enumerate(np.split(np.arange(len(y)), n_blocks)):
        weights = {} if sample_weight is None else {"sample_weight": sample_weight[rows]}
        if sample_weight is not None and not sample_weight[rows].any():
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                scores[i] = scorer(model, rows[:, None], y[rows], **weights)
            except ValueError:
                continue
    return scores


def many(examples, size, **drawn):
    """Run a test on drawn numbers of blocks and rows, with a generator."""
    shape = st.tuples(st.integers(1, 5), st.integers(1, size))
    rng = st.integers(0, 2**32 - 1).map(np.random.default_rng)

    def decorate(test):
        test = given(shape=shape, rng=rng, **drawn)(test)
        return settings(max_examples=examples, deadline=None, derandomize=True)(test)

    return decorate


def draw_weight(rng, n, weighting):
    if weighting == "integers":  # zeros among them, and halves of the total are hit exactly
        return rng.integers(0, 3, n)
    weight = rng.exponential(size=n) * (1 if weighting != "zeros" else rng.random(n) < 0.6)
    return None if weighting == "none" else weight.astype("float32" if weighting == "float32" else "float64")


def weightings(*kinds):
    return st.sampled_from(["none", "floats", *kinds])


def draw_labels(rng, labels, n):
    """Draw labels with one rare class and a chance that predictions are constant."""
    shares = np.ones(len(labels))
    shares[0] = 0.05
    y = rng.choice(labels, n, p=shares / shares.sum())
    predicted = np.where(rng.random(n) < 0.6, y, rng.choice(labels, n))
    if rng.random() < 0.2:
        predicted[:] = rng.choice(labels)
    return y, predicted


def draw_probabilities(rng, n, n_classes, dtype):
    """Draw rows of probabilities, some of them 0 and 1, some tied."""
    p = rng.dirichlet(np.full(n_classes, 0.3), n).round(rng.integers(1, 6))
    p[:, -1] = 1 - p[:, :-1].sum(axis=1)
    p = np.abs(p).astype(dtype)
    p[rng.random(n) < 0.1] = np.eye(n_classes)[0]
    return p


@pytest.mark.parametrize("name", [*OF_LABELS, *OF_ONE_CLASS])
@many(30, 12, kind=st.sampled_from(sorted(LABEL_SETS)), weighting=weightings("float32", "integers"))
def test_metrics_of_labels_are_scikit_learns_on_every_block(name, shape, kind, weighting, rng):
    labels = LABEL_SETS["pm" if name in OF_ONE_CLASS and len(LABEL_SETS[kind]) > 2 else kind]
    y, predicted = draw_labels(rng, labels, np.prod(shape))
    weight = draw_weight(rng, len(y), weighting)
    expected = scorer_scores(name, y, predicted, shape[0], labels=labels, sample_weight=weight)
    for given_labels in (labels, None, *([] if name in OF_ONE_CLASS else [labels[1:]])):
        got = block_scores(name, y, predicted, shape[0], labels=given_labels, sample_weight=weight)
        assert_allclose(got, expected, rtol=1e-6 if weighting == "float32" else 1e-12, atol=1e-14)


@pytest.mark.parametrize("name", sorted(PROBABILISTIC))
@many(60, 15, dtype=FLOATS, weighting=weightings(), order=st.sampled_from("FC"))
def test_metrics_of_probabilities_of_two_classes_are_scikit_learns(name, shape, dtype, weighting, order, rng):
    y = rng.integers(0, 2, np.prod(shape))
    p = np.asarray(draw_probabilities(rng, len(y), 2, dtype), order=order)
    given = {"labels": TWO, "sample_weight": draw_weight(rng, len(y), weighting)}
    got = block_scores(name, y, p, shape[0], **given)
    expected = scorer_scores(name, y, p, shape[0], **given, method="predict_proba")
    some = np.full(shape[0], True)
    if name == "neg_log_loss":  # the scorer passes no labels, so that it needs both classes in the block
        some = np.ptp(y.reshape(shape), axis=1) > 0
        assert np.isnan(expected[~some]).all()
    assert_allclose(got[some], expected[some], **(SINGLE if dtype == "float32" else EXACTLY))
    assert_allclose(block_scores(name, y, p[:, 1], shape[0], **given), got)
    assert np.isfinite(got).all()


@pytest.mark.parametrize("name", OF_SEVERAL)
@many(60, 15, dtype=FLOATS, weighting=weightings())
def test_metrics_of_probabilities_of_more_classes_are_scikit_learns(name, shape, dtype, weighting, rng):
    labels, tolerance = TEXT[:3], SINGLE if dtype == "float32" else EXACTLY
    y = rng.choice(labels, np.prod(shape), p=[0.1, 0.4, 0.5])
    p, weight = draw_probabilities(rng, len(y), 3, dtype), draw_weight(rng, len(y), weighting)
    got = block_scores(name, y, p, shape[0], labels=labels, sample_weight=weight)
    for i, rows in enumerate(np.split(np.arange(len(y)), shape[0])):
        weights = None if weight is None else weight[rows]
        expected = -PROBABILISTIC[name](y[rows], p[rows], labels=labels, sample_weight=weights)
        assert_allclose(got[i], expected, **tolerance)
    given = {"labels": labels, "sample_weight": weight, "method": "predict_proba"}
    by_scorer = scorer_scores(name, y, p, shape[0], **given)
    complete = [len(np.unique(block)) == 3 for block in y.reshape(shape)]
    assert np.isfinite(by_scorer[complete]).all()
    assert_allclose(got[complete], by_scorer[complete], **tolerance)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
@many(
    150, 20, digits=st.sampled_from([0, 1, 2, 15]), dtype=FLOATS, weighting=weightings("zeros"),
    method=st.sampled_from(["decision_function", "predict_proba"]),
)  # fmt: skip
def test_areas_under_curves_of_two_classes_equal_those_of_scikit_learn(
    name, shape, digits, dtype, weighting, method, rng
):
    n = np.prod(shape)
    y = (rng.random(n) < rng.choice([0.05, 0.5])).astype(int)
    score = rng.random(n).round(digits).astype(dtype)
    given = {"labels": TWO, "sample_weight": draw_weight(rng, n, weighting)}
    outputs = np.column_stack([1 - score, score]) if method == "predict_proba" else score
    expected = scorer_scores(name, y, outputs, shape[0], **given, method=method)
    assert_allclose(block_scores(name, y, score, shape[0], **given), expected, **EXACTLY)


@pytest.mark.parametrize("name", sorted(AREAS))
@many(60, 20, n_classes=st.integers(3, 4), digits=st.sampled_from([1, 15]), weighting=weightings())
def test_areas_under_curves_of_more_classes_equal_those_of_scikit_learn(
    name, shape, n_classes, digits, weighting, rng
):
    n, labels = np.prod(shape), TEXT[:n_classes]
    y = rng.choice(labels, n)
    p = rng.dirichlet(np.ones(n_classes), n).round(digits)
    p[:, -1] = 1 - p[:, :-1].sum(axis=1)
    weight = draw_weight(rng, n, weighting) if "ovr" in name else None
    got = block_scores(name, y, p, shape[0], labels=labels, sample_weight=weight)
    expected, complete = np.full(shape[0], np.nan), np.zeros(shape[0], dtype=bool)
    for i, rows in enumerate(np.split(np.arange(n), shape[0])):
        complete[i] = len(np.unique(y[rows])) == n_classes
        given = {"labels": labels, "sample_weight": None if weight is None else weight[rows]}
        if len(np.unique(y[rows])) > 1:  # of one class alone roc_auc_score has no value or an error
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected[i] = roc_auc_score(y[rows], p[rows], **given, **AREAS[name])
    assert_allclose(got, expected, **EXACTLY)
    given = {"labels": labels, "sample_weight": weight, "method": "predict_proba"}
    by_scorer = scorer_scores(name, y, p, shape[0], **given)
    assert_allclose(got[complete], by_scorer[complete], **EXACTLY)
    assert np.isfinite(got[complete]).all()


@pytest.mark.parametrize("name", sorted(AREAS))
def test_areas_under_curves_of_two_columns_equal_those_of_scikit_learn(name):
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 60), rng.dirichlet([1, 1], 60).round(1)
    given = {"labels": TWO, "sample_weight": rng.exponential(size=60)}
    expected = scorer_scores(name, y, p, 6, **given, method="predict_proba")
    assert_allclose(block_scores(name, y, p, 6, **given), expected)


def varies_enough(y, predicted, weight):
    """Return whether no variance is 0 but for the rounding of the weighted mean."""
    y, error = y[weight > 0], (y - predicted)[weight > 0]
    return len(np.unique(y)) != 1 and (len(np.unique(error)) != 1 or not error.any())


@pytest.mark.parametrize("name", REGRESSION)
@many(
    80, 15, kind=st.sampled_from(["floats", "float32", "counts", "constant", "exact", "ties"]),
    weighting=weightings("zeros", "integers"),
)  # fmt: skip
def test_metrics_of_numbers_are_scikit_learns(name, shape, kind, weighting, rng):
    n = np.prod(shape)
    y = rng.exponential(size=n) - 0.5 * (rng.random() < 0.3) - 2.0 * (rng.random() < 0.1)
    predicted = y + 0.3 * rng.normal(size=n)
    if kind == "counts":
        y = rng.poisson(2, n)
    elif kind == "ties":
        y, predicted = y.round(), predicted.round()
    elif kind == "constant":
        y, predicted = np.repeat(rng.integers(0, 4, shape[0]) / 4, shape[1]), np.full(n, 0.25)
    elif kind == "exact":
        predicted = y.copy()
    elif kind == "float32":
        y, predicted = y.astype(np.float32), predicted.astype(np.float32)
    weight = draw_weight(rng, n, weighting)
    if name == "neg_max_error" or (name == "neg_median_absolute_error" and LOWER_MEDIAN):
        weight = None
    got = block_scores(name, y, predicted, shape[0], sample_weight=weight)
    expected = scorer_scores(name, y, predicted, shape[0], sample_weight=weight)
    if name in ("r2", "explained_variance") and weight is not None:
        rows = np.arange(n).reshape(shape)
        varies = [varies_enough(y[block], predicted[block], weight[block]) for block in rows]
        got, expected = got[varies], expected[varies]
    tolerance = {"rtol": 2e-5, "atol": 1e-6} if kind == "float32" else {"rtol": 1e-10, "atol": 1e-13}
    assert_allclose(got, expected, **tolerance)


def test_every_metric_is_of_one_kind_above():
    kinds = (OF_LABELS, OF_ONE_CLASS, PROBABILISTIC, AREAS, REGRESSION, ["roc_auc", "average_precision"])
    assert sorted(name for kind in kinds for name in kind) == sorted(BLOCK_SCORERS)


@pytest.mark.parametrize("name", ["r2", "explained_variance"])
def test_a_constant_target_has_scikit_learns_value(name):
    y = np.full(300, 0.1)  # its mean is not exact in floating point, but summed as scikit-learn does
    predicted = np.concatenate([y[:100], y[:100] + 1, y[:99], [0.2]])
    assert_allclose(block_scores(name, y, predicted, 3), scorer_scores(name, y, predicted, 3))


@pytest.mark.parametrize("name", sorted(PROBABILISTIC))
def test_certain_errors_are_clipped(name):
    y = np.array([0, 1, 1, 0])
    for dtype in (np.float32, np.float64):
        p = np.eye(2, dtype=dtype)[1 - y]
        expected = scorer_scores(name, y, p, 2, labels=TWO, method="predict_proba")
        assert_allclose(block_scores(name, y, p, 2, labels=TWO), expected, rtol=1e-6)


@pytest.mark.parametrize("name", OF_ONE_CLASS)
def test_the_positive_class_may_be_any_label(name):
    y, predicted = draw_labels(np.random.default_rng(3), TWO, 60)
    expected = scorer_scores(name, 1 - y, 1 - predicted, 6, labels=TWO)
    text = np.array(["no", "yes"])
    assert_allclose(block_scores(name, y, predicted, 6, pos_label=0), expected)
    assert_allclose(block_scores(name, text[y], text[predicted], 6, pos_label="no"), expected)
    with pytest.raises(ValueError, match=r"'pos_label' parameter .* must be one of .* Got 1 instead"):
        block_scores(name, text[y], text[predicted], 6)


def test_the_positive_class_of_a_ranking():
    y = np.array(["no", "yes", "yes", "no"])
    score = np.array([0.1, 0.9, 0.2, 0.3])
    assert block_scores("roc_auc", y, score, 2).tolist() == [1.0, 0.0]
    assert block_scores("roc_auc", y, 1 - score, 2, pos_label="no").tolist() == [1.0, 0.0]
    assert block_scores("average_precision", y, score, 2, pos_label="yes").tolist() == [1.0, 0.5]
    with pytest.raises(ValueError, match="'pos_label' parameter of block_scores must be one of"):
        block_scores("average_precision", y, score, 2)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_constant_scores_rank_nothing(name):
    assert_allclose(block_scores(name, [0, 1, 1, 0], np.ones(4), 2), 0.5)


THIRDS, ZERO_TO_TWO, PREDICTED = np.full((6, 3), 1 / 3), {"labels": [0, 1, 2]}, [0, 1, 0, 1, 0, 1]
WITHOUT_WEIGHT, NO_THIRD = {"sample_weight": [0.0, 0.0, 1.0, 2.0]}, {"sample_weight": [1, 1, 1, 1, 0, 0]}
SECOND, LATER = [False, True, False], [False, True, True]
UNDEFINED = [  # metrics, y, outputs, whatever else, and which blocks have no value
    (OF_ONE_CLASS, [0, 1, 1, 2, 0, 1], PREDICTED, {"labels": TWO}, SECOND),
    (["roc_auc", "average_precision"], [0, 1, 2, 1, 0, 1], np.linspace(0, 1, 6), {"labels": TWO}, SECOND),
    (PROBABILISTIC, [0, 1, 2, 7, -1, 1], THIRDS, ZERO_TO_TWO, LATER),
    (PROBABILISTIC, [0, 1, 7, 1, 2, 0], THIRDS, {**ZERO_TO_TWO, **NO_THIRD}, LATER),
    ([*OF_LABELS, *OF_ONE_CLASS], [0, 1, 0, 1], [0, 1, 1, 1], WITHOUT_WEIGHT, [True, False]),
    (["r2"], [1.0, 2.0], [1.0, 2.0], {}, [True, True]),  # of one row
]


@pytest.mark.parametrize(("names", "y", "outputs", "given", "undefined"), UNDEFINED)
def test_unknown_classes_and_no_weight_leave_a_block_undefined(names, y, outputs, given, undefined):
    for name in names:
        assert np.isnan(block_scores(name, y, outputs, len(undefined), **given)).tolist() == undefined, name


HALVES = np.full((6, 3), 0.5)
BAD = [
    ("f1", {"labels": [0, 1, 2]}, "'labels' parameter of block_scores must be two classes"),
    ("f1_macro", {"labels": ["a", "b"]}, "must be labels like the others"),
    ("roc_auc", {"labels": ["a", "b"]}, "must be labels like the others"),
    ("neg_log_loss", {"outputs": THIRDS}, "one probability for each of 2 classes"),
    ("neg_log_loss", {"y_true": np.zeros(6), "outputs": HALVES[:, :2]}, "Pass labels=estimator"),
    ("roc_auc_ovr", {"outputs": HALVES, "labels": [0, 1, 2]}, "probabilities that sum to 1"),
    (
        "roc_auc_ovo", {"y_true": [0, 1, 2] * 2, "outputs": THIRDS, "sample_weight": np.ones(6)},
        "'sample_weight' parameter of block_scores must be None",
    ),
    ("neg_max_error", {"sample_weight": np.ones(6)}, "must be None for 'neg_max_error'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes", "message"), BAD)
def test_bad_input_of_blocks_is_refused(name, changes, message):
    with pytest.raises(ValueError, match=message):
        block_scores(name, **{"y_true": [0, 1] * 3, "outputs": [0, 1] * 3, "n_blocks": 3, **changes})


def test_numbers_too_large_to_square_are_no_error():
    assert block_scores("neg_mean_squared_error", [0.0, 1.0], [1e200, 1.0], 2).tolist() == [-np.inf, 0.0]


N_BLOCKS, SIZE = 30, 30


def draw(name, rng, n, weighted=True):
    """Return (y_true, outputs, keywords) that suit a scorer."""
    weight = rng.exponential(size=n) if weighted and name != "neg_max_error" and "ovo" not in name else None
    if name in REGRESSION:
        return rng.exponential(size=n), rng.exponential(size=n), {"sample_weight": weight}
    if name in AREAS or name in PROBABILISTIC:
        y, outputs = rng.integers(0, 10, n), rng.dirichlet(np.ones(10), n)
    elif name in OF_LABELS:
        y, outputs = rng.integers(0, 10, (2, n))
    else:
        y = rng.integers(0, 2, n)
        outputs = rng.integers(0, 2, n) if name in OF_ONE_CLASS else rng.random(n).round(2)
    classes = np.arange(10) if y.max() > 1 else TWO
    return y, outputs, {"labels": classes, "sample_weight": weight}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sorted(BLOCK_SCORERS))
def test_chunks_make_no_difference_and_rows_in_a_given_order_are_those_rows(monkeypatch, name, weighted):
    rng, used = np.random.default_rng(5), N_BLOCKS * SIZE
    y, outputs, given = draw(name, rng, used + 17, weighted)
    order = rng.permutation(used + 17)[:used]
    weight = given.pop("sample_weight")
    of_order = None if weight is None else weight[order]
    expected = None
    for chunk_bytes in (1, 2**17, 2**20, 2**40):
        monkeypatch.setattr(blocks, "CHUNK_BYTES", chunk_bytes)
        got = block_scores(name, y[order], outputs[order], N_BLOCKS, **given, sample_weight=of_order)
        expected = got if expected is None else expected
        assert_array_equal(got, expected)
        for taken in (order, order.reshape(N_BLOCKS, SIZE).astype(np.int32)):
            got = block_scores(name, y, outputs, N_BLOCKS, **given, sample_weight=weight, order=taken)
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
