"""A winner about which there is nothing to ask: the search ends with a warning, and nothing is charged."""

import math
import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, recall_score
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, LeaveOneOut, RandomizedSearchCV
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.metaestimators import available_if

from sklearn_ada import CertifiedSearchDisplay, Metric, ReusableHoldoutCV, StableHoldoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support.ledgers import kinds
from tests.support.searches import grid, warned

ALPHAS = [1.0, 0.1, 10.0]
RIDGE, LOGISTIC = Ridge(), LogisticRegression(max_iter=500)
CLIPPED = Metric("neg_mean_absolute_error", range=(-3.0, 0.0))


def undefined(estimator, X, y):
    return math.nan


def broken(estimator, X, y):
    raise RuntimeError("out of ink")


def one_undefined(estimator, X, y):
    return {"right": estimator.score(X, y), "undefined": math.nan}


def undefined_for_ten(estimator, X, y):
    return math.nan if estimator.alpha == 10.0 else estimator.score(X, y)


def accuracy_and_recall(estimator, X, y):
    predicted = estimator.predict(X)
    return {"accuracy": accuracy_score(y, predicted), "recall": recall_score(y, predicted)}


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


class Silent(ClassifierMixin, BaseEstimator):
    """Has a score, and ``predict`` and probabilities only if it is told so."""

    def __init__(self, max_depth=1, predicts=False, has_probabilities=False):
        self.max_depth, self.predicts, self.has_probabilities = max_depth, predicts, has_probabilities

    def fit(self, X, y):
        self.model_ = DecisionTreeClassifier(max_depth=self.max_depth, random_state=0).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def score(self, X, y):
        return self.model_.score(X, y)

    @available_if(lambda self: self.predicts)
    def predict(self, X):
        return self.model_.predict(X)

    @available_if(lambda self: self.has_probabilities)
    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def assert_nothing_asked(search):
    """No round, selection or answer is recorded; the search has no answer, and its score is none."""
    assert set(kinds(search.holdout_)) <= {None, "overlap"}
    assert search.holdout_.report().nats < 1e-5
    assert search.answers_ == []
    assert not hasattr(search, "best_answer_")
    assert math.isnan(getattr(search, "best_score_", math.nan))


@pytest.fixture
def unscored(wrap, classes, numbers):
    """Fit a search on forty rows, by default by r2 of single rows, so NaN; return it with its warning."""
    X, labels = classes
    of_kind = {"numbers": numbers[1], "classes": labels, "words": np.array(["ill", "well"])[labels]}

    def fit(search=None, y="numbers", **params):
        search = wrap(grid(RIDGE, ALPHAS, cv=LeaveOneOut()) if search is None else search, **params)
        _, (text,) = warned("No candidate", search.fit, X[:40], of_kind[y][:40])
        return search, text

    return fit


@pytest.mark.parametrize("answers", ["auto", "coarse", "exact"])
@pytest.mark.parametrize(
    "params",
    [
        *({"ask": "winner"}, {"ask": 2}, {"ask": 2, "reveal": "winner"}),
        *({"ask": 3, "one_standard_error": rule} for rule in (True, "alpha")),
    ],
    ids=lambda params: " ".join(map(str, params.values())),
)
def test_a_search_without_scores_keeps_what_it_keeps_by_itself_and_is_not_charged(params, answers, unscored):
    search, text = unscored(answers=answers, **params)
    assert_nothing_asked(search)
    assert search.best_score_interval_ == (-math.inf, math.inf)
    assert search.best_score_target_ == ""
    assert search.best_index_ == search.search_.best_index_ == 0
    assert search.best_params_ == search.search_.best_params_ == {"alpha": 1.0}
    np.testing.assert_allclose(search.best_estimator_.coef_, search.search_.best_estimator_.coef_)
    table = search.cv_results_
    assert np.isnan([table["certified_low"], table["certified_high"]]).all()
    assert table["verdict"].tolist() == table["certified_target"].tolist() == ["", "", ""]
    for part in (
        "candidate 0, an arbitrary one, is kept",
        "pass more rows, or give it a cv with fewer folds",
    ):
        assert part in text
    assert "error_score='raise'" in text


