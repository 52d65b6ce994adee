"""Events: frozen, self-validating, versioned records of what was released about the holdout.

A *mechanism* is a procedure that answers a question about the holdout; each answer comes with an *event*,
such as "Gaussian noise with this multiplier was added" or "this symbol of a code was said". An event says
only what happened, never what it costs: prices belong to ``sklearn_ada.accounting``, so an old ledger can be
read again under a better theorem. The meaning of an event type, and of each of its fields, never changes; a
new meaning is a new type.
"""

from sklearn_ada.events._base import SCHEMA_VERSION, Event, event_from_dict
from sklearn_ada.events._coded import FAILURES, MOST_OFFSET, CodedRelease, CoveredRelease, Symbol
from sklearn_ada.events._composition import ComposedEvent, SelfComposedEvent
from sklearn_ada.events._counts import CountRelease, CountSymbol
from sklearn_ada.events._private import (
    AboveThresholdEvent,
    ApproximateDPEvent,
    ExponentialMechanismEvent,
    GaussianEvent,
    LaplaceEvent,
    LeakyRandomizedResponseEvent,
    PermuteAndFlipEvent,
    PureDPEvent,
    RandomizedResponseEvent,
    ThresholdoutEvent,
)

__all__ = [
    "FAILURES",
    "MOST_OFFSET",
    "SCHEMA_VERSION",
    "AboveThresholdEvent",
    "ApproximateDPEvent",
    "CodedRelease",
    "ComposedEvent",
    "CountRelease",
    "CountSymbol",
    "CoveredRelease",
    "Event",
    "ExponentialMechanismEvent",
    "GaussianEvent",
    "LaplaceEvent",
    "LeakyRandomizedResponseEvent",
    "PermuteAndFlipEvent",
    "PureDPEvent",
    "RandomizedResponseEvent",
    "SelfComposedEvent",
    "Symbol",
    "ThresholdoutEvent",
    "event_from_dict",
]
