"""Mechanisms with a state, such as a count of corrections, that can be written to JSON and restored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, Self

import numpy as np

from sklearn_ada._checks import bad_parameter, check_integer, check_real
from sklearn_ada.exceptions import BudgetExhaustedError
from sklearn_ada.mechanisms._inputs import check_state

__all__ = ["StatefulMechanism"]


class StatefulMechanism(ABC):
    """A dataclass whose fields, parameters and what it keeps between answers, are its whole state.

    The state is as secret as the holdout: it holds the noise that protects it.

    Examples
    --------
    >>> from sklearn_ada.mechanisms import SparseVector
    >>> issubclass(SparseVector, StatefulMechanism)
    True
    """

    @property
    @abstractmethod
    def exhausted(self) -> bool:
        """Whether every further question is refused with `BudgetExhaustedError`."""

    def state(self) -> dict[str, Any]:
        """Return everything the mechanism knows, ready for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {key: v.tolist() if isinstance(v, np.ndarray) else v for key, v in values.items()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the mechanism that `state` described; ValueError if the state is not one of its own.

        Parameters
        ----------
        state : dict
            What `state` returned, also after a round trip through JSON.
        """
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        return cls(**check_state(state, names, cls.__name__))

    def _refuse_if_exhausted(self) -> None:
        if self.exhausted:
            raise BudgetExhaustedError(f"{type(self).__name__} is exhausted: it answers no further question.")

    def _check_memory(self, count: str, limit: int) -> None:
        """Check the noise of the open threshold and the number of hits so far."""
        owner = type(self).__name__
        noise = getattr(self, "threshold_noise", None)
        if noise is not None:
            check_real(noise, "threshold_noise", owner)
        if check_integer(getattr(self, count), count, owner, low=0) > limit:
            raise bad_parameter(count, owner, f"at most {limit}", getattr(self, count))
