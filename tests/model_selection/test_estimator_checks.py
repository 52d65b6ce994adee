"""Scikit-learn's own checks of an estimator, on wrapped searches."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_ada import ReusableHoldoutCV

KNOWN = {
    "check_dtype_object": "with one split a failed fit fails the search; its TypeError is quoted",
    "check_estimators_nan_inf": "a NaN in the holdout is a priced failure whose message has no values",
    "check_supervised_y_2d": "a column of labels is refused",
    "check_requires_y_none": "the message lacks the words 'but the target y is None'",
}
KNOWN_OF_REGRESSORS = {
    "check_regressors_int": "labels of another type are other data, so the split differs",
    "check_regressor_data_not_an_array": "a frame has another digest than its array, so the split differs",
}


@pytest.fixture(autouse=True)
def no_ledgers_of_other_checks(monkeypatch):
    """Several checks use the same rows with another random_state, which one process refuses."""
    monkeypatch.setattr("sklearn_ada.ledger._temporary._paths", {})


def known(search):
    return KNOWN | (KNOWN_OF_REGRESSORS if isinstance(search.search.estimator, Ridge) else {})


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        ReusableHoldoutCV(GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]})),
        ReusableHoldoutCV(GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]})),
    ],
    expected_failed_checks=known,
)
def test_estimator_checks(estimator, check):
    check(estimator)
