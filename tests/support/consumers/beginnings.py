"""Ways to come to a second budget for one holdout, and what happens instead.

``python -m tests.support.consumers.beginnings`` writes the table of the documentation.
"""

import contextlib
import csv
import os
import pickle
import shutil
import tempfile
import threading
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from sklearn.datasets import make_classification

from sklearn_ada import Holdout, _notices
from sklearn_ada.exceptions import LedgerError
from tests.support.ledger.damages import forget
from tests.support.ledgers import forget_ledgers_in_memory
from tests.support.models import Always
from tests.support.processes import in_a_fork, together

TABLE = Path(__file__).parents[3] / "docs" / "beginnings.csv"
WORDS = {"the same ledger", "a warning", "an error"}
X, Y = make_classification(300, 6, random_state=0)
IDS = [f"row {number}" for number in range(300)]


def opened(ledger, rows=slice(None), **given):
    return Holdout(X[rows], Y[rows], ledger=ledger, **given)


def asked(ledger="board.db", rows=slice(None), **given):
    """Return a holdout of which one question was asked."""
    holdout = opened(ledger, rows, **given)
    holdout.certify(Always(0), scoring="accuracy")
    return holdout


def then(*steps, first="board.db", last="other.db", rows=slice(None), **given):
    """Ask on a ledger, do something, and open the rows once more."""

    def way():
        asked(first, **given)
        for step in steps:
            step()
        return opened(last, rows)

    return way


def in_a_worker():
    asked(":memory:")
    raise_in_a_fork(lambda: opened(":memory:"))


def in_a_worker_elsewhere():
    asked("board.db")
    raise_in_a_fork(lambda: (chdir(), opened("board.db")))


def raise_in_a_fork(task):
    said = in_a_fork(task)
    if "Error" in said:
        raise LedgerError(said)
    raise AssertionError(said)


def topped_up():
    larger = opened("board.db", slice(0, 200)).top_up(X[200:], Y[200:])
    larger.certify(Always(0), scoring="accuracy")
    return opened("other.db", slice(0, 200))


def written_otherwise():
    asked()
    return Holdout(X, np.where(Y, "yes", "no"), ledger="other.db")


def unpickled():
    text = pickle.dumps(asked())
    forget()
    assert pickle.loads(text).n_rows == len(Y)
    return opened("other.db")


def at_once():
    ready = threading.Barrier(2)
    return together(*[lambda name=name: (ready.wait(), opened(name))[1] for name in ("a.db", "b.db")])[1]


def forgotten_but_for_its_lock():
    asked()
    os.unlink("board.db")
    forget()  # as a new process
    return opened("board.db")


def beside_a_journal():
    Path("board.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
    return opened("board.db")


def copy_put_back():
    holdout = asked()
    shutil.copy("board.db", "copy.db")
    holdout.certify(Always(1), scoring="accuracy")
    os.replace("copy.db", "board.db")
    return opened("board.db")


def another_holdout_in_its_place():
    asked()
    Holdout(X, 1 - Y, ledger="other.db")
    os.replace("other.db", "board.db")
    return opened("board.db")


def temporary_file_removed():
    os.unlink(asked(None).ledger.path)
    return opened(None)


def chdir():
    os.mkdir("folder")
    os.chdir("folder")


def link():
    os.mkdir("folder")
    os.symlink("folder", "link")


WAYS = {
    "``None``, and then a path": then(first=None),
    "a path, and then ``None``": then(last=None),
    "one path, and then another one": then(),
    "a typing error in the name": then(last="baord.db"),
    "another working folder": then(chdir, last="board.db"),
    "another working folder, of a worker": in_a_worker_elsewhere,
    "a link that leads to another folder": then(link, last="link/board.db"),
    "a link that leads nowhere": then(lambda: os.symlink("nowhere.db", "link.db"), last="link.db"),
    "another name, after the file was moved": then(lambda: os.rename("board.db", "moved.db")),
    "rows in another order, without ids": then(rows=slice(None, None, -1)),
    "without a few of the rows": then(rows=slice(0, 290)),
    "half of the rows": then(rows=slice(0, 150)),
    "the rows before a top-up": topped_up,
    "with ids, and then without": then(ids=IDS),
    "``0`` and ``1``, and then ``'no'`` and ``'yes'``": written_otherwise,
    "``':memory:'``, and then a path": then(first=":memory:"),
    "``':memory:'``, and then ``None``": then(first=":memory:", last=None),
    "``':memory:'`` in a worker": in_a_worker,
    "two threads, each with a path, at one instant": at_once,
    "a holdout that was unpickled, and then a path": unpickled,
    "``'file:board.db'``": then(last="file:board.db"),
    "``'sqlite:///board.db'``": then(last="sqlite:///board.db"),
    "``'jdbc:...'``, ``'mysql://...'``": then(last="jdbc:sqlite:board.db"),
    "a URL in quotes": then(last="'postgresql://localhost/holdouts'"),
    "a URL as a ``Path``": then(last=Path("postgresql://localhost/holdouts")),
    "``'host=... password=...'``": then(last="host=localhost password=x"),
    "``b'board.db'``": then(last=b"board.db"),
    "``'board.db '``, ``'board.db\\n'``": then(last="board.db "),
    "``':memory: '``, ``':MEMORY:'``": then(first=":memory:", last=":MEMORY:"),
    "the file was removed": then(lambda: os.unlink("board.db"), last="board.db"),
    "the file was removed, and the process is a new one": forgotten_but_for_its_lock,
    "another ledger was put in its place": another_holdout_in_its_place,
    "an older copy was put in its place": copy_put_back,
    "a copy, at another path": then(lambda: shutil.copy("board.db", "other.db")),
    "a part of a ledger that is gone lies beside it": beside_a_journal,
    "the folder of temporary ledgers was cleaned away": then(
        lambda: shutil.rmtree(_notices.session_folder()), first=None, last=None
    ),
    "the temporary file was removed": temporary_file_removed,
    "a typing error, with ``create=False``": lambda: asked() and opened("baord.db", create=False),
    "the same path, with another policy": lambda: asked() and opened("board.db", tolerance=0.1),
    "another name, by a hard link": then(lambda: os.link("board.db", "other.db")),
    "the same path, which has a hard link": then(lambda: os.link("board.db", "other.db"), last="board.db"),
    "the same path, written otherwise": then(last="./board.db"),
    "the same path, through a link": then(lambda: os.symlink("board.db", "link.db"), last="link.db"),
    "``None`` again, ``':memory:'`` again": then(first=None, last=None),
}


def outcome(way):
    """Return what happens, in a word; the working folder is empty."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            holdout = way()
        except (LedgerError, ValueError):
            return "an error"
    if any("budget" in str(each.message) for each in caught):
        return "a warning"
    return "the same ledger" if sum(holdout.report().asked.values()) else "A SECOND BUDGET"


def main():
    """Write the table."""
    rows = []
    for name, way in WAYS.items():
        forget()
        forget_ledgers_in_memory()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            session = os.path.join(folder, f"sklearn_ada_{os.getpid()}_{16 * '0'}")
            os.mkdir(session, mode=0o700)
            with mock.patch.object(_notices, "_folder", session):
                rows.append((name, outcome(way)))
    with open(TABLE, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("", "what happens"), *rows])


if __name__ == "__main__":
    main()
