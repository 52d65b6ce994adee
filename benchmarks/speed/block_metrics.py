"""Time the block metrics against loops of scikit-learn's scorers and metrics.

    python -m benchmarks.speed.block_metrics            # the table of times
    python -m benchmarks.speed.block_metrics --memory   # and peak memory at 10^7 rows

Three ways to the metric on each of m blocks of n rows: m calls of scikit-learn's scorer on a linear model
(each predicts its block), m calls of scikit-learn's metric on predictions made once, and `block_scores` on
the same predictions. The largest difference between the last two is given, too.
"""

from __future__ import annotations

import argparse
import platform
import tracemalloc
import warnings

import numpy as np
import scipy
import sklearn
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression

from benchmarks.speed.finding import Finding
from benchmarks.speed.stored import StoredPredictions, labels, row_numbers, variants
from benchmarks.speed.timing import by_turns, timed
from sklearn_ada.metrics import Metric
from sklearn_ada.metrics.blocks import block_scores
from sklearn_ada.metrics.outputs import CHUNK_CELLS
from sklearn_ada.terms.holdout_data import HoldoutData

TARGETS = {"accuracy": 100, "neg_log_loss": 100, "r2": 100, "roc_auc": 12, "average_precision": 12}
MEMORY_TARGET = 6.0
BINARY = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1": metrics.f1_score,
    "f1_macro": lambda y, p: metrics.f1_score(y, p, average="macro"),
    "jaccard": metrics.jaccard_score,
    "neg_log_loss": lambda y, p: -metrics.log_loss(y, p),
    "neg_brier_score": lambda y, p: -metrics.brier_score_loss(y, p),
    "roc_auc": metrics.roc_auc_score,
    "average_precision": metrics.average_precision_score,
}
MULTICLASS = {
    "roc_auc_ovr": lambda y, p: metrics.roc_auc_score(y, p, multi_class="ovr"),
    "roc_auc_ovo": lambda y, p: metrics.roc_auc_score(y, p, multi_class="ovo"),
}
REGRESSION = {
    "r2": metrics.r2_score,
    "neg_mean_squared_error": lambda y, p: -metrics.mean_squared_error(y, p),
    "neg_mean_absolute_error": lambda y, p: -metrics.mean_absolute_error(y, p),
    "neg_median_absolute_error": lambda y, p: -metrics.median_absolute_error(y, p),
    "explained_variance": metrics.explained_variance_score,
}


def respond(model, name, X):
    """Return what a scorer takes of the model for X, for two classes of the second alone."""
    outputs = getattr(model, Metric(name, kind="general").response.methods[0])(X)
    return outputs[:, 1] if outputs.ndim == 2 and outputs.shape[1] == 2 else outputs


def compare(name, function, model, X, y, n_blocks, repeats):
    """Return the seconds of the three ways, and the largest difference of the last two."""
    outputs = respond(model, name, X)
    classes = getattr(model, "classes_", None)
    blocks = np.split(np.arange(len(y)), n_blocks)
    slices = [slice(rows[0], rows[-1] + 1) for rows in blocks]
    scorer = metrics.get_scorer(name)
    ways = {
        "scorers": lambda: [scorer(model, X[rows], y[rows]) for rows in slices],
        "metrics": lambda: [function(y[rows], outputs[rows]) for rows in slices],
        "blocks": lambda: block_scores(name, y, outputs, n_blocks, labels=classes),
    }
    gap = float(np.nanmax(np.abs(ways["blocks"]() - ways["metrics"]())))
    return {way: min(times) for way, times in by_turns(ways, repeats).items()} | {"gap": gap}


