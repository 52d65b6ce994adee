"""Fresh rows enlarge a holdout without refunding it."""

import math
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ThresholdoutScorer
from sklearn_ada.exceptions import BudgetExhaustedError, HoldoutLeakError, LedgerMismatchError
from sklearn_ada.guarantees import hoeffding_half_width, round_weight
from tests.support import holdouts
from tests.support.ledgers import bodies

OLD = 150


@pytest.fixture
def parts(rows):
    """Old X and y, then new X and y, of the holdout rows."""
    return rows[2][:OLD], rows[3][:OLD], rows[2][OLD:], rows[3][OLD:]


@pytest.fixture
def small(parts, tmp_path):
    return Holdout(parts[0], parts[1], ledger=tmp_path / "ledger.db", who="ada")


@pytest.fixture
def added(small, parts):
    """Add the new rows, or rows like them."""
    return lambda holdout=small, new=slice(None): holdout.top_up(parts[2][new], parts[3][new])


@pytest.fixture(scope="session")
def other(rows):
    return LogisticRegression(C=0.001).fit(*rows[:2])


HELD, BOTH = {"scoring": "accuracy", "guess": 0.8}, -math.log1p(-1e-6) - math.log(0.99)


def test_more_rows_make_the_interval_of_a_held_guess_narrower_and_leave_more(
    small, added, parts, model, other, tmp_path
):
    before, large = small.check(model, scoring="accuracy", guess=0.78), added()
    assert large.ledger is small.ledger
    after = large.check(other, scoring="accuracy", guess=0.78)
    assert (before.verdict, after.verdict) == ("agrees", "agrees")
    assert after.half_width < before.half_width
    few = Holdout(*parts[:2], ledger=tmp_path / "tolerance.db", tolerance=0.2)
    left, many = few.remaining(purpose="certify"), added(few)
    assert many.remaining(purpose="certify") > left > 0
    assert many.report().outlook.remaining["certify"] == many.remaining(purpose="certify")


def test_a_top_up_keeps_nats_and_goes_on_with_stakes(small, added, model, other):
    small.check(model, scoring="accuracy", guess=0.1)  # a surprise
    small.certify(model, **HELD)
    # New rows are none of the old ones; and in advance: labels which are passed again are theirs.
    spent, large = small.report().nats + BOTH, added()
    assert (large.report().nats, large.report().asked) == (pytest.approx(spent), {"check": 1, "certify": 1})
    for purpose, part in (("check", 0.1), ("certify", 0.9)):
        answer = getattr(large, purpose)(other, **HELD)
        level = math.log(0.05 * part * round_weight(purpose, 1, 1)) - spent
        assert answer.certificate.ln_delta == pytest.approx(level)
        spent += answer.cost.nats


def test_the_same_question_of_more_rows_is_a_new_one(small, added, model, rows, spent):
    ThresholdoutScorer("accuracy", small)(model, *rows[:2])
    old = small.certify(model, **HELD)
    large = added()
    ThresholdoutScorer("accuracy", large)(model, *rows[:2])
    count, _ = spent(large)
    new = large.certify(model, **HELD)
    assert (new.repeated, spent(large)[0]) == (False, count + 1)
    assert large.certify(model, **HELD) == new != old
    assert large.report().asked["check"] == 2


def test_the_smaller_holdout_repeats_itself_and_refuses_anything_new(
    small, added, parts, model, other, uncharged, tmp_path
):
    old = small.certify(model, **HELD)
    apart = Holdout(*parts[:2], ledger=tmp_path / "ledger.db")  # as of another process
    added()
    for holdout in (small, apart):
        assert holdout.certify(model, **HELD) == old
        refused = holdout.certify(other, **HELD)
        assert refused.verdict == "refused"
        assert "top_up" in refused.reason
        late = partial(holdouts.open_round, holdout, 2, purpose="check", name="late")
        for call in (late, partial(holdout.select, [model, other])):
            with uncharged(holdout), pytest.raises(BudgetExhaustedError, match="top_up"):
                call(scoring="accuracy")


