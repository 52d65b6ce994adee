"""Certifies of an AUC by matched blocks: widths out of a Holdout, what decides, and older ledgers."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score

from sklearn_ada import Holdout
from sklearn_ada.metrics.ranking import AUC
from tests.support.ledgers import bodies

pytestmark = pytest.mark.filterwarnings("ignore:These rows, or nearly all")


class First(ClassifierMixin, BaseEstimator):
    """Scores rows by their first number."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X[:, 0]


def rows(seed, positives, negatives, area=0.9):
    """Return rows whose first number is a score with this area."""
    rng, shift = np.random.default_rng(seed), math.sqrt(2) * norm.ppf(area)
    y = rng.permutation(np.repeat([1, 0], [positives, negatives]))
    return np.c_[rng.standard_normal(len(y)) + shift * y, rng.random(len(y))], y


def certified(seed, positives, negatives, *, guess_from=True, **how):
    """Certify on a fresh holdout, with a guess from as many rows."""
    guess = {"guess_from": rows(10_000 + seed, positives, negatives)} if guess_from else {"guess": 0.9}
    holdout = Holdout(*rows(seed, positives, negatives), ledger=":memory:")
    return holdout.certify(First(), scoring="roc_auc", **guess, **how)


def normal_width(seed, positives, negatives, ln_delta):
    """Return the width of DeLong's interval at a level."""
    X, y = rows(seed, positives, negatives)
    right = X[y == 1, 0][:, None] > X[y == 0, 0][None, :]
    deviation = math.sqrt(right.mean(axis=1).var() / positives + right.mean(axis=0).var() / negatives)
    return 2.0 * deviation * float(-norm.ppf(math.exp(ln_delta) / 2.0))


@pytest.mark.parametrize("samples", [12, pytest.param(100, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("counts", [(100, 900), (500, 500)])
def test_intervals_out_of_holdouts_are_about_as_wide_as_normal_ones(counts, samples):
    answers = [certified(seed, *counts) for seed in range(samples)]
    assert all("matched blocks" in answer.certificate.theorem for answer in answers)
    normal = [normal_width(seed, *counts, a.certificate.ln_delta) for seed, a in enumerate(answers)]
    assert 2.0 * np.mean([a.half_width for a in answers]) <= 1.25 * np.mean(normal)
    assert sum(not a.interval[0] <= 0.9 <= a.interval[1] for a in answers) <= 0.2 * samples


@pytest.mark.parametrize(
    ("counts", "how"),
    [((100, 900), {"guess_from": False}), ((100, 900), {"drawn": False}), ((6, 300), {})],
    ids=["a number for a guess", "nothing drawn", "fewer blocks than eight"],
)
def test_the_interval_of_the_value_alone_is_kept(counts, how):
    answer = certified(0, *counts, **how)
    assert "matched blocks" not in answer.certificate.theorem
    assert "Bentkus" in answer.certificate.theorem


def test_a_window_records_what_tunes_it_and_is_published_by_it(tmp_path):
    holdout = Holdout(*rows(0, 100, 900), ledger=tmp_path / "a.db", answers="coarse", random_state=0)
    asked = {"scoring": "roc_auc", "guess_from": rows(1, 100, 900)}
    told, published = holdout.certify(First(), **asked), holdout.publish(First(), **asked)
    recorded = bodies(holdout)[told.index]["mechanism"]
    assert set(recorded["tuning"]["spread"]) == {"rows", "pairs"}
    assert told.interval[0] <= published.interval[0] < published.interval[1] <= told.interval[1]
    assert published.half_width < 0.05  # Bentkus's: .07


def test_what_an_older_release_has_begun_is_published_with_its_construction(tmp_path, monkeypatch):
    asked = {"scoring": "roc_auc", "guess_from": rows(1, 100, 900)}
    published = []
    for name in ("old.db", "new.db"):
        with monkeypatch.context() as older:
            older.setattr(AUC, "rows_interval", lambda self, foreseen: None)
            older.setattr(AUC, "tuning", lambda self, details: {})
            opened = {"ledger": tmp_path / name, "answers": "coarse", "random_state": 0}
            told = Holdout(*rows(0, 100, 900), **opened).certify(First(), **asked)
            if name == "old.db":
                published.append(Holdout(*rows(0, 100, 900), **opened).publish(First(), **asked))
        if name == "new.db":
            holdout = Holdout(*rows(0, 100, 900), **opened)
            again = holdout.certify(First(), **asked)
            assert (again.repeated, again.interval) == (True, told.interval)
            published.append(holdout.publish(First(), **asked))
    assert published[0].interval == published[1].interval


def test_what_an_older_release_answered_exactly_is_returned(tmp_path, monkeypatch):
    asked = {"scoring": "roc_auc", "guess_from": rows(1, 100, 900)}
    holdout = Holdout(*rows(0, 100, 900), ledger=tmp_path / "a.db", answers="exact")
    with monkeypatch.context() as older:
        older.setattr(AUC, "rows_interval", lambda self, foreseen: None)
        before = holdout.certify(First(), **asked)
    again = holdout.certify(First(), **asked)
    assert (again.repeated, again.index, again.interval) == (True, before.index, before.interval)


class OfThree(ClassifierMixin, BaseEstimator):
    """Has probabilities that rise with the first three numbers of a row."""

    classes_ = np.arange(3)

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        odds = np.exp(X[:, :3])
        return odds / odds.sum(axis=1, keepdims=True)


def three_classes(seed, counts):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(3), counts))
    return rng.standard_normal((len(y), 3)) + 1.3 * np.eye(3)[y], y


NAMES = {"roc_auc_ovr": ("ovr", "macro"), "roc_auc_ovo_weighted": ("ovo", "weighted")}


@pytest.mark.parametrize("samples", [8, pytest.param(60, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("counts", [(100, 100, 100), (300, 100, 50)])
@pytest.mark.parametrize("name", NAMES)
def test_intervals_of_several_classes_out_of_holdouts(name, counts, samples):
    options = dict(zip(("multi_class", "average"), NAMES[name], strict=True))

    def value_of(seed):
        X, y = three_classes(seed, counts)
        return roc_auc_score(y, OfThree().predict_proba(X), **options)

    offset = 1_000_000 * (1 + list(NAMES).index(name)) + 10_000 * len(set(counts))
    values = [value_of(offset - 1 - seed) for seed in range(100)]
    missed, ratios = 0, []
    for seed in range(offset, offset + samples):
        holdout = Holdout(*three_classes(seed, counts), ledger=":memory:")
        rows = three_classes(5_000 + seed, counts)
        answer = holdout.certify(OfThree(), scoring=name, guess_from=rows)
        assert "matched blocks" in answer.certificate.theorem
        quantile = -norm.ppf(math.exp(answer.certificate.ln_delta) / 2.0)
        ratios.append(answer.half_width / (quantile * np.std(values)))
        missed += not answer.interval[0] <= np.mean(values) <= answer.interval[1]
    assert np.mean(ratios) <= 2.1  # by the value alone, 2.5 to 4
    assert missed <= 0.3 * samples
