"""Metadata: split along with the rows, and handed to whom it belongs, with and without routing."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV, StableHoldoutScorer, ThresholdoutScorer

pytestmark = pytest.mark.thorough

ASKS = ["candidates", "winner"]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class Weighed(ClassifierMixin, BaseEstimator):
    """A tree that remembers the first column of its rows with the weights that came along."""

    seen: list = []  # noqa: RUF012

    def __init__(self, max_depth=1):
        self.max_depth = max_depth

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        pairs = None if sample_weight is None else list(zip(X[:, 0], sample_weight, strict=True))
        type(self).seen.append(pairs)
        self.tree_ = DecisionTreeClassifier(max_depth=self.max_depth, random_state=0)
        self.tree_.fit(X[:, 1:], y, sample_weight)
        return self

    def predict(self, X):
        return self.tree_.predict(X[:, 1:])


@pytest.fixture
def weighed():
    class Kind(Weighed):
        seen: list = []  # noqa: RUF012

    return Kind


def fitted(model, numbered, tmp_path, ask, **params):
    inner = GridSearchCV(model, {"max_depth": [1, 2]}, scoring="accuracy")
    search = ReusableHoldoutCV(inner, ask=ask, ledger=tmp_path / "ledger.db")
    return search.fit(numbered[0], numbered[1]["classifier"], **params)


@pytest.mark.parametrize("ask", ASKS)
def test_without_routing_weights_reach_every_fit_beside_their_rows(ask, weighed, numbered, tmp_path):
    fitted(weighed(), numbered, tmp_path, ask, sample_weight=np.arange(400) + 0.5)
    assert weighed.seen
    assert all(weight == row + 0.5 for pairs in weighed.seen for row, weight in pairs)


class NeedsWeights(ClassifierMixin, BaseEstimator):
    """A logistic regression that cannot be fitted without weights, and remembers how each row was weighed."""

    seen: list = []  # noqa: RUF012

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y, sample_weight):
        type(self).seen.append(list(zip(X[:, 0], sample_weight, strict=True)))
        self.model_ = LogisticRegression(C=self.C).fit(X[:, 1:], y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X[:, 1:])

    def predict_proba(self, X):
        return self.model_.predict_proba(X[:, 1:])


GUESSED_FROM_A_FIT = [
    {"ask": "winner", "scoring": "roc_auc"},
    {"ask": 3, "scoring": "roc_auc"},
    {"ask": "candidates", "reveal": "winner"},
    {"ask": "candidates", "reveal": "winner", "scoring": "roc_auc"},
    {"ask": 3, "reveal": "winner"},
    {"ask": 3, "reveal": "winner", "scoring": "roc_auc"},
    {"ask": 3, "mechanism": "exponential_mechanism", "scoring": "roc_auc"},
]


@pytest.mark.parametrize("params", GUESSED_FROM_A_FIT, ids=lambda params: "-".join(map(str, params.values())))
def test_the_fit_behind_a_guess_has_its_weights_too(params, searched):
    class Kind(NeedsWeights):
        seen: list = []  # noqa: RUF012

    inner = GridSearchCV(Kind(), {"C": [0.01, 0.1, 1.0]}, scoring="accuracy", error_score="raise")
    search = searched(inner, passed={"sample_weight": np.arange(400) + 0.5}, **params)
    assert all(weight == row + 0.5 for pairs in Kind.seen for row, weight in pairs)
    assert has_guesses(search) == [True] * len(search.answers_)


def has_guesses(search):
    """Return for each answer whether rows are behind its guess; without any it is the middle of the range."""
    bodies = [record.body for record in search.holdout_.ledger.records()]
    return [body["guess"]["size"] is not None for body in bodies if body.get("kind") in ("answer", "sealed")]


class FailsInSmallSamples(LogisticRegression):
    """Cannot be fitted on the three quarters of the rows that a guess is made from."""

    def fit(self, X, y):
        if len(y) == 225:
            raise RuntimeError("no model of so few rows")
        return super().fit(X, y)


@pytest.mark.parametrize(
    "params",
    [params for params in GUESSED_FROM_A_FIT if params["ask"] != "candidates"],
    ids=lambda params: "-".join(map(str, params.values())),
)
def test_a_guess_that_cannot_be_made_is_none_whatever_the_error(params, searched):
    inner = GridSearchCV(FailsInSmallSamples(), {"C": [0.01, 0.1, 1.0]}, scoring="accuracy")
    search = searched(inner, **params)
    by_folds = params.get("scoring") != "roc_auc"
    assert has_guesses(search) == [by_folds] * len(search.answers_)


def test_a_model_that_fails_in_every_fit_tells_its_own_fault_with_its_weights(numbered, tmp_path):
    class Fails(NeedsWeights):
        def fit(self, X, y, sample_weight):
            raise ValueError(f"a model of {len(sample_weight)} weights is no use")

    inner = GridSearchCV(Fails(), {"C": [1.0]})
    search = ReusableHoldoutCV(inner, ask="candidates", ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match="a model of 225 weights is no use"):
        search.fit(numbered[0], numbered[1]["classifier"], sample_weight=np.ones(400))


@pytest.mark.usefixtures("routing")
class TestRouting:
    @pytest.mark.parametrize("ask", ASKS)
    def test_weights_that_are_requested_reach_every_fit_beside_their_rows(self, ask, weighed, searched):
        model = weighed().set_fit_request(sample_weight=True)
        inner = GridSearchCV(model, {"max_depth": [1, 2]})
        model.set_score_request(sample_weight=False)
        searched(inner, passed={"sample_weight": np.arange(400) + 0.5}, ask=ask)
        assert weighed.seen
        assert all(weight == row + 0.5 for pairs in weighed.seen for row, weight in pairs)

    @pytest.mark.parametrize("ask", ASKS)
    def test_weights_may_have_another_name(self, ask, weighed, searched):
        model = weighed().set_fit_request(sample_weight="importance").set_score_request(sample_weight=False)
        inner = GridSearchCV(model, {"max_depth": [1, 2]})
        searched(inner, passed={"importance": np.arange(400) + 0.5}, ask=ask)
        assert all(weight == row + 0.5 for pairs in weighed.seen for row, weight in pairs)

    @pytest.mark.parametrize("ask", ASKS)
    def test_weights_that_nobody_has_spoken_of_are_an_error_before_anything_is_fitted(
        self, ask, weighed, numbered, tmp_path
    ):
        with pytest.raises(UnsetMetadataPassedError):
            fitted(weighed(), numbered, tmp_path, ask, sample_weight=np.ones(400))
        assert not weighed.seen
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("ask", ASKS)
    def test_weights_that_all_decline_are_refused_as_by_the_bare_search(
        self, ask, weighed, numbered, searched
    ):
        model = weighed().set_fit_request(sample_weight=False).set_score_request(sample_weight=False)
        inner = GridSearchCV(model, {"max_depth": [1, 2]})
        X, y = numbered[0], numbered[1]["classifier"]
        with pytest.raises(TypeError, match="sample_weight"):
            inner.fit(X, y, sample_weight=np.ones(400))
        with pytest.raises(TypeError, match="sample_weight"):
            searched(inner, passed={"sample_weight": np.ones(400)}, ask=ask)

    @pytest.mark.parametrize("ask", ASKS)
    def test_a_pipelines_step_gets_its_weights(self, ask, numbered, searched):
        step = LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), step)
        unweighed = get_scorer("accuracy").set_score_request(sample_weight=False)
        inner = GridSearchCV(pipe, {"logisticregression__C": [0.1, 1.0]}, scoring=unweighed)
        weights = np.where(numbered[1]["classifier"] == 1, 1000.0, 1e-3)
        search = searched(inner, passed={"sample_weight": weights}, ask=ask)
        assert search.predict(numbered[0]).mean() > 0.95

    @pytest.mark.parametrize(
        ("ask", "cv"), [("candidates", None), ("winner", GroupKFold(3)), ("winner", None)]
    )
    def test_groups_decide_the_holdout_whether_the_search_asks_for_them_or_not(
        self, ask, cv, recorder, searched
    ):
        inner = GridSearchCV(recorder["classifier"](), {"max_depth": [1, 2]}, cv=cv)
        groups = np.arange(400) // 8
        search = searched(inner, passed={"groups": groups}, ask=ask)
        assert search.holdout_.n_rows % 8 == 0
        if ask == "candidates":
            assert all(
                len({int(r) // 8 for r in rows}) * 8 == len(rows) for rows in inner.estimator.fitted_on
            )

    def test_nested_in_a_search_it_is_routed_to(self, weighed, numbered):
        model = weighed().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        wrapped = ReusableHoldoutCV(GridSearchCV(model, {"max_depth": [1]}), ask="winner")
        unweighed = get_scorer("accuracy").set_score_request(sample_weight=False)
        outer = GridSearchCV(wrapped, {"validation": [0.25]}, scoring=unweighed, cv=2, error_score="raise")
        outer.fit(numbered[0], numbered[1]["classifier"], sample_weight=np.arange(400) + 0.5)
        assert all(weight == row + 0.5 for pairs in weighed.seen for row, weight in pairs)

    @pytest.mark.parametrize("kind", [ThresholdoutScorer, StableHoldoutScorer])
    @pytest.mark.parametrize("in_dict", [False, True])
    @pytest.mark.parametrize("request_", [False, True, "importance", None, "default"])
    def test_a_scorers_request(self, request_, in_dict, kind, rows, tmp_path):
        scorer = kind("accuracy", Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db"))
        if request_ != "default":
            assert scorer.set_score_request(sample_weight=request_) is scorer
        model = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=True)
        search = GridSearchCV(
            model, {"max_depth": [1, 2]}, scoring={"acc": scorer} if in_dict else scorer, cv=scorer.cv,
            refit=scorer.select_best.by("acc") if in_dict else scorer.select_best,
        )  # fmt: skip
        params = {"sample_weight": np.ones(len(rows[0]))}
        if request_ == "importance":
            params["importance"] = np.ones(len(rows[0]))
        if request_ is None:
            with pytest.raises(UnsetMetadataPassedError):
                search.fit(rows[0], rows[1], **params)
            assert scorer.holdout.report().asked["check"] == 0
        else:
            search.fit(rows[0], rows[1], **params)
            assert scorer.holdout.report().asked["check"] == 2

    def test_a_bad_request_is_refused(self, rows, tmp_path):
        scorer = ThresholdoutScorer("accuracy", Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db"))
        with pytest.raises(ValueError, match="sample_weight"):
            scorer.set_score_request(sample_weight="no name")


@pytest.mark.parametrize("in_dict", [False, True])
def test_without_routing_weights_do_not_reach_a_scorers_answers(in_dict, rows, tmp_path):
    answers = []
    for name, weight in (("plain", None), ("weighed", np.arange(len(rows[0])) + 1.0)):
        holdout = Holdout(rows[2], rows[3], ledger=tmp_path / f"{name}.db", random_state=0)
        scorer = ThresholdoutScorer("accuracy", holdout)
        search = GridSearchCV(
            DecisionTreeClassifier(random_state=0, max_depth=1), {"min_samples_leaf": [1]},
            scoring={"acc": scorer} if in_dict else scorer, cv=scorer.cv,
            refit=scorer.select_best.by("acc") if in_dict else scorer.select_best,
        )  # fmt: skip
        search.fit(rows[0], rows[1], **({} if weight is None else {"sample_weight": weight}))
        answers.append(holdout.report().answers[-1][1])
    assert [answer.answered for answer in answers] == [True, True]
