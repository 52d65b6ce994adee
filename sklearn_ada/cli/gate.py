"""``gate``: may this candidate replace the model in use? An exit status, and one line of JSON.

It is for continuous integration, nightly jobs and agents, which ask again and again on one ledger. What
decides is the interval of the difference between two files of predictions of the holdout's rows, whose labels
stay with the holder. Undecided is not passed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
from typing import Any, NamedTuple

import joblib
import numpy as np

from sklearn_ada._validation import printable
from sklearn_ada.answer import Answer
from sklearn_ada.cli.predicted import LabelFile, add_columns
from sklearn_ada.digest.rows import id_hashes
from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.holdout.asking import ForeseenAnswer, foresee
from sklearn_ada.holdout.changes import check_not_refused
from sklearn_ada.holdout.comparing import comparison, difference_of_one
from sklearn_ada.holdout.framing import Ask
from sklearn_ada.holdout.holdout import Holdout, session_of
from sklearn_ada.holdout.outlook import ahead_of
from sklearn_ada.holdout.report import summary_of
from sklearn_ada.holdout.session import Session
from sklearn_ada.ledger.addresses import without_passwords
from sklearn_ada.metrics.metric import Difference, Metric, as_metric
from sklearn_ada.questions.question import guess_from_rows
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import Pair, Subject
from sklearn_ada.terms.policy import Asker

PASSED, NOT_PASSED, NO_DECISION = 0, 1, 2
"""Exit statuses."""
_REQUIRED = ("better", "not-worse", "score-above")
_EXPECTED = (ValueError, TypeError, ImportError, RuntimeError)  # of which are all errors of the package
_SEALED = ("agrees", "differs")  # by the guess: the holdout's own value stays sealed
_ASSUMED = (
    "If the guess holds, and labels are those of the ledger. An ask alone compares them: others are refused, "
    "for 4.6 nats"
)
_NOT_VALIDATION = "--guess-from takes labels of validation rows, and not those of the holdout"
_PICKLED = (".joblib", ".pkl", ".pickle")
_DESCRIPTION = """
Decide whether a candidate is as good as is required of it. --incumbent and --candidate are files of labels
that two models predicted for the rows of a holdout; the true labels (--labels) stay with the holder, who runs
this. Exit status 0: it is. 1: it is not, or the holdout cannot tell yet. 2: refused, exhausted, or an error.
One line of JSON says the rest, and what is left. Files are CSV with a line of names, NPY, or Parquet where
pyarrow is installed; with --id-column rows may come in any order. All intervals of a ledger hold together,
however often it is asked, and whatever was proposed because of earlier answers.
"""


class Required(NamedTuple):
    """What is required of a candidate.

    Attributes
    ----------
    word : {"better", "not-worse", "score-above"}
    bound : float
        The whole interval, of the difference or of the score, must be above it.
    """

    word: str
    bound: float

    @classmethod
    def of(cls, words: list[str], not_worse_by: float | None) -> Required:
        """Return what the flags require; ValueError if they do not fit together."""
        word, numbers = words[0], words[1:]
        if word not in _REQUIRED or len(numbers) != (word == "score-above"):
            raise ValueError(f"--require must be better, not-worse or score-above X, got {' '.join(words)!r}")
        if (word == "not-worse") != (not_worse_by is not None):
            raise ValueError("--not-worse-by is needed with --require not-worse, and goes with nothing else")
        if not_worse_by is not None and not (math.isfinite(not_worse_by) and not_worse_by > 0.0):
            raise ValueError(f"--not-worse-by must be a positive number, got {not_worse_by}")
        try:
            return cls(word, float(numbers[0]) if numbers else 0.0 - (not_worse_by or 0.0))
        except ValueError:
            raise ValueError(f"--require score-above takes a number, got {numbers[0]!r}") from None

    @property
    def compares(self) -> bool:
        """Whether it is about the difference of two models."""
        return self.word != "score-above"

    def status(self, answer: Answer) -> tuple[int, str]:
        """Return the exit status that an answer has, and what came of it in a word."""
        return self.decided(answer.interval) if answer.answered else (NO_DECISION, answer.verdict)

    def decided(self, interval: tuple[float, float]) -> tuple[int, str]:
        """Return the exit status that an interval has, and what came of it in a word."""
        low, high = interval
        if low > self.bound:
            return PASSED, "passed"
        return NOT_PASSED, "undecided" if high > self.bound else "not passed"

    def check_within(self, metric: Metric) -> None:
        """Raise ValueError if all scores, or none, are as is required."""
        low, high = metric.range or (-math.inf, math.inf)
        if self.compares and not -self.bound < high - low:
            raise ValueError(
                f"--not-worse-by must be below {high - low:g}, as no {metric.name} is worse by more: got "
                f"{-self.bound:g}"
            )
        if not (self.compares or low <= self.bound < high):
            raise ValueError(
                f"--require score-above takes a number from {low:g} to below {high:g}, the range of "
                f"{metric.name}: got {self.bound:g}"
            )


def add_gate_command(commands: Any) -> None:
    """Add ``gate`` to the subcommands of a parser."""
    gate = commands.add_parser("gate", help="may a candidate replace a model?", description=_DESCRIPTION)
    gate.add_argument("--labels", required=True, metavar="FILE", help="the true labels of the holdout's rows")
    gate.add_argument("--ledger", required=True, help="path or URL of the ledger; a new one is begun")
    gate.add_argument("--no-create", action="store_true", help="where there is none, begin none")
    gate.add_argument("--candidate", required=True, metavar="FILE", help="what the new model predicts")
    gate.add_argument("--incumbent", metavar="FILE", help="what the model in use predicts")
    gate.add_argument(
        "--require", nargs="+", default=["better"], metavar=("better|not-worse|score-above", "X"),
        help="what decides; better unless given",
    )  # fmt: skip
    gate.add_argument("--not-worse-by", type=float, metavar="X", help="with not-worse: by so much at most")
    guess = gate.add_mutually_exclusive_group()
    guess.add_argument(
        "--guess-from", nargs="+", metavar="FILE",
        help="predictions for validation rows, of the incumbent and of the candidate, and their true labels",
    )  # fmt: skip
    guess.add_argument("--guess", type=float, help="else the difference (or the score) as estimated there")
    gate.add_argument("--scoring", default="accuracy", help="a mean of 0/1 losses; accuracy unless given")
    add_columns(gate)
    gate.add_argument(
        "--trust", action="store_true",
        help="the files are pickled models, whose loading runs whatever code is in them",
    )  # fmt: skip
    gate.add_argument("--rows", metavar="FILE", help="with --trust: X of the holdout, an array in NPY")
    gate.add_argument("--confidence-level", type=float, default=0.95, help="0.95 unless given")
    gate.add_argument("--used-before", type=float, metavar="BITS", help="chosen by these labels before")
    gate.add_argument("--dry-run", action="store_true", help="foresee cost and decision; nothing is recorded")
    gate.add_argument("--who", help="who asks; written into the record")
    gate.add_argument("--label", help="where the candidate is from; written into the record")
    gate.set_defaults(run=_run, on_error=NO_DECISION)


def _run(arguments: argparse.Namespace) -> int:
    """Decide, print a line of JSON and return the exit status."""
    try:
        required = Required.of(arguments.require, arguments.not_worse_by)
        with contextlib.redirect_stdout(sys.stderr):  # a model may print, and a line of JSON is all there is
            question = _Question.read(arguments, required)
            body = question.foreseen() if arguments.dry_run else question.decided()
    except (Exception, SystemExit) as error:  # with any other status it would look like a decision
        is_ours = isinstance(error, _EXPECTED)
        what = error if is_ours else type(error).__name__ if isinstance(error, SystemExit) else repr(error)
        reason = _in_flags(f"{what}" if is_ours else f"No answer, as something raised {what}", arguments)
        body = {"exit": NO_DECISION, "status": "error", "reason": reason}
        print(printable(reason), file=sys.stderr)
    print(json.dumps(body, allow_nan=False))
    return int(body["exit"])


class _Question(NamedTuple):
    """What is asked, with files read: the holdout's rows and labels, models or predictions, and a guess."""

    given: argparse.Namespace
    required: Required
    held: LabelFile
    X: Any
    models: list[Any]
    guess: dict[str, Any]

    @classmethod
    def read(cls, given: argparse.Namespace, required: Required) -> _Question:
        """Read all files; ValueError for what does not fit, before a ledger is opened."""
        paths = [given.incumbent, given.candidate] if required.compares else [given.candidate]
        if required.compares == (given.incumbent is None):
            other = "needs" if required.compares else "is about the candidate alone, without"
            raise ValueError(f"--require {required.word} {other} --incumbent")
        if len(paths) == 2 and _are_one(*paths):
            raise ValueError("--incumbent and --candidate are one file")
        if given.guess is None and given.guess_from is None:
            raise ValueError("A guess is needed, or the answer would cost some ten nats: give --guess-from")
        required.check_within(as_metric(given.scoring))
        held = LabelFile.read(given.labels, given, given.ledger)
        if given.trust:
            if given.rows is None:
                raise ValueError("--trust needs --rows, on which the models predict")
            X, models = _array(given.rows), [_loaded(path) for path in paths]
        else:
            pickled = [path for path in paths if path.lower().endswith(_PICKLED)]
            if pickled or given.rows is not None:
                what = repr(pickled[0]) if pickled else "--rows"
                raise ValueError(
                    f"{what} is for pickled models, whose loading runs whatever code is in them: --trust "
                    "says that you know who wrote them. Or give files of predictions"
                )
            X, models = np.empty((len(held.labels), 0)), [held.predictions(path) for path in paths]
        guess = {"guess": given.guess, "guess_from": None}
        if given.guess_from is not None:
            guess["guess_from"] = _guess_rows(given, len(paths), held, X)
        return cls(given, required, held, X, models, guess)

    def decided(self) -> dict[str, Any]:
        """Ask, and return what is printed."""
        holdout = self._holdout(self.given.ledger, create=not self.given.no_create)
        if session_of(holdout).notice:
            print(session_of(holdout).notice, file=sys.stderr)
        ask = holdout.compare if self.required.compares else holdout.certify
        answer = ask(*self.models, scoring=self.given.scoring, **self.guess)
        status, word = self.required.status(answer)
        report, ahead = summary_of(holdout.ledger), ahead_of(holdout.ledger, answer.index)
        return {
            "exit": status, "status": word, "require": self.required.word, "bound": self.required.bound,
            "guess": answer.guess, "value": None if answer.verdict in _SEALED else _finite(answer.value),
            "interval": [_finite(end) for end in answer.interval],
            "verdict": answer.verdict, "nats": answer.cost.nats, "repeated": answer.repeated,
            "record": answer.index or None, "target": answer.target, "reason": answer.reason,
            "left": {
                "revealed": report.nats, "asks": ahead.remaining, "half_widths": ahead.half_widths,
                "says": ahead.in_words() if self.required.compares else report.headline, "head": report.head,
            },
        }  # fmt: skip

    def foreseen(self) -> dict[str, Any]:
        """Return what is printed of what asking would cost, of which nothing is recorded."""
        ids = self.held.ids
        hashed = None if ids is None else id_hashes(ids, "gate")
        data = HoldoutData(self.X, self.held.labels, priced_classes=not self.given.trust, ids=hashed)
        try:
            session = Session.that_reads(data, Asker(self.given.who, self.given.label), self.given.ledger)
            check_not_refused(session)
        except LedgerUnavailableError:
            if self.given.no_create:
                raise
            session = session_of(self._holdout(":memory:", create=True))
        metric, how = session.metric(self.given.scoring), self.guess
        if how["guess_from"] is not None and self.given.trust:  # whose rows would be compared, at a price
            of_both = Difference(metric) if self.required.compares else metric
            model = Pair(*self.models) if self.required.compares else self.models[0]
            how = {"guess": guess_from_rows(of_both, model, *how["guess_from"]), "guess_from": None}
        asked = self._ask(session, metric, how)
        if isinstance(asked, Answer):
            found, reason = ForeseenAnswer(0.0, 0.0, False, None, asked.interval), asked.reason
        else:
            found, reason = foresee(session, asked), _ASSUMED
        return {
            "exit": NO_DECISION, "status": "dry run", "require": self.required.word,
            "bound": self.required.bound, "guess": found.guess, "nats": found.nats,
            "interval": [_finite(end) for end in found.interval], "half_width": _finite(found.half_width),
            "would_be": self.required.decided(found.interval)[1], "on_record": found.is_recorded,
            "reason": reason,
        }  # fmt: skip

    def _ask(self, session: Session, metric: Any, how: dict[str, Any]) -> Ask | Answer:
        policy = session.policy
        if not self.required.compares:
            subject = Subject.of(self.models[0], session.data, policy, "gate")
            return Ask(subject, metric, "certify", **how)
        incumbent, candidate = self.models
        pair = Subject.of_pair(incumbent, candidate, session.data, policy)
        one = difference_of_one(session, pair, metric)
        return one or comparison(session, pair, metric, how["guess"], how["guess_from"], True)

    def _holdout(self, ledger: str, *, create: bool) -> Holdout:
        given = self.given
        return Holdout(
            self.X, self.held.labels, ids=self.held.ids, ledger=ledger,
            class_mix="conditional" if given.trust else "priced", confidence_level=given.confidence_level,
            answers="auto" if ledger == given.ledger else "coarse", who=given.who, label=given.label,
            create=create, used_before=given.used_before,
        )  # fmt: skip


