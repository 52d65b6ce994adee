"""What the benchmarks name must exist: they are run by hand, and would tell only then."""

import ast
from pathlib import Path

import pytest

import sklearn_ada
from benchmarks.speed.breakdown import STEPS

OWN = {step: where for step, where in STEPS.items() if step != "fit"}  # that one is scikit-learn's


@pytest.mark.parametrize("step", list(OWN))
def test_every_step_of_the_profile_is_a_function_of_the_package(step):
    file, function = OWN[step]
    (path,) = Path(sklearn_ada.__file__).parent.rglob(file)
    defined = {
        node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)
    }
    assert function in defined
