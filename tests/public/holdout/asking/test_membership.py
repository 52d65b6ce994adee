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
from contextlib import suppress

import numpy as np
import pytest

from sklearn_ada import Holdout
from tests.support.ledgers import forget_ledgers_in_memory

DOMAIN, ROWS = 3, 3
DATA_SETS = list(itertools.product(range(DOMAIN), repeat=ROWS))
LABELS = np.array([0, 1, 0])
FAILS = 2

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


class FromFile:
    """Says of each value of the domain what stands in a file: a label, or it fails."""

    classes_ = np.array([0, 1])

    def __init__(self, path):
        self.path = {"file": path}

    def predict(self, X):
        labels = np.load(self.path["file"])[np.asarray(X)[:, 0]]
        if (labels == FAILS).any():
            raise TypeError
        return labels


def where_rows_are(transcript):
    """Ask about the same model twice, with one value of the domain changed; which one next, the answer says.

    One cell holds all values of the metric, so the answers themselves tell nothing.
    """
    asked = [text for text in transcript if '"kind": "answer"' in text or '"confirmation"' in text]
    mismatches = [f'"stream": "{urn}", "type": "Symbol", "value": 1' for urn in ("confirmation", "version")]
    differs = sum(any(mismatch in text for mismatch in mismatches) for text in transcript)
    pair, is_second = divmod(len(asked) - differs, 2)
    table = np.zeros(DOMAIN, dtype=int)
    if is_second:
        table[(0, 1 + differs)[pair]] = 1
    return table, {"settings": (0.6, 0.61)[pair]}


def chance(seed, transcript):
    """Return a source of chance that depends on what was released, but not on keys with paths in them."""
    return random.Random(f"{seed} {[json.loads(text)[1].get('event') for text in transcript]}")


def by_chance(seed):
    """Change one value of the domain or none, by chance and by what was released so far."""

    def choose(transcript):
        table = np.zeros(DOMAIN, dtype=int)
        table[chance(seed, transcript).randrange(DOMAIN)] = bool(transcript)
        return table, {"settings": 0.6}

    return choose


def anything(seed):
    """Choose tables and questions by chance, from what was released so far."""

    def choose(transcript):
        rng = chance(seed, transcript)
        table = [rng.choice((0, 1, 1, FAILS)) if transcript else 0 for _ in range(DOMAIN)]
        purpose = rng.choice(("check", "certify", "select"))
        return table, {"purpose": purpose, "settings": rng.choice((0.6, 0.2))}

    return choose


def converse(data, choose, folder, count):
    """Return all that the ledger of one data set tells but hidden summaries, and what was paid for it."""
    forget_ledgers_in_memory()  # each data set has a ledger of its own
    holdout = Holdout(np.array(data)[:, None], LABELS, ledger=":memory:", random_state=0)
    model, fixed, transcript = FromFile(folder / "table.npy"), FromFile(folder / "fixed.npy"), ()
    for _ in range(count):
        table, how = choose(transcript)
        np.save(model.path["file"], table)
        purpose, settings = (how.get(name) for name in ("purpose", "settings"))
        with suppress(ValueError):  # all models of a choice failed
            if purpose == "select":
                holdout.select([fixed, model], scoring="accuracy", epsilon=None)
            elif purpose == "certify":
                holdout.certify(model, scoring="accuracy", guess=0.5)
            else:
                holdout.check(model, scoring="accuracy", guess=0.5, settings=settings)
        transcript = tuple(map(visible, itertools.islice(holdout.ledger.records(), 1, None)))
    return transcript, holdout.report().nats


def visible(record):
    shown = {name: value for name, value in record.body.items() if name not in ("said", "time")}
    return json.dumps([record.key, shown], sort_keys=True)


def paid(choose, folder, count):
    """Return the nats of every transcript that some data set leads to."""
    np.save(folder / "fixed.npy", np.array([0, 1, 1]))
    found = {}
    for data in DATA_SETS:
        transcript, nats = converse(data, choose, folder, count)
        assert found.setdefault(transcript, nats) == nats
    return np.array(list(found.values()))


def test_where_rows_are_is_paid_for(tmp_path):
    nats = paid(where_rows_are, tmp_path, 4)
    assert len(nats) == 4  # each pair of outcomes, or it would show nothing
    assert 0.98 < np.exp(-nats).sum() <= 1.0
    assert max(nats) > 6.9


SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 40))]


@pytest.mark.parametrize(("kind", "count"), [(by_chance, 4), (anything, 7)], ids=["models", "questions"])
@pytest.mark.parametrize("seed", SEEDS)
def test_whoever_goes_on_by_what_was_released_pays_for_it_too(tmp_path, kind, count, seed):
    """With checks of models that differ; and with checks, certifies and choices, of models that may fail."""
    nats = paid(kind(seed), tmp_path, count)
    assert len(nats) >= 3
    assert np.exp(-nats).sum() <= 1.0


def test_for_nothing_it_would_be_a_membership_oracle(tmp_path, monkeypatch):
    """The price of a confirmation, and nothing else, is taken away."""
    monkeypatch.setattr("sklearn_ada.accounting.codes._ln_of_two", lambda symbol, mass: 0.0)
    monkeypatch.setattr("sklearn_ada.accounting.codes.CONFIRMATION_WEIGHT", 1e15)
    nats = paid(where_rows_are, tmp_path, 4)
    assert len(nats) == 4
    assert np.exp(-nats).sum() > 3.8
    for seed in range(3):
        assert np.exp(-paid(by_chance(seed), tmp_path, 4)).sum() > 1.5
