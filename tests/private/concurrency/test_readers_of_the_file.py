"""Somebody opens, reads and closes the ledger file all the time, which takes SQLite's own locks away.

POSIX locks of a process are gone when any of its threads closes the file. Before there was a lock file, 197
of 9,995 answers were lost or given another number, while ``verify`` found nothing.
"""

import errno
import fcntl
import os
import signal
import subprocess
import threading

import pytest

from sklearn_ada import Holdout
from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger import askers, open_existing_ledger, sqlite
from sklearn_ada.ledger.askers import FileAskers
from sklearn_ada.ledger.sqlite import LockFile
from tests.support.ledger.damages import opened, read
from tests.support.ledger.ledger_backends import Tally, charge, count, counted
from tests.support.models import Always
from tests.support.processes import in_a_fork, in_processes, interpreter, started

PROCESSES = 4


def back_up(path, over):
    """Read the file as a backup, a checksum or an upload does."""
    while not over.is_set():
        read(path)


def charge_while_it_is_backed_up(path, size, who):
    over, answers, ledger = threading.Event(), [], opened(path)
    reader = threading.Thread(target=back_up, args=(path, over))
    reader.start()
    try:
        for number in range(size):
            body = {"who": who, "number": number}
            record = ledger.charge(f"{who} {number}", lambda state, body=body: {**body, **counted(state)})
            answers.append((record.seq, record.key, record.body))
    finally:
        over.set()
        reader.join()
    return answers


@pytest.mark.parametrize("size", [150, pytest.param(2500, marks=pytest.mark.slow)])
def test_no_charge_is_lost_or_renumbered_while_the_file_is_read_all_the_time(path, empty, size):
    workers = in_processes("fork", PROCESSES, charge_while_it_is_backed_up, path, size)
    answers = sorted(each for answers in workers for each in answers)
    assert len(answers) == PROCESSES * size
    assert len({seq for seq, _, _ in answers}) == len(answers)  # no number was given twice
    recorded = [(record.seq, record.key, record.body) for record in empty.records()][1:]
    assert answers == recorded  # nothing lost, nothing else recorded
    assert all(body["before"] == seq - 1 for seq, _, body in recorded)


CHARGES = """
    import sys
    from tests.support.ledger.damages import opened
    from tests.support.ledger.ledger_backends import counted
    opened(sys.argv[1]).charge("other", counted)
"""


def test_another_process_waits_though_sqlites_lock_was_cancelled(path, empty):
    others = []

    def decide(state):
        others.append(started(CHARGES, path))
        read(path)
        with pytest.raises(subprocess.TimeoutExpired):
            others[0].wait(2)
        return counted(state)

    assert empty.charge("mine", decide).seq == 1
    with others[0] as process:
        assert process.wait(30) == 0
    assert empty.find("other").body == {"before": 1}


@pytest.mark.parametrize("lock_file", ["deleted", "none"])
def test_a_charge_whose_locks_were_all_lost_is_refused(path, empty, monkeypatch, lock_file):
    """SQLite's lock is cancelled, and there is no other: another process then charges in between."""
    if lock_file == "none":
        monkeypatch.setattr(sqlite, "fcntl", None)

    def decide(state):
        read(path)
        if lock_file == "deleted":
            os.unlink(path + "-lock")
        interpreter(CHARGES, path)
        return counted(state)

    with pytest.raises(LedgerUnavailableError, match="somebody else"):
        empty.charge("mine", decide)
    assert empty.find("mine") is None
    assert empty.find("other").seq == 1
    assert empty.charge("mine", counted).body == {"before": 1}
    assert [record.seq for record in empty.records()] == [0, 1, 2]


def test_without_fcntl_there_is_no_lock_file_and_charges_go_on(path, monkeypatch):
    monkeypatch.setattr(sqlite, "fcntl", None)
    assert charge(opened(path)).seq == 1
    assert not os.path.exists(path + "-lock")


def test_a_lock_file_that_was_deleted_or_replaced_is_made_again(path, empty):
    os.unlink(path + "-lock")
    assert empty.charge("first", counted).seq == 1
    with open(path + "-lock.new", "w"):
        os.replace(path + "-lock.new", path + "-lock")
    assert empty.charge("second", counted).seq == 2
    assert os.path.exists(path + "-lock")


