"""Which call of a scorer is a question to the holdout, what every other call returns, and who may call."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifierCV, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)

from sklearn_ada import Holdout, LadderScorer, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.exceptions import HoldoutLeakError
from tests.support.ledger.fitted_models import Constant, FirstRule
from tests.support.ledgers import kinds
from tests.support.searches import TREE, asking, grid


@pytest.fixture
def scorer(holdout):
    return ThresholdoutScorer("accuracy", holdout)


@pytest.fixture(params=[ThresholdoutScorer, StableHoldoutScorer, LadderScorer])
def any_scorer(request, holdout):
    return request.param("accuracy", holdout)


@pytest.fixture
def model(rows):
    return LogisticRegression().fit(rows[0], rows[1])


# without its cv


def test_without_its_cv_every_fitted_model_is_one_question_and_train_scores_are_free_and_plain(
    rows, scorer, asked
):
    how = {"cv": 5, "return_train_score": True, "return_estimator": True, "return_indices": True}
    found = cross_validate(TREE, rows[0], rows[1], scoring=scorer, **how)
    assert asked(scorer.holdout) == 5
    for fitted, train, score in zip(
        found["estimator"], found["indices"]["train"], found["train_score"], strict=True
    ):
        assert score == fitted.score(rows[0][train], rows[1][train])


# with its cv


@pytest.mark.parametrize("kind", [ThresholdoutScorer, StableHoldoutScorer])
def test_with_its_cv_every_candidate_is_one_question_and_new_rows_are_scored_free_and_plain(
    kind, rows, holdout, asked, uncharged
):
    search = asking(kind("accuracy", holdout)).fit(rows[0], rows[1])
    assert asked(holdout) == 4
    answers = [answer for _, answer in holdout.report().answers]
    assert search.cv_results_["mean_test_score"].tolist() == [answer.value for answer in answers]
    assert search.best_index_ == int(np.argmax(search.cv_results_["mean_test_score"]))
    assert all((answer.levels is None) == (kind is ThresholdoutScorer) for answer in answers)
    with uncharged(holdout), pytest.warns(UserWarning, match="costs nothing") as caught:
        scores = [search.score(rows[4], rows[5]) for _ in range(3)]
    assert len(caught) == 1
    assert scores == [search.best_estimator_.score(rows[4], rows[5])] * 3
    model = search.best_estimator_
    weights = (model.predict(rows[4]) == rows[5]).astype(float)
    assert search.scorer_(model, rows[4], rows[5], sample_weight=weights) == 1.0  # of the plain metric only


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


def test_candidates_whose_rules_differ_in_order_are_two_questions(rows, scorer, asked):
    rules = [{0.0: 1, -99.0: 0}, {-99.0: 0, 0.0: 1}]
    split = [(np.arange(150), np.arange(150, 300))]
    search = GridSearchCV(FirstRule(), {"rules": rules}, scoring=scorer, cv=split, error_score="raise")
    search.fit(rows[0], rows[1])
    assert asked(scorer.holdout) == 2


def test_a_second_run_of_the_same_search_is_nearly_free(rows, scorer):
    search = asking(scorer)
    first = search.fit(rows[0], rows[1]).cv_results_["mean_test_score"]
    before = scorer.holdout.report()
    second = clone(search).fit(rows[0], rows[1]).cv_results_["mean_test_score"]
    assert (first == second).all()
    after = scorer.holdout.report()
    assert (after.asked, after.confirmed["the same"]) == (before.asked, 4)
    assert 0.0 < after.nats - before.nats < 0.0044


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_randomized_search_asks_once_a_candidate(n_jobs, rows, scorer, asked):
    how = {"n_iter": 3, "random_state": 0, "n_jobs": n_jobs}
    asking(scorer, search=RandomizedSearchCV, **how).fit(rows[0], rows[1])
    assert asked(scorer.holdout) == 3


@pytest.mark.filterwarnings("ignore:.*sample_weight:UserWarning")
def test_named_scorers_and_a_weighted_fit_go_together(rows, scorer, asked):
    """Since 1.7 scikit-learn asks every scorer of a dict whether it takes the weights of the rows passed."""
    named = {"scoring": {"acc": scorer}, "refit": scorer.select_best.by("acc"), "error_score": "raise"}
    search = asking(scorer, **named).fit(rows[0], rows[1], sample_weight=np.ones(300))
    assert asked(scorer.holdout) == 4
    answers = [answer.value for _, answer in scorer.holdout.report().answers]
    assert search.cv_results_["mean_test_acc"].tolist() == answers


def test_the_answer_is_the_holdouts_and_not_the_validation_rows(rows, tmp_path):
    flipped = Holdout(rows[2], 1 - rows[3], ledger=tmp_path / "ledger.db")
    scorer = ThresholdoutScorer("accuracy", flipped)
    scores = cross_val_score(TREE, rows[0], rows[1], scoring=scorer, cv=scorer.cv)
    ((_, answer),) = flipped.report().answers
    assert scores.tolist() == [answer.value]
    assert answer.value < 0.5 < cross_val_score(TREE, rows[0], rows[1]).mean()


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": lambda scorer: clone(scorer, safe=False),
    "pickle": lambda scorer: pickle.loads(pickle.dumps(scorer)),
}


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_every_copy_of_a_scorer_charges_the_same_ledger(rows, scorer, duplicate, asked):
    other = duplicate(scorer)
    cross_val_score(TREE, rows[0], rows[1], scoring=other, cv=other.cv)
    assert asked(scorer.holdout) == 1


@pytest.mark.parametrize("into", [np.ndarray.tolist, sparse.csr_matrix, pd.DataFrame])
def test_registered_rows_are_recognised_in_any_container(into, rows, scorer, asked):
    y = pd.Series(rows[1], index=np.arange(1000, 1300)) if into is pd.DataFrame else rows[1].tolist()
    asking(scorer, refit=False).fit(into(rows[0]), y)
    assert asked(scorer.holdout) == 4


@pytest.mark.filterwarnings("ignore")
def test_registered_rows_are_recognised_when_labels_are_a_list_of_texts(rows, tmp_path, asked):
    names = np.array(["no", "ok"])
    holdout = Holdout(rows[2], names[rows[3]], ledger=tmp_path / "ledger.db")
    scorer, labels = ThresholdoutScorer("accuracy", holdout), names[rows[1]].tolist()
    fit, _ = next(scorer.cv.split(rows[0], labels))
    labels[fit[0]] = "rare"  # so the longest text is not among the validation labels
    asking(ThresholdoutScorer("accuracy", holdout), refit=False).fit(rows[0], labels)
    assert asked(holdout) == 4


# parts of scikit-learn that hand a scorer something other than a model of the holdout's rows


WAY_OUT = r"ReusableHoldoutCV around .*|certify the tuned model: holdout\.certify"
ODD = {
    "boosting": lambda scorer: HistGradientBoostingClassifier(scoring=scorer, early_stopping=True),
    "boosting of numbers": lambda scorer: HistGradientBoostingRegressor(scoring=scorer, early_stopping=True),
    "ridge": lambda scorer: RidgeCV(scoring=scorer),
    "ridge classifier": lambda scorer: RidgeClassifierCV(scoring=scorer),
    "logistic regression": lambda scorer: LogisticRegressionCV(scoring=scorer, cv=3, Cs=2),
    "features one by one": lambda scorer: SequentialFeatureSelector(TREE, scoring=scorer, cv=3),
    "threshold": lambda scorer: TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_estimators_that_misuse_the_scorer_are_refused_and_charge_nothing(odd, any_scorer, rows, uncharged):
    with uncharged(any_scorer.holdout), pytest.raises(TypeError, match=WAY_OUT):
        ODD[odd](any_scorer).fit(rows[0], rows[1])


def test_recursive_elimination_is_refused_once_it_has_left_a_column_out(any_scorer, rows, asked):
    with pytest.raises(TypeError, match="a model of 4 columns, and the holdout has 5"):
        RFECV(TREE, scoring=any_scorer, cv=3).fit(rows[0], rows[1])
    assert asked(any_scorer.holdout) == 1  # a model of all columns is a question like any other


@pytest.mark.parametrize("leaked", [slice(None), slice(0, 200)], ids=["all", "part"])
def test_a_guess_from_the_rows_of_the_holdout_is_refused_as_it_would_be_the_answer(
    leaked, any_scorer, model, rows, asked
):
    with pytest.raises(HoldoutLeakError, match="from which guesses are taken"):
        float(any_scorer(model, rows[2][leaked], rows[3][leaked]))
    assert asked(any_scorer.holdout) == 0


@pytest.mark.parametrize("has_its_cv", [False, True])
def test_a_search_over_the_rows_of_the_holdout_ends_at_its_first_fold(has_its_cv, any_scorer, rows):
    """Each fold would be charged as a leak, and each score be a NaN."""
    cv = any_scorer.cv if has_its_cv else 2
    with pytest.raises(HoldoutLeakError):
        grid(scoring=any_scorer, cv=cv).fit(np.r_[rows[2], rows[0]], np.r_[rows[3], rows[1]])
    assert set(kinds(any_scorer.holdout)) <= {None, "overlap"}


def test_rows_are_compared_with_the_holdout_once(any_scorer, rows):
    for depth in (1, 2, 3):
        tree = clone(TREE).set_params(max_depth=depth, min_samples_leaf=13)  # no other test fits it
        any_scorer(tree.fit(rows[0], rows[1]), rows[4], rows[5])
    assert sorted(kinds(any_scorer.holdout)[1:]) == ["answer"] * 3 + ["overlap"]


@pytest.mark.parametrize(
    ("n_jobs", "kind"),
    [(1, np.float64), (1, np.float32), pytest.param(2, np.float64, marks=pytest.mark.thorough)],
)
def test_permuted_copies_of_the_rows_are_refused(n_jobs, kind, any_scorer, model, rows, asked):
    with pytest.raises(TypeError, match="permuted copies of X"):
        permutation_importance(model, rows[4].astype(kind), rows[5], scoring=any_scorer, n_jobs=n_jobs)
    assert asked(any_scorer.holdout) == 1


def test_once_its_cv_was_used_permuted_rows_are_scored_as_they_are(any_scorer, model, rows, uncharged):
    next(any_scorer.cv.split(rows[0], rows[1]))
    with uncharged(any_scorer.holdout), pytest.warns(UserWarning, match="costs nothing"):
        found = permutation_importance(model, rows[4], rows[5], scoring=any_scorer, random_state=0)
    plain = permutation_importance(model, rows[4], rows[5], random_state=0)
    np.testing.assert_array_equal(found.importances, plain.importances)


def test_train_scores_are_not_taken_for_permuted_copies(any_scorer, model, rows):
    cross_val_score(TREE, rows[0], rows[1], scoring=any_scorer, cv=3)
    any_scorer(model, rows[4], rows[5])
    assert any_scorer(model, rows[0], rows[1]) == model.score(rows[0], rows[1])


def test_labels_coded_anew_are_refused_and_a_class_too_few_is_no_new_code(
    any_scorer, rows, uncharged, sentence
):
    coded = 2 * rows[1] - 1
    with uncharged(any_scorer.holdout), pytest.raises(TypeError, match="coded anew"):
        any_scorer(LogisticRegression().fit(rows[0], coded), rows[0], coded)
    ones = Constant(1).fit(rows[0], np.ones(300, dtype=int))
    with uncharged(any_scorer.holdout), pytest.raises(ValueError, match=sentence("estimator")):
        any_scorer(ones, rows[0], rows[1])


def test_what_stands_for_no_score_says_why_and_cannot_be_used(any_scorer, rows, uncharged):
    model = LogisticRegression().fit(rows[0][:, :2], rows[1])
    with uncharged(any_scorer.holdout):
        score = any_scorer(model, rows[0][:, :2], rows[1])
    assert "a model of 2 columns, and the holdout has 5" in repr(score)
    for use in (float, np.mean, lambda value: value.item()):
        with pytest.raises(TypeError, match="ReusableHoldoutCV around the whole search"):
            use(score)
