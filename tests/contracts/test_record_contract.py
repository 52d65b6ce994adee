"""What every kind of record promises: one suite over all that are registered, and over old ledgers."""

import dataclasses
import json
import lzma
import pathlib
from typing import Any

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout.records import BeginRecord, CheckpointRecord, Entry, GivenUpRecord, read_record
from sklearn_ada.holdout.state import KINDS, LedgerRecord, State
from sklearn_ada.ledger import Record, canonical_json
from sklearn_ada.questions.question import Outcome
from tests.support.ledger.fitted_models import Constant

X, Y = np.arange(800.0).reshape(400, 2), (np.arange(400) % 4 == 0).astype(int)
TESTS = pathlib.Path(__file__).parents[1]
OLD = json.loads(next(TESTS.rglob("golden_schema_1.json")).read_text())["records"][1:]
SESSIONS = lzma.decompress(next(TESTS.rglob("same_records.jsonl.xz")).read_bytes()).decode()
BESIDE = {"kind"}  # the key that no field has
STAMP = {"who", "label", "time"}


def collected():
    """Return all registered kinds."""
    return [pytest.param(kind, id=name) for name, kind in KINDS.items()]


def each_kind(test):
    return pytest.mark.parametrize("kind", collected())(test)


def bodies_of(holdout):
    return [record.body for record in holdout.ledger.records()][1:]


def in_cells(path):
    """Ask in cells: declared models, a round, what is unsealed, confirmed, chosen, published and refused."""
    holdout = Holdout(X, Y, answers="coarse", ledger=path, who="ada", label="a test")
    models = [Constant(answer).fit(X, Y) for answer in (0, 1)]
    holdout.declare(models, scoring="accuracy")
    holdout.check_overlap(X + 0.5)
    holdout.check_many(models, scoring="accuracy", guesses=[0.75, 0.25])
    for _ in range(2):
        asked = holdout.certify(models[0], scoring="accuracy", guess=0.7)
    holdout.select(models, scoring="accuracy")
    holdout.keep(models[0], scoring="accuracy")
    for made in (BeginRecord(name="7", who="ada"), GivenUpRecord(names=["7"], who="ada")):
        holdout.ledger.charge(None, lambda state, made=made: made.to_dict(5))
    holdout.close()
    holdout.unseal(asked)
    holdout.check(models[0], scoring="balanced_accuracy", guess=0.9)
    return [*bodies_of(holdout), holdout.ledger.read(CheckpointRecord.of).to_dict(5)]


