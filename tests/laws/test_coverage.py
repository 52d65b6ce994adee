"""All intervals of a conversation hold at once, whoever asks; the naive holdout fails every adaptive analyst.

Misses are counted in seeded conversations with populations whose truth is exact, and compared with beta by an
exact binomial test with a false alarm below 1e-6.
"""

import json

import numpy as np
import pytest

from benchmarks.validity import coverage
from benchmarks.validity.analysts import ANALYSTS
from benchmarks.validity.coverage import consistent, misses, naive_misses
from benchmarks.validity.inquiries import MECHANISMS, Inquiry
from benchmarks.validity.populations import HUNDRED_CLASSES, POPULATIONS, Classifier
from benchmarks.validity.simulated import SimulatedHoldout
from sklearn_ada import Guess, Holdout, MedianSettings
from tests.support import holdouts

FULL = 1000
QUICK = ("check, then certify", "Ladder", "cells, then a final")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] * (name not in QUICK)) for name in MECHANISMS]
)
def test_every_mechanism_holds_against_all_analysts_together(name):
    each = 5  # one for each population
    missed = sum(misses(MECHANISMS[name], analyst, each) for analyst in ANALYSTS.values())
    assert consistent(missed, each * len(ANALYSTS))


@pytest.mark.slow
@pytest.mark.parametrize("analyst", ANALYSTS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_holds_against_every_analyst(mechanism, analyst, record_property):
    missed = misses(MECHANISMS[mechanism], ANALYSTS[analyst], FULL)
    record_property("missed", missed)  # for the table of docs/validity.rst, by pytest --junitxml
    assert consistent(missed, FULL)


@pytest.mark.parametrize("analyst", [name for name, analyst in ANALYSTS.items() if analyst.adaptive])
def test_the_naive_holdout_fails_every_adaptive_analyst(analyst):
    runs = 200 if analyst == "class counts" else 60  # which only many classes make worth while
    assert not consistent(naive_misses(ANALYSTS[analyst], runs), runs)


@pytest.mark.parametrize("runs", [pytest.param(FULL, marks=pytest.mark.slow), 100])
def test_the_naive_holdout_is_right_when_nobody_adapts(runs):
    assert consistent(naive_misses(ANALYSTS["non-adaptive"], runs), runs)


def test_known_class_counts_break_a_median_which_says_so():
    missed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        inquiry = Inquiry(MECHANISMS["median, exact"], HUNDRED_CLASSES, rng)
        assert inquiry.class_counts is None
        inquiry.class_counts = inquiry.holdout_class_counts()
        ANALYSTS["class counts"].converse(inquiry, rng)
        missed += inquiry.missed()
    assert not consistent(missed, 40)
    assert "if nobody who asks knows the holdout's class counts" in inquiry.targets()[0]


@pytest.mark.thorough
def test_the_command_prints_and_writes_every_count(monkeypatch, tmp_path, capsys):
    some = {name: MECHANISMS[name] for name in ("check", "Ladder")}
    monkeypatch.setattr(coverage, "MECHANISMS", some)
    file = tmp_path / "counts.json"
    monkeypatch.setattr("sys.argv", ["coverage", "--conversations", "2", "--seed", "3", "--json", str(file)])
    coverage.main()
    written = json.loads(file.read_text())
    assert (written["conversations"], written["seed"]) == (2, 3)
    assert set(written["misses"]) == {coverage.NAIVE, *some}
    assert set(written["misses"]["Ladder"]) == set(ANALYSTS)
    printed = capsys.readouterr().out
    assert all(name in printed for name in (*some, *ANALYSTS, "numpy"))


def test_a_noisy_median_stays_inside_the_range_of_its_metric():
    """A grid around the guess reaches beyond the range, and a private draw can be anywhere on it."""
    holdout, settings = SimulatedHoldout.of_counts(50), MedianSettings(n_subsamples=5, epsilon=0.01)
    asked = 25, "check", Guess(0.05, 5.0, 0.3)
    released = [holdout.ask_count(*asked, settings=settings).value for _ in range(40)]
    assert 0.0 == min(released) < max(released) <= 1.0


# --- the harness itself ------------------------------------------------------------------------------------


@pytest.mark.parametrize("population", POPULATIONS, ids=lambda population: population.name)
def test_the_truth_is_what_many_records_show(population):
    rng = np.random.default_rng(0)
    assert population.joint.sum() == pytest.approx(1.0)
    many = [population.draw(rng) for _ in range(200_000 // population.n)]
    atoms, labels = (np.concatenate([getattr(s, part) for s in many]) for part in ("atoms", "labels"))
    for share in (0.1, 0.5, 1.0):
        says = rng.random(population.n_atoms) < share
        right = population.table(says)[atoms] == labels
        assert right.mean() == pytest.approx(population.accuracy(says), abs=0.006)
        counts = np.bincount(labels, minlength=population.joint.shape[1])
        assert population.accuracy_at_mix(says, counts) == pytest.approx(right.mean(), abs=0.006)


def test_a_simulated_holdout_answers_as_a_holdout_with_a_ledger_does(tmp_path):
    population, rng = POPULATIONS[0], np.random.default_rng(1)
    sample, guess = population.draw(rng), Guess(0.6, 300.0)
    X, y = sample.atoms[:, None], sample.labels
    simulated, real = SimulatedHoldout(X, y), Holdout(X, y, ledger=tmp_path / "real.db")
    for name in ("check", "certify", "check", "check", "certify"):
        model = Classifier(population.table(rng.random(population.n_atoms) < 0.5))
        ours = simulated.put_new(simulated.plan(model, name, guess), model)
        theirs = holdouts.ask(real, model, scoring="accuracy", purpose=name, guess=guess)
        assert (ours.value, ours.interval, ours.cost) == (theirs.value, theirs.interval, theirs.cost)
    assert simulated.nats == real.report().nats
