"""Rows that are added get the types of the holdout's columns, or are refused with both, for nothing."""

import functools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

from sklearn_ada import Holdout

N = 20
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
NUMBERS, OTHERS = RNG.normal(size=(2, N))
WHOLE = np.arange(N)
TEXTS = np.array([*"abc"])[[0, 1, 2, *RNG.integers(0, 3, N - 3)]]
DAYS = pd.date_range("2030-01-01", periods=N)


def column(values, **how):
    return pd.DataFrame({"x": pd.Series(values, **how), "other": RNG.normal(size=N)})


def categories(values, names=None, ordered=False):
    return column(pd.Categorical(values, names, ordered=ordered))


def polars_column(values, dtype=None):
    polars = pytest.importorskip("polars")
    dtype = getattr(polars, dtype) if isinstance(dtype, str) else polars.Enum(dtype) if dtype else None
    return polars.DataFrame({"x": polars.Series(list(values), dtype=dtype), "other": RNG.normal(size=N)})


GAPS = np.where(WHOLE % 5 == 0, np.nan, WHOLE)
NONE, NO_OBJECTS = np.full(N, np.nan), np.full(N, None)
ab = functools.partial(np.where, TEXTS == "c", "b")  # a month without "c"

JOINED = {  # old rows, new rows, and the type of the column afterwards
    "categories without one": (categories(TEXTS), categories(ab(TEXTS)), "category of a, b, c"),
    "categories with others": (
        categories(ab(TEXTS)), categories(np.char.add(TEXTS, "!")), "category of a, b, a!, b!, c!",
    ),
    "categories in another order": (categories(TEXTS), categories(TEXTS, list("cba")), "category of a, b, c"),
    "ordered categories": (
        categories(TEXTS, list("cba"), True), categories(ab(TEXTS), list("ba"), True), "category of c, b, a",
    ),
    "whole numbers for floats": (column(NUMBERS), column(WHOLE), "float64"),
    "whole floats": (column(WHOLE), column(WHOLE.astype(float)), "int64"),
    "gaps": (column(WHOLE), column(GAPS), "float64"),
    "single precision": (column(NUMBERS), column(OTHERS.astype(np.float32)), "float64"),
    "double precision": (column(NUMBERS.astype(np.float32)), column(OTHERS), "float64"),
    "small integers": (column(WHOLE), column(WHOLE.astype(np.int8)), "int64"),
    "nullable": (column(WHOLE), column(WHOLE, dtype="Int64"), "int64"),
    "nullable with gaps": (column(WHOLE, dtype="Int64"), column(GAPS, dtype="Int64"), "Int64"),
    "for nullable": (column(WHOLE, dtype="Int64"), column(WHOLE), "Int64"),
    "nullable bool": (column(Y > 0), column(Y > 0, dtype="boolean"), "bool"),
    "texts for objects": (column(TEXTS, dtype=object), column(TEXTS, dtype="string"), "object"),
    "objects for texts": (column(TEXTS, dtype="string"), column(TEXTS, dtype=object), "string"),
    "units of time": (column(DAYS.as_unit("ns")), column(DAYS.as_unit("s")), "datetime64[ns]"),
    "no text": (column(TEXTS, dtype=object), column(NONE), "object"),
    "no string": (column(TEXTS, dtype="string"), column(NONE), "string"),
    "no category": (categories(TEXTS), column(NONE), "category of a, b, c"),
    "no number": (column(NUMBERS), column(NO_OBJECTS), "float64"),
    "no whole number": (column(WHOLE), column(NO_OBJECTS), "float64"),
    "no date": (column(DAYS.as_unit("s")), column(NO_OBJECTS), "datetime64[s]"),
    "no time": (column(DAYS.as_unit("s")), column([pd.NaT] * N), "datetime64[s]"),
    "no text before": (column(NONE), column(TEXTS, dtype="string"), "string"),
    "one zone": (column(DAYS.tz_localize("UTC")), column(DAYS.tz_localize("UTC")), None),
}  # fmt: skip
REFUSED = {  # and what is named of both
    "texts for numbers": (column(NUMBERS), column(NUMBERS.astype(str), dtype=object), "float64", "text"),
    "strings for numbers": (column(NUMBERS), column(TEXTS, dtype="string"), "float64", "string"),
    "numbers for texts": (column(TEXTS, dtype=object), column(WHOLE), "objects (text)", "int64"),
    "numbers in objects": (column(TEXTS, dtype=object), column([*WHOLE], dtype=object), "text", "number"),
    "texts for categories": (categories(TEXTS), column(TEXTS, dtype="string"), "category", "string"),
    "objects for categories": (categories(TEXTS), column(TEXTS, dtype=object), "category", "objects (text)"),
    "categories for texts": (column(TEXTS, dtype=object), categories(TEXTS), "objects (text)", "category"),
    "numbers as categories": (categories(TEXTS), categories(WHOLE), "ies (text)", "ies (number)"),
    "order": (categories(TEXTS), categories(TEXTS, ordered=True), "categories (text)", "in order"),
    "another order": (
        categories(TEXTS, list("abc"), True), categories(TEXTS, list("cba"), True), "in order", "in order",
    ),
    "a new one in an order": (
        categories(ab(TEXTS), list("ab"), True), categories(TEXTS, list("abc"), True), "in order", "in order",
    ),
    "bool": (column(WHOLE), column(Y > 0), "int64", "bool"),
    "no bool": (column(Y > 0), column(NO_OBJECTS), "bool", "float64"),
    "numbers for bool": (column(Y > 0), column(Y), "bool", "int64"),
    "a time zone": (column(DAYS), column(DAYS.tz_localize("UTC")), "datetime64", "UTC"),
    "another time zone": (
        column(DAYS.tz_localize("UTC")), column(DAYS.tz_localize("Asia/Tokyo")), "UTC", "Asia/Tokyo",
    ),
    "texts for dates": (column(DAYS), column(DAYS.astype(str), dtype="string"), "datetime64", "string"),
    "large numbers": (column(WHOLE + 2**60), column(GAPS), "int64", "float64"),
    "gaps for nullable": (column(WHOLE), column(GAPS, dtype="Int64"), "int64", "Int64"),
    "an array": (column(NUMBERS), np.c_[NUMBERS, NUMBERS], "DataFrame", "ndarray"),
    "other names": (column(NUMBERS), column(NUMBERS).rename(columns={"x": "z"}), "'x'", "'z'"),
}  # fmt: skip
ARRAYS_JOINED = {
    "whole numbers": (np.c_[NUMBERS, NUMBERS], np.c_[WHOLE, WHOLE], "float64"),
    "integers and gaps": (np.c_[WHOLE, WHOLE], np.c_[GAPS, GAPS], "float64"),
    "single precision": (np.c_[NUMBERS].astype(np.float32), np.c_[WHOLE], "float32"),
    "longer texts": (TEXTS[:, None], np.char.add(TEXTS, "long")[:, None], "<U5"),
    "objects": (np.c_[TEXTS, TEXTS].astype(object), np.c_[TEXTS, TEXTS][::-1], "object"),
    "mixed rows": (column(TEXTS).to_numpy(object), column(TEXTS).to_numpy(object), "object"),
    "a list": (np.c_[NUMBERS, NUMBERS], np.c_[WHOLE, WHOLE].tolist(), "float64"),
    "sparse floats": (sparse.csr_array(np.c_[NUMBERS]), sparse.coo_array(np.c_[WHOLE]), "float64"),
    "sparse integers": (sparse.csr_matrix(np.c_[WHOLE]), sparse.csc_matrix(np.c_[NUMBERS]), "float64"),
    "texts in lists": (TEXTS.tolist(), np.char.add(TEXTS, "!").tolist(), None),
    "rows in lists": (np.c_[NUMBERS, NUMBERS].tolist(), np.c_[WHOLE, WHOLE].tolist(), None),
    "a series": (pd.Series(TEXTS, name="x"), pd.Series(TEXTS[::-1]), None),
}  # fmt: skip
ARRAYS_REFUSED = {
    "texts for numbers": (np.c_[NUMBERS], np.c_[NUMBERS].astype(str), "float64", "text"),
    "numbers for texts": (TEXTS[:, None], np.c_[NUMBERS], "text", "float64"),
    "texts in objects": (np.c_[NUMBERS], np.c_[NUMBERS].astype(str).astype(object), "float64", "text"),
    "columns changed": (
        column(TEXTS).to_numpy(object), column(TEXTS).to_numpy(object)[:, ::-1], "text", "number",
    ),
    "bool": (np.c_[WHOLE], np.c_[Y > 0], "int64", "bool"),
    "columns": (np.c_[NUMBERS, NUMBERS], np.c_[NUMBERS], "(2,)", "(1,)"),
    "complex": (np.c_[NUMBERS], np.c_[NUMBERS + 1j], "float64", "complex128"),
    "sparse": (np.c_[NUMBERS], sparse.csr_array(np.c_[NUMBERS]), "ndarray", "csr_array"),
    "dense": (sparse.csr_array(np.c_[NUMBERS]), np.c_[NUMBERS], "csr_array", "ndarray"),
    "sparse columns": (
        sparse.csr_array(np.c_[NUMBERS]), sparse.csr_array(np.c_[NUMBERS, WHOLE]), "1 col", "2 col",
    ),
    "sparse bool": (sparse.csr_array(np.c_[NUMBERS]), sparse.csr_array(np.c_[Y > 0]), "float64", "bool"),
    "numbers in lists": (TEXTS.tolist(), NUMBERS.tolist(), "text", "number"),
    "rows in lists": (np.c_[NUMBERS, NUMBERS].tolist(), np.c_[NUMBERS].tolist(), "(2,)", "(1,)"),
    "texts in lists of rows": (np.c_[NUMBERS].tolist(), np.c_[TEXTS].tolist(), "number", "text"),
    "a frame": (np.c_[NUMBERS, NUMBERS], column(NUMBERS), "ndarray", "DataFrame"),
    "a series of numbers": (pd.Series(TEXTS), pd.Series(NUMBERS), "", "float64"),
}  # fmt: skip


