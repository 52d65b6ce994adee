"""``plan``: what a holdout can certify, by every method, from the command line."""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
from typing import Any

from sklearn_ada.cli.arguments import picture
from sklearn_ada.cli.table import write_csv
from sklearn_ada.planning import HoldoutPlan, plan_holdout

__all__ = ["add_plan_command"]

_FLAGS: dict[str, tuple[str, type, str]] = {
    "n": ("--rows", int, "records of the holdout"),
    "n_questions": ("--questions", int, "adaptive questions"),
    "searches": ("--searches", int, "searches in a row, each asked about its winner; for --questions"),
    "width": ("--width", float, "half-width of every interval, such as 0.02"),
    "confidence_level": ("--confidence-level", float, "that all intervals hold together; 0.95 unless given"),
    "expected_value": ("--expected-value", float, "about what the scores will be; 0.85 unless given"),
    "guess_rows": (
        "--guess-rows",
        int,
        "validation records behind each guess; as many as --rows unless given",
    ),
    "surprise_rate": ("--surprise-rate", float, "share of guesses off by more than sampling; 0 unless given"),
    "subsample_size": ("--subsample-size", int, "records in each subsample of a median; 20 unless given"),
    "grid_size": ("--grid-size", int, "points of a median's grid; 401 unless given"),
    "passes": ("--passes", int, "of --verdicts: the process stops after so many passes"),
    "disagreement": (
        "--disagreement",
        float,
        "of --verdicts about two models: share of the records of which they say different things, at most",
    ),
}


def add_plan_command(commands: Any) -> None:
    """Add ``plan`` to the subcommands of a parser."""
    plan = commands.add_parser(
        "plan",
        help="what a holdout certifies, by every method",
        description="Give two of --rows, --questions (or --searches) and --width: the third is solved for.",
    )
    for name, (flag, kind, text) in _FLAGS.items():
        plan.add_argument(flag, dest=name, type=kind, metavar=kind.__name__.upper(), help=text)
    plan.add_argument(
        "--worst-case", action="store_true", help="any means of values in [0, 1], not shares about a value"
    )
    plan.add_argument("--verdicts", action="store_true", help="pass or fail is all that is wanted")
    plan.add_argument("--picture", type=picture, metavar="FILE", help="draw the plan, too")
    form = plan.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="an object with rows and recommendation")
    form.add_argument("--csv", action="store_true", help="comma-separated, one line a method")

    def run(arguments: argparse.Namespace) -> None:
        given = {name: getattr(arguments, name) for name in _FLAGS if getattr(arguments, name) is not None}
        if arguments.verdicts:
            given["verdicts"] = True
        if arguments.worst_case:
            if "expected_value" in given:
                plan.error("argument --worst-case: not allowed with argument --expected-value")
            given["expected_value"] = None
        if arguments.picture and importlib.util.find_spec("matplotlib") is None:
            plan.error("argument --picture: needs matplotlib: pip install 'sklearn-ada[plot]'")
        try:
            made = plan_holdout(**given)
        except ValueError as error:
            plan.error(_in_flags(str(error)))
        show_plan(made, arguments)

    plan.set_defaults(run=run)


def show_plan(plan: HoldoutPlan, arguments: argparse.Namespace) -> None:
    """Print the plan in the form asked for, and draw it if asked."""
    if arguments.json:
        rows = [{name: _finite(value) for name, value in row.items()} for row in plan.to_dicts()]
        body = {"solved_for": plan.solved_for, "recommendation": plan.recommendation, "rows": rows}
        print(json.dumps(body, indent=1, allow_nan=False))
    elif arguments.csv:
        write_csv(plan.to_dicts(), sys.stdout)
    else:
        print(plan)
    if arguments.picture:
        plan.plot().figure_.savefig(arguments.picture, dpi=120)


def _in_flags(message: str) -> str:
    """Return an error of `plan_holdout` in the words of the command line."""
    for name, (flag, *_) in _FLAGS.items():
        message = message.replace(repr(name), flag)
    message = message.replace("set 'verdicts' to True", "give --verdicts")
    return message.replace("None where 'verdicts' is False", "left out without --verdicts").replace(
        "None where 'verdicts' is True", "left out with --verdicts"
    )


def _finite(value: Any) -> Any:
    """Return None for an infinity, which JSON does not have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
