"""What commands share: kinds of arguments, columns of files, numbers and comma-separated values.

A wrong argument ends a command, with status 2, before anything is computed. A file of labels is CSV,
NPY, or Parquet where pyarrow is installed. A column of a CSV file whose cells are all whole numbers, written
plainly, is one of numbers; any other is one of text. So "007" is no 7, and the ids of two files agree if they
are written in the same way.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import re
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._validation import printable
from sklearn_ada.ledger.hash_chain import parse_head
from sklearn_ada.ledger.written_files import check_written, written_file


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
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
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


Column = NDArray[Any]
_PIECE = 2**16  # rows that are Python's objects at a time
_PLAIN = re.compile(r"0|-?[1-9][0-9]{0,17}")


def read_columns(path: str, label: str | None, ids: str | None) -> tuple[Column, Column | None]:
    """Return the labels of a file, and its ids if their column is named.

    Parameters
    ----------
    path : str
        A file ending in ".csv" (with a line of names first), ".npy" (an array of labels) or ".parquet".
    label : str or None
        Name of the column of labels; None: the only one besides the ids.
    ids : str or None
        Name of the column of ids.

    Raises
    ------
    ValueError
        If the file cannot be read, has another ending, or lacks a column or a cell.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending not in _READERS:
        raise ValueError(f"{path!r} must end in .csv, .npy or .parquet")
    try:
        return _READERS[ending](path, label, ids)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path!r} cannot be read: {error}") from error


def _of_csv(path: str, label: str | None, ids: str | None) -> tuple[Column, Column | None]:
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        names = next(rows, [])
        wanted = [names.index(name) for name in _wanted(path, names, label, ids)]
        pieces: list[list[Column]] = [[] for _ in wanted]
        first = 2
        while piece := list(itertools.islice(rows, _PIECE)):
            for number, row in enumerate(piece, first):
                if len(row) != len(names) or not all(row[place].strip() for place in wanted):
                    raise ValueError(f"{path!r} lacks a cell, or has one too many, in row {number}")
            for kept, place in zip(pieces, wanted, strict=True):
                kept.append(_plain([row[place] for row in piece]))
            first += len(piece)
    columns = [_joined(kept) for kept in pieces]
    return columns[0], columns[1] if ids is not None else None


def _plain(cells: list[str]) -> Column:
    """Return cells as whole numbers if all are written as such, else as text."""
    return np.array(cells, dtype=np.int64) if all(map(_PLAIN.fullmatch, cells)) else np.array(cells)


def _joined(pieces: list[Column]) -> Column:
    """Return a column; a piece of whole numbers becomes text again, as it was written, where another is."""
    if not pieces:
        return np.empty(0)
    if any(piece.dtype.kind == "U" for piece in pieces):
        pieces = [piece.astype(str) for piece in pieces]
    return np.concatenate(pieces)


def _of_npy(path: str, label: str | None, ids: str | None) -> tuple[Column, Column | None]:
    if label is not None or ids is not None:
        raise ValueError(f"{path!r} has no names of columns: take .csv or .parquet for rows with ids")
    return np.load(path, allow_pickle=False), None


def _of_parquet(path: str, label: str | None, ids: str | None) -> tuple[Column, Column | None]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise ValueError(f"{path!r} needs pyarrow: pip install pyarrow, or write .csv or .npy") from None
    try:
        wanted = _wanted(path, parquet.read_schema(path).names, label, ids)
        table = parquet.read_table(path, columns=wanted)
    except ArrowException as error:
        raise ValueError(f"{path!r} cannot be read: {error}") from error
    columns = [table.column(name) for name in wanted]
    if any(column.null_count for column in columns):
        raise ValueError(f"{path!r} lacks a cell")
    arrays = [column.to_numpy() for column in columns]
    return arrays[0], arrays[1] if ids is not None else None


_READERS = {".csv": _of_csv, ".npy": _of_npy, ".parquet": _of_parquet}


def _wanted(path: str, names: list[str], label: str | None, ids: str | None) -> list[str]:
    """Return the names of the columns of labels and of ids."""
    if len(set(names)) < len(names):
        raise ValueError(f"{path!r} has two columns of one name")
    others = [name for name in names if name != ids]
    if label is None and len(others) == 1:
        label = others[0]
    shown = printable(", ".join(map(repr, names)))
    if label is None:
        raise ValueError(f"{path!r} has several columns ({shown}): name that of the labels")
    for name in (label, ids):
        if name is not None and name not in names:
            raise ValueError(f"{path!r} has no column {name!r}, but {shown or 'none'}")
    return [label] if ids is None else [label, ids]


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
