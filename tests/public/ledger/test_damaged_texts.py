"""A ledger whose bytes or records were damaged is refused in words of ours, which quote nothing of it."""

import random
import sqlite3
import traceback
from contextlib import suppress

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerDamagedError, LedgerError
from tests.support.ledger.damages import chained, forget, rows_of, run, with_rows
from tests.support.ledgers import rewritten

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2))
Y = (X[:, 0] > 0).astype(int)
MODEL = DecisionTreeClassifier(max_depth=1).fit(X, Y)
SECRET_NAME = "Ada Lovelace of Marylebone"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "a.db"
    holdout = Holdout(X, Y, ledger=path, answers="coarse", who=SECRET_NAME)
    for guess in (0.8, 0.9):
        holdout.check(MODEL, scoring="accuracy", guess=guess)
    holdout.certify(MODEL, scoring="accuracy", guess=0.9)
    return path


@pytest.fixture
def path(whole, tmp_path):
    forget()
    (tmp_path / "a.db").write_bytes(whole.read_bytes())
    return tmp_path / "a.db"


def open_and_report(path):
    return repr(Holdout(X, Y, ledger=path, answers="coarse").report())


def looks(path):
    """Return ways to look at a ledger, and what each says of one that is damaged; "" if nothing."""
    for action in ("show", "verify", "report", "head"):
        yield action, lambda action=action: main(["ledger", action, str(path)])
    yield "Holdout", lambda: open_and_report(path)


def refusals(path, capsys):
    """Look in every way; return what was refused, with tracebacks as a user sees them."""
    texts = {}
    for name, look in looks(path):
        forget()
        try:
            look()
            texts[name] = capsys.readouterr().err
        except LedgerError as error:
            texts[name] = "".join(traceback.format_exception(error))
    for text in texts.values():
        assert SECRET_NAME not in text
        assert '"kind":' not in text
    return {name: text for name, text in texts.items() if text}


TEXTS = {
    "no UTF-8": "CAST(CAST(body AS BLOB) || x'ff' AS TEXT)",
    "half a letter": "CAST(CAST(body AS BLOB) || x'c3' AS TEXT)",
    "bytes": "CAST(body AS BLOB)",
    "nothing": "NULL",
    "a number": "7",
    "cut off": "substr(body, 1, 60)",
    "too long a number": '\'{"kind":' + "9" * 5000 + "}'",
    "too deep": '\'{"kind":' + "[" * 200_000 + "]" * 200_000 + "}'",
    "too deep objects": "'" + '{"kind":' * 200_000 + "0" + "}" * 200_000 + "'",
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("seq", [0, 2])
def test_a_text_that_cannot_be_read_is_damage(path, capsys, text, seq):
    with suppress(sqlite3.IntegrityError):  # a column that must not be empty
        run(path, f"UPDATE records SET body = {TEXTS[text]} WHERE seq = {seq}")
        found = refusals(path, capsys)
        assert {"show", "verify", "Holdout"} <= found.keys()
        assert not any("ask again" in each for each in found.values())


@pytest.mark.parametrize("column", ["key", "subject", "hash"])
def test_other_columns_that_are_no_text_are_damage(path, capsys, column):
    run(path, f"UPDATE records SET {column} = CAST(x'41ff' AS TEXT) WHERE seq = 2")
    found = refusals(path, capsys)
    assert "verify" in found
    assert "damaged" in found["verify"] or "not a readable ledger" in found["verify"]


@pytest.mark.parametrize("seq", [0, 1, 3])
def test_a_record_that_is_chained_anew_and_too_deep_is_damage(path, seq):
    rows = []
    for number, key, subject, text, _ in rows_of(path):
        body = '{"kind":' + "[" * 200_000 + "]" * 200_000 + "}" if number == seq else text
        rows.append(chained(number, key, subject, body, rows[-1] if rows else None))
    forget()
    with_rows(path, rows, head=True)
    with pytest.raises(LedgerDamagedError, match="no JSON object"):
        open_and_report(path)


PARTS = [
    ("who",), ("metric",), ("metric", "name"), ("mechanism",), ("guess",), ("guess", "value"), ("outcome",),
    ("outcome", "target"), ("outcome", "interval"), ("outcome", "value"), ("outcome", "theorem"), ("event",),
    ("event", "symbols"), ("price",), ("ln_delta",), ("kind",), ("purpose",), ("subject",),
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS, ids=".".join)
@pytest.mark.parametrize(
    "value", [[], {"a": 1}, 10**400, "x", None], ids=["list", "dict", "int", "str", "null"]
)
def test_a_record_with_another_kind_of_part_is_damage_or_stays_readable(path, capsys, part, value):
    def edit(body):
        for name in part[:-1]:
            body = body[name]
        body[part[-1]] = value

    rewritten(path, 1, edit)
    refusals(path, capsys)


@pytest.fixture(scope="module")
def whole_exact(tmp_path_factory):
    path = tmp_path_factory.mktemp("exact") / "a.db"
    Holdout(X, Y, ledger=path, answers="exact").certify(MODEL, scoring="accuracy")
    return path


EDITS = [
    (seq, part, value)
    for seq, part in [
        (1, ("metric", "range", 0)), (1, ("metric", "range", 1)), (1, ("metric", "range")),
        (1, ("outcome", "route")), (0, ("check_share",)), (0, ("confidence_level",)), (0, ("route",)),
    ]
    for value in ({"a": SECRET_NAME}, [SECRET_NAME], SECRET_NAME)
]  # fmt: skip


@pytest.mark.parametrize(("seq", "part", "value"), EDITS)
def test_what_is_chained_anew_with_a_part_of_another_kind_is_refused(
    whole_exact, tmp_path, capsys, seq, part, value
):
    path = tmp_path / "a.db"
    forget()
    path.write_bytes(whole_exact.read_bytes())

    def edit(body):
        for name in part[:-1]:
            body = body[name]
        assert part[-1] == "route" or body[part[-1]] is not None  # as usual, a route is left out
        body[part[-1]] = value

    rewritten(path, seq, edit)
    assert {"verify", "report", "Holdout"} <= refusals(path, capsys).keys()
    forget()
    with pytest.raises(LedgerError) as caught:
        Holdout(X, Y, ledger=path).export(tmp_path / "a.html")
    assert SECRET_NAME not in str(caught.value)


@pytest.mark.thorough
def test_random_bytes_are_an_error_of_ours(path, capsys):
    draw, data = random.Random(7), path.read_bytes()
    for _ in range(60):
        damaged = bytearray(data)
        start = draw.randrange(100, len(data))
        damaged[start : start + draw.randrange(1, 60)] = draw.randbytes(draw.randrange(1, 60))
        forget()
        path.write_bytes(damaged)
        refusals(path, capsys)
