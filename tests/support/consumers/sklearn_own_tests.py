"""Scikit-learn's own tests, run with objects of this package in the place of scikit-learn's.

`run` starts pytest on one test module of the installed scikit-learn, with this module as a plugin, which puts
stand-ins for some names of `sklearn.model_selection` while the test module is imported, and then takes them
away. What cannot be as a test wants is listed in ``sklearn_differences.csv``, case by case, with the reason.

``GridSearchCV(...)`` and ``RandomizedSearchCV(...)``, in other files than ``test_search.py`` the halving
searches too, give ``ReusableHoldoutCV(GridSearchCV(...), ask="winner")``. A parameter of the search that a
test reads, sets, or gives to ``set_params`` by its name is that of the search within, which is ``search__cv``
to a user. This, and the holdout, is all that the stand-in does. A run says where the holdout comes from:

* "taken": the default, a quarter of the rows passed to ``fit``. Many of these tests have four to ten rows, of
  which then too few are left, and many compare with a model of all rows.
* "apart": a `Holdout` beside the rows, so the search must find exactly what it finds by itself. Its rows are
  those of the test, each of them twice: this is no test of statistics, and rows that occur more than once say
  nothing of an overlap. Where there can be no such holdout (no y, several outputs) it is "taken".
* "in place": the test module is imported as it is, and then its names stand for functions that return a plain
  ``ReusableHoldoutCV(search, ask="winner")``, with the default holdout and its own parameters' names. Classes
  in parametrisations were read before, and stay scikit-learn's.
* "scorers": `cross_validate` and the like get ``ThresholdoutScorer("accuracy", holdout)``, with a holdout as
  in "apart", for classifiers, in the place of ``scoring="accuracy"`` and, for scikit-learn's, of none.

A case counts as reached if a stand-in was fitted or called in it (in place: made). Of long files only cases
are run whose code names one of these searches or functions.

``python -m tests.support.consumers.sklearn_own_tests`` runs everything and says what fails and is not listed.
"""

import contextlib
import csv
import functools
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import sklearn.model_selection
from sklearn.base import is_classifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401

from sklearn_ada import Holdout, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.data.stacking import stack_rows

ROOT = Path(__file__).parents[3]
LIST = Path(__file__).with_name("sklearn_differences.csv")
NEWEST = (1, 9)

PLAIN = ("GridSearchCV", "RandomizedSearchCV")
SEARCHES = (*PLAIN, "HalvingGridSearchCV", "HalvingRandomSearchCV")
SCORED = ("cross_validate", "cross_val_score", "learning_curve", "validation_curve", "permutation_test_score")
SELECTION = "sklearn.model_selection.tests."
META = (
    "sklearn.tests.test_metaestimators", "sklearn.tests.test_metaestimators_metadata_routing",
    "sklearn.tests.test_multioutput", "sklearn.tests.test_multiclass", "sklearn.ensemble.tests.test_bagging",
    "sklearn.ensemble.tests.test_voting", "sklearn.ensemble.tests.test_weight_boosting",
    "sklearn.ensemble.tests.test_forest", "sklearn.decomposition.tests.test_kernel_pca",
    "sklearn.feature_extraction.tests.test_text", "sklearn.impute.tests.test_impute",
    "sklearn.linear_model.tests.test_logistic", "sklearn.linear_model.tests.test_ridge",
    "sklearn.linear_model.tests.test_sgd", "sklearn.linear_model.tests.test_coordinate_descent",
    "sklearn.neighbors.tests.test_kde", "sklearn.model_selection.tests.test_split",
)  # fmt: skip
"""Test modules with a search inside of something else, or something else inside of a search."""

WHOLE = ("test_search", "test_successive_halving", "test_metaestimators")
"""Files all of whose cases are run."""
BY_CHANCE = {"test_enet_cv_grid_search[False-ElasticNetCV-ElasticNet]"}
"""Listed, and passing on some machines: which rows are held out depends on the last bits of y."""

_NAMED = rf"SearchCV|\b({'|'.join(SCORED)})\b"

RUNS = {
    **{f"{SELECTION}test_search, {how}": how for how in ("apart", "taken", "in place")},
    **{f"{SELECTION}test_successive_halving, {holdout}": holdout for holdout in ("apart", "taken")},
    f"{SELECTION}test_validation, scorers": "scorers",
    **{f"{module}, taken": "taken" for module in META},
}
"""What is run: a test module, and how the holdout comes about."""