def of_changing_rows(folder):
    """Add rows without ids, and give rows with ids other labels, which is recorded or refused."""
    models = [Constant(answer).fit(X, Y) for answer in (0, 1)]
    holdout = Holdout(X, Y, answers="exact", ledger=folder / "added.db")
    holdout.certify(models[0], scoring="accuracy", guess=0.7)
    added = bodies_of(holdout.top_up(X + 900.0, Y))
    weighted = Holdout(X, Y, sample_weight=1.0 + Y, weight_bound=4.0, ledger=folder / "weighted.db")
    ids = {"ids": np.arange(400), "ledger": folder / "ids.db", "class_mix": "priced"}
    with_ids = Holdout(X, Y, **ids)
    with_ids.check(models[0], scoring="accuracy", guess=0.75)
    with pytest.raises(LedgerMismatchError, match="Labels differ"):
        Holdout(X, 1 - Y, **ids)
    return added + bodies_of(weighted) + bodies_of(with_ids)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The bodies that were written of each kind."""
    folder, found = tmp_path_factory.mktemp("written"), {}
    for body in in_cells(folder / "cells.db") + of_changing_rows(folder):
        found.setdefault(body["kind"], []).append(body)
    return found


def key_of(field):
    return field.metadata.get("key") or field.name


def defaults_of(kind):
    """Return the fields that are left out where they have their defaults."""
    of_disk = [each for each in dataclasses.fields(kind) if each.default is not dataclasses.MISSING]
    return [each for each in of_disk if not each.metadata.get("always") and kind is not CheckpointRecord]


@each_kind
def test_a_record_that_is_read_and_written_is_the_same(kind, written):
    assert written.get(kind.kind), f"no session of this suite writes a record of kind {kind.kind!r}"
    for body in written[kind.kind]:
        record = read_record(body)
        assert type(record) is kind
        assert canonical_json(kind.from_dict(record.to_dict(5)).to_dict(5)) == canonical_json(body)
        assert set(body) <= {key_of(each) for each in dataclasses.fields(kind)} | BESIDE


@each_kind
def test_a_field_with_its_default_is_left_out_and_comes_back(kind, written):
    record = read_record(written[kind.kind][0])
    for field in defaults_of(kind):
        assert key_of(field) not in dataclasses.replace(record, **{field.name: field.default}).to_dict(5)
        without = {key: value for key, value in record.to_dict(5).items() if key != key_of(field)}
        assert getattr(kind.from_dict(without), field.name) == field.default


@each_kind
def test_a_record_that_lacks_a_part_is_not_read(kind, written):
    for field in dataclasses.fields(kind):
        if field.default is dataclasses.MISSING:
            body = {key: value for key, value in written[kind.kind][0].items() if key != key_of(field)}
            with pytest.raises(TypeError, match=field.name):
                kind.from_dict(body)


@each_kind
def test_the_table_row_of_a_record_needs_no_more_than_the_record(kind, written):
    for body in written[kind.kind]:
        row = Entry.of(Record(7, None, body))
        assert (row.index, row.kind) == (7, kind.kind)
        json.dumps(row.to_dict(), allow_nan=False)
        assert {"time", "who"} <= set(row.to_dict())


def test_old_records_are_read_and_written_to_what_they_were_but_for_defaults():
    assert len(OLD) == 13
    for record in OLD:
        body = {key: each for key, each in record["body"].items() if key not in STAMP or each is not None}
        if "outcome" in body:
            usual = {"reason": Outcome.reason, "route": Outcome.route}
            outcome = body["outcome"].items()
            body["outcome"] = {key: each for key, each in outcome if key not in usual or each != usual[key]}
        assert json.loads(canonical_json(read_record(record["body"]).to_dict(1))) == body


def test_every_key_that_was_ever_written_is_one_of_its_kind():
    recorded = [json.loads(line).get("body", {}) for line in SESSIONS.splitlines()]
    kinds = {body["kind"] for body in recorded if "kind" in body}
    assert len(kinds) > 10
    for body in recorded:
        if "kind" in body:
            keys = {key_of(each) for each in dataclasses.fields(KINDS[body["kind"]])}
            assert set(body) <= keys | BESIDE, body["kind"]


def test_a_kind_joins_by_being_registered(written, monkeypatch):
    monkeypatch.setitem(KINDS, "toy", None)  # so that it is gone afterwards

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Toy(LedgerRecord):
        kind = "toy"
        number: int
        note: str | None = None
        values: Any = ()

        def apply(self, state):
            state.count_asker(self.who)

    assert [param.values[0] for param in collected() if param.id == "toy"] == [Toy]
    with pytest.raises(AssertionError, match="'toy'"):
        test_a_record_that_is_read_and_written_is_the_same(Toy, written)
    holdout = Holdout(X, Y, ledger=":memory:")
    holdout.ledger.charge(None, lambda state: Toy(number=1, who="ada").to_dict(5))
    assert holdout.ledger.read(lambda state: state.askers) == {"ada": 1}
    assert type(holdout.ledger.read(lambda state: state)) is State
    mine = {"toy": bodies_of(holdout)}
    assert mine["toy"] == [{"kind": "toy", "number": 1, "who": "ada"}]
    for test in (
        test_a_record_that_is_read_and_written_is_the_same,
        test_a_field_with_its_default_is_left_out_and_comes_back,
        test_a_record_that_lacks_a_part_is_not_read,
        test_the_table_row_of_a_record_needs_no_more_than_the_record,
    ):  # fmt: skip
        test(Toy, mine)
