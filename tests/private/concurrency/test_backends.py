"""The same questions, answers and cost whatever carries the work: joblib's own workers, dask's, ray's."""

import contextlib
import itertools
import os
import pickle
import time
from functools import partial
from unittest import mock

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, LadderScorer, ReusableHoldoutCV, ThresholdoutScorer
from sklearn_ada.data.transport import in_this_process
from sklearn_ada.holdout.holdout import session_of
from tests.support.concurrency.searching import (
    SCORERS,
    X,
    Y,
    asked_and_paid,
    holdout_at,
    questions,
    rows,
    search_with,
)

pytestmark = pytest.mark.thorough

LEAVES = range(2, 9)


@contextlib.contextmanager
def dask_workers():
    distributed = pytest.importorskip("distributed")
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster):
        yield {"backend": "dask"}


def start_ray():
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")


@contextlib.contextmanager
def ray_workers():
    no_leak = {"RAY_allow_out_of_band_object_ref_serialization": "0"}  # of rows that ray could never drop
    with mock.patch.dict(os.environ, no_leak):
        ray = pytest.importorskip("ray")
        from ray.util.joblib import register_ray

        start_ray()
        register_ray()
        try:
            yield {"backend": "ray", "n_jobs": 2}
        finally:
            ray.shutdown()


LOCAL = itertools.product(["loky", "threading", "multiprocessing"], (1, 2))
WORKERS = {
    **{
        f"{name}, {n} jobs": partial(contextlib.nullcontext, {"backend": name, "n_jobs": n})
        for name, n in LOCAL
    },
    "dask": dask_workers,
    "ray": ray_workers,
}


@pytest.fixture(scope="module", params=WORKERS)
def workers(request):
    """Return a function that opens the context in which searches work."""
    with WORKERS[request.param]() as how:
        yield lambda: joblib.parallel_config(**how)


def test_the_work_is_done_elsewhere_but_for_threads_and_one_job(workers, request):
    with workers():
        seen = set(joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(4)))
    here = any(name in request.node.callspec.id for name in ("threading", "1 jobs"))
    assert (os.getpid() in seen) == here


@pytest.mark.parametrize("kind", SCORERS)
def test_a_search_asks_and_pays_the_same(workers, kind, tmp_path):
    def search(name):
        holdout = holdout_at(tmp_path / name, random_state=0)
        return asked_and_paid(search_with(SCORERS[kind](holdout), LEAVES).fit(X, Y))

    alone = search("alone.db")
    with workers():
        assert search("together.db") == alone
    assert len(alone[0]) == len(LEAVES)


@pytest.mark.parametrize("ask", ["candidates", "winner"])
def test_a_wrapped_search_asks_and_pays_the_same(workers, ask, tmp_path):
    def search(name):
        inner = GridSearchCV(LogisticRegression(), {"C": [0.001, 0.01, 1.0]})
        found = ReusableHoldoutCV(inner, ask=ask, ledger=tmp_path / name).fit(*rows(2, 400))
        values = [answer.value for answer in found.answers_], found.best_score_
        return values, found.holdout_.report().nats

    values, nats = search("alone.db")
    with workers():
        assert search("together.db") == (values, pytest.approx(nats, rel=1e-9))


STATEFUL = {
    "ladder": lambda holdout: LadderScorer("accuracy", holdout),
    "laplace": lambda holdout: ThresholdoutScorer("accuracy", holdout, noise="laplace"),
    "gaussian": lambda holdout: ThresholdoutScorer("accuracy", holdout, noise="gaussian", threshold=0.01),
}


def answers_by_leaves(scorer, leaves):
    """Ask about one model after another, and return the answers."""
    search = search_with(scorer)
    fit, guess = next(scorer.cv.split(X, Y))
    models = {n: clone(search.estimator).set_params(max_leaf_nodes=n).fit(X[fit], Y[fit]) for n in leaves}
    return {n: scorer.answer(model, X[guess], Y[guess]) for n, model in models.items()}


