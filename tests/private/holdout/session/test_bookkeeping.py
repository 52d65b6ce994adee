"""The ledger's prices and levels against arithmetic written down a second time."""

import math
from collections import Counter

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout
from sklearn_ada.questions.question import Outcome
from tests.support import holdouts

GUESSES = (0.8, 0.81, 0.5, 0.82, 0.1, 0.83, 0.99, 0.79)


@pytest.fixture
def conversation(rows, tmp_path):
    """A holdout that was asked about several models, with good and with absurd guesses."""
    holdout = Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db", confidence_level=0.9)
    for number, guess in enumerate(GUESSES):
        model = LogisticRegression(C=2.0**-number).fit(rows[0], rows[1])
        holdout.check(model, scoring="accuracy", guess=guess)
        if number % 3 == 0:
            holdout.certify(model, scoring="accuracy", guess=guess)
    return holdout


@pytest.fixture
def answers(conversation):
    return [record.body for record in conversation.ledger.records() if record.body.get("kind") == "answer"]


def test_the_prices_in_the_ledger_are_those_of_answers_and_add_up_to_the_account(conversation, answers):
    prices = [body["price"] for body in answers]
    assert len(prices) == 11
    assert conversation.report().nats == pytest.approx(math.fsum(prices))
    assert [answer.cost.nats for _, answer in conversation.report().answers] == prices


def test_coarse_cells_are_priced_by_the_urn(conversation, answers):
    code = conversation.ledger.genesis["code"]
    a, t, w, e0 = (code[name] for name in ("urn_weight", "decay", "tail_mass", "failure_mass"))
    seen = Counter()
    for body in answers:
        (symbol,) = body["event"]["symbols"]
        if symbol["stream"] != "cells":
            continue
        z = symbol["value"]
        tail = (math.atan(z + 0.5) - math.atan(z - 0.5)) / math.pi
        prior = (1 - e0) * ((1 - w) * (1 - t) / (1 + t) * t ** abs(z) + w * tail)
        chance = (seen[z] + a * prior) / (seen.total() + a)
        assert body["price"] == pytest.approx(-math.log(chance))
        seen[z] += 1
    assert len(seen) > 1  # there was a surprise
    assert seen.total() == len(GUESSES)


def test_fine_cells_are_priced_by_a_rounded_cauchy_law(conversation, answers):
    e0 = conversation.ledger.genesis["code"]["failure_mass"]
    symbols = [body["event"]["symbols"][0] | {"price": body["price"]} for body in answers]
    exact = [symbol for symbol in symbols if symbol["stream"] == "lattice"]
    assert len(exact) == 3
    for symbol in exact:
        z, scale = symbol["value"], symbol["scale"]
        mass = (math.atan((z + 0.5) / scale) - math.atan((z - 0.5) / scale)) / math.pi
        assert symbol["price"] == pytest.approx(-math.log((1 - e0) * mass))


def test_each_level_uses_the_nats_from_before_its_own_answer(conversation, answers):
    nats, asked = 0.0, Counter()
    for body in answers:
        purpose = body["purpose"]
        asked[purpose] += 1
        j = asked[purpose]
        if purpose == "check":
            weight, share = 1 / (j * (j + 1)), 0.1
        else:
            weight, share = (0.8 if j == 1 else 0.2 / ((j - 1) * j)), 0.9
        assert body["ln_delta"] == pytest.approx(math.log(0.1 * share * weight) - nats)
        nats += body["price"]


def test_questions_of_one_round_share_its_weight_and_each_has_the_nats_of_its_own_record(rows, tmp_path):
    holdout = Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db")
    planned = {"purpose": "check", "scoring": "accuracy"}
    assert holdouts.open_round(holdout, 4, **planned, name="four") == "four"
    assert holdouts.open_round(holdout, 4, **planned, name="four") is None  # and no second share
    assert holdout.report().asked["check"] == 4
    for number in range(5):
        model = LogisticRegression(C=2.0**-number).fit(rows[0], rows[1])
        holdouts.ask(holdout, model, **planned, guess=0.2, round_name="four")
    answers = [answer for _, answer in holdout.report().answers]
    before = np.cumsum([0.0] + [answer.cost.nats for answer in answers])  # a model may have read them
    deltas = np.array([answer.certificate.ln_delta for answer in answers])
    assert deltas[:4] + before[:4] == pytest.approx([math.log(0.05 * 0.1 * (1 - 1 / 5) / 4)] * 4)
    assert deltas[4] < deltas[0] - 5  # the fifth stands alone


def test_an_outcome_has_no_verdict_that_nobody_knows_how_to_show():
    Outcome(0.5, (0.4, 0.6), "improves", "theorem", "target", False)
    with pytest.raises(ValueError, match=r"^The 'verdict' parameter of Outcome must be one of 'agrees', .+"):
        Outcome(0.5, (0.4, 0.6), "improved", "theorem", "target", False)
