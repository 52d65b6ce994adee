"""No message advises another ledger, or a new holdout, without saying what that voids or whom it is for."""

import ast
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate

import sklearn_ada
from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import LedgerError

ADVICE = re.compile(
    r"another path|another book|another ledger|ledger=None|ledger='holdout\.db'|new holdout|new ledger"
    r"|ledgers? of (its|their|your) own|start with|start anew"
)
VOIDS = re.compile(
    r"second budget|fresh budget|budget of its own|nobody has asked about|for (that|each) fold alone"
    r"|certified for them alone|of the new rows alone|new rows alone"
)


def misuses(rows, path):
    """Yield what a user may do that is refused because of the ledger."""
    X, y = rows[2], rows[3]
    ids = np.arange(len(y))
    inner = GridSearchCV(LogisticRegression(), {"C": [0.1]})

    def search(ledger, **parameters):
        return ReusableHoldoutCV(inner, ask="winner", ledger=ledger, **parameters)

    for ledger in (path / "a.db", None, ":memory:"):
        Holdout(X, y, ledger=ledger)
        yield lambda ledger=ledger: Holdout(X, y, ledger=ledger, tolerance=0.2)
        yield lambda ledger=ledger: Holdout(X, y, ledger=ledger, random_state=1)
        yield lambda ledger=ledger: Holdout(X, y, ledger=ledger, ids=ids)
        yield lambda ledger=ledger: search(ledger).fit(X, y)
        search(ledger if ledger is None else path / "b.db").fit(rows[0], rows[1])
    yield lambda: Holdout(X[::-1], y[::-1], ledger=path / "a.db")
    yield lambda: Holdout(np.r_[X, rows[0]], np.r_[y, rows[1]], ledger=path / "a.db")
    yield lambda: search(path / "b.db", random_state=1).fit(rows[0], rows[1])
    yield lambda: search(path / "b.db").fit(rows[0][:-9], rows[1][:-9])
    yield lambda: cross_validate(search(path / "c.db"), X, y, cv=3, error_score="raise")
    Holdout(X, y, ledger=path / "d.db", ids=ids)
    yield lambda: Holdout(X[9:], y[9:], ledger=path / "d.db", ids=ids[9:])
    yield lambda: Holdout(X, y, ledger=path / "d.db")
    yield lambda: cross_validate(search(path / "e.db"), X, y, cv=3, params={"ids": ids}, error_score="raise")
    Holdout(X[9:], y[9:], ledger=path / "f.db", ids=ids[9:], groups=ids[9:] // 2)
    yield lambda: Holdout(X, y, ledger=path / "f.db", ids=ids, groups=ids // 2)
    grouped = Holdout(X, y, ledger=path / "g.db", groups=ids // 2)
    yield lambda: grouped.top_up(rows[0], rows[1])
    yield lambda: pickle.dumps(Holdout(X, y, ledger=":memory:"))
    topped = Holdout(X, y, ledger=path / "h.db")
    topped.top_up(rows[0], rows[1])
    yield lambda: topped.top_up(rows[0][1:], rows[1][1:])
    (path / "i.db").write_bytes((path / "h.db").read_bytes()[:-4096])
    yield lambda: Holdout(X, y, ledger=path / "i.db")


def test_every_message_that_misuse_brings_says_what_its_advice_voids(rows, tmp_path):
    messages = []
    for misuse in misuses(rows, tmp_path):
        with pytest.raises((LedgerError, ValueError)) as caught:
            misuse()
        messages.append(str(caught.value))
    advice = [message for message in messages if ADVICE.search(message)]
    assert len(messages) >= 22
    assert len(advice) >= 15
    assert not [message for message in advice if not VOIDS.search(message)]


def literals(source):
    """Return the texts of a module that may be messages, each as a whole; docstrings are none."""
    tree = ast.parse(source)
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
        if isinstance(node, ast.JoinedStr):
            skipped |= {part for part in ast.walk(node) if isinstance(part, ast.Constant)}
            yield "".join(p.value for p in node.values if isinstance(p, ast.Constant))
    yield from (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped
    )


def test_no_message_of_the_package_says_new_holdout():
    """Of the same rows it would be a second budget: messages name rows that nobody has asked about."""
    sources = [path.read_text() for path in Path(sklearn_ada.__file__).parent.rglob("*.py")]
    assert not [text for source in sources for text in literals(source) if "new holdout" in text]
