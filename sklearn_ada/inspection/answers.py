"""`AnswersDisplay`: every answer of a ledger with its interval, beside the guess."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from sklearn_ada._axes import axes_or_new
from sklearn_ada._checks import bad_parameter
from sklearn_ada._table import percent
from sklearn_ada.holdout import Holdout, HoldoutReport
from sklearn_ada.holdout.report.notices import certifies_nothing
from sklearn_ada.holdout.report.targets import Targets
from sklearn_ada.inspection.source import report_from

__all__ = ["AnswersDisplay"]

_COLOURS = {
    "agrees": "tab:blue",
    "differs": "tab:orange",
    "exact": "tab:green",
    "drawn": "tab:olive",
    "improves": "tab:purple",
    "no improvement": "tab:gray",
}  # of other verdicts there is no value


class AnswersDisplay:
    """Answers about one metric in the order of the ledger: all their intervals hold together.

    The label of the axis says what they are scores of.
    A bar is a certified interval, a dash the guess. A hollow point has no bar: its certificate is vacuous. A
    cross at the bottom is a question that was refused or failed.

    Parameters
    ----------
    report : HoldoutReport
    metric : str or None, default=None
        Which metric's answers; None if there is only one.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    bars_ : dict of str to matplotlib ErrorbarContainer
        The answers, by verdict.

    Raises
    ------
    ValueError
        If nothing was asked about the metric, or about several and none is named.

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
    >>> print(display.ax_.get_ylabel())
    population accuracy at the holdout's class mix
    """

    def __init__(self, report: HoldoutReport, *, metric: str | None = None) -> None:
        self.report = report
        known = sorted({name for name, _ in report.answers})
        if metric is None and len(known) == 1:
            metric = known[0]
        if metric not in known:
            asked = f"a metric that was asked about ({', '.join(known) or 'none was'})"
            raise bad_parameter("metric", "AnswersDisplay", asked, metric, "One picture shows one metric.")
        self.metric = metric

    @classmethod
    def from_holdout(
        cls, holdout: Holdout | HoldoutReport, *, metric: str | None = None, ax: Any = None
    ) -> AnswersDisplay:
        """Draw the answers of a holdout; see `plot`.

        Parameters
        ----------
        holdout : Holdout or HoldoutReport
            A search that was pickled has a report in place of its holdout.
        metric : str or None, default=None
        ax : matplotlib axes or None, default=None

        Returns
        -------
        AnswersDisplay
        """
        return cls(report_from(holdout, "AnswersDisplay.from_holdout"), metric=metric).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> AnswersDisplay:
        """Draw the answers.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        AnswersDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        ax = axes_or_new(ax, "Answers are", (8, 4))
        shown = [
            (answer, entry)
            for (name, answer), entry in zip(self.report.answers, self.report.entries, strict=True)
            if name == self.metric
        ]
        self.bars_ = {}
        for verdict in sorted({answer.verdict for answer, _ in shown if answer.answered}):
            mine = [answer for answer, _ in shown if answer.verdict == verdict]
            self.bars_[verdict] = ax.errorbar(
                [answer.index for answer in mine],
                [answer.value for answer in mine],
                yerr=list(zip(*map(_arms, mine), strict=True)),
                fmt="none", ecolor=_COLOURS[verdict], capsize=2,
            )  # fmt: skip
            ax.scatter(
                [answer.index for answer in mine],
                [answer.value for answer in mine],
                facecolors=["none" if certifies_nothing(answer) else _COLOURS[verdict] for answer in mine],
                edgecolors=_COLOURS[verdict], s=20, label=verdict,
            )  # fmt: skip
        guesses = [(answer.index, entry.guess) for answer, entry in shown if entry.guess is not None]
        if guesses:
            ax.scatter(*zip(*guesses, strict=True), marker="_", color="black", label="guess", zorder=3)
        without = [answer.index for answer, _ in shown if not answer.answered]
        if without:
            bottom = ax.get_xaxis_transform()
            ax.scatter(
                without, [0.02] * len(without), marker="x", color="tab:red", transform=bottom,
                label="refused or failed",
            )  # fmt: skip
        ax.set(
            xlabel="record of the ledger",
            ylabel=_label(Targets(entry.score_of for _, entry in shown), self.metric),
            title=f"All intervals hold together with {percent(self.report.confidence_level)}",
        )
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _label(targets: Targets, metric: str) -> str:
    """Return what the scores are scores of, in lines that fit beside an axis."""
    return textwrap.fill("; ".join(targets.counts) or metric, 50)


def _arms(answer: Any) -> tuple[float, float]:
    """Return how far the interval reaches below and above the value; an open or vacuous end has no bar."""
    if answer.certificate.vacuous:
        return 0.0, 0.0
    below, above = answer.value - answer.interval[0], answer.interval[1] - answer.value
    return tuple(max(arm, 0.0) if math.isfinite(arm) else 0.0 for arm in (below, above))  # type: ignore[return-value]
