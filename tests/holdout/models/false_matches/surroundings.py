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
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from tests.holdout.models.false_matches.models import BOTH, X, case, made_after, saying


@case
def a_memory_map_edited_in_place(tmp_path, monkeypatch):
    np.save(tmp_path / "weights.npy", np.ones(1))
    model = saying("self.weights_[0]")[0]
    model.weights_ = np.load(tmp_path / "weights.npy", mmap_mode="r+")
    for sign in BOTH:
        model.weights_[:] = sign
        yield model, sign


@case
def a_memory_map_opened_by_predict(tmp_path, monkeypatch):
    file = tmp_path / "weights.npy"
    text = f"np.load({str(file)!r}, mmap_mode='r')[0]"
    yield from made_after(lambda sign: np.save(file, [sign]), text, np=np)


LOCAL = threading.local()


@case
def a_value_of_the_thread(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "values_of_threads", LOCAL, raising=False)
    yield from made_after(lambda sign: setattr(LOCAL, "sign", sign), "sys.values_of_threads.sign", sys=sys)


CONTEXT = contextvars.ContextVar("sign", default=1)


@case
def a_variable_of_the_context(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "variable_of_contexts", CONTEXT, raising=False)
    token = CONTEXT.set(1)
    yield from made_after(lambda sign: CONTEXT.set(sign), "sys.variable_of_contexts.get()", sys=sys)
    with contextlib.suppress(ValueError):
        CONTEXT.reset(token)


@case
def the_time_zone(tmp_path, monkeypatch):
    def move(sign):
        monkeypatch.setenv("TZ", "UTC" if sign > 0 else "XYZ-5")
        time.tzset()

    yield from made_after(move, "1 if time.localtime(0).tm_hour == 0 else -1", time=time)
    monkeypatch.undo()
    time.tzset()


@case
def the_clock(tmp_path, monkeypatch):
    yield from made_after(
        lambda sign: monkeypatch.setattr(time, "time_ns", lambda: 5 * sign), "time.time_ns()", time=time
    )


@case
def what_another_program_prints(tmp_path, monkeypatch):
    file = tmp_path / "sign"
    text = f"int(subprocess.check_output(['cat', {str(file)!r}]))"
    yield from made_after(lambda sign: file.write_text(str(sign)), text, subprocess=subprocess)


@case
def a_row_of_a_database(tmp_path, monkeypatch):
    file = str(tmp_path / "signs.db")

    def write(sign):
        with contextlib.closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("create table if not exists signs (sign)")
            connection.execute("delete from signs")
            connection.execute("insert into signs values (?)", (sign,))

    text = f"sqlite3.connect({file!r}).execute('select sign from signs').fetchone()[0]"
    yield from made_after(write, text, sqlite3=sqlite3)


