"""The axes that a display draws on; matplotlib is imported here, and only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["axes_or_new"]


def axes_or_new(ax: Axes | None, what: str, size: tuple[float, float]) -> Axes:
    """Return ``ax``, or the axes of a new figure of this size in inches if it is None.

    Raises
    ------
    ImportError
        If matplotlib is missing; ``what`` says what would have been drawn with it.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"{what} drawn with matplotlib: pip install 'sklearn-ada[plot]'.") from error
    return pyplot.subplots(figsize=size, layout="constrained")[1]
