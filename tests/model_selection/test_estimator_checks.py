"""Scikit-learn's own checks of an estimator, on wrapped searches."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_ada import ReusableHoldoutCV

KNOWN = {"check_dtype_object": "with one split a failed fit fails the search; its TypeError is only quoted"}


@pytest.fixture(autouse=True)
def no_ledgers_of_other_checks(monkeypatch):
    """Several checks use the same rows with another random_state, which one process refuses."""
    monkeypatch.setattr("sklearn_ada.ledger._temporary._paths", {})


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        ReusableHoldoutCV(GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]})),
        ReusableHoldoutCV(GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]})),
    ],
    expected_failed_checks=lambda search: KNOWN,
)
def test_estimator_checks(estimator, check):
    check(estimator)
