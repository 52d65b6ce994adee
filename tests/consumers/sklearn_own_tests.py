"""draft."""

import functools
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.experimental import enable_halving_search_cv  # noqa: F401
import sklearn.model_selection

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.metrics.rows import stack_rows

ROOT = Path(__file__).parents[2]
SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")


MODE = {"holdout": "share"}


class Around(ReusableHoldoutCV):
    def set_params(self, **params):
        own = super().get_params(deep=False)
        return super().set_params(**{n if n.partition("__")[0] in own else f"search__{n}": v for n, v in params.items()})

    def __getattr__(self, name):
        search = self.__dict__.get("search")
        if search is not None and name in search.get_params(deep=False):
            return getattr(search, name)
        return object.__getattribute__(self, name)

    def __setattr__(self, name, value):
        search = self.__dict__.get("search")
        if search is not None and name in search.get_params(deep=False) and name not in type(self)._get_param_names():
            setattr(search, name, value)
        else:
            super().__setattr__(name, value)

    def fit(self, X, y=None, **params):
        if MODE["holdout"] == "apart":
            vars(self)["holdout"] = 0.25
            try:
                import numpy as np, tempfile
                Xs = [*X, *X] if not hasattr(X, "shape") else stack_rows(X, X)
                self.holdout = Holdout(Xs, np.concatenate([y, y]), ledger=Path(tempfile.mkdtemp()) / "l.db")
            except Exception as e:
                print("NOT APART", repr(e)[:300])
        return super().fit(X, y, **params)


def wrapped(kind):
    cls = type(kind.__name__, (Around,), {"__module__": __name__, "__init__": ReusableHoldoutCV.__init__, "fit": Around.fit})
    globals()[kind.__name__] = cls

    @functools.wraps(kind, updated=())
    def make(*args, **params):
        return cls(kind(*args, **params), ask="winner")

    return make


def pytest_addoption(parser):
    parser.addoption("--own-module")
    parser.addoption("--own-outcomes")
    parser.addoption("--own-holdout", default="share")
    parser.addoption("--own-names", default="GridSearchCV,RandomizedSearchCV")


def pytest_configure(config):
    MODE["holdout"] = config.getoption("--own-holdout")
    names = [n for n in config.getoption("--own-names").split(",") if n]
    kept = {name: getattr(sklearn.model_selection, name) for name in names}
    for name, kind in kept.items():
        setattr(sklearn.model_selection, name, wrapped(kind))
    try:
        module = importlib.import_module(config.getoption("--own-module"))
    finally:
        for name, kind in kept.items():
            setattr(sklearn.model_selection, name, kind)


class _P: pass


OUT = {}


def pytest_runtest_logreport(report):
    case = report.nodeid.split("::", 1)[1]
    if report.when == "call" or report.outcome != "passed":
        msg = ""
        if report.outcome == "failed":
            msg = str(report.longrepr.reprcrash.message if hasattr(report.longrepr, "reprcrash") else report.longrepr)
        OUT[case] = [report.outcome, msg]


def pytest_sessionfinish(session):
    Path(session.config.getoption("--own-outcomes")).write_text(json.dumps(OUT))


def run(module, *more):
    with tempfile.TemporaryDirectory() as folder:
        ini = Path(folder) / "pytest.ini"
        ini.write_text("[pytest]\n")
        told = Path(folder) / "outcomes.json"
        env = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
        out = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-c", str(ini), "--rootdir", folder, "-p", "tests.consumers.sklearn_own_tests",
             "-p", "no:cacheprovider", "--own-module", module, "--own-outcomes", str(told), *more, "--pyargs", module],
            cwd=folder, env=env, capture_output=True, text=True)
        Path("/tmp/w/h24x/last.txt").write_text(out.stdout + out.stderr)
        return json.loads(told.read_text())


if __name__ == "__main__":
    r = run(*sys.argv[1:])
    from collections import Counter
    print(Counter(o for o, _ in r.values()))
    for c, (o, m) in r.items():
        if o == "failed":
            print("F", c, "|", m.replace("\n", " ")[:300])
