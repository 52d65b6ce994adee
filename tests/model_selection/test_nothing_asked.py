"""A winner about which there is nothing to ask: the search ends with a warning, and nothing is charged."""

import math
import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, LeaveOneOut, RandomizedSearchCV
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.metaestimators import available_if

from sklearn_ada import CertifiedSearchDisplay, Holdout, Metric, ReusableHoldoutCV, StableHoldoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError

GRID = {"alpha": [1.0, 0.1, 10.0]}
ARBITRARY = r"No candidate got a score from the search itself.+arbitrary.+not asked, nothing was charged.+NaN"


CLIPPED = Metric("neg_mean_absolute_error", range=(-3.0, 0.0))


def undefined(estimator, X, y):
    """Return no score."""
    return math.nan


def broken(estimator, X, y):
    """Fail."""
    raise RuntimeError("out of ink")


def several(estimator, X, y):
    """Return two scores, of which one is undefined."""
    return {"right": estimator.score(X, y), "undefined": math.nan}


@pytest.fixture
def data(numbered):
    return numbered[0][:, 1:], numbered[1]["regressor"]


@pytest.fixture
def wrap(tmp_path):
    """Wrap a search with a ledger in a file."""

    def wrapped(search, **params):
        return ReusableHoldoutCV(search, **{"ledger": tmp_path / "ledger.db", **params})

    return wrapped


@pytest.fixture
def unscored(wrap, data):
    """Fit a wrapped search whose r2 is of folds of one row, so NaN, and check its warning."""

    def fit(search=None, **params):
        search = wrap(GridSearchCV(Ridge(), GRID, cv=LeaveOneOut()) if search is None else search, **params)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search.fit(data[0][:40], data[1][:40])
        told = [str(each.message) for each in caught if "No candidate" in str(each.message)]
        assert len(told) == 1
        return search, told[0]

    return fit


def kinds(search):
    return {record.body.get("kind", "genesis") for record in search.holdout_.ledger.records()}


@pytest.mark.parametrize("answers", ["auto", "coarse", "exact"])
@pytest.mark.parametrize(
    "params",
    [
        {"ask": "winner"},
        {"ask": 2},
        {"ask": 2, "reveal": "winner"},
        {"ask": 3, "one_standard_error": True},
        {"ask": 3, "one_standard_error": "alpha"},
    ],
    ids=lambda params: " ".join(map(str, params.values())),
)
def test_a_search_without_scores_keeps_what_it_keeps_by_itself_and_is_not_charged(params, answers, unscored):
    search, told = unscored(answers=answers, **params)
    assert kinds(search) <= {"genesis", "overlap"}  # no round, selection or answer
    assert search.holdout_.report().nats < 1e-5
    assert search.answers_ == []
    assert not hasattr(search, "best_answer_")
    assert math.isnan(search.best_score_)
    assert search.best_score_interval_ == (-math.inf, math.inf)
    assert search.best_score_target_ == ""
    assert search.best_index_ == search.search_.best_index_ == 0
    assert search.best_params_ == search.search_.best_params_ == {"alpha": 1.0}
    assert search.best_estimator_.alpha == 1.0
    np.testing.assert_allclose(search.best_estimator_.coef_, search.search_.best_estimator_.coef_)
    table = search.cv_results_
    assert np.isnan([table["certified_low"], table["certified_high"]]).all()
    assert table["verdict"].tolist() == table["certified_target"].tolist() == ["", "", ""]
    assert "candidate 0, an arbitrary one, is kept" in told


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_mechanism_that_chooses_among_a_few_has_nothing_to_choose(wrap, numbered):
    inner = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.1, 1.0, 10.0]}, scoring=undefined)
    search = wrap(inner, ask=2, mechanism="exponential_mechanism", scoring="accuracy")
    search.fit(numbered[0][:, 1:], numbered[1]["classifier"])
    assert kinds(search) <= {"genesis", "overlap"}
    assert search.best_index_ == 0
    assert math.isnan(search.best_score_)


