"""Check that a ledger of one's own keeps the promises of `sklearn_ada.ledger.Ledger`.

A backend is a `sklearn_ada.ledger.ChainedLedger` with a ``scheme`` of its own: addresses that begin with it
lead to its ledgers. Whoever writes one runs `LedgerContract` on it with pytest or unittest, or calls
`check_ledger`. Crashes, lost connections and edits past the package are different for each storage: tests of
these belong to the backend.
"""

from __future__ import annotations

import copy
import functools
import pickle
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, NoReturn

from sklearn_ada.exceptions import (
    LedgerDamagedError,
    LedgerError,
    LedgerMismatchError,
    LedgerUnavailableError,
)
from sklearn_ada.ledger import Ledger, open_existing_ledger, open_ledger, parse_head

__all__ = ["LedgerContract", "Tally", "check_ledger"]

_FINGERPRINT = "0123456789abcdef" * 4
_SECRET = b"not to be shown"


class Tally:
    """Keep every body that was recorded: the simplest state of a ledger.

    Parameters
    ----------
    genesis : dict
        The first record of the ledger.

    Examples
    --------
    >>> state = Tally({"schema": 1})
    >>> state.advance({"number": 7})
    >>> state.bodies
    [{'number': 7}]
    """

    def __init__(self, genesis: dict[str, Any]) -> None:
        self.genesis = genesis
        self.bodies: list[dict[str, Any]] = []

    def advance(self, body: dict[str, Any]) -> None:
        """Take one more record into account.

        Parameters
        ----------
        body : dict
            KeyError if it is marked as unreadable.
        """
        if body.get("unreadable"):
            raise KeyError("a record that this state cannot read")
        self.bodies.append(body)


