"""Labels held as objects, as a column of a mixed frame is, count as the numbers or the text that they are."""

import datetime
import fractions

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from sklearn_ada import Holdout, MedianSettings, Metric

N = 120
X = np.random.default_rng(0).normal(size=(N, 3))
CODES = np.random.default_rng(1).integers(3, size=N)
FRAME = pd.DataFrame({"text": np.array(["a", "b", "c"])[CODES], "label": CODES})

OBJECTS = {
    "ints": (CODES.astype(object), CODES),
    "column of a mixed frame": (FRAME.to_numpy()[:, -1], CODES),
    "bools": ((CODES > 0).astype(object), CODES > 0),
    "texts": (FRAME["text"].to_numpy(dtype=object), FRAME["text"].to_numpy(dtype=str)),
    "whole floats": (CODES.astype(float).astype(object), CODES.astype(float)),
    "floats": (X[:, 0].astype(object), X[:, 0]),
    "ints and floats": (np.array([float(c) if c else int(c) for c in CODES], dtype=object), CODES * 1.0),
    "numpy ints": (np.array([*map(np.int32, CODES)], dtype=object), CODES),
    "numpy bools": (np.array([*map(np.bool_, CODES)], dtype=object), CODES > 0),
    "numpy texts": (np.array([np.str_("abc"[c]) for c in CODES], dtype=object), np.array([*"abc"])[CODES]),
    "numpy floats": (np.array([*map(np.float32, X[:, 0])], dtype=object), X[:, 0].astype(np.float32)),
    "nullable integers": (pd.Series(CODES, dtype="Int64").astype(object), CODES),
    "text with a null character at its end": (
        np.array(["a\0", "b", "a"], dtype=object)[CODES], np.array(["a-", "b", "a"])[CODES],
    ),
}  # fmt: skip


@pytest.fixture
def pair(tmp_path):
    def make(case, **params):
        return [
            Holdout(X, y, ledger=tmp_path / f"{number}.db", random_state=0, **params)
            for number, y in enumerate(OBJECTS[case])
        ]

    return make


NUMBERS = ("floats", "numpy floats")
CLASSES = [case for case in OBJECTS if case not in NUMBERS]


@pytest.mark.parametrize("case", OBJECTS)
def test_labels_as_objects_have_the_classes_of_the_plain_array(case, pair):
    as_objects, plain = pair(case)
    assert (as_objects.classes is None) == (plain.classes is None) == (case in NUMBERS)
    if case != "text with a null character at its end":
        np.testing.assert_array_equal(as_objects.classes, plain.classes)
        assert case in NUMBERS or as_objects.classes.dtype.kind == plain.classes.dtype.kind
        Holdout(X, OBJECTS[case][0], ledger=plain.ledger.path, random_state=0)  # which knows them again


class Says(BaseEstimator):
    """A model of one label, which does not say what classes there are."""

    def __init__(self, label=None):
        self.label = label
        self.fitted_ = True

    def predict(self, X):
        return np.full(len(X), self.label)


@pytest.mark.parametrize("case", CLASSES)
def test_class_counts_are_conditioned_on_as_for_the_plain_array(case, pair):
    one, other = (
        holdout.certify(Says(np.asarray(y)[0]), scoring="accuracy", guess=0.3)
        for holdout, y in zip(pair(case), OBJECTS[case], strict=True)
    )
    assert one.certificate.target == "population accuracy at the holdout's class mix"
    assert (one.value, one.interval) == (other.value, other.interval)


@pytest.mark.parametrize("case", CLASSES)
def test_class_counts_are_priced_as_for_the_plain_array(case, pair):
    as_objects, plain = pair(case, class_mix="priced")
    assert as_objects.report().nats == plain.report().nats > 0
    assert as_objects.ledger.genesis["class_counts"] == plain.ledger.genesis["class_counts"]


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_that_are_no_classes_have_no_counts(case, pair):
    for holdout in pair(case):
        settings = MedianSettings(n_subsamples=10)
        answer = holdout.check(Says(0.0), scoring=Metric("r2", range=(-9, 1)), guess=0.0, settings=settings)
        assert "class" not in answer.certificate.target


BAD = {
    "numbers and texts": [1, "a"],
    "bools and texts": [True, "a"],
    "floats and texts": [1.0, "a"],
    "dates": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
    "fractions": [fractions.Fraction(1, 3), 1],
    "tuples": [(1, 2), (1, 3)],
    "integers that are too large": [2**70, 1],
    "integers that are no floats": [2**53 + 1, 0.5],
}


@pytest.mark.parametrize("case", BAD)
def test_other_objects_are_refused_before_there_is_a_ledger(case, tmp_path, sentence):
    labels = pd.Series(BAD[case] * (N // 2), dtype=object).to_numpy()
    with pytest.raises(ValueError, match=sentence("y", "Holdout")) as error:
        Holdout(X, labels, ledger=tmp_path / "ledger.db")
    assert not list(tmp_path.iterdir())
    assert "Number them anew" in str(error.value) if "integers" in case else "Convert it" in str(error.value)
