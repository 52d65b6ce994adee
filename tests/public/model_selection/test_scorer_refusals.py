"""Refusals of scorers are loud, failures are priced, and bad parameters are refused at once."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score

from sklearn_ada import Holdout, Metric, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError
from tests.support.searches import TREE, asking, warned

DEPTHS = range(1, 13)
MARKER = 987654.125


@pytest.fixture
def tight(rows, tmp_path):
    """A holdout that answers some of the twelve candidates and refuses the rest."""
    return Holdout(rows[2], rows[3], tolerance=0.172, ledger=tmp_path / "tight.db")


@pytest.fixture
def scorer(tight):
    return ThresholdoutScorer("accuracy", tight, threshold=0.05)


@pytest.fixture
def marked(rows, tmp_path):
    """Open a holdout with a row on which `Touchy` fails."""
    X = rows[2].copy()
    X[3, 0] = MARKER
    return lambda **how: Holdout(X, rows[3], ledger=tmp_path / "ledger.db", **how)


class Touchy(DummyClassifier):
    """Fails where it sees the marker, and quotes it; otherwise a constant model."""

    def predict(self, X):
        if MARKER in X:
            raise ValueError(f"the value {MARKER} is not expected")
        return super().predict(X)


WORKERS = pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])


@WORKERS
def test_a_refusal_is_nan_and_told_once_and_select_best_raises_and_quotes_the_first(
    n_jobs, rows, tight, scorer
):
    search = asking(scorer, DEPTHS, refit=False, n_jobs=n_jobs)
    _, texts = warned("refused a question", search.fit, rows[0], rows[1])
    if n_jobs == 1:
        (text,) = texts
        for part in ("this score is NaN", "the tolerance of 0.172", "on_exhausted='raise'"):
            assert part in text
    answered = int(np.isfinite(search.cv_results_["mean_test_score"]).sum())
    assert 0 < answered < 12
    assert tight.report().refused == 12 - answered
    few = f"Only {answered} of 12 candidates were answered"
    with pytest.raises(BudgetExhaustedError, match=few) as caught:
        scorer.select_best(search.cv_results_)
    first = next(answer for _, answer in tight.report().answers if answer.verdict == "refused")
    assert "the tolerance of 0.172" in first.reason
    assert f"refused by the holdout ({first.reason}). No winner is chosen" in str(caught.value)


SEARCHES = [{"search": GridSearchCV}, {"search": RandomizedSearchCV, "n_iter": 12, "random_state": 0}]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("how", SEARCHES, ids=["grid", "random"])
def test_select_best_raises_out_of_the_search(how, rows, scorer):
    with pytest.raises(BudgetExhaustedError):
        asking(scorer, DEPTHS, **how).fit(rows[0], rows[1])
    assert not issubclass(BudgetExhaustedError, ValueError)  # search classes swallow those


@WORKERS
def test_on_exhausted_raise_leaves_the_search_with_its_own_error(n_jobs, rows, tight):
    scorer = ThresholdoutScorer("accuracy", tight, threshold=0.05, on_exhausted="raise")
    search = asking(scorer, DEPTHS, refit=False, error_score="raise", n_jobs=n_jobs)
    with pytest.raises(BudgetExhaustedError, match="tolerance"):
        search.fit(rows[0], rows[1])


@pytest.mark.filterwarnings("ignore::UserWarning")
@WORKERS
def test_if_all_are_refused_the_first_is_not_silently_the_best(n_jobs, rows, tmp_path):
    holdout = Holdout(rows[2], rows[3], tolerance=0.01, ledger=tmp_path / "none.db")
    search = asking(ThresholdoutScorer("accuracy", holdout), DEPTHS, n_jobs=n_jobs)
    with pytest.raises(BudgetExhaustedError, match="Only 0 of 12 candidates were answered"):
        search.fit(rows[0], rows[1])
    assert holdout.report().asked == {"check": 0, "certify": 0}
    assert holdout.report().refused == 12
    assert not hasattr(search, "best_estimator_")


def test_a_model_that_fails_on_the_holdout_only_is_a_priced_nan(rows, marked):
    scorer = ThresholdoutScorer("accuracy", holdout := marked())
    how = {"scoring": scorer, "cv": scorer.cv}
    scores, leaks = warned("987654", cross_val_score, Touchy(), rows[0], rows[1], **how)
    assert np.isnan(scores).all()
    ((_, answer),) = holdout.report().answers
    assert (answer.verdict, answer.reason) == ("failed", "prediction raised ValueError")
    assert answer.cost.nats > 5
    assert not leaks


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_select_best_quotes_the_first_failure_and_of_an_earlier_search_none(rows, marked):
    scorer = ThresholdoutScorer("accuracy", marked(tolerance=0.172), threshold=0.05)
    scores = cross_val_score(Touchy(), rows[0], rows[1], scoring=scorer, cv=scorer.cv)
    with pytest.raises(ValueError, match=r"failed \(prediction raised ValueError\)\. Nothing is exhausted"):
        scorer.select_best.by("hits")({"mean_test_hits": scores})
    assert scorer.holdout.report().answers[0][1].verdict == "failed"
    scores = cross_val_score(TREE, rows[0], rows[1], scoring=scorer, cv=scorer.cv)
    with pytest.raises(BudgetExhaustedError, match=r"refused by the holdout \(.* the tolerance of 0\.172"):
        scorer.select_best({"mean_test_score": scores})


def test_select_best_by_an_unknown_name_lists_the_names(holdout):
    select = ThresholdoutScorer("accuracy", holdout).select_best.by("auc")
    with pytest.raises(ValueError, match=r"The 'name' parameter .+ one of \['acc', 'f1'\]"):
        select({"mean_test_acc": [1.0], "mean_test_f1": [1.0]})


BAD = [
    *((ThresholdoutScorer, "threshold", v) for v in (0.0, -0.1, 1.5, np.nan, "wide", None)),
    *((ThresholdoutScorer, "noise", v) for v in ("gaussian-ish", None, 1.0)),
    *((ThresholdoutScorer, "validation", v) for v in (0.0, 1.0, -0.5, np.nan, None)),
    *((ThresholdoutScorer, "on_exhausted", v) for v in ("warn", None, 0)),
    *((StableHoldoutScorer, "n_subsamples", v) for v in (0, -1, 2.5, "many", 301)),
    *((StableHoldoutScorer, "grid", v) for v in ((0, 1, 11), [0.0, 0.5, 1.0], None)),
    *((StableHoldoutScorer, "epsilon", v) for v in (0.0, -1.0, np.inf, np.nan, None)),
    *((StableHoldoutScorer, "method", v) for v in ("mean", None, 1)),
    *((kind, "holdout", v) for kind in (ThresholdoutScorer, StableHoldoutScorer) for v in (None, "h", 0.25)),
]


@pytest.mark.parametrize(("kind", "name", "value"), BAD)
def test_bad_parameters_are_refused(kind, name, value, holdout, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence(name)):
        kind(**{"scoring": "accuracy", "holdout": holdout, name: value})


def test_the_refusal_of_plain_rows_shows_none_of_them(rows):
    with pytest.raises(ValueError, match="Make one: Holdout") as caught:
        ThresholdoutScorer("accuracy", (np.full((3, 2), MARKER), [0, 1, 0]))
    assert "987654" not in str(caught.value)


@pytest.mark.parametrize("name", ["neg_mean_absolute_error", "neg_log_loss", "r2", "f1_macro"])
def test_thresholdout_scorer_names_the_stable_median(name, holdout, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("scoring")) as caught:
        ThresholdoutScorer(name, holdout)
    assert "StableHoldoutScorer" in str(caught.value)


class Undecided(DummyClassifier):
    def predict(self, X):
        return np.full(len(X), np.nan)


GUESSES = {  # scoring, model, y of the rows of the guess, and who refuses which parameter
    "no labels": ("accuracy", TREE, lambda y: None, ("y",)),
    "one class": ("roc_auc", TREE, np.ones_like, ("y", "roc_auc")),
    "no finite outputs": ("accuracy", Undecided(), lambda y: y, ("estimator", "accuracy")),
}


@pytest.mark.parametrize(("scoring", "model", "labels", "named"), GUESSES.values(), ids=GUESSES)
def test_rows_from_which_nothing_can_be_guessed_are_refused(
    scoring, model, labels, named, rows, holdout, uncharged, sentence
):
    scorer = ThresholdoutScorer(scoring, holdout)
    with uncharged(holdout), pytest.raises(ValueError, match=sentence(*named)):
        scorer(model.fit(rows[0], rows[1]), rows[4], labels(rows[5]))


def test_stable_scorer_takes_a_users_mean_without_a_range(rows, holdout):
    hit = Metric(lambda y, predictions: (y == predictions).astype(float), kind="mean")
    assert 0 <= StableHoldoutScorer(hit, holdout)(TREE.fit(rows[0], rows[1]), rows[4], rows[5]) <= 1
