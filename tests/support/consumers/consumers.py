"""Where a scikit-learn user puts a scorer or a search, and what comes of it with each object of this package.

`outcome` runs one consumer with one object on small data and says what it saw: "works" (with the number of
questions asked), "refuses" (with the message and what was charged) or "not applicable" (with the reason).
Anything else is an `AssertionError`.
"""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegressionCV, RidgeClassifierCV, RidgeCV, SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    LearningCurveDisplay,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    ValidationCurveDisplay,
    cross_validate,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ada import Holdout, LadderScorer, ReusableHoldoutCV, StableHoldoutScorer, ThresholdoutScorer
from tests.support.searches import TREE, asking, bayes_search, optuna_search
from tests.support.searches import grid as grid_of

os.environ.setdefault("MPLBACKEND", "agg")

ALL, LABELS = make_classification(500, 5, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)
X, Y = ALL[:300], LABELS[:300]
FOREST = RandomForestClassifier(random_state=0)
STEPS = SGDClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 3]}
TREES = {"resource": "n_estimators", "max_resources": 9, "random_state": 0}
FEW = {"min_resources": 90, "random_state": 0}

SCORERS = {kind.__name__: kind for kind in (ThresholdoutScorer, StableHoldoutScorer, LadderScorer)}
WRAPPERS = {"ReusableHoldoutCV": "candidates", "ReusableHoldoutCV, ask='winner'": "winner"}
OBJECTS = [*SCORERS, *WRAPPERS]


@dataclass(frozen=True)
class Consumer:
    """One way to use a scorer or a wrapped search.

    Attributes
    ----------
    scorer : callable or str
        Takes a scorer, returns scores that must all be answers of its holdout; or why there is no such use.
    wrapper : callable or str
        Takes a function that wraps a search, returns fitted wrappers; or why there is no such use.
    needs : str
        A package that may be missing.
    """

    scorer: Callable[[Any], Any] | str
    wrapper: Callable[[Any], Any] | str
    needs: str = "sklearn"


def search_of(make, needs="sklearn"):
    """Return the consumer that is a search: ``make`` takes parameters and returns it."""

    def bare(scorer):
        stopping = {"error_score": "raise"} if needs in FOREIGN else {}
        found = make(scoring=scorer, cv=scorer.cv, **stopping).fit(X, Y)
        return found.cv_results_["mean_test_score"]

    return Consumer(bare, lambda wrap: [wrap(make()).fit(X, Y)], needs)


def optuna(**params):
    return optuna_search(bounds=(2, 9), n_trials=3, **params)


def pruned(**params):
    how = {"n_trials": 3, "max_iter": 3, "enable_pruning": True}
    return optuna_search(STEPS, "n_iter_no_change", (2, 9), **how, **params)


def bayes(**params):
    return bayes_search(n_iter=3, optimizer_kwargs={"n_initial_points": 2}, **params)


def inner(scorer):
    """Return a search that asks, to be put inside of something else."""
    return asking(scorer, GRID["max_depth"])


def grid():
    return grid_of(values=GRID["max_depth"])


def asked_by(*searches):
    return np.concatenate([search.cv_results_["mean_test_score"] for search in searches])


def calibrated(search):
    fitted = CalibratedClassifierCV(search, cv=2).fit(X, Y)
    return [one.estimator for one in fitted.calibrated_classifiers_]


def bagged(search):
    bag = BaggingClassifier(search, 2, bootstrap=False, max_samples=0.6, random_state=0)
    return bag.fit(X, Y).estimators_


def stacked(search):
    return StackingClassifier([("search", search)], cv=2).fit(X, Y).estimators_


def folds_of(search):
    how = {"cv": 2, "return_estimator": True, "error_score": "raise", "scoring": "accuracy"}
    return cross_validate(search, X, Y, **how)["estimator"]


def importances(scorer):
    return permutation_importance(TREE.fit(X, Y), ALL[450:], LABELS[450:], scoring=scorer).importances


def importances_of(wrap):
    fitted = wrap(grid()).fit(X, Y)
    assert np.isfinite(permutation_importance(fitted, ALL[450:], LABELS[450:]).importances).all()
    return [fitted]


def fitted_inside(call, wrap):
    """Return no fitted wrapper, as none is left to look at, once the call has given finite numbers."""
    assert np.isfinite(call(wrap(grid()))).all()
    return []


