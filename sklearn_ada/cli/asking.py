"""``ask``: the holder asks about predictions that somebody handed in, as for an internal leaderboard."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from sklearn_ada.answer import Answer
from sklearn_ada.cli.predicted import LabelFile, add_columns
from sklearn_ada.cli.tools import print_json
from sklearn_ada.holdout.holdout import Holdout, session_of
from sklearn_ada.holdout.records import entry_of, read_record
from sklearn_ada.holdout.session import as_closed

_DESCRIPTION = """
Ask about labels that were predicted for the rows of a holdout, and print the answer: an interval for their
expected accuracy on these rows. The true labels (--data) stay with the holder, who runs this; participants
get the rows of X, without labels. Both files are CSV with a line of names, NPY, or Parquet where pyarrow is
installed. With --id-column the rows are known by their ids and may come in any order.
"""


def add_ask_command(commands: Any) -> None:
    """Add ``ask`` to the subcommands of a parser."""
    ask = commands.add_parser("ask", help="ask about predictions in a file", description=_DESCRIPTION)
    ask.add_argument("--predictions", required=True, metavar="FILE", help="the labels that were predicted")
    ask.add_argument("--data", required=True, metavar="FILE", help="the true labels of the same rows")
    ask.add_argument("--ledger", required=True, help="path or URL of the ledger; a new one is begun")
    ask.add_argument("--no-create", action="store_true", help="where there is none, begin none")
    ask.add_argument("--guess", type=float, help="the score as estimated without the holdout, for a check")
    ask.add_argument("--scoring", default="accuracy", help="a mean of 0/1 losses; accuracy unless given")
    add_columns(ask)
    kind = ask.add_mutually_exclusive_group()
    kind.add_argument("--certify", action="store_true", help="ask for the value; a check asks for its cell")
    kind.add_argument("--publish", action="store_true", help="release the exact value of what is kept")
    ask.add_argument("--confidence-level", type=float, default=0.95, help="0.95 unless given")
    ask.add_argument("--tolerance", type=float, help="largest half-width that is answered")
    ask.add_argument("--expected-questions", type=int, metavar="INT", help="about how many there will be")
    ask.add_argument("--used-before", type=float, metavar="BITS", help="chosen by these labels before")
    ask.add_argument("--answers", choices=("exact", "coarse", "auto"), help="how a certify is answered")
    ask.add_argument("--who", help="whose predictions they are; written into the record")
    ask.add_argument("--label", help="where they are from; written into the record")
    ask.add_argument("--json", action="store_true", help="an object")

    def run(arguments: argparse.Namespace) -> None:
        try:
            holdout, answer = _asked(arguments)
        except (ValueError, TypeError) as error:
            ask.error(str(error))
        if not arguments.json:
            print(answer)
            return
        record = holdout.ledger.record(answer.index)
        assert record is not None
        entry = entry_of(as_closed(holdout.ledger, read_record(record.body)), record.seq)
        shown = {"nats": entry.nats or 0.0, "repeated": answer.repeated, "published": entry.published}
        print_json({**entry.picked(_OF_ANSWER), **shown, "reason": entry.reason})

    ask.set_defaults(run=run)


_OF_ANSWER = ("index", "value", "interval", "verdict", "target")


def _asked(arguments: argparse.Namespace) -> tuple[Holdout, Answer]:
    """Return the holdout and its answer; ValueError for bad files or parameters, before it is charged."""
    held = LabelFile.read(arguments.data, arguments, arguments.ledger)
    predictions = held.predictions(arguments.predictions)
    holdout = Holdout(
        np.empty((len(held.labels), 0)), held.labels, ids=held.ids, class_mix="priced",
        ledger=arguments.ledger, confidence_level=arguments.confidence_level, tolerance=arguments.tolerance,
        expected_questions=arguments.expected_questions, answers=arguments.answers,
        used_before=arguments.used_before,
        who=arguments.who, label=arguments.label, create=not arguments.no_create,
    )  # fmt: skip
    if session_of(holdout).notice:
        print(session_of(holdout).notice, file=sys.stderr)
    how: dict[str, Any] = {"scoring": arguments.scoring, "guess": arguments.guess}
    ask = holdout.publish if arguments.publish else holdout.certify if arguments.certify else holdout.check
    return holdout, ask(predictions, **how)
