"""A key only proposes: the holdout confirms that a model says what is recorded, at a price."""

import itertools
import json
import math
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer

from sklearn_ada import AnswersDisplay, Holdout, MedianSettings, Metric
from sklearn_ada.accounting import FAILURES
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerDamagedError, LedgerError, LedgerUnavailableError
from tests.support import holdouts
from tests.support.ledgers import bodies, rewritten
from tests.support.models import FromFile
from tests.support.processes import interpreter, together

RNG = np.random.default_rng(7)
N = 300
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + 0.7 * RNG.normal(size=N) > 0).astype(int)
PUBLIC = RNG.normal(size=(100, 2)), RNG.integers(0, 2, 100)
FIRST, SECOND, THIRD = np.array([1.0, 0.0]), np.array([-1.0, 0.4]), np.array([0.2, 1.0])
FAILS, STOPS = [np.nan, 0.0], [np.nan, np.nan]
THRESHOLD = 0.0


@pytest.fixture
def model(tmp_path):
    return trained(tmp_path / "weights.npy", FIRST)


@pytest.fixture
def holdout(tmp_path):
    return Holdout(X, Y, ledger=tmp_path / "ledger.db", random_state=0)


@pytest.fixture
def fitted():
    return LogisticRegression().fit(*PUBLIC)


def trained(path, weights, kind=FromFile):
    """Return a model whose weights are written into a file."""
    np.save(path, weights)
    return kind(path)


def certify(holdout, model, **how):
    return holdout.certify(model, **{"scoring": "accuracy", "guess": 0.7, **how})


def versions(holdout, model, *weights, **how):
    """Certify one model once for each of these weights, and return the answers."""
    answers = []
    for each in weights:
        model.train(each)
        answers.append(certify(holdout, model, **how))
    return answers


def turned(count):
    return [[math.cos(number), math.sin(number)] for number in range(count)]


def accuracy(weights):
    return pytest.approx(accuracy_score(Y, X @ weights > 0), abs=1e-12)


def confirmations(holdout):
    return [body for body in bodies(holdout) if body.get("kind") == "confirmation"]


def verdicts(holdout):
    """Return what came of the comparisons of a ledger."""
    symbols = (body["event"]["symbols"][0] for body in confirmations(holdout))
    return ["different" if symbol["value"] else "the same" for symbol in symbols]


# --- false matches -----------------------------------------------------------------------------------------


def test_every_version_has_an_answer_of_its_own_and_is_found_again(holdout, model):
    first, second, third = answers = versions(holdout, model, FIRST, SECOND, THIRD)
    assert [answer.value for answer in answers] == [accuracy(each) for each in (FIRST, SECOND, THIRD)]
    assert [(answer.repeated, answer.verdict) for answer in answers] == [(False, "exact")] * 3
    again = versions(holdout, model, SECOND, FIRST, THIRD)
    assert again == [second, first, third]
    assert all(answer.repeated for answer in again)
    assert len({answer.value for answer in answers}) == 3
    assert verdicts(holdout) == ["different"] * 2 + ["the same"] * 3
    assert holdout.report().asked == {"check": 0, "certify": 3}


def test_a_method_of_a_library_that_is_patched_is_another_model(holdout, fitted, monkeypatch):
    certify(holdout, fitted)
    monkeypatch.setattr(LogisticRegression, "predict", lambda self, X: (X[:, 0] > 0).astype(int))
    assert certify(holdout, fitted).value == accuracy(FIRST)


class Evaluated(ClassifierMixin, BaseEstimator):
    """pandas finds the threshold by its name in a text."""

    classes_ = np.array([0, 1])
    fitted_ = True

    def predict(self, X):
        return X.eval("a > @THRESHOLD").to_numpy().astype(int)


def test_a_name_within_a_text_is_another_model_once_it_changes(monkeypatch, tmp_path):
    holdout = Holdout(pd.DataFrame(X, columns=["a", "b"]), Y, ledger=tmp_path / "ledger.db")
    for threshold in (0.0, 0.5, -0.5):
        monkeypatch.setitem(globals(), "THRESHOLD", threshold)
        assert certify(holdout, Evaluated()).value == pytest.approx(accuracy_score(Y, X[:, 0] > threshold))
    assert verdicts(holdout) == ["different"] * 2


