"""What commands share: kinds of arguments, JSON and comma-separated values.

A wrong argument ends a command, with status 2, before anything is computed.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

from sklearn_ada.ledger.addresses import without_passwords
from sklearn_ada.ledger.hash_chain import parse_head
from sklearn_ada.ledger.written_files import check_written, written_file


class Parser(argparse.ArgumentParser):
    """A parser whose errors, which repeat what was given, show no password."""

    def error(self, message: str) -> NoReturn:
        """End the command, with status 2."""
        super().error(without_passwords(message))


def count(text: str) -> int:
    """Return a number of at least one."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def head(text: str) -> str:
    """Return the head of a ledger, as ``ledger head`` prints it."""
    try:
        parse_head(text)
    except ValueError:
        form = "COUNT-GENESIS-HASH as 'ledger head' prints it"
        raise argparse.ArgumentTypeError(f"must be {form}, got {text!r}") from None
    return text


def picture(text: str) -> str:
    """Return the name of a file that a picture can be saved as; without matplotlib any ending will do."""
    try:
        check_written(text, "--picture", "sklearn_ada")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    folder = os.path.dirname(text) or os.curdir
    if not os.path.isdir(folder):
        raise argparse.ArgumentTypeError(
            f"must be in a folder that exists, got {text!r}; make {folder!r} first"
        )
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return text
    endings = sorted(Figure().canvas.get_supported_filetypes())
    if os.path.splitext(text)[1][1:].lower() not in endings:
        raise argparse.ArgumentTypeError(f"must end in one of .{', .'.join(endings)}, got {text!r}")
    return text


def save_picture(figure: Any, path: str) -> None:
    """Save a figure of matplotlib under a name that `picture` returned."""
    with written_file(path, "--picture", "sklearn_ada") as file:
        figure.savefig(file, dpi=120, format=os.path.splitext(path)[1][1:].lower())


_COMPUTED = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_csv(rows: Sequence[dict[str, Any]], file: TextIO) -> None:
    """Write dicts with the same keys as comma-separated values; None is an empty cell.

    A text that a spreadsheet would compute gets an apostrophe in front, which spreadsheets do not show.
    """
    writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _text(value) for key, value in row.items()} for row in rows)


def _text(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_COMPUTED) else value


def print_json(body: Any) -> None:
    """Print an object as JSON, which has no infinity."""
    print(json.dumps(body, indent=1, allow_nan=False))
