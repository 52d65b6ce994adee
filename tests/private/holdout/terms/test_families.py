"""By privacy, shares go with a family's name, and costs with the neighbours that they were made for."""

import itertools
import math

import numpy as np
import pytest

from sklearn_ada import Holdout, MedianSettings
from sklearn_ada.accounting import (
    RECORDS,
    SAME_CLASS,
    SAME_WEIGHT,
    Unit,
    UnitZCDPFilter,
    exponential_mechanism_zcdp,
    subsamples_unit,
)
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.guarantees.transfer import FAMILY_LEVELS, family_level
from sklearn_ada.metrics import Metric
from sklearn_ada.terms.holdout_data import HoldoutData
from tests.support import holdouts
from tests.support.ledgers import bodies
from tests.support.models import coin
from tests.support.rows import numbered

ROWS = 20_000
BETA = 0.05
X, Y = numbered(np.arange(ROWS) % 5 // 3)  # 40 % positives


@pytest.fixture
def made(tmp_path):
    numbers = itertools.count()

    def made(route="differential_privacy", **parameters):
        ledger = tmp_path / f"{next(numbers)}.db"
        return Holdout(X, Y, **{"route": route, "random_state": 0, "ledger": ledger, **parameters})

    return made


FAMILIES = {
    "mean": ("accuracy", None),
    "AUC": ("roc_auc", None),
    "class mean": ("balanced_accuracy", None),
    "recall of 1": ("recall", None),
    "recall of 0": (Metric("recall", pos_label=0), None),
    "usual median": ("accuracy", MedianSettings()),
    "stratified median": ("accuracy", MedianSettings(stratify=True)),
    "100 subsamples": ("accuracy", MedianSettings(n_subsamples=100)),
    "200 subsamples": ("accuracy", MedianSettings(n_subsamples=200)),
    "200 stratified": ("accuracy", MedianSettings(n_subsamples=200, stratify=True)),
}


def test_whatever_is_asked_first_all_families_together_have_no_more_than_half_of_beta(made):
    """A conversation that has seen which family fails would ask that one while its share is the largest."""

    def gap_share(holdout, family):
        scoring, settings = FAMILIES[family]
        asked = {"scoring": scoring, "purpose": "check", "guess": 0.7, "settings": settings}
        release = holdouts.plan(holdout, coin(0.8), **asked).private_release({})
        return holdout.ledger.read(lambda state: math.exp(state.privacy.allowance(release, -5.0).ln_gap))

    largest = dict.fromkeys(FAMILIES, 0.0)
    for first in FAMILIES:
        holdout = made(random_state=None, expected_questions=50)
        shares = [{family: gap_share(holdout, family) for family in FAMILIES}]
        scoring, settings = FAMILIES[first]
        if settings is not None:
            continue  # medians of few subsamples leave no budget for others
        assert holdout.check(coin(0.8), scoring=scoring, guess=0.7, settings=settings).answered
        shares.append({family: gap_share(holdout, family) for family in FAMILIES})
        for each, family in itertools.product(shares, FAMILIES):
            largest[family] = max(largest[family], each[family])
    assert 0.9 * BETA / 2.0 < sum(largest.values()) <= BETA / 2.0


def test_the_weights_of_all_families_of_a_ledger_sum_to_one():
    partitions = [f"{m} {kind}subsamples" for m in range(1, 20_000) for kind in ("", "stratified ")]
    total = sum(FAMILY_LEVELS.values()) + FAMILY_LEVELS["recall"] + sum(map(family_level, partitions))
    assert 0.999 < total <= 1.0 + 1e-12
    for unknown in ("medians", "0 subsamples", "-1 subsamples", "", "3 subsamples of 4"):
        with pytest.raises(ValueError, match="parameter of family_level"):
            family_level(unknown)


# --- neighbours --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["roc_auc", "balanced_accuracy", "recall"])
def test_medians_of_plain_subsamples_are_not_mixed_with_what_is_private_within_classes(made, scoring):
    """A subsample of other class counts changes the noise of an AUC, which tells it with certainty."""
    median, stratified = MedianSettings(epsilon=1e-4), MedianSettings(epsilon=1e-4, stratify=True)
    for first, second in (((scoring, None), ("accuracy", median)), (("accuracy", median), (scoring, None))):
        holdout = made(expected_questions=10**6)
        asked = ({"scoring": name, "settings": how} for name, how in (first, second))
        answered, refused = (holdout.check(coin(0.8), guess=0.7, **each) for each in asked)
        assert (answered.answered, refused.answered) == (True, False)
        assert "stratify=True" in refused.reason
    holdout = made(expected_questions=10**6)
    assert holdout.check(coin(0.8), scoring=scoring, guess=0.7).answered
    assert holdout.check(coin(0.8), scoring="accuracy", guess=0.7, settings=stratified).answered


def test_a_weighted_mean_is_private_within_weights_and_groups_only(made):
    weights = 1.0 + np.arange(ROWS) % 3
    holdout = made(expected_questions=10**6, sample_weight=weights)
    assert holdout.check(coin(0.8), scoring="accuracy", guess=0.7).answered
    assert holdout.ledger.read(lambda state: set(state.privacy._filter._spent)) == {SAME_WEIGHT}
    for stratify in (False, True):
        how = MedianSettings(epsilon=1e-4, stratify=stratify)
        assert holdout.check(coin(0.8), scoring="accuracy", guess=0.7, settings=how).verdict == "refused"


def test_single_records_of_all_kinds_share_one_budget():
    units = UnitZCDPFilter(1000, lambda unit: 1.0)
    units.record(RECORDS, 0.25)
    units.record(SAME_CLASS, 0.5)
    for unit in (RECORDS, SAME_CLASS, SAME_WEIGHT):
        assert (units.spent(unit), units.admits(unit, 0.3)) == (0.75, False)
        assert units.left(unit) == pytest.approx(0.25, rel=1e-6)


def test_a_cost_within_classes_is_carried_over_to_stratified_subsamples_only():
    units = UnitZCDPFilter(1000, lambda unit: 1.0)
    units.record(SAME_CLASS, 1e-4)
    plain, stratified = (subsamples_unit(100, stratified=stratify) for stratify in (False, True))
    assert (units.spent(plain), units.left(plain)) == (math.inf, 0.0)
    assert units.spent(stratified) == pytest.approx(1e-2)  # ten records a subsample
    assert not units.admits(plain, 0.0)
    units.record(SAME_WEIGHT, 1e-4)
    assert units.spent(stratified) == math.inf


@pytest.mark.parametrize("cost", [1e-16, 1e-20, 5e-324])
def test_a_full_budget_cannot_be_passed_by_steps_too_small_for_a_float(cost):
    units = UnitZCDPFilter(1000, lambda unit: 1.0)
    units.record(RECORDS, 1.0)
    assert not units.admits(RECORDS, cost)
    assert units.admits(RECORDS, 0.0)
    assert units.left(RECORDS) == 0.0


def test_what_is_left_is_admitted_and_hardly_more_is_not():
    rng = np.random.default_rng(0)
    kinds = [RECORDS, SAME_CLASS, Unit("40 stratified subsamples", 40), Unit("8 stratified subsamples", 8)]
    for _ in range(200):
        units = UnitZCDPFilter(100, lambda unit: {0: 0.3, 40: 0.7, 8: 1.0}[unit.parts])
        for unit in rng.permutation(len(kinds))[: rng.integers(4)]:
            cost = rng.random() * 1e-3
            if units.admits(kinds[unit], cost):
                units.record(kinds[unit], cost)
        wanted = kinds[rng.integers(len(kinds))]
        left = units.left(wanted)
        assert units.admits(wanted, left)
        assert not units.admits(wanted, left * (1.0 + 1e-6) + 1e-15)


# --- selections --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["differential_privacy", "both"])
def test_a_selection_takes_what_the_budget_affords_and_leaves_its_winner_a_certify(made, route):
    holdout = made(route)
    models = [coin(share) for share in (0.5, 0.9, 0.6)]
    winner = holdout.select(models, scoring="accuracy")
    record = bodies(holdout)[-1]
    budget = holdout.ledger.read(lambda state: state.policy.privacy_budget(RECORDS, ROWS))
    spent = holdout.ledger.read(lambda state: state.privacy.spent())
    assert record["rho"] == pytest.approx(exponential_mechanism_zcdp(record["epsilon"]))
    assert 0.45 * budget < spent == record["rho"] <= 0.5 * budget
    answer = holdout.certify(models[winner], scoring="accuracy", guess=0.8)
    assert answer.certificate.route == route
    assert holdout.ledger.read(lambda state: state.privacy.spent()) == spent + answer.cost.rho


@pytest.mark.parametrize("route", ["differential_privacy", "both"])
def test_a_selection_that_is_not_afforded_is_refused_and_ends_no_route(made, route):
    holdout = made(route)
    with pytest.raises(BudgetExhaustedError, match="privacy budget for replacing one of the records"):
        holdout.select([coin(share) for share in (0.5, 0.9, 0.6)], scoring="accuracy", epsilon=50.0)
    assert holdout.report().nats == 0.0
    assert holdout.check(coin(0.8), scoring="accuracy", guess=0.8).certificate.route == route
    one = made(expected_questions=1)  # whose answer leaves nothing for a choice
    with pytest.raises(BudgetExhaustedError, match="cannot choose"):
        one.select([coin(0.5), coin(0.9)], scoring="accuracy")
    assert one.check(coin(0.8), scoring="accuracy", guess=0.8).answered


def test_choices_end_before_they_are_guesses(made):
    """Each takes half of what is left; of one model too, which is no choice."""
    for count in (1, 3):
        holdout = made(expected_questions=4)
        choices = ([coin(0.5, tag + k) for k in range(count)] for tag in range(60))
        with pytest.raises(BudgetExhaustedError, match="cannot choose"):
            _ = [holdout.select(models, scoring="accuracy") for models in choices]
        assert holdout.certify(coin(0.8), scoring="accuracy", guess=0.8).answered


def test_without_a_budget_a_selection_is_as_before(made):
    holdout = made("description_length")
    assert holdout.select([coin(0.5), coin(0.9), coin(0.6)], scoring="accuracy") == 1
    both = made("both")
    both.check(coin(0.8), scoring="accuracy", guess=0.8, settings=0.02)  # ends its privacy
    assert both.select([coin(0.5), coin(0.9), coin(0.6)], scoring="accuracy") == 1
    epsilons = [bodies(each)[-1]["epsilon"] for each in (holdout, both)]
    assert epsilons[0] == epsilons[1] > 0.1


def test_the_usual_sizes_are_named_by_what_they_are():
    """A size that is written out is the same partition, and so the same family."""
    data = HoldoutData(np.zeros((1000, 1)), np.arange(1000) % 2)
    for how, name in (
        ({}, "usual subsamples"),
        ({"n_subsamples": 50}, "usual subsamples"),
        ({"n_subsamples": 49}, "49 subsamples"),
        ({"stratify": True}, "usual stratified subsamples"),
    ):
        assert MedianSettings(**how).family(data) == name
