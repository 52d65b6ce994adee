import json

import numpy as np
import pytest

from sklearn_ada import mechanisms
from sklearn_ada.exceptions import BudgetExhaustedError

ROUNDING = mechanisms.Rounding(mechanisms.UniformGrid(0.0, 1.0, 101), guess=0.5)
SAMPLE = np.linspace(0.0, 1.0, 200)

# A mechanism, and what is asked of it for a number in [0, 1].
CASES = {
    "sparse_vector": (lambda: mechanisms.SparseVector(2.0, 0.05, max_hits=4), lambda x: (x, 0.9)),
    "sparse_vector_redrawn": (
        lambda: mechanisms.SparseVector(2.0, 0.05, max_hits=4, redraw=True),
        lambda x: (x, 0.9),
    ),
    "thresholdout": (
        lambda: mechanisms.Thresholdout(0.4, 0.02, max_hits=4, sensitivity=0.01),
        lambda x: (x, 0.5),
    ),
    "verification": (lambda: mechanisms.Verification(0.2, 0.1, 1.0, max_failures=4), lambda x: (SAMPLE, x)),
    "effective_rounds": (
        lambda: mechanisms.EffectiveRounds(4, 0.2, 0.1, 1.0),
        lambda x: (lambda i: [x], SAMPLE, ROUNDING),
    ),
    "multiplicative_weights": (
        lambda: mechanisms.PrivateMultiplicativeWeights(3, 100, 0.3, 1.0),
        lambda x: ([x, 1.0 - x, 0.0], 0.7 * x),
    ),
    "ladder": (lambda: mechanisms.Ladder(0.1), lambda x: (x,)),
    "parameter_free_ladder": (mechanisms.ParameterFreeLadder, lambda x: (SAMPLE * x,)),
    "sample_splitting": (lambda: mechanisms.SampleSplitting(30), lambda x: (lambda i: x, ROUNDING)),
}

ENDLESS = {"ladder", "parameter_free_ladder", "multiplicative_weights"}  # or learn, and are right


def made(name):
    """Return a new mechanism, and how it is asked for a number."""
    make, question = CASES[name]
    draws = name not in ("ladder", "parameter_free_ladder", "sample_splitting")
    return make(), lambda mechanism, x, rng: mechanism.ask(*question(x), *([rng] if draws else []))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("stop", [0, 1, 5, 20])
def test_a_restored_mechanism_goes_on_as_if_nothing_had_happened(name, stop):
    numbers = np.random.default_rng(0).uniform(0.0, 1.0, size=30)
    numbers[:20] *= np.linspace(1.0, 0.5, 20)

    def converse(restore):
        (mechanism, ask), rng, releases = made(name), np.random.default_rng(1), []
        for i, x in enumerate(numbers):
            if restore and i == stop:
                mechanism = type(mechanism).from_state(json.loads(json.dumps(mechanism.state())))
            if mechanism.exhausted:
                break
            releases.append(ask(mechanism, float(x), rng))
        return releases, json.dumps(mechanism.state())

    assert converse(restore=True) == converse(restore=False)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ENDLESS])
def test_an_exhausted_mechanism_refuses_every_question_and_draws_nothing(name):
    (mechanism, ask), rng = made(name), np.random.default_rng(0)
    while not mechanism.exhausted:
        ask(mechanism, 1.0, rng)
    before = rng.bit_generator.state
    for x in (0.0, 0.5, 1.0):
        with pytest.raises(BudgetExhaustedError, match=f"{type(mechanism).__name__} is exhausted"):
            ask(mechanism, x, rng)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("name", CASES)
def test_a_foreign_state_is_refused(name):
    mechanism, _ = made(name)
    state = mechanism.state()
    for bad in ({}, {**state, "extra": 1}, dict(list(state.items())[1:]), None, [1]):
        with pytest.raises(ValueError, match="'state' parameter"):
            type(mechanism).from_state(bad)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sparse_vector", {"hits": 5}),
        ("sparse_vector", {"hits": -1}),
        ("sparse_vector", {"threshold_noise": float("nan")}),
        ("thresholdout", {"hits": 5}),
        ("thresholdout", {"threshold_noise": float("inf")}),
        ("verification", {"failures": 5}),
        ("effective_rounds", {"failures": 5}),
        ("multiplicative_weights", {"updates": 10**6}),
        ("multiplicative_weights", {"log_weights": [0.0, 0.0]}),
        ("multiplicative_weights", {"log_weights": [0.0, 0.0, float("nan")]}),
        ("ladder", {"best": 11}),
        ("parameter_free_ladder", {"best": 3}),
        ("parameter_free_ladder", {"best": 3, "best_losses": [0.0, float("nan")]}),
        ("sample_splitting", {"used": 31}),
    ],
)
def test_an_impossible_memory_is_refused(name, change):
    mechanism, _ = made(name)
    with pytest.raises(ValueError, match=r"^The '.*' parameter of \w+ must be"):
        type(mechanism).from_state({**mechanism.state(), **change})


@pytest.mark.parametrize("name", ["sparse_vector", "thresholdout", "verification", "multiplicative_weights"])
def test_the_noise_is_not_in_the_repr(name):
    mechanism, ask = made(name)
    ask(mechanism, 0.5, np.random.default_rng(0))
    assert mechanism.threshold_noise is not None
    assert "noise" not in repr(mechanism)
