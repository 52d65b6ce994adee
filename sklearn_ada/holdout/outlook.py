"""What a holdout can still do: how wide the next answers would be, and how many are admitted.

All of it follows from the records and the number of rows, and from nothing that the holdout would answer.

**Checks, and certifies that are answered exactly**, are foreseen for a mean of a bounded score over all rows,
such as accuracy, as a share of its range. Other metrics rest on fewer independent terms, and are wider.

**Searches**, where answers are coarse, are foreseen by the metric of the last one. A count of right labels
has cells, whose widths follow from the number of rows. Any other metric has windows, whose widths follow
from what the rows behind its guess have shown; so the next one is foreseen from the windows that the last
record of that metric has, as if its guess were the same. Before there is such a record nothing is foreseen,
and that is said.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sklearn_ada._solving import largest_integer
from sklearn_ada._validation import bad_parameter, check_option, counted, in_full
from sklearn_ada.accounting.events import CodedRelease
from sklearn_ada.answer import OF_TWO
from sklearn_ada.guarantees.description_length import PURPOSES
from sklearn_ada.holdout.asking import final_half_width, foreseen_half_width, with_routes
from sklearn_ada.holdout.framing import by_default
from sklearn_ada.holdout.records import RowsRecord, SealedRecord, TopUpRecord, read_record
from sklearn_ada.holdout.rounds import (
    MANY,
    admitted_one_by_one,
    allowance_ahead,
    coarsely,
    is_answered_coarsely,
    worst_question,
)
from sklearn_ada.holdout.session import Session
from sklearn_ada.holdout.state import RefusedError, State
from sklearn_ada.ledger.hash_chain import Ledger
from sklearn_ada.mechanisms.rounding import winner_width
from sklearn_ada.metrics.base import SCORERS
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.questions.coded import CodedQuestion
from sklearn_ada.questions.question import Guess, Question
from sklearn_ada.questions.sealed import in_cells
from sklearn_ada.questions.seals import SealedInterval, seal_of
from sklearn_ada.terms.holdout_data import HoldoutData

_AHEAD = (0, 1, 10, 100)
_VACUOUS = 0.5  # a half-width, as a share of the range
_RECENT = 100  # records among which that of the last search is looked for


@dataclass(frozen=True)
class Forecast:
    """The interval of the next question, after some more whose guesses hold.

    Attributes
    ----------
    after : int
        After how many more checks; on a ledger that answers coarsely, a certify after how many more searches.
    purpose : {"check", "certify"}
    half_width : float
        Of an answer with the outlook's value, as a share of the metric's range.
    worst : float or None
        The same of the widest answer there can be, which decides whether the question is admitted. None of a
        metric that is answered with windows, where the next guess decides.
    admitted : bool
        Whether the tolerance still admits the question.
    """

    after: int
    purpose: str
    half_width: float
    worst: float | None
    admitted: bool


@dataclass(frozen=True)
class Outlook:
    """What a holdout can still do, for the metric that was last searched by or a mean of a bounded score.

    Attributes
    ----------
    value : float
        The value, in [0, 1], that the forecasts are for: the last answer, as a share of its metric's range.
    remaining : dict
        For each purpose that is foreseen, how many more questions are admitted if all guesses hold; None if
        nothing limits them.
    forecasts : tuple of Forecast
    in_cells : bool
        Whether a certify, such as a search's, is answered with a cell or a window.
    metric : str or None
        The metric by which searches are foreseen there; None if they are not foreseen.
    span : float
        Width of that metric's range.
    published : float or None
        About the half-width, as a share of the range, of the exact value that `publish` would release now;
        None where it is not foreseen.
    finals : int
        How many exact values were published already.
    """

    value: float
    remaining: dict[str, int | None]
    forecasts: tuple[Forecast, ...]
    in_cells: bool = False
    metric: str | None = None
    span: float = 1.0
    published: float | None = None
    finals: int = 0

    def of(self, purpose: str) -> list[Forecast]:
        """Return the forecasts of one purpose."""
        return [forecast for forecast in self.forecasts if forecast.purpose == purpose]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; what is said of searches only where answers are coarse."""
        body = asdict(self)
        if not self.in_cells:
            for name in ("in_cells", "metric", "span", "published", "finals"):
                del body[name]
        return body


def last_search(ledger: Ledger[State]) -> SealedRecord | None:
    """Return the last of the recent records that seals the score of a model; None if there is none.

    Records before the rows were changed do not count: their windows are those of other rows.
    """
    for record in reversed(ledger.tail(_RECENT)[1]):
        kind = record.body.get("kind")
        if kind in (TopUpRecord.kind, RowsRecord.kind):
            return None
        if kind == SealedRecord.kind:
            read = SealedRecord.from_dict(record.body)
            is_score = read.purpose == "certify" and read.sealed is not None
            if is_score and OF_TWO not in read.outcome.target:
                return read
    return None


