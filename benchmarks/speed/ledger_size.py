"""How long a report and a certificate of a long ledger take, and how much memory.

``python -m benchmarks.speed.ledger_size 100000`` writes such a ledger, opens it in a process of its own and
measures there, one after the other, what shows it. Memory is what the process took beyond its imports.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.speed.finding import Finding
from benchmarks.speed.ledger_charges import long_ledger

__all__ = ["measure"]

_STEPS = {"open": 5.0, "report": 2.0, "repr": 2.0, "page": 2.0, "export html": 5.0, "export json": 10.0}
"""Seconds at most, for 100,000 records."""
_MEGABYTES = 100.0
_RUN = """
import json, resource, sys, time
from sklearn_ada.holdout.certificate import export_certificate
from sklearn_ada.holdout.report import report_of
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger

def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3

def timed(task):
    began = time.perf_counter()
    made = task()
    found.append([time.perf_counter() - began, megabytes() - before])
    return made

path, before, found = sys.argv[1], megabytes(), []
ledger = timed(lambda: open_existing_ledger(path, State))
report = timed(lambda: report_of(ledger))
timed(lambda: [repr(report) for _ in range(3)])
timed(report._repr_html_)
timed(lambda: export_certificate(ledger, path + ".html"))
timed(lambda: export_certificate(ledger, path + ".json"))
print(json.dumps(found))
"""


def measure(folder: Path, seed: int, *, n_records: int) -> list[Finding]:
    """Return the seconds and the megabytes of each step on a ledger of so many records."""
    path = long_ledger(folder / "size.db", seed, n_records)
    done = subprocess.run([sys.executable, "-c", _RUN, str(path)], check=True, capture_output=True, text=True)
    found = []
    for (name, allowed), (seconds, megabytes) in zip(_STEPS.items(), json.loads(done.stdout), strict=True):
        what = f"a ledger of {n_records:,} records: {name}"
        allowed *= max(n_records / 100_000, 0.1)
        found += [
            Finding(f"{what}, seconds", seconds, f"{seconds:.2f}", at_most=allowed),
            Finding(f"{what}, MB", megabytes, f"{megabytes:.0f}", at_most=_MEGABYTES),
        ]
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for finding in measure(Path(place), 0, n_records=int(sys.argv[1])):
            print(finding.what, finding.shown)
