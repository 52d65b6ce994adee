"""Labels and predictions that are read block by block have the answers and digests of arrays."""

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout, Metric, Predictions
from sklearn_ada.data.columns import LEAST_ROWS, Column, UnreadableRowsError, column_of
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.rows import labels_digest
from sklearn_ada.holdout.holdout import session_of
from sklearn_ada.terms.models import model_digest, observed

N = LEAST_ROWS + 1_234


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(0).integers(-1, 2, N)


@pytest.fixture(scope="module")
def said(y):
    return np.where(np.random.default_rng(1).random(N) < 0.1, -y, y)


@pytest.fixture
def on_disk(tmp_path):
    def written(values):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
        np.save(path, values)
        return np.load(path, mmap_mode="r")

    return written


def answered(y, said, block_rows=None):
    """Return the answer, what its record keeps of the predictions, and the digest of the labels."""
    asked = Predictions(said)
    holdout = Holdout(np.zeros((N, 0)), y, class_mix="priced", ledger=":memory:", random_state=0)
    if block_rows is not None:
        for column in (asked.given_outputs, session_of(holdout).data.labels):
            column.block_rows = block_rows
    answer = holdout.certify(asked, scoring="accuracy", guess=0.9)
    record = holdout.ledger.record(answer.index).body
    return answer.value, answer.interval, record["subject"], record["said"], holdout.fingerprint


