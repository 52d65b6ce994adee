"""Whoever passes guesses of labels until they are not refused pays for what the replies tell.

Whether labels are refused depends on ids (or on how many rows there are) alone.
"""

import itertools
import math
import uuid
import warnings
from functools import partial
from unittest import mock

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import LedgerMismatchError
from tests.support.ledgers import begun_as, changes_of
from tests.support.models import Always

N, FEW = 60, 6
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N + 8, 3))
LABELS = RNG.integers(0, 2, N + 8)
IDS = np.arange(N + 8)
FIRST, SECOND = slice(0, N), slice(1, N)
OTHER = -math.log(0.01)  # the price of "other labels"
TWO_HOLDOUTS = "rows of 2 holdouts of this session"

pytestmark = pytest.mark.filterwarnings("ignore:Rows of the holdout:UserWarning")


def nats(holdout):
    return holdout.report().nats


def opened(path, rows, labels=LABELS, **parameters):
    """Open a holdout of some rows, with all labels or those of these rows."""
    labels = labels[rows] if len(labels) == len(LABELS) else labels
    return Holdout(X[rows], labels, ids=IDS[rows], ledger=path, **parameters)


def ask(holdout, name=""):
    return holdout.certify(Always(name=name), scoring="accuracy", guess=0.5)


def with_wrong(row, rows=FIRST):
    """Return the labels of some rows, one of them changed."""
    labels = LABELS[rows].copy()
    labels[row] = 1 - labels[row]
    return labels


def tried(recorded, attempts):
    """Begin a ledger, record labellings, and try others until those are found; return replies and price."""
    ids = np.arange(len(recorded[0]))
    begin = partial(Holdout, ids[:, None], ids=ids, ledger=f":memory:{uuid.uuid4()}")
    owner, *_ = [begin(np.array(labels)) for labels in recorded]
    replies = []
    for labels in attempts:
        before = len(changes_of(owner))
        begin(np.array(labels))
        after = changes_of(owner)
        replies.append(after[-1][0] if len(after) > before else "nothing new")
        if sum(reply != "relabelled" for reply in replies) == len(recorded):
            break
    return tuple(replies), nats(owner)


def test_trying_labels_until_they_are_the_right_ones_is_paid_for():
    """Kraft's sum over all ends of a conversation that tries the labels of four rows, one after the other.

    What the asker does not know is which labels the ledger was begun with.
    """
    hidden = list(itertools.product([0, 1], repeat=4))[1:-1]  # both classes occur
    ends = dict(tried([labels], hidden[5:] + hidden[:5]) for labels in hidden)
    total = sum(math.exp(-paid) for paid in ends.values())
    assert len(ends) == len(hidden)
    assert 0.99 <= total <= 1.0
    assert total / 0.99 > 1.0  # were the first part free


def tried_without_ids(labels, attempts):
    """Begin a ledger without ids, and open it with labels until they are the right ones."""
    begin = partial(Holdout, np.arange(len(labels))[:, None], ledger=f":memory:{uuid.uuid4()}")
    owner, replies = begin(np.array(labels)), []
    for attempt in attempts:
        try:
            begin(np.array(attempt))
        except LedgerMismatchError as error:
            replies.append("4.6 nats" in str(error))
        else:
            break
    return tuple(replies), nats(owner)


@pytest.mark.parametrize("values", [(0, 1), ("no", "yes"), (0.5, 1.5)], ids=["classes", "texts", "numbers"])
def test_trying_labels_of_rows_without_ids_is_paid_for(values):
    """Kraft's sum, where as many rows of each class have other labels: the price is part of the refusal."""
    hidden = [[values[k in ones] for k in range(5)] for ones in itertools.combinations(range(5), 2)]
    ends = dict(tried_without_ids(labels, hidden[4:] + hidden[:4]) for labels in hidden)
    assert len(ends) == len(hidden)
    assert all(all(replies) for replies in ends)
    assert 0.99 <= (total := sum(math.exp(-paid) for paid in ends.values())) <= 1.0
    assert total / 0.99 > 1.0  # were what is paid in advance free


