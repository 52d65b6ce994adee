"""The state that records add up to, and what all kinds have in common.

The state says what was revealed, and what the next question may therefore spend. Nothing but the ledger's
records is in it. So whether a question is admitted, and with which allowance, never depends on what the
holdout would answer.

A kind of record is a frozen dataclass that says what it does to the state (`LedgerRecord.apply`); all of them
stand in `sklearn_ada.holdout.records`, which registers them. What is on disk follows from the fields: a field
without a default is always there; one with a default is left out where it has that value, so that fields may
be added, and records of older releases are read, and written again to the same bytes.
"""

from __future__ import annotations

import copy
import functools
import math
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple, Self

from sklearn_ada._validation import LN_2, plain
from sklearn_ada.accounting.arrivals import Arrivals
from sklearn_ada.accounting.codes import DescriptionLength
from sklearn_ada.accounting.events import Event
from sklearn_ada.accounting.filters import Unit
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.guarantees import description_length
from sklearn_ada.guarantees.description_length import Purse, class_count_nats, ln_declared
from sklearn_ada.terms.policy import Allowance, Genesis
from sklearn_ada.terms.privacy_account import PrivacyAccount, PrivateRelease

# What a state passes on is checked already.
ln_delta = plain(description_length.ln_delta)
ln_share, round_weight = (plain(description_length.ln_share), plain(description_length.round_weight))

_PLAIN = {name: name for name in ("fingerprint", "rows", "units", "refused", "top_ups")} | {
    "mechanism_states": "memories",
    "is_untouched": "is_untouched",
}
"""Attributes by their keys on disk."""
_COUNTS = ("asked", "askers", "targets")


def finite(ln_delta: float) -> float | None:
    """Return ln delta as records keep it: None for -inf, which is no JSON."""
    return None if ln_delta == -math.inf else ln_delta


def ln_delta_of(kept: float | None) -> float:
    """Return the ln delta that a record keeps."""
    return -math.inf if kept is None else kept


PRICED_ARRIVALS = 3
"""The first format of ledgers in which it has a price who comes next while questions are pending."""

ANEW = "anew"
"""Stands for a question that others may not have seen pending, so that it is begun when it is recorded."""


class RefusedError(Exception):
    """A question is not admitted; the ledger's earlier records alone decide that."""


@dataclass
class Round:
    """Questions fixed before any of their answers is seen.

    Attributes
    ----------
    allowance : Allowance
        Of each of them, with the nats L as they were when the round was opened.
    left : int
        How many of them have not been answered yet.
    size : int
        How many they were; 0 where that is not kept, because all answers are exact.
    at_once : bool
        Whether its answers are exact, where others are cells.
    """

    allowance: Allowance
    left: int
    size: int = 0
    at_once: bool = False

    @classmethod
    def from_list(cls, kept: list[Any]) -> Round:
        """Return the round that `to_list` described."""
        kept_ln, nats, left, *of_cells = kept
        return cls(Allowance(ln_delta_of(kept_ln), nats), left, *of_cells)

    def to_list(self) -> list[Any]:
        """Return what a checkpoint keeps of it, ready for JSON."""
        of_cells = [self.size, self.at_once] if self.size else []
        return [finite(self.allowance.ln_delta), self.allowance.nats, self.left, *of_cells]


@dataclass
class Listed:
    """Where answers stand in a ledger, so that some of them can be shown without reading all.

    Checkpoints do not have it: only who has read every record lists them.

    Attributes
    ----------
    answers : array of int
        Numbers of the records that answer or refuse a question, in order.
    ended : dict of str to tuple
        Of each round that was closed: the number of the record that did it, and the nats in it.
    released : dict of int to int
        Of each sealed answer whose exact value was released: the number of the record in which it was
        published or, if it was not, unsealed.
    """

    answers: array[int] = field(default_factory=lambda: array("q"))
    ended: dict[str, tuple[int, float]] = field(default_factory=dict)
    released: dict[int, int] = field(default_factory=dict)

    def __deepcopy__(self, memo: object) -> Self:
        return self  # no record is added to a state that is foreseen

    def nats_of_ended(self, name: str | None, before: int) -> float | None:
        """Return the nats with which a round was closed before a record; None if it was not."""
        number, nats = self.ended.get(name or "", (before, 0.0))
        return nats if number < before else None