BRIER, NO_LABEL = grid(LOGISTIC, scoring="neg_brier_score"), "pos_label is not specified"
EXPONENTIAL = {"ask": 2, "mechanism": "exponential_mechanism", "scoring": "accuracy"}
CHOSEN = grid(RIDGE, ALPHAS, cv=LeaveOneOut(), refit=lambda table: 2)
RANDOM = RandomizedSearchCV(RIDGE, {"alpha": ALPHAS}, n_iter=3, scoring=undefined)
HALVING = HalvingGridSearchCV(RIDGE, {"alpha": ALPHAS}, scoring=undefined)
LABELS, NUMBERS = grid(LOGISTIC, scoring=undefined), grid(RIDGE, scoring=undefined)
ALL = (-math.inf, math.inf)
UNSCORED = {  # the search, what it is wrapped with, y, a part of the warning, and what the metric can be
    "accuracy": (LABELS, {"scoring": "accuracy"}, "classes", "", (0, 1)),
    "matthews": (LABELS, {"scoring": "matthews_corrcoef"}, "classes", "", (-1, 1)),
    "own score": (GridSearchCV(WithoutScore(), {"label": [0, 1]}), {}, "classes", "", (0, 1)),
    "clipped error": (NUMBERS, {"scoring": CLIPPED}, "numbers", "", (-3, 0)),
    "mechanism": (LABELS, EXPONENTIAL, "classes", "", (0, 1)),
    "failure": (grid(RIDGE, scoring=broken), {}, "numbers", "raises RuntimeError: out of ink", ALL),
    "brier": (BRIER, {}, "words", NO_LABEL, (-1, 0)),
    "brier of two": (BRIER, {"ask": 2}, "words", NO_LABEL, (-1, 0)),
    "function": (CHOSEN, {}, "numbers", "candidate 2, which its refit function chose, is kept", ALL),
    "several": (grid(RIDGE, scoring=one_undefined, refit="undefined"), {}, "numbers", "", ALL),
    "random": (RANDOM, {}, "numbers", "", ALL),
    "halving": (HALVING, {}, "numbers", "", ALL),
    "no refit": (clone(NUMBERS).set_params(refit=False), {"scoring": "r2"}, "numbers", "", ALL),
}


@pytest.mark.parametrize(("search", "params", "y", "part", "interval"), UNSCORED.values(), ids=UNSCORED)
def test_whatever_has_no_score_is_told_with_its_cause_and_can_be_all_that_the_metric_can(
    search, params, y, part, interval, unscored
):
    search, text = unscored(search, y, **params)
    assert_nothing_asked(search)
    assert part in text
    assert search.best_score_interval_ == interval
    assert search.best_index_ == search.search_.best_index_
    assert search.best_estimator_.get_params().items() >= search.best_params_.items()


SILENT = grid(Silent(), [1, 4])
CLUSTERS = GridSearchCV(KMeans(random_state=0, n_init=1), {"n_clusters": [2, 3]})
PARTLY = grid(RIDGE, ALPHAS, scoring=undefined_for_ten, refit=lambda results: 2)
UNASKED = {  # the search, whether y is of classes, the warning, what `publish` says, and what is kept
    "no predict": (SILENT, True, "no predict.+So candidate 1 is kept.+not asked.+NaN", "no predict", 1),
    "clusters": (CLUSTERS, True, "neither a classifier nor a regressor.+Name one", "neither a classifier", 1),
    "choice": (PARTLY, False, "the search's refit function chose has no score", "nothing was asked", 2),
}


@pytest.mark.parametrize(
    ("name", "ask"),
    [("clusters", "winner"), *((name, ask) for name in ("no predict", "choice") for ask in ("winner", 2))],
)
def test_a_winner_of_which_nothing_can_be_asked_is_kept(name, ask, wrap, classes, numbers):
    search, labels, warning, refusal, index = UNASKED[name]
    search = wrap(search, ask=ask, scoring=None if labels else "r2")
    with pytest.warns(UserWarning, match=warning):
        search.fit(*(classes if labels else numbers))
    assert_nothing_asked(search)
    assert search.best_index_ == search.search_.best_index_ == index
    with pytest.raises(ValueError, match=refusal):
        search.publish()


