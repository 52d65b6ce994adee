"""Somebody opens, reads and closes the ledger file all the time, which takes SQLite's own locks away.

POSIX locks of a process are gone when any of its threads closes the file. Before there was a lock file, 197
of 9,995 answers were lost or given another number, while ``verify`` found nothing.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger import SQLiteLedger, open_existing_ledger, sqlite
from sklearn_ada.ledger.sqlite import LockFile
from tests.support.ledger.ledger_backends import Genesis, Tally, count
from tests.support.processes import ROOT

PROCESSES = 4


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "ledger.db")


@pytest.fixture
def ledger(path):
    return opened(path)


def opened(path):
    return SQLiteLedger.create_or_open(path, Genesis(), Tally)


def back_up(path, over):
    """Read the file as a backup, a checksum or an upload does."""
    while not over.is_set():
        with open(path, "rb") as file:
            file.read()


def charge_while_it_is_backed_up(path, who, size, start, delivered):
    over, answers = threading.Event(), []
    reader = threading.Thread(target=back_up, args=(path, over))
    ledger = opened(path)
    start.wait()
    reader.start()
    try:
        for number in range(size):
            body = {"who": who, "number": number}
            record = ledger.charge(
                f"{who} {number}", lambda state, body=body: {**body, "before": count(state)}
            )
            answers.append((record.seq, record.key, record.body))
    finally:
        over.set()
        reader.join()
        delivered.put(answers)


def check_charges_under_readers(path, size):
    ledger, context = opened(path), multiprocessing.get_context("fork")
    start, delivered = context.Barrier(PROCESSES), context.Queue()
    workers = [
        context.Process(target=charge_while_it_is_backed_up, args=(path, who, size, start, delivered))
        for who in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    answers = [each for _ in workers for each in delivered.get(timeout=600)]
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert len(answers) == PROCESSES * size
    assert len({seq for seq, _, _ in answers}) == len(answers)  # no number was given twice
    recorded = [(record.seq, record.key, record.body) for record in ledger.records()][1:]
    assert sorted(answers) == recorded  # nothing lost, nothing else recorded
    assert all(body["before"] == seq - 1 for seq, _, body in recorded)


def test_no_charge_is_lost_or_renumbered_while_the_file_is_read_all_the_time(path):
    check_charges_under_readers(path, 250)


@pytest.mark.slow
def test_no_charge_of_ten_thousand_is_lost_or_renumbered_while_the_file_is_read(path):
    check_charges_under_readers(path, 2500)


READS_AND_CHARGES = textwrap.dedent(
    """
    import sys
    from sklearn_ada.ledger import SQLiteLedger
    from tests.support.ledger.ledger_backends import Genesis, Tally, count
    ledger = SQLiteLedger.create_or_open(sys.argv[1], Genesis(), Tally)
    print("here", flush=True)
    ledger.charge("other", lambda state: {"before": count(state)})
    """
)


def test_another_process_waits_though_sqlites_lock_was_cancelled(path, ledger):
    command = [sys.executable, "-c", READS_AND_CHARGES, path]
    started = []

    def decide(state):
        started.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
        with open(path, "rb") as file:
            file.read()
        with pytest.raises(subprocess.TimeoutExpired):
            started[0].wait(2)
        return {"before": count(state)}

    assert ledger.charge("mine", decide).seq == 1
    with started[0] as process:
        assert process.wait(30) == 0
    assert ledger.find("other").body == {"before": 1}


def test_a_charge_whose_locks_were_all_lost_is_refused(path, ledger):
    """The lock file is deleted and SQLite's lock cancelled: another process then charges in between."""

    def decide(state):
        with open(path, "rb") as file:
            file.read()
        os.unlink(path + "-lock")
        subprocess.run([sys.executable, "-c", READS_AND_CHARGES, path], cwd=ROOT, check=True)
        return {"before": count(state)}

    with pytest.raises(LedgerUnavailableError, match="somebody else"):
        ledger.charge("mine", decide)
    assert ledger.find("mine") is None
    assert ledger.find("other").seq == 1
    assert ledger.charge("mine", lambda state: {"before": count(state)}).body == {"before": 1}
    assert [record.seq for record in ledger.records()] == [0, 1, 2]


