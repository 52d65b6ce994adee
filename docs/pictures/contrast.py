"""Draw the README's picture: ``python docs/pictures/contrast.py docs/_static/contrast.svg``, some minutes."""

import csv
import sys
from pathlib import Path

import matplotlib
import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure

from sklearn_ada.cli.commands import TRUTH, Contrast, contrasts

COUNTS = (1, 3, 10, 30, 100, 300, 1000)
SEEDS = 50


def run_once(count: int, seed: int) -> Contrast:
    """Return the repetition of a seed."""
    return next(contrasts(count, 1, seed=seed))


def main(picture: Path) -> None:
    """Run every count of candidates on so many seeds; store the counts of misses beside the picture."""
    jobs = [delayed(run_once)(count, seed) for count in COUNTS for seed in range(SEEDS)]
    done = Parallel(n_jobs=4)(jobs)
    runs = {count: done[k * SEEDS : (k + 1) * SEEDS] for k, count in enumerate(COUNTS)}
    with picture.with_suffix(".csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("candidates", "repetitions", "naive misses", "certified misses", "median score"))
        for count, run in runs.items():
            naive, ours = (sum(getattr(r, f"{kind}_misses") for r in run) for kind in ("naive", "certified"))
            score = float(np.median([r.naive_score for r in run]))
            table.writerow((count, len(run), naive, ours, f"{score:.3f}"))
    matplotlib.rcParams["svg.hashsalt"] = "sklearn_ada"  # the same bytes from the same numbers
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, kind, title, colour in zip(
        axes,
        ("naive", "certified"),
        ("Plain holdout: score and naive 95 % interval", "sklearn_ada: the same score, certified"),
        ("#b3261e", "#1f5fa8"),
        strict=True,
    ):
        scores = [np.median([getattr(r, f"{kind}_score") for r in runs[count]]) for count in COUNTS]
        ends = [np.median([getattr(r, f"{kind}_interval") for r in runs[count]], axis=0) for count in COUNTS]
        ax.fill_between(COUNTS, *np.transpose(ends), color=colour, alpha=0.25, label="interval")
        ax.plot(COUNTS, scores, "o-", color=colour, label="best score")
        ax.axhline(TRUTH, color="black", linestyle="--", linewidth=1.5, label="truth")
        for count in COUNTS:
            misses = sum(getattr(r, f"{kind}_misses") for r in runs[count])
            ax.annotate(f"{misses}", (count, 0.735), ha="center", fontsize="small")
        ax.set(xscale="log", xlabel="candidates tried on 500 random labels", ylim=(0.42, 0.76))
        ax.set_title(title, fontsize="medium")
        ax.text(1, 0.71, f"above: in how many of {SEEDS} runs the truth is outside", fontsize="small")
    axes[0].set_ylabel("accuracy (median of the runs)")
    axes[0].legend(loc="lower left", ncols=3, fontsize="small")
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
