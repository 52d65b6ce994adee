"""A holdout gets to workers once: mapped into memory, unpacked once a process, nothing left behind."""

import io
import os
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sklearn_ada import Holdout, StableHoldoutScorer, ThresholdoutScorer
from sklearn_ada.data.transport import Parcel, in_this_process
from sklearn_ada.terms.holdout_data import HoldoutData
from tests.support.processes import SESSION, interpreter

N = 10_000
LARGE = 600_000  # bytes; joblib maps an array of a million or more into memory
Y = np.arange(N) % 2
NUMBERS = np.random.default_rng(0).normal(size=(N, 20))
TEXTS = [f"{'even' if i % 2 else 'odd'} text number {i} " + "word " * 20 for i in range(N)]
ROWS = {
    "array": NUMBERS,
    "columns of an array": NUMBERS[:, ::2],
    "frame": pd.DataFrame(NUMBERS).rename(columns=str).assign(text=TEXTS),
    "sparse": sparse.csr_array(NUMBERS),
    "texts": TEXTS,
    "objects": np.array(TEXTS, dtype=object)[:, None],
}


class AsJoblib(pickle.Pickler):
    """Sends no large array, as joblib does once it has written it, but notes which it was."""

    def __init__(self, file):
        super().__init__(file, protocol=5)
        self.mapped = []

    def persistent_id(self, obj):
        if isinstance(obj, np.ndarray) and not obj.dtype.hasobject and obj.nbytes > LARGE:
            self.mapped.append(obj)
            return len(self.mapped)
        return None


def sent(obj):
    """Return the bytes of one task, and the arrays that joblib would map into memory."""
    file = io.BytesIO()
    pickler = AsJoblib(file)
    pickler.dump(obj)
    return len(file.getvalue()), pickler.mapped


@pytest.mark.parametrize("kind", ROWS)
def test_a_pickled_scorer_holds_no_rows_of_its_holdout(kind, tmp_path):
    scorer = ThresholdoutScorer("accuracy", Holdout(ROWS[kind], Y, ledger=tmp_path / "ledger.db"))
    size, first = sent(scorer)
    assert size < LARGE / 2  # the labels alone are too few to be mapped
    _, second = sent(scorer)
    assert first
    assert all(a is b for a, b in zip(first, second, strict=True))  # joblib knows them again by identity


def test_pickled_rows_are_larger_than_a_scorer():
    assert sent(TEXTS)[0] > 2 * LARGE


@pytest.mark.parametrize("kind", ROWS)
def test_the_rows_arrive_as_they_were_and_are_unpacked_once_a_process(kind):
    data = HoldoutData(ROWS[kind], Y, sample_weight=1.0 + Y)
    packed = pickle.dumps(data)
    assert pickle.loads(packed) is data
    in_this_process.clear()  # as in another process
    copy = pickle.loads(packed)
    assert copy is pickle.loads(packed) is not data
    assert type(copy.X) is type(data.X)
    assert pickle.dumps(np.asarray(copy.X)) == pickle.dumps(np.asarray(data.X)) or kind == "sparse"
    if kind == "sparse":
        assert (copy.X != data.X).nnz == 0
    assert (copy.y == Y).all()
    assert (copy.weight == data.weight).all()
    assert (copy.partition(b"secret", 10) == data.partition(b"secret", 10)).all()


def test_what_only_joblib_can_pickle_is_left_to_it():
    class Local:
        pass

    row, text = Local(), "a class of __main__ is unknown elsewhere"
    assert Parcel({"X": [row]}).unpacked()["X"][0] is row
    assert Parcel({"X": [text]}).unpacked() == {"X": [text]}


def look(scorer):
    data = scorer.holdout._session.data
    chain, base = [], data.X
    while base is not None:
        chain.append(type(base).__name__)
        base = getattr(base, "base", None)
    return os.getpid(), id(data), "memmap" in chain


