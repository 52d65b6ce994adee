"""Other noise in the kernels of `sklearn_ada.mechanisms`: what a test of a law must notice.

A kernel is replaced wherever it was imported, so a floor that drew noise in a copy of its own would go on as
before, and be found out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from sklearn_ada.mechanisms.noise import with_laplace, with_normal
from sklearn_ada.mechanisms.quantiles import exponential_quantile, noisy_search
from sklearn_ada.mechanisms.selection import exponential_mechanism

__all__ = ["laplace_times", "normal_times", "quantile_times", "replaced", "search_times", "selection_times"]


def _always(value: float, scale: float) -> bool:
    return True


@contextmanager
def replaced(kernel: Callable[..., Any], other: Callable[..., Any]) -> Iterator[None]:
    """Put another function in a kernel's place, in every module of the package that has it."""
    name = kernel.__name__
    with ExitStack() as stack:
        for path, module in list(sys.modules.items()):
            if path.startswith("sklearn_ada.") and vars(module).get(name) is kernel:
                stack.enter_context(patch.object(module, name, other))
        yield


def laplace_times(
    factor: float, only: Callable[[float, float], bool] = _always
) -> AbstractContextManager[None]:
    """Multiply the scale of Laplace noise, in those draws of which ``only(value, scale)`` is true."""
    return replaced(with_laplace, _scaled(with_laplace, factor, only))


def normal_times(
    factor: float, only: Callable[[float, float], bool] = _always
) -> AbstractContextManager[None]:
    """Multiply the deviation of normal noise, in those draws of which ``only(value, deviation)`` is true."""
    return replaced(with_normal, _scaled(with_normal, factor, only))


def quantile_times(factor: float) -> AbstractContextManager[None]:
    """Multiply the noise of a quantile by the exponential mechanism: divide its epsilon."""

    def other(indices: Any, grid_size: int, epsilon: float, rng: Any, **interval: float) -> int:
        return exponential_quantile(indices, grid_size, epsilon / factor, rng, **interval)

    return replaced(exponential_quantile, other)


def search_times(factor: float) -> AbstractContextManager[None]:
    """Multiply the noise of the counts in a binary search."""

    def other(indices: Any, grid_size: int, *, deviation: float, **options: Any) -> int:
        return noisy_search(indices, grid_size, deviation=factor * deviation, **options)

    return replaced(noisy_search, other)


def selection_times(factor: float) -> AbstractContextManager[None]:
    """Multiply the noise of a selection by the exponential mechanism: divide its epsilon."""

    def other(scores: Any, *, epsilon: float, **options: Any) -> Any:
        return exponential_mechanism(scores, epsilon=epsilon / factor, **options)

    return replaced(exponential_mechanism, other)


def _scaled(
    kernel: Callable[..., float], factor: float, only: Callable[[float, float], bool]
) -> Callable[..., float]:
    def other(value: float, scale: float, rng: Any) -> float:
        return kernel(value, scale * (factor if only(value, scale) else 1.0), rng)

    return other
