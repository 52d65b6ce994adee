"""A search that is scored on the very rows of its fit says that most of them trained the model."""

import pickle
import warnings
import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import ReusableHoldoutCV
from tests.support.searches import grid


@pytest.fixture
def fitted(request, tmp_path):
    rng = np.random.default_rng(zlib.crc32(request.node.name.encode()))  # other rows, another warning
    X, y = rng.normal(size=(600, 3)), rng.integers(0, 2, 600)
    X = pd.DataFrame(X, columns=list("abc")).assign(visit=np.arange(600))
    search = ReusableHoldoutCV(grid(LogisticRegression()), ids="visit", ledger=tmp_path / "ledger.db")
    return search.fit(X, y), X, y


def told(search, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.score(X, y)
    return [str(each.message) for each in caught]


def test_it_warns_once_and_names_the_certified_score(fitted):
    search, X, y = fitted
    (text,) = told(search, X, y)
    assert "rows that were passed to fit" in text
    assert "best_score_" in text
    assert not told(search, X, y)


def test_other_rows_are_scored_in_silence(fitted):
    search, X, y = fitted
    assert not told(search, X[:100], y[:100])
    assert not told(search, X, 1 - y)
    assert not told(search, X.assign(a=0.0), y)


def test_neither_a_pickle_nor_a_clone_knows_the_rows(fitted):
    search, X, y = fitted
    assert not told(pickle.loads(pickle.dumps(search)), X, y)
    assert told(search, X, y)
