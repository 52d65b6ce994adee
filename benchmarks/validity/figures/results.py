"""What a figure's run leaves behind: a JSON file with seed, date, commit and versions, and a picture."""

from __future__ import annotations

import datetime
import importlib
import json
import platform
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy
import sklearn

import sklearn_ada

__all__ = ["FOLDER", "MODULES", "Claim", "Shown", "Table", "load", "module_of", "run_and_save"]

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "results"
MODULES = (
    "random_labels",
    "reusable_holdout",
    "boosting",
    "auc_selection",
    "guess_and_check",
    "most_questions",
    "continuous_integration",
    "search_sequences",
    "real_searches",
    "metric_searches",
    "decisions",
    "peers",
)


@dataclass(frozen=True)
class Table:
    """A table of the results page; cells are texts."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Claim:
    """What a figure was to show, with what was found, and whether it did."""

    expected: str
    found: str
    met: bool


@dataclass(frozen=True)
class Shown:
    """What the results page says of a figure.

    Parameters
    ----------
    sentence : str
        The finding, to be quoted.
    settings : str
        How it was computed.
    tables : sequence of Table
    claims : sequence of Claim
    remarks : sequence of str
        What else must be said for the figure to be read right.
    """

    sentence: str
    settings: str
    tables: Sequence[Table]
    claims: Sequence[Claim] = ()
    remarks: Sequence[str] = field(default=())


def module_of(name: str) -> ModuleType:
    """Return the module of a figure."""
    return importlib.import_module(f"benchmarks.validity.figures.{name}")


def load(name: str, folder: Path = FOLDER) -> dict[str, Any] | None:
    """Return what the last run of a figure wrote, or None if there is none."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def run_and_save(name: str, *, full: bool, folder: Path = FOLDER) -> dict[str, Any]:
    """Compute a figure, write its JSON file and its picture, and return what was written."""
    module = module_of(name)
    begun, commit = time.perf_counter(), _commit()
    result = module.run(full)
    head = {
        "figure": name,
        "form": "full" if full else "short",
        "seed": module.SEED,
        "date": datetime.date.today().isoformat(),
        "seconds": round(time.perf_counter() - begun),
        "commit": commit,
        "versions": {
            "python": platform.python_version(),
            **{each.__name__: each.__version__ for each in (np, scipy, sklearn, sklearn_ada)},
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**head, "result": _rounded(result)}, indent=1) + "\n"
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
    written: dict[str, Any] = json.loads(text)
    draw(name, written, folder)
    return written


def draw(name: str, written: dict[str, Any], folder: Path) -> None:
    """Write the picture of a figure from what its JSON file says."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": name, "font.size": 10, "svg.fonttype": "none"}):
        figure = Figure(figsize=(9.0, 4.2), layout="constrained")
        module_of(name).draw(written["result"], figure)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def _commit() -> str:
    """Return the last commit that changed the package, or "" where there is no history."""
    command = ["git", "log", "-1", "--format=%h", "--", str(Path(sklearn_ada.__file__).parent)]
    try:
        return subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _rounded(part: Any) -> Any:
    """Return numbers to six digits, which is more than any of them is good for."""
    if isinstance(part, dict):
        return {str(name): _rounded(each) for name, each in part.items()}
    if isinstance(part, list | tuple | np.ndarray):
        return [_rounded(each) for each in part]
    if isinstance(part, bool | np.bool_):
        return bool(part)
    if isinstance(part, int | np.integer):
        return int(part)
    if isinstance(part, float | np.floating):
        return float(f"{part:.6g}") if np.isfinite(part) else None
    return part
