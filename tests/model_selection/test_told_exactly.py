"""Where a ledger answers in cells, a metric without cells is told exactly: that is said before it is paid."""

import warnings

import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_ada import ReusableHoldoutCV
from tests.support.searches import grid

X, Y = make_classification(1200, random_state=0)


def notices(scoring, path, times=1, **params):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(times):
            search = grid(LogisticRegression(), scoring=scoring)
            found = ReusableHoldoutCV(search, ledger=path, **params).fit(X, Y)
    return found, [str(each.message) for each in caught if "has no cells" in str(each.message)]


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "f1_macro", "neg_log_loss"])
def test_it_is_said_once_a_ledger(scoring, tmp_path):
    found, (told,) = notices(scoring, tmp_path / "ledger.db", times=2)
    assert found.best_answer_.verdict == "exact"
    assert told.startswith(f"{scoring} has no cells")
    assert f"holdout.certify(model, scoring={scoring!r}" in told


def test_a_regression_is_not_sent_to_the_accuracy(tmp_path):
    X, y = make_regression(1200, 5, noise=10.0, random_state=0)
    with pytest.warns(UserWarning, match="No metric of numbers has cells: do with few searches") as caught:
        ReusableHoldoutCV(grid(Ridge(), [1.0]), ledger=tmp_path / "ledger.db").fit(X, y)
    assert not any("'accuracy'" in str(each.message) for each in caught)


@pytest.mark.parametrize(
    ("scoring", "params"),
    [("accuracy", {}), ("roc_auc", {"answers": "exact"}), ("f1_macro", {"mechanism": "stable_median"})],
)
def test_it_is_not_said_where_there_are_cells_or_none_were_asked_for(scoring, params, tmp_path):
    assert not notices(scoring, tmp_path / "ledger.db", **params)[1]


def test_it_is_said_before_anything_is_paid(tmp_path):
    search = ReusableHoldoutCV(
        grid(LogisticRegression(), [0.1], scoring="roc_auc"), ledger=tmp_path / "ledger.db"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="has no cells"):
            search.fit(X, Y)
    assert not search.holdout_.report().answers
