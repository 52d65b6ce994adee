"""The genesis: the first record of a ledger, which fixes everything that may not change later.

The record of a question that was admitted, whether it has a value or failed on the holdout.

A checkpoint: the state that all records before it amount to, so that a summary need not read them.

It is a record like any other, chained to those before it, and whoever replays the ledger compares it with
what they amount to. It reveals nothing and costs nothing: the log has it all already.

The record of closing a holdout: nothing new is answered after it.

The record of a comparison: whether a model found by its digest says what is recorded of it.

Models declared before the first question.

The record of labels that were passed for rows of a holdout, and are not theirs.

The record of the mean weight of the holdout's rows, which is revealed once, to five percent.

The record of a check whether training rows contain the holdout.

The record of a question that was refused. It reveals nothing, as earlier records alone decided it.

The record of a round: questions that are all fixed before any of their answers is seen.

The record of closing a round: from then on its sealed answers are certified by the transcript, too.

The record of the rows that a holdout has, known by their ids, and of what became of them since.

The records of sealed answers: the cell that was told when a question was asked, and what was unsealed.

What is sealed is kept with its record, under a pad that is a function of the ledger's secret and of the
record's key: the same length whatever the value is, and as good as random without the secret. That is
*hidden, not protected*: whoever opens the ledger on purpose, to decrypt it, can. Where the ledger was begun
with the holder's public key (``seal_key=``), the value is encrypted for that instead
(`sklearn_ada.terms.seal_key`), and the ledger's secret does not help. Nothing else of it stands
anywhere.

The record of a choice among several models, of which only the winner's number was revealed.

The record of a top-up: rows were added to the holdout.

A conversation: the state of a holdout, computed from its ledger's records one after the other.

The records of a ledger, one class for each kind, and the state of a conversation that they amount to.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sklearn_ada.accounting.codes import symbols_of
from sklearn_ada.accounting.events import SCHEMA_VERSION, CodedRelease, Event, Symbol, event_from_dict
from sklearn_ada.answer import Answer, Certificate, Cost
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.guarantees.description_length import ASSUMPTIONS, ROW_BY_ROW
from sklearn_ada.holdout.state import ConversationState, LedgerRecord, ReleaseRecord, release_body
from sklearn_ada.ledger.hash_chain import Head, Ledger, Record, secret_digest
from sklearn_ada.metrics.means import DIFFERENCE
from sklearn_ada.questions.question import Outcome
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import FailureBudget, Policy, finite, level_of
from sklearn_ada.terms.privacy_account import PrivateRelease
from sklearn_ada.terms.row_tables import Table, packed, unpacked

_SEED_IS_SECRET = "nobody who asks knows the random_state of the holdout"
_BOUNDED_WEIGHTS = (
    "no unit of the population weighs more than weight_bound, and of the holdout's weights only their mean "
    "is known to anybody"
)
# Of class_mix="priced": the class counts are paid for, but not which classes there are.
_NO_UNSEEN_CLASS = "the population has no class of which the holdout has no record"
_OF_ROWS = ("fingerprint", "rows", "units", "class_counts")


@dataclass(frozen=True)
class Genesis:
    """Rows and policy of a holdout, as they were when its ledger was begun.

    Parameters
    ----------
    body : dict
        What the ledger holds, ready for JSON.
    """

    body: dict[str, Any]

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
            The genesis of a ledger that is there. One without "identity" was begun when rows were known by
            their content, and goes on so. With ids, what it says of the rows is what they were when it was
            begun; its later records say what became of them, with which they are compared.
        """
        identity = "ids" if data.ids is not None else "labels"
        if found is not None and data.ids is None and "identity" not in found:
            identity = "content"
        made = cls(
            {
                "schema": SCHEMA_VERSION,
                **({} if identity == "content" else {"identity": identity}),
                "fingerprint": data.fingerprint(secret, identity),
                "rows": len(data),
                "split": split,
                "secret_digest": secret_digest(seed or secret),
                "seeded": seed is not None,
                **policy.to_dict(),
                **data.describe_units(secret),
                **data.describe_classes(policy),
            }
        )
        if found is None or not identity == found.get("identity") == "ids":
            return made
        of_rows = {name: found[name] for name in _OF_ROWS if name in found}
        return cls({name: said for name, said in made.body.items() if name not in _OF_ROWS} | of_rows)

    def to_dict(self) -> dict[str, Any]:
        """Return what the ledger keeps."""
        return self.body

    @property
    def policy(self) -> Policy:
        """The policy, checked."""
        return Policy.from_dict(self.body)

    @property
    def confidence_level(self) -> float:
        """Probability that all intervals hold together."""
        return float(self.body["confidence_level"])

    @property
    def tolerance(self) -> float | None:
        """The largest half-width of an answer at which questions are admitted, as a share of the range."""
        tolerance: float | None = self.body["tolerance"]
        return tolerance

    @property
    def fingerprint(self) -> str:
        """Keyed digest of the rows that the ledger began with."""
        return str(self.body["fingerprint"])

    @property
    def identity(self) -> str:
        """What rows are known by: "ids", "labels", or "content" in ledgers begun before there were others."""
        return str(self.body.get("identity", "content"))

    @property
    def rows(self) -> int:
        """How many there were."""
        return int(self.body["rows"])

    @property
    def n_units(self) -> int:
        """Number of independent units: of groups if there are any, else of rows."""
        return int(self.body.get("units", {}).get("number", self.rows))

    @property
    def n_classes(self) -> int | None:
        """Number of classes whose counts are paid for in nats; None with ``class_mix="conditional"``."""
        return len(self.body["class_counts"]) if "class_counts" in self.body else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every certificate of the ledger rests on."""
        independent, *others = ASSUMPTIONS
        units = self.body.get("units", {})
        if units.get("groups"):
            independent = independent.replace("records", "groups", 1)
        if units.get("weight_bound") is not None:
            others.append(_BOUNDED_WEIGHTS)
        if self.n_classes is not None:
            others.append(_NO_UNSEEN_CLASS)
        return (independent, *others, _SEED_IS_SECRET) if self.body["seeded"] else (independent, *others)


_AS_DECLARED = (
    "the model is the one that was declared: nothing it depends on that its digest lacks has changed"
)
_AS_FOUND = (
    "a model that is asked about again is the same: nothing it depends on that its digest lacks has changed"
)


_OF_PREDICTIONS = "predictions depend on the holdout's labels through the answers of this ledger alone"


class AnswerRecord(ReleaseRecord):
    """What was asked, what was revealed, and what it certifies."""

    kind = "answer"

    @classmethod
    def of(
        cls,
        state: ConversationState,
        asked: dict[str, Any],
        event: Event,
        share: FailureBudget,
        outcome: Outcome,
        *,
        release: PrivateRelease | None,
        state_name: str,
        mechanism_state: dict[str, Any],
        said: str,
        declared: bool,
        is_unconfirmed: bool,
        given_rows: bool = False,
    ) -> AnswerRecord:
        """Return the record of an answer that is given now.

        Parameters
        ----------
        state : ConversationState
        asked : dict
            Subject, purpose, round, metric, mechanism, guess and asker, ready for JSON.
        event : Event
            What was released.
        share : FailureBudget
            What the question may spend of the failure probability.
        outcome : Outcome
        release : PrivateRelease or None
            What it could cost of the privacy budget at most; None if there is no privacy in it.
        state_name, mechanism_state : str, dict
            What its mechanism remembers for later questions, and under which name.
        said : str
            A summary of what the model said on the holdout, hidden (`models.said`).
        declared : bool
            Whether its share is that of a declared model.
        is_unconfirmed : bool
            Whether the answer is returned again to whatever model has the same digest.
        given_rows : bool, default=False
            Whether it is about predictions that may depend on the holdout's X.
        """
        # No word where there is nothing to say, as in records of older releases.
        flags = {"declared": declared, "unconfirmed": is_unconfirmed, "given_rows": given_rows}
        more = {name: True for name, holds in flags.items() if holds}
        if asked["round"] is None:
            more |= share.taken()
        return cls(
            {
                "kind": cls.kind,
                **asked,
                **release_body(state, event, release),
                "memory_name": state_name,
                "memory": mechanism_state,
                "ln_delta": share.ln_certified if math.isfinite(share.ln_certified) else None,
                "nats": share.nats,
                "outcome": outcome.to_dict(),
                "said": said,
                **more,
                **({"assumed": list(state.assumed)} if state.assumed else {}),
            }
        )

    @property
    def metric_name(self) -> str:
        """Name of the metric."""
        return str(self.body["metric"]["name"])

    @property
    def guess(self) -> dict[str, Any]:
        """The guess that it was asked with, as `Guess.describe` gave it; empty if there was none."""
        guess: dict[str, Any] = self.body["guess"]
        return guess

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it, by the names of `Entry`."""
        body, outcome = self.body, self.body["outcome"]
        low, high = outcome["interval"]
        return {
            **super().columns(),
            "metric": self.metric_name,
            "mechanism": body["mechanism"]["name"],
            "guess": self.guess.get("value"),
            "answer": outcome["value"],
            "low": low,
            "high": high,
            "verdict": outcome["verdict"],
            "target": outcome["target"],
            "reason": outcome["reason"],
        }

    def apply(self, state: ConversationState) -> None:
        """Charge what was released, count the question, and keep its value and its mechanism's memory."""
        body = self.body
        super().apply(state)
        state.count_asker(self.who)
        state.count_question(body["purpose"], body["round"])
        state.take(body, of_round=body["round"] is not None)
        if "outcome" in body:
            state.keep_value(body["outcome"]["value"], body["outcome"]["target"], _limits(body["metric"]))
        if body["memory_name"]:
            state.mechanism_states[body["memory_name"]] = body["memory"]

    def answer(self, record: Record, genesis: Genesis) -> Answer:
        """Return the answer; the same record always gives the same one.

        Parameters
        ----------
        record : Record
            Where it stands in the ledger.
        genesis : Genesis
        """
        body, outcome = self.body, Outcome.from_dict(self.body["outcome"])
        low, high = outcome.interval
        certificate = Certificate(
            theorem=outcome.full_theorem,
            confidence_level=genesis.confidence_level,
            ln_delta=-math.inf if body["ln_delta"] is None else body["ln_delta"],
            route=outcome.route,
            target=outcome.target,
            assumptions=(
                *_assumed(genesis, body),
                *body.get("assumed", ()),
                *((_AS_DECLARED,) if body.get("declared") else ()),
                *((_AS_FOUND,) if body.get("unconfirmed") else ()),
            ),
            vacuous=outcome.vacuous,
        )
        return Answer(
            value=outcome.value,
            interval=(low, high),
            verdict=outcome.verdict,
            cost=Cost(body["price"], epsilon=body["epsilon"], rho=body["rho"]),
            certificate=certificate,
            index=record.seq,
            levels=outcome.levels,
            reason=outcome.reason,
            repeated=not record.fresh,
            published=body.get("published"),
        )


