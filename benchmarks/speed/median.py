"""Time the exponential-mechanism median against diffprivlib's and OpenDP's.

    python -m benchmarks.speed.median                   # the table, in about two minutes
    python -m benchmarks.speed.median --json FILE       # and everything measured, as JSON

All get the same values, the same epsilon and the same neighbours: one value replaced. Each peer is installed
into a throw-away virtual environment, with the numpy that runs this script, and left out by name if that
fails. Each of them, the package itself too, answers in a process of its own, in three rounds by turns; a time
is that of one call on an array, the median and the least over the repeats, the ratio one of medians. Run it
on an idle machine: on two cores with a load of 4.5 the ratio to diffprivlib at m = 100,000 fell to 3.3.

The package draws from 10^12 + 1 points. diffprivlib draws from an interval, with the same law of the rank
where no values are tied. OpenDP draws by permute-and-flip from candidates that must be listed, here 10^4 + 1;
its measurement is built before the clock starts, and it takes no seed.

The rank error is the distance of 1/2 from the share of values below the answer (with ties: from the interval
between the share below and the share at most it); its median over many repeats is about 2 ln(2) / (epsilon m)
where nothing is tied. The error is the distance from the median itself.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

PEERS = {
    "diffprivlib": ("diffprivlib==0.6.6", "scikit-learn==1.7.2"),  # does not import with scikit-learn 1.9
    "opendp": ("opendp==0.16.0",),
}
GRID_SIZE = 10**12 + 1
N_CANDIDATES = 10**4 + 1
ROUNDS = 3
TARGET = 5.0


def scores(rng, m):
    """Return m scores without ties."""
    return np.clip(rng.normal(0.8, 0.05, size=m), 0.0, 1.0)


CASES = {
    "m = 1,000": lambda rng: scores(rng, 1_000),
    "m = 10,000": lambda rng: scores(rng, 10_000),
    "m = 100,000": lambda rng: scores(rng, 100_000),
    "1,000 tied values": lambda rng: np.full(1_000, 0.8),
}


def sklearn_ada(values, epsilon, rng):
    from sklearn_ada import __version__
    from sklearn_ada.mechanisms import Rounding, UniformGrid, private_quantile

    rounding = Rounding(UniformGrid(0.0, 1.0, GRID_SIZE))
    return __version__, lambda: private_quantile(values, rounding, epsilon=epsilon, rng=rng).answer


def diffprivlib(values, epsilon, rng):
    import sklearn
    from diffprivlib import __version__
    from diffprivlib.tools import median

    state = np.random.RandomState(rng.integers(2**32))  # it takes no Generator
    version = f"{__version__} with scikit-learn {sklearn.__version__}"
    return version, lambda: median(values, epsilon=epsilon, bounds=(0.0, 1.0), random_state=state)


def opendp(values, epsilon, rng):
    from importlib.metadata import version

    import opendp.prelude as dp

    dp.enable_features("contrib")
    candidates = (np.arange(N_CANDIDATES) / (N_CANDIDATES - 1)).tolist()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=values.size), dp.symmetric_distance()

    def make(scale):
        return dp.m.make_private_quantile(*space, dp.max_divergence(), candidates, 0.5, scale)

    measurement = dp.binary_search_chain(make, d_in=2, d_out=epsilon)  # replaced: one left, one came
    return version("opendp"), lambda: measurement(values)


CONTESTANTS = {function.__name__: function for function in (sklearn_ada, diffprivlib, opendp)}


def answer(name, file, epsilon, repeats, seed):
    """Print, as JSON, one contestant's version, answers and seconds: what runs in its own process."""
    warnings.simplefilter("ignore")
    version, draw = CONTESTANTS[name](np.load(file), epsilon, np.random.default_rng(seed))
    draw()
    answers, seconds = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        drawn = draw()
        seconds.append(time.perf_counter() - start)
        answers.append(float(drawn))
    print(json.dumps({"version": version, "answers": answers, "seconds": seconds}))


def ask(python, name, file, options, turn):
    """Return what `answer` printed in another interpreter; its error is the last line of a RuntimeError."""
    repeats = -(-options.repeats // ROUNDS)
    arguments = [name, file, options.epsilon, repeats, options.seed + 1 + turn]
    # -P: the modules beside this file must not hide those of the peers.
    command = [python, "-P", __file__, "--answer", *map(str, arguments)]
    return json.loads(run(command, options.timeout))


def install(name, folder, timeout):
    """Return the interpreter of a new virtual environment that holds a peer; RuntimeError if it cannot."""
    run([sys.executable, "-m", "venv", folder], timeout)
    python = str(Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, *PEERS[name], f"numpy=={np.__version__}"], timeout)
    return python