def outlook_of(state: State, last: SealedRecord | None) -> Outlook:
    """Return the outlook of a conversation whose last search has this record."""
    value = 0.5 if state.last_value is None else state.last_value
    probes, worst = _probes(state, value), _probes(state, 0.5)
    limited = state.policy.limits is not None
    remaining = {name: admitted_one_by_one(state, each) if limited else None for name, each in worst.items()}
    check, certify = probes["check"], probes["certify"]
    checks = tuple(_forecast(state, check, check, worst["check"], after) for after in _AHEAD)
    if state.purse is None or (certify.seal is None and state.policy.format < 3):
        exact = (_forecast(state, check, certify, worst["certify"], after) for after in _AHEAD)
        return Outlook(value, remaining, (*checks, *exact))
    metric, seal = _searched(state, last)
    if isinstance(seal, SealedInterval):
        windows = seal.windows
        span = windows.top - windows.bottom
        remaining["certify"] = _windows_left(state, seal) if limited else None
        published = final_half_width(state, seal, state.purse, state.account.nats) / span
        value, ahead = (windows.guess - windows.bottom) / span, _forecasts_of_windows(state, seal)
        return Outlook(value, remaining, (*checks, *ahead), True, metric, span, published, state.finals)
    if metric is None:
        del remaining["certify"]
        return Outlook(value, remaining, checks, True, finals=state.finals)
    assert certify.seal is not None
    published = final_half_width(state, certify.seal, state.purse, state.account.nats)
    ahead = _forecasts_of_searches(state, value)
    return Outlook(value, remaining, (*checks, *ahead), True, metric, 1.0, published, state.finals)


def _searched(state: State, last: SealedRecord | None) -> tuple[str | None, Any]:
    """Return the metric by which the next search is foreseen, with the seal of the last one.

    Without one it is a count, if the ledger was begun for these and nothing else was asked.
    """
    if last is not None:
        return str(last.metric["name"]), seal_of(last.mechanism)
    asked = any(map(_may_be_a_count, state.targets)) if state.targets else state.policy.is_for_counts
    alone = state.units == state.rows  # groups are no count
    return ("accuracy" if asked and alone else None), None


def _may_be_a_count(target: str) -> bool:
    """Return whether a target may be of a share of right labels."""
    name = target.removeprefix("population ").split(maxsplit=1)[0].strip(",")
    return name not in SCORERS or SCORERS[name].counts


def _forecasts_of_windows(state: State, seal: SealedInterval) -> list[Forecast]:
    """Return the forecasts of the next searches whose guesses foresee the same windows."""
    return [_forecast_of_window(state, seal, after) for after in _AHEAD]


def _forecast_of_window(state: State, seal: SealedInterval, after: int) -> Forecast:
    half = winner_width(state.winners_before(None) + after + 1)
    windows = replace(seal.windows, half=half)
    symbol = replace(seal, windows=windows).symbol("winner", 0)
    nats = state.account.nats + state.account.price_of_repeats(symbol, after + 1)
    low, high = windows.window(0, state.policy.ln_transcript - nats)
    half_width, span = (high - low) / 2.0, windows.top - windows.bottom
    return Forecast(after, "certify", half_width / span, None, state.is_tolerated(half_width, span))


def _windows_left(state: State, seal: SealedInterval) -> int:
    """Return how many questions with such windows are admitted in turn if guesses hold."""
    return largest_integer(lambda count: _forecast_of_window(state, seal, count - 1).admitted, MANY)


class Ahead(NamedTuple):
    """What is foreseen of questions like one on record, if their guesses hold.

    Attributes
    ----------
    half_widths : dict of int to float
        In units of the metric, by after how many more of them; empty if nothing is foreseen.
    remaining : int or None
        How many are admitted; None if nothing limits them.
    """

    half_widths: dict[int, float]
    remaining: int | None

    def in_words(self) -> str:
        """Return it in one sentence."""
        if not self.half_widths:
            return NOT_FORESEEN.replace("search", "comparison")
        first, *_, last = self.half_widths.items()
        count = "" if self.remaining is None else f"{_count_of(self.remaining, 'comparison')} are left: "
        return (
            f"{count}the next one like this is answered at about +-{in_full(first[1])}, after {last[0]} more "
            f"at +-{in_full(last[1])}, if guesses hold."
        )


