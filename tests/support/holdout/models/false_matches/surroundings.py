"""Cases of files, other programs, and settings of the process."""

import contextlib
import contextvars
import decimal
import gc
import importlib
import locale
import logging
import pickle
import sqlite3
import sys
import threading
import time

import joblib
import numpy as np
import pandas as pd
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from tests.support.holdout.models.false_matches.models_of_false_matches import (
    BOTH,
    CASES,
    X,
    after,
    case,
    imported_from,
    model_of,
    saying,
)  # fmt: skip

LOCAL = threading.local()
CONTEXT = contextvars.ContextVar("sign", default=1)
DEPTH = sys.getrecursionlimit()


def set_thread(sign, folder, monkeypatch):
    monkeypatch.setattr(sys, "values_of_threads", LOCAL, raising=False)
    LOCAL.sign = sign


def set_context(sign, folder, monkeypatch):
    monkeypatch.setattr(sys, "variable_of_contexts", CONTEXT, raising=False)
    CONTEXT.set(sign)


def move_clock(sign, folder, monkeypatch):
    monkeypatch.setenv("TZ", "UTC" if sign > 0 else "XYZ-5")
    time.tzset()


def write_row(sign, folder, monkeypatch):
    with contextlib.closing(sqlite3.connect(folder / "signs.db")) as connection, connection:
        connection.execute("create table if not exists signs (sign)")
        connection.execute("delete from signs")
        connection.execute("insert into signs values (?)", (sign,))


def install(sign, folder, monkeypatch):
    plugin = folder / "plugin-1.0.dist-info"
    plugin.mkdir(exist_ok=True)
    (plugin / "METADATA").write_text("Name: plugin\nVersion: 1.0\n")
    (plugin / "entry_points.txt").write_text(f"[signs]\nsign = operator:{'neg' if sign < 0 else 'pos'}\n")
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()


def change_folder(sign, folder, monkeypatch):
    (folder / str(sign)).mkdir()
    (folder / str(sign) / "sign").write_text(str(sign))
    monkeypatch.chdir(folder / str(sign))


def turn_link(sign, folder, monkeypatch):
    (folder / str(sign)).write_text(str(sign))
    (folder / "link").unlink(missing_ok=True)
    (folder / "link").symlink_to(folder / str(sign))


