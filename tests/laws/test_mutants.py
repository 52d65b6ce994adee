"""A certificate that is slightly wrong must be noticed: power first, then the real thing.

Each attack is run on the package as it is and on a mutant of it (`benchmarks.validity.mutants`). The package
must miss no more often than it says, by an exact binomial test with a false alarm below 1e-6; the mutant must
be caught by the same test.
"""

from functools import partial

import pytest
from scipy import stats

from benchmarks.validity.booked_noise import Booked
from benchmarks.validity.coverage import consistent
from benchmarks.validity.mutants import MUTANTS, Mutant, coins

TIGHT = [name for name, mutant in MUTANTS.items() if mutant.attack is coins]
NOISY = [name for name, mutant in MUTANTS.items() if isinstance(mutant.attack, Booked)]
BLUNT = [name for name in MUTANTS if name not in TIGHT + NOISY]
COINS = [  # attack, beta, runs, and at least how much of what is allowed is missed
    pytest.param(partial(coins, batch=10, beta=0.4), 0.4, 400, 0.65, marks=pytest.mark.thorough),
    pytest.param(coins, 0.1, 2000, 0.8, marks=pytest.mark.slow),
]
ATTACKS = [
    *(pytest.param(name, 40) for name in BLUNT),
    *(pytest.param(name, 25, marks=pytest.mark.thorough) for name in NOISY),
    *(pytest.param(name, 1000, marks=pytest.mark.slow) for name in (*BLUNT, *NOISY)),
]


def test_there_are_fifteen_mutants_and_three_need_the_tight_case():
    assert (len(MUTANTS), len(TIGHT), len(NOISY)) == (15, 3, 6)


@pytest.mark.parametrize(("attack", "beta", "runs", "least"), COINS)
def test_a_tight_batch_of_coins_is_covered_and_hardly_more(attack, beta, runs, least):
    misses = Mutant(MUTANTS[TIGHT[0]].patched, attack, beta).misses(runs, mutated=False)
    assert consistent(misses, runs, beta)
    assert misses > least * runs * beta  # if it almost never missed, nothing could be learned from it


@pytest.mark.parametrize(("attack", "beta", "runs", "least"), COINS)
@pytest.mark.parametrize("name", TIGHT)
def test_a_mutant_is_caught_in_a_tight_batch(name, attack, beta, runs, least):
    mutant = Mutant(MUTANTS[name].patched, attack, beta)
    assert not consistent(mutant.misses(runs, mutated=True), runs, beta)


@pytest.mark.parametrize(("name", "runs"), ATTACKS)
def test_an_attack_breaks_the_mutant_and_not_the_package(name, runs):
    """Of a noisy mutant, half the noise is noticed and the booked noise is not."""
    mutant = MUTANTS[name]
    assert consistent(mutant.misses(runs, mutated=False), runs, mutant.beta)
    assert not consistent(mutant.misses(runs, mutated=True), runs, mutant.beta)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISY)
def test_near_answers_are_as_frequent_as_was_booked(name):
    mutant = MUTANTS[name]
    assert stats.binomtest(mutant.misses(1000, mutated=False), 1000, mutant.beta).pvalue >= 1e-6
