"""What a holdout certified, as one document to hand over; writing it, and verifying one that was given.

The certificate is made from the ledger alone, ready for JSON. It tells what was asked, answered and revealed,
on which theorems and assumptions the intervals rest, and the head of the ledger, which vouches for all of it.
No rows, no secret, and nothing that is still sealed: it is made from answers, which hold none of these. The
page to read and print is one file without scripts and links. All that stands in it came from records, where a
name may be anything: every text is escaped.

**Verifying** (`ledger verify FILE --certificate`) makes it again from the records, and computes every
interval anew. An interval follows from what was released, the question's record and its allowance, the part
of the failure probability that it may use; the allowance follows from the records before it. So whoever has
the ledger can compute it again, without rows and models, wherever the number of rows is all that the interval
takes of the data. The size of a ROC AUC or of a per-class mean depends on the class counts, and that of
weighted or grouped rows on the weights, which no ledger holds; noise and medians are drawn. Those answers are
compared with their records, which the hash chain protects, and counted apart, as are those of mechanisms that
this release does not have.
"""

from __future__ import annotations

import contextlib
import functools
import html
import itertools
import json
import math
import os
import pathlib
import platform
import re
import shutil
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import IO, Any, NoReturn

import numpy as np

from sklearn_ada._validation import bad_parameter, counted, number, percent, printable
from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.events import CountRelease
from sklearn_ada.answer import fate, population_of, shown, shown_interval
from sklearn_ada.data.class_mix import ClassMix
from sklearn_ada.exceptions import LedgerDamagedError, LedgerError, LedgerMismatchError
from sklearn_ada.guarantees.description_length import intersection
from sklearn_ada.guarantees.tilted import Tilt
from sklearn_ada.guarantees.transcript import THEOREM
from sklearn_ada.holdout.records import (
    AnswerRecord,
    SealedRecord,
    UnsealedRecord,
    ValueRecord,
    entry_of,
    genesis_entry,
    read_answer,
    read_record,
)
from sklearn_ada.holdout.report import asked_in_words, askers_of, letters
from sklearn_ada.holdout.session import RecordedAnswers, Shown
from sklearn_ada.holdout.state import PRICED_ARRIVALS, State
from sklearn_ada.holdout.unsealing import released_by
from sklearn_ada.ledger.hash_chain import UNREADABLE, Head, Ledger, Record, parse_head
from sklearn_ada.ledger.written_files import check_written, written_file
from sklearn_ada.mechanisms.rounding import Cells
from sklearn_ada.metrics.counted import CountedTable
from sklearn_ada.metrics.metric import Metric, measure_of_record, no_scores
from sklearn_ada.questions.coded import CodedQuestion, foreseen_variance
from sklearn_ada.questions.question import FIRST_WORDS, Guess
from sklearn_ada.questions.seals import SealedInterval, seal_of
from sklearn_ada.terms.policy import Allowance, Genesis, as_given

FORMAT = "sklearn_ada certificate 1"
"""What a certificate of this kind begins with. Meanings never change."""

ADDED_LATER: frozenset[str] = frozenset()
"""Fields that certificates of older releases lack, as "holdout.identity" or "answers.model"."""

_OF_GENESIS = (
    "fingerprint", "identity", "rows", "confidence_level", "tolerance", "route", "class_mix", "answers",
    "seeded",
)  # fmt: skip


def export_certificate(ledger: Ledger[State], path: str | os.PathLike[str]) -> pathlib.Path:
    """Write the certificate of a ledger and return where it is; see `Holdout.export`."""
    target = pathlib.Path(path)
    ending = target.suffix.lower()
    if ending not in (".html", ".json"):
        fix = "Write both: the page to read, the JSON to verify."
        raise bad_parameter("path", "Holdout.export", "a file ending in .html or .json", str(path), fix)
    check_written(target, "path", "Holdout.export")
    prefix = prefix_of(ledger)
    with written_file(target, "path", "Holdout.export") as file:
        if ending == ".html":
            file.write(f"{page_of(prefix)}\n".encode())
        else:
            _write_json(prefix, file)
    return target


