"""Every registered ledger backend keeps the contract, and a backend that breaks a promise is found."""

import pytest

from sklearn_ada import Holdout
from sklearn_ada.exceptions import LedgerError, LedgerMismatchError
from sklearn_ada.ledger import BACKENDS, MemoryLedger, SQLiteLedger, SQLLedger, sqlite, transactions
from sklearn_ada.testing import LedgerContract, check_ledger
from tests.support.ledger.ledger_backends import PostgreSQLBackend, SQLiteBackend

CHECKS = [name for name in dir(LedgerContract) if name.startswith("test_")]


def collected():
    """Return every registered backend with every check."""
    return [pytest.param(each, check, id=f"{each.__name__}-{check}") for each in BACKENDS for check in CHECKS]


def place_of(backend, request):
    """Return how a backend's ledgers are addressed and removed; by default as those that go with data."""
    if backend is SQLiteLedger:
        made = SQLiteBackend(str(request.getfixturevalue("tmp_path")))
    elif backend is SQLLedger:
        made = PostgreSQLBackend(request.getfixturevalue("postgresql"))
    else:
        return lambda name: backend.address_for(lambda: name, ""), None
    return made.address, made.remove


@pytest.mark.parametrize(("backend", "check"), collected())
def test_a_registered_backend_keeps_a_promise(backend, check, request):
    check_ledger(*place_of(backend, request), only=check)


@pytest.fixture
def register():
    """Register a backend in memory that differs in some methods."""
    before = list(BACKENDS)

    def made(**methods):
        named = classmethod(lambda cls, content, kind: f"toy:{kind}{content()}")
        body = {"scheme": "toy:", "shorthand": "toy:", "address_for": named, **methods}
        return type("Toy", (MemoryLedger,), body)

    yield made
    BACKENDS[:] = before


def test_a_backend_joins_by_being_registered(register, request):
    toy = register()
    assert [param.values[1] for param in collected() if param.values[0] is toy] == CHECKS
    check_ledger(*place_of(toy, request))
    holdout = Holdout([[0.0], [1.0]], [0, 1], ledger="toy:")
    assert type(holdout.ledger) is toy


def test_rows_of_a_session_are_found_again_without_their_ids_in_any_backend(register):
    register()
    Holdout([[0.0], [1.0]], [0, 1], ids=["a", "b"], ledger="toy:")
    with pytest.raises(LedgerMismatchError, match="with ids, and not without"):
        Holdout([[0.0], [1.0]], [0, 1], ledger="toy:")


def charged_under_no_key(self, key, decide):
    return MemoryLedger.charge(self, None, decide)


def charged_although_it_failed(self, key, decide):
    try:
        return MemoryLedger.charge(self, key, decide)
    except ValueError:
        return MemoryLedger.charge(self, key, lambda state: {})


def charged_with_another_state(self, key, decide):
    return MemoryLedger.charge(self, key, lambda state: decide(self._start(self.genesis)))


def find_by_the_beginning(self, keys, otherwise=None):
    found = [r for r in self.records() if r.key and any(r.key.startswith(key[:1]) for key in keys)]
    return found or MemoryLedger.find_each(self, keys, otherwise)


def last_of_a_subject(self, subject):
    return next((r for r in reversed(list(self.records())) if r.body.get("subject") == subject), None)


def begun_whatever_is_expected(cls, address, genesis, start, secret=None, of_found=None):
    try:
        return MemoryLedger.create_or_open.__func__(cls, address, genesis, start, secret, of_found)
    except LedgerError:
        return cls.open_existing(address, start)


@pytest.mark.parametrize(
    "defect",
    [
        {"charge": charged_under_no_key},
        {"charge": charged_although_it_failed},
        {"charge": charged_with_another_state},
        {"find_each": find_by_the_beginning},
        {"find_subject": last_of_a_subject},
        {"read": lambda self, look: look(self._start(self.genesis))},
        {"records": lambda self: reversed(list(MemoryLedger.records(self)))},
        {"record": lambda self, seq: None},
        {"tail": lambda self, size: MemoryLedger.tail(self, size + 1)},
        {"check_head": lambda self, head: None},
        {"secret": lambda self: 32 * b"x"},
        {"create_or_open": classmethod(begun_whatever_is_expected)},
        {"__repr__": lambda self: repr(bytes(self.secret()))},
        {"__reduce__": lambda self: (str, (str(self.secret()),))},
    ],
    ids=lambda defect: "-".join(defect),
)
def test_a_backend_that_breaks_a_promise_is_found(defect, register, request):
    with pytest.raises((AssertionError, AttributeError)):
        check_ledger(*place_of(register(**defect), request))


class Forgotten(dict):
    """Keeps nothing."""

    def __setitem__(self, key, value):
        pass


def test_a_removed_ledger_that_is_begun_again_is_found(tmp_path, monkeypatch):
    for module in (sqlite, transactions):
        monkeypatch.setattr(module, "opened", Forgotten())
    backend = SQLiteBackend(str(tmp_path))
    with pytest.raises(AssertionError, match="LedgerUnavailableError"):
        check_ledger(backend.address, backend.remove, only="never_creates")


def test_a_ledger_that_others_can_remove_must_not_come_back(register):
    toy = register()
    with pytest.raises(AssertionError):
        check_ledger(lambda name: toy.address_for(lambda: name, ""), lambda place: None, only="never_creates")
