"""The outlook: how wide the next intervals would be, computed from the records and the number of rows alone.

It is shown for a mean of a bounded score over all rows, such as accuracy, as a share of its range. Other
metrics rest on fewer independent terms and have wider intervals; `Holdout.remaining` counts for any metric.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sklearn_ada._table import counted
from sklearn_ada.events import CodedRelease
from sklearn_ada.guarantees.description_length.weights import PURPOSES
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.questions.routes import read_outcome
from sklearn_ada.holdout.questions.sealed import SealedQuestion
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.state import RefusedError
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.session.admission import Probe, admitted_one_by_one, certified, share_ahead
from sklearn_ada.holdout.session.plan import by_default
from sklearn_ada.holdout.session.sealing import foreseen_half_width, sealed_form
from sklearn_ada.metrics import Metric

__all__ = ["Forecast", "Outlook", "headline", "outlook_of"]

_AHEAD = (0, 1, 10, 100)
_VACUOUS = 0.5  # a half-width, as a share of the range


@dataclass(frozen=True)
class Forecast:
    """The interval of the next question, after some more checks whose guesses hold.

    Attributes
    ----------
    after : int
        After how many more checks.
    purpose : {"check", "certify"}
    half_width : float
        Of an answer with the outlook's value.
    worst : float
        Half-width of the widest answer there can be, which decides whether the question is admitted.
    admitted : bool
        Whether the tolerance still admits the question.
    """

    after: int
    purpose: str
    half_width: float
    worst: float
    admitted: bool


@dataclass(frozen=True)
class Outlook:
    """What a holdout can still do for a mean of a bounded score over all rows.

    Attributes
    ----------
    value : float
        The value, in [0, 1], that the forecasts are for: the last answer, as a share of its metric's range.
    remaining : dict
        For each purpose, how many more questions are admitted if all guesses hold; None if nothing limits
        them.
    forecasts : tuple of Forecast
    """

    value: float
    remaining: dict[str, int | None]
    forecasts: tuple[Forecast, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return asdict(self)


def outlook_of(state: Conversation, value: float) -> Outlook:
    """Return the outlook of a conversation for answers near ``value``."""
    probes = {purpose: _probe(purpose, state, value) for purpose in PURPOSES}
    worst = {purpose: _probe(purpose, state, 0.5) for purpose in PURPOSES}
    limited = state.policy.limits is not None
    return Outlook(
        value,
        {name: admitted_one_by_one(state, probe) if limited else None for name, probe in worst.items()},
        tuple(
            _forecast(state, probes["check"], probes[purpose], worst[purpose], after)
            for purpose in PURPOSES
            for after in _AHEAD
        ),
    )


def headline(outlook: Outlook, tolerance: float | None, *, closed: bool = False) -> str:
    """Return in one sentence how many more questions there are, at which half-width, or how to get more.

    Parameters
    ----------
    outlook : Outlook
    tolerance : float or None
    closed : bool, default=False
        Whether the holdout was closed.
    """
    if closed:
        return (
            "The holdout is closed: nothing new is answered; what is recorded, and what is sealed, still is."
        )
    if tolerance is not None:
        left = outlook.remaining["check"]
        many = max((count for count in outlook.remaining.values() if count is not None), default=0)
        if left:
            return f"You can still ask {counted(left, 'question')} at +-{tolerance:g} whose guesses hold."
        if many:
            return f"You can still certify {counted(many, 'model')} at +-{tolerance:g}, and ask no check."
        return f"You can ask no more questions at +-{tolerance:g}: add fresh rows (top_up) to go on."
    checks = [f for f in outlook.forecasts if f.purpose == "check"]
    useful = [f for f in checks if f.half_width < _VACUOUS]
    if not useful:
        return (
            "You can still ask, but answers certify nothing: add fresh rows (top_up; plan_holdout: how many)."
        )
    last = useful[-1]
    many = max(last.after, 1)
    return f"You can still ask {counted(many, 'question')} at +-{last.half_width:.2g} whose guesses hold" + (
        ", and more at wider intervals." if last is checks[-1] else "; add fresh rows (top_up) for more."
    )


def _forecast(state: Conversation, check: Probe, probe: Probe, worst: Probe, after: int) -> Forecast:
    share = share_ahead(state, check, after, purpose=probe.purpose)
    try:
        share = certified(state, probe, share, after + 1)
    except RefusedError:
        return Forecast(after, probe.purpose, 0.5, 0.5, False)
    bound, width = foreseen_half_width(state, worst, share)
    if isinstance(probe, SealedQuestion):
        half, _ = foreseen_half_width(state, probe, share)
    else:
        low, high = read_outcome(probe, CodedRelease(probe.expected_symbols(share)), share, {}).interval
        half = (high - low) / 2.0
    return Forecast(after, probe.purpose, half, bound, state.admits(bound, width))


def _probe(purpose: str, state: Conversation, value: float) -> Probe:
    """Return a question about a mean; of the holdout it needs the number of rows only."""
    stand_in = HoldoutData(np.zeros((state.units, 1)), np.zeros(state.units, dtype=np.int8))
    metric = Metric("accuracy")
    coded = CodedQuestion.plan(purpose, metric, Guess(value), stand_in, state.policy, class_mix=False)
    return sealed_form(coded, stand_in, state.policy) or by_default(coded, stand_in, state.policy)
