"""The same rows in another container are the same rows: one digest, one temporary ledger, one budget."""

import datetime
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.digest import rows as content
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.rows import content_digest, rows_digest
from tests.support.searches import grid

RNG = np.random.default_rng(0)
N = 60
Y = np.arange(N) % 2
DENSE = RNG.integers(-2, 3, size=(N, 4)) * np.array([0.5, 1.0, 0.0, 2.0])
PLAIN = canonical_digest((DENSE + 0.0, Y * 1.0))
FRAME = pd.DataFrame(
    {
        "number": RNG.normal(size=N),
        "half": RNG.normal(size=N).astype(np.float32),
        "code": RNG.integers(9, size=N),
        "flag": RNG.random(N) > 0.5,
        "text": np.array(["up", "down"])[Y],
        "kind": pd.Categorical(np.where(DENSE[:, 0] > 0, "x", "y")),
        "missing": np.where(DENSE[:, 1] > 0, "x", None),
        "perhaps": pd.array([None, *range(N - 1)], dtype="Int64"),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N), unit="h"),
    }
)


def with_explicit_zeros(X):
    matrix = sparse.csr_matrix(np.ones_like(X))
    matrix.data[:] = X.ravel()
    assert matrix.nnz == X.size
    return matrix


def with_duplicates(X):
    rows, columns = np.indices(X.shape).reshape(2, -1)
    twice = (np.r_[rows, rows], np.r_[columns, columns])
    return sparse.coo_matrix((np.r_[X.ravel(), X.ravel()] / 2.0, twice), shape=X.shape)


def unsorted(X):
    matrix = sparse.csr_matrix(X[:, ::-1])
    matrix.indices = X.shape[1] - 1 - matrix.indices
    matrix.has_sorted_indices = False
    return matrix


CONTAINERS = {
    "array": np.array,
    "array in Fortran's order": np.asfortranarray,
    "list": np.ndarray.tolist,
    "list of rows": list,
    "frame": pd.DataFrame,
    "frame of halves": lambda X: pd.DataFrame(X, dtype=np.float32),
    "nullable frame": lambda X: pd.DataFrame(X).astype("Float64"),
    "frame of whole numbers and floats": lambda X: pd.DataFrame(X).astype({1: int}),
    "objects": lambda X: X.astype(object),
    "frame of objects": lambda X: pd.DataFrame(X.astype(object)),
    "negative zeros": lambda X: np.where(X == 0, -0.0, X),
    "CSR": sparse.csr_matrix,
    "CSR array": sparse.csr_array,
    "CSC": sparse.csc_matrix,
    "COO": sparse.coo_matrix,
    "LIL": sparse.lil_array,
    "sparse halves": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "explicit zeros": with_explicit_zeros,
    "explicit negative zeros": lambda X: with_explicit_zeros(np.where(X == 0, -0.0, X)),
    "duplicates": with_duplicates,
    "unsorted": unsorted,
}


@pytest.fixture(params=[3, 2**17], ids=["row by row", "at once"])
def _block_cells(request, monkeypatch):
    monkeypatch.setattr(content, "_BLOCK_CELLS", request.param)


@pytest.mark.usefixtures("_block_cells")
@pytest.mark.parametrize("container", CONTAINERS)
def test_numbers_have_the_digest_of_the_array_of_floats(container):
    assert content_digest(CONTAINERS[container](DENSE), Y) == PLAIN
    if container not in ("COO", "duplicates"):
        assert rows_digest(CONTAINERS[container](DENSE), Y) == PLAIN


@pytest.mark.parametrize("made", [np.array, list, pd.Series, lambda y: y.astype(object), lambda y: y == 1])
def test_labels_have_the_digest_of_their_values(made):
    assert content_digest(DENSE, made(Y)) == PLAIN


@pytest.mark.parametrize("shape", [(1, 1), (7, 1), (1, 7), (5, 8), (3, 0), (0, 3)])
def test_sparse_and_dense_rows_have_one_digest_for_any_shape(shape, monkeypatch):
    X = np.arange(np.prod(shape)).reshape(shape) % 3
    for cells in (1, 8, 16, 17):
        monkeypatch.setattr(content, "_BLOCK_CELLS", cells)
        assert content_digest(sparse.csr_matrix(X), Y) == content_digest(X, Y)


