"""Whether a model stays one question: fitted again, stored, copied, used, and asked by another interpreter.

As a program it asks about newly fitted models and prints which of them a ledger knows:
``python -m tests.support.consumers.one_question FOLDER NAME ...``.
"""

import contextlib
import copy
import inspect
import io
import json
import os
import pickle
import subprocess
import sys
import warnings

import joblib
import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils import all_estimators

from sklearn_ada import Holdout, Metric

__all__ = ["answer_of", "asked_elsewhere", "fitted", "of_other_libraries", "of_sklearn", "variants"]

RNG = np.random.default_rng(0)
X = RNG.integers(1, 5, size=(60, 4)).astype(float)
LABELS = (X[:, 0] + X[:, 1] + RNG.normal(size=60) > 5).astype(int)
NUMBERS = X[:, 0] + X[:, 1] + 0.5
HOLDOUT = RNG.integers(1, 5, size=(80, 4)).astype(float)
ARGUMENTS = {
    "CCA": {"n_components": 1},
    "PLSCanonical": {"n_components": 1},
    "RadiusNeighborsClassifier": {"radius": 9.0},
    "RadiusNeighborsRegressor": {"radius": 9.0},
    "SelfTrainingClassifier": {"estimator": LogisticRegression()},
    "TunedThresholdClassifierCV": {"cv": 2, "thresholds": 5},
    "HistGradientBoostingClassifier": {"max_iter": 3, "min_samples_leaf": 5},
    "HistGradientBoostingRegressor": {"max_iter": 3, "min_samples_leaf": 5},
    "PLSRegression": {"n_components": 1},
    "LogisticRegressionCV": {"Cs": 2, "cv": 2},
    "MLPClassifier": {"max_iter": 5},
    "MLPRegressor": {"max_iter": 5},
}  # where the defaults do not suit so few rows
THREADS = {"n_jobs", "nthread", "num_threads", "thread_count"}
ALIKE = {
    **dict.fromkeys(THREADS, 2),
    "verbose": 1,
    "logging_level": "Info",
}  # other values of what must not count


def first_is_right(y, outputs):
    """The share of right labels; of several outputs the first counts."""
    return (np.asarray(outputs).reshape(len(y), -1)[:, 0] == y).astype(float)


def first_error(y, outputs):
    """Minus the absolute error; of several outputs the first counts."""
    return -np.abs(np.asarray(outputs, dtype=float).reshape(len(y), -1)[:, 0] - y)


def of_sklearn():
    """Return all of scikit-learn's classifiers and regressors by name, unfitted and small."""
    classifiers = dict(all_estimators(type_filter="classifier"))
    models = {**classifiers, **dict(all_estimators(type_filter="regressor"))}
    return {
        name: _small(name, kind, LogisticRegression() if name in classifiers else Ridge())
        for name, kind in sorted(models.items())
    }


def _small(name, kind, inner):
    parameters = inspect.signature(kind).parameters
    several = [("a", inner), ("b", clone(inner))]
    given = {
        "estimator": inner,
        "base_estimator": inner,
        "estimators": several,
        "n_estimators": 5,
        "random_state": 0,
    }
    needed = {k for k, v in parameters.items() if v.default is inspect.Parameter.empty}
    usual = {"n_estimators", "random_state"} & parameters.keys()
    kept = {k: v for k, v in given.items() if k in needed | usual}
    return kind(**{**kept, **ARGUMENTS.get(name, {})})


