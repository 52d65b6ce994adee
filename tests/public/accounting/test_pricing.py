"""What every event costs in every currency, alone and composed."""

import copy
import math

import pytest

from sklearn_ada.accounting import (
    AboveThresholdEvent,
    ApproximateDPEvent,
    CodedRelease,
    ComposedEvent,
    Event,
    ExponentialMechanismEvent,
    GaussianEvent,
    LaplaceEvent,
    LeakyRandomizedResponseEvent,
    PermuteAndFlipEvent,
    PureDPEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
    Symbol,
    ThresholdoutEvent,
    approximate_dp_cost,
    gaussian_mu,
    pure_dp_cost,
    zcdp_cost,
)
from sklearn_ada.exceptions import UnsupportedEventError

SYMBOLS = (Symbol("grid", 3),)
FLAT = [PureDPEvent, RandomizedResponseEvent, PermuteAndFlipEvent, AboveThresholdEvent]
PURE = [kind(0.3) for kind in (*FLAT, LaplaceEvent)]
PURE += [ExponentialMechanismEvent(0.3, SYMBOLS), ThresholdoutEvent(0.3, max_hits=4)]
GAUSSIAN = GaussianEvent(3.7, SYMBOLS)
APPROXIMATE = [ApproximateDPEvent(0.3, 1e-5), LeakyRandomizedResponseEvent(0.3, 1e-5)]
COSTS = (zcdp_cost, pure_dp_cost, approximate_dp_cost, gaussian_mu)
PRICES = [
    *((zcdp_cost, event) for event in [*PURE, GAUSSIAN]),
    *((pure_dp_cost, event) for event in PURE),
    *((lambda e: approximate_dp_cost(e).epsilon, event) for event in [*PURE, *APPROXIMATE]),
    *((lambda e: approximate_dp_cost(e).delta, event) for event in APPROXIMATE),
    (lambda e: gaussian_mu(e) ** 2, GAUSSIAN),
]


def name(value):
    return type(value).__name__ if isinstance(value, Event) else None


# zCDP prices at 0.3, computed by hand to 12 digits: pure .3*tanh(.15), Laplace .3 + exp(-.3) - 1,
# exponential mechanism with u = .3/(1 - exp(-.3)).
@pytest.mark.parametrize(
    ("event", "rho"),
    [
        *((kind(0.3), 0.0446655100870) for kind in FLAT),
        (LaplaceEvent(0.3), 0.040818220682),
        (ExponentialMechanismEvent(0.3), 0.0112359655641),
        (GaussianEvent(2.5), 0.08),
        (ThresholdoutEvent(0.3, max_hits=4), 5 * 0.0446655100870 + 4 * 0.040818220682),
    ],
)
def test_zcdp_price_of_every_event(event, rho):
    assert zcdp_cost(event) == pytest.approx(rho, rel=1e-10, abs=0)


def test_pure_price_of_every_event():
    assert [pure_dp_cost(event) for event in PURE] == pytest.approx([0.3] * 6 + [(2 * 4 + 1) * 0.3])
    for event in PURE:
        assert approximate_dp_cost(event) == (pure_dp_cost(event), 0.0)
    for event in APPROXIMATE:
        assert approximate_dp_cost(event) == (0.3, 1e-5)


@pytest.mark.parametrize(("price", "event"), PRICES, ids=name)
@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_n_copies_cost_n_times_one(price, event, n):
    one = price(event)
    assert one > 0
    assert price(SelfComposedEvent(event, n)) == pytest.approx(n * one, rel=1e-15, abs=0)
    assert price(ComposedEvent((event,) * n)) == price(SelfComposedEvent(event, n))
    nested = ComposedEvent((SelfComposedEvent(ComposedEvent((event, event)), n), event))
    assert price(nested) == pytest.approx((2 * n + 1) * one, rel=1e-14, abs=0)


def test_thresholdout_costs_what_its_parts_cost():
    hit = ComposedEvent((AboveThresholdEvent(0.3), LaplaceEvent(0.3)))
    parts = ComposedEvent((SelfComposedEvent(hit, 4), AboveThresholdEvent(0.3)))
    for price in (zcdp_cost, pure_dp_cost):
        assert price(ThresholdoutEvent(0.3, max_hits=4)) == pytest.approx(price(parts), rel=1e-14, abs=0)


def test_an_empty_composition_costs_nothing():
    assert zcdp_cost(ComposedEvent(())) == pure_dp_cost(ComposedEvent(())) == 0
    assert approximate_dp_cost(ComposedEvent(())) == (0, 0)


@pytest.mark.parametrize(
    ("price", "event"),
    [
        *((zcdp_cost, event) for event in APPROXIMATE),
        *((pure_dp_cost, event) for event in [*APPROXIMATE, GAUSSIAN]),
        (approximate_dp_cost, GAUSSIAN),
        *((gaussian_mu, event) for event in [*PURE, *APPROXIMATE]),
        *((price, event) for price in COSTS for event in (CodedRelease(SYMBOLS), SYMBOLS[0])),
    ],
    ids=name,
)
def test_what_has_no_price_is_refused_alone_and_within(price, event):
    for wrapped in (event, SelfComposedEvent(event, 2), ComposedEvent((LaplaceEvent(1.0), event))):
        with pytest.raises(UnsupportedEventError):
            price(wrapped)


@pytest.mark.parametrize(
    ("price", "event"),
    [
        (zcdp_cost, GaussianEvent(1e-200)),
        (zcdp_cost, SelfComposedEvent(LaplaceEvent(1.0), 10**400)),
        (zcdp_cost, ComposedEvent((PureDPEvent(1e308),) * 3)),
        (pure_dp_cost, SelfComposedEvent(LaplaceEvent(1e300), 10**20)),
        (pure_dp_cost, ThresholdoutEvent(1.0, max_hits=10**400)),
        (gaussian_mu, GaussianEvent(1e-200)),
    ],
    ids=name,
)
def test_a_price_that_overflows_is_refused(price, event):
    with pytest.raises(UnsupportedEventError, match="too large"):
        price(event)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 0.0])
def test_a_poisoned_event_has_no_price(value):
    for event in [*PURE, GAUSSIAN]:
        fields = ("epsilon", "scaled_epsilon", "noise_multiplier")
        field = next(name for name in fields if hasattr(event, name))
        poisoned = copy.copy(event)
        object.__setattr__(poisoned, field, value)
        for price in (zcdp_cost, gaussian_mu) if event is GAUSSIAN else COSTS[:3]:
            with pytest.raises(ValueError, match=field):
                price(poisoned)