def _assumed(genesis: Genesis, body: dict[str, Any]) -> list[str]:
    """Return what an answer of this ledger rests on: of predictions, they need not be made row by row."""
    given_rows = bool(body.get("given_rows"))
    return [_OF_PREDICTIONS if given_rows and each == ROW_BY_ROW else each for each in genesis.assumptions]


def _limits(metric: dict[str, Any]) -> list[float | None] | None:
    """Return the range of a score; a difference of two models says nothing of where the next score lies."""
    return None if metric.get("kind") == DIFFERENCE else metric["range"]


EVERY = 10_000
"""After so many records comes a checkpoint."""
_LARGEST = 2**18  # characters: a state that is larger (of a million kinds of targets, say) is not written


class CheckpointRecord(LedgerRecord):
    """The state of the conversation, before this record."""

    kind = "checkpoint"

    @classmethod
    def of(cls, state: ConversationState) -> CheckpointRecord:
        """Return the record of the state as it is now; without it where it is too large."""
        told = state.to_dict()
        return cls({"kind": cls.kind, "state": told if len(json.dumps(told)) <= _LARGEST else None})

    @property
    def state(self) -> dict[str, Any] | None:
        """What `ConversationState.restore` takes; None if it was too large."""
        state: dict[str, Any] | None = self.body["state"]
        return state

    def apply(self, state: ConversationState) -> None:
        """Compare; a checkpoint changes nothing."""
        if self.state is not None and not _same(self.state, json.loads(json.dumps(state.to_dict()))):
            raise LedgerDamagedError(
                "A recorded state is not what the records before it amount to: the ledger was edited."
            )


