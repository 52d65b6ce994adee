"""NaN and other nonsense in every number of every public function: a named error, and nothing drawn."""

import copy
import inspect
import math

import numpy as np
import pytest

from sklearn_ada import mechanisms
from sklearn_ada.mechanisms import PrivateMultiplicativeWeights, Rounding, UniformGrid

GRID = UniformGrid(0.0, 1.0, 11)
ROUNDING = Rounding(GRID, 0.5)
SCORES = [0.1, 0.5, 0.9]
POISONS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf, "text": "0.5", "none": None, "bool": True}


def multiplicative_weights():
    return PrivateMultiplicativeWeights(3, 3, 0.2, 1.0)


# A valid argument by the name of a parameter, and what is passed to some functions instead; every number is
# then poisoned in turn. A parameter of neither is left to its default.
GOOD = {
    "alpha": 0.1, "base": 0, "beta": 0.1, "bit": True, "clip": (0.0, 1.0), "count": 5, "epsilon": 1.0,
    "errors": [[0.0, 1.0], [1.0, 1.0]], "estimator": SCORES, "grid": GRID, "grid_size": 5, "guess": 0.5,
    "guess_rows": 10, "half_cell": 0.1, "high": 0.6, "index": 1, "indices": [1, 2], "level": 0.5, "loss": 0.5,
    "losses": SCORES, "low": 0.4, "max_failures": 2, "max_hits": 2, "mechanism": multiplicative_weights(),
    "n": 10, "n_candidates": 5, "n_optimal": 2, "n_questions": 5, "n_records": 5, "n_slices": 2,
    "n_subsamples": 10, "noise_multiplier": 1.0, "question": SCORES, "records": [0, 1, 2],
    "reference_values": SCORES, "rho": 0.3, "rounding": ROUNDING, "scale": 0.1, "scores": SCORES,
    "sensitivity": 0.1, "share": lambda v, side: 0.5, "size": 11, "slice_value": lambda i: 0.5,
    "slice_values": lambda i: SCORES, "step": 0.1, "t": 1.0, "threshold": 0.1, "tolerance": 0.1,
    "universe_size": 3, "value": 0.5, "values": SCORES, "width": 3,
}  # fmt: skip
INSTEAD = {
    "ExplicitGrid": {"values": (0.0, 1.0)},
    "binary_search_quantile": {"alpha": 0.5},
    "gaussian_mechanism": {"rounding": ...},
    "laplace_mechanism": {"rounding": ...},
}
METHODS = [
    *("CountCells.around", "CountCells.counts", "CountCells.index", "EffectiveRounds.ask", "Ladder.ask"),
    *("ParameterFreeLadder.ask", "PrivateMultiplicativeWeights.ask", "SampleSplitting.ask"),
    *("SparseVector.ask", "Thresholdout.ask", "Verification.ask"),
]
NOT_CALLED = {"Grid", "StatefulMechanism", "Release", "ThresholdoutAnswer", "EffectiveRoundsAnswer"}
NOT_CALLED |= {"guess_error", "winner_width"}

# Zero and below are as bad as NaN for these.
POSITIVE = {
    "epsilon", "noise_multiplier", "sensitivity", "beta", "delta", "alpha", "tolerance", "step", "half_cell",
    "rho", "size", "grid_size", "n_subsamples", "n_questions", "n_candidates", "n_optimal", "n_hypotheses",
    "max_hits", "max_failures", "guess_rows", "width", "n_slices", "n_records", "universe_size",
}  # fmt: skip
# These may be infinite: values are truncated to a grid.
TRUNCATED = {"private_quantile", "exact_quantile", "binary_search_quantile", "multiplicative_weights_median"}


def arguments(call, name):
    """Return valid arguments of what a name stands for, but for its generator."""
    usual = GOOD | INSTEAD.get(name, {})
    passed = {each: usual.get(each, ...) for each in inspect.signature(call).parameters}
    return {each: copy.deepcopy(value) for each, value in passed.items() if value is not ...}


def target(name):
    """Return what a name stands for, and the mechanism that it may change."""
    owner, _, method = name.partition(".")
    made = getattr(mechanisms, owner)
    if not method:
        return made, None
    mechanism = made(**arguments(made, owner))
    return getattr(mechanism, method), mechanism if hasattr(mechanism, "state") else None


def refused(name, match, **changes):
    """Assert that a call with these changes is refused, that nothing is drawn and nothing remembered."""
    call, mechanism = target(name)
    generator = np.random.default_rng(0)
    before = repr(mechanism and mechanism.state()), generator.bit_generator.state
    drawing = {"rng": generator} if "rng" in inspect.signature(call).parameters else {}
    with pytest.raises(ValueError, match=match):
        call(**{**arguments(call, name), **drawing, **changes})
    assert (repr(mechanism and mechanism.state()), generator.bit_generator.state) == before


