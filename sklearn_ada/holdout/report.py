"""The report of a holdout: what was asked, what was answered, what is spent, and what is left.

**The outlook** says how wide the next intervals would be, from the records and the number of rows alone. It
is shown for a mean of a bounded score over all rows, such as accuracy, as a share of its range. Other metrics
rest on fewer independent terms and have wider intervals; `Holdout.remaining` counts for any metric.

**Targets** are the population quantities that values estimate, in words, often the same for many answers: a
table marks them [a], [b] and lists them beneath it. Checks of a stable median differ in the steps to which
their values are rounded; they share a mark.
"""

from __future__ import annotations

import copy
import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ada._validation import counted, percent, printable
from sklearn_ada.accounting.events import CodedRelease
from sklearn_ada.answer import Answer
from sklearn_ada.exceptions import LedgerError
from sklearn_ada.guarantees.description_length import PURPOSES
from sklearn_ada.holdout.asking import final_half_width, foreseen_half_width, with_routes
from sklearn_ada.holdout.framing import by_default
from sklearn_ada.holdout.records import COLUMNS, OUTCOMES, Entry, entry_of, from_last_checkpoint
from sklearn_ada.holdout.rounds import MANY, admitted_one_by_one, allowance_ahead
from sklearn_ada.holdout.session import RecordedAnswers, Shown
from sklearn_ada.holdout.state import LedgerRecord, Listed, RefusedError, State
from sklearn_ada.ledger.hash_chain import Ledger, Record
from sklearn_ada.metrics.base import SCORERS
from sklearn_ada.metrics.metric import OF_TWO, Metric
from sklearn_ada.questions.coded import CodedQuestion
from sklearn_ada.questions.question import Guess, Question
from sklearn_ada.questions.sealed import in_cells
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import Genesis

