"""The report of a holdout: what was asked, what was answered, what is spent, and what is left.

How wide the next intervals would be is the outlook (`sklearn_ada.holdout.outlook`).

**Targets** are the population quantities that values estimate, in words, often the same for many answers: a
table marks them [a], [b] and lists them beneath it. Checks of a stable median differ in the steps to which
their values are rounded; they share a mark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sklearn_ada._html import facts, folded, framed, paragraph, table
from sklearn_ada._validation import counted, in_full, percent, printable
from sklearn_ada.answer import OF_TWO, ROUNDED, Answer, population_of
from sklearn_ada.exceptions import LedgerError
from sklearn_ada.holdout.outlook import Outlook, headline, last_search, on_rows, outlook_of
from sklearn_ada.holdout.records import COLUMNS, OUTCOMES, Entry, SealedRecord, entry_of, from_last_checkpoint
from sklearn_ada.holdout.session import RecordedAnswers, Session, Shown
from sklearn_ada.holdout.state import LedgerRecord, Listed, State
from sklearn_ada.ledger.hash_chain import Ledger, Record
from sklearn_ada.terms.policy import Genesis

if TYPE_CHECKING:
    from pandas import DataFrame


_STEPS = re.compile(rf"{ROUNDED}(\S+)$")


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
            steps = _STEPS.search(population_of(target))
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
        return _STEPS.sub(f"{ROUNDED}{words}", kind)


def _without_steps(target: str) -> str:
    """Return a target without the width of its steps, and without how a sealed score is shown."""
    return _STEPS.sub(f"{ROUNDED}0", population_of(target))


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

        On a ledger with coarse answers: how wide the next search's answer would be, by the metric of the last
        one, and what `publish` would release.
        """
        return headline(self.outlook, self.tolerance, self.asked, closed=self.closed)

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
        rows = [
            (
                *(str(a.index), m, targets.mark(entry.score_of).strip(), self._in_a_line(a)),
                *(entry.model or "", _signature(entry)),
            )
            for (m, a), entry in zip(answers, entries, strict=True)
        ]
        cut = "" if len(answers) == len(self.answers) else f", the last {len(answers)}"
        shown = table(("#", "metric", "target", "answer", "model", "asked by"), rows)
        return framed(
            paragraph(self.headline, self._summary(), *self._outlook_lines(), strong=1),
            folded(f"{counted(len(self.answers), 'answer')}{cut}", shown, paragraph(*targets.lines)),
        )

    def _in_a_line(self, answer: Answer) -> str:
        """Return an answer in a line; of a sealed one where its exact value was released, if it was."""
        record = self.released_in.get(answer.index)
        text = replace(answer, published=None).summary  # that width was foreseen when it was asked
        return text if record is None else f"{text}, its value is in record {record}"

    def _summary(self) -> str:
        asked = asked_in_words(self.asked)
        if of_two := sum(count for target, count in self.targets.items() if OF_TWO in target):
            asked += f" ({counted(of_two, 'comparison')} among them)"
        anew = "asked again or published" if self.outlook.in_cells else "asked again"
        again = "".join(
            f", {count} {anew}, with {what} predictions"
            for what, count in zip(("the same", "other"), self.confirmed.values(), strict=True)
            if count
        )
        return (
            f"Holdout {self.fingerprint[:12]} of {self.n_rows} rows: {asked}, {self.refused} refused{again}, "
            f"{self.nats:.3g} nats revealed; all intervals hold together with "
            f"{percent(self.confidence_level)}"
        )

    @property
    def foreseen(self) -> tuple[str, ...]:
        """The purposes whose next questions are shown: checks on a ledger of searches only if it has some."""
        asked = [name for name in self.outlook.remaining if not self.outlook.in_cells or self.asked["check"]]
        searches = ["certify"] if self.outlook.metric is not None else []
        return () if self.closed else (*dict.fromkeys((*asked, *searches)),)

    def _outlook_lines(self) -> list[str]:
        """Return lines about the next questions."""
        lines: list[str] = []
        outlook = self.outlook
        for purpose in self.foreseen:
            of_this, count = outlook.of(purpose), outlook.remaining[purpose]
            widths = ", ".join(f"{f.half_width:.3g}" for f in of_this)
            after = ", ".join(str(f.after) for f in of_this)
            left = "" if count is None else f", {count:,} more within the tolerance, at their widest"
            is_search = outlook.in_cells and purpose == "certify"
            name = f"search by {outlook.metric}" if is_search else purpose
            held = "searches" if is_search else "held checks"
            lines.append(f"  next {name}: +-{widths} of the range after {after} more {held}{left}")
        if outlook.published is not None and not self.closed:
            one, width = "another" if outlook.finals else "a", outlook.published * outlook.span
            lines.append(f"  publish() would release {one} score at about +-{in_full(width, 3)}")
        return lines


