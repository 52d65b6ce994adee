"""What ``import sklearn_ada`` adds to ``import sklearn.model_selection``, in fresh interpreters.

The least of many runs, in each of which the second import follows the first. Bytecode is cached, as it is
for an installed package.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import sklearn_ada
from benchmarks.speed.finding import Finding

TARGET = 50.0
OPTIONAL = ("matplotlib", "pandas", "sqlalchemy")
CODE = """
import json, sys, time
start = time.perf_counter()
import sklearn.model_selection
middle = time.perf_counter()
before = set(sys.modules)
import sklearn_ada
end = time.perf_counter()
new = sorted(set(sys.modules) - before)
print(json.dumps({"sklearn": middle - start, "added": end - middle, "new": new}))
"""


def measure(cache: Path, *, repeats: int) -> list[Finding]:
    """Return the milliseconds added, and the optional packages that came along."""
    runs = [_import(cache) for _ in range(repeats + 1)][1:]  # the first one writes bytecode
    added, sklearn = (1e3 * min(run[name] for run in runs) for name in ("added", "sklearn"))
    median = 1e3 * float(np.median([run["added"] for run in runs]))
    packages = {name.partition(".")[0] for name in runs[0]["new"]}
    unwanted = [name for name in OPTIONAL if name in packages]
    return [
        Finding(
            "import sklearn_ada after sklearn.model_selection: milliseconds added",
            added,
            f"{added:.0f} ms, median {median:.0f} ms (sklearn.model_selection: {sklearn:.0f} ms)",
            at_most=TARGET,
            detail={"added": [run["added"] for run in runs], "sklearn": [run["sklearn"] for run in runs]},
        ),
        Finding(
            f"of {', '.join(OPTIONAL)}: imported by it",
            float(len(unwanted)),
            ", ".join(unwanted) or "none",
            at_most=0.0,
        ),
    ]


def _import(cache: Path) -> dict[str, Any]:
    settings = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    folder = Path(sklearn_ada.__file__).parents[1]
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
