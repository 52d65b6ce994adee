"""Another file in the ledger's place, or a part of the file: nothing is charged, read or begun anew.

Known limit: an older copy that is consistent in itself, put back when no process remembers more.
"""

import contextlib
import os
import shutil
import sqlite3

import pytest

from sklearn_ada.exceptions import (
    LedgerDamagedError,
    LedgerError,
    LedgerMismatchError,
    LedgerUnavailableError,
)
from tests.support.ledger.damages import FEW as SIZE
from tests.support.ledger.damages import another_genesis, forget_connections, opened, overwrite, read, replace
from tests.support.ledger.ledger_backends import charge, count, fill, pickled
from tests.support.processes import interpreter


@pytest.fixture
def foreign(tmp_path):
    """The file of another ledger, which is longer."""
    other = str(tmp_path / "foreign.db")
    fill(opened(other, another_genesis), SIZE + 2)
    return other


USES = {
    "charge": charge,
    "read": lambda ledger: ledger.read(count),
    "records": lambda ledger: list(ledger.records()),
    "find": lambda ledger: ledger.find("k2"),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_foreign_ledger_copied_over_an_open_one_is_neither_charged_nor_read(path, ledger, foreign, use):
    overwrite(path, read(foreign))
    with pytest.raises((LedgerDamagedError, LedgerMismatchError)):
        use(ledger)


@pytest.mark.parametrize("keep", [0, 100, 4096, 5000, -4096])
def test_a_truncated_file_is_refused(path, ledger, keep):
    os.truncate(path, keep if keep >= 0 else os.path.getsize(path) + keep)
    with pytest.raises(LedgerDamagedError if keep else LedgerError):
        charge(ledger)
    forget_connections()
    with pytest.raises(LedgerError):
        charge(pickled(ledger))
    forget_connections()
    with pytest.raises(LedgerDamagedError):
        opened(path)


def test_an_unlinked_file_is_refused_and_not_made_again(path, ledger):
    os.unlink(path)
    for use in USES.values():
        with pytest.raises(LedgerUnavailableError):
            use(ledger)
    assert not os.path.exists(path)


def test_an_unlinked_file_is_not_made_again_through_another_path(path, ledger, tmp_path):
    os.symlink(tmp_path, tmp_path / "link")
    os.unlink(path)
    with pytest.raises(LedgerUnavailableError, match="fresh budget"):
        opened(str(tmp_path / "link" / os.path.basename(path)))
    assert not os.path.exists(path)


def test_a_file_that_goes_while_it_is_opened_is_not_made_again(path, ledger, monkeypatch):
    forget_connections()
    os.unlink(path)
    monkeypatch.setattr(os.path, "exists", lambda name: True)
    with pytest.raises(LedgerUnavailableError):
        charge(ledger)
    monkeypatch.undo()
    assert not os.path.exists(path)


def test_a_file_moved_away_and_back_is_used_again(path, ledger):
    os.rename(path, path + ".away")
    with pytest.raises(LedgerUnavailableError):
        charge(ledger)
    os.rename(path + ".away", path)
    assert charge(ledger).body == {"before": SIZE}


@pytest.mark.parametrize(
    "change", [os.unlink, lambda path: os.replace(path + ".copy", path)], ids=["gone", "replaced"]
)
def test_a_file_that_changes_while_a_question_is_decided_keeps_the_answer_back(path, ledger, change):
    shutil.copy(path, path + ".copy")

    def decide(state):
        change(path)
        return {"number": 1}

    with pytest.raises(LedgerUnavailableError):
        ledger.charge("new", decide)
    assert os.path.exists(path) == (change is not os.unlink)
    if os.path.exists(path):
        forget_connections()
        assert opened(path).find("new") is None


def test_a_file_replaced_by_a_foreign_ledger_stays_refused(path, ledger, foreign):
    os.replace(foreign, path)
    with pytest.raises(LedgerUnavailableError):
        charge(ledger)
    for _ in range(2):
        with pytest.raises(LedgerMismatchError):
            charge(ledger)


PUT_BACK = [(replace, LedgerUnavailableError), (overwrite, LedgerDamagedError)]


@pytest.mark.parametrize(("put_back", "error"), PUT_BACK, ids=["replaced", "written over"])
def test_an_older_copy_put_back_is_refused_by_a_process_that_has_read_more(path, ledger, put_back, error):
    older = read(path)
    ledger.charge("paid since", lambda state: {"number": 9})
    put_back(path, older)
    with pytest.raises(error):
        charge(ledger)
    for use in (charge, charge, USES["read"], lambda ledger: opened(path)):
        with pytest.raises(LedgerError):
            use(ledger)


def test_the_journal_of_a_dead_writer_is_rolled_back(path, ledger, tmp_path):
    """A hot journal, as a killed writer leaves it, is undone before anything is read."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN IMMEDIATE")
        for seq in (2, 3):
            db.execute("UPDATE records SET body = zeroblob(100000) WHERE seq = ?", (seq,))
        copies = str(tmp_path / "crashed.db")
        shutil.copy(path, copies)
        shutil.copy(path + "-journal", copies + "-journal")
        db.execute("ROLLBACK")
    assert [record.seq for record in opened(copies).records()] == list(range(SIZE + 1))


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="needs files without a name")
def test_a_kill_while_a_ledger_is_made_leaves_no_secret_behind(tmp_path):
    code = """
        import os, sys
        from tests.support.ledger.damages import opened
        os.link = os.unlink = lambda *names, **how: os._exit(9)
        opened(sys.argv[1])
    """
    assert interpreter(code, tmp_path / "ledger.db", check=False).returncode == 9
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_is_made_where_there_are_no_files_without_a_name(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = str(tmp_path / "ledger.db")
    fill(opened(path), 2)
    assert sorted(os.listdir(tmp_path)) == ["ledger.db", "ledger.db-journal", "ledger.db-lock"]
