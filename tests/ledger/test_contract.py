"""What every ledger backend promises; a new backend joins by one more parameter of `backend`."""

import contextlib
import copy
import dataclasses
import pickle

import pytest

from sklearn_ada.exceptions import LedgerError, LedgerMismatchError, LedgerUnavailableError
from tests.ledger.ledger_backends import (
    FINGERPRINT,
    Genesis,
    MemoryBackend,
    PostgreSQLBackend,
    SQLiteBackend,
    count,
    fill,
    pickled,
)

BACKENDS = {
    "sqlite": lambda request: SQLiteBackend(str(request.getfixturevalue("tmp_path"))),
    "memory": lambda request: MemoryBackend(),
    "postgresql": lambda request: PostgreSQLBackend(request.getfixturevalue("postgresql")),
}
of_several_processes = pytest.mark.parametrize("backend", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture(params=BACKENDS)
def backend(request):
    return BACKENDS[request.param](request)


@pytest.fixture
def ledger(backend):
    return backend.open(backend.address())


def contents(ledger):
    return [(record.seq, record.key, record.body) for record in ledger.records()]


def never(state):
    raise AssertionError("decide was called")


def test_a_new_ledger_holds_its_genesis_only(ledger):
    assert contents(ledger) == [(0, None, ledger.genesis)]
    assert ledger.genesis["fingerprint"] == FINGERPRINT


def test_decide_sees_all_earlier_records_and_no_other(ledger):
    seen = []

    def decide(state):
        seen.append([body["number"] for body in state.bodies])
        return {"number": len(seen)}

    for _ in range(4):
        ledger.charge(None, decide)
    assert seen == [[], [1], [1, 2], [1, 2, 3]]


def test_decide_of_a_reopened_ledger_sees_the_earlier_records(backend, ledger):
    fill(ledger, 3)
    again = backend.open(backend.address())
    assert again.charge("new", lambda state: {"before": count(state)}).body == {"before": 3}


def test_the_state_is_started_from_the_genesis(ledger):
    assert ledger.read(lambda state: state.genesis) == ledger.genesis


def test_charge_returns_what_it_recorded(ledger):
    record = ledger.charge("k", lambda state: {"value": 0.1, "none": None, "list": [1, "ä"]})
    assert (record.seq, record.key, record.fresh) == (1, "k", True)
    assert record.body == {"value": 0.1, "none": None, "list": [1, "ä"]}
    assert ledger.find("k") == dataclasses.replace(record, fresh=False)


def test_a_tuple_is_returned_as_it_will_be_read(ledger):
    assert ledger.charge("k", lambda state: {"pair": (1, 2)}).body == {"pair": [1, 2]}


def test_the_same_key_is_charged_once_and_decided_once(ledger):
    first = ledger.charge("k", lambda state: {"value": 1})
    second = ledger.charge("k", never)
    assert (second.seq, second.body, second.fresh) == (first.seq, first.body, False)
    assert len(contents(ledger)) == 2


def test_records_without_a_key_repeat(ledger):
    assert [ledger.charge(None, lambda state: {"same": 1}).seq for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, LedgerError, ZeroDivisionError])
def test_an_exception_in_decide_leaves_everything_as_it_was(ledger, error):
    fill(ledger, 2)
    before = contents(ledger)

    def decide(state):
        raise error("from decide")

    with pytest.raises(error, match="from decide"):
        ledger.charge("k", decide)
    assert contents(ledger) == before
    assert ledger.find("k") is None
    assert ledger.read(count) == 2


def test_the_next_charge_after_a_failed_one_is_whole(ledger):
    with pytest.raises(ZeroDivisionError):
        ledger.charge("k", lambda state: {"value": 1 / 0})
    assert ledger.charge("k", lambda state: {"before": count(state)}).seq == 1
    assert len(contents(ledger)) == 2


@pytest.mark.parametrize(
    "body",
    [{"value": float("nan")}, {"value": float("inf")}, {"value": object()}, {"value": b"x"}, [1], None],
)
def test_what_cannot_be_written_is_not_charged(ledger, body):
    with pytest.raises((ValueError, TypeError, AttributeError)):
        ledger.charge("k", lambda state: body)
    assert ledger.find("k") is None
    assert len(contents(ledger)) == 1


def test_what_the_state_cannot_take_is_not_charged(ledger):
    with pytest.raises(KeyError):
        ledger.charge("k", lambda state: {"unreadable": True})
    assert len(contents(ledger)) == 1


def test_whatever_was_charged_verifies(ledger):
    with contextlib.suppress(TypeError, ValueError):  # refusing it is just as well
        ledger.charge("k", lambda state: {"subject": 5})
    assert len(contents(ledger)) in (1, 2)


def test_charging_inside_decide_is_refused_and_charges_nothing(ledger):
    with pytest.raises(LedgerError):
        ledger.charge("outer", lambda state: ledger.charge("inner", lambda inner: {}).body)
    assert len(contents(ledger)) == 1
    assert ledger.charge("outer", lambda state: {}).seq == 1


def test_find_knows_keys_and_nothing_else(ledger):
    fill(ledger, 2)
    assert ledger.find("k2").body["number"] == 2
    assert not ledger.find("k2").fresh
    assert ledger.find("k3") is None
    assert ledger.find("s1") is None


