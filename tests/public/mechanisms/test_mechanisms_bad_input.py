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


# Valid arguments of every public function and class; every number in them is then poisoned in turn.
CALLS = {
    "UniformGrid": {"low": 0.0, "high": 1.0, "size": 11},
    "LogGrid": {"low": 0.1, "high": 1.0, "size": 11},
    "ExplicitGrid": {"values": (0.0, 1.0)},
    "Cells": {"guess": 0.5, "half_cell": 0.1},
    "CountCells": {"n": 10, "base": 0, "width": 3},
    "CountCells.around": {"n": 10, "guess": 0.5, "guess_rows": 10, "width": 2.5},
    "CountCells.counts": {"index": 1},
    "CountCells.index": {"count": 5},
    "candidate_width": {"n_candidates": 5},
    "Rounding": {"grid": GRID, "guess": 0.5, "scale": 1.0},
    "rounded": {"value": 0.5, "rounding": ROUNDING},
    "exponential_quantile": {"indices": [1, 2], "grid_size": 5, "epsilon": 1.0, "low": 0.4, "high": 0.6},
    "quantile_log_law": {"indices": [1, 2], "grid_size": 5, "epsilon": 1.0, "low": 0.4, "high": 0.6},
    "rank_error": {"epsilon": 1.0, "n_subsamples": 10, "grid_size": 5, "beta": 0.1},
    "grid_quantile": {"indices": [1, 2], "level": 0.5},
    "private_quantile": {"values": SCORES, "rounding": ROUNDING, "epsilon": 1.0, "low": 0.4, "high": 0.6},
    "exact_quantile": {"values": SCORES, "rounding": ROUNDING, "level": 0.5},
    "binary_search_quantile": {"values": SCORES, "rounding": ROUNDING, "noise_multiplier": 1.0, "alpha": 0.5,
        "level": 0.5},
    "search_quantile": {"share": lambda v, side: 0.5, "grid_size": 5, "level": 0.5, "tolerance": 0.1},
    "n_counting_questions": {"grid_size": 5},
    "binary_search_error": {"noise_multiplier": 1.0, "n_subsamples": 10, "grid_size": 5, "beta": 0.1},
    "laplace_mechanism": {"value": 0.5, "sensitivity": 0.1, "epsilon": 1.0, "clip": (0.0, 1.0)},
    "gaussian_mechanism": {"value": 0.5, "sensitivity": 0.1, "noise_multiplier": 1.0, "clip": (0.0, 1.0)},
    "randomized_response": {"bit": True, "epsilon": 1.0},
    "exponential_mechanism": {"scores": SCORES, "sensitivity": 0.1, "epsilon": 1.0},
    "report_noisy_max": {"scores": SCORES, "sensitivity": 0.1, "epsilon": 1.0},
    "permute_and_flip": {"scores": SCORES, "sensitivity": 0.1, "epsilon": 1.0},
    "private_minimum": {"losses": SCORES, "sensitivity": 0.1, "epsilon": 1.0},
    "private_learner": {"errors": [[0.0, 1.0], [1.0, 1.0]], "epsilon": 1.0},
    "selection_error": {"n_candidates": 5, "sensitivity": 0.1, "epsilon": 1.0, "t": 1.0, "n_optimal": 2},
    "SparseVector": {"epsilon": 1.0, "sensitivity": 0.1, "max_hits": 2},
    "SparseVector.ask": {"value": 0.5, "threshold": 0.4},
    "above_threshold": {"epsilon": 1.0, "sensitivity": 0.1},
    "sparse_vector_error": {"epsilon": 1.0, "n_questions": 5, "beta": 0.1, "sensitivity": 0.1, "max_hits":
        2},
    "Thresholdout": {"threshold": 0.1, "scale": 0.1, "max_hits": 2, "sensitivity": 0.1},
    "Thresholdout.ask": {"guess": 0.5, "value": 0.4},
    "gaussian_thresholdout": {"guess": 0.5, "value": 0.4, "threshold": 0.1, "scale": 0.1, "sensitivity":
        0.1},
    "Ladder": {"step": 0.1},
    "Ladder.ask": {"loss": 0.5},
    "ParameterFreeLadder.ask": {"losses": SCORES},
    "Verification": {"rho": 0.3, "alpha": 0.1, "epsilon": 1.0, "max_failures": 2},
    "Verification.ask": {"values": SCORES, "guess": 0.5},
    "verification_sample_size": {"n_questions": 5, "alpha": 0.1, "epsilon": 1.0, "max_failures": 2, "beta":
        0.1},
    "EffectiveRounds": {"n_slices": 2, "rho": 0.3, "alpha": 0.1, "epsilon": 1.0},
    "EffectiveRounds.ask": {"slice_values": lambda i: SCORES, "reference_values": SCORES, "rounding":
        ROUNDING},
    "PrivateMultiplicativeWeights": {"universe_size": 3, "n_records": 5, "alpha": 0.1, "epsilon": 1.0},
    "PrivateMultiplicativeWeights.ask": {"question": SCORES, "value": 0.5},
    "multiplicative_weights_median": {"mechanism": multiplicative_weights(), "estimator": SCORES, "records":
        [0, 1, 2], "grid": GRID},
    "multiplicative_weights_sample_size": {"n_questions": 5, "universe_size": 3, "alpha": 0.1, "epsilon":
        1.0, "beta": 0.1},
    "SampleSplitting": {"n_slices": 2},
    "SampleSplitting.ask": {"slice_value": lambda i: 0.5, "rounding": ROUNDING},
}  # fmt: skip
NOT_CALLED = {
    "Grid", "StatefulMechanism", "Release", "ThresholdoutAnswer", "EffectiveRoundsAnswer", "guess_error",
}  # fmt: skip

