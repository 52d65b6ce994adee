"""After any damage, all records read back as they were written, or the ledger is refused.

The one thing that nobody can tell who sees it for the first time is an older copy, consistent in itself. It
is refused by whoever has read more, and found when it is compared with another copy.
"""

import os
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_ada.exceptions import LedgerError
from sklearn_ada.ledger import hash_chain, transactions
from tests.support.ledger.damages import (
    DAMAGES,
    SECRET,
    SIZE,
    content,
    contents,
    expected,
    forget,
    genesis,
    opened,
    outcome,
    read,
    replace,
    run,
)
from tests.support.ledger.ledger_backends import count, pickled

pytestmark = pytest.mark.thorough


def new_file(path, data):
    """Write a ledger file that this process has not used."""
    with open(path, "wb") as file:
        file.write(data)
    forget()


def is_older_copy(seen):
    return seen == expected()[: len(seen)] and len(seen) > 0


def is_newer_copy(seen):
    return seen[: SIZE + 1] == expected() and all(row in expected(SIZE + 3) for row in seen)


def seen_anew(path):
    """Everything that a process sees which has not used the ledger before."""
    forget()
    ledger = opened(path)
    rows = contents(ledger)
    for _, key, body in rows[1:]:
        found = ledger.find(key)
        assert found is not None, "a record is not found under its key"
        assert found.body == body
        assert ledger.find_subject(body["subject"]).body == body
    assert ledger.secret() == SECRET
    return rows


@pytest.mark.parametrize("kind", DAMAGES)
@settings(derandomize=True, max_examples=20, deadline=None)
@given(data=st.data())
def test_after_any_damage_records_are_as_they_were_or_the_ledger_is_refused(kind, data):
    damage = data.draw(DAMAGES[kind])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ledger.db")
        new_file(path, content())
        handle = opened(path)
        damage(path)
        # Who has it open, and read all of it: nothing may be missing.
        rows = outcome(lambda: contents(handle))
        assert rows == "refused" or rows[: SIZE + 1] == expected()
        # A worker that gets the handle goes on from what its process knows.
        rows = outcome(lambda: contents(pickled(handle)))
        assert rows == "refused" or rows[: SIZE + 1] == expected()
        # What is charged nonetheless is not lost, and does not hide the damage.
        body = lambda state: {"subject": "new", "before": count(state)}  # noqa: E731
        charged = outcome(lambda: handle.charge("new", body))
        # Who sees it for the first time.
        rows = outcome(lambda: seen_anew(path))
        if rows == "refused":
            return
        if charged != "refused":
            assert rows.pop() == (charged.seq, "new", {"subject": "new", "before": charged.seq - 1})
        assert is_newer_copy(rows) or (is_older_copy(rows) and charged == "refused")


@settings(derandomize=True, max_examples=30, deadline=None)
@given(sizes=st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)), questions=st.integers(0, 3))
def test_a_copy_used_as_a_refund_is_found_when_both_copies_meet(sizes, questions):
    """In either order: two ledgers of one genesis that go on differently are never both accepted."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ledger.db")
        forks = []
        for which, size in enumerate(sizes):
            new_file(path, content(size))
            fork = opened(path)
            for number in range(questions * which + 1):
                fork.charge(f"fork {which} {number}", lambda state, which=which: {"asked through": which})
            forks.append(contents(fork))
            forks.append(read(path))
        forget()
        second = opened(path)  # the second copy; then the first comes in its place
        assert contents(second) == forks[2]
        replace(path, forks[1])
        for _ in range(2):
            for look in (lambda: contents(second), lambda: opened(path)):
                with pytest.raises(LedgerError):
                    look()
    assert genesis(SECRET) == forks[0][0][2] == forks[2][0][2]


def test_without_the_chain_an_edited_record_is_accepted(tmp_path, monkeypatch):
    """Power: it is the chain that the damages above are found by."""
    path = str(tmp_path / "ledger.db")
    new_file(path, content())
    run(path, """UPDATE records SET body = '{"number":7,"subject":"s2"}' WHERE seq = 2""")
    for module in (hash_chain, transactions):
        monkeypatch.setattr(module, "vouched", lambda row, before: True)
    rows = seen_anew(path)
    assert rows != expected()
    assert rows[2][2]["number"] == 7
    monkeypatch.undo()
    assert outcome(lambda: seen_anew(path)) == "refused"