def poisoned(name):
    """Yield a label and a change of one argument, for all that is bad in its place."""
    for argument, value in arguments(target(name)[0], name).items():
        bads = {}
        if isinstance(value, list | tuple):
            is_truncated = name in TRUNCATED and argument in ("values", "estimator")
            for label in ("nan",) if is_truncated else ("nan", "inf", "-inf"):
                first = [POISONS[label], *value[0][1:]] if isinstance(value[0], list) else POISONS[label]
                bads[label] = type(value)([first, *value[1:]])
            bads["empty"] = type(value)()
        elif argument == "bit":
            bads = {"nan": math.nan, "number": 1}
        elif isinstance(value, int | float):
            is_positive = argument in POSITIVE or name == "Thresholdout"
            bads = POISONS | ({"zero": 0, "negative": -1.0} if is_positive else {})
            if (name, argument) == ("Rounding", "guess"):
                del bads["none"]
        elif argument in ("rounding", "grid", "mechanism", "slice_values", "slice_value"):
            bads = {"nan": math.nan}
        yield from ((f"{argument}={label}", {argument: bad}) for label, bad in bads.items())


OUT_OF_RANGE = {
    "CountCells": [{"base": 11}],
    "CountCells.around": [{"guess": 1.5}],
    "CountCells.counts": [{"index": -1}, {"index": 4}],
    "CountCells.index": [{"count": 11}],
    "ExplicitGrid": [{"values": (0.0, 2.0, 1.0)}, {"values": (0.0, 0.0)}],
    "Ladder": [{"step": 1.5}],
    "Ladder.ask": [{"loss": 1.5}],
    "LogGrid": [{"low": 0.0}, {"low": 1.0, "high": 1.0 + 1e-12, "size": 10**6}],
    "ParameterFreeLadder.ask": [{"losses": [0.5, 1.5]}, {"losses": [0.5]}],
    "PrivateMultiplicativeWeights.ask": [{"question": [0.0, 1.0]}, {"question": [0.0, 1.0, 2.0]}],
    "SparseVector": [{"redraw": 1}],
    "Thresholdout": [{"threshold": -0.1}],
    "UniformGrid": [
        *({"high": 0.0}, {"low": 1.0, "high": 0.0}, {"size": 1}, {"size": 2.5}),
        *({"low": -1e308, "high": 1e308}, {"low": 1e9, "high": 1e9 + 1e-3, "size": 10**6}),
    ],
    "Verification": [{"rho": 0.6}, {"alpha": 0.3}],
    "binary_search_quantile": [{"rounding": Rounding(mechanisms.ExplicitGrid((0.0,)))}],
    "exponential_mechanism": [{"sampler": "other"}],
    "exponential_quantile": [
        *({"indices": [5]}, {"indices": [-1]}, {"indices": [[0]]}, {"low": 0.6, "high": 0.4})
    ],
    "laplace_mechanism": [{"clip": (1.0, 0.0)}],
    "multiplicative_weights_median": [
        *({"records": [0, 1, 3]}, {"records": [0, 1]}),
        {"mechanism": PrivateMultiplicativeWeights(3, 3, 0.3, 1.0)},
    ],
    "private_learner": [{"errors": [[0, 2]]}],
}
CALLS = [*(name for name in mechanisms.__all__ if name not in NOT_CALLED), *METHODS]
CASES = [
    *((name, change, f"{name}-{label}") for name in CALLS for label, change in poisoned(name)),
    *((name, change, f"{name}-{change}") for name, changes in OUT_OF_RANGE.items() for change in changes),
]
DRAWING = [name for name in CALLS if "rng" in inspect.signature(target(name)[0]).parameters]


@pytest.mark.parametrize("name", CALLS)
def test_the_arguments_are_valid_to_begin_with(name):
    call, _ = target(name)
    call(**arguments(call, name), **({"rng": np.random.default_rng(0)} if name in DRAWING else {}))


@pytest.mark.parametrize(("name", "change"), [pytest.param(*case, id=label) for *case, label in CASES])
def test_poison_raises_and_draws_nothing(name, change):
    refused(name, r"(?s)^The '.*' parameter of [\w.]+ must be .* Got .* instead\.", **change)


@pytest.mark.parametrize("name", DRAWING)
@pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0)], ids=["none", "seed", "legacy"])
def test_only_a_generator_is_a_generator(name, rng):
    refused(name, r"'rng' parameter of \w+ must be a numpy.random.Generator", rng=rng)


def test_messages_do_not_show_the_holdout():
    secret = [0.123456, math.nan]
    calls = [
        lambda: mechanisms.exact_quantile(secret, ROUNDING),
        lambda: mechanisms.exact_quantile([secret], ROUNDING),
        lambda: mechanisms.Verification(0.3, 0.1, 1.0, 1).ask(secret, 0.5, np.random.default_rng(0)),
        lambda: mechanisms.ParameterFreeLadder().ask(secret),
        lambda: mechanisms.ParameterFreeLadder().ask([0.123456]),
        lambda: mechanisms.exact_quantile(["0.123456", "a"], ROUNDING),
        lambda: mechanisms.Ladder.from_state({"threshold_noise": 0.123456}),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="must be") as error:
            call()
        assert "0.123456" not in str(error.value)
