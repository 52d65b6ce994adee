"""Run a notebook of nine kinds of work again and again, and print what the later runs cost.

``python -m benchmarks.validity.notebook FOLDER`` runs it once, on the ledgers in a folder. Its models are
seeded, and its folds and validation rows are not, so every run has other guesses. What was paid for in the
first run is confirmed in the later ones, for a thousandth of a nat each; also with other releases of NumPy
and scikit-learn, wherever the model that is kept says the same on the holdout. Run it in one environment,
then in another one, on the same folder.
"""

from __future__ import annotations

import pathlib
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_ada import Holdout, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger

__all__ = ["KINDS", "run"]

_X, _Y = make_classification(1600, 8, n_informative=5, flip_y=0.05, class_sep=1.5, random_state=0)
_X_OF_NUMBERS, _NUMBERS = make_regression(900, 5, noise=20.0, random_state=0)
_TRAIN, _HELD = slice(0, 900), slice(900, None)
# Of each, one is clearly better, whatever the folds.
_DEPTHS, _SIZES = {"max_depth": [1, 6]}, {"max_depth": [1, 8]}
_STRENGTHS = {"logisticregression__C": [1e-6, 1.0]}


def _tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(random_state=0)


def _model(**settings: Any) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(**settings)).fit(_X[_TRAIN], _Y[_TRAIN])


def _forest() -> Any:
    return RandomForestClassifier(30, random_state=0).fit(_X[_TRAIN], _Y[_TRAIN])


def _folds() -> StratifiedKFold:
    return StratifiedKFold(3, shuffle=True)


def _validation() -> tuple[Any, Any]:
    _, rows, _, labels = train_test_split(_X[_TRAIN], _Y[_TRAIN], test_size=0.3)
    return rows, labels


def _certified(holdout: Holdout, *models: Any) -> list[Any]:
    rows = _validation()
    return [
        holdout.certify(model, scoring=name, guess_from=rows)
        for model in models
        for name in ("accuracy", "roc_auc", "f1")
    ]


def _search(holdout: Holdout, search: Any) -> ReusableHoldoutCV:
    return ReusableHoldoutCV(search, holdout=holdout).fit(_X[_TRAIN], _Y[_TRAIN])


def _grid() -> GridSearchCV:
    return GridSearchCV(_tree(), _DEPTHS, cv=_folds())


def _scored(holdout: Holdout) -> None:
    scorer = ThresholdoutScorer("accuracy", holdout)
    cross_val_score(_tree(), _X[_TRAIN], _Y[_TRAIN], scoring=scorer, cv=scorer.cv)


def _sampled(holdout: Holdout) -> None:
    _search(holdout, RandomizedSearchCV(_model(), _STRENGTHS, n_iter=2, cv=_folds(), random_state=0))


KINDS: dict[str, Callable[[Holdout], object]] = {
    "grid search": lambda holdout: _search(holdout, _grid()),
    "randomized search": _sampled,
    "halving search": lambda holdout: _search(holdout, HalvingGridSearchCV(_forest(), _SIZES, cv=3)),
    "scorer": _scored,
    "check": lambda holdout: holdout.check(_model(), scoring="accuracy", guess_from=_validation()),
    "certify": lambda holdout: _certified(holdout, _model(), _forest()),
    "publish": lambda holdout: _search(holdout, _grid()).publish(),
    "compare": lambda holdout: holdout.compare(
        _model(), _forest(), scoring="accuracy", guess_from=_validation()
    ),
    "choose": lambda holdout: holdout.select([_model(), _model(C=1e-4), _forest()], scoring="accuracy"),
}
"""What the notebook does with a holdout, each under another name."""


def run(folder: pathlib.Path) -> dict[str, float]:
    """Return the nats that each kind of work has cost in one more run.

    Parameters
    ----------
    folder : pathlib.Path
        Where the ledgers are: of classes, and of numbers.
    """
    paths = [folder / name for name in ("classes.db", "numbers.db")]
    before = sum(open_existing_ledger(path, State).read(_nats) for path in paths if path.exists())
    spent: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        holdout = Holdout(_X[_HELD], _Y[_HELD], ledger=paths[0])
        numbers = ReusableHoldoutCV(
            GridSearchCV(
                DecisionTreeRegressor(random_state=0), {"max_depth": [1, 6]}, cv=KFold(3, shuffle=True)
            ),
            ledger=paths[1],
            scoring="neg_mean_absolute_error",
        ).fit(_X_OF_NUMBERS, _NUMBERS)
        total = numbers.holdout_.report().nats + holdout.report().nats
        spent["opening, and mean absolute error"] = total - before
        for kind, work in KINDS.items():
            done = holdout.report().nats
            work(holdout)
            spent[kind] = holdout.report().nats - done
    return spent


def _nats(state: State) -> float:
    return state.account.nats


def main(folder: str) -> None:
    """Run the notebook once, and print what it has cost."""
    path = pathlib.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    spent = run(path)
    print(f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}")
    for kind, nats in (*spent.items(), ("all", sum(spent.values()))):
        print(f"{kind:34} {nats:8.4f} nats")


if __name__ == "__main__":
    main(sys.argv[1])
