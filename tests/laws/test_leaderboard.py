"""Coverage of predictions that depend on X, in answers that came out of a `Holdout`; and a leaderboard."""

import math

import numpy as np
import pytest

from benchmarks.validity.leaderboard import TRUTH, labels_of, leaderboard, majority, participate
from sklearn_ada import Holdout, Predictions
from sklearn_ada.guarantees import binomial_tail_ends
from tests.support.laws import is_missed, is_too_often, naive_interval

ROWS = 80


def answer_about(count, purpose, folder):
    """Return what a new holdout of the same class counts answers where so many predictions are right."""
    y = np.arange(ROWS) % 2
    outputs = np.where(np.arange(ROWS) < count, y, 1 - y)
    holdout = Holdout(np.empty((ROWS, 0)), y, class_mix="priced", ledger=folder / f"{count}.db")
    return getattr(holdout, purpose)(Predictions(outputs), scoring="accuracy", guess=0.5)


def law(probabilities):
    """Return the law of the number of successes in independent trials, of counts 0 to n."""
    masses = np.ones(1)
    for p in probabilities:
        masses = np.convolve(masses, [1.0 - p, p])
    return masses


def all_kinds(rows, repetitions):
    rng = np.random.default_rng(0)
    yield np.full(rows, 0.5)
    for ones in range(rows):
        yield np.r_[np.ones(ones), np.linspace(0.0, 1.0, rows - ones)]
        for share in (0.01, 0.1, 0.5):
            yield np.r_[np.zeros(ones), np.full(rows - ones, share)]
    for _ in range(repetitions):
        yield rng.random(rows)
        yield rng.beta(0.1, 0.1, rows)


def missed(probabilities, ends):
    """Return the exact probability that the interval of the count misses the expected share."""
    masses, mean = law(probabilities), np.mean(probabilities)
    return sum(mass for mass, interval in zip(masses, ends, strict=True) if is_missed(interval, mean))


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:An answer of the holdout certifies nothing")
@pytest.mark.parametrize("purpose", ["check", "certify"])
def test_whatever_the_labels_laws_are_the_interval_misses_no_oftener_than_it_says(purpose, tmp_path):
    """Given X, labels have unequal laws; of each count, the interval is what a `Holdout` said."""
    answers = [answer_about(count, purpose, tmp_path) for count in range(ROWS + 1)]
    (level,) = {math.exp(answer.certificate.ln_delta) for answer in answers}
    ends = [answer.interval for answer in answers]
    assert sum(answer.certificate.vacuous for answer in answers) <= 2
    assert max(missed(each, ends) for each in all_kinds(ROWS, 200)) <= level * (1.0 + 1e-9)
    if purpose == "certify":  # power: an interval at a hundred times this level is found out
        wide = [binomial_tail_ends(c, c, ROWS, math.log(50.0 * level)) for c in range(ROWS + 1)]
        assert max(missed(each, wide) for each in all_kinds(ROWS, 200)) > level


@pytest.mark.slow
def test_drawn_anew_given_x_the_expected_accuracy_is_in_the_intervals():
    """Predictions that depend on all of X, chosen after earlier answers; the naive choice is found out."""
    rows, repetitions, beta = 300, 100, 0.2
    naive = ours = 0
    for repetition in range(repetitions):
        rng = np.random.default_rng([7, repetition])
        X = rng.normal(size=rows)
        chance = 0.5 + 0.1 * np.tanh(X)
        y = (rng.random(rows) < chance).astype(int)
        holdout = Holdout(X[:, None], y, class_mix="priced", ledger=":memory:", confidence_level=1.0 - beta)
        best, kept, missed_any = -1.0, None, False
        for _ in range(15):
            outputs = (rng.permutation(np.sort(X)) + X > np.median(X)).astype(int)  # no function of one row
            expected = np.mean(np.where(outputs == 1, chance, 1.0 - chance))
            answer = holdout.certify(Predictions(outputs), scoring="accuracy", guess=0.5)
            missed_any |= is_missed(answer.interval, expected)
            if answer.value > best:
                best, kept = answer.value, expected
        ours += missed_any
        naive += is_missed(naive_interval(round(best * rows), rows, beta), kept)
    assert not is_too_often(ours, repetitions, beta)
    assert is_too_often(naive, repetitions, beta)


def test_a_plain_board_climbs_on_coins():
    """The twin that fails: the same participants, told exact scores."""
    y = labels_of(1000, 0)
    votes = participate(lambda outputs: float(np.mean(outputs == y)), 1000, 500, [0, 1])
    low, _ = naive_interval(np.sum(majority(votes, np.random.default_rng(0)) == y), 1000)
    assert low > TRUTH


@pytest.mark.thorough
def test_three_processes_on_one_ledger_climb_nowhere():
    board = leaderboard(0, rows=500, submissions=150)
    assert board.asked == 151
    assert board.plain_misses
    assert (board.missed, board.refused) == (0, 0)
    assert not board.kept_misses
