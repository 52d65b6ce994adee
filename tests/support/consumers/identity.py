"""What happens to a holdout when something is done to the data: ``python -m
tests.support.consumers.identity``.

Writes the table of the documentation.
"""

import csv
import os
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from sklearn_ada import ReusableHoldoutCV, _notices
from sklearn_ada import _notices as _session_token
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger

TABLE = Path(__file__).parents[3] / "docs" / "identity.csv"
N, MORE = 240, 30
WORDS = {
    "goes on", "asks again", "tops up", "refuses", "cannot be told: refuses", "cannot be told: other data",
    "own ledger (fold)", "own ledger, with a warning",
}  # fmt: skip


def data():
    """Return a frame with a column of ids and one of groups, labels, and more rows of the same kind."""
    rng = np.random.default_rng(5)
    n = N + MORE
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    frame["b"] = rng.integers(0, 3, n)
    y = pd.Series((frame["a"] + rng.normal(size=n) > 0).astype(int))
    frame["row"] = np.arange(n) + 7_000
    frame["group"] = np.r_[np.arange(N) // 3, N + np.arange(MORE)]
    return frame[:N], y[:N], frame, y


def _with(**columns):
    return lambda X, y, all_X, all_y: (X.assign(**{k: of(X) for k, of in columns.items()}), y)


def _shuffled(X, y, all_X, all_y):
    order = np.random.default_rng(1).permutation(N)
    return X.iloc[order], y.iloc[order]


def _relabelled(X, y, all_X, all_y):
    return X, y.where(np.arange(N) % 8 != 0, 1 - y)


CHANGES = {
    "column added": _with(d=lambda X: X["a"] ** 2),
    "column dropped": lambda X, y, *_: (X.drop(columns="c"), y),
    "columns reordered": lambda X, y, *_: (X[["c", "group", "row", "b", "a"]], y),
    "column scaled": _with(a=lambda X: 100.0 * X["a"]),
    "dtype changed": _with(a=lambda X: X["a"].astype(np.float32)),
    "categories": _with(b=lambda X: X["b"].astype("category")),
    "index reset": lambda X, y, *_: (X.set_axis(np.arange(N)[::-1]), y.set_axis(np.arange(N)[::-1])),
    "frame to array": lambda X, y, *_: (X, y),  # `arguments` makes an array
    "rows shuffled": _shuffled,
    "rows dropped": lambda X, y, *_: (X[X["group"] % 6 != 0], y[X["group"] % 6 != 0]),
    "rows appended": lambda X, y, all_X, all_y: (all_X, all_y),
    "rows relabelled": _relabelled,
}
KINDS = ("without ids", "with ids", "with ids and groups", "with ids, in cross_validate")
PLACES = ("path", "None")


def arguments(X, y, kind, as_array):
    """Return what fit takes: features, labels and keywords."""
    features = X.drop(columns=["row", "group"])
    params = {}
    if kind != "without ids":
        params["ids"] = X["row"].to_numpy()
    if "groups" in kind:
        params["groups"] = X["group"].to_numpy()
    return (features.to_numpy(dtype=float) if as_array else features), y, params


def fitted(kind, ledger, X, y, params):
    """Return the searches that were fitted: one, or one for each outer fold."""
    inner = GridSearchCV(LogisticRegression(), {"C": [0.1]}, cv=3)
    search = ReusableHoldoutCV(inner, ask="winner", ledger=ledger)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="An answer|The interval|The groups|.* have other labels")
        if "cross_validate" not in kind:
            return [search.fit(X, y, **params)]
        told = cross_validate(
            search, X, y, cv=KFold(3), params=params, return_estimator=True, error_score="raise"
        )
        return told["estimator"]


def changes_in(path):
    """Return the nats of a ledger, and the kinds of changes of rows that it has recorded."""
    bodies = [record.body for record in open_existing_ledger(path, State).records()]
    return sum(body.get("price", 0.0) for body in bodies), [b["change"] for b in bodies if "change" in b]


def told_of(error):
    """Return the word for a refusal."""
    return "cannot be told: refuses" if "cannot be told" in str(error) else "refuses"


def outcome(change, kind, place, folder):
    """Return in one of the words what happens, after checking that no budget was refilled."""
    X, y, all_X, all_y = data()
    name = os.path.join(folder, f"sklearn_ada_{os.getpid()}_{0:016x}")
    ledger = os.path.join(folder, "ledger.db") if place == "path" else None
    with (
        mock.patch.object(_session_token, "_folder", name),
        mock.patch.dict(os.environ, {_session_token.VARIABLE: name}),
    ):
        try:
            first = fitted(kind, ledger, *arguments(X, y, kind, as_array=False))
        except LedgerMismatchError as error:
            return told_of(error)
        paths = [search.holdout_.ledger.path for search in first]
        before = {path: changes_in(path) for path in paths}
        changed = CHANGES[change](X, y, all_X, all_y)
        try:
            with warnings.catch_warnings(record=True) as warned, mock.patch.object(_notices, "_given", set()):
                warnings.simplefilter("always")
                again = fitted(kind, ledger, *arguments(*changed, kind, change == "frame to array"))
        except LedgerMismatchError as error:
            assert {path: changes_in(path) for path in paths} == before
            return told_of(error)
        after = {search.holdout_.ledger.path: changes_in(search.holdout_.ledger.path) for search in again}
    if set(after) - set(before):
        if "cross_validate" in kind:
            return "own ledger (fold)"
        if kind == "without ids":
            return "cannot be told: other data"
        told = any("second budget for one holdout" in str(each.message) for each in warned)
        return "own ledger, with a warning" if told else "a fresh budget"
    for path in after:
        assert after[path][0] >= before[path][0] > 0.0
    new = {change for path in after for change in after[path][1][len(before[path][1]) :]}
    return {(): "goes on", ("added",): "tops up", ("relabelled",): "asks again"}[tuple(sorted(new))]


def table():
    """Return all rows of the table."""
    rows = []
    for change in CHANGES:
        row = {"": change}
        for kind in KINDS:
            for place in PLACES:
                with tempfile.TemporaryDirectory() as folder:
                    row[f"{kind}, {place}"] = outcome(change, kind, place, folder)
        rows.append(row)
    return rows


if __name__ == "__main__":
    rows = table()
    with TABLE.open("w") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