def test_a_charge_in_between_is_seen_where_there_is_no_lock_file(path, ledger, monkeypatch):
    monkeypatch.setattr(sqlite, "fcntl", None)

    def decide(state):
        with open(path, "rb") as file:
            file.read()
        subprocess.run([sys.executable, "-c", READS_AND_CHARGES, path], cwd=ROOT, check=True)
        return {"before": count(state)}

    with pytest.raises(LedgerUnavailableError, match="somebody else"):
        ledger.charge("mine", decide)
    assert [record.key for record in ledger.records()] == [None, "other"]


def test_without_fcntl_there_is_no_lock_file_and_charges_go_on(path, monkeypatch):
    monkeypatch.setattr(sqlite, "fcntl", None)
    assert opened(path).charge("k", lambda state: {}).seq == 1
    assert not os.path.exists(path + "-lock")


def test_a_lock_file_that_was_deleted_or_replaced_is_made_again(path, ledger):
    os.unlink(path + "-lock")
    assert ledger.charge("first", lambda state: {}).seq == 1
    with open(path + "-lock.new", "w"):
        os.replace(path + "-lock.new", path + "-lock")
    assert ledger.charge("second", lambda state: {}).seq == 2
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


def test_who_waits_too_long_for_the_lock_file_is_told_so(path, ledger, monkeypatch):
    other = LockFile(path)
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0.05)
    other.acquire(exclusive=True, patience=1)
    with pytest.raises(LedgerUnavailableError, match="locked"):
        ledger.charge("k", lambda state: {})
    with pytest.raises(LedgerUnavailableError, match="locked"):
        ledger.read(count)
    other.release()
    assert ledger.charge("k", lambda state: {}).seq == 1


def test_readers_do_not_wait_for_each_other(path, ledger):
    other = LockFile(path)
    other.acquire(exclusive=False, patience=1)
    assert ledger.read(count) == 0
    other.release()


def test_all_paths_to_a_file_share_its_lock(tmp_path):
    folder, link = tmp_path / "real", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    opened(link / "ledger.db")
    (tmp_path / "also.db").symlink_to(folder / "ledger.db")
    opened(tmp_path / "also.db").charge("k", lambda state: {})
    assert (folder / "ledger.db-lock").exists()
    assert not (tmp_path / "also.db-lock").exists()


def test_a_link_in_the_place_of_the_lock_file_is_not_followed(path, ledger, tmp_path):
    os.unlink(path + "-lock")
    os.symlink(tmp_path / "elsewhere", path + "-lock")
    with pytest.raises(LedgerUnavailableError):
        ledger.charge("k", lambda state: {})
    assert not (tmp_path / "elsewhere").exists()


def test_the_lock_file_is_for_those_who_may_use_the_ledger(path, ledger):
    assert os.stat(path + "-lock").st_mode == os.stat(path).st_mode
    os.chmod(path, 0o664)
    os.unlink(path + "-lock")
    ledger.read(count)
    assert os.stat(path + "-lock").st_mode & 0o777 == 0o664


def test_a_child_of_a_charge_neither_keeps_nor_frees_its_parents_lock(path, ledger):
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
        ledger.charge("k", decide)
        other.acquire(exclusive=True, patience=1)
        other.release()
    finally:
        os.kill(children[0], signal.SIGKILL)
        os.waitpid(children[0], 0)


def test_looking_at_a_ledger_makes_no_lock_file(path):
    opened(path).charge("k", lambda state: {})
    os.rename(path, path + ".copy")
    assert open_existing_ledger(path + ".copy", Tally).read(count) == 1
    assert not os.path.exists(path + ".copy-lock")
