"""The digest of a model: the same for the same model anywhere, another for any other model."""

import copy
import functools
import os
import pickle
import re
import subprocess
import sys
import threading
import types

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import _lbfgsb
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import _tree

from sklearn_ada.digest import code as libraries
from sklearn_ada.digest.canonical import canonical_digest
from sklearn_ada.digest.code import Undigestible
from tests.support.ledger import fitted_models
from tests.support.ledger.fitted_models import Centred, Constant, FirstRule, X, Y, fitted, unfitted

NAMES = [*unfitted(), "text"]


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
    script = (
        "import pickle, sys\n"
        "from sklearn_ada.digest.canonical import canonical_digest\n"
        "from tests.support.ledger.fitted_models import fitted\n"
        "loaded = pickle.load(open(sys.argv[1], 'rb'))\n"
        "sets = {'loaded': loaded, 'its own': fitted()}\n"
        "found = {s: {k: canonical_digest(m) for k, m in ms.items()} for s, ms in sets.items()}\n"
        "pickle.dump(found, open(sys.argv[2], 'wb'))\n"
    )
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(fitted_models.__file__))))
    subprocess.run(
        [sys.executable, "-c", script, folder / "models.pickle", folder / "digests.pickle"],
        check=True,
        cwd=root,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )
    return pickle.loads((folder / "digests.pickle").read_bytes())


@pytest.mark.parametrize("name", NAMES)
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


def test_a_clone_keeps_the_order_of_rules():
    first = FirstRule({0.5: 1, 0.25: 0, -9.0: 1})
    other = FirstRule({-9.0: 1, 0.25: 0, 0.5: 1})
    assert canonical_digest(clone(first)) == canonical_digest(first) != canonical_digest(other)


def test_all_models_have_different_digests(models):
    assert len({canonical_digest(model) for model in models.values()}) == len(models)


def test_one_coefficient_makes_another_model():
    model = LogisticRegression().fit(X, Y)
    before = canonical_digest(model)
    model.coef_[0, 1] = np.nextafter(model.coef_[0, 1], 1)
    assert canonical_digest(model) != before


def test_one_hyperparameter_makes_another_model():
    models = [make_pipeline(Centred(shift), LogisticRegression()).fit(X, Y) for shift in (0.0, 1e-300)]
    assert canonical_digest(models[0]) != canonical_digest(models[1])


def test_one_threshold_of_one_tree_makes_another_forest(models):
    forest = pickle.loads(pickle.dumps(models["8 RandomForestClassifier"]))
    before = canonical_digest(forest)
    inner = forest.estimators_[3].tree_
    inner.threshold[0] += 1.0
    assert canonical_digest(forest) != before


def made(source, name="f", **scope):
    """Return what ``source`` defines, as a notebook cell would."""
    namespace = {"__name__": "__main__", "functools": functools, "np": np, **scope}
    exec(source, namespace)
    return namespace[name]


def versions(source):
    """Return the two versions of a source."""
    return [re.sub(r"<([^<>|]*)\|([^<>|]*)>", rf"\{number}", source) for number in (1, 2)]


def unlike(first, second):
    """Whether no answer about one would be given for the other: digests differ, or there is none."""
    try:
        return canonical_digest(first) != canonical_digest(second)
    except Undigestible:
        return True


def closure(cell, scale):
    def f(X):
        return X * cell[0] * scale

    return f