if TYPE_CHECKING:
    from pandas import DataFrame


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
    """What a holdout can still do for a mean of a bounded score.

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
        """Whether a certify, such as a search's, is answered with a cell."""
        return self.published is not None

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; what is published only where there are cells."""
        body = asdict(self)
        if self.published is None:
            del body["published"], body["finals"]
        return body


def outlook_of(state: State, value: float) -> Outlook:
    """Return the outlook of a conversation for answers near ``value``."""
    probes, worst = _probes(state, value), _probes(state, 0.5)
    limited = state.policy.limits is not None
    remaining = {name: admitted_one_by_one(state, each) if limited else None for name, each in worst.items()}
    check, certify, published = probes["check"], probes["certify"], None
    forecasts = [_forecast(state, check, check, worst["check"], after) for after in _AHEAD]
    if certify.seal is not None:  # searches come before the next one, and no checks
        forecasts += _forecasts_of_searches(state, value)
        published = final_half_width(state, certify.seal, state.purse, state.account.nats)
    else:
        forecasts += [_forecast(state, check, certify, worst["certify"], after) for after in _AHEAD]
    return Outlook(value, remaining, tuple(forecasts), published, state.finals)


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


def headline(outlook: Outlook, tolerance: float | None, *, closed: bool = False) -> str:
    """Return in one sentence what can still be asked, or how to get more.

    Of a ledger that answers in cells it says how the next search is answered and what `certify` would
    publish; of others, how many questions there are.

    Parameters
    ----------
    outlook : Outlook
    tolerance : float or None
    closed : bool, default=False
        Whether the holdout was closed.
    """
    if closed:
        return "The holdout is closed: nothing new is answered; what is recorded or sealed still is."
    if outlook.in_cells:
        return _headline_of_cells(outlook, tolerance)
    if tolerance is not None:
        left = outlook.remaining["check"]
        many = max((count for count in outlook.remaining.values() if count is not None), default=0)
        if left:
            return f"You can still ask {_count_of(left, 'question')} at +-{tolerance:g} whose guesses hold."
        if many:
            return f"You can still certify {_count_of(many, 'model')} at +-{tolerance:g}, and ask no check."
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


def _headline_of_cells(outlook: Outlook, tolerance: float | None) -> str:
    """Return the headline of a ledger that answers in cells; widths are those of a count such as accuracy."""
    assert outlook.published is not None
    first, *_, last = (f for f in outlook.forecasts if f.purpose == "certify")
    kept = outlook.published < _VACUOUS
    publishing = f"publish() would release an exact score at about +-{outlook.published:.2g}."
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
    text = f"The next search by accuracy is told the score of its winner at about +-{first.half_width:.2g}"
    if left is not None:
        text = f"You can still run {_count_of(left, 'search')} by accuracy; the next is told the "
        text += f"score of its winner at about +-{first.half_width:.2g}"
    elif last.half_width < _VACUOUS:
        text += f", after {last.after} more at +-{last.half_width:.2g}"
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


_STEPS = re.compile(r", rounded to steps of (\S+)$")


class Targets:
    r"""The targets of some answers, each with a mark.

    Parameters
    ----------
    targets : iterable of (str or None), or mapping of str to int
        Of all answers that are shown, in their order, None for those without a score; or how many have each.

    Examples
    --------
    >>> shown = Targets(["population accuracy", None, "median of r2, rounded to steps of 0.1"])
    >>> shown.mark("population accuracy"), shown.mark(None)
    (' [a]', '')
    >>> print(*shown.lines, sep="\n")
    [a] population accuracy
    [b] median of r2, rounded to steps of 0.1
    """

    def __init__(self, targets: Iterable[str | None] | Mapping[str, int]) -> None:
        self._counts: Counter[str] = Counter()
        self._steps: dict[str, set[float]] = {}
        counts = targets if isinstance(targets, Mapping) else Counter(each for each in targets if each)
        for target, count in counts.items():
            self._counts[_without_steps(target)] += count
            steps = _STEPS.search(target)
            if steps is not None:
                self._steps.setdefault(_without_steps(target), set()).add(float(steps[1]))
        self._marks = {kind: f"[{letters(number)}]" for number, kind in enumerate(self._counts)}

    def mark(self, target: str | None) -> str:
        """Return what follows the name of the metric: a blank and the mark, or nothing without a target."""
        return "" if target is None else f" {self._marks[_without_steps(target)]}"

    @property
    def lines(self) -> list[str]:
        """Every mark with its target."""
        return [f"{mark} {self._in_words(kind)}" for kind, mark in self._marks.items()]

    @property
    def counts(self) -> dict[str, int]:
        """How many scores there are of each target."""
        return {self._in_words(kind): count for kind, count in self._counts.items()}

    def _in_words(self, kind: str) -> str:
        steps = self._steps.get(kind)
        if not steps:
            return kind
        least, largest = f"{min(steps):.3g}", f"{max(steps):.3g}"
        words = least if least == largest else f"{least} to {largest}"
        return _STEPS.sub(f", rounded to steps of {words}", kind)


def _without_steps(target: str) -> str:
    """Return a target without the width of its steps."""
    return _STEPS.sub(", rounded to steps of 0", target)


def letters(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    more, last = divmod(number, 26)
    return (letters(more - 1) if more else "") + chr(ord("a") + last)


@dataclass(frozen=True)
class HoldoutReport:
    """A summary of a ledger without rows or secret, safe to pickle and to show.

    Attributes
    ----------
    fingerprint : str
        Digest of the holdout's content, which only the holdout's owner can compute.
    n_rows : int
        Number of rows.
    confidence_level, tolerance : float, float or None
        As the ledger was begun: see `Holdout`.
    nats : float
        The information about the holdout that was revealed so far.
    asked : dict
        How many questions were admitted, by purpose.
    refused : int
        How many questions were refused.
    answers : sequence of (metric name, Answer)
        All answers, in the order of the ledger; those of a long one are read when they are looked at.
    entries : sequence of Entry
        The same questions in plain columns: who asked, when, with which guess, and what came of it.
    outlook : Outlook
        How many questions are left, and how wide the next intervals would be.
    asked_by : dict
        How many questions each person asked, refused ones included. "?" stands for people without a name.
    targets : dict
        How many values were given of each target, the population quantity that a value estimates.
    confirmed : dict
        How often a question was asked again, by what came of it: the model predicted "the same" as recorded,
        or something "different", which made it a new question.
    head : str
        Number of records and their hash, as a line of text. Keep it: ``ledger verify FILE --head`` proves
        later that a file begins with the same records.
    remark : str
        How a ledger with coarse answers answers and admits questions; else empty.
    closed : bool
        Whether the holdout was closed and answers nothing new.
    released_in : dict of int to int
        Of each sealed answer whose exact value was released since, by the number of its record: the number
        of the record in which it was published or, if it was not, unsealed.
    """

    fingerprint: str
    n_rows: int
    confidence_level: float
    tolerance: float | None
    nats: float
    asked: dict[str, int]
    refused: int
    answers: Sequence[tuple[str, Answer]]
    entries: Sequence[Entry]
    outlook: Outlook
    asked_by: dict[str, int]
    targets: dict[str, int]
    confirmed: dict[str, int]
    head: str
    remark: str = ""
    closed: bool = False
    released_in: dict[int, int] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """What is left, in one sentence: "You can still ask N questions at +-w".

        On a ledger with coarse answers: how wide the next search's answer would be, and what `publish` would
        release.
        """
        in_cells = self.outlook.in_cells and not self.closed
        of_numbers = all(map(_is_of_numbers, self.targets))
        by_windows = self.tolerance is None and not any(map(_may_be_a_count, self.targets))
        if in_cells and self.targets and (of_numbers or by_windows):
            return self._headline_of_windows(of_numbers=of_numbers)
        return headline(self.outlook, self.tolerance, closed=self.closed)

    def _headline_of_windows(self, *, of_numbers: bool) -> str:
        """Return the headline where no count was asked for: an outlook has the widths of counts alone."""
        last = next((each for each in reversed(self.entries[-_SHOWN:]) if each.published is not None), None)
        if last is None and not (of_numbers and self.entries):
            return f"{self.nats:.3g} nats are revealed; the report says how widely the last score was told."
        if last is None or last.low is None or last.high is None:
            return (
                f"Scores of a regression were told exactly, at once: {self.nats:.3g} nats are revealed, and "
                "each such answer makes later intervals wider."
            )
        text = f"The last {last.metric} was told at +-{(last.high - last.low) / 2.0:.2g}; "
        if self.outlook.finals:
            return text + "an exact score was published."
        return f"{text}publish() would release an exact score at about +-{last.published:.2g}."

    def to_frame(self) -> DataFrame:
        """Return the entries as a data frame, a line for each question, indexed by record.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError(
                "HoldoutReport.to_frame needs pandas: pip install pandas. Plain rows are in to_dicts()."
            ) from error
        return DataFrame(self.to_dicts(), columns=list(COLUMNS)).set_index("index")

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the single answers, as JSON can write it."""
        names = ("fingerprint", "n_rows", "confidence_level", "tolerance", "nats", "asked", "refused")
        plain = {name: getattr(self, name) for name in (*names, "asked_by", "targets", "confirmed", "head")}
        return {"headline": self.headline, **plain, "outlook": self.outlook.to_dict()}

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict per answer, ready for a data frame."""
        return [entry.to_dict() for entry in self.entries]

    def __repr__(self) -> str:
        lines = [self.headline, f"  {self._summary()}", f"  head {self.head}", *self._outlook_lines()]
        lines += [f"  {self.remark}"] if self.remark else []
        if len(self.answers) > _SHOWN:
            lines.append(f"  ... {counted(len(self.answers) - _SHOWN, 'earlier answer')}")
        answers, entries, reasons = self.answers[-_SHOWN:], self.entries[-_SHOWN:], set[str | None]()
        targets = _targets_of(entries)
        for (metric, answer), entry in zip(answers, entries, strict=True):
            again = f"{answer.verdict}, for the same reason" if answer.reason in reasons else ""
            line = f"  {answer.index:>5}  {metric}{targets.mark(entry.score_of)}: "
            line += again or self._in_a_line(answer)
            line += f", {entry.model}" if entry.model else ""
            lines.append(line + (f", asked by {signature}" if (signature := _signature(entry)) else ""))
            if not answer.answered:
                reasons.add(answer.reason)
        return "\n".join([*lines, *(f"  {line}" for line in targets.lines)])

    def _repr_html_(self) -> str:
        answers, entries = self.answers[-_ON_PAGE:], self.entries[-_ON_PAGE:]
        targets = _targets_of(entries)
        rows = "".join(
            f"<tr><td>{a.index}</td><td>{html.escape(m)}</td><td>{targets.mark(entry.score_of).strip()}</td>"
            f"<td>{html.escape(self._in_a_line(a))}</td>"
            f"<td>{html.escape(_signature(entry))}</td></tr>"
            for (m, a), entry in zip(answers, entries, strict=True)
        )
        cut = "" if len(answers) == len(self.answers) else f", the last {len(answers)}"
        left = "".join(f"<br>{html.escape(line)}" for line in self._outlook_lines())
        beneath = "<br>".join(map(html.escape, targets.lines))
        head = "".join(f"<th>{name}</th>" for name in ("#", "metric", "target", "answer", "asked by"))
        return (
            f"<p><b>{html.escape(self.headline)}</b><br>{html.escape(self._summary())}{left}</p><details>"
            f"<summary>{len(self.answers)} answers{cut}</summary><table><tr>{head}</tr>{rows}</table>"
            f"<p>{beneath}</p></details>"
        )

    def _in_a_line(self, answer: Answer) -> str:
        """Return an answer in a line; of a sealed one where its exact value was released, if it was."""
        record = self.released_in.get(answer.index)
        text = replace(answer, published=None).summary  # that width was foreseen when it was asked
        return text if record is None else f"{text}, its exact value is in record {record}"

    def _summary(self) -> str:
        asked = ", ".join(counted(count, purpose) for purpose, count in self.asked.items())
        if of_two := sum(count for target, count in self.targets.items() if OF_TWO in target):
            asked += f" ({counted(of_two, 'comparison')} among them)"
        anew = "asked again or published" if self.outlook.in_cells else "asked again"
        again = "".join(f", {count} {anew}: {what}" for what, count in self.confirmed.items() if count)
        return (
            f"Holdout {self.fingerprint[:12]} of {self.n_rows} rows: {asked}, {self.refused} refused{again}, "
            f"{self.nats:.3g} nats revealed; all intervals hold together with "
            f"{percent(self.confidence_level)}"
        )

    def _outlook_lines(self) -> list[str]:
        """Return lines about the next questions, for a mean of a bounded score."""
        lines: list[str] = []
        cells = self.outlook.in_cells
        for purpose, count in () if self.closed else self.outlook.remaining.items():
            if cells and purpose == "check" and not self.asked["check"]:
                continue  # a search of this ledger asks none
            of_this = [f for f in self.outlook.forecasts if f.purpose == purpose]
            widths = ", ".join(f"{f.half_width:.3g}" for f in of_this)
            after = ", ".join(str(f.after) for f in of_this)
            left = "" if count is None else f", {count:,} more within the tolerance"
            of_cells = cells and purpose == "certify"
            name, held = ("search by accuracy", "searches") if of_cells else (purpose, "held checks")
            lines.append(f"  next {name}: +-{widths} of the range after {after} more {held}{left}")
        if cells and not self.closed and any(map(_may_be_a_count, self.targets or ("accuracy",))):
            one, width = "another" if self.outlook.finals else "an", self.outlook.published
            lines.append(f"  publish() would release {one} exact value at about +-{width:.3g}")
        return lines