class Named(FromFile):
    """Labels that are text."""

    classes_ = np.array(["no", "yes"], dtype=object)

    def predict(self, X):
        return self.classes_[super().predict(X)]


def of_own_rows(model, X, y):
    return accuracy_score(y, model.predict(X))


KINDS = {
    "labels": (FromFile, "accuracy", None),
    "text": (Named, "accuracy", None),
    "probabilities": (FromFile, "neg_brier_score", None),
    "ranks": (FromFile, "roc_auc", None),
    "a ratio": (FromFile, "f1", None),
    "a median": (FromFile, "matthews_corrcoef", MedianSettings()),
    "a scorer": (FromFile, Metric(make_scorer(accuracy_score), range=(0, 1)), MedianSettings()),
    "a scorer of X": (FromFile, Metric(of_own_rows, range=(0, 1)), MedianSettings()),
    "a mean of one's own": (FromFile, Metric(np.equal, kind="mean", range=(0, 1)), None),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_outputs_of_any_kind_are_compared(kind, model, tmp_path):
    of, scoring, settings = KINDS[kind]
    holdout = Holdout(X, of.classes_[Y], ledger=tmp_path / "own.db")
    how = {"scoring": scoring, "settings": settings, "guess": None}
    one, same, other = versions(holdout, of(model.path["file"]), FIRST, FIRST, SECOND, **how)
    assert (same.repeated, other.repeated) == (True, False)
    assert other.value != one.value
    assert verdicts(holdout) == ["the same", "different"]


class Seconds(RegressorMixin, FromFile):
    """Seconds since 1970, of which the model's part is within a millionth."""

    def predict(self, X):
        return 1.7e9 + 60.0 * (np.asarray(X) @ np.load(self.path["file"]))


class Undecided(FromFile):
    """As of a model with a penalty that leaves almost nothing of it."""

    def predict_proba(self, X):
        second = 0.5 + 1e-11 * (np.asarray(X) @ np.load(self.path["file"]))
        return np.column_stack([1 - second, second])


class TooSure(FromFile):
    """All rows are of the first class, of some it is too sure."""

    def predict_proba(self, X):
        second = np.where(np.asarray(X) @ np.load(self.path["file"]) > 0, 1e-15, 1e-7)
        return np.column_stack([1 - second, second])


class ClassesFromFile(FromFile):
    """Its classes stand in the file, and its probabilities are always the same."""

    @property
    def classes_(self):
        return np.array([0, 1, 2] if np.load(self.path["file"])[0] > 0 else [-1, 0, 1])

    def predict_proba(self, X):
        second = 1 / (1 + np.exp(-3 * np.asarray(X)[:, 0]))
        return np.column_stack([0.98 * (1 - second), 0.98 * second, np.full(len(second), 0.02)])


LIKE_OUTPUTS = {
    "seconds": (Seconds, Metric("neg_mean_absolute_error", range=(-300, 0)), 1.7e9 + 60.0 * X[:, 0]),
    "ranks": (Undecided, Metric("roc_auc"), Y),
    "log loss": (TooSure, Metric("neg_log_loss", range=(-40, 0)), Y),
    "classes": (ClassesFromFile, Metric("neg_log_loss", range=(-10, 0)), Y),
}


@pytest.mark.parametrize("kind", LIKE_OUTPUTS)
def test_outputs_a_millionth_apart_differ_if_the_metric_has_another_value(kind, model, tmp_path):
    of, metric, labels = LIKE_OUTPUTS[kind]
    holdout = Holdout(X, labels, ledger=tmp_path / "own.db")
    one, other = versions(holdout, of(model.path["file"]), FIRST, -FIRST, scoring=metric, guess=None)
    assert (one.repeated, other.repeated) == (False, False)
    assert abs(one.value - other.value) > 0.01
    assert verdicts(holdout) == ["different"]


class Linear(RegressorMixin, FromFile):
    def predict(self, X):
        return X @ np.load(self.path["file"])


def test_a_candidate_that_diverged_hides_no_change_of_the_others(tmp_path):
    holdout = Holdout(X, X[:, 0] + 0.1 * RNG.normal(size=N), ledger=tmp_path / "own.db")
    winners = []
    for weights in ([[1e4, 0.0], FIRST, SECOND], [[1e4, 0.0], SECOND, FIRST]):
        models = [trained(tmp_path / f"{number}.npy", each, Linear) for number, each in enumerate(weights)]
        winners.append(holdout.select(models, scoring="r2", epsilon=None))
    assert winners == [1, 2]


class Threads(LogisticRegression):
    """Adds in another order each time, so to speak, as threads do that wait for one another."""

    def predict_proba(self, X):
        second = super().predict_proba(X)[:, 1] * (1 + 1e-14 * np.random.default_rng().normal(size=len(X)))
        return np.column_stack([1 - second, second])


@pytest.mark.parametrize("guess_from", [None, PUBLIC], ids=["no guess", "guess"])
@pytest.mark.parametrize("scoring", ["neg_brier_score", "roc_auc"])
def test_a_model_whose_terms_are_added_in_another_order_is_one_question(holdout, scoring, guess_from):
    model, how = Threads().fit(*PUBLIC), {"scoring": scoring, "guess": None, "guess_from": guess_from}
    assert len({model.predict_proba(X).tobytes() for _ in range(5)}) > 1
    answers = [certify(holdout, model, **how) for _ in range(4)]
    assert [answer.repeated for answer in answers] == [False, True, True, True]
    assert verdicts(holdout) == ["the same"] * 3
    assert 0.0 < holdout.report().nats - answers[0].cost.nats < 0.003


def test_other_rows_of_the_guess_make_no_other_question(holdout, model):
    one, other = (X[:40] + 5.0, Y[:40]), (X[:40] + 6.0, Y[:40])
    answers = [certify(holdout, model, guess=None, guess_from=rows) for rows in (one, one, other)]
    assert [answer.repeated for answer in answers] == [False, True, True]


def test_a_metric_that_changed_without_its_digest_is_another_question(holdout, model, fitted):
    def scorer(estimator, X, y):
        return float(np.load(model.path["file"])[0] > 0) * 0.5

    how = {"scoring": Metric(scorer, range=(0, 1)), "settings": MedianSettings(), "guess": None}
    assert certify(holdout, fitted, **how).value == 0.5
    model.train(SECOND)
    assert certify(holdout, fitted, **how).value == 0.0


# --- prices ------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_same_costs_a_thousandth_and_a_thousand_times_cost_less_than_a_twentieth(holdout, model):
    certify(holdout, model)
    before, prices = holdout.report().nats, []
    for _ in range(1000):
        certify(holdout, model)
        prices.append(holdout.ledger.read(lambda state: state.account.nats))
    assert prices[0] - before == pytest.approx(-math.log1p(-1e-3))
    assert 0.02 < prices[-1] - before < 0.05
    (other,) = versions(holdout, model, SECOND)
    different = holdout.report().nats - prices[-1] - other.cost.nats
    assert different == pytest.approx(math.log(1000) + math.log(101))


def test_the_first_that_differ_cost_seven_nats_and_later_ones_less_and_other_models_stay_cheap(
    holdout, model, fitted
):
    certify(holdout, fitted)
    versions(holdout, model, *turned(8))
    paid = [body["price"] for body in confirmations(holdout)]
    assert paid[:2] == pytest.approx([math.log(1000)] * 2)  # of one version, and of the first of several
    assert paid[2:] == sorted(paid[2:], reverse=True)
    assert paid[-1] < 1.5
    before = holdout.report().nats
    assert certify(holdout, fitted).repeated
    assert holdout.report().nats - before < 0.1  # one "different" was of a single version
    assert holdout.report().confirmed == {"the same": 1, "different": 7}


def test_which_of_several_is_paid_for_by_how_often_it_was_that_one_and_an_edit_is_noticed(holdout, model):
    versions(holdout, model, FIRST, SECOND, THIRD, FIRST, FIRST, SECOND, FIRST)
    symbols = [body["event"]["symbols"] for body in confirmations(holdout)]
    which = [each[1] for each in symbols if len(each) > 1 and each[1]["stream"] == "which"]
    assert [symbol["value"] for symbol in which] == [0, 0, 1, 0]
    assert [symbol["scale"] for symbol in which] == pytest.approx([1 / 3, 2 / 4, 1 / 5, 3 / 6])
    *before, last = bodies(holdout)
    state, edited = holdouts.state_after(before), json.loads(json.dumps(last))
    edited["event"]["symbols"][1]["scale"] = 1.0
    with pytest.raises(LedgerDamagedError, match="probability of a version"):
        state.advance(edited)
    state.advance(last)
    assert holdouts.restored(state, before[0]).to_dict() == state.to_dict()


def test_a_model_that_flips_between_two_versions_pays_for_the_rare_one(holdout, model):
    versions(holdout, model, FIRST, SECOND)
    before = holdout.report().nats
    versions(holdout, model, *[FIRST] * 100)
    assert holdout.report().nats - before < math.log(101) + math.log(11)  # of which, and whether at all


def test_what_is_paid_widens_what_comes_later(holdout, model):
    widths = []
    for weights in ((FIRST, SECOND), (FIRST,)):
        versions(holdout, model, *weights)
        widths.append(holdout.report().outlook.forecasts[0].half_width)
    assert widths[1] > widths[0]
    assert holdout.report().nats == pytest.approx(sum(body.get("price", 0.0) for body in bodies(holdout)))


# --- what it is part of ------------------------------------------------------------------------------------


def test_in_a_round_the_new_question_keeps_its_place(holdout, model):
    name = holdouts.open_round(holdout, 3, purpose="check", scoring="accuracy", name="one")
    how = {"scoring": "accuracy", "purpose": "check", "guess": 0.7, "round_name": name}
    for weights in (FIRST, FIRST, SECOND):
        model.train(weights)
        other = holdouts.ask(holdout, model, **how)
    ((opened,), answers) = ([b for b in bodies(holdout) if b.get("kind") == k] for k in ("round", "answer"))
    assert [body["round"] for body in answers] == [name, name]
    own = opened["ln_delta"] + opened["nats"] - other.certificate.ln_delta  # the L before its own record
    assert own == pytest.approx(holdout.report().nats - other.cost.nats)
    assert holdout.ledger.read(lambda state: state._rounds[name].left) == 1
    assert holdout.report().asked["check"] == 3


def test_a_confirmation_is_no_question_and_is_counted_in_the_state_from_the_first_one_on(holdout, model):
    certify(holdout, model)
    assert set(holdout.ledger.read(lambda state: state.to_dict())["account"]["urns"]) == {"cells"}
    certify(holdout, model)
    report, state = holdout.report(), holdout.ledger.read(lambda state: state)
    assert (report.asked, report.asked_by) == ({"check": 0, "certify": 1}, {"?": 1})
    assert report.confirmed == {"the same": 1, "different": 0}
    assert not state.is_untouched
    assert state.to_dict()["account"]["urns"]["confirmation"] == [[0, 1]]
    restored = holdouts.restored(state, holdout.ledger.genesis)
    assert (restored.confirmed, restored.to_dict()) == ((1, 0), state.to_dict())


@pytest.fixture
def select(holdout, model, tmp_path):
    models = [trained(tmp_path / "fixed.npy", THIRD), model]
    return lambda epsilon=None: holdout.select(models, scoring="accuracy", epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [None, 0.5])
def test_a_choice_is_made_anew_if_outputs_of_a_model_change(holdout, model, epsilon, select):
    first = select(epsilon)
    model.train(SECOND)
    second = select(epsilon)
    assert verdicts(holdout) == ["different"]
    assert select(epsilon) == second
    model.train(FIRST)
    assert select(epsilon) == first
    assert verdicts(holdout) == ["different", "the same", "the same"]
    if epsilon is None:
        assert (first, second) == (1, 0)


def test_a_choice_in_which_a_model_fails_the_second_time_is_another_one(holdout, model, select):
    assert select() == 1
    model.train(FAILS)
    assert select() == 0
    model.train(STOPS)
    with pytest.raises(KeyboardInterrupt):
        select()
    assert verdicts(holdout) == ["different", "different"]


def test_the_smaller_holdout_goes_on_confirming_what_is_recorded(holdout, model):
    one = certify(holdout, model)
    larger = holdout.top_up(*PUBLIC)
    certify(larger, model)
    same, other = versions(holdout, model, FIRST, SECOND)
    assert (same, other.verdict, certify(larger, model).answered) == (one, "refused", True)
    assert verdicts(holdout) == ["the same", "different", "different"]


def test_a_declared_model_has_its_share_once_and_names_what_that_rests_on(holdout, model):
    holdout.declare([model], scoring="accuracy")
    one, other = versions(holdout, model, FIRST, SECOND)
    for named in ("was declared", "reads what the ledger has answered"):
        assert any(named in each for each in one.certificate.assumptions)
    assert not any("declared" in each for each in other.certificate.assumptions)
    other_share = other.certificate.ln_delta + holdout.report().nats - other.cost.nats
    assert other_share == pytest.approx(math.log(0.05 / 2 * 0.9 * (1 / 2 - 1 / 3)), abs=1.0)


# --- refusals, failures and interrupts ---------------------------------------------------------------------


def test_the_comparison_is_answered_when_the_tolerance_is_met(tmp_path, model, fitted):
    holdout = Holdout(X, Y, tolerance=0.16, ledger=tmp_path / "ledger.db")
    one = certify(holdout, model)
    others = (LogisticRegression(C=0.1 * (number + 1)).fit(*PUBLIC) for number in range(100))
    assert not all(certify(holdout, other, guess=0.1).answered for other in others)
    same, other, again = versions(holdout, model, FIRST, SECOND, FIRST)
    assert (same, other.verdict, again) == (one, "refused", one)
    assert verdicts(holdout) == ["the same", "different", "the same"]


def test_a_refused_question_does_not_reveal_that_the_model_interrupts(tmp_path, model):
    """It would tell for nothing in which way the model differs."""
    holdout = Holdout(X, Y, tolerance=0.5, ledger=tmp_path / "ledger.db")
    certify(holdout, model)
    holdout.top_up(*PUBLIC)
    assert versions(holdout, model, STOPS)[0].verdict == "refused"
    assert verdicts(holdout) == ["different"]


def test_a_failure_is_compared_as_its_symbols(holdout, model):
    _, failed, again = versions(holdout, model, FIRST, FAILS, FAILS)
    assert (failed.verdict, failed.reason, failed.repeated) == ("failed", FAILURES[1], False)
    assert again == failed
    with pytest.raises(KeyboardInterrupt):
        versions(holdout, model, STOPS)
    assert bodies(holdout)[-1]["outcome"]["reason"] == FAILURES[3]
    assert certify(holdout, model).reason == FAILURES[3]  # what is recorded is an answer
    assert versions(holdout, model, FIRST)[0].verdict == "exact"
    assert verdicts(holdout) == ["different", "the same", "different", "the same", "the same"]


# --- privacy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["differential_privacy", "both"])
def test_where_privacy_certifies_nothing_is_compared_on_the_holdout(
    route, model, fitted, tmp_path, monkeypatch
):
    monkeypatch.setattr("sklearn_ada._notices._given", set())
    holdout = Holdout(X, Y, route=route, ledger=tmp_path / "ledger.db")

    def check(model, **guess):
        return holdout.check(model, scoring="accuracy", **(guess or {"guess": 0.7}))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="An answer of the holdout certifies nothing")
        assert check(model, guess_from=PUBLIC) == check(model, guess_from=PUBLIC)
        assert check(fitted) == check(fitted)
        check(model)
        with pytest.warns(UserWarning, match=r"guess_from=\(X_val, y_val\)"):
            assert not check(model).repeated
        check(model)  # one warning a process
    assert verdicts(holdout) == []
    assert holdout.report().asked == {"check": 5, "certify": 0}