def _fraction(text: str) -> float | None:
    """Return the number that an exact fraction is, None if the text is none."""
    found = re.fullmatch(r"\d+(/[1-9]\d*)?", text)
    return None if found is None else float(Fraction(text))


def _same(one: Any, other: Any) -> bool:
    """Return whether two states are equal, but for the last digits, which differ between processors."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, str) and isinstance(other, str) and one != other:
        return _fraction(one) is not None and _same(_fraction(one), _fraction(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


class CloseRecord(LedgerRecord):
    """From here on nothing new is asked; what was asked may still be unsealed."""

    kind = "close"

    @classmethod
    def of(cls, stamp: dict[str, Any]) -> CloseRecord:
        """Return the record of a holdout that is closed now."""
        return cls({"kind": cls.kind, **stamp})

    def apply(self, state: ConversationState) -> None:
        """Close it."""
        state.closed = True


OUTCOMES = ("the same", "different")
"""What can come of a confirmation, by the value of its symbol."""


class ConfirmationRecord(ReleaseRecord):
    """With which records a model was compared, and whether it is one of these. It is no question."""

    kind = "confirmation"

    @classmethod
    def of(
        cls, state: ConversationState, numbers: Sequence[int], same: int | None, asked: dict[str, Any]
    ) -> ConfirmationRecord:
        """Return the record of a comparison that is made now.

        Parameters
        ----------
        state : ConversationState
        numbers : sequence of int
            Numbers of the records that it was compared with, all at once.
        same : int or None
            Which of these it agrees with, counted from 0; None if with none.
        asked : dict
            Purpose, metric and asker.
        """
        event = confirmation_event(same, state.chances_of_versions(numbers))
        body = {"kind": cls.kind, "compared_with": [*numbers], **asked}
        return cls({**body, "event": event.to_dict(), "price": state.account.price(event)})

    @property
    def same_as(self) -> int | None:
        """Number of the record that holds the answer; None if the model says something else."""
        symbols, numbers = symbols_of(self.event), self.body["compared_with"]
        if symbols[0].value:
            return None
        index = int(symbols[1].value) if len(symbols) > 1 else 0
        if index >= len(numbers):
            raise ValueError("A confirmation names a record that it was not compared with.")
        return int(numbers[index])

    def apply(self, state: ConversationState) -> None:
        """Charge the outcome, and count which of several versions it was.

        Raises
        ------
        LedgerDamagedError
            If the recorded probability of a version does not follow from the records before.
        """
        numbers, same = self.body["compared_with"], self.same_as
        if len(numbers) > 1 and same is not None:
            chance = state.chances_of_versions(numbers)[numbers.index(same)]
            if not math.isclose(symbols_of(self.event)[1].scale, chance, rel_tol=1e-9):
                raise LedgerDamagedError(
                    "The probability of a version is not that of its records: the ledger was edited."
                )
        super().apply(state)
        if len(numbers) > 1 and same is not None:
            state.count_version(same)

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it, by the names of `Entry`."""
        same, compared = self.same_as, ", ".join(map(str, self.body["compared_with"]))
        return {
            **super().columns(),
            "metric": self.body["metric"]["name"],
            "verdict": OUTCOMES[same is None],
            "reason": f"not as in record {compared}" if same is None else f"as in record {same}",
        }