# One source a line, of two versions: where they differ stands <this|that>.
DIFFERENT_CODE = {
    "constant": "def f(X): return X + <1|2>",
    "operator": "def f(X): return X <+|-> 1",
    "attribute": "def f(X): return X.<real|imag>",
    "library function": "def f(X): return np.<sin|cos>(X)",
    "default": "def f(X, k=<1|2>): return X * k",
    "keyword default": "def f(X, *, k=<1|2>): return X * k",
    "global": "k = <1|2>\ndef f(X): return X * k",
    "global array": "k = np.<ones|zeros>(2)\ndef f(X): return X * k",
    "called function": "def g(X): return <|->X\ndef f(X): return g(X)",
    "inner function": "def f(X): return [x for x in X if <|not >x]",
    "global of an inner function": "k = <1|2>\ndef f(X): return [k * x for x in X]",
    "guarded statement": "def f(X):\n <try:\n  |>X = g(X)<|\n try:>\n  X = h(X)\n except E: pass\n return X",
    "method": "class f:\n def transform(self, X): return <|->X",
    "inherited method": "class b:\n def t(self, X): return <|->X\nclass f(b): pass",
    "class attribute": "class f: k = <1|2>",
    "static method": "class f:\n @staticmethod\n def t(X): return <|->X",
    "property": "class f:\n p = property(lambda self: <1|2>)",
    "partial": "f = functools.partial(np.power, <1|2>)",
    "decorated": "def d(g):\n @functools.wraps(g)\n def w(X): return g(X)\n return w\n"
    "@d\ndef f(X): return <|->X",
    "vectorized": "f = np.vectorize(lambda x: x + <1|2>)",
}
FALSE_MATCHES = {
    "cached": "@functools.cache\ndef f(X): return <|->X",
    "calls a cached function": "@functools.cache\ndef g(k): return <|->k\ndef f(X): return X * g(2)",
    "universal function": "f = np.frompyfunc(lambda x: x + <1|2>, 1, 1)",
    "bound method of a builtin": "f = {0: <1|2>}.get",
    "attribute of the function": "def f(X): return X * f.k\nf.k = <1|2>",
    "kind of argument": "def f(X, <|*>k): return X",
    "metaclass": "class M(type):\n def __call__(cls): return <1|2>\nclass f(metaclass=M): pass",
}


@pytest.mark.parametrize("source", DIFFERENT_CODE.values(), ids=DIFFERENT_CODE)
def test_other_code_makes_another_model_and_the_same_code_run_again_the_same(source):
    first, second = (canonical_digest(FunctionTransformer(made(version))) for version in versions(source))
    assert first != second
    for version in versions(source):
        assert canonical_digest(made(version)) == canonical_digest(made("\n\n" + version))


@pytest.mark.parametrize("source", FALSE_MATCHES.values(), ids=FALSE_MATCHES)
def test_other_code_is_never_taken_for_the_same(source):
    assert unlike(*map(made, versions(source)))


def test_a_tokenizer_is_known_by_what_it_matches():
    assert unlike(re.compile("a").findall, re.compile("b").findall)


def test_what_a_closure_holds_is_part_of_it():
    digests = {canonical_digest(closure([cell], scale)) for cell in (1, 2) for scale in (1, 2)}
    assert len(digests) == 4


@pytest.fixture
def user_module(monkeypatch):
    """A module of the user's own, in two versions."""

    def module(factor):
        helpers = types.ModuleType("helpers_of_a_user")
        helpers.f = made(f"def f(X): return X * {factor}")
        monkeypatch.setitem(sys.modules, helpers.__name__, helpers)
        return helpers

    return module


def test_a_function_of_a_user_module_is_part_of_who_calls_it(user_module):
    source = "def f(X): return helpers.f(X)"
    assert unlike(*(made(source, helpers=user_module(factor)) for factor in (1, 2)))


@pytest.fixture
def user_package(user_module, monkeypatch):
    """A package of the user's own that holds such a module, which knows its package in turn."""

    def package(factor):
        helpers = user_module(factor)
        outer = types.ModuleType("package_of_a_user")
        outer.helpers, helpers.package_of_a_user = helpers, outer
        monkeypatch.setitem(sys.modules, outer.__name__, outer)
        return outer

    return package


USES_OF_A_PACKAGE = {
    "global": "def f(X): return package_of_a_user.helpers.f(X)",
    "imported inside": "def f(X):\n from package_of_a_user import helpers\n return helpers.f(X)",
    "in a method": "class f:\n def predict(self, X): return package_of_a_user.helpers.f(X)",
}


@pytest.mark.parametrize("source", USES_OF_A_PACKAGE.values(), ids=USES_OF_A_PACKAGE)
def test_a_function_of_a_module_of_a_user_package_is_part_of_who_calls_it(source, user_package):
    def digest(factor):
        return canonical_digest(made(source, package_of_a_user=user_package(factor)))

    assert digest(1) == digest(1)
    assert digest(1) != digest(2)


USES_OF_A_MODULE_AS_A_WHOLE = {
    "attribute": lambda helpers: types.SimpleNamespace(helpers=helpers),
    "argument": lambda helpers: made("def f(X): return call(helpers, X)", helpers=helpers),
    "by name": lambda helpers: made("def f(X): return getattr(helpers, 'f')(X)", helpers=helpers),
    "default": lambda helpers: made("def f(X, h=helpers): return h.f(X)", helpers=helpers),
}


