"""Importing the package is cheap, and every public name is there when it is asked for."""

import importlib
import pkgutil
import sys
import tomllib

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import sklearn_ada
from tests.support.processes import ROOT, interpreter

FLOORS = ("sklearn_ada.accounting", "sklearn_ada.guarantees", "sklearn_ada.mechanisms")
PACKAGES = ("sklearn_ada", *FLOORS, "sklearn_ada.planning")
EXTRAS = ("IPython", "matplotlib", "optuna", "pandas", "polars", "psycopg", "sqlalchemy")


def loaded_by(statement):
    """Return the modules that a fresh interpreter has after a statement."""
    return set(interpreter(f"{statement}; import sys; print(*sys.modules)").stdout.split())


def every_name_without(*modules):
    """Return what is loaded with every name where whoever imports one of these modules fails."""
    names = "; ".join(f"from {package} import *" for package in PACKAGES)
    return loaded_by(f"import sys; sys.modules.update(dict.fromkeys({modules})); {names}")


def test_no_extra_is_imported_even_with_every_name():
    assert {"sklearn_ada.model_selection", *PACKAGES} <= every_name_without(*EXTRAS)
    with pytest.raises(AssertionError, match="import of json"):
        every_name_without("json")


def test_an_import_loads_nothing_before_a_name_is_used():
    loaded = loaded_by("import sklearn_ada")
    own = {name for name in loaded if name.startswith("sklearn_ada")}
    assert own == {"sklearn_ada", "sklearn_ada._notices"}
    assert not loaded & {"numpy", "scipy", "sklearn", "joblib"}


def test_nothing_more_is_loaded_with_dask_which_then_knows_how_large_a_scorer_is():
    toml = (ROOT / "pyproject.toml").read_text()
    module, name = tomllib.loads(toml)["project"]["entry-points"]["dask.sizeof"]["sklearn_ada"].split(":")
    loaded = loaded_by(f"from {module} import {name}")
    assert {each for each in loaded if each.startswith("sklearn")} == {"sklearn_ada", "sklearn_ada._notices"}
    sizeof = pytest.importorskip("dask.utils").Dispatch()
    sizeof.register(object, sys.getsizeof)
    sizeof.register(np.ndarray, lambda array: array.nbytes)
    getattr(importlib.import_module(module), name)(sizeof)
    X, y = np.zeros((1000, 20)), np.arange(1000) % 2
    scorer = sklearn_ada.ThresholdoutScorer("accuracy", sklearn_ada.Holdout(X, y))
    search = GridSearchCV(DecisionTreeClassifier(), {}, scoring=scorer)
    assert min(sizeof(scorer), sizeof(search)) > X.nbytes > sizeof(search.set_params(scoring=None))


@pytest.mark.parametrize("floor", FLOORS)
def test_a_floor_of_formulas_needs_neither_scikit_learn_nor_the_floors_above(floor):
    loaded = loaded_by(f"from {floor} import *")
    assert floor in loaded
    above = {f"sklearn_ada.{room}" for room in ("holdout", "metrics", "ledger")}
    assert not loaded & {"sklearn", "joblib", *above}


def test_every_public_name_of_the_package_is_what_it_was_meant_to_be():
    api = importlib.import_module("sklearn_ada")
    assert sklearn_ada.__all__ == api.__all__
    assert all(getattr(sklearn_ada, name) is getattr(api, name) for name in api.__all__)
    assert set(api.__all__) <= set(dir(sklearn_ada))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_public_name_is_that_of_a_module(package):
    module = importlib.import_module(package)
    assert all(hasattr(module, name) for name in module.__all__)
    submodules = {info.name for info in pkgutil.iter_modules(module.__path__)} - {"__main__"}
    assert not submodules & set(module.__all__)  # importing the module would hide the name
    for name in submodules:
        assert importlib.import_module(f"{package}.{name}") is getattr(module, name)


@pytest.mark.parametrize("name", ["no_such_name", "_private", "__wrapped__"])
def test_another_name_is_an_attribute_error(name):
    assert not hasattr(sklearn_ada, name)