def ahead_of(ledger: Ledger[State], number: int) -> Ahead:
    """Return what is foreseen of questions like that of a record."""
    record = ledger.record(number)
    read = None if record is None else read_record(record.body)
    seal = seal_of(read.mechanism) if isinstance(read, SealedRecord) else None

    def of_state(state: State) -> Ahead:
        limited = state.policy.limits is not None
        if isinstance(seal, SealedInterval):
            found, span = _forecasts_of_windows(state, seal), seal.windows.top - seal.windows.bottom
            left = _windows_left(state, seal) if limited else None
        else:
            outlook = outlook_of(state, None)
            found, span, left = outlook.of("certify"), outlook.span, outlook.remaining.get("certify")
        return Ahead({each.after: each.half_width * span for each in found}, left)

    ahead: Ahead = ledger.read(of_state)
    return ahead


def remaining_questions(
    session: Session, metric: Metric | None, purpose: str | None, guess_rows: int | None
) -> int | None:
    """Return how many more questions are admitted, None if nothing limits them. See `Holdout.remaining`."""
    policy = session.policy
    if session.ledger.read(lambda state: state.closed):
        return 0
    if policy.limits is None:
        return None
    if purpose is None:
        asked = session.ledger.read(lambda state: dict(state.asked))
        if not (policy.seals or only_certified(asked)):
            left = remaining_questions(session, metric, "check", guess_rows)
            if left:
                return left
        purpose = "certify"
    check_option(purpose, "purpose", "Holdout.remaining", PURPOSES)
    if purpose == "certify" and policy.seals:
        last = last_search(session.ledger)
        seal = None if last is None else seal_of(last.mechanism)
        is_of_last = last is not None and (metric is None or metric.name == last.metric["name"])
        if is_of_last and isinstance(seal, SealedInterval):
            return session.ledger.read(lambda state: _windows_left(state, seal))
        if not is_foreseen(session, metric):
            name = None if metric is None else metric.name
            expected = "a metric whose next width is foreseen: 'accuracy', say, or the one last searched by"
            fix = "Certify one model by it, which shows how wide its windows are, and ask again."
            raise bad_parameter("scoring", "Holdout.remaining", expected, name, fix)
    exact = worst_question(session, metric or session.metric("accuracy"), purpose, guess_rows)
    probe: Question = coarsely(session, exact) or exact
    return session.ledger.read(lambda state: admitted_one_by_one(state, probe))


def on_rows(outlook: Outlook, session: Session) -> Outlook:
    """Return the outlook with as many questions as `Holdout.remaining` counts, which knows the rows.

    Weights, and a class mix that was declared, widen intervals; a ledger alone does not have them.
    """
    if session.policy.limits is None:
        return outlook
    left = {each: remaining_questions(session, None, each, None) for each in outlook.remaining}
    return replace(outlook, remaining=left)


def is_foreseen(session: Session, metric: Metric | None) -> bool:
    """Return whether a certify's width follows from the rows alone; None stands for the ledger's metric."""
    if metric is None:
        outlook: Outlook = session.ledger.read(lambda state: outlook_of(state, None))
        return outlook.metric is not None or not outlook.in_cells
    if not is_answered_coarsely(session, metric):
        return True
    return coarsely(session, worst_question(session, metric, "certify", None)) is not None


def _forecasts_of_searches(state: State, value: float) -> list[Forecast]:
    """Return the forecasts of the next searches; with ``"auto"`` the first is exact."""

    def forecast(at: State, after: int, named: int | None = None) -> Forecast:
        probe, worst = (_probes(at, each, after)["certify"] for each in (value, 0.5))
        return _forecast(at, probe, probe, worst, after, named)

    if state.policy.answers != "auto" or state.has_certified:
        return [forecast(state, after) for after in _AHEAD]
    probe, worst = (_probes(state, each)["certify"].exact for each in (value, 0.5))
    first = _forecast(state, probe, probe, worst, 0)
    later = copy.deepcopy(state)
    event = CodedRelease(probe.expected_symbols(state.allowance("certify", at_once=True)))
    later.account.record(event)
    later.asked["certify"] += 1
    assert later.purse is not None
    _, later.purse = later.purse.at_once()
    return [first, *(forecast(later, n - 1, n) for n in _AHEAD[1:])]


def only_certified(asked: Mapping[str, int]) -> bool:
    """Return whether values were asked for so far, and no check."""
    return asked["certify"] > 0 and asked["check"] == 0


