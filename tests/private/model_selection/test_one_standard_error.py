"""The simplest of the candidates that are within one standard error of the best."""

import math

import numpy as np
import pytest
from sklearn.model_selection import RandomizedSearchCV

from sklearn_ada import Holdout, LadderScorer
from sklearn_ada.model_selection.certifying import best_of, standard_error
from tests.support.models import RightBelow
from tests.support.searches import TREE, grid

DEPTHS = [1, 2, 3, 4, 6, 8]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Certified accuracies of .80, .90, .91 and .70 on 1,000 rows: a standard error is about .009."""
    X, y = np.arange(1000.0)[:, None], np.r_[np.ones(999, dtype=int), 0]
    holdout = Holdout(X, y, ledger=tmp_path_factory.mktemp("answers") / "ledger.db")
    models = [RightBelow(right) for right in (800, 905, 910, 700)]
    return [holdout.certify(model, scoring="accuracy", guess=model.right / 1000) for model in models]


CANDIDATES = [{"depth": 1}, {"depth": 5}, {"depth": 3}, {"depth": 0}]


def test_the_standard_error_is_that_of_a_share(answers):
    for answer in answers:
        exact = math.sqrt(answer.value * (1 - answer.value) / 1000)
        assert standard_error(answer) == pytest.approx(exact, rel=0.1)


RULES = [
    *((False, 2), (True, 1), ("depth", 2), (lambda params: -params["depth"], 1)),
    (lambda params: 0, 2),  # of equally simple ones the better
]


@pytest.mark.parametrize(("rule", "winner"), RULES)
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


def by_candidate(search, ask):
    """Return the certified answers in the order of the grid, and the indices of those as good as the best."""
    asked = search.answers_[:6]
    if ask == 6:  # answers are in the order of the search's own ranking
        order = np.argsort(-search.cv_results_["mean_test_score"], kind="stable")
        asked = [asked[list(order).index(index)] for index in range(6)]
    best = max(asked, key=lambda answer: answer.value)
    return [i for i, answer in enumerate(asked) if answer.value >= best.value - standard_error(best)]


@pytest.mark.parametrize("ask", [6, "candidates"])
@pytest.mark.parametrize("rule", [True, "max_depth", lambda params: params["max_depth"]])
def test_the_shallowest_tree_within_one_standard_error_wins(ask, rule, searched):
    search = searched(grid(values=DEPTHS), ask=ask, one_standard_error=rule)
    good = by_candidate(search, ask)
    assert search.best_index_ == good[0]
    assert search.best_params_ == {"max_depth": DEPTHS[good[0]]}


def test_true_goes_by_the_order_of_the_grid_not_by_that_in_which_the_best_few_were_certified(searched):
    search = searched(grid(values=DEPTHS[::-1]), ask=6, one_standard_error=True)
    assert search.cv_results_["verdict"][search.best_index_]
    assert search.best_index_ == by_candidate(search, 6)[0]


TREES = grid(values=DEPTHS)
BAD = {
    "a random search has no order": (RandomizedSearchCV(TREE, {"max_depth": DEPTHS}), {}),
    "an unknown parameter": (TREES, {"one_standard_error": "depth"}),
    "a number": (TREES, {"one_standard_error": 1}),
    "one winner": (TREES, {"ask": "winner"}),
    "a ladder": (TREES, {"mechanism": "ladder"}),
}


@pytest.mark.parametrize(("search", "params"), BAD.values(), ids=BAD)
def test_a_rule_that_cannot_be_is_refused_before_anything_is_fitted(search, params, refused):
    refused("one_standard_error", search=search, **{"ask": 3, "one_standard_error": True, **params})


def test_a_ladder_scorer_as_mechanism_is_refused_as_the_word_is(wrap, rows, holdout, uncharged, sentence):
    search = wrap(ask="candidates", mechanism=LadderScorer("accuracy", holdout), one_standard_error=True)
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("one_standard_error")):
        search.fit(rows[0], rows[1])
