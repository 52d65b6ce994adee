"""The best of many models on the holdout, certified: the choice itself must have been paid for."""

import math
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sklearn_ada import Holdout
from sklearn_ada.terms.policy import Policy
from tests.support import holdouts
from tests.support.laws import is_missed, is_too_often
from tests.support.ledgers import begun_as
from tests.support.models import Column

ROWS, MODELS, BETA = 200, 150, 0.3


def chosen_is_missed(seed, folder, epsilon, alternatives):
    """Let the holdout choose among coins, and certify its choice in a round that was opened before."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (ROWS, MODELS)).astype(float), rng.integers(0, 2, ROWS)
    with patch("sklearn_ada.holdout.holdout.Policy", partial(Policy, check_share=1e-9)):  # all for certifies
        holdout = Holdout(X, y, confidence_level=1 - BETA, random_state=seed, ledger=folder / f"{seed}.db")
    asked = {"scoring": "accuracy", "purpose": "certify"}
    name = holdouts.open_round(holdout, 1, name="search", alternatives=alternatives, **asked)
    models = [Column(column) for column in range(MODELS)]  # the accuracy of each is one half
    winner = models[holdout.select(models, scoring="accuracy", epsilon=epsilon)]
    return is_missed(holdouts.ask(holdout, winner, guess=0.5, round_name=name, **asked).interval, 0.5)


@pytest.mark.parametrize("epsilon", [pytest.param(None, marks=pytest.mark.thorough), 20.0])
def test_the_winner_of_a_selection_is_covered_and_a_free_choice_is_seen(epsilon, tmp_path):
    runs = 20
    for alternatives, is_valid in ((MODELS, True), (1, False)):
        folder = tmp_path / str(alternatives)
        folder.mkdir()
        # Since format 3 what the choice revealed counts for the question anyway.
        with begun_as(3 if is_valid else 1):
            misses = sum(chosen_is_missed(seed, folder, epsilon, alternatives) for seed in range(runs))
        assert is_too_often(misses, runs, BETA) != is_valid


def test_the_exact_selection_takes_the_first_of_the_best_for_ln_n(tmp_path):
    X = np.zeros((20, 3))
    X[:15, 1] = X[:15, 2] = 1.0
    holdout = Holdout(X, np.r_[np.ones(19, dtype=int), 0], ledger=tmp_path / "ledger.db")
    assert holdout.select([Column(0), Column(1), Column(2)], scoring="accuracy", epsilon=None) == 1
    assert holdout.report().nats == pytest.approx(math.log(3), abs=0.01)


def test_a_selection_by_the_exponential_mechanism_keeps_the_privacy_route_and_the_exact_one_ends_it(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (2000, 4)).astype(float), rng.integers(0, 2, 2000)
    for epsilon, is_kept in ((0.01, True), (None, False)):
        holdout = Holdout(X, y, route="both", ledger=tmp_path / f"{epsilon}.db")
        holdout.select([Column(0), Column(1)], scoring="accuracy", epsilon=epsilon)
        ended = holdout.ledger.read(lambda state: state.privacy.ended)
        assert (ended is None) is is_kept


def test_a_metric_of_any_kind_can_choose_exactly(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X @ [1.0, 2.0, 3.0]
    models = [Ridge(alpha=alpha).fit(X[:100], y[:100]) for alpha in (1e4, 1e-6, 1e2)]
    holdout = Holdout(X[100:], y[100:], ledger=tmp_path / "ledger.db")
    assert holdout.select(models, scoring="r2", epsilon=None) == 1