class _Reached:
    """Whether a stand-in was used in the case that is running."""

    case = False


def apart(X, y):
    """Return a holdout beside some rows: the same rows, each twice."""
    rows = stack_rows(X, X) if hasattr(X, "shape") else [*X, *X]
    return Holdout(rows, np.concatenate([y, y]), ledger=Path(tempfile.mkdtemp()) / "ledger.db")


class Around(ReusableHoldoutCV):
    """A `ReusableHoldoutCV` in which parameters of its search go by the names that they have in a search."""

    beside = False

    def set_params(self, **params):
        own = super().get_params(deep=False)
        named = {n if n.partition("__")[0] in own else f"search__{n}": value for n, value in params.items()}
        return super().set_params(**named)

    def __getattr__(self, name):
        if name in self._of_search():
            return getattr(self.search, name)
        return object.__getattribute__(self, name)

    def __setattr__(self, name, value):
        if name in self._of_search():
            setattr(self.search, name, value)
        else:
            super().__setattr__(name, value)

    def _of_search(self):
        search = self.__dict__.get("search")
        return () if search is None else set(search.get_params(deep=False)) - set(self._get_param_names())

    def fit(self, X, y=None, **params):
        _Reached.case = True
        if self.beside:
            self.holdout = 0.25
            with contextlib.suppress(ValueError):  # no y, or of several outputs: the wrapper says what of it
                self.holdout = apart(X, y)
        return super().fit(X, y, **params)


def around(kind, beside):
    """Return a function that makes a wrapped search from the parameters of a search."""
    wrapper = type(kind.__name__, (Around,), {"beside": beside, "__module__": __name__})
    wrapper.__init__ = ReusableHoldoutCV.__init__  # scikit-learn reads the parameters' names off it
    globals()[kind.__name__] = wrapper  # so that it can be pickled

    @functools.wraps(kind, updated=())
    def make(*args, **params):
        return wrapper(kind(*args, **params), ask="winner")

    return make


def in_place(kind):
    """Return a function that makes a wrapped search, and nothing beside that."""

    @functools.wraps(kind, updated=())
    def make(*args, **params):
        _Reached.case = True
        return ReusableHoldoutCV(kind(*args, **params), ask="winner")

    return make


def is_accuracy(scoring, model):
    """Return whether a score is the accuracy: by its name, or as the own one of a model of scikit-learn."""
    name = getattr(getattr(type(model), "score", None), "__module__", "")
    is_own = name.startswith("sklearn.") and ".tests." not in name and "_mocking" not in name
    return is_own if scoring is None else isinstance(scoring, str) and scoring == "accuracy"


