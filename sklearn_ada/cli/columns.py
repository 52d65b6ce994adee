"""Read the labels of files, and write predictions as the labels are written.

A file is CSV, NPY, or Parquet where pyarrow is installed. A column of a CSV file whose cells are all whole
numbers, written plainly, is one of numbers; any other is one of text. So "007" is no 7, and the ids of two
files agree if they are written in the same way. Labels that are all whole numbers, in whatever writing, are
these numbers, and a prediction is a label if both are one number: 1.0 is 1.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._validation import printable
from sklearn_ada.data.labels import label_kind

Column = NDArray[Any]
_PIECE = 2**16  # rows that are Python's objects at a time
_PLAIN = re.compile(r"0|-?[1-9][0-9]{0,17}")


class Columns(NamedTuple):
    """What was read of a file.

    Attributes
    ----------
    labels : array
    ids : array or None
    assumed : str or None
        What was taken for the name of the column of labels; None where there is no doubt.
    """

    labels: Column
    ids: Column | None = None
    assumed: str | None = None


def read_columns(path: str, label: str | None, ids: str | None) -> Columns:
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
        cause = getattr(error, "strerror", None) or error
        raise ValueError(f"{path!r} cannot be read: {cause}") from error


def _of_csv(path: str, label: str | None, ids: str | None) -> Columns:
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        names = next(rows, [])
        if not names:
            raise ValueError(f"{path!r} has no column: its first line must hold the names of its columns")
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
    is_sure = label is not None or ids is not None
    return Columns(columns[0], columns[1] if ids is not None else None, None if is_sure else names[wanted[0]])


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


def _of_npy(path: str, label: str | None, ids: str | None) -> Columns:
    if label is not None or ids is not None:
        raise ValueError(f"{path!r} has no names of columns: take .csv or .parquet for rows with ids")
    try:
        return Columns(np.load(path, allow_pickle=False))
    except ValueError as error:  # of objects, which only unpickling reads
        raise ValueError(f"{path!r} cannot be read: {error}") from error


def _of_parquet(path: str, label: str | None, ids: str | None) -> Columns:
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
    return Columns(*arrays)


_READERS = {".csv": _of_csv, ".npy": _of_npy, ".parquet": _of_parquet}


def _wanted(path: str, names: list[str], label: str | None, ids: str | None) -> list[str]:
    """Return the names of the columns of labels and of ids."""
    if len(set(names)) < len(names):
        raise ValueError(f"{path!r} has two columns of one name: names stand in its first line")
    others = [name for name in names if name != ids]
    if label is None and len(others) == 1:
        label = others[0]
    shown = printable(", ".join(map(repr, names)))
    if label is None:
        options = "--label-column or --prediction-column, and --id-column for that of ids"
        raise ValueError(f"{path!r} has several columns ({shown}): name that of the labels by {options}")
    for name in (label, ids):
        if name is not None and name not in names:
            raise ValueError(f"{path!r} has no column {name!r}, but {shown or 'none'}")
    return [label] if ids is None else [label, ids]


def check_first_line(path: str, assumed: str | None, flag: str, *labels: Sequence[Any] | Column) -> None:
    """Refuse a file that seems to lack a line of names: its first row would be lost.

    Parameters
    ----------
    path : str
    assumed : str or None
        As in `Columns`.
    flag : str
        With which the name can be given.
    *labels : sequence
        Those of the rows, and others that may be predicted.

    Raises
    ------
    ValueError
        If what was taken for a name is a label, a number, a date or a missing value.
    """
    if assumed is None:
        return
    text, name = assumed.strip(), printable(repr(assumed))
    is_label = any(text == str(label).strip() for each in labels for label in np.unique(each))
    if is_label or _is_value(text):
        raise ValueError(
            f"{path!r} lacks a line of names: its first line is {name}, which is a "
            f"{'label' if is_label else 'value'} and would be lost. Write the column's name above it; "
            f"if {name} is its name, give {flag} {name}"
        )


_VALUES = ("", "nan", "na", "n/a", "none", "null", "inf", "infinity", "true", "false")
_IN_NUMBERS = re.compile(r"(?<=[\d.])[eE](?=[\d+-])|(?<=\d)T(?=\d)|(?<=\d)Z$")  # and in times


def _is_value(text: str) -> bool:
    """Return whether a text is a number, a date or a missing value, rather than a name.

    Examples
    --------
    >>> [_is_value(text) for text in ("-1.5e+00", "2024-01-31", "nan", "y", "y2")]
    [True, True, True, False, False]
    """
    rest = _IN_NUMBERS.sub("", text)
    is_number = bool(re.search(r"\d", rest)) and not re.search(r"[^\W\d]", rest)
    return is_number or text.lower().lstrip("+-") in _VALUES


def whole_labels(labels: Column) -> Column:
    """Return labels as whole numbers, if all are such and none is written in two ways; else as they are."""
    if label_kind(labels) != "text":
        return labels
    cells, positions = np.unique(labels, return_inverse=True)
    numbers = [_whole(cell) for cell in cells.tolist()]
    if None in numbers or len(set(numbers)) < len(numbers):
        return labels
    whole = np.array(numbers)
    return whole[positions.ravel()] if whole.dtype.kind == "i" else labels  # else 64 bits do not hold them


def as_labels(predicted: Column, path: str, labels: Column, of: str) -> Column:
    """Return predictions as the labels of another file are written, where both are the same numbers.

    Parameters
    ----------
    predicted, labels : array
    path, of : str
        Their files.

    Raises
    ------
    ValueError
        If the labels are numbers and a prediction is none, or the other way round.
    """
    kinds = label_kind(predicted), label_kind(labels)
    if kinds == ("numbers", "numbers"):
        return predicted
    known = np.unique(labels).tolist()
    written = {number: label for label in known if (number := _whole(label)) is not None}
    if len(written) < sum(_whole(label) is not None for label in known):  # one in two ways is two labels
        return predicted
    cells, positions = np.unique(predicted, return_inverse=True)
    made = list[Any]()
    for place, cell in enumerate(cells.tolist()):
        number = _whole(cell)
        other = number if kinds[1] == "numbers" else str(cell)
        if other is None or (kinds[0] == "numbers" and not written):
            row = int(np.argmax(positions.ravel() == place)) + 1
            raise ValueError(
                f"{path!r} holds {printable(repr(cell))} as the prediction of row {row}, and the labels of "
                f"{of!r} are {'whole numbers' if kinds[1] == 'numbers' else 'texts'}, such as "
                f"{printable(repr(known[0]))}. Write predictions as the labels are written"
            )
        made.append(cell if cell in known else other if number is None else written.get(number, other))
    return np.array(made)[positions.ravel()]


_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d{1,2})?")


def _whole(cell: object) -> int | None:
    """Return a cell as a whole number, if it is one, however it is written.

    Examples
    --------
    >>> [_whole(cell) for cell in (1, "1.0", "-2.50e+01", "1.5", "007", "one")]
    [1, 1, -25, None, None, None]
    """
    text = str(cell).strip()
    number = Decimal(text) if _NUMBER.fullmatch(text) else None
    return int(number) if number is not None and number == number.to_integral_value() else None
