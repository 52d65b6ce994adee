"""Time the block metrics against loops of scikit-learn's scorers and metrics.

    python benchmarks/speed/block_metrics.py            # the table of times
    python benchmarks/speed/block_metrics.py --memory   # and peak memory at 10^7 rows

Three ways to the metric on each of m blocks of n rows: m calls of scikit-learn's scorer on a linear model
(each predicts its block), m calls of scikit-learn's metric on predictions made once, and `block_scores` on
the same predictions. The largest difference between the last two is given, too.
"""

from __future__ import annotations

import argparse
import platform
import time
import tracemalloc
import warnings

import numpy as np
import scipy
import sklearn
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_ada.metrics.blocks import block_scores, response_method

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


def timed(function, repeats=1):
    """Return the shortest time in seconds and the last result."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def respond(model, name, X):
    """Return what the scorer's response method says of X, for two classes of the second alone."""
    method = response_method(name)
    outputs = getattr(model, method if isinstance(method, str) else method[0])(X)
    return outputs[:, 1] if outputs.ndim == 2 and outputs.shape[1] == 2 else outputs


def compare(name, function, model, X, y, n_blocks, repeats):
    outputs = respond(model, name, X)
    labels = getattr(model, "classes_", None)
    blocks = np.split(np.arange(len(y)), n_blocks)
    slices = [slice(rows[0], rows[-1] + 1) for rows in blocks]
    scorer = metrics.get_scorer(name)
    by_scorer, _ = timed(lambda: [scorer(model, X[rows], y[rows]) for rows in slices])
    by_metric, expected = timed(lambda: [function(y[rows], outputs[rows]) for rows in slices])
    by_blocks, got = timed(lambda: block_scores(name, y, outputs, n_blocks, labels=labels), repeats)
    gap = np.nanmax(np.abs(got - expected))
    print(
        f"| {name} | {by_scorer:.2f} s | {by_metric:.2f} s | {1e3 * by_blocks:.1f} ms "
        f"| {by_scorer / by_blocks:.0f} | {by_metric / by_blocks:.0f} | {gap:.0e} |",
        flush=True,
    )


def print_times(n, n_blocks, repeats, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    latent = X @ rng.normal(size=10) + 2 * rng.normal(size=n)
    few = slice(0, 10_000)
    print(
        "| metric | m scorer calls | m metric calls | block_scores | times faster: scorers | metrics | gap |"
    )
    print("|---|---|---|---|---|---|---|")
    two = (latent > 0).astype(int)
    three = np.digitize(latent, [-1, 1])
    for table, model, y in (
        (BINARY, LogisticRegression(), two),
        (MULTICLASS, LogisticRegression(), three),
        (REGRESSION, LinearRegression(), latent),
    ):
        model.fit(X[few], y[few])
        for name, function in table.items():
            compare(name, function, model, X, y, n_blocks, repeats)


def print_memory(n, n_blocks, seed):
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
    print("| metric | time | peak memory above labels and outputs | bytes per row |")
    print("|---|---|---|---|")
    for name, outputs in cases.items():
        seconds, _ = timed(lambda: block_scores(name, y, outputs, n_blocks, labels=[0, 1]))  # noqa: B023
        tracemalloc.start()
        block_scores(name, y, outputs, n_blocks, labels=[0, 1])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"| {name} | {1e3 * seconds:.0f} ms | {peak / 1e6:.1f} MB | {peak / n:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--blocks", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5, help="block_scores is the best of so many runs")
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
