"""Whoever passes guesses of labels until they are not refused pays for what the replies tell.

Whether labels are refused depends on ids (or on how many rows there are) alone.
"""

import itertools
import math
import uuid

import numpy as np
import pytest

from sklearn_ada import Holdout, LedgerMismatchError
from tests.holdout.session.test_rows_with_ids import ask, changes_of

N, FEW = 60, 6
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N + 8, 3))
LABELS = RNG.integers(0, 2, N + 8)
IDS = np.arange(N + 8)

pytestmark = pytest.mark.filterwarnings("ignore:Rows of the holdout:UserWarning")


def nats(holdout):
    return holdout.report().nats


def opened(path, rows, labels, **parameters):
    return Holdout(X[rows], labels, ids=IDS[rows], ledger=path, **parameters)


def test_the_way_back_tells_no_label_for_nothing(tmp_path):
    """Once some rows alone were a holdout, theirs is an edition to which right labels lead back."""
    path, few = tmp_path / "ledger.db", np.arange(FEW)
    owner = opened(path, slice(0, N), LABELS[:N])
    opened(path, few, LABELS[few], missing="ignore")
    opened(path, slice(0, N), LABELS[:N])
    before, wrong = nats(owner), 0
    for guess in itertools.product((0, 1), repeat=FEW):
        try:
            opened(path, few, np.array(guess))
        except LedgerMismatchError:
            pytest.fail("a wrong guess is an error, and costs nothing")
        if np.array_equal(guess, LABELS[few]):
            break
        wrong += 1
    assert wrong > 2
    assert nats(owner) - before >= wrong * -math.log(0.01)


def test_ids_that_never_were_a_holdout_of_their_own_are_refused_with_any_labels(tmp_path):
    path, few = tmp_path / "ledger.db", np.arange(FEW)
    owner = opened(path, slice(0, N), LABELS[:N])
    before = len(list(owner.ledger.records()))
    told = set()
    for guess in (LABELS[few], 1 - LABELS[few]):
        with pytest.raises(LedgerMismatchError) as refused:
            opened(path, few, guess)
        told.add(str(refused.value))
    assert len(told) == 1
    assert len(list(owner.ledger.records())) == before


def test_an_outdated_holdout_tells_no_label_of_rows_that_joined_for_nothing(tmp_path):
    mine = opened(tmp_path / "ledger.db", slice(0, N), LABELS[:N])
    owner, right, wrong = mine, [], 0
    for row in range(N, N + 8):
        owner = owner.top_up(X[[row]], LABELS[[row]], ids=IDS[[row]])
        before = nats(mine)
        guess = mine.top_up(X[[row]], np.array([0]), ids=IDS[[row]])
        if nats(mine) == before:
            right.append(row)
        else:
            wrong += 1
            assert nats(mine) - before >= -math.log(0.01)
        owner = opened(tmp_path / "ledger.db", slice(0, row + 1), LABELS[: row + 1])
        mine = owner
        assert guess.n_rows == row + 1
    assert right
    assert wrong


def test_without_ids_as_many_other_labels_cost_what_they_tell_and_another_number_nothing(tmp_path):
    mine = Holdout(X[:N], LABELS[:N], ledger=tmp_path / "ledger.db")
    larger = mine.top_up(X[N:], LABELS[N:])
    paid = -math.log(0.01)
    before = nats(larger)
    with pytest.raises(LedgerMismatchError, match=r"it cost 4\.6 nats"):
        mine.top_up(X[N:], 1 - LABELS[N:])
    assert nats(larger) - before == pytest.approx(paid, abs=1e-4)  # and that no row is one of the holdout's
    before = nats(larger)
    with pytest.raises(LedgerMismatchError) as refused:
        mine.top_up(X[N:-1], 1 - LABELS[N:-1])
    assert "4.6 nats" not in str(refused.value)
    assert nats(larger) - before < 1e-4
    assert mine.top_up(X[N:], LABELS[N:]).fingerprint == larger.fingerprint
    (record,) = [each for each in larger.ledger.records() if each.body.get("kind") == "labels"]
    assert record.body["price"] == pytest.approx(paid)