@pytest.mark.parametrize("use", USES_OF_A_MODULE_AS_A_WHOLE.values(), ids=USES_OF_A_MODULE_AS_A_WHOLE)
def test_a_user_module_without_a_file_of_which_anything_may_be_used_has_no_digest(use, user_module):
    with pytest.raises(Undigestible):
        canonical_digest(use(user_module(1)))


def test_a_function_imported_inside_another_is_part_of_it(user_module):
    source = "def f(X):\n from helpers_of_a_user import f as g\n return g(X)"
    digests = []
    for factor in (1, 2):
        user_module(factor)
        try:
            digests.append(canonical_digest(made(source)))
        except Undigestible:
            digests.append(factor)
    assert digests[0] != digests[1]


@pytest.fixture
def installed(monkeypatch):
    """A function of a library, in the version and with the code given."""

    def install(source, version=None):
        library = types.ModuleType("library_of_somebody")
        library.__file__ = "/somewhere/site-packages/library_of_somebody.py"
        if version is not None:
            library.__version__ = version
        exec(source, vars(library))
        monkeypatch.setitem(sys.modules, library.__name__, library)
        return library.f

    return install


CODES = ["def f(X): return X", "def f(X): return -X"]
CLASSES = ["class f:\n def p(self, X): return X", "class f:\n def p(self, X): return -X"]


@pytest.mark.parametrize("sources", [CODES, CLASSES], ids=["function", "class"])
def test_a_library_without_a_version_is_known_by_its_code(sources, installed):
    first, again, other = (canonical_digest(installed(sources[number])) for number in (0, 0, 1))
    assert first == again != other


def test_a_library_is_known_by_its_version(installed):
    first, again, other = (canonical_digest(installed(CODES[0], version)) for version in "112")
    assert first == again != other


def test_the_version_may_be_that_of_the_distribution(installed, monkeypatch):
    monkeypatch.setattr(libraries, "_distributions", lambda: {"library_of_somebody": ["lib"]})
    digests = []
    for version in "112":
        libraries.distributed_version.cache_clear()
        monkeypatch.setattr(libraries.metadata, "version", lambda name, version=version: version)
        digests.append(canonical_digest(installed(CODES[0])))
    libraries.distributed_version.cache_clear()
    assert digests[0] == digests[1] != digests[2]


def test_a_user_module_named_like_one_of_python_is_known_by_its_code(installed, monkeypatch):
    digests = []
    for source in CODES:
        function = installed(source)
        library = sys.modules[function.__module__]
        library.__name__, library.__file__ = "code", "/home/user/code.py"
        function.__module__ = "code"
        monkeypatch.setitem(sys.modules, "code", library)
        digests.append(canonical_digest(function))
    assert digests[0] != digests[1]


@pytest.mark.parametrize("compiled", [_tree.Tree, _lbfgsb.setulb], ids=["class", "function"])
def test_compiled_code_has_a_digest_in_a_library_only(compiled, monkeypatch):
    canonical_digest(compiled)
    monkeypatch.setattr(sys.modules[compiled.__module__], "__file__", "/home/user/compiled.so")
    with pytest.raises(Undigestible):
        canonical_digest(compiled)


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


EQUAL = {
    "memory order": (np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3))),
    "a view": (np.arange(3), np.arange(6)[::2] // 2),
    "order of attributes": (types.SimpleNamespace(a=1, b=[2]), types.SimpleNamespace(b=[2], a=1)),
    "order of parameters": (Constant(1).set_params(answer=2).fit(X, Y), Constant(2).fit(X, Y)),
    "a dict written twice": ({"a": 1, "b": [2]}, {"a": 1, "b": [2]}),
    "sparse format": (sparse.csr_matrix(np.eye(3)), sparse.csc_matrix(np.eye(3))),
    "shared or equal parts": ([X, X], [X, X.copy()]),
    "texts as objects": (np.array(["a", "b"], dtype=object), np.array(["a", "b"], dtype=object)),
    "frames": (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]})),
}


class Items(dict):
    def __init__(self, unit, **items):
        super().__init__(**items)
        self.unit = unit


class StateIsADict:
    """What it holds is its whole state."""

    def __init__(self, held):
        self.held = held

    def __getstate__(self):
        return self.held

    def __setstate__(self, held):
        self.held = held


