"""A checkpoint holds what the records before it amount to, and a summary of a long ledger starts from it."""

import json

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerDamagedError, LedgerUnavailableError
from sklearn_ada.holdout.records import _same, from_last_checkpoint
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger
from tests.golden.transcripts.conversations import CONVERSATIONS, HELD, X
from tests.support import holdouts
from tests.support.ledger.fitted_models import Constant
from tests.support.ledgers import bodies, kinds

QUICK = ("accuracy", "choices", "both_routes", "topped_up", "declared", "thresholdout", "searches")
ROWS, LABELS = np.arange(800.0).reshape(400, 2), (np.arange(400) % 4 == 0).astype(int)


def checks(holdout, count=40):
    """Return the answers to so many checks of one model, each with cells of its own."""
    model, asked = Constant(0).fit(ROWS, LABELS), {"scoring": "accuracy"}
    widths = [0.05 + 0.0001 * n for n in range(count)]
    return [holdout.check(model, guess=0.7 + 0.002 * n, settings=widths[n], **asked) for n in range(count)]


@pytest.fixture
def often(monkeypatch):
    """Checkpoints after every 17 records."""
    monkeypatch.setattr("sklearn_ada.holdout.session.EVERY", 17)
    monkeypatch.setattr("sklearn_ada.holdout.records.EVERY", 17)


@pytest.fixture
def fresh(often, tmp_path):
    return Holdout(ROWS, LABELS, ledger=tmp_path / "ledger.db", who="ada")


