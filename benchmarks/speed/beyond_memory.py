"""Predictions for more rows than memory should hold: peak memory, time of a row, and the same answer.

    python -m benchmarks.speed --only "beyond memory" --large      # up to 10^8 rows; 1.6 GB of files

Labels and predictions are files of 64-bit integers. Each measurement is a process of its own, so that its
peak memory is known. After a first question of few rows it opens the files as memory maps, or as Dask arrays
on two workers, and certifies an accuracy: two passes over the labels, to know the rows, and four over the
predictions. Then, in the same process, `sklearn.metrics.accuracy_score` reads the same files in blocks, once.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from benchmarks.speed.finding import Finding, Skipped
from sklearn_ada import Holdout, Predictions

__all__ = ["measure"]

MEBIBYTES, GROWTH = 1024.0, 1.5
BLOCKS = (1, 10, 1_000)
_STEP = 2**20
_SAME = ("value", "interval", "subject", "said", "fingerprint")


def measure(folder: Path, seed: int, *, sizes: tuple[int, ...]) -> list[Finding | Skipped]:
    """Return peak memory, time of a row and its growth, and whether all ways give one answer."""
    folder.mkdir()
    found: list[Finding | Skipped] = []
    each: dict[int, dict[str, Any]] = {}
    for n in sizes:
        _write(folder, n, seed)
        each[n] = _run(folder, "memmap")
        nanoseconds = 1e9 * each[n]["seconds"] / n
        found.append(
            Finding(
                f"predictions for {n:,} rows in files, certified: time over accuracy_score in blocks",
                each[n]["seconds"] / each[n]["sklearn"],
                f"{each[n]['seconds'] / each[n]['sklearn']:.2f} ({nanoseconds:.0f} ns a row; "
                f"peak {each[n]['peak']:.0f} MiB)",
                detail=each[n],
            )
        )
    first, last = sizes[0], sizes[-1]
    growth = each[last]["seconds"] / last / (each[first]["seconds"] / first)
    more = each[last]["peak"] - each[first]["peak"]
    found.append(
        Finding(
            f"time of a row at {last:,} rows over that at {first:,}", growth, f"{growth:.2f}", at_most=GROWTH
        )
    )
    found.append(
        Finding(
            f"peak memory of the process at {last:,} rows",
            each[last]["peak"],
            f"{each[last]['peak']:.0f} MiB ({more:+.0f} MiB over {first:,} rows)",
            at_most=MEBIBYTES,
        )
    )
    ways = {f"{blocks:,} blocks": _run(folder, "memmap", blocks) for blocks in BLOCKS}
    ways["an array in memory"] = _run(folder, "array")
    if importlib.util.find_spec("distributed") is not None:
        ways |= {f"Dask, 2 workers, {blocks:,} chunks": _run(folder, "dask", blocks) for blocks in BLOCKS}
    else:
        found.append(Skipped(f"the same answer from Dask at {last:,} rows", "distributed is not installed"))
    for name, way in ways.items():
        same = [way[part] == each[last][part] for part in _SAME]
        found.append(
            Finding(
                f"{name}, {last:,} rows: value, interval and digests that differ",
                float(same.count(False)),
                f"{same.count(False)} of {len(same)} ({way['seconds']:.1f} s; peak {way['peak']:.0f} MiB)",
                at_most=0.0,
                detail=way,
            )
        )
    return found


def _write(folder: Path, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    with (folder / "y").open("wb") as labels, (folder / "said").open("wb") as said:
        for start in range(0, n, _STEP):
            y = rng.integers(0, 2, min(_STEP, n - start))
            labels.write(y.tobytes())
            said.write(np.where(rng.random(len(y)) < 0.1, 1 - y, y).tobytes())


def _run(folder: Path, source: str, blocks: int = 0) -> dict[str, Any]:
    command = [sys.executable, "-m", __name__, str(folder), source, str(blocks)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def _peak() -> float:
    """Return the most memory that this process has had, in MiB: pages of files that it has mapped count."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024.0


def _file(path: Path) -> NDArray[np.int64]:
    return np.memmap(path, dtype=np.int64, mode="r")


def _certified(y: Any, said: Any, blocks: int) -> dict[str, Any]:
    few = np.arange(1_000) % 2
    Holdout(np.zeros((1_000, 0)), few, class_mix="priced", ledger=":memory:").certify(
        Predictions(few), scoring="accuracy", guess=0.9
    )
    start = time.perf_counter()
    asked = Predictions(said)
    rows = np.zeros((len(asked), 0))
    holdout = Holdout(rows, y, class_mix="priced", ledger=":memory:", random_state=0)
    if blocks:
        for column in (asked.given_outputs, holdout._session.data.labels):
            column.block_rows = -(-len(asked) // blocks)
    answer = holdout.certify(asked, scoring="accuracy", guess=0.9)
    seconds = time.perf_counter() - start
    record = holdout.ledger.record(answer.index)
    return {
        "seconds": seconds,
        "peak": _peak(),
        "value": answer.value,
        "interval": list(answer.interval),
        "fingerprint": holdout.fingerprint,
        **{name: record.body[name] for name in ("subject", "said")},
    }


def _of_dask(y: Path, said: Path, chunks: int) -> dict[str, Any]:
    """Certify arrays whose chunks the workers read themselves."""
    import dask.array as da
    from distributed import Client, LocalCluster

    n = y.stat().st_size // 8
    step = -(-n // chunks)
    sizes = tuple(min(step, n - start) for start in range(0, n, step))

    def read(path: Path, block_info: Any = None) -> NDArray[np.int64]:
        begin, end = block_info[None]["array-location"][0]
        return np.fromfile(path, dtype=np.int64, count=end - begin, offset=8 * begin)

    with (
        LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        arrays = (da.map_blocks(read, path, chunks=(sizes,), dtype=np.int64) for path in (y, said))
        return _certified(*arrays, 0)


def main() -> None:
    """Measure one way, in this process, and print it as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("source", choices=("memmap", "array", "dask"))
    parser.add_argument("blocks", type=int)
    options = parser.parse_args()
    paths = options.folder / "y", options.folder / "said"
    if options.source == "dask":
        print(json.dumps(_of_dask(*paths, options.blocks)))
        return
    y, said = (_file(path) for path in paths)
    if options.source == "array":
        y, said = (np.fromfile(path, dtype=np.int64).astype(np.int8) for path in paths)
    report = _certified(y, said, options.blocks)
    start = time.perf_counter()
    hits = 0.0
    for first in range(0, len(y), _STEP):
        rows = slice(first, first + _STEP)
        hits += accuracy_score(y[rows], said[rows], normalize=False)
    report["sklearn"] = time.perf_counter() - start
    assert abs(hits / len(y) - report["value"]) < 1e-9
    print(json.dumps(report))


if __name__ == "__main__":
    main()
