"""`HoldoutBudgetDisplay`: how precise the next answers would be, and which the tolerance still admits."""

from __future__ import annotations

from typing import Any

from sklearn_ada._axes import axes_or_new
from sklearn_ada.holdout import Holdout, HoldoutReport
from sklearn_ada.inspection.source import report_from

__all__ = ["HoldoutBudgetDisplay"]

_COLOURS = {"check": "tab:blue", "certify": "tab:green"}


class HoldoutBudgetDisplay:
    """What is left: the half-width of the next check and certify, now and after more checks that hold.

    For a mean of a bounded score over all rows, as a share of its range. The dashed lines are those of the
    least precise answer there can be, by which the tolerance (dotted) admits questions; a hollow point is
    not admitted.

    Parameters
    ----------
    report : HoldoutReport

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    lines_ : dict of str to matplotlib line
        The half-widths, by purpose.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_ada import Holdout, HoldoutBudgetDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = HoldoutBudgetDisplay.from_holdout(Holdout(X, y, tolerance=0.2))
    >>> sorted(display.lines_)
    ['certify', 'check']
    """

    def __init__(self, report: HoldoutReport) -> None:
        self.report = report

    @classmethod
    def from_holdout(cls, holdout: Holdout | HoldoutReport, *, ax: Any = None) -> HoldoutBudgetDisplay:
        """Draw what is left of a holdout; see `plot`.

        Parameters
        ----------
        holdout : Holdout or HoldoutReport
            A search that was pickled has a report in place of its holdout.
        ax : matplotlib axes or None, default=None

        Returns
        -------
        HoldoutBudgetDisplay
        """
        return cls(report_from(holdout, "HoldoutBudgetDisplay.from_holdout")).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> HoldoutBudgetDisplay:
        """Draw the half-widths.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        HoldoutBudgetDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        ax = axes_or_new(ax, "A budget is", (8, 4))
        report = self.report
        self.lines_ = {}
        for purpose, left in report.outlook.remaining.items():
            ahead = [forecast for forecast in report.outlook.forecasts if forecast.purpose == purpose]
            after, colour = [forecast.after for forecast in ahead], _COLOURS[purpose]
            label = purpose if left is None else f"{purpose}: {left:,} more within the tolerance"
            (line,) = ax.plot(after, [f.half_width for f in ahead], color=colour, label=label)
            ax.plot(after, [f.worst for f in ahead], color=colour, linestyle="--", linewidth=1)
            for forecast in ahead:
                face = colour if forecast.admitted else "none"
                ax.plot(
                    forecast.after, forecast.half_width, "o", markeredgecolor=colour, markerfacecolor=face
                )
            self.lines_[purpose] = line
        if report.tolerance is not None:
            ax.axhline(report.tolerance, color="gray", linestyle=":", label="tolerance")
        asked = sum(report.asked.values())
        steps = sorted({forecast.after for forecast in report.outlook.forecasts})
        ax.set_xscale("symlog", linthresh=1)
        ax.set_xticks(steps, [f"{step:,}" for step in steps])
        ax.set_xlim(left=-0.2)
        ax.set_ylim(bottom=0)
        ax.set(
            xlabel="checks before it, all of whose guesses hold",
            ylabel="half-width, as a share of the range",
            title=f"{asked:,} questions so far, {report.nats:.3g} nats revealed, {report.refused:,} refused",
        )
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
