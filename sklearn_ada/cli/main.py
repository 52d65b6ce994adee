"""Commands and their arguments."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from sklearn_ada.cli.arguments import count, picture
from sklearn_ada.cli.ask import add_ask_command
from sklearn_ada.cli.demo import run_demo
from sklearn_ada.cli.ledger import add_ledger_commands
from sklearn_ada.cli.plan import add_plan_command
from sklearn_ada.exceptions import LedgerError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0, or 1 for a bad ledger or a closed pipe."""
    parser = argparse.ArgumentParser(prog="sklearn_ada", description="Reusable holdouts for scikit-learn.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="three searches on one holdout, then a search on random labels")
    demo.add_argument(
        "--picture", type=picture, default="sklearn_ada_demo.png", help="where to save the picture"
    )
    demo.add_argument(
        "--candidates", type=count, default=300, help="candidates of the search on random labels"
    )
    add_plan_command(commands)
    add_ask_command(commands)
    add_ledger_commands(commands)
    chosen = parser.parse_args(arguments)
    try:
        if chosen.command == "demo":
            run_demo(chosen.picture, chosen.candidates)
        else:
            chosen.run(chosen)
        sys.stdout.flush()
    except LedgerError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever was reading has enough, as ``head`` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 1
    return 0
