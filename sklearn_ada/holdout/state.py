"""The state of a conversation: what was revealed, and what the next question may therefore spend.

Nothing but the ledger's records is in it. So whether a question is admitted, and with which share of the
failure probability, never depends on what the holdout would answer. What each kind of record does to the
state stands in the record's own module (its ``apply``).

What all records of a ledger have in common: a kind, a JSON body, and what they do to the state.

A record is a view of its body, the dict that the ledger keeps, and never changes it. So records of old
ledgers are read and written to the same bytes, whatever is added to the format later.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sklearn_ada._validation import LN_2
from sklearn_ada.accounting.codes import DescriptionLength
from sklearn_ada.accounting.events import Event, event_from_dict
from sklearn_ada.accounting.filters import RECORDS, Unit
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.guarantees import weights
from sklearn_ada.guarantees.description_length import class_count_nats, ln_declared, ln_delta
from sklearn_ada.guarantees.weights import Purse
from sklearn_ada.terms.policy import FailureBudget, Policy, finite, level_of
from sklearn_ada.terms.privacy_account import PrivacyAccount, PrivateRelease, epsilon_or_none, rho_or_none

_PLAIN = ("fingerprint", "rows", "units", "refused", "top_ups", "mechanism_states", "is_untouched")
_COUNTS = ("asked", "askers", "targets")


class RefusedError(Exception):
    """A question is not admitted; the ledger's earlier records alone decide that."""


@dataclass
class Round:
    """Questions fixed before any of their answers is seen.

    Attributes
    ----------
    share : FailureBudget
        Of each of them, with the nats L as they were when the round was opened.
    left : int
        How many of them have not been answered yet.
    size : int
        How many they were; 0 where that is not kept, because all answers are exact.
    at_once : bool
        Whether its answers are exact, where others are cells.
    """

    share: FailureBudget
    left: int
    size: int = 0
    at_once: bool = False


