"""One line of the table: what was measured, and whether it is what was aimed at."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Finding", "Skipped", "table"]


@dataclass(frozen=True)
class Finding:
    """One measured number.

    Parameters
    ----------
    what : str
    value : float
    shown : str
        The value as people read it, with what it was computed from.
    at_most, at_least : float or None
        The target; neither where a number is only reported.
    detail : dict
        Everything behind the value, for JSON.
    """

    what: str
    value: float
    shown: str
    at_most: float | None = None
    at_least: float | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def target(self) -> str:
        """The target as people read it."""
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none. NaN meets nothing."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return None if self.at_least is None else self.value >= self.at_least

    def describe(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {**asdict(self), "met": self.met}


@dataclass(frozen=True)
class Skipped:
    """What was not measured, and why."""

    what: str
    reason: str

    def describe(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return asdict(self)


def table(lines: list[Finding | Skipped]) -> str:
    """Return a Markdown table."""
    verdicts = {True: "yes", False: "**no**", None: ""}
    rows = ["| what | measured | target | met? |", "|---|---|---|---|"]
    for line in lines:
        if isinstance(line, Skipped):
            rows.append(f"| {line.what} | skipped: {line.reason} | | |")
        else:
            rows.append(f"| {line.what} | {line.shown} | {line.target} | {verdicts[line.met]} |")
    return "\n".join(rows)
