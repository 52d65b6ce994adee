"""A search that is scored on the very rows of its fit says that most of them trained the model."""

import pickle
import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from tests.support.searches import grid, warned


@pytest.fixture
def fitted(request, wrap):
    rng = np.random.default_rng(zlib.crc32(request.node.name.encode()))  # other rows, another warning
    X, y = rng.normal(size=(600, 3)), rng.integers(0, 2, 600)
    X = pd.DataFrame(X, columns=list("abc")).assign(visit=np.arange(600))
    return wrap(grid(LogisticRegression()), ids="visit").fit(X, y), X, y


def test_it_warns_once_and_names_the_certified_score(fitted):
    search, X, y = fitted
    _, (text,) = warned("", search.score, X, y)
    assert "rows that were passed to fit" in text
    assert "best_score_" in text
    assert not warned("", search.score, X, y)[1]


def test_other_rows_and_pickled_searches_are_scored_in_silence(fitted):
    search, X, y = fitted
    for rows in ((X[:100], y[:100]), (X, 1 - y), (X.assign(a=0.0), y)):
        assert not warned("", search.score, *rows)[1]
    assert not warned("", pickle.loads(pickle.dumps(search)).score, X, y)[1]
    assert warned("", search.score, X, y)[1]