class LedgerContract:
    """Check a ledger backend, one promise a method.

    A subclass says where its ledgers are. Its name must begin with ``Test`` to be found by pytest.

    Examples
    --------
    >>> class TestMemory(LedgerContract):
    ...     def address(self, name):
    ...         return f":memory:{name}"
    >>> TestMemory().test_the_same_key_is_charged_once_and_decided_once()
    """

    def address(self, name: str) -> str:
        """Return the address of the ledger of a name.

        Parameters
        ----------
        name : str
            32 hexadecimal digits, a hyphen and a word; no two checks use the same.
        """
        raise NotImplementedError

    def remove(self, address: str) -> None:
        """Remove a ledger without the package, as somebody may; leave this out where nobody can.

        Parameters
        ----------
        address : str
        """
        raise NotImplementedError

    @functools.cached_property
    def _prefix(self) -> str:
        return uuid.uuid4().hex

    def _place(self, name: str = "ledger") -> str:
        return self.address(f"{self._prefix}-{name}")

    def _open(self, size: int = 0, name: str = "ledger", **policy: Any) -> Ledger[Tally]:
        """Open a ledger and charge so many records: keys k1, k2, ..., subjects s1, s2, ..."""
        ledger = open_ledger(self._place(name), lambda secret: _genesis(**policy), Tally)
        for number in range(1, size + 1):
            ledger.charge(f"k{number}", _numbered(number))
        return ledger

    def test_a_new_ledger_holds_its_genesis_only(self) -> None:
        """Check that the genesis is the only record at first, and in the state."""
        ledger = self._open()
        assert _contents(ledger) == [(0, None, _genesis())]
        assert ledger.genesis == ledger.read(lambda state: state.genesis) == _genesis()

    def test_decide_sees_all_earlier_records_and_no_other(self) -> None:
        """Check the state that `charge` passes on, before and after the ledger is opened again."""
        ledger, seen = self._open(), []

        def decide(state: Tally) -> dict[str, Any]:
            seen.append([body["number"] for body in state.bodies])
            return {"number": len(seen)}

        for _ in range(3):
            ledger.charge(None, decide)
        assert seen == [[], [1], [1, 2]]
        assert self._open().charge("new", _counted).body == {"before": 3}

    def test_charge_returns_what_it_recorded(self) -> None:
        """Check that a record is returned as it will be read."""
        ledger, body = self._open(), {"value": 0.1, "none": None, "list": [1, "ä"]}
        record = ledger.charge("k", lambda state: {**body, "pair": (1, 2)})
        assert (record.seq, record.key, record.body, record.fresh) == (1, "k", {**body, "pair": [1, 2]}, True)
        assert ledger.find("k") == replace(record, fresh=False)

    def test_the_same_key_is_charged_once_and_decided_once(self) -> None:
        """Check that the record of a key is returned, and none is added."""
        ledger = self._open()
        first, second = ledger.charge("k", _numbered(1)), ledger.charge("k", _never)
        assert second == replace(first, fresh=False)
        assert [seq for seq, *_ in _contents(ledger)] == [0, 1]

    def test_records_without_a_key_repeat(self) -> None:
        """Check that each of them is a record of its own."""
        ledger = self._open()
        assert [ledger.charge(None, _numbered(1)).seq for _ in range(3)] == [1, 2, 3]

    def test_an_exception_in_decide_leaves_everything_as_it_was(self) -> None:
        """Check that nothing is charged, in the ledger and in the state."""
        ledger = self._open(2)
        before = _contents(ledger)
        for error in (ValueError, KeyboardInterrupt, LedgerError, ZeroDivisionError):
            with _raises(error, match="from decide"):
                ledger.charge("k", _failing(error))
            assert _contents(ledger) == before
            assert ledger.find("k") is None
            assert ledger.read(_count) == 2
        assert ledger.charge("k", _counted).body == {"before": 2}

    def test_what_cannot_be_written_or_read_is_not_charged(self) -> None:
        """Check that bodies which cannot be written or read are refused.

        JSON cannot hold some of them, the state refuses one, and in one the subject is no text.
        """
        ledger = self._open()
        bodies: list[Any] = [{"value": value} for value in (float("nan"), float("inf"), object(), b"x")]
        for body in (*bodies, [1], None, {"unreadable": True}):
            with _raises(ValueError, TypeError, AttributeError, KeyError):
                ledger.charge("k", _giving(body))
            assert ledger.find("k") is None
            assert len(_contents(ledger)) == 1
        with suppress(TypeError, ValueError):  # to refuse it is just as well
            ledger.charge("k", lambda state: {"subject": 5})
        assert len(_contents(ledger)) in (1, 2)

    def test_charging_inside_decide_is_refused_and_charges_nothing(self) -> None:
        """Check that no charge is nested in another."""
        ledger = self._open()
        with _raises(LedgerError):
            ledger.charge("outer", lambda state: ledger.charge("inner", _counted).body)
        assert ledger.charge("outer", _counted).seq == 1

    def test_find_returns_the_record_of_a_key(self) -> None:
        """Check that a key is text, no pattern and no subject."""
        ledger = self._open(2)
        ledger.charge("a%", _numbered(3))
        for key, number in (("k2", 2), ("a%", 3)):
            found = ledger.find(key)
            assert found is not None
            assert (found.body, found.fresh) == ({"number": number, "subject": f"s{number}"}, False)
        assert [ledger.find(key) for key in ("k3", "s1", "ab", "A%", "K2")] == 5 * [None]
        assert [record.seq for record in ledger.find_each(["k2", "none", "k1"])] == [2, 1]

    def test_find_shows_the_state_where_nothing_is_found(self) -> None:
        """Check that all records so far are in it, those of other handles too."""
        other, seen = self._open(), []
        self._open(2)
        assert other.find("k3", otherwise=lambda state: seen.append(_count(state))) is None
        assert seen == [2]
        assert other.find("k2", otherwise=_never) is not None
        with _raises(ZeroDivisionError):
            other.find("k3", otherwise=_failing(ZeroDivisionError))
        assert len(_contents(other)) == 3

    def test_find_subject_returns_the_first_of_them(self) -> None:
        """Check that a later record of the same subject is not returned."""
        ledger = self._open(2)
        ledger.charge(None, lambda state: {"subject": "s2"})
        found = ledger.find_subject("s2")
        assert found is not None
        assert found.seq == 2
        assert ledger.find_subject("k2") is None

    def test_read_looks_at_all_records_so_far(self) -> None:
        """Check that those of other handles are among them, and that an exception changes nothing."""
        ledger, other = self._open(2), self._open()
        other.charge("elsewhere", _counted)
        assert ledger.read(_count) == 3
        with _raises(ZeroDivisionError):
            ledger.read(_failing(ZeroDivisionError))
        assert ledger.charge("k", _counted).body == {"before": 3}

    def test_records_come_in_order_with_the_genesis_first(self) -> None:
        """Check all records, single ones by their numbers, and the last few."""
        ledger = self._open(6)
        records = list(ledger.records())
        assert [(r.seq, r.key) for r in records] == [(0, None), *((n, f"k{n}") for n in range(1, 7))]
        assert ledger.verify() == 7
        assert [ledger.record(seq) for seq in (-1, *range(8))] == [None, *records, None]
        for size in (1, 3, 7, 100):
            assert ledger.tail(size) == (parse_head(ledger.head()), records[-size:])

    def test_a_caller_cannot_change_a_record_through_what_it_got(self) -> None:
        """Check that what is returned belongs to the caller."""
        ledger = self._open()
        charged, found = ledger.charge("k", lambda state: {"value": [1]}), ledger.find("k")
        assert found is not None
        for record, more in ((charged, 2), (found, 3)):
            (value,) = record.body.values()
            value.append(more)
        assert _contents(ledger)[1][2] == {"value": [1]}

    def test_a_ledger_continues_every_head_that_it_had(self) -> None:
        """Check heads of this ledger and of another, and texts that are none."""
        ledger, heads = self._open(2), []
        for number in range(3):
            ledger.charge(f"more {number}", _counted)
            heads.append(ledger.head())
            assert parse_head(heads[-1]).count == number + 4
        for head in heads:
            ledger.check_head(head)
        with _raises(LedgerMismatchError):
            ledger.check_head(self._open(9, "other", fingerprint="other").head())
        with _raises(LedgerDamagedError):
            self._open(1, "shorter").check_head(heads[0])
        with _raises(LedgerDamagedError):
            self._open(9, "parted").check_head(heads[0])
        for text in ("", "7", "7-abc", f"0-{8 * 'a'}-{64 * 'a'}", 70 * "x"):
            with _raises(ValueError, match="head"):
                ledger.check_head(text)

    def test_the_secret_is_random_and_stays(self) -> None:
        """Check that the genesis is made from the secret, which only a new ledger takes."""
        ledger, secrets = self._open(), []
        assert len(ledger.secret()) == 32
        assert ledger.secret() != self._open(0, "other").secret()
        assert ledger.secret() == self._open().secret()

        def genesis(secret: bytes) -> dict[str, Any]:
            secrets.append(secret)
            return {**_genesis(), "fingerprint": secret.hex()}

        for secret in (_SECRET, b"another"):
            assert open_ledger(self._place("given"), genesis, Tally, secret).secret() == _SECRET
        assert secrets[0] == secrets[-1] == _SECRET

    def test_a_ledger_of_another_holdout_is_refused(self) -> None:
        """Check that the message shortens both fingerprints, and that the ledger stays as it was."""
        ledger, other = self._open(2), "f" * 64
        before = _contents(ledger)
        with _raises(LedgerMismatchError, match=other[:12]) as raised:
            self._open(fingerprint=other)
        assert _FINGERPRINT[:12] in str(raised[0])
        assert not any(one[:20] in str(raised[0]) for one in (_FINGERPRINT, other))
        assert _contents(ledger) == before

    def test_another_policy_is_refused_naming_the_field_that_differs(self) -> None:
        """Check a field with another value, one that is new, and one that is missing."""
        self._open(tolerance=0.05, route="a")
        policies: list[dict[str, Any]] = [{"tolerance": 0.1}, {"tolerance": 0.05, "extra": 1}, {}]
        for policy in policies:
            with _raises(LedgerMismatchError, match=next(reversed(policy), "tolerance")) as raised:
                self._open(**policy, route="a")
            assert "route" not in str(raised[0])

    def test_every_copy_of_a_handle_leads_to_the_same_ledger(self) -> None:
        """Check copies; a handle that refuses to be pickled says that its ledger cannot be reached."""
        ledger = self._open(2)
        for number, twin in enumerate(_copies(ledger)):
            assert not twin.charge("k1", _never).fresh
            assert twin.charge(f"twin {number}", _counted).body == {"before": 2 + number}
            assert ledger.find(f"twin {number}") is not None

    def test_a_handle_never_creates_a_ledger(self) -> None:
        """Check every use of one whose ledger was removed, where a ledger can be.

        Nor is the ledger begun again by the process that used it: that would be a second budget.
        """
        uses: tuple[Callable[[Ledger[Tally]], object], ...] = (
            lambda ledger: ledger.charge("k", _never),
            lambda ledger: ledger.find("k"),
            lambda ledger: ledger.find_subject("k"),
            lambda ledger: ledger.read(_count),
            lambda ledger: list(ledger.records()),
            lambda ledger: ledger.secret(),
        )
        for number, use in enumerate(uses):
            twins, place = _copies(self._open(1, f"use{number}")), self._place(f"use{number}")
            try:
                self.remove(place)
            except NotImplementedError:
                return
            for twin in twins:
                with _raises(LedgerUnavailableError):
                    use(twin)
            with _raises(LedgerUnavailableError):
                open_existing_ledger(place, Tally)
            with _raises(LedgerUnavailableError):
                self._open(0, f"use{number}", fingerprint="of a new secret")

    def test_neither_text_nor_pickle_of_a_handle_shows_the_secret(self) -> None:
        """Check what a log or a worker gets."""
        ledger = open_ledger(self._place(), lambda secret: _genesis(), Tally, _SECRET)
        assert _SECRET.decode() not in repr(ledger)
        with suppress(LedgerUnavailableError):
            assert _SECRET not in pickle.dumps(ledger)

    def test_threads_are_served_one_after_the_other(self) -> None:
        """Check that each of eighty charges saw all before it."""
        ledgers = [self._open() for _ in range(4)]

        def charge(ledger: Ledger[Tally]) -> None:
            for _ in range(20):
                ledger.charge(None, _counted)

        threads = [threading.Thread(target=charge, args=(ledger,)) for ledger in ledgers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [body.get("before") for _, _, body in _contents(ledgers[0])[1:]] == list(range(80))


def check_ledger(
    address: Callable[[str], str], remove: Callable[[str], object] | None = None, *, only: str = ""
) -> None:
    """Raise AssertionError unless a ledger backend keeps all promises of `LedgerContract`.

    Parameters
    ----------
    address : callable
        Takes a name and returns the address of a ledger: see `LedgerContract.address`.
    remove : callable or None, default=None
        Takes an address and removes the ledger without the package; None where nobody can.
    only : str, default=""
        Of the checks, only those whose names have this in them.

    Examples
    --------
    >>> check_ledger(":memory:{}".format, only="secret")
    """

    class Contract(LedgerContract):
        def address(self, name: str) -> str:
            return address(name)

        def remove(self, place: str) -> None:
            if remove is None:
                raise NotImplementedError
            remove(place)

    for name in dir(Contract):
        if name.startswith("test_") and only in name:
            getattr(Contract(), name)()


def _genesis(fingerprint: str = _FINGERPRINT, **policy: Any) -> dict[str, Any]:
    return {"schema": 1, "fingerprint": fingerprint, **policy}


def _contents(ledger: Ledger[Tally]) -> list[tuple[int, str | None, dict[str, Any]]]:
    return [(record.seq, record.key, record.body) for record in ledger.records()]


def _copies(ledger: Ledger[Tally]) -> list[Ledger[Tally]]:
    copies = [copy.copy(ledger), copy.deepcopy(ledger)]
    with suppress(LedgerUnavailableError):
        copies.append(pickle.loads(pickle.dumps(ledger)))
    return copies


def _count(state: Tally) -> int:
    return len(state.bodies)


def _counted(state: Tally) -> dict[str, Any]:
    return {"before": _count(state)}


def _giving(body: Any) -> Callable[[Tally], Any]:
    return lambda state: body


def _numbered(number: int) -> Callable[[Tally], Any]:
    return _giving({"number": number, "subject": f"s{number}"})


def _never(state: Tally) -> NoReturn:
    raise AssertionError("The state was looked at, though there is a record.")


def _failing(error: type[BaseException]) -> Callable[[Tally], NoReturn]:
    def fail(state: Tally) -> NoReturn:
        raise error("from decide")

    return fail


@contextmanager
def _raises(*errors: type[BaseException], match: str = "") -> Iterator[list[BaseException]]:
    """Demand an exception, with a text in its message; it is put into the list that is returned."""
    raised: list[BaseException] = []
    with suppress(*errors):
        try:
            yield raised
        except errors as error:
            raised.append(error)
            raise
    if not raised:
        raise AssertionError(f"None of {[error.__name__ for error in errors]} was raised.")
    assert match in str(raised[0]), f"{match!r} is not in {str(raised[0])!r}"