def headline(
    outlook: Outlook, tolerance: float | None, asked: Mapping[str, int], *, closed: bool = False
) -> str:
    """Return in one sentence what can still be asked, or how to get more.

    Of a ledger that answers coarsely it says how the next search is answered and what `publish` would
    release; of others, how many questions there are.

    Parameters
    ----------
    outlook : Outlook
    tolerance : float or None
    asked : mapping of str to int
        How many questions there were of each purpose.
    closed : bool, default=False
        Whether the holdout was closed.
    """
    if closed:
        return "The holdout is closed: nothing new is answered; what is recorded or sealed still is."
    if outlook.in_cells:
        return _headline_of_searches(outlook, tolerance)
    if tolerance is not None:
        checks, models = (outlook.remaining[purpose] or 0 for purpose in PURPOSES)
        if checks and not only_certified(asked):
            return f"You can still ask {_count_of(checks, 'question')} at +-{tolerance:g} whose guesses hold."
        if models:
            rest = "" if checks else ", and ask no check"
            return f"You can still certify {_count_of(models, 'model')} at +-{tolerance:g}{rest}."
        return f"You can ask no more questions at +-{tolerance:g}: add fresh rows (top_up) to go on."
    ahead = outlook.of("check")
    useful = [f for f in ahead if f.half_width < _VACUOUS]
    if not useful:
        return _NOTHING
    last = useful[-1]
    many = max(last.after, 1)
    return (
        f"You can still ask {counted(many, 'question')} at +-{in_full(last.half_width)} whose guesses hold"
        + (", and more at wider intervals." if last is ahead[-1] else "; add fresh rows (top_up) for more.")
    )


NOT_FORESEEN = (
    "How wide the next search is answered is not foreseen: that follows from its metric and its guess "
    "(plan_holdout(scoring=...) says what is usual)."
)
_NOTHING = "You can still ask, but answers certify nothing: add fresh rows (top_up; plan_holdout: how many)."


def _headline_of_searches(outlook: Outlook, tolerance: float | None) -> str:
    """Return the headline of a ledger that answers coarsely; widths are in units of the metric."""
    if outlook.metric is None or outlook.published is None:
        return NOT_FORESEEN
    first, *_, last = outlook.of("certify")
    kept = outlook.published < _VACUOUS
    publishing = f"publish() would release a score at about +-{in_full(outlook.published * outlook.span)}."
    if outlook.finals:
        were = "score was" if outlook.finals == 1 else "scores were"
        publishing = f"{outlook.finals} {were} published, and of another model {publishing}"
    left = outlook.remaining["certify"]
    if tolerance is not None and not left:
        of_kept = "" if outlook.finals else "of the model that is kept "
        rest = f"{of_kept}{publishing}" if kept else "add fresh rows (top_up) to go on."
        return f"No more searches by {outlook.metric} are within the tolerance of {tolerance:g}: {rest}"
    if first.half_width >= _VACUOUS:
        return _NOTHING
    text = f"The next search by {outlook.metric}"
    if left is not None:
        text = f"You can still run {_count_of(left, 'search')} by {outlook.metric}; the next"
    text += f" is answered at about +-{in_full(first.half_width * outlook.span)}"
    if left is None and last.half_width < _VACUOUS:
        text += f", after {last.after} more at +-{in_full(last.half_width * outlook.span)}"
    return f"{text}, if guesses hold; {publishing}" if kept else f"{text}, if guesses hold."


def _count_of(count: int, noun: str) -> str:
    """Return a count with its noun; one that was counted no further stands for any number."""
    text = counted(count, noun)
    return f"any number of {text.split(' ')[1]}" if count >= MANY else text


def _forecast(
    state: State, before: Question, probe: Question, worst: Question, after: int, named: int | None = None
) -> Forecast:
    """Return the forecast of a question that comes ``after`` so many like ``before``; named as ``named``."""
    allowance = allowance_ahead(state, before, after, purpose=probe.purpose)
    named = after if named is None else named
    try:
        allowance = with_routes(state, probe, allowance, after + 1)
    except RefusedError:
        return Forecast(named, probe.purpose, 0.5, 0.5, False)
    bound, width = foreseen_half_width(state, worst, allowance)
    if probe.seal is not None:
        half, _ = foreseen_half_width(state, probe, allowance)
    else:
        event = CodedRelease(probe.expected_symbols(allowance))
        low, high = probe.outcome(event, allowance, {}, None).interval
        half = (high - low) / 2.0
    return Forecast(named, probe.purpose, half, bound, state.is_tolerated(bound, width))


def _probes(state: State, value: float, ahead: int = 0) -> dict[str, Question]:
    """Return a question about a mean for each purpose, after ``ahead`` more about winners.

    Of the holdout it needs the number of rows only.
    """
    stand_in = HoldoutData(np.zeros((state.units, 1)), np.zeros(state.units, dtype=np.int8))
    metric, probes = Metric("accuracy"), dict[str, Question]()
    for purpose in PURPOSES:
        coded = CodedQuestion.plan(purpose, metric, Guess(value), stand_in, state.policy)
        alone = state.units == state.rows  # groups are no count, so they are answered exactly
        asks = state.winners_before(None) + ahead
        sealed = in_cells(coded, stand_in, state.policy, asks=asks) if alone else None
        probes[purpose] = sealed or by_default(coded, stand_in, state.policy)
    return probes