def test_one_value_moved_makes_other_rows_in_every_container():
    moved = DENSE.copy()
    moved[3, 2] = 1e-9
    for make in CONTAINERS.values():
        assert content_digest(make(moved), Y) != PLAIN
    assert content_digest(sparse.csr_matrix(DENSE.reshape(N // 2, 8)), Y) != PLAIN


def test_sparse_formats_of_any_size_have_one_digest(monkeypatch):
    monkeypatch.setattr(content, "_DENSE_CELLS", 10)
    matrices = [make(DENSE) for make in CONTAINERS.values()]
    wide = sparse.csr_array(DENSE)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    digests = {content_digest(each, Y) for each in (wide, *matrices) if sparse.issparse(each)}
    assert len(digests) == 1
    assert digests != {PLAIN}


@pytest.mark.thorough
def test_a_wide_sparse_matrix_is_never_dense_as_a_whole():
    matrix = sparse.random(2000, 20000, density=1e-4, format="csr", random_state=0)
    tracemalloc.start()
    content_digest(matrix, np.zeros(2000))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < matrix.shape[0] * matrix.shape[1] * 8 / 20


def test_a_matrix_is_not_changed_by_its_digest():
    matrix = with_explicit_zeros(DENSE)
    content_digest(matrix, Y)
    assert matrix.nnz == DENSE.size


MIXED = {
    "objects": pd.DataFrame.to_numpy,
    "list": lambda frame: frame.to_numpy().tolist(),
    "frame of objects": lambda frame: frame.astype(object),
    "other names": lambda frame: frame.set_axis(range(frame.shape[1]), axis=1).set_index(np.arange(N)[::-1]),
    "whole numbers as floats": lambda frame: frame.astype({"code": float}),
}


@pytest.mark.parametrize("container", MIXED)
def test_a_mixed_frame_has_the_digest_of_its_values(container):
    assert content_digest(MIXED[container](FRAME), Y) == content_digest(FRAME, Y)
    assert rows_digest(MIXED[container](FRAME), Y) == rows_digest(FRAME, Y)


@pytest.mark.parametrize("column", FRAME.columns)
def test_each_column_of_a_mixed_frame_counts(column):
    turned = FRAME.assign(**{column: FRAME[column].to_numpy()[::-1]})
    assert content_digest(turned, Y) != content_digest(FRAME, Y)
    assert content_digest(turned.to_numpy(), Y) != content_digest(FRAME, Y)


def test_the_order_of_columns_counts():
    assert content_digest(FRAME[FRAME.columns[::-1]], Y) != content_digest(FRAME, Y)


@pytest.mark.parametrize("made", [np.array, pd.DataFrame, lambda texts: np.array(texts, dtype=object)])
def test_text_has_the_digest_of_its_values(made):
    texts = [["a", "b"], ["b", "a"], ["b", "b"]]
    plain = canonical_digest((np.array(texts, dtype=object), np.array([0.0, 1.0, 0.0])))
    assert content_digest(made(texts), [0, 1, 0]) == plain


def test_text_is_no_number_and_a_date_no_text():
    digests = [
        content_digest([[value, "a"], [value, "b"]], [0, 1])
        for value in (1, "1", "1.0", b"1", None, 2**1100, "2020-01-01", datetime.date(2020, 1, 1))
    ]
    assert len(set(digests)) == len(digests)


def test_numpy_scalars_in_objects_have_the_digest_of_plain_values():
    held = np.array([[np.float32(0.5), np.str_("a")], [np.int8(2), "b"], ["c", np.bool_(True)]], dtype=object)
    plain = np.array([[0.5, "a"], [2, "b"], ["c", 1]], dtype=object)
    assert content_digest(held, [0, 1, 0]) == content_digest(plain, [0, 1, 0])


def test_rows_that_hold_lists_have_a_digest():
    rows = np.empty((3, 1), dtype=object)
    rows[:, 0] = [[i, i] for i in range(3)]
    assert content_digest(rows, [0, 1, 0]) != content_digest(rows[::-1], [0, 1, 0])


IN_OTHER_CONTAINERS = [
    (DENSE, [sparse.csr_matrix(DENSE), sparse.csc_array(DENSE), with_explicit_zeros(DENSE), list(DENSE)]),
    (FRAME, [FRAME.to_numpy(), FRAME.astype(object)]),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "others"), IN_OTHER_CONTAINERS, ids=["numbers", "mixed"])
def test_another_container_has_no_fresh_temporary_ledger(rows, others):
    opened = [Holdout(rows, Y), *(Holdout(other, Y.astype(object)) for other in others)]
    assert len({(each.ledger.path, each.fingerprint) for each in opened}) == 1


def test_a_search_on_another_container_has_no_fresh_budget():
    X = np.round(RNG.normal(size=(300, 3)))
    y = (X[:, 0] + RNG.normal(size=300) > 0).astype(int)
    search = ReusableHoldoutCV(grid(LogisticRegression()), random_state=0)
    containers = (X, sparse.csr_matrix(X), with_explicit_zeros(X), pd.DataFrame(X))
    assert len({search.fit(data, y).holdout_.ledger.path for data in containers}) == 1


def test_labels_as_objects_are_split_like_the_plain_array():
    search = ReusableHoldoutCV(grid(LogisticRegression()), random_state=0)
    words = np.array(["up", "down"])[Y]
    plain, objects = (search.fit(DENSE + 7, y).holdout_ for y in (words, words.astype(object)))
    assert plain.fingerprint == objects.fingerprint
