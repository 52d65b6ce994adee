"""State the policy of a holdout, the allowance of a question, and who asks.

The policy stands in the *genesis*, the ledger's first record, which fixes all that may not change later. The
allowance of a question is what it may spend of the failure probability of all intervals together. Who asks,
from where, and when, is recorded with a question, but is no part of its identity.
"""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from sklearn_ada._validation import LN_2, Check, bad_parameter, checked_fields, option, or_none, plain
from sklearn_ada.accounting.arrivals import FIRST_MASS
from sklearn_ada.accounting.codes import Code
from sklearn_ada.accounting.events import FORMAT
from sklearn_ada.accounting.filters import Unit
from sklearn_ada.data.class_mix import ClassMix
from sklearn_ada.guarantees import description_length
from sklearn_ada.guarantees.cells import choose_half_cell
from sklearn_ada.guarantees.description_length import Purse
from sklearn_ada.guarantees.noise import rows_budget, subsamples_budget
from sklearn_ada.ledger.hash_chain import secret_digest
from sklearn_ada.metrics.metric import Metric
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.privacy_account import TransferAllowance
from sklearn_ada.terms.row_tables import key_of_rows

_planned_ln_deltas = plain(description_length.planned_ln_deltas)  # of a policy, which is checked already
_LONGEST = 100  # characters of a name
_SEED_IS_SECRET = "nobody who asks knows the random_state of the holdout"
_SINCE = (
    "since the ledger was begun nobody looks at the holdout except through it, and it is never forked or "
    "rolled back"
)
_BEFORE = (
    "what was chosen by looking at these rows before can be named in {:g} bits, and what it was chosen from "
    "does not derive from them"
)
_BOUNDED_WEIGHTS = (
    "no unit of the population weighs more than weight_bound, and of the holdout's weights only their mean "
    "is known to anybody"
)
# Of class_mix="priced": the class counts are paid for, but not which classes there are.
_NO_UNSEEN_CLASS = "the population has no class of which the holdout has no record"
_NO_UNNAMED_CLASS = "the population has no class but those that were named when the ledger was begun"
_ABOUT_ROWS = ("fingerprint", "rows", "units", "class_counts")
_ABOUT_LABELS = ("fingerprint", "class_counts")


def check_name(value: object, name: str, owner: str) -> object:
    """Return a name that a table can show on one line, or None; ValueError for any other."""
    if value is None or (isinstance(value, str) and value.isprintable() and 0 < len(value) <= _LONGEST):
        return value
    raise bad_parameter(name, owner, f"a text of 1 to {_LONGEST} printable characters, or None", value)