@case
def an_entry_point(tmp_path, monkeypatch):
    folder = tmp_path / "plugins"
    (folder / "plugin-1.0.dist-info").mkdir(parents=True)
    (folder / "plugin-1.0.dist-info" / "METADATA").write_text("Name: plugin\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(folder))

    def install(sign):
        name = "neg" if sign < 0 else "pos"
        (folder / "plugin-1.0.dist-info" / "entry_points.txt").write_text(
            f"[signs]\nsign = operator:{name}\n"
        )
        importlib.invalidate_caches()

    text = "list(metadata.entry_points(group='signs'))[0].load()(1)"
    yield from made_after(install, text, metadata=importlib.metadata)


@case
def the_global_random_numbers_of_numpy(tmp_path, monkeypatch):
    state = np.random.get_state()  # noqa: NPY002 - that there is one is the point
    text = "1 if np.random.get_state()[1][0] == 1 else -1"
    yield from made_after(lambda sign: np.random.seed(2 - sign), text, np=np)  # noqa: NPY002
    np.random.set_state(state)  # noqa: NPY002


@case
def the_locale(tmp_path, monkeypatch):
    before = locale.setlocale(locale.LC_CTYPE)
    text = "1 if locale.setlocale(locale.LC_CTYPE) == 'C' else -1"
    names = {1: "C", -1: "C.UTF-8"}
    yield from made_after(lambda sign: locale.setlocale(locale.LC_CTYPE, names[sign]), text, locale=locale)
    locale.setlocale(locale.LC_CTYPE, before)


@case
def the_folder_one_works_in(tmp_path, monkeypatch):
    for sign in BOTH:
        (tmp_path / str(sign)).mkdir()
        (tmp_path / str(sign) / "sign").write_text(str(sign))
        monkeypatch.chdir(tmp_path / str(sign))
        yield saying("int(open('sign').read())")[0], sign


@case
def a_link_to_another_file(tmp_path, monkeypatch):
    def turn(sign):
        (tmp_path / str(sign)).write_text(str(sign))
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(tmp_path / str(sign))

    yield from made_after(turn, f"int(open({str(tmp_path / 'link')!r}).read())")


@case
def a_pickle_written_again(tmp_path, monkeypatch):
    file = tmp_path / "model.pickle"
    text = f"pickle.loads(open({str(file)!r}, 'rb').read())"
    yield from made_after(lambda sign: file.write_bytes(pickle.dumps(sign)), text, pickle=pickle)


@case
def a_file_of_joblib_written_again(tmp_path, monkeypatch):
    file = str(tmp_path / "model.joblib")
    text = f"joblib.load({file!r})"
    yield from made_after(lambda sign: joblib.dump(sign, file), text, joblib=joblib)


@case
def a_table_written_again(tmp_path, monkeypatch):
    file = str(tmp_path / "signs.csv")
    text = f"pd.read_csv({file!r})['sign'][0]"
    yield from made_after(lambda sign: pd.DataFrame({"sign": [sign]}).to_csv(file), text, pd=pd)


@case
def the_level_of_a_log(tmp_path, monkeypatch):
    logger = logging.getLogger("log_of_a_user")
    text = "1 if logging.getLogger('log_of_a_user').level == 10 else -1"
    yield from made_after(lambda sign: logger.setLevel(20 - 10 * sign), text, logging=logging)


@case
def how_decimals_are_rounded(tmp_path, monkeypatch):
    with decimal.localcontext() as context:
        yield from made_after(
            lambda sign: setattr(context, "prec", 20 + sign),
            "decimal.getcontext().prec - 20",
            decimal=decimal,
        )


@case
def how_numpy_prints(tmp_path, monkeypatch):
    with np.printoptions():
        yield from made_after(
            lambda sign: np.set_printoptions(precision=8 + sign),
            "np.get_printoptions()['precision'] - 8",
            np=np,
        )


@case
def when_garbage_is_collected(tmp_path, monkeypatch):
    before = gc.get_threshold()
    yield from made_after(
        lambda sign: gc.set_threshold(700, 10 + sign, 10), "gc.get_threshold()[1] - 10", gc=gc
    )
    gc.set_threshold(*before)


@case
def how_deep_functions_may_call(tmp_path, monkeypatch):
    depth = sys.getrecursionlimit()
    text = f"sys.getrecursionlimit() - {depth}"
    yield from made_after(lambda sign: sys.setrecursionlimit(depth + sign), text, sys=sys)
    sys.setrecursionlimit(depth)


@case
def a_function_of_a_pipeline_that_reads_a_file(tmp_path, monkeypatch):
    file = tmp_path / "weights.npy"
    notebook = {"__name__": "__main__", "np": np}
    exec(f"def scaled(X): return X * np.load({str(file)!r})", notebook)
    for sign in BOTH:
        np.save(file, 1)
        model = make_pipeline(FunctionTransformer(notebook["scaled"]), LogisticRegression())
        model.fit(X, X[:, 0] > 0)
        np.save(file, sign)
        yield model, sign