def run(command, timeout):
    """Return the output of a command; RuntimeError with its last word if it fails."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"not done after {timeout:g} s") from None
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1])
    return done.stdout


def rank_errors(values, answers):
    ordered = np.sort(values)
    below = np.searchsorted(ordered, answers, side="left") / values.size
    at_most = np.searchsorted(ordered, answers, side="right") / values.size
    return np.maximum(np.maximum(below - 0.5, 0.5 - at_most), 0.0)


def measure(case, name, values, got):
    answers = np.array(got["answers"])
    return {
        "case": case,
        "who": name,
        "m": values.size,
        "seconds": float(np.median(got["seconds"])),
        "least": min(got["seconds"]),
        "rank_error": float(np.median(rank_errors(values, answers))),
        "error": float(np.median(np.abs(answers - np.median(values)))),
    }


def take_turn(record, python, name, file, options, turn):
    """Add one round to a contestant's record; a peer's failure is recorded, the package's own is raised."""
    try:
        new = ask(python, name, file, options, turn)
    except RuntimeError as error:
        if name == "sklearn_ada":
            raise
        record["failed"] = str(error)
        return
    record["version"] = new["version"]
    record["answers"] += new["answers"]
    record["seconds"] += new["seconds"]


def compare(interpreters, options, folder):
    """Measure every case with every contestant; return rows and versions."""
    rng = np.random.default_rng(options.seed)
    rows, versions = [], {}
    print("| values | who | one median | least | times the package's | rank error | error |")
    print("|---|---|---|---|---|---|---|")
    for case, draw in CASES.items():
        values = draw(rng)
        file = Path(folder) / "values.npy"
        np.save(file, values)
        got = {name: {"answers": [], "seconds": []} for name in interpreters}
        for turn in range(ROUNDS):
            for name, python in interpreters.items():
                if "failed" not in got[name]:
                    take_turn(got[name], python, name, file, options, turn)
        own = measure(case, "sklearn_ada", values, got["sklearn_ada"])
        for name, record in got.items():
            if "failed" in record:
                rows.append({"case": case, "who": name, "m": values.size, "failed": record["failed"]})
                print(f"| {case} | {name} | failed: {record['failed']} | | | | |", flush=True)
                continue
            versions[name] = record["version"]
            row = measure(case, name, values, record)
            row["ratio"] = row["seconds"] / own["seconds"]
            rows.append(row)
            print(
                f"| {case} | {name} | {1e3 * row['seconds']:.3g} ms | {1e3 * row['least']:.3g} ms "
                f"| {row['ratio']:.1f} | {row['rank_error']:.2g} | {row['error']:.2g} |",
                flush=True,
            )
    return rows, versions


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each installation or run")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--json", metavar="FILE", help="write everything measured to this file")
    parser.add_argument("--answer", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.answer:
        name, file, epsilon, repeats, seed = options.answer
        answer(name, file, float(epsilon), int(repeats), int(seed))
        return

    interpreters, skipped = {"sklearn_ada": sys.executable}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.peers:
            try:
                interpreters[name] = install(name, Path(folder) / name, options.timeout)
            except RuntimeError as error:
                skipped[name] = str(error)
        load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
        print(f"epsilon = {options.epsilon:g}, {options.repeats} repeats, seed {options.seed}")
        print(f"{os.cpu_count()} cores, load before {load}\n")
        rows, versions = compare(interpreters, options, folder)

    versions = {"Python": platform.python_version(), "numpy": np.__version__, **versions}
    print("\n" + ", ".join(f"{name} {version}" for name, version in versions.items()))
    for name, reason in skipped.items():
        print(f"Left out: {name} ({reason})")
    for row in rows:
        if row["who"] == "diffprivlib" and row["m"] == 100_000 and "ratio" in row:
            verdict = "met" if row["ratio"] >= TARGET else "missed"
            print(f"Target at m = 100,000: {TARGET:g} times as fast as diffprivlib; {verdict}")
    if options.json:
        settings = {name: getattr(options, name) for name in ("epsilon", "repeats", "seed")}
        report = {**settings, "load": load, "versions": versions, "skipped": skipped, "rows": rows}
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
