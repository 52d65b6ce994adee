"""Several scores at once: one holdout, one budget, one joint guarantee; and where a scorer may stand."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, cross_validate

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support.searches import TREE, grid

asks = pytest.mark.parametrize("ask", ["candidates", "winner", 2])


def inner(**params):
    return grid(values=[1, 2, 3], **params)


def one_function(model, X, y):
    predicted = model.predict(X)
    return {"acc": accuracy_score(y, predicted), "f1": f1_score(y, predicted)}


# several scorers in a search of one's own


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", ["acc", "auc", "f1"])
def test_every_score_of_every_candidate_is_a_question_to_one_ledger_and_plain_scores_cost_nothing(
    name, n_jobs, rows, holdout
):
    acc, auc = (ThresholdoutScorer(metric, holdout) for metric in ("accuracy", "roc_auc"))
    scorers = {"acc": acc, "auc": auc, "f1": StableHoldoutScorer("f1", holdout)}
    for scorer in scorers.values():
        scorer.cv = acc.cv
    how = {"cv": acc.cv, "refit": scorers[name].select_best.by(name), "n_jobs": n_jobs}
    search = inner(scoring={**scorers, "plain": "accuracy"}, **how).fit(rows[0], rows[1])
    assert holdout.report().asked == {"check": 9, "certify": 0}
    values = {answer.value for _, answer in holdout.report().answers}
    for key in scorers:
        assert set(search.cv_results_[f"mean_test_{key}"]) <= values
    assert search.best_index_ == np.argmax(search.cv_results_[f"mean_test_{name}"])
    assert np.isfinite(search.cv_results_["mean_test_plain"]).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_scores_share_one_budget(rows, tmp_path):
    """What the accuracies leave of a budget is less for the other score, and select_best sees it."""
    answered = []
    for names in (("acc",), ("acc", "other")):
        tight = Holdout(rows[2], rows[3], ledger=tmp_path / f"{len(names)}.db", tolerance=0.22)
        metrics = {"acc": "accuracy", "other": "balanced_accuracy"}
        scoring = {name: ThresholdoutScorer(metrics[name], tight, threshold=0.1) for name in names}
        for scorer in scoring.values():
            scorer.cv = scoring["acc"].cv
        candidates = {"min_impurity_decrease": [0.001 * i for i in range(12)]}
        search = GridSearchCV(TREE, candidates, scoring=scoring, cv=scorer.cv, refit=False)
        search.fit(rows[0], rows[1])
        answered.append(np.isfinite(search.cv_results_["mean_test_acc"]).sum())
        assert tight.report().refused + tight.report().asked["check"] == 12 * len(names)
        with pytest.raises(BudgetExhaustedError):
            scoring["acc"].select_best.by("acc")(search.cv_results_)
    assert 0 < answered[1] < answered[0] < 12


def test_cross_validate_takes_a_dict(rows, holdout):
    scoring = {"acc": ThresholdoutScorer("accuracy", holdout), "auc": ThresholdoutScorer("roc_auc", holdout)}
    scores = cross_validate(TREE.set_params(max_depth=2), rows[0], rows[1], scoring=scoring, cv=3)
    assert np.isfinite(scores["test_acc"]).all()
    assert holdout.report().asked["check"] == 6


def test_a_search_with_select_best_prints_the_same_in_every_run(holdout):
    best = ThresholdoutScorer("accuracy", holdout).select_best
    plain = grid(refit=best)
    assert "refit=select_best)" in " ".join(repr(plain).split())
    assert "refit=select_best.by('acc'))" in repr(plain.set_params(refit=best.by("acc")))


# several scores of a wrapped search


SEVERAL = {
    "a dict": ({"a": "accuracy", "b": "roc_auc"}, "b", "roc_auc"),
    "a list": (["accuracy", "roc_auc"], "roc_auc", "roc_auc"),
    "a tuple": (("accuracy", "balanced_accuracy"), "accuracy", "accuracy"),
}
each_way_to_give_several = pytest.mark.parametrize(
    ("scoring", "name", "metric"), SEVERAL.values(), ids=SEVERAL
)


@each_way_to_give_several
@asks
def test_a_search_of_several_is_certified_by_the_one_it_refits_by(scoring, name, metric, ask, searched):
    search = searched(inner(scoring=scoring, refit=name), ask=ask)
    assert f"population {metric}" in search.best_answer_.certificate.target
    assert np.isfinite(search.best_score_)
    if ask == "winner":
        assert search.best_index_ == np.argmax(search.cv_results_[f"mean_test_{name}"])


@each_way_to_give_several
@pytest.mark.parametrize(
    ("refit", "ask"), [(False, "candidates"), (False, "winner"), (lambda results: 0, "winner")]
)
def test_a_metric_may_be_named_where_the_search_names_none(scoring, name, metric, refit, ask, searched):
    search = searched(inner(scoring=scoring, refit=refit), scoring="accuracy", ask=ask)
    assert "population accuracy" in search.best_answer_.certificate.target


@each_way_to_give_several
@pytest.mark.parametrize(("refit", "ask"), [(False, "candidates"), (True, "winner"), (lambda table: 0, 2)])
def test_several_of_which_none_is_named_are_refused(scoring, name, metric, refit, ask, recorder, refused):
    model = recorder["classifier"]
    refused("scoring", search=grid(model(), scoring=scoring, refit=refit), ask=ask)
    assert not model.fitted_on


def test_another_metric_than_any_of_several_is_refused_for_their_winner(searched, sentence):
    with pytest.raises(ValueError, match=sentence("search")):
        searched(grid(scoring=["accuracy", "roc_auc"], refit=False), scoring="recall")


@asks
def test_one_function_of_several_scores_cannot_be_certified_by_thresholdout(
    ask, rows, holdout, uncharged, wrap
):
    search = inner(scoring=one_function, refit="acc")
    wrapped = wrap(search, ask=ask, holdout=holdout, mechanism="thresholdout")
    with uncharged(holdout), pytest.raises(ValueError, match=r"one_function.*stable median"):
        wrapped.fit(rows[0], rows[1])


def test_with_a_metric_to_certify_one_function_ranks_the_candidates(rows, holdout, wrap):
    wrapped = wrap(inner(scoring=one_function, refit="f1"), holdout=holdout, scoring="accuracy")
    wrapped.fit(rows[0], rows[1])
    assert wrapped.best_index_ == np.argmax(wrapped.cv_results_["mean_test_f1"])
    assert wrapped.best_answer_.answered


# a scorer that asks a holdout is a mechanism of `ReusableHoldoutCV`; anywhere else in it, it is refused


MISPLACED = {
    "search": ("search", lambda s, h: {"search": inner(scoring=s)}),
    "one of several": ("search", lambda s, h: {"search": inner(scoring={"a": s, "b": "f1"}, refit="b")}),
    "its cv": ("search", lambda s, h: {"search": inner(cv=s.cv)}),
    "scoring": ("scoring", lambda s, h: {"scoring": s}),
    "another holdout": ("holdout", lambda s, h: {"mechanism": s, "holdout": h}),
    "a share beside it": ("holdout", lambda s, h: {"mechanism": s, "holdout": 0.3}),
    "another metric": ("scoring", lambda s, h: {"mechanism": s, "scoring": "f1"}),
    "another kind": ("scoring", lambda s, h: {"mechanism": s, "scoring": Metric("accuracy", kind="general")}),
}


@asks
@pytest.mark.parametrize("case", MISPLACED)
def test_a_misplaced_scorer_is_refused_and_charges_nothing(
    case, ask, rows, holdout, uncharged, sentence, tmp_path
):
    other = Holdout(rows[4], rows[5], ledger=tmp_path / "other.db")
    name, params = MISPLACED[case]
    wrapped = ReusableHoldoutCV(inner(), ask=ask)
    wrapped.set_params(**params(ThresholdoutScorer("accuracy", holdout), other))
    way = "scoring='accuracy', and pass mechanism=scorer" if case == "search" else ""
    refusal = pytest.raises(ValueError, match=f"(?={sentence(name)}).*{way}")
    with uncharged(holdout), uncharged(other), refusal:
        wrapped.fit(rows[0], rows[1])


@asks
def test_the_holdout_and_the_metric_of_the_scorer_may_be_named_again(ask, rows, holdout, wrap):
    params = {"mechanism": ThresholdoutScorer("accuracy", holdout), "holdout": holdout, "scoring": "accuracy"}
    wrapped = wrap(inner(scoring="f1"), ask=ask, **params).fit(rows[0], rows[1])
    assert wrapped.holdout_ is holdout
    assert "accuracy" in wrapped.best_answer_.certificate.target
