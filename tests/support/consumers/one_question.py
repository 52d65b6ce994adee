"""Whether a model stays one question: fitted again, stored, copied, used, and in another interpreter."""

import contextlib
import copy
import inspect
import io
import json
import os
import pickle
import warnings

import joblib
import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils import all_estimators

from sklearn_ada import Holdout, Metric
from tests.support.processes import interpreter

RNG = np.random.default_rng(0)
X = RNG.integers(1, 5, size=(60, 4)).astype(float)
LABELS = (X[:, 0] + X[:, 1] + RNG.normal(size=60) > 5).astype(int)
NUMBERS = X[:, 0] + X[:, 1] + 0.5
HOLDOUT = RNG.integers(1, 5, size=(80, 4)).astype(float)
BOOSTING, SMALL = {"max_iter": 3, "min_samples_leaf": 5}, {"max_iter": 5}
ARGUMENTS = {  # where the defaults do not suit so few rows
    **{name: {"n_components": 1} for name in ("CCA", "PLSCanonical", "PLSRegression")},
    **{f"RadiusNeighbors{task}": {"radius": 9.0} for task in ("Classifier", "Regressor")},
    **{f"HistGradientBoosting{task}": BOOSTING for task in ("Classifier", "Regressor")},
    **{f"MLP{task}": SMALL for task in ("Classifier", "Regressor")},
    "SelfTrainingClassifier": {"estimator": LogisticRegression()},
    "TunedThresholdClassifierCV": {"cv": 2, "thresholds": 5},
    "LogisticRegressionCV": {"Cs": 2, "cv": 2},
}
THREADS = ("n_jobs", "nthread", "num_threads", "thread_count")
ALIKE = {**dict.fromkeys(THREADS, 2), "verbose": 1, "logging_level": "Info"}  # must not count


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
    given = {"estimator": inner, "estimators": several, "n_estimators": 5, "random_state": 0}
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
    joblib.dump(trained, stored := io.BytesIO())
    yield "stored by joblib", joblib.load(io.BytesIO(stored.getvalue()))
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
    threads = {"PYTHONHASHSEED": 1, "OMP_NUM_THREADS": 1}
    done = interpreter(
        f"from tests.support.consumers.one_question import main; main({str(folder)!r}, *{names!r})", **threads
    )
    return json.loads(done.stdout.splitlines()[-1])


def main(folder, *names):
    """Ask about newly fitted models, and print for each whether its ledger knows it."""
    models = {**of_sklearn(), **of_other_libraries()}
    repeated = {
        name: answer_of(fitted(models[name]), os.path.join(folder, f"{name}.db"))[0].repeated
        for name in names
    }
    print(json.dumps(repeated))
