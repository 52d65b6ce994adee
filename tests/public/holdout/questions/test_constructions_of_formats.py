"""Constructions that came with format 5: ledgers that were begun before go on without them."""

import numpy as np
import pytest

from sklearn_ada import Holdout
from tests.support.ledgers import begun_as, bodies
from tests.support.models import Column

pytestmark = pytest.mark.filterwarnings("ignore:These rows, or nearly all")


def rows(seed):
    """Return rows of which two models get nine tenths right, and nearly the same ones."""
    rng = np.random.default_rng(seed)
    y = np.arange(600) % 2
    first = np.where(rng.random(600) < 0.9, y, 1 - y)
    return np.c_[first, np.where(rng.random(600) < 0.97, first, 1 - first)], y


def certify(scoring):
    return lambda holdout: holdout.certify(Column(0), scoring=scoring, guess_from=rows(1))


def compare(holdout):
    return holdout.compare(Column(0), Column(1), scoring="accuracy", guess_from=rows(1))


NEW = {
    "F1": (certify("f1"), {}, "binomial laws of both classes"),
    "correlation": (certify("matthews_corrcoef"), {}, "binomial laws of both classes"),
    "two classes": (certify("balanced_accuracy"), {}, "binomial laws of both classes"),
    "pairs": (compare, {"class_mix": "priced"}, "tables of pairs"),
    "pairs at a class mix": (compare, {}, "two binomials"),
}
"""What is asked, of which holdout, and what names the construction."""


@pytest.mark.parametrize("number", [3, 4, 5])
@pytest.mark.parametrize("answers", ["exact", "coarse"])
@pytest.mark.parametrize(("ask", "terms", "theorem"), NEW.values(), ids=NEW)
def test_a_ledger_has_the_constructions_of_its_format(ask, terms, theorem, answers, number, tmp_path):
    with begun_as(number):
        begun = Holdout(*rows(0), ledger=tmp_path / "a.db", answers=answers, random_state=0, **terms)
    assert bodies(begun)[0]["schema"] == number
    holdout = Holdout(*rows(0), ledger=tmp_path / "a.db", answers=answers, random_state=0, **terms)
    answer = ask(holdout)
    assert (theorem in answer.certificate.theorem) == (number == 5)
    recorded = bodies(holdout)[answer.index]["mechanism"]
    assert number == 5 or not {"by", "spread", "of_units"} & recorded.get("tuning", {}).keys()
    assert ask(holdout).repeated
