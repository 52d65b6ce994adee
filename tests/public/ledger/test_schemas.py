"""Tables in the schema that is named, found there and nowhere else, whatever a role's search path."""

import uuid
from urllib.parse import quote

import pytest

from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger
from tests.support.holdout.asking.sealed.counts import ask, holdout_of
from tests.support.ledger.damages import forget_connections
from tests.support.ledger.ledger_backends import PostgreSQLBackend
from tests.support.ledger.postgresql_server import PASSWORD

TABLES = "public.sklearn_ada_books, public.sklearn_ada_records"


@pytest.fixture
def run(postgresql):
    backend = PostgreSQLBackend(postgresql)
    backend.open(backend.address())  # by now there are tables
    return lambda statement: backend.run(statement, backend.address())


@pytest.fixture
def roles(run):
    """Two roles with schemas of their own names, which their search path shows first."""
    names = [f"role{uuid.uuid4().hex[:8]}" for _ in range(2)]
    for name in names:
        run(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
        run(f"CREATE SCHEMA {name} AUTHORIZATION {name}")
        run(f"GRANT SELECT, INSERT, UPDATE ON {TABLES} TO {name}")
    yield names
    for name in names:
        run(f"DROP OWNED BY {name} CASCADE")
        run(f"DROP ROLE {name}")


def asked(address):
    """Return how many questions the ledger at an address knows of, after one more."""
    forget_connections()
    holdout = holdout_of(200, address)
    ask(holdout, 150, 0.75, name=uuid.uuid4().hex)
    return holdout.report().asked["certify"]


def test_two_roles_with_schemas_of_their_own_names_have_one_budget(postgresql, roles):
    book = uuid.uuid4().hex
    assert [asked(postgresql.url(book, user=role)) for role in roles * 2] == [1, 2, 3, 4]


def test_tables_that_a_search_path_shows_first_are_refused_until_a_schema_is_named(postgresql, roles, run):
    book = uuid.uuid4().hex
    ada, ben = roles
    assert asked(postgresql.url(book, user=ada, schema=ada)) == 1  # as an older release did of itself
    for address in (postgresql.url(book, user=ada), postgresql.url(uuid.uuid4().hex, user=ada)):
        with pytest.raises(LedgerUnavailableError, match=rf"\?schema={ada} or \?schema=public"):
            asked(address)
    assert asked(postgresql.url(book, user=ada, schema=ada)) == 2
    assert asked(postgresql.url(book, user=ben)) == 1  # whom nobody shows Ada's schema
    run(f"ALTER ROLE {ben} SET search_path = public, {ada}")
    run(f"GRANT USAGE ON SCHEMA {ada} TO {ben}")
    with pytest.raises(LedgerUnavailableError, match=rf"\?schema={ada}"):
        asked(postgresql.url(book, user=ben))
    assert asked(postgresql.url(book, user=ada, schema="public")) == 2


NAMES = ["team", "Team of Ada", 'quoted"name', "select", "per%cent", "ünïcode"]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_may_have_any_name_and_its_ledger_has_it_too(postgresql, run, name):
    quoted = '"{}"'.format(name.replace('"', '""'))
    run(f"CREATE SCHEMA {quoted}")
    try:
        url, book = postgresql.url(uuid.uuid4().hex, schema=quote(name)), "schema="
        assert [asked(url), asked(url)] == [1, 2]
        assert book in holdout_of(200, url).ledger.name
        assert run(f"SELECT count(*) FROM {quoted}.sklearn_ada_books").scalar() == 1
    finally:
        forget_connections()
        run(f"DROP SCHEMA {quoted} CASCADE")


HOSTILE = """
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.run() RETURNS boolean LANGUAGE plpgsql
    AS 'BEGIN RAISE ''run as %'', current_user; END';
CREATE FUNCTION hostile.same(text, varchar) RETURNS boolean LANGUAGE sql AS 'SELECT hostile.run()';
CREATE FUNCTION hostile.same(name, varchar) RETURNS boolean LANGUAGE sql AS 'SELECT hostile.run()';
CREATE FUNCTION hostile.same(oid, regtype) RETURNS boolean LANGUAGE sql AS 'SELECT hostile.run()';
CREATE OPERATOR hostile.= (LEFTARG = text, RIGHTARG = varchar, FUNCTION = hostile.same);
CREATE OPERATOR hostile.= (LEFTARG = name, RIGHTARG = varchar, FUNCTION = hostile.same);
CREATE OPERATOR hostile.= (LEFTARG = oid, RIGHTARG = regtype, FUNCTION = hostile.same);
CREATE FUNCTION hostile.pg_advisory_xact_lock(integer) RETURNS boolean LANGUAGE sql AS 'SELECT hostile.run()';
CREATE FUNCTION hostile.pg_stat_get_tuples_updated(regclass) RETURNS bigint LANGUAGE sql
    AS 'SELECT hostile.run()::int::bigint';
GRANT USAGE ON SCHEMA hostile TO PUBLIC;
"""


def test_functions_that_a_search_path_shows_are_not_run(postgresql, roles, run):
    """They would be run with the rights of whoever begins a ledger, or asks."""
    run(f"{HOSTILE} ALTER ROLE {roles[0]} SET search_path = hostile, public")
    run(f"ALTER ROLE {roles[0]} SET quote_all_identifiers = on")
    try:
        address = postgresql.url(uuid.uuid4().hex, user=roles[0])
        assert [asked(address) for _ in range(2)] == [1, 2]
        ledger = open_existing_ledger(address, State)
        assert (ledger.verify() > 2, ledger.copies(), len(ledger.secret())) == (True, [], 32)
    finally:
        run("DROP SCHEMA hostile CASCADE")


def test_a_schema_that_is_not_there_is_named_and_not_made(postgresql):
    with pytest.raises(LedgerUnavailableError, match=r'"nowhere" does not exist.*CREATE SCHEMA'):
        asked(postgresql.url("book", schema="nowhere"))


def test_a_role_that_may_not_make_tables_learns_what_it_lacks(postgresql, roles, run):
    ada, ben = roles
    run(f"GRANT USAGE ON SCHEMA {ada} TO {ben}")
    with pytest.raises(LedgerUnavailableError, match=r"permission denied.*Operations"):
        asked(postgresql.url("book", user=ben, schema=ada))


@pytest.mark.parametrize("name", ["book", "schema"])
def test_two_books_or_two_schemas_are_refused(postgresql, name):
    with pytest.raises(ValueError, match="one book and one schema"):
        asked(f"{postgresql.url('one', schema='public')}&{name}=other")