class State:
    """What was revealed, asked and spent so far: a function of the ledger's records and of nothing else.

    Parameters
    ----------
    genesis : dict
        The ledger's genesis record.

    Attributes
    ----------
    policy : Policy
    account : DescriptionLength
        Everything revealed, in nats: its ``nats`` are the L of the theorem.
    privacy : PrivacyAccount or None
        What is spent of the privacy budget, where the policy has one.
    asked : dict
        Number of questions admitted for each purpose.
    refused : int
    is_untouched : bool
        Whether nothing was asked yet.
    fingerprint : str
    rows, units : int
        Of the holdout as it is now; its independent units are rows, or groups of them.
    top_ups : int
        How often the rows were changed: rows added, missing, or with other labels.
    assumed : list of str
        What later certificates rest on besides, because of such changes.
    askers : dict
        How many questions each name has put, the refused among them; "?" gave none.
    targets : dict
        How many scores were given of each target.
    memories : dict
        What each mechanism with a memory recorded last, by its name.
    arrivals : Arrivals
        Which questions are pending, as far as records say.
    purse : Purse or None
        What is left for stakes, where counts are answered in cells; None where all answers are exact.
    closed : bool
        Whether it was closed: then nothing new is answered.
    finals : int
        How many exact values were published, as the final ones.
    kept : tuple
        How often a model was kept, and the digest of the last of them; None if none was.
    listed : Listed
    """

    def __init__(self, genesis: dict[str, Any]) -> None:
        begun = Genesis(genesis)
        policy, units = begun.policy, begun.n_units
        self.policy = policy
        self.account = DescriptionLength(policy.code)
        self.account.nats = policy.nats_before
        if begun.n_classes is not None:
            self.account.nats += class_count_nats(begun.rows, begun.n_classes)
        self.privacy: PrivacyAccount | None = None
        if policy.is_private:
            self.privacy = PrivacyAccount(
                units, lambda unit: policy.privacy_budget(unit, units), policy.ln_gap
            )
        self.fingerprint, self.rows, self.units = begun.fingerprint, begun.rows, units
        self.asked = dict.fromkeys(description_length.PURPOSES, 0)
        self.refused = self.top_ups = self.finals = 0
        self.assumed: list[str] = []
        self.askers: dict[str, int] = {}
        self.targets: dict[str, int] = {}
        self.memories: dict[str, dict[str, Any]] = {}
        self.is_untouched = True
        self.applied = 0  # records since this object was made: the same number, the same state
        self.arrivals = Arrivals()
        self._versions: dict[int, int] = {}  # how often a record was confirmed as one of several versions
        self.listed = Listed()
        self.purse = Purse() if policy.seals else None
        self.closed = False
        self.kept: tuple[int, str | None] = (0, None)
        self._last_value: list[float] | None = None  # with the ends of the metric's range
        self._rounds: dict[str, Round] = {}
        self._declared: frozenset[str] = frozenset()
        self._nats_before_declared = 0.0
        self._ln_undeclared = 0.0  # ln of the part of beta that is for models that were not declared

    def advance(self, body: dict[str, Any]) -> None:
        """Take one more record into account."""
        record = KINDS[body["kind"]].from_dict(body)
        self._arrive(record)
        record.apply(self)
        self.applied += 1
        record.list_in(self.listed, self.applied)
        self.is_untouched = self.is_untouched and not record.touches(self)

    def _arrive(self, record: LedgerRecord) -> None:
        """Charge what it tells that this record is the next; LedgerDamagedError for another price."""
        if record.arrival is None:
            self.arrivals.alone += record.is_event
            return
        own, ends, nats = record.arrival
        expected = self.arrivals.nats_anew() if own == ANEW else self.arrivals.nats(own, True)
        if not math.isclose(nats, expected, rel_tol=1e-9, abs_tol=1e-12):
            raise LedgerDamagedError("A recorded price is not that of an arrival: the ledger was edited.")
        self.account.nats += nats
        self.arrivals.take(None if own == ANEW else own, ends=ends)

    # What records do.

    def charge(self, event: Event, price: float, unit: Unit | None = None) -> None:
        """Add what was revealed; LedgerDamagedError if the recorded price is not that of the event.

        ``unit`` is what is replaced between neighbouring data sets, if the privacy budget pays as well.
        """
        if not math.isclose(self.account.record(event), price, rel_tol=1e-9, abs_tol=1e-12):
            raise LedgerDamagedError("A recorded price is not that of its event: the ledger was edited.")
        if unit is not None and self.privacy is not None:
            self.privacy.record(event, unit)

    def take(self, stake: float | None, left: list[Any] | None, *, size: int = 1) -> None:
        """Take the stakes of ``size`` questions from the purse, as a record has them.

        ``stake`` is what each of them took, ``left`` the purse after it. LedgerDamagedError if that is more
        than there was, or if a record lacks it.
        """
        if self.purse is None:
            return
        try:
            stake, (remaining, taken) = float(stake), left  # type: ignore[arg-type, misc]
            purse = Purse(float(remaining), taken)
        except (TypeError, ValueError) as error:
            raise LedgerDamagedError("A record lacks what it took of the weights: it was edited.") from error
        enough = size * stake + purse.left <= self.purse.left * (1.0 + 1e-12)
        if not (stake >= 0.0 and enough and purse.taken == self.purse.taken + 1):
            raise LedgerDamagedError("A record took more of the weights than was left: it was edited.")
        self.purse = purse

    def count_asker(self, who: str | None) -> None:
        """Count a question that ``who`` has asked."""
        name = who or "?"
        self.askers[name] = self.askers.get(name, 0) + 1

    def count_question(self, purpose: str, round_name: str | None) -> None:
        """Count a question that was admitted. Those of a round were counted when it was opened."""
        if round_name is None:
            self.asked[purpose] += 1
        else:
            self._rounds[round_name].left -= 1

    def keep_value(self, value: float, target: str, limits: list[float | None] | None) -> None:
        """Count a value by its target; if the metric is bounded, keep it as the last value."""
        if math.isnan(value):
            return
        self.targets[target] = self.targets.get(target, 0) + 1
        if limits is not None and limits[0] is not None and limits[1] is not None:
            if not limits[1] - limits[0] > 0:
                raise ValueError("The range of a metric in a record is empty.")
            self._last_value = [value, limits[0], limits[1]]

    def begin_round(
        self, name: str, purpose: str, size: int, allowance: Allowance, at_once: bool = False
    ) -> None:
        """Count the questions of a round at once; each has this allowance."""
        self.asked[purpose] += size
        self._rounds[name] = Round(allowance, size, 0 if self.purse is None else size, at_once)

    def end_round(self, name: str) -> None:
        """Close a round; questions that name it later are on their own."""
        self._rounds.pop(name, None)

    def declare(self, members: list[str]) -> None:
        """Set half of the failure probability aside for declared models."""
        self._declared, self._nats_before_declared = frozenset(members), self.account.nats
        if self.purse is None:
            self._ln_undeclared = -LN_2
        else:
            _, self.purse = self.purse.take(0.5)

    def grow(self, rows: int, fingerprint: str, units: int | None = None) -> None:
        """Change to other rows. Open rounds and declarations end; nats and counts of questions stay.

        Each row is a unit, unless there are so many ``units``.
        """
        self.fingerprint, self.rows, self.units = fingerprint, rows, rows if units is None else units
        self.top_ups += 1
        self._rounds.clear()
        self._declared = frozenset()

    def count_version(self, number: int) -> None:
        """Count that a model has the outputs of this record, and not of other versions."""
        self._versions[number] = self._versions.get(number, 0) + 1

    def keep(self, digest: str) -> None:
        """Note that the model with this digest is kept from now on."""
        self.kept = self.kept[0] + 1, digest

    def assume(self, assumption: str) -> None:
        """Name an assumption in all later certificates."""
        if assumption not in self.assumed:
            self.assumed.append(assumption)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON; rounds that have no room left make no difference any more."""
        return {
            **{key: getattr(self, name) for key, name in _PLAIN.items()},
            # Pairs keep their order, which a table shows.
            **{name: [*map(list, getattr(self, name).items())] for name in _COUNTS},
            "account": self.account.to_dict(),
            "privacy": None if self.privacy is None else self.privacy.to_dict(),
            "last_value": self._last_value,
            "rounds": {name: each.to_list() for name, each in self._rounds.items() if each.left > 0},
            "family": sorted(self._declared),
            "before_family": [self._nats_before_declared, self._ln_undeclared],
            **({"assumed": list(self.assumed)} if self.assumed else {}),  # older checkpoints have neither
            **({"versions": [*map(list, self._versions.items())]} if self._versions else {}),
            **({} if self.purse is None else {"purse": [self.purse.left, self.purse.taken]}),
            **({"closed": True} if self.closed else {}),
            **({"finals": self.finals} if self.finals else {}),
            **({"kept": list(self.kept)} if self.kept[0] else {}),
            **({"arrivals": self.arrivals.to_list()} if self.policy.format >= PRICED_ARRIVALS else {}),
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Become what `to_dict` described."""
        kept = copy.deepcopy(kept)
        for key, name in _PLAIN.items():
            setattr(self, name, kept[key])
        for name in _COUNTS:
            setattr(self, name, dict(kept[name]))
        self.account.restore(kept["account"])
        if self.privacy is not None:
            self.privacy.restore(kept["privacy"])
        self._last_value = kept["last_value"]
        self._rounds = {name: Round.from_list(each) for name, each in kept["rounds"].items()}
        self._declared = frozenset(kept["family"])
        self._nats_before_declared, self._ln_undeclared = kept["before_family"]
        self.assumed = kept.get("assumed", [])
        self._versions = dict(kept.get("versions", ()))
        self.purse = Purse(*kept["purse"]) if "purse" in kept else None
        self.closed, self.finals = kept.get("closed", False), kept.get("finals", 0)
        self.kept = tuple(kept.get("kept", (0, None)))
        self.arrivals = Arrivals(*kept.get("arrivals", ([],)))

    # What is decided from it.

    @property
    def confirmed(self) -> tuple[int, int]:
        """How often a model was the same as is recorded, and how often different."""
        held = self.account.held("confirmation") + self.account.held("version")
        return held[0], held[1]

    def chances_of_versions(self, numbers: Sequence[int]) -> list[float]:
        """Return how likely each of these records is to be confirmed; they sum to 1.

        Laplace's rule of succession: with one more confirmation of each than there were.
        """
        counts = [self._versions.get(number, 0) + 1 for number in numbers]
        return [count / sum(counts) for count in counts]

    @property
    def last_value(self) -> float | None:
        """The last answer of a bounded metric, as a share of its range."""
        if self._last_value is None:
            return None
        value, low, high = self._last_value
        return float(min(max((value - low) / (high - low), 0.0), 1.0))

    def why_outgrown(self, fingerprint: str) -> str | None:
        """Return why a holdout of other rows than these answers nothing new, or None."""
        if self.closed:
            return (
                "the holdout was closed: it returns what is recorded and unseals what was asked, and answers "
                "nothing new; take rows that nobody has asked about"
            )
        if fingerprint == self.fingerprint:
            return None
        return (
            "rows were added to this holdout, or changed, since it was opened: it returns what is recorded, "
            "and answers nothing new; ask the one that top_up returned, or, where rows have ids, open a "
            "Holdout (or fit) again with the rows and labels that you mean: these, or those as they are now"
        )

    @property
    def has_certified(self) -> bool:
        """Whether a certify was asked before."""
        return self.asked["certify"] > 0

    def is_first(self, round_name: str | None) -> bool:
        """Return whether a certify is the first of all: by itself, or in a round that was opened for it."""
        name = self.still_open(round_name)
        return not self.has_certified if name is None else self._rounds[name].at_once

    def is_alone(self, round_name: str | None) -> bool:
        """Return whether no other question was fixed together with this one."""
        return round_name is None or self._rounds[round_name].size == 1

    def still_open(self, name: str | None) -> str | None:
        """Return the name of a round that has questions left; None if it has none, or is not open."""
        return name if name is not None and name in self._rounds and self._rounds[name].left > 0 else None

    def allowance(
        self,
        purpose: str,
        size: int = 1,
        round_name: str | None = None,
        ahead: int = 0,
        *,
        at_once: bool = False,
        final: bool = False,
    ) -> Allowance:
        """Return what each of the next ``size`` questions may spend, after ``ahead`` more.

        Where there is a purse, ``at_once`` says that an exact answer is given at once, and ``final`` that it
        is one to be published.
        """
        if round_name is not None:
            return self._rounds[round_name].allowance
        policy, nats = self.policy, self.account.nats
        if self.purse is not None:
            purse = self.purse.after(ahead)
            at_once = at_once and size == 1 and not ahead and not self.has_certified
            stake, left = purse.final() if final else purse.at_once() if at_once else purse.round(size)
            return Allowance(self.ln_of_stake(stake, nats), nats, stake=stake, purse=left)
        stake = round_weight(purpose, self.asked[purpose] + ahead, size, policy.expected_questions)
        ln_beta = policy.ln_beta + self._ln_undeclared + ln_share(purpose, policy.check_share)
        return Allowance(ln_delta(ln_beta, stake, nats), nats)

    def ln_of_stake(self, stake: float, nats: float) -> float:
        """Return ln delta of what takes this stake after so many nats."""
        return ln_delta(self.policy.ln_sealed, stake, nats) if stake > 0.0 else -math.inf

    def with_declared(self, member: str, allowance: Allowance) -> Allowance:
        """Return the larger of an allowance and that of a declared model.

        No later answer makes the second smaller. ``member`` is the key of model and metric; one that was not
        declared keeps its allowance.
        """
        if member not in self._declared:
            return allowance
        ln_beta = self.policy.ln_beta if self.purse is None else self.policy.ln_sealed
        own = ln_declared(ln_beta, len(self._declared)) - self._nats_before_declared
        return replace(allowance, ln_delta=max(own, allowance.ln_delta))

    @property
    def has_declared(self) -> bool:
        """Whether models were declared."""
        return bool(self._declared)

    def winners_before(self, round_name: str | None) -> int:
        """Return how many questions about winners came before one of this round, whose own ones count."""
        in_round = self.still_open(round_name) is not None
        return max(self.asked["certify"] - in_round, 0)

    def is_declared(self, member: str) -> bool:
        """Return whether a key of model and metric is that of a declared model."""
        return member in self._declared

    def with_routes(self, release: PrivateRelease | None, allowance: Allowance, count: int = 1) -> Allowance:
        """Return the allowance with the routes that certify ``count`` such answers.

        Parameters
        ----------
        release : PrivateRelease or None
            What one of them can cost of the privacy budget at most; None if there is no privacy in it.
        allowance : Allowance
        count : int, default=1

        Raises
        ------
        RefusedError
            If no route certifies them.
        """
        if self.privacy is None:
            return allowance
        refusal = self.privacy.refusal(release, count)
        if refusal is None and release is not None:
            transfer = self.privacy.allowance(release, allowance.ln_noise)
            return replace(allowance, described=self.policy.is_described, transfer=transfer)
        if not self.policy.is_described:
            raise RefusedError(
                f"{refusal}; take rows that nobody has asked about, and for these another route if need be"
            )
        return allowance

    def is_tolerated(self, half_width: float, width: float) -> bool:
        """Return whether an answer of this worst half-width is within the tolerance.

        ``width`` is that of the metric's range; if it is infinite, every answer is. A half-width that
        is NaN is not.
        """
        tolerance = self.policy.tolerance
        return tolerance is None or math.isinf(width) or half_width <= tolerance * width


