"""Whether a round would be admitted: told before a search runs, without opening it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from sklearn_ada.holdout import Holdout
from sklearn_ada.ledger import Ledger

__all__ = ["rehearsed"]


def rehearsed(holdout: Holdout) -> Holdout:
    """Return a holdout that admits and refuses rounds as this one does now, and records none."""
    twin = object.__new__(type(holdout))
    vars(twin).update(vars(holdout))
    twin._ledger = _Unwritten(holdout.ledger)  # type: ignore[assignment]
    return twin


class _Unwritten:
    """A ledger that decides as another does and writes nothing."""

    def __init__(self, ledger: Ledger[Any]) -> None:
        self._ledger = ledger

    def charge(self, key: str, decide: Callable[[Any], dict[str, Any]]) -> SimpleNamespace:
        """Raise what the decision raises; what is recorded already was decided."""
        return SimpleNamespace(fresh=self._ledger.find(key, decide) is None)

    def secret(self) -> bytes:
        """Return the ledger's secret, which a probe is planned with."""
        return self._ledger.secret()