@pytest.fixture
def asked(fresh):
    checks(fresh)
    return fresh


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.thorough) for n in CONVERSATIONS]
)
def test_a_state_that_is_restored_is_the_state(name, often, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.golden.transcripts.conversations.QUESTIONS", 60)
    opened = []

    def open_holdout(truth, **options):
        path = tmp_path / f"{len(opened)}.db"
        opened.append(Holdout(X[HELD], truth[HELD], random_state=5, ledger=path, **options))
        return opened[-1]

    CONVERSATIONS[name](open_holdout)
    assert opened
    for ledger in (holdout.ledger for holdout in opened):
        restored, head = from_last_checkpoint(ledger)
        assert restored.to_dict() == ledger.read(lambda state: state.to_dict())
        assert (str(head), head.count) == (ledger.head(), ledger.verify())
        for purpose in ("check", "certify"):
            whole = ledger.read(lambda state, purpose=purpose: state.allowance(purpose))
            assert restored.allowance(purpose) == whole


def test_a_checkpoint_comes_after_so_many_records_once(asked):
    assert [seq for seq, kind in enumerate(kinds(asked)) if kind == "checkpoint"] == [18, 35]
    assert asked.report().asked["check"] == 40


def test_the_model_that_is_kept_is_kept_beyond_checkpoints(fresh):
    for answer in (0, 1):
        fresh.keep(Constant(answer).fit(ROWS, LABELS))
    checks(fresh)
    restored, _ = from_last_checkpoint(fresh.ledger)
    assert restored.kept == fresh.ledger.read(lambda state: state.kept)
    assert restored.kept[0] == 2


def test_the_report_of_a_long_ledger_is_that_of_all_its_records(asked, capsys, monkeypatch):
    whole = asked.report().to_dict()

    def no_reading(self):
        raise AssertionError("the whole ledger was read")

    monkeypatch.setattr(type(asked.ledger), "read", no_reading)
    monkeypatch.setattr(type(asked.ledger), "records", no_reading)
    assert main(["ledger", "report", asked.ledger.path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(whole))


@pytest.mark.parametrize(
    ("path", "value"), [(("asked", 0, 1), 3), (("account", "nats"), 0.001), (("refused",), 1)]
)
def test_a_state_that_was_edited_is_found(asked, path, value):
    records = bodies(asked)[: kinds(asked).index("checkpoint") + 1]
    edited = json.loads(json.dumps(records[-1]))
    inner = edited["state"]
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    holdouts.state_after(records)  # as it is
    with pytest.raises(LedgerDamagedError, match="state"):
        holdouts.state_after([*records[:-1], edited])


def test_a_state_that_is_too_large_is_left_out_and_nothing_else_changes(fresh, monkeypatch):
    monkeypatch.setattr("sklearn_ada.holdout.records._LARGEST", 100)
    assert from_last_checkpoint(fresh.ledger) is None  # so short a ledger needs none
    checks(fresh, 20)
    assert from_last_checkpoint(fresh.ledger) is None
    assert main(["ledger", "report", fresh.ledger.path]) == 0
    assert fresh.ledger.verify() == 22


def test_a_repeated_question_writes_no_second_checkpoint_but_for_its_confirmation(asked):
    count = asked.ledger.verify()
    assert all(answer.repeated for answer in checks(asked))
    new = kinds(asked)[count:]
    assert new.count("confirmation") == 40
    assert new.count("checkpoint") == len(new) - 40 == sum(seq % 20 == 0 for seq in range(count, count + 42))


def test_another_process_reads_it(asked):
    state, _ = from_last_checkpoint(open_existing_ledger(asked.ledger.path, State, replay=False))
    assert state.asked == {"check": 40, "certify": 0}
    assert asked.ledger.read(lambda current: current.account.nats) == state.account.nats


def test_the_record_that_a_state_was_restored_from_stays_as_it_is(asked):
    records = bodies(asked)
    body = records[kinds(asked).index("checkpoint")]
    before = json.dumps(body)
    state = State(asked.ledger.genesis)
    state.restore(body["state"])
    state.advance(records[19])
    assert json.dumps(body) == before


def test_where_there_is_no_room_for_a_checkpoint_the_answer_is_given(fresh, monkeypatch):
    def full(state):
        raise LedgerUnavailableError("The disk is full.")

    monkeypatch.setattr("sklearn_ada.holdout.records.CheckpointRecord.of", full)
    assert {(answer.answered, answer.repeated) for answer in checks(fresh)} == {(True, False)}
    assert fresh.ledger.verify() == 41


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1/3", "33333333333333333/100000000000000000", True),
        ("1/3", "34/100", False),
        ("a/3", "b/3", False),
        ({"a": 1.0, "b": ["x", 2]}, {"a": 1.0 + 1e-12, "b": ["x", 2]}, True),
        ({"a": 1.0}, {"a": 1.0, "b": 2}, False),
        ([1, 2], [1, 2, 3], False),
        (1, 2, False),
        (None, None, True),
    ],
)
def test_states_are_compared_but_for_last_digits(one, other, same):
    """Logarithms differ in their last digits between processors, and so do exact sums of them."""
    assert _same(one, other) is same


@pytest.mark.parametrize("lost", ["asked", "account", "rounds", "family"])
def test_a_checkpoint_that_lacks_a_part_is_damage(asked, lost, monkeypatch):
    restore = State.restore

    def without_a_part(self, kept):
        restore(self, {name: part for name, part in kept.items() if name != lost})

    monkeypatch.setattr(State, "restore", without_a_part)
    with pytest.raises(LedgerDamagedError, match="lacks a part"):
        from_last_checkpoint(asked.ledger)


def test_a_report_shows_names_in_the_order_that_they_came_in(often, tmp_path, capsys):
    path = str(tmp_path / "ledger.db")
    for number, who in enumerate(("zoe", "ada", "bob")):
        holdout = Holdout(ROWS, LABELS, ledger=path, who=who)
        model = Constant(0).fit(ROWS, LABELS)
        for guess in 0.7 + 0.01 * number + 0.001 * np.arange(10):
            holdout.check(model, scoring="accuracy", guess=float(guess), settings=float(guess) / 10.0)
    assert main(["ledger", "report", path]) == 0
    text = capsys.readouterr().out
    assert text.index("zoe") < text.index("ada") < text.index("bob")
    assert text.index("check ") < text.index("certify ")