# Zero and below are as bad as NaN for these.
POSITIVE = {
    "epsilon", "noise_multiplier", "sensitivity", "beta", "delta", "alpha", "tolerance", "step", "half_cell",
    "rho", "size", "grid_size", "n_subsamples", "n_questions", "n_candidates", "n_optimal", "n_hypotheses",
    "max_hits", "max_failures", "guess_rows", "width", "n_slices", "n_records", "universe_size",
}  # fmt: skip
# These may be infinite: values are truncated to a grid.
TRUNCATED = {"private_quantile", "exact_quantile", "binary_search_quantile", "multiplicative_weights_median"}


def target(name):
    """The callable of a name, and the mechanism that it may change."""
    if "." not in name:
        return getattr(mechanisms, name), None
    owner, method = name.split(".")
    mechanism = getattr(mechanisms, owner)(**CALLS.get(owner, {}))
    return getattr(mechanism, method), mechanism if hasattr(mechanism, "state") else None


def poisoned(name):
    for argument, value in CALLS[name].items():
        if isinstance(value, list | tuple):
            bads = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
            if name in TRUNCATED and argument in ("values", "estimator"):
                bads = {"nan": math.nan}
            for label, bad in bads.items():
                holder = copy.deepcopy(value)
                if isinstance(value[0], list):
                    holder[1][1] = bad
                else:
                    holder = type(value)([bad, *value[1:]])
                yield f"{argument}={label}", {argument: holder}
            yield f"{argument}=empty", {argument: type(value)()}
        elif isinstance(value, int | float):
            bads = dict(POISONS)
            if argument == "guess" and name == "Rounding":
                del bads["none"]
            if argument == "bit":
                bads = {"nan": math.nan, "number": 1}
            if argument in POSITIVE or (argument, "Thresholdout") in {("threshold", name), ("scale", name)}:
                bads |= {"zero": 0, "negative": -1.0}
            for label, bad in bads.items():
                yield f"{argument}={label}", {argument: bad}
        elif argument in ("rounding", "grid", "mechanism", "slice_values", "slice_value"):
            yield f"{argument}=nan", {argument: math.nan}


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
CASES = [
    *((name, change, f"{name}-{label}") for name in CALLS for label, change in poisoned(name)),
    *((name, change, f"{name}-{change}") for name, changes in OUT_OF_RANGE.items() for change in changes),
]


def test_every_public_name_is_poisoned():
    assert set(mechanisms.__all__) <= {name.split(".")[0] for name in CALLS} | NOT_CALLED


@pytest.mark.parametrize("name", CALLS)
def test_the_arguments_are_valid_to_begin_with(name):
    call, _ = target(name)
    rng = {"rng": np.random.default_rng(0)} if "rng" in inspect.signature(call).parameters else {}
    call(**copy.deepcopy(CALLS[name]), **rng)


@pytest.mark.parametrize(("name", "change"), [pytest.param(*case, id=label) for *case, label in CASES])
def test_poison_raises_and_draws_nothing(name, change):
    call, mechanism = target(name)
    before = repr(mechanism and mechanism.state())
    arguments = {**CALLS[name], **change}
    generator = np.random.default_rng(0)
    state = generator.bit_generator.state
    if "rng" in inspect.signature(call).parameters:
        arguments["rng"] = generator
    with pytest.raises(ValueError, match=r"(?s)^The '.*' parameter of [\w.]+ must be .* Got .* instead\."):
        call(**arguments)
    assert generator.bit_generator.state == state
    assert repr(mechanism and mechanism.state()) == before


DRAWING = [n for n in CALLS if "rng" in inspect.signature(target(n)[0]).parameters]


@pytest.mark.parametrize("name", DRAWING)
@pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0)], ids=["none", "seed", "legacy"])
def test_only_a_generator_is_a_generator(name, rng):
    call, mechanism = target(name)
    before = repr(mechanism and mechanism.state())
    with pytest.raises(ValueError, match=r"'rng' parameter of \w+ must be a numpy.random.Generator"):
        call(**CALLS[name], rng=rng)
    assert repr(mechanism and mechanism.state()) == before


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