DIFFERENT = {
    "pattern": (re.compile("a"), re.compile("b")),
    "object of a method": (Centred(1.0).fit(X).transform, Centred(2.0).fit(X).transform),
    "scalar array": (np.array(3.0), np.array([3.0])),
    "type": (np.arange(3), np.arange(3.0)),
    "shape": (np.arange(6), np.arange(6).reshape(2, 3)),
    "number and text": (1, "1"),
    "number and bool": (1, True),
    "list and tuple": ([1], (1,)),
    "order of a list": ([1, 2], [2, 1]),
    "nesting": ([1, [2]], [[1], 2]),
    "nothing and empty": (None, ()),
    "key and value": ({"a": "b"}, {"b": "a"}),
    "set": ({1, 2}, {1, 3}),
    "sparse value": (sparse.csr_matrix(np.eye(3)), sparse.csr_matrix(2 * np.eye(3))),
    "column name": (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})),
    "series": (pd.Series([1, 2]), pd.Series([1, 3])),
    "date": (np.array(["2020"], "M8[D]"), np.array(["2021"], "M8[D]")),
    "texts": (np.array(["a" * 99], dtype=object), np.array(["b" * 99], dtype=object)),
    "signed zero": (0.0, -0.0),
    "subclass": ({"a": 1}, type("D", (dict,), {})(a=1)),
    "order of a dict": ({2.0: 1, -1.0: 0}, {-1.0: 0, 2.0: 1}),
    "order of a dict in a parameter": (FirstRule({2.0: 1, -1.0: 0}), FirstRule({-1.0: 0, 2.0: 1})),
    "order of a state": (StateIsADict({"a": 1, "b": 2}), StateIsADict({"b": 2, "a": 1})),
    "order of keyword arguments": (functools.partial(dict, a=1, b=2), functools.partial(dict, b=2, a=1)),
    "order of a global dict": tuple(
        made(f"k = {k}\ndef f(x): return [v for a, v in k.items() if x > a][0]")
        for k in ({2: 1, 1: 0}, {1: 0, 2: 1})
    ),
    "attribute of a dict": (Items("m", a=1), Items("ft", a=1)),
    "order of fields": (np.zeros(2, [("a", "f8"), ("b", "f8")]), np.zeros(2, [("b", "f8"), ("a", "f8")])),
}


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_equal_content_has_one_digest(pair):
    assert canonical_digest(pair[0]) == canonical_digest(pair[1])


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_other_content_has_another_digest(pair):
    assert canonical_digest(pair[0]) != canonical_digest(pair[1])


def test_an_object_that_looks_like_a_frame_is_read_whole():
    first, second = (types.SimpleNamespace(columns=[], shape=(3, 0), value=value) for value in (1, 2))
    assert unlike(first, second)


def test_a_cycle_has_a_digest_and_its_content_counts():
    def ring(value):
        items = [value]
        items.append(items)
        return items

    assert canonical_digest(ring(1)) == canonical_digest(ring(1))
    assert canonical_digest(ring(1)) != canonical_digest(ring(2))


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


def test_a_class_keeps_its_digest_when_an_object_of_it_was_pickled():
    fresh = made("class f:\n def transform(self, X): return X")
    before = canonical_digest(fresh)
    fresh().__reduce_ex__(4)
    assert "__slotnames__" in vars(fresh)
    assert canonical_digest(fresh) == before


@pytest.mark.parametrize(
    "make",
    [
        threading.Lock,
        lambda: (number for number in range(3)),
        lambda: sys.__stdin__,
        lambda: [1, {"deep": threading.RLock()}],
        lambda: closure(threading.Lock(), 1),
        lambda: np.array([threading.Lock()], dtype=object),
        lambda: FunctionTransformer(made("def f(X): return X, lock", lock=threading.Lock())),
    ],
    ids=["lock", "generator", "file", "deep inside", "closure", "object array", "global of a function"],
)
def test_what_cannot_be_read_has_no_digest(make):
    with pytest.raises(Undigestible):
        canonical_digest(make())


def test_an_object_whose_reduction_fails_has_no_digest():
    class Unwilling:
        def __reduce_ex__(self, protocol):
            raise ZeroDivisionError

    with pytest.raises(Undigestible):
        canonical_digest(Unwilling())