_SHOWN = 10
_ON_PAGE = 200
_AT_ONCE = 1000  # records that are read with the report


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
        summary = replace(_report_of_state(state, genesis, last), released_in=dict(state.listed.released))
        return summary, state.listed, state.applied + 1

    def answer(record: Record, _: LedgerRecord, now: Shown) -> tuple[str, Answer]:
        return str(now.metric["name"]), now.answer(record, genesis)

    def entry(record: Record, asked: Shown, _: LedgerRecord) -> Entry:
        return entry_of(asked, record.seq).checked()

    last = last_search(ledger)
    summary, listed, count = ledger.read(parts)
    answers: Sequence[tuple[str, Answer]] = RecordedAnswers(ledger, listed, count, answer)
    entries: Sequence[Entry] = RecordedAnswers(ledger, listed, count, entry)
    if count <= _AT_ONCE:
        answers, entries = tuple(answers), tuple(entries)
    return replace(summary, answers=answers, entries=entries, head=ledger.head())


def with_rows(report: HoldoutReport, session: Session) -> HoldoutReport:
    """Return the report of a holdout that is open, whose rows are there."""
    return replace(report, outlook=on_rows(report.outlook, session))


def summary_of(ledger: Ledger[State]) -> HoldoutReport:
    """Return the report of a ledger without its single answers.

    What is read is verified against the head. ``ledger verify`` reads and verifies all the rest.
    """
    genesis, found, last = Genesis(ledger.genesis), from_last_checkpoint(ledger), last_search(ledger)
    if found is not None:
        return replace(_report_of_state(found[0], genesis, last), head=str(found[1]))
    summary: HoldoutReport = ledger.read(lambda state: _report_of_state(state, genesis, last))
    return replace(summary, head=ledger.head())


def page_of_summary(session: Session, name: str) -> str:
    """Return a holdout of this name in HTML: what is left, what was asked and revealed, no single answer."""
    title = paragraph(name, strong=1)
    try:
        report = with_rows(summary_of(session.ledger), session)
    except LedgerError as error:  # a notebook shows it all the same
        return framed(title, paragraph(f"What is left cannot be read: {error}"))
    tolerance = "none" if report.tolerance is None else f"half-width {report.tolerance:g} of the range"
    named = {
        "Left": report.headline,
        "Asked": f"{asked_in_words(report.asked)}, {report.refused} refused",
        "Asked by": askers_of(report.asked_by),
        "Revealed": f"{report.nats:.3g} nats",
        "Confidence": f"{percent(report.confidence_level)}, of all intervals together",
        "Tolerance": tolerance,
        "Head": report.head,
    }
    return framed(title, facts(named))


def asked_in_words(asked: Mapping[str, int]) -> str:
    """Return how many questions were admitted.

    Examples
    --------
    >>> asked_in_words({"check": 0, "certify": 3}), asked_in_words({"check": 40, "certify": 1})
    ('3 questions', '41 questions (40 checks)')
    """
    checks = f" ({counted(asked['check'], 'check')})" if asked["check"] else ""
    return f"{counted(sum(asked.values()), 'question')}{checks}"


def askers_of(asked_by: Mapping[str, int]) -> str:
    """Return who has asked, and how often."""
    names = {"nobody named" if who == "?" else printable(who): n for who, n in asked_by.items()}
    return ", ".join(f"{who} ({times:,})" for who, times in names.items()) or "nobody yet"


def _remark(state: State) -> str:
    remark = "searches are answered with coarse intervals; publish() releases a score"
    if state.policy.tolerance is not None:
        remark += "; a question is admitted by the width that its answer has if the guess holds"
    return remark + ("; closed: nothing new is answered" if state.closed else "")


def _report_of_state(state: State, genesis: Genesis, last: SealedRecord | None) -> HoldoutReport:
    return HoldoutReport(
        state.fingerprint, state.rows, genesis.confidence_level, genesis.tolerance, state.account.nats,
        dict(state.asked), state.refused, answers=(), entries=(), outlook=outlook_of(state, last),
        asked_by=dict(state.askers), targets=Targets(state.targets).counts,
        confirmed=dict(zip(OUTCOMES, state.confirmed, strict=True)), head="",
        remark="" if state.purse is None else _remark(state), closed=state.closed,
    )  # fmt: skip
