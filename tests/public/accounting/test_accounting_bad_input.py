"""Whatever public function of the accounting floor is fed a bad number raises and names the parameter."""

import inspect
import math

import pytest

from sklearn_ada import accounting
from sklearn_ada.accounting import (
    RECORDS,
    Code,
    CountCode,
    DescriptionLength,
    GaussianPrivacyLoss,
    PolyaUrn,
    PrivacyLossDistribution,
    Unit,
    UnitZCDPFilter,
    ZCDPFilter,
    ZCDPOdometer,
    randomized_response_loss,
    released_ends_nats,
    unsealing_nats,
)

POSITIVE = [math.nan, math.inf, -math.inf, -1.0, 0.0, True, "0.5", None]
NONNEGATIVE = [value for value in POSITIVE if value != 0.0 or value is False]
PROBABILITY = [*NONNEGATIVE, 1.0, 2.0]  # in [0, 1)
OPEN_PROBABILITY = [*PROBABILITY, 0.0]  # in (0, 1)
COUNT = [math.nan, math.inf, -1, 0, 1.5, True, "2", None]
NOT_AN_EVENT = [math.nan, None, 0.5]
LISTED = [[value] for value in NONNEGATIVE if isinstance(value, float)]

# function: (good arguments, {parameter: bad values})
TABLE = {
    "admits": (
        {"spent": 0.0, "cost": 0.1, "budget": 1.0},
        {"spent": NONNEGATIVE, "cost": NONNEGATIVE, "budget": NONNEGATIVE},
    ),
    "advanced_composition": (
        {"k": 3, "epsilon": 0.1, "delta": 0.0, "slack": 0.1},
        {"k": COUNT, "epsilon": NONNEGATIVE, "delta": PROBABILITY, "slack": OPEN_PROBABILITY},
    ),
    "approximate_dp_cost": ({}, {"event": NOT_AN_EVENT}),
    "basic_composition": (
        {"k": 3, "epsilon": 0.1, "delta": 0.0},
        {"k": COUNT, "epsilon": NONNEGATIVE, "delta": PROBABILITY},
    ),
    "exponential_epsilon": ({}, {"rho": POSITIVE}),
    "exponential_mechanism_zcdp": ({}, {"epsilon": POSITIVE}),
    "finite_privacy_loss": (
        {"p": [0.5, 0.5], "q": [0.5, 0.5]},
        {name: [[math.nan, 0.5], [0.6, 0.6], [-0.5, 1.5], [[1.0]], [1.0]] for name in "pq"},
    ),
    "gaussian_composition": ({}, {"mus": LISTED}),
    "gaussian_delta": ({"mu": 1.0, "epsilon": 1.0}, {"mu": NONNEGATIVE, "epsilon": NONNEGATIVE}),
    "gaussian_epsilon": ({"mu": 1.0, "delta": 0.1}, {"mu": NONNEGATIVE, "delta": OPEN_PROBABILITY}),
    "gaussian_log_delta": ({"mu": 1.0, "epsilon": 1.0}, {"mu": NONNEGATIVE, "epsilon": NONNEGATIVE}),
    "gaussian_mu": ({}, {"event": NOT_AN_EVENT}),
    "gaussian_zcdp": ({}, {"noise_multiplier": POSITIVE}),
    "heterogeneous_composition": (
        {"epsilons": [0.1], "deltas": [0.0], "slack": 0.1},
        {
            "epsilons": [*LISTED, [], [0.1, 0.1]],
            "deltas": [*LISTED, [1.0], [0.0, 0.0]],
            "slack": OPEN_PROBABILITY,
        },
    ),
    "laplace_zcdp": ({}, {"epsilon": POSITIVE}),
    "leaky_randomized_response_loss": (
        {"epsilon": 0.1, "delta": 0.1},
        {"epsilon": NONNEGATIVE, "delta": PROBABILITY},
    ),
    "optimal_composition_delta": (
        {"composed_epsilon": 0.1, "k": 3, "epsilon": 0.1, "delta": 0.0},
        {"composed_epsilon": NONNEGATIVE, "k": COUNT, "epsilon": NONNEGATIVE, "delta": PROBABILITY},
    ),
    "optimal_composition_epsilon": (
        {"composed_delta": 0.1, "k": 3, "epsilon": 0.1, "delta": 0.0},
        {"composed_delta": OPEN_PROBABILITY, "k": COUNT, "epsilon": NONNEGATIVE, "delta": PROBABILITY},
    ),
    "pure_dp_cost": ({}, {"event": NOT_AN_EVENT}),
    "pure_dp_zcdp": ({}, {"epsilon": POSITIVE}),
    "randomized_response_loss": ({}, {"epsilon": NONNEGATIVE}),
    "subsamples_unit": ({"n_subsamples": 2, "stratified": False}, {"n_subsamples": COUNT}),
    "thresholdout_epsilon": (
        {"scaled_epsilon": 0.1, "max_hits": 2},
        {"scaled_epsilon": POSITIVE, "max_hits": COUNT},
    ),
    "thresholdout_scale": (
        {"rho": 0.1, "sensitivity": 0.1, "max_hits": 2},
        {"rho": POSITIVE, "sensitivity": POSITIVE, "max_hits": COUNT},
    ),
    "thresholdout_zcdp": (
        {"scaled_epsilon": 0.1, "max_hits": 2},
        {"scaled_epsilon": POSITIVE, "max_hits": COUNT},
    ),
    "zcdp_cost": ({}, {"event": NOT_AN_EVENT}),
    "zcdp_delta": ({"rho": 1.0, "epsilon": 1.0}, {"rho": NONNEGATIVE, "epsilon": NONNEGATIVE}),
    "zcdp_delta_simple": ({"rho": 1.0, "epsilon": 1.0}, {"rho": NONNEGATIVE, "epsilon": NONNEGATIVE}),
    "zcdp_epsilon": ({"rho": 1.0, "delta": 0.1}, {"rho": NONNEGATIVE, "delta": OPEN_PROBABILITY}),
    "zcdp_epsilon_simple": ({"rho": 1.0, "delta": 0.1}, {"rho": NONNEGATIVE, "delta": OPEN_PROBABILITY}),
}
TABLE["advanced_composition_simple"] = TABLE["advanced_composition"]

