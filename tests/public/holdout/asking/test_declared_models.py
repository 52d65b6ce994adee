"""Models declared before the first look: nothing widens their intervals; too late is refused."""

import math

import numpy as np
import pytest
from scipy import stats

from sklearn_ada import Guess, Holdout, Metric
from tests.support import holdouts
from tests.support.ledgers import begun_as, rewritten
from tests.support.models import Column

ROWS, MODELS, BETA = 200, 40, 0.05
COINS, OTHER = [Column(column) for column in range(MODELS)], Column(MODELS)
LEVEL = math.log(BETA / (4 * MODELS))


def opened(seed, ledger=":memory:"):
    rng = np.random.default_rng(seed)
    return Holdout(rng.integers(2, size=(ROWS, MODELS + 1)), rng.integers(2, size=ROWS), ledger=ledger)


@pytest.fixture
def holdout(tmp_path):
    return opened(0, tmp_path / "ledger.db")


def declare(holdout):
    return holdout.declare(COINS, scoring="accuracy")


def certify(holdout, model, scoring="accuracy"):
    return holdout.certify(model, scoring=scoring, guess=0.5)


def surprise(holdout, model=OTHER):
    """Make the account large by guesses that fail."""
    for k in range(8):
        guess = Guess(0.99 - 0.01 * k, 1e6)
        holdout.check(model, scoring="accuracy", guess=guess, settings=0.01 + 0.0001 * k)


def test_nothing_revealed_later_widens_a_declared_interval_of_the_declared_metric(holdout):
    assert declare(holdout) == MODELS
    surprise(holdout)
    assert holdout.report().nats > 30
    declared = certify(holdout, COINS[3])
    assert declared.certificate.ln_delta == pytest.approx(LEVEL)
    assert certify(holdout, OTHER).half_width > 1.5 * declared.half_width
    assert certify(holdout, COINS[3], "balanced_accuracy").certificate.ln_delta < LEVEL - 10


def test_what_was_paid_for_before_the_declaration_widens_it(tmp_path):
    """The class counts may be known, and models chosen by them; so may the mean weight."""
    y = np.random.default_rng(0).integers(100, size=2000)
    often = np.bincount(y, minlength=100) > 20  # right where there are too many records
    X, model, truth = np.where(often[y], y, (y + 1) % 100)[:, None], Column(0), often.mean()
    model.classes_ = np.arange(100)
    for declared in (True, False):
        holdout = Holdout(X, y, class_mix="priced", ledger=tmp_path / f"{declared}.db")
        if declared:
            holdout.declare([model], scoring="accuracy")
        low, high = certify(holdout, model).interval
        assert low <= truth <= high
    weighted = Holdout(X, y, sample_weight=np.ones(2000), weight_bound=2.0, ledger=tmp_path / "weighted.db")
    spent = weighted.report().nats
    weighted.declare([model], scoring="accuracy")
    surprise(weighted, model)
    assert certify(weighted, model).certificate.ln_delta == pytest.approx(math.log(BETA / 4) - spent)
    assert spent > 0


def test_the_others_pay_ln_2_and_the_first_still_gets_the_better_share(holdout, tmp_path):
    plain = opened(1, tmp_path / "plain.db")
    declare(holdout)
    first, undeclared = (certify(each, OTHER).certificate.ln_delta for each in (plain, holdout))
    assert first - undeclared == pytest.approx(math.log(2.0))


def test_declaring_after_a_question_is_refused_and_again_is_free(holdout, tmp_path):
    declare(holdout)
    assert holdout.declare(COINS[::-1], scoring="accuracy") == MODELS
    asked = opened(1, tmp_path / "asked.db")
    certify(asked, COINS[0])
    for late, models in ((holdout, COINS[:3]), (asked, COINS)):
        with pytest.raises(ValueError, match="declared before the first question"):
            late.declare(models, scoring="accuracy")


BAD = [
    *((name, COINS, "scoring", why)
      for name, why in (("precision", "tuned by its guess"), ("f1", "tuned"), ("f1_macro", "on a median"))),
    ("accuracy", [], "models", ""),
    ("accuracy", [Column(0), Column(0)], "models", ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "models", "parameter", "why"), BAD)
def test_bad_models_and_metrics_without_one_fixed_interval_are_refused(name, models, parameter, why, holdout):
    with pytest.raises(ValueError, match=rf"^The '{parameter}' parameter of Holdout.declare must be .*{why}"):
        holdout.declare(models, scoring=name)
    assert holdout.ledger.read(lambda state: state.is_untouched)


def test_rows_that_are_added_end_the_declaration(holdout):
    declare(holdout)
    surprise(holdout)
    rng = np.random.default_rng(9)
    larger = holdout.top_up(rng.integers(2, size=(50, MODELS + 1)), rng.integers(2, size=50))
    assert certify(larger, COINS[0]).certificate.ln_delta < LEVEL - 10


def misses(seeds):
    """Reveal every model's value, then look at all declared intervals: is any of them wrong?"""
    missed = 0
    for holdout in map(opened, seeds):
        declare(holdout)
        intervals = [certify(holdout, model).interval for model in COINS]
        missed += any(not low <= 0.5 <= high for low, high in intervals)
    return missed


