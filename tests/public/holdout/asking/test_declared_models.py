"""Models declared before the first look: nothing widens their intervals; too late is refused."""

import math

import numpy as np
import pytest
from scipy import stats

from sklearn_ada import Guess, Holdout
from tests.support import holdouts
from tests.support.models import Column

ROWS, MODELS, BETA = 200, 40, 0.05


def _coins(seed, tmp_path, *, in_file=True):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(2, size=(ROWS, MODELS + 1)), rng.integers(2, size=ROWS)
    ledger = tmp_path / f"{seed}.db" if in_file else ":memory:"
    return Holdout(X, y, ledger=ledger), [Column(column) for column in range(MODELS)]


def _surprise(holdout, count=8):
    """Make the account large by guesses that fail."""
    for k in range(count):
        holdout.check(Column(MODELS), scoring="accuracy", guess=Guess(0.99 - 0.01 * k, 1e6))


def test_nothing_revealed_later_widens_a_declared_interval(tmp_path):
    holdout, models = _coins(0, tmp_path)
    assert holdout.declare(models, scoring="accuracy") == MODELS
    _surprise(holdout)
    assert holdout.report().nats > 30
    declared = holdout.certify(models[3], scoring="accuracy", guess=0.5)
    assert declared.certificate.ln_delta == pytest.approx(math.log(BETA / (4 * MODELS)))
    other = holdout.certify(Column(MODELS), scoring="accuracy", guess=0.5)
    assert other.half_width > 1.5 * declared.half_width


def test_what_was_paid_for_before_the_declaration_widens_it(tmp_path):
    """The class counts may be known, and models chosen by them; so may the mean weight."""
    y = np.random.default_rng(0).integers(100, size=2000)
    often = np.bincount(y, minlength=100) > 20  # right where there are too many records
    X = np.where(often[y], y, (y + 1) % 100)[:, None]
    model, truth = Column(0), often.mean()
    model.classes_ = np.arange(100)
    for declared in (True, False):
        holdout = Holdout(X, y, class_mix="priced", ledger=tmp_path / f"{declared}.db")
        if declared:
            holdout.declare([model], scoring="accuracy")
        low, high = holdout.certify(model, scoring="accuracy", guess=0.5).interval
        assert low <= truth <= high
    weighted = Holdout(X, y, sample_weight=np.ones(2000), weight_bound=2.0, ledger=tmp_path / "weighted.db")
    spent = weighted.report().nats
    weighted.declare([model], scoring="accuracy")
    for k in range(8):
        weighted.check(model, scoring="accuracy", guess=Guess(0.99 - 0.01 * k, 1e6))
    answer = weighted.certify(model, scoring="accuracy", guess=0.5)
    assert answer.certificate.ln_delta == pytest.approx(math.log(BETA / 4) - spent)
    assert spent > 0


def test_another_metric_was_not_declared(tmp_path):
    holdout, models = _coins(0, tmp_path)
    holdout.declare(models, scoring="accuracy")
    _surprise(holdout)
    answer = holdout.certify(models[3], scoring="balanced_accuracy", guess=0.5)
    assert answer.certificate.ln_delta < math.log(BETA / (4 * MODELS)) - 10


def test_the_others_pay_ln_2_and_the_first_still_gets_the_better_share(tmp_path):
    plain, _ = _coins(0, tmp_path)
    first = plain.certify(Column(MODELS), scoring="accuracy", guess=0.5)
    holdout, models = _coins(1, tmp_path)
    holdout.declare(models, scoring="accuracy")
    undeclared = holdout.certify(Column(MODELS), scoring="accuracy", guess=0.5)
    assert first.certificate.ln_delta - undeclared.certificate.ln_delta == pytest.approx(math.log(2.0))


def test_declaring_after_a_question_is_refused_and_again_is_free(tmp_path):
    holdout, models = _coins(0, tmp_path)
    holdout.declare(models, scoring="accuracy")
    assert holdout.declare(models[::-1], scoring="accuracy") == MODELS
    with pytest.raises(ValueError, match="declared before the first question"):
        holdout.declare(models[:3], scoring="accuracy")
    asked, models = _coins(1, tmp_path)
    asked.check(models[0], scoring="accuracy", guess=0.5)
    with pytest.raises(ValueError, match="declared before the first question"):
        asked.declare(models, scoring="accuracy")


@pytest.mark.parametrize(
    ("name", "why"), [("precision", "tuned by its guess"), ("f1", "tuned"), ("f1_macro", "on a median")]
)
def test_a_metric_without_one_fixed_interval_is_refused(name, why, tmp_path):
    holdout, models = _coins(0, tmp_path)
    with pytest.raises(ValueError, match=rf"^The 'scoring' parameter of Holdout.declare must be .*{why}"):
        holdout.declare(models, scoring=name)
    assert holdout.ledger.read(lambda state: state.is_untouched)


def test_rows_that_are_added_end_the_declaration(tmp_path):
    holdout, models = _coins(0, tmp_path)
    holdout.declare(models, scoring="accuracy")
    _surprise(holdout)
    rng = np.random.default_rng(9)
    larger = holdout.top_up(rng.integers(2, size=(50, MODELS + 1)), rng.integers(2, size=50))
    answer = larger.certify(models[0], scoring="accuracy", guess=0.5)
    assert answer.certificate.ln_delta < math.log(BETA / (4 * MODELS)) - 10


@pytest.mark.parametrize("models", [[], [Column(0), Column(0)]], ids=["none", "twice the same"])
def test_bad_models_are_named(models, tmp_path):
    holdout, _ = _coins(0, tmp_path)
    with pytest.raises(ValueError, match=r"The 'models' parameter of Holdout\.declare"):
        holdout.declare(models, scoring="accuracy")


def _misses(tmp_path, seeds):
    """Reveal every model's value, then look at all declared intervals: is any of them wrong?"""
    missed = 0
    for seed in seeds:
        holdout, models = _coins(seed, tmp_path, in_file=False)
        holdout.declare(models, scoring="accuracy")
        answers = [holdout.certify(model, scoring="accuracy", guess=0.5) for model in models]
        missed += any(not answer.interval[0] <= 0.5 <= answer.interval[1] for answer in answers)
    return missed


@pytest.mark.thorough
def test_declared_intervals_cover_at_once_and_without_their_number_they_would_not(tmp_path, monkeypatch):
    runs = 25
    assert stats.binom.sf(_misses(tmp_path, range(runs)) - 1, runs, BETA) > 1e-6

    def without_number(self, member, share):
        return type(share)(math.log(BETA / 2.0), share.nats)

    monkeypatch.setattr(holdouts.State, "declared", without_number)
    assert stats.binom.sf(_misses(tmp_path, range(runs, 2 * runs)) - 1, runs, BETA) < 1e-6
