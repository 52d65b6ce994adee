"""Fresh rows enlarge a holdout without refunding it."""

import math
import pickle

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

OLD = 150


@pytest.fixture
def parts(rows):
    """Old X and y, then new X and y, of the holdout rows."""
    return rows[2][:OLD], rows[3][:OLD], rows[2][OLD:], rows[3][OLD:]


@pytest.fixture
def small(parts, tmp_path):
    return Holdout(parts[0], parts[1], ledger=tmp_path / "ledger.db", who="ada")


@pytest.fixture
def other(rows):
    return LogisticRegression(C=0.001).fit(rows[0], rows[1])


def test_more_rows_make_the_interval_of_a_held_guess_narrower_and_leave_more(
    small, parts, model, other, tmp_path
):
    before = small.check(model, scoring="accuracy", guess=0.78)
    large = small.top_up(*parts[2:])
    assert large.ledger is small.ledger
    after = large.check(other, scoring="accuracy", guess=0.78)
    assert (before.verdict, after.verdict) == ("agrees", "agrees")
    assert after.half_width < before.half_width
    few = Holdout(parts[0], parts[1], ledger=tmp_path / "tolerance.db", tolerance=0.2)
    left, many = few.remaining(purpose="certify"), few.top_up(*parts[2:])
    assert many.remaining(purpose="certify") > left > 0
    assert many.report().outlook.remaining["certify"] == many.remaining(purpose="certify")


def test_nats_and_weights_run_on(small, parts, model, other):
    small.check(model, scoring="accuracy", guess=0.1)  # a surprise
    small.certify(model, scoring="accuracy", guess=0.8)
    spent = small.report().nats
    large = small.top_up(*parts[2:])
    spent += -math.log1p(-1e-6)  # that the new rows were none of the old ones
    spent += -math.log(0.99)  # in advance: that labels which are passed again are theirs
    assert (large.report().nats, large.report().asked) == (pytest.approx(spent), {"check": 1, "certify": 1})
    check = large.check(other, scoring="accuracy", guess=0.8)
    weight = round_weight("check", 1, 1)
    assert check.certificate.ln_delta == pytest.approx(math.log(0.05 * 0.1 * weight) - spent)
    spent += check.cost.nats
    certify = large.certify(other, scoring="accuracy", guess=0.8)
    weight = round_weight("certify", 1, 1)
    assert certify.certificate.ln_delta == pytest.approx(math.log(0.05 * 0.9 * weight) - spent)


def test_the_same_question_of_more_rows_is_a_new_one(small, parts, model, rows, spent):
    old = small.certify(model, scoring="accuracy", guess=0.8)
    ThresholdoutScorer("accuracy", small)(model, rows[0], rows[1])
    large = small.top_up(*parts[2:])
    before = spent(large)
    new = large.certify(model, scoring="accuracy", guess=0.8)
    assert not new.repeated
    assert spent(large)[0] == before[0] + 1
    assert large.certify(model, scoring="accuracy", guess=0.8) == new != old
    ThresholdoutScorer("accuracy", large)(model, rows[0], rows[1])
    assert large.report().asked["check"] == 2


def test_the_smaller_holdout_repeats_itself_and_refuses_anything_new(
    small, parts, model, other, uncharged, tmp_path
):
    old = small.certify(model, scoring="accuracy", guess=0.8)
    apart = Holdout(parts[0], parts[1], ledger=tmp_path / "ledger.db")  # as of another process
    small.top_up(*parts[2:])
    for holdout in (small, apart):
        assert holdout.certify(model, scoring="accuracy", guess=0.8) == old
        refused = holdout.certify(other, scoring="accuracy", guess=0.8)
        assert refused.verdict == "refused"
        assert "top_up" in refused.reason
        with uncharged(holdout), pytest.raises(BudgetExhaustedError, match="top_up"):
            holdouts.open_round(holdout, 2, purpose="check", scoring="accuracy", key="late")
        with uncharged(holdout), pytest.raises(BudgetExhaustedError, match="top_up"):
            holdout.select([model, other], scoring="accuracy")


def test_a_script_that_runs_again_from_its_start_is_nearly_free(parts, model, tmp_path, nearly_free):
    def script():
        holdout = Holdout(parts[0], parts[1], ledger=tmp_path / "ledger.db")
        first = holdout.certify(model, scoring="accuracy", guess=0.8)
        large = holdout.top_up(*parts[2:])
        return large, [first, large.certify(model, scoring="accuracy", guess=0.8)]

    large, answers = script()
    with nearly_free(large, times=2):
        again, same = script()
    assert same == answers
    assert again.fingerprint == large.fingerprint


def test_other_rows_in_the_same_place_are_refused_with_both_fingerprints(small, parts, uncharged):
    small.top_up(*parts[2:])
    small.check_overlap(parts[2][:60])  # what the attempt will pay for anyway
    with pytest.raises(LedgerMismatchError, match=r"fingerprint [0-9a-f]{12} with them, [0-9a-f]{12} with"):
        small.top_up(parts[2][:60], parts[3][:60])
    assert small.report().n_rows == 250


def test_rows_can_be_added_more_than_once(small, parts, model):
    once = small.top_up(parts[2][:50], parts[3][:50])
    twice = once.top_up(parts[2][50:], parts[3][50:])
    assert [holdout.n_rows for holdout in (small, once, twice)] == [150, 200, 250]
    assert once.certify(model, scoring="accuracy").verdict == "refused"
    assert twice.certify(model, scoring="accuracy").answered
    kinds = [record.body.get("kind") for record in twice.ledger.records()]
    assert kinds == [None, "overlap", "top_up", "overlap", "top_up", "refusal", "answer"]


