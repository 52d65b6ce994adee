"""Beside a score stands what it is a score of; what is bought unasked, or certifies nothing, is warned of."""

import html
import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import fbeta_score, make_scorer

from sklearn_ada import Holdout, Metric, StableHoldoutScorer, ThresholdoutScorer
from tests.support.ledgers import begun_as, kinds
from tests.support.searches import asking, grid, warned

ACCURACY = "population accuracy at the holdout's class mix"
AVERAGE_PRECISION = "population average_precision at the holdout's class mix, ties broken at random"
MEDIAN = "median of {} over random subsamples of "
WITHOUT = make_scorer(fbeta_score, beta=2, average="micro")  # nothing is known of it but its values
NO_INTERVAL, NO_CELLS = "no interval of its own", "has no cells"
STABLE = {"mechanism": "stable_median"}
asks = pytest.mark.parametrize("ask", ["candidates", "winner", 2])


@pytest.fixture
def data(rows):
    return np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]]


@pytest.fixture
def wrapped(wrap):
    """Wrap a search over strengths, by default of classifiers by their average precision."""

    def make(scoring="average_precision", model=None, n_jobs=None, **params):
        inner = grid(LogisticRegression() if model is None else model, [0.01, 0.1, 1.0], scoring=scoring)
        return wrap(inner.set_params(n_jobs=n_jobs), **params)

    return make


@pytest.fixture
def numeric():
    return make_regression(1200, 5, noise=10.0, random_state=0)


# targets


@pytest.mark.filterwarnings("ignore::UserWarning")
@asks
@pytest.mark.parametrize("scoring", ["accuracy", "average_precision"])
def test_the_target_stands_beside_the_score(ask, scoring, data, wrapped):
    is_median = (ask, scoring) == ("candidates", "average_precision")
    search = wrapped(scoring, ask=ask, **(STABLE if is_median else {})).fit(*data)
    exact = ACCURACY if scoring == "accuracy" else AVERAGE_PRECISION
    expected = MEDIAN.format(scoring) if is_median else exact
    assert search.best_score_target_.startswith(expected)
    assert search.best_score_target_ == re.split(", (?:told|shown) as ", search.best_answer_.target)[0]
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


# a median that nobody asked for


@asks
def test_one_warning_tells_of_a_median_that_nobody_asked_for_before_anything_is_spent(ask, data, wrapped):
    search = wrapped(WITHOUT, ask=ask)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=NO_INTERVAL):
            search.fit(*data)
    assert kinds(search.holdout_) == [None]
    with pytest.warns(UserWarning, match=NO_INTERVAL) as caught:
        search.fit(*data)
    (notice,) = [each for each in caught if NO_INTERVAL in str(each.message)]
    text, size = (
        str(notice.message),
        search.best_score_target_.removeprefix(MEDIAN.format(WITHOUT)).split()[0],
    )
    for part in (
        f"the median of {WITHOUT} over random subsamples of {size} rows",
        f"another quantity than {WITHOUT} on all rows and can be far from it",
        "'roc_auc', 'balanced_accuracy', 'accuracy'",
    ):
        assert part in text
    assert text.endswith("mechanism='stable_median'.")
    assert notice.filename == __file__


@pytest.mark.parametrize("copies", [1, 3])
def test_rows_too_few_for_a_median_are_warned_of_before_anything_is_spent(copies, data, wrapped):
    X, y = np.vstack([data[0] + 1e-3 * copy for copy in range(copies)]), np.tile(data[1], copies)
    search, (text,) = warned(NO_INTERVAL, wrapped(WITHOUT).fit, X, y)
    few = text.startswith("150 rows in 7 subsamples are too few: what will be paid for certifies nothing. ")
    assert few == search.best_answer_.certificate.vacuous == (copies == 1)


ASKED_FOR = {
    "stable_median": lambda holdout: STABLE,
    "declared to do without": lambda holdout: {"scoring": Metric("roc_auc", kind="general")},
    "scorer": lambda holdout: {"mechanism": StableHoldoutScorer("average_precision", holdout)},
}


@pytest.mark.parametrize("way", ASKED_FOR)
def test_a_median_that_was_asked_for_is_not_warned_of(way, rows, holdout, wrapped, tmp_path):
    params = {"ledger": None if way == "scorer" else tmp_path / "own.db", **ASKED_FOR[way](holdout)}
    search, texts = warned(NO_INTERVAL, wrapped().set_params(**params).fit, rows[0], rows[1])
    assert search.best_score_target_.startswith("median of ")
    assert not texts


WAYS = [
    ("neg_mean_squared_error", "Metric('neg_mean_squared_error', range=(low, 0))"),
    ("r2", "Its winner can be certified: ask='winner'."),
]


@pytest.mark.parametrize(("scoring", "way_out"), WAYS)
@pytest.mark.parametrize("counts", [False, True])
def test_the_way_out_of_a_regression(scoring, way_out, counts, data, wrapped):
    X, _ = data
    y = np.rint(2 * X[:, 0]).clip(-2, 2).astype(int) if counts else X[:, 0] + 0.1 * X[:, 1]
    with pytest.raises(ValueError, match="a metric with an interval of its own") as caught:
        wrapped(scoring, Ridge(), ask="candidates").fit(X, y)
    assert way_out in str(caught.value)
    assert "accuracy" not in str(caught.value)


