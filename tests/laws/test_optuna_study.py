"""A study of 200 trials over feature subsets, on labels that are coin flips: there is nothing to find."""

import numpy as np
import pytest

from sklearn_ada import ReusableHoldoutCV
from tests.support.laws import is_missed, is_too_often, naive_interval
from tests.support.models import Centroids

optuna = pytest.importorskip("optuna")
integration = pytest.importorskip("optuna_integration")

ROWS, HELD, FEATURES, TRIALS = 1500, 500, 40, 200
pytestmark = pytest.mark.filterwarnings("ignore")


def study(seed, **params):
    """Return a study over random subsets of the features, which goes where scores were good."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    subsets = {"subset": optuna.distributions.IntDistribution(0, 10_000)}
    return integration.OptunaSearchCV(Centroids(), subsets, n_trials=TRIALS, random_state=seed, **params)


def interval_of_the_best_on_the_plain_holdout(seed, X, y, held):
    def on_the_holdout(model, _X, _y):
        return float(np.mean(model.predict(X[held]) == y[held]))

    train = [(np.arange(ROWS - HELD), np.arange(1))]
    found = study(seed, scoring=on_the_holdout, cv=train, refit=False).fit(X[~held], y[~held])
    return naive_interval(round(found.best_score_ * HELD), HELD)


def certified_interval(seed, X, y, held, folder):
    exact = {"ask": "candidates", "answers": "exact", "expected_questions": TRIALS}
    search = ReusableHoldoutCV(study(seed), holdout=held, ledger=folder / f"{seed}.db", **exact).fit(X, y)
    assert len(search.cv_results_["params"]) == TRIALS
    return search.best_score_interval_


@pytest.mark.parametrize("runs", [pytest.param(20, marks=pytest.mark.slow), 6])
def test_the_plain_holdout_overfits_and_the_certified_interval_contains_chance(runs, tmp_path):
    missed, certified = 0, []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(ROWS, FEATURES)), rng.integers(0, 2, ROWS)
        held = np.arange(ROWS) < HELD
        missed += is_missed(interval_of_the_best_on_the_plain_holdout(seed, X, y, held), 0.5)
        certified.append(certified_interval(seed, X, y, held, tmp_path))
    assert missed > runs / 2
    assert not is_too_often(sum(is_missed(interval, 0.5) for interval in certified), runs, 0.05)
    assert max(np.ptp(interval) for interval in certified) <= 0.3  # it says something
