"""Data, estimators that remember the rows they were fitted on, and a look into the ledger."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_ada import Holdout, ReusableHoldoutCV
from tests.support.rows import coin_flips
from tests.support.searches import grid


class _Recording(BaseEstimator):
    """A tree on the columns after the first, which is a row number."""

    fitted_on: list = []  # noqa: RUF012 - one list for all clones
    predicted_on: list = []  # noqa: RUF012

    def __init__(self, max_depth=2):
        self.max_depth = max_depth

    def fit(self, X, y):
        type(self).fitted_on.append(frozenset(X[:, 0]))
        self.tree_ = self._tree(max_depth=self.max_depth, random_state=0).fit(X[:, 1:], y)
        self.rows_ = frozenset(X[:, 0])
        return self

    def predict(self, X):
        type(self).predicted_on.append(frozenset(X[:, 0]))
        return self.tree_.predict(X[:, 1:])


@pytest.fixture
def recorder():
    """Return classes of a classifier and a regressor whose lists start empty."""

    class RecordingClassifier(ClassifierMixin, _Recording):
        _tree = DecisionTreeClassifier
        fitted_on: list = []  # noqa: RUF012
        predicted_on: list = []  # noqa: RUF012

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return super().fit(X, y)

    class RecordingRegressor(RegressorMixin, _Recording):
        _tree = DecisionTreeRegressor
        fitted_on: list = []  # noqa: RUF012
        predicted_on: list = []  # noqa: RUF012

    return {"classifier": RecordingClassifier, "regressor": RecordingRegressor}


@pytest.fixture(scope="session")
def numbered():
    """400 rows whose first column is the row number; labels for a classifier and a regressor."""
    X, y = make_classification(400, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
    noise = np.random.default_rng(0).normal(size=400)
    return np.c_[np.arange(400.0), X], {"classifier": y, "regressor": X[:, 0] + 0.5 * noise}


@pytest.fixture(scope="session")
def classes(numbered):
    """X and labels of 400 rows."""
    return numbered[0][:, 1:], numbered[1]["classifier"]


@pytest.fixture(scope="session")
def numbers(numbered):
    """X and numbers of 400 rows."""
    return numbered[0][:, 1:], numbered[1]["regressor"]


@pytest.fixture(scope="session")
def rows():
    """Training X and y, then holdout X and y, then X and y for a test."""
    X, y = make_classification(700, 5, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)
    return X[:300], y[:300], X[300:600], y[300:600], X[600:], y[600:]


@pytest.fixture(scope="session")
def coins():
    return coin_flips()


@pytest.fixture
def wrap(tmp_path):
    """Wrap a search, by default one of trees; its ledger is a file unless it has a holdout with one."""

    def wrapped(search=..., **params):
        given = isinstance(params.get("holdout"), Holdout) or hasattr(params.get("mechanism"), "holdout")
        ledger = {} if given else {"ledger": tmp_path / "ledger.db"}
        return ReusableHoldoutCV(grid() if search is ... else search, **{**ledger, **params})

    return wrapped


@pytest.fixture
def searched(wrap, numbered):
    """Wrap a search and fit it, by default on the numbered rows; ``passed`` is what else fit takes."""

    def fit(search=..., X=None, y="classifier", passed=None, **params):
        X, y = numbered[0] if X is None else X, numbered[1][y] if isinstance(y, str) else y
        return wrap(search, **params).fit(X, y, **(passed or {}))

    return fit


@pytest.fixture
def refused(searched, sentence, tmp_path):
    """Assert that a search is refused in the name of a parameter, and that no ledger is made."""

    def check(name, match="", owner=".+", **params):
        with pytest.raises(ValueError, match=f"(?={sentence(name, owner)}).*{match}"):
            searched(**params)
        assert not list(tmp_path.iterdir())

    return check


@pytest.fixture
def holdout(rows, tmp_path):
    return Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db")


@pytest.fixture(scope="session")
def asked():
    """How many checks and certifies a holdout admitted, together."""

    def count(holdout):
        return sum(holdout.report().asked.values())

    return count
