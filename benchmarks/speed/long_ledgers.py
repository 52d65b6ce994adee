"""What can be done with a ledger of many records, and how much memory that takes.

``python -m benchmarks.speed.long_ledgers 1000000`` writes such a ledger and measures each command in a
process of its own.
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

_MILLION = 1_000_000
# Seconds beyond starting the interpreter, for a million records; and megabytes, at any length.
_SECONDS = {"open": 25.0, "report": 5.0, "show --limit 20": 2.0, "head": 25.0, "verify": 50.0}
_MEGABYTES = 300.0
_RUN = """
import json, resource, sys, time
from sklearn_ada.cli import main
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger
command, path = json.loads(sys.argv[1]), sys.argv[2]
began = time.perf_counter()
if command == ["open"]:
    open_existing_ledger(path, State)
else:
    assert main(["ledger", command[0], path, *command[1:]]) == 0
seconds = time.perf_counter() - began
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3]))
"""


def measure(folder: Path, seed: int, *, n_records: int) -> list[Finding]:
    """Return the seconds and the peak of memory of each command on a ledger of so many records."""
    path = long_ledger(folder / "commands.db", seed, n_records)
    found = []
    for name, seconds_allowed in _SECONDS.items():
        done = subprocess.run(
            [sys.executable, "-c", _RUN, json.dumps(name.split()), str(path)],
            check=True,
            capture_output=True,
            text=True,
        )
        seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
        what = f"a ledger of {n_records:,} records ({path.stat().st_size / 1e6:.0f} MB): {name}"
        allowed = seconds_allowed * max(n_records / _MILLION, 0.1)
        found += [
            Finding(f"{what}, seconds", seconds, f"{seconds:.2f}", at_most=allowed),
            Finding(f"{what}, MB at most", megabytes, f"{megabytes:.0f}", at_most=_MEGABYTES),
        ]
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for finding in measure(Path(place), 0, n_records=int(sys.argv[1])):
            print(finding.what, finding.shown)
