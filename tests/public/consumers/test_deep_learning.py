"""The scripts of the page on networks do what it says; run where PyTorch and skorch are installed."""

import json
import subprocess
import sys
import textwrap

import pytest

from tests.support.processes import ROOT

PAGE = ROOT / "docs" / "deep_learning.rst"
ROWS = """
import numpy as np
from sklearn.datasets import make_classification
X, y = make_classification(30_000, 20, n_informative=10, flip_y=0.1, random_state=0)
ends = {"train": 2000, "val": 3000, "hold": 5000, "more": len(y)}
(X_train, X_val, X_hold, X_more), (y_train, y_val, y_hold, y_more) = (
    np.split(part, list(ends.values())[:-1]) for part in (X, y)
)
"""
REPORTING = """
import json
def report_of(answer, model):
    report, truth = holdout.report(), model.score(X_more, y_more)
    print(json.dumps({**report.asked, "refused": report.refused, "nats": report.nats, "truth": truth,
        "interval": answer.interval, "repeated": answer.repeated, "verdict": answer.verdict}))
"""


def scripts():
    """Return the scripts of the page: that of PyTorch, and what skorch adds to it."""
    parts = PAGE.read_text(encoding="utf-8").split(".. code-block:: python\n")[1:]
    codes = [[line for line in part.splitlines() if not line or line.startswith("   ")] for part in parts]
    return [textwrap.dedent("\n".join(code)) for code in codes]


def ran(folder, *codes):
    """Run codes as one script, in a process of its own, and return what it printed."""
    command = [sys.executable, "-c", "\n".join((ROWS, REPORTING, *codes))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_checkpoint_chosen_among_many_is_published_with_its_interval(tmp_path):
    pytest.importorskip("torch")
    whole, _ = scripts()
    script = whole.replace("(1e-4, 3e-4, 1e-3, 3e-3, 1e-2)", "(1e-3, 1e-2)") + "\nreport_of(published, kept)"
    assert script.count("1e-4") == 0
    (first,) = ran(tmp_path, script)
    assert first["check"] > 40
    assert first["refused"] == 0
    assert first["nats"] < 8.0  # the looks cost next to nothing, what is published four to six nats
    low, high = first["interval"]
    assert low < first["truth"] < high
    assert high - low < 0.04
    (again,) = ran(tmp_path, script)
    assert again["check"] == first["check"]
    assert again["repeated"]
    assert again["nats"] < first["nats"] + 0.1


def test_a_network_of_skorch_is_asked_after_each_epoch(tmp_path):
    pytest.importorskip("skorch")
    torch_part, skorch_part = scripts()
    begin = torch_part.partition("kept, best = ")[0]
    short = skorch_part.replace("max_epochs=200", "max_epochs=12") + "\nreport_of(answer, net)"
    assert short.count("max_epochs=12,") == 1
    (first,) = ran(tmp_path, begin, short)
    assert (first["check"], first["certify"], first["refused"]) == (12, 1, 0)
    assert first["verdict"] == "agrees"
    low, high = first["interval"]
    assert low < first["truth"] < high
    (again,) = ran(tmp_path, begin, short)
    assert (again["check"], again["repeated"]) == (12, True)
