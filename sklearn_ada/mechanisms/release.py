"""What every mechanism returns: an answer, and the event that says what happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from sklearn_ada.events import ComposedEvent, Event

__all__ = ["Release", "composed"]

T = TypeVar("T")


@dataclass(frozen=True)
class Release(Generic[T]):
    """An answer and what happened when it was drawn.

    Parameters
    ----------
    answer : object
        What may be shown once the event has been recorded.
    event : Event or None
        What happened; None if an event of an earlier answer of the same mechanism covers this one too.
    """

    answer: T
    event: Event | None


def composed(*events: Event | None) -> Event | None:
    """Return the events that are not None as one, or None if there is none."""
    happened = tuple(event for event in events if event is not None)
    return ComposedEvent(happened) if len(happened) > 1 else next(iter(happened), None)
