"""Ledgers and certificates of every format are read as they were, and go on as they were begun."""

import contextlib
import json
import pathlib
import sqlite3
import warnings

import pytest

from sklearn_ada.accounting.events import FORMATS, KEEPS
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger
from tests.golden.formats.make_formats import TERMS, conversation, model, opened
from tests.support.ledger.damages import forget
from tests.support.ledgers import begun_as, bodies, rewritten

HERE = pathlib.Path(__file__).parent
WORDS = ("verdict", "theorem", "target", "vacuous")
KEPT = sorted([*HERE.glob("format_*.sql"), *HERE.parent.glob("exported/*.sql")])


@pytest.fixture
def restored(tmp_path):
    """A function that makes a ledger file of a dump."""

    def make(dump):
        with contextlib.closing(sqlite3.connect(tmp_path / "old.db")) as db:
            db.executescript(dump.read_text())
        return tmp_path / "old.db"

    return make


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_a_certificate_that_was_kept_agrees_with_its_ledger(kept, restored, capsys):
    path = restored(kept)
    assert main(["ledger", "verify", str(path), "--certificate", str(kept.with_suffix(".json"))]) == 0
    printed = capsys.readouterr().out
    assert "the certificate agrees with the ledger" in printed
    assert "not checked" not in printed
    for action in ("show", "report", "head"):
        assert main(["ledger", action, str(path)]) == 0


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_a_ledger_that_was_kept_has_the_format_of_its_name(kept, restored):
    ledger = open_existing_ledger(str(restored(kept)), State)
    number = 1 if kept.stem.startswith("exported") else int(kept.stem.split("_")[1])
    assert ledger.genesis["schema"] == ledger.read(lambda state: state.policy.format) == number


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_a_later_format_is_refused_by_name(kept, restored):
    path = restored(kept)
    later = max(FORMATS) + 1
    rewritten(path, 0, lambda body: body.update(schema=later))
    with pytest.raises(LedgerMismatchError, match=f"records of format {later}, and this release reads"):
        open_existing_ledger(str(path), State)


@pytest.mark.parametrize(
    ("number", "name"), [(n, name) for n in FORMATS for name in TERMS if n >= KEEPS or name != "kept"]
)
def test_every_format_is_asked_and_asked_again(number, name, tmp_path, capsys):
    """What is on record is answered from the record, in every format, and its certificate agrees."""
    path = tmp_path / "a.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with begun_as(number):
            holdout = conversation(path, name)
        written = len(bodies(holdout))
        forget()
        again = opened(path, name)
        answers = [again.certify(model(1), scoring="accuracy", guess=0.85) for _ in range(2)]
    assert bodies(again)[0]["schema"] == number
    assert all(answer.repeated for answer in answers)
    assert not [body for body in bodies(again)[written:] if body["kind"] in ("answer", "sealed")]
    certificate = again.export(tmp_path / "a.json")
    assert json.loads(certificate.read_text())["head"] == again.report().head
    assert main(["ledger", "verify", str(path), "--certificate", str(certificate)]) == 0
    assert "agrees with the ledger" in capsys.readouterr().out


@pytest.mark.parametrize("kept", sorted(HERE.glob("format_[456]_*.sql")), ids=lambda path: path.stem)
def test_new_questions_are_answered_as_the_release_did_that_began_the_format(kept, restored, tmp_path):
    _, number, name = kept.stem.split("_", 2)
    then = open_existing_ledger(str(restored(kept)), State)
    with warnings.catch_warnings(), begun_as(int(number)):
        warnings.simplefilter("ignore")
        now = bodies(conversation(tmp_path / "a.db", name))
    for before, body in zip((record.body for record in then.records()), now, strict=True):
        assert body.get("kind") == before.get("kind")
        assert body.get("price", 0.0) == pytest.approx(before.get("price", 0.0), rel=1e-3)
        if "outcome" in before:
            found, recorded = body["outcome"], before["outcome"]
            assert [found[name] for name in WORDS] == [recorded[name] for name in WORDS]
            numbers = [(each["value"], *each["interval"]) for each in (found, recorded)]
            assert numbers[0] == pytest.approx(numbers[1], abs=1e-4)  # some are written shorter since


@pytest.mark.parametrize("number", FORMATS[:-1])
def test_a_ledger_of_an_older_format_names_no_kept_model(number, tmp_path):
    """The release that began it could not read the record."""
    with begun_as(number):
        holdout = opened(tmp_path / "a.db", "exact")
    with pytest.raises(ValueError, match=f"must be one of format {KEEPS}.* Got {number} instead"):
        holdout.keep(model(1))
    assert len(bodies(holdout)) == 1
