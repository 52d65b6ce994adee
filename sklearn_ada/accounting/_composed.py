"""The price of several events together, where prices add up."""

from __future__ import annotations

import math
from collections.abc import Callable

from sklearn_ada._checks import bad_parameter
from sklearn_ada.events import ComposedEvent, CoveredRelease, Event, SelfComposedEvent
from sklearn_ada.exceptions import UnsupportedEventError

__all__ = ["total_price", "unsupported"]


def total_price(event: Event, price: Callable[[Event], float], owner: str) -> float:
    """Return the sum of ``price`` over the events that ``event`` is composed of.

    ``fsum`` and the product are both correctly rounded, so n copies of an event cost exactly what the
    event composed with itself n times costs. A price that is not finite is no price.
    """
    if not isinstance(event, Event):
        raise bad_parameter("event", owner, "an event", event)
    try:
        match event:
            case ComposedEvent(events=events):
                cost = math.fsum(total_price(e, price, owner) for e in events)
            case SelfComposedEvent(event=repeated, count=count):
                cost = count * total_price(repeated, price, owner)
            case CoveredRelease():
                cost = 0.0  # an event recorded earlier has paid for it
            case _:
                cost = price(event)
    except OverflowError:
        cost = math.inf
    if not math.isfinite(cost):
        raise UnsupportedEventError(
            f"{owner}: the price of this {event.type_name} is too large to write down."
        )
    return cost


def unsupported(event: Event, owner: str, why: str) -> UnsupportedEventError:
    """Return the error that says that ``event`` has no price in this currency."""
    return UnsupportedEventError(f"{owner} has no price for {event.type_name}: {why}.")