def _write_json(prefix: Prefix, file: IO[bytes]) -> None:
    """Write the certificate as JSON: its answers one after the other, as there may be very many."""
    told = Told(prefix)
    with tempfile.TemporaryFile() as answers:
        for number, each in enumerate(told):
            answers.write(f"{',' if number else '['}\n  {_indented(_answer(*each))}".encode())
        answers.write(b"\n ]" if told.count else b"[]")
        head, tail = json.dumps(told.whole([]), indent=1, allow_nan=False).split('"answers": []')
        file.write(f'{head}"answers": '.encode())
        answers.seek(0)
        shutil.copyfileobj(answers, file)
        file.write(f"{tail}\n".encode())


def _indented(answer: dict[str, Any]) -> str:
    """Return an answer as ``json.dumps`` writes it with an indent, which takes ten times as long."""
    lists = {name: each for name in ("interval", "levels") if (each := answer[name]) is not None}
    text = _encoder.encode({name: each if name not in lists else [] for name, each in answer.items()})
    for name, each in lists.items():
        items = ",\n    ".join(map(_encoder.encode, each))
        text = text.replace(f'"{name}": []', f'"{name}": [\n    {items}\n   ]', 1)
    return f"{{\n   {text[1:-1]}\n  }}"


_encoder = json.JSONEncoder(separators=(",\n   ", ": "), allow_nan=False)


def _answer(seq: int, read: Shown) -> dict[str, Any]:
    """Return what a certificate says of an answer, ready for JSON."""
    entry = entry_of(read, seq)
    return {**entry.picked(_OF_ANSWER), "nats": entry.nats or 0.0}