def scored(function):
    """Return a function of scikit-learn that asks a holdout where it would compute an accuracy."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args, **params):
        try:
            given = signature.bind(*args, **params).arguments
            assert is_classifier(given["estimator"])
            assert is_accuracy(given.get("scoring"), given["estimator"])
            scorer = ThresholdoutScorer("accuracy", apart(given["X"], given.get("y")))
        except (AssertionError, ValueError, TypeError):  # several outputs, rows without labels, ...
            return function(*args, **params)
        _Reached.case = True
        others = {name: value for name, value in given.items() if name not in ("estimator", "X", "y")}
        return function(given["estimator"], given["X"], given["y"], **{**others, "scoring": scorer})

    return call


def pytest_addoption(parser):
    """Take the test module, how its holdout comes about, and the file for the outcomes."""
    for name in ("--own-module", "--own-holdout", "--own-outcomes"):
        parser.addoption(name)


def pytest_configure(config):
    """Import the test module with stand-ins, or put them in it once it is imported."""
    config.outcomes = {}
    module, holdout = config.getoption("--own-module"), config.getoption("--own-holdout")
    if holdout == "in place":
        imported = importlib.import_module(module)
        for name in PLAIN:
            setattr(imported, name, in_place(getattr(imported, name)))
        return
    names = SCORED if holdout == "scorers" else PLAIN if module.endswith(".test_search") else SEARCHES
    kept = {name: getattr(sklearn.model_selection, name) for name in names}
    importlib.import_module(module)  # what it imports must not see the stand-ins, except for itself
    del sys.modules[module]
    try:
        for name, kind in kept.items():
            stand_in = scored(kind) if holdout == "scorers" else around(kind, holdout == "apart")
            setattr(sklearn.model_selection, name, stand_in)
        importlib.import_module(module)
    finally:
        for name, kind in kept.items():
            setattr(sklearn.model_selection, name, kind)


def pytest_collection_modifyitems(config, items):
    """Leave out cases of long files that have nothing to do with the stand-ins."""
    if not config.getoption("--own-module").endswith(WHOLE):
        items[:] = [item for item in items if re.search(_NAMED, _source(item))]


def _source(item):
    values = getattr(getattr(item, "callspec", None), "params", {}).values()
    names = [getattr(value, "__name__", type(value).__name__) for value in values]
    return " ".join([inspect.getsource(item.function), *names])


def pytest_runtest_setup(item):
    """Start a case."""
    _Reached.case = False


def pytest_runtest_makereport(item, call):
    """Note what came of a case."""
    error = call.excinfo
    if call.when != "call" and error is None:
        return
    may_fail = item.get_closest_marker("xfail") is not None
    if error is None or (may_fail and error.typename != "Skipped"):
        outcome = "passed"
    else:
        outcome = "skipped" if error.typename == "Skipped" else "failed"
    message = f"{error.typename}: {error.value}" if outcome == "failed" else ""
    item.config.outcomes[item.nodeid.split("::", 1)[1]] = [outcome, message, _Reached.case]


def pytest_sessionfinish(session):
    """Write the outcomes."""
    Path(session.config.getoption("--own-outcomes")).write_text(json.dumps(session.config.outcomes))


def run(name):
    """Return the outcome ("passed", "failed", "skipped"), message and whether it was reached, by case."""
    module = name.partition(",")[0]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pytest.ini").write_text("[pytest]\n")
        outcomes = Path(folder) / "outcomes.json"
        command = [
            sys.executable, "-m", "pytest", "-q", "-c", f"{folder}/pytest.ini", "--rootdir", folder,
            "-p", __name__ if __name__ != "__main__" else "tests.support.consumers.sklearn_own_tests",
            "-p", "no:cacheprovider", "--own-module", module, "--own-holdout", RUNS[name],
            "--own-outcomes", str(outcomes), "--pyargs", module,
        ]  # fmt: skip
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
        environment = {**inherited, "PYTHONPATH": path, "MPLBACKEND": "agg", "TMPDIR": folder}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if not outcomes.exists() or outcomes.read_text() == "{}":
            raise RuntimeError(f"No case of {module} was run:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return json.loads(outcomes.read_text())


def _steady(outcomes):
    """Return the outcomes with those that are chance taken for failures."""
    return {
        case: ["failed" if case in BY_CHANCE else came, *rest] for case, (came, *rest) in outcomes.items()
    }


def title(name):
    """Return what the documentation calls a run: the file, and where the holdout comes from."""
    module, how = name.split(", ")
    return f"{module.rpartition('.')[2]}, {how}"


def counted(name, outcomes):
    """Return the counts of a run as the documentation shows them."""
    outcomes = _steady(outcomes)
    passed = [reached for came, _, reached in outcomes.values() if came == "passed"]
    failed = sum(came == "failed" for came, _, _ in outcomes.values())
    counts = {"cases": len(passed) + failed, "pass": len(passed), "reached": sum(passed), "listed": failed}
    return {"tests": title(name), **{key: str(count) for key, count in counts.items()}}


def listed():
    """Return the reason by run and case."""
    with LIST.open() as file:
        return {(row["run"], row["case"]): row["reason"] for row in csv.DictReader(file)}


def compare(name, outcomes):
    """Return what fails and is not listed, with its message, and what is listed and does not fail."""
    failed = {case: message for case, (came, message, _) in _steady(outcomes).items() if came == "failed"}
    expected = {case for run_name, case in listed() if run_name == name}
    new = {case: message for case, message in failed.items() if case not in expected}
    return new, sorted(expected - set(failed))


def main(names):
    """Run what is named, or everything, and print what came of it."""
    for name in names or RUNS:
        outcomes = run(name)
        print(counted(name, outcomes), flush=True)
        new, over = compare(name, outcomes)
        for case, message in new.items():
            print(f"  not listed: {case} | {' '.join(message.split())[:240]}")
        for case in over:
            print(f"  listed, but does not fail: {case}")


if __name__ == "__main__":
    main(sys.argv[1:])
