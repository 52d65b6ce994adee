"""The base of every event: a type name, its fields, and the way to JSON and back."""

from __future__ import annotations

import marshal
from dataclasses import dataclass, fields
from typing import Any, ClassVar

__all__ = ["SCHEMA_VERSION", "Event", "event_from_dict"]

SCHEMA_VERSION = 1

_TYPES: dict[str, type[Event]] = {}
_MOST_READ = 10_000
_read: dict[object, Event] = {}  # a long ledger repeats the same few events, which are frozen


@dataclass(frozen=True)
class Event:
    """Something that was released about the holdout.

    Subclasses are frozen dataclasses that check their own fields; the class name is the type's name in
    a ledger.
    """

    type_name: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.type_name = cls.__name__
        _TYPES[cls.type_name] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dict from which `event_from_dict` rebuilds the event."""
        body: dict[str, Any] = {"type": self.type_name}
        for field in fields(self):
            body[field.name] = _plain(getattr(self, field.name))
        return body


def event_from_dict(body: dict[str, Any]) -> Event:
    """Return the event written by `Event.to_dict`; an unknown type or field is an error."""
    written = _written(body)
    event = _read.get(written)
    if event is None:
        if len(_read) >= _MOST_READ:
            _read.clear()
        event = _read[written] = _built(body)
    return event


def _written(body: dict[str, Any]) -> object:
    """Return what tells True from 1 and 1 from 1.0, which a tuple of the values would not."""
    try:
        return marshal.dumps(body, 2)  # without references, which depend on more than the content
    except ValueError:  # not made of JSON's types alone
        return repr(body)


def _built(body: dict[str, Any]) -> Event:
    values = dict(body)
    name = values.pop("type", None)
    if name not in _TYPES:
        raise ValueError(f"Unknown event type {name!r}: this ledger was written by a newer version.")
    return _TYPES[name](**{k: _rich(v) if isinstance(v, (dict, list)) else v for k, v in values.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, Event):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return value


def _rich(value: Any) -> Any:
    if isinstance(value, dict):
        return _built(value)
    if isinstance(value, list):
        return tuple(_rich(v) for v in value)
    return value
