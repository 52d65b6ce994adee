"""`PlanDisplay`: a plan as a picture; and the axes that any display draws on.

Matplotlib is imported here, and only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from sklearn_ada._validation import bad_parameter
from sklearn_ada.planning.methods import MethodPlan, PlanRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SEARCHING, PUBLISHED, NAIVE = "tab:blue", "tab:orange", "tab:red"
"""The colours of what a holdout answers to a search, of a published score, and of a plain holdout's best."""

_AXES = {"n": "rows needed", "n_questions": "questions answered", "width": "half-width"}
_OURS = (
    *("coded checks", "certify after checks", "certify each"),
    *("cells, while searching", "cells, published", "cells, unsealed"),
)
"""What a `Holdout`, or a `ReusableHoldoutCV`, does by default."""

_LIMIT = "fixed in advance"
_LOOKS: dict[str, dict[str, Any]] = {
    "a Holdout or a search as it comes": {"facecolor": SEARCHING, "edgecolor": "black"},
    "other methods for adaptive questions": {"facecolor": "lightsteelblue", "edgecolor": "black"},
    "only if questions do not depend on answers": {"facecolor": "white", "edgecolor": "black"},
    "in quantile levels: stable medians": {"facecolor": "lightgray", "edgecolor": "black", "hatch": "//"},
}


class PlanDisplay:
    """Draw what a plan found by each method, as bars.

    Their axis is logarithmic; methods that say nothing are left out.
    Dark bars are what a `Holdout` or a `ReusableHoldoutCV` does as it comes, light ones other methods for
    adaptive questions, white ones methods whose questions may not depend on earlier answers; medians are
    hatched, as their half-widths are in quantile levels. The dashed line is the limit: a plain holdout with
    all questions fixed in advance, which no method beats whose answers are all certified. The star marks what
    the plan recommends.

    Parameters
    ----------
    plan : HoldoutPlan

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    bars_ : matplotlib bar container
    limit_ : matplotlib line or None
        Of the plain holdout; None if it certifies nothing either.
    recommended_ : str or None
        Name of the method that is marked.

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
        """Draw a plan; see `plot`.

        Parameters
        ----------
        plan : HoldoutPlan
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        PlanDisplay
        """
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
        ax = axes_or_new(ax, "A plan is", (8.0, 5.5))
        from matplotlib.patches import Patch

        solved_for = self.plan.solved_for
        shown = [row for row in self.plan.rows if not row.vacuous]
        values = [getattr(row, solved_for) for row in shown]
        self.bars_ = ax.barh([row.method for row in shown], values)
        looks = [_look(row) for row in shown]
        for bar, look in zip(self.bars_, looks, strict=True):
            bar.set(**_LOOKS[look])
        handles: list[Any] = [Patch(label=look, **how) for look, how in _LOOKS.items() if look in looks]
        text = "{:.3g}" if solved_for == "width" else "{:,}"
        ax.bar_label(
            self.bars_, [text.format(value) for value in values], padding=12, fontsize="small",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},  # the line of the limit stops at it
        )  # fmt: skip
        ax.set(xscale="log", xlabel=_AXES[solved_for])
        ax.margins(x=0.2)
        _tick(ax)
        limit = self.plan[_LIMIT]
        self.limit_ = None
        if not limit.vacuous:
            self.limit_ = ax.axvline(
                getattr(limit, solved_for), color="black", linestyle="--", linewidth=1.2, zorder=0,
                label="limit: all fixed in advance",
            )  # fmt: skip
            handles.append(self.limit_)
        best = self.plan.best
        self.recommended_ = None if best is None else best.method
        if best is not None and best in shown:
            row = shown.index(best)
            (star,) = ax.plot(
                [values[row]], [row], marker="*", color="gold", markeredgecolor="black", markersize=15,
                linestyle="none", label="recommended", zorder=4, clip_on=False,
            )  # fmt: skip
            handles.append(star)
            ax.get_yticklabels()[row].set_fontweight("bold")
        ax.invert_yaxis()
        below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": 2}
        ax.legend(handles=handles, fontsize="small", frameon=False, **below)
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        return self


def _tick(ax: Axes) -> None:
    """Write plain numbers at powers of ten, and between if they are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = ax.get_xlim()
    axis, subs = ax.xaxis, (1.0, 2.0, 5.0) if high / low < 1e3 else (1.0,)
    axis.set_major_locator(LogLocator(subs=subs, numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _plain(value)))
    axis.set_minor_formatter(NullFormatter())


def _plain(value: float) -> str:
    """Return a number as people write it: 0.05, 20,000 or 5 million."""
    if value >= 1e6:
        return f"{value / 1e6:,g} million"
    return f"{value:,.0f}" if value >= 1.0 else f"{value:g}"


def _look(row: MethodPlan) -> str:
    """Return which of the looks the bar of a method has."""
    ours, other, fixed, medians = _LOOKS
    if row.unit != "mean":
        return medians
    if row.method in _OURS:
        return ours
    return other if row.adaptive else fixed


def axes_or_new(ax: Axes | None, what: str, size: tuple[float, float]) -> Axes:
    """Return ``ax``, or the axes of a new figure if it is None.

    ``size`` is that of the figure, in inches.

    Raises
    ------
    ImportError
        If matplotlib is missing; ``what`` says what would have been drawn with it.
    """
    if ax is not None:
        return ax
    axes: Axes = _pyplot(what).subplots(figsize=size, layout="constrained")[1]
    return axes


def panels_or_new(ax: Any, what: str, heights: Sequence[float], owner: str, fix: str) -> list[Axes]:
    """Return the axes given, or new ones, one below the other.

    ``heights`` are those of the new ones, in inches.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        If another number of axes was given; ``owner`` took them, ``fix`` says what to give.
    """
    if ax is None:
        _, panels = _pyplot(what).subplots(
            len(heights), figsize=(8.0, min(sum(heights), 16.0)), height_ratios=heights, layout="constrained"
        )
        return list(panels)
    given = list(getattr(ax, "flat", ax)) if hasattr(ax, "__iter__") else [ax]
    if len(given) != len(heights):
        raise bad_parameter("ax", owner, f"None or {len(heights)} axes, one a panel", f"{len(given)}", fix)
    return given


def _pyplot(what: str) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"{what} drawn with matplotlib: pip install matplotlib.") from error
    return pyplot
