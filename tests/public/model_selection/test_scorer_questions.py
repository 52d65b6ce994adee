"""Which call of a scorer is a question to the holdout, and what every other call returns."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score, cross_validate

from sklearn_ada import Holdout, StableHoldoutScorer, ThresholdoutScorer
from tests.support.ledger.fitted_models import FirstRule
from tests.support.searches import TREE, asking


@pytest.fixture
def scorer(holdout):
    return ThresholdoutScorer("accuracy", holdout)


def test_without_its_cv_every_fitted_model_is_one_question(rows, scorer, asked):
    asking(scorer, cv=5, refit=False).fit(rows[0], rows[1])
    assert asked(scorer.holdout) == 4 * 5


def test_without_its_cv_train_scores_are_free_and_plain(rows, scorer, asked):
    how = {"cv": 5, "return_train_score": True, "return_estimator": True, "return_indices": True}
    result = cross_validate(TREE, rows[0], rows[1], scoring=scorer, **how)
    assert asked(scorer.holdout) == 5
    for model, train, score in zip(
        result["estimator"], result["indices"]["train"], result["train_score"], strict=True
    ):
        assert score == model.score(rows[0][train], rows[1][train])


@pytest.mark.parametrize("kind", [ThresholdoutScorer, StableHoldoutScorer])
def test_with_its_cv_every_candidate_is_one_question_and_new_rows_are_scored_free_and_plain(
    kind, rows, holdout, asked, uncharged
):
    scorer = kind("accuracy", holdout)
    search = asking(scorer).fit(rows[0], rows[1])
    assert asked(holdout) == 4
    answers = [answer for _, answer in holdout.report().answers]
    assert search.cv_results_["mean_test_score"].tolist() == [answer.value for answer in answers]
    assert search.best_index_ == int(np.argmax(search.cv_results_["mean_test_score"]))
    assert all((answer.levels is None) == (kind is ThresholdoutScorer) for answer in answers)
    with uncharged(holdout), pytest.warns(UserWarning, match="costs nothing") as caught:
        scores = [search.score(rows[4], rows[5]) for _ in range(3)]
    assert len(caught) == 1
    assert scores == [search.best_estimator_.score(rows[4], rows[5])] * 3


def test_candidates_whose_rules_differ_in_order_are_two_questions(rows, scorer, asked):
    rules = [{0.0: 1, -99.0: 0}, {-99.0: 0, 0.0: 1}]
    split = [(np.arange(150), np.arange(150, 300))]
    search = GridSearchCV(FirstRule(), {"rules": rules}, scoring=scorer, cv=split, error_score="raise")
    search.fit(rows[0], rows[1])
    assert asked(scorer.holdout) == 2


@pytest.mark.filterwarnings("ignore")
def test_with_its_cv_train_scores_cost_nothing_extra(rows, scorer, asked):
    search = asking(scorer, refit=False, return_train_score=True).fit(rows[0], rows[1])
    assert asked(scorer.holdout) == 4
    fit, _ = next(scorer.cv.split(rows[0], rows[1]))
    model = clone(TREE).set_params(max_depth=4).fit(rows[0][fit], rows[1][fit])
    assert search.cv_results_["mean_train_score"][3] == model.score(rows[0][fit], rows[1][fit])


def test_the_guess_comes_from_rows_that_the_model_was_not_fitted_on_the_same_each_time(rows, scorer):
    ((fit, guess),), (again,) = (list(scorer.cv.split(rows[0], rows[1])) for _ in range(2))
    assert sorted([*fit, *guess]) == list(range(300))
    assert all((a == b).all() for a, b in zip((fit, guess), again, strict=True))
    assert scorer.cv.get_n_splits() == 1
    assert not hasattr(scorer.cv, "random_state")


def test_a_second_run_of_the_same_search_is_nearly_free(rows, scorer):
    search = asking(scorer)
    first = search.fit(rows[0], rows[1]).cv_results_["mean_test_score"]
    before = scorer.holdout.report()
    second = clone(search).fit(rows[0], rows[1]).cv_results_["mean_test_score"]
    assert (first == second).all()
    after = scorer.holdout.report()
    assert (after.asked, after.confirmed["the same"]) == (before.asked, 4)
    assert 0.0 < after.nats - before.nats < 0.0044


@pytest.mark.parametrize("into", [np.ndarray.tolist, sparse.csr_matrix, pd.DataFrame])
def test_registered_rows_are_recognised_in_any_container(into, rows, scorer, asked):
    y = pd.Series(rows[1], index=np.arange(1000, 1300)) if into is pd.DataFrame else rows[1].tolist()
    asking(scorer, refit=False).fit(into(rows[0]), y)
    assert asked(scorer.holdout) == 4


@pytest.mark.filterwarnings("ignore")
def test_registered_rows_are_recognised_when_labels_are_a_list_of_texts(rows, tmp_path, asked):
    names = np.array(["no", "ok"])
    holdout = Holdout(rows[2], names[rows[3]], ledger=tmp_path / "ledger.db")
    labels = [str(name) for name in names[rows[1]]]
    fit, _ = next(ThresholdoutScorer("accuracy", holdout).cv.split(rows[0], labels))
    labels[fit[0]] = "rare"  # so the longest text is not among the validation labels
    asking(ThresholdoutScorer("accuracy", holdout), refit=False).fit(rows[0], labels)
    assert asked(holdout) == 4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_randomized_search_asks_once_a_candidate(n_jobs, rows, scorer, asked):
    how = {"n_iter": 3, "random_state": 0, "n_jobs": n_jobs}
    asking(scorer, search=RandomizedSearchCV, **how).fit(rows[0], rows[1])
    assert asked(scorer.holdout) == 3


def test_the_answer_is_the_holdouts_and_not_the_validation_rows(rows, tmp_path):
    flipped = Holdout(rows[2], 1 - rows[3], ledger=tmp_path / "ledger.db")
    scorer = ThresholdoutScorer("accuracy", flipped)
    scores = cross_val_score(TREE, rows[0], rows[1], scoring=scorer, cv=scorer.cv)
    ((_, answer),) = flipped.report().answers
    assert scores.tolist() == [answer.value]
    assert answer.value < 0.5 < cross_val_score(TREE, rows[0], rows[1]).mean()


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda s: clone(s, safe=False), lambda s: pickle.loads(pickle.dumps(s))],
    ids=["copy", "deepcopy", "clone", "pickle"],
)
def test_every_copy_of_a_scorer_charges_the_same_ledger(rows, scorer, duplicate, asked):
    other = duplicate(scorer)
    cross_val_score(TREE, rows[0], rows[1], scoring=other, cv=other.cv)
    assert asked(scorer.holdout) == 1


@pytest.mark.filterwarnings("ignore")
def test_sample_weight_weighs_the_plain_metric_only(rows, scorer):
    model = clone(TREE).fit(rows[0], rows[1])
    cross_val_score(TREE, rows[0], rows[1], scoring=scorer, cv=scorer.cv)
    weights = (model.predict(rows[4]) == rows[5]).astype(float)
    assert scorer(model, rows[4], rows[5], sample_weight=weights) == 1.0


@pytest.mark.filterwarnings("ignore:.*sample_weight:UserWarning")
def test_named_scorers_and_a_weighted_fit_go_together(rows, scorer, asked):
    """Since 1.7 scikit-learn asks every scorer of a dict whether it takes the weights of the rows passed."""
    named = {"scoring": {"acc": scorer}, "refit": scorer.select_best.by("acc"), "error_score": "raise"}
    search = asking(scorer, **named).fit(rows[0], rows[1], sample_weight=np.ones(300))
    assert asked(scorer.holdout) == 4
    answers = [answer.value for _, answer in scorer.holdout.report().answers]
    assert search.cv_results_["mean_test_acc"].tolist() == answers
