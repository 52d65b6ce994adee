"""Rows, fitted models, and the interval arithmetic written down a second time."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_ada import Holdout
from tests.support import holdouts


@pytest.fixture(scope="session")
def data():
    """Per task: a fitted model, holdout X and y."""
    X, y = make_classification(620, 5, n_informative=3, weights=[0.7], flip_y=0.1, random_state=1)
    X3, y3 = make_classification(620, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=1)
    Xr, yr = make_regression(620, 5, noise=30.0, random_state=1)
    return {
        "binary": (LogisticRegression().fit(X[:300], y[:300]), X[300:], y[300:]),
        "three": (LogisticRegression().fit(X3[:300], y3[:300]), X3[300:], y3[300:]),
        "regression": (Ridge().fit(Xr[:300], yr[:300]), Xr[300:], yr[300:]),
    }


@pytest.fixture
def asked(data, tmp_path):
    """Ask one question of a new holdout; the answer, and its record."""

    def ask(task, scoring, mechanism, guess=None, **policy):
        model, X, y = data[task]
        holdout = Holdout(X, y, ledger=tmp_path / "ledger.db", **policy)
        answer = holdouts.ask(holdout, model, scoring=scoring, purpose=mechanism, guess=guess)
        *_, record = holdout.ledger.records()
        return answer, record.body

    return ask


@pytest.fixture(scope="session")
def chernoff():
    """All q with ``size * kl(p, q) <= ln(2/delta)``, by bisection."""

    def kl(p, q):
        first = 0.0 if p == 0 else p * math.log(p / q)
        return first + (0.0 if p == 1 else (1 - p) * math.log((1 - p) / (1 - q)))

    def end(p, size, ln_delta, outside):
        inside = p
        for _ in range(200):
            middle = (inside + outside) / 2
            within = 0 < middle < 1 and size * kl(p, middle) <= math.log(2) - ln_delta
            inside, outside = (middle, outside) if within else (inside, middle)
        return inside

    def interval(low, high, size, ln_delta):
        low, high = np.clip([low, high], 0.0, 1.0)
        return end(low, size, ln_delta, 0.0), end(high, size, ln_delta, 1.0)

    return interval