KINDS: dict[str, type[LedgerRecord]] = {}
"""The class of each kind of record, by its name on disk."""


Way = Callable[[Any], Any]  # from or to the form on disk


def on_disk(
    key: str | None = None, *, read: Way | None = None, write: Way | None = None, left_out_since: int = 0
) -> dict[str, Any]:
    """Return the metadata of a field of a record that has another form on disk.

    Parameters
    ----------
    key : str or None, default=None
        Its name there; None if it is that of the field.
    read, write : callable or None, default=None
        Make the value of what is on disk, and back.
    left_out_since : int, default=0
        Older formats of ledgers have it even where it has its default.
    """
    return {"key": key, "read": read, "write": write, "left_out_since": left_out_since}


@dataclass(frozen=True, kw_only=True)
class LedgerRecord(ABC):
    """One record of a ledger, after the first one (the genesis).

    Parameters
    ----------
    who, label : str or None
        Who asked, and from where, if they gave it.
    time : str or None
        ISO 8601, in UTC; of the asker's clock.
    arrival : list or None, default=None
        Where questions were pending: the name of the one that this is the record of, or None; whether it is
        its last; and what it costs in nats that this comes next (`sklearn_ada.accounting.arrivals`).
    """

    kind: ClassVar[str]
    is_event: ClassVar[bool] = True
    """Whether it says that something happened."""
    who: str | None = None
    label: str | None = None
    time: str | None = None
    arrival: list[Any] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls

    @property
    def arrival_nats(self) -> float:
        """What it costs that it was the next record."""
        return 0.0 if self.arrival is None else float(self.arrival[2])

    def to_dict(self, ledger_format: int) -> dict[str, Any]:
        """Return what a ledger of a format keeps."""
        form, body = _form_of(type(self)), {"kind": self.kind}
        for key, name in form.names.items():
            value = getattr(self, name)
            since, default = form.left_out.get(name, (math.inf, None))
            if ledger_format >= since and value == default:
                continue
            body[key] = form.write[name](value) if name in form.write else value
        return body

    @classmethod
    def from_dict(cls, body: dict[str, Any]) -> Self:
        """Return the record that the ledger keeps; TypeError if it lacks a part, or has another one."""
        form = _form_of(cls)
        values = {form.names[key]: value for key, value in body.items() if key in form.names}
        for name, read in form.read.items():
            if name in values:
                values[name] = read(values[name])
        if not form.required <= values.keys():
            raise TypeError(f"A record of kind {cls.kind!r} lacks {form.required - values.keys()}.")
        for name, kinds in form.kinds.items():
            if name in values and not isinstance(values[name], kinds):
                raise TypeError(f"A record of kind {cls.kind!r} has another kind of {name!r}.")
        record = object.__new__(cls)  # of a long ledger, whose opening would take half as long again by init
        vars(record).update(values)  # what is not there has its default, an attribute of the class
        return record

    @abstractmethod
    def apply(self, state: State) -> None:
        """Change the state as the record says."""

    def columns(self) -> dict[str, Any]:
        """Return what its entry shows beside fields of the same name (`records.entry_of`)."""
        return {}

    def list_in(self, listed: Listed, number: int) -> None:  # noqa: B027 - most are no answers
        """Note where it stands, if it is shown as an answer or changes one."""

    def touches(self, state: State) -> bool:
        """Return whether a ledger with this record was asked something; else it may be left for another."""
        return True


