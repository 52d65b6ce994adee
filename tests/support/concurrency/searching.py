"""Searches on one small holdout, run in this process or as ``python -m tests.support.concurrency.searching
PATH``."""

import sys

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, StableHoldoutScorer, ThresholdoutScorer

SCORERS = {
    "thresholdout": lambda holdout: ThresholdoutScorer("accuracy", holdout),
    "stable median": lambda holdout: StableHoldoutScorer("f1_macro", holdout, n_subsamples=20),
}


def rows(seed, size):
    """Return features and noisy labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, 5))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=size) > 1).astype(int)


X, Y = rows(0, 300)


def holdout_at(path, **kwargs):
    """Return the one holdout, with its ledger at ``path``."""
    return Holdout(*rows(1, 400), ledger=path, **kwargs)


def search_with(scorer, leaves=range(2, 9), **kwargs):
    """Return an unfitted search over trees."""
    grid = {"max_leaf_nodes": list(leaves)}
    return GridSearchCV(
        DecisionTreeClassifier(random_state=0), grid, scoring=scorer, cv=scorer.cv, refit=False, **kwargs
    )


def questions(holdout):
    """Return every question's key with the value that was answered."""
    return {
        record.key: record.body["outcome"]["value"]
        for record in holdout.ledger.records()
        if record.body.get("kind") == "answer"
    }


def asked_and_paid(search):
    """Return what a fitted search asked and was answered, what that cost to eight digits, and its scores."""
    holdout = search.scoring.holdout
    nats = float(f"{holdout.report().nats:.8g}")
    return questions(holdout), nats, search.cv_results_["mean_test_score"].tolist()


class Telling:
    """A scorer that prints each answer once it has it."""

    def __init__(self, scorer):
        self.scorer = scorer

    def __call__(self, estimator, X, y):
        answer = self.scorer.answer(estimator, X, y)
        print(answer.index, repr(answer.value), flush=True)
        return answer.value


MANY_LEAVES = range(2, 62)


def search_and_tell(path):
    """Run a search of many candidates that prints every answer."""
    scorer = ThresholdoutScorer("accuracy", holdout_at(path))
    search = search_with(scorer, MANY_LEAVES)
    search.set_params(scoring=Telling(scorer)).fit(X, Y)


if __name__ == "__main__":
    search_and_tell(sys.argv[1])