def confirmation_event(same: int | None, chances: Sequence[float]) -> Event:
    """Return the event of saying which of some recorded answers a model has, or none of them.

    "The same" or "different" is one symbol for all of them, of one urn if there is one and of another if
    there are several; which one it is, is a second. ``chances`` are their probabilities
    (`ConversationState.chances_of_versions`).

    Examples
    --------
    >>> len(confirmation_event(0, [1.0]).symbols), len(confirmation_event(1, [0.5, 0.25, 0.25]).symbols)
    (1, 2)
    """
    first = Symbol("confirmation" if len(chances) == 1 else "version", int(same is None))
    if same is None or len(chances) == 1:
        return CodedRelease((first,))
    return CodedRelease((first, Symbol("which", same, chances[same])))


class FamilyRecord(LedgerRecord):
    """The keys of the declared models: digests of model and metric (`models.subject_key`).

    "Family" here means the declared models, not the questions that share a gap (`terms.privacy`).
    """

    kind = "family"

    @classmethod
    def of(cls, members: list[str], stamp: dict[str, Any]) -> FamilyRecord:
        """Return the record of models that are declared now; ``members`` are their keys."""
        return cls({"kind": cls.kind, "members": members, **stamp})

    @property
    def size(self) -> int:
        """How many models there are."""
        return len(self.body["members"])

    def apply(self, state: ConversationState) -> None:
        """Set half of the failure probability aside for them."""
        state.declare(self.body["members"])