class Told:
    """The answers of a certificate, one after the other, and what they have in common.

    Parameters
    ----------
    prefix : Prefix

    Attributes
    ----------
    count, values : int
        How many answers were read so far, and how many of them have a value.
    finals : set of int
        Those that published an exact value, by the numbers of their records.
    theorems, targets, assumptions : dict
        Those of the answers that were read, in the order in which they came.
    """

    def __init__(self, prefix: Prefix) -> None:
        self.prefix = prefix
        self.count = self.values = 0
        self.finals = set[int]()
        self.theorems, self.targets = dict[str, None](), dict[str, None]()
        self.assumptions = dict.fromkeys(prefix.genesis.assumptions)

    def __iter__(self) -> Iterator[tuple[int, Shown]]:
        genesis = self.prefix.genesis
        for seq, read in self.prefix.answers:
            self.count += 1
            if isinstance(read, ValueRecord):
                self.assumptions |= dict.fromkeys(read.assumptions(genesis))
                if math.isfinite(read.outcome.value):
                    self.values += 1
                    self.theorems[read.outcome.full_theorem] = self.targets[read.outcome.target] = None
            if isinstance(read, UnsealedRecord) and read.is_final:
                self.finals.add(seq)
            yield seq, read

    def whole(self, answers: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the certificate with these answers, ready for JSON; NaN and infinite ends are None."""
        prefix, genesis, sums = self.prefix, self.prefix.genesis, self.prefix.sums
        return {
            "format": FORMAT,
            "statement": (
                f"With probability at least {genesis.confidence_level:.12g} over the draws of the holdout "
                "and of the ledger's secret, all intervals below contain their targets at once, however the "
                "questions were chosen."
            ),
            "holdout": {**genesis_entry(genesis, _OF_GENESIS), "rows_now": sums["rows"]},
            "asked": sums["asked"],
            "revealed": sums["revealed"],
            "theorems": list(self.theorems),
            "assumptions": list(self.assumptions),
            "targets": list(self.targets),
            "answers": answers,
            "head": str(prefix.head),
        }


_OF_ANSWER = (
    "index", "kind", "time", "who", "label", "model", "metric", "purpose", "mechanism", "guess", "value",
    "interval", "levels", "verdict", "vacuous", "nats", "epsilon", "rho", "published", "target", "theorem",
    "ln_delta", "reason",
)  # fmt: skip
"""What a certificate says of one answer."""


@dataclass(frozen=True)
class Prefix:
    """The records of a ledger up to a head.

    Attributes
    ----------
    ledger : Ledger
    head : Head
    """

    ledger: Ledger[State]
    head: Head

    @property
    def genesis(self) -> Genesis:
        """The first record."""
        return Genesis(self.ledger.genesis)

    def records(self) -> Iterator[Record]:
        """Return them, one after the other."""
        return itertools.islice(self.ledger.records(), self.head.count)

    @functools.cached_property
    def answers(self) -> RecordedAnswers[tuple[int, Shown]]:
        """Answers and refusals with their numbers, as they are once their rounds are closed."""
        listed = self.ledger.read(lambda state: state.listed)
        return RecordedAnswers(self.ledger, listed, self.head.count, lambda record, _, now: (record.seq, now))

    @functools.cached_property
    def sums(self) -> dict[str, Any]:
        """What the records add up to."""
        found = self.ledger.read(lambda state: _sums(state) if state.applied + 1 == self.head.count else None)
        if found is not None:
            return found
        state = State(self.ledger.genesis)  # the ledger goes on after them
        for record in itertools.islice(self.records(), 1, None):
            state.advance(record.body)
        return _sums(state)


def _sums(state: State) -> dict[str, Any]:
    return {
        "rows": state.rows,
        "asked": {**state.asked, "refused": state.refused, "asked by": dict(state.askers)},
        "revealed": {"nats": state.account.nats, "published": state.finals, "closed": state.closed},
    }


def prefix_of(ledger: Ledger[State], head: str | None = None) -> Prefix:
    """Return the records of a ledger up to a head, or all of them."""
    return Prefix(ledger, parse_head(ledger.head() if head is None else head))


_SHOWN = 200
"""How many answers a page shows, the last ones; the JSON has them all."""


def page_of(prefix: Prefix) -> str:
    """Return the certificate as HTML, with the date and the versions that made the page.

    Those are no part of the certificate, which is made again from the ledger to be verified.
    """
    told = Told(prefix)
    listed = [
        _answer(seq, read) | {"of": getattr(read, "number", None)} for seq, read in deque(told, maxlen=_SHOWN)
    ]
    certificate = told.whole([])
    holdout, asked, revealed = certificate["holdout"], certificate["asked"], certificate["revealed"]
    confidence, given = percent(holdout["confidence_level"]), counted(told.values, "interval")
    populations = dict.fromkeys(map(population_of, certificate["targets"]))
    targets = {target: number for number, target in enumerate(populations, 1)}
    cut = (
        "" if told.count <= _SHOWN else f"<p>The last {_SHOWN} of {told.count:,}; the JSON has them all.</p>"
    )
    answered, route = as_given(holdout["answers"] or "exact"), holdout["route"].replace("_", " ")
    questions = asked_in_words({purpose: asked[purpose] for purpose in ("check", "certify")})
    facts = [
        ("Holdout", f"{holdout['rows_now']:,} rows, fingerprint {holdout['fingerprint'][:16]}"),
        ("Asked", f"{questions}, {asked['refused']} refused"),
        ("Answered", f"{given}, {confidence} that all hold together"),
        ("Revealed", f"{revealed['nats']:.4g} nats (information about the rows, natural logarithms)"),
        ("Answers", f"{answered}, by {route}, class counts {_counts_of(holdout['class_mix'])}"),
        ("Tolerance", "none" if holdout["tolerance"] is None else f"half-width {holdout['tolerance']:g}"),
        ("Asked by", askers_of(asked["asked by"])),
        ("State", "closed: nothing new is answered" if revealed["closed"] else "open"),
        ("Exported", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {_versions()}"),
    ]
    without = dict.fromkeys(each["reason"] for each in listed if each["value"] is None)
    reasons = {reason: letters(number) for number, reason in enumerate(without)}
    lines = "".join(_row(each, targets, reasons, told.finals) for each in listed)
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Certificate of holdout {_escaped(holdout["fingerprint"][:12])}</title>
<style>{_STYLE}</style></head><body>
<h1>Certificate of a reusable holdout</h1>
{"".join(_final(each) for each in listed if each["index"] in told.finals)}
<p class="statement">{_escaped(certificate["statement"])}</p>
<dl>{"".join(f"<dt>{name}</dt><dd>{_escaped(text)}</dd>" for name, text in facts)}</dl>
<h2>What was asked and answered</h2>{cut}
<div class="wide" tabindex="0" role="region" aria-label="Answers">
<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>
{_list("Why there is no value", without, "ol", ' type="a"')}
{_list("Targets: what the values are scores of", populations, "ol")}
{_list("Theorems", certificate["theorems"], "ul")}
{_list("Assumptions, which nobody can check from the holdout alone", certificate["assumptions"], "ul")}
<h2>Verify it</h2>
<p>Head of the ledger: <code>{_escaped(certificate["head"])}</code></p>
<p>Whoever has the ledger, and this certificate exported as JSON, compares all of it with the records, and has
intervals computed again that need no rows:
<code>python -m sklearn_ada ledger verify FILE --certificate certificate.json</code></p>
</body></html>"""


def _counts_of(class_mix: Any) -> str:
    """Return what is taken for granted of class counts."""
    if isinstance(class_mix, str):
        return "paid for" if class_mix == "priced" else "known to whoever asks"
    return f"known to whoever asks, intervals at the declared shares {ClassMix.of(dict(class_mix))}"


def _versions() -> str:
    """Return the versions of what computed the answers, of those that are installed."""
    found = []
    for name in ("sklearn-ada", "scikit-learn", "numpy", "scipy"):
        with contextlib.suppress(PackageNotFoundError):  # run from its sources
            found.append(f"{name} {version(name)}")
    return ", ".join([f"Python {platform.python_version()}", *found])


_COLUMNS = ("#", "Model", "Metric", "Guess", "Value", "Interval", "Verdict", "Nats", "Target", "By")


def _row(each: dict[str, Any], targets: dict[str, int], reasons: dict[str, str], finals: set[int]) -> str:
    value, (text, ends) = each["value"], _value_and_ends(each)
    if value is None:
        ends = f"none ({reasons[each['reason']]})"
    is_final = each["index"] in finals
    verdict = fate(each["verdict"], each["guess"], _ends(each))
    if each["of"] is not None:
        verdict = f"{'published' if is_final else 'unsealed'}, of {each['of']}"
    verdict += ", VACUOUS" if each["vacuous"] and value is not None else ""
    asked = each["index"], each["model"] or "", each["metric"] or "", number(each["guess"])
    asker = " ".join(filter(None, (each["who"], each["label"])))
    score = "sealed" if each["kind"] == "sealed" else text  # the value of a cell is its centre
    came = (
        score,
        ends,
        verdict,
        f"{each['nats']:.3g}",
        targets.get(population_of(each["target"] or ""), ""),
        asker,
    )
    kind = ' class="apart"' if value is None or each["vacuous"] else ' class="published"' if is_final else ""
    return f"<tr{kind}>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in (*asked, *came)) + "</tr>"


def _final(each: dict[str, Any]) -> str:
    """Return the line of a score that was published."""
    value, ends = _value_and_ends(each)
    model = f" of {each['model']}" if each["model"] else ""
    return f"<p><b>Published: {_escaped(each['metric'])}{_escaped(model)} {value} in {ends}</b></p>"


def _value_and_ends(each: dict[str, Any]) -> tuple[str, str]:
    """Return a value and its interval in text; ends are rounded outwards."""
    ends, value = _ends(each), each["value"]
    return "" if value is None else shown(value, ends), shown_interval(ends).replace("inf", "∞")


def _ends(each: dict[str, Any]) -> Ends:
    low, high = each["interval"]
    return -math.inf if low is None else low, math.inf if high is None else high


def _list(title: str, texts: Iterable[str], tag: str, kind: str = "") -> str:
    items = "".join(f"<li>{_escaped(text)}</li>" for text in texts)
    return f"<h2>{title}</h2><{tag}{kind}>{items}</{tag}>" if items else ""


def _escaped(text: object) -> str:
    return html.escape(printable(str(text)))


_STYLE = """
body{font:14px/1.45 system-ui,sans-serif;color:#111;background:#fff}
body{max-width:64rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0 0 .5rem}h2{font-size:1.05rem;margin:1.2rem 0 .3rem}
.statement{border-left:4px solid #1a5fb4;padding:.3rem .8rem;font-size:1.05rem;margin:.5rem 0 1rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}dt{font-weight:600}dd{margin:0}
.wide{overflow-x:auto}table{min-width:46rem;border-collapse:collapse;width:100%;font-size:12px}
th,td{border-bottom:1px solid #bbb;padding:.2rem .35rem;text-align:left;vertical-align:top}
td{white-space:nowrap}td:nth-child(2),td:nth-child(3),td:nth-child(10){white-space:normal;overflow-wrap:anywhere}
tr.apart{color:#555;font-style:italic}tr.published{font-weight:700;outline:2px solid #1a5fb4}
td:nth-child(4),td:nth-child(5),td:nth-child(8){font-variant-numeric:tabular-nums}
code{font:12px ui-monospace,monospace;overflow-wrap:anywhere}ol,ul{margin:.2rem 0;padding-left:1.4rem}
@media screen and (prefers-color-scheme:dark){body{color:#e6e6e6;background:#121212}tr.apart{color:#aaa}}
@media print{table{min-width:0}body{margin:0;max-width:none;font-size:10.5px}table{font-size:8.5px}
thead{display:table-header-group}
tr{break-inside:avoid}h2{break-after:avoid}}
"""


Ends = tuple[float, float]


@dataclass(frozen=True)
class Verified:
    """What was found of a certificate that agrees with its ledger.

    Attributes
    ----------
    recomputed : int
        How many intervals were computed again.
    compared : dict of str to int
        How many could only be compared with their records, by the reason.
    unchecked : tuple of str
        Fields that this release does not know, which were not checked.
    """

    recomputed: int
    compared: dict[str, int]
    unchecked: tuple[str, ...] = ()


class _NotRecomputedError(Exception):
    """An interval takes what the ledger or this release does not have."""


def verify_certificate(ledger: Ledger[State], text: str) -> Verified:
    """Verify a certificate against its ledger, and return what was computed again.

    Parameters
    ----------
    ledger : Ledger
        Whose records were verified against their chain.
    text : str
        What `Holdout.export` wrote as JSON.

    Raises
    ------
    LedgerError
        If the text is no certificate.
    LedgerMismatchError
        If it is that of another ledger, or says something else than the records.
    LedgerDamagedError
        If the ledger is older than the certificate, or its records contradict each other.
    """
    given = _parsed(text)
    ledger.check_head(given["head"])
    prefix = prefix_of(ledger, given["head"])
    try:
        found = _recompute_intervals(prefix)
        return replace(found, unchecked=_compare_all(given, prefix))
    except UNREADABLE:
        raise LedgerDamagedError(
            "A record of the ledger lacks a part, or has another in its place: it was edited. Rest nothing "
            "on it."
        ) from None


def _parsed(text: str) -> dict[str, Any]:
    with contextlib.suppress(*UNREADABLE):
        given: dict[str, Any] = json.loads(text, object_pairs_hook=_without_repetition)
        if given["format"] == FORMAT and str(parse_head(given["head"])) == given["head"]:
            return given
    raise LedgerError(f"This is no certificate ({FORMAT!r}): give what Holdout.export('file.json') wrote.")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that stands twice: a reader would see the first, and only the last would be compared."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("A name stands twice.")
    return dict(pairs)


def _compare_all(given: dict[str, Any], prefix: Prefix) -> tuple[str, ...]:
    """Compare a certificate with the one made of the records, and return which fields are not known.

    LedgerMismatchError where they part.
    """
    answers, unknown = given.pop("answers", None), dict[str, None]()
    if not isinstance(answers, list) or len(answers) != len(prefix.answers):
        _refuse("answers", answers, prefix.answers)
    told = Told(prefix)
    for one, other in zip(answers, told, strict=True):
        _compare(one, json.loads(json.dumps(_answer(*other))), f"answers[{other[0]}]", unknown)
    _compare({**given, "answers": []}, told.whole([]), "", unknown)
    return tuple(unknown)


def _compare(given: Any, made: Any, where: str, unknown: dict[str, None]) -> None:
    """Compare a part; names that it has besides are added to ``unknown``."""
    if isinstance(made, dict) and isinstance(given, dict):
        places = {name: f"{where}.{name}" if where else name for name in (*made, *given)}
        fields = {name: re.sub(r"\[.*?\]", "", place) for name, place in places.items()}
        besides = [name for name in given if name not in made]
        lacks = [name for name in made if name not in given and fields[name] not in ADDED_LATER]
        if lacks or (besides and where == "asked.asked by"):  # names of people are no fields
            _refuse(where, given, made, f"nothing of {lacks[0]!r}" if lacks else "")
        unknown |= dict.fromkeys(fields[name] for name in besides)
        for name in (each for each in made if each in given):
            _compare(given[name], made[name], places[name], unknown)
        return
    if isinstance(made, list) and isinstance(given, list) and len(made) == len(given):
        for number, (one, other) in enumerate(zip(given, made, strict=True)):
            _compare(one, other, f"{where}[{number}]", unknown)
        return
    if not _is_same(given, made):
        _refuse(where, given, made)


def _is_same(given: Any, made: Any) -> bool:
    """Return whether two values agree, numbers but for their last digits."""
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in (given, made)):
        with contextlib.suppress(OverflowError):  # of an integer that no float holds
            return math.isclose(given, made, rel_tol=1e-9, abs_tol=1e-12)
    return bool(given == made)