@pytest.mark.parametrize("block_rows", [N, N // 10, N // 1_000])
def test_files_in_any_blocks_have_the_answer_of_a_list(y, said, on_disk, block_rows):
    of_list = answered(y, said.tolist())
    assert not isinstance(Predictions(said.tolist()).given_outputs, Column)
    assert answered(on_disk(y), on_disk(said.astype(np.int8)), block_rows) == of_list


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


def test_a_model_is_asked_about_rows_in_files_as_about_arrays(y, on_disk, monkeypatch):
    X = np.random.default_rng(2).normal(size=(N, 2)) + y[:, None]
    model = LogisticRegression().fit(X[:500], y[:500])

    def asked(X, y, scoring):
        answer = Holdout(X, y, ledger=":memory:", random_state=0).certify(model, scoring=scoring, guess=0.7)
        return answer.value, answer.interval

    for scoring in ("accuracy", "balanced_accuracy"):
        assert asked(on_disk(X), on_disk(y), scoring) == asked(X.tolist(), y, scoring)
        value = asked(on_disk(X), on_disk(y), scoring)[0]
        if scoring == "accuracy":
            assert value == pytest.approx(np.mean(model.predict(X) == y))


def test_bad_labels_in_files_are_refused_before_anything_is_charged(y, said, on_disk):
    with pytest.raises(ValueError, match="finite"):
        Holdout(np.zeros((N, 0)), on_disk(np.where(y > 0, np.nan, y)), ledger=":memory:")
    with pytest.raises(ValueError, match="class labels"):
        Predictions(on_disk(said + 0.5))
    holdout = Holdout(np.zeros((N, 0)), on_disk(y), class_mix="priced", ledger=":memory:")
    with pytest.raises(ValueError, match="1 other label: 5"):
        holdout.certify(Predictions(on_disk(np.where(said > 0, 5, said))), scoring="accuracy", guess=0.9)
    assert len(list(holdout.ledger.records())) <= 1


def test_rows_that_cannot_be_read_are_an_error_and_no_other_question(y, said, monkeypatch):
    holdout = Holdout(np.zeros((N, 0)), y, class_mix="priced", ledger=":memory:")
    asked, before = Predictions(said), len(list(holdout.ledger.records()))

    def broken(self, *_):
        raise OSError("gone")

    monkeypatch.setattr(Column, "blocks", broken)
    with pytest.raises(UnreadableRowsError, match="gone"):
        holdout.certify(asked, scoring="accuracy", guess=0.9)
    assert len(list(holdout.ledger.records())) == before


@pytest.mark.thorough
def test_dask_has_the_same_answer_in_any_chunks_on_threads_and_on_two_workers(y, said, on_disk):
    array = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    of_array, files = answered(y, said), (on_disk(y), on_disk(said))

    def read(file, block_info=None):
        begin, end = block_info[None]["array-location"][0]
        return np.array(np.load(file, mmap_mode="r")[begin:end])

    def of_dask(chunk):
        sizes = tuple(min(chunk, N - start) for start in range(0, N, chunk))
        return [array.map_blocks(read, file.filename, chunks=(sizes,), dtype=file.dtype) for file in files]

    def check():
        for chunk in (N, N // 10, N // 100):
            assert answered(*of_dask(chunk)) == of_array
        assert answered(files[0], of_dask(N // 10)[1]) == of_array

    check()
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        check()


def test_a_model_of_float_labels_says_the_same_of_many_rows_as_of_an_array(y, said, on_disk, tmp_path):
    """Its labels are compared as floats, in a ledger that was begun with arrays, too."""
    metric = Metric("accuracy")
    column = observed(metric, 1, Column(said.astype(float)), 0.9).outputs
    array = observed(metric, 1, said.astype(float), 0.9).outputs
    assert array.agrees_with(column.sealed(b"key"), b"key")
    assert column.agrees_with(array.sealed(b"key"), b"key")


def test_predictions_are_their_labels_whatever_the_code_and_the_version(said, monkeypatch):
    before = model_digest(Predictions(said))
    monkeypatch.setattr("sklearn_ada.data.columns._FEW", 1)
    monkeypatch.setattr("sklearn_ada.__version__", "9.9")
    assert model_digest(Predictions(said)) == before
    assert model_digest(Predictions(np.r_[1 - said[:1], said[1:]])) != before


def test_labels_in_a_file_that_changes_are_an_error_that_costs_nothing(y, said, tmp_path):
    path = tmp_path / "y.npy"
    np.save(path, y)
    holdout = Holdout(
        np.zeros((N, 1)), np.load(path, mmap_mode="r"), class_mix="priced", ledger=tmp_path / "ledger.db"
    )
    holdout.certify(Predictions(said), scoring="accuracy", guess=0.9)
    spent, packed = holdout.report().nats, pickle.dumps(holdout)
    changed = np.load(path, mmap_mode="r+")
    changed[: N // 2] = 0
    changed.flush()
    os.utime(path, ns=(1, 1))  # whatever the clock's steps are
    for scoring in ("accuracy", "f1_micro"):
        with pytest.raises(UnreadableRowsError, match="was changed, replaced or removed"):
            holdout.certify(Predictions(said), scoring=scoring, guess=0.8)
    assert holdout.report().nats == spent
    code = "import pickle, sys; pickle.load(sys.stdin.buffer)"
    found = subprocess.run([sys.executable, "-c", code], input=packed, capture_output=True, check=False)
    assert b"UnreadableRowsError" in found.stderr


def test_predictions_in_a_file_that_changes_are_an_error_that_costs_nothing(y, said, tmp_path):
    path = tmp_path / "said.npy"
    np.save(path, said.astype(float))
    holdout = Holdout(np.zeros((N, 1)), y, class_mix="priced", ledger=tmp_path / "ledger.db")
    predictions = Predictions(np.load(path, mmap_mode="r"))
    holdout.certify(predictions, scoring="accuracy", guess=0.9)
    spent = holdout.report().nats
    np.save(path, said + 0.5)
    os.utime(path, ns=(1, 1))
    with pytest.raises(UnreadableRowsError):
        holdout.certify(predictions, scoring="accuracy", guess=0.9)
    assert holdout.report().nats == spent


@pytest.mark.thorough
@pytest.mark.parametrize(
    "cut", [lambda block: block[::2], lambda block: block[:1], lambda block: block[:, None]]
)
def test_chunks_of_dask_that_are_not_as_they_say_are_an_error(cut, y, said, tmp_path):
    array = pytest.importorskip("dask.array")
    short = [array.from_array(rows, chunks=N // 4).map_blocks(cut, dtype=rows.dtype) for rows in (y, said)]
    with pytest.raises(UnreadableRowsError, match="is of shape"):
        Holdout(np.zeros((N, 1)), short[0], class_mix="priced", ledger=tmp_path / "y.db")
    holdout = Holdout(np.zeros((N, 1)), y, class_mix="priced", ledger=tmp_path / "ledger.db")
    with pytest.raises(UnreadableRowsError, match="is of shape"):
        holdout.certify(Predictions(short[1]), scoring="accuracy", guess=0.9)
    assert not holdout.report().answers


@pytest.mark.thorough
def test_masked_chunks_of_dask_are_refused(y, tmp_path):
    array = pytest.importorskip("dask.array")
    masked = array.ma.masked_equal(array.from_array(y, chunks=N // 4), 0)
    with pytest.raises(ValueError, match="may not be masked"):
        Holdout(np.zeros((N, 1)), masked, ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match="may not be masked"):
        Predictions(masked)


@pytest.mark.thorough
def test_an_empty_chunk_of_rows_is_no_failure_of_the_model(y, tmp_path):
    array = pytest.importorskip("dask.array")
    X = np.random.default_rng(2).normal(size=(N, 2)) + y[:, None]
    model = LogisticRegression().fit(X[:1000], y[:1000])
    chunks = ((0, N // 2, 0, N - N // 2), (2,))
    told = [
        Holdout(rows, y, ledger=tmp_path / f"{number}.db", random_state=0).certify(
            model, scoring="accuracy", guess=0.6
        )
        for number, rows in enumerate((X, array.from_array(X, chunks=N).rechunk(chunks)))
    ]
    assert told[0].value == told[1].value
    assert told[1].verdict == "exact"


@pytest.mark.thorough
def test_a_worker_that_is_lost_while_it_hashes_is_an_error_and_no_wait_for_ever(y, said, tmp_path):
    array = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")

    def slow(block):
        time.sleep(0.5)
        return block

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        rows = array.from_array(said, chunks=N // 20).map_blocks(slow, dtype=said.dtype)
        worker = min(client.scheduler_info(n_workers=-1)["workers"])
        (pid,) = client.run(os.getpid, workers=[worker]).values()
        killer = threading.Timer(2.0, os.kill, (pid, signal.SIGKILL))
        killer.start()
        with pytest.raises(UnreadableRowsError):
            Column(rows).sha256()
        killer.join()


def test_rows_that_fail_in_the_middle_of_a_look_are_a_failure_that_is_paid(y, said, tmp_path, monkeypatch):
    holdout = Holdout(np.zeros((N, 1)), y, class_mix="priced", ledger=tmp_path / "ledger.db")

    def broken(*args):
        raise OSError("the disk is gone")

    monkeypatch.setattr("sklearn_ada.metrics.means.over_blocks", broken)
    answer = holdout.certify(Predictions(said), scoring="accuracy", guess=0.9)
    assert answer.verdict == "failed"
    assert answer.cost.nats > 6.0