def of_other_libraries():
    """Return models of other libraries that are installed, by name, unfitted and small."""
    found = {}
    with contextlib.suppress(ImportError):
        import xgboost

        for kind in (xgboost.XGBClassifier, xgboost.XGBRegressor, xgboost.XGBRFClassifier):
            found[kind.__name__] = kind(n_estimators=3, random_state=0, n_jobs=1)
        found["XGBClassifier dart"] = xgboost.XGBClassifier(n_estimators=3, booster="dart", nthread=1)
    with contextlib.suppress(ImportError):
        import lightgbm

        for kind in (lightgbm.LGBMClassifier, lightgbm.LGBMRegressor):
            small = {"n_estimators": 3, "min_child_samples": 5, "random_state": 0, "deterministic": True}
            found[kind.__name__] = kind(**small, n_jobs=1, verbose=-1)
        found["LGBMClassifier num_threads"] = lightgbm.LGBMClassifier(**small, num_threads=1, verbose=-1)
    with contextlib.suppress(ImportError):
        import catboost

        for kind in (catboost.CatBoostClassifier, catboost.CatBoostRegressor):
            small = {"iterations": 3, "random_seed": 0, "allow_writing_files": False}
            found[kind.__name__] = kind(**small, thread_count=1, verbose=0)
    with contextlib.suppress(ImportError):
        from imblearn.ensemble import BalancedRandomForestClassifier, EasyEnsembleClassifier

        found["BalancedRandomForestClassifier"] = BalancedRandomForestClassifier(5, random_state=0, n_jobs=1)
        found["EasyEnsembleClassifier"] = EasyEnsembleClassifier(3, random_state=0, n_jobs=1)
    with contextlib.suppress(ImportError):
        from tests.support.consumers.torch_net import TorchClassifier

        found["TorchClassifier"] = TorchClassifier()
    with contextlib.suppress(ImportError):
        from tests.support.consumers.skorch_net import SkorchClassifier

        found["SkorchClassifier"] = SkorchClassifier()
    return found


def fitted(model, other_settings=False):
    """Return a copy of a model, fitted; with other threads and more printing, if asked for."""
    model = copy.deepcopy(model)
    if other_settings:
        for name, value in model.get_params().items():
            other = ALIKE.get(name.rpartition("__")[2])
            if other is not None:
                model.set_params(**{name: True if isinstance(value, bool) else other})
    y = LABELS if is_classifier(model) else NUMBERS
    with (
        warnings.catch_warnings(),
        joblib.parallel_config("threading"),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        try:
            return model.fit(_columns(model, X), y)
        except (ValueError, IndexError):  # of several outputs
            return model.fit(X, np.column_stack([y, y]))


def variants(model):
    """Yield what happens to a model, and the model after it, which is still the same question."""
    trained = fitted(model)
    yield "fitted again", trained
    yield "other threads and printing", fitted(model, other_settings=True)
    yield "pickled", pickle.loads(pickle.dumps(trained))
    yield "copied", copy.deepcopy(trained)
    stored = io.BytesIO()
    joblib.dump(trained, stored)
    stored.seek(0)
    yield "stored by joblib", joblib.load(stored)
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(trained, method):
            getattr(trained, method)(_columns(model, HOLDOUT))
    yield "used", trained
    yield "used and pickled", pickle.loads(pickle.dumps(trained))


def answer_of(model, ledger):
    """Return a holdout's answer about a fitted model."""
    rows = _columns(model, HOLDOUT)
    total = HOLDOUT[:, 0] + HOLDOUT[:, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if is_classifier(model):
            holdout, guess = Holdout(rows, (total > 5).astype(int), ledger=ledger), 0.8
            metric = Metric(first_is_right, kind="mean", range=(0, 1))
        else:
            holdout, guess = Holdout(rows, total + 0.5, ledger=ledger), -0.5
            metric = Metric(first_error, kind="mean", range=(-20, 0))
        answer = holdout.certify(model, scoring=metric, guess=guess)
        nats = holdout.report().nats
    return answer, nats


def _columns(model, rows):
    return rows[:, :1] if type(model).__name__ == "IsotonicRegression" else rows


def asked_elsewhere(folder, names):
    """Return for each name whether its ledger knows the model that another interpreter fits."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    command = [sys.executable, "-m", "tests.support.consumers.one_question", str(folder), *names]
    environment = {**os.environ, "PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(command, capture_output=True, cwd=root, env=environment, check=False)
    assert ran.returncode == 0, ran.stderr.decode()[-2000:]
    return json.loads(ran.stdout.decode().splitlines()[-1])


def _main(folder, *names):
    models = {**of_sklearn(), **of_other_libraries()}
    known = {}
    for name in names:
        answer, _ = answer_of(fitted(models[name]), os.path.join(folder, f"{name}.db"))
        known[name] = answer.repeated
    print(json.dumps(known))


if __name__ == "__main__":
    _main(*sys.argv[1:])
