"""Draw the first picture of README: ``python docs/pictures/widths.py docs/_static/widths.svg``."""

import csv
import sys
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from sklearn_ada import plan_holdout
from sklearn_ada.planning.display import PUBLISHED, SEARCHING

ROWS = 2_000
SEARCHES = (1, 2, 5, 10, 20, 50, 100)
LINES = {
    "new rows for each search": ("sample splitting", "tab:gray"),
    "sklearn_ada, while searching": ("cells, while searching", SEARCHING),
    "sklearn_ada, published": ("cells, published", PUBLISHED),
}
"""What the picture calls a method of `plan_holdout`, and its colour, as in every picture."""
GREY = "#767676"


def widths() -> dict[str, list[float]]:
    """Return the half-widths of every line, by the number of searches."""
    plans = [plan_holdout(n=ROWS, searches=searches) for searches in SEARCHES]
    return {name: [float(plan[method].width) for plan in plans] for name, (method, _) in LINES.items()}


def main(picture: Path) -> None:
    """Draw the lines; store their points beside the picture."""
    lines = widths()
    with picture.with_suffix(".csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("searches", *lines))
        for searches, *points in zip(SEARCHES, *lines.values(), strict=True):
            table.writerow((searches, *(f"{point:.4f}" for point in points)))
    matplotlib.rcParams["svg.hashsalt"] = "sklearn_ada"  # the same bytes from the same numbers
    for name in ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"):
        matplotlib.rcParams[name] = GREY
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    axes = figure.subplots()
    for name, points in lines.items():
        colour = LINES[name][1]
        axes.plot(SEARCHES, points, "o-", color=colour)
        axes.annotate(name, (SEARCHES[-1], points[-1]), (8, 0), textcoords="offset points", va="center")
    axes.set(
        xscale="log",
        xticks=SEARCHES,
        xticklabels=SEARCHES,
        ylim=(0, 0.3),
        xlim=(0.9, 430),
        xlabel=f"searches on one holdout of {ROWS:,} rows",
        ylabel="accuracy is within ±",
    )
    axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, metadata={"Date": None}, transparent=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
