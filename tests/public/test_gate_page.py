"""The workflow that the page of the gate shows is one, keeps labels from code of others, and decides."""

import csv
import json
import os
import re
import shlex
import subprocess
import textwrap
from pathlib import Path

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.cli import main

DOCS = Path(__file__).parents[2] / "docs"
yaml = pytest.importorskip("yaml")
WORKFLOW = yaml.safe_load((DOCS / "workflows" / "gate.yml").read_text())
ROWS = 400


def commands(job):
    return [step["run"] for step in WORKFLOW["jobs"][job]["steps"] if "run" in step]


def test_it_has_what_a_workflow_needs_and_code_of_others_knows_no_secret():
    assert set(WORKFLOW) == {"name", True, "permissions", "jobs"}  # "on" is true in YAML 1.1
    for job in WORKFLOW["jobs"].values():
        assert job["runs-on"]
        assert all({"uses", "run"} & set(step) for step in job["steps"])
    predict, gate = (json.dumps(WORKFLOW["jobs"][name]) for name in ("predict", "gate"))
    assert "secrets." not in predict
    assert "environment" not in predict
    assert "checkout" not in gate
    assert WORKFLOW["jobs"]["gate"]["needs"] == "predict"
    assert "literalinclude:: workflows/gate.yml" in (DOCS / "gate.rst").read_text()


@pytest.mark.parametrize(
    ("answer", "status"), [("exit 1", 2), ("echo {}; exit 2", 2), ("echo {}; exit 0", 0)]
)
def test_the_loop_of_a_shell_keeps_only_what_passed(answer, status, tmp_path):
    """Where Python does not start it ends with 1 and says nothing, which is no decision."""
    page = (DOCS / "gate.rst").read_text()
    loop = textwrap.dedent(re.search(r"(?m)^ +while [^;]*; do\n(.*\n)*? +done\n", page).group())
    for name, text in {
        "agent": "#!/bin/sh\ntest $1 = learn && exit 0\ntest -e asked && exit 1\ntouch asked\n",
        "predict": "#!/bin/sh\necho $1 $2\n",
        "python": f"#!/bin/sh\n{answer}\n",
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["sh", "-c", loop], cwd=tmp_path, env={"PATH": path}, check=False)
    assert done.returncode == status
    assert (tmp_path / "kept.csv").exists() == (status == 0)


def test_its_last_step_decides(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for prefix, n in (("", ROWS), ("v_", 4 * ROWS)):
        y, ids = rng.integers(0, 2, n), np.arange(n) + (ROWS if prefix else 0)
        files = {"labels": y, "incumbent": np.where(rng.random(n) < 0.7, y, 1 - y)}
        files["candidate"] = np.where(rng.random(n) < 0.7, y, files["incumbent"])
        for name, column in files.items():
            head = ("id", "y" if name == "labels" else "label")
            with open(f"{prefix}{name}.csv", "w", newline="") as file:
                csv.writer(file).writerows([head, *zip(ids, column, strict=True)])
        if not prefix:
            Holdout(np.empty((n, 0)), y, ids=ids, class_mix="priced", answers="coarse", ledger="gate.db")
    given = {"$LEDGER": "gate.db", "$WHO": "ada", "$COMMIT": "c0ffee"}
    words = [given.get(word, word) for word in shlex.split(commands("gate")[-1].replace("\\\n", " "))]
    assert words[:4] == ["python", "-m", "sklearn_ada", "gate"]
    assert main(words[3:]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["status"], body["require"]) == ("passed", "not-worse")
    fetched = re.findall(r"for file in (.*); do", commands("gate")[-2])[0].split()
    assert {f"{name}.csv" for name in fetched} <= set(words)
