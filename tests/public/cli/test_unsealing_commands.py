"""``ledger close`` and ``ledger unseal``, which need neither rows nor models."""

import pytest

from sklearn_ada import Guess
from sklearn_ada.cli import main
from tests.support.holdout.asking.sealed.counts import RightOn, ask, holdout_of


@pytest.fixture
def holdout(tmp_path):
    holdout = holdout_of(500, tmp_path / "ledger.db")
    for count in (425, 430):
        ask(holdout, count, 0.8512, name=str(count))
    return holdout


def test_closed_and_unsealed_from_the_command_line(holdout, capsys):
    path = holdout.ledger.path
    assert main(["ledger", "unseal", path]) == 1
    assert "after close()" in capsys.readouterr().err
    assert main(["ledger", "close", path, "--who", "ada"]) == 0
    assert ask(holdout, 410, 0.8512).verdict == "refused"
    assert main(["ledger", "unseal", path]) == 0
    unsealed = capsys.readouterr().out
    assert all(text in unsealed for text in ("0.85 in [", "0.86 in [", "2 values unsealed"))
    assert main(["ledger", "verify", path]) == 0
    assert main(["ledger", "show", path]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("sealed", "unsealed", "close", "ada"))
    assert [answer.value for answer in holdout.unseal([1, 2])] == [0.85, 0.86]


def test_single_records_are_unsealed_by_number(holdout, capsys):
    with pytest.warns(UserWarning, match="Unsealing 1 answer"):
        assert main(["ledger", "unseal", holdout.ledger.path, "2"]) == 0
    assert "0.86 in [" in capsys.readouterr().out
    assert main(["ledger", "unseal", holdout.ledger.path, "99"]) == 1
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
    assert "0.851" in shown  # the centre of its cell
    assert "0.834" not in shown  # the share of rows that it is right on
