"""`AnswersDisplay`: every answer of a ledger with its interval, beside the guess."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ada._axes import axes_or_new, panels_or_new
from sklearn_ada._checks import bad_parameter
from sklearn_ada._table import percent
from sklearn_ada.holdout import Holdout, HoldoutReport, certifies_nothing
from sklearn_ada.holdout.report.entry import Entry
from sklearn_ada.holdout.report.targets import Targets
from sklearn_ada.inspection.source import report_from
from sklearn_ada.results import Answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AnswersDisplay"]

_MARKERS = {
    "agrees": ("o", "tab:blue"),
    "differs": ("D", "tab:orange"),
    "exact": ("s", "tab:green"),
    "drawn": ("^", "tab:olive"),
    "improves": ("P", "tab:purple"),
    "no improvement": ("v", "tab:gray"),
    "sealed": ("h", "tab:cyan"),
    "vacuous": ("x", "dimgray"),
    "failed": ("*", "tab:brown"),
    "refused": ("X", "tab:red"),
}
_WORDS = {
    "sealed": "sealed: the centre of its cell",
    "vacuous": "vacuous: certifies nothing",
}
_WITHOUT_BAR = ("vacuous", "failed", "refused")
_MOST_NAMES = 40


class AnswersDisplay:
    """Answers in the order of the ledger, a row each: all intervals hold together.

    A full marker is the value that the holdout gave, its bar the certified interval, a hollow circle the
    guess. Rows are named by the number of their record, the model and the label of who asked. The marker
    says what came of the question: it agrees with the guess or differs, is exact, and so on; of a sealed one
    it is the centre of its cell, and the thick bar is about as wide as the exact value's interval would be
    if it were published now; that value may lie anywhere in the cell. One that was told since has no such
    bar. What certifies nothing stands apart, without a bar; what was refused or failed has no value, and
    stands at the left edge. The label of the axis says what the scores are scores of.

    Parameters
    ----------
    report : HoldoutReport
    metric : str or None, default=None
        Which metric's answers; None: those of all metrics, a panel each.

    Attributes
    ----------
    ax_ : matplotlib axes, or ndarray of them
        An array where there are several panels.
    figure_ : matplotlib figure
    metrics_ : list of str
        The metric of each panel.
    bars_ : dict of str to matplotlib ErrorbarContainer, or list of such dicts
        The intervals, by what came of the question; a list where there are several panels.

    Raises
    ------
    ValueError
        If nothing was asked about the metric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_ada import AnswersDisplay, Holdout
    >>> X, y = load_iris(return_X_y=True)
    >>> holdout = Holdout(X[::2], y[::2])
    >>> for depth in (1, 2, 3):
    ...     tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[1::2], y[1::2])
    ...     answer = holdout.check(tree, scoring="accuracy", guess=0.9)
    >>> display = AnswersDisplay.from_holdout(holdout)
    >>> print(display.ax_.get_xlabel())
    population accuracy at the holdout's class mix
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['#1 DecisionTreeClassifier', '#2 DecisionTreeClassifier', '#3 DecisionTreeClassifier']
    """

    def __init__(self, report: HoldoutReport, *, metric: str | None = None) -> None:
        self.report = report
        known = sorted({name for name, _ in report.answers})
        if (metric is None and not known) or (metric is not None and metric not in known):
            asked = f"a metric that was asked about ({', '.join(known) or 'none was'})"
            fix = "Ask the holdout first: check or certify." if not known else "None shows them all."
            raise bad_parameter("metric", "AnswersDisplay", asked, metric, fix)
        self.metric = metric
        self.metrics_ = known if metric is None else [metric]

    @classmethod
    def from_holdout(
        cls,
        holdout: Holdout | HoldoutReport,
        *,
        metric: str | None = None,
        ax: Axes | Sequence[Axes] | None = None,
    ) -> AnswersDisplay:
        """Draw the answers of a holdout; see `plot`.

        Parameters
        ----------
        holdout : Holdout or HoldoutReport
            A search that was pickled has a report in place of its holdout.
        metric : str or None, default=None
            Which metric's answers; None: a panel for each.
        ax : matplotlib axes, sequence of them or None, default=None
            Where to draw: as many as there are panels. None makes a new figure.

        Returns
        -------
        AnswersDisplay
        """
        return cls(report_from(holdout, "AnswersDisplay.from_holdout"), metric=metric).plot(ax=ax)

    def plot(self, *, ax: Axes | Sequence[Axes] | None = None) -> AnswersDisplay:
        """Draw the answers.

        Parameters
        ----------
        ax : matplotlib axes, sequence of them or None, default=None
            Where to draw: as many as there are panels. None makes a new figure.

        Returns
        -------
        AnswersDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError
            If there are fewer or more axes than panels.
        """
        pairs = list(zip(self.report.answers, self.report.entries, strict=True))
        of_each = [[(a, e) for (name, a), e in pairs if name == metric] for metric in self.metrics_]
        heights = [min(max(1.6 + 0.26 * len(shown), 2.6), 12.0) for shown in of_each]
        if len(of_each) == 1 and not isinstance(ax, Sequence):
            panels = [axes_or_new(ax, "Answers are", (8.0, heights[0]))]
        else:
            fix = f"Give {len(of_each)} axes, or name one metric: metric={self.metrics_[0]!r}."
            panels = panels_or_new(ax, "Answers are", heights, "AnswersDisplay.plot", fix)
        bars = [
            self._draw(panel, metric, shown)
            for panel, metric, shown in zip(panels, self.metrics_, of_each, strict=True)
        ]
        title = f"All intervals hold together with {percent(self.report.confidence_level)}"
        panels[0].set_title(title, fontsize="medium")
        self.bars_ = bars[0] if len(bars) == 1 else bars
        self.ax_ = panels[0] if len(panels) == 1 else np.array(panels, dtype=object)
        self.figure_ = panels[0].figure
        return self

    def _draw(self, ax: Any, metric: str, shown: Sequence[tuple[Answer, Entry]]) -> dict[str, Any]:
        """Draw the answers about one metric, from the top down, and return their bars."""
        groups: dict[str, list[tuple[int, Answer]]] = {}
        for row, (answer, entry) in enumerate(shown):
            groups.setdefault(_group(answer, entry), []).append((row, answer))
        bars = {}
        for name, (marker, colour) in _MARKERS.items():
            if name not in groups:
                continue
            rows, mine = zip(*groups[name], strict=True)
            label = _WORDS.get(name, name)
            if name in ("failed", "refused"):
                ax.scatter(
                    [0.015] * len(rows), rows, marker=marker, color=colour, s=34, label=label,
                    transform=ax.get_yaxis_transform(), zorder=4,
                )  # fmt: skip
                continue
            values = [answer.value for answer in mine]
            if name not in _WITHOUT_BAR:
                bars[name] = ax.errorbar(
                    values, rows, xerr=list(zip(*map(_arms, mine), strict=True)), fmt="none", ecolor=colour,
                    capsize=3, zorder=2,
                )  # fmt: skip
            if name == "sealed":
                self._draw_published(ax, rows, mine, colour)
            ax.scatter(values, rows, marker=marker, color=colour, s=34, label=label, zorder=4)
        guesses = [(entry.guess, row) for row, (_, entry) in enumerate(shown) if entry.guess is not None]
        if guesses:
            ax.scatter(
                *zip(*guesses, strict=True), marker="o", facecolors="none", edgecolors="black", s=60,
                linewidths=1.0, label="guess", zorder=3,
            )  # fmt: skip
        ax.set_ylim(len(shown) - 0.4, -0.6)
        if len(shown) <= _MOST_NAMES:
            ax.set_yticks(range(len(shown)), [_name(entry) for _, entry in shown], fontsize="small")
        else:
            ticks = np.unique(np.linspace(0, len(shown) - 1, 10).astype(int))
            ax.set_yticks(ticks, [f"#{shown[tick][1].index}" for tick in ticks], fontsize="small")
        ax.set_xlabel(_label(shown, metric))
        ax.grid(axis="x", alpha=0.3)
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return bars

    def _draw_published(self, ax: Any, rows: Sequence[int], answers: Sequence[Answer], colour: str) -> None:
        """Draw how wide an exact value would be now, about the centres of cells whose value was not told."""
        half = self.report.outlook.published
        pairs = zip(rows, answers, strict=True)
        still = [(row, each.value) for row, each in pairs if each.index not in self.report.told_in]
        if half is None or self.report.closed or not still:
            return
        at, centres = zip(*still, strict=True)
        low, high = ([centre + sign * half for centre in centres] for sign in (-1.0, 1.0))
        label = f"as wide as if published now (+-{half:.2g}),\naround a value in its cell"
        ax.hlines(at, low, high, color=colour, linewidth=6, alpha=0.35, zorder=1, label=label)


def _group(answer: Answer, entry: Entry) -> str:
    """Return what came of a question, in one of the words of the legend."""
    if certifies_nothing(answer):
        return "vacuous"
    return "sealed" if answer.answered and entry.kind == "sealed" else answer.verdict


def _name(entry: Entry) -> str:
    model = f"#{entry.index} {entry.model}" if entry.model else f"#{entry.index}"
    return f"{model}, {entry.label}" if entry.label else model


def _label(shown: Sequence[tuple[Answer, Entry]], metric: str) -> str:
    """Return what the scores are scores of, in lines that fit beneath an axis; the legend tells of cells."""
    known = (entry.score_of for _, entry in shown)
    targets = Targets(each.partition(", told as ")[0] for each in known if each is not None)
    return textwrap.fill("; ".join(targets.counts) or metric, 80)


def _arms(answer: Answer) -> tuple[float, float]:
    """Return how far the interval reaches below and above the value; an open end has no bar."""
    below, above = answer.value - answer.interval[0], answer.interval[1] - answer.value
    return tuple(max(arm, 0.0) if math.isfinite(arm) else 0.0 for arm in (below, above))  # type: ignore[return-value]
