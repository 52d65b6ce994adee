"""Once the holdout was looked at, an error is an answer: it is recorded, priced, and says nothing else."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from sklearn_ada import (
    Guess,
    Holdout,
    LadderScorer,
    LadderSettings,
    MedianSettings,
    NoiseSettings,
    ThresholdoutScorer,
)
from sklearn_ada.accounting import FAILURES
from sklearn_ada.questions.coded import CodedQuestion
from sklearn_ada.questions.ladder_check import LadderQuestion
from sklearn_ada.questions.noisy import GaussianQuestion, NoisyCheck
from sklearn_ada.questions.question import Outcome
from sklearn_ada.questions.stable_median import StableQuestion
from tests.support import holdouts
from tests.support.ledgers import bodies

UNCODED, DECIDE = FAILURES[6], LogisticRegression.decision_function

KINDS = {
    "cells": (CodedQuestion, "description_length", None),
    "ladder": (LadderQuestion, "description_length", LadderSettings()),
    "laplace": (NoisyCheck, "description_length", NoiseSettings("laplace")),
    "median": (StableQuestion, "description_length", MedianSettings()),
    "gaussian": (GaussianQuestion, "both", None),
    "private median": (StableQuestion, "differential_privacy", MedianSettings()),
}


@pytest.fixture(params=KINDS)
def asked(request, rows, model, tmp_path, monkeypatch):
    """A holdout, the answer of a mechanism that raised once it had seen the value, and how to ask again."""
    kind, route, how = KINDS[request.param]
    release = kind.release

    def raising(self, sealed, share, draw):
        if isinstance(sealed, tuple) and isinstance(sealed[0].value, str):
            return release(self, sealed, share, draw)
        raise ArithmeticError(f"the value is {sealed}")

    holdout = Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db", route=route)

    def ask(scoring="accuracy"):
        return holdout.check(model, scoring=scoring, guess=0.8, settings=how)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "release", raising)
        return holdout, ask(), ask


def test_a_mechanism_that_raises_gives_a_priced_failure_and_others_go_on(asked):
    holdout, failed, ask = asked
    assert (failed.verdict, failed.reason) == ("failed", UNCODED)
    assert failed.cost.nats == holdout.report().nats == pytest.approx(-math.log(0.001 / len(FAILURES)))
    assert failed.certificate.vacuous
    assert "the value is" not in f"{failed!r} {bodies(holdout)!r}"
    again, other = ask(), ask("balanced_accuracy")
    assert (again.repeated, again.reason) == (True, failed.reason)
    assert other.verdict != "failed"
    assert (other.verdict == "refused") == (holdout.route == "differential_privacy")  # that route has ended


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_an_answer_that_cannot_be_written_is_a_failure(holdout, model, monkeypatch, value):
    to_dict = Outcome.to_dict

    def unwritable(self):
        return to_dict(self) if self.verdict == "failed" else {**to_dict(self), "value": value}

    monkeypatch.setattr(Outcome, "to_dict", unwritable)
    assert holdout.check(model, scoring="accuracy", guess=0.8).reason == UNCODED


@pytest.mark.parametrize("epsilon", [None, "auto"])
def test_a_choice_that_raises_is_charged(holdout, rows, model, monkeypatch, epsilon):
    def raising(*args, **kwargs):
        raise FloatingPointError("the values are 0.8, 0.7")

    other = LogisticRegression(C=1e-4).fit(rows[0], rows[1])
    with monkeypatch.context() as patch:
        patch.setattr("sklearn_ada.holdout.choice.exponential_mechanism", raising)
        patch.setattr(np, "argmax", raising)
        with pytest.raises(ValueError, match="could not choose among 2 models") as caught:
            holdout.select([model, other], scoring="accuracy", epsilon=epsilon)
    assert "0.8" not in str(caught.value)
    assert holdout.report().nats == pytest.approx(-math.log(0.001 / len(FAILURES)))
    with pytest.raises(ValueError, match="could not choose"):  # recorded: it is not tried again
        holdout.select([model, other], scoring="accuracy", epsilon=epsilon)


POSITIVE = st.floats(min_value=5e-324, max_value=1.7e308)
HOW = st.one_of(
    st.none(),
    POSITIVE,
    st.builds(LadderSettings, POSITIVE),
    st.builds(NoiseSettings, st.sampled_from(["laplace", "gaussian"]), POSITIVE, st.none(), POSITIVE),
    st.builds(NoiseSettings, st.sampled_from(["laplace", "gaussian"])),
    st.builds(MedianSettings, epsilon=POSITIVE, method=st.sampled_from(["exponential", "binary_search"])),
)


AMOUNT = st.none() | POSITIVE
LEAST = 2.2250738585072014e-308  # of which the reciprocal is finite, but no multiple of that is


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    how=HOW,
    scoring=st.sampled_from(["accuracy", "neg_brier_score", "roc_auc", "f1"]),
    purpose=st.sampled_from(["check", "certify"]),
    guess=st.builds(Guess, st.floats(-1, 1), AMOUNT, AMOUNT, AMOUNT),
)
@example(
    how=MedianSettings(epsilon=LEAST, method="exponential"), scoring="f1", purpose="check", guess=Guess(0)
)
@example(
    how=MedianSettings(epsilon=LEAST, method="exponential"), scoring="f1", purpose="certify", guess=Guess(0)
)
def test_whatever_is_asked_either_nothing_was_looked_at_or_it_is_charged(
    rows, model, monkeypatch, how, scoring, purpose, guess
):
    looked = []
    look = "sklearn.linear_model.LogisticRegression.decision_function"
    monkeypatch.setattr(look, lambda *args: looked.append(1) or DECIDE(*args))
    holdout = Holdout(rows[2], rows[3])
    try:
        answer = holdouts.ask(holdout, model, scoring=scoring, purpose=purpose, guess=guess, settings=how)
    except ValueError:
        assert not looked
    else:
        assert answer.verdict == "refused" or holdout.report().nats > 0


@pytest.mark.parametrize("least", [1e-18, 1e-13])
def test_cells_finer_than_values_are_are_refused(holdout, model, uncharged, sentence, least):
    with uncharged(holdout):
        for name, how in (
            ("threshold", least),
            ("threshold", NoiseSettings("laplace", threshold=least)),
            ("step", LadderSettings(least)),
        ):
            with pytest.raises(ValueError, match=sentence(name)):
                holdout.check(model, scoring="accuracy", guess=0.8, settings=how)
        with pytest.raises(ValueError, match=sentence("threshold", "ThresholdoutScorer")):
            ThresholdoutScorer("accuracy", holdout, threshold=least)
        with pytest.raises(ValueError, match=sentence("step", "LadderScorer")):
            LadderScorer("accuracy", holdout, step=least)(model, np.zeros((4, 5)), np.array([0, 1, 0, 1]))


@pytest.mark.parametrize("part", ["size", "deviation", "share"])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, "many"])
def test_a_guess_that_is_none_is_refused(holdout, model, uncharged, sentence, part, value):
    with uncharged(holdout), pytest.raises(ValueError, match=sentence(part, "Guess")):
        holdout.check(model, scoring="accuracy", guess=Guess(0.8, **{part: value}))
