"""Events are frozen, check themselves and survive JSON; their names and fields are what ledgers hold."""

import dataclasses
import json
import math

import pytest

from sklearn_ada import Holdout, accounting
from sklearn_ada.accounting import (
    FAILURES,
    AboveThresholdEvent,
    ApproximateDPEvent,
    CodedRelease,
    ComposedEvent,
    CountRelease,
    CountSymbol,
    CoveredRelease,
    ExponentialMechanismEvent,
    GaussianEvent,
    LaplaceEvent,
    LeakyRandomizedResponseEvent,
    PermuteAndFlipEvent,
    PureDPEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
    Symbol,
    ThresholdoutEvent,
    event_from_dict,
)

SYMBOLS = (Symbol("cells", 0), Symbol("lattice", -3, 2.5), Symbol("cells", FAILURES[0]))
COUNTS = (
    CountSymbol("winner", -1, 403, 46, 425.6, 9.2),
    CountSymbol("unsealed", FAILURES[0], 403, 46, 425.6, 9.2),
)
EVERY = [
    *SYMBOLS,
    *COUNTS,
    CountRelease((*COUNTS, *SYMBOLS[:1])),
    CodedRelease(SYMBOLS),
    CoveredRelease(SYMBOLS),
    *(kind(0.5) for kind in (PureDPEvent, LaplaceEvent, RandomizedResponseEvent, PermuteAndFlipEvent)),
    AboveThresholdEvent(0.25),
    ExponentialMechanismEvent(0.5, SYMBOLS[:1]),
    GaussianEvent(2.0, SYMBOLS[:1]),
    ThresholdoutEvent(0.1, 5),
    ThresholdoutEvent(0.1, 5, SYMBOLS[:1]),
    ApproximateDPEvent(0.5, 1e-6),
    LeakyRandomizedResponseEvent(0.5, 1e-6),
    ComposedEvent((LaplaceEvent(0.5), CodedRelease(SYMBOLS))),
    SelfComposedEvent(GaussianEvent(1.5), 7),
]


@pytest.mark.parametrize("event", EVERY, ids=lambda e: e.type_name)
def test_an_event_survives_json(event):
    assert event_from_dict(json.loads(json.dumps(event.to_dict()))) == event


def test_every_exported_event_is_tried_here():
    exported = {name for name in accounting.__all__ if name.endswith(("Event", "Release", "Symbol"))}
    assert exported - {"Event"} == {event.type_name for event in EVERY}


@pytest.mark.parametrize("event", EVERY, ids=lambda e: e.type_name)
def test_an_event_cannot_be_changed(event):
    field = dataclasses.fields(event)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(event, field, 1)


NO_NUMBERS = [math.nan, math.inf, -math.inf, -1.0, 0.0, None, "x", True]
BAD = {
    COUNTS[0]: [
        *({"stream": "cells"}, {"value": 1.5}, {"value": "?"}, {"first": 0.5}, {"width": 0}, {"tau": 0.0}),
        *({name: bad} for name in ("centre", "tau") for bad in (math.nan, math.inf, None)),
    ],
    SYMBOLS[0]: [{"stream": "other"}, {"value": "no failure"}, {"value": 0.5}, {"scale": -1.0}],
    CountRelease(COUNTS): [{"symbols": bad} for bad in ((), None, [COUNTS[0]], (LaplaceEvent(0.5),))],
    CodedRelease(SYMBOLS): [{"symbols": bad} for bad in ((), None, (1,), [SYMBOLS[0]])],
    LaplaceEvent(0.5): [{"epsilon": bad} for bad in NO_NUMBERS],
    ExponentialMechanismEvent(0.5): [{"epsilon": bad} for bad in NO_NUMBERS],
    GaussianEvent(0.5): [{"noise_multiplier": bad} for bad in NO_NUMBERS],
    ThresholdoutEvent(0.1, 3): [{name: bad} for name in ("scaled_epsilon", "max_hits") for bad in NO_NUMBERS],
    SelfComposedEvent(LaplaceEvent(1.0), 2): [{"count": bad} for bad in NO_NUMBERS],
}
CHANGES = [(event, change) for event, changes in BAD.items() for change in changes]


@pytest.mark.parametrize(("event", "change"), CHANGES, ids=str)
def test_bad_parameters_make_no_event(event, change):
    with pytest.raises(ValueError, match="must be"):
        dataclasses.replace(event, **change)


@pytest.mark.parametrize("body", [{"type": "Unknown"}, {}, {"type": None}])
def test_an_unknown_type_is_not_guessed(body):
    with pytest.raises(ValueError, match="Unknown event type"):
        event_from_dict(body)


def test_the_schema_of_ledgers_has_not_changed_unnoticed():
    """A change here needs a new SCHEMA_VERSION, a new type, and a golden ledger."""
    assert Holdout([[0.0]] * 9, [0, 1, 1] * 3, ledger=":memory:").ledger.record(0).body["schema"] == 1
    fields = {event.type_name: sorted(event.to_dict()) for event in EVERY}
    assert fields["Symbol"] == ["scale", "stream", "type", "value"]
    assert fields["CodedRelease"] == fields["CoveredRelease"] == ["symbols", "type"]
    assert fields["ExponentialMechanismEvent"] == ["epsilon", "symbols", "type"]
    assert fields["ThresholdoutEvent"] == ["max_hits", "scaled_epsilon", "symbols", "type"]
    assert fields["GaussianEvent"] == ["noise_multiplier", "symbols", "type"]
