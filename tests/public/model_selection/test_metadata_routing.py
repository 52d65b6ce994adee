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
from tests.support.ledgers import bodies
from tests.support.searches import TREE, grid

pytestmark = pytest.mark.thorough

asks = pytest.mark.parametrize("ask", ["candidates", "winner"])


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class Weighed(ClassifierMixin, BaseEstimator):
    """A logistic regression that remembers of each fit how far its weights lie from its first column.

    The rows themselves it does not keep: a model that holds rows of an earlier fit is refused.
    """

    seen: list = []  # noqa: RUF012

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y, sample_weight=None):
        type(self).seen.append(set() if sample_weight is None else set(sample_weight - X[:, 0]))
        self.model_ = LogisticRegression(C=self.C).fit(X[:, 1:], y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X[:, 1:])

    def predict_proba(self, X):
        return self.model_.predict_proba(X[:, 1:])


class NeedsWeights(Weighed):
    """The same, which cannot be fitted without weights."""

    def fit(self, X, y, sample_weight):
        return super().fit(X, y, sample_weight)


WEIGHTS = np.arange(400) + 0.5
WEIGHED = {"sample_weight": WEIGHTS}


@pytest.fixture
def weighed():
    class Kind(Weighed):
        seen: list = []  # noqa: RUF012

    return Kind


def are_beside_their_rows(seen):
    return bool(seen) and all(of_fit == {0.5} for of_fit in seen)


def has_guesses(search):
    """Return for each answer whether rows are behind its guess; without any it is the middle of the range."""
    answers = [body for body in bodies(search.holdout_) if body.get("kind") in ("answer", "sealed")]
    return [body["guess"]["size"] is not None for body in answers]


@asks
def test_without_routing_weights_reach_every_fit_beside_their_rows(ask, weighed, searched):
    searched(grid(weighed()), ask=ask, passed=WEIGHED)
    assert are_beside_their_rows(weighed.seen)


FEW = [
    {"ask": "winner", "scoring": "roc_auc"},
    {"ask": 3, "scoring": "roc_auc"},
    {"ask": 3, "reveal": "winner"},
    {"ask": 3, "reveal": "winner", "scoring": "roc_auc"},
    {"ask": 3, "mechanism": "exponential_mechanism", "scoring": "roc_auc"},
]
ALL = [{"ask": "candidates", "reveal": "winner", **metric} for metric in ({}, {"scoring": "roc_auc"})]
THREE = [0.01, 0.1, 1.0]


@pytest.mark.parametrize("params", [*FEW, *ALL], ids=str)
def test_the_fit_behind_a_guess_has_its_weights_too(params, searched):
    class Kind(NeedsWeights):
        seen: list = []  # noqa: RUF012

    inner = grid(Kind(), THREE, scoring="accuracy", error_score="raise")
    search = searched(inner, passed=WEIGHED, **params)
    assert are_beside_their_rows(Kind.seen)
    assert has_guesses(search) == [True] * len(search.answers_)


class FailsInSmallSamples(LogisticRegression):
    """Cannot be fitted on the three quarters of the rows that a guess is made from."""

    def fit(self, X, y):
        if len(y) == 225:
            raise RuntimeError("no model of so few rows")
        return super().fit(X, y)


@pytest.mark.parametrize("params", FEW, ids=str)
def test_a_guess_that_cannot_be_made_is_none_whatever_the_error(params, searched):
    search = searched(grid(FailsInSmallSamples(), THREE, scoring="accuracy"), **params)
    by_folds = params.get("scoring") != "roc_auc"
    assert has_guesses(search) == [by_folds] * len(search.answers_)


def test_a_model_that_fails_in_every_fit_tells_its_own_fault_with_its_weights(searched):
    class Fails(NeedsWeights):
        def fit(self, X, y, sample_weight):
            raise ValueError(f"a model of {len(sample_weight)} weights is no use")

    with pytest.raises(ValueError, match="a model of 225 weights is no use"):
        searched(grid(Fails(), [1.0]), ask="candidates", passed=WEIGHED)