def _refuse(where: str, given: Any, made: Any, says: str = "") -> NoReturn:
    """Raise LedgerMismatchError for a place at which the certificate says something else."""
    found, expected = (text if len(text) <= 80 else f"{text[:77]}..." for text in map(repr, (given, made)))
    if isinstance(made, Sequence) and isinstance(given, list):
        found, expected = (counted(len(each), "entry") for each in (given, made))
    raise LedgerMismatchError(
        f"The certificate was changed: at {where or 'its top'} it says {says or found}, the ledger's records "
        f"give {expected}. Trust the ledger, and export it again."
    )


def _recompute_intervals(prefix: Prefix) -> Verified:
    """Compute all intervals again; raise LedgerDamagedError for a record that says another one."""
    count, compared, state = 0, Counter[str](), State(prefix.ledger.genesis)
    for record in itertools.islice(prefix.records(), 1, None):
        read = read_record(record.body)
        if isinstance(read, ValueRecord) and not math.isnan(read.outcome.value):
            try:
                _check_interval(record.seq, _interval_of(prefix, state, read), read.outcome.interval)
                count += 1
            except _NotRecomputedError as missing:
                compared[str(missing)] += 1
        state.advance(record.body)
    return Verified(count, dict(compared))


def _check_interval(seq: int, found: Ends, recorded: Ends) -> None:
    if not np.allclose(found, recorded, rtol=1e-9, atol=1e-12):
        raise LedgerDamagedError(
            f"Record {seq} says the interval [{recorded[0]:.6g}, {recorded[1]:.6g}]; from what was "
            f"released it is [{found[0]:.6g}, {found[1]:.6g}]: the ledger was edited, or is of "
            "another release. Rest nothing on it; its owner can restore a copy that continues the head."
        )