def _in_flags(message: str, given: argparse.Namespace) -> str:
    """Return an error in the words of the command line, without passwords."""
    files = " or ".join(repr(path) for path in (given.incumbent, given.candidate) if path is not None)
    ours = {
        "Predictions(..., classes=[...])": "--class LABEL",
        "'estimator' parameter of Holdout.compare": f"content of {files}",
        "'estimator' parameter of Holdout.certify": f"content of {files}",
        "'scoring' parameter": "--scoring",
    }
    for text, own in ours.items():
        message = message.replace(text, own)
    return without_passwords(message)


def _guess_rows(given: argparse.Namespace, models: int, holdout: LabelFile, rows: Any) -> tuple[Any, Any]:
    """Return validation rows as ``guess_from`` takes them; ValueError if files are missing or do not fit."""
    *paths, last = given.guess_from
    if len(paths) != (1 if given.trust else models):
        each = "X of validation rows" if given.trust else ("predictions", "both predictions")[models - 1]
        raise ValueError(f"--guess-from must be {each}, and their labels: got {1 + len(paths)} files")
    if _are_one(last, given.labels):
        raise ValueError(_NOT_VALIDATION)
    held = LabelFile.read(last, given)
    if held.ids is not None and holdout.ids is not None:
        shared = np.isin(id_hashes(held.ids, "gate"), id_hashes(holdout.ids, "gate")).sum()
        if shared:
            raise ValueError(f"{_NOT_VALIDATION}: {shared} of the ids in {last!r} are those of its rows")
    elif np.array_equal(held.labels, holdout.labels):
        raise ValueError(f"{_NOT_VALIDATION}: {last!r} has the same ones")
    if given.trust:
        validation = _array(paths[0])
        if np.array_equal(validation, rows):
            raise ValueError(f"--rows are those of the holdout, and {paths[0]!r} must have others")
        return validation, held.labels
    parts = [held.in_order(path) for path in paths]
    return (parts if models == 2 else parts[0]), held.labels


def _array(path: str) -> Any:
    """Return the rows of a file; ValueError if there is no array of numbers or text in it."""
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"{path!r} cannot be read as an array in NPY: {error}") from error


def _loaded(path: str) -> Any:
    """Return a pickled model, which may run any code; ValueError if it cannot be loaded."""
    try:
        return joblib.load(path)
    except (Exception, SystemExit) as error:  # whatever loading raises
        raise ValueError(f"{path!r} cannot be loaded: {type(error).__name__}: {error}") from error


def _are_one(one: str, other: str) -> bool:
    """Return whether two paths are of one file that is there."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
