"""What certifies little, or asks more than it seems to, is said before it is paid for."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, LadderScorer, ReusableHoldoutCV, StableHoldoutScorer, ThresholdoutScorer

RNG = np.random.default_rng(5)
X = RNG.normal(size=(600, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=600) > 0).astype(int)
X2 = RNG.normal(size=(300, 3))
Y2 = (X2[:, 0] > 0).astype(int)


def messages_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return " ".join(str(each.message) for each in caught)


def holdout(n=300, **params):
    order = RNG.permutation(600)[:n]  # other rows each time: a warning is given once for the same
    return Holdout(X[order], Y[order], ledger=":memory:", **params)


def certify(asked):
    asked.certify(LogisticRegression().fit(X, Y), scoring="accuracy", guess=0.9)


def search(**params):
    grid = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=3)
    return ReusableHoldoutCV(grid, ledger=":memory:", **params)


@pytest.mark.parametrize("n", [4, 10, 19])
def test_few_rows_are_said(n):
    assert f"The holdout has {n} rows" in messages_of(lambda: certify(holdout(n)))


def test_few_groups_are_said():
    asked = holdout(300, groups=np.arange(300) % 12)
    assert "The holdout has 12 groups" in messages_of(lambda: certify(asked))


def test_few_rows_of_a_search_are_said():
    rows = RNG.permutation(600)[:40]
    assert "The holdout has 10 rows" in messages_of(lambda: search().fit(X[rows], Y[rows]))


def test_enough_rows_need_no_word():
    assert "The holdout has" not in messages_of(lambda: certify(holdout(30)))


def test_one_class_is_said():
    ones = X[Y == 1]
    asked = Holdout(ones[:200], np.ones(200, dtype=int), ledger=":memory:")
    assert "one class" in messages_of(lambda: certify(asked))


def test_hidden_winner_without_candidates_is_said():
    assert "hides the scores" in messages_of(lambda: search(reveal="winner").fit(X, Y))
    assert "hides the scores" not in messages_of(lambda: search(reveal="winner", ask=2).fit(X, Y))


SCORERS = [ThresholdoutScorer, LadderScorer, StableHoldoutScorer]


@pytest.mark.parametrize("kind", SCORERS)
@pytest.mark.parametrize("call", [cross_val_score, cross_validate])
def test_question_for_each_fold_is_said(kind, call):
    scorer = kind("accuracy", holdout())
    assert "cv=scorer.cv" in messages_of(lambda: call(DecisionTreeClassifier(), X2, Y2, scoring=scorer, cv=3))


def test_folds_of_a_search_are_said():
    scorer = ThresholdoutScorer("accuracy", holdout())
    grid = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, scoring=scorer, cv=3, refit=False)
    assert "cv=scorer.cv" in messages_of(lambda: grid.fit(X2, Y2))


def test_the_fold_of_a_worker_is_said():
    """A worker has a copy of the scorer, and may see one fold only."""
    asked = Holdout(X[:300], Y[:300])
    of_worker = pickle.loads(pickle.dumps(ThresholdoutScorer("accuracy", asked)))
    model = DecisionTreeClassifier(max_depth=1).fit(X2[:200], Y2[:200])
    assert "cv=scorer.cv" in messages_of(lambda: of_worker(model, X2[200:], Y2[200:]))
    assert asked.report().asked["check"] == 1


def test_one_question_each_needs_no_word():
    scorer = ThresholdoutScorer("accuracy", holdout())
    grid = GridSearchCV(
        DecisionTreeClassifier(),
        {"max_depth": [1, 2]},
        scoring=scorer,
        cv=scorer.cv,
        refit=scorer.select_best,
    )
    assert "cv=scorer.cv" not in messages_of(lambda: grid.fit(X2, Y2))


def test_models_judged_by_the_same_rows_need_no_word():
    scorer = ThresholdoutScorer("accuracy", holdout())

    def ask():
        for depth in (1, 2, 3):
            scorer(DecisionTreeClassifier(max_depth=depth).fit(X2[:200], Y2[:200]), X2[200:], Y2[200:])

    assert "cv=scorer.cv" not in messages_of(ask)
