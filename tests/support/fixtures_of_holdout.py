"""Rows, a fitted model, and a way to see that nothing was charged."""

from contextlib import contextmanager

import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout
from tests.support.ledgers import bodies, is_paid_in_advance


@pytest.fixture(scope="session")
def rows():
    """Training X and y, then holdout X and y."""
    X, y = make_classification(500, 5, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)
    return X[:250], y[:250], X[250:], y[250:]


@pytest.fixture(scope="session")
def model(rows):
    return LogisticRegression().fit(rows[0], rows[1])


@pytest.fixture
def holdout(rows, tmp_path):
    return Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db")


@pytest.fixture(scope="session")
def nearly_free(spent):
    """A context in which questions are asked again, so many times: each is confirmed, and nothing else."""

    @contextmanager
    def watch(holdout, times=1):
        count, nats = spent(holdout)
        yield
        records = [body for body in bodies(holdout) if not is_paid_in_advance(body)][count:]
        assert [(body["kind"], body["event"]["symbols"][0]["value"]) for body in records] == [
            ("confirmation", 0)
        ] * times
        assert nats < spent(holdout)[1] < nats + 0.0011 * times

    return watch
