"""Verifying a certificate: every interval is computed again from the ledger's records, and compared.

An interval follows from what was released, the question's record and its level, the part of the failure
probability that it may use; the level follows from the records before it. So whoever has the ledger can
compute it again, without rows and models, wherever the number of rows is all that the interval takes of the
data. The size of a ROC AUC or of a per-class mean depends on the class counts, and that of weighted or
grouped rows on the weights, which no ledger holds; noise and medians are drawn. Those answers are compared
with their records, which the hash chain protects, and counted apart.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_ada._table import counted
from sklearn_ada.accounting.polya_urn import symbols_of
from sklearn_ada.events import CountRelease, Event
from sklearn_ada.exceptions import LedgerDamagedError, LedgerError, LedgerMismatchError
from sklearn_ada.guarantees.description_length.shares import intersection
from sklearn_ada.guarantees.description_length.theorem import ln_delta
from sklearn_ada.guarantees.universal_inference.theorem import THEOREM
from sklearn_ada.holdout.questions.coded import CodedQuestion, foreseen_variance
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.questions.sealed_statistics import statistic_from
from sklearn_ada.holdout.records.answer import AnswerRecord
from sklearn_ada.holdout.records.conversation import Conversation, read_record
from sklearn_ada.holdout.records.sealed import SealedRecord, UnsealedRecord
from sklearn_ada.holdout.report.certificate import FORMAT, Prefix, certificate_of, prefix_of
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.ledger import Ledger, Record
from sklearn_ada.mechanisms.rounding.cells import Cells
from sklearn_ada.metrics import Metric
from sklearn_ada.metrics.registry import WITH_INTERVAL
from sklearn_ada.metrics.rules.mean import Mean
from sklearn_ada.metrics.rules.ratio import Ratio
from sklearn_ada.metrics.rules.rule import IntervalRule

__all__ = ["Verified", "verify_certificate"]

Ends = tuple[float, float]


@dataclass(frozen=True)
class Verified:
    """What was found of a certificate that agrees with its ledger.

    Attributes
    ----------
    recomputed : int
        How many intervals were computed again.
    compared : dict of str to int
        How many could only be compared with their records, by what an interval takes that no ledger holds.
    """

    recomputed: int
    compared: dict[str, int]


class _NotInLedgerError(Exception):
    """An interval takes something that the ledger does not hold; the message says what."""


def verify_certificate(ledger: Ledger[Conversation], text: str) -> Verified:
    """Return what was verified of a certificate, or raise for the first thing that does not agree.

    Parameters
    ----------
    ledger : Ledger
        Whose records were verified against their chain.
    text : str
        What `Holdout.export` wrote as JSON.

    Raises
    ------
    LedgerError
        If the text is no certificate.
    LedgerMismatchError
        If it is that of another ledger, or says something else than the records.
    LedgerDamagedError
        If the ledger is older than the certificate, or its records contradict each other.
    """
    given = _read(text)
    ledger.check_head(given["head"])
    prefix = prefix_of(ledger, given["head"])
    found = _recomputed(prefix)
    _compare(given, json.loads(json.dumps(certificate_of(prefix))), "")
    return found


def _read(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text, object_pairs_hook=_without_repetition)
        is_one = given["format"] == FORMAT and isinstance(given["head"], str)
    except (ValueError, TypeError, KeyError):
        is_one = False
    if not is_one:
        raise LedgerError(
            f"The file is no certificate ({FORMAT!r}). Give what holdout.export('certificate.json') wrote."
        )
    checked: dict[str, Any] = given
    return checked


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that stands twice: a reader would see the first, and only the last would be compared."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("A name stands twice.")
    return dict(pairs)


def _compare(given: Any, made: Any, where: str) -> None:
    """Raise LedgerMismatchError where a certificate and the one made of the records part."""
    if isinstance(made, dict) and isinstance(given, dict) and made.keys() == given.keys():
        for name, value in made.items():
            _compare(given[name], value, f"{where}.{name}" if where else name)
        return
    if isinstance(made, list) and isinstance(given, list) and len(made) == len(given):
        for number, (one, other) in enumerate(zip(given, made, strict=True)):
            name = other.get("index", number) if isinstance(other, dict) else number
            _compare(one, other, f"{where}[{name}]")
        return
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (given, made))
    if math.isclose(given, made, rel_tol=1e-9, abs_tol=1e-12) if numbers else given == made:
        return
    said, told = _short(given), _short(made)
    if isinstance(made, list) and isinstance(given, list):
        said, told = (counted(len(each), "entry") for each in (given, made))
    raise LedgerMismatchError(
        f"The certificate was changed: at {where or 'its top'} it says {said}, the ledger's records "
        f"give {told}. Trust the ledger, and export it again."
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _recomputed(prefix: Prefix) -> Verified:
    """Compute all intervals again; raise LedgerDamagedError for a record that says another one."""
    count, compared = 0, Counter[str]()
    for state, record in _walk(prefix):
        read = read_record(record.body)
        if not isinstance(read, AnswerRecord) or read.body["outcome"]["value"] is None:
            continue
        try:
            interval = _interval(prefix, state, read)
        except _NotInLedgerError as missing:
            compared[str(missing)] += 1
            continue
        low, high = read.body["outcome"]["interval"]
        said = (-math.inf if low is None else low, math.inf if high is None else high)
        if not np.allclose(interval, said, rtol=1e-9, atol=1e-12):
            raise LedgerDamagedError(
                f"Record {record.seq} says the interval [{said[0]:.6g}, {said[1]:.6g}]; from what was "
                f"released it is [{interval[0]:.6g}, {interval[1]:.6g}]: the ledger was edited, or is of "
                "another release. Rest nothing on it; its owner can restore a copy that continues the head."
            )
        count += 1
    return Verified(count, dict(compared))


def _walk(prefix: Prefix) -> Iterator[tuple[Conversation, Record]]:
    """Yield every record with the state before it."""
    state = Conversation(prefix.ledger.genesis)
    for record in prefix.records:
        if record.seq:
            yield state, record
            state.advance(record.body)


def _interval(prefix: Prefix, state: Conversation, read: AnswerRecord) -> Ends:
    """Return the interval of an answer as its record should say it."""
    if prefix.genesis.policy.is_private:
        raise _NotInLedgerError("noise, by privacy")
    if isinstance(read, UnsealedRecord):
        return _of_unsealed(prefix, state, read)
    level = _level(state, read)
    if not isinstance(read, SealedRecord):
        return _of_coded(prefix, state, read.body, read.event, level)
    statistic = statistic_from(read.body["mechanism"])
    ends = statistic.ends(symbols_of(read.event)[0].value)
    interval = statistic.fixed_interval(*ends, level)
    if THEOREM not in read.body["outcome"]["theorem"]:
        return interval
    nats = state.account.nats + read.price
    return intersection(interval, [statistic.transcript_interval(*ends, state.policy.ln_transcript, nats)])


def _of_unsealed(prefix: Prefix, state: Conversation, read: UnsealedRecord) -> Ends:
    """Return the interval of an exact value that was told later: what lies in all that were given for it."""
    body, before = read.body, prefix.records[read.body["of"]].body
    low, high = before["outcome"]["interval"]
    level = body["ln_delta"]
    if body["final"]:
        level = _of_purse(state, body)
        _check_level(level, body["ln_delta"])
    if not isinstance(read.event, CountRelease):
        answered = AnswerRecord(before)
        now = _of_coded(prefix, state, before, answered.event, _or_nothing(level))
        return intersection(now, [(low, high)])
    (symbol,) = symbols_of(read.event)
    point = int(symbol.value)
    statistic = statistic_from(before["mechanism"])
    own = statistic.fixed_interval(point, point, _or_nothing(before["ln_delta"]))
    told = statistic.fixed_interval(point, point, _or_nothing(level)) if body["final"] else own
    return intersection(told, [own, (low, high)])


def _of_coded(prefix: Prefix, state: Conversation, body: dict[str, Any], event: Event, level: float) -> Ends:
    """Return the interval of an answer without noise, from the number of rows."""
    mechanism, bounds = body["mechanism"], body["metric"]["range"]
    if mechanism["name"] not in ("check", "certify"):
        raise _NotInLedgerError(f"draws or earlier answers of its mechanism ({mechanism['name']})")
    if "interval" in mechanism:  # its ends were told beside the value; foreseeing them takes labels
        raise _NotInLedgerError(f"a function of all rows ({mechanism['interval']['construction']})")
    if "units" in prefix.genesis.body:
        raise _NotInLedgerError("weights or groups of the rows")
    guess, rows = Guess(**body["guess"]), state.rows
    rule = _rule(body, guess, rows)
    is_certify = mechanism["name"] == "certify"
    metric = Metric(_no_scores, kind="mean", range=(bounds[0], bounds[1]))
    size = rule.expected_size if rule.size_is_released else float(rows)
    variance = None
    if len(symbols_of(event)) > 1 and not rule.size_is_released:
        variance = foreseen_variance(rule, guess, metric.bounds, size, state.policy)
        if variance is None:
            raise LedgerDamagedError("A record tells a variance, and its guess asks for none: it was edited.")
    question = CodedQuestion(
        body.get("purpose", mechanism["name"]), metric, rule, guess,
        Cells(mechanism["centre"], mechanism["half_cell"]), "lattice" if is_certify else "cells",
        mechanism["scale"], size, "", variance,
    )  # fmt: skip
    return question.read(event, FailureBudget(level, 0.0), {}).interval


def _rule(body: dict[str, Any], guess: Guess, rows: int) -> IntervalRule:
    """Return how the metric of a record becomes an interval on so many rows."""
    name, kind = body["metric"]["name"], body["metric"]["kind"]
    known = WITH_INTERVAL.get(name.partition(" of ")[0])
    if kind == "ratio" and known is not None and isinstance(known.rule, Ratio):
        if guess.share is None:
            raise _NotInLedgerError("the count of a class")
        return known.rule.foreseeing(guess.value, guess.share, np.empty(rows))
    if kind != "mean":
        raise _NotInLedgerError("class counts")
    of_counts = known is not None and isinstance(known.rule, Mean) and known.rule.zero_one
    says_so = Mean(_no_scores, zero_one=True).theorem in body["outcome"]["theorem"]  # not of a function
    return Mean(_no_scores, zero_one=of_counts and says_so)


def _no_scores(*outputs: Any) -> Any:
    raise AssertionError("nothing is scored here")


def _level(state: Conversation, read: AnswerRecord) -> float:
    """Return ln delta of a question, from the records before it."""
    body, recorded = read.body, _or_nothing(read.body["ln_delta"])
    if body.get("declared"):
        return recorded  # that of its declaration, where this is larger
    name = state.open_round(body["round"])
    if state.purse is not None and name is None:
        level = _of_purse(state, body)
    else:
        level = state.share(body["purpose"], round_name=name).ln_delta
    _check_level(level, recorded)
    return level


def _of_purse(state: Conversation, body: dict[str, Any]) -> float:
    """Return ln delta of what a record took of the purse, which its replay checks against what was left."""
    weight = float(body["weight"])
    return ln_delta(state.policy.ln_sealed, weight, state.account.nats) if weight > 0.0 else -math.inf


def _check_level(level: float, recorded: float | None) -> None:
    if not math.isclose(level, _or_nothing(recorded), rel_tol=1e-9):
        raise LedgerDamagedError(
            f"A record says ln delta = {_or_nothing(recorded):.9g}, and by the records before it that is "
            f"{level:.9g}: the ledger was edited, or written by another release. Rest nothing on it."
        )


def _or_nothing(ln_level: float | None) -> float:
    return -math.inf if ln_level is None else ln_level
