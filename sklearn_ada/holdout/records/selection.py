"""The record of a choice among several models, of which only the winner's number was revealed."""

from __future__ import annotations

from typing import Any

from sklearn_ada.accounting.polya_urn import symbols_of
from sklearn_ada.events import Event
from sklearn_ada.holdout.records.base import ReleaseRecord, release_body
from sklearn_ada.holdout.records.state import ConversationState
from sklearn_ada.holdout.terms.privacy import PrivateRelease

__all__ = ["SelectionRecord"]


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
