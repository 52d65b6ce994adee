"""Second names of a ledger, and files of others beside it: nothing is lost, hung up or touched by them."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerDamagedError, LedgerUnavailableError
from sklearn_ada.ledger import locations, open_existing_ledger
from tests.support.ledger.damages import forget_connections
from tests.support.ledger.ledger_backends import Tally
from tests.support.models import Always

ROWS, LABELS = np.arange(200.0).reshape(100, 2), np.arange(100) % 2
SOON = 10.0  # seconds, on a busy machine


@pytest.fixture(autouse=True)
def _a_moment(monkeypatch):
    monkeypatch.setattr(locations, "_MOMENT", 0.05)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "board.db")


def begun(path):
    holdout = Holdout(ROWS, LABELS, ledger=path)
    holdout.certify(Always(0), scoring="accuracy")
    return holdout


def ask(holdout, label=1):
    return holdout.certify(Always(label), scoring="accuracy")


USES = {
    "ask on": lambda holdout, path, other: ask(holdout),
    "look on": lambda holdout, path, other: holdout.report(),
    "open": lambda holdout, path, other: Holdout(ROWS, LABELS, ledger=path),
    "open by the other name": lambda holdout, path, other: Holdout(ROWS, LABELS, ledger=other),
    "look by the other name": lambda holdout, path, other: open_existing_ledger(other, Tally),
}


@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_ledger_with_a_hard_link_is_refused_until_the_link_is_gone(path, tmp_path, use, connected):
    holdout, other = begun(path), str(tmp_path / "other.db")
    os.link(path, other)
    if not connected:
        forget_connections()
    before = Path(path).read_bytes()
    with pytest.raises(LedgerUnavailableError, match=r"a second name, a hard link.*Nothing was charged"):
        use(holdout, path, other)
    assert Path(path).read_bytes() == before
    assert not os.path.exists(f"{other}-lock")
    os.unlink(other)
    assert ask(holdout).verdict == "exact"
    assert holdout.report().asked["certify"] == 2


def test_a_draft_that_is_about_to_lose_its_name_is_waited_for(path, tmp_path, monkeypatch):
    holdout = begun(path)
    monkeypatch.setattr(locations, "_MOMENT", 60.0)
    os.link(path, tmp_path / "draft")
    monkeypatch.setattr(locations.time, "sleep", lambda seconds: os.unlink(tmp_path / "draft"))
    assert ask(holdout).verdict == "exact"


def test_a_file_that_is_mounted_by_itself_is_refused_and_one_in_a_mounted_folder_is_not(
    path, tmp_path, monkeypatch
):
    holdout, link = begun(path), str(tmp_path / "link.db")
    os.symlink(path, link)
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(locations, "_MOUNTS", str(mounts))
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\n/dev/sda1 {tmp_path} ext4 rw 0 0\n")
    forget_connections()
    assert ask(holdout).verdict == "exact"
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\n/dev/sda1 {path} ext4 rw 0 0\n")
    forget_connections()
    for use in (
        lambda: ask(holdout, 2),
        lambda: Holdout(ROWS, LABELS, ledger=path),
        lambda: Holdout(ROWS, LABELS, ledger=link),
        lambda: open_existing_ledger(path, Tally),
    ):
        with pytest.raises(LedgerUnavailableError, match=r"mounted by itself.*mount its folder"):
            use()


def test_a_real_mount_of_the_file_alone_is_refused(path, tmp_path):
    begun(path)
    (tmp_path / "folder").mkdir()
    other = tmp_path / "folder" / "board.db"
    other.touch()
    if subprocess.run(["mount", "--bind", path, str(other)], capture_output=True).returncode:
        pytest.skip("this user may not mount")
    try:
        with pytest.raises(LedgerUnavailableError, match=r"mounted by itself"):
            Holdout(ROWS, LABELS, ledger=other)
    finally:
        subprocess.run(["umount", str(other)], check=True)


def endless(path):
    """Make of a ledger one whose records are a view that has no end."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE records RENAME TO r0")
        db.execute(
            "CREATE VIEW records AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
            "SELECT seq, key, subject, body, hash FROM r0, c WHERE n < 0"
        )
        db.commit()