def test_find_shows_the_state_where_nothing_is_found(backend, ledger):
    other = backend.open(backend.address())
    fill(ledger, 2)
    seen = []
    assert other.find("k3", otherwise=lambda state: seen.append(count(state))) is None
    assert seen == [2]
    assert other.find("k2", otherwise=never).body["number"] == 2
    with pytest.raises(ZeroDivisionError):
        other.find("k3", otherwise=lambda state: 1 / 0)
    assert len(contents(other)) == 3


def test_find_subject_returns_the_first_of_them(ledger):
    for number in (1, 2):
        ledger.charge(None, lambda state, number=number: {"subject": "s", "number": number})
    assert ledger.find_subject("s").body["number"] == 1
    assert ledger.find_subject("other") is None


def test_a_key_is_text_and_not_a_pattern(ledger):
    ledger.charge("a%", lambda state: {"number": 1})
    assert ledger.find("ab") is None
    assert ledger.find("A%") is None
    assert ledger.find("a%").body["number"] == 1


def test_read_looks_at_all_records_so_far(backend, ledger):
    other = backend.open(backend.address())
    fill(ledger, 2)
    other.charge("elsewhere", lambda state: {})
    assert ledger.read(count) == 3


def test_an_exception_in_look_passes_and_changes_nothing(ledger):
    with pytest.raises(ZeroDivisionError):
        ledger.read(lambda state: 1 / 0)
    assert ledger.charge("k", lambda state: {}).seq == 1


def test_records_come_in_order_with_genesis_first(ledger):
    fill(ledger, 3)
    assert [(seq, key) for seq, key, _ in contents(ledger)] == [(0, None), (1, "k1"), (2, "k2"), (3, "k3")]


def test_a_caller_cannot_change_a_record_through_what_it_got(ledger):
    ledger.charge("k", lambda state: {"value": [1]}).body["value"].append(2)
    ledger.find("k").body["value"].append(3)
    assert ledger.find("k").body == {"value": [1]}
    assert contents(ledger)[1][2] == {"value": [1]}


def test_the_secret_is_random_and_stays(backend):
    first, second = (backend.open(backend.address(name)) for name in ("one", "two"))
    assert len(first.secret()) == 32
    assert first.secret() != second.secret()
    assert backend.open(backend.address("one")).secret() == first.secret()


def test_a_given_secret_is_for_new_ledgers_only(backend):
    given = backend.open(backend.address(), secret=b"given")
    assert given.secret() == b"given"
    assert backend.open(backend.address(), secret=b"another").secret() == b"given"


def test_the_genesis_is_made_from_the_secret_of_the_ledger(backend):
    secrets = []

    def genesis(secret):
        secrets.append(secret)
        return {"schema": 1, "fingerprint": secret.hex()}

    ledger = backend.open(backend.address(), genesis)
    backend.open(backend.address(), genesis)
    assert set(secrets) == {ledger.secret()}


def test_a_ledger_of_another_holdout_is_refused_naming_both_shortened(backend, ledger):
    other = "f" * 64
    with pytest.raises(LedgerMismatchError) as caught:
        backend.open(backend.address(), Genesis(other))
    message = str(caught.value)
    assert FINGERPRINT[:12] in message
    assert other[:12] in message
    assert FINGERPRINT[:20] not in message
    assert other[:20] not in message


def test_another_policy_is_refused_naming_the_field_that_differs(backend):
    backend.open(backend.address(), Genesis(tolerance=0.05, route="a"))
    with pytest.raises(LedgerMismatchError, match=r"tolerance=0\.05") as caught:
        backend.open(backend.address(), Genesis(tolerance=0.1, route="a"))
    assert "route" not in str(caught.value)


@pytest.mark.parametrize("policies", [({}, {"extra": 1}), ({"extra": 1}, {})])
def test_a_policy_with_a_field_more_or_less_is_another_policy(backend, policies):
    backend.open(backend.address(), Genesis(**policies[0]))
    with pytest.raises(LedgerMismatchError, match="extra"):
        backend.open(backend.address(), Genesis(**policies[1]))


def test_a_refused_opening_leaves_the_ledger_as_it_was(backend, ledger):
    fill(ledger, 2)
    before = contents(ledger)
    with pytest.raises(LedgerMismatchError):
        backend.open(backend.address(), Genesis("other"))
    assert contents(ledger) == before


@of_several_processes
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_every_copy_of_a_handle_leads_to_the_same_ledger(ledger, copied):
    fill(ledger, 2)
    twin = copied(ledger)
    assert not twin.charge("k1", never).fresh
    assert twin.charge("twin", lambda state: {"before": count(state)}).body == {"before": 2}
    assert ledger.find("twin").seq == 3


@of_several_processes
@pytest.mark.parametrize(
    "use",
    [
        lambda ledger: ledger.charge("k", never),
        lambda ledger: ledger.find("k"),
        lambda ledger: ledger.find_subject("k"),
        lambda ledger: ledger.read(count),
        lambda ledger: list(ledger.records()),
        lambda ledger: ledger.secret(),
    ],
    ids=["charge", "find", "find_subject", "read", "records", "secret"],
)
@pytest.mark.parametrize("copied", [copy.copy, pickled])
def test_a_handle_never_creates_a_ledger(backend, ledger, copied, use):
    twin = copied(ledger)
    backend.remove(backend.address())
    with pytest.raises(LedgerUnavailableError):
        use(twin)
    assert not backend.exists(backend.address())


@of_several_processes
def test_neither_repr_nor_pickle_tells_the_secret(backend):
    ledger = backend.open(backend.address(), secret=b"do not tell")
    assert b"do not tell" not in pickle.dumps(ledger)
    assert "do not tell" not in repr(ledger)
