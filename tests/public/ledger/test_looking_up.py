"""Looking up a little does not read the whole ledger, and reading all of it does not keep all of it."""

import contextlib
import io
import tracemalloc

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.cli import main
from sklearn_ada.ledger import SQLiteLedger
from tests.support.ledger.damages import opened

ROWS = np.random.default_rng(0).normal(size=(400, 2))
LABELS = (ROWS[:, 0] > 0).astype(int)


def no_reading(self):
    raise AssertionError("the whole ledger was read")


def asked_about(depths, ask, path, **others):
    grid = {"max_depth": depths, **others}
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid)
    found = ReusableHoldoutCV(search, ask=ask, ledger=path).fit(ROWS, LABELS)
    assert all(answer.answered for answer in found.answers_)
    return found


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_a_search_reads_few_of_three_thousand_records(ask, tmp_path, monkeypatch):
    """The last ones, and those asked for by name with their neighbours, however many there are."""
    path = tmp_path / "ledger.db"
    monkeypatch.setattr(SQLiteLedger, "records", no_reading)
    asked_about([1, 2, 3], ask, path)
    ledger = asked_about([4, 5], ask, path, max_features=[1]).holdout_.ledger
    asked = {"metric": {"name": "accuracy"}, "mechanism": {"name": "certify"}, "guess": {"value": 0.9}}
    body = {"kind": "refusal", "purpose": "check", "reason": "", "who": None, **asked}
    ledger._connection()._db.execute("PRAGMA synchronous = OFF")
    for _ in range(3000):
        ledger.charge(None, lambda state: body)
    file = type(ledger._connection())
    read, page = [], file.page

    def counted(self, first, last):
        rows = page(self, first, last)
        read.extend(row.seq for row in rows)
        return rows

    monkeypatch.setattr(file, "page", counted)
    search = asked_about([6, 7], ask, path, max_features=[2])
    assert 0 < len(read) < 100
    # One of them is that of the labels, one of the rows for training, and each has two neighbours.
    assert sum(seq < 3000 for seq in read) <= 3 * (2 + len(search.answers_))


@pytest.mark.parametrize("command", [["show", "--limit", "2"], ["report"], ["head"], ["verify"]])
def test_a_command_reads_the_ledger_once_at_most(command, tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    model = DecisionTreeClassifier(max_depth=1).fit(ROWS, LABELS)
    Holdout(ROWS, LABELS, ledger=path).certify(model, scoring="accuracy", guess=0.9)
    monkeypatch.setattr(SQLiteLedger, "records", no_reading)
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["ledger", command[0], str(path), *command[1:]]) == 0


class Counter:
    """A state that keeps nothing."""

    def __init__(self, genesis):
        self.size = 0

    def advance(self, body):
        self.size += 1


def test_verifying_takes_as_little_memory_for_a_long_ledger(tmp_path):
    path = str(tmp_path / "ledger.db")
    ledger = opened(path)
    ledger._connection()._db.execute("PRAGMA synchronous = OFF")
    for number in range(4000):
        ledger.charge(f"{number}", lambda state: {"text": 1000 * "x"})
    looked_at = SQLiteLedger.open_existing(path, Counter, replay=False)
    tracemalloc.start()
    try:
        assert looked_at.verify() == 4001
        assert sum(1 for _ in looked_at.records()) == 4001
        # all bodies together are 4 MB, and as much again parsed
        assert tracemalloc.get_traced_memory()[1] < 3.5e6
    finally:
        tracemalloc.stop()