class LabelsRecord(ReleaseRecord):
    """That labels are not those of the rows was told, where the rows then stayed as they were.

    It is information about the holdout and has the price of other labels, or whoever passes guesses as labels
    until they are not refused would learn them for nothing.
    """

    kind = "labels"

    @classmethod
    def of(cls, state: ConversationState, stamp: dict[str, Any]) -> LabelsRecord:
        """Return the record of labels that are refused now."""
        event = CodedRelease((Symbol("relabelled", 1),))
        return cls({"kind": cls.kind, "event": event.to_dict(), "price": state.account.price(event), **stamp})

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it."""
        return {**super().columns(), "reason": "labels that were passed are not those of the rows"}

    def apply(self, state: ConversationState) -> None:
        """Charge it; nothing else changes."""
        state.charge(self.event, self.price)


class MeanWeightRecord(ReleaseRecord):
    """The mean weight, rounded on a logarithmic scale. Released before the first question; counts as none."""

    kind = "mean weight"

    @classmethod
    def of(cls, state: ConversationState, event: Event, stamp: dict[str, Any]) -> MeanWeightRecord:
        """Return the record of a mean weight that is released now."""
        return cls({"kind": cls.kind, "event": event.to_dict(), "price": state.account.price(event), **stamp})


class OverlapRecord(ReleaseRecord):
    """Whether the rows contain the holdout, or more of it than by chance (a leak)."""

    kind = "overlap"

    @classmethod
    def of(cls, state: ConversationState, event: Event, stamp: dict[str, Any]) -> OverlapRecord:
        """Return the record of a check that is made now."""
        return cls({"kind": cls.kind, "event": event.to_dict(), "price": state.account.price(event), **stamp})

    @property
    def is_leak(self) -> bool:
        """Whether a leak was found."""
        return bool(symbols_of(self.event)[0].value)

    def apply(self, state: ConversationState) -> None:
        """Charge the outcome. Telling that there is a leak is not private, so it ends the privacy route."""
        event = self.event
        state.charge(event, self.price)
        if state.privacy is not None and symbols_of(event)[0].value:
            state.privacy.end("a leak was found, which ended the privacy route of this ledger")


class RefusalRecord(LedgerRecord):
    """What was asked, and why it was not answered."""

    kind = "refusal"

    @classmethod
    def of(cls, purpose: str, reason: str, asked: dict[str, Any]) -> RefusalRecord:
        """Return the record of a refusal; ``asked`` is metric, mechanism, guess and asker."""
        return cls({"kind": cls.kind, "purpose": purpose, "reason": reason, **asked})

    @property
    def metric_name(self) -> str:
        """Name of the metric."""
        return str(self.body["metric"]["name"])

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it, by the names of `Entry`."""
        body = self.body
        return {
            **super().columns(),
            "metric": self.metric_name,
            "mechanism": body["mechanism"]["name"],
            "guess": body["guess"].get("value"),
            "verdict": "refused",
        }

    def apply(self, state: ConversationState) -> None:
        """Count it."""
        state.count_asker(self.who)
        state.refused += 1

    def answer(self, record: Record, genesis: Genesis) -> Answer:
        """Return what the asker gets; ``record`` is where it stands in the ledger."""
        no_interval = (-math.inf, math.inf)
        reason = self.body["reason"]
        return Answer(math.nan, no_interval, "refused", Cost(0.0), None, record.seq, reason=reason)


class RoundRecord(LedgerRecord):
    """How many questions of which purpose, and what each of them may spend of the failure probability."""

    kind = "round"

    @classmethod
    def of(
        cls,
        name: str,
        purpose: str,
        size: int,
        share: FailureBudget,
        stamp: dict[str, Any],
        *,
        at_once: bool = False,
    ) -> RoundRecord:
        """Return the record of a round that is opened now.

        ``at_once`` says, where there is a purse, that its answers are exact.
        """
        body = {"kind": cls.kind, "round": name, "purpose": purpose, "size": size, **stamp}
        taken = {**share.taken(), "at_once": at_once} if share.purse is not None else {}
        return cls({**body, "ln_delta": finite(share.ln_delta), "nats": share.nats, **taken})

    def apply(self, state: ConversationState) -> None:
        """Count its questions, and keep their share."""
        body = self.body
        share = FailureBudget(level_of(body["ln_delta"]), body["nats"])
        state.take(body, size=body["size"])
        state.begin_round(body["round"], body["purpose"], body["size"], share, body.get("at_once", False))