def test_the_warning_says_what_helps_and_the_cause_if_there_is_one(unscored):
    _, told = unscored()
    assert "pass more rows, or give it a cv with fewer folds" in told
    assert "error_score='raise'" in told
    _, told = unscored(GridSearchCV(Ridge(), GRID, scoring=broken))
    assert "raises RuntimeError: out of ink" in told
    assert "error_score='raise'" in told


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", ["winner", 2])
def test_a_scorer_of_scikit_learn_that_fails_is_the_cause_too(ask, wrap, numbered):
    inner = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring="neg_brier_score")
    search = wrap(inner, ask=ask)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(numbered[0][:, 1:], np.array(["ill", "well"])[numbered[1]["classifier"]])
    (told,) = [str(each.message) for each in caught if "No candidate" in str(each.message)]
    assert "pos_label is not specified" in told
    assert search.best_score_interval_ == (-1.0, 0.0)


def test_with_error_score_raise_the_error_comes_through_and_nothing_is_charged(wrap, data):
    search = wrap(GridSearchCV(Ridge(), GRID, scoring=broken, error_score="raise"))
    with pytest.warns(UserWarning, match="median"), pytest.raises(RuntimeError, match="out of ink"):
        search.fit(*data)
    assert kinds(search) <= {"genesis", "overlap"}


def test_the_interval_is_the_range_of_a_metric_that_has_one(unscored):
    search, _ = unscored(GridSearchCV(Ridge(), GRID, scoring=undefined), scoring=CLIPPED)
    assert search.best_score_interval_ == (-3.0, 0.0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("metric", "bounds"), [("accuracy", (0.0, 1.0)), ("matthews_corrcoef", (-1.0, 1.0)), (None, (0.0, 1.0))]
)
def test_the_interval_of_a_classifier_is_everything_that_its_metric_can_be(metric, bounds, numbered, wrap):
    inner = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=undefined if metric else "accuracy")
    if metric is None:  # of a search whose own scores are undefined too
        inner = GridSearchCV(WithoutScore(), {"label": [0, 1]})
    search = wrap(inner, scoring=metric).fit(numbered[0][:, 1:], numbered[1]["classifier"])
    assert search.best_score_interval_ == bounds
    assert math.isnan(search.best_score_)
    assert search.answers_ == []


class WithoutScore(ClassifierMixin, BaseEstimator):
    """Predicts, and has a score that is undefined."""

    def __init__(self, label=0):
        self.label = label

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.label)

    def score(self, X, y):
        return math.nan


def test_what_a_refit_function_chooses_without_a_score_is_kept_as_chosen(unscored):
    search, told = unscored(GridSearchCV(Ridge(), GRID, cv=LeaveOneOut(), refit=lambda table: 2))
    assert search.best_index_ == 2
    assert search.best_estimator_.alpha == 10.0
    assert "candidate 2, which its refit function chose, is kept" in told


def test_one_of_several_scores_that_is_undefined_is_no_score(unscored):
    search, _ = unscored(GridSearchCV(Ridge(), GRID, scoring=several, refit="undefined"), ask="winner")
    assert math.isnan(search.best_score_)
    assert np.isfinite(search.cv_results_["mean_test_right"]).all()


@pytest.mark.parametrize("kind", [RandomizedSearchCV, HalvingGridSearchCV])
def test_searches_of_other_kinds_end_so_too(kind, unscored):
    search = kind(Ridge(), GRID, scoring=undefined, **({"n_iter": 3} if kind is RandomizedSearchCV else {}))
    search, _ = unscored(search)
    assert search.answers_ == []
    assert search.best_estimator_.get_params()["alpha"] == search.best_params_["alpha"]


def test_a_metric_named_for_a_search_without_refit_is_not_asked_for_either(unscored):
    search, _ = unscored(GridSearchCV(Ridge(), GRID, scoring=undefined, refit=False), scoring="r2")
    assert search.best_index_ == 0
    assert search.best_estimator_.alpha == 1.0
    assert search.answers_ == []


def test_the_kept_model_predicts_and_scores(unscored, data):
    search, _ = unscored()
    assert search.predict(data[0]).shape == data[1].shape
    assert search.score(data[0][40:], data[1][40:]) == search.best_estimator_.score(
        data[0][40:], data[1][40:]
    )


