"""``ask``: the holder asks about predictions that somebody handed in, as for an internal leaderboard."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

import numpy as np

from sklearn_ada.cli.columns import read_columns
from sklearn_ada.holdout import Holdout, Predictions
from sklearn_ada.results import Answer

__all__ = ["add_ask_command"]

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
    ask.add_argument(
        "--guess", type=float, help="the score as estimated without the holdout; needed for a check"
    )
    ask.add_argument("--scoring", default="accuracy", help="a mean of 0/1 losses; accuracy unless given")
    ask.add_argument("--id-column", metavar="NAME", help="column of ids in both files")
    ask.add_argument("--label-column", metavar="NAME", help="column of true labels; needed if there are more")
    ask.add_argument("--prediction-column", metavar="NAME", help="likewise, of predicted ones")
    ask.add_argument(
        "--class", dest="classes", action="append", metavar="LABEL",
        help="a label that may be predicted although no row has it; may be repeated",
    )  # fmt: skip
    kind = ask.add_mutually_exclusive_group()
    kind.add_argument("--certify", action="store_true", help="ask for the value; a check asks for its cell")
    kind.add_argument("--final", action="store_true", help="publish the value, of what is kept in the end")
    ask.add_argument("--confidence-level", type=float, default=0.95, help="0.95 unless given")
    ask.add_argument("--tolerance", type=float, help="largest half-width that is answered")
    ask.add_argument("--expected-questions", type=int, metavar="INT", help="about how many there will be")
    ask.add_argument("--answers", choices=("exact", "cells", "auto"), help="how a certify is answered")
    ask.add_argument("--who", help="whose predictions they are; written into the record")
    ask.add_argument("--label", help="where they are from; written into the record")
    ask.add_argument("--json", action="store_true", help="an object")

    def run(arguments: argparse.Namespace) -> None:
        try:
            answer = _asked(arguments)
        except (ValueError, TypeError) as error:
            ask.error(str(error))
        print(json.dumps(_told(answer), indent=1, allow_nan=False) if arguments.json else answer)

    ask.set_defaults(run=run)


def _asked(arguments: argparse.Namespace) -> Answer:
    """Return the answer; ValueError for bad files or parameters, before anything is charged."""
    labels, ids = read_columns(arguments.data, arguments.label_column, arguments.id_column)
    said = Predictions(
        *read_columns(arguments.predictions, arguments.prediction_column, arguments.id_column),
        classes=_typed(arguments.classes, labels),
    )
    holdout = Holdout(
        np.empty((len(labels), 0)), labels, ids=ids, class_mix="priced", ledger=arguments.ledger,
        confidence_level=arguments.confidence_level, tolerance=arguments.tolerance,
        expected_questions=arguments.expected_questions, answers=arguments.answers,
        who=arguments.who, label=arguments.label,
    )  # fmt: skip
    how: dict[str, Any] = {"scoring": arguments.scoring, "guess": arguments.guess}
    if arguments.certify or arguments.final:
        return holdout.certify(said, final=arguments.final, **how)
    return holdout.check(said, **how)


def _typed(classes: list[str] | None, labels: Any) -> Any:
    """Return labels of the command line as the numbers that they are, where y holds numbers."""
    if classes is None or labels.dtype.kind not in "biuf":
        return classes
    try:
        return [int(label) for label in classes]
    except ValueError:
        raise ValueError(f"--class must be whole numbers, as the labels are, got {classes}") from None


def _told(answer: Answer) -> dict[str, Any]:
    """Return an answer ready for JSON; None where there is no number."""
    numbers = (answer.value, *answer.interval)
    value, low, high = (float(each) if math.isfinite(each) else None for each in numbers)
    return {
        "index": answer.index,
        "value": value,
        "interval": [low, high],
        "verdict": answer.verdict,
        "target": answer.target,
        "nats": answer.cost.nats,
        "repeated": answer.repeated,
        "published": answer.published,
        "reason": answer.reason,
    }