class RoundCloseRecord(LedgerRecord):
    """Which round, and the nats L that were revealed by then, all of its answers included."""

    kind = "round_close"

    @classmethod
    def of(cls, state: ConversationState, name: str, stamp: dict[str, Any]) -> RoundCloseRecord:
        """Return the record of a round that is closed now."""
        return cls({"kind": cls.kind, "round": name, "nats": state.account.nats, **stamp})

    def apply(self, state: ConversationState) -> None:
        """Close it: whoever asks later is on their own."""
        if not math.isclose(self.body["nats"], state.account.nats, rel_tol=1e-9, abs_tol=1e-12):
            raise LedgerDamagedError("A recorded sum of nats is not that of the records: it was edited.")
        state.end_round(self.body["round"])


ASSUMED = {
    "missing": (
        "rows that are missing were left out by a rule that did not look at their labels or at predictions"
    ),
    "relabelled": "labels were corrected without looking at predictions, at times that depend on no record",
}
"""What every later certificate rests on, by what was done to the rows."""


class RowsRecord(LedgerRecord):
    """The rows at the beginning, or those that were added, are missing or have other labels now.

    Or a change back to an earlier edition. Its table of keyed hashes stays in the ledger: nothing that is
    shown or pickled holds it. That labels are others is information about the holdout, and has a price.
    """

    kind = "rows"

    @classmethod
    def of(
        cls,
        state: ConversationState,
        change: str,
        concerned: Table,
        rows: int,
        fingerprint: str,
        stamp: dict[str, Any],
        are_others: bool = False,
        labellings: int = 1,
    ) -> RowsRecord:
        """Return the record of a change that is made now.

        Parameters
        ----------
        state : ConversationState
        change : {"begun", "added", "relabelled", "missing", "back"}
        concerned : Table
            The rows that it is about; all that there are from now on, if labels differ or it leads back.
        rows : int
            How many there are from now on.
        fingerprint : str
            Of all of these.
        stamp : dict
        are_others : bool, default=False
            Whether rows that are added have been there before, with other labels.
        labellings : int, default=1
            How many labels of rows with these ids are recorded then, these included: any of them may be the
            ones that somebody passes later.
        """
        body = {"kind": cls.kind, "change": change, "rows": rows}
        if change != "relabelled":  # how many labels differ is told nowhere
            body["count"] = len(concerned)
        if change != "back":
            told = [Symbol("relabelled", 1)] if are_others or change == "relabelled" else []
            told.append(Symbol("relabelled", 0))  # in advance: that labels passed later are these
            if labellings > 1:
                told.append(Symbol("which", 0, 1.0 / labellings))
            event = CodedRelease(tuple(told))
            body |= {"event": event.to_dict(), "price": state.account.price(event)}
        return cls({**body, "fingerprint": fingerprint, "table": packed(concerned), **stamp})

    @property
    def change(self) -> str:
        """What was done."""
        return str(self.body["change"])

    @property
    def tells_of_labels(self) -> bool:
        """Whether it told that labels are others than before."""
        return "event" in self.body and bool(symbols_of(event_from_dict(self.body["event"]))[0].value)

    @property
    def fingerprint(self) -> str:
        """Keyed digest of all rows."""
        return str(self.body["fingerprint"])

    @property
    def table(self) -> Table:
        """The rows that it is about."""
        return unpacked(self.body["table"])

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it: what was done to how many rows, but for labels."""
        what = {"relabelled": "labels differ", "back": "as they were before"}.get(
            self.change, f"{self.body.get('count')} rows {self.change}"
        )
        told = f"{what}, {self.body['rows']} rows from now on"
        return {**super().columns(), "reason": told}

    def apply(self, state: ConversationState) -> None:
        """Change the rows; the nats and the counts of questions stay."""
        if "event" in self.body:
            state.charge(event_from_dict(self.body["event"]), self.body["price"])
            if self.tells_of_labels:
                state.assume(ASSUMED["relabelled"])
        if self.change == "begun":
            return
        same = self.body["rows"] == state.rows  # with groups rows neither come nor go
        state.grow(self.body["rows"], self.fingerprint, state.units if same else None)
        if self.change == "missing":
            state.assume(ASSUMED["missing"])


_LENGTH = 8


class SealedRecord(AnswerRecord):
    """What was asked, in which cell the answer lies, and the answer itself, sealed."""

    kind = "sealed"

    def sealing(self, sealed: str | None, population: str, published: float) -> SealedRecord:
        """Return the record with what it seals.

        Parameters
        ----------
        sealed : str or None
            None where it failed.
        population : str
            What the exact value is the score of.
        published : float
            About the half-width that it would have if it were published now.
        """
        return type(self)({**self.body, "sealed": sealed, "population": population, "published": published})


class UnsealedRecord(AnswerRecord):
    """An exact value that was sealed and is told: at the level of its asking, or published as a final."""

    kind = "unsealed"

    @classmethod
    def of_sealed(
        cls,
        state: ConversationState,
        sealed: AnswerRecord,
        number: int,
        event: Event,
        outcome: Outcome,
        stamp: dict[str, Any],
        share: FailureBudget | None,
    ) -> UnsealedRecord:
        """Return the record of telling it now.

        Parameters
        ----------
        state : ConversationState
        sealed : AnswerRecord
            The record that holds it, and its ``number`` in the ledger.
        event, outcome : Event, Outcome
        stamp : dict
            Who asks for it.
        share : FailureBudget or None
            Of a final; None: at the level of the asking.
        """
        said = sealed.body
        kept = {name: said[name] for name in ("metric", "mechanism", "guess", "purpose")}
        level = {"ln_delta": said["ln_delta"], "nats": said["nats"]}
        if share is not None:
            level = {"ln_delta": share.ln_delta, "nats": share.nats, **share.taken()}
        again = ("declared", "given_rows", "assumed", "model")
        also: dict[str, Any] = {name: said[name] for name in again if name in said}
        return cls(
            {
                "kind": cls.kind,
                "of": number,
                "final": share is not None,
                **kept,
                **stamp,
                **release_body(state, event, None),
                **level,
                "outcome": outcome.to_dict(),
                **also,
            }
        )

    def apply(self, state: ConversationState) -> None:
        """Charge it, and take its weight if it is a final. It is no new question."""
        state.charge(self.event, self.price)
        outcome = self.body["outcome"]
        state.keep_value(outcome["value"], outcome["target"], self.body["metric"]["range"])
        if self.body["final"]:
            state.take(self.body)
            state.finals += 1


def sealed_context(fingerprint: str, key: str) -> str:
    """Return what a value is sealed for: the record of this key, of a ledger with this genesis."""
    return f"sealed {fingerprint} {key}"


def _pad(secret: bytes, fingerprint: str, key: str) -> bytes:
    return hmac.new(secret, sealed_context(fingerprint, key).encode(), hashlib.sha256).digest()[:_LENGTH]


def hidden(point: int, secret: bytes, fingerprint: str, key: str) -> str:
    """Return a point as its record keeps it; ``fingerprint`` is that of the genesis, ``key`` the record's."""
    pad = _pad(secret, fingerprint, key)
    return bytes(a ^ b for a, b in zip(point.to_bytes(_LENGTH, "big", signed=True), pad, strict=True)).hex()


