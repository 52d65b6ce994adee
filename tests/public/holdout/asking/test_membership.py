"""Asking for membership: who forges models that differ on chosen rows learns no more than he pays.

On a tiny domain, all data sets are enumerated. The models of an asker have one digest, as their weights stand
in a file, so each question after the first is a proposal, and whether it is confirmed tells whether the
holdout has a row of the chosen kind. Kraft's inequality must hold for all that a ledger tells: over the
transcripts that any data set leads to, ``exp(-nats)`` sums to at most 1, however the asker goes on from what
he was told.
"""

import itertools
import json
import random

import numpy as np
import pytest

from sklearn_ada import Holdout
from tests.support.ledgers import forget_ledgers_in_memory

DOMAIN, ROWS = 3, 3
DATA_SETS = list(itertools.product(range(DOMAIN), repeat=ROWS))
LABELS = np.array([0, 1, 0])
FAILS = 2


class FromFile:
    """Says of each value of the domain what stands in a file: a label, or it fails."""

    classes_ = np.array([0, 1])

    def __init__(self, path):
        self.path = path

    def predict(self, X):
        said = np.load(self.path)[np.asarray(X)[:, 0]]
        if (said == FAILS).any():
            raise TypeError
        return said


def asks_where_rows_are(told, path):
    """Ask about the same model twice, with one value of the domain changed; which one next, the answer says.

    One cell holds all values of the metric, so the answers themselves tell nothing.
    """
    asked = [text for text in told if '"kind": "answer"' in text or '"confirmation"' in text]
    mismatches = [f'"stream": "{urn}", "type": "Symbol", "value": 1' for urn in ("confirmation", "version")]
    differs = sum(any(mismatch in text for mismatch in mismatches) for text in told)
    pair, is_second = divmod(len(asked) - differs, 2)
    table = np.zeros(DOMAIN, dtype=int)
    if is_second:
        table[(0, 1 + differs)[pair]] = 1
    np.save(path, table)
    return {"purpose": "check", "settings": 0.6, "guess": (0.5, 0.51)[pair]}


def events(told):
    """Return what was released, without keys, which depend on the path of a file."""
    return [json.loads(text)[1].get("event") for text in told]


def asks_by_chance(seed):
    """Change one value of the domain or none, by chance and by what was told so far."""

    def choose(told, path):
        rng = random.Random(f"{seed} {events(told)}")
        table = np.zeros(DOMAIN, dtype=int)
        table[rng.randrange(DOMAIN)] = bool(told)
        np.save(path, table)
        return {"purpose": "check", "settings": 0.6, "guess": 0.5}

    return choose


def asks_anything(seed):
    """Choose tables and questions by chance, from what was told so far."""

    def choose(told, path):
        rng = random.Random(f"{seed} {events(told)}")
        np.save(path, [rng.choice((0, 1, 1, FAILS)) if told else 0 for _ in range(DOMAIN)])
        asked = {"purpose": rng.choice(("check", "certify", "select")), "settings": rng.choice((0.6, 0.2))}
        return {**asked, "guess": 0.5}

    return choose


def transcript(data, choose, path, count, seed=0):
    """Return all that the ledger of one data set tells but hidden summaries, and what was paid for it."""
    forget_ledgers_in_memory()  # each data set has a ledger of its own
    holdout = Holdout(np.array(data)[:, None], LABELS, ledger=":memory:", random_state=seed)
    model, fixed, told = FromFile(path), FromFile(path.with_name("fixed.npy")), ()
    for _ in range(count):
        how = choose(told, path)
        try:
            if how["purpose"] == "check":
                holdout.check(model, scoring="accuracy", guess=how["guess"], settings=how["settings"])
            elif how["purpose"] == "certify":
                holdout.certify(model, scoring="accuracy", guess=0.5)
            else:
                holdout.select([fixed, model], scoring="accuracy", epsilon=None)
        except ValueError:  # all models of a choice failed
            pass
        told = tuple(map(visible, itertools.islice(holdout.ledger.records(), 1, None)))
    return told, holdout.report().nats


def visible(record):
    shown = {name: value for name, value in record.body.items() if name not in ("said", "time")}
    return json.dumps([record.key, shown], sort_keys=True)


def paid(choose, folder, count):
    """Return the nats of every transcript that some data set leads to."""
    np.save(folder / "fixed.npy", np.array([0, 1, 1]))
    found = {}
    for data in DATA_SETS:
        told, nats = transcript(data, choose, folder / "table.npy", count)
        assert found.setdefault(told, nats) == nats
    return np.array(list(found.values()))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_where_rows_are_is_paid_for(tmp_path):
    nats = paid(asks_where_rows_are, tmp_path, 4)
    assert len(nats) == 4  # each pair of outcomes, or it would show nothing
    assert 0.98 < np.exp(-nats).sum() <= 1.0
    assert max(nats) > 6.9


@pytest.fixture
def for_nothing(monkeypatch):
    """The price of a confirmation, and nothing else, is taken away."""
    monkeypatch.setattr("sklearn_ada.accounting.codes._ln_of_two", lambda symbol, mass: 0.0)
    monkeypatch.setattr("sklearn_ada.accounting.codes.CONFIRMATION_WEIGHT", 1e15)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_for_nothing_it_would_be_a_membership_oracle(tmp_path, for_nothing):
    nats = paid(asks_where_rows_are, tmp_path, 4)
    assert len(nats) == 4
    assert np.exp(-nats).sum() > 3.8


SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 40))]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", SEEDS)
def test_whoever_goes_on_by_what_he_was_told_pays_for_it_too(tmp_path, seed):
    nats = paid(asks_by_chance(seed), tmp_path, 4)
    assert len(nats) >= 3
    assert np.exp(-nats).sum() <= 1.0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", SEEDS[:3])
def test_for_nothing_he_would_learn_more_than_he_pays(tmp_path, seed, for_nothing):
    assert np.exp(-paid(asks_by_chance(seed), tmp_path, 4)).sum() > 1.5


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_asked_is_paid_for(tmp_path, seed):
    """Checks, certifies and choices, of models that may fail."""
    nats = paid(asks_anything(seed), tmp_path, 7)
    assert np.exp(-nats).sum() <= 1.0
    assert len(nats) > 3
