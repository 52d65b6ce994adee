"""The digest of a model: the same for the same model anywhere, another for any other model."""

import copy
import pickle
import sys
import threading

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible
from tests.support.ledger.fitted_models import Centred, FirstRule, X, Y, fitted, unfitted
from tests.support.processes import interpreter

ELSEWHERE = """
import pickle, sys
from sklearn_ada.digest.canonical import canonical_digest
from tests.support.ledger.fitted_models import fitted
sets = {"loaded": pickle.load(open(sys.argv[1], "rb")), "its own": fitted()}
found = {s: {name: canonical_digest(model) for name, model in models.items()} for s, models in sets.items()}
pickle.dump(found, open(sys.argv[2], "wb"))
"""


@pytest.fixture(scope="module")
def models():
    return fitted()


@pytest.fixture(scope="module")
def refitted():
    return fitted()


@pytest.fixture(scope="module")
def digests_elsewhere(models, tmp_path_factory):
    """Digests taken by a second interpreter: of the pickled models, and of its own."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "models.pickle").write_bytes(pickle.dumps(models))
    interpreter(ELSEWHERE, folder / "models.pickle", folder / "digests.pickle", PYTHONHASHSEED=1)
    return pickle.loads((folder / "digests.pickle").read_bytes())


@pytest.mark.parametrize("name", [*unfitted(), "text"])
def test_a_model_has_the_digest_of_its_copies_and_of_one_fitted_again_here_and_elsewhere(
    name, models, refitted, digests_elsewhere
):
    model = models[name]
    copies = {"refitted": refitted[name], "copied": copy.deepcopy(model)}
    copies["unpickled"] = pickle.loads(pickle.dumps(model))
    found = {how: canonical_digest(each) for how, each in copies.items()}
    found |= {how: digests[name] for how, digests in digests_elsewhere.items()}
    assert found == dict.fromkeys(found, canonical_digest(model))
    assert len(found) == 5


@pytest.mark.thorough
def test_a_worker_finds_the_same_digests(models):
    """Where joblib makes each array a memory map."""
    work = joblib.Parallel(n_jobs=2, backend="loky", max_nbytes=1)
    there = work(joblib.delayed(canonical_digest)(model) for model in models.values())
    assert there == [canonical_digest(model) for model in models.values()]


def test_all_models_have_different_digests(models):
    assert len({canonical_digest(model) for model in models.values()}) == len(models)


def test_a_clone_keeps_the_order_of_rules():
    first = FirstRule({0.5: 1, 0.25: 0, -9.0: 1})
    other = FirstRule({-9.0: 1, 0.25: 0, 0.5: 1})
    assert canonical_digest(clone(first)) == canonical_digest(first) != canonical_digest(other)


def change_a_coefficient(models):
    model = LogisticRegression().fit(X, Y)
    yield model
    model.coef_[0, 1] = np.nextafter(model.coef_[0, 1], 1)
    yield model


def change_a_hyperparameter(models):
    for shift in (0.0, 1e-300):
        yield make_pipeline(Centred(shift), LogisticRegression()).fit(X, Y)


def change_a_threshold_of_one_tree(models):
    forest = pickle.loads(pickle.dumps(models["8 RandomForestClassifier"]))
    yield forest
    inner = forest.estimators_[3].tree_
    inner.threshold[0] += 1.0
    yield forest


@pytest.mark.parametrize(
    "change", [change_a_coefficient, change_a_hyperparameter, change_a_threshold_of_one_tree]
)
def test_a_small_change_of_a_model_changes_its_digest(change, models):
    before, after = map(canonical_digest, change(models))
    assert before != after


def test_a_cycle_has_a_digest_and_its_content_counts():
    def ring(value):
        items = [value]
        items.append(items)
        return items

    assert canonical_digest(ring(1)) == canonical_digest(ring(1)) != canonical_digest(ring(2))


def test_cycles_to_different_objects_are_told_apart():
    outer, shared = [], []
    shared.append(outer)
    outer.extend([shared, [shared]])
    other, first, second = [], [], []
    first.append(other)
    inner = [second]
    second.append(inner)
    other.extend([first, second])
    assert canonical_digest(outer) != canonical_digest(other)


def holding(held):
    """Return a function in whose closure something is held."""
    return lambda X: (X, held)


def naming_a_lock(X):
    return X, LOCK


LOCK = threading.Lock()


class Unwilling:
    def __reduce_ex__(self, protocol):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "unreadable",
    [
        LOCK, (number for number in range(3)), sys.__stdin__, [1, {"deep": threading.RLock()}], holding(LOCK),
        np.array([LOCK], dtype=object), FunctionTransformer(naming_a_lock), Unwilling(),
    ],
    ids=[
        "lock", "generator", "file", "deep inside", "closure", "object array", "global of a function",
        "reduction that fails",
    ],
)  # fmt: skip
def test_what_cannot_be_read_has_no_digest(unreadable):
    with pytest.raises(Undigestible):
        canonical_digest(unreadable)
