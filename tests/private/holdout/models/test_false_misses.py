"""What is one model to its user is one question: asked once more, it has the recorded answer."""

import functools
import random
import sys
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import pytest
from sklearn import neighbors
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.manifold import Isomap
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.questions.question import _to_nine_digits

X = np.random.default_rng(0).normal(size=(120, 3)).round(1)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
TRAIN, KEPT = slice(0, 60), slice(60, 120)
ERROR = Metric("neg_mean_absolute_error", range=(-5, 0))


def asked_twice(first, second, tmp_path, between=lambda: None, scoring="accuracy", guess=0.5):
    """Ask about two fitted models, and return the answers."""
    holdout = Holdout(X[KEPT], Y[KEPT], ledger=tmp_path / "ledger.db")
    answer = holdout.certify(first, scoring=scoring, guess=guess)
    between()
    return answer, holdout.certify(second, scoring=scoring, guess=guess)


def assert_one_question(answers):
    assert [answer.repeated for answer in answers] == [False, True]
    assert answers[0].value == answers[1].value


def forest(**settings):
    return RandomForestClassifier(3, random_state=0, **settings)


def search(kind=GridSearchCV, **settings):
    return kind(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, **settings)


FITTED_TWICE = {
    "n_jobs": (forest(n_jobs=1), forest(n_jobs=2)),
    "verbose": (forest(), forest(verbose=1)),
    "n_jobs inside a pipeline": (
        make_pipeline(StandardScaler(), forest(n_jobs=1)),
        make_pipeline(StandardScaler(), forest(n_jobs=2), verbose=True),
    ),
    "n_jobs inside an ensemble": [
        BaggingClassifier(forest(n_jobs=jobs), 3, random_state=0) for jobs in (1, 2)
    ],
    "n_jobs of a search": (
        GridSearchCV(forest(), {"max_depth": [1, 2]}, cv=2, n_jobs=1, pre_dispatch=1),
        GridSearchCV(forest(), {"max_depth": [1, 2]}, cv=2, verbose=1),
    ),
    "GridSearchCV": (search(), search()),
    "RandomizedSearchCV": [search(RandomizedSearchCV, n_iter=2, random_state=0) for _ in "ab"],
    "HalvingGridSearchCV": [search(HalvingGridSearchCV, random_state=0, min_resources=30) for _ in "ab"],
}


@pytest.mark.parametrize("pair", FITTED_TWICE.values(), ids=FITTED_TWICE)
def test_fitted_again_or_with_other_settings_of_work_and_words_it_is_the_same_model(pair, tmp_path):
    models = [model.fit(X[TRAIN], Y[TRAIN]) for model in pair]
    if hasattr(models[0], "refit_time_"):
        assert models[0].refit_time_ != models[1].refit_time_
    assert_one_question(asked_twice(*models, tmp_path))


def test_a_pipeline_that_keeps_intermediate_results_is_the_same_model(tmp_path):
    models = [
        make_pipeline(StandardScaler(), LogisticRegression(), memory=memory).fit(X[TRAIN], Y[TRAIN])
        for memory in (None, str(tmp_path / "cache"))
    ]
    assert_one_question(asked_twice(*models, tmp_path))


TREE = {"algorithm": "kd_tree"}
NEIGHBOURS = {
    "KNeighborsClassifier": neighbors.KNeighborsClassifier(**TREE),
    "a ball tree": neighbors.KNeighborsClassifier(algorithm="ball_tree"),
    "KNeighborsRegressor": neighbors.KNeighborsRegressor(**TREE),
    "RadiusNeighborsClassifier": neighbors.RadiusNeighborsClassifier(9.0, **TREE),
    "RadiusNeighborsRegressor": neighbors.RadiusNeighborsRegressor(9.0, **TREE),
    "KNeighborsTransformer": make_pipeline(neighbors.KNeighborsTransformer(**TREE), Ridge()),
    "RadiusNeighborsTransformer": make_pipeline(
        neighbors.RadiusNeighborsTransformer(radius=2.0, **TREE), Ridge()
    ),
    "Isomap": make_pipeline(Isomap(neighbors_algorithm="kd_tree"), Ridge()),
    "LabelPropagation": LabelPropagation(kernel="knn"),
    "LabelSpreading": LabelSpreading(kernel="knn"),
}


