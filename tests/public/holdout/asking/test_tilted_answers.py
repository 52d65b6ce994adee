"""The guess divides the level of every count, and of bets, answered for good; nowhere else."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_ada import Guess, Holdout
from sklearn_ada.cli import main
from sklearn_ada.guarantees import Tilt, clopper_pearson
from sklearn_ada.questions import all_rows
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


X = np.random.default_rng(0).normal(size=(1400, 3))
NOISE = np.random.default_rng(1).normal(size=1400)
BY_BETS = {
    "neg_log_loss": (LogisticRegression(), X[:, 0] + NOISE > 0),
    "neg_brier_score": (LogisticRegression(), X[:, 0] + NOISE > 0),
    "neg_mean_absolute_error": (Ridge(), X[:, 0] + NOISE),
    "neg_root_mean_squared_error": (Ridge(), X[:, 0] + NOISE),
}


def by_bets(metric, path, **terms):
    """Return a holdout of 400 rows, a model, and what it is asked with: a guess of 600 rows."""
    terms.setdefault("random_state", 3)
    model, y = BY_BETS[metric]
    holdout = Holdout(X[1000:], y[1000:], ledger=path, **terms)
    return holdout, model.fit(X[:400], y[:400]), {"scoring": metric, "guess_from": (X[400:1000], y[400:1000])}


@pytest.mark.parametrize("metric", BY_BETS)
def test_bets_are_tilted_at_once_sealed_and_published(tmp_path, metric, monkeypatch):
    exact, model, asked = by_bets(metric, tmp_path / "exact.db", answers="exact")
    even, _, _ = by_bets(metric, tmp_path / "even.db", answers="exact")
    coarse, _, _ = by_bets(metric, tmp_path / "coarse.db", answers="coarse")
    now, sealed = exact.certify(model, **asked), coarse.certify(model, **asked)
    with monkeypatch.context() as without:
        without.setattr(all_rows, "may_tilt", lambda policy: False)
        before = even.certify(model, **asked)
    assert "tilted by a guess of" in now.certificate.theorem
    assert "from 600 rows" in now.certificate.theorem
    assert now.half_width < 0.95 * before.half_width
    assert (now.value, now.certificate.ln_delta) == (before.value, before.certificate.ln_delta)
    published = coarse.publish(model, **asked)
    coarse.close()
    (unsealed,) = coarse.unseal(sealed)
    for answer in (sealed, published, unsealed):
        assert "tilted by a guess of" in answer.certificate.theorem
    assert contains(unsealed.interval, (unsealed.value, unsealed.value))
    assert contains(sealed.interval, published.interval)
    record, told = bodies(exact)[now.index]["mechanism"], bodies(coarse)[sealed.index]["mechanism"]
    assert (record["interval"]["guess_rows"], told["tilted"]) == (600, True)


@pytest.mark.parametrize("terms", [{"tolerance": 0.2}, {"answers": "exact", "tolerance": 0.2}])
def test_under_a_tolerance_bets_are_not_tilted(tmp_path, terms):
    holdout, model, asked = by_bets("neg_brier_score", tmp_path / "a.db", **terms)
    assert "tilted" not in holdout.certify(model, **asked).certificate.theorem


def test_what_was_sealed_without_a_tilt_is_published_without_one(tmp_path, monkeypatch):
    """As by the first release whose ledgers are of this format."""
    path = tmp_path / "a.db"
    holdout, model, asked = by_bets("neg_mean_absolute_error", path, answers="coarse")
    monkeypatch.setattr(all_rows, "may_tilt", lambda policy: False)
    told = holdout.certify(model, **asked)
    assert "tilted" not in told.certificate.theorem
    expected, _, _ = by_bets("neg_mean_absolute_error", tmp_path / "b.db", answers="coarse")
    expected.certify(model, **asked)
    expected = expected.publish(model, **asked)
    monkeypatch.undo()
    published = holdout.publish(model, **asked)
    assert published.interval == expected.interval
    assert "tilted" not in published.certificate.theorem