def added(old, new, tmp_path, with_ids):
    ids = {"ids": np.arange(N)} if with_ids else {}
    more = {"ids": np.arange(N, 2 * N)} if with_ids else {}
    small = Holdout(old, Y, ledger=tmp_path / "ledger.db", **ids)
    return small, lambda: small.top_up(new, Y[::-1], **more)


def type_of(X):
    if not hasattr(X, "columns"):
        return str(X.dtype)
    dtype = X["x"].dtype
    return f"category of {', '.join(dtype.categories)}" if dtype == "category" else str(dtype)


@pytest.mark.parametrize("with_ids", [False, True], ids=["", "ids"])
@pytest.mark.parametrize(
    ("old", "new", "dtype"),
    [*JOINED.values(), *ARRAYS_JOINED.values()],
    ids=[*JOINED, *[f"arrays: {each}" for each in ARRAYS_JOINED]],
)
def test_rows_that_mean_the_same_get_the_types_of_the_holdout(old, new, dtype, with_ids, tmp_path):
    _, add = added(old, new, tmp_path, with_ids)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "As many rows|.*second budget")
        rows = add()._session.data.X
    assert dtype is None or type_of(rows) == dtype
    joined = [each for part in (old, new) for each in values_of(part)]
    assert (values_of(rows) == joined) or with_ids  # which put them into an order of their own
    assert len(values_of(rows)) == len(joined)


