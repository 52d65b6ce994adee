"""No model gets the recorded answer of another, however alike they look to the digest."""

import decimal
import gc
import locale
import sys
import time

import numpy as np
import pytest
import sklearn

from sklearn_ada import Holdout
from tests.support.holdout.models.false_matches import objects, surroundings  # noqa: F401
from tests.support.holdout.models.false_matches.models_of_false_matches import CASES, X, Y


def accuracy(sign):
    return np.mean((X[:, 0] * sign > 0) == Y)


@pytest.fixture(autouse=True)
def _settings_of_the_process():
    """Put back what cases change."""
    numbers, names = np.random.get_state(), locale.setlocale(locale.LC_CTYPE)  # noqa: NPY002
    threshold, depth = gc.get_threshold(), sys.getrecursionlimit()
    with decimal.localcontext(), np.printoptions(), sklearn.config_context():
        yield
    np.random.set_state(numbers)  # noqa: NPY002
    locale.setlocale(locale.LC_CTYPE, names)
    gc.set_threshold(*threshold)
    sys.setrecursionlimit(depth)
    surroundings.CONTEXT.set(1)
    time.tzset()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_model_gets_the_answer_about_itself(case, tmp_path, monkeypatch):
    holdout = Holdout(X, Y, ledger=tmp_path / "ledger.db")
    answers = []
    for model, sign in case(tmp_path, monkeypatch):
        answers.append(holdout.certify(model, scoring="accuracy", guess=0.5))
        assert answers[-1].value == pytest.approx(accuracy(sign), abs=1e-9)
    assert [answer.repeated for answer in answers] == [False, False]
    assert answers[0].value - answers[1].value > 0.5
