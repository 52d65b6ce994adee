"""Leaked rows are found, innocent duplicates are not taken for a leak."""

import contextlib
import math
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binom, binomtest

from sklearn_ada import Holdout
from sklearn_ada.digest.overlap import is_leak, is_whole, ln_tail_of_cross_pairs, tail_of_lone_values
from sklearn_ada.digest.rows import row_hashes
from sklearn_ada.exceptions import HoldoutLeakError
from tests.support.ledgers import bodies

ADDED = {
    "nothing": lambda rows, rng: rows,
    "every row again": lambda rows, rng: np.repeat(rows, 2, axis=0),
    "every row often": lambda rows, rng: np.repeat(rows, 9, axis=0),
    "a bootstrap": lambda rows, rng: rows[rng.integers(0, len(rows), len(rows))],
    "one class oversampled": lambda rows, rng: np.r_[rows, rng.choice(rows[rows[:, 0] < 1], 2000)],
    "new rows": lambda rows, rng: np.r_[rows, rng.normal(size=(2000, rows.shape[1]))],
}
DATA = {
    "discrete": lambda rng: rng.integers(0, 4, size=(600, 5)).astype(float),  # so many occur twice
    "twins": lambda rng: np.repeat(rng.integers(0, 2, size=(300, 5)) + rng.random((300, 5)), 2, axis=0),
    "few kinds": lambda rng: rng.integers(0, 2, size=(600, 5)).astype(float),
}


@pytest.mark.parametrize("size", [30, 150, 300, 570])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("added", ADDED)
def test_no_false_alarm_on_rows_split_at_random_or_oversampled(added, data, size):
    for seed in range(200 if (added, size) == ("nothing", 150) else 20):
        rng = np.random.default_rng(seed)
        X = rng.permutation(DATA[data](rng))
        assert not is_leak(row_hashes(ADDED[added](X[size:], rng)), row_hashes(X[:size]))


@pytest.mark.parametrize("added", ADDED)
def test_an_oversampled_holdout_is_found(added):
    rng = np.random.default_rng(0)
    X = 2 * rng.random((2500, 3))
    assert is_leak(row_hashes(ADDED[added](X, rng)), row_hashes(X[:2000]))


@pytest.mark.parametrize(("train", "leaked"), [(1000, 70), (4000, 230), (9000, 490)])
def test_as_many_oversampled_rows_as_are_said_to_be_needed_are_found(train, leaked):
    values = np.arange(20_000, dtype=np.uint64)
    holdout, own = values[:1000], values[1000 : 1000 + train - 2 * leaked]
    assert is_leak(np.r_[own, holdout[:leaked], holdout[:leaked]], holdout)
    few = leaked // 2
    assert not is_leak(np.r_[own, holdout[:few], holdout[:few]], holdout)


@pytest.mark.parametrize(("counts", "size"), [((2,) * 4, 4), ((2, 3, 4, 1, 1), 5), ((3,) * 3, 4)])
def test_the_tail_of_lone_values_bounds_that_of_all_splits(counts, size):
    kinds, rows = np.repeat(np.arange(len(counts)), counts), sum(counts)
    repeated = np.flatnonzero(np.array(counts) > 1)
    tails = []
    for chosen in combinations(range(rows), size):
        inside = np.bincount(kinds[list(chosen)], minlength=len(counts))[repeated]
        lone, several = int((inside == 1).sum()), int((inside > 1).sum())
        tails.append(tail_of_lone_values(lone + several, lone, rows - size, size))
    for bound in set(tails):  # how often is the bound as small as this?
        assert np.mean(np.array(tails) <= bound) <= bound + 1e-12


def test_a_smaller_chance_of_lone_values_would_be_wrong():
    """A tenth less of the chance is exceeded by random splits."""
    hits = 0
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        inside = np.bincount(rng.permutation(np.repeat(np.arange(200), 2))[:200], minlength=200)
        lone, touched = (inside == 1).sum(), (inside > 0).sum()
        hits += binom.sf(lone - 1, touched, 0.9 * 2 / 3) < 0.01
    assert binomtest(hits, 2000, 0.01, alternative="greater").pvalue < 1e-6


def test_forty_leaked_rows_are_found_among_unique_ones_and_among_discrete_duplicates():
    rng = np.random.default_rng(0)
    for _ in range(5):
        X = rng.normal(size=(1000, 3))
        assert is_leak(row_hashes(X[:640]), row_hashes(X[600:]))
    X = rng.permutation(np.r_[rng.integers(0, 3, size=(500, 2)), rng.normal(size=(500, 2))])
    unique = np.flatnonzero(X[:, 0] % 1 != 0)
    holdout, train = np.sort(unique[:250]), np.setdiff1d(np.arange(1000), unique[:250])
    leaked = np.r_[train, holdout[:40]]
    assert not is_leak(row_hashes(X[train]), row_hashes(X[holdout]))
    assert is_leak(row_hashes(X[leaked]), row_hashes(X[holdout]))


def test_the_tail_is_that_of_all_placements():
    pairs, members = 3, 3
    placed = [p for p in product([0, 1], repeat=2 * pairs) if sum(p) == members]
    for cross in range(4):
        hits = sum(sum(p[2 * i] != p[2 * i + 1] for i in range(pairs)) >= cross for p in placed)
        expected = hits / len(placed)
        assert math.exp(ln_tail_of_cross_pairs(pairs, members, cross)) == pytest.approx(expected)


