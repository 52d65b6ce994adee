"""Searches to be wrapped, and the warnings of a call."""

import warnings

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

__all__ = ["TREE", "asking", "bayes_search", "grid", "optuna_search", "warned"]

TREE = DecisionTreeClassifier(random_state=0)


def grid(model=TREE, values=None, **params):
    """Return a grid search over the one parameter that matters of a model: depth, strength or neighbours."""
    names = ("max_depth", "C", "alpha", "n_neighbors")
    name = next(name for name in names if name in model.get_params())
    usual = [0.1, 1.0] if name in ("C", "alpha") else [1, 2]
    return GridSearchCV(model, {name: usual if values is None else values}, **params)


def optuna_search(model=TREE, name="max_depth", bounds=(1, 9), **params):
    """Return a search of Optuna over one whole number; where it is not installed, skip the test."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    laws = {name: optuna.distributions.IntDistribution(*bounds)}
    search = pytest.importorskip("optuna_integration").OptunaSearchCV
    return search(model, laws, **{"n_trials": 8, "random_state": 0, **params})


def bayes_search(model=TREE, bounds=(1, 9), **params):
    """Return a search of scikit-optimize over depths; where it is not installed, skip the test."""
    usual = {"n_iter": 6, "optimizer_kwargs": {"n_initial_points": 4}, "random_state": 0}
    search = pytest.importorskip("skopt").BayesSearchCV
    return search(model, {"max_depth": bounds}, **{**usual, **params})


def asking(scorer, values=(1, 2, 3, 4), search=GridSearchCV, **params):
    """Return a search over depths of a tree whose candidates a scorer asks its holdout about."""
    params = {"scoring": scorer, "cv": scorer.cv, "refit": scorer.select_best, **params}
    return search(TREE, {"max_depth": list(values)}, **params)


def warned(about, call, *args, **params):
    """Return what a call returns, and those of its warnings that have this text in them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        returned = call(*args, **params)
    return returned, [str(each.message) for each in caught if about in str(each.message)]
