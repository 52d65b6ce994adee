"""The table of ways to a second budget is what happens: one ledger, a warning or an error, never silence."""

import logging
from urllib.parse import urlsplit

import pytest

from tests.support.consumers.beginnings import TABLE, WAYS, WORDS, asked, opened, outcome
from tests.support.consumers.table import read


def committed():
    """Return the table of the documentation: what happens, by way."""
    return {row[""]: row["what happens"] for row in read(TABLE)}


@pytest.mark.parametrize("way", WAYS)
def test_every_line_of_the_documented_table_is_what_happens(way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert outcome(WAYS[way]) == committed()[way]


def test_the_table_has_all_ways_and_only_its_words():
    assert committed().keys() == WAYS.keys()
    assert set(committed().values()) == WORDS
    assert len(WAYS) >= 25


def test_a_database_begins_no_second_budget_in_silence(postgresql, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    url = postgresql.url(tmp_path.name)
    assert outcome(lambda: asked(url)) == "the same ledger"
    for other, word in {
        url: "the same ledger",
        f"{url}&connect_timeout=7": "the same ledger",
        url.replace("127.0.0.1", "localhost"): "the same ledger",
        f"{url}2": "a warning",
        "board.db": "a warning",
    }.items():
        assert outcome(lambda other=other: opened(other)) == word, other


def test_the_environment_of_libpq_says_which_database_is_meant(postgresql, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    url = postgresql.url(tmp_path.name)
    parts = urlsplit(url)
    asked(url)
    given = {"HOST": parts.hostname, "PORT": parts.port, "USER": parts.username, "PASSWORD": parts.password}
    for name, value in given.items():
        monkeypatch.setenv(f"PG{name}", str(value))
    short = f"postgresql://{parts.path}?{parts.query}"
    assert outcome(lambda: opened(short)) == "the same ledger"
    caplog.set_level(logging.INFO, logger="sklearn_ada")
    assert outcome(lambda: opened(f"{short}2")) == "a warning"
    words = f"host {parts.hostname}, port {parts.port}, dbname postgres, schema public, book {tmp_path.name}2"
    assert words in caplog.text
    monkeypatch.setenv("PGPORT", "1")
    assert outcome(lambda: opened(f"{short}2")) == "an error"
