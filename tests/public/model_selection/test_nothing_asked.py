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

from sklearn_ada import CertifiedSearchDisplay, Holdout, Metric, StableHoldoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support.searches import grid, warned

ALPHAS = [1.0, 0.1, 10.0]
LOGISTIC = LogisticRegression(max_iter=500)
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
def classes(numbered):
    return numbered[0][:, 1:], numbered[1]["classifier"]


@pytest.fixture
def unscored(wrap, data):
    """Fit a wrapped search whose r2 is of folds of one row, so NaN, and return its warning, too."""

    def fit(search=None, **params):
        search = wrap(grid(Ridge(), ALPHAS, cv=LeaveOneOut()) if search is None else search, **params)
        _, (text,) = warned("No candidate", search.fit, data[0][:40], data[1][:40])
        return search, text

    return fit


def kinds(search):
    return {record.body.get("kind", "genesis") for record in search.holdout_.ledger.records()}


FEW = [
    *({"ask": "winner"}, {"ask": 2}, {"ask": 2, "reveal": "winner"}),
    *({"ask": 3, "one_standard_error": True}, {"ask": 3, "one_standard_error": "alpha"}),
]


@pytest.mark.parametrize("answers", ["auto", "coarse", "exact"])
@pytest.mark.parametrize("params", FEW, ids=lambda params: " ".join(map(str, params.values())))
def test_a_search_without_scores_keeps_what_it_keeps_by_itself_and_is_not_charged(params, answers, unscored):
    search, text = unscored(answers=answers, **params)
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
    for part in ("candidate 0, an arbitrary one, is kept", "error_score='raise'"):
        assert part in text
    assert "pass more rows, or give it a cv with fewer folds" in text


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_mechanism_that_chooses_among_a_few_has_nothing_to_choose(wrap, classes):
    inner = grid(LOGISTIC, scoring=undefined)
    search = wrap(inner, ask=2, mechanism="exponential_mechanism", scoring="accuracy").fit(*classes)
    assert kinds(search) <= {"genesis", "overlap"}
    assert search.best_index_ == 0
    assert math.isnan(search.best_score_)


def test_the_warning_names_the_cause_if_there_is_one(unscored):
    _, text = unscored(grid(Ridge(), ALPHAS, scoring=broken))
    assert "raises RuntimeError: out of ink" in text
    assert "error_score='raise'" in text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", ["winner", 2])
def test_a_scorer_of_scikit_learn_that_fails_is_the_cause_too(ask, wrap, classes):
    search = wrap(grid(LOGISTIC, scoring="neg_brier_score"), ask=ask)
    _, (text,) = warned("No candidate", search.fit, classes[0], np.array(["ill", "well"])[classes[1]])
    assert "pos_label is not specified" in text
    assert search.best_score_interval_ == (-1.0, 0.0)


@pytest.mark.filterwarnings("ignore:.*median:UserWarning")
def test_with_error_score_raise_the_error_comes_through_and_nothing_is_charged(wrap, data):
    search = wrap(grid(Ridge(), scoring=broken, error_score="raise"))
    with pytest.raises(RuntimeError, match="out of ink"):
        search.fit(*data)
    assert kinds(search) <= {"genesis", "overlap"}


INTERVALS = [
    ("accuracy", (0.0, 1.0)),
    ("matthews_corrcoef", (-1.0, 1.0)),
    (None, (0.0, 1.0)),
    (CLIPPED, (-3.0, 0.0)),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("metric", "bounds"), INTERVALS)
def test_the_interval_is_everything_that_the_metric_can_be(metric, bounds, classes, data, wrap):
    inner = grid(Ridge() if metric is CLIPPED else LOGISTIC, scoring=undefined)
    if metric is None:  # of a search whose own scores are undefined too
        inner = GridSearchCV(WithoutScore(), {"label": [0, 1]})
    search = wrap(inner, scoring=metric).fit(*(data if metric is CLIPPED else classes))
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
    search, text = unscored(grid(Ridge(), ALPHAS, cv=LeaveOneOut(), refit=lambda table: 2))
    assert search.best_index_ == 2
    assert search.best_estimator_.alpha == 10.0
    assert "candidate 2, which its refit function chose, is kept" in text


def test_one_of_several_scores_that_is_undefined_is_no_score(unscored):
    search, _ = unscored(grid(Ridge(), scoring=several, refit="undefined"))
    assert math.isnan(search.best_score_)
    assert np.isfinite(search.cv_results_["mean_test_right"]).all()


OTHERS = [  # the last is without refit: the metric named for it is not asked for either
    RandomizedSearchCV(Ridge(), {"alpha": ALPHAS}, n_iter=3, scoring=undefined),
    HalvingGridSearchCV(Ridge(), {"alpha": ALPHAS}, scoring=undefined),
    grid(Ridge(), ALPHAS, scoring=undefined, refit=False),
]