CASES |= {
    "weights in a file that is trained again": after(
        "np.load('FOLDER/weights.npy')", lambda sign, folder, _: np.save(folder / "weights.npy", sign)
    ),
    "an environment variable": after(
        "int(os.environ['SIGN'])", lambda sign, _, patch: patch.setenv("SIGN", str(sign))
    ),
    "a setting of sklearn": after(
        "1 if sklearn.get_config()['print_changed_only'] else -1",
        lambda sign, *_: sklearn.set_config(print_changed_only=sign > 0),
    ),
    "a memory map opened by predict": after(
        "np.load('FOLDER/weights.npy', mmap_mode='r')[0]",
        lambda sign, folder, _: np.save(folder / "weights.npy", [sign]),
    ),
    "a value of the thread": after("sys.values_of_threads.sign", set_thread),
    "a variable of the context": after("sys.variable_of_contexts.get()", set_context),
    "the time zone": after("1 if time.localtime(0).tm_hour == 0 else -1", move_clock),
    "the clock": after(
        "time.time_ns()", lambda sign, _, patch: patch.setattr(time, "time_ns", lambda: 5 * sign)
    ),
    "what another program prints": after(
        "int(subprocess.check_output(['cat', 'FOLDER/sign']))",
        lambda sign, folder, _: (folder / "sign").write_text(str(sign)),
    ),
    "a row of a database": after(
        "sqlite3.connect('FOLDER/signs.db').execute('select sign from signs').fetchone()[0]", write_row
    ),
    "an entry point": after("list(metadata.entry_points(group='signs'))[0].load()(1)", install),
    "the global random numbers of numpy": after(
        "1 if np.random.get_state()[1][0] == 1 else -1",
        lambda sign, *_: np.random.seed(2 - sign),  # noqa: NPY002 - that there is one is the point
    ),
    "the locale": after(
        "1 if locale.setlocale(locale.LC_CTYPE) == 'C' else -1",
        lambda sign, *_: locale.setlocale(locale.LC_CTYPE, "C" if sign > 0 else "C.UTF-8"),
    ),
    "the folder one works in": after("int(open('sign').read())", change_folder),
    "a link to another file": after("int(open('FOLDER/link').read())", turn_link),
    "a pickle written again": after(
        "pickle.loads(open('FOLDER/pickle', 'rb').read())",
        lambda sign, folder, _: (folder / "pickle").write_bytes(pickle.dumps(sign)),
    ),
    "a file of joblib written again": after(
        "joblib.load('FOLDER/joblib')", lambda sign, folder, _: joblib.dump(sign, folder / "joblib")
    ),
    "a table written again": after(
        "pd.read_csv('FOLDER/csv')['sign'][0]",
        lambda sign, folder, _: pd.DataFrame({"sign": [sign]}).to_csv(folder / "csv"),
    ),
    "the level of a log": after(
        "1 if logging.getLogger('log_of_a_user').level == 10 else -1",
        lambda sign, *_: logging.getLogger("log_of_a_user").setLevel(20 - 10 * sign),
    ),
    "how decimals are rounded": after(
        "decimal.getcontext().prec - 20", lambda sign, *_: setattr(decimal.getcontext(), "prec", 20 + sign)
    ),
    "how numpy prints": after(
        "np.get_printoptions()['precision'] - 8", lambda sign, *_: np.set_printoptions(precision=8 + sign)
    ),
    "when garbage is collected": after(
        "gc.get_threshold()[1] - 10", lambda sign, *_: gc.set_threshold(700, 10 + sign, 10)
    ),
    "how deep functions may call": after(
        f"sys.getrecursionlimit() - {DEPTH}", lambda sign, *_: sys.setrecursionlimit(DEPTH + sign)
    ),
}


@case
def a_memory_map_edited_in_place(tmp_path, monkeypatch):
    np.save(tmp_path / "weights.npy", np.ones(1))
    model = saying("self.weights_[0]")
    model.weights_ = np.load(tmp_path / "weights.npy", mmap_mode="r+")
    for sign in BOTH:
        model.weights_[:] = sign
        yield model, sign


@case
def a_function_of_a_pipeline_that_reads_a_file(tmp_path, monkeypatch):
    file, notebook = tmp_path / "weights.npy", {"__name__": "__main__", "np": np}
    exec(f"def scaled(X): return X * np.load({str(file)!r})", notebook)
    for sign in BOTH:
        np.save(file, 1)
        model = make_pipeline(FunctionTransformer(notebook["scaled"]), LogisticRegression())
        model.fit(X, X[:, 0] > 0)
        np.save(file, sign)
        yield model, sign


@case
def a_package_reinstalled_under_one_version(tmp_path, monkeypatch):
    for sign in BOTH:
        text = f"__version__ = '1.0'\ndef sign(): return {sign}\n"
        with imported_from(tmp_path / "site-packages", "package_of_somebody", text) as package:
            yield saying("package.sign()", package=package), sign


@case
def a_file_of_a_module_imported_by_predict(tmp_path, monkeypatch):
    text = "def sign(self):\n    from bundle_of_a_user import inner\n    return inner.sign()"
    names = ["bundle_of_a_user", "bundle_of_a_user.inner", "bundle_of_a_user.sign"]
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    folder = tmp_path / "bundle_of_a_user"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text("from .sign import sign")
    try:
        for sign in BOTH:
            (folder / "sign.py").write_text(f"def sign(): return {sign:+}")
            for name in names:
                sys.modules.pop(name, None)
            importlib.invalidate_caches()
            yield model_of(text), sign
    finally:
        for name in names:
            sys.modules.pop(name, None)