PUBLIC = {  # what anybody may know of rows without ids, and what a refusal says of it
    "a row less": (LABELS[1:N], "was begun with 60 rows, and these are 59"),
    "a row more": (LABELS[: N + 1], "was begun with 60 rows, and these are 61"),
    "another number of a class": (with_wrong(0), "other classes, or other numbers of them"),
    "another class": (np.where(LABELS[:N] == 1, 7, 0), "other classes, or other numbers of them"),
    "classes as text": (LABELS[:N].astype(str), "other classes, or other numbers of them"),
    "numbers": (LABELS[:N] + 0.5, "other classes, or other numbers of them"),
}
NEWS = {  # the same numbers of each class
    "in reverse": LABELS[:N][::-1], "sorted": np.sort(LABELS[:N]), "moved by one": np.roll(LABELS[:N], 1),
}  # fmt: skip


@pytest.mark.parametrize(("labels", "cause"), PUBLIC.values(), ids=PUBLIC)
def test_without_ids_what_is_public_is_refused_for_nothing(labels, cause, uncharged, tmp_path):
    name = tmp_path / "ledger.db"
    owner = Holdout(X[:N], LABELS[:N], ledger=name)
    with uncharged(owner), pytest.raises(LedgerMismatchError, match=cause) as refused:
        Holdout(np.zeros((len(labels), 1)), labels, ledger=name)
    assert "nats" not in str(refused.value)


@pytest.mark.parametrize("labels", NEWS.values(), ids=NEWS)
def test_without_ids_labels_that_are_refused_are_paid_for_once(labels, tmp_path):
    name = tmp_path / "ledger.db"
    owner = Holdout(X[:N], LABELS[:N], ledger=name)
    for _ in range(2):
        with pytest.raises(LedgerMismatchError, match=r"other labels, or the same .* cost 4\.6 nats"):
            Holdout(X[:N], labels, ledger=name)
    assert nats(Holdout(X[:N], LABELS[:N], ledger=name)) == pytest.approx(OTHER - math.log(0.99))
    assert ask(owner).answered


def test_counts_of_classes_that_were_paid_for_are_compared_at_a_price(tmp_path):
    name = tmp_path / "ledger.db"
    owner = Holdout(X[:N], LABELS[:N], ledger=name, class_mix="priced")
    before = nats(owner)
    with pytest.raises(LedgerMismatchError, match=r"cost 4\.6 nats"):
        Holdout(X[:N], with_wrong(0), ledger=name, class_mix="priced")
    assert nats(owner) - before == pytest.approx(OTHER - math.log(0.99))


def test_another_policy_or_split_is_refused_before_labels_are_compared(uncharged, tmp_path):
    name = tmp_path / "ledger.db"
    owner = Holdout(X[:N], LABELS[:N], ledger=name)
    for other in ({"tolerance": 0.1}, {"split": {"holdout": "mask"}}, {"random_state": 1}):
        with uncharged(owner), pytest.raises(LedgerMismatchError, match=r"[Uu]se the same"):
            Holdout(X[:N], LABELS[:N][::-1], ledger=name, **other)


def test_an_older_ledger_refuses_other_labels_as_it_did(uncharged, tmp_path):
    name = tmp_path / "ledger.db"
    with begun_as(1):
        owner = Holdout(X[:N], LABELS[:N], ledger=name)
    with uncharged(owner), pytest.raises(LedgerMismatchError, match="belongs to another holdout"):
        Holdout(X[:N], LABELS[:N][::-1], ledger=name)
    assert len(list(Holdout(X[:N], LABELS[:N], ledger=name).ledger.records())) == 1


@pytest.mark.parametrize("ids", [None, IDS[:N]], ids=["without ids", "with ids"])
def test_nobody_who_knows_the_random_state_computes_a_fingerprint_from_labels(ids, tmp_path):
    """Two ledgers of the same rows and number have fingerprints that have nothing in common."""
    given = {"X": X[:N], "y": LABELS[:N], "ids": ids, "random_state": 0}
    one, other = (Holdout(**given, ledger=tmp_path / f"{number}.db") for number in range(2))
    assert one.fingerprint != other.fingerprint
    assert one.ledger.head() != other.ledger.head()
    for holdout in (one, other):
        assert Holdout(**given, ledger=holdout.ledger.path).fingerprint == holdout.fingerprint


@pytest.mark.parametrize("shift", [0, 3])
def test_trying_labels_until_both_of_two_recorded_ones_are_found_is_paid_for(shift):
    """Kraft's sum over all ends, even without what the owner paid for the second labels."""
    hidden, masses = list(itertools.product([0, 1], repeat=3))[1:-1], {}
    for recorded in itertools.permutations(hidden, 2):
        replies, paid = tried(recorded, hidden[shift:] + hidden[:shift])
        masses[replies] = max(masses.get(replies, 0.0), math.exp(OTHER - paid))
    assert 0.9 < sum(masses.values()) <= 1.0
    assert 2.0 * sum(masses.values()) > 1.0  # were ln 2 for the second labels free


