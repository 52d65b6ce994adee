"""All that tells objects, arrays and frames apart is part of their digest, and no cache of theirs is."""

import copy
import functools
import pickle
import re
import types
import weakref
from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.special
from scipy import sparse

from sklearn_ada.digest.canonical import canonical_digest
from tests.support.ledger.fitted_models import Centred, Constant, FirstRule, X, Y


class Metres(np.ndarray):
    """An array with a unit."""


class Feet(Metres):
    pass


class Slotted(np.ndarray):
    __slots__ = ("unit",)


class Masked(np.ma.MaskedArray):
    pass


class Half(functools.partial):
    pass


class Kept(property):
    pass


class Items(dict):
    pass


class StateIsADict:
    """What it holds is its whole state."""

    def __init__(self, held):
        self.held = held

    def __getstate__(self):
        return self.held

    def __setstate__(self, held):
        self.held = held


@dataclass
class Pair:
    a: int = 1
    b: int = 2


@dataclass
class Other:
    a: int = 1
    b: int = 3


def held(obj):
    return obj


def having(obj, **attributes):
    """Return the object with these attributes set."""
    for name, value in attributes.items():
        setattr(obj, name, value)
    return obj


def annotated(kind):
    return type("Annotated", (), {"__annotations__": {"a": kind}, "__module__": "__main__"})


def annotated_function(kind):
    return having(lambda X: X, __annotations__={"X": kind})


def first_of(rules):
    """Return a function that reads a global dict in its order."""
    return eval("lambda x: [v for a, v in rules.items() if x > a][0]", {"rules": rules})


def column(values, **how):
    return pd.DataFrame({"p": values}, **how)


def kinds(*order, **how):
    return pd.Categorical(["a", "b"], order, **how)


def like_a_frame(value):
    return types.SimpleNamespace(columns=[], shape=(3, 0), value=value)


AB = ["a", "b"]
PAIRS = [Pair(1), Pair(2)]
EQUAL = {
    "memory order": (np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3))),
    "a view": (np.arange(3), np.arange(6)[::2] // 2),
    "order of attributes": (types.SimpleNamespace(a=1, b=[2]), types.SimpleNamespace(b=[2], a=1)),
    "order of parameters": (Constant(1).set_params(answer=2).fit(X, Y), Constant(2).fit(X, Y)),
    "a dict written twice": ({"a": 1, "b": [2]}, {"a": 1, "b": [2]}),
    "sparse format": (sparse.csr_matrix(np.eye(3)), sparse.csc_matrix(np.eye(3))),
    "shared or equal parts": ([X, X], [X, X.copy()]),
    "texts as objects": (np.array(AB, dtype=object), np.array(AB, dtype=object)),
    "frames": (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]})),
    "default fill value": (np.ma.array([1], fill_value=999999), np.ma.array([1])),
    "columns in other blocks": (
        pd.DataFrame({"a": [1], "b": [2]}),
        pd.concat([pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [2]})], axis=1),
    ),
}
OBJECTS = {
    "pattern": (re.compile("a"), re.compile("b")),
    "object of a method": (Centred(1.0).fit(X).transform, Centred(2.0).fit(X).transform),
    "number and text": (1, "1"),
    "number and bool": (1, True),
    "signed zero": (0.0, -0.0),
    "nothing and empty": (None, ()),
    "list and tuple": ([1], (1,)),
    "order of a list": ([1, 2], [2, 1]),
    "nesting": ([1, [2]], [[1], 2]),
    "set": ({1, 2}, {1, 3}),
    "key and value": ({"a": "b"}, {"b": "a"}),
    "subclass": ({"a": 1}, type("D", (dict,), {})(a=1)),
    "order of a dict": ({2.0: 1, -1.0: 0}, {-1.0: 0, 2.0: 1}),
    "order of a dict in a parameter": (FirstRule({2.0: 1, -1.0: 0}), FirstRule({-1.0: 0, 2.0: 1})),
    "order of a state": (StateIsADict({"a": 1, "b": 2}), StateIsADict({"b": 2, "a": 1})),
    "order of keyword arguments": (functools.partial(dict, a=1, b=2), functools.partial(dict, b=2, a=1)),
    "order of a global dict": (first_of({2: 1, 1: 0}), first_of({1: 0, 2: 1})),
    "attribute of a dict": (having(Items(a=1), unit="m"), having(Items(a=1), unit="ft")),
    "read-only dicts": (types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": 2})),
    "an object that looks like a frame": (like_a_frame(1), like_a_frame(2)),
    "dataclasses": (Pair(), Other()),
    "fields": (Pair(), Pair(a=5)),
    "weak references": tuple(weakref.ref(pair) for pair in PAIRS),
    "a subclass of partial": (functools.partial(held, 1), Half(held, 1)),
    "a subclass of property": (property(held), Kept(held)),
    "a cached property": (functools.cached_property(held), functools.cached_property(len)),
    "annotations of a class": (annotated(int), annotated(float)),
    "annotations of a function": (annotated_function(int), annotated_function(float)),
    "ufuncs of one name": (np.log1p, scipy.special.log1p),
}
ARRAYS = {
    "scalar array": (np.array(3.0), np.array([3.0])),
    "type": (np.arange(3), np.arange(3.0)),
    "shape": (np.arange(6), np.arange(6).reshape(2, 3)),
    "sparse value": (sparse.csr_matrix(np.eye(3)), sparse.csr_matrix(2 * np.eye(3))),
    "a sparse array": (sparse.csr_matrix(np.eye(2)), sparse.csr_array(np.eye(2))),
    "date": (np.array(["2020"], "M8[D]"), np.array(["2021"], "M8[D]")),
    "texts": (np.array(["a" * 99], dtype=object), np.array(["b" * 99], dtype=object)),
    "order of fields": (np.zeros(2, [("a", "f8"), ("b", "f8")]), np.zeros(2, [("b", "f8"), ("a", "f8")])),
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
}
FRAMES = {
    "column name": (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})),
    "type of a column name": (pd.DataFrame({1: [0]}), pd.DataFrame({"1": [0]})),
    "name of the columns": (column([0]), column([0]).rename_axis(columns="a")),
    "attrs of a frame": (having(column([0]), attrs={"unit": "m"}), column([0])),
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
    "categories and text": (column(kinds("a", "b")), column(np.array(AB, dtype=object))),
    "nullable numbers": (column(pd.array([1], dtype="Int64")), column([1])),
    "series": (pd.Series([1, 2]), pd.Series([1, 3])),
    "index of a series": (pd.Series([0, 1], index=["a", "b"]), pd.Series([0, 1], index=["b", "a"])),
    "categories of a series": (pd.Series(kinds("a", "b")), pd.Series(kinds("b", "a"))),
    "name of a series": (pd.Series([0], name="a"), pd.Series([0], name="b")),
}
DIFFERENT = OBJECTS | ARRAYS | FRAMES


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_equal_content_has_one_digest(pair):
    assert canonical_digest(pair[0]) == canonical_digest(pair[1])


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_other_content_has_another_digest_each_time_the_same(pair):
    digests = [canonical_digest(obj) for obj in pair]
    assert digests[0] != digests[1]
    assert digests == [canonical_digest(obj) for obj in pair]