@pytest.mark.thorough
@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_a_worker_gets_the_rows_once_and_maps_them(backend, tmp_path):
    scorer = StableHoldoutScorer("accuracy", Holdout(NUMBERS, Y, ledger=tmp_path / "ledger.db"))
    with joblib.parallel_config(backend=backend, n_jobs=2):
        seen = joblib.Parallel(batch_size=1)(joblib.delayed(look)(scorer) for _ in range(8))
    assert os.getpid() not in {pid for pid, _, _ in seen}
    assert len({pid for pid, _, _ in seen}) == len({(pid, data) for pid, data, _ in seen})
    if backend == "loky":  # a forked worker has them from its parent
        assert all(mapped for _, _, mapped in seen)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["array", "texts", "frame"])
def test_answers_do_not_depend_on_where_they_are_computed(kind, tmp_path):
    X, model, prefix = ROWS[kind], DummyClassifier(), ""
    if kind == "texts":
        model, prefix = make_pipeline(CountVectorizer(), model), "dummyclassifier__"
    grid = {f"{prefix}random_state": [1, 2, 3, 4], f"{prefix}strategy": ["stratified"]}
    other = np.random.default_rng(9).normal(size=(300, NUMBERS.shape[1]))
    train = {
        "array": lambda: other,
        "texts": lambda: [f"train {i}" for i in range(300)],
        "frame": lambda: pd.DataFrame(other).rename(columns=str).assign(text="new"),
    }[kind]()
    scores = set()
    for n_jobs, backend in ((1, "loky"), (2, "loky"), (2, "threading"), (2, "multiprocessing")):
        holdout = Holdout(X, Y, ledger=tmp_path / f"{backend} {n_jobs}.db", random_state=0)
        scorer = StableHoldoutScorer("accuracy", holdout, n_subsamples=50)
        search = GridSearchCV(model, grid, scoring=scorer, cv=scorer.cv, refit=False, n_jobs=n_jobs)
        with joblib.parallel_config(backend=backend):
            scores.add(tuple(search.fit(train, Y[:300]).cv_results_["mean_test_score"]))
    assert len(scores) == 1
    assert np.isfinite(scores.pop()).all()


SEARCH = """
    import os, sys
    import numpy as np
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import GridSearchCV
    from sklearn_ada import Holdout, ThresholdoutScorer

    y = np.arange(50_000) % 2
    scorer = ThresholdoutScorer("accuracy", Holdout(np.random.default_rng(0).normal(size=(50_000, 4)), y))
    search = GridSearchCV(DummyClassifier(strategy="stratified"), {"random_state": [1, 2, 3]}, n_jobs=2,
                          scoring=scorer, cv=scorer.cv, refit=False)
    search.fit(np.zeros((100, 4)), y[:100])
    print(sum(len(files) for _, _, files in os.walk(os.environ["JOBLIB_TEMP_FOLDER"])))
"""


@pytest.mark.thorough
def test_nothing_is_left_on_disk(tmp_path):
    folder = tmp_path / "joblib"
    folder.mkdir()
    settings = {"JOBLIB_TEMP_FOLDER": folder, "TMPDIR": tmp_path, "PYTHONWARNINGS": "ignore"}
    done = interpreter(SEARCH, **settings, **{SESSION: os.environ[SESSION]})
    assert int(done.stdout) >= 1  # there was something to be removed
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


def test_a_linear_model_reads_rows_that_it_must_not_change(tmp_path):
    scorer = ThresholdoutScorer("accuracy", Holdout(NUMBERS, Y, ledger=tmp_path / "ledger.db"))
    model, others = LogisticRegression().fit(NUMBERS[:100], Y[:100]), NUMBERS[:300] + 1e-6
    (there,) = joblib.Parallel(n_jobs=2)(joblib.delayed(scorer)(model, others, Y[:300]) for _ in "1")
    assert there == scorer(model, others, Y[:300])