CONTAINERS = {
    "list": np.ndarray.tolist,
    "frame": pd.DataFrame,
    "csr": sparse.csr_matrix,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("rows", [np.random.default_rng(0).integers(1, 9, size=(50, 4)), np.eye(5)])
def test_rows_have_the_same_hash_in_every_container(rows, container):
    assert (row_hashes(CONTAINERS[container](rows.astype(float))) == row_hashes(rows.astype(float))).all()


def test_stored_zeros_of_a_sparse_matrix_change_no_hash_and_texts_have_hashes():
    stored = sparse.csr_matrix(([1.0, 0.0, 1.0], ([0, 0, 1], [0, 1, 1])))
    assert (row_hashes(sparse.csr_matrix(np.eye(2))) == row_hashes(stored)).all()
    assert len(row_hashes(pd.Series(["a", "b"]))) == 2


LEAKS = [
    (4, "as it is"),
    (250, "as it is"),
    (250, "three times"),
    *((n, "in another order") for n in (20, 250)),
]


@pytest.mark.parametrize(("size", "change"), LEAKS)
def test_the_holdout_as_training_data_is_a_recorded_leak_and_that_is_priced(size, change, rows, tmp_path):
    X = rows[2][:size]
    holdout = Holdout(X, rows[3][:size], ledger=tmp_path / "ledger.db")
    order = np.random.default_rng(0).permutation(size)
    copies = {"as it is": X.copy(), "three times": np.repeat(X, 3, axis=0), "in another order": X[order]}
    for _ in range(2):
        with pytest.raises(HoldoutLeakError, match="rows of the holdout"):
            holdout.check_overlap(copies[change])
    assert holdout.report().nats == pytest.approx(-math.log(1e-6))  # the same rows, paid for once


@pytest.mark.parametrize("zeros", [5, 299])
def test_whoever_looks_for_the_order_of_the_holdout_pays_for_every_try(tmp_path, zeros):
    """One of so many orders of rows of two kinds would be found by asking for all of them."""
    X, y = np.zeros((zeros + 1, 1)), np.arange(zeros + 1) % 2
    X[2] = 1.0
    holdout, found = Holdout(X, y, ledger=tmp_path / "ledger.db"), []
    for place in range(6):
        found.append(1)
        with contextlib.suppress(HoldoutLeakError):
            holdout.check_overlap(np.roll(X, place - 2, axis=0))
            found[-1] = 0
    # What was answered is what was recorded, and paid for.
    assert [body["event"]["symbols"][0]["value"] for body in bodies(holdout)[1:]] == found
    paid = sum(-math.log(1e-6) if each else 1e-6 for each in found)
    assert holdout.report().nats == pytest.approx(paid, rel=1e-3)


def test_a_holdout_with_repeated_rows_is_found_in_another_order_but_not_rows_of_one_kind():
    rng = np.random.default_rng(0)
    own = row_hashes(rng.integers(0, 2, size=(250, 3)))
    assert is_whole(rng.permutation(own), own)
    for size in (2, 10, 50):
        assert not is_whole(np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.uint64))


def test_innocent_rows_of_few_kinds_are_hardly_ever_taken_for_the_holdout():
    """Though they are often the same ones: the shares of the population are those that make it likeliest."""
    same = taken = 0
    for seed in range(5000):
        rng = np.random.default_rng(seed)
        own, other = (row_hashes(rng.integers(0, 2, size=(20, 1))) for _ in range(2))
        same += bool((np.sort(own) == np.sort(other)).all())
        taken += is_whole(other, own)
    assert same > 400
    assert taken == 0


@pytest.mark.parametrize("counts", [(2, 1, 1), (2, 2), (3, 1)])
def test_the_chance_of_the_same_rows_is_that_of_all_samples(counts, monkeypatch):
    """And the threshold is where it was said to be."""
    own = np.repeat(np.arange(len(counts), dtype=np.uint64), counts)
    samples = (each for each in product(range(len(counts)), repeat=len(own)) if sorted(each) == sorted(own))
    chance = sum(math.prod(counts[kind] / len(own) for kind in each) for each in samples)
    monkeypatch.setattr("sklearn_ada.digest.overlap._CHANCE", chance * 1.001)
    assert is_whole(own[::-1], own)
    monkeypatch.setattr("sklearn_ada.digest.overlap._CHANCE", chance * 0.999)
    assert not is_whole(own[::-1], own)


def test_a_clean_verdict_is_nearly_free_and_the_same_one_quite(holdout, rows, uncharged):
    holdout.check_overlap(rows[0])
    assert 0 < holdout.report().nats < 2e-6
    with uncharged(holdout):
        holdout.check_overlap(rows[0].copy())


def test_the_message_of_a_leak_shows_no_row(rows, tmp_path):
    X = rows[2].copy()
    X[:, 0] = 987654.125
    with pytest.raises(HoldoutLeakError) as caught:
        Holdout(X, rows[3], ledger=tmp_path / "ledger.db").check_overlap(X)
    assert "987654" not in str(caught.value)