@pytest.mark.parametrize("kind", STATEFUL)
def test_what_depends_on_the_order_is_a_function_of_the_recorded_order(workers, kind, tmp_path):
    """Asked again in the order that the workers' questions arrived in, the answers are the same."""
    holdout = holdout_at(tmp_path / "together.db", random_state=0)
    with workers():
        found = search_with(STATEFUL[kind](holdout), LEAVES).fit(X, Y)
    asked, nats = questions(holdout), holdout.report().nats
    recorded = answers_by_leaves(STATEFUL[kind](holdout), LEAVES)
    assert all(answer.repeated for answer in recorded.values())
    assert questions(holdout) == asked
    assert holdout.report().nats < nats + 0.01  # asked again, nearly free
    assert [answer.value for answer in recorded.values()] == found.cv_results_["mean_test_score"].tolist()

    again = holdout_at(tmp_path / "again.db", random_state=0)
    order = sorted(LEAVES, key=lambda n: recorded[n].index)
    replayed = answers_by_leaves(STATEFUL[kind](again), order)
    assert {n: replayed[n].value for n in LEAVES} == {n: recorded[n].value for n in LEAVES}
    assert again.report().nats == pytest.approx(nats, rel=1e-9)


class Counted(np.ndarray):
    """Rows that count how often they are pickled."""

    pickled = 0

    def __reduce_ex__(self, protocol):
        Counted.pickled += 1
        return np.asarray(self).__reduce_ex__(protocol)


N = 20_000
CLASSES = np.arange(N) % 2
N_CANDIDATES = 20
CLUSTERS = pytest.mark.parametrize("workers", ["dask", "ray"], indirect=True)
RAY = pytest.mark.parametrize("workers", ["ray"], indirect=True)


def large_holdout(path, seed):
    """Return a holdout of 8 MB."""
    return Holdout(np.random.default_rng(seed).normal(size=(N, 50)).view(Counted), CLASSES, ledger=path)


def bare(scoring, cv):
    grid = {"random_state": list(range(N_CANDIDATES))}
    return GridSearchCV(DummyClassifier(strategy="stratified"), grid, scoring=scoring, cv=cv, refit=False)


SEARCHES = {
    "scorer": lambda scorer: bare(scorer, scorer.cv),
    "dict of scorers": lambda scorer: bare({"held": scorer, "plain": "accuracy"}, scorer.cv),
    "wrapped": lambda scorer: ReusableHoldoutCV(
        bare(None, None).set_params(refit=True), ask="candidates", holdout=scorer.holdout
    ),
}


@CLUSTERS
@pytest.mark.parametrize("kind", SEARCHES)
def test_the_rows_are_sent_a_few_times_and_not_with_every_task(workers, kind, tmp_path):
    scorer = ThresholdoutScorer("accuracy", large_holdout(tmp_path / "ledger.db", list(SEARCHES).index(kind)))
    search = SEARCHES[kind](scorer)
    before = Counted.pickled
    with workers():
        search.fit(np.zeros((400, 50)), CLASSES[:400])
    assert 1 <= Counted.pickled - before <= 4  # twice on dask: scikit-learn 1.9 sends the search, too
    assert scorer.holdout.report().asked["check"] == N_CANDIDATES


@CLUSTERS
def test_what_others_pickle_holds_the_rows_all_the_same(workers, tmp_path):
    holdout = large_holdout(tmp_path / "ledger.db", 3)
    scorer = ThresholdoutScorer("accuracy", holdout)
    with workers():
        bare(scorer, scorer.cv).fit(np.zeros((400, 50)), CLASSES[:400])
        packed = pickle.dumps(holdout)
    assert len(packed) > session_of(holdout).data.X.nbytes
    in_this_process.clear()  # as in another process
    assert (session_of(pickle.loads(packed)).data.X == session_of(holdout).data.X).all()


@RAY
def test_the_rows_outlive_the_worker_that_returned_them(workers, tmp_path):
    import ray

    @ray.remote
    class Worker:
        def holdout(self, path):
            return large_holdout(path, 4)

    worker = Worker.remote()
    result = worker.holdout.remote(str(tmp_path / "ledger.db"))
    ray.wait([result])
    ray.kill(worker)
    time.sleep(2)  # until ray has dropped all that was the worker's own
    assert len(session_of(ray.get(result, timeout=30)).data) == N


@RAY
def test_workers_started_later_have_the_rows_too(workers, tmp_path):
    import ray

    holdout = large_holdout(tmp_path / "ledger.db", 5)

    def count(sent):
        return len(session_of(sent).data.X)

    assert ray.get(ray.remote(count).remote(holdout)) == N
    ray.shutdown()
    start_ray()
    assert ray.get(ray.remote(count).remote(holdout)) == N
