"""`ReusableHoldoutCV` signs its questions, and tells what it does if it is told to."""

import sys

import pytest
from sklearn.datasets import make_classification

from sklearn_ada import Holdout, ReusableHoldoutCV
from tests.support.searches import grid

X, Y = make_classification(600, 5, random_state=0)


def searched(path, ask="winner", **how):
    inner = grid(values=[1, 2, 3], cv=None if ask == "candidates" else 3)
    return ReusableHoldoutCV(inner, ask=ask, ledger=path, holdout=0.4, answers="exact", **how).fit(X, Y)


@pytest.mark.parametrize("ask", ["winner", "candidates", 2])
def test_every_record_of_a_search_is_signed(ask, tmp_path):
    search = searched(tmp_path / "signed.db", ask, who="ada")
    kinds = ("answer", "round", "overlap")
    bodies = [r.body for r in search.holdout_.ledger.records() if r.body.get("kind") in kinds]
    assert {body["who"] for body in bodies if "who" in body} == {"ada"}
    assert all(entry.who == "ada" for entry in search.holdout_.report().entries)
    assert set(search.holdout_.report().asked_by) == {"ada"}


def test_two_names_share_one_ledger_and_its_answers(tmp_path):
    first = searched(tmp_path / "shared.db", who="ada")
    second = searched(tmp_path / "shared.db", who="bob")
    assert second.best_answer_.repeated
    assert second.best_score_interval_ == first.best_score_interval_
    assert first.get_params()["who"] == "ada"


def test_a_given_holdout_has_a_name_of_its_own(tmp_path):
    given = Holdout(X[:200], Y[:200], ledger=tmp_path / "given.db", who="ada")
    with pytest.raises(ValueError, match=r"a name \(who\) of its own"):
        ReusableHoldoutCV(grid(cv=3), holdout=given, who="bob").fit(X[200:], Y[200:])


def test_a_bar_is_shown_where_somebody_sees_it(tmp_path, monkeypatch, capsys):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    searched(tmp_path / "told.db", 2, verbose=1)
    out, err = capsys.readouterr()
    assert "certifying" not in out
    assert "[sklearn_ada] certifying: 100%" in err
    assert "2/2" in err


def test_without_tqdm_there_are_lines(tmp_path, monkeypatch, hidden, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    hidden("tqdm")
    searched(tmp_path / "told.db", 2, verbose=1)
    assert capsys.readouterr().out.count("certifying") == 2


def test_it_is_silent_unless_told_to_tell(tmp_path, capfd):
    searched(tmp_path / "silent.db", 2)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("ask", "last"), [(2, "certifying 2 of 2"), ("candidates", "and certifying it")])
def test_each_stage_is_told_in_a_line(ask, last, tmp_path, capsys):
    searched(tmp_path / "told.db", ask, verbose=1)
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "[sklearn_ada] 240 rows are held out, 360 are for the search"
    assert lines[-1].endswith(last)
    assert err == ""