@pytest.mark.thorough
def test_declared_intervals_cover_at_once_and_without_their_number_they_would_not(monkeypatch):
    runs = 25
    assert stats.binom.sf(misses(range(runs)) - 1, runs, BETA) > 1e-6

    def without_number(self, member, allowance):
        return type(allowance)(math.log(BETA / 2.0), allowance.nats)

    monkeypatch.setattr(holdouts.State, "with_declared", without_number)
    assert stats.binom.sf(misses(range(runs, 2 * runs)) - 1, runs, BETA) < 1e-6


ERRORS = Metric("neg_mean_absolute_error", range=(-1.0, 0.0))


def with_errors(rows, guess):
    """Return validation rows on which the errors of a model of column 0 are spread as a guess has them."""
    y = np.arange(40) + 0.5
    errors = np.r_[np.zeros(20), np.full(20, min(2 * guess, 1.0))]
    return np.c_[y + errors, np.tile(0.0, (40, rows - 1))], y


def numbers(seed=0, columns=3, ledger=":memory:"):
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(ROWS)
    X = np.c_[y + rng.random(ROWS), rng.standard_normal((ROWS, columns - 1))]
    return Holdout(X, y, ledger=ledger)


ASKED_AGAIN = {
    "other validation rows": lambda holdout, metric, k: holdout.certify(
        COINS[0], scoring=metric, guess_from=with_errors(3, 0.1 + 0.05 * k)
    ),
    "other deviations": lambda holdout, metric, k: holdout.certify(
        COINS[0], scoring=metric, guess=Guess(-0.5, 40.0, 0.02 + 0.05 * k)
    ),
    "other values": lambda holdout, metric, k: holdout.certify(
        COINS[0], scoring=metric, guess=Guess(-0.3 - 0.05 * k, 40.0, 0.3)
    ),
    "published": lambda holdout, metric, k: holdout.publish(
        COINS[0], scoring=metric, guess=Guess(-0.3 - 0.05 * k, 40.0, 0.3)
    ),
}  # fmt: skip


@pytest.mark.parametrize("error", ["neg_mean_absolute_error", "neg_root_mean_squared_error"])
@pytest.mark.parametrize("ask", ASKED_AGAIN.values(), ids=ASKED_AGAIN)
def test_the_share_of_a_declared_model_is_for_one_interval_whatever_the_guess(ask, error):
    """Of bets tuned by each guess the luckiest would count: .50 for .36 in an exact enumeration."""
    holdout, metric = numbers(), Metric(error, range=(-1.0, 0.0))
    holdout.declare([COINS[0]], scoring=metric)
    answers = [ask(holdout, metric, k) for k in range(6)]
    for answer in answers:
        assert answer.certificate.ln_delta >= math.log(BETA / 4) - 1e-9
        assert "betting" not in answer.certificate.theorem
    ends = np.array([answer.interval for answer in answers[1:]])
    assert (np.ptp(ends, axis=0) < 0.03).all()  # but for cells, and the variance as it is rounded


def test_a_model_that_was_not_declared_still_has_bets():
    holdout = numbers()
    holdout.declare([COINS[0]], scoring=ERRORS)
    answer = holdout.certify(COINS[1], scoring=ERRORS, guess_from=with_errors(3, 0.2))
    assert "betting" in answer.certificate.theorem


def test_in_an_old_ledger_a_share_that_was_given_to_an_interval_of_all_rows_is_not_given_again(tmp_path):
    with begun_as(1):
        holdout = numbers(ledger=tmp_path / "old.db")
    holdout.declare(COINS[:2], scoring=ERRORS)
    asked = [holdout.certify(model, scoring=ERRORS, guess=Guess(-0.5, 40.0, 0.3)) for model in COINS[:2]]
    assert asked[1].certificate.ln_delta == pytest.approx(math.log(BETA / 8))

    def as_by_an_older_release(body):
        body["mechanism"]["interval"] = {"construction": "predictable bets"}

    rewritten(tmp_path / "old.db", asked[0].index, as_by_an_older_release)
    spent, kept = (
        numbers(ledger=tmp_path / "old.db").certify(model, scoring=ERRORS, guess=Guess(-0.4, 40.0, 0.3))
        for model in COINS[:2]
    )
    assert kept.certificate.ln_delta == pytest.approx(math.log(BETA / 8))
    assert spent.certificate.ln_delta < math.log(BETA / 8) - 1.0


@pytest.mark.parametrize("answers", ["exact", "coarse"])
@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy"])
def test_no_guess_tilts_or_tunes_what_a_declared_model_is_certified_with(name, answers, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(ROWS, MODELS + 1)), rng.integers(2, size=ROWS)
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db", answers=answers)
    holdout.declare(COINS[:1], scoring=name)
    asked = [
        holdout.certify(COINS[0], scoring=name, guess=Guess(0.3 + 0.1 * k, 50.0 + 100.0 * k))
        for k in range(5)
    ]
    level = math.log(BETA / 4 * (0.8 if answers == "coarse" else 1.0))
    assert all(answer.certificate.ln_delta >= level - 1e-9 for answer in asked)
    assert not any("tilted" in answer.certificate.theorem for answer in asked)
    if answers == "exact":
        assert np.ptp([answer.interval for answer in asked[1:]], axis=0) == pytest.approx(0.0, abs=0.01)
