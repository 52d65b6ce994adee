"""Events are frozen, check themselves and survive JSON; their names and fields are what ledgers hold."""

import dataclasses
import json
import math

import pytest

from sklearn_ada import Holdout, accounting

SYMBOLS = (
    accounting.Symbol("cells", 0),
    accounting.Symbol("lattice", -3, 2.5),
    accounting.Symbol("cells", accounting.FAILURES[0]),
)
COUNTS = (
    accounting.CountSymbol("winner", -1, 403, 46, 425.6, 9.2),
    accounting.CountSymbol("unsealed", accounting.FAILURES[0], 403, 46, 425.6, 9.2),
)
EVERY = [
    *SYMBOLS,
    *COUNTS,
    accounting.CountRelease((*COUNTS, *SYMBOLS[:1])),
    accounting.CodedRelease(SYMBOLS),
    accounting.CoveredRelease(SYMBOLS),
    *(
        kind(0.5)
        for kind in (
            accounting.PureDPEvent,
            accounting.LaplaceEvent,
            accounting.RandomizedResponseEvent,
            accounting.PermuteAndFlipEvent,
        )
    ),
    accounting.AboveThresholdEvent(0.25),
    accounting.ExponentialMechanismEvent(0.5, SYMBOLS[:1]),
    accounting.GaussianEvent(2.0, SYMBOLS[:1]),
    accounting.ThresholdoutEvent(0.1, 5),
    accounting.ThresholdoutEvent(0.1, 5, SYMBOLS[:1]),
    accounting.ApproximateDPEvent(0.5, 1e-6),
    accounting.LeakyRandomizedResponseEvent(0.5, 1e-6),
    accounting.ComposedEvent((accounting.LaplaceEvent(0.5), accounting.CodedRelease(SYMBOLS))),
    accounting.SelfComposedEvent(accounting.GaussianEvent(1.5), 7),
]


@pytest.mark.parametrize("event", EVERY, ids=lambda e: e.type_name)
def test_an_event_survives_json_and_cannot_be_changed(event):
    assert accounting.event_from_dict(json.loads(json.dumps(event.to_dict()))) == event
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(event, dataclasses.fields(event)[0].name, 1)


def test_every_exported_event_is_tried_here():
    exported = {name for name in accounting.__all__ if name.endswith(("Event", "Release", "Symbol"))}
    assert exported - {"Event"} == {event.type_name for event in EVERY}


NO_NUMBERS = [math.nan, math.inf, -math.inf, -1.0, 0.0, None, "x", True]
BAD = {
    COUNTS[0]: [
        *({"stream": "cells"}, {"value": 1.5}, {"value": "?"}, {"first": 0.5}, {"width": 0}, {"tau": 0.0}),
        *({name: bad} for name in ("centre", "tau") for bad in (math.nan, math.inf, None)),
    ],
    SYMBOLS[0]: [{"stream": "other"}, {"value": "no failure"}, {"value": 0.5}, {"scale": -1.0}],
    accounting.CountRelease(COUNTS): [
        {"symbols": bad} for bad in ((), None, [COUNTS[0]], (accounting.LaplaceEvent(0.5),))
    ],
    accounting.CodedRelease(SYMBOLS): [{"symbols": bad} for bad in ((), None, (1,), [SYMBOLS[0]])],
    accounting.LaplaceEvent(0.5): [{"epsilon": bad} for bad in NO_NUMBERS],
    accounting.ExponentialMechanismEvent(0.5): [{"epsilon": bad} for bad in NO_NUMBERS],
    accounting.GaussianEvent(0.5): [{"noise_multiplier": bad} for bad in NO_NUMBERS],
    accounting.ThresholdoutEvent(0.1, 3): [
        {name: bad} for name in ("scaled_epsilon", "max_hits") for bad in NO_NUMBERS
    ],
    accounting.SelfComposedEvent(accounting.LaplaceEvent(1.0), 2): [{"count": bad} for bad in NO_NUMBERS],
}
CHANGES = [(event, change) for event, changes in BAD.items() for change in changes]


@pytest.mark.parametrize(("event", "change"), CHANGES, ids=str)
def test_bad_parameters_make_no_event(event, change):
    with pytest.raises(ValueError, match="must be"):
        dataclasses.replace(event, **change)


@pytest.mark.parametrize("body", [{"type": "Unknown"}, {}, {"type": None}])
def test_an_unknown_type_is_not_guessed(body):
    with pytest.raises(ValueError, match="Unknown event type"):
        accounting.event_from_dict(body)


def test_the_schema_of_ledgers_has_not_changed_unnoticed():
    """A change here needs a new FORMAT, a new type, and a golden ledger."""
    assert Holdout([[0.0]] * 9, [0, 1, 1] * 3, ledger=":memory:").ledger.record(0).body["schema"] == 6
    fields = {event.type_name: sorted(event.to_dict()) for event in EVERY}
    assert fields["Symbol"] == ["scale", "stream", "type", "value"]
    assert fields["CodedRelease"] == fields["CoveredRelease"] == ["symbols", "type"]
    assert fields["ExponentialMechanismEvent"] == ["epsilon", "symbols", "type"]
    assert fields["ThresholdoutEvent"] == ["max_hits", "scaled_epsilon", "symbols", "type"]
    assert fields["GaussianEvent"] == ["noise_multiplier", "symbols", "type"]
