"""The simplest of the candidates that are within one standard error of the best."""

import math

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, LadderScorer, ReusableHoldoutCV
from sklearn_ada.model_selection.certifying import best_of, standard_error

DEPTHS = [1, 2, 3, 4, 6, 8]


class Share:
    """A fitted model that is right on a share of the rows: labels are all 1 but the last."""

    classes_ = np.array([0, 1])

    def __init__(self, share):
        self.share = share

    def predict(self, X):
        return (X[:, 0] < self.share * len(X)).astype(int)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Certified accuracies of .80, .90, .91 and .70 on 1,000 rows: a standard error is about .009."""
    X, y = np.arange(1000.0)[:, None], np.r_[np.ones(999, dtype=int), 0]
    holdout = Holdout(X, y, ledger=tmp_path_factory.mktemp("answers") / "ledger.db")
    shares = (0.8, 0.905, 0.91, 0.7)
    return [holdout.certify(Share(share), scoring="accuracy", guess=0.8) for share in shares]


CANDIDATES = [{"depth": 1}, {"depth": 5}, {"depth": 3}, {"depth": 0}]


def test_the_standard_error_is_that_of_a_share(answers):
    for answer in answers:
        exact = math.sqrt(answer.value * (1 - answer.value) / 1000)
        assert standard_error(answer) == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize(
    ("rule", "winner"),
    [
        (False, 2),
        (True, 1),
        ("depth", 2),
        (lambda params: -params["depth"], 1),
        (lambda params: 0, 2),  # of equally simple ones the better
    ],
)
def test_the_simplest_of_those_as_good_as_the_best_wins(rule, winner, answers):
    assert best_of(answers, [0, 1, 2, 3], CANDIDATES, rule) == winner


def test_only_what_may_win_can_win_and_be_the_best(answers):
    assert best_of(answers, [3, 0], CANDIDATES, True) == 0
    assert best_of([None, *answers[1:]], [0, 1, 2, 3], CANDIDATES, True) == 1
    assert best_of({2: answers[2], 1: answers[1]}, [2, 1], CANDIDATES, True) == 1
    assert best_of([None] * 4, [2, 3], CANDIDATES, True) == 2


@pytest.mark.parametrize("value", ["deep", None, math.nan])
def test_a_complexity_must_be_a_number(value, answers):
    with pytest.raises(ValueError, match="The 'one_standard_error' parameter of ReusableHoldoutCV"):
        best_of(answers, [0, 1, 2, 3], CANDIDATES, lambda params: value)


@pytest.mark.parametrize("ask", [6, "candidates"])
@pytest.mark.parametrize("rule", [True, "max_depth", lambda params: params["max_depth"]])
def test_the_shallowest_tree_within_one_standard_error_wins(ask, rule, numbered, tmp_path):
    inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": DEPTHS})
    search = ReusableHoldoutCV(inner, ask=ask, one_standard_error=rule, ledger=tmp_path / "ledger.db")
    search.fit(numbered[0], numbered[1]["classifier"])
    asked = search.answers_[:6]
    if ask == 6:  # answers are in the order of the search's own ranking
        order = np.argsort(-search.cv_results_["mean_test_score"], kind="stable")
        asked = [asked[list(order).index(index)] for index in range(6)]
    best = max(asked, key=lambda answer: answer.value)
    good = [i for i, answer in enumerate(asked) if answer.value >= best.value - standard_error(best)]
    assert search.best_index_ == good[0]
    assert search.best_params_ == {"max_depth": DEPTHS[good[0]]}


def test_ranks_do_not_stand_in_for_the_grid(numbered, tmp_path):
    """True goes by the order of the grid, not by that in which the best few were certified."""
    inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": DEPTHS[::-1]})
    search = ReusableHoldoutCV(inner, ask=6, one_standard_error=True, ledger=tmp_path / "ledger.db")
    search.fit(numbered[0], numbered[1]["classifier"])
    within = [
        index
        for index, (low, high) in enumerate(
            zip(search.cv_results_["certified_low"], search.cv_results_["certified_high"], strict=True)
        )
        if np.isfinite(low + high)
    ]
    assert search.best_index_ in within
    values = dict(
        zip(np.argsort(-search.cv_results_["mean_test_score"], kind="stable"), search.answers_, strict=True)
    )
    best = max(search.answers_, key=lambda answer: answer.value)
    good = [index for index, answer in values.items() if answer.value >= best.value - standard_error(best)]
    assert search.best_index_ == min(good)


TREE = DecisionTreeClassifier()
BAD = {
    "a random search has no order": (
        RandomizedSearchCV(TREE, {"max_depth": DEPTHS}),
        {"one_standard_error": True},
    ),
    "an unknown parameter": (GridSearchCV(TREE, {"max_depth": DEPTHS}), {"one_standard_error": "depth"}),
    "a number": (GridSearchCV(TREE, {"max_depth": DEPTHS}), {"one_standard_error": 1}),
    "one winner": (GridSearchCV(TREE, {"max_depth": DEPTHS}), {"one_standard_error": True, "ask": "winner"}),
    "a ladder": (
        GridSearchCV(TREE, {"max_depth": DEPTHS}),
        {"one_standard_error": True, "mechanism": "ladder"},
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_rule_that_cannot_be_is_refused_before_anything_is_fitted(case, numbered, tmp_path, sentence):
    inner, params = BAD[case]
    search = ReusableHoldoutCV(inner, ledger=tmp_path / "ledger.db", **{"ask": 3, **params})
    with pytest.raises(ValueError, match=sentence("one_standard_error")):
        search.fit(numbered[0], numbered[1]["classifier"])
    assert not list(tmp_path.iterdir())


def test_a_ladder_scorer_as_mechanism_is_refused_as_the_word_is(rows, holdout, uncharged, sentence):
    inner = GridSearchCV(TREE, {"max_depth": DEPTHS})
    scorer = LadderScorer("accuracy", holdout)
    search = ReusableHoldoutCV(inner, ask="candidates", mechanism=scorer, one_standard_error=True)
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("one_standard_error")):
        search.fit(rows[0], rows[1])
