"""`HoldoutPlan`: the rows of a plan as a table, a picture and words."""

from __future__ import annotations

import html
import math
import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sklearn_ada._table import aligned, percent
from sklearn_ada.planning.display import PlanDisplay
from sklearn_ada.planning.method_plan import MethodPlan
from sklearn_ada.planning.plan_rows import PlanRows
from sklearn_ada.planning.recommendation import recommend
from sklearn_ada.planning.solving import MOST_QUESTIONS
from sklearn_ada.planning.words import many

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

__all__ = ["HoldoutPlan"]


@dataclass(frozen=True, repr=False)
class HoldoutPlan(PlanRows):
    """What every method certifies; made by `plan_holdout`.

    Attributes
    ----------
    n : int or None
        Records of the holdout, as asked for; None if solved for.
    n_questions : int or None
        Adaptive questions, as asked for; None if solved for.
    width : float or None
        Half-width of every interval, as asked for; None if solved for.
    given : Assumptions
        Everything else that the plan rests on.
    rows : tuple of MethodPlan
        One for each method. ``plan["coded checks"]`` is the row of that name.
    of_searches : bool
        Whether the questions are winners of searches.
    """

    @property
    def recommendation(self) -> str:
        """What to do, in words."""
        return recommend(self)

    def to_frame(self) -> DataFrame:
        """Return a data frame with the methods as index and a column for each attribute of `MethodPlan`.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError(
                "HoldoutPlan.to_frame needs pandas: pip install pandas. Plain rows are in `rows`."
            ) from error
        return DataFrame(self.to_dicts()).set_index("method")

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each method."""
        return [asdict(row) for row in self.rows]

    def plot(self, *, ax: Axes | None = None) -> PlanDisplay:
        """Draw what was solved for as bars, one for each method that says something.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        PlanDisplay
            With ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        return PlanDisplay.from_plan(self, ax=ax)

    def __repr__(self) -> str:
        table = aligned(_HEAD, [_cells(row) for row in self.rows], right=_NUMBERS)
        words = textwrap.fill(self.recommendation, 100)
        return f"{self._title()}\n\n{table}\n\n{words}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in (*_HEAD, "note"))
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in (*_cells(row), row.note)) + "</tr>"
            for row in self.rows
        )
        return (
            f"<p>{html.escape(self._title())}</p><table><tr>{head}</tr>{body}</table>"
            f"<p>{html.escape(self.recommendation)}</p>"
        )

    @property
    def _noun(self) -> str:
        return "adaptive verdict" if self.given.verdicts else "adaptive question"

    def _title(self) -> str:
        known = [
            many(self.n, "record") if self.n else "",
            many(self.n_questions, self._noun, of_searches=self.of_searches) if self.n_questions else "",
            f"half-width {self.width:g}" if self.width else "",
        ]
        value = self.given.expected_value
        apart = self.given.disagreement
        kind = "any mean in [0, 1]" if value is None else f"shares about {value:g}"
        if apart is not None:
            kind = f"differences of two models that disagree on at most {apart:g} of the records"
        return (
            f"Plan for {' and '.join(filter(None, known))}; {kind}; all intervals hold together with "
            f"{percent(self.given.confidence_level)}"
        )


_HEAD = ("method", "records", "questions", "half-width", "of", "certifies", "adaptive")
_NUMBERS = ("records", "questions", "half-width")


def _cells(row: MethodPlan) -> list[str]:
    reached = "none" if row.vacuous else f"{row.width:.3g}"
    return [
        row.method,
        f"{row.n:,}" if math.isfinite(row.n) else "none",
        f"{row.n_questions:,}" + ("+" if row.n_questions == MOST_QUESTIONS else ""),
        reached,
        row.unit,
        row.certifies,
        "yes" if row.adaptive else "no",
    ]
