"""Certificates and pictures never land on a ledger, whatever it is called, and never on half a file."""

import errno
import os
import shutil
import stat
import tempfile
from pathlib import Path

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.cli import main
from sklearn_ada.ledger.written_files import written_file
from tests.support.ledger.damages import content
from tests.support.models import Always
from tests.support.processes import in_a_fork, together

ROWS, LABELS = np.arange(200.0).reshape(100, 2), np.arange(100) % 2


def begun(path, labels=LABELS):
    holdout = Holdout(ROWS, labels, ledger=path)
    holdout.certify(Always(0), scoring="accuracy")
    return holdout


def symlink_to(ending):
    def make(ledger, target):
        os.symlink(f"{ledger}{ending}", target)

    return make


def hard_link_to(ending):
    def make(ledger, target):
        os.link(f"{ledger}{ending}", target)

    return make


def of_another_process(ledger, target):
    target.write_bytes(content(1))


def link_of_another_ledger(ledger, target):
    target.with_name("other.db").write_bytes(content(1))
    os.link(target.with_name("other.db"), target)


def chain_of_links(ledger, target):
    os.symlink(ledger, f"{ledger}.link")
    os.symlink(f"{ledger}.link", target)


def cut_copy(ledger, target):
    shutil.copy(ledger, target)
    os.truncate(target, 100)


TARGETS = {
    "the ledger itself": lambda ledger, target: os.symlink(ledger, target),
    "another ledger": lambda ledger, target: begun(target, 1 - LABELS) and None,
    "a ledger of another process": of_another_process,
    "a copy": shutil.copy,
    "a copy that was cut": cut_copy,
    "a hard link to another ledger": link_of_another_ledger,
    "links one after the other": chain_of_links,
    "a link to the lock": symlink_to("-lock"),
    "a hard link to the lock": hard_link_to("-lock"),
    "a link to the journal": symlink_to("-journal"),
    "a hard link to the journal": hard_link_to("-journal"),
    "a pipe": lambda ledger, target: os.mkfifo(target),
    "a device": lambda ledger, target: os.symlink(os.devnull, target),
    "a folder": lambda ledger, target: os.mkdir(target),
}


@pytest.mark.parametrize("name", ["page.html", "picture.png"])
@pytest.mark.parametrize("make", TARGETS.values(), ids=TARGETS)
def test_nothing_is_written_over_a_ledger_or_what_is_no_file(make, name, tmp_path, capsys):
    holdout = begun(tmp_path / "board.db")
    records, target = list(holdout.ledger.records()), tmp_path / name
    make(tmp_path / "board.db", target)
    before, there = os.lstat(target).st_ino, sorted(os.listdir(tmp_path))
    if name.endswith("png"):
        with pytest.raises(SystemExit):
            main(["plan", "--rows", "100", "--questions", "10", "--picture", str(target)])
        assert "Nothing was written" in " ".join(capsys.readouterr().err.split())
    else:
        with pytest.raises(ValueError, match="Nothing was written"):
            holdout.export(target)
    assert (os.lstat(target).st_ino, sorted(os.listdir(tmp_path))) == (before, there)
    assert list(holdout.ledger.records()) == records


def unreadable(ledger, target):
    target.write_bytes(content(1))
    target.chmod(0)


def lock_beside_unreadable(ledger, target):
    (target.parent / "page.htm").write_bytes(content(1))
    (target.parent / "page.htm").chmod(0)
    target.symlink_to("page.htm-lock")
    (target.parent / "page.htm-lock").touch()


def journal_beside_unreadable(ledger, target):
    lock_beside_unreadable(ledger, target.with_name("link"))
    target.symlink_to("page.htm-journal")


UNREADABLE = {
    "a ledger": unreadable,
    "the lock of one": lock_beside_unreadable,
    "the journal of one": journal_beside_unreadable,
}


@pytest.fixture
def shared():
    """A folder where every user of the machine may write."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


def _as_written(folder):
    """Return what tells one content of a folder from another; when it was read is no part of that."""
    found = {each: os.lstat(folder / each) for each in os.listdir(folder)}
    return {each: (of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns) for each, of in found.items()}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_what_this_user_may_not_read_is_not_replaced(make, shared):
    """It may be the ledger of somebody else."""
    holdout, target = Holdout(ROWS, LABELS, ledger=":memory:"), shared / "page.html"
    make(None, target)
    before = _as_written(shared)

    def write():
        if os.geteuid() == 0:  # who may read everything
            os.setgid(65534)
            os.setuid(65534)
        holdout.export(target)

    shown = in_a_fork(write)
    assert shown.startswith("ValueError")
    assert "cannot be seen what is there (Permission denied)" in shown
    assert _as_written(shared) == before


def test_a_name_beside_a_folder_is_free(tmp_path):
    (tmp_path / "page").mkdir()
    with written_file(tmp_path / "page-lock", "path", "Holdout.export") as file:
        file.write(b"text")
    assert (tmp_path / "page-lock").read_bytes() == b"text"


@pytest.mark.parametrize("name", ["board.html", "board.json"])
def test_a_ledger_with_the_ending_of_a_page_stays(name, tmp_path):
    holdout = begun(tmp_path / name)
    with pytest.raises(ValueError, match="is a ledger"):
        holdout.export(tmp_path / name)
    assert holdout.report().asked["certify"] == 1


def test_a_file_that_is_replaced_keeps_its_mode_and_a_link_is_not_followed(tmp_path):
    holdout, page, elsewhere = begun(tmp_path / "board.db"), tmp_path / "page.html", tmp_path / "kept.html"
    assert stat.S_IMODE(holdout.export(page).stat().st_mode) == 0o666 & ~current_umask()
    page.chmod(0o600)
    assert stat.S_IMODE(holdout.export(page).stat().st_mode) == 0o600
    elsewhere.write_text("kept")
    page.unlink()
    page.symlink_to(elsewhere)
    holdout.export(page)
    assert elsewhere.read_text() == "kept"
    assert not page.is_symlink()
    assert page.read_text().startswith("<!DOCTYPE")


def full(*names):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *names)


def current_umask():
    umask = os.umask(0)
    os.umask(umask)
    return umask


def test_threads_that_export_to_one_name_do_not_collide(tmp_path):
    holdout, page = begun(tmp_path / "board.db"), tmp_path / "page.html"
    together(*[lambda: [holdout.export(page) for _ in range(5)]] * 8)
    assert page.read_text().rstrip().endswith("</html>")
    assert [each for each in os.listdir(tmp_path) if each.startswith(".")] == []


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    holdout, page = begun(tmp_path / "board.db"), tmp_path / "page.html"
    page.write_text("before")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ValueError, match=r"'page.html'.*as it was \(No space left on device\)"):
        holdout.export(page)
    assert page.read_text() == "before"
    assert [each for each in os.listdir(tmp_path) if each.startswith(".")] == []