def _interval_of(prefix: Prefix, state: State, read: ValueRecord) -> Ends:
    """Return the interval of an answer as its record should say it; ``state`` is that before the record."""
    if prefix.genesis.policy.is_private:
        raise _NotRecomputedError("no ledger holds noise, by privacy")
    if isinstance(read, UnsealedRecord):
        return _interval_of_unsealed(prefix, state, read)
    assert isinstance(read, AnswerRecord)
    ln_delta = _ln_delta_of(state, read)
    if not isinstance(read, SealedRecord):
        return _interval_of_exact(prefix, state, read, ln_delta)
    seal, number = seal_of(read.mechanism), symbols_of(read.event)[0].value
    by_transcript = THEOREM in read.outcome.theorem
    if isinstance(seal, SealedInterval):
        nats = state.account.nats + read.arrival_nats + read.price
        return seal.span(number, state.policy.ln_transcript - nats if by_transcript else None, ln_delta)
    ends = seal.span(number)
    interval = seal.fixed_interval(*ends, ln_delta)
    if not by_transcript:
        return interval
    nats = state.account.nats + read.arrival_nats + read.price
    return intersection(interval, [seal.transcript_interval(*ends, state.policy.ln_transcript, nats)])


def _interval_of_unsealed(prefix: Prefix, state: State, read: UnsealedRecord) -> Ends:
    """Return the interval of a value that was released later: the intersection of all its intervals."""
    sealed, ln_delta = prefix.ledger.record(read.number), read.ln_delta
    assert sealed is not None
    before = read_answer(sealed)
    if read.is_final:
        ln_delta = state.ln_of_stake(read.stake or 0.0, state.account.nats + read.arrival_nats)
        _check_ln_delta(ln_delta, read.ln_delta)
    if not isinstance(read.event, CountRelease):
        return intersection(_interval_of_exact(prefix, state, before, ln_delta), [before.outcome.interval])
    ln_final = ln_delta if read.is_final else None
    coarse = before.outcome.interval
    return released_by(seal_of(before.mechanism), read.event, before.ln_delta, ln_final, coarse)[1]


