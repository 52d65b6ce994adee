"""Whatever public function of the accounting floor is fed a bad number raises and names the parameter."""

import inspect
import math

import pytest

from sklearn_ada import accounting
from sklearn_ada.accounting import (
    RECORDS,
    Code,
    ComposedEvent,
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
LISTED = [[value] for value in NONNEGATIVE if isinstance(value, float)]

# By the name of a parameter: a good value and bad ones; then what is bad in some functions alone.
LAW = [0.5, 0.5], [[math.nan, 0.5], [0.6, 0.6], [-0.5, 1.5], [[1.0]], [1.0]]
PARAMETERS = {
    "budget": (1.0, NONNEGATIVE), "composed_delta": (0.1, OPEN_PROBABILITY),
    "composed_epsilon": (0.1, NONNEGATIVE), "cost": (0.1, NONNEGATIVE), "delta": (1e-3, PROBABILITY),
    "deltas": ([0.0], [*LISTED, [1.0], [0.0, 0.0]]), "epsilon": (0.1, NONNEGATIVE),
    "epsilons": ([0.1], [*LISTED, [], [0.1, 0.1]]), "event": (ComposedEvent(()), [math.nan, None, 0.5]),
    "k": (3, COUNT), "max_hits": (2, COUNT), "mu": (1.0, NONNEGATIVE), "mus": ([1.0], LISTED),
    "n_subsamples": (2, COUNT), "noise_multiplier": (1.0, POSITIVE), "p": LAW, "q": LAW,
    "rho": (0.1, NONNEGATIVE), "scaled_epsilon": (0.1, POSITIVE), "sensitivity": (0.1, POSITIVE),
    "slack": (0.1, OPEN_PROBABILITY), "spent": (0.0, NONNEGATIVE), "stratified": (False, []),
}  # fmt: skip
STRICTER = {
    **{("rho", name): POSITIVE for name in ("exponential_epsilon", "thresholdout_scale")},
    **{("epsilon", f"{name}_zcdp"): POSITIVE for name in ("exponential_mechanism", "laplace", "pure_dp")},
    **{("delta", name): OPEN_PROBABILITY for name in ("gaussian_epsilon", "zcdp_epsilon")},
    ("delta", "zcdp_epsilon_simple"): OPEN_PROBABILITY,
}
FUNCTIONS = {
    name: function
    for name, function in vars(accounting).items()
    if inspect.isfunction(function)
    and function.__module__.rpartition(".")[2] in {"composition", "filters", "differential_privacy"}
}
NAMED = r"^The '{}' parameter of .* must be .*\. Got .* instead\."

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


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_bad_argument_of_a_function_is_named(name):
    good = {each: PARAMETERS[each][0] for each in inspect.signature(FUNCTIONS[name]).parameters}
    FUNCTIONS[name](**good)
    for parameter in good:
        for bad in STRICTER.get((parameter, name), PARAMETERS[parameter][1]):
            with pytest.raises(ValueError, match=NAMED.format(".*")):
                FUNCTIONS[name](**{**good, parameter: bad})


@pytest.mark.parametrize(("call", "parameter", "value"), OBJECTS)
def test_a_bad_argument_of_an_object_is_named(call, parameter, value):
    with pytest.raises(ValueError, match=NAMED.format(parameter)):
        call(value)
