"""What may be given as ``ledger``, and what of it may be shown.

A typing error must not begin a second budget. So everything that looks like a URL, a connection string or
":memory:", and is not quite one, is refused instead of becoming the name of a file: as text, in quotes, in
bytes or as a path. No message repeats what was given, as it may hold a password.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple, Self
from unicodedata import normalize
from urllib.parse import parse_qsl, unquote, unquote_plus

from sklearn_ada._validation import bad_parameter

_EXPECTED = "a path, ':memory:', a 'postgresql://...' URL or None"
URL = r"postgres(ql)?(\+\w+)?://"
"""How the URL of a database begins."""
_NAMED_MEMORY = r":memory:([\w -]*[\w-])?"
_QUOTES = " \t\r\n\"'`<>()[]{}"
_A_DATABASE = "For a database write 'postgresql://user@host/database'."
_PATH_AFTER_ALL = "If it is the name of a file, write './' in front of it, as text."
_PLAIN = (
    "Write 'postgresql://user@host:port/database?book=name', with %40, %3A, %2F, %3F and %23 for '@', ':', "
    "'/', '?' and '#' in a password, and without spaces; or leave the password to PGPASSWORD."
)
# What is no path, by how it looks, whatever stands in front of it.
_NO_PATHS = {
    r":?memory:?|:memory:.*|:memory\b.*": "Write exactly ':memory:'.",
    r"file:.*": "Give the path itself: 'board.db'.",
    r"sqlite\d?(\+\w+)?:.*": "Give the path of the file: 'board.db'.",
    r".*\bpostgres(ql)?(\+\w+)?:.*": "Write it as text, in small letters, from 'postgresql://' on.",
    r".*://.*": "Ledgers are kept in files and in PostgreSQL.",
    r"[a-z][a-z0-9+.-]+:.*": f"Ledgers are kept in files and in PostgreSQL. {_PATH_AFTER_ALL}",
    r"/{0,2}[^/\\:]*:[^/\\]*@.*": f"{_A_DATABASE} {_PATH_AFTER_ALL}",
    r"(?!\.{1,2}[/\\])[^/\\].*@.*[/\\].*": f"{_A_DATABASE} {_PATH_AFTER_ALL}",
    r"(.*[^\w])?(ssl|pg)?(password|passwd|passfile|pwd)[\"']?\s*[=:].*": _A_DATABASE,
    r"(host|hostaddr|port|dbname|database|data source|dsn|driver|server|service|uid|user)[\"']?\s*=.*": (
        f"{_A_DATABASE} {_PATH_AFTER_ALL}"
    ),
}


_NAMES = (
    "Give them names of printable characters without ';' and '=', or leave them out: then they are 'default' "
    "and 'public'."
)
# Of a query, what may be shown; the value of anything else may be a password.
_HARMLESS = {
    "application_name", "book", "channel_binding", "client_encoding", "connect_timeout", "dbname",
    "gssencmode", "host", "hostaddr", "keepalives", "port", "schema", "service", "sslmode", "sslrootcert",
    "target_session_attrs", "user",
}  # fmt: skip


class Mistake(NamedTuple):
    """What somebody gave in place of an address, as it may be shown, and what to write instead."""

    got: str
    fix: str


def check_address(given: object, owner: str = "Holdout") -> None:
    """Raise ValueError for what is no path, no URL of a database and no name in memory.

    Examples
    --------
    >>> check_address("board.db"), check_address("postgresql://ada@localhost/holdouts?book=team")
    (None, None)
    >>> check_address("sqlite:///board.db")
    Traceback (most recent call last):
    ...
    ValueError: The 'ledger' parameter of Holdout must be a path, ... Got 'sqlite:...' instead. ...
    """
    mistake = mistake_in(given)
    if mistake is not None:
        raise bad_parameter("ledger", owner, _EXPECTED, mistake.got, mistake.fix)


def mistake_in(given: object) -> Mistake | None:
    """Return what is wrong with an address, or None."""
    given = given.given if isinstance(given, HiddenThing) else given
    text = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    if not isinstance(text, str):
        return Mistake(type(given).__name__ if text is None else "a path of bytes", "")
    if isinstance(given, str) and re.match(URL, given):
        return _mistake_in_url(given)
    if isinstance(given, str) and re.fullmatch(_NAMED_MEMORY, given):
        return None
    bare = _bare(text)
    for pattern, fix in _NO_PATHS.items():
        if re.fullmatch(pattern, bare, re.IGNORECASE | re.DOTALL):
            return Mistake(_kind(bare), fix)
    if (text != text.strip() or not text.isprintable()) and not os.path.lexists(text.replace("\0", "")):
        return Mistake("a path with spaces at its ends or control characters", "Leave them out.")
    return None


def _bare(text: str) -> str:
    """Return a text without quotes around it, wide signs written as plain ones."""
    return normalize("NFKC", text).strip(_QUOTES)


def _kind(text: str) -> str:
    """Return what kind of address a text is, without anything that could be a secret."""
    found = re.match(
        r"(file|jdbc|sqlite|postgres(?:ql)?|(?:my|ms)sql|https?|s3|duckdb|:?memory)\b", text, re.I
    )
    return "a connection string" if found is None else f"{found[1]}:..."


def _mistake_in_url(url: str) -> Mistake | None:
    if not _is_plain(url):
        return Mistake("postgresql://...", _PLAIN)
    asked = parse_qsl(url.partition("?")[2], keep_blank_values=True)
    names = [value for name, value in asked if name in ("book", "schema")]
    if all(name.strip() and name.isprintable() and not re.search("[;=]", name) for name in names):
        return None
    return Mistake("a URL in which the book or the schema has no such name", _NAMES)


def _is_plain(url: str) -> bool:
    """Return whether no part of a URL's password could be taken for a host, a database or a book."""
    found = re.fullmatch(
        rf"{URL}(?:(?P<user>[^:/?#@]*)(?::[^/?#@]*)?@)?(?:\[[^\]]*\]|[^:/?#@%]*)(?::(?P<port>\d*))?(/[^?#@;]*)?(\?[^#@]*)?",
        url,
    )
    if found is None or re.search(r"\s", url):
        return False
    place = url.partition("?")[0]
    signs, meant = (re.sub(r"[^:/?#@]", "", text) for text in (place, normalize("NFKC", place)))
    return signs == meant and ":" not in unquote(found["user"] or "") and int(found["port"] or 0) < 65536