def _interval_of_exact(prefix: Prefix, state: State, read: ValueRecord, ln_delta: float) -> Ends:
    """Return the interval of an answer without noise, from the number of rows."""
    mechanism, name = read.mechanism, read.mechanism["name"]
    if name not in ("check", "certify"):
        if name.partition(" ")[0] not in FIRST_WORDS:
            raise _NotRecomputedError(f"this release does not have their mechanism ({name})")
        raise _NotRecomputedError(f"no ledger holds draws or earlier answers of its mechanism ({name})")
    if "table" in mechanism.get("interval", {}):
        table = CountedTable.from_description(mechanism["interval"]["table"])
        counts = table.counts(symbols_of(read.event))
        return table.certified(counts, ln_delta, tuple(read.metric["range"]))[1]
    if "interval" in mechanism:  # its ends were released beside the value; foreseeing them takes labels
        raise _NotRecomputedError(
            f"no ledger holds a function of all rows ({mechanism['interval']['construction']})"
        )
    if prefix.genesis.units is not None:
        raise _NotRecomputedError("no ledger holds weights or groups of the rows")
    guess, measure = Guess(**read.guess), measure_of_record(read.metric, read.outcome.theorem)
    replayed = measure.replayed(guess.value, guess.share, state.rows)
    if isinstance(replayed, str):
        raise _NotRecomputedError(f"no ledger holds {replayed}")
    metric, variance = Metric(no_scores, kind="mean", range=tuple(read.metric["range"])), None
    measure, size = replayed
    if len(symbols_of(read.event)) > 1 and not measure.size_is_released:
        variance = foreseen_variance(measure, guess, metric.bounds, size, state.policy)
        if variance is None:
            raise LedgerDamagedError("A record tells a variance, and its guess asks for none: it was edited.")
    question = CodedQuestion(
        read.purpose, metric, measure, guess,
        Cells(mechanism["centre"], mechanism["half_cell"]), "lattice" if name == "certify" else "cells",
        mechanism["scale"], size, "", variance,
        tilt=Tilt(**mechanism["tilt"]) if "tilt" in mechanism else None,
    )  # fmt: skip
    return question.described_outcome(read.event, Allowance(ln_delta, 0.0), {}).interval


