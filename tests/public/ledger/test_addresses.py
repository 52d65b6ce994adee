"""What is no path, no URL of a database and no memory begins no ledger, and no password is shown."""

import logging
import os
import pickle
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerUnavailableError
from sklearn_ada.ledger import ledger_address

ROWS, LABELS = np.arange(200.0).reshape(100, 2), np.arange(100) % 2


class Somewhere(os.PathLike):
    """A path of somebody else's, which shows itself."""

    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"Somewhere({self.path})"


class OwnPath(type(Path())):
    """A path of another type."""


class OwnText(str):
    """A text of another type."""


URL = "postgresql://u:XqzZqx@h/d"
MISTAKEN = [
    "file:board.db", "file:board.db?mode=ro", "file://board.db", "file:///tmp/board.db", "FILE:board.db",
    "sqlite:board.db", "sqlite:///board.db", "sqlite3:board.db", "sqlite+pysqlite:///board.db", "duckdb:x",
    "mysql://u:XqzZqx@h/d", "jdbc:postgresql://h/d?user=u&password=XqzZqx", "redis:h",
    "jdbc:sqlite:board.db", "Postgresql://u:XqzZqx@h/d", "postgres:u:XqzZqx@h/d",
    " postgresql://u:XqzZqx@h/d", "'postgresql://u:XqzZqx@h/d'", '"postgresql://u:XqzZqx@h/d"',
    "<postgresql://u:XqzZqx@h/d>", "DATABASE_URL=postgresql://u:XqzZqx@h/d", "postgresql:/u:XqzZqx@h/d",
    b"postgresql://u:XqzZqx@h/d", b"board.db", Path("postgresql://u:XqzZqx@h/d"),
    Path("file:board.db"), Path("sqlite:///board.db"), Path(":memory:"),
    "host=h dbname=d user=u password=XqzZqx", "dbname=d", "'host=h password=XqzZqx'", "user = u",
    Path("host=h password=XqzZqx"), "h;Password=XqzZqx;Database=d", '{"password": "XqzZqx"}',
    "Server=h;Pwd=XqzZqx", "u:XqzZqx@h/d", "//u:XqzZqx@h/d", "name:XqzZqx@h", "host:5432/d",
    "postgresql://u:Xqz@Zqx@h/d", "postgresql://u:Xqz/Zqx@h/d", "postgresql://u:Xqz?Zqx@h/d",
    "postgresql://u:XqzZqx/d", "postgresql://u%3AXqzZqx@h/d", "postgresql://u:Xqz#Zqx@h/d",
    "postgresql://h/d@XqzZqx", "postgresql://h:99999/d", "postgresql://h/d?book=team ", "postgresql://h/d\n",
    ":memory: ", " :memory:", ":MEMORY:", ":Memory:", ":memory", "memory:", "memory", "':memory:'",
    "file::memory:", ":memory:?cache=shared", ":memory:/board.db", "board.db\n", "board.db ", "\tboard.db",
    "board\0.db", 5, 5.0, {"password": "XqzZqx"}, ["board.db"], True, object,
    PurePosixPath(URL), Somewhere(URL), OwnPath(URL), bytearray(URL.encode()), [URL], (URL,), np.array(URL),
    OwnText(f" {URL}"), np.str_(f"'{URL}'"), "u/XqzZqx@h/d", "XqzZqx@h:5432/d",
    "postgresql\uff1a//u:XqzZqx@h/d",
    "password\uff1aXqzZqx", "postgresql://u\uff1aXqzZqx@h/d", "postgresql://u\uff1aXqzZqx\uff20h/d",
    "postgresql://u%3AXqzZqx%40h/d",
    "postgresql://h/d?book=a;password=XqzZqx", "postgresql://h/d?book=a%3Bpassword%3DXqzZqx",
    "postgresql://h/d?schema=a;password=XqzZqx", "postgresql://h/d?book=a=XqzZqx",
    "postgresql://h/d?book=", "postgresql://h/d?book", "postgresql://h/d?b%6Fok=%20", "postgresql://h/d?book=+",
    "postgresql://h/d;password=XqzZqx", "postgresql://h/d;password=XqzZqx?book=b",
    "postgresql://h/d?schema=", "postgresql://h/d?schema=&book=b", "postgresql://h/d?book=a%00b",
    "postgresql://h/d?book=a%0Ab",
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert os.listdir(tmp_path) == []


def is_secret(text):
    return any(part in text for part in ("Xqz", "Zqx"))


@pytest.mark.parametrize("given", MISTAKEN, ids=ascii)
def test_what_only_looks_like_an_address_is_refused_and_not_repeated(given, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ValueError, match="'ledger' parameter of Holdout must be") as caught:
        Holdout(ROWS, LABELS, ledger=given)
    search = ReusableHoldoutCV(GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}), ledger=given)
    with pytest.raises(ValueError, match="'ledger' parameter"):
        search.fit(ROWS, LABELS)
    assert not is_secret(str(caught.value) + caplog.text)
    with pytest.raises(ValueError, match="'ledger' parameter") as again:
        clone(search).fit(ROWS, LABELS)
    assert str(again.value) == str(caught.value)
    for shown in (search, clone(search), make_pipeline(search), search.get_params()):
        assert not is_secret(repr(shown))
    assert not is_secret(search._repr_html_() + make_pipeline(search)._repr_html_())


