"""A study of 200 trials over feature subsets, on labels that are coin flips: there is nothing to find."""

import numpy as np
import pytest
from scipy import stats

from sklearn_ada import ReusableHoldoutCV
from tests.laws.test_random_labels import SubsetCentroids
from tests.support.laws import is_too_often

optuna = pytest.importorskip("optuna")
integration = pytest.importorskip("optuna_integration")

ROWS, HELD, FEATURES, TRIALS = 1500, 500, 40, 200
pytestmark = pytest.mark.filterwarnings("ignore")


def study(seed, **params):
    """Return a study over random subsets of the features, which goes where scores were good."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    subsets = {"subset": optuna.distributions.IntDistribution(0, 10_000)}
    return integration.OptunaSearchCV(
        SubsetCentroids(), subsets, n_trials=TRIALS, random_state=seed, **params
    )


def naive_interval(seed, X, y, held):
    """Return the interval of the best of 200 scores on the plain holdout, as if it were the only one."""

    def on_the_holdout(model, _X, _y):
        return float(np.mean(model.predict(X[held]) == y[held]))

    train = [(np.arange(ROWS - HELD), np.arange(1))]
    found = study(seed, scoring=on_the_holdout, cv=train, refit=False).fit(X[~held], y[~held])
    best = round(found.best_score_ * HELD)
    interval = stats.binomtest(best, HELD).proportion_ci(0.95, method="exact")
    return interval.low, interval.high


def certified_interval(seed, X, y, held, folder):
    search = ReusableHoldoutCV(
        study(seed),
        ask="candidates",
        answers="exact",
        holdout=held,
        ledger=folder / f"{seed}.db",
        expected_questions=TRIALS,
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == TRIALS
    return search.best_score_interval_


@pytest.mark.parametrize("runs", [pytest.param(20, marks=pytest.mark.slow), 6])
def test_the_plain_holdout_overfits_and_the_certified_interval_contains_chance(runs, tmp_path):
    missed, certified, half_widths = 0, 0, []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(ROWS, FEATURES)), rng.integers(0, 2, ROWS)
        held = np.arange(ROWS) < HELD
        low, high = naive_interval(seed, X, y, held)
        missed += not low <= 0.5 <= high
        low, high = certified_interval(seed, X, y, held, tmp_path)
        certified += not low <= 0.5 <= high
        half_widths.append((high - low) / 2)
    assert missed > runs / 2
    assert not is_too_often(certified, runs, 0.05)
    assert max(half_widths) <= 0.15  # it says something
