"""Scorers without a vectorised version: the values of each block, from one prediction of all rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    fbeta_score,
    get_scorer,
    get_scorer_names,
    hinge_loss,
    make_scorer,
    matthews_corrcoef,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Metric
from sklearn_ada.metrics import UnusableOutputsError
from sklearn_ada.metrics import outputs as asking
from sklearn_ada.metrics.blocks import BLOCK_SCORERS
from sklearn_ada.metrics.outputs import reads_outputs_only

X, Y = make_classification(600, 6, n_informative=4, flip_y=0.2, random_state=0)
ROWS = np.random.default_rng(0).permutation(600).reshape(10, 60)
MODEL = DecisionTreeClassifier(max_depth=3).fit(X[:200], Y[:200])


def counting(base):
    """Return a class of models that count the rows of every prediction."""

    class Counting(base):
        asked: list = []  # noqa: RUF012 - one list for all

        def predict(self, X):
            self.asked.append(len(X))
            return super().predict(X)

    return Counting


def one_by_one(scorer, model, X=X, y=Y):
    return np.array([scorer(model, X[block], y[block]) for block in ROWS])


EITHER = ("decision_function", "predict_proba")
CLASSIFIERS = {
    "matthews_corrcoef": get_scorer("matthews_corrcoef"),
    "top_k": get_scorer("top_k_accuracy"),
    "likelihood ratio": get_scorer("positive_likelihood_ratio"),
    "F2": make_scorer(fbeta_score, beta=2),
    "hinge": make_scorer(hinge_loss, response_method="decision_function", greater_is_better=False),
    "either": make_scorer(roc_auc_score, response_method=EITHER, max_fpr=0.5),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [LogisticRegression, DecisionTreeClassifier])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_scorer_has_the_values_of_its_blocks(name, kind):
    scorer = CLASSIFIERS[name]
    model = (LogisticRegression if name == "hinge" else kind)().fit(X[:200], Y[:200])
    assert Metric(scorer).string not in BLOCK_SCORERS
    assert_array_equal(Metric(scorer).blocks(model, X, Y, ROWS), one_by_one(scorer, model))


def test_all_scorer_strings_read_outputs_only():
    assert all(reads_outputs_only(get_scorer(name)) for name in get_scorer_names())


@pytest.mark.parametrize(
    "scorer", [get_scorer("d2_absolute_error_score"), make_scorer(lambda y, p: -np.ptp(y - p))]
)
def test_a_regression_scorer_has_the_values_of_its_blocks(scorer):
    y = X[:, 0] + np.random.default_rng(1).normal(size=600)
    model = Ridge().fit(X[:200, 1:], y[:200])
    got = Metric(scorer).blocks(model, X[:, 1:], y, ROWS)
    assert_array_equal(got, one_by_one(scorer, model, X=X[:, 1:], y=y))


@pytest.mark.parametrize(
    "metric",
    [
        *map(Metric, ("matthews_corrcoef", "accuracy", "f1_macro", make_scorer(fbeta_score, beta=2))),
        Metric(lambda y, p: -np.abs(y - p), kind="mean", range=(-1, 0)),
    ],
)
def test_a_model_predicts_every_row_once(metric):
    model = counting(DecisionTreeClassifier)(max_depth=3).fit(X[:200], Y[:200])
    got = metric.blocks(model, X, Y, ROWS)
    assert model.asked == [600]
    assert_allclose(got, one_by_one(metric.score, model))


def test_a_function_that_reads_the_rows_gets_the_rows():
    def first_column(model, X, y):
        return float(X[:, 0].mean() + model.predict(X).mean())

    assert_array_equal(Metric(first_column).blocks(MODEL, X, Y, ROWS), one_by_one(first_column, MODEL))


def test_where_a_scorer_is_undefined_the_block_is_and_other_errors_pass():
    def picky(y, predicted, error=ValueError):
        if y[0] == 1:
            raise error("not here")
        return matthews_corrcoef(y, predicted)

    got = Metric(make_scorer(picky)).blocks(MODEL, X, Y, ROWS)
    assert_array_equal(np.isnan(got), Y[ROWS[:, 0]] == 1)
    with pytest.raises(TypeError, match="not here"):
        Metric(make_scorer(picky, error=TypeError)).blocks(MODEL, X, Y, ROWS)


FAILING = {
    "raises": (lambda model, X: int("broken"), "invalid literal"),
    "answers NaN": (lambda model, X: np.full(len(X), np.nan), "not finite"),
}


@pytest.mark.parametrize(("predict", "message"), FAILING.values(), ids=FAILING)
def test_a_model_that_fails_makes_no_block_undefined(predict, message):
    model = type("Failing", (DummyClassifier,), {"predict": predict})().fit(X, Y)
    with pytest.raises(ValueError, match=message):
        Metric("matthews_corrcoef").blocks(model, X, Y, ROWS)


TEXTS = [f"{'good' if label else 'bad'} {number}" for number, label in enumerate(Y)]
CONTAINERS = {
    "array": (X, DecisionTreeClassifier(max_depth=4)),
    "frame": (pd.DataFrame(X, columns=list("abcdef")), DecisionTreeClassifier(max_depth=4)),
    "sparse": (sparse.csr_array(X), DecisionTreeClassifier(max_depth=4)),
    "texts": (TEXTS, make_pipeline(CountVectorizer(), DecisionTreeClassifier(max_depth=4))),
}


@pytest.mark.parametrize("labels", [None, np.array(["no", "certainly"]), np.array(["a", "bc"], dtype=object)])
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", "matthews_corrcoef"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_predicting_in_chunks_alters_no_answer(monkeypatch, container, scoring, labels):
    rows, model = CONTAINERS[container]
    y = Y if labels is None else labels[Y]
    model.fit(rows, y)
    values, outputs = [], []
    for cells in (2**23, 2000, 700):
        monkeypatch.setattr(asking, "CHUNK_CELLS", cells)
        values.append(Metric(scoring).blocks(model, rows, y, ROWS))
        outputs.append(asking.respond(model, rows, ("predict_proba",))[1])
    for value, output in zip(values[1:], outputs[1:], strict=True):
        assert_array_equal(value, values[0])
        assert_array_equal(output, outputs[0])


def test_chunks_have_the_size_that_is_documented(monkeypatch):
    monkeypatch.setattr(asking, "CHUNK_CELLS", 600)
    model = counting(DecisionTreeClassifier)(max_depth=2).fit(X, Y)
    asking.respond(model, X, ("predict",))
    assert model.asked == [100] * 6


def test_labels_of_different_lengths_are_not_cut_short(monkeypatch):
    class Spelling(DummyClassifier):
        def predict(self, X):
            return np.array(["yes" if x > 2 else "y" for x in X[:, 0]])

    monkeypatch.setattr(asking, "CHUNK_CELLS", 2)
    _, got = asking.respond(Spelling(), np.arange(5)[:, None], ("predict",))
    assert got.tolist() == ["y", "y", "y", "yes", "yes"]


@pytest.mark.parametrize("shape", [lambda X: len(X) - 1, lambda X: (len(X), 1 + X[0, 0])])
def test_outputs_of_a_wrong_shape_are_not_usable_in_chunks_either(shape, monkeypatch):
    monkeypatch.setattr(asking, "CHUNK_CELLS", 2)

    class Shaped(DummyClassifier):
        def predict(self, X):
            return np.zeros(shape(X))

    with pytest.raises(UnusableOutputsError, match="wrong shape"):
        asking.respond(Shaped(), np.arange(6)[:, None], ("predict",))
