"""Cases of objects, code and memory of this process."""

import abc
import builtins
import ctypes
import functools
import importlib
import itertools
import os
import sys
import types
import weakref

import numpy as np
import pandas as pd
import scipy.special
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from tests.support.holdout.models.false_matches.models_of_false_matches import (
    BOTH,
    CASES,
    Signed,
    X,
    after,
    by,
    case,
    changed,
    having,
    imported_from,
    model_of,
    saying,
)  # fmt: skip

NUMBER, LIST, POINTER = ctypes.c_int(1), [1], ctypes.c_void_p(0)
KIND = ctypes.CFUNCTYPE(ctypes.c_int)
FUNCTIONS = {sign: KIND(lambda sign=sign: sign) for sign in BOTH}


class NegatedPartial(functools.partial):
    """Says the opposite of a partial."""

    def __call__(self, *args):
        return -super().__call__(*args)


class NegatedProperty(property):
    """Says the opposite of a property."""

    def __get__(self, obj, owner=None):
        return -super().__get__(obj, owner)


class Held:
    """Something that a weak reference can refer to."""

    sign = 1


def turn_pointer(sign, *_):
    POINTER.value = ctypes.cast(FUNCTIONS[sign], ctypes.c_void_p).value


def set_environment(sign, folder, monkeypatch):
    module = types.ModuleType("settings_of_a_user")
    module.__getattr__ = lambda name: int(os.environ["SIGN"])
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setenv("SIGN", str(sign))


def set_module(sign, folder, monkeypatch):
    module = types.ModuleType("settings_of_a_user")
    module.sign = sign
    monkeypatch.setitem(sys.modules, module.__name__, module)


def with_state(sign, body):
    model = model_of(f"{body}\ndef __deepcopy__(self, memo): return self\ndef sign(self): return self.sign_")
    model.sign_ = sign
    return model


def with_factor(sign):
    body = "@functools.cached_property\ndef factor(self): return 1\ndef sign(self): return self.factor"
    model = model_of(body, functools=functools)
    model.factor = sign
    return model


ELSEWHERE = "def __getattr__(self, name):\n    if name != 'factor': raise AttributeError(name)\n"
ELSEWHERE += "    return globals()['registry'][name]\ndef sign(self): return self.factor"
EXEC = "def sign(self):\n    d = {}\n    exec('s = f', globals(), d)\n    return d['s']"
PROPERTY = "factor = kind(lambda self: 1)\ndef sign(self): return self.factor"
ANNOTATION = "a: %s\ndef sign(self): return type(self).__annotations__['a']"
JOBS = "def __init__(self, n_jobs=1): self.n_jobs = n_jobs\ndef sign(self): return self.n_jobs"
CASES |= {
    "a patched function of numpy": after(
        "np.trapezoid([1, 1])", lambda sign, _, patch: patch.setattr(np, "trapezoid", lambda _: sign)
    ),
    "a patched function of scipy": after(
        "special.softmax([1])", lambda sign, _, patch: patch.setattr(scipy.special, "softmax", lambda _: sign)
    ),
    "a module with attributes computed when read": after(
        "__import__('settings_of_a_user').anything", set_environment
    ),
    "a module imported by a text": after("importlib.import_module('settings_of_a_user').sign", set_module),
    "a buffer of c": after(
        f"ctypes.c_int.from_address({ctypes.addressof(NUMBER)}).value",
        lambda sign, *_: setattr(NUMBER, "value", sign),
    ),
    "a function behind a pointer": after(
        f"ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.c_void_p.from_address({ctypes.addressof(POINTER)}).value)()",
        turn_pointer,
    ),
    "an object found by its id": after(
        f"ctypes.cast({id(LIST)}, ctypes.py_object).value[0]", lambda sign, *_: LIST.__setitem__(0, sign)
    ),
    "a name put into builtins": after(
        "sign_of_a_user",
        lambda sign, _, patch: patch.setattr(builtins, "sign_of_a_user", sign, raising=False),
    ),
    "attributes found elsewhere": by(lambda sign: model_of(ELSEWHERE, registry={"factor": sign})),
    "a pickle that lies": by(
        lambda sign: with_state(sign, "def __reduce_ex__(self, protocol): return (Signed, ())")
    ),
    "a state that pickle is not told": by(
        lambda sign: with_state(sign, "def __getstate__(self): return {'classes_': self.classes_}")
    ),
    "a generator of the notebook": by(
        lambda sign: saying("next(globals()['numbers'])", numbers=(sign for _ in itertools.count()))
    ),
    "a generator in the model": having("next(self.numbers_)", numbers_=itertools.repeat),
    "a name in an expression of pandas": by(
        lambda sign: saying("frame({'a': [1]}).eval('a * @factor')[0]", frame=pd.DataFrame, factor=sign)
    ),
    "a name in a query of pandas": by(
        lambda sign: saying("1 - 2 * len(f({'a': [0]}).query('a > @cut'))", f=pd.DataFrame, cut=sign / 2)
    ),
    "a name looked up in globals": by(lambda sign: saying("globals()['factor']", factor=sign)),
    "a name in eval": by(lambda sign: saying("eval('factor')", factor=sign)),
    "a name in exec": by(lambda sign: model_of(EXEC, f=sign)),
    "a subclass of partial": having(
        "self.function_(1)", function_=lambda sign: (functools.partial if sign > 0 else NegatedPartial)(int)
    ),
    "a subclass of property": by(
        lambda sign: model_of(PROPERTY, kind=property if sign > 0 else NegatedProperty)
    ),
    "an annotation of a class": by(lambda sign: model_of(ANNOTATION % sign)),
    "a sparse matrix and a sparse array": having(  # the square of the first is that of 1
        "(self.factor_ * self.factor_).toarray()[0, 0]",
        factor_=lambda sign: (sparse.csr_array if sign > 0 else sparse.csr_matrix)([[1.0, 2.0], [-1.0, 0.0]]),
    ),
    "functions of one name in numpy and scipy": having(
        "1 if 'O->O' in self.function_.types else -1",
        function_=lambda sign: np.log1p if sign > 0 else scipy.special.log1p,
    ),
    "a default argument changed in place": changed(
        lambda: model_of("def sign(self, held=[1]): return held[0]"),
        lambda model, sign: type(model).sign.__defaults__[0].__setitem__(0, sign),
    ),
    "an attribute of a class": changed(
        lambda: model_of("factor = 1\ndef sign(self): return self.factor"),
        lambda model, sign: setattr(type(model), "factor", sign),
    ),
    # what the digest leaves out on purpose, where it counts after all
    "a number of jobs that counts": by(lambda sign: model_of(JOBS).set_params(n_jobs=sign)),
    "a setting called verbose that counts": having(
        "self.kwargs['verbose']", kwargs=lambda sign: {"verbose": sign, "other": 1}
    ),
    "a cached property overwritten": by(with_factor),
    "a time of a search that counts": having(
        "self.cv_results_['mean_fit_time']", cv_results_=lambda sign: {"mean_fit_time": sign}
    ),
}