def values_of(rows):
    """Return the first value of each row, missing ones as None."""
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    if isinstance(rows, list):
        return [row if isinstance(row, (str, float)) else row[0] for row in rows]
    values = rows["x"] if hasattr(rows, "columns") else rows if rows.ndim == 1 else rows[:, 0]
    return [None if value is pd.NA or value != value else value for value in values]


@pytest.mark.parametrize("with_ids", [False, True], ids=["", "ids"])
@pytest.mark.parametrize(
    ("old", "new", "expected", "got"), [*REFUSED.values(), *ARRAYS_REFUSED.values()],
    ids=[*REFUSED, *[f"arrays: {each}" for each in ARRAYS_REFUSED]],
)  # fmt: skip
def test_rows_of_other_types_are_refused_with_both(
    old, new, expected, got, with_ids, tmp_path, uncharged, sentence
):
    small, add = added(old, new, tmp_path, with_ids)
    with uncharged(small), pytest.raises(ValueError, match=sentence("X", "Holdout.top_up")) as refused:
        add()
    wanted, _, found = str(refused.value).partition(" Got ")
    assert (expected in wanted, got in found) == (True, True), str(refused.value)


POLARS = {
    "no text": (TEXTS, None, [None] * N, None, "String"),
    "no date": (DAYS, None, [None] * N, None, "Datetime"),
    "no text before": ([None] * N, None, TEXTS, None, "String"),
    "whole numbers": (NUMBERS, None, WHOLE, None, "Float64"), "gaps": (WHOLE, None, GAPS, None, "Float64"),
    "enums": (ab(TEXTS), ["a", "b"], TEXTS, ["c", "a", "b"], "Enum"),
    "categories": (TEXTS, "Categorical", np.char.add(TEXTS, "!"), "Categorical", "Categorical"),
    "texts": (TEXTS, None, WHOLE, None, "String and Int64"),
    "bool": (WHOLE, None, Y > 0, None, "Int64 and Bool"),
    "numbers as text": (NUMBERS, None, NUMBERS.astype(str), None, "Float64 and String"),
    "categories as text": (TEXTS, "Categorical", TEXTS, None, "Categorical and String"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "as_", "new", "as_new", "types"), POLARS.values(), ids=POLARS)
def test_columns_of_polars_are_joined_or_refused_alike(
    old, as_, new, as_new, types, tmp_path, uncharged, sentence
):
    old, new = polars_column(old, as_), polars_column(new, as_new)
    small, add = added(old, new, tmp_path, False)
    if " and " not in types:
        rows = add()._session.data.X
        assert str(rows["x"].dtype).startswith(types)
        assert rows["x"].cast(str).to_list() == [
            *old["x"].cast(rows["x"].dtype).cast(str),
            *new["x"].cast(rows["x"].dtype).cast(str),
        ]
        return
    with uncharged(small), pytest.raises(ValueError, match=sentence("X", "Holdout.top_up")) as refused:
        add()
    wanted, _, found = str(refused.value).partition(" Got ")
    assert all(name in part for name, part in zip(types.split(" and "), (wanted, found), strict=True))


def test_a_model_of_categories_answers_for_both_months(tmp_path):
    """It fails on texts, and a failed prediction is paid for."""
    train, month = categories(TEXTS), categories(ab(TEXTS))
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype", min_samples_leaf=2)
    model.fit(train, Y)
    _, add = added(train, month, tmp_path, False)
    answer = add().certify(model, scoring="accuracy", guess=0.5)
    assert answer.answered
    hits = np.r_[model.predict(train) == Y, model.predict(month) == Y[::-1]]
    assert answer.value == pytest.approx(hits.mean())
