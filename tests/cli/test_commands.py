"""The commands print what they promise and say so when they cannot."""

import re

import pytest
from sklearn.dummy import DummyClassifier

from sklearn_ada import Holdout
from sklearn_ada.cli import main


def test_demo_prints_both_tables_and_says_whether_chance_is_covered(tmp_path, capsys):
    assert main(["demo", "--candidates", "25", "--picture", str(tmp_path / "demo.png")]) == 0
    out, err = capsys.readouterr()
    rows = [line for line in out.splitlines() if re.search(r"\[\d\.\d{3}, \d\.\d{3}\]\s+\d+\.\d\d$", line)]
    assert len(rows) == 4
    assert "contains 0.500" in out or "MISSES 0.500" in out
    assert "naive best score after so many candidates" in out
    assert "search 3 of 3" in err
    nats = [float(row.split()[-1]) for row in rows[:3]]
    assert nats == sorted(nats)  # one ledger: later searches go on paying


def test_demo_says_how_to_get_a_picture_without_matplotlib(monkeypatch, capsys):
    import builtins

    real = builtins.__import__

    def without_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    from sklearn_ada.cli.demo import _draw

    _draw([], [], "unused.png")
    assert "sklearn-ada[plot]" in capsys.readouterr().out


@pytest.fixture
def ledger(tmp_path):
    X, y = [[float(i)] for i in range(40)], [0, 1] * 20
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db", tolerance=0.4)
    model = DummyClassifier().fit(X, y)
    holdout.certify(model, scoring="accuracy", guess=0.5)
    holdout.check(model, scoring="accuracy", guess=0.5)  # too wide for this tolerance: refused
    return tmp_path / "ledger.db"


def test_ledger_show_lists_every_record(ledger, capsys):
    assert main(["ledger", "show", str(ledger)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[:-1]] == ["genesis", "certify", "refusal"]
    assert "nats in all" in lines[-1]


def test_ledger_verify_passes_an_intact_file_and_not_a_damaged_one(ledger, tmp_path, capsys):
    assert main(["ledger", "verify", str(ledger)]) == 0
    assert "3 records agree" in capsys.readouterr().out
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(ledger.read_bytes().replace(b'"kind":"answer"', b'"kind":"answeR"'))
    assert main(["ledger", "verify", str(damaged)]) == 1
    assert "damaged" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["show", "verify"])
def test_a_missing_file_is_an_error_and_not_a_new_ledger(action, tmp_path, capsys):
    assert main(["ledger", action, str(tmp_path / "none.db")]) == 1
    assert "none.db" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