def test_a_waiter_on_a_replaced_lock_file_changes_to_the_new_one(path):
    open(path, "w").close()
    first, second, third = LockFile(path), LockFile(path), LockFile(path)
    first.acquire(exclusive=True, patience=1)
    waiting = threading.Thread(target=second.acquire, args=(True, 30))
    waiting.start()
    waiting.join(0.1)
    os.unlink(path + "-lock")
    third.acquire(exclusive=True, patience=1)
    first.release()
    waiting.join(0.3)
    assert waiting.is_alive()  # the old lock is worth nothing
    third.release()
    waiting.join(30)
    assert second.holds()
    second.release()


def test_readers_do_not_wait_for_each_other(path, empty):
    other = LockFile(path)
    other.acquire(exclusive=False, patience=1)
    assert empty.read(count) == 0
    other.release()


def test_all_paths_to_a_file_share_its_lock(tmp_path):
    folder, link = tmp_path / "real", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    opened(link / "ledger.db")
    (tmp_path / "also.db").symlink_to(folder / "ledger.db")
    charge(opened(tmp_path / "also.db"))
    assert (folder / "ledger.db-lock").exists()
    assert not (tmp_path / "also.db-lock").exists()


def test_a_link_in_the_place_of_the_lock_file_is_not_followed(path, empty, tmp_path):
    os.unlink(path + "-lock")
    os.symlink(tmp_path / "elsewhere", path + "-lock")
    with pytest.raises(LedgerUnavailableError):
        charge(empty)
    assert not (tmp_path / "elsewhere").exists()


def test_the_lock_file_is_for_those_who_may_use_the_ledger(path, empty):
    assert os.stat(path + "-lock").st_mode == os.stat(path).st_mode
    os.chmod(path, 0o664)
    os.unlink(path + "-lock")
    empty.read(count)
    assert os.stat(path + "-lock").st_mode & 0o777 == 0o664


@pytest.mark.skipif(not hasattr(fcntl, "F_OFD_SETLK"), reason="no such locks")
def test_who_may_only_read_the_lock_file_sees_others_and_is_seen(tmp_path):
    path = tmp_path / "ledger.db-lock"
    path.touch(0o444)
    tmp_path.chmod(0o755)
    ours = FileAskers(str(path))

    def look():
        os.chdir(tmp_path)
        if os.geteuid() == 0:  # who may write everything
            os.setuid(65534)
        mine, other = FileAskers(path.name), FileAskers(path.name)
        seen = [mine.others(False)]
        mine.enter()
        return [*seen, other.others(False), mine.others(True)]

    assert in_a_fork(look) == "[False, True, False]"
    ours.enter()
    assert in_a_fork(look) == "[True, True, True]"
    ours.leave()
    assert in_a_fork(look) == "[False, True, False]"


@pytest.mark.skipif(not hasattr(fcntl, "F_OFD_SETLK"), reason="no such locks")
@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOLCK, errno.EINVAL])
def test_who_cannot_look_for_others_is_not_alone_but_refused(tmp_path, monkeypatch, number):
    holdout = Holdout([[0.0]] * 40, [0, 1] * 20, ledger=tmp_path / "ledger.db")
    before = holdout.report().nats

    def failing(*given):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as failed:
        failed.setattr(askers.fcntl, "fcntl", failing)
        if number == errno.EINVAL:  # there are no such locks
            assert holdout.certify(Always(0), scoring="accuracy").value is not None
            return
        with pytest.raises(LedgerUnavailableError, match=r"Nothing was charged or answered"):
            holdout.certify(Always(0), scoring="accuracy")
    assert holdout.report().nats == before
    assert holdout.certify(Always(0), scoring="accuracy").value is not None


def test_a_child_of_a_charge_neither_keeps_nor_frees_its_parents_lock(path, empty):
    other = LockFile(path)
    children = []

    def decide(state):
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
        with pytest.raises(LedgerUnavailableError):
            other.acquire(exclusive=True, patience=0.05)
        return {}

    try:
        empty.charge("k", decide)
        other.acquire(exclusive=True, patience=1)
        other.release()
    finally:
        os.kill(children[0], signal.SIGKILL)
        os.waitpid(children[0], 0)


def test_looking_at_a_ledger_makes_no_lock_file(path):
    charge(opened(path))
    os.rename(path, path + ".copy")
    assert open_existing_ledger(path + ".copy", Tally).read(count) == 1
    assert not os.path.exists(path + ".copy-lock")
