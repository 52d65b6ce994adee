"""Labels and predictions that are read block by block have the answers and digests of arrays."""

import hashlib
import os
import pickle
import signal
import threading
import time
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout, Metric, Predictions
from sklearn_ada.data.columns import Column, UnreadableRowsError, column_of
from sklearn_ada.data.labels import LEAST_ROWS
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.rows import labels_digest
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.terms.models import model_digest
from sklearn_ada.terms.outputs import observed
from tests.support.ledgers import forget_ledgers_in_memory
from tests.support.processes import interpreter

N = LEAST_ROWS + 1_234


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(0).integers(-1, 2, N)


@pytest.fixture(scope="module")
def predicted(y):
    return np.where(np.random.default_rng(1).random(N) < 0.1, -y, y)


@pytest.fixture
def on_disk(tmp_path):
    def written(values):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
        np.save(path, values)
        return np.load(path, mmap_mode="r")

    return written


def opened(y, **options):
    """Return a holdout of these labels, without columns, whose ledger is new."""
    forget_ledgers_in_memory()
    return Holdout(np.zeros((len(y), 0)), y, **{"class_mix": "priced", "ledger": ":memory:", **options})


def certify(holdout, predicted, scoring="accuracy", guess=0.9):
    asked = predicted if isinstance(predicted, Predictions) else Predictions(predicted)
    return holdout.certify(asked, scoring=scoring, guess=guess)


def answered(y, predicted, block_rows=None):
    """Return the answer, what its record keeps of the predictions, and the digest of the labels."""
    asked = Predictions(predicted)
    system = SimpleNamespace(**{**vars(os), "urandom": bytes})
    with patch("sklearn_ada.terms.policy.os", system):  # a salt of zeros, which two ledgers have in common
        holdout = opened(y, random_state=0)
    if block_rows is not None:
        for column in (asked.given_outputs, session_of(holdout).data.labels):
            column.block_rows = block_rows
    answer = certify(holdout, asked)
    record = holdout.ledger.record(answer.index).body
    return answer.value, answer.interval, record["subject"], record["said"], holdout.fingerprint


@pytest.mark.parametrize("block_rows", [N, N // 10, N // 1_000])
def test_files_in_any_blocks_have_the_answer_of_a_list(y, predicted, on_disk, block_rows):
    of_list = answered(y, predicted.tolist())
    assert not isinstance(Predictions(predicted.tolist()).given_outputs, Column)
    assert answered(on_disk(y), on_disk(predicted.astype(np.int8)), block_rows) == of_list


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64])
def test_digests_counts_and_hashes_are_those_of_the_array(y, on_disk, dtype):
    values = y.astype(dtype)
    column = column_of(on_disk(values))
    assert column.sha256(b"a", (b"", b"b")) == [
        hashlib.sha256(b"a" + values.tobytes() + end).digest() for end in (b"", b"b")
    ]
    assert canonical_digest(column) == canonical_digest(values)
    assert labels_digest(column) == labels_digest(values)
    distinct, counts = np.unique(values, return_counts=True)
    assert np.array_equal(column.values, distinct)
    assert np.array_equal(column.counts, counts)
    assert column.values.dtype == dtype


def test_counts_of_extreme_labels():
    for values in (np.array([-128, 127], np.int8), np.array([2**64 - 1, 2**64 - 2], np.uint64)):
        assert Column(values).values.tolist() == sorted(values.tolist())
    assert Column(np.array([0, 10**9, 0])).counts.tolist() == [2, 1]
    assert not Column(np.array([0.0, 0.5])).is_whole
    assert not Column(np.array([0.0, np.nan])).is_finite


def test_a_pickled_column_of_a_file_is_the_name_of_the_file(y, on_disk):
    column = column_of(on_disk(y)).rows(slice(7, None))
    pickled = pickle.dumps(column)
    assert len(pickled) < 1_000
    assert np.array_equal(np.asarray(pickle.loads(pickled)), y[7:])


@pytest.fixture(scope="module")
def model_and_rows(y):
    X = np.random.default_rng(2).normal(size=(N, 2)) + y[:, None]
    return LogisticRegression().fit(X[:500], y[:500]), X


