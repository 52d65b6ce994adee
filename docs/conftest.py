"""Pages are run in a folder of their own, so that they can write ``ledger="churn.db"`` as people would."""

import pytest


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path, monkeypatch):
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
