"""Ledgers without a path: one for the same data in a session, gone with the interpreter that began it."""

import os

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.exceptions import LedgerMismatchError, LedgerUnavailableError
from tests.support.models import Always
from tests.support.processes import interpreter

ROWS = np.arange(200.0).reshape(100, 2)
LABELS = np.arange(100) % 2


def certified(holdout):
    return holdout.certify(Always(0), scoring="accuracy")


@pytest.mark.parametrize("ledger", [None, ":memory:"])
def test_the_same_data_have_the_same_ledger_and_no_second_budget(ledger):
    certified(Holdout(ROWS + 1, LABELS, ledger=ledger, tolerance=0.4))
    again = Holdout(ROWS + 1, LABELS, ledger=ledger, tolerance=0.4)
    assert again.report().asked["certify"] == 1
    assert certified(again).repeated
    with pytest.raises(LedgerMismatchError, match="tolerance"):
        Holdout(ROWS + 1, LABELS, ledger=ledger, tolerance=0.5)


def test_rows_are_recognised_by_their_labels_in_any_container():
    path = Holdout(ROWS.tolist(), LABELS.tolist()).ledger.path
    assert {Holdout(X, LABELS).ledger.path for X in (ROWS.copy(order="F"), ROWS + 2)} == {path}
    assert Holdout(ROWS, 1 - LABELS).ledger.path != path


@pytest.mark.parametrize("second", [False, True])
def test_a_ledger_that_vanished_is_not_begun_anew(second):
    holdout = Holdout(ROWS, LABELS)
    certified(holdout)
    os.unlink(holdout.ledger.path)
    with pytest.raises(LedgerUnavailableError):
        certified(Holdout(ROWS, LABELS) if second else holdout)


A_FORK = """
    open(path, "w").close()
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0
    else:
        assert temporary_ledger_path("data") == path
        sys.exit(0)  # runs what was registered for the end of the process
"""
A_WORKER = """
    open(path, "w").close()
    with multiprocessing.get_context({!r}).Pool(1) as pool:
        assert pool.apply(temporary_ledger_path, ("data",)) == path
        pool.close()
        pool.join()
"""
A_LEDGER = """
    from tests.support.ledger.ledger_backends import SQLiteBackend, charge
    charge(SQLiteBackend(None).open(path))
    assert os.path.exists(path + "-lock")
"""
ENDS = {
    "a fork": (A_FORK, 0),
    "a spawned worker": (A_WORKER.format("spawn"), 0),
    "a forked worker": (A_WORKER.format("fork"), 0),
    "a ledger with its lock file": (A_LEDGER, 0),
    "an uncaught error": ("    raise SystemExit(3)", 3),
}


@pytest.mark.parametrize(("between", "status"), ENDS.values(), ids=ENDS)
def test_the_folder_goes_with_the_process_that_began_it_and_not_before(between, status):
    code = f"""
import multiprocessing, os, sys
from sklearn_ada.ledger import temporary_ledger_path
if __name__ == "__main__":
    path = temporary_ledger_path("data")
    print(path, flush=True)
{between}
    assert os.path.exists(path)
"""
    done = interpreter(code, check=False)
    assert done.returncode == status, done.stderr
    assert not os.path.exists(os.path.dirname(done.stdout.strip()))