def test_publish_says_how_to_ask_and_that_works(unscored, data, sentence, uncharged):
    search, _ = unscored()
    with (
        uncharged(search.holdout_),
        pytest.raises(ValueError, match=sentence("search", "ReusableHoldoutCV.publish")) as caught,
    ):
        search.publish()
    assert "fewer folds" in str(caught.value)
    assert "search.holdout_.publish(search.best_estimator_, scoring=...)" in str(caught.value)
    answer = search.holdout_.publish(
        search.best_estimator_, scoring="r2", guess_from=(data[0][40:], data[1][40:])
    )
    assert search.holdout_.report().asked["certify"] == 1
    assert answer.interval[0] <= answer.value <= answer.interval[1]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_kept_model_can_be_compared_with_another(wrap, numbered):
    X, y = numbered[0][:, 1:], numbered[1]["classifier"]
    kept = wrap(GridSearchCV(WithoutScore(), {"label": [0]})).fit(X, y)
    other = wrap(GridSearchCV(LogisticRegression(max_iter=500), {"C": [1.0]})).fit(X, y)
    answer = other.compare(kept)
    assert answer.value > 0.1
    assert not answer.repeated
    assert other.compare(kept.best_estimator_).repeated  # the search stands for its model
    assert kept.compare(other).value == pytest.approx(-answer.value)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_ledger_goes_on_as_if_there_had_been_no_such_search(wrap, data, tmp_path):
    """A later search gets the same answer, at the same price, with the same interval."""
    told = {}
    for name in ("after", "alone"):
        at = {"ledger": tmp_path / f"{name}.db"}
        if name == "after":
            wrap(GridSearchCV(Ridge(), GRID, scoring=undefined), scoring="r2", **at).fit(*data)
        told[name] = wrap(GridSearchCV(Ridge(), GRID), **at).fit(*data).best_answer_
    assert told["after"].value == told["alone"].value
    assert told["after"].interval == pytest.approx(told["alone"].interval, rel=1e-6)
    assert told["after"].cost.nats == pytest.approx(told["alone"].cost.nats, rel=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_search_fitted_again_has_nothing_of_the_other_fit(wrap, data):
    search = wrap(GridSearchCV(Ridge(), GRID)).fit(*data)
    assert search.best_answer_.answered
    search.set_params(search__cv=LeaveOneOut()).fit(*data)
    assert not hasattr(search, "best_answer_")
    assert math.isnan(search.best_score_)
    search.set_params(search__cv=5).fit(*data)
    assert search.best_score_ == search.best_answer_.value
    assert search.publish().answered


def test_it_is_shown_pickled_and_told_as_what_it_is(unscored):
    search, _ = unscored()
    assert "ReusableHoldoutCV" in repr(search)
    with config_context(display="diagram"):
        page = search._repr_html_()
    assert "Nothing is certified of best_estimator_" in page
    assert "fewer folds" in page
    again = pickle.loads(pickle.dumps(search))
    assert math.isnan(again.best_score_)
    assert again.best_params_ == search.best_params_
    with pytest.raises(ValueError, match="about which nothing was asked"):
        again.publish()
    with pytest.raises(ValueError, match="must be a search that certified a score"):
        CertifiedSearchDisplay.from_estimator(search)
    assert "certify" in str(search.holdout_.report())


def test_a_filter_that_makes_the_warning_an_error_finds_the_search_fitted(wrap, data):
    search = wrap(GridSearchCV(Ridge(), GRID, scoring=undefined), scoring="r2")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "One or more")
        warnings.filterwarnings("error", "No candidate")
        with pytest.raises(UserWarning, match=ARBITRARY):
            search.fit(*data)
    assert search.predict(data[0]).shape == data[1].shape


def test_a_refusal_stays_an_error(wrap, data):
    """Nothing is left of the tolerance: that is told before the search, whatever it would score."""
    inner = GridSearchCV(LinearRegression(), {"fit_intercept": [True, False]}, scoring=undefined)
    with pytest.raises(BudgetExhaustedError):
        wrap(inner, scoring=CLIPPED, tolerance=0.001).fit(*data)


