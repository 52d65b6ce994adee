"""The digest of arrays of other types and of frames: all that tells them apart counts, and no cache."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest

from sklearn_ada.digest.canonical import canonical_digest
from tests.support.ledger.fitted_models import X


class Metres(np.ndarray):
    """An array with a unit."""


class Feet(Metres):
    pass


class Slotted(np.ndarray):
    __slots__ = ("unit",)


class Masked(np.ma.MaskedArray):
    pass


def having(obj, **attributes):
    """Return the object with these attributes set."""
    for name, value in attributes.items():
        setattr(obj, name, value)
    return obj


def column(values, **how):
    return pd.DataFrame({"p": values}, **how)


def kinds(*order, **how):
    return pd.Categorical(["a", "b"], order, **how)


EQUAL = {
    "default fill value": (np.ma.array([1], fill_value=999999), np.ma.array([1])),
    "columns in other blocks": (
        pd.DataFrame({"a": [1], "b": [2]}),
        pd.concat([pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [2]})], axis=1),
    ),
}
DIFFERENT = {
    "mask": (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[1, 0])),
    "type of an array": (np.ones(2).view(Metres), np.ones(2).view(Feet)),
    "array and subclass": (np.ones(2), np.ones(2).view(Metres)),
    "matrix": (np.ones((2, 2)), np.ones((2, 2)).view(np.matrix)),
    "attribute of an array": (having(np.ones(2).view(Metres), unit="m"), np.ones(2).view(Metres)),
    "slot of an array": tuple(having(np.ones(2).view(Slotted), unit=unit) for unit in ("m", "ft")),
    "fill value": (np.ma.array([1], fill_value=7), np.ma.array([1], fill_value=9)),
    "hard mask": (np.ma.array([1], hard_mask=True), np.ma.array([1])),
    "type of a masked array": (np.ma.array([1]), np.ma.array([1]).view(Masked)),
    "attribute of a masked array": (having(np.ma.array([1]), unit="m"), np.ma.array([1])),
    "index": (column([0, 1], index=["a", "b"]), column([0, 1], index=["b", "a"])),
    "name of the index": (column([0], index=pd.Index([5], name="a")), column([0], index=[5])),
    "type of the index": (column([0], index=[1]), column([0], index=["1"])),
    "frequency of the index": tuple(
        column([0], index=pd.DatetimeIndex(["2024-01-31"], freq=freq)) for freq in ("D", "W-WED")
    ),
    "levels of the index": tuple(
        column([0], index=pd.MultiIndex([levels, [1]], [[code], [0]]))
        for levels, code in ((["a", "b"], 0), (["b", "a"], 1))
    ),
    "order of categories": (column(kinds("a", "b")), column(kinds("b", "a"))),
    "ordered categories": (column(kinds("a", "b")), column(kinds("a", "b", ordered=True))),
    "categories and text": (column(kinds("a", "b")), column(np.array(["a", "b"], dtype=object))),
    "nullable numbers": (column(pd.array([1], dtype="Int64")), column([1])),
    "type of a column name": (pd.DataFrame({1: [0]}), pd.DataFrame({"1": [0]})),
    "name of the columns": (column([0]), column([0]).rename_axis(columns="a")),
    "attrs of a frame": (having(column([0]), attrs={"unit": "m"}), column([0])),
    "index of a series": (pd.Series([0, 1], index=["a", "b"]), pd.Series([0, 1], index=["b", "a"])),
    "categories of a series": (pd.Series(kinds("a", "b")), pd.Series(kinds("b", "a"))),
    "name of a series": (pd.Series([0], name="a"), pd.Series([0], name="b")),
}


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_equal_containers_have_one_digest(pair):
    assert canonical_digest(pair[0]) == canonical_digest(pair[1])


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_another_container_has_another_digest(pair):
    assert canonical_digest(pair[0]) != canonical_digest(pair[1])


def test_a_memory_map_is_the_array_that_it_holds(tmp_path):
    joblib.dump(X, tmp_path / "X")
    mapped = joblib.load(tmp_path / "X", mmap_mode="r")
    assert type(mapped) is np.memmap
    assert canonical_digest(mapped) == canonical_digest(X)


INDEXES = {
    "range": pd.RangeIndex(2),
    "text": pd.Index(["a", "b"]),
    "dates": pd.date_range("2024", periods=2),
    "business days": pd.date_range("2024", periods=2, freq="C", tz="Europe/Rome"),
    "periods": pd.period_range("2024", periods=2, freq="M"),
    "categories": pd.CategoricalIndex(kinds("b", "a")),
    "intervals": pd.interval_range(0, 2),
    "nullable": pd.Index(pd.array([1, None], dtype="Int64")),
    "two levels": pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", None]),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
@pytest.mark.parametrize("kind", ["frame", "columns", "series"])
def test_a_frame_keeps_its_digest_when_it_is_used_and_pickled(kind, index):
    """Pandas objects cache much of what they are asked for."""
    index = index.copy()
    if kind == "frame":
        used = column(pd.array([1, None], dtype="Int64"), index=index)
    else:
        used = pd.Series([1, 2], index=index) if kind == "series" else pd.DataFrame([[1, 2]], columns=index)
    before = canonical_digest(used)
    assert canonical_digest(pickle.loads(pickle.dumps(used))) == before
    assert canonical_digest(used.copy()) == before
    turned = used.T if kind == "columns" else used
    _ = repr(used), turned.sum(), turned.loc[index[0]], turned.dtypes, turned.index.is_unique
    turned.index.get_indexer(turned.index)
    assert canonical_digest(used) == before


def test_a_frame_of_polars_is_known_by_its_columns_and_types():
    polars = pytest.importorskip("polars")
    frames = [
        polars.DataFrame({name: values}, schema=schema)
        for name, values, schema in (
            ("a", [1.0, None], None),
            ("a", [1.0, float("nan")], None),
            ("b", [1.0, None], None),
            ("a", [1, None], None),
            ("a", ["x", "y"], None),
            ("a", ["x", "y"], {"a": polars.Enum(["x", "y"])}),
            ("a", ["x", "y"], {"a": polars.Enum(["y", "x"])}),
        )
    ]
    digests = [canonical_digest(frame) for frame in frames]
    assert len(set(digests)) == len(frames)
    assert digests == [canonical_digest(pickle.loads(pickle.dumps(frame))) for frame in frames]


MASKED = {
    "numbers": np.ma.array([1, 2], mask=[0, 1]),
    "texts": np.ma.array(["ab", "c"], mask=[0, 1]),
    "objects": np.ma.array(["ab", None], mask=[0, 1], dtype=object),
    "dates": np.ma.array(np.array(["2024"], "M8[ns]")),
    "records": np.ma.array([(1, 2.0)], dtype=[("a", np.int8), ("b", np.float64)]),
    "the constant": np.ma.masked,
}


@pytest.mark.parametrize("masked", MASKED.values(), ids=MASKED)
def test_a_masked_array_keeps_its_digest_when_it_is_pickled(masked):
    before = canonical_digest(masked)
    assert canonical_digest(pickle.loads(pickle.dumps(masked))) == before
    assert canonical_digest(copy.deepcopy(masked)) == before
