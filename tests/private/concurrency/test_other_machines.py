"""Workers that do not see the ledger file, as on other machines: they refuse, and a database serves them."""

import os
import uuid

import joblib
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV
from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger import locations
from tests.support.concurrency.searching import SCORERS, X, Y, asked_and_paid, holdout_at, rows, search_with
from tests.support.ledger.ledger_backends import SQLiteBackend

pytestmark = pytest.mark.thorough

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/cwd"), reason="needs paths of one process")


def leave():
    """In a worker: paths that began at the parent's directory lead nowhere now."""
    os.chdir("/")


@pytest.fixture
def here_only(tmp_path, monkeypatch):
    """Return a path that this process sees and a worker, once it has left, does not."""
    monkeypatch.chdir(tmp_path)
    return f"/proc/self/cwd/{uuid.uuid4().hex}.db"  # a new name, for the path is that of all tests


def elsewhere():
    """Run tasks in fresh workers that do not see what this process sees."""
    return joblib.parallel_config("loky", n_jobs=2, initializer=leave, idle_worker_timeout=5)


@needs_proc
def test_workers_that_cannot_see_the_file_refuse_and_name_the_database(here_only):
    scorer = SCORERS["thresholdout"](holdout_at(here_only))
    search = search_with(scorer).set_params(error_score="raise")
    with elsewhere(), pytest.raises(LedgerUnavailableError, match=r"postgresql://.*sklearn-ada\[sql\]"):
        search.fit(X, Y)
    assert scorer.holdout.report().asked["check"] == 0
    assert not os.path.exists(f"/{os.path.basename(here_only)}")  # nor did they make one of their own


@needs_proc
def test_a_reusable_search_chooses_no_winner_and_names_the_database(here_only):
    inner = GridSearchCV(LogisticRegression(), {"C": [0.01, 0.1, 1.0]})
    with elsewhere(), pytest.raises(LedgerUnavailableError, match=r"postgresql://.*sklearn-ada\[sql\]"):
        ReusableHoldoutCV(inner, ask="candidates", ledger=here_only).fit(*rows(2, 400))


@pytest.mark.parametrize("kind", SCORERS)
def test_with_a_database_the_same_search_agrees_with_one_worker(postgresql, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    found = []
    for n_jobs in (1, 2):
        holdout = holdout_at(postgresql.url(uuid.uuid4().hex), random_state=0)
        search = search_with(SCORERS[kind](holdout))
        with joblib.parallel_config("loky", n_jobs=n_jobs, initializer=leave):
            search.fit(X, Y)
        found.append(asked_and_paid(search))
    assert len(found[0][0]) == 7
    assert found[1] == found[0]


@pytest.mark.parametrize(
    "kind",
    ["nfs4", "cifs", "fuse.sshfs", "lustre", "fuse.gcsfuse", "virtiofs", "davfs", "fuse.blobfuse2", "fuse"],
)
def test_a_network_file_system_is_refused_and_the_database_named(tmp_path, monkeypatch, kind):
    far = tmp_path / "far away"
    far.mkdir()
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"/dev/sda1 / ext4 rw 0 0\nserver:/x {str(far).replace(' ', chr(92) + '040')} {kind} rw 0 0\n"
    )
    monkeypatch.setattr(locations, "_MOUNTS", str(mounts))
    with pytest.raises(LedgerUnavailableError, match=rf"\({kind}\).*postgresql://"):
        SQLiteBackend(str(far)).open(str(far / "ledger.db"))
    assert list(far.iterdir()) == []
    backend = SQLiteBackend(str(tmp_path))
    assert backend.open(backend.address("far away too")).find("k") is None


@pytest.mark.parametrize(
    "mount",
    ["/dev/sdb1 {} fuseblk rw 0 0", "overlay {} fuse.fuse-overlayfs rw 0 0", "lxcfs {} fuse.lxcfs rw 0 0"],
)
def test_a_local_file_system_in_user_space_will_do(tmp_path, monkeypatch, mount):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\n{mount.format(tmp_path)}\n")
    monkeypatch.setattr(locations, "_MOUNTS", str(mounts))
    backend = SQLiteBackend(str(tmp_path))
    assert backend.open(backend.address()).find("k") is None