@pytest.fixture
def about_a_model(model_and_rows, y, tmp_path):
    """Return the answer about a model whose holdout has such rows, out of a ledger of its own."""

    def certify(X, labels=y, scoring="accuracy"):
        path = tmp_path / f"{len(list(tmp_path.glob('*.db')))}.db"
        holdout = Holdout(X, labels, ledger=path, random_state=0)
        return holdout.certify(model_and_rows[0], scoring=scoring, guess=0.7)

    return certify


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
def test_a_model_is_asked_about_rows_in_files_as_about_arrays(
    scoring, about_a_model, model_and_rows, y, on_disk
):
    model, X = model_and_rows
    of_files, of_lists = about_a_model(on_disk(X), on_disk(y), scoring), about_a_model(X.tolist(), y, scoring)
    assert (of_files.value, of_files.interval) == (of_lists.value, of_lists.interval)
    if scoring == "accuracy":
        assert of_files.value == pytest.approx(np.mean(model.predict(X) == y))


def test_bad_labels_in_files_are_refused_before_anything_is_charged(y, predicted, on_disk, uncharged):
    with pytest.raises(ValueError, match="finite"):
        opened(on_disk(np.where(y > 0, np.nan, y)))
    with pytest.raises(ValueError, match="class labels"):
        Predictions(on_disk(predicted + 0.5))
    holdout = opened(on_disk(y))
    with uncharged(holdout), pytest.raises(ValueError, match="1 other label: 5"):
        certify(holdout, on_disk(np.where(predicted > 0, 5, predicted)))


def broken(*args):
    raise OSError("the disk is gone")


def test_rows_that_cannot_be_read_are_an_error_and_no_other_question(y, predicted, monkeypatch, uncharged):
    holdout, asked = opened(y), Predictions(predicted)
    with uncharged(holdout), monkeypatch.context() as patched:
        patched.setattr(Column, "blocks", broken)
        with pytest.raises(UnreadableRowsError, match="gone"):
            certify(holdout, asked)


def test_rows_that_fail_in_the_middle_of_a_look_are_a_failure_that_is_paid(y, predicted, monkeypatch):
    holdout = opened(y)
    monkeypatch.setattr("sklearn_ada.metrics.means.over_blocks", broken)
    answer = certify(holdout, predicted)
    assert answer.verdict == "failed"
    assert answer.cost.nats > 6.0


