"""What is left is foretold by the rules that will decide: asked for real, it comes true."""

import json
import math

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.accounting import Code, CodedRelease, DescriptionLength, SelfComposedEvent, Symbol
from sklearn_ada.guarantees import Tilt, round_weight
from tests.support import holdouts
from tests.support.models import RightOfLabels

ROWS = 2000


@pytest.fixture
def opened(tmp_path):
    labels = np.arange(ROWS) % 2
    X = np.column_stack([np.arange(ROWS) / ROWS, labels])
    return lambda **policy: Holdout(X, labels, ledger=tmp_path / "ledger.db", **policy)


def ask(holdout, purpose, number, share=0.5, guess=None):
    """Ask about a model that is right about a share of the rows; ``number`` makes it another one."""
    how = {"scoring": "accuracy", "purpose": purpose, "guess": share if guess is None else guess}
    return holdouts.ask(holdout, RightOfLabels(share, number), **how)


def forecasts(holdout, purpose):
    return {f.after: f.half_width for f in holdout.report().outlook.forecasts if f.purpose == purpose}


@pytest.mark.parametrize(
    ("purpose", "tolerance", "expected"),
    [("certify", 0.06, None), ("check", 0.112, None), ("check", 0.105, 30), ("check", 0.09093, 10),
     ("check", 0.1, 7)],
)  # fmt: skip
def test_as_many_questions_are_admitted_as_remaining_says(opened, purpose, tolerance, expected):
    """Each guess is exact and as bad to certify as can be, as `remaining` supposes."""
    holdout = opened(tolerance=tolerance, expected_questions=expected)
    foretold, admitted = holdout.remaining(purpose=purpose), 0
    assert holdout.report().outlook.remaining[purpose] == foretold
    while ask(holdout, purpose, admitted).answered:
        admitted += 1
    assert admitted == foretold > 1
    assert holdout.remaining(purpose=purpose) == 0


def test_without_a_tolerance_there_is_no_last_question(opened):
    holdout = opened()
    assert holdout.remaining() is None
    assert holdout.report().outlook.remaining == {"check": None, "certify": None}
    assert all(forecast.admitted for forecast in holdout.report().outlook.forecasts)


@pytest.mark.parametrize("after", [0, 1, 10])
@pytest.mark.parametrize("purpose", ["check", "certify"])
def test_after_so_many_held_checks_the_interval_is_as_wide_as_foretold(opened, purpose, after):
    holdout = opened(expected_questions=50)
    ask(holdout, "check", 1000, share=0.9)  # the value that is foreseen
    assert holdout.report().outlook.value == 0.9
    foretold = forecasts(holdout, purpose)[after]
    assert {ask(holdout, "check", number, share=0.9).verdict for number in range(after)} <= {"agrees"}
    assert ask(holdout, purpose, 0.5, share=0.9).half_width == pytest.approx(foretold, rel=1e-12)


@pytest.mark.parametrize("answers", ["coarse", "auto"])
@pytest.mark.parametrize("after", [0, 1, 10])
def test_where_there_are_cells_the_next_search_is_told_as_foretold(opened, answers, after):
    holdout = opened(answers=answers)
    if answers == "coarse":  # with "auto" the first answer is among those foretold
        ask(holdout, "certify", 1000, share=0.9)
    share, foretold = holdout.report().outlook.value, forecasts(holdout, "certify")[after]
    for number in range(after):
        ask(holdout, "certify", number, share=share)
    assert ask(holdout, "certify", 0.5, share=share).half_width == pytest.approx(foretold, rel=0.02)


def test_an_outlook_foretells_what_publish_would_release(opened):
    holdout = opened(answers="coarse")
    for number in range(5):
        ask(holdout, "certify", number, share=0.9)
    foretold = holdout.report().outlook.published
    body = json.loads(json.dumps(holdout.report().outlook.to_dict(), allow_nan=False))
    assert body["published"] == foretold
    # This model is asked about first, for a thousandth part of the purse and of a nat.
    final = holdout.publish(RightOfLabels(0.9, 77), scoring="accuracy", guess=0.9)
    assert final.half_width == pytest.approx(foretold, rel=0.03)


def test_the_forecast_of_a_certify_is_the_tilted_binomial_interval(opened):
    """Written down a second time, with the price of the held checks from the urn itself."""
    for after, half_width in forecasts(opened(expected_questions=50), "certify").items():
        urn = DescriptionLength(Code())
        for _ in range(after):
            urn.record(CodedRelease((Symbol("cells", 0),)))
        delta = 0.05 * 0.9 * round_weight("certify", 0, 1) * math.exp(-urn.nats)
        tilt = Tilt(0.5, ROWS, ROWS, identical_rows=False)
        low, high = tilt.interval(ROWS // 2, ROWS // 2, math.log(delta))
        assert half_width == pytest.approx((high - low) / 2, rel=1e-6)


def test_the_worst_case_is_wider_than_the_likely_one_and_shows_a_surprise(opened):
    holdout = opened()
    ask(holdout, "check", 0, share=0.95)
    before = holdout.report().outlook.forecasts
    assert all(forecast.half_width < forecast.worst for forecast in before)
    ask(holdout, "check", 0, guess=0.9)
    after = holdout.report().outlook.forecasts
    assert all(b.worst < a.worst for b, a in zip(before, after, strict=True))


def test_admission_is_foretold_and_an_outlook_is_ready_for_json(opened):
    holdout = opened(tolerance=0.103, expected_questions=10)
    body = json.loads(json.dumps(holdout.report().outlook.to_dict(), allow_nan=False))
    assert set(body) == {"value", "remaining", "forecasts"}
    assert [f["after"] for f in body["forecasts"]] == [0, 1, 10, 100] * 2
    left = holdout.remaining()
    admitted = {f.after: f.admitted for f in holdout.report().outlook.forecasts if f.purpose == "check"}
    assert admitted == {after: after < left for after in (0, 1, 10, 100)}
    assert 1 < left < 100


@pytest.mark.parametrize("history", [(), (0, 0, 3), (0,) * 40, (1, -1, 2)])
@pytest.mark.parametrize("symbol", [Symbol("cells", 0), Symbol("cells", 1), Symbol("lattice", 0, 5.0)])
def test_repeats_cost_what_they_cost_one_by_one(history, symbol):
    account = DescriptionLength(Code())
    for value in history:
        account.record(CodedRelease((Symbol("cells", value),)))
    for count in (1, 2, 57):
        expected = account.price(SelfComposedEvent(CodedRelease((symbol,)), count))
        assert account.price_of_repeats(symbol, count) == pytest.approx(expected, abs=1e-9)
    assert account.price_of_repeats(symbol, 0) == 0.0