def test_exhaustion_of_another_holdout_inside_of_the_scorer_stays_an_error(wrap, data):
    def exhausted(estimator, X, y):
        raise BudgetExhaustedError("nothing is left")

    search = wrap(GridSearchCV(Ridge(), GRID, scoring=exhausted), scoring=CLIPPED)
    with (
        pytest.warns(UserWarning, match="Scoring failed"),
        pytest.raises(ValueError, match="BudgetExhaustedError: nothing is left") as caught,
    ):
        search.fit(*data)
    assert isinstance(caught.value.__cause__, BudgetExhaustedError)
    assert kinds(search) <= {"genesis", "overlap"}


class Silent(ClassifierMixin, BaseEstimator):
    """Has a score and no ``predict``."""

    def __init__(self, max_depth=1):
        self.max_depth = max_depth

    def fit(self, X, y):
        self.model_ = DecisionTreeClassifier(max_depth=self.max_depth, random_state=0).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def score(self, X, y):
        return self.model_.score(X, y)


@pytest.mark.parametrize("ask", ["winner", 2])
def test_a_winner_without_predict_is_kept_and_not_asked_about(ask, wrap, numbered):
    search = wrap(GridSearchCV(Silent(), {"max_depth": [1, 4]}), ask=ask)
    with pytest.warns(UserWarning, match=r"no predict.+So candidate 1 is kept.+not asked.+NaN"):
        search.fit(numbered[0][:, 1:], numbered[1]["classifier"])
    assert search.best_index_ == search.search_.best_index_ == 1  # it is the best by its own scores
    assert search.answers_ == []
    assert kinds(search) <= {"genesis", "overlap"}
    with pytest.raises(ValueError, match="no predict"):
        search.publish()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_of_candidates_without_predict_none_is_asked_about(wrap, numbered):
    search = wrap(GridSearchCV(Silent(), {"max_depth": [1]}), ask="candidates")
    with pytest.raises(TypeError, match="with one of predict"):
        search.fit(numbered[0][:, 1:], numbered[1]["classifier"])
    assert kinds(search) <= {"genesis", "overlap", "round", "round_close"}


def least_recall(table):
    return int(np.argmin(table["mean_test_recall"]))


@pytest.mark.parametrize("scoring", [["accuracy", "recall"], {"a": "accuracy", "recall": "recall"}])
def test_a_function_of_several_scores_chooses_and_nothing_is_certified(scoring, wrap, numbered, sentence):
    X, y = numbered[0][:, 1:], numbered[1]["classifier"]
    grid = {"C": [1e-6, 1.0], "max_iter": [500]}
    search = wrap(GridSearchCV(LogisticRegression(), grid, scoring=scoring, refit=least_recall))
    with pytest.warns(UserWarning, match=r"by several scores.+Name one.+scoring='accuracy'.+not asked"):
        search.fit(X, y)
    assert search.best_index_ == least_recall(search.cv_results_)
    assert search.predict(X).shape == y.shape
    assert kinds(search) <= {"genesis", "overlap"}
    assert search.answers_ == []
    for name in ("best_score_", "best_score_interval_", "best_answer_"):
        assert not hasattr(search, name)
    with pytest.raises(ValueError, match="Name one"):
        search.publish()
    named = wrap(search.search, scoring="recall").fit(X, y)
    assert named.best_index_ == search.best_index_
    assert "population recall" in named.best_score_target_


def test_the_function_gets_its_metric_from_a_mechanism_too(wrap, numbered, tmp_path):
    X, y = numbered[0][:, 1:], numbered[1]["classifier"]
    holdout = Holdout(X[200:], y[200:], ledger=tmp_path / "own.db")
    inner = GridSearchCV(
        LogisticRegression(max_iter=500), {"C": [1.0]}, scoring=["f1", "recall"], refit=least_recall
    )
    mechanism = StableHoldoutScorer("f1", holdout)
    search = ReusableHoldoutCV(inner, mechanism=mechanism, holdout=holdout).fit(X[:200], y[:200])
    assert search.best_answer_.answered


