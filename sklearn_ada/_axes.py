"""The axes that a display draws on; matplotlib is imported here, and only when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn_ada._checks import bad_parameter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["axes_or_new", "panels_or_new"]


def axes_or_new(ax: Axes | None, what: str, size: tuple[float, float]) -> Axes:
    """Return ``ax``, or the axes of a new figure of this size in inches if it is None.

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
    """Return the axes that were given, or one below the other in a new figure, of these heights in inches.

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
        raise ImportError(f"{what} drawn with matplotlib: pip install 'sklearn-ada[plot]'.") from error
    return pyplot