def test_the_way_back_tells_no_label_for_nothing(tmp_path):
    """Once some rows alone were a holdout, theirs is an edition to which right labels lead back."""
    path, few = tmp_path / "ledger.db", np.arange(FEW)
    owner = opened(path, FIRST)
    opened(path, few, LABELS[few], missing="ignore")
    opened(path, FIRST)
    before, wrong = nats(owner), 0
    for guess in itertools.product((0, 1), repeat=FEW):
        opened(path, few, np.array(guess))  # a wrong guess is no error, which would cost nothing
        if np.array_equal(guess, LABELS[few]):
            break
        wrong += 1
    assert wrong > 2
    assert nats(owner) - before >= wrong * OTHER


def test_ids_that_never_were_a_holdout_of_their_own_are_refused_with_any_labels(tmp_path):
    path, few, messages = tmp_path / "ledger.db", np.arange(FEW), set()
    owner = opened(path, FIRST)
    before = len(list(owner.ledger.records()))
    for guess in (LABELS[few], 1 - LABELS[few]):
        with pytest.raises(LedgerMismatchError) as refused:
            opened(path, few, guess)
        messages.add(str(refused.value))
    assert (len(messages), len(list(owner.ledger.records()))) == (1, before)


def test_an_outdated_holdout_tells_no_label_of_rows_that_joined_for_nothing(tmp_path):
    mine = opened(tmp_path / "ledger.db", FIRST)
    owner, right, wrong = mine, [], 0
    for row in range(N, N + 8):
        owner = owner.top_up(X[[row]], LABELS[[row]], ids=IDS[[row]])
        before = nats(mine)
        guess = mine.top_up(X[[row]], np.array([0]), ids=IDS[[row]])
        if nats(mine) == before:
            right.append(row)
        else:
            wrong += 1
            assert nats(mine) - before >= OTHER
        owner = mine = opened(tmp_path / "ledger.db", slice(0, row + 1), LABELS[: row + 1])
        assert guess.n_rows == row + 1
    assert right
    assert wrong


def test_without_ids_as_many_other_labels_cost_what_they_tell_and_another_number_nothing(tmp_path):
    mine = Holdout(X[:N], LABELS[:N], ledger=tmp_path / "ledger.db")
    larger = mine.top_up(X[N:], LABELS[N:])
    before = nats(larger)
    with pytest.raises(LedgerMismatchError, match=r"it cost 4\.6 nats"):
        mine.top_up(X[N:], 1 - LABELS[N:])
    assert nats(larger) - before == pytest.approx(OTHER, abs=1e-4)  # and that no row is one of the holdout's
    before = nats(larger)
    with pytest.raises(LedgerMismatchError) as refused:
        mine.top_up(X[N:-1], 1 - LABELS[N:-1])
    assert "4.6 nats" not in str(refused.value)
    assert nats(larger) - before < 1e-4
    assert mine.top_up(X[N:], LABELS[N:]).fingerprint == larger.fingerprint
    (record,) = [each for each in larger.ledger.records() if each.body.get("kind") == "labels"]
    assert record.body["price"] == pytest.approx(OTHER)


def test_where_class_counts_were_paid_for_a_refusal_of_labels_is_paid_for(tmp_path):
    path = tmp_path / "ledger.db"
    owner = opened(path, FIRST, class_mix="priced")
    before = nats(owner)
    with pytest.raises(LedgerMismatchError, match=r"to tell that cost 4\.6 nats"):
        opened(path, FIRST, with_wrong(0), class_mix="priced")
    assert nats(owner) - before == pytest.approx(OTHER)


def test_ignoring_what_is_missing_goes_on_with_the_first_ledger_as_the_warning_says():
    first = opened(None, FIRST)
    ask(first)
    spent = nats(first)
    with pytest.warns(UserWarning, match="use missing='ignore', which goes on with the first one"):
        second = opened(None, SECOND)
    assert second.ledger.path != first.ledger.path
    goes_on = opened(None, SECOND, missing="ignore")
    assert goes_on.ledger.path == first.ledger.path
    assert nats(goes_on) >= spent
    assert ask(second).verdict == "refused"  # the one that was left answers nothing
    assert ask(goes_on, "new").verdict != "refused"
    # Other rows may be dropped, and rows added, and the same rows need no word a second time.
    assert Holdout(X[2:N], LABELS[2:N], ids=IDS[2:N], missing="ignore").ledger.path == first.ledger.path
    same = opened(None, SECOND)
    assert same.ledger.path == first.ledger.path
    assert same.top_up(X[N:], LABELS[N:], ids=IDS[N:]).n_rows == N + 7


