"""A holdout that was used before its ledger was begun: what that costs, whom it protects, bad input."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout, ReusableHoldoutCV, bits_of_choice
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerMismatchError
from tests.support.laws import is_too_often
from tests.support.models import Column
from tests.support.searches import grid

X, Y = make_classification(3000, 6, flip_y=0.1, random_state=0)
MODEL = LogisticRegression().fit(X[:1000], Y[:1000])
HELD = X[1000:], Y[1000:]
NAMED = "before can be named in 10 bits"


def asked(path, **how):
    holdout = Holdout(*HELD, ledger=path, **how)
    return holdout, holdout.certify(MODEL, scoring="accuracy", guess=0.9)


@pytest.mark.parametrize("route", ["description_length", "differential_privacy", "both"])
def test_bits_are_paid_for_on_both_routes_and_named_in_every_certificate(route, tmp_path):
    (_, fresh), (used, answer) = (
        asked(tmp_path / f"{bits}.db", route=route, used_before=bits) for bits in (0, 10)
    )
    assert NAMED in str(answer.certificate.assumptions)
    assert "since the ledger was begun" in str(answer.certificate.assumptions)
    assert "named in" not in str(fresh.certificate.assumptions)
    assert answer.certificate.ln_delta == pytest.approx(fresh.certificate.ln_delta - 10 * math.log(2))
    assert used.report().nats > 10 * math.log(2)
    again, repeated = asked(tmp_path / "10.db", route=route)  # as it was begun
    assert repeated.interval == answer.interval
    again.export(tmp_path / "certificate.json")
    assert NAMED in (tmp_path / "certificate.json").read_text()
    assert main(["ledger", "verify", str(tmp_path / "10.db")]) == 0


def test_a_ledger_without_them_is_begun_as_it_always_was(tmp_path):
    bodies = [Holdout(*HELD, ledger=tmp_path / f"{n}.db", **how).ledger.genesis for n, how in
              enumerate(({}, {"used_before": 0}))]  # fmt: skip
    assert all("used_before" not in json.dumps(body) for body in bodies)


def of_coins(seed, **how):
    """Return the answer about the best of 256 models on coins, which was chosen by the holdout itself."""
    rng = np.random.default_rng(seed)
    said, y = rng.integers(0, 2, (100, 256)), rng.integers(0, 2, 100)
    best = int(np.argmax((said == y[:, None]).mean(axis=0)))
    holdout = Holdout(said, y, ledger=":memory:", confidence_level=0.5, **how)
    return holdout.certify(Column(best), scoring="accuracy", guess=0.5)


def test_what_was_chosen_before_misses_without_its_bits_and_not_with_them():
    fresh, used = ([of_coins([seed, k], **how) for seed in range(40)] for k, how in
                   enumerate(({}, {"used_before": bits_of_choice(1, 256)})))  # fmt: skip
    missed = [sum(not a.interval[0] <= 0.5 <= a.interval[1] for a in answers) for answers in (fresh, used)]
    assert is_too_often(missed[0], 40, 0.5)
    assert not is_too_often(missed[1], 40, 0.5)


def test_bits_are_fixed_with_the_ledger_and_a_search_passes_them_on(tmp_path):
    asked(tmp_path / "begun.db", used_before=10)
    for bits in (5, 0, 10.5):
        with pytest.raises(LedgerMismatchError, match="used_before"):
            asked(tmp_path / "begun.db", used_before=bits)
    asked(tmp_path / "plain.db")
    with pytest.raises(LedgerMismatchError, match="used_before"):
        asked(tmp_path / "plain.db", used_before=10)
    search = ReusableHoldoutCV(grid(), ledger=tmp_path / "search.db", used_before=10).fit(X, Y)
    assert NAMED in str(search.best_answer_.certificate.assumptions)


def test_the_page_has_the_widths(tmp_path):
    page = " ".join((Path(__file__).parents[3] / "docs" / "faq.rst").read_text().split())
    assert "2.0, 3.3, 5.0 and 7.3 times as wide as a plain one for 10, 30, 70 and 150" in page
    y = np.arange(10_000) % 2
    said = np.where(np.random.default_rng(0).random(10_000) < 0.9, y, 1 - y)[:, None]
    for bits, width in ((10, 2.0), (30, 3.3), (70, 5.0), (150, 7.3)):
        holdout = Holdout(said, y, ledger=tmp_path / f"{bits}.db", used_before=bits, answers="coarse")
        answer = holdout.publish(Column(0), scoring="accuracy", guess=0.9)
        assert answer.half_width / (1.96 * 0.3 / 100) == pytest.approx(width, rel=0.03)


@pytest.mark.parametrize("bits", [-1, math.inf, math.nan, "ten", True])
def test_bits_are_a_number_of_at_least_none(bits, tmp_path, sentence):
    with pytest.raises(ValueError, match=sentence("used_before", "Holdout")):
        Holdout(*HELD, ledger=tmp_path / "ledger.db", used_before=bits)
    with pytest.raises(ValueError, match=sentence("used_before", "ReusableHoldoutCV")):
        ReusableHoldoutCV(grid(), used_before=bits).fit(X, Y)
    with pytest.raises(ValueError, match=sentence("used_before", "ReusableHoldoutCV")):
        ReusableHoldoutCV(grid(), holdout=Holdout(*HELD), used_before=bits).fit(X, Y)


@pytest.mark.parametrize(
    ("how", "alternatives"),
    [
        ({}, 1), ({"candidates": 8}, 8), ({"searches": 3, "candidates": 4}, 64),
        ({"searches": 2, "candidates": 2, "n_values": 8}, 256),
    ],
)  # fmt: skip
def test_bits_count_alternatives(how, alternatives):
    assert 2.0 ** bits_of_choice(**how) == pytest.approx(alternatives)
