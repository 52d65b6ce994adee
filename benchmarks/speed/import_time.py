"""What ``import sklearn_ada`` adds to ``import sklearn.model_selection``, in fresh interpreters.

The least of many runs, in each of which the second import follows the first. Bytecode is cached, as it is
for an installed package. Names are imported at their first use, so the time for all of them is given, too.
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
from sklearn_ada import *
names = time.perf_counter()
new = sorted(set(sys.modules) - before)
print(json.dumps({"sklearn": middle - start, "added": end - middle, "names": names - middle, "new": new}))
"""


def measure(cache: Path, *, repeats: int) -> list[Finding]:
    """Return the milliseconds added, and the optional packages that came along."""
    runs = [_import(cache) for _ in range(repeats + 1)][1:]  # the first one writes bytecode
    added, names, sklearn = (1e3 * min(run[key] for run in runs) for key in ("added", "names", "sklearn"))
    median = 1e3 * float(np.median([run["added"] for run in runs]))
    packages = {name.partition(".")[0] for name in runs[0]["new"]}
    unwanted = [name for name in OPTIONAL if name in packages]
    return [
        Finding(
            "import sklearn_ada after sklearn.model_selection: milliseconds added",
            added,
            f"{added:.1f} ms, median {median:.1f} ms; with all its names {names:.0f} ms "
            f"(sklearn.model_selection: {sklearn:.0f} ms)",
            at_most=TARGET,
            detail={key: [run[key] for run in runs] for key in ("added", "names", "sklearn")},
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
