"""What was asked of a holdout, what was answered, what is spent and what is left."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from sklearn_ada._table import counted, percent, printable
from sklearn_ada.exceptions import LedgerError
from sklearn_ada.holdout.records import AnswerRecord, Conversation, Genesis, RefusalRecord, read_record
from sklearn_ada.holdout.records.confirmation import OUTCOMES
from sklearn_ada.holdout.records.conversation import from_last_checkpoint
from sklearn_ada.holdout.records.sealed import UnsealedRecord
from sklearn_ada.holdout.report.entry import Entry
from sklearn_ada.holdout.report.outlook import Outlook, headline, outlook_of
from sklearn_ada.holdout.report.targets import Targets
from sklearn_ada.holdout.session.closing import as_closed
from sklearn_ada.ledger import Ledger, Record
from sklearn_ada.metrics.difference import OF_TWO
from sklearn_ada.metrics.registry import RESPONSES
from sklearn_ada.results import Answer

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["HoldoutReport", "page_of_summary", "report_of", "summary_of"]


@dataclass(frozen=True)
class HoldoutReport:
    """A plain summary of a ledger: no holdout rows, no secret, safe to pickle and to show.

    Attributes
    ----------
    fingerprint : str
        Keyed digest of the holdout's content.
    n_rows : int
    confidence_level : float
    tolerance : float or None
    nats : float
        Everything revealed so far, by description length.
    asked : dict
        Questions admitted, by purpose.
    refused : int
    answers : tuple of (metric name, Answer)
        In the order of the ledger.
    entries : tuple of Entry
        The same questions in plain columns: who asked, when, with which guess, and what came of it.
    outlook : Outlook
        What is left, and how the next intervals would look.
    asked_by : dict
        Questions put by each asker, the refused among them; "?" stands for those who gave no name.
    targets : dict
        How many values were given so far of each target, the population quantity that a value estimates.
    confirmed : dict
        How often a question was asked again, by what the model then said on the holdout: "the same" as is
        recorded, or something "different", which made it a new question.
    head : str
        Number of records and their hash, as a line of text. Keep it: ``ledger verify FILE --head`` proves
        later that a file begins with the same records.
    remark : str
        How questions are answered and admitted, where counts are answered in cells; else empty.
    closed : bool
        Whether the holdout was closed: then nothing new is answered.
    told_in : dict of int to int
        Of each sealed answer whose exact value was told since, by the number of its record: that of the
        record in which it was published or, if it was not, unsealed.
    """

    fingerprint: str
    n_rows: int
    confidence_level: float
    tolerance: float | None
    nats: float
    asked: dict[str, int]
    refused: int
    answers: tuple[tuple[str, Answer], ...]
    entries: tuple[Entry, ...]
    outlook: Outlook
    asked_by: dict[str, int]
    targets: dict[str, int]
    confirmed: dict[str, int]
    head: str
    remark: str = ""
    closed: bool = False
    told_in: dict[int, int] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """What is left, in one sentence: "You can still ask N questions at +-w".

        Where searches are told cells: what the next one is told, and what `certify` would publish; where all
        scores so far are of a regression, which has no cells, that they are told exactly.
        """
        in_cells = self.outlook.in_cells and not self.closed
        if in_cells and self.targets and all(map(_is_of_numbers, self.targets)):
            return (
                f"Scores of a regression are told exactly, at once: {self.nats:.3g} nats are revealed, and "
                "each search makes later intervals wider."
            )
        return headline(self.outlook, self.tolerance, closed=self.closed)

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each question, in the columns of `to_dicts`, indexed by record.

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
        columns = [field.name for field in fields(Entry)]
        return DataFrame(self.to_dicts(), columns=columns).set_index("index")

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the single answers, ready for JSON."""
        names = ("fingerprint", "n_rows", "confidence_level", "tolerance", "nats", "asked", "refused")
        plain = {name: getattr(self, name) for name in (*names, "asked_by", "targets", "confirmed", "head")}
        return {"headline": self.headline, **plain, "outlook": self.outlook.to_dict()}

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict per answer, ready for a data frame."""
        return [entry.to_dict() for entry in self.entries]

    def __repr__(self) -> str:
        lines = [
            self.headline,
            f"  {self._summary()}",
            f"  head {self.head}",
            *self._outlook_lines(),
        ]
        lines += [f"  {self.remark}"] if self.remark else []
        if len(self.answers) > _SHOWN:
            lines.append(f"  ... {counted(len(self.answers) - _SHOWN, 'earlier answer')}")
        targets = _targets(self.entries[-_SHOWN:])
        pairs = list(zip(self.answers, self.entries, strict=True))[-_SHOWN:]
        told: set[str | None] = set()
        for pair, entry in pairs:
            answer = pair[1]
            lines.append(_line(self, pair, entry, targets, answer.reason in told))
            told |= set() if answer.answered else {answer.reason}
        return "\n".join([*lines, *(f"  {line}" for line in targets.lines)])

    def _repr_html_(self) -> str:
        targets = _targets(self.entries)
        rows = "".join(
            f"<tr><td>{a.index}</td><td>{html.escape(m)}</td><td>{targets.mark(entry.score_of).strip()}</td>"
            f"<td>{html.escape(self._told(a))}</td>"
            f"<td>{html.escape(_signature(entry))}</td></tr>"
            for (m, a), entry in zip(self.answers, self.entries, strict=True)
        )
        left = "".join(f"<br>{html.escape(line)}" for line in self._outlook_lines())
        beneath = "<br>".join(map(html.escape, targets.lines))
        head = "".join(f"<th>{name}</th>" for name in ("#", "metric", "target", "answer", "asked by"))
        return (
            f"<p><b>{html.escape(self.headline)}</b><br>{html.escape(self._summary())}{left}</p><details>"
            f"<summary>{len(self.answers)} answers</summary><table><tr>{head}</tr>{rows}</table>"
            f"<p>{beneath}</p></details>"
        )

    def _told(self, answer: Answer) -> str:
        """Return an answer in a line; of a sealed one where its exact value was told, if it was."""
        record = self.told_in.get(answer.index)
        said = replace(answer, published=None).summary  # that width was foreseen when it was asked
        return said if record is None else f"{said}, its exact value is in record {record}"

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
        """Return lines about the next questions, for a mean of a bounded score over all rows."""
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
            name, held = ("search", "searches") if of_cells else (purpose, "held checks")
            lines.append(f"  next {name}: +-{widths} of the range after {after} more {held}{left}")
        if cells and not self.closed:
            another = " another" if self.outlook.finals else ""
            lines.append(
                f"  certify() would publish{another or ' an'} exact value at about "
                f"+-{self.outlook.published:.3g}"
            )
        return lines


_SHOWN = 10


def _is_of_numbers(target: str) -> bool:
    """Return whether a target is of a scorer that takes numbers, of which none has cells."""
    name = target.removeprefix("population ").split(maxsplit=1)[0].strip(",")
    return name in RESPONSES and RESPONSES[name].target == "numbers"


def _line(
    report: HoldoutReport, pair: tuple[str, Answer], entry: Entry, targets: Targets, again: bool
) -> str:
    """Return an answer in a line; a reason that stands above already is not repeated."""
    metric, answer = pair
    signature = _signature(entry)
    said = f"{answer.verdict}, for the same reason" if again else report._told(answer)
    told = f"  {answer.index:>5}  {metric}{targets.mark(entry.score_of)}: {said}"
    told += f", {entry.model}" if entry.model else ""
    return told + (f", asked by {signature}" if signature else "")


def _targets(entries: tuple[Entry, ...]) -> Targets:
    return Targets(entry.score_of for entry in entries)


def _signature(entry: Entry) -> str:
    return " from ".join(printable(name) for name in (entry.who, entry.label) if name)


def report_of(ledger: Ledger[Conversation]) -> HoldoutReport:
    """Return the report of a ledger with all its answers, read back from its records."""
    genesis = Genesis(ledger.genesis)
    records = list(ledger.records())
    closed = {r.body["round"]: float(r.body["nats"]) for r in records if r.body.get("kind") == "round_close"}
    listed = [
        (record, as_closed(ledger, record, closed) if isinstance(read, AnswerRecord) else read)
        for record in records
        if isinstance(read := read_record(record.body), AnswerRecord | RefusalRecord)
    ]
    summary: HoldoutReport = ledger.read(lambda state: _summary(state, genesis))
    return replace(
        summary,
        answers=tuple((read.metric_name, read.answer(record, genesis)) for record, read in listed),
        entries=tuple(Entry.of(record) for record, _ in listed),
        head=ledger.head(),
        told_in=_told_in(records),
    )


def _told_in(records: Iterable[Record]) -> dict[int, int]:
    """Return in which record the exact value of each sealed one was told; a published one is narrower."""
    told: dict[int, int] = {}
    for record in records:
        if record.body.get("kind") == UnsealedRecord.kind:
            number = int(record.body["of"])
            if record.body["final"] or number not in told:
                told[number] = record.seq
    return told


def summary_of(ledger: Ledger[Conversation]) -> HoldoutReport:
    """Return the report of a ledger without its answers, of a long one from its last checkpoint on.

    What is read is verified against the head. ``ledger verify`` reads and verifies all the rest.
    """
    genesis, found = Genesis(ledger.genesis), from_last_checkpoint(ledger)
    if found is not None:
        return replace(_summary(found[0], genesis), head=str(found[1]))
    summary: HoldoutReport = ledger.read(lambda state: _summary(state, genesis))
    return replace(summary, head=ledger.head())


def page_of_summary(ledger: Ledger[Conversation], name: str) -> str:
    """Return a holdout of this name in HTML: what is left, what was asked and revealed, no single answer."""
    title = f"<p><b>{html.escape(name)}</b></p>"
    try:
        report = summary_of(ledger)
    except LedgerError as error:  # a notebook shows it all the same
        return f"{title}<p>What is left cannot be told: {html.escape(str(error))}</p>"
    tolerance = "none" if report.tolerance is None else f"half-width {report.tolerance:g} of the range"
    people = ", ".join(
        f"{'nobody named' if who == '?' else printable(who)} ({n})" for who, n in report.asked_by.items()
    )
    facts = {
        "Left": report.headline,
        "Asked": ", ".join(counted(n, purpose) for purpose, n in report.asked.items())
        + f", {report.refused} refused",
        "Asked by": people or "nobody yet",
        "Revealed": f"{report.nats:.3g} nats",
        "Confidence": f"{percent(report.confidence_level)}, of all intervals together",
        "Tolerance": tolerance,
        "Head": report.head,
    }
    rows = "".join(f"<tr><th>{key}</th><td>{html.escape(text)}</td></tr>" for key, text in facts.items())
    return f"{title}<table>{rows}</table>"


def _remark(state: Conversation) -> str:
    told = "counts are answered with cells and sealed"
    if state.policy.tolerance is not None:
        told += "; a question is admitted by the width that its answer has if the guess holds"
    return told + ("; closed: nothing new is answered" if state.closed else "")


def _summary(state: Conversation, genesis: Genesis) -> HoldoutReport:
    return HoldoutReport(
        fingerprint=state.fingerprint,
        n_rows=state.rows,
        confidence_level=genesis.confidence_level,
        tolerance=genesis.tolerance,
        nats=state.account.nats,
        asked=dict(state.asked),
        refused=state.refused,
        answers=(),
        entries=(),
        outlook=outlook_of(state, 0.5 if state.last_value is None else state.last_value),
        asked_by=dict(state.askers),
        targets=Targets(state.targets).counts,
        confirmed=dict(zip(OUTCOMES, state.confirmed, strict=True)),
        head="",
        remark="" if state.purse is None else _remark(state),
        closed=state.closed,
    )
