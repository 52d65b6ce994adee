"""How a stable median is drawn: what a user may choose.

The *stable median* of a metric is the median of its values on disjoint subsamples of the holdout, rounded to
a grid (Feldman, Steinke 2017). It certifies metrics that have no interval of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_ada._checks import bad_parameter, check_integer, check_option, check_real
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.mechanisms.rounding.grid import Grid

__all__ = ["MedianSettings"]

METHODS = ("binary_search", "exact", "exponential")


@dataclass(frozen=True)
class MedianSettings:
    """How a stable median is drawn.

    Parameters
    ----------
    n_subsamples : int or "auto"
        "auto": one for every 20 records, at most 400; for "exact" one less where that is even, as the lower
        median of an even number has fewer values on one of its sides.
    grid : Grid or "auto"
        "auto": centred at the guess with a step that the guess's spread suggests, or over the metric's range.
    epsilon : float or "auto"
        Privacy parameter of one draw (for "binary_search": mu of Gaussian DP). "auto" takes what the privacy
        budget leaves; where privacy does not certify, the median's rank is off by about a tenth of the
        subsamples at most.
    method : {"exponential", "binary_search", "exact"}
        Draw the median by the exponential mechanism or by a noisy binary search, or take it exactly, without
        privacy.
    stratify : bool
        Give all subsamples the same class counts. The target is then the median over such subsamples.
    """

    n_subsamples: int | str = "auto"
    grid: Grid | str = "auto"
    epsilon: float | str = "auto"
    method: str = "exponential"
    stratify: bool = False

    def __post_init__(self) -> None:
        owner = "StableHoldoutScorer"
        check_option(self.method, "method", owner, METHODS)
        if not isinstance(self.stratify, bool):
            raise bad_parameter("stratify", owner, "True or False", self.stratify)
        if self.n_subsamples != "auto":
            check_integer(self.n_subsamples, "n_subsamples", owner)
        if self.epsilon != "auto":
            check_real(self.epsilon, "epsilon", owner, low=0.0)
        if self.grid != "auto" and not isinstance(self.grid, Grid):
            raise bad_parameter("grid", owner, "'auto' or a Grid such as UniformGrid(0, 1, 1001)", self.grid)

    def subsamples(self, data: HoldoutData) -> int:
        """Return the number of subsamples of some data.

        Parameters
        ----------
        data : HoldoutData
            The rows, and how they may be drawn.
        """
        owner, most = "StableHoldoutScorer", data.n_units
        of_what = "groups of the holdout" if data.has_groups else "records of the holdout"
        if self.stratify:
            if not data.is_classification or data.has_groups:
                raise bad_parameter(
                    "stratify", owner, "False where y holds numbers and with groups", self.stratify
                )
            most, of_what = int(data.class_counts.min()), "records of the rarest class"
        if isinstance(self.n_subsamples, str):
            auto = self._usual(data)
            return auto - 1 + auto % 2 if self.method == "exact" else auto
        if self.n_subsamples > most:
            raise bad_parameter("n_subsamples", owner, f"at most the {most} {of_what}", self.n_subsamples)
        return self.n_subsamples

    def subsample_size(self, data: HoldoutData) -> int:
        """Return how many records each subsample of some data has; with groups on average.

        Parameters
        ----------
        data : HoldoutData
            The rows, and how they may be drawn.
        """
        count = self.subsamples(data)
        size = data.subsample_size(count, stratify=self.stratify)
        return len(data) // count if data.has_groups else size

    def family(self, data: HoldoutData) -> str:
        """Return the name of the medians over the same subsamples, which have a gap in common.

        See `sklearn_ada.guarantees.transfer.family_weights`.

        Parameters
        ----------
        data : HoldoutData
            The rows that are split into subsamples.
        """
        m = self.subsamples(data)
        number = "usual" if m == self._usual(data) else str(m)
        return f"{number} stratified subsamples" if self.stratify else f"{number} subsamples"

    def _usual(self, data: HoldoutData) -> int:
        most = int(data.class_counts.min()) if self.stratify else data.n_units
        return max(1, min(data.n_units // 20, 400, most))