def least_recall(table):
    return int(np.argmin(table["mean_test_recall"]))


SEVERAL = {  # the scores, and what the warning says is kept
    "list": (["accuracy", "recall"], "the winner is kept"),
    "dict": ({"a": "accuracy", "recall": "recall"}, "the winner is kept"),
    "function": (accuracy_and_recall, "which its refit function chose, is kept"),
}


@pytest.mark.parametrize(("scoring", "kept"), SEVERAL.values(), ids=SEVERAL)
def test_a_function_of_several_scores_chooses_and_nothing_is_certified_unless_a_metric_is_named(
    scoring, kept, wrap, classes
):
    search = wrap(grid(LOGISTIC, [1e-6, 1.0], scoring=scoring, refit=least_recall))
    text = "A function chooses the winner by several scores"
    warning = rf"{text}.+Name one.+scoring='accuracy'.+{kept}.+not asked"
    with pytest.warns(UserWarning, match=warning):
        search.fit(*classes)
    assert_nothing_asked(search)
    assert search.best_index_ == least_recall(search.cv_results_)
    assert search.predict(classes[0]).shape == classes[1].shape
    for name in ("best_score_", "best_score_interval_"):  # as of a search of scikit-learn
        assert not hasattr(search, name)
    with pytest.raises(ValueError, match="Name one"):
        search.publish()
    named = wrap(search.search, scoring="recall").fit(*classes)
    assert named.best_index_ == search.best_index_
    assert named.answers_ == [named.best_answer_]
    assert "population recall" in named.best_score_target_


def test_the_function_gets_its_metric_from_a_mechanism_too(wrap, rows, holdout):
    inner = grid(LOGISTIC, [1.0], scoring=["f1", "recall"], refit=least_recall)
    search = wrap(inner, mechanism=StableHoldoutScorer("f1", holdout), holdout=holdout)
    assert search.fit(rows[0], rows[1]).best_answer_.answered


def test_of_candidates_without_predict_none_is_asked_about(wrap, classes):
    search = wrap(SILENT, ask="candidates")
    with pytest.raises(ValueError, match="over models with predict for accuracy"):
        search.fit(*classes)
    assert not hasattr(search, "holdout_")


def test_of_the_best_few_those_are_asked_about_that_can_be(wrap, classes):
    candidates = [{"max_depth": [4], "predicts": [False]}, {"max_depth": [1], "predicts": [True]}]
    search = wrap(GridSearchCV(Silent(), candidates), ask=2)
    with pytest.warns(UserWarning, match="Of the best 2 models 1 cannot be asked about"):
        search.fit(*classes)
    assert search.best_params_ == {"max_depth": 1, "predicts": True}
    assert search.answers_ == [search.best_answer_]


def test_a_model_is_asked_by_the_method_that_the_metric_takes(wrap, classes):
    model = Silent(has_probabilities=True)
    search = wrap(grid(model, scoring="roc_auc")).fit(*classes)
    assert search.best_answer_.answered
    with pytest.raises(TypeError, match="predict"):
        search.holdout_.certify(model.fit(*classes), scoring="accuracy", guess=0.5)