class ConversationState:
    """What was revealed, asked and spent so far.

    Parameters
    ----------
    policy : Policy
    fingerprint : str
        Of the rows.
    rows, units : int
        How many rows there are, and independent units: rows, or groups of them.
    n_classes : int or None
        Number of classes whose counts are paid for; None with ``class_mix="conditional"``.

    Attributes
    ----------
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
    mechanism_states : dict
        What each stateful mechanism recorded last, by its name.
    purse : Purse or None
        What is left of the weights, where counts are answered in cells; None where all answers are exact.
    closed : bool
        Whether it was closed: then nothing new is answered.
    finals : int
        How many exact values were published, as the final ones.
    """

    def __init__(
        self, policy: Policy, fingerprint: str, rows: int, units: int, n_classes: int | None
    ) -> None:
        self.policy = policy
        self.account = DescriptionLength(policy.code)
        if n_classes is not None:
            self.account.nats = class_count_nats(rows, n_classes)
        self.privacy = (
            PrivacyAccount(units, lambda unit: policy.privacy_budget(unit, units), policy.ln_gap)
            if policy.is_private
            else None
        )
        self.fingerprint, self.rows, self.units = fingerprint, rows, units
        self.asked = dict.fromkeys(weights.PURPOSES, 0)
        self.refused = 0
        self.top_ups = 0
        self.assumed: list[str] = []
        self.askers: dict[str, int] = {}
        self.targets: dict[str, int] = {}
        self.mechanism_states: dict[str, dict[str, Any]] = {}
        self.is_untouched = True
        self.applied = 0  # records since this object was made: the same number, the same state
        self._versions: dict[int, int] = {}  # how often a record was confirmed as one of several versions
        self.purse = Purse() if policy.seals else None
        self.closed = False
        self.finals = 0
        self._last_value: tuple[float, float, float] | None = None
        self._rounds: dict[str, Round] = {}
        self._family: frozenset[str] = frozenset()
        self._nats_before_family = 0.0
        self._ln_undeclared = 0.0  # ln of the part of beta that is for models that were not declared

    # What records do.

    def charge(self, event: Event, price: float) -> None:
        """Add what was revealed; LedgerDamagedError if the recorded price is not that of the event."""
        if not math.isclose(self.account.record(event), price, rel_tol=1e-9, abs_tol=1e-12):
            raise LedgerDamagedError("A recorded price is not that of its event: the ledger was edited.")

    def take(self, body: dict[str, Any], *, size: int = 1, of_round: bool = False) -> None:
        """Take from the purse what a record says that it took, for each of ``size`` questions.

        LedgerDamagedError if that is more than there was, or if it took nothing though it must.
        """
        if self.purse is None or of_round:
            return
        try:
            weight, (left, taken) = float(body["weight"]), body["purse"]
            purse = Purse(float(left), taken)
        except (KeyError, TypeError, ValueError) as error:
            raise LedgerDamagedError(
                "A record does not say what it took of the weights: it was edited."
            ) from error
        enough = size * weight + purse.left <= self.purse.left * (1.0 + 1e-12)
        if not (weight >= 0.0 and enough and purse.taken == self.purse.taken + 1):
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

    def keep_value(self, value: float | None, target: str, limits: list[float | None] | None) -> None:
        """Count a value by its target; if the metric is bounded, keep it as the last value."""
        if value is None:
            return
        self.targets[target] = self.targets.get(target, 0) + 1
        if limits is not None and limits[0] is not None and limits[1] is not None:
            self._last_value = (value, limits[0], limits[1])

    def begin_round(
        self, name: str, purpose: str, size: int, share: FailureBudget, at_once: bool = False
    ) -> None:
        """Count the questions of a round at once; each has this share."""
        self.asked[purpose] += size
        self._rounds[name] = Round(share, size, 0 if self.purse is None else size, at_once)

    def end_round(self, name: str) -> None:
        """Close a round; questions that name it later are on their own."""
        self._rounds.pop(name, None)

    def declare(self, members: list[str]) -> None:
        """Set half of the failure probability aside for declared models."""
        self._family, self._nats_before_family = frozenset(members), self.account.nats
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
        self._family = frozenset()

    def count_version(self, number: int) -> None:
        """Count that a model said what this record keeps, and not what other versions keep."""
        self._versions[number] = self._versions.get(number, 0) + 1

    def assume(self, assumption: str) -> None:
        """Name an assumption in all later certificates."""
        if assumption not in self.assumed:
            self.assumed.append(assumption)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON; rounds that have no room left make no difference any more."""
        rounds = {name: each for name, each in self._rounds.items() if each.left > 0}
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            # Pairs keep their order, which a table shows.
            **{name: [*map(list, getattr(self, name).items())] for name in _COUNTS},
            "account": self.account.to_dict(),
            "privacy": None if self.privacy is None else self.privacy.to_dict(),
            "last_value": None if self._last_value is None else list(self._last_value),
            "rounds": {
                n: [finite(r.share.ln_delta), r.share.nats, r.left, *([r.size, r.at_once] if r.size else [])]
                for n, r in rounds.items()
            },
            "family": sorted(self._family),
            "before_family": [self._nats_before_family, self._ln_undeclared],
            **({"assumed": list(self.assumed)} if self.assumed else {}),  # older checkpoints have neither
            **({"versions": [*map(list, self._versions.items())]} if self._versions else {}),
            **({} if self.purse is None else {"purse": [self.purse.left, self.purse.taken]}),
            **({"closed": True} if self.closed else {}),
            **({"finals": self.finals} if self.finals else {}),
        }

    def restore(self, told: dict[str, Any]) -> None:
        """Become what `to_dict` told."""
        told = copy.deepcopy(told)
        for name in _PLAIN:
            setattr(self, name, told[name])
        for name in _COUNTS:
            setattr(self, name, dict(told[name]))
        self.account.restore(told["account"])
        if self.privacy is not None:
            self.privacy.restore(told["privacy"])
        value = told["last_value"]
        self._last_value = None if value is None else (value[0], value[1], value[2])
        self._rounds = {
            name: Round(FailureBudget(level_of(kept), nats), left, *size)
            for name, (kept, nats, left, *size) in told["rounds"].items()
        }
        self._family = frozenset(told["family"])
        self._nats_before_family, self._ln_undeclared = told["before_family"]
        self.assumed = told.get("assumed", [])
        self._versions = dict(told.get("versions", ()))
        self.purse = Purse(*told["purse"]) if "purse" in told else None
        self.closed, self.finals = told.get("closed", False), told.get("finals", 0)

    # What is decided from it.

    @property
    def confirmed(self) -> tuple[int, int]:
        """How often a model was the same as is recorded, and how often different."""
        held = self.account.held("confirmation") + self.account.held("version")
        return held[0], held[1]

    def chances_of_versions(self, numbers: Sequence[int]) -> list[float]:
        """Return how likely each of these records is to be confirmed, by how often it was; 1 in sum.

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

    def outgrown(self, fingerprint: str) -> str | None:
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
        name = self.open_round(round_name)
        return not self.has_certified if name is None else self._rounds[name].at_once

    def is_alone(self, round_name: str | None) -> bool:
        """Return whether a question is the only one that was fixed with what was known at its asking."""
        return round_name is None or self._rounds[round_name].size == 1

    def open_round(self, name: str | None) -> str | None:
        """Return ``name`` if that round has questions left, else None: the question is on its own."""
        return name if name is not None and name in self._rounds and self._rounds[name].left > 0 else None

    def share(
        self,
        purpose: str,
        size: int = 1,
        round_name: str | None = None,
        ahead: int = 0,
        *,
        at_once: bool = False,
        final: bool = False,
    ) -> FailureBudget:
        """Return what each of the next ``size`` questions may spend, after ``ahead`` more have been asked.

        Where there is a purse, ``at_once`` says that an exact answer is given at once, and ``final`` that it
        is one to be published.
        """
        if round_name is not None:
            return self._rounds[round_name].share
        if self.purse is not None:
            at_once = at_once and size == 1 and not ahead and not self.has_certified
            return self._of_purse(self.purse.after(ahead), size, at_once=at_once, final=final)
        policy, nats = self.policy, self.account.nats
        weight = weights.round_weight(purpose, self.asked[purpose] + ahead, size, policy.expected_questions)
        ln_beta = policy.ln_beta + self._ln_undeclared + weights.ln_share(purpose, policy.check_share)
        return FailureBudget(ln_delta(ln_beta, weight, nats), nats)

    def _of_purse(self, purse: Purse, size: int, *, at_once: bool, final: bool) -> FailureBudget:
        if final:
            weight, left = purse.final()
        elif at_once:
            weight, left = purse.at_once()
        else:
            weight, left = purse.round(size)
        nats = self.account.nats
        level = ln_delta(self.policy.ln_sealed, weight, nats) if weight > 0.0 else -math.inf
        return FailureBudget(level, nats, weight=weight, purse=left)

    def declared(self, member: str, share: FailureBudget) -> FailureBudget:
        """Return the better of a share and that of a declared model, which no later answer makes smaller.

        ``member`` is the key of model and metric; one that was not declared keeps its share.
        """
        if member not in self._family:
            return share
        ln_beta = self.policy.ln_beta if self.purse is None else self.policy.ln_sealed
        own = ln_declared(ln_beta, len(self._family)) - self._nats_before_family
        return replace(share, ln_delta=max(own, share.ln_delta))

    def is_declared(self, member: str) -> bool:
        """Return whether a key of model and metric is that of a declared model."""
        return member in self._family

    def certified(
        self, release: PrivateRelease | None, share: FailureBudget, count: int = 1
    ) -> FailureBudget:
        """Return the share with the routes (description length, privacy) that certify ``count`` such answers.

        Parameters
        ----------
        release : PrivateRelease or None
            What one of them can cost of the privacy budget at most; None if there is no privacy in it.
        share : FailureBudget
        count : int, default=1

        Raises
        ------
        RefusedError
            If no route certifies them.
        """
        if self.privacy is None:
            return share
        refusal = self.privacy.refusal(release, count)
        if refusal is None and release is not None:
            transfer = self.privacy.share(release, share.ln_noise)
            return replace(share, described=self.policy.is_described, transfer=transfer)
        if not self.policy.is_described:
            raise RefusedError(
                f"{refusal}; take rows that nobody has asked about, and for these another route if need be"
            )
        return share

    def admits(self, half_width: float, width: float) -> bool:
        """Return whether an answer of this worst half-width is within the tolerance.

        ``width`` is that of the metric's range; if it is infinite, everything is admitted. A half-width that
        is NaN is not.
        """
        tolerance = self.policy.tolerance
        return tolerance is None or math.isinf(width) or half_width <= tolerance * width


