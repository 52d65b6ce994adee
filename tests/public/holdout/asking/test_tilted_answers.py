"""The guess divides the level of every count that is answered for good; nowhere else."""

import math

import numpy as np
import pytest

from sklearn_ada import Guess, Holdout
from sklearn_ada.cli import main
from sklearn_ada.guarantees import Tilt, clopper_pearson
from tests.support.holdout.asking.sealed.counts import RightOn, ask, holdout_of, rows
from tests.support.ledgers import begun_as, bodies

TILT = Tilt(0.85, 1500, 500, identical_rows=False)


def contains(outer, inner):
    return outer[0] <= inner[0] + 1e-12 and inner[1] <= outer[1] + 1e-12


def test_an_exact_answer_is_tilted_by_its_guess(tmp_path):
    holdout = holdout_of(500, tmp_path / "a.db", answers="exact")
    answer = ask(holdout, 420, 0.85)
    assert answer.interval == TILT.interval(420, 420, answer.certificate.ln_delta)
    assert "tilted by a guess of 0.85 from 1500 rows" in answer.certificate.theorem
    assert answer.half_width < np.diff(clopper_pearson(420, 420, 500, answer.certificate.ln_delta)) / 2


@pytest.mark.parametrize("count", [425, 400, 330])
def test_cell_unsealed_and_published_value_have_one_tilt(tmp_path, count):
    holdout = holdout_of(500, tmp_path / "a.db")
    told, other = ask(holdout, count, 0.85, name="a"), ask(holdout, count, 0.85, name="b")
    assert "tilted by a guess of 0.85" in told.certificate.theorem
    published = ask(holdout, count, 0.85, name="b", publish=True)
    holdout.close()
    (unsealed,) = holdout.unseal(told)
    own = TILT.interval(count, count, bodies(holdout)[told.index]["ln_delta"])
    assert contains(own, unsealed.interval)
    assert contains(told.interval, unsealed.interval)
    level = published.certificate.ln_delta
    holds = told.verdict == "agrees"
    final = TILT.interval(count, count, level) if holds else clopper_pearson(count, count, 500, level)
    assert contains(final, published.interval)
    assert contains(other.interval, published.interval)


def test_certificates_recompute_the_tilt(tmp_path, capsys):
    for answers in ("exact", "coarse"):
        path = tmp_path / f"{answers}.db"
        holdout = holdout_of(500, path, answers=answers)
        for number, count in enumerate((425, 420, 360)):
            ask(holdout, count, 0.85, name=str(number))
        ask(holdout, 425, 0.85, name="0", publish=True)
        certificate = tmp_path / f"{answers}.json"
        holdout.export(certificate)
        assert main(["ledger", "verify", str(path), "--certificate", str(certificate)]) == 0
        assert f"{3 + (answers == 'coarse')} intervals computed again" in capsys.readouterr().out


@pytest.mark.parametrize(
    "policy", [{"tolerance": 0.2}, {"answers": "exact", "tolerance": 0.2}, {"class_mix": "conditional"}]
)
def test_what_is_tilted_says_so_and_nothing_else_is(tmp_path, policy):
    answer = ask(holdout_of(500, tmp_path / "a.db", **policy), 425, 0.85)
    assert ("tilted" in answer.certificate.theorem) == ("tolerance" not in policy)


def test_without_a_guess_nothing_is_tilted(tmp_path):
    holdout = holdout_of(500, tmp_path / "a.db", answers="exact")
    answer = holdout.certify(RightOn(425), scoring="accuracy")
    assert answer.interval == clopper_pearson(425, 425, 500, answer.certificate.ln_delta)


def test_a_declared_model_has_one_interval_whatever_its_guess(tmp_path):
    holdout, model = holdout_of(500, tmp_path / "a.db", answers="exact"), RightOn(425)
    holdout.declare([model], scoring="accuracy")
    answer = holdout.certify(model, scoring="accuracy", guess=Guess(0.7, 1500))
    assert answer.interval == clopper_pearson(425, 425, 500, answer.certificate.ln_delta)


def test_a_check_and_an_older_ledger_are_not_tilted(tmp_path):
    holdout = holdout_of(500, tmp_path / "a.db", answers="exact")
    check = holdout.check(RightOn(425), scoring="accuracy", guess=Guess(0.85, 1500))
    assert "tilted" not in check.certificate.theorem
    with begun_as(1):
        old = holdout_of(500, tmp_path / "old.db")
    reopened = Holdout(*rows(500), ledger=tmp_path / "old.db")
    assert all("tilted" not in ask(each, 425, 0.85, name="x").certificate.theorem for each in (old, reopened))
    assert "guess_rows" not in bodies(old)[1]["mechanism"]


def test_a_wrong_guess_still_covers(tmp_path):
    """Any guess is valid: of 500 coins the count is where it is, whatever was expected."""
    for number, guess in enumerate((0.0, 0.02, 0.5, 0.98, 1.0)):
        holdout = holdout_of(500, tmp_path / f"{number}.db", answers="exact")
        low, high = ask(holdout, 425, guess).interval
        assert low < 0.85 < high
        assert math.isfinite(low + high)