FOREIGN = ("optuna_integration", "skopt")
NO_MODEL = "takes a scorer, no search"
NOT_TRANSFORMED = "the holdout does not pass through the earlier steps; put the pipeline inside the search"
FITTED_BEFORE = "earlier steps are fitted on the holdout too; put the pipeline inside the search"


def validation_curve(model, name, values, **how):
    laid_out = {"param_name": name, "param_range": values, **how}
    return ValidationCurveDisplay.from_estimator(model, X, Y, **laid_out).test_scores


def around(call):
    """Return a consumer of wrapped searches that keeps none of them."""
    return lambda wrap: fitted_inside(call, wrap)


def scored_by(make, scores):
    """Return a consumer that takes a scorer only, and has its scores in an attribute."""
    return Consumer(lambda scorer: getattr(make(scoring=scorer).fit(X, Y), scores), NO_MODEL)


def nested(search, name="estimator__min_samples_leaf", **how):
    return GridSearchCV(search, {name: [1, 5]}, cv=2, **how).fit(X, Y).best_estimator_


FEW_COLUMNS = {"cv": 2, "importance_getter": "best_estimator_.feature_importances_"}
CURVE = {"train_sizes": [0.5, 1.0]}
THREE_FOLDS = {"cv": 3, "return_train_score": True}
STEPPED = {"decisiontreeclassifier__max_depth": [1, 2]}
CONSUMERS = {
    "GridSearchCV": search_of(lambda **p: GridSearchCV(TREE, GRID, **p)),
    "RandomizedSearchCV": search_of(
        lambda **p: RandomizedSearchCV(TREE, GRID, n_iter=2, random_state=0, **p)
    ),
    "HalvingGridSearchCV": search_of(lambda **p: HalvingGridSearchCV(TREE, GRID, **FEW, **p)),
    "HalvingGridSearchCV, resource='n_estimators'": search_of(
        lambda **p: HalvingGridSearchCV(FOREST, GRID, **TREES, **p)
    ),
    "HalvingRandomSearchCV": search_of(
        lambda **p: HalvingRandomSearchCV(TREE, GRID, n_candidates=3, **FEW, **p)
    ),
    "HalvingRandomSearchCV, resource='n_estimators'": search_of(
        lambda **p: HalvingRandomSearchCV(FOREST, GRID, n_candidates=3, **TREES, **p)
    ),
    "OptunaSearchCV": search_of(optuna, "optuna_integration"),
    "OptunaSearchCV, enable_pruning=True": Consumer(
        lambda scorer: pruned(scoring=scorer, cv=scorer.cv).fit(X, Y).cv_results_["mean_test_score"],
        lambda wrap: [wrap(pruned()).fit(X, Y)],
        "optuna_integration",
    ),
    "BayesSearchCV": search_of(bayes, "skopt"),
    "cross_validate": Consumer(
        lambda scorer: cross_validate(TREE, X, Y, scoring=scorer, **THREE_FOLDS)["test_score"],
        lambda wrap: folds_of(wrap(grid())),
    ),
    "cross_validate of a search": Consumer(
        lambda scorer: asked_by(*folds_of(inner(scorer))), lambda wrap: folds_of(wrap(grid()))
    ),
    "GridSearchCV of a search": Consumer(
        lambda scorer: asked_by(nested(inner(scorer), scoring="accuracy")),
        lambda wrap: [nested(wrap(grid()), "search__estimator__min_samples_leaf")],
    ),
    "Pipeline, inside the search": search_of(
        lambda **p: GridSearchCV(make_pipeline(StandardScaler(), TREE), STEPPED, **p)
    ),
    "Pipeline, around the search": Consumer(NOT_TRANSFORMED, FITTED_BEFORE),
    "BaggingClassifier of a search": Consumer(
        lambda scorer: asked_by(*bagged(inner(scorer))), lambda wrap: bagged(wrap(grid()))
    ),
    "StackingClassifier of a search": Consumer(
        lambda scorer: asked_by(*stacked(inner(scorer))), lambda wrap: stacked(wrap(grid()))
    ),
    "CalibratedClassifierCV of a search": Consumer(
        lambda scorer: asked_by(*calibrated(inner(scorer))), lambda wrap: calibrated(wrap(grid()))
    ),
    "TunedThresholdClassifierCV": Consumer(
        lambda scorer: TunedThresholdClassifierCV(TREE, scoring=scorer, cv=2).fit(X, Y).best_score_,
        lambda wrap: [TunedThresholdClassifierCV(wrap(grid()), cv=2).fit(X, Y).estimator_],
    ),
    "RFECV": Consumer(
        lambda scorer: RFECV(TREE, scoring=scorer, cv=2).fit(X, Y).cv_results_["mean_test_score"],
        lambda wrap: [RFECV(wrap(grid()), **FEW_COLUMNS).fit(X, Y).estimator_],
    ),
    "SequentialFeatureSelector": Consumer(
        lambda scorer: SequentialFeatureSelector(TREE, scoring=scorer, cv=2).fit(X, Y).support_,
        around(lambda s: SequentialFeatureSelector(s, n_features_to_select=1, cv=2).fit_transform(X, Y)),
    ),
    "permutation_importance": Consumer(importances, importances_of),
    "permutation_test_score": Consumer(
        lambda scorer: permutation_test_score(TREE, X, Y, scoring=scorer, cv=scorer.cv, n_permutations=2)[0],
        around(lambda s: permutation_test_score(s, X, Y, cv=2, n_permutations=1)[0]),
    ),
    "LearningCurveDisplay": Consumer(
        lambda scorer: LearningCurveDisplay.from_estimator(
            TREE, X, Y, scoring=scorer, cv=scorer.cv, **CURVE
        ).test_scores.ravel(),
        around(lambda s: LearningCurveDisplay.from_estimator(s, X, Y, cv=2, **CURVE).test_scores),
        "matplotlib",
    ),
    "ValidationCurveDisplay": Consumer(
        lambda scorer: validation_curve(TREE, "max_depth", [1, 2], scoring=scorer, cv=scorer.cv).ravel(),
        around(lambda s: validation_curve(s, "validation", [0.2, 0.3], cv=2)),
        "matplotlib",
    ),
    "HistGradientBoostingClassifier(scoring=)": scored_by(
        lambda **p: HistGradientBoostingClassifier(early_stopping=True, **p), "validation_score_"
    ),
    "RidgeCV(scoring=)": scored_by(RidgeCV, "best_score_"),
    "RidgeClassifierCV(scoring=)": scored_by(RidgeClassifierCV, "best_score_"),
    "LogisticRegressionCV(scoring=)": scored_by(lambda **p: LogisticRegressionCV(cv=2, Cs=2, **p), "scores_"),
}


