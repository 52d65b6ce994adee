"""``ledger close`` and ``ledger unseal``, which need neither rows nor models."""

import os
import pty
import shutil
import sys

import pytest

from sklearn_ada import Guess
from sklearn_ada.cli import main
from tests.support.holdout.asking.sealed.counts import RightOn, ask, holdout_of
from tests.support.ledger.ledger_backends import PostgreSQLBackend


@pytest.fixture
def holdout(tmp_path):
    holdout = holdout_of(500, tmp_path / "ledger.db")
    for count in (425, 430):
        ask(holdout, count, 0.8512, name=str(count))
    return holdout


def named(holdout):
    """Say on the command line which ledger is meant."""
    return ["--head", holdout.ledger.head()]


def test_closed_and_unsealed_from_the_command_line(holdout, capsys):
    path = holdout.ledger.path
    assert main(["ledger", "unseal", path, *named(holdout)]) == 1
    assert "after close()" in capsys.readouterr().err
    assert main(["ledger", "close", path, "--who", "ada", *named(holdout)]) == 0
    assert ask(holdout, 410, 0.8512).verdict == "refused"
    assert main(["ledger", "unseal", path, *named(holdout)]) == 0
    unsealed = capsys.readouterr().out
    assert all(text in unsealed for text in ("holdout: .850 in [", "holdout: .860 in [", "2 values unsealed"))
    assert main(["ledger", "verify", path]) == 0
    assert main(["ledger", "show", path]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("sealed", "unsealed", "close", "ada"))
    assert [answer.value for answer in holdout.unseal([1, 2])] == [0.85, 0.86]


def test_single_records_are_unsealed_by_number(holdout, capsys):
    with pytest.warns(UserWarning, match="Unsealing 1 answer"):
        assert main(["ledger", "unseal", holdout.ledger.path, "2", *named(holdout)]) == 0
    assert "holdout: .860 in [" in capsys.readouterr().out
    assert main(["ledger", "unseal", holdout.ledger.path, "99", *named(holdout)]) == 1
    assert "no answer of that number" in capsys.readouterr().err


def test_there_must_be_a_ledger(tmp_path, capsys):
    for action in ("close", "unseal"):
        assert main(["ledger", action, str(tmp_path / "nowhere.db")]) == 1
        assert "no ledger file" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_what_is_sealed_is_not_shown(holdout, capsys):
    holdout.certify(RightOn(417), scoring="accuracy", guess=Guess(0.8512, 1500))
    for command in ("show", "report"):
        for form in ([], ["--json"]):
            assert main(["ledger", command, holdout.ledger.path, *form]) == 0
    shown = capsys.readouterr().out
    assert "0.851" in shown  # the guess, and in JSON the centre of its cell
    assert "0.834" not in shown  # the share of rows that it is right on


COMMANDS = [["close"], ["unseal"], ["unseal", "1"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_its_head_nothing_is_written(holdout, capsys, command):
    path, size = holdout.ledger.path, holdout.ledger.verify()
    earlier = holdout.ledger.head()
    ask(holdout, 440, 0.8512, name="later")
    other = holdout_of(400, f"{path}.other").ledger.head()
    action, *numbers = command
    refusals = {
        "'ledger head'": [],
        "--yes shows": ["--yes"],  # nobody looks at this terminal
        "has gone on since": ["--head", earlier],
        "another ledger": ["--head", other],
    }
    for message, flags in refusals.items():
        assert main(["ledger", action, path, *numbers, *flags]) == 1
        assert message in capsys.readouterr().err
    assert holdout.ledger.verify() == size + 1


def test_an_older_copy_does_not_continue_the_head_of_the_one_in_use(holdout, tmp_path, capsys):
    copy = tmp_path / "copy.db"
    shutil.copy(holdout.ledger.path, copy)
    ask(holdout, 440, 0.8512, name="later")
    content = copy.read_bytes()
    assert main(["ledger", "close", str(copy), *named(holdout)]) == 1
    assert "older copy" in capsys.readouterr().err
    assert copy.read_bytes() == content


def test_a_terminal_shows_the_head_and_goes_on(holdout, monkeypatch):
    terminal, theirs = pty.openpty()
    head = holdout.ledger.head()
    with open(theirs, "w") as screen:
        monkeypatch.setattr(sys, "stderr", screen)
        assert main(["ledger", "close", holdout.ledger.path]) == 1
        assert main(["ledger", "close", holdout.ledger.path, "--yes"]) == 0
        screen.flush()
        assert f"head: {head}" in os.read(terminal, 10_000).decode()
    os.close(terminal)
    assert ask(holdout, 410, 0.8512).verdict == "refused"


@pytest.mark.parametrize("where", ["in its folder", "in its tables"])
def test_copies_that_can_be_seen_are_named(request, holdout, tmp_path, capsys, where):
    if where == "in its folder":
        for name in ("backup.db", "ledger (1).db"):
            shutil.copy(holdout.ledger.path, tmp_path / name)
        (tmp_path / "notes.txt").write_text("no ledger")
        holdout_of(300, tmp_path / "another.db")
        address, names = holdout.ledger.path, ["backup.db", "ledger (1).db"]
    else:
        backend = PostgreSQLBackend(request.getfixturevalue("postgresql"))
        address, names = backend.address(), ["copied"]
        holdout = holdout_of(500, address)
        for table, rest in (("books", "secret, count, hash"), ("records", "seq, key, subject, body, hash")):
            name = f"sklearn_ada_{table}"
            backend.run(f"INSERT INTO {name} SELECT 'copied', {rest} FROM {name} WHERE book = :book", address)
    assert main(["ledger", "close", address, *named(holdout)]) == 0
    printed = capsys.readouterr().err
    assert [line.split("'")[1] for line in printed.splitlines() if line.startswith("note: '")] == names