def test_the_kept_model_predicts_scores_and_can_be_asked_about_as_publish_says(
    unscored, numbers, sentence, uncharged
):
    search, _ = unscored()
    model, rest = search.best_estimator_, (numbers[0][40:], numbers[1][40:])
    assert search.predict(rest[0]).shape == rest[1].shape
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
def test_a_later_search_is_answered_as_if_there_had_been_no_such_search(wrap, numbers, tmp_path):
    wrap(grid(RIDGE, ALPHAS, scoring=undefined), scoring="r2").fit(*numbers)
    after = wrap(grid(RIDGE)).fit(*numbers).best_answer_
    alone = wrap(grid(RIDGE), ledger=tmp_path / "alone.db").fit(*numbers).best_answer_
    assert after.value == alone.value
    assert after.interval == pytest.approx(alone.interval, rel=1e-2)  # opening the ledger again was paid for
    assert after.cost.nats == pytest.approx(alone.cost.nats, rel=3e-3)  # its ends are other ones


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_search_fitted_again_has_nothing_of_the_other_fit(wrap, numbers):
    few = numbers[0][:60], numbers[1][:60]
    search = wrap(grid(RIDGE)).fit(*few)
    assert search.best_answer_.answered
    search.set_params(search__cv=LeaveOneOut()).fit(*few)
    assert not hasattr(search, "best_answer_")
    assert math.isnan(search.best_score_)
    search.set_params(search__cv=5).fit(*few)
    assert float(f"{search.best_score_:.12g}") == search.best_answer_.value  # as it is recorded
    assert search.publish().answered


def test_an_unscored_search_is_shown_and_pickled_as_what_it_is(unscored):
    search, _ = unscored()
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


ARBITRARY = r"No candidate got a score from the search itself.+arbitrary.+not asked, nothing was charged.+NaN"


def test_a_filter_that_makes_the_warning_an_error_finds_the_search_fitted(wrap, numbers):
    search = wrap(grid(RIDGE, ALPHAS, scoring=undefined), scoring="r2")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "One or more")
        warnings.filterwarnings("error", "No candidate")
        with pytest.raises(UserWarning, match=ARBITRARY):
            search.fit(*numbers)
    assert search.predict(numbers[0]).shape == numbers[1].shape


def exhausted(estimator, X, y):
    raise BudgetExhaustedError("nothing is left")


RAISING = grid(RIDGE, scoring=broken, error_score="raise")
STAYING = {  # the search, its metric, the type and the text of the error, and the type of its cause
    "error_score='raise'": (RAISING, None, RuntimeError, "out of ink", type(None)),
    "another holdout is exhausted": (
        *(grid(RIDGE, scoring=exhausted), CLIPPED),
        *(ValueError, "BudgetExhaustedError: nothing is left", BudgetExhaustedError),
    ),
}


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:.*median:UserWarning")
@pytest.mark.parametrize(("search", "metric", "error", "text", "cause"), STAYING.values(), ids=STAYING)
def test_an_error_of_the_scorer_that_must_not_be_swallowed_comes_through(
    search, metric, error, text, cause, wrap, numbers
):
    search = wrap(search, scoring=metric)
    with pytest.raises(error, match=text) as caught:
        search.fit(*numbers)
    assert isinstance(caught.value.__cause__, cause)
    assert set(kinds(search.holdout_)) <= {None, "overlap"}


def test_a_metric_that_has_an_interval_on_no_holdout_leaves_no_ledger_behind(wrap, tmp_path):
    X, y = np.arange(80.0)[:, None], np.arange(80) % 2
    path = tmp_path / "refused.db"
    with pytest.raises(ValueError, match=r"adjusted_rand_score.*mechanism='stable_median'"):
        ReusableHoldoutCV(grid(scoring="adjusted_rand_score"), ledger=path).fit(X, y)
    assert not list(tmp_path.iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ReusableHoldoutCV(grid(), ledger=tmp_path / "other.db").fit(X, y)


def test_after_a_fit_that_did_not_end_nothing_is_published(wrap, numbers):
    search = wrap(grid(RIDGE)).fit(*numbers)
    search.set_params(search__scoring=broken, search__error_score="raise")
    with pytest.raises(RuntimeError, match="out of ink"):
        search.fit(*numbers)
    with pytest.raises(ValueError, match="The last call of fit did not end"):
        search.publish()


def test_a_budget_that_is_too_small_is_told_before_the_search_whatever_it_would_score(wrap, numbers):
    inner = GridSearchCV(LinearRegression(), {"fit_intercept": [True, False]}, scoring=undefined)
    with pytest.raises(BudgetExhaustedError):
        wrap(inner, scoring=CLIPPED, tolerance=0.001).fit(*numbers)
