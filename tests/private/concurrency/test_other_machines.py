"""Workers that do not see the ledger file, as on other machines: they refuse, and a database serves them."""

import os
import uuid

import joblib
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import ReusableHoldoutCV
from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger import locations, open_existing_ledger
from sklearn_ada.testing import Tally
from tests.support.concurrency.searching import SCORERS, X, Y, asked_and_paid, holdout_at, rows, search_with
from tests.support.ledger.damages import opened

pytestmark = pytest.mark.thorough


def leave():
    """In a worker: paths that began at the parent's directory lead nowhere now."""
    os.chdir("/")


def search_of_a_scorer(path):
    search_with(SCORERS["thresholdout"](holdout_at(path))).set_params(error_score="raise").fit(X, Y)


def reusable_search(path):
    inner = GridSearchCV(LogisticRegression(), {"C": [0.01, 0.1, 1.0]})
    ReusableHoldoutCV(inner, ask="candidates", ledger=path).fit(*rows(2, 400))


@pytest.mark.skipif(not os.path.exists("/proc/self/cwd"), reason="needs paths of one process")
@pytest.mark.parametrize("search", [search_of_a_scorer, reusable_search])
def test_workers_that_cannot_see_the_file_refuse_and_name_the_database(tmp_path, monkeypatch, search):
    """Of a path that this process sees; a worker, once it has left, does not."""
    monkeypatch.chdir(tmp_path)
    path = f"/proc/self/cwd/{uuid.uuid4().hex}.db"  # a new name, for the path is that of all tests
    elsewhere = joblib.parallel_config("loky", n_jobs=2, initializer=leave, idle_worker_timeout=5)
    with elsewhere, pytest.raises(LedgerUnavailableError, match="postgresql://"):
        search(path)
    bodies = [record.body for record in open_existing_ledger(path, Tally).records()]
    assert not [body for body in bodies if body.get("kind") == "answer"]
    assert not os.path.exists(f"/{os.path.basename(path)}")  # nor did they make one of their own


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


@pytest.fixture
def folder_of(tmp_path, monkeypatch):
    """A function that makes a folder which looks mounted from a source as a file system of a kind."""

    def mounted(source, kind):
        folder = tmp_path / "a folder"
        folder.mkdir()
        lines = ("/dev/sda1 / ext4", f"{source} {str(folder).replace(' ', chr(92) + '040')} {kind}")
        (tmp_path / "mounts").write_text("".join(f"{line} rw 0 0\n" for line in lines))
        monkeypatch.setattr(locations, "_MOUNTS", str(tmp_path / "mounts"))
        return folder

    return mounted


@pytest.mark.parametrize(
    "kind",
    ["nfs4", "cifs", "fuse.sshfs", "lustre", "fuse.gcsfuse", "virtiofs", "davfs", "fuse.blobfuse2", "fuse"],
)
def test_a_network_file_system_is_refused_and_the_database_named(tmp_path, folder_of, kind):
    far = folder_of("server:/x", kind)
    with pytest.raises(LedgerUnavailableError, match=rf"\({kind}\).*postgresql://"):
        opened(far / "ledger.db")
    assert list(far.iterdir()) == []
    assert opened(tmp_path / "a folder too.db").find("k") is None


@pytest.mark.parametrize(
    ("source", "kind"),
    [("/dev/sdb1", "fuseblk"), ("overlay", "fuse.fuse-overlayfs"), ("lxcfs", "fuse.lxcfs")],
)
def test_a_local_file_system_in_user_space_will_do(folder_of, source, kind):
    assert opened(folder_of(source, kind) / "ledger.db").find("k") is None