@pytest.mark.parametrize("use", ["an answer", "that labels differ"])
@pytest.mark.filterwarnings("ignore")
def test_two_ledgers_that_both_released_something_are_not_made_one_in_silence(use):
    ask(opened(None, FIRST))
    second = opened(None, SECOND)
    ask(second) if use == "an answer" else opened(None, SECOND, with_wrong(-1, SECOND))
    with pytest.raises(LedgerMismatchError, match=TWO_HOLDOUTS):
        opened(None, SECOND, missing="ignore")
    assert ask(second, "new").verdict != "refused" or use != "an answer"


@pytest.mark.filterwarnings("ignore")
def test_the_second_ledger_stays_open_where_the_first_one_refuses():
    ask(opened(None, FIRST, class_mix="priced"))
    second = opened(None, SECOND, class_mix="priced")
    with pytest.raises(LedgerMismatchError, match="no change was recorded"):
        opened(None, SECOND, class_mix="priced", missing="ignore")
    assert ask(second).verdict != "refused"


@pytest.mark.filterwarnings("ignore")
def test_rows_of_a_fold_outside_of_cross_validation_have_no_second_budget():
    """Whoever says that rows were dropped goes on with the first ledger, not with that of a fold."""
    with mock.patch("sklearn_ada.holdout.finding.within_cross_validation", return_value=True):
        fold = opened(None, SECOND)
    first = opened(None, FIRST)
    assert fold.ledger.path != first.ledger.path
    ask(first), ask(fold)
    with pytest.raises(LedgerMismatchError, match=TWO_HOLDOUTS):
        opened(None, SECOND, missing="ignore")


@pytest.mark.parametrize("missing", ["raise", "ignore"])
def test_a_process_that_ended_before_it_recorded_its_rows_leaves_no_second_budget(missing):
    ended = mock.patch("sklearn_ada.holdout.holdout.record_edition", side_effect=SystemExit)
    with ended, pytest.raises(SystemExit):
        opened(None, SECOND)
    whole = opened(None, FIRST)
    ask(whole)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        again = opened(None, SECOND, missing=missing)
    goes_on = again.ledger.path == whole.ledger.path
    assert goes_on == (missing == "ignore")
    assert goes_on or any("second budget for one holdout" in str(each.message) for each in caught)


@pytest.mark.filterwarnings("ignore")
def test_a_process_that_ended_before_it_closed_the_ledger_that_it_left_changes_nothing():
    first = opened(None, FIRST)
    ask(first)
    opened(None, SECOND)
    with mock.patch("sklearn_ada.holdout.holdout.leave_other"):
        opened(None, SECOND, missing="ignore")
    assert opened(None, SECOND).ledger.path == first.ledger.path


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_search_with_a_mask_learns_no_labels_for_nothing(tmp_path):
    mask = np.arange(N) >= N // 2

    def fit(labels):
        inner = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=3)
        search = ReusableHoldoutCV(inner, holdout=mask, ledger=tmp_path / "ledger.db", answers="exact")
        return search.fit(X[:N], labels, ids=IDS[:N])

    holdout = fit(LABELS[:N]).holdout_
    before = nats(holdout)
    with pytest.raises(LedgerMismatchError, match=r"labels differ, and to tell that cost 4\.6 nats"):
        fit(with_wrong(-1))
    assert nats(holdout) - before == pytest.approx(OTHER)


def test_two_labellings_recorded_in_one_opening_are_counted_as_two(tmp_path):
    """The rows without the last one, with their labels and with others: any of the two may be tried later."""
    owner = opened(tmp_path / "ledger.db", FIRST)
    fewer = slice(0, N - 1)
    opened(tmp_path / "ledger.db", fewer, with_wrong(0, fewer), missing="ignore")
    (relabelled,) = [each.body for each in owner.ledger.records() if each.body.get("change") == "relabelled"]
    assert relabelled["price"] == pytest.approx(-math.log(0.01 * 0.9 * 0.99 / 2))