class _Form(NamedTuple):
    """How the fields of a kind of record stand on disk.

    Attributes
    ----------
    names : dict
        Of each field, by its key.
    read, write : dict of str to callable
        By the names of fields.
    required : set of str
        The fields that must be there.
    left_out : dict
        Since which format fields are left out, and with which values.
    kinds : dict of str to tuple of type
        What texts and objects must be.
    """

    names: dict[str, str]
    read: dict[str, Way]
    write: dict[str, Way]
    required: set[str]
    left_out: dict[str, tuple[int, Any]]
    kinds: dict[str, tuple[type, ...]]


_KINDS: dict[object, tuple[type, ...]] = {
    "str": (str,), "str | None": (str, type(None)), "dict[str, Any]": (dict,),
    "dict[str, Any] | None": (dict, type(None)),
}  # fmt: skip


@functools.cache
def _form_of(kind: type[LedgerRecord]) -> _Form:
    """Return how a kind of record stands on disk, by its fields and `on_disk`."""
    form = _Form({}, {}, {}, set(), {}, {})
    for each in fields(kind):
        how = each.metadata or on_disk()
        form.names[how["key"] or each.name] = each.name
        for way, change in ((form.read, how["read"]), (form.write, how["write"])):
            if change is not None:
                way[each.name] = change
        if each.type in _KINDS:
            form.kinds[each.name] = _KINDS[each.type]
        if each.default is MISSING:
            form.required.add(each.name)
        else:
            form.left_out[each.name] = how["left_out_since"], each.default
    return form
