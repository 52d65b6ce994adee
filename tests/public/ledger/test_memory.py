"""The ledger in memory: one process, its threads, and nobody else."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import LedgerMismatchError, LedgerUnavailableError
from tests.support.concurrency.searching import SCORERS, X, Y, rows, search_with
from tests.support.ledger.ledger_backends import MemoryBackend, charge, fill
from tests.support.models import Always
from tests.support.processes import in_a_fork, interpreter

ROWS = np.arange(200.0).reshape(100, 2)
LABELS = np.arange(100) % 2


@pytest.fixture
def ledger():
    backend = MemoryBackend()
    return fill(backend.open(backend.address()), 2)


def test_a_ledger_in_memory_refuses_to_be_pickled_and_says_what_works(ledger):
    with pytest.raises(LedgerUnavailableError, match=r"ledger='holdout\.db'"):
        pickle.dumps(ledger)


@pytest.mark.parametrize(
    "use",
    [
        charge,
        lambda ledger: ledger.find("k1"),
        lambda ledger: ledger.secret(),
        lambda ledger: list(ledger.records()),
    ],
    ids=["charge", "find", "secret", "records"],
)
def test_a_forked_child_is_refused_and_the_parent_goes_on(ledger, use):
    assert in_a_fork(lambda: use(ledger)).startswith("LedgerUnavailableError: A ledger in memory")
    assert charge(ledger).seq == 3


@pytest.mark.parametrize("name", [":memory:", ":memory:team"])
def test_a_forked_child_begins_no_ledger_in_memory(name):
    Holdout(ROWS + 1, LABELS, ledger=name)
    for labels in (LABELS, 1 - LABELS):
        again = in_a_fork(lambda labels=labels: Holdout(ROWS + 1, labels, ledger=name).n_rows)
        assert again.startswith("LedgerUnavailableError: A ledger in memory")


WORKERS = {
    "loky": "joblib.Parallel(2)(joblib.delayed(ask)(name) for _ in range(8))",
    "joblib": "joblib.Parallel(2, backend='multiprocessing')(joblib.delayed(ask)(name) for _ in range(8))",
    "spawn": "multiprocessing.get_context('spawn').Pool(2).map(ask, [name] * 8)",
    "fork": "multiprocessing.get_context('fork').Pool(2).map(ask, [name] * 8)",
    "a process of an executor": "list(concurrent.futures.ProcessPoolExecutor(2).map(ask, [name] * 8))",
    "a search": "cross_validate(wrapped(name), X, y, cv=2, n_jobs=2, error_score='raise')",
}
SCRIPT = """
import concurrent.futures, multiprocessing, sys
import joblib
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn_ada import Holdout, ReusableHoldoutCV

X, y = make_classification(200, random_state=0)
search = GridSearchCV(LogisticRegression(), {{"C": [0.1, 1.0]}})

def wrapped(name):
    return ReusableHoldoutCV(search, ledger=name)

def ask(name):
    return Holdout(X, y, ledger=name).report().nats

if __name__ == "__main__":
    name = sys.argv[1]
    {before}
    try:
        {how}
    except Exception as error:
        print(str(error) + str(error.__cause__))
"""


@pytest.mark.parametrize(
    "how", [pytest.param(how, marks=[] if how == "fork" else pytest.mark.thorough) for how in WORKERS]
)
@pytest.mark.parametrize("before", ["pass", pytest.param("ask(name)", marks=pytest.mark.thorough)])
def test_workers_on_memory_get_no_budget_of_their_own(how, before, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(how=WORKERS[how], before=before))
    name = ":memory:" if before == "pass" else ":memory:team"
    assert "no worker begins one" in interpreter(script, name).stdout


def test_other_data_begin_a_ledger_of_their_own():
    Holdout(ROWS, LABELS, ledger=":memory:").certify(Always(0), scoring="accuracy")
    assert Holdout(ROWS, 1 - LABELS, ledger=":memory:").report().asked["certify"] == 0


def test_another_split_of_the_data_gets_no_second_budget():
    data = rows(3, 400)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]})
    ReusableHoldoutCV(search, ledger=":memory:").fit(*data)
    with pytest.raises(LedgerMismatchError, match="fresh budget"):
        ReusableHoldoutCV(search, ledger=":memory:", holdout=0.5).fit(*data)


def test_a_search_in_threads_works_and_one_in_processes_is_refused_with_the_reason():
    holdout = Holdout(*rows(4, 400), ledger=":memory:")
    search = search_with(SCORERS["thresholdout"](holdout))
    with joblib.parallel_config("threading", n_jobs=2):
        search.fit(X, Y)
    assert holdout.report().asked["check"] == 7
    with pytest.raises(Exception, match="pickle") as caught, joblib.parallel_config("loky", n_jobs=2):
        search_with(SCORERS["thresholdout"](holdout), leaves=range(20, 30)).fit(X, Y)
    assert "cannot leave its process" in str(caught.value.__cause__)
    assert holdout.report().asked["check"] == 7


@pytest.mark.parametrize("address", ["mysql://u:secret@host/db", "sqlite:///x.db", 5, b"path"])
def test_what_is_no_address_is_refused_without_being_repeated(address):
    with pytest.raises(ValueError, match="'ledger' parameter of Holdout must be a path") as caught:
        Holdout(ROWS, LABELS, ledger=address)
    assert "secret" not in str(caught.value)
