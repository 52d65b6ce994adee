"""What the benchmarks name must exist: they are run by hand, and would tell only then."""

import ast
from pathlib import Path

import pytest

import sklearn_ada
from benchmarks.speed.breakdown import STEPS
from benchmarks.validity.halved_noise import ROOT, changed, places
from benchmarks.validity.notebook import run as run_notebook

OWN = {step: where for step, where in STEPS.items() if step != "fit"}  # that one is scikit-learn's


@pytest.mark.parametrize("step", list(OWN))
def test_every_step_of_the_profile_is_a_function_of_the_package(step):
    file, function = OWN[step]
    (path,) = Path(sklearn_ada.__file__).parent.rglob(f"**/{file}")
    nodes = ast.walk(ast.parse(path.read_text()))
    assert function in {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def test_every_place_of_noise_is_found_and_can_be_halved():
    found = places()
    where = {(Path(place.path).stem, place.function) for place in found}
    assert {("noise", name) for name in ("with_laplace", "with_normal", "randomized_response")} <= where
    assert {("quantiles", "_runs"), ("selection", "report_noisy_max"), ("noisy", "release")} <= where
    assert {("thresholdout", "laplace_correction"), ("stable_median", "quantile")} <= where
    for place in found:
        source = (ROOT / place.path).read_bytes()
        assert ast.dump(ast.parse(changed(source, place, 0.5))) != ast.dump(ast.parse(source))


def test_no_noise_is_drawn_but_in_the_kernels_of_mechanisms():
    """A second copy of a draw would be guarded by no test of its law."""
    draws = {"laplace", "normal", "gumbel", "exponential", "random", "integers", "choice", "standard_normal"}
    rooms = [ROOT / "sklearn_ada" / room for room in ("questions", "holdout")]
    files = [path for room in rooms for path in room.rglob("*.py")]
    assert files
    for path in files:
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        assert not {call.attr for call in calls if isinstance(call, ast.Attribute)} & draws, path.name


@pytest.mark.thorough
def test_a_notebook_that_is_run_again_costs_hardly_anything(tmp_path):
    """Nine kinds of work with unseeded folds; by hand it is run under other releases, too."""
    first, *again = (sum(run_notebook(tmp_path).values()) for _ in range(3))
    assert first > 20.0
    assert sum(again) <= 0.05
