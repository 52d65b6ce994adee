"""Constructions that came with a format: ledgers that were begun before go on without them."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sklearn_ada import Holdout, Metric
from sklearn_ada.accounting.events import BLOCKS, FORMATS
from tests.support.ledgers import begun_as, bodies
from tests.support.models import Column

pytestmark = pytest.mark.filterwarnings("ignore:These rows, or nearly all")


class Scored(Column):
    """Has probabilities of three classes, too, or of two: higher for the labels in its column."""

    def predict_proba(self, X):
        odds = np.exp(2.0 * (self.predict(X)[:, None] == self.classes_) + X[:, 2:3] * self.classes_)
        return odds / odds.sum(axis=1, keepdims=True)


def rows(seed, n_classes=2):
    """Return rows of which two models get nine tenths right, and nearly the same ones."""
    rng = np.random.default_rng(seed)
    y = np.arange(600) % n_classes
    first = np.where(rng.random(600) < 0.9, y, (y + 1) % n_classes)
    second = np.where(rng.random(600) < 0.97, first, (first + 1) % n_classes)
    return np.c_[first, second, rng.random(600)], y


def certify(scoring, n_classes=2):
    def ask(holdout):
        guess = rows(1, n_classes)
        return holdout.certify(Scored(0).fit(*guess), scoring=scoring, guess_from=guess)

    return ask


def compare(holdout):
    return holdout.compare(Column(0), Column(1), scoring="accuracy", guess_from=rows(1))


NEW = {
    "F1": (certify("f1"), {}, "binomial laws of both classes", 5),
    "correlation": (certify("matthews_corrcoef"), {}, "binomial laws of both classes", 5),
    "two classes": (certify("balanced_accuracy"), {}, "binomial laws of both classes", 5),
    "AUC": (certify("roc_auc"), {}, "matched blocks", BLOCKS),
    "AUC of classes": (certify("roc_auc_ovr", 3), {"n_classes": 3}, "matched blocks", BLOCKS),
    "groups": (certify("accuracy"), {"groups": np.arange(600) // 2}, "bets on sums over a unit", BLOCKS),
    "AUC of groups": (certify("roc_auc"), {"groups": np.arange(600) // 2}, "pairs of groups", BLOCKS),
    "F1 of groups": (certify("f1"), {"groups": np.arange(600) // 2}, "bets on sums over a unit", BLOCKS),
    "pairs": (compare, {"class_mix": "priced"}, "tables of pairs", 5),
    "pairs at a class mix": (compare, {}, "two binomials", 5),
}
"""What is asked, of which holdout, and what names the construction; and its format."""


@pytest.mark.parametrize("number", FORMATS[1:])
@pytest.mark.parametrize("answers", ["exact", "coarse"])
@pytest.mark.parametrize("name", NEW)
def test_a_ledger_has_the_constructions_of_its_format(name, answers, number, tmp_path):
    ask, terms, theorem, since = NEW[name]
    opened = {"ledger": tmp_path / "a.db", "answers": answers, "random_state": 0, **terms}
    held = rows(0, opened.pop("n_classes", 2))
    with begun_as(number):
        begun = Holdout(*held, **opened)
    assert bodies(begun)[0]["schema"] == number
    holdout = Holdout(*held, **opened)
    if number < since and "of groups" in name:
        with pytest.raises(ValueError, match="with sample_weight or groups"):
            ask(holdout)
        return
    answer = ask(holdout)
    assert (theorem in answer.certificate.theorem) == (number >= since)
    recorded = bodies(holdout)[answer.index]["mechanism"]
    assert number >= since or not {"by", "spread"} & recorded.get("tuning", {}).keys()
    assert ask(holdout).repeated


@pytest.mark.parametrize("number", [4, BLOCKS])
def test_an_error_of_weighted_rows_has_an_interval_since_its_format(number, tmp_path):
    """Before, it was refused, and a choice among models took it from all rows."""
    X, y = rows(0)
    with begun_as(number):
        holdout = Holdout(X, y + 0.5, ledger=tmp_path / "a.db", sample_weight=1.0 + y)
    asked = {
        "scoring": Metric("neg_root_mean_squared_error", range=(-4.0, 0.0)),
        "guess_from": (rows(1)[0], rows(1)[1] + 0.5),
    }
    model = Ridge().fit(*asked["guess_from"])
    if number < BLOCKS:
        with pytest.raises(ValueError, match="with sample_weight or groups"):
            holdout.certify(model, **asked)
    else:
        assert "for the squares" in holdout.certify(model, **asked).certificate.theorem
