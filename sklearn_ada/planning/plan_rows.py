"""The rows of a plan, and the best of them."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_ada.planning.assumptions import Assumptions
from sklearn_ada.planning.method_plan import MethodPlan
from sklearn_ada.planning.methods import ALL, LEVEL, MEAN, VERDICTS, WINNERS

__all__ = ["PlanRows"]


@dataclass(frozen=True, repr=False)
class PlanRows:
    """What was asked of a plan and one row for each method; for the attributes see `HoldoutPlan`."""

    n: int | None
    n_questions: int | None
    width: float | None
    given: Assumptions
    rows: tuple[MethodPlan, ...]
    of_searches: bool = False

    @property
    def solved_for(self) -> str:
        """Which of "n", "n_questions" and "width" was left out."""
        return next(name for name in ("n", "n_questions", "width") if getattr(self, name) is None)

    @property
    def best(self) -> MethodPlan | None:
        """The best method that certifies every answer to adaptive questions about means; None if none does.

        For a single question that is a plain holdout. Of searches, what is said of each winner at once counts
        as well. Where pass or fail is all that is wanted, it is the row of verdicts, which need no guess.
        """
        if self.n_questions != 1:
            return self._best_of(MEAN)
        return None if self["one use"].vacuous else self["one use"]

    @property
    def best_median(self) -> MethodPlan | None:
        """The best stable median, for metrics that are not means; None if none certifies anything."""
        return None if self.given.verdicts else self._best_of(LEVEL)

    def __getitem__(self, method: str) -> MethodPlan:
        for row in self.rows:
            if row.method == method:
                return row
        known = ", ".join(repr(row.method) for row in self.rows)
        raise KeyError(f"The plan has no method {method!r}. It has {known}.")

    def _best_of(self, unit: str) -> MethodPlan | None:
        certified = (ALL, WINNERS) if self.of_searches else (VERDICTS,) if self.given.verdicts else (ALL,)
        able = [
            row
            for row in self.rows
            if row.adaptive and row.certifies in certified and row.unit == unit and not row.vacuous
        ]
        sign = -1.0 if self.solved_for == "n_questions" else 1.0
        return min(able, key=lambda row: sign * getattr(row, self.solved_for), default=None)
