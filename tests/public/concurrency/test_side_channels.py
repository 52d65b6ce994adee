"""What docs/side_channels.rst says of ways past the ledger that no other test holds."""

import os
import stat
import threading
from contextlib import suppress

import joblib
import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, ThresholdoutScorer
from sklearn_ada.ledger import open_existing_ledger
from sklearn_ada.testing import Tally
from tests.support.processes import in_a_fork

MARKER = 987654.125
pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class Model(DummyClassifier):
    """A fitted model that does something to what it sees."""

    def __init__(self, act=len, tag=0):
        super().__init__()
        self.act, self.tag = act, tag

    def predict(self, X):
        self.act(X)
        return super().predict(X)


@pytest.fixture
def data():
    X = np.random.default_rng(0).normal(size=(400, 3))
    X[:, 1] += MARKER
    return X, (X[:, 0] > 0).astype(int)


@pytest.fixture
def holdout(data, tmp_path):
    before = os.umask(0o002)  # as where groups work together
    yield Holdout(*data, ledger=tmp_path / "digits.db", tolerance=0.3)
    os.umask(before)


def certify(holdout, data, act=len, tag=0):
    return holdout.certify(Model(act, tag).fit(*data), scoring="accuracy")


def test_ledger_journal_and_lock_file_are_for_their_owner_and_the_lock_file_is_empty(holdout, data, tmp_path):
    for tag in range(3):
        certify(holdout, data, tag=tag)
    found = {path.name: mode_of(path) for path in tmp_path.iterdir()}
    assert found == dict.fromkeys(("digits.db", "digits.db-journal", "digits.db-lock"), 0o600)
    assert (tmp_path / "digits.db-lock").stat().st_size == 0


def test_no_file_of_a_ledger_holds_a_row(holdout, data, tmp_path):
    certify(holdout, data)
    holdout.check_overlap(data_of(data)[0])
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        for row in data[0]:
            for value in row:
                assert repr(float(value)).encode() not in content
                assert value.tobytes() not in content


def test_the_folder_of_a_temporary_ledger_is_for_its_owner(data):
    holdout = Holdout(*data)
    assert mode_of(os.path.dirname(holdout.ledger.path)) == 0o700
    assert mode_of(holdout.ledger.path) == 0o600


@pytest.mark.thorough
def test_memory_maps_of_workers_are_for_their_owner(holdout, data, tmp_path):
    """They hold the rows."""
    place, over, seen = tmp_path / "maps", threading.Event(), []
    place.mkdir()

    def watch():
        while not over.wait(0.005):
            with suppress(FileNotFoundError):
                seen.extend(mode_of(path.parent) for path in place.rglob("*") if path.is_file())

    watching = threading.Thread(target=watch)
    watching.start()
    scorer = ThresholdoutScorer("accuracy", holdout)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scorer, cv=scorer.cv, refit=False)
    with joblib.parallel_config(backend="loky", n_jobs=2, temp_folder=str(place), max_nbytes=100):
        search.fit(*data_of(data))
    over.set()
    watching.join()
    assert set(seen) == {0o700}  # a file in it has its own mode a moment later


def data_of(data):
    """Rows that are not the holdout's."""
    return np.random.default_rng(1).normal(size=data[0].shape), data[1]


def test_what_a_model_prints_is_not_caught(holdout, data, capsys):
    certify(holdout, data, lambda X: print(X[0]))
    assert capsys.readouterr().out


def test_an_exception_in_a_thread_of_the_models_own_is_printed_by_python(holdout, data, monkeypatch):
    printed = []
    monkeypatch.setattr(threading, "excepthook", lambda what: printed.append(str(what.exc_value)))

    def fail_in_a_thread(X):
        thread = threading.Thread(target=lambda: {}[X[0, 1]])
        thread.start()
        thread.join()

    assert certify(holdout, data, fail_in_a_thread).answered
    assert printed


def test_a_repeated_question_looks_at_the_holdout_once_and_a_refused_one_never(holdout, data):
    looks = []

    def look(X):
        looks.extend([X] * np.array_equal(X, data[0]))  # and not made-up rows

    certify(holdout, data, look)
    assert looks
    looks.clear()
    assert certify(holdout, data, look).repeated
    assert len(looks) == 1
    for tag in range(1, 100):  # each guess is a surprise, until the tolerance is met
        looks.clear()
        if not certify(holdout, data, look, tag).answered:
            break
    assert not looks
    assert holdout.report().refused == 1


def test_a_model_that_ends_its_process_leaves_no_record_and_no_lock(holdout, data, tmp_path):
    ended = in_a_fork(lambda: certify(holdout, data, lambda X: os._exit(7)))
    assert ended == ""
    path = tmp_path / "digits.db"
    assert len(list(open_existing_ledger(path, Tally).records())) == 1
    assert certify(holdout, data).answered