_SHOWN = 10
_ON_PAGE = 200
_AT_ONCE = 1000  # records that are read with the report


def _is_of_numbers(target: str) -> bool:
    """Return whether a target is of a scorer of numbers, in units of its own."""
    name = target.removeprefix("population ").split(maxsplit=1)[0].strip(",")
    return name in SCORERS and SCORERS[name].response.target == "numbers"


def _may_be_a_count(target: str) -> bool:
    """Return whether a target may be of a share of right labels, which is all that an outlook is of."""
    name = target.removeprefix("population ").split(maxsplit=1)[0].strip(",")
    return name not in SCORERS or SCORERS[name].counts


def _targets_of(entries: Sequence[Entry]) -> Targets:
    return Targets(entry.score_of for entry in entries)


def _signature(entry: Entry) -> str:
    return " from ".join(printable(name) for name in (entry.who, entry.label) if name)


def report_of(ledger: Ledger[State]) -> HoldoutReport:
    """Return the report of a ledger with all its answers.

    Those of a long ledger are read when they are looked at.
    """
    genesis = Genesis(ledger.genesis)

    def parts(state: State) -> tuple[HoldoutReport, Listed, int]:
        summary = replace(_report_of_state(state, genesis), released_in=dict(state.listed.released))
        return summary, state.listed, state.applied + 1

    def answer(record: Record, _: LedgerRecord, now: Shown) -> tuple[str, Answer]:
        return str(now.metric["name"]), now.answer(record, genesis)

    def entry(record: Record, asked: Shown, _: LedgerRecord) -> Entry:
        return entry_of(asked, record.seq).checked()

    summary, listed, count = ledger.read(parts)
    answers: Sequence[tuple[str, Answer]] = RecordedAnswers(ledger, listed, count, answer)
    entries: Sequence[Entry] = RecordedAnswers(ledger, listed, count, entry)
    if count <= _AT_ONCE:
        answers, entries = tuple(answers), tuple(entries)
    return replace(summary, answers=answers, entries=entries, head=ledger.head())


