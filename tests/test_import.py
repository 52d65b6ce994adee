"""Importing the package is cheap, and every public name is there when it is asked for."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

PACKAGES = ("sklearn_ada", "sklearn_ada.accounting", "sklearn_ada.guarantees", "sklearn_ada.mechanisms")
EXTRAS = ("IPython", "matplotlib", "optuna", "pandas", "polars", "psycopg", "sqlalchemy")


def loaded_by(statement):
    """Return the modules that a fresh interpreter has after a statement."""
    code = f"import sklearn.model_selection; {statement}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_no_extra_is_imported_even_with_every_name():
    without = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))"  # whoever imports one fails
    every_name = "; ".join(f"from {package} import *" for package in PACKAGES)
    assert {f"{package}._api" for package in PACKAGES} <= loaded_by(f"{without}; {every_name}")


def test_it_would_fail():
    with pytest.raises(subprocess.CalledProcessError):
        loaded_by("import sys; sys.modules['json'] = None; from sklearn_ada import *")


def test_an_import_loads_nothing_before_a_name_is_used():
    own = {name for name in loaded_by("import sklearn_ada") if name.startswith("sklearn_ada")}
    assert own == {"sklearn_ada", "sklearn_ada._lazy", "sklearn_ada._session_token"}


def test_a_holdout_needs_not_every_mechanism():
    own = loaded_by("from sklearn_ada.holdout import Holdout")
    assert "sklearn_ada.mechanisms.quantile" in own
    assert "sklearn_ada.mechanisms.multiplicative_weights" not in own
    assert "sklearn_ada.mechanisms._api" not in own


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_what_it_was_meant_to_be(package):
    module, api = importlib.import_module(package), importlib.import_module(f"{package}._api")
    assert module.__all__ == api.__all__
    assert all(getattr(module, name) is getattr(api, name) for name in module.__all__)
    assert set(module.__all__) <= set(dir(module))
    submodules = {info.name for info in pkgutil.iter_modules(module.__path__)}
    assert not submodules & set(module.__all__)  # importing the module would hide the name
    assert all(getattr(module, name).__name__ == f"{package}.{name}" for name in submodules - {"__main__"})


@pytest.mark.parametrize("name", ["no_such_name", "_private", "__wrapped__"])
def test_another_name_is_an_attribute_error(name):
    for package in PACKAGES:
        assert not hasattr(importlib.import_module(package), name)
