"""Several scores at once: one holdout, one budget, one joint guarantee."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError

TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 3]}
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
    search = GridSearchCV(
        TREE, GRID, scoring=scoring, cv=scoring["acc"].cv, n_jobs=n_jobs,
        refit=scoring[name].select_best.by(name),
    ).fit(rows[0], rows[1])  # fmt: skip
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
        scoring = {name: ThresholdoutScorer(metric, tight, threshold=0.1) for name, metric in TWICE.items()}
        scoring = {name: scoring[name] for name in names}
        for scorer in scoring.values():
            scorer.cv = scoring["acc"].cv
        search = GridSearchCV(
            TREE,
            {"min_impurity_decrease": [0.001 * i for i in range(12)]},
            scoring=scoring,
            cv=scoring["acc"].cv,
            refit=False,
        ).fit(rows[0], rows[1])
        answered[names] = int(np.isfinite(search.cv_results_["mean_test_acc"]).sum())
        assert tight.report().refused + tight.report().asked["check"] == 12 * len(names)
        with pytest.raises(BudgetExhaustedError):
            scoring["acc"].select_best.by("acc")(search.cv_results_)
    assert 0 < answered["acc", "twice"] < answered[("acc",)] < 12


def test_a_plain_score_beside_ours_costs_nothing(rows, holdout):
    scorer = ThresholdoutScorer("accuracy", holdout)
    scoring = {"holdout": scorer, "validation": "accuracy"}
    search = GridSearchCV(TREE, GRID, scoring=scoring, cv=scorer.cv, refit=scorer.select_best.by("holdout"))
    search.fit(rows[0], rows[1])
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
def test_a_search_of_several_is_certified_by_the_one_it_refits_by(case, ask, numbered, tmp_path):
    scoring, refit, metric = SEVERAL[case]
    inner = GridSearchCV(TREE, GRID, scoring=scoring, refit=refit)
    search = ReusableHoldoutCV(inner, ask=ask, ledger=tmp_path / "ledger.db")
    search.fit(numbered[0], numbered[1]["classifier"])
    assert f"population {metric}" in search.best_answer_.certificate.target
    assert np.isfinite(search.best_score_)
    if ask == "winner":
        assert search.best_index_ == np.argmax(search.cv_results_[f"mean_test_{refit}"])


@pytest.mark.parametrize("case", SEVERAL)
@pytest.mark.parametrize(
    ("refit", "ask"), [(False, "candidates"), (False, "winner"), (lambda results: 0, "winner")]
)
def test_a_metric_may_be_named_where_the_search_names_none(case, refit, ask, numbered, tmp_path):
    scoring, _, _ = SEVERAL[case]
    inner = GridSearchCV(TREE, GRID, scoring=scoring, refit=refit)
    search = ReusableHoldoutCV(inner, scoring="accuracy", ask=ask, ledger=tmp_path / "ledger.db")
    search.fit(numbered[0], numbered[1]["classifier"])
    assert "population accuracy" in search.best_answer_.certificate.target


@pytest.mark.parametrize("case", SEVERAL)
@pytest.mark.parametrize(("refit", "ask"), [(False, "candidates"), (True, "winner"), (lambda table: 0, 2)])
def test_several_of_which_none_is_named_are_refused(case, refit, ask, numbered, tmp_path, sentence):
    inner = GridSearchCV(TREE, GRID, scoring=SEVERAL[case][0], refit=refit)
    with pytest.raises(ValueError, match=sentence("scoring")):
        ReusableHoldoutCV(inner, ask=ask, ledger=tmp_path / "ledger.db").fit(
            numbered[0], numbered[1]["classifier"]
        )
    assert not list(tmp_path.iterdir())


def test_another_metric_than_any_of_several_is_refused_for_their_winner(numbered, tmp_path, sentence):
    inner = GridSearchCV(TREE, GRID, scoring=["accuracy", "roc_auc"], refit=False)
    search = ReusableHoldoutCV(inner, scoring="recall", ask="winner", ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=sentence("search")):
        search.fit(numbered[0], numbered[1]["classifier"])


def test_select_best_goes_by_the_name_it_was_given():
    results = {"mean_test_a": [0.1, 0.3], "mean_test_b": [0.9, 0.2]}
    from sklearn_ada.model_selection.scorers import SelectBest

    assert (SelectBest().by("a")(results), SelectBest().by("b")(results)) == (1, 0)


def test_a_search_with_select_best_prints_the_same_in_every_run():
    from sklearn_ada.model_selection.scorers import SelectBest

    plain = GridSearchCV(TREE, GRID, refit=SelectBest())
    assert "refit=select_best)" in " ".join(repr(plain).split())
    assert "refit=select_best.by('acc'))" in repr(plain.set_params(refit=SelectBest().by("acc")))
