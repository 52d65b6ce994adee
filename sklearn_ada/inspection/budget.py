"""`HoldoutBudgetDisplay`: how wide the next answers would be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn_ada._axes import axes_or_new
from sklearn_ada.holdout import Holdout, HoldoutReport
from sklearn_ada.inspection.source import report_from

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["HoldoutBudgetDisplay"]

_STYLES = {"check": ("tab:blue", "o", "--"), "certify": ("tab:green", "s", "-")}
_PUBLISHED = "tab:purple"
_LONGEST_TITLE = 100  # characters, in two lines; widths are in the picture anyway


class HoldoutBudgetDisplay:
    """How wide the next answers would be: half-widths, now and after more checks whose guesses hold.

    For a mean of a bounded score over all rows, as a share of its range, near the last answer's value. A
    hollow marker is a question that the tolerance (dotted) would refuse, as its answer could be wider.

    Where searches are told cells, it is the next search's half-width, after more searches, with a dash-dotted
    line for the exact value that `certify` would publish now; checks only if some were asked.

    Parameters
    ----------
    report : HoldoutReport

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    lines_ : dict of str to matplotlib line
        The half-widths, by purpose.
    published_ : matplotlib line or None
        What `certify` would publish; None where searches are told exactly.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_ada import Holdout, HoldoutBudgetDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = HoldoutBudgetDisplay.from_holdout(Holdout(X, y, tolerance=0.2, ledger=":memory:"))
    >>> sorted(display.lines_)
    ['certify', 'check']
    """

    def __init__(self, report: HoldoutReport) -> None:
        self.report = report

    @classmethod
    def from_holdout(
        cls, holdout: Holdout | HoldoutReport, *, ax: Axes | None = None
    ) -> HoldoutBudgetDisplay:
        """Draw what is left of a holdout; see `plot`.

        Parameters
        ----------
        holdout : Holdout or HoldoutReport
            A search that was pickled has a report in place of its holdout.
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        HoldoutBudgetDisplay
        """
        return cls(report_from(holdout, "HoldoutBudgetDisplay.from_holdout")).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> HoldoutBudgetDisplay:
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
        ax = axes_or_new(ax, "A budget is", (8.0, 4.0))
        report = self.report
        forecasts = report.outlook.forecasts
        self.lines_ = {}
        cells = report.outlook.in_cells and not report.closed
        shown = ("certify",) if cells and not report.asked["check"] else tuple(_STYLES)
        for purpose in shown:
            (colour, marker, style), name = (
                _STYLES[purpose],
                "search" if cells and purpose == "certify" else purpose,
            )
            ahead = [forecast for forecast in forecasts if forecast.purpose == purpose]
            at, widths = [forecast.after for forecast in ahead], [forecast.half_width for forecast in ahead]
            (line,) = ax.plot(at, widths, color=colour, linestyle=style, marker=marker, label=f"next {name}")
            refused = [(f.after, f.half_width) for f in ahead if not f.admitted]
            if refused:
                ax.plot(
                    *zip(*refused, strict=True), marker, markerfacecolor="white", markeredgecolor=colour,
                    zorder=3, label=f"next {name}: refused",
                )  # fmt: skip
            right = purpose == "certify"
            for place, width in zip(at, widths, strict=True):
                ax.annotate(
                    f"{width:.3f}", (place, width), xytext=(0, 7 if right else -14),
                    textcoords="offset points", ha="center", fontsize="small", color=colour,
                )  # fmt: skip
            self.lines_[purpose] = line
        self.published_ = None
        if cells:
            published = report.outlook.published or 0.0
            self.published_ = ax.axhline(
                published, color=_PUBLISHED, linestyle="-.", label=f"certify() would publish: {published:.3f}"
            )
        if report.tolerance is not None:
            ax.axhline(
                report.tolerance, color="black", linestyle=":", label=f"tolerance {report.tolerance:g}"
            )
        steps = sorted({forecast.after for forecast in forecasts})
        ax.set_xscale("symlog", linthresh=1)
        ax.set_xticks(steps, [f"{step:,}" if step else "now" for step in steps])
        ax.set_xlim(-0.2, 1.6 * max(steps))
        tallest = max([forecast.half_width for forecast in forecasts] + [report.tolerance or 0.0])
        ax.set_ylim(0.0, 1.2 * tallest)
        more = ("searches" if len(shown) == 1 else "searches (or checks)") if cells else "checks"
        ax.set(
            xlabel=f"after so many more {more} whose guesses hold", ylabel="half-width, share of the range"
        )
        ax.set_title(_title(report.headline), fontsize="medium", wrap=True)
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _title(headline: str) -> str:
    """Return the headline of the report, or the question that the picture answers if that is too long."""
    return headline if len(headline) <= _LONGEST_TITLE else "How wide the next answers would be"