def test_the_way_out_offers_only_what_has_an_interval_here(data, wrapped):
    _, (text,) = warned(NO_INTERVAL, wrapped(WITHOUT).fit, *data, groups=np.arange(len(data[1])) // 2)
    assert "'roc_auc', 'balanced_accuracy', 'accuracy'" in text
    assert "groups" in text


# exact answers on a ledger of an older format that answers in cells


@pytest.fixture
def older():
    """Let ledgers be begun as they were by the first releases."""
    with begun_as(1):
        yield


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "f1_macro", "neg_log_loss"])
def test_an_exact_answer_is_warned_of_once_a_ledger_before_it_is_paid(scoring, data, wrapped, older):
    """On a ledger that was begun before there were windows."""
    search = wrapped(scoring)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=NO_CELLS):
            search.fit(*data)
    assert not search.holdout_.report().answers
    found, (text,) = warned(NO_CELLS, search.fit, *data)
    assert found.best_answer_.verdict == "exact"
    assert text.startswith(f"{scoring} has no cells")
    assert f"holdout.certify(model, scoring={scoring!r}" in text
    assert not warned(NO_CELLS, search.fit, *data)[1]


@pytest.mark.parametrize(
    ("scoring", "params"),
    [("accuracy", {}), ("roc_auc", {}), ("roc_auc", {"answers": "exact"}), ("f1_macro", STABLE)],
)
def test_where_there_are_cells_or_none_were_asked_for_nothing_is_warned_of(scoring, params, data, wrapped):
    assert not warned(NO_CELLS, wrapped(scoring, **params).fit, *data)[1]


def test_a_regression_is_not_sent_to_the_accuracy(numeric, wrapped, older):
    search, texts = warned("", wrapped(None, Ridge()).fit, *numeric)
    assert any("No metric of numbers has cells: do with few searches" in text for text in texts)
    assert not any("'accuracy'" in text for text in texts)
    headline = search.holdout_.report().headline
    assert headline.startswith("How wide the next search is answered is not foreseen")
    assert "accuracy" not in headline


@pytest.mark.parametrize("scoring", ["r2", "roc_auc", "f1_macro"])
def test_of_a_metric_in_windows_the_headline_says_how_wide_they_are(scoring, numeric, rows, wrapped):
    """Nothing is foretold of an accuracy, and before and after what is published it is about the metric."""
    params = wrapped(None, Ridge()) if scoring == "r2" else wrapped(scoring)
    search, texts = warned("", params.fit, *(numeric if scoring == "r2" else rows[:2]))
    assert not [text for text in texts if "L-BFGS-B" not in text]  # of SciPy, to an older scikit-learn
    report, answer = search.holdout_.report(), search.best_answer_
    assert report.headline.startswith(f"The next search by {scoring} is answered at about +-")
    assert report.headline.endswith(f"a score at about +-{answer.published:.2g}.")
    assert report.headline in html.unescape(search.holdout_._repr_html_()).replace("±", "+-")
    search.publish()
    outlook = search.holdout_.report().outlook
    assert (outlook.metric, outlook.finals) == (scoring, 1)


# what certifies nothing


@pytest.fixture
def certified(rows, wrapped):
    """Fit a search whose holdout has n rows, and return it with what it warned of."""

    def fit(scoring="accuracy", n=12, **params):
        search = wrapped(scoring, holdout=np.arange(300) < n, **params)
        return warned("certif", search.fit, rows[0], rows[1])

    return fit


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("ask", ["candidates", "winner", 3])
def test_each_fit_that_certifies_nothing_warns_once_even_of_a_recorded_answer(ask, n_jobs, certified):
    how = {"ask": ask, "n_jobs": n_jobs, **STABLE}
    (_, (text,)), (search, (again,)) = (certified("rand_score", 30, **how) for _ in range(2))
    assert search.best_answer_.repeated
    assert search.best_score_interval_ == (0.0, 1.0)
    assert search.best_answer_.certificate.vacuous
    for part in ("30 rows in 1 subsamples, with", "nats revealed", "top_up", "plan_holdout"):
        assert part in text
    for each in (text, again):
        assert "The interval of best_score_ certifies nothing" in each


def test_a_search_that_certifies_warns_of_nothing(certified):
    search, texts = certified(n=150)
    assert not search.best_answer_.certificate.vacuous
    assert not texts


def test_a_warning_speaks_of_candidates_where_the_winner_is_certified(certified):
    search, (of_rows, text) = certified(n=10, ask="candidates", answers="exact")
    assert of_rows.startswith("The holdout has 10 rows")
    flags = [answer.certificate.vacuous for answer in search.answers_]
    assert any(flags)
    assert not flags[-1]
    assert text.startswith(f"{sum(flags)} of the 4 answers of this search certify nothing.")


def test_a_median_names_its_subsamples(certified):
    search, (text,) = certified("f1_macro", 75, **STABLE)
    assert search.best_score_interval_ == (0.0, 1.0)
    assert "75 rows in 3 subsamples" in text


def test_a_scorer_in_a_search_of_ones_own_tells_once(rows, tmp_path):
    holdout = Holdout(rows[2][:3], rows[3][:3], ledger=tmp_path / "ledger.db")
    search = asking(ThresholdoutScorer("accuracy", holdout))
    _, (text,) = warned("certif", search.fit, rows[0], rows[1])
    assert text.startswith("An answer of the holdout certifies nothing.")