@case
def a_closure_over_a_list(tmp_path, monkeypatch):
    held = [1]
    model = saying("self.function_()")
    model.function_ = lambda: held[0]
    for sign in BOTH:
        held[0] = sign
        yield model, sign


@case
def a_patched_mixin_of_sklearn(tmp_path, monkeypatch):
    original = LinearClassifierMixin.decision_function
    for sign in BOTH:
        monkeypatch.setattr(
            LinearClassifierMixin, "decision_function", lambda self, X, sign=sign: sign * original(self, X)
        )
        yield LogisticRegression().fit(X, X[:, 0] > 0), sign


@case
def a_module_edited_and_reloaded(tmp_path, monkeypatch):
    with imported_from(tmp_path, "helpers_of_a_user", "def sign(): return 1") as helpers:
        text = "def sign(self):\n    import helpers_of_a_user as helpers\n    return helpers.sign()"
        for sign in BOTH:
            (tmp_path / "helpers_of_a_user.py").write_text(f"def sign(): return {sign:+}")
            importlib.reload(helpers)
            yield model_of(text), sign


@case
def a_module_changed_in_memory_after_it_was_imported(tmp_path, monkeypatch):
    text = "def sign(self):\n    import helpers_of_a_user as helpers\n    return helpers.factor"
    with imported_from(tmp_path, "helpers_of_a_user", "factor = 1") as helpers:
        for sign in BOTH:
            helpers.factor = sign
            yield model_of(text), sign


@case
def a_weak_reference(tmp_path, monkeypatch):
    held, model = Held(), saying("self.reference_().sign")
    model.reference_ = weakref.ref(held)
    for sign in BOTH:
        held.sign = sign
        yield model, sign


@case
def a_metaclass(tmp_path, monkeypatch):
    class Elsewhere(abc.ABCMeta):
        @property
        def factor(cls):
            return int(os.environ["SIGN"])

    for sign in BOTH:
        monkeypatch.setenv("SIGN", str(sign))
        yield Elsewhere("Model", (Signed,), {"sign": lambda self: type(self).factor})().fit(), sign


@case
def a_descriptor(tmp_path, monkeypatch):
    class Elsewhere:
        def __get__(self, obj, owner=None):
            return vars(sys)["sign_of_a_user"]

    for sign in BOTH:
        monkeypatch.setattr(sys, "sign_of_a_user", sign, raising=False)
        yield model_of("factor = held\ndef sign(self): return self.factor", held=Elsewhere()), sign


@case
def a_tree_edited_in_place(tmp_path, monkeypatch):
    model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, X[:, 0] > 0)
    yield model, 1
    model.tree_.value[:] = 1 - model.tree_.value
    yield model, -1


@case
def a_class_registered_later(tmp_path, monkeypatch):
    class Marker(abc.ABC):  # noqa: B024 - what is registered with it counts
        pass

    model = saying("-1 if isinstance(1, Marker) else 1", Marker=Marker)
    yield model, 1
    Marker.register(int)
    yield model, -1


@case
def a_function_registered_later(tmp_path, monkeypatch):
    @functools.singledispatch
    def sign(value):
        return 1

    model = saying("function(1)", function=sign)
    yield model, 1
    sign.register(int, lambda value: -1)
    yield model, -1


@case
def a_patched_method_of_sklearn(tmp_path, monkeypatch):
    original = LogisticRegression.predict
    yield LogisticRegression().fit(X, X[:, 0] > 0), 1
    monkeypatch.setattr(LogisticRegression, "predict", lambda self, X: ~original(self, X))
    yield LogisticRegression().fit(X, X[:, 0] > 0), -1