def test_the_fingerprint_is_that_of_the_content_and_the_ledger_records_who_added_rows(small, parts, tmp_path):
    large = small.top_up(*parts[2:])
    assert large.fingerprint != small.fingerprint
    assert large.report().fingerprint == large.fingerprint
    body = list(small.ledger.records())[-1].body
    assert (body["kind"], body["rows"], body["who"], small.report().n_rows) == ("top_up", 250, "ada", 250)
    apart = Holdout(parts[0], parts[1], ledger=tmp_path / "ledger.db")
    assert apart.top_up(pd.DataFrame(parts[2]).to_numpy(), list(parts[3])).fingerprint == large.fingerprint


def test_a_round_that_was_open_is_closed_and_can_be_declared_again(small, parts, model):
    planned = {"purpose": "check", "scoring": "accuracy"}
    name = holdouts.open_round(small, 4, **planned, key="search")
    large = small.top_up(*parts[2:])
    answer = holdouts.ask(large, model, **planned, guess=0.8, round_name=name)
    spent = -math.log1p(-1e-6) - math.log(0.99)
    alone = math.log(0.05 * 0.1 * round_weight("check", 4, 1)) - spent
    assert answer.certificate.ln_delta == pytest.approx(alone)
    again = [holdouts.open_round(large, 4, **planned, key="search") for _ in range(2)]
    assert (name, again[0] is None, again[1]) == ("search", False, None)


def test_copies_of_the_larger_holdout_are_the_larger_holdout(small, parts, model):
    large = small.top_up(*parts[2:])
    for twin in (pickle.loads(pickle.dumps(large)), clone(large, safe=False)):
        assert (twin.n_rows, twin.fingerprint) == (250, large.fingerprint)
        assert twin.certify(model, scoring="accuracy").answered


@pytest.mark.parametrize("known", [slice(None), slice(40)], ids=["all", "some among new ones"])
def test_rows_of_the_holdout_itself_are_refused_and_that_is_priced(small, parts, spent, known):
    new = slice(0 if known == slice(None) else None)
    before = spent(small)
    with pytest.raises(HoldoutLeakError, match="new draws only"):
        small.top_up(np.r_[parts[2][new], parts[0][known]], np.r_[parts[3][new], parts[1][known]])
    assert spent(small) == (before[0] + 1, pytest.approx(before[1] - math.log(1e-6)))
    assert small.report().n_rows == 150


def test_a_holdout_of_all_rows_does_not_open_the_ledger(small, parts):
    small.top_up(*parts[2:])
    with pytest.raises(LedgerMismatchError, match="another holdout"):
        Holdout(np.r_[parts[0], parts[2]], np.r_[parts[1], parts[3]], ledger=small.ledger.path)


CONTAINERS = {
    "array": lambda X: X,
    "list": lambda X: X.tolist(),
    "frame": pd.DataFrame,
    "sparse": sparse.csr_array,
    "coo": sparse.coo_array,
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_any_container_can_be_topped_up(parts, rows, tmp_path, container):
    model = DecisionTreeClassifier(random_state=0).fit(rows[0], rows[1])
    small = Holdout(container(parts[0]), parts[1], ledger=tmp_path / "ledger.db")
    answer = small.top_up(container(parts[2]), parts[3]).certify(model, scoring="accuracy")
    assert answer.value == pytest.approx(model.score(rows[2], rows[3]))


def frame(X, names="abcde"):
    return pd.DataFrame(X, columns=list(names))


BAD = {
    "columns": (lambda X, y: (X, y), lambda X, y: (X[:, :4], y), "X"),
    "frame for array": (lambda X, y: (X, y), lambda X, y: (frame(X), y), "X"),
    "array for frame": (lambda X, y: (frame(X), y), lambda X, y: (X, y), "X"),
    "other names": (lambda X, y: (frame(X), y), lambda X, y: (frame(X, "edcba"), y), "X"),
    "sparse for array": (lambda X, y: (X, y), lambda X, y: (sparse.csr_array(X), y), "X"),
    "sparse columns": (
        lambda X, y: (sparse.csr_array(X), y), lambda X, y: (sparse.csr_array(X[:, :4]), y), "X"
    ),
    "text labels": (lambda X, y: (X, y), lambda X, y: (X, np.where(y, "a", "b")), "y"),
    "numbers for classes": (lambda X, y: (X, y), lambda X, y: (X, y + 0.5 * X[:, 0]), "y"),
    "NaN labels": (lambda X, y: (X, y), lambda X, y: (X, np.where(y, np.nan, 0.0)), "y"),
    "no labels": (lambda X, y: (X, y), lambda X, y: (X, None), "y"),
    "lengths": (lambda X, y: (X, y), lambda X, y: (X, y[1:]), "y"),
    "no rows": (lambda X, y: (X, y), lambda X, y: (X[:0], y[:0]), "X"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "name"), BAD.values(), ids=BAD)
def test_rows_that_do_not_go_with_the_holdouts_are_refused_free(
    parts, tmp_path, uncharged, sentence, old, new, name
):
    small = Holdout(*old(*parts[:2]), ledger=tmp_path / "ledger.db")
    with uncharged(small), pytest.raises(ValueError, match=sentence(name)):
        small.top_up(*new(*parts[2:]))


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