def hidden(given: Any) -> Any:
    """Return what was given as ``ledger``, such that its representation shows no password.

    Examples
    --------
    >>> hidden("postgresql://ada:lovelace@host/holdouts")
    'postgresql://ada:***@host/holdouts'
    >>> hidden("board.db")
    'board.db'
    """
    if isinstance(given, (_Hidden, *_NO_TEXT)) or _shown(given) is None:
        return given
    return HiddenText(given) if isinstance(given, str) else HiddenThing(given)


_NO_TEXT = (int, float, complex, type, type(None))


def without_passwords(text: str) -> str:
    """Return a text, such as a message of others, in which no URL or connection string has its password.

    Examples
    --------
    >>> print(without_passwords("unrecognized arguments: postgresql://ada:lovelace@host/holdouts"))
    unrecognized arguments: postgresql://ada:***@host/holdouts
    """
    text = re.sub(r"(://[^\s:/@]*):\S*@", r"\1:***@", text)
    return re.sub(r"(password|passwd|pwd)(\s*=\s*)[^\s&'\"]+", r"\1\2***", text, flags=re.IGNORECASE)


class _Hidden:
    """What was given, as anybody may see it: programs that record parameters write them as text."""

    def __repr__(self) -> str:
        return repr(_shown(self))

    def __str__(self) -> str:
        return str(_shown(self))

    def __format__(self, how: str) -> str:
        return format(str(self), how)

    def __deepcopy__(self, memo: object) -> Self:
        return self


class HiddenText(_Hidden, str):
    """A text that may hold a password."""


class HiddenThing(_Hidden):
    """Something that is no address, and may hold a password.

    Parameters
    ----------
    given : object
    """

    def __init__(self, given: object) -> None:
        self.given = given


def _shown(given: Any) -> str | None:
    """Return what may be shown of an address that may hold a password, or None for any other."""
    given = given.given if isinstance(given, HiddenThing) else given
    if mistake_in(given) is not None:
        is_text = isinstance(given, (str, bytes, os.PathLike))
        return _kind(_bare(os.fsdecode(given))) if is_text else type(given).__name__
    if not isinstance(given, str) or not re.match(URL, given):
        return None
    place, mark, query = given.partition("?")
    place = re.sub(r"(?<=://)([^:/@]*):[^@/]*@", r"\1:***@", place)
    shown = place + mark + "&".join(map(_shown_part, query.split("&")))
    return None if shown == given else shown


def _shown_part(part: str) -> str:
    """Return a part of a query; its name is decoded first, as whoever reads the URL does."""
    name, is_given, value = part.partition("=")
    is_harmless = unquote_plus(name) in _HARMLESS and not re.search("[;=]", unquote_plus(value))
    if not part or (is_given and is_harmless):
        return part
    return f"{name}=***" if is_given and re.fullmatch(r"[\w%-]+", name) else "***"
