"""Several events, or one event many times, as a single event."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_ada._checks import bad_parameter, check_integer
from sklearn_ada.events._base import Event

__all__ = ["ComposedEvent", "SelfComposedEvent"]


@dataclass(frozen=True)
class ComposedEvent(Event):
    """These events happened one after the other, each chosen with the earlier ones in view."""

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        if not (isinstance(self.events, tuple) and all(isinstance(e, Event) for e in self.events)):
            raise bad_parameter("events", "ComposedEvent", "a tuple of events", self.events)


@dataclass(frozen=True)
class SelfComposedEvent(Event):
    """The same event happened ``count`` times."""

    event: Event
    count: int

    def __post_init__(self) -> None:
        if not isinstance(self.event, Event):
            raise bad_parameter("event", "SelfComposedEvent", "an event", self.event)
        object.__setattr__(self, "count", check_integer(self.count, "count", "SelfComposedEvent"))