def test_a_script_that_runs_again_from_its_start_is_nearly_free(parts, added, model, tmp_path, nearly_free):
    def script():
        holdout = Holdout(*parts[:2], ledger=tmp_path / "ledger.db")
        first, large = holdout.certify(model, **HELD), added(holdout)
        return large, [first, large.certify(model, **HELD)]

    large, answers = script()
    with nearly_free(large, times=2):
        again, same = script()
    assert (same, again.fingerprint) == (answers, large.fingerprint)


def test_other_rows_in_the_same_place_are_refused_with_both_fingerprints(small, added, parts):
    added()
    small.check_overlap(parts[2][:60])  # what the attempt will pay for anyway
    with pytest.raises(LedgerMismatchError, match=r"fingerprint [0-9a-f]{12} with them, [0-9a-f]{12} with"):
        added(new=slice(60))
    assert small.report().n_rows == 250
    with pytest.raises(LedgerMismatchError, match="another holdout"):
        Holdout(np.r_[parts[0], parts[2]], np.r_[parts[1], parts[3]], ledger=small.ledger.path)


def test_rows_can_be_added_more_than_once(small, added, model):
    once = added(new=slice(50))
    twice = added(once, slice(50, None))
    assert [holdout.n_rows for holdout in (small, once, twice)] == [150, 200, 250]
    assert once.certify(model, scoring="accuracy").verdict == "refused"
    assert twice.certify(model, scoring="accuracy").answered
    kinds = [body.get("kind") for body in bodies(twice)]
    assert kinds == [None, "overlap", "top_up", "overlap", "top_up", "refusal", "answer"]


def test_the_fingerprint_is_that_of_the_content_and_the_ledger_records_who_added_rows(
    small, added, parts, tmp_path
):
    large = added()
    assert small.fingerprint != large.fingerprint == large.report().fingerprint
    body = bodies(small)[-1]
    assert (body["kind"], body["rows"], body["who"], small.report().n_rows) == ("top_up", 250, "ada", 250)
    apart = Holdout(*parts[:2], ledger=tmp_path / "ledger.db")
    assert apart.top_up(pd.DataFrame(parts[2]).to_numpy(), list(parts[3])).fingerprint == large.fingerprint


def test_a_round_that_was_open_is_closed_and_can_be_declared_again(small, added, model):
    planned = {"purpose": "check", "scoring": "accuracy"}
    name = holdouts.open_round(small, 4, **planned, name="search")
    large = added()
    answer = holdouts.ask(large, model, **planned, guess=0.8, round_name=name)
    alone = math.log(0.05 * 0.1 * round_weight("check", 4, 1)) - BOTH
    assert answer.certificate.ln_delta == pytest.approx(alone)
    again = [holdouts.open_round(large, 4, **planned, name="search") for _ in range(2)]
    assert (name, again[0] is None, again[1]) == ("search", False, None)


def test_copies_of_the_larger_holdout_are_the_larger_holdout(added, model):
    large = added()
    for twin in (pickle.loads(pickle.dumps(large)), clone(large, safe=False)):
        assert (twin.n_rows, twin.fingerprint) == (250, large.fingerprint)
        assert twin.certify(model, scoring="accuracy").answered


@pytest.mark.parametrize(("new", "old"), [(slice(0), slice(None)), (slice(None), slice(40))])
def test_rows_of_the_holdout_itself_are_refused_and_that_is_priced(small, parts, spent, new, old):
    count, nats = spent(small)
    with pytest.raises(HoldoutLeakError, match="new draws only"):
        small.top_up(np.r_[parts[2][new], parts[0][old]], np.r_[parts[3][new], parts[1][old]])
    assert spent(small) == (count + 1, pytest.approx(nats - math.log(1e-6)))
    assert small.report().n_rows == 150