@dataclass(frozen=True)
class LedgerRecord(ABC):
    """One record of a ledger, after the first one (the genesis).

    Parameters
    ----------
    body : dict
        What the ledger holds, ready for JSON.
    """

    kind: ClassVar[str]
    body: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return what the ledger keeps."""
        return self.body

    @property
    def who(self) -> str | None:
        """Name of the asker, if one was given."""
        return self.body.get("who")

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it, by the names of `sklearn_ada.holdout.report.Entry`."""
        names = ("time", "who", "label", "purpose", "epsilon", "rho", "reason", "model")
        return {name: self.body.get(name) for name in names} | {"nats": self.body.get("price")}

    @abstractmethod
    def apply(self, state: ConversationState) -> None:
        """Change the state as the record says."""


_X_IS_KNOWN = "nobody who knows X of the holdout asks about a model, and not about predictions"


class ReleaseRecord(LedgerRecord):
    """A record of something that was revealed about the holdout, at a price in nats."""

    @property
    def event(self) -> Event:
        """What was revealed."""
        return event_from_dict(self.body["event"])

    @property
    def price(self) -> float:
        """What it cost, in nats."""
        return float(self.body["price"])

    @property
    def unit(self) -> Unit:
        """What is replaced between neighbouring data sets, for its privacy cost."""
        return Unit(*self.body["unit"])

    def apply(self, state: ConversationState) -> None:
        """Charge what was revealed, in nats and to the privacy budget; note that X is known, if it is."""
        event = self.event
        state.charge(event, self.price)
        if state.privacy is not None:
            state.privacy.record(event, self.unit)
        if self.body.get("given_rows"):
            state.assume(_X_IS_KNOWN)


def release_body(
    state: ConversationState, event: Event, release: PrivateRelease | None = None
) -> dict[str, Any]:
    """Return the part of a record that says what was revealed, and its cost in nats, epsilon and rho.

    ``release`` says what privacy unit and family the costs are for; None takes single records and no family.
    """
    return {
        "event": event.to_dict(),
        "price": state.account.price(event),
        "epsilon": epsilon_or_none(event),
        "rho": rho_or_none(event),
        "unit": RECORDS if release is None else release.unit,
        "family": None if release is None else release.family,
    }
