"""Metrics of a table of counts: the counts are sealed and released, and certify at every level."""

import math
import pickle

import numpy as np
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef, precision_score

from sklearn_ada import Holdout
from sklearn_ada.accounting import CountRelease, event_from_dict
from sklearn_ada.accounting.codes import CountCode
from sklearn_ada.cli import main
from sklearn_ada.guarantees import paired_mix_interval, paired_table_interval, two_class_interval
from sklearn_ada.metrics.counted import CountedTable, nats_of
from sklearn_ada.metrics.pairs import PairTable
from sklearn_ada.metrics.two_class import TwoClassTable
from tests.support.ledger.damages import forget
from tests.support.ledgers import bodies, rewritten
from tests.support.models import Column

pytestmark = pytest.mark.filterwarnings("ignore:These rows, or nearly all", "ignore:Unsealing")
N = 600
SCORES = {"f1": f1_score, "precision": precision_score, "matthews_corrcoef": matthews_corrcoef}
NAMES = {"f1": "f_beta"}
ASKED = (*SCORES, "difference", "difference of rows of one law")
KEY = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.x25519").X25519PrivateKey.generate()


def rows(seed, right=0.9):
    """Return rows of which one model gets nine tenths right, and another one nearly the same ones."""
    rng = np.random.default_rng(seed)
    y = (np.arange(N) % 3 == 0).astype(int)
    first = np.where(rng.random(N) < right, y, 1 - y)
    return np.c_[first, np.where(rng.random(N) < 0.95, first, 1 - first)], y


X, Y = rows(0)


def begun(path, asked, **options):
    """Return a holdout of the rows, and what asks it or publishes."""
    if asked.endswith("one law"):
        options |= {"class_mix": "priced"}
    holdout = Holdout(X, Y, ledger=path, **{"answers": "coarse", "random_state": 0} | options)

    def ask(holdout, guess=1):
        how = {"guess_from": rows(guess)}
        if asked in SCORES:
            return holdout.certify(Column(0), scoring=asked, **how)
        return holdout.compare(Column(0), Column(1), scoring="accuracy", **how)

    return holdout, ask


def exact(asked, ln_delta):
    """Return value and interval as they are by themselves, and how much wider a released one may be."""
    if asked in SCORES:
        hits, errors = int(X[Y == 1, 0].sum()), int(X[Y == 0, 0].sum())
        table = hits, int(Y.sum()), errors, int(N - Y.sum())
        return SCORES[asked](Y, X[:, 0]), two_class_interval(NAMES.get(asked, asked), *table, ln_delta), 1e-12
    right = Y[:, None] == X
    better, worse = (int(np.sum(right[:, i] > right[:, 1 - i])) for i in (1, 0))
    differ = [int(np.sum(each[:, 0] != each[:, 1])) for each in (right[Y < 1], right[Y > 0])]
    interval = paired_mix_interval(better, worse, differ, np.bincount(Y), ln_delta, expected=(0.03, 0.02))
    if asked.endswith("one law"):
        interval = paired_table_interval(better, worse, N, ln_delta)
    return np.diff(right.mean(axis=0)).item(), interval, 0.02 * (interval[1] - interval[0])


def agrees(path, ledger, capsys):
    """Return whether every interval is computed again from the records, and agrees."""
    certificate = ledger.export(path.with_suffix(".json"))
    code = main(["ledger", "verify", str(path), "--certificate", str(certificate)])
    text = capsys.readouterr().out
    return code == 0 and "agrees with the ledger" in text and "only be compared" not in text


def closed(holdout, key=None):
    holdout.close()
    return holdout.unseal(key=key)[0]


