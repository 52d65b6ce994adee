"""How often a guess of a search is off by more than its precision allows."""

import math

import numpy as np
import pytest
from scipy import stats

from sklearn_ada.model_selection.guesses import Folds
from tests.support.laws import FALSE_ALARM, is_too_often

HELD, TRAINING, RUNS, VARIANCE = 1_000, 3_000, 4_000, 0.09


def off_by(of_models, number, folds_count=True):
    """Return how many standard errors guesses are off, and these errors over those of N rows.

    Models of the folds, and the refitted one, vary by so many parts of a fold's sampling variance.
    """
    rng, of_fold = np.random.default_rng(0), VARIANCE * number / TRAINING
    deviation = math.sqrt(of_models * of_fold)
    scores = rng.normal(0.8, math.sqrt(of_fold + deviation**2), (RUNS, number))
    answers = rng.normal(0.8, math.hypot(math.sqrt(VARIANCE / HELD), deviation), RUNS)
    about = zip(scores.mean(axis=1), scores.std(axis=1), strict=True)
    worth = [Folds(*each, number, TRAINING, TRAINING / number).worth(VARIANCE) for each in about]
    rows = np.array(worth) if folds_count else np.full(RUNS, TRAINING)
    tau = np.sqrt(VARIANCE * (1.0 / HELD + 1.0 / rows))
    return np.abs(scores.mean(axis=1) - answers) / tau, tau / math.sqrt(VARIANCE * (1 / HELD + 1 / TRAINING))


@pytest.mark.parametrize("number", [2, 3, 5, 10])
def test_of_stable_models_precision_is_lost_seldom_and_little(number):
    off, tau = off_by(0.0, number)
    assert not is_too_often((off > 2).sum(), RUNS, 2 * stats.norm.sf(2))
    assert not is_too_often((tau > 1).sum(), RUNS, 0.1)
    assert tau.mean() < 1.06
    assert np.median(tau) == 1.0


# The table of the module: variance of models in parts of E, guesses off by more than 2 of their standard
# errors, the same with N rows, and the mean standard error over that with N rows.
FIVE_FOLDS = [
    (0.0, 0.042, 0.045, 1.04), (0.3, 0.083, 0.096, 1.09), (0.85, 0.137, 0.184, 1.24),
    (2.0, 0.177, 0.318, 1.60), (5.0, 0.173, 0.491, 2.46),
]  # fmt: skip


@pytest.mark.parametrize(("of_models", "off_then", "off_by_sampling", "wider"), FIVE_FOLDS)
def test_five_folds_show_what_the_table_says(of_models, off_then, off_by_sampling, wider):
    off, tau = off_by(of_models, 5)
    by_sampling, _ = off_by(of_models, 5, folds_count=False)
    for each, share in ((off, off_then), (by_sampling, off_by_sampling)):
        assert stats.binomtest(int((each > 2).sum()), RUNS, share).pvalue > FALSE_ALARM
    assert tau.mean() == pytest.approx(wider, rel=0.03)


@pytest.mark.parametrize(("of_models", "number", "most"), [(2, 5, 0.18), (5, 5, 0.18), (2, 10, 0.17)])
def test_of_varying_models_guesses_are_off_as_seldom_as_folds_can_show(of_models, number, most):
    off, _ = off_by(of_models, number)
    assert not is_too_often((off > 2).sum(), RUNS, most)
    mutant, _ = off_by(of_models, number, folds_count=False)
    assert is_too_often((mutant > 2).sum(), RUNS, most)
