"""Parts of scikit-learn that hand a scorer something other than a model of the holdout's rows."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifierCV, RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import LadderScorer, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.exceptions import HoldoutLeakError
from tests.support.ledger.fitted_models import Constant
from tests.support.ledgers import bodies
from tests.support.searches import grid

TREE = DecisionTreeClassifier(random_state=0)
SCORERS = [ThresholdoutScorer, StableHoldoutScorer, LadderScorer]
WAY_OUT = r"ReusableHoldoutCV around .*|certify the tuned model: holdout\.certify"


@pytest.fixture(params=SCORERS)
def scorer(request, holdout):
    return request.param("accuracy", holdout)


ODD = {
    "boosting": lambda scorer: HistGradientBoostingClassifier(scoring=scorer, early_stopping=True),
    "boosting of numbers": lambda scorer: HistGradientBoostingRegressor(scoring=scorer, early_stopping=True),
    "ridge": lambda scorer: RidgeCV(scoring=scorer),
    "ridge classifier": lambda scorer: RidgeClassifierCV(scoring=scorer),
    "logistic regression": lambda scorer: LogisticRegressionCV(scoring=scorer, cv=3, Cs=2),
    "features one by one": lambda scorer: SequentialFeatureSelector(TREE, scoring=scorer, cv=3),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_odd_callers_are_refused_and_charge_nothing(odd, scorer, rows, uncharged):
    with uncharged(scorer.holdout), pytest.raises(TypeError, match=WAY_OUT):
        ODD[odd](scorer).fit(rows[0], rows[1])


def test_recursive_elimination_is_refused_once_it_has_left_a_column_out(scorer, rows, asked):
    with pytest.raises(TypeError, match="a model of 4 columns, and the holdout has 5"):
        RFECV(TREE, scoring=scorer, cv=3).fit(rows[0], rows[1])
    assert asked(scorer.holdout) == 1  # a model of all columns is a question like any other


@pytest.fixture
def model(rows):
    return LogisticRegression().fit(rows[0], rows[1])


def kinds(holdout):
    return sorted(body["kind"] for body in bodies(holdout)[1:])


@pytest.mark.parametrize("leaked", [slice(None), slice(0, 200)], ids=["all", "part"])
def test_a_guess_from_the_rows_of_the_holdout_is_refused_as_it_would_be_the_answer(
    leaked, scorer, model, rows, asked
):
    with pytest.raises(HoldoutLeakError, match="from which guesses are taken"):
        float(scorer(model, rows[2][leaked], rows[3][leaked]))
    assert asked(scorer.holdout) == 0


def test_a_search_over_the_rows_of_the_holdout_ends_at_its_first_fold(scorer, rows):
    """Each fold would be charged as a leak, and each score be a NaN."""
    with pytest.raises(HoldoutLeakError):
        grid(scoring=scorer, cv=2).fit(np.r_[rows[2], rows[0]], np.r_[rows[3], rows[1]])
    assert kinds(scorer.holdout) == ["overlap"]


def test_rows_are_compared_with_the_holdout_once(scorer, rows):
    for depth in (1, 2, 3):
        scorer(DecisionTreeClassifier(max_depth=depth).fit(rows[0], rows[1]), rows[4], rows[5])
    assert kinds(scorer.holdout) == ["answer"] * 3 + ["overlap"]


@pytest.mark.parametrize(
    ("n_jobs", "kind"),
    [(1, np.float64), (1, np.float32), pytest.param(2, np.float64, marks=pytest.mark.thorough)],
)
def test_permuted_copies_of_the_rows_are_refused(n_jobs, kind, scorer, model, rows, asked):
    with pytest.raises(TypeError, match="permuted copies of X"):
        permutation_importance(model, rows[4].astype(kind), rows[5], scoring=scorer, n_jobs=n_jobs)
    assert asked(scorer.holdout) == 1


def test_once_its_cv_was_used_permuted_rows_are_scored_as_they_are(scorer, model, rows, uncharged):
    next(scorer.cv.split(rows[0], rows[1]))
    with uncharged(scorer.holdout), pytest.warns(UserWarning, match="costs nothing"):
        found = permutation_importance(model, rows[4], rows[5], scoring=scorer, random_state=0)
    plain = permutation_importance(model, rows[4], rows[5], random_state=0)
    np.testing.assert_array_equal(found.importances, plain.importances)


def test_train_scores_are_not_taken_for_permuted_copies(scorer, model, rows):
    cross_val_score(TREE, rows[0], rows[1], scoring=scorer, cv=3)
    scorer(model, rows[4], rows[5])
    assert scorer(model, rows[0], rows[1]) == model.score(rows[0], rows[1])


def test_labels_coded_anew_are_refused_whoever_asks(scorer, rows, uncharged):
    coded = 2 * rows[1] - 1
    with uncharged(scorer.holdout), pytest.raises(TypeError, match="coded anew"):
        scorer(LogisticRegression().fit(rows[0], coded), rows[0], coded)


def test_a_class_too_few_is_no_new_code(scorer, rows, uncharged, sentence):
    model = Constant(1).fit(rows[0], np.ones(300, dtype=int))
    model.classes_ = np.array([1])
    with uncharged(scorer.holdout), pytest.raises(ValueError, match=sentence("estimator")):
        scorer(model, rows[0], rows[1])


def test_what_stands_for_no_score_says_why_and_cannot_be_used(scorer, rows, uncharged):
    model = LogisticRegression().fit(rows[0][:, :2], rows[1])
    with uncharged(scorer.holdout):
        score = scorer(model, rows[0][:, :2], rows[1])
    assert "a model of 2 columns, and the holdout has 5" in repr(score)
    for use in (float, np.mean, lambda value: value.item()):
        with pytest.raises(TypeError, match="ReusableHoldoutCV around the whole search"):
            use(score)