@pytest.mark.parametrize("route", ["differential_privacy", "both"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_noise_of_a_question_that_is_asked_anew_is_drawn_anew(route, model, tmp_path):
    """That thirty draws are all in the most frequent cell, of about a third, has a chance below 1e-13."""
    holdout = Holdout(X, Y, route=route, expected_questions=60, random_state=0, ledger=tmp_path / "own.db")
    answers = [certify(holdout, model) for _ in range(30)]
    assert all(answer.answered for answer in answers)
    assert len({answer.value for answer in answers}) > 1


def test_a_choice_is_recognised_by_models_of_libraries_only(model, monkeypatch, tmp_path):
    monkeypatch.setattr("sklearn_ada._notices._given", set())
    holdout = Holdout(X, Y, route="both", ledger=tmp_path / "own.db")
    library = [LogisticRegression(C=c).fit(*PUBLIC) for c in (0.1, 1.0)]
    for _ in range(2):
        holdout.select(library, scoring="accuracy")
    assert len(bodies(holdout)) == 2
    holdout.select([*library, model], scoring="accuracy")
    with pytest.warns(UserWarning, match="guess_from="):
        holdout.select([*library, model], scoring="accuracy")
    assert len(bodies(holdout)) == 4


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_where_the_privacy_budget_is_spent_what_public_rows_confirm_is_still_answered(model, tmp_path):
    policy = {"route": "differential_privacy", "expected_questions": 2}
    holdout = Holdout(X, Y, ledger=tmp_path / "own.db", **policy)
    one = holdout.check(model, scoring="accuracy", guess_from=PUBLIC)
    others = (LogisticRegression(C=c).fit(*PUBLIC) for c in (1, 2, 3))
    answers = [holdout.check(other, scoring="accuracy", guess=0.7) for other in others]
    assert answers[-1].verdict == "refused"
    assert holdout.check(model, scoring="accuracy", guess_from=PUBLIC) == one


# --- at once, in the middle, and from older releases -------------------------------------------------------


def test_threads_that_find_the_same_mismatch_make_one_version(holdout, model):
    certify(holdout, model)
    model.train(SECOND)
    answers = together(*[lambda: certify(holdout, model)] * 6)
    assert all(answer.value == accuracy(SECOND) for answer in answers)
    assert len({answer.index for answer in answers}) == 1
    assert [answer.repeated for answer in answers].count(False) == 1
    assert holdout.report().asked["certify"] == 2


ASKS = """
import pathlib, sys
from tests.public.holdout.asking.test_confirmations import *
ledger, weights = sys.argv[1:]
answer = certify(Holdout(X, Y, ledger=ledger, random_state=0), FromFile(pathlib.Path(weights)))
print(answer.value, answer.index)
"""


@pytest.mark.thorough
def test_processes_that_find_the_same_mismatch_make_one_version(holdout, model):
    certify(holdout, model)
    model.train(SECOND)
    done = together(*[lambda: interpreter(ASKS, holdout.ledger.path, model.path["file"])] * 2)
    (printed,) = {each.stdout for each in done}
    assert float(printed.split()[0]) == accuracy(SECOND)
    assert holdout.report().asked["certify"] == 2


def test_a_version_that_comes_up_between_comparison_and_charge_is_compared_too(holdout, model, monkeypatch):
    """Somebody else asks about a third model under the same key at that moment."""
    certify(holdout, model)
    session, others = type(holdout._session), []
    charge = session.charge

    def interrupted(self, key, decide):
        if key is not None and key.endswith("version 2") and not others:
            others.append(key)
            versions(holdout, model, SECOND)
        return charge(self, key, decide)

    monkeypatch.setattr(session, "charge", interrupted)
    (third,) = versions(holdout, model, THIRD)
    assert (third.value, third.repeated) == (accuracy(THIRD), False)
    keys = [record.key for record in holdout.ledger.records() if record.body.get("kind") == "answer"]
    assert keys[1:] == [f"{keys[0]} version {number}" for number in (2, 3)]
    # A third model is compared with the second one, which it has not been compared with yet.
    assert len(confirmations(holdout)[-1]["compared_with"]) == 1


@pytest.mark.parametrize("charged", [0, 1])
def test_a_question_whose_charge_fails_can_be_asked_again(holdout, model, monkeypatch, charged):
    """At the comparison, or between it and the new answer: what was released is paid for, nothing is lost."""
    one = certify(holdout, model)
    session, calls = type(holdout._session), itertools.count()
    charge = session.charge

    def breaks(self, key, decide):
        if next(calls) == charged:
            raise LedgerUnavailableError("gone")
        return charge(self, key, decide)

    with monkeypatch.context() as patch:
        patch.setattr(session, "charge", breaks)
        with pytest.raises(LedgerError, match="gone"):
            versions(holdout, model, SECOND)
    assert verdicts(holdout) == ["different"] * charged
    other, again = versions(holdout, model, SECOND, FIRST)
    assert (other.value, other.repeated, again) == (accuracy(SECOND), False, one)
    assert verdicts(holdout) == ["different"] * (charged + 1) + ["the same"]


def test_records_of_older_releases_keep_nothing_to_compare_with_and_are_asked_again(model, tmp_path):
    old, new = (Holdout(X, Y, ledger=tmp_path / f"{seed}.db", random_state=seed) for seed in (1, 2))
    certify(old, model)
    *_, record = old.ledger.records()
    body = {name: value for name, value in record.body.items() if name != "said"}
    new.ledger.charge(record.key, lambda state: body)
    again = certify(new, model)
    assert (again.repeated, again.index, verdicts(new)) == (False, 2, [])
    assert certify(new, model) == again
    *_, second, _ = new.ledger.records()
    assert (second.key, verdicts(new)) == (f"{record.key} version 2", ["the same"])


# --- what is shown -----------------------------------------------------------------------------------------


def test_tables_reports_and_files_show_confirmations_and_no_summary(model, fitted, tmp_path, capsys):
    path = str(tmp_path / "ledger.db")
    holdout = Holdout(X, Y, ledger=path, who="ada", label="one")
    *_, answer = versions(holdout, model, FIRST, FIRST, SECOND)
    holdout.select([model, fitted], scoring="accuracy")
    kept = [body["said"] for body in bodies(holdout) if "said" in body]
    assert len(kept) == 3
    report, pages = holdout.report(), {}
    for arguments in ("show --all", "show --json", "show --csv", "report", "report --json", "verify"):
        command, *options = arguments.split()
        main(["ledger", command, path, *options])
        pages[arguments] = capsys.readouterr().out
    shown = [*pages.values(), repr(answer), repr(report), report._repr_html_(), json.dumps(report.to_dicts())]
    shown += [json.dumps(report.to_dict()), pickle.dumps(report).decode("latin-1"), repr(holdout)]
    assert not any(each in text for text in shown for each in kept)
    assert "1 asked again, with the same predictions, 1 asked again, with other predictions" in repr(report)
    assert "asked again or published: 1 with the same predictions, 1 with others" in "".join(pages.values())
    rows = [line for line in pages["show --all"].splitlines() if re.match(r"\d+ .* confirmation ", line)]
    assert ["not as in record 1" in row for row in rows] == [False, True]
    assert AnswersDisplay.from_holdout(holdout).bars_
    same, different = (each for each in json.loads(pages["show --json"]) if each["kind"] == "confirmation")
    shared = {"metric": "accuracy", "purpose": "certify", "who": "ada", "answer": None}
    assert same | shared | {"verdict": "the same", "reason": "as in record 1"} == same
    assert different | shared | {"verdict": "different", "reason": "not as in record 1"} == different
    assert same["nats"] == pytest.approx(1e-3, rel=1e-3)


def test_a_confirmation_of_a_record_that_it_was_not_compared_with_is_damage(holdout, model, capsys):
    versions(holdout, model, FIRST, SECOND, SECOND)
    path = holdout.ledger.path
    rewritten(path, len(bodies(holdout)) - 1, lambda body: body.update(compared_with=[1]))
    assert main(["ledger", "show", str(path)]) == 1
    assert "edited" in capsys.readouterr().err
