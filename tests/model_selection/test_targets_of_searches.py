"""Beside every score of a search stands what it is a score of, and what is bought unasked is told before."""

import html
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV, StableHoldoutScorer
from tests.support.searches import grid

ACCURACY = "population accuracy at the holdout's class mix"
MEDIAN = "median of {} over random subsamples of "
ASKED = ["candidates", "winner", 2]


WITHOUT = make_scorer(fbeta_score, beta=2)  # a function, of which nothing is known but its values
NAME = str(WITHOUT)


def wrapped(scoring="average_precision", model=None, **params):
    model = LogisticRegression() if model is None else model
    grid = {"alpha" if isinstance(model, Ridge) else "C": [0.01, 0.1, 1.0]}
    return ReusableHoldoutCV(GridSearchCV(model, grid, scoring=scoring), **params)


def notices(caught):
    return [str(each.message) for each in caught if "no interval of its own" in str(each.message)]


@pytest.fixture
def data(rows):
    return np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("scoring", ["accuracy", "average_precision"])
def test_the_target_stands_beside_the_score(ask, scoring, data, tmp_path):
    mechanism = "stable_median" if (ask, scoring) == ("candidates", "average_precision") else "auto"
    search = wrapped(scoring, ask=ask, mechanism=mechanism, ledger=tmp_path / "ledger.db").fit(*data)
    expected = ACCURACY if scoring == "accuracy" else MEDIAN.format(scoring)
    if scoring == "average_precision" and ask != "candidates":
        expected = "population average_precision at the holdout's class mix, ties broken at random"
    assert search.best_score_target_.startswith(expected)
    assert search.best_score_target_ == search.best_answer_.certificate.target
    table = search.cv_results_
    asked = np.isfinite(table["certified_low"])
    assert asked.any()
    assert all(text.startswith(expected) for text in table["certified_target"][asked])
    assert set(table["certified_target"][~asked]) <= {""}
    for page in (search._repr_html_(), search._repr_mimebundle_()["text/html"]):
        assert search.best_score_target_ in html.unescape(page)
    assert not hasattr(clone(search), "best_score_target_")
    assert "target: " not in clone(search)._repr_html_()


def test_the_target_outlives_a_pickle(data, tmp_path):
    search = wrapped("accuracy", answers="exact", ledger=tmp_path / "ledger.db").fit(*data)
    again = pickle.loads(pickle.dumps(search))
    assert again.best_score_target_ == ACCURACY
    assert ACCURACY in again.cv_results_["certified_target"]
    assert ACCURACY in repr(again.holdout_)
    assert ACCURACY in html.unescape(again._repr_html_())


@pytest.mark.parametrize("ask", ASKED)
def test_one_warning_tells_of_a_median_that_nobody_asked_for(ask, data, tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = wrapped(WITHOUT, ask=ask, ledger=tmp_path / "ledger.db").fit(*data)
    (told,) = notices(caught)
    size = search.best_score_target_.removeprefix(MEDIAN.format(NAME)).split()[0]
    assert f"the median of {NAME} over random subsamples of {size} records" in told
    assert f"another quantity than {NAME} on all rows and can be far from it" in told
    assert "'roc_auc', 'balanced_accuracy', 'accuracy'" in told
    assert told.endswith("mechanism='stable_median'.")
    (notice,) = (each for each in caught if str(each.message) == told)
    assert notice.filename == __file__


@pytest.mark.parametrize("ask", ASKED)
def test_it_is_told_before_anything_is_spent(ask, data, tmp_path):
    path = tmp_path / "ledger.db"
    search = wrapped(WITHOUT, ask=ask, ledger=path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="no interval of its own"):
            search.fit(*data)
    assert [record.body.get("kind") for record in search.holdout_.ledger.records()] == [None]  # genesis


@pytest.mark.parametrize("copies", [1, 3])
def test_rows_that_are_too_few_for_a_median_are_told_before_anything_is_spent(copies, data, tmp_path):
    X, y = np.vstack([data[0] + 1e-3 * copy for copy in range(copies)]), np.tile(data[1], copies)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = wrapped(WITHOUT, ask="winner", ledger=tmp_path / "ledger.db").fit(X, y)
    (told,) = notices(caught)
    too_few = told.startswith(
        "150 rows in 7 subsamples are too few: what will be paid for certifies nothing. "
    )
    assert too_few == search.best_answer_.certificate.vacuous == (copies == 1)


@pytest.mark.parametrize("mechanism", ["stable_median", "scorer"])
def test_a_median_that_was_asked_for_is_not_warned_of(mechanism, rows, tmp_path):
    params = {"mechanism": mechanism, "ledger": tmp_path / "ledger.db"}
    if mechanism == "scorer":
        holdout = Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db")
        params = {"mechanism": StableHoldoutScorer("average_precision", holdout)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wrapped(ask="winner", **params).fit(rows[0], rows[1])
    assert not notices(caught)


def test_a_metric_declared_to_do_without_its_interval_is_not_warned_of(data, tmp_path):
    metric = Metric("roc_auc", kind="general")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        inner = grid(LogisticRegression())
        search = ReusableHoldoutCV(inner, scoring=metric, ask="winner", ledger=tmp_path / "ledger.db")
        search.fit(*data)
    assert search.best_score_target_.startswith("median of roc_auc")
    assert not notices(caught)


@pytest.mark.parametrize(
    ("scoring", "way_out"),
    [
        ("neg_mean_squared_error", "Metric('neg_mean_squared_error', range=(low, 0))"),
        ("r2", "Its winner can be certified: ask='winner'."),
    ],
)
@pytest.mark.parametrize("counts", [False, True])
def test_the_way_out_of_a_regression(scoring, way_out, counts, data, tmp_path):
    X, _ = data
    y = np.rint(2 * X[:, 0]).clip(-2, 2).astype(int) if counts else X[:, 0] + 0.1 * X[:, 1]
    with pytest.raises(ValueError, match="a metric with an interval of its own") as caught:
        wrapped(scoring, Ridge(), ledger=tmp_path / "ledger.db", ask="candidates").fit(X, y)
    assert way_out in str(caught.value)
    assert "accuracy" not in str(caught.value)


def test_the_way_out_offers_only_what_has_an_interval_here(data, tmp_path):
    X, y = data
    groups = np.arange(len(y)) // 2
    scorer = make_scorer(fbeta_score, beta=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wrapped(scorer, ask="winner", ledger=tmp_path / "ledger.db").fit(X, y, groups=groups)
    (told,) = notices(caught)
    assert "'balanced_accuracy', 'accuracy'" in told
    assert "roc_auc" not in told
    assert "groups" in told
