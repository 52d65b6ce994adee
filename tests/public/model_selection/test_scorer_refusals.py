"""Refusals are loud, failures are priced, and bad parameters are refused at once."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
)

from sklearn_ada import Holdout, Metric, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError, HoldoutLeakError
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


WORKERS = pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
SEARCHES = [{"search": GridSearchCV}, {"search": RandomizedSearchCV, "n_iter": 12, "random_state": 0}]


@pytest.mark.filterwarnings("ignore::UserWarning")
@WORKERS
def test_a_refusal_is_nan_and_select_best_raises_and_quotes_the_first(n_jobs, rows, tight, scorer):
    search = asking(scorer, DEPTHS, refit=False, n_jobs=n_jobs)
    scores = search.fit(rows[0], rows[1]).cv_results_["mean_test_score"]
    answered = int(np.isfinite(scores).sum())
    assert 0 < answered < 12
    assert tight.report().refused == 12 - answered
    with pytest.raises(
        BudgetExhaustedError, match=f"Only {answered} of 12 candidates were answered"
    ) as caught:
        scorer.select_best(search.cv_results_)
    first = next(answer for _, answer in tight.report().answers if answer.verdict == "refused")
    assert "the tolerance of 0.172" in first.reason
    assert f"refused by the holdout ({first.reason}). No winner is chosen" in str(caught.value)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("how", SEARCHES, ids=["grid", "random"])
def test_select_best_raises_out_of_the_search(how, rows, scorer):
    with pytest.raises(BudgetExhaustedError):
        asking(scorer, DEPTHS, **how).fit(rows[0], rows[1])


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


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_select_best_quotes_the_first_failure_and_of_an_earlier_search_none(rows, marked):
    holdout = marked(tolerance=0.172)
    scorer = ThresholdoutScorer("accuracy", holdout, threshold=0.05)
    scores = cross_val_score(Touchy(), rows[0], rows[1], scoring=scorer, cv=scorer.cv)
    with pytest.raises(ValueError, match=r"failed \(prediction raised ValueError\)\. Nothing is exhausted"):
        scorer.select_best.by("hits")({"mean_test_hits": scores})
    assert holdout.report().answers[0][1].verdict == "failed"
    scores = cross_val_score(TREE, rows[0], rows[1], scoring=scorer, cv=scorer.cv)
    with pytest.raises(BudgetExhaustedError, match=r"refused by the holdout \(.* the tolerance of 0\.172"):
        scorer.select_best({"mean_test_score": scores})


def test_the_budget_error_is_no_value_error():
    assert not issubclass(BudgetExhaustedError, ValueError)  # search classes swallow those


def test_select_best_by_an_unknown_name_lists_the_names(holdout, sentence):
    select = ThresholdoutScorer("accuracy", holdout).select_best.by("auc")
    with pytest.raises(ValueError, match=sentence("name")) as caught:
        select({"mean_test_acc": [1.0], "mean_test_f1": [1.0]})
    assert "['acc', 'f1']" in str(caught.value)


def test_tuning_the_decision_threshold_is_refused_and_names_the_way_out(rows, holdout, uncharged):
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=ThresholdoutScorer("accuracy", holdout))
    with uncharged(holdout), pytest.raises(TypeError, match=r"certify the tuned model: holdout\.certify"):
        tuned.fit(rows[0], rows[1])


class Touchy(DummyClassifier):
    """Fails where it sees the marker, and quotes it; otherwise a constant model."""

    def predict(self, X):
        if MARKER in X:
            raise ValueError(f"the value {MARKER} is not expected")
        return super().predict(X)


def test_a_model_that_fails_on_the_holdout_only_is_a_priced_nan(rows, marked):
    scorer = ThresholdoutScorer("accuracy", holdout := marked())
    scores, leaks = warned(
        "987654", cross_val_score, Touchy(), rows[0], rows[1], scoring=scorer, cv=scorer.cv
    )
    assert np.isnan(scores).all()
    ((_, answer),) = holdout.report().answers
    assert (answer.verdict, answer.reason) == ("failed", "prediction raised ValueError")
    assert answer.cost.nats > 5
    assert not leaks


def test_the_cv_refuses_training_rows_that_hold_the_holdout(rows, holdout):
    search = asking(ThresholdoutScorer("accuracy", holdout))
    with pytest.raises(HoldoutLeakError):
        search.fit(np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]])


BAD = [
    *((ThresholdoutScorer, "threshold", v) for v in (0.0, -0.1, 1.5, np.nan, "wide", None)),
    *((ThresholdoutScorer, "noise", v) for v in ("gaussian-ish", None, 1.0)),
    *((ThresholdoutScorer, "validation", v) for v in (0.0, 1.0, -0.5, np.nan, None)),
    *((ThresholdoutScorer, "on_exhausted", v) for v in ("warn", None, 0)),
    *((StableHoldoutScorer, "n_subsamples", v) for v in (0, -1, 2.5, "many", 301)),
    *((StableHoldoutScorer, "grid", v) for v in ((0, 1, 11), [0.0, 0.5, 1.0], None)),
    *((StableHoldoutScorer, "epsilon", v) for v in (0.0, -1.0, np.inf, np.nan, None)),
    *((StableHoldoutScorer, "method", v) for v in ("mean", None, 1)),
]


@pytest.mark.parametrize(("kind", "name", "value"), BAD)
def test_bad_parameters_are_refused(kind, name, value, holdout, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence(name)):
        kind("accuracy", holdout, **{name: value})


@pytest.mark.parametrize("kind", [ThresholdoutScorer, StableHoldoutScorer])
@pytest.mark.parametrize("value", [None, "holdout", 0.25])
def test_a_scorer_needs_a_holdout(kind, value, sentence):
    with pytest.raises(ValueError, match=sentence("holdout", kind.__name__)):
        kind("accuracy", value)


def test_the_refusal_of_plain_rows_shows_none_of_them(rows):
    with pytest.raises(ValueError, match="Make one: Holdout") as caught:
        ThresholdoutScorer("accuracy", (np.full((3, 2), MARKER), [0, 1, 0]))
    assert "987654" not in str(caught.value)


@pytest.mark.parametrize("name", ["neg_mean_absolute_error", "neg_log_loss", "r2", "f1_macro"])
def test_thresholdout_scorer_names_the_stable_median(name, holdout, uncharged, sentence):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("scoring")) as caught:
        ThresholdoutScorer(name, holdout)
    assert "StableHoldoutScorer" in str(caught.value)


def test_a_scorer_needs_labels_for_its_guess(rows, holdout, uncharged, sentence):
    scorer = ThresholdoutScorer("accuracy", holdout)
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("y")):
        scorer(TREE.fit(rows[0], rows[1]), rows[4])


def test_a_guess_from_rows_of_one_class_is_refused_for_the_auc(rows, holdout, uncharged, sentence):
    scorer = ThresholdoutScorer("roc_auc", holdout)
    ones = rows[5] == 1
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("y", "roc_auc")):
        scorer(TREE.fit(rows[0], rows[1]), rows[4][ones], rows[5][ones])


def test_outputs_that_are_not_finite_on_the_guess_rows_are_refused(rows, holdout, uncharged, sentence):
    class Undecided(DummyClassifier):
        def predict(self, X):
            return np.full(len(X), np.nan)

    scorer = ThresholdoutScorer("accuracy", holdout)
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("estimator", "accuracy")):
        scorer(Undecided().fit(rows[0], rows[1]), rows[4], rows[5])


def test_stable_scorer_takes_a_users_mean_without_a_range(rows, holdout):
    def hit(y, predictions):
        return (y == predictions).astype(float)

    scorer = StableHoldoutScorer(Metric(hit, kind="mean"), holdout)
    assert 0 <= scorer(TREE.fit(rows[0], rows[1]), rows[4], rows[5]) <= 1


def test_a_refusal_in_a_search_of_ones_own_is_told_once_and_says_what_to_do(rows, scorer):
    search = asking(scorer, DEPTHS, refit=False)
    _, (text,) = warned("refused a question", search.fit, rows[0], rows[1])
    for part in ("this score is NaN", "the tolerance of 0.172", "on_exhausted='raise'"):
        assert part in text
