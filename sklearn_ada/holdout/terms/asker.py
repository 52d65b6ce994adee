"""Who asks, from where, and when: recorded with a question, but no part of its identity."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from sklearn_ada._checks import bad_parameter

__all__ = ["Asker", "check_name"]

_LONGEST = 100


@dataclass(frozen=True)
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

    def __post_init__(self) -> None:
        check_name(self.who, "who", "Holdout")
        check_name(self.label, "label", "Holdout")

    def stamp(self) -> dict[str, Any]:
        """Return what a record says of its asker, ready for JSON."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        return {"who": self.who, "label": self.label, "time": now}


def check_name(value: object, name: str, owner: str) -> None:
    """Raise ValueError unless a table can show the name on one line."""
    if value is None or (isinstance(value, str) and value.isprintable() and 0 < len(value) <= _LONGEST):
        return
    raise bad_parameter(name, owner, f"a text of 1 to {_LONGEST} printable characters, or None", value)