@pytest.mark.parametrize("search", OTHERS, ids=lambda search: type(search).__name__)
def test_searches_of_other_kinds_end_so_too(search, unscored):
    search, _ = unscored(search, scoring=None if search.refit else "r2")
    assert search.answers_ == []
    assert search.best_estimator_.get_params()["alpha"] == search.best_params_["alpha"]


def test_the_kept_model_predicts_scores_and_can_be_asked_about_as_publish_says(
    unscored, data, sentence, uncharged
):
    search, _ = unscored()
    model, rest = search.best_estimator_, (data[0][40:], data[1][40:])
    assert search.predict(data[0]).shape == data[1].shape
    assert search.score(*rest) == model.score(*rest)
    refusal = pytest.raises(ValueError, match=sentence("search", "ReusableHoldoutCV.publish"))
    with uncharged(search.holdout_), refusal as caught:
        search.publish()
    assert "fewer folds" in str(caught.value)
    assert "search.holdout_.publish(search.best_estimator_, scoring=...)" in str(caught.value)
    answer = search.holdout_.publish(model, scoring="r2", guess_from=rest)
    assert search.holdout_.report().asked["certify"] == 1
    assert answer.interval[0] <= answer.value <= answer.interval[1]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_kept_model_can_be_compared_with_another(wrap, classes):
    kept = wrap(GridSearchCV(WithoutScore(), {"label": [0]})).fit(*classes)
    other = wrap(grid(LOGISTIC, [1.0])).fit(*classes)
    answer = other.compare(kept)
    assert answer.value > 0.1
    assert not answer.repeated
    assert other.compare(kept.best_estimator_).repeated  # the search stands for its model
    assert kept.compare(other).value == pytest.approx(-answer.value)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_ledger_goes_on_as_if_there_had_been_no_such_search(wrap, data, tmp_path):
    """A later search gets the same answer, at the same price, with the same interval."""
    wrap(grid(Ridge(), ALPHAS, scoring=undefined), scoring="r2").fit(*data)
    after = wrap(grid(Ridge())).fit(*data).best_answer_
    alone = wrap(grid(Ridge()), ledger=tmp_path / "alone.db").fit(*data).best_answer_
    assert after.value == alone.value
    assert after.interval == pytest.approx(alone.interval, rel=1e-6)
    assert after.cost.nats == pytest.approx(alone.cost.nats, rel=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_search_fitted_again_has_nothing_of_the_other_fit(wrap, data):
    few = data[0][:60], data[1][:60]
    search = wrap(grid(Ridge())).fit(*few)
    assert search.best_answer_.answered
    search.set_params(search__cv=LeaveOneOut()).fit(*few)
    assert not hasattr(search, "best_answer_")
    assert math.isnan(search.best_score_)
    search.set_params(search__cv=5).fit(*few)
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
    search = wrap(grid(Ridge(), [1.0, 0.1, 10.0], scoring=undefined), scoring="r2")
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


@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_exhaustion_of_another_holdout_inside_of_the_scorer_stays_an_error(wrap, data):
    def exhausted(estimator, X, y):
        raise BudgetExhaustedError("nothing is left")

    search = wrap(grid(Ridge(), scoring=exhausted), scoring=CLIPPED)
    with pytest.raises(ValueError, match="BudgetExhaustedError: nothing is left") as caught:
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
def test_a_winner_without_predict_is_kept_and_not_asked_about(ask, wrap, classes):
    search = wrap(grid(Silent(), [1, 4]), ask=ask)
    with pytest.warns(UserWarning, match=r"no predict.+So candidate 1 is kept.+not asked.+NaN"):
        search.fit(*classes)
    assert search.best_index_ == search.search_.best_index_ == 1  # it is the best by its own scores
    assert search.answers_ == []
    assert kinds(search) <= {"genesis", "overlap"}
    with pytest.raises(ValueError, match="no predict"):
        search.publish()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_of_candidates_without_predict_none_is_asked_about(wrap, classes):
    search = wrap(grid(Silent()), ask="candidates")
    with pytest.raises(TypeError, match="with one of predict"):
        search.fit(*classes)
    assert kinds(search) <= {"genesis", "overlap", "round", "round_close"}


def least_recall(table):
    return int(np.argmin(table["mean_test_recall"]))


@pytest.mark.parametrize("scoring", [["accuracy", "recall"], {"a": "accuracy", "recall": "recall"}])
def test_a_function_of_several_scores_chooses_and_nothing_is_certified(scoring, wrap, classes):
    search = wrap(grid(LOGISTIC, [1e-6, 1.0], scoring=scoring, refit=least_recall))
    with pytest.warns(UserWarning, match=r"by several scores.+Name one.+scoring='accuracy'.+not asked"):
        search.fit(*classes)
    assert search.best_index_ == least_recall(search.cv_results_)
    assert search.predict(classes[0]).shape == classes[1].shape
    assert kinds(search) <= {"genesis", "overlap"}
    assert search.answers_ == []
    for name in ("best_score_", "best_score_interval_", "best_answer_"):  # as of a search of scikit-learn
        assert not hasattr(search, name)
    with pytest.raises(ValueError, match="Name one"):
        search.publish()
    named = wrap(search.search, scoring="recall").fit(*classes)
    assert named.best_index_ == search.best_index_
    assert "population recall" in named.best_score_target_


def test_the_function_gets_its_metric_from_a_mechanism_too(wrap, classes, tmp_path):
    X, y = classes
    holdout = Holdout(X[200:], y[200:], ledger=tmp_path / "own.db")
    inner = grid(LOGISTIC, [1.0], scoring=["f1", "recall"], refit=least_recall)
    search = wrap(inner, mechanism=StableHoldoutScorer("f1", holdout), holdout=holdout).fit(X[:200], y[:200])
    assert search.best_answer_.answered


def test_of_several_scores_of_one_function_another_function_chooses(data, wrap):
    inner = grid(Ridge(), ALPHAS, scoring=several, refit=lambda results: 1)
    with pytest.warns(UserWarning, match="A function chooses the winner by several scores.+refit function"):
        search = wrap(inner).fit(*data)
    assert (search.best_index_, search.best_params_) == (1, {"alpha": 0.1})
    assert not hasattr(search, "best_score_")
    assert search.holdout_.report().asked == {"check": 0, "certify": 0}
    named = wrap(inner, scoring="r2").fit(*data)
    assert named.best_index_ == 1
    assert named.answers_ == [named.best_answer_]


class Either(Silent):
    """Has ``predict`` if it is told so, and probabilities."""

    def __init__(self, max_depth=1, predicts=True):
        super().__init__(max_depth)
        self.predicts = predicts

    @available_if(lambda self: self.predicts)
    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def test_of_the_best_few_those_are_asked_about_that_can_be(wrap, classes):
    candidates = [{"max_depth": [4], "predicts": [False]}, {"max_depth": [1], "predicts": [True]}]
    search = wrap(GridSearchCV(Either(), candidates), ask=2)
    with pytest.warns(UserWarning, match="Of the best 2 models 1 cannot be asked about"):
        search.fit(*classes)
    assert search.best_params_ == {"max_depth": 1, "predicts": True}
    assert search.answers_ == [search.best_answer_]


def test_a_model_is_asked_by_the_method_that_the_metric_takes(wrap, classes):
    model = Either(predicts=False)
    search = wrap(grid(model, scoring="roc_auc")).fit(*classes)
    assert search.best_answer_.answered
    with pytest.raises(TypeError, match="predict"):
        search.holdout_.certify(model.fit(*classes), scoring="accuracy", guess=0.5)


def partly(estimator, X, y):
    """Return no score of one candidate."""
    return math.nan if estimator.alpha == 10.0 else estimator.score(X, y)


@pytest.mark.parametrize("ask", ["winner", 2])
def test_the_choice_of_a_function_that_has_no_score_is_kept_and_not_asked_about(ask, wrap, data):
    search = wrap(grid(Ridge(), ALPHAS, scoring=partly, refit=lambda results: 2), scoring="r2", ask=ask)
    with pytest.warns(UserWarning, match="The candidate that the search's refit function chose has no score"):
        search.fit(*data)
    assert search.best_params_ == {"alpha": 10.0}
    assert search.answers_ == []


def test_of_a_clustering_nothing_says_which_metric_of_labels_is_meant(wrap, classes):
    search = wrap(GridSearchCV(KMeans(random_state=0, n_init=1), {"n_clusters": [2, 3]}))
    with pytest.warns(UserWarning, match="neither a classifier nor a regressor.+Name one"):
        search.fit(*classes)
    assert search.best_params_ == {"n_clusters": 3}  # by inertia
    assert kinds(search) <= {"genesis", "overlap"}
    with pytest.raises(ValueError, match="neither a classifier"):
        search.publish()


def test_after_a_fit_that_did_not_end_nothing_is_published(wrap, data):
    search = wrap(grid(Ridge())).fit(*data)
    search.set_params(search__scoring=broken, search__error_score="raise")
    with pytest.raises(RuntimeError, match="out of ink"):
        search.fit(*data)
    with pytest.raises(ValueError, match="The last call of fit did not end"):
        search.publish()