def _ln_delta_of(state: State, read: AnswerRecord) -> float:
    """Return ln delta of a question, from the records before it."""
    if read.declared:
        return read.ln_delta  # that of its declaration, where this is larger
    name, revealed = state.still_open(read.round_name), state.account.nats + read.arrival_nats
    if state.purse is not None and name is None:
        ln_delta = state.ln_of_stake(read.stake or 0.0, revealed)
    else:
        allowance = state.allowance(read.purpose, round_name=name)
        allowance = allowance.after(read.arrival_nats) if name is None else allowance
        if name is not None and state.policy.format >= PRICED_ARRIVALS:
            # Its models looked after the round was opened, and before this was recorded.
            nats = min(max(read.nats, allowance.nats), revealed)
            allowance = allowance.after(nats - allowance.nats)
        ln_delta = allowance.ln_delta
    _check_ln_delta(ln_delta, read.ln_delta)
    return ln_delta


def _check_ln_delta(ln_delta: float, recorded: float) -> None:
    if not math.isclose(ln_delta, recorded, rel_tol=1e-9):
        raise LedgerDamagedError(
            f"A record says ln delta = {recorded:.9g}, and by the records before it that is "
            f"{ln_delta:.9g}: the ledger was edited, or written by another release. Rest nothing on it."
        )
