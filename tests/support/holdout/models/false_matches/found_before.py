"""Cases that readers of the first version found."""

import functools
import importlib
import os
import sys
import types

import numpy as np
import pandas as pd
import scipy.special
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from tests.support.holdout.models.false_matches.models_of_false_matches import (
    BOTH,
    CASES,
    X,
    after,
    by,
    case,
    having,
    imported_from,
    model_of,
    saying,
)  # fmt: skip


class NegatedPartial(functools.partial):
    """Says the opposite of a partial."""

    def __call__(self, *args):
        return -super().__call__(*args)


class NegatedProperty(property):
    """Says the opposite of a property."""

    def __get__(self, obj, owner=None):
        return -super().__get__(obj, owner)


def untold(sign):
    model = model_of(
        "def __getstate__(self): return {'classes_': self.classes_}\n"
        "def __deepcopy__(self, memo): return self\n"
        "def sign(self): return self.sign_"
    )[0]
    model.sign_ = sign
    return model


EXEC = "def sign(self):\n    d = {}\n    exec('s = f', globals(), d)\n    return d['s']"
PROPERTY = "factor = kind(lambda self: 1)\ndef sign(self): return self.factor"
CASES |= {
    "a name in an expression of pandas": by(
        lambda sign: saying("frame({'a': [1]}).eval('a * @factor')[0]", frame=pd.DataFrame, factor=sign)[0]
    ),
    "a name in a query of pandas": by(
        lambda sign: saying(
            "1 - 2 * len(frame({'a': [0]}).query('a > @cut'))", frame=pd.DataFrame, cut=sign - 0.5
        )[0]
    ),
    "weights in a file that is trained again": after(
        "np.load('FOLDER/weights.npy')", lambda sign, folder, _: np.save(folder / "weights.npy", sign), np=np
    ),
    "a name looked up in globals": by(lambda sign: saying("globals()['factor']", factor=sign)[0]),
    "a name in eval": by(lambda sign: saying("eval('factor')", factor=sign)[0]),
    "a name in exec": by(lambda sign: model_of(EXEC, f=sign)[0]),
    "an environment variable": after(
        "int(os.environ['SIGN'])", lambda sign, _, patch: patch.setenv("SIGN", str(sign)), os=os
    ),
    "a setting of sklearn": after(
        "1 if sklearn.get_config()['print_changed_only'] else -1",
        lambda sign, *_: sklearn.set_config(print_changed_only=sign > 0),
        sklearn=sklearn,
    ),
    "a subclass of partial": having(
        "self.function_(1)", function_=lambda sign: (functools.partial if sign > 0 else NegatedPartial)(int)
    ),
    "a subclass of property": by(
        lambda sign: model_of(PROPERTY, kind=property if sign > 0 else NegatedProperty)[0]
    ),
    "an annotation of a class": by(
        lambda sign: model_of(f"a: {sign}\ndef sign(self): return type(self).__annotations__['a']")[0]
    ),
    "a state that pickle is not told": by(untold),
    "a sparse matrix and a sparse array": having(  # the square of the first is that of 1
        "(self.factor_ * self.factor_).toarray()[0, 0]",
        factor_=lambda sign: (sparse.csr_array if sign > 0 else sparse.csr_matrix)([[1.0, 2.0], [-1.0, 0.0]]),
    ),
    "functions of one name in numpy and scipy": having(
        "1 if 'O->O' in self.function_.types else -1",
        function_=lambda sign: np.log1p if sign > 0 else scipy.special.log1p,
    ),
}  # fmt: skip


@case
def a_package_reinstalled_under_one_version(tmp_path, monkeypatch):
    for sign in BOTH:
        text = f"__version__ = '1.0'\ndef sign(): return {sign}\n"
        with imported_from(tmp_path / "site-packages", "package_of_somebody", text) as package:
            yield saying("package.sign()", package=package)[0], sign


@case
def a_module_imported_by_a_text(tmp_path, monkeypatch):
    for sign in BOTH:
        module = types.ModuleType("settings_of_a_user")
        module.sign = sign
        monkeypatch.setitem(sys.modules, module.__name__, module)
        yield saying("importlib.import_module('settings_of_a_user').sign", importlib=importlib)[0], sign


@case
def a_patched_method_of_sklearn(tmp_path, monkeypatch):
    original = LogisticRegression.predict
    yield LogisticRegression().fit(X, X[:, 0] > 0), 1
    monkeypatch.setattr(LogisticRegression, "predict", lambda self, X: ~original(self, X))
    yield LogisticRegression().fit(X, X[:, 0] > 0), -1