def test_padding_bytes_do_not_matter_in_nested_structures_either():
    inner = np.dtype([("a", np.int8), ("b", np.float64)], align=True)
    outer = np.dtype([("inner", inner), ("c", np.int8)], align=True)
    for kind, part in ((inner, lambda array: array), (outer, lambda array: array["inner"])):
        arrays = [np.frombuffer(bytearray([filler] * kind.itemsize * 3), kind) for filler in (0, 255)]
        for array in arrays:
            part(array)["a"], part(array)["b"] = [1, 2, 3], [0.5, 1.5, 2.5]
            if kind is outer:
                array["c"] = 3
        assert arrays[0].tobytes() != arrays[1].tobytes()
        assert canonical_digest(arrays[0]) == canonical_digest(arrays[1])
        part(arrays[1])["b"][2] = 3.5
        assert canonical_digest(arrays[0]) != canonical_digest(arrays[1])


def test_a_memory_map_is_the_array_that_it_holds(tmp_path):
    joblib.dump(X, tmp_path / "X")
    mapped = joblib.load(tmp_path / "X", mmap_mode="r")
    assert type(mapped) is np.memmap
    assert canonical_digest(mapped) == canonical_digest(X)


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


INDEXES = {
    "range": pd.RangeIndex(2),
    "text": pd.Index(AB),
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
    contents = [
        ("a", [1.0, None], None),
        ("a", [1.0, float("nan")], None),
        ("b", [1.0, None], None),
        ("a", [1, None], None),
        ("a", ["x", "y"], None),
        ("a", ["x", "y"], {"a": polars.Enum(["x", "y"])}),
        ("a", ["x", "y"], {"a": polars.Enum(["y", "x"])}),
    ]
    frames = [polars.DataFrame({name: values}, schema=schema) for name, values, schema in contents]
    digests = [canonical_digest(frame) for frame in frames]
    assert len(set(digests)) == len(frames)
    assert digests == [canonical_digest(pickle.loads(pickle.dumps(frame))) for frame in frames]