CONTAINERS = {
    "array": lambda X: X,
    "list": lambda X: X.tolist(),
    "frame": pd.DataFrame,
    "sparse": sparse.csr_array,
    "coo": sparse.coo_array,
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_any_container_can_be_topped_up(parts, rows, tmp_path, container):
    model = DecisionTreeClassifier(random_state=0).fit(*rows[:2])
    small = Holdout(container(parts[0]), parts[1], ledger=tmp_path / "ledger.db")
    answer = small.top_up(container(parts[2]), parts[3]).certify(model, scoring="accuracy")
    assert answer.value == pytest.approx(model.score(*rows[2:]))


def frame(X, names="abcde"):
    return pd.DataFrame(X, columns=list(names))


def same(values):
    return values


# What makes old rows, new rows and new labels, and what is refused
BAD = {
    "columns": (same, lambda X: X[:, :4], None, "X"),
    "frame for array": (same, frame, None, "X"),
    "array for frame": (frame, same, None, "X"),
    "other names": (frame, lambda X: frame(X, "edcba"), None, "X"),
    "sparse for array": (same, sparse.csr_array, None, "X"),
    "sparse columns": (sparse.csr_array, lambda X: sparse.csr_array(X[:, :4]), None, "X"),
    "text labels": (same, same, lambda X, y: np.where(y, "a", "b"), "y"),
    "numbers for classes": (same, same, lambda X, y: y + 0.5 * X[:, 0], "y"),
    "NaN labels": (same, same, lambda X, y: np.where(y, np.nan, 0.0), "y"),
    "no labels": (same, same, lambda X, y: None, "y"),
    "lengths": (same, same, lambda X, y: y[1:], "y"),
    "no rows": (same, lambda X: X[:0], lambda X, y: y[:0], "X"),
}


@pytest.mark.parametrize(("old", "new", "labels", "name"), BAD.values(), ids=BAD)
def test_rows_that_do_not_go_with_the_holdouts_are_refused_free(
    parts, tmp_path, uncharged, sentence, old, new, labels, name
):
    X, y, more, more_labels = parts
    small = Holdout(old(X), y, ledger=tmp_path / "ledger.db")
    given = labels(more, more_labels) if labels else more_labels
    with uncharged(small), pytest.raises(ValueError, match=sentence(name)):
        small.top_up(new(more), given)


@pytest.mark.parametrize(("old", "new"), [(1000, 1000), (3000, 1000), (1000, 3000)])
def test_joined_rows_certify_more_narrowly_until_four_nats_times_old_over_new(old, new):
    """The rule of thumb of the documentation, for the first certify."""

    def half_width(rows, nats):
        return hoeffding_half_width(rows, math.log(0.05 * 0.9 * round_weight("certify", 0, 1)) - nats)

    turn = 4.0 * old / new
    assert half_width(old + new, 0.8 * turn) < half_width(new, 0.0) < half_width(old + new, 1.2 * turn)


FOR_ONE_SIZE = {
    "route": {"route": "both"},
    "sample_weight": {"sample_weight": np.full(OLD, 2.0)},
    "groups": {"groups": np.arange(OLD) // 2},
}


@pytest.mark.parametrize("policy", FOR_ONE_SIZE.values(), ids=FOR_ONE_SIZE)
def test_what_is_chosen_for_one_size_is_not_topped_up(parts, tmp_path, uncharged, sentence, policy):
    small = Holdout(*parts[:2], ledger=tmp_path / "ledger.db", **policy)
    with uncharged(small), pytest.raises(ValueError, match=sentence("(route|sample_weight)")):
        small.top_up(*parts[2:])


@pytest.mark.parametrize("names", [np.array([0, 1, 7]), np.array(["no", "yes", "maybe"])])
def test_labels_that_the_holdout_does_not_have_are_refused_free(parts, tmp_path, uncharged, names):
    X, y, new_X, new_y = parts
    holdout = Holdout(X, names[y], ledger=tmp_path / "ledger.db")
    wrong = np.r_[2, new_y[1:]]
    with (
        uncharged(holdout),
        pytest.raises(ValueError, match=r"'y' parameter of Holdout\.top_up must be labels that"),
    ):
        holdout.top_up(new_X, names[wrong])
    holdout.top_up(new_X, names[new_y])


def test_a_count_may_be_one_that_no_row_had(parts, tmp_path):
    X, y, new_X, new_y = parts
    holdout = Holdout(X, np.arange(len(y)) % 9, ledger=tmp_path / "ledger.db")
    holdout.top_up(new_X, np.arange(len(new_y)) % 10)
