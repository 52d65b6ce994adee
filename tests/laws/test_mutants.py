"""A certificate that is slightly wrong must be noticed: power first, then the real thing.

Each attack is run on the package as it is and on a mutant of it (`benchmarks.validity.mutants`). The package
must miss no more often than it says, by an exact binomial test with a false alarm below 1e-6; the mutant must
be caught by the same test.
"""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from benchmarks.validity.booked_noise import Booked
from benchmarks.validity.coverage import consistent
from benchmarks.validity.mutants import MUTANTS, Mutant, coins
from sklearn_ada import Holdout

TIGHT = [name for name, mutant in MUTANTS.items() if mutant.attack is coins]
NOISY = [name for name, mutant in MUTANTS.items() if isinstance(mutant.attack, Booked)]
BLUNT = [name for name in MUTANTS if name not in TIGHT + NOISY]
FEW_COINS = partial(coins, batch=10, beta=0.4)


def test_there_are_fifteen_mutants_and_three_need_the_tight_case():
    assert len(MUTANTS) == 15
    assert len(TIGHT) == 3
    assert len(NOISY) == 6


@pytest.mark.thorough
def test_a_tight_batch_of_coins_is_covered_and_hardly_more():
    misses = Mutant(MUTANTS[TIGHT[0]].patched, FEW_COINS, 0.4).misses(400, mutated=False)
    assert consistent(misses, 400, 0.4)
    assert misses > 0.65 * 400 * 0.4  # if it almost never missed, nothing could be learned from it


@pytest.mark.thorough
@pytest.mark.parametrize("name", TIGHT)
def test_a_mutant_is_caught_in_a_tight_batch(name):
    mutant = Mutant(MUTANTS[name].patched, FEW_COINS, 0.4)
    assert not consistent(mutant.misses(400, mutated=True), 400, 0.4)


@pytest.mark.slow
def test_a_hundred_coins_are_missed_nearly_as_often_as_beta_allows():
    mutant = MUTANTS[TIGHT[0]]
    misses = mutant.misses(2000, mutated=False)
    assert consistent(misses, 2000, mutant.beta)
    assert misses > 0.8 * 2000 * mutant.beta


@pytest.mark.slow
@pytest.mark.parametrize("name", TIGHT)
def test_a_mutant_is_caught_among_a_hundred_coins(name):
    mutant = MUTANTS[name]
    assert not consistent(mutant.misses(2000, mutated=True), 2000, mutant.beta)


@pytest.mark.parametrize("runs", [pytest.param(1000, marks=pytest.mark.slow), 40])
@pytest.mark.parametrize("name", BLUNT)
def test_an_attack_breaks_the_mutant_and_not_the_package(name, runs):
    mutant = MUTANTS[name]
    assert consistent(mutant.misses(runs, mutated=False), runs, mutant.beta)
    assert not consistent(mutant.misses(runs, mutated=True), runs, mutant.beta)


@pytest.mark.thorough
@pytest.mark.parametrize("runs", [pytest.param(1000, marks=pytest.mark.slow), 25])
@pytest.mark.parametrize("name", NOISY)
def test_half_the_noise_is_noticed_and_the_booked_noise_is_not(name, runs):
    mutant = MUTANTS[name]
    assert consistent(mutant.misses(runs, mutated=False), runs, mutant.beta)
    assert not consistent(mutant.misses(runs, mutated=True), runs, mutant.beta)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISY)
def test_near_answers_are_as_frequent_as_was_booked(name):
    mutant = MUTANTS[name]
    assert stats.binomtest(mutant.misses(1000, mutated=False), 1000, mutant.beta).pvalue >= 1e-6


def test_the_certificate_says_that_it_speaks_of_the_class_mix():
    from sklearn.dummy import DummyClassifier

    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    answer = Holdout(X, y).certify(DummyClassifier().fit(X, y), scoring="accuracy", guess=0.5)
    assert "at the holdout's class mix" in answer.certificate.target