def tables(n, seed, few=slice(0, 10_000)):
    """Yield each table with a fitted model and data for it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    latent = X @ rng.normal(size=10) + 2 * rng.normal(size=n)
    two = (latent > 0).astype(int)
    three = np.digitize(latent, [-1, 1])
    for table, model, y in (
        (BINARY, LogisticRegression(), two),
        (MULTICLASS, LogisticRegression(), three),
        (REGRESSION, LinearRegression(), latent),
    ):
        yield table, model.fit(X[few], y[few]), X, y


def measure(seed, *, rows=10**6, blocks=1000, repeats=2):
    """Return the times that have a target: the metric in blocks against the loop of metric calls."""
    found = []
    for table, model, X, y in tables(rows, seed):
        for name in filter(table.__contains__, TARGETS):
            got = compare(name, table[name], model, X, y, blocks, repeats)
            over = got["metrics"] / got["blocks"]
            what = f"{name} of {blocks:,} blocks, {rows:,} rows: times as fast as {blocks:,} metric calls"
            shown = (
                f"{over:.0f} ({1e3 * got['blocks']:.1f} ms, not {got['metrics']:.2f} s; gap {got['gap']:.0e})"
            )
            found.append(Finding(what, over, shown, at_least=TARGETS[name], detail=got))
    return found


def print_times(n, n_blocks, repeats, seed):
    print(
        "| metric | m scorer calls | m metric calls | block_scores | times faster: scorers | metrics | gap |"
    )
    print("|---|---|---|---|---|---|---|")
    for table, model, X, y in tables(n, seed):
        for name, function in table.items():
            got = compare(name, function, model, X, y, n_blocks, repeats)
            print(
                f"| {name} | {got['scorers']:.2f} s | {got['metrics']:.2f} s | {1e3 * got['blocks']:.1f} ms "
                f"| {got['scorers'] / got['blocks']:.0f} | {got['metrics'] / got['blocks']:.0f} "
                f"| {got['gap']:.0e} |",
                flush=True,
            )


def peaks(n, n_blocks, seed):
    """Yield each metric with its time and the bytes that it takes above labels and outputs, at their peak."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(int)
    scores = rng.random(n)
    cases = {
        "accuracy": (scores > 0.5).astype(int),
        "f1_macro": (scores > 0.5).astype(int),
        "neg_log_loss": scores,
        "roc_auc": scores,
        "average_precision": scores,
        "r2": scores,
    }
    for name, outputs in cases.items():
        seconds, _ = timed(lambda: block_scores(name, y, outputs, n_blocks, labels=[0, 1]))  # noqa: B023
        tracemalloc.start()
        block_scores(name, y, outputs, n_blocks, labels=[0, 1])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        yield name, seconds, peak


def question_peak(name, n, n_blocks, seed):
    """Return the same for the route of a stable median: cut the holdout, predict, then all blocks."""
    rng = np.random.default_rng(seed)
    y = labels(n, rng)
    outputs = rng.random(n) if name == "roc_auc" else next(variants(y, rng))
    data, model = HoldoutData(row_numbers(n), y), StoredPredictions(outputs)

    def evaluate():
        return Metric(name).blocks(model, data.X, data.y, data.partition(b"secret", n_blocks))

    tracemalloc.start()
    seconds, _ = timed(evaluate)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    predictions = outputs.nbytes if n > CHUNK_CELLS else 0  # in chunks, the stored ones are put together anew
    return f"{name} by the route of a stable median", seconds, peak - predictions


def measure_memory(seed, *, rows=10**7, blocks=1000):
    """Return the bytes per row at the peak, where there is a target for them."""
    wanted = ("accuracy", "roc_auc")
    cases = [case for case in peaks(rows, blocks, seed) if case[0] in wanted]
    cases += [question_peak(name, rows, blocks, seed) for name in wanted]
    return [
        Finding(
            f"{name}, {blocks:,} blocks, {rows:,} rows: bytes a row above labels and outputs, at the peak",
            peak / rows,
            f"{peak / rows:.2f} ({peak / 1e6:.1f} MB; {1e3 * seconds:.0f} ms)",
            at_most=MEMORY_TARGET,
        )
        for name, seconds, peak in cases
    ]


def print_memory(n, n_blocks, seed):
    print("| metric | time | peak memory above labels and outputs | bytes per row |")
    print("|---|---|---|---|")
    for name, seconds, peak in peaks(n, n_blocks, seed):
        print(f"| {name} | {1e3 * seconds:.0f} ms | {peak / 1e6:.1f} MB | {peak / n:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--blocks", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=2, help="times are the best of so many rounds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory", action="store_true", help="measure peak memory at 10^7 rows, too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a class missing from a block
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}; seed {options.seed}; "
        f"n = {options.rows:,}, m = {options.blocks:,}\n"
    )
    print_times(options.rows, options.blocks, options.repeats, options.seed)
    if options.memory:
        print(f"\nn = {10**7:,}, m = {options.blocks:,}\n")
        print_memory(10**7, options.blocks, options.seed)


if __name__ == "__main__":
    main()
