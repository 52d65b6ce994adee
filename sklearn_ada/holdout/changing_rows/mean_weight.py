"""The mean weight of a holdout: released once, to five percent, because intervals depend on it."""

from __future__ import annotations

from sklearn_ada.events import CodedRelease, Symbol
from sklearn_ada.holdout.records.mean_weight import MeanWeightRecord
from sklearn_ada.holdout.session.bare_errors import with_bare_errors
from sklearn_ada.holdout.session.session import Session

__all__ = ["release_mean_weight"]

_EXPECTED = 10.0  # a mean at a third to two thirds of the bound, in steps of five percent


def release_mean_weight(session: Session) -> None:
    """Record what `Units.mean_share` tells of the weights; free if it was recorded before."""
    assert session.data.units is not None
    units, stamp = session.data.units, session.asker.stamp()

    def look_and_charge() -> None:
        event = CodedRelease((Symbol("count", units.bucket, _EXPECTED),))
        session.charge("mean weight", lambda state: MeanWeightRecord.of(state, event, stamp))

    with_bare_errors(look_and_charge)
