"""A new budget is a deliberate act: it is announced, and a second one for the same rows is warned of."""

import contextlib
import errno
import logging
import os
import pickle
import shutil
import sqlite3
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_validate

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerMismatchError, LedgerUnavailableError
from tests.support.models import Always
from tests.support.processes import interpreter, together

X, Y = make_classification(400, 6, random_state=0)
IDS = np.arange(400) + 7000
SHUFFLED = np.random.default_rng(0).permutation(400)
SEARCH = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(ledger, rows=slice(None), **given):
    """Ask one question about these rows."""
    holdout = Holdout(X[rows], Y[rows], ledger=ledger, **given)
    holdout.certify(Always(0), scoring="accuracy")
    return holdout


def warned(*tasks):
    """Return how often some tasks warn of a second budget, or of a copy."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for task in tasks:
            task()
    return sum("budget" in str(each.message) for each in caught)


def in_another_folder():
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    ask("board.db")


def by_a_link():
    os.mkdir("folder")
    os.symlink("folder", "link")
    ask("link/board.db")


def after_the_folder_was_moved():
    os.mkdir("now")
    os.rename("board.db", "now/board.db")
    ask("board2.db")


def after_a_top_up():
    larger = Holdout(X[:300], Y[:300], ledger="old.db").top_up(X[300:], Y[300:])
    larger.certify(Always(0), scoring="accuracy")


def unpickled(holdout):
    code = """
        import pickle, sys, warnings
        warnings.simplefilter("error", UserWarning)
        holdout = pickle.load(open(sys.argv[1], "rb"))
        from sklearn_ada import Holdout
        try:
            Holdout(holdout._session.data.X, holdout._session.data.y, ledger=sys.argv[2])
        except UserWarning as warning:
            print(warning)
    """
    with open("holdout.pickle", "wb") as file:
        pickle.dump(holdout, file)
    return interpreter(code, os.path.abspath("holdout.pickle"), os.path.abspath("other.db")).stdout


SECOND = {
    "None, then a path": (lambda: ask(None), lambda: ask("board.db")),
    "a path, then None": (lambda: ask("board.db"), lambda: ask(None)),
    "two paths": (lambda: ask("board.db"), lambda: ask("other.db")),
    "a typing error": (lambda: ask("board.db"), lambda: ask("baord.db")),
    "memory, then a path": (lambda: ask(":memory:"), lambda: ask("board.db")),
    "memory, then None": (lambda: ask(":memory:"), lambda: ask(None)),
    "two names in memory": (lambda: ask(":memory:one"), lambda: ask(":memory:two")),
    "another working folder": (lambda: ask("board.db"), in_another_folder),
    "a link": (lambda: ask("board.db"), by_a_link),
    "a file that was moved": (lambda: ask("board.db"), after_the_folder_was_moved),
    "another order": (lambda: ask("board.db"), lambda: ask("other.db", SHUFFLED)),
    "some rows dropped": (lambda: ask("board.db"), lambda: ask("other.db", slice(0, 390))),
    "half of the rows": (lambda: ask("board.db"), lambda: ask("other.db", slice(0, 200))),
    "more rows": (lambda: ask("board.db", slice(0, 200)), lambda: ask("other.db")),
    "rows of a top-up": (after_a_top_up, lambda: ask("other.db", slice(300, 400))),
    "rows before a top-up": (after_a_top_up, lambda: ask("other.db", slice(0, 300))),
    "ids, then none": (lambda: ask("board.db", ids=IDS), lambda: ask("other.db")),
    "none, then ids": (lambda: ask("board.db"), lambda: ask("other.db", SHUFFLED, ids=IDS[SHUFFLED])),
    "ids, and other columns": (
        lambda: ask("board.db", ids=IDS),
        lambda: Holdout(X[SHUFFLED, :3], Y[SHUFFLED], ids=IDS[SHUFFLED], ledger="other.db"),
    ),
    "classes written otherwise": (
        lambda: ask("board.db"),
        lambda: Holdout(X, np.where(Y == 1, "no", "yes"), ledger="other.db"),
    ),
    "classes written otherwise, both temporary": (
        lambda: ask(None),
        lambda: Holdout(X * 2, np.where(Y == 1, -1.0, 1.0), ledger=None),
    ),
    "other columns": (lambda: ask("board.db"), lambda: Holdout(X[:, :2], Y, ledger="other.db")),
    "two searches": (
        lambda: ReusableHoldoutCV(SEARCH, ledger="board.db").fit(X, Y),
        lambda: ReusableHoldoutCV(SEARCH, ledger="other.db").fit(X, Y),
    ),
}


@pytest.mark.parametrize(("first", "second"), SECOND.values(), ids=SECOND)
def test_a_second_budget_for_the_same_rows_is_warned_of(first, second):
    assert warned(first) == 0
    assert warned(second) == 1


@pytest.mark.parametrize("asked", [1, 2])
def test_the_warning_says_how_many_questions_stand_where(asked, folder):
    holdout = ask("board.db")
    if asked == 2:
        holdout.certify(Always(1), scoring="accuracy")
    stand = "1 question stands" if asked == 1 else "2 questions stand"
    with pytest.warns(UserWarning, match=rf"{folder}/board\.db, where {stand}") as caught:
        ask("other.db")
    assert f"{folder}/other.db" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_of_a_ledger_that_was_asked_nothing_the_warning_says_so():
    Holdout(X, Y, ledger="board.db")
    with pytest.warns(UserWarning, match=r"board\.db in this session, which was asked nothing yet") as caught:
        Holdout(X, Y, ledger="other.db")
    assert "no interval" not in str(caught[0].message)


def test_no_number_of_other_ledgers_lets_the_first_be_forgotten():
    ask("board.db")
    random = np.random.default_rng(1)
    for number in range(260):
        Holdout(random.normal(size=(30, 1)), random.integers(2, size=30), ledger=f":memory:{number}")
    assert warned(lambda: ask("other.db")) == 1


def test_where_the_first_ledger_cannot_be_read_the_warning_says_so():
    ask("board.db")
    Path("board.db").write_bytes(b"something else")
    with pytest.warns(UserWarning, match=r"board\.db, where it cannot be read now how many questions stand"):
        ask("other.db")


def no_space(*names, **how):
    raise OSError(errno.ENOSPC, "No space left on device")


def refused(error):
    with pytest.raises(error):
        ask("other.db")


def test_an_opening_that_failed_uses_no_warning_up(monkeypatch):
    ask("board.db")
    with monkeypatch.context() as full:
        full.setattr(os, "link", no_space)
        assert warned(lambda: refused(LedgerUnavailableError)) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            refused(UserWarning)
            assert not os.path.exists("other.db")
    assert warned(lambda: ask("other.db")) == 1
    assert warned(lambda: ask("other.db"), lambda: ask("board.db")) == 0  # it was given


def test_threads_at_one_instant_are_warned_too():
    ready = threading.Barrier(4)

    def begin(number):
        ready.wait()
        Holdout(X, Y, ledger=f"{number}.db")

    assert warned(lambda: together(*[lambda n=n: begin(n) for n in range(4)])) == 3


def test_a_holdout_that_was_unpickled_is_remembered(folder):
    assert f"{folder}/board.db, where 1 question stands" in unpickled(ask("board.db"))


def fold(cv, made):
    for train, test in cv.split(X, Y):
        made(train, test)


def sorted_folds():
    order = np.argsort(Y, kind="stable")
    for number, (_, test) in enumerate(StratifiedKFold(4).split(X[order], Y[order])):
        ask(f"{number}.db", order[test])


OTHER_ROWS = {
    "test folds": lambda: fold(KFold(4), lambda train, test: ask(f"{test[0]}.db", test)),
    "test folds of sorted labels": sorted_folds,
    "nested cross-validation": lambda: cross_validate(
        ReusableHoldoutCV(SEARCH), X, Y, cv=4, params={"ids": IDS}, error_score="raise"
    ),
    "nested cross-validation without ids": lambda: cross_validate(
        ReusableHoldoutCV(SEARCH), X, Y, cv=4, error_score="raise"
    ),
    "folds of one's own": lambda: fold(
        KFold(4),
        lambda train, test: ReusableHoldoutCV(SEARCH, ledger=f"{test[0]}.db").fit(X[train], Y[train]),
    ),
    "folds of one's own with ids": lambda: fold(
        KFold(4, shuffle=True, random_state=0),
        lambda train, test: ReusableHoldoutCV(SEARCH, ledger=f"{test[0]}.db").fit(
            X[train], Y[train], ids=IDS[train]
        ),
    ),
    "another target": lambda: (ask("board.db"), Holdout(X, X[:, 0] > 0, ledger="other.db")),
    "another target of rows with ids": lambda: (
        ask("board.db", ids=IDS),
        Holdout(X, X[:, 0] > 0, ids=IDS, ledger="other.db"),
    ),
    "alternating labels": lambda: [
        Holdout(X[half], np.arange(200) % 2, ledger=f"{half.start}.db")
        for half in (slice(0, 200), slice(200, 400))
    ],
    "rows of two values": lambda: [
        Holdout(np.ones((200, 1)), np.arange(200) % 3, ledger=f"{number}.db") for number in range(2)
    ],
    "the same ledger by other names": lambda: (
        ask("board.db"),
        ask("./board.db"),
        ask(os.path.abspath("board.db")),
        os.symlink("board.db", "link.db"),
        ask("link.db"),
    ),
    "the same file, moved": lambda: (ask("board.db"), os.rename("board.db", "now.db"), ask("now.db")),
}


@pytest.mark.parametrize("work", OTHER_ROWS.values(), ids=OTHER_ROWS)
def test_other_rows_and_the_same_ledger_are_silent(work):
    assert warned(work) == 0


def a_copy(make):
    def work():
        ask("board.db")
        shutil.copy("board.db", "copy.db")
        make()
        ask("copy.db")

    return work


COPIES = {
    "an older copy": lambda: Holdout(X, Y, ledger="board.db").certify(Always(1), scoring="accuracy"),
    "a copy as old": lambda: None,
    "an older copy in place of the ledger": lambda: (
        Holdout(X, Y, ledger="board.db").certify(Always(1), scoring="accuracy"),
        os.unlink("board.db"),
    ),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_at_another_address_is_warned_of(make):
    assert warned(a_copy(make)) == 1


REPLACED = {
    "removed": lambda: os.unlink("board.db"),
    "removed with its lock": lambda: [os.unlink(each) for each in os.listdir()],
    "begun again by another process": lambda: (
        [os.unlink(each) for each in os.listdir()],
        interpreter(
            "import sys, numpy as np; from sklearn_ada import Holdout;"
            "Holdout(np.load(sys.argv[1]), np.load(sys.argv[2]), ledger=sys.argv[3])",
            *saved(),
            os.path.abspath("board.db"),
        ),
    ),
    "begun again and moved there": lambda: (ask("other.db"), os.replace("other.db", "board.db")),
}


def saved():
    np.save("x.npy", X)
    np.save("y.npy", Y)
    return os.path.abspath("x.npy"), os.path.abspath("y.npy")


@pytest.mark.filterwarnings("ignore:These rows")
@pytest.mark.parametrize("replace", REPLACED.values(), ids=REPLACED)
def test_a_file_that_was_begun_anew_is_an_error(replace):
    ask("board.db")
    replace()
    with pytest.raises((LedgerUnavailableError, LedgerMismatchError)):
        ask("board.db")


def crashed(name):
    """Leave the file and the journal of a writer that was killed in the middle of a charge."""
    with contextlib.closing(sqlite3.connect("board.db", isolation_level=None)) as db:
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE records SET body = zeroblob(1000000) WHERE seq = 1")
        shutil.copy("board.db", name)
        shutil.copy("board.db-journal", f"{name}-journal")
        db.execute("ROLLBACK")


LEFT = {
    "a hot journal": lambda: crashed("other.db"),
    "a write-ahead log": lambda: Path("other.db-wal").write_bytes(b"7\x7f\x06\x82" * 10),
    "half a journal": lambda: Path("other.db-journal").write_bytes(b"\xd9\xd5\x05\xf9"),
}


@pytest.mark.filterwarnings("ignore:These rows")
@pytest.mark.parametrize("leave", LEFT.values(), ids=LEFT)
def test_no_ledger_is_begun_beside_a_part_of_one_that_is_gone(leave):
    ask("board.db")
    leave()
    Path("other.db").unlink(missing_ok=True)
    for create in (True, False):
        with pytest.raises(LedgerUnavailableError, match="would be written into a new one"):
            ask("other.db", create=create)
    assert not os.path.exists("other.db")


def test_a_ledger_begun_where_another_one_was_removed_is_warned_of(folder):
    interpreter(
        "import sys; from sklearn_ada import Holdout; Holdout([[0.0]] * 4, [0, 1] * 2, ledger=sys.argv[1])",
        folder / "board.db",
    )
    os.unlink("board.db")
    assert warned(lambda: ask("board.db"), lambda: ask("board.db")) == 1


def test_a_budget_is_announced_once_with_its_place_and_rows(folder, caplog):
    caplog.set_level(logging.INFO, logger="sklearn_ada")
    ask("board.db")
    ask("board.db", slice(None))
    (record,) = [each for each in caplog.records if each.name == "sklearn_ada"]
    assert record.levelno == logging.INFO
    assert record.getMessage() == f"a new ledger begins at {folder}/board.db, for 400 rows"


def test_a_search_with_verbose_prints_it(folder, capsys):
    for verbose, expected in ((1, 1), (1, 0)):
        ReusableHoldoutCV(SEARCH, ledger="board.db", verbose=verbose).fit(X, Y)
        line = f"[sklearn_ada] a new ledger begins at {folder}/board.db, for 100 rows"
        assert capsys.readouterr().out.count(line) == expected
    ReusableHoldoutCV(SEARCH, ledger="other.db").fit(X[:200], Y[:200])
    assert capsys.readouterr().out == ""


WITHOUT = {
    "a path": {"ledger": "board.db"},
    "a temporary ledger": {"ledger": None},
    "memory": {"ledger": ":memory:"},
    "a name in memory": {"ledger": ":memory:one"},
    "a temporary ledger with ids": {"ledger": None, "ids": IDS},
    "a path with ids": {"ledger": "board.db", "ids": IDS},
    "memory with ids": {"ledger": ":memory:", "ids": IDS},
}


@pytest.mark.parametrize("given", WITHOUT.values(), ids=WITHOUT)
def test_create_false_begins_none_and_goes_on_with_one(given, folder):
    ids = given.get("ids")
    search = {name: value for name, value in given.items() if name != "ids"}
    for _ in range(2):
        with pytest.raises(LedgerUnavailableError, match="create=False"):
            Holdout(X, Y, create=False, **given)
        with pytest.raises(LedgerUnavailableError, match="create=False"):
            ReusableHoldoutCV(SEARCH, create=False, **search).fit(X, Y, ids=ids)
    assert os.listdir(folder) == []
    Holdout(X, Y, **given)
    assert Holdout(X, Y, create=False, **given).report().asked["certify"] == 0


@pytest.mark.parametrize("create", [None, "no", 0, 1.0])
def test_create_is_true_or_false(create):
    with pytest.raises(ValueError, match="'create' parameter of Holdout must be True or False"):
        Holdout(X, Y, create=create)
    with pytest.raises(ValueError, match="'create' parameter of ReusableHoldoutCV must be True or False"):
        ReusableHoldoutCV(SEARCH, create=create).fit(X, Y)


def test_the_command_announces_a_budget_and_begins_none_when_told_not_to(folder, capsys):
    for name in ("data", "predictions"):
        (folder / f"{name}.csv").write_text("label\n" + "a\nb\n" * 50)
    command = ["ask", "--predictions", "predictions.csv", "--data", "data.csv", "--ledger", "board.db"]
    command += ["--guess", "0.9", "--json"]
    assert main([*command, "--no-create"]) == 1
    assert "none may be begun" in capsys.readouterr().err
    assert not os.path.exists("board.db")
    assert main(command) == 0
    assert f"a new ledger begins at {folder}/board.db, for 100 rows" in capsys.readouterr().err
    assert main([*command, "--no-create"]) == 0
    assert "begins" not in capsys.readouterr().err
