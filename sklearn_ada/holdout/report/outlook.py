"""The outlook: how wide the next intervals would be, computed from the records and the number of rows alone.

It is shown for a mean of a bounded score over all rows, such as accuracy, as a share of its range. Other
metrics rest on fewer independent terms and have wider intervals; `Holdout.remaining` counts for any metric.
"""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sklearn_ada._table import counted
from sklearn_ada.events import CodedRelease
from sklearn_ada.guarantees.description_length.weights import PURPOSES
from sklearn_ada.holdout.asking.admission import certified
from sklearn_ada.holdout.asking.plan import by_default
from sklearn_ada.holdout.asking.questions_left import MANY, Probe, admitted_one_by_one, share_ahead
from sklearn_ada.holdout.asking.sealing import final_half_width, foreseen_half_width, sealed_form
from sklearn_ada.holdout.questions.coded import CodedQuestion
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.questions.routes import read_outcome
from sklearn_ada.holdout.questions.sealed import SealedQuestion
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.state import RefusedError
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.metrics import Metric

__all__ = ["Forecast", "Outlook", "headline", "outlook_of"]

_AHEAD = (0, 1, 10, 100)
_VACUOUS = 0.5  # a half-width, as a share of the range


@dataclass(frozen=True)
class Forecast:
    """The interval of the next question, after some more whose guesses hold.

    Attributes
    ----------
    after : int
        After how many more checks; on a ledger that answers in cells, a certify after how many more searches.
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
    published : float or None
        On a ledger that answers in cells: about the half-width of the exact value that a final certify would
        publish now. None on others.
    finals : int
        How many exact values were published already.
    """

    value: float
    remaining: dict[str, int | None]
    forecasts: tuple[Forecast, ...]
    published: float | None = None
    finals: int = 0

    @property
    def in_cells(self) -> bool:
        """Whether a certify, such as a search's, is told the cell of its count."""
        return self.published is not None

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; what is published only where there are cells."""
        body = asdict(self)
        if self.published is None:
            del body["published"], body["finals"]
        return body


def outlook_of(state: Conversation, value: float) -> Outlook:
    """Return the outlook of a conversation for answers near ``value``."""
    probes = {purpose: _probe(purpose, state, value) for purpose in PURPOSES}
    worst = {purpose: _probe(purpose, state, 0.5) for purpose in PURPOSES}
    limited = state.policy.limits is not None
    remaining = {
        name: admitted_one_by_one(state, probe) if limited else None for name, probe in worst.items()
    }
    certify, published = probes["certify"], None
    if isinstance(certify, SealedQuestion):  # searches come before the next one, and no checks
        forecasts = [_forecast(state, probes["check"], probes["check"], worst["check"], n) for n in _AHEAD]
        forecasts += _of_searches(state, certify, worst["certify"])
        published = final_half_width(state, certify.statistic)
    else:
        forecasts = [
            _forecast(state, probes["check"], probes[purpose], worst[purpose], after)
            for purpose in PURPOSES
            for after in _AHEAD
        ]
    return Outlook(value, remaining, tuple(forecasts), published, state.finals)


def _of_searches(state: Conversation, probe: SealedQuestion, worst: Probe) -> list[Forecast]:
    """Return the forecasts of the next searches; the first of all is told exactly with ``"auto"``."""
    if state.policy.answers != "auto" or state.has_certified:
        return [_forecast(state, probe, probe, worst, after) for after in _AHEAD]
    assert isinstance(worst, SealedQuestion)
    first = _forecast(state, probe.coded, probe.coded, worst.coded, 0)
    later = copy.deepcopy(state)
    event = CodedRelease(probe.coded.expected_symbols(state.share("certify", at_once=True)))
    later.account.record(event)
    later.asked["certify"] += 1
    assert later.purse is not None
    _, later.purse = later.purse.at_once()
    return [first, *(_forecast(later, probe, probe, worst, n - 1, told=n) for n in _AHEAD[1:])]


def headline(outlook: Outlook, tolerance: float | None, *, closed: bool = False) -> str:
    """Return in one sentence how much more can be asked, at which half-width, or how to get more.

    Of a ledger that answers in cells it says what the next search is told and what `certify` would publish;
    of others, how many questions there are.

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
    if outlook.in_cells:
        return _of_cells(outlook, tolerance)
    if tolerance is not None:
        left = outlook.remaining["check"]
        many = max((count for count in outlook.remaining.values() if count is not None), default=0)
        if left:
            return f"You can still ask {_many(left, 'question')} at +-{tolerance:g} whose guesses hold."
        if many:
            return f"You can still certify {_many(many, 'model')} at +-{tolerance:g}, and ask no check."
        return f"You can ask no more questions at +-{tolerance:g}: add fresh rows (top_up) to go on."
    checks = [f for f in outlook.forecasts if f.purpose == "check"]
    useful = [f for f in checks if f.half_width < _VACUOUS]
    if not useful:
        return _NOTHING
    last = useful[-1]
    many = max(last.after, 1)
    return f"You can still ask {counted(many, 'question')} at +-{last.half_width:.2g} whose guesses hold" + (
        ", and more at wider intervals." if last is checks[-1] else "; add fresh rows (top_up) for more."
    )


