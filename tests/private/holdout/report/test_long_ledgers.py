"""A report of a long ledger reads the answers that are shown, and says of each what a short one's does."""

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from benchmarks.speed.ledger_charges import long_ledger
from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.holdout import report, session
from sklearn_ada.holdout.certificate import export_certificate
from sklearn_ada.holdout.report import report_of
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 3))
Y = (X[:, 0] > 0).astype(int)
HELD = np.arange(500) < 250


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A ledger with searches in cells, rounds that were closed, values that were released, and refusals."""
    where = tmp_path_factory.mktemp("asked") / "a.db"
    grid = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})
    for ask in ("winner", "candidates"):
        search = ReusableHoldoutCV(grid, holdout=HELD, ledger=where, answers="coarse", ask=ask, tolerance=0.4)
        search.fit(X, Y)
    search.publish()
    holdout = search.holdout_
    holdout.certify(DecisionTreeClassifier(max_depth=1).fit(X, Y), scoring="roc_auc")
    holdout.close()
    holdout.check(DecisionTreeClassifier().fit(X, Y), scoring="accuracy", guess=0.2)
    holdout.unseal()
    return str(where)


@pytest.fixture
def both(path, monkeypatch):
    """The report of a ledger that is short, and as if it were long."""
    ledger = open_existing_ledger(path, State)
    short = report_of(ledger)
    monkeypatch.setattr(report, "_AT_ONCE", 0)
    monkeypatch.setattr(session, "_FEW", 5)
    return short, report_of(ledger)


def test_a_long_report_says_what_a_short_one_says(both):
    short, long = both
    assert isinstance(short.answers, tuple)
    assert not isinstance(long.answers, tuple)
    assert (long.answers, long.entries) == (short.answers, short.entries)
    assert long == short
    assert (repr(long), long._repr_html_()) == (repr(short), short._repr_html_())
    assert long.to_frame().equals(short.to_frame())
    assert {entry.kind for entry in long.entries} == {"sealed", "unsealed", "answer", "refusal"}
    assert long.released_in == short.released_in != {}


@pytest.mark.parametrize("place", [0, 3, -1, slice(-3, None), slice(None, 2), slice(1, None, 2), slice(None)])
def test_answers_are_read_by_their_places(both, place):
    short, long = both
    assert long.answers[place] == short.answers[place]
    assert long.entries[place] == short.entries[place]


def test_a_pickled_report_needs_no_ledger(both):
    short, long = both
    assert isinstance(pickle.loads(pickle.dumps(long)).answers, tuple)
    assert repr(pickle.loads(pickle.dumps(long))) == repr(short)
    assert long.answers != short.answers[1:]
    with pytest.raises(IndexError):
        long.answers[len(long.answers)]


def test_a_report_stays_as_it_was_made(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "_AT_ONCE", 0)
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "b.db")
    model = DecisionTreeClassifier(random_state=0).fit(X[~HELD], Y[~HELD])
    holdout.check(model, scoring="accuracy", guess=0.9)
    first = holdout.report()
    shown = repr(first)
    holdout.check(model, scoring="accuracy", guess=0.8)
    assert (len(first.answers), len(first.entries), repr(first)) == (1, 1, shown)


def test_a_long_ledger_is_not_held_in_memory(tmp_path, monkeypatch):
    ledger = open_existing_ledger(str(long_ledger(tmp_path / "long.db", 0, 4_000)), State)
    with monkeypatch.context() as patch:
        patch.setattr(type(ledger), "records", lambda self: pytest.fail("all records are read"))
        made = report_of(ledger)
        assert len(made.answers) == 4_000
        assert "... 3,990 earlier answers" in repr(made)
        assert "4,000 answers, the last 200" in made._repr_html_()
    tracemalloc.start()
    for name in ("a.json", "a.html"):
        export_certificate(ledger, tmp_path / name)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e7  # parsed, all records take ten times as much