WAYS = {
    "published": ({}, lambda holdout, told, asked: holdout.publish(Column(0), scoring=asked)),
    "unsealed": ({}, lambda holdout, told, asked: holdout.unseal([told])[0]),
    "closed": ({}, lambda holdout, *_: closed(holdout)),
    "with a key": ({"seal_key": KEY.public_key()}, lambda holdout, *_: closed(holdout, KEY)),
    "exact": ({"answers": "exact"}, lambda holdout, told, asked: told),
}
"""With which terms, and how a value is released that was asked for."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("asked", ASKED)
def test_value_and_interval_are_those_of_the_table_and_cost_what_its_counts_do(asked, way, tmp_path, capsys):
    terms, released = WAYS[way]
    if way == "published" and asked not in SCORES:
        pytest.skip("a difference is unsealed")
    path = tmp_path / "a.db"
    holdout, ask = begun(path, asked, **terms)
    told = ask(holdout)
    forget()
    holdout = pickle.loads(pickle.dumps(begun(path, asked, **terms)[0]))  # as in a later session
    answer = released(holdout, told, asked)
    value, (low, high), spare = exact(asked, answer.certificate.ln_delta)
    assert answer.value == pytest.approx(value, abs=1e-12)
    assert answer.interval == (pytest.approx(low, abs=spare), pytest.approx(high, abs=spare))
    assert "rounded" not in answer.certificate.target
    assert answer.cost.nats < (8.5 if asked in SCORES else 10.5)  # as value and ends 12 to 17
    repeated = holdout.certify(Column(0), scoring=asked) if way == "exact" and asked in SCORES else answer
    assert repeated.interval == answer.interval
    assert agrees(path, holdout, capsys)


@pytest.mark.parametrize("asked", ["f1", "difference"])
@pytest.mark.parametrize("way", ["unsealed", "exact"])
def test_what_was_released_certifies_a_later_publication_for_next_to_nothing(asked, way, tmp_path, capsys):
    terms, released = WAYS[way]
    holdout, ask = begun(tmp_path / "a.db", asked, **terms)
    first = released(holdout, ask(holdout), asked)
    spent = holdout.report().nats
    again = holdout.publish(Column(0), scoring="f1") if asked == "f1" else ask(holdout, 2)
    assert again.value == pytest.approx(first.value, abs=1e-12) or asked != "f1"
    assert holdout.report().nats - spent < 0.01
    assert agrees(tmp_path / "a.db", holdout, capsys)


@pytest.mark.parametrize("way", ["published", "unsealed", "exact"])
@pytest.mark.parametrize("number", [0, 1])
def test_a_table_that_is_off_by_one_is_noticed(way, number, tmp_path, capsys):
    terms, released = WAYS[way]
    path = tmp_path / "a.db"
    holdout, ask = begun(path, "f1", **terms)
    released(holdout, ask(holdout), "f1")
    last = len(bodies(holdout)) - 1

    def off_by_one(body):
        body["event"]["symbols"][number]["value"] += 1
        body["price"] = nats_of(event_from_dict(body["event"]))

    rewritten(path, last, off_by_one)
    certificate = begun(path, "f1", **terms)[0].export(tmp_path / "a.json")
    assert main(["ledger", "verify", str(path), "--certificate", str(certificate)]) == 1
    assert "from what was released it is" in capsys.readouterr().err


TABLES = {
    "two classes": TwoClassTable((4.2, 1.0), (1.3, 0.9), "f_beta", (6, 9)),
    "far off": TwoClassTable((0.0, 9.0), (0.5, 0.5), "precision", (6, 9)),
    "pairs": PairTable((2.0, 1.5), (1.2, 1.1), (5, 6), (0.2, 0.1), True),
    "pairs at a class mix": PairTable((2.0, 1.5, 1.0), (1.2, 1.1, 1.5), (3, 4), (0.2, 0.1), False),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_probabilities_of_all_tables_and_failures_sum_to_one_at_most(table):
    assert CountedTable.from_description(table.describe()) == table
    tables = [()]
    for _ in table.foreseen:
        tables = [(*counts, each) for counts in tables for each in range(table.most(counts) + 1)]
    masses = [math.exp(-nats_of(CountRelease(table.symbols(counts)))) for counts in tables]
    assert all(map(table.is_possible, tables))
    assert not table.is_possible((*tables[-1][:-1], table.most(tables[-1][:-1]) + 1))
    failed = sum(math.exp(CountCode(0.0, 1.0).ln_failure()) for _ in range(7))
    assert 0.99 < sum(masses) + failed <= 1.0
    assert -math.log(min(masses)) <= table.largest_nats + 1e-9
    released = (nats_of(CountRelease(table.symbols(counts, is_released=True))) for counts in tables)
    assert max(released) < 0.004


@pytest.mark.parametrize(("answers", "n"), [("exact", 6_000), ("coarse", 100_000)])
def test_where_counts_would_cost_more_value_and_ends_are_released(answers, n, tmp_path):
    """Of many rows there are many tables, and few values that matter."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    many = np.where(rng.random(n) < 0.7, y, 1 - y)[:, None]
    holdout = Holdout(many, y, ledger=tmp_path / "a.db", answers=answers, random_state=0)
    answer = holdout.certify(Column(0), scoring="balanced_accuracy", guess=0.7)
    mechanism = bodies(holdout)[answer.index]["mechanism"]
    assert "table" not in mechanism.get("interval", mechanism)
    assert "binomial laws" in answer.certificate.theorem
