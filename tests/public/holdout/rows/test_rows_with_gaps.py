"""Rows in which values are missing are compared with those of the holdout as any others are."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import HoldoutLeakError

N = 200
RNG = np.random.default_rng(0)
X = RNG.integers(1, 1000, size=(N, 3)).astype(float)
X[::5, 1] = np.nan
Y = np.arange(N) % 2
NAMES = list("abc")
FORMS = {
    "floats": lambda X: X.copy(),
    "objects": lambda X: X.astype(object),
    "None": lambda X: np.where(np.isnan(X), None, X.astype(object)),
    "lists": lambda X: np.where(np.isnan(X), None, X.astype(object)).tolist(),
    "a frame": lambda X: pd.DataFrame(X, columns=NAMES),
    "a frame of None": lambda X: pd.DataFrame(np.where(np.isnan(X), None, X.astype(object)), columns=NAMES),
    "nullable": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "sparse": sparse.csr_matrix,
}


@pytest.mark.parametrize("table", FORMS)
@pytest.mark.parametrize("held", FORMS)
def test_whatever_stands_for_a_missing_value_the_rows_are_the_same(held, table):
    holdout = Holdout(FORMS[held](X[:100]), Y[:100], ledger=":memory:")
    holdout.check_overlap(FORMS[table](X[100:]))
    with pytest.raises(HoldoutLeakError, match="rows of the holdout"):
        holdout.check_overlap(FORMS[table](X[40:]))


def test_texts_with_gaps_are_the_same_too():
    texts = np.array([None if k % 5 == 0 else f"text {k}" for k in range(N)], dtype=object)
    holdout = Holdout(pd.DataFrame({"a": texts[:100]}, dtype="string"), Y[:100], ledger=":memory:")
    with pytest.raises(HoldoutLeakError, match="rows of the holdout"):
        holdout.check_overlap(np.where(texts == None, np.nan, texts)[:, None])  # noqa: E711


class Booster(HistGradientBoostingClassifier):
    """Takes rows for early stopping, and does not use them."""

    def fit(self, X, y, eval_set=()):
        return super().fit(X, y)


BLANK = {"gaps": np.nan, "zeros": 0.0}


@pytest.mark.parametrize("as_", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize("value", BLANK.values(), ids=BLANK)
def test_a_row_that_is_all_gaps_or_zeros_is_nobodys(value, as_):
    """Where no row occurs twice, one row of the holdout is a leak: but not a blank one."""
    rows, labels = RNG.normal(size=(2 * N, 3)), RNG.integers(2, size=N)
    rows[:: 2 * N - 1] = value
    search = ReusableHoldoutCV(
        GridSearchCV(Booster(max_iter=2), {}, cv=2), holdout=np.arange(N) < 50, ledger=":memory:"
    )
    search.fit(rows[:N], Y, eval_set=[(as_(rows[N:]), labels)])
    with pytest.raises(HoldoutLeakError, match="eval_set"):
        search.fit(rows[:N], Y, eval_set=[(as_(np.r_[rows[N:], rows[1:2]]), np.r_[labels, 1])])
