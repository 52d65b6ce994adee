"""The state of a conversation: a function of the log and nothing else.

Record kinds: "answer" (a question that was admitted, whatever came out), "refusal", "round" (questions fixed
together before any of their answers is seen), "selection" (one of several models was chosen), "family"
(models declared before the first look), "overlap" (the outcome of a check that training data do not contain
the holdout), "mean weight" (of its rows, coarsely) and "top_up" (rows were added).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from sklearn_ada._constants import LN_2
from sklearn_ada.accounting.polya_urn import DescriptionLength, symbols_of
from sklearn_ada.accounting.zcdp_filter import Unit
from sklearn_ada.events import Event, event_from_dict
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.guarantees.description_length import weights
from sklearn_ada.guarantees.description_length.class_counts import class_count_nats
from sklearn_ada.guarantees.description_length.declared_models import ln_declared
from sklearn_ada.guarantees.description_length.theorem import ln_delta
from sklearn_ada.holdout.questions.question import Question
from sklearn_ada.holdout.terms.outcome import Share
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.holdout.terms.privacy import PrivacyAccount

__all__ = ["Conversation", "RefusedError", "Round"]


class RefusedError(Exception):
    """A question is not admitted; the log alone decides that."""


@dataclass
class Round:
    """Questions fixed before any of their answers: each has the L from before the round."""

    share: Share
    left: int


class Conversation:
    """What a ledger's records amount to so far.

    Parameters
    ----------
    genesis : dict
        The ledger's genesis record.

    Attributes
    ----------
    account : DescriptionLength
        Everything revealed, in nats.
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
        How often rows were added.
    askers : dict
        How many questions each name has put, the refused among them; "?" gave none.
    targets : dict
        How many scores were given of each target.
    memory : dict
        What each stateful mechanism recorded last, by its name.
    """

    def __init__(self, genesis: dict[str, Any]) -> None:
        self.policy = Policy.from_genesis(genesis)
        self.account = DescriptionLength(self.policy.code)
        self.rows: int = genesis["rows"]
        if "class_counts" in genesis:
            self.account.nats = class_count_nats(self.rows, len(genesis["class_counts"]))
        self.units: int = genesis.get("units", {}).get("number", self.rows)
        n, policy = self.units, self.policy
        self.privacy = (
            PrivacyAccount(n, lambda unit: policy.privacy_budget(unit, n), policy.ln_gap)
            if policy.is_private
            else None
        )
        self.asked = dict.fromkeys(weights.PURPOSES, 0)
        self.refused = 0
        self.fingerprint: str = genesis["fingerprint"]
        self.top_ups = 0
        self.askers: dict[str, int] = {}
        self.targets: dict[str, int] = {}
        self._last_value: tuple[float, float, float] | None = None
        self.memory: dict[str, dict[str, Any]] = {}
        self._rounds: dict[str, Round] = {}
        self._family: frozenset[str] = frozenset()
        self._nats_before_family = 0.0
        self._ln_undeclared = 0.0  # what is left for questions about models that were not declared
        self.is_untouched = True

    def advance(self, body: dict[str, Any]) -> None:
        """Take one more record into account."""
        kind = body["kind"]
        self.is_untouched = self.is_untouched and kind == "mean weight"
        if kind in ("answer", "refusal"):
            who = body.get("who") or "?"
            self.askers[who] = self.askers.get(who, 0) + 1
        if kind == "family":
            self._family, self._ln_undeclared = frozenset(body["members"]), -LN_2
            self._nats_before_family = self.account.nats
        elif kind == "round":
            self.asked[body["purpose"]] += body["size"]
            self._rounds[body["round"]] = Round(Share(body["ln_delta"], body["nats"]), body["size"])
        elif kind == "refusal":
            self.refused += 1
        elif kind == "top_up":
            self.fingerprint, self.rows = body["fingerprint"], body["rows"]
            self.units = self.rows
            self.top_ups += 1
            self._rounds.clear()  # they were fixed for the rows as they were; nats and weights run on
            self._family = frozenset()  # so were these
        else:
            event = event_from_dict(body["event"])
            price = self.account.record(event)
            if not math.isclose(price, body["price"], rel_tol=1e-9, abs_tol=1e-12):
                raise LedgerDamagedError("A recorded price is not that of its event: the ledger was edited.")
            if self.privacy is not None:
                self._spend_privacy(self.privacy, kind, body, event)
            if kind == "answer":
                self._count_question(body)
                if "outcome" in body:
                    self._keep_value(body["outcome"], body["metric"]["range"])
                if body["memory_name"]:
                    self.memory[body["memory_name"]] = body["memory"]

    def _spend_privacy(self, privacy: PrivacyAccount, kind: str, body: dict[str, Any], event: Event) -> None:
        if kind == "overlap":
            if symbols_of(event)[0].value:
                privacy.end("a leak was found, which ended the privacy route of this ledger")
        else:
            privacy.record(event, Unit(*body["unit"]))

    def _count_question(self, body: dict[str, Any]) -> None:
        if body["round"] is None:
            self.asked[body["purpose"]] += 1
        else:
            self._rounds[body["round"]].left -= 1

    def _keep_value(self, outcome: dict[str, Any], limits: list[float | None] | None) -> None:
        value, target = outcome["value"], outcome["target"]
        if value is not None:
            self.targets[target] = self.targets.get(target, 0) + 1
        if value is not None and limits is not None and limits[0] is not None and limits[1] is not None:
            self._last_value = (value, limits[0], limits[1])

    @property
    def last_value(self) -> float | None:
        """The last answer of a bounded metric, as a share of its range."""
        if self._last_value is None:
            return None
        value, low, high = self._last_value
        return float(min(max((value - low) / (high - low), 0.0), 1.0))

    def outgrown(self, top_ups: int) -> str | None:
        """Return why a holdout with so many top-ups answers nothing new, or None."""
        if top_ups == self.top_ups:
            return None
        return "rows were added to this holdout; ask the one that top_up returned"

    def open_round(self, name: str | None) -> str | None:
        """Return ``name`` if that round still has room; a question beyond it stands alone."""
        return name if name is not None and name in self._rounds and self._rounds[name].left > 0 else None

    def share(self, purpose: str, size: int = 1, round_name: str | None = None, ahead: int = 0) -> Share:
        """Return what each of the next ``size`` questions may spend, after ``ahead`` more have been asked."""
        if round_name is not None:
            return self._rounds[round_name].share
        policy, nats = self.policy, self.account.nats
        weight = weights.round_weight(purpose, self.asked[purpose] + ahead, size, policy.expected_questions)
        ln_beta = policy.ln_beta + self._ln_undeclared + weights.ln_share(purpose, policy.check_share)
        return Share(ln_delta(ln_beta, weight, nats), nats)

    def declared(self, member: str, share: Share) -> Share:
        """Return the better of a share and that of a declared model, which no answer can change."""
        if member not in self._family:
            return share
        own = ln_declared(self.policy.ln_beta, len(self._family)) - self._nats_before_family
        return replace(share, ln_delta=max(own, share.ln_delta))

    def certified(self, question: Question, share: Share, count: int = 1) -> Share:
        """Return the share with every route by which ``count`` such answers are certified.

        Raises
        ------
        RefusedError
            If there is none.
        """
        if self.privacy is None:
            return share
        release = question.private_release(self.memory.get(question.memory_name, {}))
        refusal = self.privacy.refusal(release, count)
        if refusal is None and release is not None:
            transfer = self.privacy.share(release, share.ln_noise)
            return replace(share, described=self.policy.is_described, transfer=transfer)
        if not self.policy.is_described:
            raise RefusedError(f"{refusal}; start a new holdout, or one with another route")
        return share

    def admits(self, half_width: float, width: float) -> bool:
        """Return whether an answer of this worst half-width is within the tolerance.

        ``width`` is that of the metric's range (infinite ranges admit always). NaN fails.
        """
        tolerance = self.policy.tolerance
        return tolerance is None or math.isinf(width) or half_width <= tolerance * width
