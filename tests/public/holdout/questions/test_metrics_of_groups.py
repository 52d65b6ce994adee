"""AUC, F1 and R^2 of a holdout with groups: values, widths, publishing, and what is refused."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import f1_score, jaccard_score, precision_score, r2_score, roc_auc_score

from sklearn_ada import Holdout
from tests.support.ledgers import bodies
from tests.support.models import Column

pytestmark = pytest.mark.filterwarnings("ignore:These rows, or nearly all")


class Scored(Column):
    """Scores rows by its column, and predicts 1 where that is above .9."""

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return (X[:, 0] > 0.9).astype(int)


class Numbers(Column):
    """Predicts its column."""

    _estimator_type = "regressor"

    def predict(self, X):
        return X[:, 0]


def rows(seed, patients=250, *, numbers=False):
    """Return rows of patients with four rows each, which go together; and the patients."""
    rng, group = np.random.default_rng(seed), np.repeat(np.arange(patients), 4)
    noise = math.sqrt(0.3) * rng.standard_normal(patients)[group]
    noise += math.sqrt(0.7) * rng.standard_normal(4 * patients)
    y = 2.0 * rng.standard_normal(4 * patients) if numbers else rng.integers(0, 2, 4 * patients)
    return np.c_[y + noise if numbers else 1.8 * y + noise, rng.random(4 * patients)], y, group


def areas(s, y):
    """Return for every row the share of the rows of the other class that it is rightly ranked with."""
    right = (s[y == 1][:, None] > s[y == 0]).astype(float)
    found = np.empty(len(y))
    found[y == 1], found[y == 0] = right.mean(axis=1), right.mean(axis=0)
    return found


def normal_half_width(name, X, y, group, ln_delta):
    """Return half the cluster-robust normal interval, at a level."""
    s, p = X[:, 0], (X[:, 0] > 0.9).astype(int)
    if name == "roc_auc":
        away = (areas(s, y) - roc_auc_score(y, s)) / np.where(y == 1, (y == 1).sum(), (y == 0).sum())
    else:
        hits, errors = ((p == 1) & (y == 1)).astype(float), (p != y).astype(float)
        above, below = {
            "f1": (2.0 * hits, 2.0 * hits + errors),
            "jaccard": (hits, hits + errors),
            "precision": (hits, (p == 1).astype(float)),
            "r2": ((y - s) ** 2, (y - y.mean()) ** 2),
        }[name]
        away = (above - above.sum() / below.sum() * below) / below.sum()
    return math.sqrt((np.bincount(group, away) ** 2).sum()) * float(-norm.ppf(math.exp(ln_delta) / 2.0))


MISS = norm.cdf(-0.9)  # of either class
TRUTHS = {
    "roc_auc": norm.cdf(1.8 / math.sqrt(2.0)), "f1": 1.0 - MISS, "precision": 1.0 - MISS,
    "jaccard": (1.0 - MISS) / (1.0 + MISS), "r2": 0.8,
}  # fmt: skip
SCORES = {"roc_auc": lambda X, y: roc_auc_score(y, X[:, 0]), "r2": lambda X, y: r2_score(y, X[:, 0])} | {
    name: lambda X, y, of=of: of(y, X[:, 0] > 0.9)
    for name, of in (("f1", f1_score), ("jaccard", jaccard_score), ("precision", precision_score))
}


@pytest.mark.parametrize("samples", [3, pytest.param(30, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    ("name", "patients", "most"),
    [("roc_auc", 250, 2.0), ("roc_auc", 1000, 1.5), ("f1", 250, 1.45), ("precision", 250, 1.5),
     ("jaccard", 250, 1.5), ("r2", 250, 4.0)],
)  # fmt: skip
def test_widths_out_of_a_holdout_are_near_the_cluster_robust_normal_ones(
    name, patients, most, samples, tmp_path
):
    model, ratios, missed = Numbers() if name == "r2" else Scored(), [], 0
    for seed in range(samples):
        X, y, group = rows(seed, patients, numbers=name == "r2")
        foreseen = rows(1000 + seed, patients, numbers=name == "r2")[:2]
        holdout = Holdout(X, y, groups=group, ledger=tmp_path / f"{seed}.db", random_state=0)
        answer = holdout.certify(model.fit(X, y), scoring=name, guess_from=foreseen)
        assert answer.value == pytest.approx(SCORES[name](X, y), abs=0.01)
        assert "group sizes" in answer.certificate.target
        ratios.append(answer.half_width / normal_half_width(name, X, y, group, answer.certificate.ln_delta))
        missed += not answer.interval[0] <= TRUTHS[name] <= answer.interval[1]
    assert np.mean(ratios) <= most
    assert missed <= max(0.3 * samples, 1)


@pytest.mark.parametrize("name", SCORES)
def test_what_is_sealed_is_published_with_the_construction_of_its_record(name, tmp_path):
    X, y, group = rows(0, numbers=name == "r2")
    model = (Numbers() if name == "r2" else Scored()).fit(X, y)
    opened = {"ledger": tmp_path / "a.db", "answers": "coarse", "random_state": 0, "groups": group}
    foreseen = rows(1, numbers=name == "r2")[:2]
    told = Holdout(X, y, **opened).certify(model, scoring=name, guess_from=foreseen)
    published = Holdout(X, y, **opened).publish(model, scoring=name, guess_from=foreseen)
    assert told.interval[0] <= published.interval[0] < published.interval[1] <= told.interval[1]
    holdout = Holdout(X, y, **opened)
    assert holdout.certify(model, scoring=name, guess_from=foreseen).repeated
    assert published.interval[0] < TRUTHS[name] < published.interval[1]
    assert published.half_width < 0.6 * told.half_width
    assert bodies(holdout)[told.index]["mechanism"]["tuning"]["by"]
    assert published.cost.nats < 14.0


def test_the_area_of_given_weights_is_that_of_repeated_rows(tmp_path):
    X, y, group = rows(0, 40)
    times = np.random.default_rng(0).integers(1, 4, len(y))
    again = np.repeat(np.arange(len(y)), times)
    values = [
        Holdout(X[at], y[at], groups=group[at], ledger=tmp_path / name, **more)
        .certify(Scored().fit(X, y), scoring="roc_auc", guess_from=rows(1)[:2]).value
        for name, at, more in (
            ("a.db", np.arange(len(y)), {"sample_weight": times}), ("b.db", again, {}),
        )
    ]  # fmt: skip
    assert values[0] == pytest.approx(values[1], abs=0.01)


@pytest.mark.parametrize("name", ["roc_auc", "f1", "accuracy"])
@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_weights_of_any_size_are_only_compared(name, factor, tmp_path):
    X, y, _ = rows(0, 40)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    answers = [
        Holdout(X, y, sample_weight=weight * by, ledger=tmp_path / f"{by}.db", random_state=0)
        .certify(Scored().fit(X, y), scoring=name, guess_from=rows(1)[:2])
        for by in (1.0, factor)
    ]  # fmt: skip
    assert answers[0].value == pytest.approx(answers[1].value, abs=0.01)
    assert answers[0].half_width == pytest.approx(answers[1].half_width, rel=0.2)


REFUSED = {
    "check": ("f1", {"guess": 0.8}, "check", {}, "which a certify releases and a check does not"),
    "number": ("f1", {"guess": 0.8}, "certify", {}, "give guess_from="),
    "nothing": ("precision", {}, "certify", {}, "give guess_from="),
    "few groups": ("f1", {"guess_from": rows(1)[:2]}, "certify", {"groups": np.arange(1000) % 7}, "at least"),
    "bound": ("f1", {"guess_from": rows(1)[:2]}, "certify", {"weight_bound": 4.0}, "sample_weight or groups"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "how", "asked", "terms", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_interval_is_refused_before_it_is_charged(name, how, asked, terms, sentence, tmp_path):
    X, y, group = rows(0)
    holdout = Holdout(X, y, **{"groups": group, "ledger": tmp_path / "a.db", **terms})
    with pytest.raises(ValueError, match=sentence):
        getattr(holdout, asked)(Scored().fit(X, y), scoring=name, **how)
    assert not any("purpose" in body for body in bodies(holdout))