@dataclass(frozen=True)
class Outcome:
    """What came of one consumer with one object.

    Attributes
    ----------
    kind : {"works", "refuses", "not applicable"}
    asked : int or None
        Questions charged; None where the consumer keeps no fitted model to count them by.
    message : str
        What a refusal says, or why there is no such use.
    """

    kind: str
    asked: int | None = None
    message: str = ""

    @property
    def cell(self) -> str:
        """What the table shows."""
        return self.kind if self.asked is None else f"{self.kind}, {self.asked} asked"


def outcome(consumer: str, kind: str, folder) -> Outcome:
    """Run one consumer with one object, its ledgers in ``folder``."""
    how = CONSUMERS[consumer]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _of_scorer(how, kind, folder) if kind in SCORERS else _of_wrapper(how, kind)


def _of_scorer(how: Consumer, kind: str, folder) -> Outcome:
    if isinstance(how.scorer, str):
        return Outcome("not applicable", message=how.scorer)
    holdout = Holdout(ALL[300:450], LABELS[300:450], ledger=folder / "ledger.db", random_state=0)
    scorer = SCORERS[kind]("accuracy", holdout, on_exhausted="raise" if how.needs in FOREIGN else "nan")
    try:
        scores = np.asarray(how.scorer(scorer), dtype=float)
    except TypeError as error:
        return Outcome("refuses", sum(holdout.report().asked.values()), str(error))
    report = holdout.report()
    answers = [answer.value for _, answer in report.answers]
    assert scores.size
    assert np.isin(scores, answers).all(), "a score that is no answer of the holdout"
    return Outcome("works", sum(report.asked.values()))


def _of_wrapper(how: Consumer, kind: str) -> Outcome:
    if isinstance(how.wrapper, str):
        return Outcome("not applicable", message=how.wrapper)
    try:
        fitted = how.wrapper(lambda search: ReusableHoldoutCV(search, ask=WRAPPERS[kind]))
    except (TypeError, ValueError) as error:
        if "must be" not in str(error):
            raise
        return Outcome("refuses", 0, str(error))
    for wrapper in fitted:
        assert wrapper.best_answer_.answered  # exactly at first, in a cell where these rows were asked about
        assert wrapper.best_score_interval_[0] < wrapper.best_score_ < wrapper.best_score_interval_[1]
    return Outcome("works", sum(len(wrapper.answers_) for wrapper in fitted) or None)