_NOTHING = "You can still ask, but answers certify nothing: add fresh rows (top_up; plan_holdout: how many)."


def _of_cells(outlook: Outlook, tolerance: float | None) -> str:
    """Return the headline where searches are told cells; widths are those of a count such as accuracy."""
    assert outlook.published is not None
    first, *_, last = (f for f in outlook.forecasts if f.purpose == "certify")
    kept = outlook.published < _VACUOUS
    publishing = f"certify() would publish an exact score at about +-{outlook.published:.2g}."
    if outlook.finals:
        were = "score was" if outlook.finals == 1 else "scores were"
        publishing = f"{outlook.finals} exact {were} published, and of another model {publishing}"
    left = outlook.remaining["certify"]
    if tolerance is not None and not left:
        of_kept = "" if outlook.finals else "of the model that is kept "
        rest = f"{of_kept}{publishing}" if kept else "add fresh rows (top_up) to go on."
        return f"No more searches are answered at +-{tolerance:g}: {rest}"
    if first.half_width >= _VACUOUS:
        return _NOTHING
    told = f"The next search by accuracy is told the score of its winner at about +-{first.half_width:.2g}"
    if left is not None:
        told = f"You can still run {_many(left, 'search')} by accuracy; the next is told the "
        told += f"score of its winner at about +-{first.half_width:.2g}"
    elif last.half_width < _VACUOUS:
        told += f", after {last.after} more at +-{last.half_width:.2g}"
    return f"{told}, if guesses hold; {publishing}" if kept else f"{told}, if guesses hold."


def _many(count: int, noun: str) -> str:
    """Return a count with its noun; one that was counted no further stands for any number."""
    told = counted(count, noun)
    return f"any number of {told.split(' ')[1]}" if count >= MANY else told


def _forecast(
    state: Conversation, before: Probe, probe: Probe, worst: Probe, after: int, told: int | None = None
) -> Forecast:
    """Return the forecast of a question that comes ``after`` so many like ``before``; named as ``told``."""
    share = share_ahead(state, before, after, purpose=probe.purpose)
    named = after if told is None else told
    try:
        share = certified(state, probe, share, after + 1)
    except RefusedError:
        return Forecast(named, probe.purpose, 0.5, 0.5, False)
    bound, width = foreseen_half_width(state, worst, share)
    if isinstance(probe, SealedQuestion):
        half, _ = foreseen_half_width(state, probe, share)
    else:
        low, high = read_outcome(probe, CodedRelease(probe.expected_symbols(share)), share, {}).interval
        half = (high - low) / 2.0
    return Forecast(named, probe.purpose, half, bound, state.admits(bound, width))


def _probe(purpose: str, state: Conversation, value: float) -> Probe:
    """Return a question about a mean; of the holdout it needs the number of rows only."""
    stand_in = HoldoutData(np.zeros((state.units, 1)), np.zeros(state.units, dtype=np.int8))
    metric = Metric("accuracy")
    coded = CodedQuestion.plan(purpose, metric, Guess(value), stand_in, state.policy, class_mix=False)
    alone = state.units == state.rows  # groups are no count, so they are told exactly
    sealed = sealed_form(coded, stand_in, state.policy) if alone else None
    return sealed or by_default(coded, stand_in, state.policy)