@pytest.fixture
def patience(monkeypatch):
    """Statements of SQLite end after a while, as a test that hangs would hold up all others."""
    until, connect = time.monotonic() + SOON, sqlite3.connect

    def connected(*given, **named):
        db = connect(*given, **named)
        db.set_progress_handler(lambda: time.monotonic() > until, 100_000)
        return db

    monkeypatch.setattr(sqlite3, "connect", connected)


@pytest.mark.parametrize("command", ["verify", "show", "head"])
def test_a_file_with_a_view_that_has_no_end_is_refused_at_once(path, patience, command, capsys):
    begun(path)
    forget_connections()
    endless(path)
    assert main(["ledger", command, path]) == 1
    assert "damaged or edited" in capsys.readouterr().err
    with pytest.raises(LedgerDamagedError, match="index"):
        open_existing_ledger(path, Tally)


def locked_foreign(folder):
    return another(folder, "CREATE TABLE t (x)", "BEGIN EXCLUSIVE")


def foreign_in_wal(folder):
    return another(folder, "PRAGMA journal_mode = WAL", "CREATE TABLE t (x)")


def another(folder, *statements):
    db = sqlite3.connect(folder / "foreign.db", isolation_level=None)
    for statement in statements:
        db.execute(statement)
    return db


def busy_copy(folder):
    shutil.copy(folder / "board.db", folder / "busy.db")
    db = sqlite3.connect(folder / "busy.db", isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    return db


def hot_journal(folder):
    """A copy whose writer has crashed in the middle of a charge."""
    shutil.copy(folder / "board.db", folder / "hot.db")
    db = sqlite3.connect(folder / "hot.db", isolation_level=None)
    db.execute("PRAGMA cache_size = 1")
    db.execute("BEGIN")
    db.execute("INSERT INTO records VALUES (9, 'k', 's', zeroblob(100000), 'h')")
    for name in ("hot.db", "hot.db-journal"):
        shutil.copy(folder / name, folder / f"crashed{name[3:]}")
    db.close()
    os.unlink(folder / "hot.db")


def endless_copy(folder):
    shutil.copy(folder / "board.db", folder / "endless.db")
    endless(folder / "endless.db")


def pipe(folder):
    os.mkfifo(folder / "pipe.db")


BESIDE = {
    "a database that is locked": (locked_foreign, []),
    "a database with a write-ahead log": (foreign_in_wal, []),
    "a copy that is locked": (busy_copy, ["busy.db"]),
    "a copy whose writer crashed": (hot_journal, ["crashed.db"]),
    "a view without an end": (endless_copy, []),
    "a pipe": (pipe, []),
}


@pytest.mark.parametrize(("put", "copies"), BESIDE.values(), ids=BESIDE)
def test_what_lies_beside_a_ledger_neither_holds_up_its_closing_nor_is_touched(
    path, tmp_path, patience, capsys, put, copies
):
    holdout = begun(path)
    kept = put(tmp_path)
    before = {each: os.lstat(tmp_path / each)[6:9:2] for each in os.listdir(tmp_path)}
    head, began = holdout.ledger.head(), time.monotonic()
    assert main(["ledger", "close", path, "--head", head]) == 0
    assert time.monotonic() - began < SOON
    shown = capsys.readouterr().err
    assert [each for each in os.listdir(tmp_path) if f"{each!r} is a copy" in shown] == copies
    after = {each: os.lstat(tmp_path / each)[6:9:2] for each in os.listdir(tmp_path)}
    assert {each for each in before.keys() | after.keys() if before.get(each) != after.get(each)} <= {
        "board.db", "board.db-journal", "board.db-lock",
    }  # fmt: skip
    if isinstance(kept, sqlite3.Connection):
        kept.close()
