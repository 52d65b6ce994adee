"""Where a ledger answers in cells, a metric without cells is told exactly: that is said before it is paid."""

import warnings

import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge

from tests.support.searches import grid, warned

X, Y = make_classification(1200, random_state=0)


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "f1_macro", "neg_log_loss"])
def test_it_is_warned_of_once_a_ledger(scoring, wrap):
    search = wrap(grid(LogisticRegression(), scoring=scoring))
    found, (text,) = warned("has no cells", search.fit, X, Y)
    assert found.best_answer_.verdict == "exact"
    assert text.startswith(f"{scoring} has no cells")
    assert f"holdout.certify(model, scoring={scoring!r}" in text
    assert not warned("has no cells", search.fit, X, Y)[1]


def test_a_regression_is_not_sent_to_the_accuracy(wrap):
    X, y = make_regression(1200, 5, noise=10.0, random_state=0)
    _, texts = warned("", wrap(grid(Ridge(), [1.0])).fit, X, y)
    assert any("No metric of numbers has cells: do with few searches" in text for text in texts)
    assert not any("'accuracy'" in text for text in texts)


@pytest.mark.parametrize(
    ("scoring", "params"),
    [("accuracy", {}), ("roc_auc", {"answers": "exact"}), ("f1_macro", {"mechanism": "stable_median"})],
)
def test_where_there_are_cells_or_none_were_asked_for_nothing_is_warned_of(scoring, params, wrap):
    assert not warned("has no cells", wrap(grid(LogisticRegression(), scoring=scoring), **params).fit, X, Y)[
        1
    ]


def test_the_warning_comes_before_anything_is_paid(wrap):
    search = wrap(grid(LogisticRegression(), [0.1], scoring="roc_auc"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="has no cells"):
            search.fit(X, Y)
    assert not search.holdout_.report().answers
