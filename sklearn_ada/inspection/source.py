"""What a display is made from: a holdout, or the report that a pickled search keeps in its place."""

from __future__ import annotations

from sklearn_ada._checks import bad_parameter
from sklearn_ada.holdout import Holdout, HoldoutReport

__all__ = ["report_from"]


def report_from(holdout: Holdout | HoldoutReport, owner: str) -> HoldoutReport:
    """Return a report as it is, and that of a holdout; raise ValueError for anything else."""
    if isinstance(holdout, HoldoutReport):
        return holdout
    if isinstance(holdout, Holdout):
        return holdout.report()
    fix = "Of a fitted ReusableHoldoutCV, give its holdout_."
    raise bad_parameter("holdout", owner, "a Holdout or a HoldoutReport", holdout, fix)
