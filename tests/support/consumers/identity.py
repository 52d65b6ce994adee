"""What happens to a holdout when something is done to the data.

``python -m tests.support.consumers.identity`` writes the table of the documentation.
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
from sklearn.model_selection import KFold, cross_validate

from sklearn_ada import ReusableHoldoutCV, _notices
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger
from tests.support.searches import grid

TABLE = Path(__file__).parents[3] / "docs" / "identity.csv"
N, MORE = 240, 30
KINDS = ("without ids", "with ids", "with ids and groups", "with ids, in cross_validate")
PLACES = ("path", "None")
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
    return lambda X, y, *_: (X.assign(**{name: of(X) for name, of in columns.items()}), y)


def _shuffled(X, y, *_):
    order = np.random.default_rng(1).permutation(N)
    return X.iloc[order], y.iloc[order]


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
    "rows relabelled": lambda X, y, *_: (X, y.where(np.arange(N) % 8 != 0, 1 - y)),
}


def arguments(X, y, kind, as_array=False):
    """Return what fit takes: features, labels and keywords."""
    features = X.drop(columns=["row", "group"])
    params = {} if kind == "without ids" else {"ids": X["row"].to_numpy()}
    if "groups" in kind:
        params["groups"] = X["group"].to_numpy()
    return (features.to_numpy(dtype=float) if as_array else features), y, params


def fitted(kind, ledger, X, y, params):
    """Return the searches that were fitted: one, or one for each outer fold."""
    search = ReusableHoldoutCV(grid(LogisticRegression(), [0.1], cv=3), ledger=ledger)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="An answer|The interval|The groups|.* have other labels")
        if "cross_validate" not in kind:
            return [search.fit(X, y, **params)]
        how = {"cv": KFold(3), "params": params, "return_estimator": True, "error_score": "raise"}
        return cross_validate(search, X, y, **how)["estimator"]


def changes_in(path):
    """Return the nats of a ledger, and the kinds of changes of rows that it has recorded.

    What it costs to compare labels is left out.
    """
    records = open_existing_ledger(path, State).records()
    bodies = [record.body for record in records if record.body.get("kind") != "labels"]
    return sum(body.get("price", 0.0) for body in bodies), [b["change"] for b in bodies if "change" in b]


def word_of(error):
    """Return the word for a refusal."""
    return "cannot be told: refuses" if "cannot be told" in str(error) else "refuses"


def outcome(change, kind, place, folder):
    """Return in one of the words what happens, after checking that no budget was refilled."""
    X, y, all_X, all_y = data()
    session = os.path.join(folder, f"sklearn_ada_{os.getpid()}_{0:016x}")
    os.mkdir(session, mode=0o700)
    ledger = os.path.join(folder, "ledger.db") if place == "path" else None
    with (
        mock.patch.object(_notices, "_folder", session),
        mock.patch.dict(os.environ, {_notices.VARIABLE: session}),
    ):
        try:
            first = fitted(kind, ledger, *arguments(X, y, kind))
        except LedgerMismatchError as error:
            return word_of(error)
        before = {each.holdout_.ledger.path: changes_in(each.holdout_.ledger.path) for each in first}
        changed = CHANGES[change](X, y, all_X, all_y)
        try:
            with warnings.catch_warnings(record=True) as warned, mock.patch.object(_notices, "_given", set()):
                warnings.simplefilter("always")
                again = fitted(kind, ledger, *arguments(*changed, kind, change == "frame to array"))
        except LedgerMismatchError as error:
            assert {path: changes_in(path) for path in before} == before
            return word_of(error)
        after = {each.holdout_.ledger.path: changes_in(each.holdout_.ledger.path) for each in again}
    if set(after) - set(before):
        if "cross_validate" in kind:
            return "own ledger (fold)"
        if kind == "without ids":
            return "cannot be told: other data"
        is_warned = any("second budget for one holdout" in str(each.message) for each in warned)
        return "own ledger, with a warning" if is_warned else "a fresh budget"
    assert all(nats >= before[path][0] > 0.0 for path, (nats, _) in after.items())
    new = {change for path, (_, changes) in after.items() for change in changes[len(before[path][1]) :]}
    return {(): "goes on", ("added",): "tops up", ("relabelled",): "asks again"}[tuple(sorted(new))]


def row_of(change):
    """Return the row of the table about a change."""
    row = {"": change}
    for kind in KINDS:
        for place in PLACES:
            with tempfile.TemporaryDirectory() as folder:
                row[f"{kind}, {place}"] = outcome(change, kind, place, folder)
    return row


if __name__ == "__main__":
    rows = [row_of(change) for change in CHANGES]
    with TABLE.open("w") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
