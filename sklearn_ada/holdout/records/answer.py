"""The record of a question that was admitted, whether it has a value or failed on the holdout."""

from __future__ import annotations

import math
from typing import Any

from sklearn_ada.events import Event
from sklearn_ada.guarantees.description_length.theorem import ROW_BY_ROW
from sklearn_ada.holdout.records.base import ReleaseRecord, release_body
from sklearn_ada.holdout.records.genesis import Genesis
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.holdout.terms.failure_budget import FailureBudget
from sklearn_ada.holdout.terms.outcome import Outcome
from sklearn_ada.holdout.terms.privacy import PrivateRelease
from sklearn_ada.ledger import Record
from sklearn_ada.metrics.difference import DIFFERENCE
from sklearn_ada.results import Answer, Certificate, Cost

__all__ = ["AnswerRecord"]

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