def test_of_several_scores_of_one_function_another_function_chooses(data, wrap):
    inner = GridSearchCV(Ridge(), GRID, scoring=several, refit=lambda results: 1)
    with pytest.warns(UserWarning, match="A function chooses the winner by several scores.+refit function"):
        search = wrap(inner).fit(*data)
    assert (search.best_index_, search.best_params_) == (1, {"alpha": 0.1})
    assert not hasattr(search, "best_score_")  # as of a search of scikit-learn
    assert search.holdout_.report().asked == {"check": 0, "certify": 0}
    named = wrap(inner, scoring="r2").fit(*data)
    assert named.best_index_ == 1
    assert named.answers_ == [named.best_answer_]


class Either(Silent):
    """Has ``predict`` if it is told so."""

    def __init__(self, max_depth=1, predicts=True):
        super().__init__(max_depth)
        self.predicts = predicts

    @available_if(lambda self: self.predicts)
    def predict(self, X):
        return self.model_.predict(X)


def test_of_the_best_few_those_are_asked_about_that_can_be(wrap, numbered):
    grid = [{"max_depth": [4], "predicts": [False]}, {"max_depth": [1], "predicts": [True]}]
    search = wrap(GridSearchCV(Either(), grid), ask=2)
    with pytest.warns(UserWarning, match="Of the best 2 models 1 cannot be asked about"):
        search.fit(numbered[0][:, 1:], numbered[1]["classifier"])
    assert search.best_params_ == {"max_depth": 1, "predicts": True}
    assert search.answers_ == [search.best_answer_]


class Sure(ClassifierMixin, BaseEstimator):
    """Has probabilities and no ``predict``."""

    def __init__(self, max_depth=1):
        self.max_depth = max_depth

    def fit(self, X, y):
        self.model_ = DecisionTreeClassifier(max_depth=self.max_depth, random_state=0).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def test_a_model_is_asked_by_the_method_that_the_metric_takes(wrap, numbered):
    X, y = numbered[0][:, 1:], numbered[1]["classifier"]
    search = wrap(GridSearchCV(Sure(), {"max_depth": [1, 2]}, scoring="roc_auc")).fit(X, y)
    assert search.best_answer_.answered
    model = Sure().fit(X, y)
    with pytest.raises(TypeError, match="predict"):
        search.holdout_.certify(model, scoring="accuracy", guess=0.5)


def partly(estimator, X, y):
    """Return no score of one candidate."""
    return math.nan if estimator.alpha == 10.0 else estimator.score(X, y)


@pytest.mark.parametrize("ask", ["winner", 2])
def test_the_choice_of_a_function_that_has_no_score_is_kept_and_not_asked_about(ask, wrap, data):
    inner = GridSearchCV(Ridge(), GRID, scoring=partly, refit=lambda results: 2)
    search = wrap(inner, scoring="r2", ask=ask)
    with pytest.warns(UserWarning, match="The candidate that the search's refit function chose has no score"):
        search.fit(*data)
    assert search.best_params_ == {"alpha": 10.0}
    assert search.answers_ == []


def test_of_a_clustering_nothing_says_which_metric_of_labels_is_meant(wrap, numbered):
    X, y = numbered[0][:, 1:], numbered[1]["classifier"]
    search = wrap(GridSearchCV(KMeans(random_state=0, n_init=1), {"n_clusters": [2, 3]}))
    with pytest.warns(UserWarning, match="neither a classifier nor a regressor.+Name one"):
        search.fit(X, y)
    assert search.best_params_ == {"n_clusters": 3}  # by inertia
    assert kinds(search) <= {"genesis", "overlap"}
    with pytest.raises(ValueError, match="neither a classifier"):
        search.publish()


def test_after_a_fit_that_did_not_end_nothing_is_published(wrap, data):
    search = wrap(GridSearchCV(Ridge(), GRID)).fit(*data)
    search.set_params(search=GridSearchCV(Ridge(), GRID, scoring=broken, error_score="raise"))
    with pytest.raises(RuntimeError, match="out of ink"):
        search.fit(*data)
    with pytest.raises(ValueError, match="The last call of fit did not end"):
        search.publish()