def summary_of(ledger: Ledger[State]) -> HoldoutReport:
    """Return the report of a ledger without its single answers.

    What is read is verified against the head. ``ledger verify`` reads and verifies all the rest.
    """
    genesis, found = Genesis(ledger.genesis), from_last_checkpoint(ledger)
    if found is not None:
        return replace(_report_of_state(found[0], genesis), head=str(found[1]))
    summary: HoldoutReport = ledger.read(lambda state: _report_of_state(state, genesis))
    return replace(summary, head=ledger.head())


def page_of_summary(ledger: Ledger[State], name: str) -> str:
    """Return a holdout of this name in HTML: what is left, what was asked and revealed, no single answer."""
    title = f"<p><b>{html.escape(name)}</b></p>"
    try:
        report = summary_of(ledger)
    except LedgerError as error:  # a notebook shows it all the same
        return f"{title}<p>What is left cannot be told: {html.escape(str(error))}</p>"
    tolerance = "none" if report.tolerance is None else f"half-width {report.tolerance:g} of the range"
    facts = {
        "Left": report.headline,
        "Asked": ", ".join(counted(n, purpose) for purpose, n in report.asked.items())
        + f", {report.refused} refused",
        "Asked by": askers_of(report.asked_by),
        "Revealed": f"{report.nats:.3g} nats",
        "Confidence": f"{percent(report.confidence_level)}, of all intervals together",
        "Tolerance": tolerance,
        "Head": report.head,
    }
    rows = "".join(f"<tr><th>{key}</th><td>{html.escape(text)}</td></tr>" for key, text in facts.items())
    return f"{title}<table>{rows}</table>"


def askers_of(asked_by: Mapping[str, int]) -> str:
    """Return who has asked, and how often."""
    names = {"nobody named" if who == "?" else printable(who): n for who, n in asked_by.items()}
    return ", ".join(f"{who} ({times:,})" for who, times in names.items()) or "nobody yet"


def _remark(state: State) -> str:
    remark = "counts are answered with cells, other metrics with windows, and sealed"
    if state.policy.tolerance is not None:
        remark += "; a question is admitted by the width that its answer has if the guess holds"
    return remark + ("; closed: nothing new is answered" if state.closed else "")


def _report_of_state(state: State, genesis: Genesis) -> HoldoutReport:
    value = 0.5 if state.last_value is None else state.last_value
    return HoldoutReport(
        state.fingerprint, state.rows, genesis.confidence_level, genesis.tolerance, state.account.nats,
        dict(state.asked), state.refused, answers=(), entries=(), outlook=outlook_of(state, value),
        asked_by=dict(state.askers), targets=Targets(state.targets).counts,
        confirmed=dict(zip(OUTCOMES, state.confirmed, strict=True)), head="",
        remark="" if state.purse is None else _remark(state), closed=state.closed,
    )  # fmt: skip
