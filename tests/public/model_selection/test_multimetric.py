"""Several scores at once: one holdout, one budget, one joint guarantee."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_validate

from sklearn_ada import Holdout, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support.searches import TREE, grid

GRID = [1, 2, 3]
TWICE = {"acc": "accuracy", "twice": "f1_micro"}  # one metric under two names


def scorers(holdout):
    acc = ThresholdoutScorer("accuracy", holdout)
    others = {"auc": ThresholdoutScorer("roc_auc", holdout), "f1": StableHoldoutScorer("f1", holdout)}
    for other in others.values():
        other.cv = acc.cv
    return {"acc": acc, **others}


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", ["acc", "auc", "f1"])
def test_every_score_of_every_candidate_is_a_question_to_one_ledger(name, n_jobs, rows, holdout):
    scoring = scorers(holdout)
    best = scoring[name].select_best.by(name)
    search = grid(TREE, GRID, scoring=scoring, cv=scoring["acc"].cv, n_jobs=n_jobs, refit=best)
    search.fit(rows[0], rows[1])
    assert holdout.report().asked == {"check": 9, "certify": 0}
    values = {answer.value for _, answer in holdout.report().answers}
    for key in scoring:
        assert set(search.cv_results_[f"mean_test_{key}"]) <= values
    assert search.best_index_ == np.argmax(search.cv_results_[f"mean_test_{name}"])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_scores_share_one_budget(rows, tmp_path):
    """What the accuracies leave of a budget is less for the other score, and select_best sees it."""
    answered = {}
    for names in (("acc",), ("acc", "twice")):
        tight = Holdout(rows[2], rows[3], ledger=tmp_path / f"{len(names)}.db", tolerance=0.22)
        scoring = {name: ThresholdoutScorer(TWICE[name], tight, threshold=0.1) for name in names}
        for scorer in scoring.values():
            scorer.cv = scoring["acc"].cv
        candidates = {"min_impurity_decrease": [0.001 * i for i in range(12)]}
        search = GridSearchCV(TREE, candidates, scoring=scoring, cv=scorer.cv, refit=False)
        search.fit(rows[0], rows[1])
        answered[names] = int(np.isfinite(search.cv_results_["mean_test_acc"]).sum())
        assert tight.report().refused + tight.report().asked["check"] == 12 * len(names)
        with pytest.raises(BudgetExhaustedError):
            scoring["acc"].select_best.by("acc")(search.cv_results_)
    assert 0 < answered["acc", "twice"] < answered[("acc",)] < 12


def test_a_plain_score_beside_ours_costs_nothing(rows, holdout):
    scorer = ThresholdoutScorer("accuracy", holdout)
    scoring, best = {"holdout": scorer, "validation": "accuracy"}, scorer.select_best.by("holdout")
    search = grid(TREE, GRID, scoring=scoring, cv=scorer.cv, refit=best).fit(rows[0], rows[1])
    assert holdout.report().asked["check"] == 3
    assert np.isfinite(search.cv_results_["mean_test_validation"]).all()


def test_cross_validate_takes_a_dict(rows, holdout):
    scoring = {"acc": ThresholdoutScorer("accuracy", holdout), "auc": ThresholdoutScorer("roc_auc", holdout)}
    scores = cross_validate(TREE.set_params(max_depth=2), rows[0], rows[1], scoring=scoring, cv=3)
    assert np.isfinite(scores["test_acc"]).all()
    assert holdout.report().asked["check"] == 6


SEVERAL = {
    "a dict": ({"a": "accuracy", "b": "roc_auc"}, "b", "roc_auc"),
    "a list": (["accuracy", "roc_auc"], "roc_auc", "roc_auc"),
    "a tuple": (("accuracy", "balanced_accuracy"), "accuracy", "accuracy"),
}


@pytest.mark.parametrize("case", SEVERAL)
@pytest.mark.parametrize("ask", ["candidates", "winner", 2])
def test_a_search_of_several_is_certified_by_the_one_it_refits_by(case, ask, searched):
    scoring, refit, metric = SEVERAL[case]
    search = searched(grid(TREE, GRID, scoring=scoring, refit=refit), ask=ask)
    assert f"population {metric}" in search.best_answer_.certificate.target
    assert np.isfinite(search.best_score_)
    if ask == "winner":
        assert search.best_index_ == np.argmax(search.cv_results_[f"mean_test_{refit}"])


@pytest.mark.parametrize("case", SEVERAL)
@pytest.mark.parametrize(
    ("refit", "ask"), [(False, "candidates"), (False, "winner"), (lambda results: 0, "winner")]
)
def test_a_metric_may_be_named_where_the_search_names_none(case, refit, ask, searched):
    inner = grid(TREE, GRID, scoring=SEVERAL[case][0], refit=refit)
    search = searched(inner, scoring="accuracy", ask=ask)
    assert "population accuracy" in search.best_answer_.certificate.target


@pytest.mark.parametrize("case", SEVERAL)
@pytest.mark.parametrize(("refit", "ask"), [(False, "candidates"), (True, "winner"), (lambda table: 0, 2)])
def test_several_of_which_none_is_named_are_refused(case, refit, ask, recorder, refused):
    model = recorder["classifier"]
    refused("scoring", search=grid(model(), scoring=SEVERAL[case][0], refit=refit), ask=ask)
    assert not model.fitted_on


def test_another_metric_than_any_of_several_is_refused_for_their_winner(searched, sentence):
    with pytest.raises(ValueError, match=sentence("search")):
        searched(grid(scoring=["accuracy", "roc_auc"], refit=False), scoring="recall")


def test_a_search_with_select_best_prints_the_same_in_every_run(holdout):
    best = ThresholdoutScorer("accuracy", holdout).select_best
    plain = grid(refit=best)
    assert "refit=select_best)" in " ".join(repr(plain).split())
    assert "refit=select_best.by('acc'))" in repr(plain.set_params(refit=best.by("acc")))
