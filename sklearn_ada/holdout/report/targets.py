"""Marks such as [a] for the targets of the answers in a table, with the targets listed beneath it.

A *target* is the population quantity that a value estimates, in words, often the same for many answers.
Checks of a stable median differ in the steps to which their values are rounded; they share a mark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

__all__ = ["Targets"]

_STEPS = re.compile(r", rounded to steps of (\S+)$")


class Targets:
    r"""The targets of some answers, each with a mark.

    Parameters
    ----------
    targets : iterable of (str or None), or mapping of str to int
        Of all answers that are shown, in their order, None for those without a score; or how many have each.

    Examples
    --------
    >>> shown = Targets(["population accuracy", None, "median of r2, rounded to steps of 0.1"])
    >>> shown.mark("population accuracy"), shown.mark(None)
    (' [a]', '')
    >>> print(*shown.lines, sep="\n")
    [a] population accuracy
    [b] median of r2, rounded to steps of 0.1
    """

    def __init__(self, targets: Iterable[str | None] | Mapping[str, int]) -> None:
        self._counts: Counter[str] = Counter()
        self._steps: dict[str, set[float]] = {}
        known = targets if isinstance(targets, Mapping) else Counter(each for each in targets if each)
        for target, count in known.items():
            self._counts[_kind(target)] += count
            steps = _STEPS.search(target)
            if steps is not None:
                self._steps.setdefault(_kind(target), set()).add(float(steps[1]))
        self._marks = {kind: f"[{_letters(number)}]" for number, kind in enumerate(self._counts)}

    def mark(self, target: str | None) -> str:
        """Return what follows the name of the metric: a blank and the mark, or nothing without a target."""
        return "" if target is None else f" {self._marks[_kind(target)]}"

    @property
    def lines(self) -> list[str]:
        """Every mark with its target."""
        return [f"{mark} {self._in_words(kind)}" for kind, mark in self._marks.items()]

    @property
    def counts(self) -> dict[str, int]:
        """How many scores there are of each target."""
        return {self._in_words(kind): count for kind, count in self._counts.items()}

    def _in_words(self, kind: str) -> str:
        steps = self._steps.get(kind)
        if not steps:
            return kind
        least, largest = f"{min(steps):.3g}", f"{max(steps):.3g}"
        return _STEPS.sub(f", rounded to steps of {least}", kind) + (
            "" if least == largest else f" to {largest}"
        )


def _kind(target: str) -> str:
    """Return a target without the width of its steps."""
    return _STEPS.sub(", rounded to steps of 0", target)


def _letters(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    more, last = divmod(number, 26)
    return (_letters(more - 1) if more else "") + chr(ord("a") + last)