def shown(text: str, secret: bytes, fingerprint: str, key: str) -> int:
    """Return the point that `hidden` hid."""
    try:
        content = bytes.fromhex(text)
        pad = _pad(secret, fingerprint, key)
        return int.from_bytes(bytes(a ^ b for a, b in zip(content, pad, strict=True)), "big", signed=True)
    except (TypeError, ValueError) as error:
        raise LedgerDamagedError(
            "What a record keeps sealed cannot be read: the ledger was edited."
        ) from error


class SelectionRecord(ReleaseRecord):
    """Among how many models, by which metric, and which one."""

    kind = "selection"

    @classmethod
    def of(
        cls,
        state: ConversationState,
        metric: dict[str, Any],
        count: int,
        event: Event,
        release: PrivateRelease | None,
        stamp: dict[str, Any],
        said: str,
        *,
        given_rows: bool = False,
    ) -> SelectionRecord:
        """Return the record of a choice among ``count`` models that is made now.

        ``said`` is a summary of the values of all models, hidden (`models.said`). ``given_rows`` says
        whether there are predictions among them that may depend on the holdout's X.
        """
        body = {"kind": cls.kind, "metric": metric, "models": count, **stamp}
        more = {"given_rows": True} if given_rows else {}
        return cls({**body, **release_body(state, event, release), "family": None, "said": said, **more})

    def columns(self) -> dict[str, Any]:
        """Return what a table shows of it, by the names of `Entry`."""
        return {**super().columns(), "metric": self.body["metric"]["name"]}

    @property
    def chosen(self) -> int | str:
        """Number of the winner; the number of models if all failed; a text that says why there is none."""
        last: int | str = symbols_of(self.event)[-1].value
        return last


