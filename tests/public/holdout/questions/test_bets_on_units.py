"""Certifies of means with groups or weights by bets on units: widths out of a Holdout, and older ledgers."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin

from sklearn_ada import Holdout, Metric
from sklearn_ada.metrics.units import UnequalMean
from tests.support.ledgers import bodies
from tests.support.models import Column

pytestmark = pytest.mark.filterwarnings("ignore:These rows, or nearly all")

GROUPS, OF_GROUP = np.repeat(np.arange(250), 4), 0.3
MAE, RMSE = (Metric(f"neg_{name}_error", range=(-4, 0)) for name in ("mean_absolute", "root_mean_squared"))


class First(RegressorMixin, BaseEstimator):
    """Predicts the first number of a row."""

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


def rows(seed, numbers):
    """Return rows of patients with four rows each, whose errors go together."""
    rng = np.random.default_rng(seed)
    noise = math.sqrt(OF_GROUP) * rng.standard_normal(250)[GROUPS]
    noise += math.sqrt(1.0 - OF_GROUP) * rng.standard_normal(1000)
    y = rng.standard_normal(1000) if numbers else rng.integers(0, 2, 1000)
    first = y + noise if numbers else np.where(noise < norm.ppf(0.85), y, 1 - y)
    return np.c_[first, rng.random(1000)], y


def units_of(seed, bound):
    weight = np.minimum(np.random.default_rng([seed, 1]).exponential(size=1000) + 0.05, 4.0)
    return {"sample_weight": weight, "weight_bound": 4.0} if bound else {"groups": GROUPS}


def over_normal(answer, seed, scoring, bound):
    """Return the width over that of the cluster-robust normal interval at the same level."""
    X, y = rows(seed, scoring != "accuracy")
    error = np.minimum(abs(X[:, 0] - y), 4.0)
    scores = error if scoring == MAE else error**2 if scoring == RMSE else (X[:, 0] == y).astype(float)
    weight = units_of(seed, bound).get("sample_weight", np.ones(1000))
    mean, unit = np.average(scores, weights=weight), np.arange(1000) if bound else GROUPS
    deviation = math.sqrt((np.bincount(unit, weight * (scores - mean)) ** 2).sum()) / weight.sum()
    deviation /= 2.0 * math.sqrt(mean) if scoring == RMSE else 1.0
    return answer.half_width / (deviation * float(-norm.ppf(math.exp(answer.certificate.ln_delta) / 2.0)))


TRUTHS = {"accuracy": 0.85, MAE: -math.sqrt(2.0 / math.pi), RMSE: -1.0}


@pytest.mark.parametrize("samples", [8, pytest.param(60, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    ("scoring", "bound", "most"),
    [
        ("accuracy", False, 1.3),
        (MAE, False, 1.35),
        (RMSE, False, 1.6),
        ("accuracy", True, 1.3),
        (MAE, True, 1.4),
    ],
    ids=["accuracy", "MAE", "RMSE", "weighted accuracy", "weighted MAE"],
)
def test_intervals_out_of_holdouts_are_hardly_wider_than_normal_ones(scoring, bound, most, samples):
    ratios, missed = [], 0
    for seed in range(samples):
        numbers = scoring != "accuracy"
        holdout = Holdout(*rows(seed, numbers), ledger=":memory:", **units_of(seed, bound))
        model = First() if numbers else Column()
        answer = holdout.certify(model, scoring=scoring, guess_from=rows(1000 + seed, numbers))
        assert "bets on sums over a unit" in answer.certificate.theorem
        ratios.append(over_normal(answer, seed, scoring, bound))
        missed += not answer.interval[0] <= TRUTHS[scoring] <= answer.interval[1]
    assert np.mean(ratios) <= most
    assert missed <= 0.4 * samples


def test_ends_of_weighted_rows_are_foreseen_where_sums_vary_more_than_shares_can():
    """In steps of a thirtieth of what is foreseen; as if each row were one they were 30 steps off."""
    off = []
    for seed in range(6):
        holdout = Holdout(*rows(seed, False), ledger=":memory:", random_state=seed, **units_of(seed, True))
        answer = holdout.certify(Column(), scoring="accuracy", guess_from=rows(1000 + seed, False))
        _, *ends = bodies(holdout)[answer.index]["event"]["symbols"]
        off.append([end["value"] for end in ends])
    assert np.abs(np.mean(off, axis=0)).max() < 8.0


def test_what_an_older_release_has_begun_is_published_with_its_construction(tmp_path, monkeypatch):
    asked, published = {"scoring": "accuracy", "guess_from": rows(1, False)}, []
    for name in ("old.db", "new.db"):
        opened = {"ledger": tmp_path / name, "answers": "coarse", "random_state": 0, "groups": GROUPS}
        with monkeypatch.context() as older:
            older.setattr(UnequalMean, "rows_interval", lambda self, foreseen: None)
            told = Holdout(*rows(0, False), **opened).certify(Column(), **asked)
            if name == "old.db":
                published.append(Holdout(*rows(0, False), **opened).publish(Column(), **asked))
        if name == "new.db":
            again = Holdout(*rows(0, False), **opened).certify(Column(), **asked)
            assert (again.repeated, again.interval) == (True, told.interval)
            published.append(Holdout(*rows(0, False), **opened).publish(Column(), **asked))
    assert published[0].interval == published[1].interval


def test_a_window_of_units_is_published_by_bets(tmp_path):
    holdout = Holdout(
        *rows(0, False), ledger=tmp_path / "a.db", answers="coarse", random_state=0, groups=GROUPS
    )
    asked = {"scoring": "accuracy", "guess_from": rows(1, False)}
    told, published = holdout.certify(Column(), **asked), holdout.publish(Column(), **asked)
    assert bodies(holdout)[told.index]["mechanism"]["tuning"] == {"by": "bets on units"}
    assert told.interval[0] <= published.interval[0] < published.interval[1] <= told.interval[1]
    assert published.half_width < 0.05  # Chernoff's: .07


@pytest.mark.parametrize(
    "how", [{"guess": 0.85}, {"guess_from": rows(1, False)}], ids=["number", "few units"]
)
def test_the_interval_of_the_value_alone_is_kept(how, tmp_path):
    groups = GROUPS if "guess" in how else np.arange(1000) % 7
    holdout = Holdout(*rows(0, False), ledger=tmp_path / "a.db", groups=groups)
    assert "bets" not in holdout.certify(Column(), scoring="accuracy", **how).certificate.theorem
