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
from tests.support.ledgers import bodies

QUICK = ("accuracy", "choices", "both_routes", "topped_up", "declared", "thresholdout", "searches")
ROWS, LABELS = np.arange(800.0).reshape(400, 2), (np.arange(400) % 4 == 0).astype(int)


@pytest.fixture
def often(monkeypatch):
    """Checkpoints after every 17 records."""
    monkeypatch.setattr("sklearn_ada.holdout.session.EVERY", 17)
    monkeypatch.setattr("sklearn_ada.holdout.records.EVERY", 17)


@pytest.fixture
def asked(often, tmp_path):
    holdout = Holdout(ROWS, LABELS, ledger=tmp_path / "ledger.db", who="ada")
    model = Constant(0).fit(ROWS, LABELS)
    for number in range(40):
        holdout.check(model, scoring="accuracy", guess=0.7 + 0.002 * number)
    return holdout


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
    for holdout in opened:
        whole = holdout.ledger.read(lambda state: state.to_dict())
        restored, head = from_last_checkpoint(holdout.ledger)
        assert restored.to_dict() == whole
        assert str(head) == holdout.ledger.head()
        for purpose in ("check", "certify"):
            assert restored.allowance(purpose) == holdout.ledger.read(
                lambda s, purpose=purpose: s.allowance(purpose)
            )
        assert holdout.ledger.verify() == head.count


def test_a_checkpoint_comes_after_so_many_records_once(asked):
    kinds = [record.body.get("kind") for record in asked.ledger.records()]
    assert [seq for seq, kind in enumerate(kinds) if kind == "checkpoint"] == [18, 35]
    assert asked.report().asked["check"] == 40


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
    records = bodies(asked)
    number = [body.get("kind") for body in records].index("checkpoint")
    edited = json.loads(json.dumps(records[number]))
    inner = edited["state"]
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    holdouts.state_after(records[: number + 1])  # as it is
    with pytest.raises(LedgerDamagedError, match="state"):
        holdouts.state_after([*records[:number], edited])


def test_a_state_that_is_too_large_is_left_out_and_nothing_else_changes(often, tmp_path, monkeypatch):
    monkeypatch.setattr("sklearn_ada.holdout.records._LARGEST", 100)
    holdout = Holdout(ROWS, LABELS, ledger=tmp_path / "ledger.db")
    for number in range(20):
        holdout.check(Constant(0).fit(ROWS, LABELS), scoring="accuracy", guess=0.7 + 0.002 * number)
    assert from_last_checkpoint(holdout.ledger) is None
    assert main(["ledger", "report", holdout.ledger.path]) == 0
    assert holdout.ledger.verify() == 22


def test_a_short_ledger_needs_none(tmp_path):
    assert from_last_checkpoint(Holdout(ROWS, LABELS, ledger=tmp_path / "ledger.db").ledger) is None


def test_a_repeated_question_writes_no_second_checkpoint_but_for_its_confirmation(asked):
    count = asked.ledger.verify()
    model = Constant(0).fit(ROWS, LABELS)
    for number in range(40):
        assert asked.check(model, scoring="accuracy", guess=0.7 + 0.002 * number).repeated
    kinds = [record.body["kind"] for record in asked.ledger.records() if record.seq >= count]
    assert kinds.count("confirmation") == 40
    assert (
        kinds.count("checkpoint") == len(kinds) - 40 == sum(seq % 20 == 0 for seq in range(count, count + 42))
    )


def test_another_process_reads_it(asked):
    state, _ = from_last_checkpoint(open_existing_ledger(asked.ledger.path, State, replay=False))
    assert state.asked == {"check": 40, "certify": 0}
    assert asked.ledger.read(lambda current: current.account.nats) == state.account.nats


def test_what_is_restored_goes_on_its_own(asked):
    """The record that it was restored from stays as it is."""
    ledger = asked.ledger
    records = list(ledger.records())
    body = next(r.body for r in records if r.body.get("kind") == "checkpoint")
    before = json.dumps(body)
    state = State(ledger.genesis)
    state.restore(body["state"])
    state.advance(records[19].body)
    assert json.dumps(body) == before


def test_where_there_is_no_room_for_a_checkpoint_the_answer_is_given(often, tmp_path, monkeypatch):
    def full(state):
        raise LedgerUnavailableError("The disk is full.")

    monkeypatch.setattr("sklearn_ada.holdout.records.CheckpointRecord.of", full)
    holdout = Holdout(ROWS, LABELS, ledger=tmp_path / "ledger.db")
    for number in range(40):
        answer = holdout.check(Constant(0).fit(ROWS, LABELS), scoring="accuracy", guess=0.7 + 0.002 * number)
        assert (answer.answered, answer.repeated) == (True, False)
    assert holdout.ledger.verify() == 41


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
    monkeypatch.setattr(
        State, "restore", lambda self, kept: restore(self, {k: v for k, v in kept.items() if k != lost})
    )
    with pytest.raises(LedgerDamagedError, match="lacks a part"):
        from_last_checkpoint(asked.ledger)


def test_a_report_shows_names_in_the_order_that_they_came_in(often, tmp_path, capsys):
    path, model = tmp_path / "ledger.db", Constant(0).fit(ROWS, LABELS)
    for who in ("zoe", "ada", "bob"):
        for number in range(10):
            holdout = Holdout(ROWS, LABELS, ledger=path, who=who)
            holdout.check(
                model, scoring="accuracy", guess=0.7 + 0.001 * number + 0.01 * len(who) * ord(who[0]) / 200
            )
    assert main(["ledger", "report", str(path)]) == 0
    text = capsys.readouterr().out
    assert text.index("zoe") < text.index("ada") < text.index("bob")
    assert text.index("check ") < text.index("certify ")