@dataclass(frozen=True)
@checked_fields("Holdout", who=check_name, label=check_name)
class Asker:
    """The names that a holdout's records carry.

    They change neither which question it is nor whether it is admitted: the recorded answer that one person
    paid for, another gets nearly free.

    Parameters
    ----------
    who, label : str or None
    """

    who: str | None = None
    label: str | None = None

    def stamp(self) -> dict[str, Any]:
        """Return what a record says of its asker, ready for JSON."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        return {"who": self.who, "label": self.label, "time": now}


@dataclass(frozen=True)
class Allowance:
    """What one question may use of the failure probability ``1 - confidence_level``.

    By description length that is ``delta = beta * pi * exp(-L)``: beta is what all questions of its purpose
    have together, pi the question's stake, and L the nats that were revealed before
    (`sklearn_ada.guarantees.description_length`).

    Attributes
    ----------
    ln_delta : float
        Logarithm of delta: how likely the fixed-question interval may be to miss, over the draw of the rows.
    nats : float
        The L in delta.
    described : bool
        Whether description length certifies the answer.
    transfer : TransferAllowance or None
        What the answer may use of the privacy route; None if privacy does not certify it.
    stake : float or None
        pi, what the question (each, of a round) takes from the purse; None where there is none, and in a
        round, which took it when it was opened.
    purse : Purse or None
        What is left of the purse then.
    """

    ln_delta: float
    nats: float
    described: bool = True
    transfer: TransferAllowance | None = None
    stake: float | None = None
    purse: Purse | None = None

    @property
    def ln_noise(self) -> float:
        """Logarithm of the failure probability for the mechanism's noise: half of ``beta * pi``, without L.

        What was revealed about the rows says nothing about noise that is drawn afterwards.
        """
        return self.ln_delta + self.nats - LN_2

    @property
    def ln_certified(self) -> float:
        """Logarithm of the failure probability that the answer's certificate states.

        By privacy alone that is the one of the gap between holdout and population, which all answers of a
        family have in common (`sklearn_ada.guarantees.transfer`).
        """
        return self.ln_delta if self.described or self.transfer is None else self.transfer.ln_gap

    def taken(self) -> dict[str, Any]:
        """Return what a record says of the purse; nothing where none is touched."""
        if self.purse is None:
            return {}
        return {"stake": self.stake, "purse": [self.purse.left, self.purse.taken]}

    def after(self, nats: float) -> Allowance:
        """Return the allowance as it is once so many more nats have been revealed."""
        return replace(self, ln_delta=self.ln_delta - nats, nats=self.nats + nats)

    def among(self, alternatives: int) -> Allowance:
        """Return the allowance where the holdout chooses among N questions, for ln N nats."""
        return self.after(math.log(alternatives))


PROMISE: dict[str, Check | str] = {
    "confidence_level": "(0, 1)",
    "tolerance": "(0, 0.5] or None",
    "expected_questions": "integer >= 1 or None",
    "used_before": ">= 0 or None",
}
"""The checks of what a holdout promises."""
check_answers = option(("auto", "coarse", "exact"))

GRID_POINTS = 1001  # of a grid over a metric's range
WINDOW_PART = 0.05
"""s2, where a ledger is begun for a metric that is answered with windows."""
_OF_WINDOWS = (1.0 - WINDOW_PART, WINDOW_PART)
_COARSE_ON_DISK = "cells"  # how a genesis says that answers are coarse
_SEALING = ("answers", "shares", "seal_key")  # of these an exact ledger's genesis says nothing


def check_class_mix(value: object, name: str, owner: str) -> str | ClassMix:
    """Return a class mix: one of the words, or declared shares; ValueError for anything else."""
    if isinstance(value, ClassMix):
        return value
    if isinstance(value, Mapping):
        return ClassMix.of(value, name, owner)
    if isinstance(value, str) and value in ("conditional", "priced"):
        return str(value)
    expected = "'conditional', 'priced' or a dict of the share of every class"
    raise bad_parameter(name, owner, expected, value)


@dataclass(frozen=True)
@checked_fields(
    "Holdout",
    **PROMISE,
    check_share="(0, 1)",
    route=option(("description_length", "differential_privacy", "both")),
    class_mix=check_class_mix,
    answers=or_none(check_answers),
    format="integer >= 1",
)
class Policy:
    """How a holdout shares out its failure probability and prices its answers.

    Parameters
    ----------
    confidence_level : float
        In (0, 1): all intervals together hold with at least this probability.
    tolerance : float or None
        Largest half-width of an answer, as a part of the metric's range, at which questions are still
        admitted; None never refuses.
    expected_questions : int or None
        Tunes stakes, cell widths and noise; more may be asked.
    check_share : float
        Part of the failure probability that belongs to checks where answers are exact; the rest belongs to
        certifies. No parameter of `Holdout` any more, but ledgers keep what their genesis says.
    route : {"description_length", "differential_privacy", "both"}
        The theory behind the intervals; "both" gives each half of the failure probability.
    class_mix : {"conditional", "priced"} or ClassMix
        Whether intervals speak of the population at the holdout's class proportions, or class counts are
        paid for, because askers may know them; or the class proportions that are meant.
    code : Code
        The probabilities given to answers before they exist, which set their price in nats.
    answers : {"exact", "coarse", "auto"} or None
        How a certify answers. "exact": at once. "coarse": with a cell or window, the value is sealed. "auto":
        the first at once, later ones coarsely. Ledgers of older releases do not name it: they are exact.
        None: as the ledger was begun, a new one exact.
    shares : tuple of float
        s1 and s2, where answers are not exact: the parts of the failure probability that belong to
        description length and to the transcript theorem (`sklearn_ada.guarantees.description_length`).
    seal_key : str or None
        The public key that sealed values are encrypted for (`terms.seal_key`); None hides them by the
        ledger's secret. Ledgers of older releases do not name it: they have none.
    used_before : float or None
        Bits in which can be named what was chosen by the rows before the ledger was begun; None: as it was
        begun, a new one 0. Ledgers of older releases do not name it: they have none.
    format : int
        Of the ledger: what its records mean and what they cost, which stays as it was when it was begun.
    """

    confidence_level: float = 0.95
    tolerance: float | None = None
    expected_questions: int | None = None
    check_share: float = description_length.CHECK_PART
    route: str = "description_length"
    class_mix: str | ClassMix = "conditional"
    code: Code = field(default_factory=Code)
    answers: str | None = "exact"
    shares: tuple[float, float] = (description_length.SEALED_PART, description_length.TRANSCRIPT_PART)
    seal_key: str | None = None
    used_before: float | None = None
    format: int = FORMAT

    def __post_init__(self) -> None:
        private = f"where route={self.route!r}"
        if self.seals_all and self.is_private:
            fix = "Where privacy certifies, answers have noise, and there is nothing to seal."
            raise bad_parameter("answers", "Holdout", f"'exact' or 'auto' {private}", self.answers, fix)
        if self.seal_key is not None and (self.is_private or not self.seals):
            where = private if self.is_private else f"where answers={self.answers!r}"
            fix = "Nothing is sealed there: use answers='coarse', without privacy."
            raise bad_parameter("seal_key", "Holdout", f"None {where}", "a key", fix)
        if not (len(self.shares) == 2 and min(self.shares) > 0.0 and sum(self.shares) <= 1.0):
            raise bad_parameter("shares", "Holdout", "two positive parts of at most 1 together", self.shares)
        if self.class_mix != "conditional" and self.is_private:
            fix = "Class counts have a price in nats and no privacy, declared shares no answers with noise."
            raise bad_parameter("class_mix", "Holdout", f"'conditional' {private}", self.class_mix, fix)
        if self.is_private and self.ln_beta > -LN_2:
            least = f"at least 0.5 {private}"
            fix = "The theorem about privacy speaks of failures that are no likelier than not."
            raise bad_parameter("confidence_level", "Holdout", least, self.confidence_level, fix)

    @property
    def ln_beta(self) -> float:
        """Logarithm of the failure probability that each route has for the whole conversation."""
        ln_beta = math.log1p(-self.confidence_level) - (LN_2 if self.route == "both" else 0.0)
        return ln_beta if self.format < 3 else ln_beta - math.log1p(FIRST_MASS)

    @property
    def nats_before(self) -> float:
        """What was revealed before the ledger was begun, in nats."""
        return (self.used_before or 0.0) * LN_2

    @property
    def mix(self) -> ClassMix | None:
        """The class mix that is declared, if one is."""
        return self.class_mix if isinstance(self.class_mix, ClassMix) else None

    @property
    def seals(self) -> bool:
        """Whether counts are answered in cells, and all stakes come from one purse."""
        return self.answers in ("auto", "coarse")

    @property
    def seals_all(self) -> bool:
        """Whether counts are answered in cells from the first on."""
        return self.answers == "coarse"

    @property
    def ln_sealed(self) -> float:
        """Logarithm of the failure probability of description length, where answers are sealed."""
        return self.ln_beta + math.log(self.shares[0])

    @property
    def ln_transcript(self) -> float:
        """Logarithm of the failure probability that belongs to the transcript theorem."""
        return self.ln_beta + math.log(self.shares[1])

    @property
    def is_described(self) -> bool:
        """Whether intervals may rest on description length."""
        return self.route != "differential_privacy"

    @property
    def is_private(self) -> bool:
        """Whether intervals may rest on differential privacy."""
        return self.route != "description_length"

    @property
    def limits(self) -> str | None:
        """What bounds the number of questions, in words; None if nothing does."""
        limits = [] if self.tolerance is None else [f"the tolerance of {self.tolerance:g}"]
        limits += [] if self.is_described else ["the privacy budget"]
        return " and ".join(limits) or None

    @property
    def ln_gap(self) -> float:
        """Logarithm of the failure probability of the gap between holdout and population, by privacy.

        It is half of what that route has; the other half is for noise, of which nothing was known before.
        """
        return self.ln_beta - LN_2 - self.nats_before

    def privacy_budget(self, unit: Unit, n: int) -> float:
        """Return the zCDP parameter rho that all questions may cost together, of n rows.

        ``unit`` is what is replaced between neighbouring data sets: a row, or one of m subsamples.
        """
        planned = description_length.planned_questions(self.expected_questions)
        check, _ = _planned_ln_deltas(self.ln_gap, self.check_share, self.expected_questions)
        if unit.parts == 0:
            return rows_budget(n, planned, self.ln_gap, check)
        return subsamples_budget(unit.parts, planned, GRID_POINTS, self.ln_gap, check)

    @property
    def planned_ln_delta(self) -> float:
        """Logarithm of delta of the first certify, with nothing revealed yet."""
        return _planned_ln_deltas(self.ln_beta, self.check_share, self.expected_questions)[1]

    def half_cell(self, error: float, deviation: float, size: float) -> float:
        """Return half of the width that the cells of a check should have (see `choose_half_cell`).

        Parameters
        ----------
        error : float
            Standard error of the difference between the holdout's value and the guess.
        deviation, size : float
            Standard deviation of the score of one row, and number of independent rows behind the interval.
        """
        check, certify = _planned_ln_deltas(self.ln_beta, self.check_share, self.expected_questions)
        error, deviation, size = (float(f"{number:.3g}") for number in (error, deviation, size))
        planned = description_length.planned_questions(self.expected_questions)
        return choose_half_cell(planned, error, deviation, size, check, certify, self.code)

    def of_found(self, found: dict[str, Any] | None, *, durable: bool) -> Policy:
        """Return the policy with all decided that is left to the ledger: a new one, or one that was found.

        What was begun goes on as it was begun. With "auto" a new ledger that outlives its session answers in
        cells, a temporary one the first question at once. Where privacy certifies, all answers are exact.
        """
        if found is None:
            if self.answers not in (None, "auto"):
                return self
            if self.answers is None or self.is_private:
                return replace(self, answers="exact")
            return replace(self, answers="coarse") if durable else self
        left: dict[str, Any] = {"check_share": found.get("check_share", self.check_share)}
        left["format"] = found["schema"]
        left["shares"] = tuple(found.get("shares", self.shares))
        if self.answers in (None, "auto"):
            left["answers"] = as_given(found.get("answers", "exact"))
        if self.used_before is None:
            left["used_before"] = found.get("used_before")
        if self.seal_key is None and self.answers != "exact":
            left["seal_key"] = found.get("seal_key")
        return replace(self, **left)

    def begun_for(self, metric: Metric | None, data: HoldoutData) -> Policy:
        """Return the policy of a ledger that is begun for a metric, if it is begun; None is the usual one.

        Windows need little of the failure probability, as a level that is a fourth makes them hardly wider.
        """
        of_counts = data.is_classification and self.mix is None if metric is None else metric.measure.counts
        if of_counts and data.units is None:
            return self
        return replace(self, shares=_OF_WINDOWS)

    @property
    def is_for_counts(self) -> bool:
        """Whether the ledger was not begun for a metric that is answered with windows."""
        return self.shares != _OF_WINDOWS

    def check_rows(self, data: HoldoutData) -> None:
        """Raise ValueError if the policy cannot be kept on these rows."""
        if self.class_mix == "priced" and not data.is_classification:
            raise bad_parameter("class_mix", "Holdout", "'conditional' where y holds numbers", self.class_mix)
        if self.mix is not None:
            if data.classes is None:
                raise bad_parameter("class_mix", "Holdout", "'conditional' where y holds numbers", self.mix)
            if data.units is not None:
                where = "'conditional' with sample_weight or groups"
                fix = "Declared shares weigh classes of independent rows that count alike."
                raise bad_parameter("class_mix", "Holdout", where, self.mix, fix)
            self.mix.check_classes(data.classes)
        if self.is_private and data.units is not None and data.units.bound is not None:
            expected, fix = f"None where route={self.route!r}", "The mean weight is released without noise."
            raise bad_parameter("weight_bound", "Holdout", expected, data.units.bound, fix)

    def to_dict(self) -> dict[str, Any]:
        """Return what a genesis record says of it: nothing of sealed answers where there are none."""
        answers = _COARSE_ON_DISK if self.seals_all else self.answers
        class_mix = self.class_mix if self.mix is None else self.mix.described()
        body = asdict(self) | {"shares": list(self.shares), "answers": answers, "class_mix": class_mix}
        unsealed = _SEALING if not self.seals else ("seal_key",) if self.seal_key is None else ()
        unused = () if self.used_before else ("used_before",)
        left_out = {"format", *unsealed, *unused}  # a genesis names the format its schema
        return {name: each for name, each in body.items() if name not in left_out}

    @classmethod
    def from_dict(cls, body: dict[str, Any]) -> Policy:
        """Return the policy that stands in a genesis record, among other things."""
        named_otherwise = (*_SEALING, "used_before", "format")
        given = {each.name: body[each.name] for each in fields(cls) if each.name not in named_otherwise}
        if not isinstance(body["class_mix"], str):
            given["class_mix"] = ClassMix.of(dict(body["class_mix"]))
        if "answers" in body:
            given |= {"answers": as_given(body["answers"]), "shares": tuple(body["shares"])}
            given["seal_key"] = body.get("seal_key")
        given["used_before"] = body.get("used_before")
        return cls(**given | {"code": Code(**body["code"]), "format": body["schema"]})


def as_given(answers: str) -> str:
    """Return the parameter ``answers`` as a user gives it, from its form in a genesis."""
    return "coarse" if answers == _COARSE_ON_DISK else answers


@dataclass(frozen=True)
class Genesis:
    """Rows and policy of a holdout, as they were when its ledger was begun.

    Parameters
    ----------
    body : dict
        What the ledger holds, ready for JSON.

    Attributes
    ----------
    format : int
        The format of the ledger's records.
    confidence_level : float
        Probability that all intervals hold together.
    tolerance : float or None
        The largest half-width of an answer at which questions are admitted, as a part of the range.
    fingerprint : str
        Keyed digest of the rows that the ledger began with.
    identity : {"ids", "labels", "content"}
        What rows are recognised by; "content" in ledgers begun before there were others.
    units : dict or None
        What it says of groups and weights; None without.
    rows : int
        How many there were.
    """

    body: dict[str, Any]
    format = property(lambda self: int(self.body["schema"]))
    confidence_level = property(lambda self: float(self.body["confidence_level"]))
    tolerance = property(lambda self: self.body["tolerance"])
    fingerprint = property(lambda self: str(self.body["fingerprint"]))
    identity = property(lambda self: str(self.body.get("identity", "content")))
    units = property(lambda self: self.body.get("units"))
    rows = property(lambda self: int(self.body["rows"]))

    @classmethod
    def of(
        cls,
        data: HoldoutData,
        policy: Policy,
        split: dict[str, Any],
        secret: bytes,
        seed: bytes | None,
        found: dict[str, Any] | None = None,
    ) -> Genesis:
        """Return the genesis of a ledger; an existing ledger is opened only if its genesis is the same.

        Parameters
        ----------
        data : HoldoutData
        policy : Policy
        split : dict
            How the rows were chosen.
        secret : bytes
            The ledger's, from which noise and subsamples are drawn.
        seed : bytes or None
            The secret that ``random_state`` asks for, if it is given.
        found : dict or None
            The genesis of a ledger that is there. One without "identity" was begun when rows were recognised
            by their content, and goes on so. With ids, what it says of the rows is what they were when it was
            begun; its later records say what became of them, with which they are compared. Without, whether
            as many labels of each kind are the same ones is compared at a price (`Session.open`).
        """
        identity = "ids" if data.ids is not None else "labels"
        if found is not None and data.ids is None and "identity" not in found:
            identity = "content"
        salt = {name: found[name] for name in ("salt",) if name in found} if found else {}
        if found is None and seed is not None:
            salt = {"salt": os.urandom(32).hex()}
        key = key_of_rows(secret, salt)
        compares_labels = identity == "labels" and policy.format >= 3  # at a price
        body = {
            "schema": policy.format,
            **({} if identity == "content" else {"identity": identity}),
            **salt,
            "fingerprint": data.fingerprint(key, identity),
            **(data.describe_counts(key) if compares_labels and policy.class_mix != "priced" else {}),
            "rows": len(data),
            "split": split,
            "secret_digest": secret_digest(seed or secret),
            "seeded": seed is not None,
            **policy.to_dict(),
            **data.describe_units(key),
            **(_of_classes(data, found) if policy.class_mix == "priced" else {}),
        }
        if found is None:
            return cls(body)
        compared_later: tuple[str, ...] = ()
        if identity == found.get("identity") == "ids":
            compared_later = _ABOUT_ROWS
        elif compares_labels and all(body.get(name) == found.get(name) for name in ("rows", "counts")):
            compared_later = _ABOUT_LABELS
        kept = {name: found[name] for name in compared_later if name in found}
        return cls({name: value for name, value in body.items() if name not in compared_later} | kept)

    @property
    def compares_labels(self) -> bool:
        """Whether rows are their labels, and whether others are the same ones has a price."""
        return self.identity == "labels" and int(self.format) >= 3

    @property
    def policy(self) -> Policy:
        """The policy, checked."""
        return Policy.from_dict(self.body)

    @property
    def n_units(self) -> int:
        """Number of independent units: of groups if there are any, else of rows."""
        return int((self.units or {}).get("number", self.rows))

    @property
    def n_classes(self) -> int | None:
        """Number of classes whose counts are paid for in nats; None with ``class_mix="conditional"``."""
        return len(self.body["class_counts"]) if "class_counts" in self.body else None

    @property
    def classes(self) -> list[Any] | None:
        """The classes that were named as those that may occur; None if none were."""
        return self.body.get("classes")

    @property
    def assumed_mix(self) -> tuple[str, ...]:
        """What answers at a declared class mix rest on besides; exported targets have it."""
        declared = self.body["class_mix"]
        if isinstance(declared, str):
            return ()
        mix = ClassMix.of(dict(declared))
        return (f"new data have the class mix {mix}, and in each class rows are like those of the holdout",)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every certificate of the ledger rests on."""
        (independent, *others), units = description_length.ASSUMPTIONS, self.units or {}
        bits = self.body.get("used_before")
        if bits is not None:
            others[-1:] = [_SINCE, _BEFORE.format(bits)]
        if units.get("groups"):
            independent = independent.replace("records", "groups", 1)
        if units.get("weight_bound") is not None:
            others.append(_BOUNDED_WEIGHTS)
        if self.n_classes is not None:
            others.append(_NO_UNSEEN_CLASS if self.classes is None else _NO_UNNAMED_CLASS)
        if self.body["seeded"]:
            others.append(_SEED_IS_SECRET)
        return (independent, *others)


def _of_classes(data: HoldoutData, found: dict[str, Any] | None) -> dict[str, Any]:
    """Return what a genesis says of classes whose counts are paid for: all that may occur, if they are named.

    ``found`` is the genesis of a ledger that is there, which has named them for whoever opens it later.
    """
    seen = dict(zip(np.asarray(data.classes).tolist(), data.class_counts.tolist(), strict=True))
    named = (found or {}).get("classes") if data.named_classes is None else data.named_classes.tolist()
    if named is None:
        return {"class_counts": [*seen.values()]}
    plain = [label if isinstance(label, str) else int(label) for label in named]
    return {"classes": plain, "class_counts": [seen.get(label, 0) for label in plain]}
