"""``ledger show | verify | report | head | close | unseal``: a ledger without the holdout that it belongs to.

Nothing here creates a ledger, and only ``close`` and ``unseal`` write to one. What a writer that crashed had
not committed is undone first, as its next question would.
"""

from __future__ import annotations

import argparse
import itertools
import math
import pathlib
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sklearn_ada._validation import aligned, counted, number, percent, printable
from sklearn_ada.answer import fate, shown, shown_interval
from sklearn_ada.cli.tools import count, head, print_json, write_csv
from sklearn_ada.exceptions import LedgerDamagedError, LedgerError, LedgerMismatchError
from sklearn_ada.holdout.certificate import verify_certificate
from sklearn_ada.holdout.publishing import close
from sklearn_ada.holdout.records import AS_IN, OUTCOMES, Entry, Key
from sklearn_ada.holdout.report import HoldoutReport, Targets, asked_in_words, askers_of, summary_of
from sklearn_ada.holdout.state import State
from sklearn_ada.holdout.unsealing import unseal
from sklearn_ada.ledger.hash_chain import Ledger
from sklearn_ada.ledger.opening import open_existing_ledger, open_ledger_to_write
from sklearn_ada.terms.policy import Asker


def add_ledger_commands(commands: Any) -> None:
    """Add ``ledger`` and its actions to the subcommands of a parser."""
    ledger = commands.add_parser("ledger", help="look at a ledger")
    actions = ledger.add_subparsers(dest="action", required=True)

    def action(run: Callable[[argparse.Namespace], None], name: str, text: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = actions.add_parser(name, help=text)
        made.add_argument("file")
        made.set_defaults(run=run)
        return made

    show = action(show_ledger, "show", "list its records: who asked what, when, and what came of it")
    show.add_argument("--all", action="store_true", help="every record, also those that are no question")
    show.add_argument("--limit", type=count, help="only so many of the last records, of every kind")
    form = show.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a list of objects, one a record")
    form.add_argument("--csv", action="store_true", help="comma-separated, one line a record")
    verify = action(verify_ledger, "verify", "check its hash chain and costs; compare copies of it")
    verify.add_argument("copies", nargs="*", help="other copies: have they been asked apart?")
    verify.add_argument("--head", type=head, help="what 'ledger head' printed: does the file continue it?")
    verify.add_argument("--certificate", metavar="JSON", help="what holdout.export wrote: is all of it so?")
    report = action(report_ledger, "report", "what is spent and left, and how the next intervals would look")
    report.add_argument("--json", action="store_true")
    action(print_head, "head", "print how far it goes, as a line to keep and to verify it with")
    end = action(close_ledger, "close", "refuse new questions from now on; there is no way back")
    opened = action(unseal_ledger, "unseal", "release sealed values, at the level of their asking")
    for writer in (end, opened):
        writer.add_argument("--who", help="a name for the records")
        writer.add_argument("--head", type=head, help="what 'ledger head' prints: there is no way back")
        writer.add_argument("--yes", action="store_true", help="on a terminal: show the head, and go on")
    opened.add_argument("--key", metavar="KEYFILE", help="the private key, in PEM, where it has a seal_key")
    opened.add_argument("numbers", nargs="*", type=count, help="of records; none: all, once it is closed")


def show_ledger(arguments: argparse.Namespace) -> None:
    """Print one line per record of the ledger, or of its end."""
    ledger = _open(arguments.file, replay=arguments.limit is None)
    if arguments.limit is None:
        records = list(ledger.records())
        nats, asked, refused = ledger.read(lambda s: (s.account.nats, dict(s.asked), s.refused))
        summary = f"revealed {nats:.4g} nats in all; asked: {asked_in_words(asked)}; refused: {refused}"
    else:
        reached, records = ledger.tail(arguments.limit)
        summary = f"the last {len(records)} of {reached.count:,} records; those before them were not read"
    entries = [Entry.of(record) for record in records]
    if arguments.json:
        print_json([entry.to_dict() for entry in entries])
    elif arguments.csv:
        write_csv([entry.to_dict() for entry in entries], sys.stdout)
    else:
        shown = entries if arguments.all or arguments.limit is not None else _questions(entries)
        targets = Targets(entry.score_of for entry in shown)
        finals = {record.seq for record in records if Key.is_final(record)}
        rows = [_cells(entry, targets, is_final=entry.index in finals) for entry in shown]
        used = [place for place in range(len(_HEAD)) if place == 0 or any(row[place] for row in rows)]
        columns = [[line[place] for place in used] for line in (_HEAD, *rows)]
        print(aligned(columns[0], columns[1:], right=_NUMBERS))
        if len(shown) < len(entries):
            summary += f"; --all lists {counted(len(entries) - len(shown), 'record')} more"
        print(summary)
        print(*targets.lines, sep="\n", end="\n" if targets.lines else "")


def _questions(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries without those that keep the books; what was asked again is counted where it stands."""
    again = Counter(entry.reason for entry in entries if entry.verdict == OUTCOMES[0])
    return [
        replace(
            entry, reason="; ".join(filter(None, (entry.reason, _times(again[AS_IN.format(entry.index)]))))
        )
        for entry in entries
        if entry.kind not in _BOOKKEEPING and entry.verdict != OUTCOMES[0]
    ]


def _times(count: int) -> str:
    return f"asked again {counted(count, 'time')}" if count else ""


def verify_ledger(arguments: argparse.Namespace) -> None:
    """Check every record against the hash chain and its cost against the code; raise if one is off."""
    ledger = _open(arguments.file, replay=False)
    size = ledger.verify()
    lines = [f"{size} records agree with the hash chain, with the head of the ledger and in their costs"]
    if arguments.head is not None:
        ledger.check_head(arguments.head)
        lines.append("it continues the head that was given")
    if arguments.certificate is not None:
        lines += _verified(ledger, arguments.certificate)
    name = _name(ledger, arguments.file)
    for copy in arguments.copies:
        other = _open(copy)
        lines.append(_compared(name, ledger, _name(other, copy), other))
    print(*lines, sep="\n")  # all that was asked, or the error alone


def _verified(ledger: Ledger[State], path: str) -> list[str]:
    """Return what of a certificate was verified; LedgerError for what does not agree, or is not there."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise LedgerError(
            f"The certificate {path!r} cannot be read: {cause}. Give what Holdout.export('file.json') wrote."
        ) from error
    found = verify_certificate(ledger, text)
    lines = [
        f"the certificate agrees with the ledger: {counted(found.recomputed, 'interval')} computed again"
    ]
    for reason, times in found.compared.items():
        lines.append(f"{counted(times, 'interval')} compared with the records, as {reason}")
    if found.unchecked:
        names = printable(", ".join(found.unchecked))
        lines.append(f"not checked, as this release does not know them: {names}")
    return lines


def print_head(arguments: argparse.Namespace) -> None:
    """Print the head of the ledger."""
    print(_open(arguments.file).head())


def report_ledger(arguments: argparse.Namespace) -> None:
    """Print what is spent and left.

    A long ledger is read from its last checkpoint on.
    """
    report = summary_of(_open(arguments.file, replay=False))
    if arguments.json:
        print_json(report.to_dict())
    else:
        print(_report_text(report))


def close_ledger(arguments: argparse.Namespace) -> None:
    """Close the holdout of the ledger."""
    close(_meant(arguments), Asker(arguments.who))
    print("closed: nothing new is answered from now on")


def unseal_ledger(arguments: argparse.Namespace) -> None:
    """Release sealed values and print them, one a line."""
    try:
        ledger, asker = _meant(arguments), Asker(arguments.who)
        answers = unseal(ledger, asker, arguments.numbers or None, arguments.key)
    except (ImportError, ValueError) as error:
        raise LedgerError(str(error)) from error
    for answer in answers:
        print(f"{answer.index}: {answer}")
    print(f"{counted(len(answers), 'value')} unsealed")


def _meant(arguments: argparse.Namespace) -> Ledger[State]:
    """Return the ledger to write to, once its head is named: a copy would do the same in secret."""
    ledger = open_ledger_to_write(arguments.file, State)
    now = ledger.head()
    if arguments.head is None:
        if not (arguments.yes and sys.stderr.isatty()):
            raise LedgerError(
                f"What {arguments.action!r} does cannot be undone, and a copy would do it as well. Name the "
                "ledger that is in use by --head with the line that 'ledger head' prints. On a terminal "
                "--yes shows that line and goes on."
            )
        print(f"head: {now}", file=sys.stderr)
    elif arguments.head != now:
        ledger.check_head(arguments.head)
        raise LedgerError(
            "The ledger has gone on since it had the head that was given. Look at what was asked since "
            "('ledger show'), and give the line that 'ledger head' prints now."
        )
    for copy in ledger.copies():
        print(
            f"note: {copy!r} is a copy; whoever has one can unseal what it seals, and nothing here shows it",
            file=sys.stderr,
        )
    return ledger


def _open(address: str, replay: bool = True) -> Ledger[State]:
    return open_existing_ledger(address, State, replay)


def _name(ledger: Ledger[State], address: str) -> str:
    """Return what to call a ledger; a URL may hold a password."""
    return getattr(ledger, "name", address) if "://" in address else address


def _compared(one: str, ledger: Ledger[State], other: str, copy: Ledger[State]) -> str:
    """Say how two copies of a ledger relate; raise if they are not copies, or were asked apart."""
    mine, theirs, both = 0, 0, f"{one!r} and {other!r}"
    for record, copied in itertools.zip_longest(ledger.records(), copy.records()):
        mine, theirs = mine + (record is not None), theirs + (copied is not None)
        if record is None or copied is None or record == copied:
            continue
        if record.seq == 0:
            raise LedgerMismatchError(f"{both} are not copies of one ledger: their genesis differs.")
        raise LedgerDamagedError(
            f"{both} part after record {record.seq - 1}: one holdout was asked through two "
            "ledgers. Neither knows what the other revealed; no answer since then, of either, is certified."
        )
    if mine == theirs:
        return f"{other} holds the same records"
    older = other if theirs < mine else one
    return f"{older} is an older copy: it lacks the last {abs(mine - theirs)} records; never ask through it"


_HEAD = (
    *("#", "time", "who", "label", "record", "model", "metric", "mechanism", "guess", "answer", "interval"),
    *("nats", "verdict", "reason"),
)
_WITH_INTERVAL = ("answer", "sealed", "unsealed")
_BOOKKEEPING = ("genesis", "round", "round_close", "overlap", "begin", "given_up", "checkpoint")
_NUMBERS = ("#", "guess", "answer", "nats")


def _cells(entry: Entry, targets: Targets, *, is_final: bool) -> list[str]:
    kind = "published" if is_final else "coarse" if entry.kind == "sealed" else entry.kind
    ends = -math.inf if entry.low is None else entry.low, math.inf if entry.high is None else entry.high
    verdict = fate(entry.verdict or "", entry.guess, ends)
    score = None if entry.kind == "sealed" else entry.answer  # of a cell it would be the centre
    value = "" if score is None else shown(score, ends)
    mechanism = None if entry.mechanism == "sealed" else entry.mechanism or entry.purpose
    cells = (
        str(entry.index), entry.time, entry.who, entry.label, kind, entry.model,
        (entry.metric or "") + targets.mark(entry.score_of), mechanism, number(entry.guess), value,
        shown_interval(ends) if entry.kind in _WITH_INTERVAL else "",
        number(entry.nats), verdict, entry.reason,
    )  # fmt: skip
    return [cell or "" for cell in cells]


def _report_text(report: HoldoutReport) -> str:
    lines = [
        f"holdout {report.fingerprint[:12]}, {report.n_rows} rows; all intervals hold together with "
        f"{percent(report.confidence_level)}",
        f"asked: {asked_in_words(report.asked)}; refused: {report.refused}; revealed: {report.nats:.4g} nats",
        f"asked by: {askers_of(report.asked_by)}",
    ]
    if any(report.confirmed.values()):
        same, other = report.confirmed.values()
        lines.append(f"asked again or published: {same} with the same predictions, {other} with others")
    lines += [f"scores of the {target}: {count}" for target, count in report.targets.items()]
    lines.append(f"head: {report.head}")
    outlook = report.outlook
    if report.tolerance is not None and report.foreseen:
        left = _listed({purpose: outlook.remaining[purpose] for purpose in report.foreseen})
        lines.append(f"left within the tolerance of {report.tolerance:g}: {left}, if every guess holds")
    lines.append(report.headline)
    if not report.foreseen:
        return "\n".join(lines)
    of_search = f"a search by {outlook.metric}"
    of_mean = "a mean of a bounded score over all rows"
    if outlook.in_cells:
        parts = {"check": f"a check of {of_mean}", "certify": of_search}
        of_mean = " and of ".join(parts[purpose] for purpose in report.foreseen)
    more = "questions (of searches: more searches)" if outlook.in_cells else "checks"
    lines += [
        "",
        f"Half-widths, as shares of the range, of {of_mean}, near {outlook.value:.3g}",
        f"and at worst, after so many more {more} whose guesses hold (* beyond the tolerance):",
    ]
    rows: dict[int, list[str]] = {}
    for forecast in (each for purpose in report.foreseen for each in outlook.of(purpose)):
        mark = "" if forecast.admitted else " *"
        worst = "not foreseen" if forecast.worst is None else f"{forecast.worst:.4f}"
        cells = rows.setdefault(forecast.after, [str(forecast.after)])
        cells += [f"{forecast.half_width:.4f}", f"{worst}{mark}"]
    names = {"certify": "search"} if outlook.in_cells else {}
    head = ("after", *(t for name in report.foreseen for t in (f"next {names.get(name, name)}", "at worst")))
    return "\n".join([*lines, aligned(head, list(rows.values()), right=("after",))])


def _listed(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{what} {times}" for what, times in counts.items())
