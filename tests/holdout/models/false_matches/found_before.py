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

from tests.holdout.models.false_matches.models import (
    BOTH,
    X,
    case,
    imported_from,
    made_after,
    model_of,
    saying,
)


@case
def a_package_reinstalled_under_one_version(tmp_path, monkeypatch):
    for sign in BOTH:
        text = f"__version__ = '1.0'\ndef sign(): return {sign}\n"
        with imported_from(tmp_path / "site-packages", "package_of_somebody", text) as package:
            yield saying("package.sign()", package=package)[0], sign


@case
def a_name_in_an_expression_of_pandas(tmp_path, monkeypatch):
    for sign in BOTH:
        yield saying("frame({'a': [1]}).eval('a * @factor')[0]", frame=pd.DataFrame, factor=sign)[0], sign


@case
def a_name_in_a_query_of_pandas(tmp_path, monkeypatch):
    for sign in BOTH:
        text = "1 - 2 * len(frame({'a': [0]}).query('a > @cut'))"
        yield saying(text, frame=pd.DataFrame, cut=sign - 0.5)[0], sign


@case
def weights_in_a_file_that_is_trained_again(tmp_path, monkeypatch):
    file = tmp_path / "weights.npy"
    yield from made_after(lambda sign: np.save(file, sign), f"np.load({str(file)!r})", np=np)


@case
def a_name_looked_up_in_globals(tmp_path, monkeypatch):
    for sign in BOTH:
        yield saying("globals()['factor']", factor=sign)[0], sign


@case
def a_name_in_eval(tmp_path, monkeypatch):
    for sign in BOTH:
        yield saying("eval('factor')", factor=sign)[0], sign


@case
def a_name_in_exec(tmp_path, monkeypatch):
    for sign in BOTH:
        yield (
            model_of(
                "def sign(self):\n    d = {}\n    exec('s = f', globals(), d)\n    return d['s']", f=sign
            )[0],
            sign,
        )


@case
def a_module_imported_by_a_text(tmp_path, monkeypatch):
    for sign in BOTH:
        module = types.ModuleType("settings_of_a_user")
        module.sign = sign
        monkeypatch.setitem(sys.modules, module.__name__, module)
        yield saying("importlib.import_module('settings_of_a_user').sign", importlib=importlib)[0], sign


@case
def an_environment_variable(tmp_path, monkeypatch):
    yield from made_after(
        lambda sign: monkeypatch.setenv("SIGN", str(sign)), "int(os.environ['SIGN'])", os=os
    )


@case
def a_setting_of_sklearn(tmp_path, monkeypatch):
    expression = "1 if sklearn.get_config()['print_changed_only'] else -1"
    with sklearn.config_context():
        yield from made_after(
            lambda sign: sklearn.set_config(print_changed_only=sign > 0), expression, sklearn=sklearn
        )


@case
def a_patched_method_of_sklearn(tmp_path, monkeypatch):
    original = LogisticRegression.predict
    yield LogisticRegression().fit(X, X[:, 0] > 0), 1
    monkeypatch.setattr(LogisticRegression, "predict", lambda self, X: ~original(self, X))
    yield LogisticRegression().fit(X, X[:, 0] > 0), -1


@case
def a_subclass_of_partial(tmp_path, monkeypatch):
    class Negated(functools.partial):
        def __call__(self, *args):
            return -super().__call__(*args)

    for kind, sign in ((functools.partial, 1), (Negated, -1)):
        model = saying("self.function_(1)")[0]
        model.function_ = kind(int)
        yield model, sign


@case
def a_subclass_of_property(tmp_path, monkeypatch):
    class Negated(property):
        def __get__(self, obj, owner=None):
            return -super().__get__(obj, owner)

    for kind, sign in ((property, 1), (Negated, -1)):
        yield (
            model_of("factor = kind(lambda self: 1)\ndef sign(self): return self.factor", kind=kind)[0],
            sign,
        )


@case
def an_annotation_of_a_class(tmp_path, monkeypatch):
    for sign in BOTH:
        yield model_of(f"a: {sign}\ndef sign(self): return type(self).__annotations__['a']")[0], sign


@case
def a_state_that_pickle_is_not_told(tmp_path, monkeypatch):
    for sign in BOTH:
        model = model_of(
            "def __getstate__(self): return {'classes_': self.classes_}\n"
            "def __deepcopy__(self, memo): return self\n"
            "def sign(self): return self.sign_"
        )[0]
        model.sign_ = sign
        yield model, sign


@case
def a_sparse_matrix_and_a_sparse_array(tmp_path, monkeypatch):
    for kind, sign in ((sparse.csr_array, 1), (sparse.csr_matrix, -1)):
        model = saying("(self.factor_ * self.factor_).toarray()[0, 0]")[0]
        model.factor_ = kind(np.array([[1.0, 2.0], [-1.0, 0.0]]))  # the square of the first is that of 1
        yield model, sign


@case
def functions_of_one_name_in_numpy_and_scipy(tmp_path, monkeypatch):
    for function, sign in ((np.log1p, 1), (scipy.special.log1p, -1)):
        model = saying("1 if 'O->O' in self.function_.types else -1")[0]
        model.function_ = function
        yield model, sign
