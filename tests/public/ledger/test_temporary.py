"""Ledgers without a path: one for the same data in a session, gone with the interpreter that began it."""

import os

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.exceptions import LedgerMismatchError, LedgerUnavailableError
from sklearn_ada.ledger import temporary_ledger_path
from tests.support.ledger.fitted_models import Constant
from tests.support.processes import interpreter

ROWS = np.arange(200.0).reshape(100, 2)
LABELS = np.arange(100) % 2


def constant():
    return Constant(0).fit(ROWS, LABELS)


@pytest.mark.parametrize("ledger", [None, ":memory:"])
def test_the_same_data_have_the_same_ledger_and_no_second_budget(ledger):
    Holdout(ROWS + 1, LABELS, ledger=ledger, tolerance=0.4).certify(constant(), scoring="accuracy")
    again = Holdout(ROWS + 1, LABELS, ledger=ledger, tolerance=0.4)
    assert again.report().asked["certify"] == 1
    assert again.certify(constant(), scoring="accuracy").repeated
    with pytest.raises(LedgerMismatchError, match="tolerance"):
        Holdout(ROWS + 1, LABELS, ledger=ledger, tolerance=0.5)


def test_equal_data_in_another_container_have_the_same_ledger():
    first = Holdout(ROWS.tolist(), LABELS.tolist())
    assert Holdout(ROWS.copy(order="F"), LABELS).ledger.path == first.ledger.path


def test_rows_are_known_by_their_labels():
    first = Holdout(ROWS, LABELS)
    assert Holdout(ROWS + 2, LABELS).ledger.path == first.ledger.path
    assert Holdout(ROWS, 1 - LABELS).ledger.path != first.ledger.path


@pytest.mark.parametrize("second", [False, True])
def test_a_ledger_that_vanished_is_not_begun_anew(second):
    holdout = Holdout(ROWS + 4, LABELS)
    holdout.certify(constant(), scoring="accuracy")
    os.unlink(holdout.ledger.path)
    with pytest.raises(LedgerUnavailableError):
        (Holdout(ROWS + 4, LABELS) if second else holdout).certify(constant(), scoring="accuracy")


def test_the_folder_is_gone_after_the_process_but_not_after_its_forks():
    done = interpreter(
        """
        import os, sys
        from sklearn_ada.ledger import temporary_ledger_path
        path = temporary_ledger_path("data")
        open(path, "w").close()
        child = os.fork()
        if child == 0:
            assert temporary_ledger_path("data") == path
            sys.exit(0)  # runs what was registered for the end of the process
        assert os.waitpid(child, 0)[1] == 0
        print(path, os.path.exists(path))
        """
    )
    path, there_after_the_fork = done.stdout.split()
    assert there_after_the_fork == "True"
    assert not os.path.exists(os.path.dirname(path))


def test_an_uncaught_error_does_not_leave_the_folder_behind():
    done = interpreter(
        """
        from sklearn_ada.ledger import temporary_ledger_path
        print(temporary_ledger_path("data"), flush=True)
        raise SystemExit(3)
        """,
        check=False,
    )
    assert done.returncode == 3
    assert not os.path.exists(os.path.dirname(done.stdout.strip()))


@pytest.mark.parametrize("context", ["spawn", "fork"])
def test_a_worker_uses_the_ledgers_of_its_parent_and_leaves_them_there(context):
    done = interpreter(
        f"""
        import multiprocessing, os
        from sklearn_ada.ledger import temporary_ledger_path
        if __name__ == "__main__":
            with multiprocessing.get_context({context!r}).Pool(1) as pool:
                there = pool.apply(temporary_ledger_path, ("some data",))
                open(there, "w").close()
                pool.close()
                pool.join()
            assert os.path.exists(there)
            print(there, temporary_ledger_path("some data"))
        """
    )
    there, here = done.stdout.split()
    assert there == here
    assert not os.path.exists(os.path.dirname(there))


def test_others_may_not_read_the_folder():
    folder = os.path.dirname(temporary_ledger_path("private"))
    assert os.stat(folder).st_mode & 0o077 == 0


def test_the_lock_file_goes_with_the_ledger():
    done = interpreter(
        """
        import os
        from sklearn_ada.ledger import SQLiteLedger, temporary_ledger_path
        from tests.support.ledger.ledger_backends import Genesis, Tally
        path = temporary_ledger_path("data")
        SQLiteLedger.create_or_open(path, Genesis(), Tally).charge("k", lambda state: {})
        assert os.path.exists(path + "-lock")
        print(path)
        """
    )
    assert not os.path.exists(os.path.dirname(done.stdout.strip()))
