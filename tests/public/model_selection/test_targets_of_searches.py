"""Beside every score of a search stands what it is a score of, and what is bought unasked is told before."""

import html
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import fbeta_score, make_scorer

from sklearn_ada import Holdout, Metric, StableHoldoutScorer
from tests.support.ledgers import bodies
from tests.support.searches import grid, warned

ACCURACY = "population accuracy at the holdout's class mix"
MEDIAN = "median of {} over random subsamples of "
ASKED = ["candidates", "winner", 2]


WITHOUT = make_scorer(fbeta_score, beta=2)  # a function, of which nothing is known but its values
NAME = str(WITHOUT)


@pytest.fixture
def wrapped(wrap):
    def make(scoring="average_precision", model=None, **params):
        inner = grid(LogisticRegression() if model is None else model, [0.01, 0.1, 1.0], scoring=scoring)
        return wrap(inner, **params)

    return make


NONE = "no interval of its own"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("scoring", ["accuracy", "average_precision"])
def test_the_target_stands_beside_the_score(ask, scoring, data, wrapped):
    mechanism = "stable_median" if (ask, scoring) == ("candidates", "average_precision") else "auto"
    search = wrapped(scoring, ask=ask, mechanism=mechanism).fit(*data)
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
    again = pickle.loads(pickle.dumps(search))
    assert again.best_score_target_ == search.best_score_target_
    assert (again.cv_results_["certified_target"] == table["certified_target"]).all()
    for shown in (repr(again.holdout_), again._repr_html_()) if scoring == "accuracy" else ():
        assert again.best_score_target_.partition(", told as ")[0] in html.unescape(shown)


@pytest.mark.parametrize("ask", ASKED)
def test_one_warning_tells_of_a_median_that_nobody_asked_for(ask, data, wrapped):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = wrapped(WITHOUT, ask=ask).fit(*data)
    (notice,) = [each for each in caught if NONE in str(each.message)]
    text = str(notice.message)
    size = search.best_score_target_.removeprefix(MEDIAN.format(NAME)).split()[0]
    assert f"the median of {NAME} over random subsamples of {size} records" in text
    assert f"another quantity than {NAME} on all rows and can be far from it" in text
    assert "'roc_auc', 'balanced_accuracy', 'accuracy'" in text
    assert text.endswith("mechanism='stable_median'.")
    assert notice.filename == __file__


@pytest.mark.parametrize("ask", ASKED)
def test_it_is_told_before_anything_is_spent(ask, data, wrapped):
    search = wrapped(WITHOUT, ask=ask)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=NONE):
            search.fit(*data)
    assert [body.get("kind") for body in bodies(search.holdout_)] == [None]  # genesis


@pytest.mark.parametrize("copies", [1, 3])
def test_rows_that_are_too_few_for_a_median_are_told_before_anything_is_spent(copies, data, wrapped):
    X, y = np.vstack([data[0] + 1e-3 * copy for copy in range(copies)]), np.tile(data[1], copies)
    search, (text,) = warned(NONE, wrapped(WITHOUT).fit, X, y)
    few = text.startswith("150 rows in 7 subsamples are too few: what will be paid for certifies nothing. ")
    assert few == search.best_answer_.certificate.vacuous == (copies == 1)


@pytest.mark.parametrize("way", ["stable_median", "scorer", "declared to do without"])
def test_a_median_that_was_asked_for_is_not_warned_of(way, rows, wrapped, tmp_path):
    params = {"mechanism": "stable_median"}
    if way == "declared to do without":
        params = {"scoring": Metric("roc_auc", kind="general")}
    elif way == "scorer":
        holdout = Holdout(rows[2], rows[3], ledger=tmp_path / "scorer.db")
        params = {"mechanism": StableHoldoutScorer("average_precision", holdout), "ledger": None}
    search, texts = warned(NONE, wrapped().set_params(**params).fit, rows[0], rows[1])
    assert search.best_score_target_.startswith("median of ")
    assert not texts


@pytest.mark.parametrize(
    ("scoring", "way_out"),
    [
        ("neg_mean_squared_error", "Metric('neg_mean_squared_error', range=(low, 0))"),
        ("r2", "Its winner can be certified: ask='winner'."),
    ],
)
@pytest.mark.parametrize("counts", [False, True])
def test_the_way_out_of_a_regression(scoring, way_out, counts, data, wrapped):
    X, _ = data
    y = np.rint(2 * X[:, 0]).clip(-2, 2).astype(int) if counts else X[:, 0] + 0.1 * X[:, 1]
    with pytest.raises(ValueError, match="a metric with an interval of its own") as caught:
        wrapped(scoring, Ridge(), ask="candidates").fit(X, y)
    assert way_out in str(caught.value)
    assert "accuracy" not in str(caught.value)


def test_the_way_out_offers_only_what_has_an_interval_here(data, wrapped):
    _, (text,) = warned(NONE, wrapped(WITHOUT).fit, *data, groups=np.arange(len(data[1])) // 2)
    assert "'balanced_accuracy', 'accuracy'" in text
    assert "roc_auc" not in text
    assert "groups" in text


@pytest.fixture
def data(rows):
    return np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]]