@pytest.mark.usefixtures("routing")
class TestRouting:
    @asks
    @pytest.mark.parametrize("name", [True, "importance"])
    def test_weights_that_are_requested_reach_every_fit_beside_their_rows(self, ask, name, weighed, searched):
        model = weighed().set_fit_request(sample_weight=name).set_score_request(sample_weight=False)
        searched(grid(model), ask=ask, passed={"sample_weight" if name is True else name: WEIGHTS})
        assert are_beside_their_rows(weighed.seen)

    @asks
    def test_weights_that_nobody_has_spoken_of_are_an_error_before_anything_is_fitted(
        self, ask, weighed, searched, tmp_path
    ):
        with pytest.raises(UnsetMetadataPassedError):
            searched(grid(weighed(), scoring="accuracy"), ask=ask, passed=WEIGHED)
        assert not weighed.seen
        assert not list(tmp_path.iterdir())

    @asks
    def test_weights_that_all_decline_are_refused_as_by_the_bare_search(
        self, ask, weighed, numbered, searched
    ):
        inner = grid(weighed().set_fit_request(sample_weight=False).set_score_request(sample_weight=False))
        with pytest.raises(TypeError, match="sample_weight"):
            inner.fit(numbered[0], numbered[1]["classifier"], **WEIGHED)
        with pytest.raises(TypeError, match="sample_weight"):
            searched(inner, ask=ask, passed=WEIGHED)

    @asks
    def test_a_pipelines_step_gets_its_weights(self, ask, numbered, searched):
        step = LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), step)
        unweighed = get_scorer("accuracy").set_score_request(sample_weight=False)
        inner = GridSearchCV(pipe, {"logisticregression__C": [0.1, 1.0]}, scoring=unweighed)
        weights = np.where(numbered[1]["classifier"] == 1, 1000.0, 1e-3)
        search = searched(inner, ask=ask, passed={"sample_weight": weights})
        assert search.predict(numbered[0]).mean() > 0.95

    @pytest.mark.parametrize(
        ("ask", "cv"), [("candidates", None), ("winner", GroupKFold(3)), ("winner", None)]
    )
    def test_groups_decide_the_holdout_whether_the_search_asks_for_them_or_not(
        self, ask, cv, recorder, searched
    ):
        model = recorder["classifier"]()
        search = searched(grid(model, cv=cv), ask=ask, passed={"groups": np.arange(400) // 8})
        assert search.holdout_.n_rows % 8 == 0
        if ask == "candidates":
            assert all(len({int(r) // 8 for r in rows}) * 8 == len(rows) for rows in model.fitted_on)

    def test_nested_in_a_search_it_is_routed_to(self, weighed, numbered):
        model = weighed().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        unweighed = get_scorer("accuracy").set_score_request(sample_weight=False)
        wrapped, how = ReusableHoldoutCV(grid(model, [1.0])), {"cv": 2, "error_score": "raise"}
        outer = GridSearchCV(wrapped, {"validation": [0.25]}, scoring=unweighed, **how)
        outer.fit(numbered[0], numbered[1]["classifier"], **WEIGHED)
        assert are_beside_their_rows(weighed.seen)

    @pytest.mark.parametrize("kind", [ThresholdoutScorer, StableHoldoutScorer])
    @pytest.mark.parametrize("named", [False, True])
    @pytest.mark.parametrize("request_", [False, True, "importance", None, "default"])
    def test_a_scorer_asks_once_its_request_of_weights_is_set(self, request_, named, kind, rows, holdout):
        scorer = kind("accuracy", holdout)
        if request_ != "default":
            assert scorer.set_score_request(sample_weight=request_) is scorer
        search = scored_by(scorer, named, DecisionTreeClassifier().set_fit_request(sample_weight=True))
        params = dict.fromkeys(["sample_weight", *["importance"] * (request_ == "importance")], np.ones(300))
        if request_ is None:
            with pytest.raises(UnsetMetadataPassedError):
                search.fit(rows[0], rows[1], **params)
        else:
            search.fit(rows[0], rows[1], **params)
        assert holdout.report().asked["check"] == (0 if request_ is None else 2)

    def test_a_bad_request_is_refused(self, holdout):
        with pytest.raises(ValueError, match="sample_weight"):
            ThresholdoutScorer("accuracy", holdout).set_score_request(sample_weight="no name")


def scored_by(scorer, named, model):
    scoring, best = ({"acc": scorer}, scorer.select_best.by("acc")) if named else (scorer, scorer.select_best)
    return grid(model, scoring=scoring, cv=scorer.cv, refit=best)


@pytest.mark.parametrize("named", [False, True])
def test_without_routing_weights_do_not_reach_a_scorers_answers(named, rows, tmp_path):
    for name, passed in (("plain", {}), ("weighed", {"sample_weight": np.arange(300) + 1.0})):
        holdout = Holdout(rows[2], rows[3], ledger=tmp_path / f"{name}.db", random_state=0)
        scored_by(ThresholdoutScorer("accuracy", holdout), named, TREE).fit(rows[0], rows[1], **passed)
        assert holdout.report().answers[-1][1].answered
