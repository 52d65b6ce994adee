"""Labels that their holder has in a file, and files of what others predicted for the same rows."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_ada.cli.columns import Column, as_labels, check_first_line, read_columns, whole_labels
from sklearn_ada.exceptions import LedgerError
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger.opening import open_existing_ledger
from sklearn_ada.terms.policy import Genesis
from sklearn_ada.terms.predictions import Predictions


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say where labels, predictions and ids stand in files."""
    parser.add_argument("--id-column", metavar="NAME", help="column of ids in all files")
    parser.add_argument(
        "--label-column", metavar="NAME", help="column of true labels; needed if there are more"
    )
    parser.add_argument("--prediction-column", metavar="NAME", help="likewise, of predicted ones")
    parser.add_argument(
        "--class", dest="classes", action="append", metavar="LABEL",
        help="a label that may be predicted although no row has it; may be repeated",
    )  # fmt: skip


@dataclass(frozen=True)
class LabelFile:
    """The true labels of some rows.

    Attributes
    ----------
    path : str
    labels : array
    ids : array or None
    given : argparse.Namespace
        The flags of `add_columns`.
    assumed : str or None
        What was taken for the name of the column; None where there is no doubt.
    """

    path: str
    labels: Column
    ids: Column | None
    given: argparse.Namespace
    assumed: str | None

    @classmethod
    def read(cls, path: str, given: argparse.Namespace, ledger: str | None = None) -> LabelFile:
        """Return the labels of a file, as a ledger knows them; ValueError if it cannot be read."""
        if given.id_column is not None and given.id_column in (given.label_column, given.prediction_column):
            raise ValueError(f"--id-column {given.id_column!r} holds the labels, too: they need their own")
        labels, ids, assumed = read_columns(path, given.label_column, given.id_column)
        if ledger is None or not _is_by_writing(ledger):
            labels = whole_labels(labels)
        return cls(path, labels, ids, given, assumed)

    def predictions(self, path: str) -> Predictions:
        """Return what a file predicts, with its ids; ValueError if it is of other labels than these."""
        return Predictions(*self._read(path), classes=_typed(self.given.classes, self.labels))

    def in_order(self, path: str) -> Predictions:
        """Return what a file predicts, in the order of these rows and without ids, as a guess takes it."""
        predicted, ids = self._read(path)
        if len(predicted) != len(self.labels):
            raise ValueError(f"{path!r} has {len(predicted)} rows, and {self.path!r} {len(self.labels)}")
        if self.ids is not None and ids is not None:
            theirs, own = (np.argsort(each, kind="stable") for each in (ids, self.ids))
            if not np.array_equal(ids[theirs], self.ids[own]):
                raise ValueError(f"{path!r} has other ids than {self.path!r}")
            predicted = predicted[theirs][np.argsort(own)]
        return Predictions(predicted, classes=_typed(self.given.classes, self.labels))

    def _read(self, path: str) -> tuple[Column, Column | None]:
        """Return predicted labels, as these are written, and ids."""
        predicted, ids, assumed = read_columns(path, self.given.prediction_column, self.given.id_column)
        may_occur = (self.labels, predicted, self.given.classes or [])
        check_first_line(self.path, self.assumed, "--label-column", *may_occur)
        check_first_line(path, assumed, "--prediction-column", *may_occur)
        return as_labels(predicted, path, self.labels, self.path), ids


def _is_by_writing(address: str) -> bool:
    """Return whether a ledger knows labels as they were written, as those of older formats do."""
    try:
        genesis = open_existing_ledger(address, State, replay=False).genesis
        return Genesis(genesis).policy.format < 3
    except LedgerError:  # there is none yet, or opening it says what is wrong
        return False


def _typed(classes: list[str] | None, labels: Any) -> Any:
    """Return labels of the command line, as numbers where y holds numbers."""
    if classes is None or labels.dtype.kind not in "biuf":
        return classes
    numbers = whole_labels(np.array(classes))
    if numbers.dtype.kind != "i":
        raise ValueError(f"--class must be whole numbers, as the labels are, got {classes}")
    return numbers.tolist()
