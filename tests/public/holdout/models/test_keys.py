"""The same question is free and has the same answer; another question never gets it."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, MedianSettings, Metric, ThresholdoutScorer
from tests.support import holdouts
from tests.support.ledger.fitted_models import ByRow, Constant, FirstRule, X, Y


@pytest.fixture
def holdout(tmp_path):
    rows = np.random.default_rng(1).normal(size=(300, X.shape[1]))
    return Holdout(rows, (rows[:, 0] > 0).astype(int), ledger=tmp_path / "ledger.db", random_state=0)


@pytest.fixture
def model():
    return LogisticRegression().fit(X, Y)


ASKED = {"scoring": "accuracy", "purpose": "check", "guess": 0.8}
CHANGED = [
    {"scoring": "balanced_accuracy"},
    {"purpose": "certify"},
    {"settings": 0.05},
    {"model": LogisticRegression(C=0.1).fit(X, Y)},
]


@pytest.mark.parametrize("change", CHANGED, ids=str)
def test_another_question_is_charged_and_the_identical_one_is_nearly_free(
    holdout, model, change, nearly_free
):
    questions = [dict(ASKED), ASKED | change]
    asked = [holdouts.ask(holdout, each.pop("model", model), **each) for each in questions]
    assert not any(answer.repeated for answer in asked)
    with nearly_free(holdout):
        again = holdouts.ask(holdout, LogisticRegression().fit(X, Y), **ASKED)
    assert (again, again.repeated) == (asked[0], True)
    assert sum(holdout.report().asked.values()) == 2


CELLS = np.arange(400.0)[:, None] % 4
OPPOSITES = {
    "order of rules": (FirstRule({2.0: 1, -1.0: 0}), FirstRule({-1.0: 0, 2.0: 1})),
    "index of a frame": (ByRow(), ByRow()),
}


@pytest.mark.parametrize("pair", OPPOSITES.values(), ids=OPPOSITES)
def test_models_that_differ_in_an_order_only_have_answers_of_their_own(pair, tmp_path):
    labels = (CELLS[:, 0] >= 2).astype(int)
    holdout = Holdout(CELLS, labels, ledger=tmp_path / "ledger.db", random_state=0)
    for model, y in zip(pair, (labels, 1 - labels), strict=True):
        answer = holdout.certify(model.fit(CELLS, y), scoring="accuracy", guess=0.9)
        assert not answer.repeated
        assert answer.value == pytest.approx(np.mean(model.predict(CELLS) == labels), abs=0.05)


def half_right(y, outputs):
    """A loss of labels, or of probabilities: it takes both."""
    return np.full(len(y), 0.5) if outputs.ndim == 1 else np.full(len(y), 1.0)


def test_a_metric_of_other_outputs_is_another_question(holdout, model):
    values = [
        holdout.certify(model, scoring=Metric(half_right, kind="mean", range=(0, 1), response_method=method))
        for method in ("predict", "predict_proba")
    ]
    assert [round(answer.value, 2) for answer in values] == [0.5, 1.0]


def of_notebook(value):
    scope = {}
    exec(f"def loss(e, X, y): return {value}", scope)
    return scope["loss"]


METRICS = {
    "ranges": [Metric(lambda e, X, y: 0.5, range=(0, high)) for high in (1, 2)],
    "functions of one name": [Metric(of_notebook(value), range=(0, 1)) for value in (0.0, 1.0)],
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("metrics", METRICS.values(), ids=METRICS)
def test_metrics_that_look_alike_are_different_questions(metrics, holdout, model):
    assert metrics[0].describe().get("name") == metrics[1].describe().get("name")
    asked = {"purpose": "check", "guess": 0.5, "settings": MedianSettings(method="exact")}
    assert not any(holdouts.ask(holdout, model, scoring=metric, **asked).repeated for metric in metrics)


class Unreadable(Constant):
    """Holds a generator, of which no digest can be taken; a copy leaves it out."""

    def fit(self, X, y):
        self.stream_ = (number for number in range(3))
        return super().fit(X, y)

    def __deepcopy__(self, memo):
        return Constant(self.answer).fit(X, Y)


def test_a_model_that_cannot_be_read_is_a_new_one_each_time(holdout):
    unreadable = Unreadable(0).fit(X, Y)
    asked = [holdout.check(unreadable, scoring="accuracy", guess=0.5) for _ in range(2)]
    assert [answer.repeated for answer in asked] == [False, False]


def test_asking_does_not_change_the_model(holdout, model):
    first, again = (holdout.certify(model, scoring="roc_auc") for _ in range(2))
    assert (first.repeated, again.repeated) == (False, True)
    assert vars(model).keys() == vars(LogisticRegression().fit(X, Y)).keys()


CANDIDATES = {
    "tree": DecisionTreeClassifier(random_state=0),
    "a model that changes when used": KNeighborsClassifier(algorithm="kd_tree"),
}


@pytest.mark.parametrize("candidate", CANDIDATES.values(), ids=CANDIDATES)
def test_train_scores_of_a_drop_in_search_are_no_questions(holdout, candidate):
    scorer = ThresholdoutScorer("accuracy", holdout)
    GridSearchCV(candidate, {}, scoring=scorer, cv=3, refit=False, return_train_score=True).fit(X, Y)
    assert holdout.report().asked["check"] == 3
