"""Without ids the holdout is its labels in their order: features may change, and are not digested."""

import hashlib
import hmac
import os
import pathlib

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.digest.rows import content_digest, labels_digest
from sklearn_ada.exceptions import HoldoutLeakError, LedgerMismatchError
from sklearn_ada.terms.holdout_data import HoldoutData
from tests.support.ledgers import begun_as, bodies, rewritten

OTHER_FEATURES = {
    "a column added": lambda X: np.c_[X, X[:, 0] ** 2],
    "a column dropped": lambda X: X[:, 1:],
    "columns reordered": lambda X: X[:, ::-1],
    "a column scaled": lambda X: X * [1.0, 1.0, 100.0, 1.0, 1.0],
    "another dtype": lambda X: X.astype(np.float32),
    "a frame": pd.DataFrame,
    "sparse": sparse.csr_matrix,
}


def search(path):
    return ReusableHoldoutCV(GridSearchCV(LogisticRegression(), {"C": [0.1]}), ask="winner", ledger=path)


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


def places(rows, X):
    return [int(np.flatnonzero((dense(X) == row).all(axis=1))[0]) for row in dense(rows)]


@pytest.mark.parametrize("name", ["ledger.db", None], ids=["path", "None"])
@pytest.mark.parametrize("change", OTHER_FEATURES.values(), ids=OTHER_FEATURES)
def test_a_search_on_other_features_has_the_same_holdout_and_goes_on_paying(change, name, rows, tmp_path):
    X, y = rows[0], rows[1]
    path = name and tmp_path / name
    first = search(path).fit(X, y).holdout_
    recorded, nats = len(bodies(first)), first.report().nats
    again = search(path).fit(change(X), y).holdout_
    assert again.ledger.path == first.ledger.path
    assert again._session.data.y.tolist() == first._session.data.y.tolist()
    assert places(again._session.data.X, change(X)) == places(first._session.data.X, X)  # the very same rows
    assert len(bodies(again)) > recorded
    assert again.report().nats >= nats


def test_labels_in_another_order_number_or_type_have_another_digest():
    assert len({labels_digest(y) for y in ([0, 1, 1], [1, 0, 1], [0, 1], [0, 1, 2], ["0", "1", "1"])}) == 5


def test_no_feature_is_digested_when_a_holdout_is_opened(rows, tmp_path, monkeypatch):
    def forbidden(*given):
        raise AssertionError("features were digested")

    monkeypatch.setattr("sklearn_ada.terms.holdout_data.content_digest", forbidden)
    assert Holdout(rows[2], rows[3], ledger=tmp_path / "ledger.db").n_rows == 250


def test_other_labels_are_refused_with_what_cannot_be_told_and_the_way_out(rows, tmp_path):
    search(tmp_path / "ledger.db").fit(rows[0], rows[1])
    order = np.random.default_rng(0).permutation(250)
    changed = {
        "shuffled": (rows[0][order], rows[1][order]),
        "dropped": (rows[0][:-5], rows[1][:-5]),
        "appended": (np.r_[rows[0], rows[2]], np.r_[rows[1], rows[3]]),
        "relabelled": (rows[0], np.where(np.arange(250) == 3, 1 - rows[1], rows[1])),
    }
    for X, y in changed.values():
        with pytest.raises(LedgerMismatchError, match="cannot be told from other data") as caught:
            search(tmp_path / "ledger.db").fit(X, y)
        assert "ids=" in str(caught.value)
        assert "a second ledger would be a second budget for one holdout" in str(caught.value)


def test_a_ledger_begun_when_rows_were_known_by_content_goes_on_so(rows, tmp_path):
    X, y = rows[2], rows[3]
    path = tmp_path / "ledger.db"
    with begun_as(1):
        secret = Holdout(X, y, ledger=path).ledger.secret()

    def known_by_content(body):  # as an earlier release has begun it
        assert body.pop("identity") == "labels"
        body["fingerprint"] = hmac.new(secret, content_digest(X, y).encode(), hashlib.sha256).hexdigest()

    rewritten(path, 0, known_by_content)
    moved = tmp_path / "moved.db"  # this process knows the other one
    path.rename(moved)
    again = Holdout(X, y, ledger=moved)
    assert "identity" not in again.ledger.genesis
    with pytest.raises(LedgerMismatchError, match="another holdout"):
        Holdout(X + 1.0, y, ledger=moved)
    larger = again.top_up(rows[0], rows[1])
    whole = HoldoutData(np.r_[X, rows[0]], np.r_[y, rows[1]])
    assert larger.fingerprint == whole.fingerprint(secret, "content")


def test_rows_whose_features_changed_are_looked_for_anew_among_training_rows(rows, tmp_path):
    path = tmp_path / "ledger.db"
    first = Holdout(rows[2], rows[3], ledger=path)
    first.check_overlap(rows[0])
    first.check_overlap(rows[0])
    assert len(bodies(first)) == 2
    second = Holdout(rows[0][: len(rows[3])], rows[3], ledger=path)
    with pytest.raises(HoldoutLeakError, match="contain rows of the holdout"):
        second.check_overlap(rows[0])


def test_names_of_temporary_ledgers_are_keyed_by_a_secret_of_the_session():
    """Whoever is shown a path cannot look for the labels that lead to it."""
    X, y = np.zeros((6, 1)), np.array([0, 1, 0, 1, 1, 0])
    folder, name = os.path.split(Holdout(X, y).ledger.path)
    for text in (labels_digest(y), f"{folder} {labels_digest(y)}"):
        assert hashlib.sha256(text.encode()).hexdigest()[:32] not in name
    key = pathlib.Path(folder, "key")
    assert (len(key.read_bytes()), key.stat().st_mode & 0o077) == (24, 0)
    assert Holdout(X, y).ledger.path == os.path.join(folder, name)