@pytest.fixture
def workers():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["threads", "workers"])
def test_dask_has_the_same_answer_in_any_chunks_on_threads_and_on_two_workers(
    where, y, predicted, on_disk, request
):
    array = pytest.importorskip("dask.array")
    of_array, files = answered(y, predicted), (on_disk(y), on_disk(predicted))
    if where == "workers":
        request.getfixturevalue("workers")

    def read(file, dtype, offset, block_info=None):
        """Read rows without `np.load`: threads that parse its header at once may fail in Python 3.11."""
        ((begin, end),) = block_info[None]["array-location"]
        return np.fromfile(file, dtype, count=end - begin, offset=offset + begin * dtype.itemsize)

    def of_dask(chunk):
        sizes = tuple(min(chunk, N - start) for start in range(0, N, chunk))
        return [
            array.map_blocks(read, file.filename, file.dtype, file.offset, chunks=(sizes,), dtype=file.dtype)
            for file in files
        ]

    for chunk in (N, N // 10, N // 100):
        assert answered(*of_dask(chunk)) == of_array
    assert answered(files[0], of_dask(N // 10)[1]) == of_array


@pytest.mark.parametrize("by_value", [False, True])
def test_a_model_of_float_labels_answers_about_many_rows_as_about_an_array(predicted, by_value):
    """So does one of integers if labels are compared by value."""
    floats, metric = predicted.astype(float), Metric("accuracy")
    given = (Column(floats), floats, Column(predicted), predicted)[: 4 if by_value else 2]
    seen = [observed(metric, 1, each, 0.9, by_value=by_value).outputs for each in given]
    assert all(one.agrees_with(other.sealed(b"key"), b"key") for one in seen for other in seen)


def test_predictions_are_their_labels_whatever_the_code_and_the_version(predicted, monkeypatch):
    before = model_digest(Predictions(predicted), None, None)
    monkeypatch.setattr("sklearn_ada.data.columns._FEW", 1)
    monkeypatch.setattr("sklearn_ada.__version__", "9.9")
    assert model_digest(Predictions(predicted), None, None) == before
    assert model_digest(Predictions(np.r_[1 - predicted[:1], predicted[1:]]), None, None) != before


CHANGED = "was changed, replaced or removed"


def test_labels_in_a_file_that_changes_are_an_error_that_costs_nothing(y, predicted, tmp_path, uncharged):
    path = tmp_path / "y.npy"
    np.save(path, y)
    holdout = opened(np.load(path, mmap_mode="r"), ledger=tmp_path / "ledger.db")
    certify(holdout, predicted)
    (tmp_path / "pickle").write_bytes(pickle.dumps(holdout))
    changed = np.load(path, mmap_mode="r+")
    changed[: N // 2] = 0
    changed.flush()
    os.utime(path, ns=(1, 1))  # whatever the clock's steps are
    for scoring in ("accuracy", "f1_micro"):
        with uncharged(holdout), pytest.raises(UnreadableRowsError, match=CHANGED):
            certify(holdout, predicted, scoring, guess=0.8)
    load = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"
    assert "UnreadableRowsError" in interpreter(load, tmp_path / "pickle", check=False).stderr


def test_predictions_in_a_file_that_changes_are_an_error_that_costs_nothing(
    y, predicted, tmp_path, uncharged
):
    path = tmp_path / "predicted.npy"
    np.save(path, predicted.astype(float))
    holdout, asked = opened(y), Predictions(np.load(path, mmap_mode="r"))
    certify(holdout, asked)
    np.save(path, predicted + 0.5)
    os.utime(path, ns=(1, 1))
    with uncharged(holdout), pytest.raises(UnreadableRowsError, match=CHANGED):
        certify(holdout, asked)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "cut", [lambda block: block[::2], lambda block: block[:1], lambda block: block[:, None]]
)
def test_chunks_of_dask_that_are_not_as_announced_are_an_error(cut, y, predicted):
    array = pytest.importorskip("dask.array")
    chunked = [array.from_array(rows, chunks=N // 4) for rows in (y, predicted)]
    short = [rows.map_blocks(cut, dtype=rows.dtype) for rows in chunked]
    with pytest.raises(UnreadableRowsError, match="is of shape"):
        opened(short[0])
    holdout = opened(y)
    with pytest.raises(UnreadableRowsError, match="is of shape"):
        certify(holdout, short[1])
    assert not holdout.report().answers


@pytest.mark.thorough
@pytest.mark.parametrize("use", [opened, Predictions])
def test_masked_chunks_of_dask_are_refused(use, y):
    array = pytest.importorskip("dask.array")
    masked = array.ma.masked_equal(array.from_array(y, chunks=N // 4), 0)
    with pytest.raises(ValueError, match="may not be masked"):
        use(masked)


@pytest.mark.thorough
def test_an_empty_chunk_of_rows_is_no_failure_of_the_model(about_a_model, model_and_rows):
    array = pytest.importorskip("dask.array")
    _, X = model_and_rows
    chunks = ((0, N // 2, 0, N - N // 2), (2,))
    whole, chunked = about_a_model(X), about_a_model(array.from_array(X, chunks=N).rechunk(chunks))
    assert whole.value == chunked.value
    assert chunked.verdict == "exact"


@pytest.mark.thorough
def test_a_worker_that_is_lost_while_it_hashes_is_an_error_and_no_wait_for_ever(predicted, workers):
    array = pytest.importorskip("dask.array")

    def slow(block):
        time.sleep(0.5)
        return block

    rows = array.from_array(predicted, chunks=N // 20).map_blocks(slow, dtype=predicted.dtype)
    worker = min(workers.nthreads())
    (pid,) = workers.run(os.getpid, workers=[worker]).values()
    killer = threading.Timer(2.0, os.kill, (pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(UnreadableRowsError):
        Column(rows).sha256()
    killer.join()
