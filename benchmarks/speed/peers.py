"""What the median against its peers (`benchmarks.speed.median`) came to, as lines of the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.speed import median
from benchmarks.speed.finding import Finding, Skipped

__all__ = ["measure", "skipped"]


def measure(folder: Path, seed: int, *, repeats: int = 300) -> list[Finding | Skipped]:
    """Return how many times as fast the package is, for every peer that could be installed."""
    file = folder / "median.json"
    median.main(["--seed", str(seed), "--repeats", str(repeats), "--json", str(file)])
    report = json.loads(file.read_text())
    found: list[Finding | Skipped] = skipped(report["skipped"])
    own = {row["case"]: row for row in report["rows"] if row["who"] == "sklearn_ada"}
    for row in report["rows"]:
        if row["who"] not in median.PEERS:
            continue
        what = f"median of {row['case']}: times as fast as {row['who']}"
        if "failed" in row:
            found.append(Skipped(what, row["failed"]))
        else:
            found.append(_finding(what, row, own[row["case"]], report["versions"]))
    return found


def skipped(reasons: dict[str, str]) -> list[Finding | Skipped]:
    """Return a line for each peer that was left out."""
    return [Skipped(f"median: {name}", reason) for name, reason in reasons.items()]


def _finding(what: str, row: dict[str, Any], own: dict[str, Any], versions: dict[str, str]) -> Finding:
    targeted = row["who"] == "diffprivlib" and row["m"] == 100_000
    return Finding(
        f"{what} {versions[row['who']]}",
        row["ratio"],
        f"{row['ratio']:.1f} ({1e3 * own['seconds']:.3g} ms, not {1e3 * row['seconds']:.3g} ms)",
        at_least=median.TARGET if targeted else None,
        detail={"own": own, "peer": row},
    )
