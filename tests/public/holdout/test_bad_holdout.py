"""Bad rows, labels and policies are refused before a ledger is made."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sklearn_ada import Holdout
from sklearn_ada.exceptions import LedgerUnavailableError

X = np.arange(24.0).reshape(12, 2)
Y = np.tile([0, 1], 6)

BAD_ROWS = {
    "y is None": (X, None, "y"),
    "y is a table": (X, np.c_[Y, Y], "y"),
    "y is a column": (X, Y[:, None], "y"),
    "y is a number": (X, 3, "y"),
    "y is sparse": (X, sparse.csr_matrix(Y[:, None]), "y"),
    "y is too short": (X, Y[:-1], "y"),
    "y is too long": (X[:-1], Y, "y"),
    "y holds NaN": (X, np.r_[np.nan, Y[1:]], "y"),
    "y holds infinity": (X, np.r_[np.inf, Y[1:]], "y"),
    "y holds None": (X, np.array([None, *Y[1:]], dtype=object), "y"),
    "y is complex": (X, Y + 1j, "y"),
    "y holds a missing integer": (X, pd.Series([None, *Y[1:]], dtype="Int64"), "y"),
    "y holds pandas.NA": (X, pd.Series([None, *Y[1:].astype(str)], dtype="string"), "y"),
    "y holds NaT": (X, pd.to_datetime(pd.Series([None] + ["2020-01-01"] * 11)).astype(object), "y"),
    "infinity among objects": (X, np.array([np.inf, *Y[1:]], dtype=object), "y"),
    "X is None": (None, Y, "X"),
    "X is a number": (3, Y, "X"),
    "no rows": (X[:0], Y[:0], "X"),
    "an empty list": ([], [], "X"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_rows_are_refused_in_the_one_sentence(case, tmp_path, sentence):
    rows, labels, name = BAD_ROWS[case]
    with pytest.raises(ValueError, match=sentence(name, "Holdout")):
        Holdout(rows, labels, ledger=tmp_path / "ledger.db")
    assert not os.listdir(tmp_path)


BAD_POLICY = [
    *(("confidence_level", v) for v in (0.0, 1.0, -0.1, 95, np.nan, "0.95", True, None)),
    *(("tolerance", v) for v in (0.0, -0.1, 0.51, np.nan, np.inf, "0.1", True)),
    *(("expected_questions", v) for v in (0, -5, 10.0, "many", True)),
    *(("route", v) for v in ("privacy", "", None, 1)),
    *(("random_state", v) for v in (1.5, "seed", True, np.random.RandomState(0))),
    *(("ledger", v) for v in (5, True, ["ledger.db"])),
]


@pytest.mark.parametrize(("name", "value"), BAD_POLICY)
def test_bad_policy_is_refused_in_the_one_sentence(name, value, tmp_path, sentence):
    with pytest.raises(ValueError, match=sentence(name, "Holdout")):
        Holdout(X, Y, **{"ledger": tmp_path / "ledger.db", name: value})
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("expected_questions", np.int64(100)),
        ("tolerance", np.float32(0.25)),
        ("confidence_level", np.float32(0.75)),
        ("random_state", np.int64(3)),
    ],
)
def test_numpy_scalars_are_numbers_too(name, value, tmp_path):
    holdout = Holdout(X, Y, ledger=tmp_path / "ledger.db", **{name: value})
    Holdout(X, Y, ledger=tmp_path / "ledger.db", **{name: value.item()})  # the same genesis
    assert name == "random_state" or holdout.ledger.genesis[name] == value


@pytest.mark.parametrize(
    ("path", "message"),
    [("nowhere/ledger.db", "no ledger file 'ledger.db', nor its folder '.*/nowhere'"), (".", "is a folder")],
)
def test_a_path_where_no_ledger_can_be_is_refused(path, message, tmp_path):
    with pytest.raises(LedgerUnavailableError, match=message):
        Holdout(X, Y, ledger=tmp_path / path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user that permissions bind")
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(LedgerUnavailableError, match="cannot be used"):
        Holdout(X, Y, ledger=tmp_path / "ledger.db")


def test_messages_about_bad_labels_show_no_label(tmp_path):
    labels = np.r_[np.nan, np.full(11, 918273.5)]
    with pytest.raises(ValueError, match="finite") as caught:
        Holdout(X, labels, ledger=tmp_path / "ledger.db")
    assert "918273" not in str(caught.value)