@pytest.mark.parametrize("model", NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_neighbours_that_were_used_are_the_same_model(model, tmp_path):
    model.fit(X[TRAIN], Y[TRAIN])
    scoring, guess = ("accuracy", 0.5) if hasattr(model, "classes_") else (ERROR, -0.5)
    use = functools.partial(model.predict, X[KEPT])
    assert_one_question(asked_twice(model, model, tmp_path, use, scoring, guess))


@dataclass
class Rule:
    """Part of a model."""

    least: float = 0.0
    names: list = field(default_factory=list)


class ByRule(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.rule_ = Rule(0.25)
        return self

    @property
    def least(self):
        return self.rule_.least

    def predict(self, X):
        return (X[:, 0] > self.least).astype(int)


class Cached(ByRule):
    @functools.cached_property
    def least(self):
        return self.rule_.least


Kind = TypeVar("Kind")


class Typed(ByRule, Generic[Kind]):
    least = 0.0


class Lazy(Typed[int]):
    def predict(self, X):
        import colorsys

        return (X[:, 0] > colorsys.rgb_to_hsv(0, 0, 0)[0]).astype(int)


OWN = {"a dataclass": ByRule, "a cached property": Cached, "a generic class": Typed}


@pytest.mark.parametrize("kind", OWN.values(), ids=OWN)
def test_a_model_of_a_users_class_is_the_same_after_it_was_fitted_again_and_used(kind, tmp_path):
    models = [kind().fit(X[TRAIN], Y[TRAIN]) for _ in range(2)]
    models[1].predict(X[TRAIN])
    assert_one_question(asked_twice(*models, tmp_path))


def test_an_import_inside_predict_makes_no_new_model(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    model = Lazy().fit(X[TRAIN], Y[TRAIN])
    assert_one_question(asked_twice(model, model, tmp_path))
    assert "colorsys" in sys.modules


def test_an_import_of_a_users_module_inside_predict_makes_no_new_model(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "rules_of_a_user.py").write_text("def apply(x): return (x > 0).astype(int)")
    notebook = {"__name__": "__main__", "Typed": Typed}
    text = "import rules_of_a_user as r\n  return r.apply(X[:, 0])"
    exec(f"class Model(Typed):\n def predict(self, X):\n  {text}", notebook)
    model = notebook["Model"]().fit(X[TRAIN], Y[TRAIN])
    try:
        assert_one_question(asked_twice(model, model, tmp_path))
    finally:
        sys.modules.pop("rules_of_a_user", None)


CELL = """
def share_right(estimator, X, y, weight=1.0):
    return weight * accuracy_score(y, estimator.predict(X))

def right(y, outputs, weight=1.0):
    return weight * (y == outputs)

def share(y, outputs, weight=1.0):
    return weight * accuracy_score(y, outputs)
"""


def of_a_cell(name, weight):
    """Return a function of a notebook's cell that is run again: the same code at another address."""
    notebook = {"__name__": "__main__", "accuracy_score": accuracy_score}
    exec(CELL, notebook)
    return functools.partial(notebook[name], weight=weight)


class ShareRight:
    """A scorer that is an object."""

    def __init__(self, weight=1.0):
        self.weight = weight

    def __call__(self, estimator, X, y):
        return self.weight * accuracy_score(y, estimator.predict(X))


SCORERS = {
    "a partial": (lambda weight: of_a_cell("share_right", weight), None),
    "an object": (ShareRight, None),
    "a scorer of a partial": (lambda weight: make_scorer(of_a_cell("share", weight)), None),
    "a partial of each record": (lambda weight: of_a_cell("right", weight), "mean"),
}


@pytest.mark.parametrize(("make", "kind"), SCORERS.values(), ids=SCORERS)
def test_a_scorer_made_again_asks_the_same_question_and_with_another_setting_another(make, kind, tmp_path):
    model, holdout = LogisticRegression().fit(X[TRAIN], Y[TRAIN]), Holdout(X, Y, ledger=tmp_path / "l.db")
    made = [make(weight) for weight in (0.5, 0.5, 0.25)]  # all at once, so that each has its own address
    metrics = [Metric(each, kind=kind, range=(0, 1)) for each in made]
    answers = [holdout.certify(model, scoring=metric, guess=0.5) for metric in metrics]
    assert [answer.repeated for answer in answers] == [False, True, False]
    assert answers[0].value == answers[1].value


class Device(ClassifierMixin, BaseEstimator):
    """Says the same but for the last digits of single precision, as a device does that adds in any order."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        wobble = 1.0 + 1e-7 * np.array([random.randint(-1, 1) for _ in range(len(X))])
        p = np.float32(1.0 / (1.0 + np.exp(-0.03 - np.asarray(X)[:, 0])) * wobble)
        return np.column_stack([1.0 - p, p]).astype(np.float32)

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


@pytest.fixture(autouse=True)
def _seeded():
    random.seed(0)


@pytest.mark.parametrize("scoring", ["neg_brier_score", "neg_log_loss"])
def test_noise_of_single_precision_in_guess_and_outputs_is_no_new_question(scoring, tmp_path):
    metric = Metric(scoring, range=(-5.0, 0.0)) if scoring == "neg_log_loss" else scoring
    holdout, model = Holdout(X[KEPT], Y[KEPT], ledger=tmp_path / "l.db"), Device().fit(X[TRAIN], Y[TRAIN])
    answers = [holdout.certify(model, scoring=metric, guess_from=(X[TRAIN], Y[TRAIN])) for _ in range(6)]
    assert [answer.repeated for answer in answers] == [False] + 5 * [True]


@pytest.mark.parametrize("ask", ["winner", "candidates"])
def test_a_search_of_noisy_models_that_runs_again_is_nearly_free(ask, tmp_path):
    search = GridSearchCV(Device(), {}, scoring="neg_brier_score", cv=3 if ask == "winner" else None)
    nats = []
    for _ in range(3):
        wrapped = ReusableHoldoutCV(search, ask=ask, scoring="neg_brier_score", ledger=tmp_path / "l.db")
        nats.append(wrapped.fit(X, Y).holdout_.report().nats)
    assert nats[2] < nats[0] + 0.02


def test_a_bare_guess_of_other_digits_is_the_same_question(tmp_path):
    holdout, model = Holdout(X[KEPT], Y[KEPT], ledger=tmp_path / "l.db"), Device().fit(X, Y)
    asked = [holdout.check(model, scoring="accuracy", guess=guess) for guess in (0.8, 0.8000001, 0.8)]
    assert [answer.repeated for answer in asked] == [False, True, True]


class Threads(Device):
    """Says the same but for the last bits of double precision."""

    def predict_proba(self, X):
        wobble = 1.0 + 1e-16 * np.array([random.randint(-1, 1) for _ in range(len(X))])
        p = np.round(1.0 / (1.0 + np.exp(-np.asarray(X)[:, 0])), 1) * wobble
        return np.column_stack([1.0 - p, p])


@pytest.mark.parametrize("route", ["differential_privacy", "both"])
def test_where_privacy_certifies_last_bits_of_public_outputs_are_no_new_question(route, tmp_path):
    holdout, rows = Holdout(X[KEPT], Y[KEPT], ledger=tmp_path / "l.db", route=route), (X[TRAIN], Y[TRAIN])
    model = Threads().fit(*rows)
    answers = [holdout.check(model, scoring="neg_brier_score", guess_from=rows) for _ in range(20)]
    assert [answer.repeated for answer in answers] == [False] + 19 * [True]
    assert not any("digest lacks" in each for each in answers[0].certificate.assumptions)
    bare = holdout.check(LogisticRegression().fit(*rows), scoring="accuracy", guess=0.8)
    assert any("digest lacks" in each for each in bare.certificate.assumptions)


def test_outputs_that_differ_are_other_outputs_however_large_one_is():
    def digests(*outputs):
        return len({canonical_digest(_to_nine_digits(np.array(each))) for each in outputs})

    large = np.array([1e13, 1.0, 2.0])
    assert digests(large, [1e13, 2.0, 1.0]) == 2
    assert digests(large * (1.0 + 1e-16), large * (1.0 - 1e-16), large) == 1
    assert digests([0.0, 1.0, np.nan], [-0.0, 1.0, np.nan]) == 1