def test_where_class_counts_were_paid_for_a_refusal_of_labels_is_paid_for(tmp_path):
    path = tmp_path / "ledger.db"
    owner = opened(path, slice(0, N), LABELS[:N], class_mix="priced")
    before = nats(owner)
    other = LABELS[:N].copy()
    other[0] = 1 - other[0]
    with pytest.raises(LedgerMismatchError, match=r"to tell that cost 4\.6 nats"):
        opened(path, slice(0, N), other, class_mix="priced")
    assert nats(owner) - before == pytest.approx(-math.log(0.01))


@pytest.mark.parametrize("shift", [0, 3])
def test_trying_labels_until_both_of_two_recorded_ones_are_found_is_paid_for(shift):
    """Kraft's sum over all ends, even without what the owner paid for the second labels."""
    hidden = list(itertools.product([0, 1], repeat=3))[1:-1]
    tried, ends = hidden[shift:] + hidden[:shift], {}
    ids, rows = np.arange(3), np.zeros((3, 1))
    for first, second in itertools.permutations(hidden, 2):
        name, replies = f":memory:{uuid.uuid4()}", []
        owner = Holdout(rows, np.array(first), ids=ids, ledger=name)
        Holdout(rows, np.array(second), ids=ids, ledger=name)
        for attempt in tried:
            before = len(changes_of(owner))
            Holdout(rows, np.array(attempt), ids=ids, ledger=name)
            after = changes_of(owner)
            replies.append(after[-1][0] if len(after) > before else "nothing new")
            if sum(reply != "relabelled" for reply in replies) == 2:
                break
        spent = nats(owner) + math.log(0.01)
        ends[tuple(replies)] = max(ends.get(tuple(replies), 0.0), math.exp(-spent))
    assert 0.9 < sum(ends.values()) <= 1.0
    assert 2.0 * sum(ends.values()) > 1.0  # were ln 2 for the second labels free


def test_ignoring_what_is_missing_goes_on_with_the_first_ledger_as_the_warning_says():
    first = Holdout(X[:N], LABELS[:N], ids=IDS[:N])
    ask(first)
    spent = nats(first)
    with pytest.warns(UserWarning, match="use missing='ignore', which goes on with the first one"):
        second = Holdout(X[1:N], LABELS[1:N], ids=IDS[1:N])
    assert second.ledger.path != first.ledger.path
    goes_on = Holdout(X[1:N], LABELS[1:N], ids=IDS[1:N], missing="ignore")
    assert goes_on.ledger.path == first.ledger.path
    assert nats(goes_on) >= spent
    assert ask(second).verdict == "refused"  # the one that was left answers nothing
    assert ask(goes_on, "new").verdict != "refused"
    # Other rows may be dropped, and rows added, and the same rows need no word a second time.
    again = Holdout(X[2:N], LABELS[2:N], ids=IDS[2:N], missing="ignore")
    assert again.ledger.path == first.ledger.path
    same = Holdout(X[1:N], LABELS[1:N], ids=IDS[1:N])
    assert same.ledger.path == first.ledger.path
    assert same.top_up(X[N:], LABELS[N:], ids=IDS[N:]).n_rows == N + 7


@pytest.mark.filterwarnings("ignore")
def test_two_ledgers_that_were_both_asked_are_not_made_one_in_silence():
    first = Holdout(X[:N], LABELS[:N], ids=IDS[:N])
    second = Holdout(X[1:N], LABELS[1:N], ids=IDS[1:N])
    ask(first), ask(second)
    with pytest.raises(LedgerMismatchError, match="rows of 2 holdouts of this session"):
        Holdout(X[1:N], LABELS[1:N], ids=IDS[1:N], missing="ignore")
    assert ask(second, "new").verdict != "refused"