@pytest.mark.parametrize("given", [each for each in MISTAKEN if isinstance(each, str)], ids=ascii)
def test_no_command_repeats_it_either(given, capsys):
    assert main(["ledger", "show", given]) == 1
    assert not is_secret(capsys.readouterr().err)


@pytest.mark.parametrize(
    "name",
    ["a=b.db", "a b.db", "100%.db", "run-1.2.db", "me@work.db", "memory.db", "é.db", "a\uff1bb\uff1ac.db"],
)
def test_a_plain_name_stays_one(name):
    Holdout(ROWS, LABELS, ledger=name)
    Holdout(ROWS, LABELS, ledger=f"./{name}")
    for each in os.listdir():
        assert each.startswith(name)
        os.unlink(each)


@pytest.mark.parametrize("name", ["file:board.db", "run:1.db", "memory"])
def test_a_name_that_looks_like_a_scheme_is_reached_by_a_dot(name):
    Holdout(ROWS, LABELS, ledger=f"./{name}")
    assert name in os.listdir()
    for each in os.listdir():
        os.unlink(each)


URLS = [URL, OwnText(URL), np.str_(URL), "postgresql+psycopg://u:XqzZqx@h:1/d?book=b"]
URLS += ["postgresql://h/d?user=u&password=XqzZqx&book=b", "postgresql://u:Xqz%40Zqx@h/d"]
URLS += ["postgresql://h/d?p%61ssword=XqzZqx&book=b", "postgresql://h/d?password%3DXqzZqx"]
URLS += ["postgresql://h/d?options=XqzZqx", "postgresql://h/d?token=XqzZqx"]
URLS += ["postgresql://h/d?sslmode=require;password=XqzZqx"]


@pytest.mark.parametrize("url", URLS)
def test_a_search_shows_no_password_and_goes_on_with_it(url):
    search = ReusableHoldoutCV(GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}), ledger=url)
    for each in (search, clone(search), clone(clone(search)), pickle.loads(pickle.dumps(clone(search)))):
        assert each.ledger == each.get_params()["ledger"] == ledger_address(each.ledger, str) == url
        for shown in (each, make_pipeline(each), each.get_params()):
            assert not is_secret(repr(shown))
            assert "***" in repr(shown)
        given = each.get_params()["ledger"]
        for text in (str(given), f"{given}", f"{given:<9}"):
            assert not is_secret(text)  # as programs write it that keep the parameters of each fit
            assert "***" in text
        assert not is_secret(each._repr_html_() + make_pipeline(each)._repr_html_())


@pytest.mark.parametrize(
    "url", ["postgresql://[::1]/d", "postgresql://[::1]:5432/d", "postgresql:///d?host=h,g"]
)
def test_a_url_without_a_password_is_as_it_was(url):
    assert ledger_address(url, str) == url
    assert url in repr(ReusableHoldoutCV(GridSearchCV(DecisionTreeClassifier(), {}), ledger=url))


def test_a_ledger_that_is_not_there_is_named_without_its_password():
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerUnavailableError) as caught:
        Holdout(ROWS, LABELS, ledger="postgresql://u:XqzZqx@127.0.0.1:1/d?sslpassword=Zqx")
    assert not is_secret(str(caught.value))