class TopUpRecord(LedgerRecord):
    """How many rows there are from now on, and the fingerprint of all of them.

    That labels which are passed later are these is paid for in advance. Records of older releases have no
    price.
    """

    kind = "top_up"

    @classmethod
    def of(cls, state: ConversationState, rows: int, fingerprint: str, stamp: dict[str, Any]) -> TopUpRecord:
        """Return the record of a top-up that is made now."""
        event = CodedRelease((Symbol("relabelled", 0),))
        paid = {"event": event.to_dict(), "price": state.account.price(event)}
        return cls({"kind": cls.kind, "rows": rows, "fingerprint": fingerprint, **paid, **stamp})

    @property
    def rows(self) -> int:
        """How many rows there are from now on."""
        return int(self.body["rows"])

    @property
    def fingerprint(self) -> str:
        """Keyed digest of all rows."""
        return str(self.body["fingerprint"])

    def apply(self, state: ConversationState) -> None:
        """Change the rows; the nats and the count of questions stay."""
        if "event" in self.body:
            state.charge(event_from_dict(self.body["event"]), self.body["price"])
        state.grow(self.rows, self.fingerprint)


_CLASSES: dict[str, type[LedgerRecord]] = {
    each.kind: each
    for each in (
        AnswerRecord, CheckpointRecord, CloseRecord, ConfirmationRecord, FamilyRecord, LabelsRecord,
        MeanWeightRecord, OverlapRecord, RefusalRecord, RoundCloseRecord, RoundRecord, RowsRecord,
        SealedRecord, SelectionRecord, TopUpRecord, UnsealedRecord,
    )
}  # fmt: skip


def read_record(body: dict[str, Any]) -> LedgerRecord | None:
    """Return an object of the class of a record's kind; None for the genesis, which has no kind."""
    return _CLASSES[body["kind"]](body) if "kind" in body else None


class Conversation(ConversationState):
    """The state after some records: a function of the ledger and of nothing else.

    Parameters
    ----------
    genesis : dict
        The ledger's genesis record.
    """

    def __init__(self, genesis: dict[str, Any]) -> None:
        begun = Genesis(genesis)
        super().__init__(begun.policy, begun.fingerprint, begun.rows, begun.n_units, begun.n_classes)

    def advance(self, body: dict[str, Any]) -> None:
        """Take one more record into account."""
        record = _CLASSES[body["kind"]](body)
        record.apply(self)
        self.applied += 1
        told_nothing = isinstance(record, CloseRecord | MeanWeightRecord)
        told_nothing |= isinstance(record, RowsRecord) and not record.tells_of_labels
        told_nothing |= self.closed and isinstance(record, RefusalRecord)
        self.is_untouched = self.is_untouched and told_nothing


def from_last_checkpoint(ledger: Ledger[Conversation]) -> tuple[Conversation, Head] | None:
    """Return the state and the head of a ledger, read from its last checkpoint on; None if there is none.

    The records from there on are verified against the head, and those before them not at all.
    """
    if ledger.tail(1)[0].count <= EVERY:
        return None
    head, records = ledger.tail(EVERY + 1)
    for number in range(len(records) - 1, -1, -1):
        last = read_record(records[number].body)
        if isinstance(last, CheckpointRecord) and last.state is not None:
            state = Conversation(ledger.genesis)
            try:
                state.restore(last.state)
                for record in records[number + 1 :]:
                    state.advance(record.body)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise LedgerDamagedError(
                    "A checkpoint of the ledger, or a record after it, lacks a part: it was edited."
                ) from error
            return state, head
    return None