LOSS, UNITS = randomized_response_loss(1.0), UnitZCDPFilter(100, lambda unit: 1.0)
CODE, COUNTS = ("urn_weight", "decay", "tail_mass", "failure_mass", "leak_mass"), CountCode(425.6, 9.2)
NOT_FINITE = [math.nan, math.inf, None, "x"]
OBJECTS = [
    *((lambda v: ZCDPFilter(v), "budget", value) for value in NONNEGATIVE),
    *((lambda v: ZCDPOdometer(v, scale=1.0), "delta", value) for value in OPEN_PROBABILITY),
    *((lambda v: ZCDPOdometer(0.1, scale=v), "scale", value) for value in POSITIVE),
    *((GaussianPrivacyLoss, "mu", value) for value in POSITIVE),
    *((GaussianPrivacyLoss(1.0).tail, "epsilon", value) for value in NONNEGATIVE),
    *((LOSS.tail, "epsilon", value) for value in NONNEGATIVE),
    *((LOSS.delta, "epsilon", value) for value in NONNEGATIVE),
    *((LOSS.epsilon, "delta", value) for value in PROBABILITY),
    *((LOSS.self_compose, "k", value) for value in COUNT),
    *((lambda v: PrivacyLossDistribution([v], [1.0]), "losses", v) for v in (math.nan, math.inf)),
    (lambda v: PrivacyLossDistribution(v, [0.5, 0.5]), "losses", [0.1, -0.2]),  # of no pair of laws
    *((lambda v: PrivacyLossDistribution([0.1, -0.2], v), "probabilities", v) for v in ([0.6, 0.6], [1.0])),
    *((lambda v: UNITS.admits(RECORDS, v), "cost", value) for value in (math.nan, -1.0, math.inf, None)),
    *((lambda v: UNITS.record(RECORDS, v), "cost", value) for value in (math.nan, -1.0, math.inf, None)),
    *((lambda v: UNITS.record(Unit("u", v), 0.1), "unit", value) for value in (-1, 101, 0.5)),
    *((lambda v: UNITS.record(v, 0.1), "unit", value) for value in (100, None)),
    *((lambda v, n=n: Code(**{n: v}), n, value) for n in CODE for value in NOT_FINITE),
    *((DescriptionLength, "code", value) for value in NOT_FINITE),
    *((DescriptionLength(Code()).price, "event", value) for value in NOT_FINITE),
    *((DescriptionLength(Code()).record, "event", value) for value in NOT_FINITE),
    (PolyaUrn, "weight", 0.0),
    *((lambda v: PolyaUrn().price(0, v), "ln_prior", value) for value in (0.1, math.nan)),
    *((lambda v: unsealing_nats(v, 403, 448, COUNTS), "count", value) for value in (402, 449)),
    (lambda v: released_ends_nats(5, v, 10, COUNTS, COUNTS), "high", 4),
    (lambda v: released_ends_nats(v, 4, 10, COUNTS, COUNTS), "low", -1),
    (lambda v: released_ends_nats(1, v, 10, COUNTS, COUNTS), "high", 11),
    (lambda v: COUNTS.ln_mass(5, v), "high_count", 4),
    (lambda v: CountCode(1.0, v), "tau", 0.0),
    (lambda v: CountCode(v, 1.0), "centre", math.inf),
    (lambda v: CountCode(1.0, 1.0, v), "failure_mass", 0.0),
    *((lambda v: PrivacyLossDistribution([0.0], [v]), "probabilities", v) for v in (math.nan, -1.0, 0.5)),
    *(
        (lambda v: PrivacyLossDistribution([0.0], [1.0], v), "infinite_mass", v)
        for v in (math.nan, -1.0, 2.0)
    ),
]


@pytest.mark.parametrize("function", sorted(TABLE))
def test_functions(function):
    good, bad = TABLE[function]
    call = getattr(accounting, function)
    if good:
        call(**good)
    for parameter, values in bad.items():
        for value in values:
            with pytest.raises(ValueError, match=r"^The '.*' parameter of .* must be .*\. Got .* instead\."):
                call(**{**good, parameter: value})


@pytest.mark.parametrize(("call", "parameter", "value"), OBJECTS)
def test_objects(call, parameter, value):
    with pytest.raises(
        ValueError, match=rf"^The '{parameter}' parameter of .* must be .*\. Got .* instead\."
    ):
        call(value)


def test_the_table_is_complete():
    here = {"composition", "filters", "differential_privacy"}
    public = {
        name
        for name in accounting.__all__
        if inspect.isfunction(getattr(accounting, name))
        and getattr(accounting, name).__module__.rpartition(".")[2] in here
    }
    assert public == set(TABLE)
