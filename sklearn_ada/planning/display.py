"""`PlanDisplay`: a plan as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sklearn_ada._axes import axes_or_new
from sklearn_ada.planning.plan_rows import PlanRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PlanDisplay"]

_AXES = {"n": "records needed", "n_questions": "questions answered", "width": "half-width"}
_COLOURS = {True: "tab:blue", False: "tab:gray"}


class PlanDisplay:
    """Bars of what a plan solved for, on a logarithmic axis; methods that say nothing are left out.

    Methods that are not for adaptive questions are gray, medians are hatched (their half-widths are in
    quantile levels).

    Parameters
    ----------
    plan : HoldoutPlan

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    bars_ : matplotlib bar container

    Examples
    --------
    >>> from sklearn_ada import plan_holdout
    >>> display = plan_holdout(n=10_000, n_questions=100).plot()
    >>> display.ax_.get_xlabel()
    'half-width'
    """

    def __init__(self, plan: PlanRows) -> None:
        self.plan = plan

    @classmethod
    def from_plan(cls, plan: PlanRows, *, ax: Axes | None = None) -> PlanDisplay:
        """Draw a plan; see `plot`."""
        return cls(plan).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> PlanDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        PlanDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        ax = axes_or_new(ax, "A plan is", (8, 5))
        solved_for = self.plan.solved_for
        shown = [row for row in self.plan.rows if not row.vacuous]
        values = [getattr(row, solved_for) for row in shown]
        self.bars_ = ax.barh(
            [row.method for row in shown], values, color=[_COLOURS[row.adaptive] for row in shown]
        )
        for bar, row in zip(self.bars_, shown, strict=True):
            bar.set_hatch(None if row.unit == "mean" else "//")
        text = "{:.3g}" if solved_for == "width" else "{:,}"
        ax.bar_label(self.bars_, [text.format(value) for value in values], padding=3, fontsize="small")
        ax.set(xscale="log", xlabel=_AXES[solved_for])
        ax.margins(x=0.15)
        ax.invert_yaxis()
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        return self
